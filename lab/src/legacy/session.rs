//! A connection of the model in the simulator: handshake (1), application (7), packets and accounts.
//!
//! The client opens subflow 0, both sides tell their addresses, and the client opens one more subflow a path. Nothing of
//! this is ever repeated: a handshake whose segments are lost never ends. One second after subflow 0 is up the application
//! begins to write. The transfer is over when the sink has read every octet; the model's closing is not described, so
//! both ends fall silent then and what is still under way is thrown away.
//!
//! Segments travel as the simulator's, with the model's lengths: its own option numbers have no place there, so the trace
//! shows RFC 8684's mapping, MP_CAPABLE, MP_JOIN and ADD_ADDR for the model's, and SACK blocks for D_SACK's reports, which
//! hold data sequence numbers.

use std::net::{IpAddr, Ipv4Addr};

use anabranch_stack::event::SendKind;
use anabranch_stack::segment::{
    AddrId, Advertised, Dss, Flags, Mapping, Mptcp, Options, Payload, Segment, Signal, Timestamps,
};

use super::receiver::{Answer, Data, FIRST_DATA, Place, Receiver};
use super::sender::{Ack, Note, Sender, Sent, Why, milliseconds};
use super::{Model, Recovery, near, option, wire_len};
use crate::metrics::account::{ConnectionAccount, SubflowAccount, Wait};
use crate::metrics::series::Sample;
use crate::scenario::{Application, Extent, Scenario};
use crate::sim::app::NEVER;
use crate::sim::network::Network;
use crate::sim::packet::{Packet, PacketId};
use crate::sim::rng::Rng;

/// From the handshake of subflow 0 to the first write (7).
const FIRST_WRITE: u64 = 1_000_000_000;
/// Initial sequence numbers and tokens are below this (1).
const NUMBERS: f64 = 1000.0;
/// The client's initial sequence number on the n-th joined subflow begins here, n times.
const JOINED: u64 = 10_000;
/// The advertised window, always (2).
const WINDOW: u16 = 65_535;

/// What only the handshake and the numbers of acknowledgements need of a subflow.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    /// Next sequence number of the server.
    server_next: u64,
    /// What the client expects of the server.
    client_expects: u64,
    /// Window and threshold as last told to the trace.
    told: (f64, u64),
}

/// One connection.
#[derive(Debug)]
pub struct Legacy {
    pub(crate) account: ConnectionAccount,
    pub(crate) last_progress: u64,
    index: usize,
    name: String,
    seed: u64,
    model: Model,
    paths: usize,
    sender: Sender,
    receiver: Receiver,
    /// One a subflow, by the sender's number, which is also that of its path and its 4-tuple.
    ends: Vec<Ends>,
    first_write: u64,
    /// When the application stops writing, if it does so by time.
    until: u64,
    isn: Rng,
    token: u32,
    answers: Vec<Answer>,
    /// Slots of the client's timer and of the application.
    timer_slot: usize,
    app_slot: usize,
}

impl Legacy {
    /// The connection `index` of `scenario`, to start at `started`.
    pub fn new(scenario: &Scenario, index: usize, model: &Model, started: u64, slots: [usize; 3]) -> Self {
        let c = &scenario.connections[index];
        let (octets, until) = match c.transfer.application {
            Application::Bulk(Extent::Bytes(n)) => (n, NEVER),
            Application::Bulk(Extent::Duration(d)) => (u64::MAX / 2, started.saturating_add(d.0)),
            _ => unreachable!("refused with the scenario"),
        };
        let mut isn = Rng::new(scenario.seed, &format!("connection {} legacy numbers", c.name));
        let token = (isn.uniform() * NUMBERS) as u32;
        Self {
            account: ConnectionAccount::default(),
            last_progress: 0,
            index,
            name: c.name.clone(),
            seed: scenario.seed,
            model: *model,
            paths: c.paths.len(),
            sender: Sender::new(model, octets),
            receiver: Receiver::new(model),
            ends: Vec::new(),
            first_write: NEVER,
            until,
            isn,
            token,
            answers: Vec::new(),
            timer_slot: slots[0],
            app_slot: slots[2],
        }
    }

