//! A station's part from 802.11n on: packets by destination, agreements with each, and the exchange in progress.
//!
//! Packets wait by destination, and the destination whose oldest packet is oldest comes first. Under an agreement
//! ([`super::block_ack`]) a PPDU holds as many frames as octets, time and window allow ([`super::aggregate`]).

use std::collections::VecDeque;

use super::aggregate::{Limits, QOS_OVERHEAD, Room, with_frame, with_packet};
use super::block_ack::{Mpdu, Originator, Recipient};
use super::queue::Entry;

/// ns after which an agreement that was asked for and not granted is asked for again (ns-3's failed-ADDBA timeout).
const ASK_AGAIN: u64 = 200_000_000;

/// What the present exchange is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    /// There is none.
    Nothing,
    /// The frames of [`High::psdu`].
    Data {
        /// Octets of the PSDU.
        octets: u32,
    },
    /// A block-acknowledgement request.
    Request,
    /// A request for an agreement.
    Ask,
    /// The answer to that.
    Grant,
}

/// Whether a block-acknowledgement request is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bar {
    /// No.
    No,
    /// Yes.
    Due,
    /// It was not answered and nothing waits: with the next packet.
    Later,
}

/// What a station has and knows of another.
#[derive(Debug)]
pub struct Peer {
    /// The link that leads there.
    pub link: usize,
    /// Packets without a number.
    pub unsent: VecDeque<Entry>,
    /// What was sent.
    pub originator: Originator,
    /// What came from there.
    pub recipient: Recipient,
    /// What a frame to it may hold.
    pub limits: Limits,
    /// There is an agreement to send by.
    pub agreed: bool,
    /// When to ask for one.
    pub ask_at: u64,
    /// An agreement that it has asked for is to be granted.
    pub grant: bool,
    /// A request is due.
    pub bar: Bar,
    /// ns-3 gives a packet its number when it looks whether it fits: the first one of `unsent` has one.
    pub numbered: bool,
    /// What was sent there.
    pub counts: Counts,
}

/// What was sent to another station.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// PPDUs with data.
    pub ppdus: u64,
    /// Frames in them.
    pub mpdus: u64,
    /// Of these, how many had been sent before.
    pub again: u64,
    /// Block-acknowledgement requests.
    pub requests: u64,
    /// ns on the air of all of these.
    pub airtime: u64,
}

/// A part of a reception with the same interference.
#[derive(Clone, Copy, Debug)]
pub struct Chunk {
    /// ns from the first data symbol.
    pub until: u64,
    /// A ratio of powers.
    pub snr: f64,
}

/// A station's part.
#[derive(Debug)]
pub struct High {
    /// By station.
    pub peers: Vec<Option<Box<Peer>>>,
    /// Packets that are not acknowledged or given up.
    pub packets: usize,
    limit: usize,
    max_age: u64,
    /// Transmissions of a frame by itself, and of any frame unless `endless`.
    pub retry_limit: u32,
    /// Under an agreement only age ends a frame, but for one by itself whose answer is one too many of `missed` (ns-3).
    pub endless: bool,
    /// Answers missed since a frame by itself or an RTS was answered, or one given up: ns-3's count of the station. Block
    /// acknowledgements do not end it.
    pub missed: u32,
    /// Agreements for single frames, too (ns-3 with VHT and HE).
    pub always_agrees: bool,
    /// ns-3's way of numbering packets.
    pub numbers_early: bool,
    /// Peer of the exchange in progress.
    pub to: usize,
    /// What it is about.
    pub sending: Sending,
    /// Numbers of the frames being sent.
    pub psdu: Vec<u64>,
    /// How many of them were sent before.
    pub again: usize,
    /// The rate is being tried: one frame.
    pub sampling: bool,
    /// TXOP limit in ns.
    pub txop: u64,
    /// End of the present TXOP.
    pub txop_end: u64,
    /// The reception in progress.
    pub chunks: Vec<Chunk>,
}

/// What a station is made of.
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    /// Packets it holds at most.
    pub limit: usize,
    /// ns they may wait.
    pub max_age: u64,
    /// As in [`High`].
    pub retry_limit: u32,
    /// Follow ns-3.
    pub like_ns3: bool,
    /// As in [`High`].
    pub always_agrees: bool,
    /// As in [`High`].
    pub txop: u64,
}

impl Peer {
    /// Nothing has been sent. It asks for an agreement if it can use one.
    pub fn new(link: usize, limits: Limits) -> Self {
        Self {
            link,
            unsent: VecDeque::new(),
            originator: Originator::new(limits.window),
            recipient: Recipient::new(limits.window),
            limits,
            agreed: false,
            ask_at: 0,
            grant: false,
            bar: Bar::No,
            numbered: false,
            counts: Counts::default(),
        }
    }

