//! One subflow: its two ends, the places it was captured at, and both directions of its data.
//!
//! Where a capture was taken is inferred from response times. In a capture at a host, the host's own acknowledgements follow at
//! once and the peer's come a round trip later. So the smallest gap between a segment and its acknowledgement tells which of
//! several places is nearest to a host, and whether it is *at* the host. That needs only one clock, that of the place itself. A
//! side that receives no data has nothing to acknowledge; its response times are then taken from the timestamps it echoes (RFC
//! 7323 3).

use std::collections::VecDeque;

use anabranch_pcap::packet::{Endpoint, Kept, Packet, Tuple};
use anabranch_stack::ranges::RangeSet;
use anabranch_stack::segment::Flags;
use anabranch_stack::seq::Seq;

use super::crossing::Crossing;
use super::mapping::{Checksums, Mapper};
use super::order::Order;
use super::place::Place;
use super::sender::Sender;
use super::stream::Arrival;

/// The side that opened the connection.
pub const CLIENT: usize = 0;
/// The other one.
pub const SERVER: usize = 1;

/// A place with a gap shorter than this, in nanoseconds, is at the host.
const AT_ONCE: u64 = 200_000;
/// A place whose gap towards one side is at most this fraction (1/10) of the gap towards the other is at the host, too.
const PART: u64 = 10;

/// The payload of a packet is at most so long where its receiver's MSS is not known: an Ethernet frame's.
const LARGEST: u16 = 1460;

/// After so many wrong checksums and no right one the sender leaves them to its hardware, and they are no longer verified.
const LEFT_TO_HARDWARE: u64 = 16;

/// How a subflow began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// MP_CAPABLE: the connection's first.
    Capable,
    /// MP_JOIN.
    Join,
    /// A SYN without MPTCP: TCP.
    Plain,
    /// Before the capture.
    Unseen,
}

/// What the TCP checksum of a packet tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integrity {
    /// It is right, or says nothing.
    Whole,
    /// It is wrong: the packet was damaged on the way.
    Damaged,
    /// It is wrong, but perhaps because the host merged packets. If the receiver acknowledges the octets before they pass again, the packet
    /// was not damaged.
    Doubtful,
}

/// One direction of a subflow: what one side sends.
#[derive(Clone, Debug, Default)]
pub struct Half {
    /// The highest sequence number seen, next to which others are unwrapped.
    near: Option<Seq>,
    /// Mappings.
    pub mapper: Mapper,
    /// DSS checksums.
    pub checksums: Checksums,
    /// The sender's state.
    pub sender: Sender,
    /// The receiver's state.
    pub order: Order,
    /// What happened between two places of capture, if there are two.
    pub crossing: Option<Box<Crossing>>,
    /// Arrivals are seen at the receiver itself, not estimated.
    pub exact: bool,
    /// Octets of the data stream that arrived on this subflow first.
    pub fresh: u64,
    /// Reinjections, octets sent while they were in flight on another subflow: their sequence numbers; then how many segments,
    /// and how many of these arrived before any other copy.
    pub reinjected: RangeSet,
    pub reinjections: u64,
    pub useful: u64,
    /// Segments that arrived without any new octet of the data stream.
    pub duplicates: u64,
    /// Packets with a right TCP checksum; then those with a wrong one, and those of these that count as damaged on the way.
    pub checksum_right: u64,
    pub checksum_wrong: u64,
    pub damaged: u64,
    /// The receiver's TS.Recent and Last.ACK.sent (RFC 7323 4.3).
    ts_recent: Option<u32>,
    pub last_ack: u32,
    /// `last_ack` was sent after the last data that arrived in order, so it says what is expected next.
    pub acked_since: bool,
    /// The receiver has sent or accepted a RST.
    pub ended: bool,
    /// Segments that the receiver did not accept.
    pub refused: u64,
    /// The octet of a probe of a closed window that the receiver seems to refuse, until it acknowledges it.
    pub probed: Option<Arrival>,
    /// When a SYN with data passed, and how many octets it has (RFC 7413), until it is acknowledged.
    pub syn_data: Option<(u64, u32)>,
    /// A segment beyond the receiver's window, and an acknowledgement of octets that cannot have been sent: believed if the next ones follow
    /// on them.
    pub far: Option<Kept>,
    pub far_ack: Option<u32>,
    /// The receiver has the sender's key, without which it cannot place data (RFC 8684 3.1).
    pub key_shown: bool,
    /// Sequence number of the FIN; then whether it was acknowledged.
    pub fin: Option<Seq>,
    pub fin_acked: bool,
    /// The account of what its sender waits for knows that it may send.
    pub may_send: bool,
    /// Of the sender's clock, as timestamps show it: its time at the smallest delay so far, less that of the capture.
    pub clock: Option<i64>,
    /// Timestamps of its receiver and when each was first sent, where the capture is the receiver's.
    pub told: VecDeque<(u32, u64)>,
    /// The shortest time from one of these to a segment that echoes it.
    pub answer: Option<u64>,
    /// When the latest of its segments was sent, by these.
    pub latest: Option<u64>,
}