    // ---- what the world calls ----------------------------------------------------------------------------------

    /// The application's slot is due: the start, the first write, or the end of writing.
    pub fn on_application(&mut self, net: &mut Network) {
        if self.account.done.is_some() {
            return;
        }
        let now = net.now;
        if self.account.began.is_none() {
            self.account.began = Some(now);
            self.last_progress = now;
            net.mark_start(self.index);
            self.connect(net);
        }
        if now >= self.until {
            self.sender.finish_writing();
            self.finish(now);
        }
        if now >= self.first_write {
            self.first_write = NEVER;
            self.sender.pump(now);
            self.after(net);
        }
        let wake = self.first_write.min(if now < self.until { self.until } else { NEVER });
        net.schedule(self.app_slot, wake);
    }

    /// The client's timer slot is due.
    pub fn on_timer(&mut self, net: &mut Network) {
        if self.account.done.is_none() {
            self.sender.on_timer(net.now);
            self.after(net);
        }
    }

    /// A packet arrives at its host.
    pub fn on_packet(&mut self, net: &mut Network, id: PacketId) {
        if self.account.done.is_some() {
            return;
        }
        let packet = *net.pool.get(id);
        let (subflow, segment) = (packet.tuple as usize, &packet.segment);
        match (packet.up, segment.payload.len > 0) {
            (true, true) => {
                let taken = self.ends[subflow].server_next != 0;
                net.flows[self.index].tuples[subflow].fates.arrived(segment.seq, packet.transmissions, taken);
                self.on_data(net, subflow, segment);
            }
            (true, false) => self.on_server_control(net, subflow, segment),
            (false, _) => self.on_client_segment(net, subflow, segment),
        }
    }

    // ---- handshake ---------------------------------------------------------------------------------------------

    fn draw(&mut self) -> u64 {
        (self.isn.uniform() * NUMBERS) as u64
    }

    /// The client opens subflow 0.
    fn connect(&mut self, net: &mut Network) {
        let isn = self.draw();
        self.open(net, isn, with(Mptcp::CapableSyn { checksum: false }), option::CAPABLE);
    }

    /// The client opens subflows on all further paths.
    fn join(&mut self, net: &mut Network) {
        while self.ends.len() < self.paths {
            let n = self.ends.len();
            let isn = self.draw() + JOINED * n as u64;
            let join = Mptcp::JoinSyn { backup: false, address_id: n as u8, token: self.token, nonce: 0 };
            self.open(net, isn, with(join), option::JOIN);
        }
    }

    fn open(&mut self, net: &mut Network, isn: u64, said: Options, options: u32) {
        let path = self.ends.len();
        net.flows[self.index].tuples.push(SubflowAccount { path, ..SubflowAccount::default() });
        let rng = Rng::new(self.seed, &format!("connection {} legacy discard {path}", self.name));
        self.sender.open(isn, rng);
        self.ends.push(Ends::default());
        self.control(net, path, true, isn, Flags::SYN, said, options);
    }

    /// A segment without payload leaves; it takes up the sequence number `seq`.
    #[allow(clippy::too_many_arguments, reason = "all that differs between them")]
    fn control(
        &mut self,
        net: &mut Network,
        subflow: usize,
        up: bool,
        seq: u64,
        flags: Flags,
        said: Options,
        options: u32,
    ) {
        let ends = &self.ends[subflow];
        let ack = match (up, flags == Flags::SYN) {
            (_, true) => 0,
            (true, false) => ends.client_expects,
            (false, false) => self.receiver.expected(subflow),
        };
        let mut segment = Segment { seq: seq as u32, ack: ack as u32, window: WINDOW, flags, ..Segment::default() };
        segment.options = said;
        self.transmit(net, subflow, up, segment, SendKind::Control, 0, options);
    }

