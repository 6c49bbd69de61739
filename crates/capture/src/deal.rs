//! Demultiplexing: which connection and subflow a packet belongs to, by its 4-tuple. Connections are opened and closed here.

use std::collections::{HashMap, HashSet};

use anabranch_pcap::container::Reader;
use anabranch_pcap::encapsulation::{Opener, Record, link};
use anabranch_pcap::packet::{self, MixBuilder, Packet, Tap, Tuple};
use anabranch_stack::segment::Flags;
use anabranch_stack::wire::mptcp::MptcpOption;

use super::connection::Connection;
use super::quiet::{Over, Quiet, State};
use super::report::{Capture, Report};
use super::subflow::{CLIENT, Opening, SERVER, Subflow};
use super::{Counts, Only};

/// How long a closed connection is kept for late segments and lost acknowledgements, in nanoseconds.
const LINGER: u64 = 30_000_000_000;

/// One second, in nanoseconds.
const SECOND: u64 = 1_000_000_000;

/// A handshake without an answer is forgotten after this.
const HALF_OPEN: u64 = 120_000_000_000;

/// The analysis in progress.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    only: Option<Only>,
    causes: bool,
    pub counts: Counts,
    /// Open connections. The place of a closed one is `None` and in `free`.
    connections: Vec<Option<Box<Connection>>>,
    free: Vec<usize>,
    started: u64,
    /// How many of the connections started are to be reported: those that `only` asks for.
    wanted: u64,
    /// Connection and subflow of each 4-tuple.
    flows: HashMap<Tuple, (usize, usize), MixBuilder>,
    /// The 4-tuples that are apart from those of other files.
    apart: HashSet<Tuple, MixBuilder>,
    /// Connection of each token.
    tokens: HashMap<u32, usize, MixBuilder>,
    /// The 4-tuple looked up last, since the next packet usually has the same.
    latest: Option<(Tuple, (usize, usize))>,
    swept: u64,
    pub unknown_link: Option<(u32, u32)>,
    pub opener: Opener,
    quiet: Quiet,
    over: Over,
    report: Report,
}

impl Analysis {
    /// An analysis of all connections, or of `only` one kind; with what each subflow waited for if `causes`.
    pub fn new(only: Option<Only>, causes: bool) -> Self {
        Self { only, causes, ..Self::default() }
    }

    /// Works in the record that `reader` is at; `then` is called after each TCP segment in it.
    #[inline]
    pub fn on_record(&mut self, file: u32, reader: &Reader, mut then: impl FnMut(&Self, &Packet<'_>)) {
        let (head, frame) = (*reader.head(), reader.data());
        let c = &mut self.counts;
        if c.packets == 0 {
            c.first = head.time;
        }
        c.packets += 1;
        c.last = c.last.max(head.time);
        // A time before that of the first record (another interface's, or of a clock that was set back) is raised to it.
        let time = head.time.max(c.first);
        let tap = Tap { file, interface: head.interface, index: 0 };
        let plain = link::plain(head.link, frame).and_then(|inside| {
            let sent = head.sent.saturating_sub(inside.before) as usize;
            packet::parse(inside.ip, sent, time, Tap { index: inside.index, ..tap })
        });
        match plain {
            Some(p) if self.opener.is_repeat(&p) => {}
            Some(p) => {
                self.on_segment(&p);
                then(self, &p);
            }
            None => {
                let record = Record { link: head.link, frame, sent: head.sent, time, tap };
                self.open_record(&record, &mut then);
            }
        }
        if time >= self.swept + HALF_OPEN / 4 {
            self.sweep(time);
        }
    }

    /// A record that is not simply a TCP segment: opens what is around the segments.
    #[inline(never)]
    fn open_record(&mut self, record: &Record<'_>, then: &mut dyn FnMut(&Self, &Packet<'_>)) {
        let mut opener = std::mem::take(&mut self.opener);
        let known = opener.open(record, &mut |p| {
            self.on_segment(p);
            then(self, p);
        });
        self.opener = opener;
        if !known {
            self.counts.unknown_link += 1;
            self.unknown_link.get_or_insert((record.tap.file, record.link));
        }
    }

