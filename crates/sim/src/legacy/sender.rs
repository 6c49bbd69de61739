//! The model's sender (rules 2, 3, 5): staging buffer, scheduler, acknowledgements, timers.
//!
//! The application writes into a staging buffer of ten segments, which holds its octets until their
//! first transmission. A round robin gives each segment to a subflow that has room; a segment is
//! never moved to another subflow. An acknowledgement is a *duplicate* if a segment starts at its
//! number and all octets before that number were acknowledged already, and *new* otherwise. A late
//! acknowledgement that was overtaken on the way is a duplicate for the old segment that starts at
//! its number. A new acknowledgement moves the window, lets the application refill the buffer, and
//! lets the scheduler send. A duplicate goes to [`super::reordering`] and causes no new data to be
//! sent.

use anabranch_measures::rng::Rng;

use super::controller::{self, Share, alpha};
use super::counts::Counts;
use super::receiver::{FIRST_DATA, Index, Range};
use super::subflow::{Mapping, PEER_WINDOW, Phase, Subflow};
use super::{Model, Recovery};

/// Size of the staging buffer, segments (rule 2: 14 000 octets at an MSS of 1400).
const STAGING: u64 = 10;
/// Weight of the current window in the smoothed window (rule 5.3).
const SMOOTHING: f64 = 1.0 / 8.0;

/// An acknowledgement as it arrives.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ack {
    /// Its number.
    pub number: u64,
    /// The timestamp it echoes, milliseconds.
    pub echo: Option<u32>,
    /// D-SACK report: the segment that arrived, and the first contiguous run of out-of-order
    /// segments in the receiver's buffer.
    pub report: Option<[Range; 2]>,
}

/// Why a segment is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// First transmission.
    New,
    /// Fast retransmission, at the third duplicate charged to the segment.
    Fast,
    /// Retransmission at a timeout.
    Timeout,
}

/// A segment to send.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// The subflow that sends it.
    pub subflow: Index,
    /// The segment.
    pub mapping: Mapping,
    /// Why it is sent.
    pub why: Why,
}

/// Event of a loss episode, for the statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// The window was cut; a retransmission follows.
    Cut,
    /// The last cut was judged spurious.
    Spurious {
        /// The window was restored, at once or step by step.
        restored: bool,
    },
}

/// Steps of F_RTO, one variable for all subflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// No timeout yet, or the last one was found spurious.
    Idle,
    /// A timeout; the first acknowledgement after it is awaited (step 2).
    First,
    /// The second acknowledgement after the timeout is awaited (step 3).
    Second,
    /// The timeout is taken for genuine (step 4), until the next one.
    Genuine,
}

/// Sender of a connection.
#[derive(Debug)]
pub struct Sender {
    pub(super) model: Model,
    pub(super) subflows: Vec<Subflow>,
    /// Octets that the application has not written yet.
    unwritten: u64,
    /// Octets in the staging buffer: written but not sent.
    staged: u64,
    next_data: u64,
    /// The subflow whose turn it is in the round robin.
    turn: Index,
    /// Sum of the congestion windows, computed at the last transmission or the last computation of
    /// alpha.
    pub(super) total: f64,
    /// Data sequence number, subflow and index of each segment, in data order; kept only for D-SACK
    /// reports.
    pub(super) order: Vec<(u64, Index, usize)>,
    /// For each subflow: how often each segment was covered by a cumulative acknowledgement.
    pub(super) covered: Vec<Counts>,
    /// How often each segment was covered by a D-SACK report, in data order.
    pub(super) reported: Counts,
    pub(super) replaced: Option<u64>,
    pub(super) step: Step,
    /// Number of spurious timeouts that F_RTO detected. The model does not react to them.
    pub detections: u64,
    pub(super) out: Vec<Sent>,
    pub(super) notes: Vec<(Index, Note)>,
    writes: u32,
}

impl Sender {
    /// Returns a sender whose application has `octets` octets to write.
    pub fn new(model: &Model, octets: u64) -> Self {
        Self {
            model: *model,
            subflows: Vec::new(),
            unwritten: octets,
            staged: 0,
            next_data: FIRST_DATA,
            turn: 0,
            total: 0.0,
            order: Vec::new(),
            covered: Vec::new(),
            reported: Counts::default(),
            replaced: None,
            step: Step::Idle,
            detections: 0,
            out: Vec::new(),
            notes: Vec::new(),
            writes: 0,
        }
    }

