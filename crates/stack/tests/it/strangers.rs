//! The registries are open: a controller, a judge and a scheduler that the engine does not know, found by name, given parameters,
//! tried by themselves and in whole connections.

use anabranch_stack::controller::{AckSample, Adjust, Cause, Congestion, Controller, Path, Window};
use anabranch_stack::judge::{Episode, Judge, Response, Verdict};
use anabranch_stack::registry::{Choice, Factory, Fairness, Info, Need, Parameter, Registry, Setup, Unit, Values};
use anabranch_stack::scheduler::{Assignment, Decision, Offer, Scheduler};
use anabranch_stack::seq::Seq;
use anabranch_stack::time::{Duration, Instant};
use anabranch_stack::{Config, ConfigError, testing};

use crate::mptcp_bench::{joined, mptcp};
use crate::pair::{Fate, Side, at, ms};

// ---- a controller -------------------------------------------------------------------------------

/// OLIA's increase without its alpha (Khalili et al., CoNEXT 2012, equation (1)): the term that is optimal in Kelly's sense,
/// w / rtt^2 over the square of the sum of w / rtt.
#[derive(Clone, Debug)]
struct Kelly {
    window: Window,
    gain: f64,
}

impl Controller for Kelly {
    fn window(&self) -> &Window {
        &self.window
    }

    fn adjust(&mut self, adjust: Adjust) {
        self.window.adjust(adjust);
    }

    fn on_ack(&mut self, ack: &AckSample, paths: &[Path], me: usize) {
        let w = &mut self.window;
        if !ack.cwnd_limited {
            return;
        }
        if w.in_slow_start() {
            return w.slow_start(ack);
        }
        let measured = |v: &&Path| v.established && v.srtt.0 > 0;
        let sum: f64 = paths.iter().filter(measured).map(|v| v.cwnd / v.srtt.as_secs_f64()).sum();
        let own = paths[me].srtt.as_secs_f64();
        // The sum holds this subflow, so this is never more than the increase of a TCP.
        let share = if own > 0.0 && sum > 0.0 { (w.cwnd / own / sum).min(1.0) } else { 1.0 };
        w.cwnd += self.gain * share * share * ack.growth as f64 * w.mss / w.cwnd;
    }

    fn on_congestion(&mut self, congestion: &Congestion, _paths: &[Path], _me: usize) {
        self.window.halve(congestion);
    }
}

#[derive(Debug)]
struct KellyFactory;

static KELLY: Info = Info::new("kelly", "OLIA's increase without its alpha")
    .source("Khalili et al., CoNEXT 2012")
    .fairness(Fairness::Connection)
    .parameters(const { &[Parameter::new("gain", Unit::Number, 1.0, (0.1, 2.0), "of the increase")] });

impl Factory<dyn Controller> for KellyFactory {
    fn info(&self) -> &Info {
        &KELLY
    }

    fn make(&self, setup: &Setup, values: &Values) -> Box<dyn Controller> {
        Box::new(Kelly { window: Window::new(setup), gain: values.get("gain") })
    }
}

// ---- a judge ------------------------------------------------------------------------------------

/// An acknowledgement that comes sooner after a retransmission than any round trip can be is that of the original (Allman and
/// Paxson, SIGCOMM 1999, 4.4, for timeouts).
#[derive(Debug)]
struct Sooner {
    part: f64,
    since: Option<Instant>,
}

impl Judge for Sooner {
    fn on_episode(&mut self, episode: &Episode) {
        self.since = (episode.cause == Cause::Timeout && !episode.nested).then_some(episode.now);
    }

    fn on_retransmit(&mut self, _start: Seq, _end: Seq) {}

    fn on_ack(&mut self, sample: &AckSample) -> Verdict {
        if sample.acked == 0 {
            return Verdict::Pending;
        }
        let Some(since) = self.since.take() else { return Verdict::Pending };
        let took = sample.now.0 - since.0;
        if (took as f64) < self.part * sample.srtt.0 as f64 { Verdict::Spurious } else { Verdict::Genuine }
    }

    fn default_response(&self) -> Response {
        Response::Restore
    }
}

#[derive(Debug)]
struct SoonerFactory;

static SOONER: Info = Info::new("sooner", "an acknowledgement sooner than a round trip is that of the original")
    .needs(&[Need::Timestamps])
    .parameters(
        const { &[Parameter::new("part", Unit::Share, 0.5, (0.0, 1.0), "of a round trip that is too short for one")] },
    );

impl Factory<dyn Judge> for SoonerFactory {
    fn info(&self) -> &Info {
        &SOONER
    }

    fn make(&self, _setup: &Setup, values: &Values) -> Box<dyn Judge> {
        Box::new(Sooner { part: values.get("part"), since: None })
    }
}

// ---- a scheduler --------------------------------------------------------------------------------

/// The path with the shortest round trip or, if that has no room, none until it has, but not for longer than `patience`.
#[derive(Debug)]
struct Patient {
    patience: Duration,
    until: Option<Instant>,
}