    #[allow(clippy::too_many_arguments, reason = "a packet's parts")]
    fn transmit(
        &self,
        net: &mut Network,
        subflow: usize,
        up: bool,
        segment: Segment,
        kind: SendKind,
        copies: u8,
        options: u32,
    ) {
        let mut packet = Packet::new(segment, self.index, subflow as u32, up, kind, copies);
        packet.wire_len = wire_len(segment.payload.len, options);
        net.send(packet);
    }

    /// Each side tells all its addresses in one acknowledgement; the simulator's segment shows the last.
    fn addresses(&self, side: u8) -> (Options, u32) {
        let last = self.paths.saturating_sub(1) as u8;
        let address = AddrId { id: last, addr: IpAddr::V4(Ipv4Addr::new(10, 0, last, side)) };
        let signal = Signal::AddAddrEcho(Advertised { address, port: None });
        (Options { signal, ..Options::default() }, option::ADDRESS * self.paths as u32)
    }

    /// The server hears a SYN or a pure acknowledgement.
    fn on_server_control(&mut self, net: &mut Network, subflow: usize, segment: &Segment) {
        if segment.flags == Flags::SYN {
            // A duplicate on the way is nobody's SYN.
            if self.ends[subflow].server_next > 0 {
                return;
            }
            let isn = if subflow == 0 { self.draw() } else { 1 };
            self.ends[subflow].server_next = isn + 1;
            self.receiver.open(subflow, u64::from(segment.seq) + 1);
            let (said, options) = match subflow {
                0 => (with(Mptcp::CapableSyn { checksum: false }), option::CAPABLE),
                _ => (Options::default(), 0),
            };
            self.control(net, subflow, false, isn, Flags::SYN.with(Flags::ACK), said, options);
            return;
        }
        if self.ends[subflow].server_next == 0 {
            return;
        }
        let seq = near(self.receiver.expected(subflow), segment.seq);
        let repeated = seq < self.receiver.expected(subflow);
        self.receiver.on_control(subflow, seq);
        if matches!(segment.options.signal, Signal::AddAddrEcho(_)) && !repeated {
            let (said, options) = self.addresses(2);
            self.server_control(net, subflow, said, options);
        }
    }

    fn server_control(&mut self, net: &mut Network, subflow: usize, said: Options, options: u32) {
        let seq = self.ends[subflow].server_next;
        self.ends[subflow].server_next += 1;
        self.control(net, subflow, false, seq, Flags::ACK, said, options);
    }

    fn client_control(&mut self, net: &mut Network, subflow: usize, said: Options, options: u32) {
        let seq = self.sender.take_control(subflow);
        self.control(net, subflow, true, seq, Flags::ACK, said, options);
    }

    /// The client hears the answer to a SYN, the server's addresses, or an acknowledgement.
    fn on_client_segment(&mut self, net: &mut Network, subflow: usize, segment: &Segment) {
        let expects = &mut self.ends[subflow].client_expects;
        if segment.flags.has(Flags::SYN) {
            if *expects == 0 {
                *expects = u64::from(segment.seq) + 1;
                self.on_established(net, subflow);
            }
            return;
        }
        *expects = (*expects).max(near(*expects, segment.seq) + 1);
        let number = near(self.sender.subflows()[subflow].next, segment.ack);
        if matches!(segment.options.signal, Signal::AddAddrEcho(_)) {
            self.sender.on_control(subflow, number);
            self.join(net);
            return;
        }
        let blocks = segment.options.sack.as_slice();
        let highest = self.sender.written();
        let report = match blocks {
            [a, b] => Some([a, b].map(|(from, to)| (near(highest, *from), near(highest, *to)))),
            _ => None,
        };
        let ack = Ack { number, echo: segment.options.timestamps.map(|t| t.ecr), report };
        self.sender.on_ack(net.now, subflow, &ack);
        let s = &self.sender.subflows()[subflow];
        let account = &mut net.flows[self.index].tuples[subflow];
        if s.rtt.samples() > 0 {
            account.srtt.set(net.now, s.rtt.srtt());
        }
        account.fates.settle((s.acked + 1) as u32, &mut account.episodes);
        self.after(net);
    }

