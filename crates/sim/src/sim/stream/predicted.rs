//! The usual packets of a bulk transfer: the next data at the receiver, and their acknowledgements at the sender. The engine predicts
//! them, and says at once what they did; a host that serves nothing else needs to look at nothing else. What happens is what
//! `Stream::serve` would do, step by step.

use anabranch_stack::Predicted;
use anabranch_stack::config::Config;
use anabranch_stack::registry::Need;
use anabranch_stack::time::Instant;

use super::{App, BURST, Host, Stream, events};
use crate::sim::app::NEVER;
use crate::sim::network::Network;
use crate::sim::packet::{CLIENT, PacketId, SERVER};
use anabranch_scenario::{Application, Transfer};

/// Where a packet has arrived: the packet, the host, its subflow.
type Arrival = (PacketId, usize, usize);

/// What the applications of such a connection do is written here: one sends as much as goes, the other reads all there is.
pub(super) fn is_lean(transfer: &Transfer, config: &Config) -> bool {
    let bulk = matches!(transfer.application, Application::Bulk(_));
    let blocks = config.scheduler.info().needs.contains(&Need::Blocks);
    config.shortcuts && bulk && !blocks && !transfer.both && transfer.read_rate.is_none() && !config.acknowledge_on_read
}

impl Stream {
    /// Predicted data has arrived.
    #[inline(always)]
    pub(super) fn on_predicted_data(&mut self, net: &mut Network, (id, side, subflow): Arrival, predicted: Predicted) {
        let now = net.now;
        let Predicted::Data { data, len, fresh, kind, intact } = predicted else { return };
        let Some(host) = self.hosts[side].as_mut().filter(|_| side != self.sender) else {
            // Nobody reads there.
            return self.serve(net, side, false);
        };
        let packet = net.pool.get(id);
        self.touched = (packet.altered, packet.displaced);
        self.interfered |= self.touched != (0, false);
        let account = &mut net.flows[self.index].tuples[packet.tuple as usize];
        let held = host.connection.inbound().held();
        if fresh > 0 {
            self.account.reorder.arrive(now, data, host.connection.inbound().received(), held.0);
            account.fresh += u64::from(fresh);
        }
        events::note_arrival(&mut self.account, fresh, kind, held);
        if !intact || self.touched != (0, false) || !self.account.altered.is_empty() {
            let verified = self.config.checksum && host.connection.is_multipath();
            events::note_content(
                &mut self.account,
                (subflow, kind),
                (data, len, fresh),
                intact,
                self.touched,
                verified,
            );
        }
        if account.fates.wants(true) && !packet.piece {
            packet.origins().for_each(|seq| account.fates.arrived(seq, packet.transmissions, true));
        }
        if side == CLIENT && self.paths.wants() {
            return self.serve(net, side, false);
        }
        let readable = host.connection.inbound().readable();
        if readable > 0 {
            let App::Receiver(receiver) = &mut host.app else { return };
            let offset = receiver.read;
            let octets = host.connection.read(readable);
            receiver.read += octets;
            self.account.note_read(now, octets);
            net.note_read(octets);
            self.account.altered.settle(offset + octets);
            self.last_progress = now;
            net.trace.deliver(now, self.index as u32, side == SERVER, offset, octets);
        }
        // Nearly always that is nothing, or one acknowledgement.
        if !host.connection.rests(Instant(now)) {
            let sent = self.transmit_all(net, Instant(now), side, 1);
            if sent > 0 && self.hosts[side].as_ref().is_some_and(|host| !host.connection.rests(Instant(now))) {
                self.transmit_all(net, Instant(now), side, BURST);
            }
        }
        self.set_timer(net, side);
    }

    /// A predicted acknowledgement has arrived; `window` is the congestion window, with its threshold, if it has changed.
    #[inline(always)]
    pub(super) fn on_predicted_ack(
        &mut self,
        net: &mut Network,
        (id, side, subflow): Arrival,
        window: Option<(f64, f64)>,
    ) {
        let now = net.now;
        let Some(host) = self.hosts[side].as_mut().filter(|_| side == self.sender) else {
            return self.serve(net, side, false);
        };
        let packet = net.pool.get(id);
        let (tuple, ack) = (packet.tuple as usize, packet.segment.ack);
        let account = &mut net.flows[self.index].tuples[tuple];
        let s = &host.connection.subflows()[subflow];
        if let (Some(srtt), false) = (s.srtt(), self.read_all) {
            account.srtt.set(now, srtt.as_secs_f64());
        }
        account.fates.settle(ack, &mut account.episodes);
        if host.connection.has_events() {
            self.take_events(net, side);
        }
        if let (Some(window), Some(host)) = (window, &self.hosts[side]) {
            events::note_window(net, (self.index, side, tuple), host, subflow, window, self.read_all);
        }
        if side == CLIENT && self.paths.wants() {
            return self.react(net, side, false);
        }
        if self.account.limits.is_window() {
            self.account.limits.look(now, self.fills_links(net));
        }
        self.refill(net, side);
        let sent = self.transmit_all(net, Instant(now), side, BURST);
        if sent == BURST {
            self.wake(net, now);
        } else if sent > 0 {
            let all_sent = self.hosts[side].as_ref().is_some_and(|host| host.connection.outbound().unsent() == 0);
            if self.refill(net, side) && all_sent {
                return self.react_further(net, side, false, BURST - sent);
            }
        }
        self.take_events(net, side);
        self.note_limit(net);
        self.set_timer(net, side);
    }

    /// The application writes what it has room for; returns whether it wrote.
    #[inline(always)]
    fn refill(&mut self, net: &mut Network, side: usize) -> bool {
        let now = net.now;
        let Some(Host { connection, app: App::Sender(sender), busy_since, end_of_stream, .. }) = &mut self.hosts[side]
        else {
            return false;
        };
        if !sender.has_work(connection) {
            return false;
        }
        if connection.outbound().unacknowledged() == 0 {
            *busy_since = now;
        }
        let (wrote, wake) = match sender.run_bulk(connection) {
            Some(wrote) => (wrote, NEVER),
            None => sender.run(now, connection, None, *end_of_stream),
        };
        if wrote {
            net.on_write(self.index);
        }
        if wake < NEVER {
            self.wake(net, wake);
        }
        wrote
    }
}