impl Scheduler for Patient {
    fn pick(&mut self, offer: &Offer<'_>) -> Decision {
        let fastest = |wanted: fn(&Path) -> bool| {
            offer.paths.iter().enumerate().filter(|(_, p)| wanted(p)).min_by_key(|(_, p)| p.srtt).map(|(i, _)| i)
        };
        let Some(best) = fastest(|p| p.can_send) else { return Decision::Wait(None) };
        if fastest(|_| true) == Some(best) {
            return Decision::Send(best);
        }
        let until = *self.until.get_or_insert(offer.now + self.patience);
        if offer.now >= until { Decision::Send(best) } else { Decision::Wait(Some(until)) }
    }

    fn on_sent(&mut self, _assignment: &Assignment) {
        self.until = None;
    }
}

#[derive(Debug)]
struct PatientFactory;

static PATIENT: Info = Info::new("patient", "waits a while for the fastest path")
    .parameters(const { &[Parameter::new("patience", Unit::Time, 0.02, (0.001, 1.0), "how long it waits at most")] });

impl Factory<dyn Scheduler> for PatientFactory {
    fn info(&self) -> &Info {
        &PATIENT
    }

    fn make(&self, _setup: &Setup, values: &Values) -> Box<dyn Scheduler> {
        Box::new(Patient { patience: Duration((values.get("patience") * 1e9) as u64), until: None })
    }
}

// ---- what becomes of them -----------------------------------------------------------------------

#[test]
fn strangers_keep_what_the_engines_own_algorithms_keep() {
    testing::controller(&Choice::new(KellyFactory));
    testing::judge(&Choice::new(SoonerFactory));
    testing::scheduler(&Choice::new(PatientFactory));
}

/// The tests can tell: a scheduler that waits for ever where nothing will wake it.
#[test]
#[should_panic(expected = "waits for ever with nothing in flight")]
fn a_scheduler_that_waits_for_ever_is_found_out() {
    #[derive(Debug)]
    struct Idle;
    impl Scheduler for Idle {
        fn pick(&mut self, _offer: &Offer<'_>) -> Decision {
            Decision::Wait(None)
        }
        fn on_sent(&mut self, _assignment: &Assignment) {}
    }
    #[derive(Debug)]
    struct IdleFactory(Info);
    impl Factory<dyn Scheduler> for IdleFactory {
        fn info(&self) -> &Info {
            &self.0
        }
        fn make(&self, _setup: &Setup, _values: &Values) -> Box<dyn Scheduler> {
            Box::new(Idle)
        }
    }
    testing::scheduler(&Choice::new(IdleFactory(Info::new("idle", "never sends"))));
}

#[test]
fn a_stranger_is_found_by_name_and_keeps_its_own() {
    let registry = Registry::<dyn Controller>::default().with(KellyFactory).unwrap();
    assert_eq!(registry.find("kelly").unwrap().info().fairness, Some(Fairness::Connection));
    assert_eq!(registry.find("cubic").unwrap().name(), "cubic");
    assert_eq!(registry.iter().count(), Choice::<dyn Controller>::all().len() + 1);
    let taken = registry.with(KellyFactory).unwrap_err();
    assert_eq!(taken, ConfigError::Taken { kind: "controller", name: "kelly".into() });
    let refused = Config::default().judge(Choice::new(SoonerFactory)).timestamps(false).checked().unwrap_err();
    assert_eq!(refused, ConfigError::Needs { kind: "judge", name: "sooner".into(), need: Need::Timestamps });
}

fn strangers() -> Config {
    mptcp()
        .controller(Choice::new(KellyFactory).with("gain", 0.5).unwrap())
        .judge(Choice::new(SoonerFactory))
        .scheduler(Choice::new(PatientFactory))
        .timestamps(true)
}

/// Two unlike paths that lose and reorder: everything arrives, whoever decides.
#[test]
fn a_connection_of_strangers_delivers_everything() {
    for seed in 0..20 {
        let mut pair = joined(strangers(), strangers(), &[10, 40], 300_000);
        let mut rng = testing::Rng::new(seed);
        pair.filter(move |_| match rng.below(100) {
            0..2 => Fate::Drop,
            2..5 => Fate::Late(ms(30)),
            _ => Fate::Pass,
        });
        pair.close(Side::A);
        pair.close(Side::B);
        pair.run();
        assert_eq!(pair[Side::B].read, 300_000, "seed {seed}");
    }
}

/// 10 and 40 ms. Ten segments fill the first window of the fast path; the eleventh could leave on the slow one at once and waits
/// for the fast one, whose first acknowledgement comes after 20 ms, before the patience of 30 ms ends. With 5 ms it does not wait
/// for that.
#[test]
fn a_scheduler_that_waits_is_asked_again_when_its_time_has_come() {
    for (patience, slow) in [(0.030, None), (0.005, Some(5))] {
        let scheduler = Choice::new(PatientFactory).with("patience", patience).unwrap();
        let config = mptcp().scheduler(scheduler).initial_window(10);
        let mut pair = joined(config.clone(), config, &[10, 40], 1000);
        pair.run_until(at(2000));
        let window = pair[Side::A].conn().subflows()[0].cwnd() as u64;
        pair.write(Side::A, window + 1000);
        pair.run_until(at(3000));
        let sent = pair.log.iter().find(|p| p.path == 1 && p.from == Side::A && p.at >= at(2000) && p.data_n.is_some());
        assert_eq!(sent.map(|p| (p.at.0 - at(2000).0) / 1_000_000), slow, "patience {patience}");
    }
}
