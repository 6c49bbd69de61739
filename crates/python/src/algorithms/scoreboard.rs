//! The scoreboard as a Python detector sees it. The engine's scoreboard moves into an object of
//! Python for a call, and back.

use std::mem::take;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anabranch_stack::detector as engine;
use anabranch_stack::scoreboard::Segments as Count;
use anabranch_stack::seq::Seq;
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyTuple};

use super::AlgorithmError;
use super::answer::seq as number;
use super::decision::repr;
use super::view::copied_view;

copied_view! {
    /// A segment in flight, as it was at the call that gave it.
    Sent of engine::Sent, s
    {
        /// First sequence number.
        seq: u64 = s.seq.0;
        /// Sequence number after the last octet.
        end: u64 = s.end().0;
        /// Octets of sequence space.
        len: u32 = s.len;
        /// Offset of its first octet in the data that the subflow has carried.
        data: u64 = s.data;
        /// Virtual time when it was last sent, in seconds.
        sent_at: f64 = s.sent_at.0 as f64 / 1e9;
        /// Virtual time when it was last sent, in nanoseconds.
        sent_at_ns: u64 = s.sent_at.0;
        /// Number of transmissions, at most 255.
        transmissions: u8 = s.transmissions;
        /// It is the FIN, which has no payload.
        is_fin: bool = s.is_fin();
        /// It is SACKed.
        is_sacked: bool = s.is_sacked();
        /// It is lost, and waits for its retransmission.
        waits: bool = s.waits();
    }
    also {}
}

copied_view! {
    /// Numbers of segments between SND.UNA and SND.NXT.
    Segments of Count, c
    {
        /// All of them, the FIN included.
        all: u32 = c.all;
        /// SACKed.
        sacked: u32 = c.sacked;
        /// Lost and not SACKed, whether or not they were retransmitted.
        lost: u32 = c.lost;
        /// Retransmitted since they counted as lost, and not SACKed.
        retransmitted: u32 = c.retransmitted;
    }
    also {}
}

/// The segments in flight of a subflow, oldest first, and what SACK says about them (RFC 6675 3).
/// It can be used only during the call that receives it.
#[pyclass(frozen, module = "anabranch._core")]
pub struct Scoreboard(Mutex<Lent>);

#[derive(Default)]
struct Lent {
    /// The engine's; `None` between calls.
    board: Option<engine::Scoreboard>,
    /// The call may mark segments.
    marks: bool,
    /// SND.UNA and SND.NXT of the subflow.
    una: Seq,
    nxt: Seq,
}

impl Scoreboard {
    pub fn new() -> Self {
        Self(Mutex::default())
    }

    fn lock(&self) -> MutexGuard<'_, Lent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives Python `board` for the call `call`, which may mark segments.
    pub fn lend<T>(&self, board: &mut engine::Scoreboard, sender: &engine::Outstanding, call: impl FnOnce() -> T) -> T {
        *self.lock() = Lent { board: Some(take(board)), marks: true, una: sender.snd_una, nxt: sender.snd_nxt };
        let value = call();
        *board = take(&mut *self.lock()).board.unwrap_or_default();
        value
    }

    /// Shows Python `board` for the call `call`.
    pub fn show<T>(&self, board: &engine::Scoreboard, sender: &engine::Outstanding, call: impl FnOnce() -> T) -> T {
        let copy = Some(board.clone());
        *self.lock() = Lent { board: copy, marks: false, una: sender.snd_una, nxt: sender.snd_nxt };
        let value = call();
        *self.lock() = Lent::default();
        value
    }

    fn read<T>(&self, read: impl FnOnce(&engine::Scoreboard) -> T) -> PyResult<T> {
        match &self.lock().board {
            Some(board) => Ok(read(board)),
            None => Err(AlgorithmError::new_err("a scoreboard can be used only during the call that receives it")),
        }
    }

    fn mark(&self, what: &str, mark: impl FnOnce(&mut engine::Scoreboard)) -> PyResult<()> {
        self.read(|_| ())?;
        let mut lent = self.lock();
        if !lent.marks {
            let problem = format!("{what}: finding() is too late to mark segments; mark them in on_ack()");
            return Err(AlgorithmError::new_err(problem));
        }
        if let Some(board) = &mut lent.board {
            mark(board);
        }
        Ok(())
    }
}