    /// Adds a subflow whose SYN has the sequence number `isn`.
    pub fn open(&mut self, isn: u64, rng: Rng) {
        self.subflows.push(Subflow::new(isn + 1, rng));
        self.covered.push(Counts::default());
    }

    /// Marks a subflow as established: its SYN was acknowledged.
    pub fn on_established(&mut self, subflow: Index) {
        let s = &mut self.subflows[subflow];
        s.established = true;
        s.acked = s.next - 1;
    }

    /// Takes the sequence number of a pure acknowledgement, which occupies one number in this model
    /// (rule 1).
    pub fn take_control(&mut self, subflow: Index) -> u64 {
        let s = &mut self.subflows[subflow];
        s.next += 1;
        s.next - 1
    }

    /// Processes the peer's segment with its addresses, which acknowledges the segments of the
    /// handshake before `number`.
    pub fn on_control(&mut self, subflow: Index, number: u64) {
        let s = &mut self.subflows[subflow];
        s.acked = s.acked.max(number - 1);
    }

    /// Returns the subflows.
    pub fn subflows(&self) -> &[Subflow] {
        &self.subflows
    }

    /// Returns a subflow, for tests that set its state.
    pub fn subflow_mut(&mut self, subflow: Index) -> &mut Subflow {
        &mut self.subflows[subflow]
    }

    /// Returns the data sequence number after the last octet written.
    pub fn written(&self) -> u64 {
        self.next_data + self.staged
    }

    /// Discards the data that the application has not written yet.
    pub fn finish_writing(&mut self) {
        self.unwritten = 0;
    }

    /// Returns true if the application has written all its data.
    pub fn has_written_all(&self) -> bool {
        self.unwritten == 0
    }

    /// Takes out the segments to send, in order.
    pub fn take_out(&mut self) -> Vec<Sent> {
        std::mem::take(&mut self.out)
    }

    /// Takes out the notes of what happened to windows since the last call.
    pub fn take_notes(&mut self) -> Vec<(Index, Note)> {
        std::mem::take(&mut self.notes)
    }

    /// Returns true if the staging buffer is empty.
    pub fn is_idle(&self) -> bool {
        self.staged == 0
    }

    /// Returns the number of writes by the application since the last call.
    pub fn take_writes(&mut self) -> u32 {
        std::mem::take(&mut self.writes)
    }

    /// Returns the earliest expiry of a retransmission timer.
    pub fn deadline(&self) -> Option<u64> {
        self.subflows.iter().filter_map(|s| s.timer).min()
    }

    /// Lets the application fill the staging buffer and the scheduler send, until the windows or
    /// the data are exhausted (rules 2, 5.1).
    pub fn pump(&mut self, now: u64) {
        loop {
            let octets = self.unwritten.min(STAGING * u64::from(self.model.mss) - self.staged);
            (self.staged, self.unwritten) = (self.staged + octets, self.unwritten - octets);
            self.writes += u32::from(octets > 0);
            self.schedule(now);
            if self.staged > 0 || self.unwritten == 0 {
                return;
            }
        }
    }

    /// Sends staged data by round robin: each subflow that has room in its turn sends one segment
    /// (rule 3).
    pub(super) fn schedule(&mut self, now: u64) {
        let n = self.subflows.len();
        let mut full = 0;
        while self.staged > 0 && full < n {
            let room = self.subflows[self.turn].room(self.model.mss);
            if room > 0 {
                let len = room.min(self.staged).min(u64::from(self.model.mss)) as u32;
                self.send(now, self.turn, len);
                full = 0;
            } else {
                full += 1;
            }
            self.turn = (self.turn + 1) % n;
        }
    }

    fn send(&mut self, now: u64, subflow: Index, len: u32) {
        self.total = self.sum();
        let s = &mut self.subflows[subflow];
        let order = self.order.len();
        let mapping = Mapping { seq: s.next, dsn: self.next_data, len, duplicates: 0, copies: 1, again: 0, order };
        if self.model.recovery == Recovery::Dsack {
            self.order.push((mapping.dsn, subflow, s.mappings.len()));
            self.covered[subflow].push();
            self.reported.push();
        }
        s.mappings.push(mapping);
        s.next = mapping.end();
        s.rtt.on_sent(now, s.next);
        if s.timer.is_none() {
            s.arm(now);
        }
        self.next_data += u64::from(len);
        self.staged -= u64::from(len);
        self.out.push(Sent { subflow, mapping, why: Why::New });
    }

    fn sum(&self) -> f64 {
        self.subflows.iter().map(|s| s.cwnd).sum()
    }

