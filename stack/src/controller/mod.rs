//! Congestion controllers: who decides how much may be in flight on a subflow.
//!
//! A controller owns the congestion window and the slow-start threshold, nothing else: octets in flight, the
//! scoreboard, timers and loss episodes belong to the subflow, which tells the controller what happened. Because the
//! whole state of a controller is a value, the engine undoes any of them by keeping a copy per loss episode
//! (`tcp::undo`); no controller has undo code.
//!
//! A multipath controller is measured by four goals (RFC 6356 1; the papers, section II-B): improve throughput, do no harm,
//! balance congestion, adapt quickly without oscillating. Each file says which of them it meets.
//!
//! To add one: write a file beside this one, add a line to `REGISTRY`; of another crate, implement
//! [`Factory`](crate::registry::Factory). The conformance suite then covers it.

use core::fmt::Debug;

pub use crate::path::Path;
use crate::registry::{Builtin, Kind};
pub use crate::sample::AckSample;
use crate::time::Instant;

pub mod coupled;
mod cubic;
mod ewtcp;
mod fully_coupled;
mod hystart;
mod linked_increases;
mod rtt_compensator;
pub mod uncoupled;
mod window;

pub use window::Window;

/// Why the window is cut. Never merged: controllers answer differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Loss inferred from duplicate acknowledgements or the SACK scoreboard.
    FastRetransmit,
    /// The retransmission timer expired.
    Timeout,
    /// Explicit congestion notification (RFC 3168 6.1.2).
    Ecn,
}

/// Congestion was inferred.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// When.
    pub now: Instant,
    /// Why.
    pub cause: Cause,
    /// FlightSize (RFC 5681 2) in octets, without what limited transmit added (RFC 5681 3.2); at a timeout that begins an episode
    /// not more than the window, which is all that had been tried.
    pub flight_size: u64,
    /// The timer expired again for the same segment: ssthresh is held (RFC 5681 3.1).
    pub repeated: bool,
    /// The timer expired in an episode whose cut is in force: ssthresh may fall further, but not rise.
    pub nested: bool,
}

/// What the engine does to every window alike. How, is [`Window::adjust`]'s; a controller whose window is not its whole state does more.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Adjust {
    /// The peer takes smaller segments, of so many octets of payload: windows keep their count of segments (RFC 6691).
    Mss(u32),
    /// A SYN or its answer was lost: one segment (RFC 5681 3.1).
    LostSyn,
    /// Nothing was sent for an RTO: at most the restart window (RFC 5681 4.1).
    Idle,
    /// Window and threshold of an earlier connection, in octets (RFC 9040 3).
    Cached {
        /// Window.
        cwnd: f64,
        /// Threshold.
        ssthresh: f64,
    },
    /// A cut made the window larger than it was, so many octets: it stays as it was.
    AtMost(f64),
    /// Fast recovery without SACK is over with so many octets in flight: no burst (RFC 6582 3.2 step 3, full acknowledgement,
    /// option (1)).
    Deflate {
        /// FlightSize.
        flight: u64,
    },
    /// F-RTO has found a timeout genuine two round trips after it: three segments (RFC 5682 2.1 step 3a).
    Probed,
    /// An episode was spurious: slow start back up to the window before it, so many octets (Blanton and Allman 2002).
    SlowStartTo(f64),
    /// An episode was spurious, and the controller is again what it was before: not more at once than is in flight and what the
    /// acknowledgement took out (RFC 4015 3.2 step (9)).
    Resume {
        /// FlightSize.
        flight: u64,
        /// Octets newly acknowledged.
        acked: u64,
        /// The threshold: pipe_prev.
        ssthresh: f64,
    },
    /// The subflow holds the others back (Raiciu et al., NSDI 2012, 4.2): half the window, and the threshold to it.
    Penalise,
}

/// A segment leaves.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// When.
    pub now: Instant,
    /// Octets of payload.
    pub len: u32,
    /// It had been sent before.
    pub again: bool,
    /// Octets in flight with it.
    pub in_flight: u64,
}

