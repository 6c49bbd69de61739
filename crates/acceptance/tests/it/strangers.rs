//! Algorithms that neither the engine nor the laboratory knows: found by name in scenarios, in the
//! list and in torture.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use anabranch_sim::algorithms::{list, register, registered};
use anabranch_sim::run::Runner;
use anabranch_sim::scenario::{Error, Source, parse};
use anabranch_stack::config::Registries;
use anabranch_stack::controller::{AckSample, Adjust, Congestion, Controller, Path, Window};
use anabranch_stack::registry::{Factory, Fairness, Info, Parameter, Setup, Unit, Values};
use anabranch_stack::scheduler::{Assignment, Decision, Offer, Scheduler};
use anabranch_torture::campaign::{self, Plan};
use anabranch_torture::draw;
use serde_json::Value;

const TEXT: &str = "
transfer = { bytes = '2 MB' }
path = [{ rate = '20 Mbit/s', delay = '10 ms' }, { rate = '20 Mbit/s', delay = '40 ms' }]
";

// ---- a scheduler whose texts are made while the program runs ------------------------------------

/// Sends on the subflow of this number, and on another one only if nothing is in flight there.
#[derive(Debug)]
struct Only(usize);

impl Scheduler for Only {
    fn pick(&mut self, offer: &Offer<'_>) -> Decision {
        let only = self.0.min(offer.paths.len() - 1);
        if offer.paths[only].can_send {
            Decision::Send(only)
        } else if offer.paths[only].in_flight > 0 {
            Decision::Wait(None)
        } else {
            offer.paths.iter().position(|p| p.can_send).map_or(Decision::Wait(None), Decision::Send)
        }
    }

    fn on_sent(&mut self, _assignment: &Assignment) {}
}

#[derive(Debug)]
struct OnlyFactory(Info);

impl OnlyFactory {
    fn new(name: &str) -> Self {
        let mut info = Info::owned(name.to_owned(), format!("the subflow {} first", "of one number"));
        let range = (0.0, 7.0);
        info.parameters =
            vec![Parameter::owned("number".into(), Unit::Whole, 1.0, range, "number of the subflow".into())].into();
        Self(info)
    }
}

impl Factory<dyn Scheduler> for OnlyFactory {
    fn info(&self) -> &Info {
        &self.0
    }

    fn make(&self, _setup: &Setup, values: &Values) -> Box<dyn Scheduler> {
        Box::new(Only(values.get("number") as usize))
    }
}

// ---- a controller whose texts stand in the source -----------------------------------------------

/// A window that never changes.
#[derive(Clone, Debug)]
struct Fixed(Window);

impl Controller for Fixed {
    fn window(&self) -> &Window {
        &self.0
    }

    fn adjust(&mut self, _adjust: Adjust) {}

    fn on_ack(&mut self, _ack: &AckSample, _paths: &[Path], _me: usize) {}

    fn on_congestion(&mut self, _congestion: &Congestion, _paths: &[Path], _me: usize) {}
}

#[derive(Debug)]
struct FixedFactory(Info);

static SEGMENTS: [Parameter; 1] =
    [Parameter::new("segments", Unit::Whole, 10.0, (1.0, 1000.0), "segments in the window")];
const FIXED: Info = Info::new("fixed", "a window of constant size").fairness(Fairness::Subflow).parameters(&SEGMENTS);

impl Factory<dyn Controller> for FixedFactory {
    fn info(&self) -> &Info {
        &self.0
    }

    fn make(&self, setup: &Setup, values: &Values) -> Box<dyn Controller> {
        let mut window = Window::new(setup);
        window.cwnd = values.get("segments") * window.mss;
        Box::new(Fixed(window))
    }
}

fn strangers() -> Registries {
    let known = Registries::default().with::<dyn Scheduler>(OnlyFactory::new("only"));
    known.and_then(|known| known.with::<dyn Controller>(FixedFactory(FIXED))).expect("both names are new")
}

/// Goodput in Mbit/s with overrides written as `KEY=VALUE`.
fn goodput(known: &Registries, overrides: &[&str]) -> Result<f64, Error> {
    let pairs = overrides.iter().filter_map(|o| o.split_once('='));
    let source = pairs.fold(Source::new(TEXT).registries(known), |source, (key, value)| source.set(key, value));
    source.read().map(|scenario| Runner::new(&scenario).run().figure("goodput_mbps").expect("it has a goodput"))
}

/// 10 segments of 1460 octets per round trip of 20 ms are 5.84 Mbit/s, per 80 ms 1.46 Mbit/s; the
/// handshakes take a little of that.
#[test]
fn strangers_are_named_in_a_scenario_with_their_parameters() {
    let known = strangers();
    let run = |more: &[&str]| {
        let base = ["connection.scheduler=only", "connection.controller=fixed", "connection.mss=1460"];
        goodput(&known, &[&base, more].concat()).expect("it is valid")
    };
    let (fast, slow) = (run(&["connection.scheduler.number=0"]), run(&[]));
    assert!((5.0..5.9).contains(&fast), "{fast}");
    // Until the second subflow is established, and in its last round trip, all goes over the first.
    assert!((1.3..1.8).contains(&slow), "{slow}");
    let wide = run(&["connection.scheduler.number=0", "connection.controller.segments=20"]);
    assert!((1.8..2.1).contains(&(wide / fast)), "{wide} and {fast}");
}