/// A sequence number that was given to `what`.
fn sequence(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Seq> {
    number(value).map(Seq).ok_or_else(|| {
        AlgorithmError::new_err(format!("{what}: {} is no sequence number; give a whole number", repr(value)))
    })
}

fn views(py: Python<'_>, all: Vec<engine::Sent>) -> PyResult<Bound<'_, PyTuple>> {
    let views: Vec<Py<Sent>> = all.into_iter().map(|sent| Py::new(py, Sent::new(sent))).collect::<PyResult<_>>()?;
    PyTuple::new(py, views)
}

#[pymethods]
impl Scoreboard {
    /// Number of segments in flight.
    fn __len__(&self) -> PyResult<usize> {
        self.read(|board| board.outstanding() as usize)
    }

    /// The segments in flight, oldest first.
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        views(py, self.read(|board| board.iter().copied().collect())?)?.try_iter()
    }

    /// The segments in flight from the sequence number `seq` on.
    fn starting_at<'py>(&self, py: Python<'py>, seq: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
        let seq = sequence(seq, "starting_at")?;
        views(py, self.read(|board| board.from(seq).copied().collect())?)
    }

    /// The segment in flight whose `end` is `end`; None if there is none.
    fn ending_at(&self, end: &Bound<'_, PyAny>) -> PyResult<Option<Sent>> {
        let end = sequence(end, "ending_at")?;
        self.read(|board| board.ending_at(end).copied().map(Sent::new))
    }

    /// The oldest segment in flight; None if there is none.
    fn front(&self) -> PyResult<Option<Sent>> {
        self.read(|board| board.front().copied().map(Sent::new))
    }

    /// Returns True if no segment is in flight.
    fn is_empty(&self) -> PyResult<bool> {
        self.read(engine::Scoreboard::is_empty)
    }

    /// Octets in the network by the estimate of RFC 6675 4 (SetPipe).
    fn pipe(&self) -> PyResult<u64> {
        self.read(engine::Scoreboard::pipe)
    }

    /// Octets marked lost since the subflow began, each transmission for itself.
    fn marked(&self) -> PyResult<u64> {
        self.read(engine::Scoreboard::marked)
    }

    /// Returns True if some segment in flight is SACKed.
    fn has_sacked(&self) -> PyResult<bool> {
        self.read(engine::Scoreboard::has_sacked)
    }

    /// Returns True if no segment in flight is SACKed.
    fn is_unsacked(&self) -> PyResult<bool> {
        self.read(engine::Scoreboard::is_unsacked)
    }

    /// Returns True if some segment is lost and not retransmitted yet.
    fn has_lost(&self) -> PyResult<bool> {
        self.read(engine::Scoreboard::has_lost)
    }

    /// Number of segments in flight.
    fn outstanding(&self) -> PyResult<u64> {
        self.read(engine::Scoreboard::outstanding)
    }

    /// Segments that have reached the peer since the subflow began: acknowledged, or SACKed.
    fn delivered(&self) -> PyResult<u64> {
        self.read(engine::Scoreboard::delivered)
    }

    /// Number of segments in flight that are SACKed.
    fn sacked_segments(&self) -> PyResult<usize> {
        self.read(engine::Scoreboard::sacked_segments)
    }

    /// Octets in flight that are SACKed.
    fn sacked_octets(&self) -> PyResult<u64> {
        self.read(engine::Scoreboard::sacked_octets)
    }

    /// How many segments are in flight, SACKed, lost and retransmitted.
    fn count(&self) -> PyResult<Segments> {
        self.read(|board| Segments::new(board.count()))
    }

    /// Octets that a segment of `len` octets counts for in `pipe`.
    fn weight(&self, len: u32) -> PyResult<u64> {
        self.read(|board| board.weight(len))
    }

    /// The highest sequence number SACKed so far, plus one; 0 if there is none.
    fn high_sacked(&self) -> PyResult<u64> {
        self.read(|board| board.high_sacked().0)
    }

    /// Returns True if the oldest segment in flight is marked lost.
    fn front_is_lost(&self) -> PyResult<bool> {
        self.read(engine::Scoreboard::front_is_lost)
    }

    /// Returns True if the oldest segment in flight was retransmitted, and neither acknowledged nor
    /// lost again since.
    fn front_is_retransmitted(&self) -> PyResult<bool> {
        self.read(engine::Scoreboard::front_is_retransmitted)
    }

    /// Mark the segments lost above which more than `octets` octets, or `islands` discontiguous
    /// sequences, are SACKed (IsLost of RFC 6675 4).
    fn update_lost(&self, octets: &Bound<'_, PyAny>, islands: &Bound<'_, PyAny>) -> PyResult<()> {
        let given = super::answer::octets(octets).zip(super::answer::segments(islands));
        let (octets, islands) = given.ok_or_else(|| {
            let values = format!("update_lost({}, {})", repr(octets), repr(islands));
            AlgorithmError::new_err(format!("{values}: give octets and a number of sequences, both at least 0"))
        })?;
        self.mark("update_lost", |board| board.update_lost(octets, islands))
    }

    /// Mark the segment that begins at `seq` lost, and its latest retransmission. A SACKed segment
    /// is not marked.
    fn mark_lost(&self, seq: &Bound<'_, PyAny>) -> PyResult<()> {
        let seq = sequence(seq, "mark_lost")?;
        let known = self.read(|board| board.from(seq).next().is_some_and(|sent| sent.seq == seq))?;
        if !known {
            let flight = self.flight()?;
            let problem = format!("mark_lost({}): no segment in flight begins there; {flight}", seq.0);
            return Err(AlgorithmError::new_err(problem));
        }
        self.mark("mark_lost", |board| board.mark_lost(seq))
    }

    /// Mark all segments lost that are not SACKed, as after a timeout.
    fn mark_all_lost(&self) -> PyResult<()> {
        let (una, nxt) = {
            let lent = self.lock();
            (lent.una, lent.nxt)
        };
        self.mark("mark_all_lost", |board| board.mark_all_lost(una, nxt))
    }

    /// Take back the marks of segments that are lost and not retransmitted yet.
    fn unmark_lost(&self) -> PyResult<()> {
        self.mark("unmark_lost", engine::Scoreboard::unmark_lost)
    }

    fn __repr__(&self) -> String {
        self.read(|board| format!("{board:?}")).unwrap_or_else(|_| "Scoreboard (outside of a call)".to_owned())
    }
}

impl Scoreboard {
    /// Where segments begin, for messages.
    fn flight(&self) -> PyResult<String> {
        self.read(|board| {
            let first = board.front().map(|sent| sent.seq.0);
            let last = board.iter().last().map(|sent| sent.seq.0);
            first.zip(last).map_or_else(
                || "no segment is in flight".to_owned(),
                |(first, last)| format!("segments begin at {first} to {last}"),
            )
        })
    }
}
