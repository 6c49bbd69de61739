//! Our direction of the data stream: what the application has written, what was sent and
//! acknowledged, and how far the peer's window reaches. All of it is in data offsets. This
//! module does not record which subflow carries an octet, except for the data sent last ([`Run`])
//! and for data that waits to be sent again.

use std::collections::VecDeque;

use super::fast_path::FastPath;
use super::reinject::Reinjections;
use super::retransmission::Retransmission;
use super::timers::{Timer, Timers};
use crate::event::SubflowId;
use crate::scoreboard::Sent;
use crate::seq::Seq;
use crate::time::{Duration, Instant};

/// Copies that the scheduler wants on further subflows: the subflow, the first octet and the
/// length.
pub(crate) type Copies = VecDeque<(SubflowId, u64, u32)>;

/// State of the DATA_FIN, or FIN in plain TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fin {
    /// Not sent.
    Open,
    /// Sent `tries` times and not acknowledged.
    Sent { tries: u32 },
    /// Acknowledged.
    Acked,
}

/// Our most recent data, as far back as it was sent contiguously on one subflow.
#[derive(Clone, Copy, Debug)]
struct Run {
    subflow: SubflowId,
    seq: Seq,
    data: u64,
    /// Data offset after its last octet.
    end: u64,
}

/// How the right edge of the peer's window has moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EdgeMove {
    /// It has not moved right.
    None,
    /// It has moved right.
    Opened,
    /// It has moved right from this data offset. Data had been sent beyond that offset, which the
    /// peer has refused.
    Refused(u64),
}

/// A DATA_FIN is sent this many times as often as a data segment before the peer counts as gone. Its interval doubles less often:
/// with the minimum RTO of 200 ms this takes 12 minutes.
pub(crate) const FIN_TRIES: u32 = 4;

/// Our direction of the data stream.
#[derive(Debug)]
pub(crate) struct SendStream {
    /// Data offset of the oldest octet without a DATA_ACK.
    una: u64,
    /// Data offset of the next octet to send for the first time.
    nxt: u64,
    /// Right edge of the peer's window.
    edge: u64,
    /// Octets written.
    written: u64,
    /// Largest window the peer has advertised.
    largest_window: u64,
    /// The application will write no more.
    closed: bool,
    fin: Fin,
    run: Option<Run>,
    /// Data offset after the highest octet that was sent before `run` began.
    sent_before_run: u64,
    /// Data offset after the highest octet that was sent with more than one subflow sequence
    /// number.
    repeated_to: u64,
    copies: Copies,
    reinjections: Reinjections,
    retransmission: Option<Retransmission>,
}

impl SendStream {
    /// Nothing is written yet, and the peer has advertised no window.
    pub fn new() -> Self {
        Self {
            una: 0,
            nxt: 0,
            edge: 0,
            written: 0,
            largest_window: 0,
            closed: false,
            fin: Fin::Open,
            run: None,
            sent_before_run: 0,
            repeated_to: 0,
            copies: Copies::new(),
            reinjections: Reinjections::default(),
            retransmission: None,
        }
    }

    // ---- what there is to send ------------------------------------------------------------------

    /// Data offset of the oldest octet without a DATA_ACK.
    #[inline(always)]
    pub fn una(&self) -> u64 {
        self.una
    }

    /// Data offset of the next octet to send for the first time.
    #[inline(always)]
    pub fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Octets written.
    #[inline(always)]
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Octets written and not yet acknowledged at data level.
    #[inline(always)]
    pub fn unacknowledged(&self) -> u64 {
        self.written - self.una
    }

    /// Octets written that neither were sent nor are assigned to a subflow.
    #[inline(always)]
    pub fn unassigned(&self) -> u64 {
        self.written - self.nxt
    }

    /// Returns true if sent data has no DATA_ACK yet.
    #[inline(always)]
    pub fn is_outstanding(&self) -> bool {
        self.una < self.nxt
    }

    /// Adds `octets` that the application has written.
    #[inline(always)]
    pub fn write(&mut self, octets: u64, fast: &mut FastPath) {
        debug_assert!(!self.closed || octets == 0);
        if octets > 0 {
            fast.end_quiet();
        }
        self.written += octets;
    }

    /// Notes that the application will write no more.
    pub fn close(&mut self, fast: &mut FastPath) {
        fast.invalidate();
        self.closed = true;
    }

    /// Returns true if the application will write no more.
    #[inline(always)]
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// The next `len` octets are sent, or assigned to a subflow. Returns the offset of the first.
    #[inline(always)]
    pub fn advance(&mut self, len: u64) -> u64 {
        let first = self.nxt;
        self.nxt += len;
        debug_assert!(self.nxt <= self.written);
        first
    }

