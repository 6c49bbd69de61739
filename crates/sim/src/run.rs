//! One run from a scenario to its results, within limits of wall-clock time and memory. A panic in the engine is caught, so
//! that other runs go on ([`unwound`]). A limit that is passed ends a run. Limits that are not passed do not change its
//! results; only [`Limits::no_series`] leaves out the series over time.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::ops::ControlFlow;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;
use std::time::{Duration, Instant};

use anabranch_measures::items::Items;
use anabranch_measures::series::Series;
use serde_json::Value;

use crate::legacy;
use crate::sim;
use crate::sim::packet::{CLIENT, SERVER};
use crate::sim::tap::Taps;
use crate::sim::trace::Sink;
use crate::sim::world::{End, Progress, World};
use crate::summary::summary;
use anabranch_scenario::{Connection, Protocol, Scenario, Stack};

/// What a run gives.
#[derive(Debug)]
pub struct Run {
    /// The summary object (`docs/columns.md`); null if it was stopped before its network was built.
    pub summary: Value,
    /// Hash of the events without random keys and sequence numbers ([`crate::sim::trace::Hashes`]): equal for two seeds
    /// exactly if chance changed nothing. Empty if there is no summary.
    pub events_hash: String,
    /// Time series of the sending subflows.
    pub series: Series,
    /// The parts of transfers that have some: connection, and they.
    pub items: Vec<(usize, Items)>,
    /// For each connection, and each subflow of it, the number that the subflow has on the host
    /// that sends the data; `None` if the subflow did not get there.
    pub numbers: Vec<Vec<Option<usize>>>,
    /// The caller stopped it, or a limit did.
    pub stopped: bool,
    /// The limit that stopped it, if one did.
    pub exceeded: Option<Exceeded>,
    /// Why the trace could not be written, if so.
    pub trace_error: Option<std::io::Error>,
    /// Why the captures could not be written, if so.
    pub capture_error: Option<std::io::Error>,
}

/// Limits of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Wall-clock time.
    pub timeout: Option<Duration>,
    /// Octets on the heap.
    pub memory: Option<u64>,
    /// Returns how many octets this thread holds on the heap. Without it memory is not limited.
    pub held: Option<fn() -> u64>,
    /// No series over time are taken, as for the thousands of runs of a sweep.
    pub no_series: bool,
    /// What each subflow waits for is recorded (`causes` in the summary).
    pub causes: bool,
    /// Octets of memory that the machine has. `None`: the system is asked, if many connections are to be run.
    pub machine: Option<u64>,
}

impl Limits {
    /// Begins to count time and memory. It is called before the scenario is read, since reading takes both.
    pub fn begin(self) -> Budget {
        Budget { limits: self, started: Instant::now(), before: self.held.map_or(0, |held| held()) }
    }
}

/// Limits, and the time and memory at their beginning.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    limits: Limits,
    // The wall clock can end a run; nothing within the run depends on it.
    started: Instant,
    before: u64,
}

impl Budget {
    /// The limit that has been passed, if any.
    pub fn passed(&self) -> Option<Exceeded> {
        if let Some(timeout) = self.limits.timeout.filter(|timeout| self.started.elapsed() > *timeout) {
            return Some(Exceeded::Timeout(timeout));
        }
        let limit = self.limits.memory?;
        let held = self.limits.held?().saturating_sub(self.before);
        (held > limit).then_some(Exceeded::Memory { limit, held })
    }

    /// The limit that the connections of `scenario` would surely pass: refused before they are built.
    fn foreseen(&self, scenario: &Scenario) -> Option<Exceeded> {
        let connections = scenario.connections.len();
        if connections < MANY {
            return None;
        }
        let needed = scenario.connections.iter().map(|c| least(scenario.stack, c)).sum();
        let refused = |limit, of_machine| Exceeded::Foreseen { connections, needed, limit, of_machine };
        match (self.limits.memory, self.limits.machine.or_else(machine_memory)) {
            (Some(limit), _) if needed > limit => Some(refused(limit, false)),
            (_, Some(machine)) if needed > machine => Some(refused(machine, true)),
            _ => None,
        }
    }
}

/// From so many connections on, what they need is estimated beforehand. Fewer need less each, and no machine lacks that much.
const MANY: usize = 1000;

