//! A run: connections over the network until their transfers are done, or the scenario's duration is over.

use std::ops::ControlFlow;

use anabranch_measures::account::ConnectionAccount;
use anabranch_measures::items::Items;
use anabranch_measures::recovery::Recovery;
use anabranch_measures::series::Series;
use anabranch_wifi::high::Counts;

use super::app::page::Load;
use super::app::{NEVER, Sender, Source};
use super::datagrams::Datagrams;
use super::measured::Measured;
use super::network::{Network, Work};
use super::packet::{CLIENT, SERVER};
use super::rng::Rng;
use super::session::{self, Make, Slot};
use super::stream::{Next, Stream};
use super::tap::Taps;
use super::trace::{Hashes, Sink, Trace, Watch};
use anabranch_scenario::{Application, Ask, Change, LinkId, Scenario};

/// How far a run is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Virtual time in nanoseconds.
    pub now: u64,
    /// Octets read so far by all receiving applications.
    pub read: u64,
    /// Octets to read in all, if every transfer has an end by octets.
    pub total: Option<u64>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Every transfer is over.
    Completed,
    /// The scenario's duration was reached.
    Duration,
    /// The caller stopped it.
    Stopped,
}

/// A finished run.
#[derive(Debug)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// Virtual time at the end, nanoseconds.
    pub now: u64,
    /// Events processed.
    pub events: u64,
    /// Accounts, one a connection.
    pub accounts: Vec<ConnectionAccount>,
    /// Time series.
    pub series: Series,
    /// Hash of the trace.
    pub trace_sha256: String,
    /// Hash of the trace without random keys and sequence numbers; see [`Hashes`].
    pub events_hash: String,
    /// The first error of writing the trace, if any.
    pub trace_error: Option<std::io::Error>,
    /// The first error of writing captures, if any.
    pub capture_error: Option<std::io::Error>,
    /// What was sent up and down over each wireless link of 802.11n and later.
    pub radio: Vec<(usize, [Counts; 2])>,
    /// The work of each host whose segments cost time.
    pub work: Vec<Work>,
}

impl Outcome {
    /// Takes the parts of the transfers that have some, each with the number of its connection.
    pub fn items(&mut self) -> Vec<(usize, Items)> {
        let accounts = self.accounts.iter_mut().enumerate();
        accounts.filter_map(|(i, a)| Some((i, a.items.take()?))).collect()
    }
}

/// A session. The engine's connections are called directly: an event of theirs takes less time than
/// a call by table.
#[derive(Debug)]
enum Session {
    Stream(Box<Stream>),
    Other(Box<dyn session::Session>),
}

impl Session {
    #[inline]
    fn account(&mut self) -> &mut ConnectionAccount {
        match self {
            Self::Stream(s) => &mut s.account,
            Self::Other(s) => s.account_mut(),
        }
    }

    fn any(&self) -> &dyn session::Session {
        match self {
            Self::Stream(s) => &**s,
            Self::Other(s) => &**s,
        }
    }

    fn any_mut(&mut self) -> &mut dyn session::Session {
        match self {
            Self::Stream(s) => &mut **s,
            Self::Other(s) => &mut **s,
        }
    }

    fn into_account(self) -> ConnectionAccount {
        match self {
            Self::Stream(s) => s.account,
            Self::Other(s) => s.into_account(),
        }
    }
}

/// The simulated world.
#[derive(Debug)]
pub struct World {
    net: Network,
    sessions: Vec<Session>,
    changes: Vec<(LinkId, Change)>,
    next_change: usize,
    /// By connection: when the time of its transfer is over, and what was noted then. The earliest of the former.
    due: Vec<u64>,
    first_due: u64,
    measured: Vec<Option<Box<Measured>>>,
    series: Series,
    events: u64,
    /// Steps at which `poll` is asked next.
    ask_at: u64,
    open: usize,
    duration: u64,
    total: Option<u64>,
    /// By connection: it helps another one to load its page.
    helpers: Vec<bool>,
}

// Slots after the links': one for changes, then three a session: client's timer, server's timer, applications.
const SLOTS_PER_SESSION: usize = 3;
const APP: usize = 2;

/// Steps (events, packets sent, what a frame is to many stations) between two questions whether to go on: some milliseconds of
/// wall time.
pub const POLL: u64 = 8192;

/// A transfer that has not moved for this long is stalled.
const STALL: u64 = 10_000_000_000;

/// Octets to read in all, if every transfer has an end by octets.
pub fn total(scenario: &Scenario) -> Option<u64> {
    scenario.connections.iter().try_fold(0_u64, |sum, c| Some(sum.saturating_add(Sender::total(&c.transfer)?)))
}

/// The number of the page that connection `i` loads: a new one, or that of the connection it helps. `pages` are those of the
/// connections before it.
fn page_of(scenario: &Scenario, i: usize, pages: &[Option<usize>], net: &mut Network, started: u64) -> Option<usize> {
    let c = &scenario.connections[i];
    let Application::Page(page) = &c.transfer.application else { return None };
    if let Some(leader) = c.helps {
        return pages[leader];
    }
    net.loads.push(Load::new(page, scenario.seed, &c.name, started));
    Some(net.loads.len() - 1)
}