    /// Data offset after the highest octet that was sent. Data between it and [`Self::nxt`] is
    /// assigned to a subflow and was not sent.
    #[inline(always)]
    fn sent_to(&self) -> u64 {
        self.run.map_or(self.sent_before_run, |r| r.end.max(self.sent_before_run))
    }

    /// Takes back the data at the end of the stream that is assigned to subflows and was not sent.
    pub fn take_back_unsent(&mut self) {
        self.nxt = self.nxt.min(self.sent_to());
        debug_assert!(self.una <= self.nxt);
        self.reinjections.forget_from(self.nxt);
    }

    /// The SYN has carried `len` octets (RFC 7413).
    pub fn sent_with_syn(&mut self, len: u32) {
        self.nxt = len.into();
    }

    /// The peer has taken `len` octets of those in the SYN: the others are still to be sent.
    pub fn taken_with_syn(&mut self, len: u32) {
        (self.una, self.nxt) = (len.into(), len.into());
        if let Some(run) = &mut self.run {
            run.end = len.into();
        }
    }

    // ---- the peer's window and acknowledgements -------------------------------------------------

    /// Right edge of the peer's window.
    #[inline(always)]
    pub fn edge(&self) -> u64 {
        self.edge
    }

    /// Octets after the next one to send that the peer's window takes.
    #[inline(always)]
    pub fn window_left(&self) -> u64 {
        self.edge.saturating_sub(self.nxt)
    }

    /// Octets that are written and that the peer's window takes.
    #[inline(always)]
    pub fn usable(&self) -> u64 {
        self.window_left().min(self.unassigned())
    }

    /// Largest window the peer has advertised.
    #[inline]
    pub fn largest_window(&self) -> u64 {
        self.largest_window
    }

    /// Sets the peer's window from its first segment.
    pub fn begin_window(&mut self, window: u64) {
        (self.edge, self.largest_window) = (self.una + window, window);
    }

    /// RFC 8684 3.3.1, 3.3.5: the peer's window ends at `edge`.
    #[inline(always)]
    pub fn move_edge(&mut self, edge: u64) -> EdgeMove {
        let before = core::mem::replace(&mut self.edge, edge);
        self.largest_window = self.largest_window.max(edge.saturating_sub(self.una));
        match edge > before {
            true if self.nxt > before => EdgeMove::Refused(before),
            true => EdgeMove::Opened,
            false => EdgeMove::None,
        }
    }

    /// The largest valid DATA_ACK: everything sent, including the DATA_FIN.
    #[inline(always)]
    pub fn max_ack(&self) -> u64 {
        self.sent_to() + u64::from(self.fin != Fin::Open)
    }

    /// Takes a DATA_ACK (RFC 8684 3.3.2). One of data that was not sent is ignored.
    #[inline]
    pub fn acknowledge(&mut self, ack: u64) {
        if ack > self.max_ack() {
            return;
        }
        if ack == self.written + 1 && self.fin != Fin::Open {
            self.fin = Fin::Acked;
        }
        let ack = ack.min(self.sent_to());
        if ack > self.una {
            self.una = ack;
            self.reinjections.acknowledge(ack);
        }
    }

    /// Plain TCP: the subflow's acknowledgement stands for this data offset. SYN and FIN are not
    /// data.
    #[inline(always)]
    pub fn acknowledge_plain(&mut self, ack: u64) {
        self.una = ack.min(self.nxt).max(self.una);
    }

    // ---- the end of the stream ------------------------------------------------------------------

    /// State of the DATA_FIN, or FIN.
    #[inline(always)]
    pub fn fin(&self) -> Fin {
        self.fin
    }

    /// The DATA_FIN was sent, or sent again.
    pub fn fin_sent(&mut self) {
        self.fin = match self.fin {
            Fin::Open => Fin::Sent { tries: 1 },
            Fin::Sent { tries } => Fin::Sent { tries: tries + 1 },
            Fin::Acked => Fin::Acked,
        };
    }

    /// Plain TCP: the FIN is acknowledged.
    pub fn fin_acknowledged(&mut self) {
        self.fin = Fin::Acked;
    }

    // ---- where data was sent, and what goes again -----------------------------------------------

    /// Data was sent on `subflow`: extends or restarts the record of what was sent contiguously.
    #[inline(always)]
    pub fn note_run(&mut self, sent: &Sent, subflow: SubflowId) {
        let end = sent.data_end();
        match &mut self.run {
            Some(r) if r.subflow == subflow && sent.seq.0.wrapping_sub(r.seq.0) == sent.data.wrapping_sub(r.data) => {
                r.end = r.end.max(end);
            }
            run => {
                self.sent_before_run = run.map_or(0, |r| r.end).max(self.sent_before_run);
                *run = Some(Run { subflow, seq: sent.seq, data: sent.data, end });
            }
        }
    }