/// Octets that a connection surely takes on the heap in a run of [`MANY`] or more. Measured: 16.5 to 21 kB over one path without
/// series over time, 23 kB over two, 34 kB over four; 3.7 kB of a flow of datagrams.
fn least(stack: Stack, connection: &Connection) -> u64 {
    match (stack, connection.protocol) {
        (Stack::Legacy2011, _) | (_, Protocol::Udp) => 2_000,
        _ => 16_000 + 3_000 * (connection.paths.len() as u64 - 1),
    }
}

/// Octets of memory that this process can have: of the machine, or of its control group. `None` where Linux is not.
fn machine_memory() -> Option<u64> {
    let said = std::fs::read_to_string("/proc/meminfo").ok()?;
    let kib = said.lines().find_map(|line| line.strip_prefix("MemTotal:"))?.split_whitespace().next()?;
    let total = kib.parse::<u64>().ok()? * 1024;
    let group = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|max| max.trim().parse().ok());
    Some(group.map_or(total, |group: u64| group.min(total)))
}

/// A limit that a run passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exceeded {
    /// It took more wall-clock time than this.
    Timeout(Duration),
    /// It held more octets on the heap than `limit`.
    Memory {
        /// The limit.
        limit: u64,
        /// What it held when that was noticed.
        held: u64,
    },
    /// Its connections would need more memory than there may be; nothing has run.
    Foreseen {
        /// How many connections.
        connections: usize,
        /// What they need at least.
        needed: u64,
        /// The limit.
        limit: u64,
        /// The limit is the memory of the machine.
        of_machine: bool,
    },
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout(timeout) => {
                write!(f, "timeout: not done after {timeout:?} of wall-clock time; allow more, or simulate less")
            }
            Self::Memory { limit, held } => {
                let [held, limit] = [held, limit].map(|octets| *octets as f64 / 1e6);
                write!(
                    f,
                    "memory: the engine held {held:.1} MB, its limit is {limit:.1} MB; allow more, or smaller buffers"
                )
            }
            Self::Foreseen { connections, needed, limit, of_machine } => {
                let [needed, limit] = [needed, limit].map(|octets| *octets as f64 / 1e6);
                let (whose, remedy) = if *of_machine {
                    ("this machine has", "run fewer connections, or run them on a machine with more memory")
                } else {
                    ("the limit is", "allow more, or run fewer connections")
                };
                write!(
                    f,
                    "memory: {connections} connections need at least {needed:.1} MB, {whose} {limit:.1} MB; {remedy}"
                )
            }
        }
    }
}

/// A function of the caller's that is asked every few thousand events whether to go on.
pub type Poll<'a> = &'a mut dyn FnMut(&Progress) -> ControlFlow<()>;

/// One run of a scenario: what is recorded beside the results, what the run may take, and who may
/// stop it.
///
/// ```
/// use anabranch_sim::run::{Limits, Runner};
/// use anabranch_sim::scenario::Source;
///
/// let scenario = Source::new("transfer = { bytes = '1 MB' }\npath = [{ rate = '10 Mbit/s', delay = '20 ms' }]").read()?;
/// let run = Runner::new(&scenario).limits(Limits { causes: true, ..Limits::default() }).run();
/// assert!(run.figure("completion_s").is_some_and(|s| s > 0.8));
/// # Ok::<(), anabranch_sim::scenario::Error>(())
/// ```
pub struct Runner<'a> {
    scenario: &'a Scenario,
    sink: Option<Sink>,
    taps: Option<Taps>,
    budget: Option<Budget>,
    poll: Option<Poll<'a>>,
}

impl<'a> Runner<'a> {
    /// A run without trace, captures and limits.
    pub fn new(scenario: &'a Scenario) -> Self {
        Self { scenario, sink: None, taps: None, budget: None, poll: None }
    }

    /// Writes protocol events to `sink` as text.
    #[must_use]
    pub fn trace(mut self, sink: impl Into<Option<Sink>>) -> Self {
        self.sink = sink.into();
        self
    }

    /// Captures packets to `taps`.
    #[must_use]
    pub fn captures(mut self, taps: impl Into<Option<Taps>>) -> Self {
        self.taps = taps.into();
        self
    }