    /// When its oldest packet came; none if there is none.
    #[inline]
    fn oldest(&self) -> Option<u64> {
        match self.originator.is_empty() {
            true => self.unsent.front().map(|e| e.since),
            false => Some(self.originator.get(self.originator.start).since),
        }
    }

    /// The recipient must be told of a new start.
    pub fn tell(&mut self) {
        self.bar = Bar::Due;
    }

    /// Frames that may be in one PPDU: none but the first before there is an agreement.
    fn together(&self) -> bool {
        self.agreed && self.limits.ampdu > 0
    }
}

impl High {
    /// An idle station.
    pub fn new(parts: Parts) -> Self {
        Self {
            peers: Vec::new(),
            packets: 0,
            limit: parts.limit,
            max_age: parts.max_age,
            retry_limit: parts.retry_limit,
            endless: parts.like_ns3,
            missed: 0,
            always_agrees: parts.always_agrees,
            numbers_early: parts.like_ns3,
            to: 0,
            sending: Sending::Nothing,
            psdu: Vec::new(),
            again: 0,
            sampling: false,
            txop: parts.txop,
            txop_end: 0,
            chunks: Vec::new(),
        }
    }

    /// The other station `to`, which a link joins.
    #[inline]
    pub fn peer(&mut self, to: usize) -> &mut Peer {
        self.peers[to].as_mut().expect("a link joins them")
    }

    /// The frame of this number to `to`.
    #[inline]
    pub fn mpdu(&mut self, to: usize, number: u64) -> &mut Mpdu {
        self.peer(to).originator.get_mut(number)
    }

    /// A frame being received had the same interference until so long after its first data symbol; `first`: from its start.
    #[inline]
    pub fn hear(&mut self, first: bool, until: u64, snr: f64) {
        if first {
            self.chunks.clear();
        }
        if until > 0 {
            self.chunks.push(Chunk { until, snr });
        }
    }