    /// The connection and the number of the subflow that `p`, which was worked in, belongs to.
    pub fn flow_of(&self, p: &Packet<'_>) -> Option<(&Connection, usize)> {
        let (c, i) = *self.flows.get(&self.tuple_of(p))?;
        Some((self.connections.get(c)?.as_deref()?, i))
    }

    /// There is something to report.
    pub fn has_any(&self) -> bool {
        self.wanted > 0
    }

    #[inline]
    fn on_segment(&mut self, p: &Packet<'_>) {
        self.counts.tcp += 1;
        self.counts.mptcp += u64::from(p.multipath);
        let mut tuple = self.tuple_of(p);
        let known = match self.latest {
            Some((latest, flow)) if latest == tuple => Some(flow),
            _ => self.flows.get(&tuple).copied(),
        };
        let opens = p.flags.has(Flags::SYN) && !p.flags.has(Flags::ACK);
        let flow = match known {
            Some((c, _)) if !opens && p.multipath && self.seemed_tcp(c) => {
                self.forget(c);
                self.on_stranger(tuple, p)
            }
            Some(flow) if !opens && self.is_another(flow, p) => self.on_stranger(tuple, p).or(Some(flow)),
            Some((c, _)) if opens && p.signals && self.was_unmatched_join(c) => self.join_again(c, tuple, p),
            Some(flow) if !opens || !self.is_reused(flow, p) => Some(flow),
            Some(flow) if self.is_apart(flow, p) => {
                tuple = tuple.apart(p.tap.file);
                self.apart.insert(tuple);
                self.counts.split += 1;
                self.on_stranger(tuple, p)
            }
            _ => {
                self.flows.remove(&tuple);
                self.latest = None;
                self.on_stranger(tuple, p)
            }
        };
        let Some((c, i)) = flow else { return };
        self.latest = Some((tuple, (c, i)));
        let Some(connection) = self.connections.get_mut(c).and_then(Option::as_mut) else { return };
        if p.cut && p.len > 1 && p.dss.is_none() && connection.note_cut_data() {
            self.wanted -= u64::from(self.only != Some(Only::Tcp));
            self.wanted += u64::from(self.only != Some(Only::Mptcp));
        }
        connection.on_packet(i, p);
        while let Some(token) = connection.tokens.pop() {
            self.tokens.insert(token, c);
        }
    }

    /// The 4-tuple of `p`, as its file shows it.
    #[inline]
    fn tuple_of(&self, p: &Packet<'_>) -> Tuple {
        let tuple = Tuple::of(p.src, p.dst);
        if self.apart.is_empty() {
            return tuple;
        }
        let apart = tuple.apart(p.tap.file);
        if self.apart.contains(&apart) { apart } else { tuple }
    }

    /// While `flow` goes on in other files, `p` opens a connection on the same 4-tuple in one that has shown nothing of it: something
    /// between the two places ends TCP, such as a proxy (RFC 3135 2.4).
    fn is_apart(&self, (c, i): (usize, usize), p: &Packet<'_>) -> bool {
        let sub = self.connections.get(c).and_then(Option::as_ref).map(|c| &c.subflows[i]);
        sub.is_some_and(|sub| p.time < sub.last + SECOND && !sub.places.iter().any(|place| place.is_in(p.tap.file)))
    }

    /// A connection that was taken for TCP since its first segments had no option of MPTCP.
    fn seemed_tcp(&self, c: usize) -> bool {
        self.connections.get(c).and_then(Option::as_ref).is_some_and(|c| c.seemed_tcp())
    }

    /// A join whose SYN/ACK was recorded before its SYN, which has the token.
    fn was_unmatched_join(&self, c: usize) -> bool {
        let connection = self.connections.get(c).and_then(Option::as_ref).filter(|c| c.subflows.len() == 1);
        connection
            .map(|c| &c.subflows[0])
            .is_some_and(|f| f.opening == Opening::Join && f.token.is_none() && f.syn == [false; 2])
    }