impl Half {
    /// The unwrapped sequence number nearest to those seen before.
    #[inline]
    pub fn unwrap(&mut self, wire: u32) -> Seq {
        match self.near {
            Some(near) => Seq::unwrap(wire, near),
            None => *self.near.insert(Seq::initial(wire)),
        }
    }

    /// How far `wire` is ahead of the highest sequence number seen; zero before any.
    #[inline]
    pub fn ahead(&self, wire: u32) -> i32 {
        self.near.map_or(0, |near| wire.wrapping_sub(near.wire()) as i32)
    }

    /// The highest sequence number seen.
    pub fn near(&self) -> Option<Seq> {
        self.near
    }

    /// Notes that sequence numbers up to `seq` were seen.
    #[inline]
    pub fn seen(&mut self, seq: Seq) {
        if self.near.is_none_or(|near| near < seq) {
            self.near = Some(seq);
        }
    }

    /// Whether the TCP checksum says that a packet was damaged on the way, if the receiver's MSS is `mss`.
    ///
    /// A capture at a host that leaves checksums to its hardware has wrong ones in every packet sent, so a wrong one counts only if the
    /// direction has right ones, too. In a record longer than the MSS the host has merged packets (or not yet divided them): its checksum never
    /// was on the wire.
    #[inline]
    pub fn integrity(&mut self, p: &Packet<'_>, mss: Option<u16>) -> Integrity {
        let unchecked = self.checksum_right == 0 && self.checksum_wrong > LEFT_TO_HARDWARE;
        if unchecked || p.len > u32::from(mss.unwrap_or(LARGEST)) {
            return Integrity::Whole;
        }
        match p.checksum_ok() {
            None => return Integrity::Whole,
            Some(true) => {
                self.checksum_right += 1;
                return Integrity::Whole;
            }
            Some(false) => self.checksum_wrong += 1,
        }
        match self.checksum_right > 0 && self.checksum_wrong <= self.checksum_right + 2 {
            false => Integrity::Whole,
            true if p.seq_len() == 0 => Integrity::Damaged,
            true => Integrity::Doubtful,
        }
    }

    /// A segment at `seq`, which occupies `len` sequence numbers, arrives with the timestamp `val`.
    #[inline]
    pub fn note_timestamp(&mut self, seq: u32, len: u32, val: u32) {
        let newer = self.ts_recent.is_none_or(|recent| (val.wrapping_sub(recent) as i32) >= 0);
        // RFC 7323 5.3: R1 is PAWS, R2 refuses what has all been received, R3 updates TS.Recent.
        // The next expected number is that of the receiver's last acknowledgement, or higher if data arrived in order since.
        let nxt = if self.acked_since { self.last_ack } else { self.order.nxt().map_or(seq, Seq::wire) };
        let beyond = (seq.wrapping_add(len).wrapping_sub(nxt) as i32) >= i32::from(len > 0);
        if newer && beyond && (seq.wrapping_sub(self.last_ack) as i32) <= 0 {
            self.ts_recent = Some(val);
        }
    }

