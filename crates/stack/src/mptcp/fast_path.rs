//! When a short path may be taken: what was found the last time that the general path looked at
//! everything, and what is true of the connection's algorithms for good. `connection/predicted.rs`
//! says what the states mean, and `docs/adr/0006-short-paths.md` what a short path may skip.
//!
//! An owner's method that changes state on which a short path relies takes the connection's
//! [`FastPath`] and calls [`FastPath::invalidate`]. A caller cannot forget it: the call would not
//! compile without the `FastPath`.

use crate::config::{Config, DelayedAck};
use crate::event::SubflowId;
use crate::registry::Need;
use crate::scheduler::{Reach, Scheduler};
use crate::time::{Duration, Instant};

/// Facts about the algorithms of a connection that never change.
#[derive(Debug)]
struct Rules {
    /// Short paths may be taken ([`Config::shortcuts`]).
    on: bool,
    /// No timer that data starts is shorter, while it flows and while it arrives
    /// ([`shortest_timers`]).
    shortest_timers: (Duration, Duration),
    /// The scheduler is told of everything, and asked even where one subflow can send
    /// ([`Scheduler::remembers`]).
    remembers: bool,
    /// The scheduler may send data again that was sent before.
    resends: bool,
    /// Opportunistic retransmission or penalisation is on (`distribution/blocking.rs`).
    unblocks: bool,
    /// Nothing decides which segment is next but the windows and, of new data, the order of the
    /// stream.
    simple: bool,
}

/// State of the short paths of one connection.
#[derive(Debug)]
pub(crate) struct FastPath {
    /// Earliest deadline of a quiet connection, delayed acknowledgements excepted; zero if it is
    /// not quiet.
    quiet_until: Instant,
    /// The subflow of a quiet connection whose acknowledgement is due.
    ack: Option<SubflowId>,
    /// No subflow of a quiet connection holds data behind a hole.
    no_holes: bool,
    /// No subflow of a quiet connection expects anything but plain data
    /// ([`Subflow::expects_plain_data`](crate::tcp::subflow::Subflow)).
    plain: bool,
    /// Nothing is in progress but the transfer of data, and there has been no input since but
    /// acknowledgements.
    steady: bool,
    /// The subflow that sent new data in the last poll, if nothing else has happened since: it
    /// *flows*.
    flowing: Option<SubflowId>,
    /// No subflow but the flowing one can send.
    alone: bool,
    /// Number of full-sized segments that may follow on the flowing subflow without another look.
    budget: u32,
    /// The segment to send is this subflow's template.
    template: Option<SubflowId>,
    /// Inputs so far that were not predicted, and calls of the application that may change
    /// segments.
    disturbances: u64,
    /// Value of `disturbances` at the last look at all deadlines.
    looked_at: u64,
    rules: Rules,
}

impl FastPath {
    /// A connection that is neither quiet nor steady.
    pub fn new(config: &Config, scheduler: &dyn Scheduler) -> Self {
        let asks = scheduler.remembers() || scheduler.resends() || scheduler.reach() != Reach::Room;
        let unblocks = config.opportunistic_retransmission || config.penalisation;
        Self {
            quiet_until: Instant::ZERO,
            ack: None,
            no_holes: false,
            plain: false,
            steady: false,
            flowing: None,
            alone: false,
            budget: 0,
            template: None,
            disturbances: 0,
            looked_at: u64::MAX,
            rules: Rules {
                on: config.shortcuts,
                shortest_timers: shortest_timers(config),
                remembers: scheduler.remembers() || !config.shortcuts,
                resends: scheduler.resends(),
                unblocks,
                simple: !(asks || unblocks || config.counts_bursts()),
            },
        }
    }

    // ---- what holds for good --------------------------------------------------------------------

    /// Short paths may be taken.
    #[inline(always)]
    pub fn is_on(&self) -> bool {
        self.rules.on
    }

    /// The scheduler is told of everything.
    #[inline(always)]
    pub fn remembers(&self) -> bool {
        self.rules.remembers
    }

    /// The scheduler may send data again that was sent before.
    #[inline(always)]
    pub fn resends(&self) -> bool {
        self.rules.resends
    }

    /// Opportunistic retransmission or penalisation is on.
    #[inline(always)]
    pub fn unblocks(&self) -> bool {
        self.rules.unblocks
    }

    // ---- the end of short paths -----------------------------------------------------------------

    /// Something has happened that a short path does not expect: the general path processes what
    /// comes next.
    #[inline]
    pub fn invalidate(&mut self) {
        self.look_again();
        self.steady = false;
        self.disturbances += 1;
    }

    /// Ends the quiet and the flowing state: the next poll looks at everything.
    #[inline]
    pub fn look_again(&mut self) {
        self.end_quiet();
        self.flowing = None;
        (self.alone, self.budget) = (false, 0);
    }

