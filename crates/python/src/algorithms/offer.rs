//! What a Python scheduler sees when it is asked.

use anabranch_stack::path::Path as Row;
use anabranch_stack::scheduler::Offer as EngineOffer;
use anabranch_stack::time::Instant;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::path::Path;
use super::view::{Flag, Seconds, Whole, atomic_view};

atomic_view! {
    /// What a scheduler knows when it is asked. Offsets count octets of our data stream.
    Offer of &EngineOffer<'_>, o, keeps { views: Vec<Py<Path>>, tuple: Py<PyTuple> }
    {
        /// Current virtual time in seconds.
        now: Seconds = o.now.0;
        /// Current virtual time in nanoseconds.
        now_ns: Whole = o.now.0;
        /// Octets written and not yet sent.
        unsent: Whole = o.unsent;
        /// The oldest octet without a DATA_ACK.
        data_una: Whole = o.data_una;
        /// The next octet to send for the first time.
        data_nxt: Whole = o.data_nxt;
        /// Right edge of the peer's window; `data_nxt` if the window is closed.
        edge: Whole = o.edge;
        /// Octets that the send buffer of the connection holds; 2**64 - 1 if it has no limit.
        buffer: Whole = o.buffer;
        /// A burst may be longer than what is written, as those of Linux are.
        ahead_of_writer: Flag = o.ahead_of_writer;
    }
    also {
        /// All subflows, including those without room: a tuple of `Path`.
        #[getter]
        fn paths<'py>(&self, py: Python<'py>) -> Bound<'py, PyTuple> {
            self.tuple.bind(py).clone()
        }

        /// Octets of new data that the peer's window takes now.
        fn room(&self) -> u64 {
            self.edge().saturating_sub(self.data_nxt()).min(self.unsent())
        }

        /// Returns True if some subflow may send.
        fn any(&self) -> bool {
            self.with(|offer| offer.any())
        }

        /// Index of the established subflow with the lowest smoothed round-trip time, with or
        /// without room; None if there is none.
        fn fastest(&self) -> Option<usize> {
            self.with(|offer| offer.fastest())
        }

        /// Index of the subflow with the lowest smoothed round-trip time among those that can send;
        /// None if there is none.
        fn open(&self) -> Option<usize> {
            self.with(|offer| offer.open())
        }

        /// Returns True if subflow `i` works: established, timer not expired, and no backup while a
        /// regular subflow works.
        fn works(&self, i: usize) -> PyResult<bool> {
            self.index(i)?;
            Ok(self.with(|offer| offer.works(i)))
        }

        /// Index of the working subflow with the lowest smoothed round-trip time, with or without
        /// room; None if there is none.
        fn fastest_at_work(&self) -> Option<usize> {
            self.with(|offer| offer.fastest_at_work())
        }

        /// Returns True if waiting for room on subflow `i` comes to an end: the subflow works and
        /// has data in flight.
        fn awaits(&self, i: usize) -> PyResult<bool> {
            self.index(i)?;
            Ok(self.with(|offer| offer.awaits(i)))
        }

        /// Index of the subflow that has the oldest octet without a DATA_ACK in flight; None if
        /// there is none.
        fn head(&self) -> Option<usize> {
            self.with(|offer| offer.head())
        }

        fn __repr__(&self) -> String {
            self.with(|offer| format!("{offer:?}"))
        }
    }
}

impl Offer {
    fn index(&self, i: usize) -> PyResult<()> {
        let n = self.views.len();
        if i < n {
            return Ok(());
        }
        Err(pyo3::exceptions::PyIndexError::new_err(format!("there is no subflow {i}; subflows are 0 to {}", n - 1)))
    }

    /// Asks the engine's offer.
    fn with<T>(&self, ask: impl FnOnce(&EngineOffer<'_>) -> T) -> T {
        let rows: Vec<Row> = self.views.iter().map(|view| view.get().row()).collect();
        let mut offer = EngineOffer::new(Instant(self.now_ns()), &rows, self.unsent());
        (offer.data_una, offer.data_nxt) = (self.data_una(), self.data_nxt());
        (offer.edge, offer.buffer) = (self.edge(), self.buffer());
        offer.ahead_of_writer = self.ahead_of_writer();
        ask(&offer)
    }
}