    fn on_established(&mut self, net: &mut Network, subflow: usize) {
        self.sender.on_established(subflow);
        self.client_control(net, subflow, Options::default(), 0);
        if subflow == 0 {
            let (said, options) = self.addresses(1);
            self.client_control(net, subflow, said, options);
            self.first_write = net.now + FIRST_WRITE;
            net.schedule(self.app_slot, self.first_write.min(self.until));
            self.last_progress = net.now;
        }
        self.after(net);
    }

    // ---- data --------------------------------------------------------------------------------------------------

    /// What the sender wants to go out, goes; its timer and its windows are noted.
    fn after(&mut self, net: &mut Network) {
        for _ in 0..self.sender.take_writes() {
            net.on_write(self.index);
        }
        for (subflow, note) in self.sender.take_notes() {
            let episodes = &mut net.flows[self.index].tuples[subflow].episodes;
            match note {
                Note::Cut => episodes.begin(net.now),
                Note::Spurious { restored } => episodes.judge(net.now, true, restored),
            }
        }
        for sent in self.sender.take_out() {
            self.send_data(net, &sent);
        }
        for (i, (s, ends)) in self.sender.subflows().iter().zip(&mut self.ends).enumerate() {
            if s.established && ends.told != (s.cwnd, s.ssthresh) {
                ends.told = (s.cwnd, s.ssthresh);
                net.flows[self.index].tuples[i].cwnd.set(net.now, s.cwnd);
                let octets = s.cwnd * f64::from(self.model.mss);
                net.trace.window(net.now, self.index as u32, i as u32, true, octets, s.ssthresh as f64);
            }
        }
        // The peer's window never binds, and the scheduler never waits.
        let wait = if self.sender.is_idle() { Wait::Application } else { Wait::Cwnd };
        self.account.limits.set(net.now, wait, false);
        net.schedule(self.timer_slot, self.sender.deadline().map_or(NEVER, |at| at.max(net.now)));
    }

    fn send_data(&mut self, net: &mut Network, sent: &Sent) {
        let (m, subflow) = (&sent.mapping, sent.subflow);
        let kind = match sent.why {
            Why::New => SendKind::New,
            Why::Fast => SendKind::Fast,
            Why::Timeout => SendKind::Timeout,
        };
        let copies = m.copies.min(u32::from(u8::MAX)) as u8;
        let account = &mut net.flows[self.index].tuples[subflow];
        account.segments += 1;
        match sent.why {
            Why::New => {}
            Why::Fast => account.fast += 1,
            Why::Timeout => account.timeout += 1,
        }
        if copies > 1 {
            account.fates.retransmitted(m.seq as u32, copies, account.episodes.retransmit());
        }
        let mut segment = Segment {
            seq: m.seq as u32,
            ack: self.ends[subflow].client_expects as u32,
            window: WINDOW,
            flags: Flags::ACK,
            payload: Payload::new(m.dsn - FIRST_DATA, m.len),
            ..Segment::default()
        };
        // The mapping's own subflow number is that of the segment.
        let mapping = Mapping { dsn: m.dsn, short: false, ssn: m.seq as u32, len: m.len as u16, checksum: None };
        segment.options.mptcp = Mptcp::Dss(Dss { data_ack: None, mapping: Some(mapping), data_fin: false });
        let mut options = option::MAPPING;
        if self.model.recovery == Recovery::Eifel {
            segment.options.timestamps = Some(Timestamps { val: milliseconds(net.now), ecr: 0 });
            options += option::TIMESTAMPS;
        }
        self.transmit(net, subflow, true, segment, kind, copies, options);
    }