    /// The SYN `p` shows which connection the join belongs to that was a connection of its own until now.
    fn join_again(&mut self, c: usize, tuple: Tuple, p: &Packet<'_>) -> Option<(usize, usize)> {
        let before = self.take(c)?;
        self.wanted -= u64::from(self.wants(before.tcp));
        let (c, i) = self.on_stranger(tuple, p)?;
        let answers = before.subflows.into_iter().next().map(|f| f.answers).unwrap_or_default();
        self.connections[c].as_mut()?.subflows[i].answers = answers;
        Some((c, i))
    }

    /// A SYN on a 4-tuple that is known opens a new connection, unless it is the same SYN again, or the peer's (RFC 9293 3.5: simultaneous
    /// open).
    fn is_reused(&mut self, (c, i): (usize, usize), p: &Packet<'_>) -> bool {
        let Some(connection) = &mut self.connections[c] else { return true };
        connection.subflows[i].is_reopened_by(p)
    }

    /// The connection of `flow` is over, and `p` cannot belong to it, nor open another one by a SYN.
    fn is_another(&self, (c, i): (usize, usize), p: &Packet<'_>) -> bool {
        let sub = self.connections.get(c).and_then(Option::as_ref).map(|c| &c.subflows[i]);
        sub.is_some_and(|sub| sub.is_closed() && sub.excludes(p))
    }

    /// A segment on an unknown 4-tuple: the first of a connection, of a join, or of a subflow that began before the capture.
    fn on_stranger(&mut self, tuple: Tuple, p: &Packet<'_>) -> Option<(usize, usize)> {
        let opens = p.flags.has(Flags::SYN) && !p.flags.has(Flags::ACK);
        // A late segment of a connection that is over must not begin a new one.
        let late = !p.flags.has(Flags::SYN) && p.len <= 1 && self.over.contains(&tuple);
        let reset = p.flags.has(Flags::RST) || !(p.flags.has(Flags::SYN) || p.flags.has(Flags::ACK));
        if !p.multipath && (reset || late || self.only == Some(Only::Mptcp)) {
            return None;
        }
        let plain = if p.flags.has(Flags::SYN) { Opening::Plain } else { Opening::Unseen };
        let mut opening = (if p.multipath { Opening::Unseen } else { plain }, None);
        for option in p.signals() {
            match option {
                MptcpOption::CapableSyn { .. } | MptcpOption::CapableSynAck { .. } | MptcpOption::CapableAck { .. } => {
                    opening.0 = Opening::Capable
                }
                MptcpOption::JoinSyn { token, .. } => opening = (Opening::Join, Some(token)),
                MptcpOption::JoinSynAck { .. } | MptcpOption::JoinAck { .. } => opening.0 = Opening::Join,
                _ => {}
            }
        }
        // The subflow was opened by the sender of the SYN or the receiver of the SYN/ACK; without either, by the end with the
        // higher port as a guess.
        let forward = match (opens, p.flags.has(Flags::SYN)) {
            (true, _) => true,
            (_, true) => false,
            _ => p.src.1 >= p.dst.1,
        };
        let mut ends = if forward { [p.src, p.dst] } else { [p.dst, p.src] };
        let (mut opener, mut home) = (CLIENT, None);
        if let Some(token) = opening.1 {
            home = self.tokens.get(&token).copied();
            home = home.filter(|c| self.connections[*c].as_ref().is_some_and(|c| !c.tcp));
            // RFC 8684 3.2: the token is that of the SYN's receiver. If it is the client's, the server opened the subflow.
            let of_client = home.and_then(|c| self.connections[c].as_ref()).and_then(|c| c.key_tokens()[CLIENT]);
            if of_client == Some(token) {
                ends.swap(CLIENT, SERVER);
                opener = SERVER;
            }
        }
        let c = home.unwrap_or_else(|| self.open(p, opening.0));
        if let (None, Some(token)) = (home, opening.1) {
            // The connection's keys were not seen, but further joins with this token belong to the same connection.
            self.tokens.insert(token, c);
        }
        self.over.forget(&tuple);
        let connection = self.connections[c].as_mut()?;
        let mut subflow = Subflow::new(tuple, ends, opening.0, opener, p.time);
        subflow.token = opening.1;
        let (i, before) = connection.add(subflow);
        if let Some(before) = before {
            self.flows.remove(&before.tuple);
        }
        self.flows.insert(tuple, (c, i));
        Some((c, i))
    }

