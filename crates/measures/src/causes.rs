//! What a sender of data waits for: the one account of waiting, of a run and of captures, of
//! subflows and of connections.
//!
//! Of a subflow exactly one cause applies at every instant, the first in this list but
//! [`Cause::Link`]. A run knows it (`sim::stream::causes`), a capture finds it out
//! (`capture::waiting`). Time counts from the connection's first SYN to the last time that its
//! sender sent data or was told of new data that had arrived. `limits` of a summary is a view of
//! the same causes, of the connection as a whole: [`VIEW`].

use anabranch_stack::event::SendBlock;
use serde_json::{Map, Value, json};

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
    /// Of a connection as a whole: the receive window or the send buffer is full, but so are all
    /// links, so that more room would not help. See [`Waiting`].
    Link,
}

/// What shows a cause in a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Packets prove it.
    Packets,
    /// No packet says it, only the sender's timing: a capture at the receiver knows the sum of
    /// these causes.
    Timing,
    /// The same, and even at the sender it may look like the others of this kind.
    OpenTiming,
    /// No capture tells it from the window or buffer that is full meanwhile: only the account of a
    /// run has it.
    Run,
}

impl Evidence {
    /// In words of the JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Packets => "packets",
            Self::Timing => "timing",
            Self::OpenTiming => "open timing",
            Self::Run => "run",
        }
    }
}

/// What is known of a cause.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// Its key in JSON.
    pub name: &'static str,
    /// Its label, everywhere.
    pub label: &'static str,
    /// What it means for a subflow.
    pub meaning: &'static str,
    /// What shows it in a capture.
    pub evidence: Evidence,
}

impl Info {
    /// What Python knows of it.
    pub fn json(&self) -> Value {
        let Self { name, label, meaning, evidence } = self;
        json!({ "name": name, "label": label, "meaning": meaning, "evidence": evidence.name() })
    }
}

const fn info(name: &'static str, label: &'static str, evidence: Evidence, meaning: &'static str) -> Info {
    Info { name, label, meaning, evidence }
}

/// In order of the causes' numbers.
const INFO: [Info; Cause::COUNT] = [
    info("not_up", "path not up", Evidence::Packets, "the subflow was not established yet, or it was closed"),
    info(
        "failed",
        "path failed",
        Evidence::Timing,
        "the retransmission timer of the subflow expired repeatedly without an ACK",
    ),
    info("recovery", "loss recovery", Evidence::Packets, "the subflow repaired losses"),
    info(
        "receive_window",
        "receive window",
        Evidence::Packets,
        "the receive window was full, and the receiver held no data behind a gap: the application \
            read late, or the receive buffer is small",
    ),
    info(
        "head_of_line",
        "head-of-line blocking",
        Evidence::Packets,
        "the receive window was full, and the receiver held data behind a gap",
    ),
    info(
        "reinjection",
        "reinjection",
        Evidence::Timing,
        "the congestion window was full of copies of what another subflow had sent",
    ),
    info("cwnd", "congestion window", Evidence::OpenTiming, "the congestion window was full"),
    info(
        "scheduler",
        "scheduler",
        Evidence::Timing,
        "the window had room, but the scheduler kept the data for other subflows",
    ),
    info(
        "send_buffer",
        "send buffer",
        Evidence::OpenTiming,
        "the send buffer was full of data that was sent and not acknowledged",
    ),
    info("application", "application", Evidence::OpenTiming, "the application had no data to send"),
    info(
        "link",
        "links",
        Evidence::Run,
        "a window or the send buffer was full, but packets also waited for the slowest link of every path",
    ),
];

/// The causes that a connection as a whole may have, in the order of `limits` in JSON.
pub const VIEW: [Cause; 7] = [
    Cause::Cwnd,
    Cause::ReceiveWindow,
    Cause::HeadOfLine,
    Cause::Scheduler,
    Cause::Application,
    Cause::SendBuffer,
    Cause::Link,
];

impl Cause {
    /// How many there are.
    pub const COUNT: usize = 11;

    /// All, in order of precedence.
    pub const ALL: [Self; Self::COUNT] = [
        Self::NotUp,
        Self::Failed,
        Self::Recovery,
        Self::ReceiveWindow,
        Self::HeadOfLine,
        Self::Reinjection,
        Self::Cwnd,
        Self::Scheduler,
        Self::SendBuffer,
        Self::Application,
        Self::Link,
    ];

    /// What the engine says keeps it from sending; `holds` says whether the receiver holds data
    /// behind a gap.
    #[inline]
    pub fn of(block: SendBlock, holds: impl FnOnce() -> bool) -> Self {
        match block {
            SendBlock::NotUp => Self::NotUp,
            SendBlock::Failed => Self::Failed,
            SendBlock::Recovery => Self::Recovery,
            SendBlock::ReceiveWindow if holds() => Self::HeadOfLine,
            SendBlock::ReceiveWindow => Self::ReceiveWindow,
            SendBlock::Cwnd => Self::Cwnd,
            SendBlock::Scheduler => Self::Scheduler,
            SendBlock::SendBuffer => Self::SendBuffer,
            SendBlock::Application => Self::Application,
        }
    }

