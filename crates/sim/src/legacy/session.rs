//! A connection of the model in the simulator: handshake (rule 1), application (rule 7), packets
//! and accounts.
//!
//! The client opens subflow 0, both sides advertise their addresses, and the client opens one more
//! subflow on each further path. None of this is retransmitted: a handshake that loses a segment
//! never ends. One second after subflow 0 is established the application begins to write. The
//! transfer is over when the sink has read every octet. The original's closing handshake is not
//! modelled: both ends stop sending then, and packets under way are dropped.
//!
//! Segments are those of the simulator, with the model's lengths. The model's own options cannot be
//! expressed in them, so the trace shows RFC 8684's mapping, MP_CAPABLE, MP_JOIN and ADD_ADDR
//! instead, and SACK blocks for D_SACK's reports, although these hold data sequence numbers.

use anabranch_measures::account::{ConnectionAccount, SubflowAccount};
use anabranch_measures::rng::Rng;
use anabranch_measures::series::Sample;
use anabranch_stack::event::SendKind;
use anabranch_stack::segment::Segment;

use super::receiver::{Answer, Receiver};
use super::sender::Sender;
use super::{Model, wire_len};
use crate::sim::app::NEVER;
use crate::sim::network::Network;
use crate::sim::packet::{Packet, PacketId};
use crate::sim::session::{Session, Slot};
use anabranch_scenario::{Application, Extent, Scenario};

mod data;
mod handshake;

/// Upper bound, exclusive, of random initial sequence numbers and tokens (rules.md, rule 1).
const NUMBERS: f64 = 1000.0;
/// The advertised window, always (rule 2).
const WINDOW: u16 = 65_535;

/// State of a subflow that neither the sender nor the receiver keeps.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    /// Next sequence number of the server.
    server_next: u64,
    /// The next sequence number that the client expects from the server.
    client_expects: u64,
    /// Window and threshold as written to the trace last.
    told: (f64, u64),
}

/// One connection.
#[derive(Debug)]
pub struct Legacy {
    account: ConnectionAccount,
    last_progress: u64,
    index: usize,
    name: String,
    seed: u64,
    model: Model,
    paths: usize,
    sender: Sender,
    receiver: Receiver,
    /// One for each subflow. Its index is also that of its path and of its 4-tuple.
    ends: Vec<Ends>,
    first_write: u64,
    /// When the application stops writing, if the transfer has a duration; else [`NEVER`].
    until: u64,
    isn: Rng,
    token: u32,
    answers: Vec<Answer>,
    /// Slots in the event queue of the client's timer and of the application.
    timer_slot: usize,
    app_slot: usize,
}

/// The connection `index` of `scenario`, to start at `started`, if it is of the model
/// ([`sim::session::Make`](crate::sim::session::Make)).
pub fn session(scenario: &Scenario, index: usize, started: u64, slots: [usize; 3]) -> Option<Box<dyn Session>> {
    let model = scenario.connections[index].legacy?;
    Some(Box::new(Legacy::new(scenario, &model, index, started, slots)))
}

impl Legacy {
    fn new(scenario: &Scenario, model: &Model, index: usize, started: u64, slots: [usize; 3]) -> Self {
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

    /// The application's slot is due: the start, the first write, or the end of writing.
    fn on_application(&mut self, net: &mut Network) {
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
    fn on_timer(&mut self, net: &mut Network) {
        if self.account.done.is_none() {
            self.sender.on_timer(net.now);
            self.after(net);
        }
    }

    /// A packet arrives at its host.
    fn on_arrival(&mut self, net: &mut Network, id: PacketId) {
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
}

impl Session for Legacy {
    fn on_packet(&mut self, net: &mut Network, id: PacketId) {
        self.on_arrival(net, id);
    }

    fn on_slot(&mut self, net: &mut Network, slot: Slot) {
        match slot {
            Slot::ClientTimer | Slot::ServerTimer => self.on_timer(net),
            Slot::Applications => self.on_application(net),
        }
    }

    crate::sim::session::account_methods!();

    /// Data are in flight or nothing was ever read: if nothing happens any more, the connection is stuck, not idle.
    fn stuck_since(&self) -> Option<u64> {
        let stuck = self.account.read == 0 || self.sender.subflows().iter().any(|s| s.outstanding() > 0);
        stuck.then_some(self.last_progress)
    }

    fn close(&mut self, _net: &Network, subflows: &mut [SubflowAccount], _leads: bool) {
        subflows.iter_mut().zip(self.sender.subflows()).for_each(|(account, s)| account.undone = s.undone);
    }

    fn sample(&self, at: u64, tuples: &[SubflowAccount], out: &mut Vec<Sample>) {
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
