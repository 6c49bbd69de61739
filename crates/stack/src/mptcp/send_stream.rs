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

/// A DATA_FIN is sent this many times as often as a data segment before the peer counts as gone.
/// Its interval doubles less often: with the minimum RTO of 200 ms this takes 12 minutes.
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
mod tests;
