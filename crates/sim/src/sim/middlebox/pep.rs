//! A performance-enhancing proxy that splits TCP connections (RFC 3135 2.4, 3.1), as they stand at the ends of satellite links.
//!
//! It answers a SYN in the server's place at once, and opens a connection of its own to the server in the client's place,
//! with the same addresses and ports. From then on there are two connections, each with its handshake, window, losses and
//! retransmission; the box acknowledges what comes from either side, keeps it in a buffer, and sends it on. So the end hosts
//! see a short round trip, and what the long one does to slow start and recovery is the box's affair: over the link it may
//! begin with a window as large as the link takes (`initial_window`). What RFC 3135 4.1 warns of holds here, too: that
//! octets are acknowledged does not mean that the peer has them.
//!
//! It speaks TCP. A SYN with MP_CAPABLE is answered without (RFC 8684 3.1: the client falls back), one with MP_JOIN likewise
//! (3.2: the client resets that subflow), and the server sees neither option.
//!
//! Both connections are the engine's. A segment takes `hold` through the box. Of a flow whose SYN the box has not seen it lets
//! the segments pass. What is left out: payloads are references to the sender's stream, so octets that another box has
//! changed would be whole again behind this one; a scenario with both is refused.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use anabranch_stack::Connection;
use anabranch_stack::config::Config;
use anabranch_stack::controller::Controller;
use anabranch_stack::event::Event;
use anabranch_stack::mptcp::connection::reset_for;
use anabranch_stack::mptcp::keys::Entropy;
use anabranch_stack::registry::Registry;
use anabranch_stack::segment::{Flags, OPTION_SPACE, Segment};
use anabranch_stack::tcp::State;
use anabranch_stack::time::Instant;

use super::super::packet::Packet;
use super::super::rng::derive;
use super::{FlowId, NEVER, Passed, Scope, flow_of};

/// One of the two connections of a flow: 0 with the host (or box) on the side of the link's end a, 1 with that on the other side.
#[derive(Debug)]
struct Half {
    connection: Connection,
    /// The peer has closed its direction.
    ended: bool,
    /// Our direction is closed.
    shut: bool,
    /// It was reset, or given up.
    dead: bool,
    /// Identification of the next packet.
    ip_id: u16,
}

impl Half {
    fn new(connection: Connection) -> Self {
        Self { connection, ended: false, shut: false, dead: false, ip_id: 0 }
    }

    fn is_closed(&self) -> bool {
        self.connection.subflows()[0].state() == State::Closed
    }

    /// Takes its events; true if a data segment has arrived that it did not refuse.
    fn listen(&mut self) -> bool {
        let mut arrived = false;
        while let Some(event) = self.connection.poll_change() {
            match event {
                Event::Arrived { .. } => arrived = true,
                Event::EndOfStream => self.ended = true,
                Event::Aborted(_) => self.dead = true,
                _ => {}
            }
        }
        arrived
    }
}

#[derive(Debug)]
struct Flow {
    halves: [Half; 2],
    /// The client is on the side of the link's end a.
    forward: bool,
    /// Its entry among [`Pep::timers`].
    due: u64,
}

/// A proxy.
#[derive(Debug)]
pub struct Pep {
    buffer: u64,
    /// Initial window of each half, in segments.
    windows: [u32; 2],
    hold: u64,
    seed: u64,
    name: String,
    /// Segments on their way through the box: when they are through, and whether they come from a.
    inside: VecDeque<(u64, bool, Packet)>,
    flows: BTreeMap<FlowId, Flow>,
    /// When each flow has to be called, if it has.
    timers: BTreeSet<(u64, FlowId)>,
    /// Flows of which both connections have ended, and [`Flow::forward`] of each.
    over: BTreeMap<FlowId, bool>,
    /// What leaves for the end b, and for a.
    out: [Vec<Packet>; 2],
}