/// A congestion controller of one subflow.
pub trait Controller: Debug + Send + Snapshot {
    /// Window and threshold.
    fn window(&self) -> &Window;
    /// What the engine does to every window alike; nobody but the controller writes its window.
    fn adjust(&mut self, adjust: Adjust);
    /// New data was acknowledged outside of fast recovery. `paths[me]` is this subflow.
    fn on_ack(&mut self, ack: &AckSample, paths: &[Path], me: usize);
    /// Congestion was inferred; called once per loss episode (and once per timeout).
    fn on_congestion(&mut self, congestion: &Congestion, paths: &[Path], me: usize);
    /// An acknowledgement of which `on_ack` is not told: a duplicate, or one in fast recovery or after an ECN echo.
    fn on_other_ack(&mut self, _ack: &AckSample, _paths: &[Path], _me: usize) {}
    /// A segment with payload leaves.
    fn on_sent(&mut self, _departure: &Departure) {}
    /// So many octets were found lost; called before `on_congestion`, if that follows.
    fn on_lost(&mut self, _now: Instant, _octets: u64) {}
    /// Octets a second at which segments may leave; `None`: as the window lets them.
    fn pacing(&self) -> Option<f64> {
        None
    }
}

/// Copying a controller with all its state.
pub trait Snapshot {
    /// An independent copy.
    fn snapshot(&self) -> Box<dyn Controller>;
}

impl<T: Controller + Clone + 'static> Snapshot for T {
    fn snapshot(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }
}

/// Those of this crate.
static REGISTRY: &[&Builtin<dyn Controller>] = &[
    &uncoupled::BUILTIN,
    &coupled::BUILTIN,
    &rtt_compensator::BUILTIN,
    &linked_increases::BUILTIN,
    &fully_coupled::BUILTIN,
    &ewtcp::BUILTIN,
    &cubic::BUILTIN,
];

impl Kind for dyn Controller {
    const KIND: &'static str = "controller";

    fn builtin() -> &'static [&'static Builtin<Self>] {
        REGISTRY
    }
}

/// W of the papers: the sum of all established windows in octets, `own` if there is none yet.
fn total_window(paths: &[Path], own: f64) -> f64 {
    let sum: f64 = paths.iter().filter(|v| v.established).map(|v| v.cwnd).sum();
    sum.max(own)
}

/// Worked numbers of controllers that count acknowledgements or windows of siblings.
#[cfg(test)]
mod worked {
    use super::*;
    use crate::registry::{Choice, Fairness, Registry, Setup};
    use crate::time::Duration;

    const MSS: f64 = 1000.0;

    /// The controller `name` on the first of subflows with these windows (segments) and round trips (ms), in congestion avoidance.
    fn first_of(name: &str, paths: &[(f64, u64)]) -> (Box<dyn Controller>, Vec<Path>) {
        let mut c = name.parse::<Choice<dyn Controller>>().unwrap().make(&Setup::new(MSS as u32, 10));
        c.adjust(Adjust::Cached { cwnd: paths[0].0 * MSS, ssthresh: MSS });
        let row = |&(cwnd, ms): &(f64, u64)| Path {
            established: true,
            cwnd: cwnd * MSS,
            srtt: Duration::from_millis(ms),
            ..Path::default()
        };
        (c, paths.iter().map(row).collect())
    }

    /// What one acknowledgement of `acked` segments adds to it, in segments.
    fn gain(name: &str, paths: &[(f64, u64)], acked: u64) -> f64 {
        let (mut c, rows) = first_of(name, paths);
        c.on_ack(&AckSample { growth: acked * 1000, cwnd_limited: true, ..AckSample::default() }, &rows, 0);
        c.window().cwnd / MSS - paths[0].0
    }

    /// The window after a loss with all of it in flight, in segments.
    fn after_loss(name: &str, paths: &[(f64, u64)]) -> f64 {
        let (mut c, rows) = first_of(name, paths);
        let flight_size = c.window().octets();
        let cause = Cause::FastRetransmit;
        let loss = Congestion { now: Instant::ZERO, cause, flight_size, repeated: false, nested: false };
        c.on_congestion(&loss, &rows, 0);
        c.window().cwnd / MSS
    }

