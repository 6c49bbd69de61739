//! One run held to the invariants, and the same run in other ways that must not change it.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;

use anabranch_sim::legacy;
use anabranch_sim::run::unwound;
use anabranch_sim::scenario::{Scenario, Stack};
use anabranch_sim::sim::tap::Taps;
use anabranch_sim::sim::trace::Sink;
use anabranch_sim::sim::world::{End, Outcome, Progress, World};
use anabranch_sim::summary::summary;

use super::check;
use super::expect::Expected;
use super::finding::{Finding, Observed};
use super::ledger::{Ledger, Shared};

/// Returns how many octets this thread holds on the heap, where somebody counts them.
pub type Held = Option<fn() -> u64>;

/// What a run that was held to the invariants has cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Events of the simulator.
    pub events: u64,
    /// The most events that it was allowed.
    pub bound: u64,
    /// Octets delivered.
    pub octets: u64,
}

/// Runs `scenario`, `again` in other ways as well, and holds it to the invariants.
///
/// # Errors
/// With the first invariant that it broke.
pub fn examine(scenario: &Scenario, again: bool, held: Held) -> Result<Cost, Finding> {
    let left = |again: bool| {
        let before = held.map_or(0, |held| held());
        let cost = within(|| first(scenario, again))??;
        Ok((cost, held.map_or(0, |held| held()).saturating_sub(before)))
    };
    let (cost, kept) = left(again)?;
    // Tables that are made once, by whoever needs them first, stay; what a run forgets to give back is held once more each time.
    if kept > 0 && left(false)?.1 > 0 {
        return Err(Finding::new("memory given back", format!("{kept} octets are held after the run")));
    }
    Ok(cost)
}

fn within<T>(f: impl FnOnce() -> T) -> Result<T, Finding> {
    unwound(f).map_err(|said| Finding::new("no panic", said))
}

fn first(scenario: &Scenario, again: bool) -> Result<Cost, Finding> {
    let expected = Expected::of(scenario);
    let observed = observe(scenario, &expected)?;
    check::check(scenario, &expected, &observed)?;
    if again {
        same(scenario, &expected, &observed)?;
    }
    let octets = observed.outcome.accounts.iter().map(|a| a.read).sum();
    Ok(Cost { events: observed.outcome.events, bound: expected.events(observed.outcome.now), octets })
}

/// Runs it, seen from outside.
fn observe(scenario: &Scenario, expected: &Expected) -> Result<Observed, Finding> {
    let ledger = Rc::new(RefCell::new(Ledger::new(scenario)));
    let outcome = world(scenario, None, None, Some(Shared(Rc::clone(&ledger))), expected)?;
    let summary = summary(scenario, &outcome, 0.0);
    let ledger = ledger.take();
    Ok(Observed { outcome, ledger, summary })
}

fn world(
    scenario: &Scenario,
    sink: Option<Sink>,
    taps: Option<Taps>,
    watch: Option<Shared>,
    expected: &Expected,
) -> Result<Outcome, Finding> {
    let mut world = World::new(scenario, sink, &legacy::session::session, &|| ControlFlow::Continue(()))
        .expect("it is told to go on");
    if let Some(taps) = taps {
        world.capture(scenario, taps);
    }
    if let Some(watch) = watch {
        world.watch(Box::new(watch));
    }
    // Asked every few thousand steps: a war of segments and a time that stands still both end here.
    let (mut steps, mut last) = (0_u64, 0);
    let outcome = world.run(&mut |progress: &Progress| {
        steps += anabranch_sim::sim::world::POLL;
        last = progress.now;
        // A segment is sent in one step, and has some more before it.
        if steps > 2 * expected.events(last) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if outcome.end == End::Stopped {
        let at = last as f64 / 1e9;
        let what = format!("{steps} events and segments by {at} s; the run was stopped");
        return Err(Finding::new("bounded events", what));
    }
    Ok(outcome)
}

/// Returns `scenario` with every short path of the engine and of the simulator switched off ([`Config::shortcuts`]).
///
/// [`Config::shortcuts`]: anabranch_stack::Config::shortcuts
pub fn without_shortcuts(scenario: &Scenario) -> Scenario {
    let mut full = scenario.clone();
    full.connections.iter_mut().for_each(|c| c.config.shortcuts = false);
    full
}

/// Runs `scenario` with and without shortcuts. Checks only that both runs have the same trace and
/// the same summary. The number of the simulator's events may differ: short paths leave out timers.
///
/// # Errors
/// If they differ, with both hashes or with both values of the first field that differs.
pub fn shortcuts_agree(scenario: &Scenario) -> Result<(), Finding> {
    let expected = Expected::of(scenario);
    let told = |run: &Scenario| {
        let outcome = within(|| world(run, None, None, None, &expected))??;
        Ok((outcome.trace_sha256.clone(), summary(scenario, &outcome, 0.0)))
    };
    let ((short, told_short), (full, told_full)) = (told(scenario)?, told(&without_shortcuts(scenario))?);
    if short != full {
        return Err(Finding::new("one trace", format!("{short}, but {full} without shortcuts")));
    }
    let fields = told_short.as_object().into_iter().flatten();
    match fields.into_iter().find(|(key, value)| *key != "events" && told_full.get(key) != Some(value)) {
        None => Ok(()),
        Some((key, value)) => {
            let what = format!("{key} is {value}, but {} without shortcuts", told_full[key]);
            Err(Finding::new("one summary", what))
        }
    }
}

/// The same again: by itself, as bytes, traced, captured, without shortcuts, and in another thread.
fn same(scenario: &Scenario, expected: &Expected, observed: &Observed) -> Result<(), Finding> {
    let hash = &observed.outcome.trace_sha256;
    let compare = |how: &'static str, other: Outcome| {
        let what = || format!("{hash}, but {} {how}", other.trace_sha256);
        if &other.trace_sha256 == hash { Ok(other) } else { Err(Finding::new("one trace", what())) }
    };
    let twice = compare("when it is run again", world(scenario, None, None, None, expected)?)?;
    let told = summary(scenario, &twice, 0.0);
    if told != observed.summary {
        return Err(Finding::new("one trace", "the same trace, but another summary when it is run again"));
    }
    compare("when it is traced", world(scenario, Some(Box::new(std::io::sink())), None, None, expected)?)?;
    let taps = Taps::new(scenario, &mut |_| Ok(Box::new(std::io::sink()))).ok();
    compare("when it is captured", world(scenario, None, taps, None, expected)?)?;
    if scenario.stack == Stack::Anabranch {
        let bytes = Scenario { bytes: true, ..scenario.clone() };
        compare("as bytes", world(&bytes, None, None, None, expected)?)?;
    }
    if scenario.stack == Stack::Anabranch {
        compare("without shortcuts", world(&without_shortcuts(scenario), None, None, None, expected)?)?;
    }
    let (there, bounds) = (scenario.clone(), *expected);
    let other = std::thread::spawn(move || unwound(|| world(&there, None, None, None, &bounds))).join();
    let other = other.expect("panics are caught").map_err(|said| Finding::new("no panic", said))??;
    compare("in another thread", other).map(|_| ())
}