impl Pep {
    /// A proxy called `name` that keeps up to `buffer` octets a connection and direction, and begins with `windows` segments on
    /// the side of a, and of b. A segment takes `hold` nanoseconds.
    pub fn new(buffer: u64, windows: [u32; 2], hold: u64, seed: u64, name: String) -> Self {
        let (inside, flows, timers, over) = Default::default();
        Self { buffer, windows, hold, seed, name, inside, flows, timers, over, out: [Vec::new(), Vec::new()] }
    }

    /// When it has something to do.
    pub fn deadline(&self) -> u64 {
        if self.out.iter().any(|packets| !packets.is_empty()) {
            return 0;
        }
        let timer = self.timers.first().map_or(NEVER, |(at, _)| *at);
        self.inside.front().map_or(NEVER, |(at, ..)| *at).min(timer)
    }

    /// A packet comes along, from a if `ab`.
    pub fn pass(&mut self, scope: Scope, now: u64, ab: bool, packet: Packet, through: &mut Vec<Packet>) {
        let opens = scope.is_on(now) && is_opening(&packet.segment);
        let waits = |(_, _, p): &(u64, bool, Packet)| flow_of(p) == flow_of(&packet);
        let id = flow_of(&packet);
        let known = self.flows.contains_key(&id) || self.over.contains_key(&id);
        if opens || known || self.inside.iter().any(waits) {
            self.inside.push_back((now + self.hold, ab, packet));
        } else {
            through.push(packet);
        }
    }

    /// Does what is due at `now`.
    pub fn run(&mut self, now: u64, passed: &mut Passed) {
        let mut touched = Vec::new();
        while self.inside.front().is_some_and(|(at, ..)| *at <= now) {
            let Some((_, ab, packet)) = self.inside.pop_front() else { break };
            touched.push(flow_of(&packet));
            self.take(now, ab, packet, passed);
        }
        for (_, id) in self.timers.iter().take_while(|(at, _)| *at <= now) {
            touched.push(*id);
            for half in self.flows.get_mut(id).into_iter().flat_map(|flow| &mut flow.halves) {
                if half.connection.poll_timeout().is_some_and(|at| at.0 <= now) {
                    half.connection.handle_timeout(Instant(now));
                    half.listen();
                }
            }
        }
        touched.sort_unstable();
        touched.dedup();
        for id in touched {
            if let Some(flow) = self.flows.get_mut(&id) {
                flow.relay();
                flow.send(now, id, &mut self.out);
                self.settle(id);
            }
        }
    }

    /// A flow has done what it had to: when it has to be called next; whether it is over.
    fn settle(&mut self, id: FlowId) {
        let Some(flow) = self.flows.get_mut(&id) else { return };
        let timer = |half: &Half| half.connection.poll_timeout().map_or(NEVER, |at| at.0);
        let due = flow.halves.iter().map(timer).min().unwrap_or(NEVER);
        if flow.due != due {
            self.timers.remove(&(flow.due, id));
            flow.due = due;
            if due < NEVER {
                self.timers.insert((due, id));
            }
        }
        if flow.halves.iter().all(Half::is_closed) {
            self.over.insert(id, flow.forward);
            self.timers.remove(&(flow.due, id));
            self.flows.remove(&id);
        }
    }

    /// What has to leave for the end b (`ab`) or for a.
    pub fn release(&mut self, ab: bool, through: &mut Vec<Packet>) {
        through.append(&mut self.out[usize::from(!ab)]);
    }

    /// A segment has come through the box.
    fn take(&mut self, now: u64, ab: bool, packet: Packet, passed: &mut Passed) {
        if packet.corrupted {
            passed.dropped.push(packet);
            return;
        }
        let (id, side) = (flow_of(&packet), usize::from(!ab));
        if let Some(forward) = self.over.get(&id) {
            return self.refuse(ab, *forward, packet, passed);
        }
        if !self.flows.contains_key(&id) {
            let flow = self.open(id, ab, &packet);
            self.flows.insert(id, flow);
            return passed.ended.push((packet, false));
        }
        let flow = self.flows.get_mut(&id).expect("it is there");
        let half = &mut flow.halves[side];
        if half.is_closed() {
            let forward = flow.forward;
            return self.refuse(ab, forward, packet, passed);
        }
        half.connection.handle_segment(Instant(now), 0, &packet.segment);
        let taken = half.listen();
        passed.ended.push((packet, taken));
    }

