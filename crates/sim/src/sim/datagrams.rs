//! A constant-rate flow of datagrams: no connection, no feedback.

use anabranch_measures::account::{ConnectionAccount, SubflowAccount};
use anabranch_stack::event::SendKind;
use anabranch_stack::ranges::RangeSet;
use anabranch_stack::segment::{Payload, Segment};

use super::app::{NEVER, Source};
use super::network::Network;
use super::packet::{Packet, PacketId};
use super::session::{Session, Slot};

/// Octets of an IPv4 and a UDP header.
const HEADERS: u32 = 20 + 8;

/// How many datagrams back duplicates are recognised; it bounds the memory of a flow with losses.
const TWINS: u64 = 4096;

/// One flow.
#[derive(Debug)]
pub struct Datagrams {
    account: ConnectionAccount,
    last_progress: u64,
    index: usize,
    source: Source,
    source_is_over: bool,
    /// End of the foremost datagram that has arrived.
    foremost: u64,
    /// The octets that have arrived, as far back as duplicates are recognised.
    seen: RangeSet,
    app_slot: usize,
}

impl Datagrams {
    /// The flow of connection `index`.
    pub fn new(index: usize, source: Source, app_slot: usize) -> Self {
        let account = ConnectionAccount::default();
        Self {
            account,
            last_progress: 0,
            index,
            source,
            source_is_over: false,
            foremost: 0,
            seen: RangeSet::default(),
            app_slot,
        }
    }

    /// Sends what is due.
    fn on_application(&mut self, net: &mut Network) {
        let now = net.now;
        if self.account.began.is_none() {
            self.account.began = Some(now);
            self.last_progress = now;
            net.flows[self.index].tuples.push(SubflowAccount::default());
            net.mark_start(self.index);
        }
        let up = net.flows[self.index].up;
        loop {
            let (datagram, next) = self.source.run(now);
            if let Some((offset, len)) = datagram {
                let segment = Segment { payload: Payload::new(offset, len), ..Segment::default() };
                let mut packet = Packet::new(segment, self.index, 0, up, SendKind::New, 1);
                packet.wire_len = HEADERS + len;
                net.flows[self.index].tuples[0].segments += 1;
                net.send(packet);
            }
            if next > now {
                self.source_is_over = next == NEVER;
                net.schedule(self.app_slot, next);
                break;
            }
        }
        self.finish(net);
    }

    /// A datagram arrives.
    fn on_datagram(&mut self, net: &mut Network, id: PacketId) {
        let now = net.now;
        let (payload, up) = (net.pool.get(id).segment.payload, net.pool.get(id).up);
        let octets = u64::from(payload.len);
        net.flows[self.index].tuples[0].in_network -= 1;
        // The network may have duplicated it: each datagram counts once.
        if self.seen.insert(payload.offset, payload.offset + octets) == 0 {
            self.finish(net);
            return;
        }
        self.account.note_read(now, octets);
        self.account.transit.get_or_insert_default().arrive(now - self.source.due(payload.offset));
        net.note_read(octets);
        self.account.distinct += 1;
        self.account.out_of_order += u64::from(payload.offset < self.foremost);
        self.foremost = self.foremost.max(payload.offset + octets);
        self.seen.remove_below(self.foremost.saturating_sub(TWINS * octets));
        self.last_progress = now;
        net.flows[self.index].tuples[0].fresh += octets;
        net.trace.deliver(now, self.index as u32, up, payload.offset, octets);
        self.finish(net);
    }

    /// The flow is over when its source has stopped and no datagram is under way. A flow of which nothing arrived never is over.
    fn finish(&mut self, net: &mut Network) {
        if self.account.read > 0
            && self.source_is_over
            && net.flows[self.index].tuples[0].in_network == 0
            && self.account.done.is_none()
            // A frame may bring many at once, which are handed over one by one.
            && net.also_arrived.iter().all(|id| net.pool.get(*id).connection != self.index as u32)
        {
            self.account.done = Some(net.now);
        }
    }
}

impl Session for Datagrams {
    fn on_packet(&mut self, net: &mut Network, id: PacketId) {
        self.on_datagram(net, id);
    }

    fn on_slot(&mut self, net: &mut Network, _slot: Slot) {
        self.on_application(net);
    }

    crate::sim::session::account_methods!();

    fn stuck_since(&self) -> Option<u64> {
        Some(self.last_progress)
    }

    /// If the last datagrams were lost, no arrival has ended the flow.
    fn on_end_of_run(&mut self, net: &mut Network) {
        self.finish(net);
    }
}
