//! What each subflow of a sender of data waits for: at every instant exactly one cause, the first in this list that applies.
//!
//! A run knows (`sim::stream::causes`), a capture finds out (`capture::causes`), both by these words. Time counts from the
//! connection's first SYN to the last time that its sender sent data or was told of new data that had arrived.

use serde_json::{Value, json};

/// Causes, in order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The subflow is not established: not yet, or no longer.
    NotUp,
    /// Its retransmission timer has expired twice in a row or more often, without an acknowledgement.
    Failed,
    /// It repairs a loss: from the first retransmission until all that was sent before is acknowledged.
    Recovery,
    /// The peer's window takes no full segment more, and the peer holds nothing behind a gap.
    ReceiveWindow,
    /// The same while the peer holds data behind a gap.
    HeadOfLine,
    /// Its congestion window is full (or pacing delays it), at least half of it with copies of what another subflow sent first.
    Reinjection,
    /// Its congestion window is full, or pacing delays it.
    Cwnd,
    /// Another subflow is to send what there is.
    Scheduler,
    /// Everything written was sent, and the send buffer is full.
    SendBuffer,
    /// There is nothing to send.
    Application,
}

impl Cause {
    /// How many there are.
    pub const COUNT: usize = 10;

    /// Names, in order of their numbers.
    pub const NAMES: [&'static str; Self::COUNT] = [
        "not_up",
        "failed",
        "recovery",
        "receive_window",
        "head_of_line",
        "reinjection",
        "cwnd",
        "scheduler",
        "send_buffer",
        "application",
    ];
}

/// Time by cause, in nanoseconds.
pub type Times = [u64; Cause::COUNT];

/// The share of each cause by name; null if no time was spent at all.
pub fn shares(times: &Times) -> Value {
    let sum: u64 = times.iter().sum();
    let share = |(name, time): (&str, &u64)| (name.to_owned(), json!(*time as f64 / sum as f64));
    if sum == 0 { Value::Null } else { Value::Object(Cause::NAMES.into_iter().zip(times).map(share).collect()) }
}

/// The time of one subflow by cause.
#[derive(Clone, Copy, Debug)]
pub struct Spent {
    cause: Cause,
    since: u64,
    /// Until the last time the connection moved; then since then.
    settled: Times,
    open: Times,
}

impl Spent {
    /// A subflow that is not up, of a connection that began at `began`.
    pub fn new(began: u64) -> Self {
        Self { cause: Cause::NotUp, since: began, settled: [0; Cause::COUNT], open: [0; Cause::COUNT] }
    }

    /// From `now` on it waits for `cause`.
    pub fn set(&mut self, now: u64, cause: Cause) {
        self.open[self.cause as usize] += now.saturating_sub(self.since);
        (self.cause, self.since) = (cause, self.since.max(now));
    }

    /// The connection moves: what was spent until `now` counts.
    pub fn settle(&mut self, now: u64) {
        self.set(now, self.cause);
        self.settled.iter_mut().zip(std::mem::take(&mut self.open)).for_each(|(all, more)| *all += more);
    }

    /// Time by cause until the connection moved last.
    pub fn times(&self) -> Times {
        self.settled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Up at 2, in recovery from 5 to 6, moves at 8; what comes later does not count.
    #[test]
    fn time_counts_until_the_connection_moved_last() {
        let mut s = Spent::new(0);
        s.set(2, Cause::Cwnd);
        s.set(5, Cause::Recovery);
        s.set(6, Cause::Application);
        s.settle(8);
        s.set(9, Cause::Failed);
        let t = s.times();
        assert_eq!((t[Cause::NotUp as usize], t[Cause::Cwnd as usize]), (2, 3));
        assert_eq!((t[Cause::Recovery as usize], t[Cause::Application as usize], t[Cause::Failed as usize]), (1, 2, 0));
        assert_eq!(t.iter().sum::<u64>(), 8);
    }
}
