//! Counts how often each short path is taken, in builds with debug assertions.
//!
//! A short path skips work whose result is known ([`Config::shortcuts`](crate::Config::shortcuts)). A test that compares short paths with
//! the full path proves nothing if no short path was taken. These counts show which ones were. Other builds count nothing.

use core::cell::Cell;

/// A short path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortcut {
    /// The next data in order was predicted at the receiver.
    PredictedData,
    /// A pure acknowledgement was predicted at the sender.
    PredictedAck,
    /// A quiet connection was polled.
    QuietPoll,
    /// New data flowed: the poll looked at the subflow that sent last.
    FlowingPoll,
    /// New data flowed, and the poll looked at nothing.
    BudgetedPoll,
    /// A data segment was made from the one before.
    DataTemplate,
    /// An acknowledgement was made from the one before.
    AckTemplate,
    /// A cumulative acknowledgement of segments that were sent once was processed by the short way.
    PlainAck,
    /// Neither the detector nor the judge was told of an acknowledgement.
    UntoldProgress,
    /// The scheduler was not asked, since only one subflow could send.
    UnaskedScheduler,
    /// No timer can be earlier than the deadline that the driver knows of.
    KnownDeadline,
    /// The simulator served a bulk transfer's predicted segment by its short way.
    LeanStream,
}

impl Shortcut {
    /// All short paths, in the order of their counts.
    pub const ALL: [Self; 12] = [
        Self::PredictedData,
        Self::PredictedAck,
        Self::QuietPoll,
        Self::FlowingPoll,
        Self::BudgetedPoll,
        Self::DataTemplate,
        Self::AckTemplate,
        Self::PlainAck,
        Self::UntoldProgress,
        Self::UnaskedScheduler,
        Self::KnownDeadline,
        Self::LeanStream,
    ];

    /// Notes that this short path is taken.
    #[inline(always)]
    pub fn note(self) {
        if cfg!(debug_assertions) {
            TAKEN.with(|taken| {
                let mut counts = taken.get();
                counts[self as usize] += 1;
                taken.set(counts);
            });
        }
    }
}

thread_local! {
    static TAKEN: Cell<[u64; Shortcut::ALL.len()]> = const { Cell::new([0; Shortcut::ALL.len()]) };
}

/// Returns how often this thread has taken each short path since the last call, in the order of [`Shortcut::ALL`].
pub fn take_counts() -> [u64; Shortcut::ALL.len()] {
    TAKEN.take()
}