    /// Notes that data before `end` was sent with a second subflow sequence number.
    pub fn note_repeated(&mut self, end: u64) {
        self.repeated_to = self.repeated_to.max(end);
    }

    /// The sequence number on `subflow` and the data offset where our unacknowledged data begins,
    /// if `subflow` alone carries it contiguously. `first`: where its data begins; `next`: its next
    /// sequence number, if nothing is in flight there.
    pub fn contiguous(&self, subflow: SubflowId, first: (Seq, u64), next: Option<Seq>) -> Option<(Seq, u64)> {
        match self.run {
            None => Some(first),
            // None of it was sent with a second subflow sequence number, here or on another
            // subflow.
            Some(r)
                if r.subflow == subflow
                    && r.data <= self.una
                    && r.end >= self.sent_before_run
                    && self.repeated_to <= self.una =>
            {
                Some((r.seq + (self.una - r.data), self.una))
            }
            // All data that was sent is acknowledged, whichever subflow carried it.
            Some(_) if self.una == self.sent_to() => next.map(|seq| (seq, self.una)),
            Some(_) => None,
        }
    }

    /// Data that waits to be sent again.
    #[inline(always)]
    pub fn reinjections(&self) -> &Reinjections {
        &self.reinjections
    }

    /// Data that waits to be sent again.
    #[inline(always)]
    pub fn reinjections_mut(&mut self) -> &mut Reinjections {
        &mut self.reinjections
    }

    /// Queues `[start, end)` to be sent again on any subflow, even if it was sent again before.
    pub fn repeat(&mut self, start: u64, end: u64) {
        self.reinjections.again(start.max(self.una), end.min(self.nxt));
    }

    /// Queues `[start, end)`, which is stuck on the subflow `stuck_on`, to be sent again on another
    /// subflow (`None`: on any).
    pub fn repeat_stuck(&mut self, start: u64, end: u64, stuck_on: Option<SubflowId>) {
        self.reinjections.add(start.max(self.una), end, stuck_on);
    }

    // ---- data-level retransmission (RFC 8684 3.3.6) ---------------------------------------------

    /// Returns true if data-level retransmission is in progress.
    #[inline(always)]
    pub fn is_retransmitting(&self) -> bool {
        self.retransmission.is_some()
    }

    /// Starts, keeps or moves [`Timer::Data`]: no subflow has data in flight, and some data lacks a
    /// DATA_ACK. The first retransmission follows after `patience`.
    pub fn arm_retransmission(&mut self, now: Instant, patience: Duration, timers: &mut Timers) {
        Retransmission::arm(&mut self.retransmission, self.una, now, patience, timers);
    }

    /// [`Timer::Data`] has expired: queues the oldest data without a DATA_ACK to be sent again.
    /// Returns false, having queued nothing, after `most` retransmissions.
    pub fn retransmit(&mut self, mss: u32, most: u32) -> bool {
        let Some(r) = &mut self.retransmission else { return true };
        // Data beyond the edge has probed the peer's window. The peer would refuse it again, and
        // with it the rest of its segment.
        let limit = if self.una < self.edge { self.edge.min(self.nxt) } else { self.nxt };
        let end = r.next_end(mss, most, self.una, limit);
        end.into_iter().for_each(|end| self.repeat(self.una, end));
        end.is_some()
    }

    /// Ends data-level retransmission.
    pub fn stop_retransmission(&mut self, timers: &mut Timers) {
        self.retransmission = None;
        timers.stop(Timer::Data);
    }

    // ---- copies ---------------------------------------------------------------------------------

    /// Returns true if copies that the scheduler wants wait to be sent.
    #[inline(always)]
    pub fn has_copies(&self) -> bool {
        !self.copies.is_empty()
    }

    /// Copies that wait to be sent.
    #[inline]
    pub fn copies_mut(&mut self) -> &mut Copies {
        &mut self.copies
    }