    /// RFC 9293 3.10.7.1: a segment of a connection that is closed. `forward`: see [`Flow`].
    fn refuse(&mut self, ab: bool, forward: bool, packet: Packet, passed: &mut Passed) {
        let answer = reset_for(&packet.segment);
        let made = answer.map(|segment| made(&segment, flow_of(&packet), forward != ab, 0));
        self.out[usize::from(ab)].extend(made);
        passed.ended.push((packet, false));
    }

    /// The two connections of the flow that `packet`, a SYN from a if `ab`, opens.
    fn open(&self, id: FlowId, ab: bool, packet: &Packet) -> Flow {
        let config = |side: usize| {
            let mss = packet.segment.options.mss.map_or(536, u32::from);
            Config::default()
                .mptcp(false)
                .controller(Registry::<dyn Controller>::default().find("cubic").expect("it is registered"))
                .mss(mss.saturating_sub(OPTION_SPACE).max(1))
                .receive_buffer(Some(self.buffer))
                .send_buffer(Some(self.buffer))
                .initial_window(self.windows[side])
                .nagle(false)
        };
        let entropy = |side: usize| Entropy::new(derive(self.seed, &format!("{} flow {id:?} side {side}", self.name)));
        let near = usize::from(!ab);
        let far = 1 - near;
        let answers = Half::new(Connection::accept(config(near), entropy(near), &packet.segment));
        let asks = Half::new(Connection::connect(config(far), entropy(far)));
        Flow { halves: if near == 0 { [answers, asks] } else { [asks, answers] }, forward: packet.up == ab, due: NEVER }
    }
}

impl Flow {
    /// What has come from each side goes to the other, as far as the buffers take it, and so do ends and resets.
    fn relay(&mut self) {
        for from in [0, 1] {
            let [a, b] = &mut self.halves;
            let (from, to) = if from == 0 { (a, b) } else { (b, a) };
            if from.dead && !to.dead {
                to.connection.abort();
                to.dead = true;
            }
            if to.dead || to.shut {
                continue;
            }
            let octets = from.connection.inbound().readable().min(to.connection.writable());
            if octets > 0 {
                from.connection.read(octets);
                to.connection.write(octets);
            }
            if from.ended && from.connection.inbound().readable() == 0 {
                to.connection.shutdown_write();
                to.shut = true;
            }
        }
    }

    /// What the two connections have to send.
    fn send(&mut self, now: u64, id: FlowId, out: &mut [Vec<Packet>; 2]) {
        for (side, half) in self.halves.iter_mut().enumerate() {
            while let Some(_o) = half.connection.poll_outgoing(Instant(now)) {
                // To the side of a goes what goes from b to a.
                let up = self.forward == (side == 1);
                out[1 - side].push(made(half.connection.outgoing(), id, up, half.ip_id));
                half.ip_id = half.ip_id.wrapping_add(1);
            }
            half.listen();
        }
    }
}

/// A packet of the box's own. It counts as no transmission of the sending host's.
fn made(segment: &Segment, (connection, tuple, port): FlowId, up: bool, ip_id: u16) -> Packet {
    use anabranch_stack::event::SendKind::Control;
    Packet { port, ip_id, ..Packet::new(*segment, connection as usize, tuple, up, Control, 0) }
}

fn is_opening(segment: &Segment) -> bool {
    let flags = segment.flags;
    flags.has(Flags::SYN) && !flags.has(Flags::ACK) && !flags.has(Flags::RST)
}