    /// Sets limits, which count from this call on.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        self.budget(limits.begin())
    }

    /// Sets limits that have begun to count before the scenario was read.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Asks `poll` every few thousand events whether to go on. Limits are checked then, too.
    #[must_use]
    pub fn poll(mut self, poll: Poll<'a>) -> Self {
        self.poll = Some(poll);
        self
    }

    /// Runs the scenario.
    pub fn run(self) -> Run {
        let budget = self.budget.unwrap_or_else(|| Limits::default().begin());
        within(self.scenario, self.sink, self.taps, &budget, self.poll)
    }
}

/// Runs `scenario`; protocol events go to `sink` as text, `poll` is asked every few thousand events
/// whether to go on.
pub fn run(scenario: &Scenario, sink: Option<Sink>, poll: Poll<'_>) -> Run {
    Runner::new(scenario).trace(sink).poll(poll).run()
}

fn within(scenario: &Scenario, sink: Option<Sink>, taps: Option<Taps>, budget: &Budget, poll: Option<Poll<'_>>) -> Run {
    let started = Instant::now();
    let exceeded = Cell::new(None);
    let mut go_on = |_: &Progress| ControlFlow::Continue(());
    let poll = RefCell::new(poll.unwrap_or(&mut go_on));
    let watch = |progress: &Progress| {
        exceeded.set(budget.passed());
        if exceeded.get().is_some() { ControlFlow::Break(()) } else { poll.borrow_mut()(progress) }
    };
    if let Some(limit) = budget.foreseen(scenario) {
        return Run::unbuilt(Some(limit));
    }
    let beginning = Progress { total: sim::world::total(scenario), ..Progress::default() };
    let Some(mut world) = World::new(scenario, sink, &legacy::session::session, &|| watch(&beginning)) else {
        return Run::unbuilt(exceeded.get());
    };
    if budget.limits.no_series {
        world.no_series();
    }
    if budget.limits.causes {
        world.causes();
    }
    if let Some(taps) = taps {
        world.capture(scenario, taps);
    }
    let mut outcome = world.run(&mut |progress| watch(progress));
    let wall_s = started.elapsed().as_secs_f64();
    Run {
        summary: summary(scenario, &outcome, wall_s),
        events_hash: std::mem::take(&mut outcome.events_hash),
        stopped: outcome.end == End::Stopped,
        exceeded: exceeded.get(),
        trace_error: outcome.trace_error.take(),
        capture_error: outcome.capture_error.take(),
        items: outcome.items(),
        numbers: numbers(scenario, &outcome),
        series: outcome.series,
    }
}

fn numbers(scenario: &Scenario, outcome: &sim::world::Outcome) -> Vec<Vec<Option<usize>>> {
    let connections = scenario.connections.iter().zip(&outcome.accounts);
    connections
        .map(|(connection, account)| {
            let side = if connection.transfer.up { CLIENT } else { SERVER };
            account.subflows.iter().map(|subflow| subflow.at[side]).collect()
        })
        .collect()
}

impl Run {
    /// A number of the summary object by its key (`docs/columns.md`): `figure("goodput_mbps")`.
    /// `None` if the summary has no such number.
    pub fn figure(&self, key: &str) -> Option<f64> {
        self.summary[key].as_f64()
    }

    /// The result of a run that was stopped before its network was built.
    fn unbuilt(exceeded: Option<Exceeded>) -> Self {
        let (trace_error, capture_error) = (None, None);
        Self {
            summary: Value::Null,
            events_hash: String::new(),
            series: Series::none(),
            items: Vec::new(),
            numbers: Vec::new(),
            stopped: true,
            exceeded,
            trace_error,
            capture_error,
        }
    }
}

thread_local! {
    /// Within [`unwound`]: place and message of this thread's last panic.
    static SAID: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Calls `f`; if it panics, gives the place and the message instead of printing them.
///
/// # Errors
/// With `"panic at crates/sim/src/...:LINE: MESSAGE"`.
pub fn unwound<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let ours = SAID.with_borrow_mut(|said| said.as_mut().map(|said| *said = told(info)).is_some());
            if !ours {
                before(info);
            }
        }));
    });
    let outer = SAID.replace(Some(String::new()));
    let done = panic::catch_unwind(AssertUnwindSafe(f));
    let said = SAID.replace(outer).unwrap_or_default();
    done.map_err(|_| said)
}