    /// Ends the quiet state. It may have started the timer of a delayed acknowledgement that the
    /// driver does not know of: that timer may be shorter than all others, so the driver has to
    /// look at all deadlines again.
    #[inline]
    pub fn end_quiet(&mut self) {
        if self.is_quiet() {
            (self.quiet_until, self.ack, self.no_holes, self.plain) = (Instant::ZERO, None, false, false);
            self.looked_at = u64::MAX;
        }
    }

    /// A number that changes with each call of [`FastPath::invalidate`].
    #[inline(always)]
    pub fn revision(&self) -> u64 {
        self.disturbances
    }

    // ---- quiet ----------------------------------------------------------------------------------

    /// The connection becomes quiet until `until`, its first deadline. `no_holes`: no subflow holds
    /// anything behind a hole; `plain`: none expects anything but plain data.
    pub fn settle(&mut self, until: Instant, no_holes: bool, plain: bool) {
        (self.quiet_until, self.ack, self.no_holes, self.plain) = (until, None, no_holes, plain);
        self.flowing = None;
    }

    /// Only arriving data can change the state of the connection.
    #[inline(always)]
    pub fn is_quiet(&self) -> bool {
        self.quiet_until > Instant::ZERO
    }

    /// Earliest deadline, delayed acknowledgements excepted; `None` if the connection is not quiet.
    #[inline(always)]
    pub fn quiet_until(&self) -> Option<Instant> {
        self.is_quiet().then_some(self.quiet_until)
    }

    /// The connection is quiet, and no subflow holds anything behind a hole.
    #[inline]
    pub fn has_no_holes(&self) -> bool {
        self.no_holes
    }

    /// The connection is quiet, and no subflow expects anything but plain data.
    #[inline(always)]
    pub fn expects_plain_data(&self) -> bool {
        self.plain
    }

    /// The connection is quiet, and no acknowledgement is due: a poll would find nothing to send.
    #[inline(always)]
    pub fn rests(&self, now: Instant) -> bool {
        now < self.quiet_until && self.ack.is_none()
    }

    /// An acknowledgement is due on `id`. Two subflows with acknowledgements end the short paths:
    /// the general path knows their order.
    #[inline(always)]
    pub fn owe_ack(&mut self, id: SubflowId) {
        if self.ack.replace(id).is_some_and(|other| other != id) {
            self.invalidate();
        }
    }

    /// The subflow whose acknowledgement is due.
    #[inline(always)]
    pub fn take_ack(&mut self) -> Option<SubflowId> {
        self.ack.take()
    }

    // ---- steady ---------------------------------------------------------------------------------

    /// Nothing is in progress but the transfer of data.
    #[inline(always)]
    pub fn is_steady(&self) -> bool {
        self.steady
    }

    /// The general path has looked whether the connection is steady.
    pub fn set_steady(&mut self, steady: bool) {
        self.steady = steady && self.rules.on;
    }

    // ---- flowing --------------------------------------------------------------------------------

    /// The subflow on which new data flows.
    #[inline(always)]
    pub fn flowing(&self) -> Option<SubflowId> {
        self.flowing
    }

    /// New data flows on this subflow, or on none.
    #[inline(always)]
    pub fn flow(&mut self, on: Option<SubflowId>) {
        self.flowing = on;
    }

    /// An acknowledgement has arrived: takes the subflow on which data flowed.
    #[inline(always)]
    pub fn take_flowing(&mut self) -> Option<SubflowId> {
        self.budget = 0;
        self.flowing.take()
    }

    /// Data was sent that the general path has chosen: `again`: it was sent before, so that nothing
    /// flows.
    #[inline(always)]
    pub fn note_assigned(&mut self, id: SubflowId, again: bool) {
        self.alone &= self.flowing == Some(id);
        self.budget = 0;
        self.flowing = (!again).then_some(id);
    }

    /// Whether no subflow but the flowing one can send.
    #[inline(always)]
    pub fn set_alone(&mut self, alone: bool) {
        self.alone = alone;
    }

    /// Another subflow can send, or cannot.
    #[inline(always)]
    pub fn note_other(&mut self, can_send: bool) {
        self.alone &= !can_send;
    }

    /// No subflow but the flowing one can send, and nobody has to be asked.
    #[inline(always)]
    pub fn flows_simply(&self) -> bool {
        self.alone && self.rules.simple
    }

    /// So many full-sized segments may follow without another look.
    #[inline(always)]
    pub fn set_budget(&mut self, segments: u32) {
        self.budget = segments;
    }

    /// A full-sized segment may follow without another look.
    #[inline(always)]
    pub fn spend(&mut self) -> bool {
        let may = self.budget > 0;
        self.budget -= u32::from(may);
        may
    }

    // ---- templates ------------------------------------------------------------------------------

    /// A poll begins: no segment is ready.
    #[inline(always)]
    pub fn begin_poll(&mut self) {
        self.template = None;
    }

