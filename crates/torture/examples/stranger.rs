//! A scheduler that is in no crate of Anabranch: checked, registered, run by name from a scenario,
//! listed, and tortured. `docs/how-to/own-algorithm.md` makes a crate of its own of this file.
//! Usage: `stranger [SCENARIO.toml [KEY=VALUE ...]]`.

use std::error::Error;
use std::ops::ControlFlow;
use std::time::Duration;

use anabranch_sim::algorithms::{list, register, registered};
use anabranch_sim::run::Runner;
use anabranch_sim::scenario::Source;
use anabranch_stack::registry::{Choice, Factory, Info, Parameter, Setup, Unit, Values};
use anabranch_stack::scheduler::{Assignment, Decision, Offer, Path, Scheduler};
use anabranch_stack::testing;
use anabranch_torture::campaign::{self, Plan};

const TEXT: &str = "
transfer = { bytes = '10 MB' }
connection = { receive_buffer = '150 kB' }
path = [{ rate = '20 Mbit/s', delay = '10 ms' }, { rate = '10 Mbit/s', delay = '60 ms' }]
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

fn main() -> Result<(), Box<dyn Error>> {
    // What must hold for every scheduler, alone in random lives.
    testing::scheduler(&Choice::new(MostRoomFactory));
    register(MostRoomFactory)?;
    let known = list(&registered());
    let schedulers = known["scheduler"].as_array().map_or(0, |all| all.len());
    println!("{:#}", known["scheduler"][schedulers - 1]);

    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (file, text) = match arguments.first() {
        Some(file) => (file.as_str(), std::fs::read_to_string(file)?),
        None => ("built-in scenario", TEXT.to_owned()),
    };
    let overrides: Vec<_> = arguments.iter().filter_map(|a| a.split_once('=')).collect();
    for scheduler in ["min-rtt", "round-robin", "most-room"] {
        let source = Source::new(&text).named(file).set("connection.scheduler", scheduler);
        let scenario = overrides.iter().fold(source, |source, (key, value)| source.set(key, value)).read()?;
        let run = Runner::new(&scenario).run();
        println!("{scheduler}: {:.2} Mbit/s", run.figure("goodput_mbps").unwrap_or(f64::NAN));
    }

    // 50 random scenarios with algorithms drawn from all that are registered, checked against
    // torture's invariants.
    let shrink = Duration::from_secs(10);
    let plan = Plan { first: 1, runs: 50, jobs: 1, time: None, first_finding: false, shrink, held: None };
    let report = campaign::run(plan, registered(), &mut |_, _| ControlFlow::Continue(()));
    println!("torture: {} runs, {} failures", report.runs, report.failures.len());
    Ok(())
}
