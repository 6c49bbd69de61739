//! A scheduler and a congestion controller that are in no crate of Anabranch: checked, registered,
//! listed, run by name from a scenario and in a sweep, and tortured. `docs/how-to/own-algorithm.md` makes a crate of its own of this file.
//! Usage: `stranger [SCENARIO.toml [KEY=VALUE ...]]`.

use std::error::Error;
use std::ops::ControlFlow;
use std::time::Duration;

use anabranch_sim::algorithms::{list, register, registered};
use anabranch_sim::run::Runner;
use anabranch_sim::scenario::Source;
use anabranch_stack::controller::{AckSample, Adjust, Congestion, Controller, Window};
use anabranch_stack::registry::{Choice, Factory, Fairness, Info, Parameter, Setup, Unit, Values};
use anabranch_stack::scheduler::{Assignment, Decision, Offer, Path, Scheduler};
use anabranch_stack::testing;
use anabranch_torture::campaign::{self, Plan};

const TEXT: &str = "
transfer = { bytes = '10 MB' }
connection = { receive_buffer = '150 kB' }
path = [{ rate = '20 Mbit/s', delay = '10 ms', loss = '0.1 %' }, { rate = '10 Mbit/s', delay = '60 ms' }]
";

/// Prefers the subflow with the most room in its window, less a price for its round-trip time.
#[derive(Debug)]
struct MostRoom {
    octets_per_second: f64,
}

impl Scheduler for MostRoom {
    fn pick(&mut self, offer: &Offer<'_>) -> Decision {
        let worth = |p: &Path| p.cwnd - p.in_flight as f64 - p.srtt.as_secs_f64() * self.octets_per_second;
        let able = offer.paths.iter().enumerate().filter(|(_, p)| p.can_send);
        let best = able.max_by(|(_, a), (_, b)| worth(a).total_cmp(&worth(b)));
        best.map_or(Decision::Wait(None), |(i, _)| Decision::Send(i))
    }

    fn on_sent(&mut self, _assignment: &Assignment) {}
}

#[derive(Debug)]
struct MostRoomFactory;

static PARAMETERS: [Parameter; 1] =
    [Parameter::new("price", Unit::Number, 1e6, (0.0, 1e9), "octets of room that a second of round-trip time costs")];
static INFO: Info = Info::new("most-room", "the subflow with the most room in its window").parameters(&PARAMETERS);

impl Factory<dyn Scheduler> for MostRoomFactory {
    fn info(&self) -> &Info {
        &INFO
    }

    fn make(&self, _setup: &Setup, values: &Values) -> Box<dyn Scheduler> {
        Box::new(MostRoom { octets_per_second: values.get("price") })
    }
}

/// Reno with an increase of `step` segments a round trip instead of one (RFC 5681 3.1).
#[derive(Clone, Debug)]
struct Step {
    window: Window,
    step: f64,
}

impl Controller for Step {
    fn window(&self) -> &Window {
        &self.window
    }

    fn adjust(&mut self, adjust: Adjust) {
        self.window.adjust(adjust);
    }

    fn on_ack(&mut self, ack: &AckSample, _subflows: &[Path], _me: usize) {
        if !self.window.grow_in_slow_start(ack) {
            // No acknowledgement adds more than two segments, as in slow start (RFC 3465 2.2).
            let growth = self.step * ack.growth as f64 * self.window.mss / self.window.cwnd;
            self.window.cwnd += growth.min(2.0 * self.window.mss);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion, _subflows: &[Path], _me: usize) {
        self.window.halve(congestion);
    }
}

#[derive(Debug)]
struct StepFactory;

static STEPS: [Parameter; 1] =
    [Parameter::new("step", Unit::Number, 2.0, (0.1, 10.0), "segments by which a window grows in a round trip")];
static STEP: Info =
    Info::new("step", "Reno with a longer step in congestion avoidance").fairness(Fairness::Subflow).parameters(&STEPS);

impl Factory<dyn Controller> for StepFactory {
    fn info(&self) -> &Info {
        &STEP
    }

    fn make(&self, setup: &Setup, values: &Values) -> Box<dyn Controller> {
        Box::new(Step { window: Window::new(setup), step: values.get("step") })
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // What must hold for every scheduler and for every controller, alone in random lives.
    testing::scheduler(&Choice::new(MostRoomFactory));
    testing::controller(&Choice::new(StepFactory));
    register(MostRoomFactory)?;
    register(StepFactory)?;
    let known = list(&registered());
    for kind in ["scheduler", "controller"] {
        println!("{kind}: {:#}", known[kind].as_array().and_then(|all| all.last()).ok_or("an empty list")?);
    }

    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (file, text) = match arguments.first() {
        Some(file) => (file.as_str(), std::fs::read_to_string(file)?),
        None => ("built-in scenario", TEXT.to_owned()),
    };
    let overrides: Vec<_> = arguments.iter().filter_map(|a| a.split_once('=')).collect();
    // A sweep: every combination, several seeds each, a row a run.
    println!("scheduler,controller,seed,goodput_mbps");
    for scheduler in ["min-rtt", "most-room"] {
        for controller in ["uncoupled", "step"] {
            for seed in ["1", "2", "3"] {
                let source = Source::new(&text).named(file).set("connection.scheduler", scheduler);
                let source = source.set("connection.controller", controller).set("seed", seed);
                let scenario = overrides.iter().fold(source, |source, (key, value)| source.set(key, value)).read()?;
                let run = Runner::new(&scenario).run();
                let goodput = run.figure("goodput_mbps").unwrap_or(f64::NAN);
                println!("{scheduler},{controller},{seed},{goodput:.2}");
            }
        }
    }

    // 50 random scenarios with algorithms drawn from all that are registered, checked against
    // torture's invariants.
    let shrink = Duration::from_secs(10);
    let plan = Plan { first: 1, runs: 50, jobs: 1, time: None, first_finding: false, shrink, held: None };
    let report = campaign::run(plan, registered(), &mut |_, _| ControlFlow::Continue(()));
    println!("torture: {} runs, {} failures", report.runs, report.failures.len());
    Ok(())
}