    /// Forgets what waits to be sent again: plain TCP sends no data with a second sequence number.
    pub fn forget_repetitions(&mut self) {
        self.reinjections = Reinjections::default();
        self.copies.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream of 100 written octets of which 60 were sent, into a window of 50.
    fn stream() -> SendStream {
        let mut s = SendStream::new();
        s.begin_window(50);
        s.write(100, &mut FastPath::for_tests());
        send(&mut s, 60, 0);
        s
    }

    /// Sends the next `len` octets on `subflow`, whose sequence numbers are the data offsets.
    fn send(s: &mut SendStream, len: u32, subflow: SubflowId) {
        let data = s.advance(len.into());
        s.note_run(&Sent::first(Seq(data), data, len, Instant::ZERO), subflow);
    }

    /// A scheduler that assigns ahead has assigned 40 octets that no subflow has sent. RFC 8684
    /// 3.3.2: the peer cannot acknowledge them. 3.7: they do not prevent a fallback.
    #[test]
    fn assigned_data_is_not_sent_data() {
        let mut s = stream();
        s.advance(40);
        s.acknowledge(100);
        assert_eq!((s.una(), s.max_ack()), (0, 60));
        s.acknowledge(20);
        assert_eq!(s.contiguous(0, (Seq(0), 0), None), Some((Seq(20), 20)));
        s.acknowledge(60);
        assert_eq!(s.contiguous(1, (Seq(0), 0), Some(Seq(7))), Some((Seq(7), 60)));
        s.take_back_unsent();
        assert_eq!((s.nxt(), s.unassigned()), (60, 40));
    }

    /// Subflow 1 has sent the data after what subflow 0 was assigned and has not sent.
    #[test]
    fn unsent_data_before_sent_data_is_not_taken_back() {
        let mut s = stream();
        s.acknowledge(60);
        s.advance(10);
        send(&mut s, 10, 1);
        assert_eq!(s.contiguous(1, (Seq(0), 0), None), None);
        s.note_run(&Sent::first(Seq(60), 60, 10, Instant::ZERO), 0);
        assert_eq!(s.contiguous(0, (Seq(0), 0), None), None);
        s.take_back_unsent();
        assert_eq!((s.nxt(), s.max_ack()), (80, 80));
    }

    #[test]
    fn an_acknowledgement_of_data_that_was_not_sent_is_ignored() {
        let mut s = stream();
        s.acknowledge(61);
        assert_eq!(s.una(), 0);
        s.acknowledge(60);
        assert_eq!((s.una(), s.unacknowledged(), s.unassigned()), (60, 40, 40));
    }

    /// RFC 8684 3.3.3: the DATA_FIN occupies one octet after the data.
    #[test]
    fn the_data_fin_is_acknowledged_with_one_octet_more() {
        let mut s = stream();
        send(&mut s, 40, 0);
        s.close(&mut FastPath::for_tests());
        s.acknowledge(101);
        assert_eq!((s.una(), s.fin()), (0, Fin::Open), "it was not sent");
        s.fin_sent();
        s.fin_sent();
        assert_eq!((s.fin(), s.max_ack()), (Fin::Sent { tries: 2 }, 101));
        s.acknowledge(101);
        assert_eq!((s.una(), s.fin()), (100, Fin::Acked));
    }

    #[test]
    fn a_window_that_opens_tells_what_the_peer_refused() {
        let mut s = stream();
        assert_eq!((s.window_left(), s.usable()), (0, 0));
        assert_eq!(s.move_edge(50), EdgeMove::None);
        assert_eq!(s.move_edge(70), EdgeMove::Refused(50));
        assert_eq!((s.window_left(), s.usable()), (10, 10));
        assert_eq!(s.move_edge(300), EdgeMove::Opened);
        assert_eq!((s.usable(), s.largest_window()), (40, 300));
        assert_eq!(s.move_edge(80), EdgeMove::None);
        assert_eq!((s.edge(), s.largest_window()), (80, 300));
    }

    /// RFC 8684 3.7: a fallback to plain TCP needs one subflow that has carried all data without a
    /// DATA_ACK, in order and once.
    #[test]
    fn data_is_contiguous_on_one_subflow_until_another_carries_some() {
        let first = (Seq(1), 0);
        let mut s = SendStream::new();
        s.write(300, &mut FastPath::for_tests());
        assert_eq!(s.contiguous(0, first, None), Some(first));
        for _ in 0..2 {
            let data = s.advance(100);
            s.note_run(&Sent::first(Seq(1 + data), data, 100, Instant::ZERO), 0);
        }
        s.acknowledge(50);
        assert_eq!(s.contiguous(0, first, None), Some((Seq(51), 50)));
        assert_eq!(s.contiguous(1, first, None), None);
        s.note_repeated(100);
        assert_eq!(s.contiguous(0, first, None), None, "a part of it has a second place");
        s.acknowledge(100);
        assert_eq!(s.contiguous(0, first, None), Some((Seq(101), 100)));
        let data = s.advance(100);
        s.note_run(&Sent::first(Seq(1), data, 100, Instant::ZERO), 1);
        assert_eq!(s.contiguous(0, first, None), None);
        s.acknowledge(300);
        assert_eq!(s.contiguous(0, first, Some(Seq(201))), Some((Seq(201), 300)));
    }

    #[test]
    fn what_the_peer_leaves_of_the_data_in_the_syn_is_sent_again() {
        let mut s = SendStream::new();
        s.write(10, &mut FastPath::for_tests());
        s.sent_with_syn(8);
        s.taken_with_syn(5);
        assert_eq!((s.una(), s.nxt(), s.unassigned()), (5, 5, 5));
    }
}
