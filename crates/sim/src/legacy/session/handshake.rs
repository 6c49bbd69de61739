//! Segments without payload: the handshake (rule 1), the addresses, and what the client takes from
//! an acknowledgement.

use std::net::{IpAddr, Ipv4Addr};

use anabranch_measures::account::SubflowAccount;
use anabranch_measures::rng::Rng;
use anabranch_stack::event::SendKind;
use anabranch_stack::segment::{AddrId, Advertised, Flags, Mptcp, Options, Segment, Signal};

use super::super::sender::Ack;
use super::super::{near, option};
use super::{Ends, Legacy, NUMBERS, WINDOW};
use crate::sim::network::Network;

/// From the handshake of subflow 0 to the first write (rule 7).
const FIRST_WRITE: u64 = 1_000_000_000;
/// The client's initial sequence number on the n-th joined subflow is n times this, plus a random number.
const JOINED: u64 = 10_000;

impl Legacy {
    fn draw(&mut self) -> u64 {
        (self.isn.uniform() * NUMBERS) as u64
    }

    /// The client opens subflow 0.
    pub(super) fn connect(&mut self, net: &mut Network) {
        let isn = self.draw();
        self.open(net, isn, with(Mptcp::CapableSyn { no_join: false, checksum: false }), option::CAPABLE);
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

    /// Sends a segment without payload, which occupies the sequence number `seq`.
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

    /// Each side advertises all its addresses in one acknowledgement; the simulator's segment shows the last address.
    fn addresses(&self, side: u8) -> (Options, u32) {
        let last = self.paths.saturating_sub(1) as u8;
        let address = AddrId { id: last, addr: IpAddr::V4(Ipv4Addr::new(10, 0, last, side)) };
        let signal = Signal::AddAddrEcho(Advertised { address, port: None });
        (Options { signal, ..Options::default() }, option::ADDRESS * self.paths as u32)
    }

    /// A SYN or a pure acknowledgement arrives at the server.
    pub(super) fn on_server_control(&mut self, net: &mut Network, subflow: usize, segment: &Segment) {
        if segment.flags == Flags::SYN {
            // A SYN that a link has duplicated is ignored.
            if self.ends[subflow].server_next > 0 {
                return;
            }
            let isn = if subflow == 0 { self.draw() } else { 1 };
            self.ends[subflow].server_next = isn + 1;
            self.receiver.open(subflow, u64::from(segment.seq) + 1);
            let (said, options) = match subflow {
                0 => (with(Mptcp::CapableSyn { no_join: false, checksum: false }), option::CAPABLE),
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

    /// A SYN/ACK, the server's addresses, or an acknowledgement arrives at the client.
    pub(super) fn on_client_segment(&mut self, net: &mut Network, subflow: usize, segment: &Segment) {
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
}

fn with(mptcp: Mptcp) -> Options {
    Options { mptcp, ..Options::default() }
}
