//! Data on their way from the sender to the sink, and the acknowledgements on their way back.

use anabranch_measures::causes::Cause;
use anabranch_stack::event::SendKind;
use anabranch_stack::segment::{Dss, Flags, Mapping, Mptcp, Payload, Segment, Timestamps};

use super::super::receiver::{Answer, Data, FIRST_DATA, Place};
use super::super::sender::{Note, Sent, Why, milliseconds};
use super::super::{Recovery, near, option};
use super::{Legacy, WINDOW};
use crate::sim::app::NEVER;
use crate::sim::network::Network;

impl Legacy {
    /// What follows from any input to the sender: segments leave; its writes, windows, notes and timer go to the accounts and the
    /// event queue.
    pub(super) fn after(&mut self, net: &mut Network) {
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
        let wait = if self.sender.is_idle() { Cause::Application } else { Cause::Cwnd };
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
        // The model's mapping has the segment's own sequence number.
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
    pub(super) fn on_data(&mut self, net: &mut Network, subflow: usize, segment: &Segment) {
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
                    self.account.note_read(now, octets);
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
        // Rule 1: every pure acknowledgement occupies a sequence number, except those with a
        // report.
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
    pub(super) fn finish(&mut self, now: u64) {
        if self.sender.has_written_all() && self.receiver.data() == self.sender.written() {
            self.account.done = Some(now);
        }
    }
}