    /// The receiver does not accept a segment at `seq`: the subflow was reset, the timestamp is old (RFC 7323 5.3 R1), or the
    /// key of the third ACK has not arrived yet.
    #[inline]
    pub fn refuses(&mut self, stamp: Option<u32>, seq: u32) -> bool {
        let old = |(val, recent): (u32, u32)| (val.wrapping_sub(recent) as i32) < 0;
        self.ended || stamp.zip(self.ts_recent).is_some_and(old) || self.lacks_key(seq)
    }

    /// The receiver does not have the sender's key yet. (If the receiver acknowledges data, it has: the key is then missing
    /// only from the capture.)
    fn lacks_key(&mut self, seq: u32) -> bool {
        if self.key_shown || self.mapper.iss.is_none() {
            return false;
        }
        let first = self.mapper.iss.map_or(seq, |iss| iss.wire().wrapping_add(1));
        self.key_shown = self.last_ack != first;
        !self.key_shown
    }
}

/// One subflow.
#[derive(Clone, Debug)]
pub struct Subflow {
    /// Its 4-tuple.
    pub tuple: Tuple,
    /// Addresses and ports of the connection's client and server.
    pub ends: [Endpoint; 2],
    /// How it began, and which side opened it.
    pub opening: Opening,
    pub opener: usize,
    /// Address identifiers of the join.
    pub address_ids: [Option<u8>; 2],
    /// Token and random numbers of the join.
    pub token: Option<u32>,
    pub nonces: [Option<u32>; 2],
    /// Whether the join's HMACs, of the SYN/ACK and of the third ACK, are right; `None` if not seen, or if a key is not known.
    pub hmacs: [Option<bool>; 2],
    /// Backup flag.
    pub backup: bool,
    /// By side: the window scale in its SYN; and whether the snap length cut that SYN, so that its options may be unknown.
    pub scales: [Option<u8>; 2],
    pub cut_syn: [bool; 2],
    /// By side: the largest window that it advertised, unscaled: in a SYN, in other segments.
    pub offered: [(u16, u16); 2],
    /// SYN/ACKs that wait for what tells which of them counts.
    pub answers: Vec<Kept>,
    /// Packets that cannot belong to it.
    pub strays: u64,
    pub mss: [Option<u16>; 2],
    /// Times of the first packet and of the last.
    pub began: u64,
    pub last: u64,
    /// By side: its SYN was seen.
    pub syn: [bool; 2],
    /// SYNs of the opener, repeated ones too.
    pub syns: u64,
    /// The side that reset it, if one did.
    pub reset: Option<usize>,
    /// Packets in both directions; then those that the snap length cut within the options, and those with malformed options.
    pub packets: u64,
    pub cut: u64,
    pub malformed: u64,
    /// Both directions: data of the client, data of the server.
    pub halves: [Half; 2],
    /// Places where it was captured; then, by side, the number of the nearest one.
    pub places: Vec<Place>,
    pub near: [usize; 2],
    pub(super) settled: bool,
}

impl Subflow {
    /// A subflow between the connection's client and server, first seen at `now`.
    pub fn new(tuple: Tuple, ends: [Endpoint; 2], opening: Opening, opener: usize, now: u64) -> Self {
        let half = |side| Half { key_shown: opening != Opening::Capable || side != opener, ..Half::default() };
        Self {
            tuple,
            ends,
            opening,
            opener,
            address_ids: [None; 2],
            token: None,
            nonces: [None; 2],
            hmacs: [None; 2],
            backup: false,
            scales: [None; 2],
            cut_syn: [false; 2],
            offered: [(0, 0); 2],
            answers: Vec::new(),
            strays: 0,
            mss: [None; 2],
            began: now,
            last: now,
            syn: [false; 2],
            syns: 0,
            reset: None,
            packets: 0,
            cut: 0,
            malformed: 0,
            halves: [half(CLIENT), half(SERVER)],
            places: Vec::new(),
            near: [0; 2],
            settled: false,
        }
    }