    /// The segment to send is the template of `id`.
    #[inline(always)]
    pub fn send_template(&mut self, id: SubflowId) {
        self.template = Some(id);
    }

    /// The segment to send is the template of this subflow.
    #[inline(always)]
    pub fn template(&self) -> Option<SubflowId> {
        self.template
    }

    // ---- deadlines ------------------------------------------------------------------------------

    /// The shortest timer that can have been started since the last look at all deadlines; zero if
    /// any can. `no_data_timer`: no timer of data runs on the connection.
    #[inline(always)]
    pub fn shortest_timer(&self, no_data_timer: impl FnOnce() -> bool) -> Duration {
        if self.disturbances != self.looked_at {
            Duration::ZERO
        } else if self.is_quiet() {
            // A quiet connection has no other timers.
            self.rules.shortest_timers.1
        } else if self.steady && no_data_timer() {
            self.rules.shortest_timers.0
        } else {
            Duration::ZERO
        }
    }

    /// The driver looks at all deadlines.
    #[inline(always)]
    pub fn note_look(&mut self) {
        if self.rules.on {
            self.looked_at = self.disturbances;
        }
    }

    /// The short paths of a connection with classic settings; for tests of other owners.
    #[cfg(test)]
    pub fn for_tests() -> Self {
        let config = Config::classic();
        Self::new(&config, &*config.scheduler.make(&config.setup()))
    }

    /// Lets the connection ask the scheduler for every segment; for tests.
    #[cfg(test)]
    pub fn ask_always(&mut self) {
        (self.rules.remembers, self.rules.simple) = (true, false);
    }
}

/// The shortest timer of data that flows, and of data that arrives on a quiet connection: that of
/// retransmissions, or of delayed acknowledgements. Zero if there may be others, or their lengths
/// vary.
fn shortest_timers(config: &Config) -> (Duration, Duration) {
    let others = config.detector.info().needs.contains(&Need::Timer)
        || config.stale_after > 0
        || config.delayed_ack_adapts
        || config.ack_compression > Duration::ZERO
        || config.user_timeout.is_some()
        || config.keepalive.is_some();
    // Before the first measurement the retransmission timeout has no lower bound.
    let rto = config.min_rto.min(config.initial_rto);
    match config.delayed_ack {
        _ if others => (Duration::ZERO, Duration::ZERO),
        DelayedAck::After(delay) => (rto, rto.min(delay)),
        DelayedAck::Off => (rto, rto),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fast_path(shortcuts: bool) -> FastPath {
        let config = Config { shortcuts, ..Config::classic() };
        FastPath::new(&config, &*config.scheduler.make(&config.setup()))
    }

    #[test]
    fn an_unexpected_input_ends_every_state() {
        let mut f = fast_path(true);
        f.set_steady(true);
        f.flow(Some(0));
        f.set_alone(true);
        f.set_budget(2);
        assert!(f.is_steady() && f.flows_simply() && f.spend());
        let revision = f.revision();
        f.invalidate();
        assert!(!f.is_steady() && !f.flows_simply() && !f.spend() && f.flowing().is_none());
        assert_ne!(f.revision(), revision);
        f.settle(Instant(9), true, true);
        assert!(f.is_quiet() && f.rests(Instant(8)) && !f.rests(Instant(9)));
        f.invalidate();
        assert!(!f.is_quiet() && !f.has_no_holes() && !f.expects_plain_data() && !f.rests(Instant::ZERO));
    }

    #[test]
    fn two_acknowledgements_end_the_quiet_state() {
        let mut f = fast_path(true);
        f.settle(Instant(9), true, true);
        f.owe_ack(1);
        f.owe_ack(1);
        assert!(f.is_quiet() && !f.rests(Instant(1)) && f.take_ack() == Some(1) && f.rests(Instant(1)));
        f.owe_ack(1);
        f.owe_ack(2);
        assert!(!f.is_quiet());
    }

    /// A delayed acknowledgement that a quiet connection has started may be due before all that the
    /// driver knows of.
    #[test]
    fn the_end_of_the_quiet_state_asks_for_a_look_at_all_deadlines() {
        let mut f = fast_path(true);
        assert_eq!(f.shortest_timer(|| true), Duration::ZERO, "nobody has looked yet");
        f.note_look();
        f.set_steady(true);
        assert!(f.shortest_timer(|| true) > Duration::ZERO && f.shortest_timer(|| false) == Duration::ZERO);
        f.settle(Instant(9), true, true);
        f.end_quiet();
        assert_eq!(f.shortest_timer(|| true), Duration::ZERO);
    }

    #[test]
    fn without_short_paths_nothing_is_skipped() {
        let mut f = fast_path(false);
        f.note_look();
        f.set_steady(true);
        assert!(!f.is_steady() && f.remembers() && f.shortest_timer(|| true) == Duration::ZERO);
    }
}
