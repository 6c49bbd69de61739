//! What the receiver has, in the order in which it got it: the subflow's order, the data stream's, and samples over time.

use anabranch_measures::series::Sample;
use anabranch_stack::mptcp::dss::Placed;

use super::super::order::Place;
use super::super::sender::UNMAPPED;
use super::super::stream::Arrival;
use super::Connection;

impl Connection {
    /// The same steps, in the same order, as the engine's receiver takes (`stack::mptcp::connection`).
    #[inline]
    pub(super) fn arrive(&mut self, s: usize, a: Arrival) {
        self.sample(s, a.time);
        let (i, now) = (a.subflow as usize, a.time);
        let stream = &mut self.streams[s];
        let half = &mut self.subflows[i].halves[s];
        let held = half.order.held();
        let before = stream.nxt();
        self.pieces.clear();
        if a.data == UNMAPPED {
            stream.unmapped += if self.tcp { 0 } else { u64::from(a.len) };
            half.order.pass(a.seq, a.len, &mut self.pieces);
            self.place_pieces(i, s, now, held, before);
            return;
        }
        let fresh = stream.arrive(now, a.data, a.len);
        let placed = half.order.accept(a.seq, a.data, a.len, &mut self.pieces);
        half.order.give_up_first();
        let mut ahead = placed == Place::Held;
        for (k, piece) in self.pieces.iter().enumerate() {
            let placed = stream.place(piece.data, piece.len, a.subflow);
            ahead |= k == 0 && placed == Placed::Ahead;
        }
        stream.hold(held, half.order.held());
        half.acked_since &= self.pieces.is_empty();
        half.fresh += fresh;
        half.duplicates += u64::from(fresh == 0);
        if fresh > 0 && !half.reinjected.is_empty() && half.reinjected.containing(a.seq.0).is_some() {
            half.useful += 1;
        }
        stream.account(now, a.data, fresh, ahead, before);
        self.tell_held(s, now);
    }

    /// Octets that the data stream already counts arrive on their subflow.
    pub(super) fn arrive_found(&mut self, s: usize, a: &Arrival) {
        let (i, stream) = (a.subflow as usize, &self.streams[s]);
        let order = &mut self.subflows[i].halves[s].order;
        let (held, before) = (order.held(), stream.nxt());
        self.pieces.clear();
        order.accept(a.seq, a.data, a.len, &mut self.pieces);
        self.place_pieces(i, s, a.time, held, before);
    }

    /// Whether the receiver holds data behind a gap, for the account of what its peer waits for.
    #[inline]
    fn tell_held(&mut self, s: usize, now: u64) {
        if let Some(waiting) = &mut self.waiting {
            waiting[s].on_held(now, self.streams[s].is_holding());
        }
    }

    /// What the subflow's receiver acknowledged at `late` or before has arrived, whether the capture shows it or not.
    pub(super) fn settle_subflow(&mut self, i: usize, s: usize, now: u64, late: u64) {
        let stream = &mut self.streams[s];
        let order = &mut self.subflows[i].halves[s].order;
        let (held, before) = (order.held(), stream.nxt());
        self.pieces.clear();
        order.settle(late, &mut self.pieces);
        if !self.pieces.is_empty() {
            self.place_pieces(i, s, now, held, before);
        }
    }

    fn place_pieces(&mut self, i: usize, s: usize, now: u64, held: (u64, u64), before: u64) {
        let stream = &mut self.streams[s];
        for piece in &self.pieces {
            stream.place(piece.data, piece.len, i as u32);
        }
        stream.hold(held, self.subflows[i].halves[s].order.held());
        stream.account(now, 0, 0, false, before);
        self.tell_held(s, now);
    }

    #[inline]
    pub(super) fn sample(&mut self, s: usize, until: u64) {
        let until = until.saturating_sub(self.origin);
        let stream = &mut self.streams[s];
        if stream.series.as_ref().is_some_and(|series| series.due() <= until) {
            self.take_samples(s, until);
        }
    }

    fn take_samples(&mut self, s: usize, until: u64) {
        let Some(mut series) = self.streams[s].series.take() else { return };
        let stream = &self.streams[s];
        while series.due() <= until {
            series.take(|at, out| {
                for (i, sub) in self.subflows.iter().enumerate() {
                    let half = &sub.halves[s];
                    let (own, held) = (half.order.held(), stream.held_by(i));
                    out.push(Sample {
                        at,
                        connection: 0,
                        subflow: i as u32,
                        cwnd: f64::NAN,
                        ssthresh: f64::NAN,
                        srtt: if sub.acknowledges(1 - s) { half.sender.srtt_now() } else { f64::NAN },
                        rtt_samples: half.sender.rtt_samples(),
                        rto: f64::NAN,
                        in_flight: half.sender.in_flight(),
                        delivered: half.fresh,
                        ooo_buffer: own.0 + held.0,
                        ooo_buffer_bytes: own.1 + held.1,
                    });
                }
            });
        }
        self.streams[s].series = Some(series);
    }
}