    /// There is nothing to send.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.packets == 0 && !self.peers.iter().flatten().any(|p| p.grant || p.bar == Bar::Due)
    }

    /// Adds a packet; false: there is no room.
    #[inline]
    pub fn push(&mut self, entry: Entry) -> bool {
        if self.packets >= self.limit {
            return false;
        }
        self.packets += 1;
        let peer = self.peer(entry.to);
        if peer.bar == Bar::Later {
            peer.bar = Bar::Due;
        }
        peer.unsent.push_back(entry);
        true
    }

    /// Gives up what is too old at `now`; `gone` is called with each packet that was not received.
    pub fn expire(&mut self, now: u64, mut gone: impl FnMut(&Entry)) {
        let max_age = self.max_age;
        for peer in self.peers.iter_mut().flatten() {
            let mut hole = false;
            while !peer.originator.is_empty() {
                let oldest = peer.originator.get_mut(peer.originator.start);
                if now - oldest.since <= max_age {
                    break;
                }
                self.packets -= oldest.packets.len();
                if !oldest.received {
                    oldest.packets.iter().for_each(&mut gone);
                }
                (oldest.done, oldest.given_up) = (true, true);
                hole |= peer.originator.advance();
            }
            while peer.unsent.front().is_some_and(|e| now - e.since > max_age) {
                gone(&peer.unsent.pop_front().expect("it was there"));
                self.packets -= 1;
                if std::mem::take(&mut peer.numbered) {
                    let mpdu = peer.originator.fresh();
                    (mpdu.done, mpdu.given_up) = (true, true);
                    peer.originator.push();
                    hole |= peer.originator.advance();
                }
            }
            if hole && peer.agreed {
                peer.tell();
            }
        }
    }

    /// What is to be sent next, and to whom: grants first, then requests, then data, the oldest packet first.
    pub fn next(&self, now: u64) -> Option<(usize, Sending)> {
        let mut chosen: Option<(u64, usize, Sending)> = None;
        for (to, peer) in self.peers.iter().enumerate().filter_map(|(i, p)| p.as_ref().map(|p| (i, p))) {
            let (order, sending) = if peer.grant {
                (0, Sending::Grant)
            } else if peer.bar == Bar::Due {
                (1, Sending::Request)
            } else if let Some(oldest) = peer.oldest() {
                let asks = !peer.agreed && now >= peer.ask_at && self.wants_agreement(peer);
                (2 + oldest, if asks { Sending::Ask } else { Sending::Data { octets: 0 } })
            } else {
                continue;
            };
            if chosen.is_none_or(|c| order < c.0) {
                chosen = Some((order, to, sending));
            }
        }
        chosen.map(|(_, to, sending)| (to, sending))
    }

    /// 10.25.2 leaves open when an agreement is asked for: as in ns-3, when a second packet waits.
    fn wants_agreement(&self, peer: &Peer) -> bool {
        peer.originator.is_empty() && (self.always_agrees || (peer.limits.ampdu > 0 && peer.unsent.len() > 1))
    }

    /// An agreement with `to` was asked for at `now`: not again soon.
    pub fn asked(&mut self, to: usize, now: u64) {
        self.peer(to).ask_at = now + ASK_AGAIN;
    }

    /// Puts together what goes to `to` in one PPDU: what was missing first, then new frames. None: nothing fits.
    pub fn fill(&mut self, to: usize, room: Room) -> Option<u32> {
        self.psdu.clear();
        self.again = 0;
        let sampling = self.sampling;
        let numbers_early = self.numbers_early;
        let psdu = &mut self.psdu;
        let peer = self.peers[to].as_mut().expect("a link joins them");
        let many = peer.together() && !sampling;
        let mut octets = 0;
        let mut alone = 0;
        let fits = |psdu: &Vec<u64>, octets: u32, mpdu: u32| match psdu.is_empty() {
            true => room.alone(mpdu) <= room.longest,
            false => many && with_frame(octets, mpdu) <= room.most,
        };
        for number in peer.originator.start..peer.originator.next {
            let mpdu = peer.originator.get_mut(number);
            if mpdu.done {
                continue;
            }
            if !fits(psdu, octets, mpdu.octets) {
                return finish(psdu, octets, alone);
            }
            // What an RTS in vain announced was not sent yet.
            self.again += usize::from(mpdu.tries > 0);
            mpdu.tries += 1;
            (octets, alone) = (with_frame(octets, mpdu.octets), room.alone(mpdu.octets));
            psdu.push(number);
        }
        let window = if peer.agreed { peer.limits.window } else { 1 };
        while peer.originator.has_room(window) && (many || psdu.is_empty()) {
            let Some(mpdu) = next_frame(peer, |mpdu| fits(psdu, octets, mpdu)) else {
                peer.numbered = numbers_early && peer.agreed && !peer.unsent.is_empty();
                break;
            };
            (octets, alone) = (with_frame(octets, mpdu), room.alone(mpdu));
            psdu.push(peer.originator.push());
            peer.numbered = false;
        }
        finish(psdu, octets, alone)
    }

    /// The frame of this number is acknowledged or given up.
    pub fn settle(&mut self, to: usize, number: u64, acknowledged: bool, mut gone: impl FnMut(&Entry)) {
        let mpdu = self.peers[to].as_mut().expect("a link joins them").originator.get_mut(number);
        (mpdu.done, mpdu.given_up) = (true, !acknowledged);
        self.packets -= mpdu.packets.len();
        if !acknowledged && !mpdu.received {
            mpdu.packets.iter().for_each(&mut gone);
        }
    }

    /// Takes back what waits on `link`; `gone` is called with each packet that was not received. (All packets between two
    /// stations are on one link.)
    pub fn clear_link(&mut self, link: usize, mut gone: impl FnMut(&Entry)) {
        let to = self.peers.iter().position(|p| p.as_ref().is_some_and(|p| p.link == link));
        let Some(peer) = to.and_then(|to| self.peers[to].as_mut()) else { return };
        for entry in peer.unsent.drain(..) {
            self.packets -= 1;
            gone(&entry);
        }
        peer.numbered = false;
        for number in peer.originator.start..peer.originator.next {
            let mpdu = peer.originator.get_mut(number);
            if !mpdu.done {
                self.packets -= mpdu.packets.len();
                if !mpdu.received {
                    mpdu.packets.iter().for_each(&mut gone);
                }
            }
            mpdu.packets.clear();
        }
    }
}

/// The octets of the PSDU.
fn finish(psdu: &[u64], octets: u32, alone: u32) -> Option<u32> {
    match psdu.len() {
        0 => None,
        1 => Some(alone),
        _ => Some(octets),
    }
}

/// Makes a frame of the next packet, or of several, if it `fits`: its octets.
fn next_frame(peer: &mut Peer, fits: impl Fn(u32) -> bool) -> Option<u32> {
    let most = peer.limits.amsdu;
    let first = peer.unsent.front()?;
    let since = first.since;
    let (mut count, mut amsdu) = (1, with_packet(0, 0, first.octets));
    if !fits(amsdu + QOS_OVERHEAD) {
        return None;
    }
    while let Some(entry) = peer.unsent.get(count).filter(|_| most > 0) {
        let larger = with_packet(amsdu, count, entry.octets);
        if larger > most || !fits(larger + QOS_OVERHEAD) {
            break;
        }
        (count, amsdu) = (count + 1, larger);
    }
    let octets = amsdu + QOS_OVERHEAD;
    let mpdu = peer.originator.fresh();
    mpdu.packets.extend(peer.unsent.drain(..count));
    (mpdu.octets, mpdu.since, mpdu.tries) = (octets, since, 1);
    Some(octets)
}