impl World {
    /// Sets the scene. The scenario was validated. `other` makes the sessions of connections that
    /// are not the engine's. `None` if `ask` does not want to go on.
    pub fn new(scenario: &Scenario, sink: Option<Sink>, other: Make<'_>, ask: Ask<'_>) -> Option<Self> {
        let n = scenario.connections.len();
        let mut net = Network::new(scenario, 1 + SLOTS_PER_SESSION * n, Trace::new(sink), ask)?;
        let mut changes: Vec<(LinkId, Change)> = Vec::new();
        for (link, l) in scenario.links.iter().enumerate() {
            changes.extend(l.changes.iter().map(|c| (link, c.clone())));
        }
        changes.sort_by_key(|(_, c)| c.at);
        let first = net.first_other_slot();
        if let Some((_, change)) = changes.first() {
            net.schedule(first, change.at.0);
        }
        let (mut sessions, mut due, mut pages) = (Vec::new(), Vec::new(), Vec::<Option<usize>>::new());
        for (i, c) in scenario.connections.iter().enumerate() {
            if ask().is_break() {
                return None;
            }
            // Those that load one page start together.
            let leader = &scenario.connections[c.helps.unwrap_or(i)];
            let mut rng = Rng::new(scenario.seed, &format!("connection {} start", leader.name));
            let started = c.transfer.start.0 + (rng.uniform() * c.transfer.start_spread.0 as f64) as u64;
            let slot = first + 1 + SLOTS_PER_SESSION * i;
            pages.push(page_of(scenario, i, &pages, &mut net, started));
            if let Some(page) = pages[i] {
                net.loads[page].slots.push(slot + APP);
            }
            net.flows[i].slot = slot + APP;
            net.schedule(slot + APP, started);
            due.push(c.transfer.length().map_or(NEVER, |length| started.saturating_add(length.0)));
            let slots = [slot, slot + 1, slot + APP];
            let source = Source::new(&c.transfer, c.config.mss, started, net.path_rate(i, 0));
            sessions.push(match (other(scenario, i, started, slots), source) {
                (Some(other), _) => Session::Other(other),
                (None, Some(source)) => Session::Other(Box::new(Datagrams::new(i, source, slot + APP))),
                (None, None) => Session::Stream(Box::new(Stream::new(scenario, i, started, slots, pages[i]))),
            });
        }
        for (i, session) in sessions.iter_mut().enumerate() {
            session.account().recovery = Recovery::new(scenario.path_changes(i));
        }
        Some(Self {
            net,
            sessions,
            changes,
            next_change: 0,
            first_due: due.iter().copied().min().unwrap_or(NEVER),
            due,
            measured: vec![None; n],
            series: Series::default(),
            events: 0,
            ask_at: POLL,
            open: n,
            duration: scenario.duration.0,
            total: total(scenario),
            helpers: scenario.connections.iter().map(|c| c.helps.is_some()).collect(),
        })
    }

    /// What passes is captured.
    pub fn capture(&mut self, scenario: &Scenario, taps: Taps) {
        self.net.capture(scenario, taps);
    }

    /// `watch` is told of every record of the trace.
    pub fn watch(&mut self, watch: Box<dyn Watch>) {
        self.net.trace.watch(watch);
    }

    /// What each subflow waits for is recorded.
    pub fn causes(&mut self) {
        for session in &mut self.sessions {
            if let Session::Stream(stream) = session {
                stream.ask_causes();
            }
        }
    }

    /// No series over time are taken.
    pub fn no_series(&mut self) {
        self.series = Series::none();
    }

    /// Runs to the end; `poll` is asked now and then whether to go on. A run whose trace or
    /// captures cannot be written ends at the next such moment.
    pub fn run(mut self, poll: &mut dyn FnMut(&Progress) -> ControlFlow<()>) -> Outcome {
        let others = self.net.first_other_slot();
        let end = loop {
            if self.open == 0 {
                break End::Completed;
            }
            let (slot, key) = self.net.slots.take();
            let at = key.at();
            if at > self.duration {
                self.sample_until(self.duration);
                self.net.end(self.duration);
                break End::Duration;
            }
            if at >= self.series.due() {
                self.sample_until(at);
            }
            self.net.begin(key);
            self.events += 1;
            // One event may send many packets; however many it sends, the question comes.
            let work = self.events + self.net.work;
            if work >= self.ask_at {
                self.ask_at = work + POLL;
                let progress = Progress { now: at, read: self.net.read, total: self.total };
                if poll(&progress).is_break() || self.net.cannot_write() {
                    break End::Stopped;
                }
            }
            if slot < others {
                let mut arrived = self.net.run(slot);
                while let Some(id) = arrived {
                    self.on_packet(id);
                    self.net.pool.release(id);
                    arrived = self.net.also_arrived.pop_front();
                }
            } else if slot == others {
                self.on_change(slot);
            } else {
                let other = slot - others - 1;
                self.on_session_slot(other / SLOTS_PER_SESSION, other % SLOTS_PER_SESSION);
            }
        };
        self.finish(end)
    }

