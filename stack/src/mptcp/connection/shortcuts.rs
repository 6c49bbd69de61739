//! What the shorter ways of `predicted`, `flowing` and `template` go by: what is true of the algorithms for good, and what was found
//! the last time that anybody looked.

use super::*;

/// State of the shortcuts of one connection.
#[derive(Debug)]
pub(super) struct Shortcuts {
    /// Short paths may be taken ([`Config::shortcuts`]).
    pub on: bool,
    /// The segment to send is this subflow's template instead of [`Connection::out`].
    pub latest: Option<SubflowId>,
    /// Inputs so far that were not predicted, and calls of the application that may change segments.
    pub disturbances: u64,
    /// So many at the last look at all deadlines ([`Connection::poll_earlier_timeout`]).
    pub looked_at: u64,
    /// No timer that data starts is shorter, while it flows and while it arrives ([`timing::shortest_timers`]).
    pub shortest_timers: (Duration, Duration),
    /// The scheduler is told of everything, and asked even where one subflow can send ([`Scheduler::remembers`]).
    pub remembers: bool,
    /// The scheduler may send data again that was sent before.
    pub resends: bool,
    /// Data that blocks is looked at ([`opportunistic`]).
    pub unblocks: bool,
    /// Nothing decides which segment is next but the windows and, of new data, the order of the stream.
    pub simple: bool,
    /// No subflow but the flowing one can send.
    pub alone: bool,
    /// So many full-sized segments may follow on it without another look.
    pub budget: u32,
}

impl Shortcuts {
    pub fn new(config: &Config, scheduler: &dyn Scheduler) -> Self {
        let asks = scheduler.remembers() || scheduler.resends() || scheduler.reach() != Reach::Room;
        let remembers = scheduler.remembers() || !config.shortcuts;
        let unblocks = config.opportunistic_retransmission || config.penalisation;
        Self {
            on: config.shortcuts,
            latest: None,
            disturbances: 0,
            looked_at: u64::MAX,
            shortest_timers: timing::shortest_timers(config),
            remembers,
            resends: scheduler.resends(),
            unblocks,
            simple: !(asks || unblocks || config.counts_bursts()),
            alone: false,
            budget: 0,
        }
    }
}
