//! A range of runs in several threads: progress, what failed, and what was covered.
//!
//! Each thread takes the next number that nobody has. A run that does not come back within a minute (an endless loop inside
//! one event asks nobody) is a finding, too, by which the campaign ends: its thread cannot be stopped, so it is left behind.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anabranch_stack::config::Registries;
use toml::Table as Document;

use super::draw::{Kind, draw};
use super::finding::Finding;
use super::run::{Cost, Held, examine};
use super::shrink::shrink;
use super::table::Table;

/// What is to be done.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The first number.
    pub first: u64,
    /// How many.
    pub runs: u64,
    /// How many at a time.
    pub jobs: usize,
    /// No new one is begun after this.
    pub time: Option<Duration>,
    /// It ends with the first finding.
    pub first_finding: bool,
    /// How long a failure is made smaller.
    pub shrink: Duration,
    /// Returns the octets that a thread holds, if they are counted.
    pub held: Held,
}

/// A run that failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Its number.
    pub number: u64,
    /// What it broke.
    pub finding: Finding,
    /// A scenario that breaks it, as small as was found.
    pub document: Document,
    /// What that one says.
    pub shrunk: Finding,
    /// It is broken only when it is run again in other ways.
    pub again: bool,
}

/// What came of a campaign.
#[derive(Debug, Default)]
pub struct Report {
    /// Runs that are done.
    pub runs: u64,
    /// Every number below this has been run.
    pub next: u64,
    /// Of these, with five megabytes or more, with three paths or more, and repeated in other ways.
    pub large: u64,
    /// Runs of three to eight paths.
    pub wide: u64,
    /// Runs repeated in other ways.
    pub repeated: u64,
    /// Sums over all runs.
    pub events: u64,
    /// Octets delivered.
    pub octets: u64,
    /// Those that failed.
    pub failures: Vec<Failure>,
    /// What occurred.
    pub table: Table,
    /// The caller stopped it.
    pub stopped: bool,
    /// Wall-clock time in seconds.
    pub seconds: f64,
}

/// A run that takes longer than this does not come back.
const HANGS: Duration = Duration::from_secs(60);

struct Shared {
    plan: Plan,
    known: Arc<Registries>,
    started: Instant,
    next: AtomicU64,
    over: AtomicBool,
    /// What each thread is running, and since when.
    running: Vec<Mutex<Option<(u64, Instant)>>>,
}

enum Told {
    Done { cost: Cost, number: u64 },
    Failed(Box<Failure>),
    Finished(Box<Table>),
}

/// Runs a campaign with the algorithms of `known`; `poll` is called a few times a second with the
/// runs done and the failures so far.
pub fn run(plan: Plan, known: Arc<Registries>, poll: &mut dyn FnMut(u64, usize) -> ControlFlow<()>) -> Report {
    let jobs = plan.jobs.max(1);
    let shared = Arc::new(Shared {
        plan,
        known,
        started: Instant::now(),
        next: AtomicU64::new(plan.first),
        over: AtomicBool::new(false),
        running: (0..jobs).map(|_| Mutex::new(None)).collect(),
    });
    let (tell, told) = mpsc::channel();
    for job in 0..jobs {
        let (shared, tell) = (Arc::clone(&shared), tell.clone());
        std::thread::spawn(move || work(&shared, job, &tell));
    }
    drop(tell);
    let mut report = Report { next: plan.first, ..Report::default() };
    let mut asked = Instant::now();
    loop {
        match told.recv_timeout(Duration::from_millis(50)) {
            Ok(Told::Done { cost, number }) => report.note(number, cost),
            Ok(Told::Failed(failure)) => {
                report.note(failure.number, Cost::default());
                report.failures.push(*failure);
                if plan.first_finding {
                    shared.over.store(true, Ordering::Relaxed);
                }
            }
            Ok(Told::Finished(table)) => report.table.add(&table),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                if let Some(failure) = hanging(&shared) {
                    report.failures.push(failure);
                    break;
                }
            }
        }
        if asked.elapsed() > Duration::from_millis(100) {
            asked = Instant::now();
            if poll(report.runs, report.failures.len()).is_break() {
                report.stopped = true;
                shared.over.store(true, Ordering::Relaxed);
            }
        }
    }
    report.failures.sort_by_key(|f| f.number);
    report.next = plan.first + report.runs;
    report.seconds = shared.started.elapsed().as_secs_f64();
    report
}

impl Report {
    fn note(&mut self, number: u64, cost: Cost) {
        self.runs += 1;
        self.large += u64::from(Kind::of(number) == Kind::Large);
        self.wide += u64::from(Kind::of(number) == Kind::Wide);
        self.repeated += u64::from(is_repeated(number));
        self.events += cost.events;
        self.octets += cost.octets;
    }
}

/// Every tenth number is run again in other ways.
pub fn is_repeated(number: u64) -> bool {
    number % 10 == 0
}

fn hanging(shared: &Shared) -> Option<Failure> {
    let stuck = shared.running.iter().find_map(|running| {
        running.lock().ok()?.filter(|(_, since)| since.elapsed() > HANGS).map(|(number, _)| number)
    });
    let number = stuck?;
    let finding = Finding::new("comes back", format!("no answer after {} s", HANGS.as_secs()));
    let document = draw(number, &shared.known).map(|d| d.document).unwrap_or_default();
    Some(Failure { number, shrunk: finding.clone(), finding, document, again: false })
}

fn work(shared: &Shared, job: usize, tell: &mpsc::Sender<Told>) {
    let plan = &shared.plan;
    let mut table = Table::default();
    loop {
        let late = plan.time.is_some_and(|time| shared.started.elapsed() > time);
        if late || shared.over.load(Ordering::Relaxed) {
            break;
        }
        let number = shared.next.fetch_add(1, Ordering::Relaxed);
        if number >= plan.first + plan.runs {
            break;
        }
        let note = |what| {
            if let Ok(mut running) = shared.running[job].lock() {
                *running = what;
            }
        };
        note(Some((number, Instant::now())));
        let told = one(number, plan, &shared.known, &mut table, &|| note(None));
        note(None);
        if tell.send(told).is_err() {
            break;
        }
    }
    let _ = tell.send(Told::Finished(Box::new(table)));
}

fn one(number: u64, plan: &Plan, known: &Registries, table: &mut Table, shrinking: &dyn Fn()) -> Told {
    let drawn = match draw(number, known) {
        Ok(drawn) => drawn,
        Err(said) => {
            let finding = Finding::new("can be drawn", said);
            let shrunk = finding.clone();
            return Told::Failed(Box::new(Failure {
                number,
                finding,
                document: Document::new(),
                shrunk,
                again: false,
            }));
        }
    };
    table.count(&drawn);
    let again = is_repeated(number);
    match examine(&drawn.scenario, again, plan.held) {
        Ok(cost) => Told::Done { cost, number },
        Err(finding) => {
            shrinking();
            let again = again && examine(&drawn.scenario, false, plan.held).is_ok();
            let (document, shrunk) = shrink(&drawn.document, &finding, known, again, plan.held, plan.shrink);
            Told::Failed(Box::new(Failure { number, finding, document, shrunk, again }))
        }
    }
}