#[test]
fn a_stranger_is_in_the_resolved_scenario_and_in_the_list() {
    let known = strangers();
    let text = format!("{TEXT}\n[connection]\nscheduler = {{ name = 'only', number = 0 }}\ncontroller = 'fixed'");
    let source = Source::new(&text).registries(&known);
    let json = source.read().expect("it is valid").to_json();
    assert_eq!(
        (&json["connections"][0]["scheduler"], &json["connections"][0]["controller"]),
        (&"only".into(), &"fixed".into())
    );
    let again = source.resolved_toml().expect("it is valid");
    assert_eq!(Source::new(&again).registries(&known).read().expect("it is valid").to_json(), json);

    let all = list(&known);
    let last = |kind: &str| all[kind].as_array().and_then(|list| list.last()).cloned().unwrap_or(Value::Null);
    assert_eq!(last("scheduler")["summary"], "the subflow of one number first");
    assert_eq!(last("scheduler")["parameters"][0]["meaning"], "number of the subflow");
    assert_eq!(last("controller")["name"], "fixed");
    assert_eq!(last("controller")["parameters"][0]["default"], 10.0);
    assert_eq!(
        list(&Registries::default())["controller"].as_array().map(Vec::len),
        all["controller"].as_array().map(|l| l.len() - 1)
    );
}

#[test]
fn a_slip_of_the_pen_is_answered_with_the_registered_name() {
    let known = strangers();
    let said = |overrides: &[&str]| goodput(&known, overrides).expect_err("it is refused").to_string();
    let unknown = said(&["connection.scheduler=onyl"]);
    assert!(
        unknown.starts_with(
            "scenario: connection.scheduler (from --set or set()): unknown scheduler \"onyl\"\n  did you mean \"only\"?"
        ),
        "{unknown}"
    );
    let parameter = said(&["connection.controller=fixed", "connection.controller.segment=3"]);
    assert!(parameter.contains("\"fixed\" has no parameter segment\n  did you mean \"segments\"?"), "{parameter}");
    let range = said(&["connection.controller=fixed", "connection.controller.segments=1001"]);
    assert!(range.contains("1001 is out of range"), "{range}");
    // Without the registration the name is unknown.
    let error = Source::new(TEXT).registries(&Registries::default()).set("connection.scheduler", "only").read();
    assert!(error.expect_err("it is refused").to_string().contains("unknown scheduler \"only\""));
}

#[test]
fn a_name_is_registered_once_and_only_if_a_scenario_can_hold_it() {
    let twice = strangers().with::<dyn Scheduler>(OnlyFactory::new("only")).expect_err("the name is taken");
    assert_eq!(
        twice.to_string(),
        "scheduler: the name \"only\" is registered already; register the new one under another name"
    );
    let built_in = Registries::default().with::<dyn Scheduler>(OnlyFactory::new("min-rtt")).expect_err("it is taken");
    assert!(built_in.to_string().starts_with("scheduler: the name \"min-rtt\" is registered already"));
    // A controller may have the name of a scheduler: the kind is a part of the key.
    assert!(strangers().with::<dyn Controller>(FixedFactory(Info::new("only", "as the scheduler"))).is_ok());
    let capital = Registries::default().with::<dyn Scheduler>(OnlyFactory::new("Only")).expect_err("it is no word");
    assert!(
        capital.to_string().starts_with("scheduler: \"Only\" cannot be registered: a name must consist of"),
        "{capital}"
    );
}

#[test]
fn what_a_process_registers_is_known_wherever_no_registries_are_given() {
    register::<dyn Scheduler>(OnlyFactory::new("only-here")).expect("the name is new");
    assert!(register::<dyn Scheduler>(OnlyFactory::new("only-here")).is_err());
    let overrides = [("connection.scheduler".to_owned(), "only-here".to_owned())];
    let scenario = parse(TEXT, "mine.toml", &overrides, None).expect("it is known");
    assert_eq!(scenario.connections[0].config.scheduler.name(), "only-here");
    let all = list(&registered())["scheduler"].to_string();
    assert!(all.contains("\"only-here\""));
    let given = Source::new(TEXT).registries(&Registries::default()).overrides(&overrides).read();
    assert!(given.is_err(), "registries that are given are all there is");
}

/// Of the numbers 0 to 299 some draw the strangers, with and without parameters, and torture finds
/// no fault with them.
#[test]
fn torture_draws_strangers() {
    let known = strangers();
    let drawn: Vec<String> =
        (0..300).map(|n| draw(n, &known).expect("every number is a scenario").document.to_string()).collect();
    let count = |text: &str| drawn.iter().filter(|document| document.contains(text)).count();
    assert!(count("\"only\"") > 3 && count("number = ") > 0, "{} and {}", count("\"only\""), count("number = "));
    assert!(count("\"fixed\"") > 3 && count("segments = ") > 0);
    let first = drawn.iter().position(|document| document.contains("\"only\"")).expect("it was drawn") as u64;
    let plan = Plan { first, runs: 1, jobs: 1, time: None, first_finding: true, shrink: Duration::ZERO, held: None };
    let report = campaign::run(plan, Arc::new(known), &mut |_, _| ControlFlow::Continue(()));
    assert_eq!((report.runs, report.failures.len()), (1, 0), "{:?}", report.failures);
}
