//! What a Python algorithm sees of the subflows of its connection.

use anabranch_stack::path::{Path as Row, Policy, Recovery};
use anabranch_stack::time::Duration;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::view::{Flag, Kept, Real, Seconds, Whole, atomic_view};

/// The state of loss recovery, as a word.
pub struct RecoveryWord;

impl Kept for RecoveryWord {
    type Value = Recovery;
    type Shown = &'static str;
    fn word(value: Recovery) -> u64 {
        value as u64
    }
    fn attribute(word: u64) -> &'static str {
        ["open", "cwr", "fast", "loss"][word as usize % 4]
    }
    fn real(value: Recovery) -> f64 {
        Self::word(value) as f64
    }
}

atomic_view! {
    /// One subflow, as controllers and schedulers see it. The attributes show its state at the
    /// present call.
    Path of &Row, p, keeps {}
    {
        /// The scenario's key `cost` of the path: the relative price of an octet, above 0; 1 by
        /// default.
        cost: Real = p.policy.cost;
        /// The scenario's key `weight` of the path: its share of the load relative to other paths,
        /// above 0; 1 by default.
        weight: Real = p.policy.weight;
        /// Priority of the path; lower is preferred.
        priority: Whole = u64::from(p.policy.priority);
        /// The handshake is complete and the subflow has not ended.
        established: Flag = p.established;
        /// The subflow may send one more full-sized segment now.
        can_send: Flag = p.can_send;
        /// The subflow is used only when no regular subflow works (RFC 8684 3.3.8).
        backup: Flag = p.backup;
        /// The retransmission timer has expired, and nothing was acknowledged since.
        stale: Flag = p.stale;
        /// State of loss recovery: "open", "cwr", "fast" or "loss".
        recovery: RecoveryWord = p.recovery;
        /// Payload of a full-sized segment in octets.
        mss: Whole = u64::from(p.mss);
        /// Congestion window in octets.
        cwnd: Real = p.cwnd;
        /// Slow-start threshold in octets; infinite before the first reduction.
        ssthresh: Real = p.ssthresh;
        /// Octets in flight, as compared with the congestion window.
        in_flight: Whole = p.in_flight;
        /// First octet of our data stream that the oldest segment in flight carries.
        oldest_start: Whole = p.oldest.0;
        /// First octet behind the oldest segment in flight; equal to `oldest_start` if nothing is
        /// in flight.
        oldest_end: Whole = p.oldest.1;
        /// Octets of new data that the scheduler has assigned to the subflow and that are not sent
        /// yet.
        queued: Whole = p.queued;
        /// The subflow takes new data, with or without room; kept only for schedulers that queue.
        takes_data: Flag = p.takes_data;
        /// Memory of the send buffer in use, in octets; kept only for schedulers that queue.
        buffered: Whole = p.buffered;
        /// Octets that the subflow takes at a time; kept only for schedulers that queue.
        fill: Whole = p.fill;
        /// Rate at which the window leaves in a round trip, with the allowance of a paced sender,
        /// in octets per second.
        pacing_rate: Real = p.pacing_rate;
        /// Smoothed round-trip time in seconds (RFC 6298); 0 before the first sample.
        srtt: Seconds = p.srtt.0;
        /// Smoothed round-trip time in nanoseconds.
        srtt_ns: Whole = p.srtt.0;
        /// Variation of the round-trip time in seconds (RTTVAR of RFC 6298); 0 before the first
        /// sample.
        rttvar: Seconds = p.rttvar.0;
        /// Variation of the round-trip time in nanoseconds.
        rttvar_ns: Whole = p.rttvar.0;
        /// Minimum round-trip time in seconds; 0 before the first sample.
        min_rtt: Seconds = p.min_rtt.0;
        /// Minimum round-trip time in nanoseconds.
        min_rtt_ns: Whole = p.min_rtt.0;
        /// Newest sample of the delivery rate in octets per second; 0 without
        /// `needs = ("delivery_rate",)`.
        delivery_rate: Real = p.delivery_rate;
        /// Rate at the last round trip with a queue, in octets per second, as a controller
        /// publishes it; 0 if none.
        vegas_rate: Real = p.vegas_rate;
        /// Octets acknowledged since the last loss episode began.
        acked_since_last: Whole = p.acked_since_loss[0];
        /// Octets acknowledged between the beginnings of the last two loss episodes.
        acked_between_last: Whole = p.acked_since_loss[1];
    }
    also {
        /// First octet of our data stream that the oldest segment in flight carries, and the octet
        /// after its last.
        #[getter]
        fn oldest(&self) -> (u64, u64) {
            (self.oldest_start(), self.oldest_end())
        }

        /// Octets acknowledged since the last loss episode began, and between the beginnings of the
        /// last two.
        #[getter]
        fn acked_since_loss(&self) -> (u64, u64) {
            (self.acked_since_last(), self.acked_between_last())
        }

        /// Octets assigned to the subflow that do not fit into its window now.
        fn backlog(&self) -> f64 {
            self.row().backlog()
        }

        /// Returns True if the window has room for a segment beside what is in flight and assigned.
        fn has_room(&self) -> bool {
            self.row().has_room()
        }

        fn __repr__(&self) -> String {
            format!("{:?}", self.row())
        }
    }
}