    /// What is known of it.
    pub fn info(self) -> &'static Info {
        &INFO[self as usize]
    }

    /// The sender waits for room in the receive window or in its send buffer, of which full links
    /// make no use.
    #[inline]
    pub fn is_window(self) -> bool {
        matches!(self, Self::ReceiveWindow | Self::HeadOfLine | Self::SendBuffer)
    }
}

/// Time by cause, in nanoseconds.
pub type Times = [u64; Cause::COUNT];

/// The share of each of `causes` by name; null if no time was spent at all.
pub fn shares(times: &Times, causes: &[Cause]) -> Value {
    let sum: u64 = times.iter().sum();
    let share = |cause: &Cause| (cause.info().name.to_owned(), json!(times[*cause as usize] as f64 / sum as f64));
    if sum == 0 { Value::Null } else { Value::Object(causes.iter().map(share).collect::<Map<_, _>>()) }
}

/// For how long a sender waited for what.
///
/// A window or buffer that is used up is not what limits a sender whose links are full. Whether
/// links are full cannot be told by one look: a sender that is allowed one window each round trip
/// finds the link full whenever it looks, since it has just sent. So an interval counts as one of
/// full links if they were full after the last segment of a burst was sent and still full at the
/// next event. Such intervals are judged a second at a time: only if links were full for nine
/// tenths of it, the time goes to [`Cause::Link`].
#[derive(Clone, Debug, Default)]
pub struct Waiting {
    now: Option<(Cause, u64)>,
    /// The links were full when `now` began.
    full: bool,
    spent: Times,
    /// Time spent waiting for windows and buffers that is not judged yet; then for how much of it
    /// links were full.
    pending: Times,
    pending_full: u64,
}

/// How much pending time is judged at a time, in nanoseconds.
const JUDGED: u64 = 1_000_000_000;

impl Waiting {
    /// Returns true if the sender waits for room in the receive window or in its send buffer. The
    /// caller then has to find out whether the links of the subflow are full.
    #[inline]
    pub fn is_window(&self) -> bool {
        self.now.is_some_and(|(wait, _)| wait.is_window())
    }

    /// An event at a sender that waits for room in a window or buffer: whether its links are `full`
    /// at that time.
    pub fn look(&mut self, now: u64, full: bool) {
        let Some((wait, since)) = &mut self.now else { return };
        let time = now - *since;
        *since = now;
        self.pending[*wait as usize] += time;
        self.pending_full += if self.full && full { time } else { 0 };
        if self.pending.iter().sum::<u64>() >= JUDGED {
            self.spent = self.judged();
            self.pending = Default::default();
            self.pending_full = 0;
        }
    }

    /// The time spent on each, pending time included.
    fn judged(&self) -> Times {
        let mut spent = self.spent;
        let sum = self.pending.iter().sum::<u64>();
        if self.pending_full > 0 && self.pending_full >= sum / 10 * 9 {
            spent[Cause::Link as usize] += sum;
        } else {
            spent.iter_mut().zip(self.pending).for_each(|(all, more)| *all += more);
        }
        spent
    }

    /// From `now` on the sender waits for `wait`. If that is room in a window or buffer, `full`
    /// says whether its links are full.
    #[inline]
    pub fn set(&mut self, now: u64, wait: Cause, full: bool) {
        self.full = full;
        match &mut self.now {
            Some((before, _)) if *before == wait => {}
            Some((before, since)) => {
                let spent = if before.is_window() { &mut self.pending } else { &mut self.spent };
                spent[*before as usize] += now - *since;
                (*before, *since) = (wait, now);
            }
            none => *none = Some((wait, now)),
        }
    }

    /// The time from the first `set` to `now`, by cause.
    pub fn times(&self, now: u64) -> Times {
        let mut spent = self.judged();
        if let Some((wait, since)) = self.now {
            spent[wait as usize] += now.saturating_sub(since);
        }
        spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instant_counts_for_the_cause_that_was_set_last() {
        let mut s = Waiting::default();
        for (at, cause) in [(0, Cause::NotUp), (2, Cause::Cwnd), (5, Cause::Recovery), (6, Cause::Application)] {
            s.set(at, cause, false);
        }
        let t = s.times(8);
        assert_eq!((t[Cause::NotUp as usize], t[Cause::Cwnd as usize]), (2, 3));
        assert_eq!((t[Cause::Recovery as usize], t[Cause::Application as usize]), (1, 2));
        assert_eq!(t.iter().sum::<u64>(), 8);
    }

    /// Links that are full all the time make a window irrelevant; links that are full after each
    /// burst do not.
    #[test]
    fn a_full_window_counts_as_the_links_only_while_these_stay_full() {
        let second = 1_000_000_000;
        for (still_full, cause) in [(true, Cause::Link), (false, Cause::ReceiveWindow)] {
            let mut s = Waiting::default();
            for at in 0..40 {
                s.look(at * second / 10, still_full);
                s.set(at * second / 10, Cause::ReceiveWindow, true);
            }
            let t = s.times(39 * second / 10);
            assert_eq!(t[cause as usize], 39 * second / 10, "{still_full}");
        }
    }

    #[test]
    fn causes_and_what_is_known_of_them_are_in_the_same_order() {
        for (i, cause) in Cause::ALL.into_iter().enumerate() {
            assert_eq!(cause as usize, i);
        }
        assert_eq!(Cause::Cwnd.info().name, "cwnd");
        assert_eq!(Cause::Link.info().name, "link");
    }
}
