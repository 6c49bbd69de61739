//! The scheduler of a connection, and the reason why the last poll did not send more data.

mod ahead;
mod blocking;
mod candidates;
mod cork;
mod fast_open;
mod idle;
mod probing;
mod repeating;
mod sending;

pub(crate) use cork::Cork;
pub(crate) use repeating::Expired;
pub(crate) use sending::{Choice, PROBES, Sending};

use crate::config::{Acknowledgement, Config};
use crate::event::{SendBlock, SubflowId};
use crate::mptcp::fast_path::FastPath;
use crate::mptcp::pieces::Pieces;
use crate::mptcp::spent::Spent;
use crate::scheduler::{Reach, Scheduler, Subflows};
use crate::tcp::info::Times;
use crate::time::Instant;

/// What the scheduler decided.
enum Pick {
    /// Send the next new segment on the first subflow, and copies of it on the others, if there are
    /// any.
    New(SubflowId, Option<Subflows>),
    /// Assign that many octets of new data to the subflow.
    Queue { on: SubflowId, octets: u64 },
    /// Move assigned data from one subflow to another.
    Move { from: SubflowId, to: SubflowId, octets: u64 },
    /// Send data that was sent before again.
    Again { start: u64, end: u64, on: SubflowId },
}

/// The scheduler of a connection, and the reason why the last poll did not send more data.
#[derive(Debug)]
pub(crate) struct Distribution {
    scheduler: Box<dyn Scheduler>,
    /// How far it assigns data ahead of the windows.
    reach: Reach,
    limit: SendBlock,
    /// Delivery rates are sampled.
    rates: bool,
    /// When a subflow was last penalised (`blocking.rs`).
    penalised: Instant,
    /// The application has filled the send buffer ([`Reach::Memory`]).
    writer_stopped: bool,
    /// Pieces of memory of what was written ([`Reach::Memory`]).
    pieces: Pieces,
    /// Bursts of segments are counted ([`Config::counts_bursts`]).
    counts_bursts: bool,
    cork: Cork,
    /// Time spent limited by the receive window and by the send buffer, as in `tcp_info`.
    spent: Spent,
}

impl Distribution {
    /// The scheduler that the configuration names.
    pub fn new(config: &Config) -> Self {
        let scheduler = config.scheduler.make(&config.setup());
        let reach = match (scheduler.reach(), config.acknowledgement) {
            // Under coupled acknowledgement no subflow acknowledges data before all earlier data
            // have arrived. Data that waits on one subflow would block the acknowledgements of all.
            (Reach::Windows, Acknowledgement::Coupled) => Reach::Room,
            (reach, _) => reach,
        };
        let limit = SendBlock::Application;
        Self {
            scheduler,
            reach,
            limit,
            rates: config.wants_rates(),
            penalised: Instant::ZERO,
            writer_stopped: false,
            pieces: Pieces::default(),
            counts_bursts: config.counts_bursts(),
            cork: Cork::default(),
            spent: Spent::default(),
        }
    }

    /// The scheduler.
    pub fn scheduler(&self) -> &dyn Scheduler {
        &*self.scheduler
    }

    /// Replaces the scheduler; for tests with a scheduler that is not registered.
    #[cfg(test)]
    pub fn replace(&mut self, scheduler: Box<dyn Scheduler>) {
        self.scheduler = scheduler;
    }

    /// Tells the scheduler that octets on `id` were newly acknowledged, or newly marked lost, if
    /// `fast` says that the scheduler remembers.
    #[inline(always)]
    pub fn on_progress(&mut self, fast: &FastPath, now: Instant, id: SubflowId, acked: u64, lost: u64) {
        if !fast.remembers() {
            return;
        }
        if acked > 0 {
            self.scheduler.on_acked(now, id, acked);
        }
        if lost > 0 {
            self.scheduler.on_lost(now, id, lost);
        }
    }

    /// Returns true if the scheduler assigns data ahead of the windows.
    #[inline(always)]
    pub fn queues(&self) -> bool {
        self.reach != Reach::Room
    }

    /// Why the last poll did not send more data.
    #[inline(always)]
    pub fn limit(&self) -> SendBlock {
        self.limit
    }

    /// Why this poll does not send more data.
    #[inline(always)]
    pub fn set_limit(&mut self, limit: SendBlock) {
        self.limit = limit;
    }

    /// A subflow with room in its window has nothing to send, and its delivery rate is sampled: the
    /// sample is limited by the application. (draft-ietf-ccwg-bbr 4.1.1.4: what the peer's window
    /// limits counts as limited by the network.)
    #[inline(always)]
    pub fn limits_rates(&self) -> bool {
        self.rates && !matches!(self.limit, SendBlock::Cwnd | SendBlock::ReceiveWindow)
    }

    /// Returns true if bursts of segments are counted ([`Config::counts_bursts`]).
    #[inline(always)]
    pub fn counts_bursts(&self) -> bool {
        self.counts_bursts
    }

    /// The cork, which holds small segments back.
    pub fn cork(&self) -> &Cork {
        &self.cork
    }

    /// The cork, which holds small segments back.
    pub fn cork_mut(&mut self) -> &mut Cork {
        &mut self.cork
    }

    /// Records, after a poll, what limits the sender from `now` on. `outstanding`: some data has no
    /// DATA_ACK yet.
    #[inline]
    pub fn note_limit(&mut self, now: Instant, outstanding: bool) {
        self.spent.note(now, self.limit, outstanding);
    }

    /// Returns the times of `tcp_info`, up to `now`.
    pub fn times(&self, now: Instant) -> Times {
        self.spent.until(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_limited_by_the_application_unless_a_window_is_full() {
        let config = Config { controller: "bbr".parse().unwrap(), ..Config::default() };
        let mut d = Distribution::new(&config);
        assert!(config.wants_rates() && d.limits_rates());
        for (limit, limited) in
            [(SendBlock::Cwnd, false), (SendBlock::ReceiveWindow, false), (SendBlock::SendBuffer, true)]
        {
            d.set_limit(limit);
            assert_eq!(d.limits_rates(), limited, "{limit:?}");
        }
    }

    /// Under coupled acknowledgement the windows open in the order of the data, so nothing may wait
    /// on a subflow.
    #[test]
    fn coupled_acknowledgement_lets_no_scheduler_assign_up_to_the_windows() {
        let config = Config { scheduler: "after-stms".parse().unwrap(), ..Config::default() };
        assert_eq!(Distribution::new(&config).reach, Reach::Windows);
        let coupled = Config { acknowledgement: Acknowledgement::Coupled, ..config };
        let d = Distribution::new(&coupled);
        assert!(d.reach == Reach::Room && !d.queues());
    }
}