impl Path {
    /// The engine's row.
    pub fn row(&self) -> Row {
        let recovery = match self.recovery() {
            "cwr" => Recovery::Cwr,
            "fast" => Recovery::Fast,
            "loss" => Recovery::Loss,
            _ => Recovery::Open,
        };
        Row {
            policy: Policy { cost: self.cost(), weight: self.weight(), priority: self.priority() as u32 },
            established: self.established(),
            can_send: self.can_send(),
            backup: self.backup(),
            stale: self.stale(),
            recovery,
            mss: self.mss() as u32,
            cwnd: self.cwnd(),
            ssthresh: self.ssthresh(),
            in_flight: self.in_flight(),
            oldest: self.oldest(),
            queued: self.queued(),
            takes_data: self.takes_data(),
            buffered: self.buffered(),
            fill: self.fill(),
            pacing_rate: self.pacing_rate(),
            srtt: Duration(self.srtt_ns()),
            rttvar: Duration(self.rttvar_ns()),
            min_rtt: Duration(self.min_rtt_ns()),
            delivery_rate: self.delivery_rate(),
            vegas_rate: self.vegas_rate(),
            acked_since_loss: [self.acked_since_last(), self.acked_between_last()],
        }
    }
}

/// Views of all subflows of a connection, as a tuple for Python.
#[derive(Debug)]
pub struct Paths {
    views: Vec<Py<Path>>,
    tuple: Py<PyTuple>,
}

impl Paths {
    pub fn new(py: Python<'_>) -> Self {
        Self { views: Vec::new(), tuple: PyTuple::empty(py).unbind() }
    }

    /// Shows `rows`. Returns true if the tuple is another one: subflows have been added.
    #[inline]
    pub fn refresh(&mut self, py: Python<'_>, rows: &[Row]) -> PyResult<bool> {
        let renewed = self.views.len() != rows.len();
        if renewed {
            self.views.truncate(rows.len());
            while self.views.len() < rows.len() {
                self.views.push(Py::new(py, Path::new())?);
            }
            self.tuple = PyTuple::new(py, self.views.iter().map(|view| view.clone_ref(py)))?.unbind();
        }
        for (view, row) in self.views.iter().zip(rows) {
            view.get().refresh(row);
        }
        Ok(renewed)
    }

    /// Number of subflows.
    pub fn len(&self) -> usize {
        self.views.len()
    }

    /// The tuple of views.
    pub fn tuple<'py>(&self, py: Python<'py>) -> &Bound<'py, PyTuple> {
        self.tuple.bind(py)
    }

    /// The views, for a copy of their holder or for an offer.
    pub fn views(&self, py: Python<'_>) -> Vec<Py<Path>> {
        self.views.iter().map(|view| view.clone_ref(py)).collect()
    }
}