    /// Which side sent `p`.
    #[inline]
    pub fn side(&self, p: &Packet<'_>) -> usize {
        if p.src == self.ends[CLIENT] { CLIENT } else { SERVER }
    }

    /// It has carried no data.
    pub fn is_empty(&self) -> bool {
        self.halves.iter().all(|h| h.sender.segments == 0)
    }

    /// Its handshake was not answered, or not all of it was seen.
    pub fn is_half_open(&self) -> bool {
        self.syn != [true; 2] && self.opening != Opening::Unseen
    }

    /// Returns the receive window in octets that `s` advertises in `p`; `None` if the handshake with the window scale was not seen.
    #[inline]
    pub fn window(&self, s: usize, p: &Packet<'_>) -> Option<u64> {
        // RFC 7323 2.2: the window of a segment with SYN is never scaled; that of the others is if both SYNs had the option.
        let scaled = !p.flags.has(Flags::SYN) && self.scales[1 - s].is_some();
        let shift = if scaled { self.scales[s].unwrap_or(0) } else { 0 };
        let known = self.syn == [true; 2] && self.cut_syn == [false; 2];
        known.then(|| u64::from(p.window) << shift)
    }

    /// Both directions are closed, or it was reset.
    pub fn is_closed(&self) -> bool {
        self.reset.is_some() || self.halves.iter().all(|h| h.fin_acked)
    }

    /// Measures the gaps at a place by a packet that `s` sent.
    #[inline]
    pub fn measure(&mut self, place: usize, s: usize, p: &Packet<'_>) {
        if self.places[place].measure(s, p) {
            self.compare();
        }
    }

    fn compare(&mut self) {
        if self.places.len() < 2 || self.settled {
            return;
        }
        for s in [CLIENT, SERVER] {
            let gap = |i: &usize| self.places[*i].gap[s].unwrap_or(u64::MAX);
            let best = (0..self.places.len()).min_by_key(gap).unwrap_or(0);
            if self.places[best].gap[s].is_some() && self.places[self.near[s]].gap[s].is_some() {
                self.near[s] = best;
            }
        }
        self.settled = self.places.iter().all(|p| p.gap.iter().all(Option::is_some));
    }

    /// The capture was taken at side `s` itself.
    #[inline]
    pub fn is_at(&self, s: usize) -> bool {
        let near = self.near[s];
        match self.places[near].gap[s] {
            Some(own) if own < AT_ONCE => true,
            Some(own) => self.response(near, 1 - s).is_some_and(|other| own.saturating_mul(PART) < other),
            None => false,
        }
    }

    /// How soon side `s` answers at the place with this number; `None` if its answers are not in the capture.
    #[inline]
    pub fn response(&self, place: usize, s: usize) -> Option<u64> {
        let place = self.places.get(place)?;
        place.gap[s].filter(|_| place.shaken[s] || self.acknowledges(s))
    }

    /// Acknowledgements by `s` without data are in the capture. If there are none, others are not prompt: those in segments with data wait
    /// until there are data.
    #[inline]
    pub fn acknowledges(&self, s: usize) -> bool {
        let to = &self.halves[1 - s].sender;
        to.pure_acks || (self.halves[s].sender.pure_acks && !to.stretched)
    }

    /// Data sent by `s` were acknowledged, but by none of the acknowledgements that are sent at once.
    pub fn lacks_pure_acks(&self, s: usize) -> bool {
        let sender = &self.halves[s].sender;
        sender.segments > 0 && sender.is_acknowledged() && !self.acknowledges(1 - s)
    }

    /// Half the smallest round trip from the place nearest to side `s` to the other side.
    pub fn half_way(&self, s: usize) -> u64 {
        self.response(self.near[s], 1 - s).unwrap_or(0) / 2
    }
}