    fn open(&mut self, p: &Packet<'_>, opening: Opening) -> usize {
        let (matched, tcp) = (!p.multipath || opening == Opening::Capable, !p.multipath);
        let number = self.started;
        let mut connection = Box::new(Connection::new(number, p.time, self.counts.first, matched, tcp));
        if self.causes {
            connection.waiting = Some(Box::default());
        }
        let connection = Some(connection);
        self.started += 1;
        self.wanted += u64::from(self.wants(tcp));
        let c = match self.free.pop() {
            Some(c) => {
                self.connections[c] = connection;
                c
            }
            None => {
                self.connections.push(connection);
                self.connections.len() - 1
            }
        };
        let state = |(c, number): (usize, u64)| {
            let connection = self.connections[c].as_ref().filter(|c| c.number == number);
            connection.map_or(State::Other, |c| match (c.is_empty(), c.subflows.iter().all(Subflow::is_half_open)) {
                (false, _) => State::Other,
                (true, true) => State::HalfOpen,
                (true, false) => State::Established,
            })
        };
        if let Some(over) = self.quiet.add((c, number), state) {
            self.close(over);
        }
        c
    }

    /// Closes connections that are over, and handshakes that were never answered.
    #[cold]
    fn sweep(&mut self, now: u64) {
        self.swept = now;
        for c in 0..self.connections.len() {
            let Some(connection) = &self.connections[c] else { continue };
            let quiet = now.saturating_sub(connection.last);
            let half_open = connection.subflows.iter().all(Subflow::is_half_open);
            let over = connection.is_closed() && quiet > LINGER;
            if over || (half_open && quiet > HALF_OPEN) {
                if over {
                    connection.subflows.iter().for_each(|f| self.over.add(f.tuple));
                }
                self.close(c);
            }
        }
    }

    fn close(&mut self, c: usize) {
        let Some(mut connection) = self.take(c) else { return };
        connection.finish();
        if self.wants(connection.tcp) {
            self.report.add(*connection, self.counts.first);
        }
    }

    fn wants(&self, tcp: bool) -> bool {
        match self.only {
            None => true,
            Some(Only::Mptcp) => !tcp,
            Some(Only::Tcp) => tcp,
        }
    }

    /// Removes a connection as if it had never been opened.
    fn forget(&mut self, c: usize) {
        if let Some(connection) = self.take(c) {
            self.wanted -= u64::from(self.wants(connection.tcp));
        }
    }

    fn take(&mut self, c: usize) -> Option<Box<Connection>> {
        let connection = self.connections.get_mut(c)?.take()?;
        for (i, sub) in connection.subflows.iter().enumerate() {
            let tuple = sub.tuple;
            if self.flows.get(&tuple) == Some(&(c, i)) {
                self.flows.remove(&tuple);
            }
        }
        let tokens = connection.key_tokens().into_iter().flatten();
        for token in tokens.chain(connection.subflows.iter().filter_map(|f| f.token)) {
            if self.tokens.get(&token) == Some(&c) {
                self.tokens.remove(&token);
            }
        }
        self.latest = None;
        self.free.push(c);
        Some(connection)
    }

    pub fn finish(mut self, readers: &[Reader], stopped: bool) -> Capture {
        for c in 0..self.connections.len() {
            self.close(c);
        }
        self.report.finish((&self.counts, &self.opener.told()), readers, stopped)
    }
}