    /// Data arrive at the server.
    fn on_data(&mut self, net: &mut Network, subflow: usize, segment: &Segment) {
        if self.ends[subflow].server_next == 0 {
            return;
        }
        let (now, len) = (net.now, segment.payload.len);
        let data = Data {
            seq: near(self.receiver.expected(subflow), segment.seq),
            dsn: segment.payload.offset + FIRST_DATA,
            len,
            stamp: segment.options.timestamps.map(|t| t.val),
        };
        let mut answers = std::mem::take(&mut self.answers);
        let place = self.receiver.on_data(subflow, &data, &mut answers);
        if place != Place::Duplicate {
            self.account.distinct += 1;
            self.account.out_of_order += u64::from(place != Place::Next);
            net.flows[self.index].tuples[subflow].fresh += u64::from(len);
        }
        let held = self.receiver.total();
        if place != Place::Duplicate {
            let in_order = self.receiver.data() - FIRST_DATA;
            self.account.reorder.arrive(now, data.dsn - FIRST_DATA, in_order, held.packets);
        }
        self.account.held_packets = self.account.held_packets.max(held.packets);
        self.account.held_octets = self.account.held_octets.max(held.octets);
        for answer in answers.drain(..) {
            match answer {
                Answer::Deliver { dsn, len } => {
                    let octets = u64::from(len);
                    self.account.first_read.get_or_insert(now);
                    self.account.last_read = Some(now);
                    self.account.read += octets;
                    net.note_read(octets);
                    self.last_progress = now;
                    net.trace.deliver(now, self.index as u32, true, dsn - FIRST_DATA, octets);
                }
                Answer::Ack { subflow, number, echo, report } => {
                    self.acknowledge(net, subflow, number, echo, report);
                }
            }
        }
        self.answers = answers;
        self.finish(now);
    }

    fn acknowledge(
        &mut self,
        net: &mut Network,
        subflow: usize,
        number: u64,
        echo: Option<u32>,
        report: Option<[(u64, u64); 2]>,
    ) {
        let mut segment = Segment { ack: number as u32, window: WINDOW, flags: Flags::ACK, ..Segment::default() };
        let ends = &mut self.ends[subflow];
        segment.seq = ends.server_next as u32;
        // 1: every pure acknowledgement takes up a sequence number, but for those with a report.
        ends.server_next += u64::from(report.is_none());
        let mut options = 0;
        if let Some(ecr) = echo {
            segment.options.timestamps = Some(Timestamps { val: milliseconds(net.now), ecr });
            options += option::TIMESTAMPS;
        }
        if let Some(blocks) = report {
            blocks.iter().for_each(|(from, to)| segment.options.sack.push(*from as u32, *to as u32));
            options += option::REPORT;
        }
        self.transmit(net, subflow, false, segment, SendKind::Control, 0, options);
    }

    /// The transfer is over when the sink has read every octet.
    fn finish(&mut self, now: u64) {
        if self.sender.has_written_all() && self.receiver.data() == self.sender.written() {
            self.account.done = Some(now);
        }
    }

    // ---- what it measured --------------------------------------------------------------------------------------

    /// Cuts taken back on each 4-tuple.
    pub fn undone(&self) -> Vec<u64> {
        self.sender.subflows().iter().map(|s| s.undone).collect()
    }

    /// It has something to do and cannot, as opposed to an application that has not begun.
    pub fn is_stuck(&self) -> bool {
        self.account.read == 0 || self.sender.subflows().iter().any(|s| s.outstanding() > 0)
    }

    /// The state of every subflow.
    pub fn sample(&self, at: u64, tuples: &[SubflowAccount], out: &mut Vec<Sample>) {
        for (i, (s, account)) in self.sender.subflows().iter().zip(tuples).enumerate() {
            if !s.established {
                continue;
            }
            let held = self.receiver.held(i);
            out.push(Sample {
                at,
                connection: self.index as u32,
                subflow: i as u32,
                cwnd: s.cwnd * f64::from(self.model.mss),
                ssthresh: s.ssthresh as f64,
                srtt: if s.rtt.samples() > 0 { s.rtt.srtt() } else { f64::NAN },
                rtt_samples: s.rtt.samples(),
                rto: s.rtt.timeout() as f64 / 1e9,
                in_flight: s.outstanding(),
                delivered: account.fresh,
                ooo_buffer: held.packets,
                ooo_buffer_bytes: held.octets,
            });
        }
    }
}

fn with(mptcp: Mptcp) -> Options {
    Options { mptcp, ..Options::default() }
}