    #[track_caller]
    fn close(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 1e-9, "{found}, not {wanted}");
    }

    /// 10 segments at 10 ms and 60 at 200 ms (its head says so): alpha / W is 1/17 on either. By hand, in segments and ms: total 70, best
    /// 10/100, sum 1 + 0.3; alpha = 70 * 0.1 / 1.69 = 4.142, alpha / 70 = 0.1 / 1.69 = 0.0592.
    #[test]
    fn linked_increases_take_alpha_over_the_total_without_a_cap() {
        let (fast, slow) = ((10.0, 10), (60.0, 200));
        close(gain("linked-increases", &[slow, fast], 1), 0.1 / 1.69);
        close(gain("linked-increases", &[fast, slow], 1), 0.1 / 1.69);
        // It counts acknowledgements, not what they acknowledge.
        close(gain("linked-increases", &[slow, fast], 2), 0.1 / 1.69);
        close(after_loss("linked-increases", &[slow, fast]), 30.0);
    }

    /// The same paths: on the slow one the cap 1/60 holds, on the fast one 0.0592 is below 1/10.
    #[test]
    fn the_rtt_compensator_takes_no_more_than_a_tcp() {
        let (fast, slow) = ((10.0, 10), (60.0, 200));
        close(gain("rtt-compensator", &[slow, fast], 1), 1.0 / 60.0);
        close(gain("rtt-compensator", &[fast, slow], 1), 0.1 / 1.69);
        close(after_loss("rtt-compensator", &[slow, fast]), 30.0);
    }

    /// With an acknowledgement a segment both grow alike; of two segments `coupled` takes both.
    #[test]
    fn the_rtt_compensator_equals_coupled_with_an_acknowledgement_a_segment() {
        for paths in [[(10.0, 10), (60.0, 200)], [(60.0, 200), (10.0, 10)], [(20.0, 50), (20.0, 50)]] {
            close(gain("rtt-compensator", &paths, 1), gain("coupled", &paths, 1));
            close(2.0 * gain("rtt-compensator", &paths, 2), gain("coupled", &paths, 2));
        }
    }

    /// Equations (3) and (4): 1/W an acknowledgement, W/2 off at a loss; with 20 and 10 segments 1/30, and 20 - 15. A window smaller
    /// than W/2 is left with one segment.
    #[test]
    fn fully_coupled_is_one_window_over_all_paths() {
        let (large, small) = ((20.0, 50), (10.0, 200));
        close(gain("fully-coupled", &[large, small], 1), 1.0 / 30.0);
        close(gain("fully-coupled", &[small, large], 1), 1.0 / 30.0);
        close(gain("fully-coupled", &[small, large], 2), 1.0 / 30.0);
        close(after_loss("fully-coupled", &[large, small]), 5.0);
        close(after_loss("fully-coupled", &[small, large]), 1.0);
        close(after_loss("fully-coupled", &[large]), 10.0);
    }

    /// d = 1/n^2 segments a window: with two subflows and a window of 20, 1/80 an acknowledged segment, 1/20 alone; half at a loss.
    #[test]
    fn ewtcp_is_the_nth_part_of_a_tcp() {
        let path = (20.0, 50);
        close(gain("ewtcp", &[path], 1), 1.0 / 20.0);
        close(gain("ewtcp", &[path, (5.0, 10)], 1), 1.0 / 80.0);
        close(gain("ewtcp", &[path, (5.0, 10), (5.0, 10)], 2), 2.0 / 180.0);
        close(after_loss("ewtcp", &[path, (5.0, 10)]), 10.0);
    }

    /// A subflow that is not established is no sibling of any: neither its window nor that it is there counts.
    #[test]
    fn subflows_that_are_not_established_count_for_nobody() {
        for entry in Registry::<dyn Controller>::default().iter() {
            let outcome = |sibling: Option<Path>| {
                let (mut c, mut paths) = first_of(entry.name(), &[(20.0, 50)]);
                paths.extend(sibling);
                c.on_ack(&AckSample { growth: 1000, cwnd_limited: true, ..AckSample::default() }, &paths, 0);
                let cause = Cause::FastRetransmit;
                let flight_size = c.window().octets();
                let loss = Congestion { now: Instant::ZERO, cause, flight_size, repeated: false, nested: false };
                c.on_congestion(&loss, &paths, 0);
                *c.window()
            };
            let joining =
                Path { established: false, cwnd: 90.0 * MSS, srtt: Duration::from_millis(1), ..Path::default() };
            assert_eq!(outcome(Some(joining)), outcome(None), "{}", entry.name());
            // The test can tell: an established one counts for whoever couples.
            let coupled = entry.info().fairness == Some(Fairness::Connection);
            let counts = outcome(Some(Path { established: true, ..joining })) != outcome(None);
            assert_eq!(counts, coupled, "{}", entry.name());
        }
    }
}