fn told(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let owned = || payload.downcast_ref::<String>().map(String::as_str);
    let message = payload.downcast_ref::<&str>().copied().or_else(owned).unwrap_or("no message");
    info.location().map_or_else(|| format!("panic: {message}"), |at| format!("panic at {at}: {message}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_scenario::parse;

    fn many(connections: usize, paths: usize, protocol: &str) -> Scenario {
        let path = "[[path]]\nrate = \"1 Gbit/s\"\n".repeat(paths);
        let one = |i| {
            format!("[[connection]]\nname = \"c{i}\"\nprotocol = \"{protocol}\"\ntransfer = {{ bytes = \"1 B\" }}\n")
        };
        parse(&(path + &(0..connections).map(one).collect::<String>()), "test", &[], None).unwrap()
    }

    #[test]
    fn connections_that_surely_need_too_much_memory_are_refused_before_they_are_built() {
        let scenario = many(1000, 2, "mptcp");
        let run = |limits: Limits, asked: &mut u32| {
            let mut poll = |_: &Progress| {
                *asked += 1;
                ControlFlow::Break(())
            };
            Runner::new(&scenario).limits(limits).poll(&mut poll).run()
        };
        let of = |limit, of_machine| Exceeded::Foreseen { connections: 1000, needed: 19_000_000, limit, of_machine };
        for (memory, machine, found) in [
            (Some(18_999_999), 64_000_000_000, Some(of(18_999_999, false))),
            (None, 18_999_999, Some(of(18_999_999, true))),
            (Some(19_000_000), 18_000_000, Some(of(18_000_000, true))),
            (Some(19_000_000), 19_000_000, None),
            (None, 64_000_000_000, None),
        ] {
            let mut asked = 0;
            let done = run(Limits { memory, machine: Some(machine), ..Limits::default() }, &mut asked);
            assert!(done.stopped);
            assert_eq!(done.exceeded, found);
            assert_eq!(asked == 0, found.is_some(), "{found:?}");
        }
        let said = of(18_999_999, false).to_string();
        assert_eq!(
            said,
            "memory: 1000 connections need at least 19.0 MB, the limit is 19.0 MB; allow more, or run fewer connections"
        );
        assert!(of(1_000_000, true).to_string().contains("this machine has 1.0 MB; run fewer connections"));
    }

    /// A full disk fills no faster if the run goes on, and its result is refused anyway.
    #[test]
    fn a_run_ends_when_its_trace_or_a_capture_cannot_be_written() {
        struct Full(usize);
        impl std::io::Write for Full {
            fn write(&mut self, octets: &[u8]) -> std::io::Result<usize> {
                self.0 = self.0.checked_sub(octets.len()).ok_or(std::io::ErrorKind::StorageFull)?;
                Ok(octets.len())
            }

            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let text = "[[path]]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n[transfer]\nbytes = \"40 MB\"\n";
        let scenario = parse(text, "test", &[], None).unwrap();
        let run = |room: usize, captures: bool| {
            let mut last = 0;
            let mut poll = |progress: &Progress| {
                last = progress.now;
                ControlFlow::Continue(())
            };
            let mut runner = Runner::new(&scenario).poll(&mut poll);
            if captures {
                runner = runner.captures(Taps::new(&scenario, &mut |_| Ok(Box::new(Full(room)))).unwrap());
            } else {
                runner = runner.trace(Some(Box::new(Full(room)) as Sink));
            }
            let done = runner.run();
            (done.trace_error.is_some(), done.capture_error.is_some(), done.stopped, last)
        };
        let whole = run(usize::MAX, false);
        assert!(!whole.0 && !whole.2 && whole.3 > 30_000_000_000, "{whole:?}");
        for captures in [false, true] {
            let (trace, capture, stopped, last) = run(100_000, captures);
            assert_eq!((trace, capture, stopped), (!captures, captures, true));
            assert!(last < 10_000_000_000, "stopped after {last} ns");
        }
    }

    #[test]
    fn few_connections_are_begun_whatever_the_limit_is() {
        let limits = Limits { memory: Some(1), machine: Some(1), ..Limits::default() };
        assert_eq!(limits.begin().foreseen(&many(MANY - 1, 1, "tcp")), None);
        assert!(limits.begin().foreseen(&many(MANY, 1, "tcp")).is_some());
    }

    #[test]
    fn what_the_machine_has_is_known_on_linux() {
        assert_eq!(machine_memory().is_some(), cfg!(target_os = "linux"));
        assert!(machine_memory().is_none_or(|octets| octets > 1 << 27));
    }
}