    /// Retransmits a segment on its subflow (rule 3).
    pub(super) fn retransmit(&mut self, now: u64, subflow: Index, index: usize, why: Why) {
        self.total = self.sum();
        let s = &mut self.subflows[subflow];
        let m = &mut s.mappings[index];
        if m.copies == 1 {
            m.again = milliseconds(now);
        }
        m.copies += 1;
        let mapping = *m;
        s.rtt.on_retransmitted(mapping.end());
        if s.timer.is_none() {
            s.arm(now);
        }
        self.out.push(Sent { subflow, mapping, why });
    }

    /// Processes an arriving acknowledgement (rule 5.1).
    pub fn on_ack(&mut self, now: u64, subflow: Index, ack: &Ack) {
        if self.is_discarded(subflow) {
            return;
        }
        self.take_in(now, subflow, ack);
        self.perhaps_discard_next(subflow);
    }

    fn take_in(&mut self, now: u64, subflow: Index, ack: &Ack) {
        if let Some(report) = ack.report {
            self.on_report(report);
        }
        let s = &self.subflows[subflow];
        let starts = if ack.number == s.next { None } else { s.starting_at(ack.number) };
        if let (Some(index), Recovery::Dsack) = (starts, self.model.recovery) {
            self.covered[subflow].add(0, index);
        }
        match starts.filter(|_| ack.number <= s.acked + 1) {
            Some(index) => self.on_duplicate(now, subflow, index, ack),
            None => self.on_new(now, subflow, ack.number),
        }
    }

    fn on_new(&mut self, now: u64, subflow: Index, number: u64) {
        self.count_step(subflow, false);
        let s = &mut self.subflows[subflow];
        s.timer = None;
        s.rtt.on_ack(now, number);
        s.acked = s.acked.max(number - 1);
        if s.outstanding() > 0 {
            s.arm(now);
        }
        self.grow(subflow);
        self.pump(now);
    }

    /// Grows the window for one acknowledgement (rule 5.3).
    pub(super) fn grow(&mut self, subflow: Index) {
        let mss = f64::from(self.model.mss);
        let s = &mut self.subflows[subflow];
        if s.phase == Phase::Restoring {
            if s.cwnd + 1.0 < s.saved.0 {
                s.cwnd += 1.0;
                return;
            }
            s.saved.0 = 0.0;
            s.phase = Phase::Normal;
        }
        if s.cwnd * mss < s.ssthresh as f64 {
            s.cwnd += 1.0;
            return;
        }
        s.smoothed += SMOOTHING * (s.cwnd - s.smoothed);
        let mut factor = 1.0;
        if controller::uses_alpha(self.model.controller) {
            self.total = self.sum();
            factor = alpha(self.subflows.iter().map(|s| Share { smoothed: s.smoothed, srtt: s.rtt.srtt() }));
        }
        let s = &mut self.subflows[subflow];
        s.cwnd += controller::growth(self.model.controller, s.cwnd, self.total, factor);
    }

    /// Reduces the congestion window and the slow-start threshold of a subflow. The model reduces
    /// them in the same way after the third duplicate ACK and after a timeout (rule 5.4).
    pub(super) fn cut(&mut self, subflow: Index) {
        let (mss, total, model) = (u64::from(self.model.mss), self.total, self.model);
        let s = &mut self.subflows[subflow];
        s.saved = match model.recovery {
            Recovery::Dsack => (s.saved.0.max(s.cwnd), s.saved.1.max(s.ssthresh)),
            _ => (s.cwnd, s.ssthresh),
        };
        s.is_undone = false;
        self.notes.push((subflow, Note::Cut));
        // Half the window in segments is compared with 2 * mss in octets, so the threshold is 2 * mss from the first cut on.
        s.ssthresh = ((s.cwnd as u64).min(PEER_WINDOW) / 2).max(2 * mss);
        s.cwnd = controller::cut(model.controller, s.cwnd, total);
        s.rtt.back_off();
        s.phase = Phase::Normal;
    }

    /// Handles the retransmission timers that are due (rule 5.5).
    pub fn on_timer(&mut self, now: u64) {
        for i in 0..self.subflows.len() {
            if self.subflows[i].timer.is_none_or(|at| at > now) {
                continue;
            }
            self.subflows[i].timer = None;
            if let Some(index) = self.subflows[i].first_outstanding() {
                self.cut(i);
                self.step = Step::First;
                self.retransmit(now, i, index, Why::Timeout);
            }
        }
    }
}

/// The model's timestamp clock.
pub fn milliseconds(now: u64) -> u32 {
    (now / 1_000_000) as u32
}