    fn on_packet(&mut self, id: u32) {
        let i = self.net.pool.get(id).connection as usize;
        match &mut self.sessions[i] {
            Session::Stream(stream) => {
                if stream.on_packet(&mut self.net, id) == Next::GoesOn && self.net.now < self.first_due {
                    return;
                }
            }
            Session::Other(session) => session.on_packet(&mut self.net, id),
        }
        self.note_end(i);
    }

    fn on_session_slot(&mut self, i: usize, what: usize) {
        match &mut self.sessions[i] {
            Session::Stream(stream) if what == APP => stream.on_application(&mut self.net),
            Session::Stream(stream) => {
                let side = if what == 0 { CLIENT } else { SERVER };
                stream.on_timer(&mut self.net, side);
            }
            Session::Other(session) => session.on_slot(&mut self.net, Slot::ALL[what]),
        }
        self.note_end(i);
    }

    fn on_change(&mut self, slot: usize) {
        while let Some((link, change)) = self.changes.get(self.next_change).filter(|(_, c)| c.at.0 <= self.net.now) {
            self.net.change(*link, change);
            self.next_change += 1;
        }
        let next = self.changes.get(self.next_change).map_or(NEVER, |(_, c)| c.at.0);
        self.net.schedule(slot, next);
    }

    /// The time of the transfer of `i` is over; it may go on.
    #[cold]
    fn measure(&mut self, i: usize) {
        let account = self.sessions[i].account();
        if self.measured[i].as_ref().is_none_or(|m| m.is_older_than(account)) && account.done.is_none() {
            let net = &self.net;
            let subflows = net.flows[i].tuples.iter().enumerate();
            let carried = subflows.map(|(tuple, t)| (net.wire(i, tuple), net.capacity_since_start(i, t.path)));
            self.measured[i] = Some(Box::new(Measured::new(net.now, account, &net.flows[i].tuples, carried)));
        }
    }

    /// If the transfer of `i` has just ended, its account is closed.
    #[inline]
    fn note_end(&mut self, i: usize) {
        if self.net.now >= self.due[i] {
            self.measure(i);
        }
        let account = self.sessions[i].account();
        if (account.done.is_some() || account.failed.is_some()) && account.ended == 0 {
            self.open -= 1;
            self.close_account(i);
        }
    }

    /// Ends the accounts of a connection: what is true at the end of its transfer, or of the run.
    fn close_account(&mut self, i: usize) {
        let flow = &self.net.flows[i];
        let mut subflows = flow.tuples.clone();
        for (tuple, t) in subflows.iter_mut().enumerate() {
            t.wire = self.net.wire(i, tuple);
            t.capacity = self.net.capacity_since_start(i, t.path);
        }
        self.sessions[i].any_mut().close(&self.net, &mut subflows, !self.helpers[i]);
        let account = self.sessions[i].account();
        account.subflows = subflows;
        account.ended = self.net.now;
        if let (Some(measured), None) = (self.measured[i].take(), account.done) {
            measured.apply(account);
        }
    }

    fn sample_until(&mut self, until: u64) {
        let Self { series, sessions, net, .. } = self;
        while series.due() <= until {
            // Nothing moves: what would be drawn is known already.
            if series.due() > net.moved.saturating_add(STALL) {
                series.skip(until);
                break;
            }
            let there = series.take(|at, out| {
                for (session, flow) in sessions.iter().zip(&net.flows) {
                    let session = session.any();
                    if session.account().done.is_none() {
                        session.sample(at, &flow.tuples, out);
                    }
                }
            });
            if !there {
                // Where nobody is, nobody comes before the next event.
                series.skip(until);
            }
        }
    }

    fn finish(mut self, end: End) -> Outcome {
        let now = self.net.now;
        for i in 0..self.sessions.len() {
            self.sessions[i].any_mut().on_end_of_run(&mut self.net);
            if self.sessions[i].account().ended > 0 {
                continue;
            }
            self.close_account(i);
            let session = self.sessions[i].any();
            let (stuck, last_progress, asleep) = (session.stuck_since(), session.last_progress(), session.is_asleep());
            let account = self.sessions[i].account();
            account.asleep = asleep;
            if let (Some(began), Some(stuck), None) = (account.began, stuck, account.done) {
                // In a short run, half of it counts.
                let quiet = now - stuck;
                if quiet >= STALL.min((now - began) / 2).max(1) {
                    account.stalled_since = Some(last_progress);
                }
            }
        }
        let Self { net, sessions, series, events, .. } = self;
        let accounts = sessions.into_iter().map(Session::into_account).collect();
        let radio = net.radio_counts();
        let work = net.work(now);
        let (hashes, trace_error, capture_error) = net.finish();
        let Hashes { trace: trace_sha256, events: events_hash } = hashes;
        Outcome {
            end,
            now,
            events,
            accounts,
            series,
            trace_sha256,
            events_hash,
            trace_error,
            capture_error,
            radio,
            work,
        }
    }
}
