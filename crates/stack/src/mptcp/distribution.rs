//! The scheduler of a connection, and the reason why the last poll did not send more data.

use crate::config::{Acknowledgement, Config};
use crate::event::{SendBlock, SubflowId};
use crate::scheduler::{Assignment, Decision, Offer, Reach, Scheduler};
use crate::time::{Duration, Instant};

/// The scheduler of a connection, and the reason why the last poll did not send more data.
#[derive(Debug)]
pub(crate) struct Distribution {
    scheduler: Box<dyn Scheduler>,
    /// How far it assigns data ahead of the windows.
    reach: Reach,
    limit: SendBlock,
    /// Delivery rates are sampled.
    rates: bool,
    /// When a subflow was last penalised (`connection/opportunistic.rs`).
    penalised: Instant,
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
        Self { scheduler, reach, limit, rates: config.wants_rates(), penalised: Instant::ZERO }
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

    /// The scheduler's decision about new data, or if there is none (`again`) about data that was
    /// sent before.
    #[inline(always)]
    pub fn pick(&mut self, offer: &Offer, again: bool) -> Decision {
        if again { self.scheduler.pick_again(offer) } else { self.scheduler.pick(offer) }
    }

    /// Data was sent.
    #[inline(always)]
    pub fn on_sent(&mut self, assignment: &Assignment) {
        self.scheduler.on_sent(assignment);
    }

    /// Octets were newly acknowledged on a subflow.
    #[inline(always)]
    pub fn on_acked(&mut self, now: Instant, id: SubflowId, octets: u64) {
        self.scheduler.on_acked(now, id, octets);
    }

    /// Octets were newly marked lost on a subflow.
    #[inline(always)]
    pub fn on_lost(&mut self, now: Instant, id: SubflowId, octets: u64) {
        self.scheduler.on_lost(now, id, octets);
    }

    /// How far the scheduler assigns data ahead of the windows.
    #[inline(always)]
    pub fn reach(&self) -> Reach {
        self.reach
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

    /// Returns true if a subflow may be penalised at `now`: at most once in `srtt`.
    pub fn may_penalise(&self, now: Instant, srtt: Duration) -> bool {
        now.since(self.penalised) >= srtt
    }

    /// A subflow was penalised.
    pub fn note_penalty(&mut self, now: Instant) {
        self.penalised = now;
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
        assert_eq!(Distribution::new(&config).reach(), Reach::Windows);
        let coupled = Config { acknowledgement: Acknowledgement::Coupled, ..config };
        let d = Distribution::new(&coupled);
        assert!(d.reach() == Reach::Room && !d.queues());
    }

    #[test]
    fn a_penalty_lasts_a_round_trip() {
        let mut d = Distribution::new(&Config::default());
        d.note_penalty(Instant(100));
        assert!(!d.may_penalise(Instant(109), Duration(10)) && d.may_penalise(Instant(110), Duration(10)));
    }
}
