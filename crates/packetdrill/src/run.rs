//! Runs a script: its events in order, at exact times.
//!
//! All timers due up to the time of an event run before the event. So a timer that expires at the
//! arrival time of a segment runs before the arrival.

use anabranch_stack::segment::{Ecn, Flags, Segment};
use anabranch_stack::time::Instant;

use super::ast::{Action, Base, Call, Event, Icmp, Mark, Packet, Script, When};
use super::compare::{compare, join, join_fin, written};
use super::flow::Flow;
use super::host::{Host, Sent};
use super::listing;
use super::mptcp::{Arriving, Mp, flows};
use super::names::{self, Names};
use super::option;
use super::report::{Mismatch, Note, Report, Status, Step, Stop, seconds};
use super::settings::{Options, Settings};
use super::shell;
use super::sockets::{Role, Sockets};
use super::system::{self, Returned, System, expected, judge};

/// Why an assertion does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The assertion is false: its text, and the values of its names.
    False(String, String),
    /// The assertion uses an unknown name.
    Unknown(String),
    /// The assertion cannot be evaluated: why.
    Wrong(String),
}

/// Evaluates assertions.
pub type Assert<'a> = dyn FnMut(&str, &Names) -> Result<(), Refusal> + 'a;

/// A blocking system call that has not returned.
struct Waiting {
    place: Note,
    call: Call,
    /// Time at which the script expects the call to return.
    until: Instant,
    /// Octets that the call has transferred so far.
    progress: u64,
}

/// End of an unlimited time range.
const EVER: Instant = Instant(u64::MAX / 2);

struct Run<'a> {
    host: Host,
    sockets: Sockets,
    settings: Settings,
    waiting: Option<Waiting>,
    /// Time of the previous event.
    last: Instant,
    assert: &'a mut Assert<'a>,
}

/// Runs a script.
pub fn run<'a>(script: &Script, options: &Options, assert: &'a mut Assert<'a>) -> Report {
    let mut report = Report::begun(options.profile.name());
    let settings = match Settings::new(options, &script.options) {
        Ok(settings) => settings,
        Err(why) => {
            (report.status, report.why) = (Status::Invalid, Some(why));
            return report;
        }
    };
    let mut settings = settings;
    settings.icmp = script.events.iter().any(|event| matches!(event.action, Action::Icmp(_)));
    let (mut host, sockets) = (Host::new(options), Sockets::default());
    host.reachable.push(settings.remote);
    let mut run = Run { host, sockets, settings, waiting: None, last: Instant::ZERO, assert };
    for event in &script.events {
        if let Err((place, stop)) = run.step(event) {
            run.stopped(&mut report, place, stop);
            break;
        }
        report.events += 1;
    }
    if let (Status::Passed, Some(waiting)) = (report.status, &run.waiting) {
        let latest = run.latest(waiting.until);
        if let Err((place, stop)) = run.advance(latest).and_then(|()| run.ended()) {
            run.stopped(&mut report, place, stop);
        }
    }
    report.notes = std::mem::take(&mut run.settings.notes);
    report.inert = std::mem::take(&mut run.settings.inert);
    report.unchecked = std::mem::take(&mut run.settings.unchecked);
    match (report.status, report.unchecked.first()) {
        (Status::Passed, Some(first)) => (report.status, report.why) = (Status::Unsupported, Some(first.clone())),
        (Status::Passed, None) if !(report.notes.is_empty() && report.inert.is_empty()) => {
            report.status = Status::Noted
        }
        _ => {}
    }
    report
}

/// Result of a step, or the line at which it stopped and the reason.
type At<T> = Result<T, (Note, Stop)>;

impl Event {
    fn place(&self) -> Note {
        Note { line: self.line, text: self.text.clone() }
    }
}

impl Run<'_> {
    fn stopped(&self, report: &mut Report, place: Note, stop: Stop) {
        let note = |text| Some(Note { line: place.line, text });
        match stop {
            Stop::Lacks(what) => (report.status, report.why) = (Status::Unsupported, note(what)),
            Stop::Wrong(what) => (report.status, report.why) = (Status::Invalid, note(what)),
            Stop::Differs(expected, actual) => {
                report.status = Status::Failed;
                report.mismatch = Some(Mismatch {
                    line: place.line,
                    text: place.text.clone(),
                    time: seconds(self.host.now.0),
                    expected,
                    actual,
                    state: self.state(),
                });
            }
        }
    }

    /// Describes the state and both sequence spaces of the current connection, in the script's
    /// numbers.
    fn state(&self) -> Vec<String> {
        let Some(flow) = self.host.current.map(|at| &self.host.flows[at]) else {
            return vec!["state     no connection".to_owned()];
        };
        let Some((_, info)) = self.host.current_info() else {
            return vec!["state     no connection any more".to_owned()];
        };
        let mss = f64::from(info.mss.max(1));
        let (una, nxt, rcv) = (flow.to_ours(info.snd_una), flow.to_ours(info.snd_nxt), flow.to_theirs(info.rcv_nxt));
        let mut lines = vec![
            format!(
                "we        {:?}, {una} acknowledged, {nxt} next to send; window {:.2} segments of {}, timeout {}",
                info.state,
                info.cwnd / mss,
                info.mss,
                info.rto
            ),
            format!("the peer  {rcv} next to arrive"),
        ];
        lines.extend(self.host.sent.iter().take(5).map(|s| {
            let of = &self.host.flows[s.flow];
            format!("sent too  at {} s: {}", seconds(s.at.0), written(s, of, &mut self.host.names.clone()))
        }));
        lines
    }

    fn latest(&self, at: Instant) -> Instant {
        Instant(at.0.saturating_add(self.settings.tolerance.0).min(EVER.0))
    }

    /// Returns the earliest and the latest time of an event.
    fn times(&self, when: When) -> (Instant, Instant) {
        let from = |base, ns: u64| match base {
            Base::Start => Instant(ns),
            Base::Previous => Instant(self.last.0.saturating_add(ns).min(EVER.0)),
        };
        match when {
            When::Next => (self.last, self.last),
            When::Any => (self.last, EVER),
            When::At(base, at) => (from(base, at), from(base, at)),
            When::Within(base, begin, end) | When::Lasts(base, begin, end) => (from(base, begin), from(base, end)),
        }
    }

    fn step(&mut self, event: &Event) -> At<()> {
        let here = |stop| (event.place(), stop);
        if let (Action::Call(_), Some(waiting)) = (&event.action, &self.waiting) {
            // The application has one thread: the previous call must return before the next one.
            let latest = self.latest(waiting.until);
            self.advance_until(latest, |run| run.waiting.is_none())?;
            self.overdue()?;
        }
        let (begin, end) = self.times(event.when);
        if self.latest(begin) < self.host.now {
            let now = seconds(self.host.now.0);
            return Err(here(Stop::Wrong(format!("{} s is in the past: the script is at {now} s", seconds(begin.0)))));
        }
        if let Action::Outbound(expected) = &event.action {
            return self.outbound(event, expected, begin, end);
        }
        self.advance(begin)?;
        self.overdue()?;
        self.last = begin;
        match &event.action {
            Action::Inbound(packet) => self.inbound(packet).map_err(here)?,
            Action::Icmp(icmp) => self.icmp(icmp).map_err(here)?,
            Action::Call(call) => self.call(event, call, end)?,
            Action::Shell(commands) => self.shell(event.line, commands).map_err(here)?,
            Action::Assert(code) => self.check(code).map_err(here)?,
            Action::Outbound(_) => {}
        }
        self.retry()
    }

    // ---- time -----------------------------------------------------------------------------------

    /// Advances the clock to `to` and runs all timers due up to then.
    fn advance(&mut self, to: Instant) -> At<()> {
        self.advance_until(to, |_| false)?;
        self.host.now = self.host.now.max(to);
        Ok(())
    }

    /// Like [`Run::advance`], but stops as soon as `done` returns true. Leaves the clock at the
    /// latest timer.
    fn advance_until(&mut self, to: Instant, done: impl Fn(&Self) -> bool) -> At<()> {
        while !done(self) {
            let Some(at) = self.host.deadline().filter(|at| *at <= to) else { break };
            let fired = self.host.fire(at);
            fired.map_err(|stop| (self.nowhere(), stop))?;
            self.retry()?;
        }
        Ok(())
    }

    /// Returns the line to blame for an error between two events: the line of the blocked call, or
    /// line 0.
    fn nowhere(&self) -> Note {
        self.waiting.as_ref().map_or(Note { line: 0, text: String::new() }, |w| w.place.clone())
    }

    // ---- calls ----------------------------------------------------------------------------------

    fn call(&mut self, event: &Event, call: &Call, end: Instant) -> At<()> {
        let waiting = Waiting { place: event.place(), call: call.clone(), until: end, progress: 0 };
        self.waiting = Some(waiting);
        self.retry()?;
        let lasts = matches!(event.when, When::Lasts(..));
        match &self.waiting {
            Some(_) if !lasts => {
                let expected = expected(call);
                Err((event.place(), Stop::Differs(expected, format!("{} waits", call.name))))
            }
            _ => Ok(()),
        }
    }

    /// Retries the blocked call, and checks its result if it returns now.
    fn retry(&mut self) -> At<()> {
        let Some(mut waiting) = self.waiting.take() else { return Ok(()) };
        let place = waiting.place.clone();
        let here = |stop| (place.clone(), stop);
        let returned = {
            let mut system = System {
                host: &mut self.host,
                sockets: &mut self.sockets,
                settings: &mut self.settings,
                progress: &mut waiting.progress,
                line: place.line,
            };
            system::call(&mut system, &waiting.call).map_err(here)?
        };
        if returned == Returned::Blocks {
            self.waiting = Some(waiting);
            return Ok(());
        }
        judge(&waiting.call, returned).map_err(here)?;
        let (now, until) = (self.host.now, waiting.until);
        if now < until && until.since(now) > self.settings.tolerance {
            let (now, until) = (seconds(now.0), seconds(until.0));
            let stop = Stop::Differs(format!("{} returns at {until} s", waiting.call.name), format!("at {now} s"));
            return Err((place, stop));
        }
        Ok(())
    }

    /// Fails if the blocked call has not returned at its expected time.
    fn overdue(&self) -> At<()> {
        match &self.waiting {
            Some(w) if self.host.now > self.latest(w.until) || self.host.now == EVER => {
                let (until, now) = (seconds(w.until.0), seconds(self.host.now.0));
                let expected = format!("{} returns at {until} s", w.call.name);
                Err((w.place.clone(), Stop::Differs(expected, format!("at {now} s the call still blocks"))))
            }
            _ => Ok(()),
        }
    }

    /// Fails if a call is still blocked after the last event.
    fn ended(&self) -> At<()> {
        let Some(w) = &self.waiting else { return Ok(()) };
        let expected = format!("{} returns at {} s", w.call.name, seconds(w.until.0));
        Err((w.place.clone(), Stop::Differs(expected, "the call still blocks when the script ends".to_owned())))
    }

    // ---- segments -------------------------------------------------------------------------------

    fn inbound(&mut self, packet: &Packet) -> Step<()> {
        // An arriving ECT(1) is equivalent to ECT(0) (RFC 3168 5).
        if packet.accurate {
            return Stop::lacks("Accurate ECN (RFC 9768)");
        }
        let Some(options) = &packet.options else {
            return Stop::wrong(
                "an arriving segment needs its options written out; <...> is only for segments that are sent",
            );
        };
        let syn = packet.flags & Flags::SYN.0 != 0;
        let mut at = None;
        if flows::is_said(packet) {
            let listener = self.sockets.all().find(|t| t.role == Role::Listening).and_then(|t| t.local);
            at = Some(flows::arrive(&mut self.host, packet, self.settings.remote, listener)?);
        } else if self.host.current.is_none() || syn && packet.flags & Flags::ACK.0 == 0 {
            self.opens();
        }
        let Some(at) = at.or(self.host.current) else { return Stop::wrong("a segment arrives on no connection") };
        let flow = &mut self.host.flows[at];
        if syn {
            flow.note_peer_syn(packet.seq);
        }
        let mut segment = arriving(packet, flow, options);
        let (names, addresses) = (&mut self.host.names, flow.addresses);
        let joins = options.iter().any(|o| matches!(o, option::Opt::Mptcp(Mp::JoinSyn { .. })));
        if syn && packet.flags & Flags::ACK.0 == 0 && flow.member.session.is_none() && !joins {
            names.begin(&mut flow.member, addresses.remote.ip());
        }
        Arriving { names, member: &mut flow.member, addresses, packet }.complete(options, &mut segment.options)?;
        self.host.arrive(at, &segment, packet.len, self.settings.largest_arrival)
    }

    /// Selects the flow of an arriving SYN, or of any arriving segment while no flow is current.
    ///
    /// Keeps the current flow if it has a connection. Otherwise makes a new flow current: from a
    /// new port of the peer to the address of a listener. Without a listener, a segment for which
    /// no flow is current arrives at [`Run::bound`].
    fn opens(&mut self) {
        if self.host.current.is_some_and(|at| self.host.connection_on(at).is_some()) {
            return;
        }
        let listener = self.sockets.all().find(|t| t.role == Role::Listening).and_then(|t| t.local);
        let Some(local) = listener.or(self.host.current.is_none().then(|| self.bound())) else { return };
        let port = u16::try_from(50_000 + self.host.flows.len()).unwrap_or(u16::MAX);
        let remote = std::net::SocketAddr::new(self.settings.remote, port);
        self.host.enter(anabranch_stack::host::Addresses { local, remote });
    }

    /// Returns the local address of a segment that arrives while no socket listens: the address of
    /// a bound socket, or else our address with packetdrill's default port.
    fn bound(&self) -> std::net::SocketAddr {
        let bound = self.sockets.all().find_map(|t| t.local);
        bound.unwrap_or(std::net::SocketAddr::new(self.settings.local, system::PORT))
    }

    fn outbound(&mut self, event: &Event, expected: &Packet, begin: Instant, end: Instant) -> At<()> {
        let here = |stop| (event.place(), stop);
        if expected.accurate || expected.mark == Some(Mark::Ect1) {
            return Err(here(Stop::Lacks("Accurate ECN (RFC 9768)".to_owned())));
        }
        if let Some(what) = expected.options.as_deref().and_then(option::lacking) {
            return Err(here(Stop::Lacks(what.to_owned())));
        }
        let latest = self.latest(end);
        let found = |run: &Self| {
            let flow = flows::leave(&run.host, expected);
            flow.is_some() && run.host.sent.iter().any(|s| Some(s.flow) == flow)
        };
        if event.when != When::Any && !found(self) {
            self.advance_until(begin, found)?;
        }
        self.advance_until(latest, found)?;
        self.overdue()?;
        let flow = flows::leave(&self.host, expected);
        let Some(sent) = flow.and_then(|flow| self.take(flow, expected)) else {
            let until =
                if latest == EVER { "at any time".to_owned() } else { format!("until {} s", seconds(latest.0)) };
            return Err(here(Stop::Differs(expected.to_string(), format!("nothing is sent {until}"))));
        };
        flows::left(&mut self.host, sent.flow, expected);
        let Host { flows, names, .. } = &mut self.host;
        let exact = self.settings.exact_stamps;
        let notes = compare(expected, &sent, &mut flows[sent.flow], names, exact).map_err(here)?;
        notes.into_iter().for_each(|text| self.settings.note_inert(event.line, text.to_owned()));
        self.host.share_cookies(sent.flow);
        let early = event.when != When::Any && Instant(sent.at.0.saturating_add(self.settings.tolerance.0)) < begin;
        if early || sent.at > latest {
            let (begin, end) = (seconds(begin.0), seconds(end.0));
            let times = if begin == end { format!("at {begin} s") } else { format!("from {begin} s to {end} s") };
            return Err(here(Stop::Differs(times, format!("at {} s", seconds(sent.at.0)))));
        }
        self.last = if matches!(event.when, When::At(..)) { begin } else { sent.at };
        Ok(())
    }

    /// Takes the next sent segment on `flow`. Joins it with the segments that follow, up to the
    /// length of the expected segment. If the script expects a FIN, also joins a following FIN
    /// without data.
    fn take(&mut self, flow: usize, expected: &Packet) -> Option<Sent> {
        let len = expected.len;
        let at = self.host.sent.iter().position(|s| s.flow == flow)?;
        let mut first = self.host.sent.remove(at)?;
        while self.settings.joins && first.len < len {
            let Some(next) = self.host.sent.get(at) else { break };
            if first.len + next.len > len || !join(&mut first, next) {
                break;
            }
            self.host.sent.remove(at);
        }
        // The script expects data and FIN in one segment, but the engine may send the FIN in a
        // segment of its own.
        let whole = self.settings.joins && expected.flags & Flags::FIN.0 != 0 && first.len == expected.len;
        if whole && self.host.sent.get(at).is_some_and(|next| join_fin(&mut first, next)) {
            self.host.sent.remove(at);
        }
        Some(first)
    }

    fn icmp(&mut self, icmp: &Icmp) -> Step<()> {
        // Without a segment in brackets the ICMP message quotes the SYN.
        let seq = icmp.about.map_or(0, |(seq, _)| seq);
        let at = flows::concerned(&self.host, icmp, seq)?;
        let (addresses, seq) = (self.host.flows[at].addresses, self.host.flows[at].ours(seq));
        match (&*icmp.kind, &*icmp.code, icmp.mtu) {
            ("unreachable", "frag_needed", Some(mtu)) | ("packet_too_big", _, Some(mtu)) => {
                self.host.endpoint.handle_too_big(self.host.now, addresses, seq, mtu);
            }
            // RFC 9293 3.9.2.2: soft errors. A script may leave out the code 0 (`net_unreachable`).
            ("unreachable", "" | "net_unreachable" | "host_unreachable" | "source_route_failed" | "no_route", _)
            | ("time_exceeded" | "parameter_problem", _, _) => {
                self.host.endpoint.handle_soft_error(addresses, seq);
            }
            // RFC 9293 3.9.2.2, SHLD-26: hard errors, which abort a connection in its handshake.
            ("unreachable", "protocol_unreachable" | "port_unreachable", _) => {
                self.host.endpoint.handle_unreachable(self.host.now, addresses, seq);
            }
            (kind, code, _) => return Stop::lacks(format!("icmp {kind} {code}")),
        }
        self.host.pump()
    }

    // ---- the rest -------------------------------------------------------------------------------

    fn shell(&mut self, line: u32, commands: &str) -> Step<()> {
        // Shell lines read and change state of the host, so the settings borrow this state.
        self.settings.listing = listing::of(&self.host);
        let listening = self.sockets.all().filter(|t| t.role == Role::Listening);
        self.settings.ports = listening.filter_map(|t| t.local).map(|local| local.port()).collect();
        std::mem::swap(&mut self.settings.paths, &mut self.host.manager);
        std::mem::swap(&mut self.settings.counters, &mut self.host.counters);
        let done = shell::run(&mut self.settings, line, commands);
        std::mem::swap(&mut self.settings.paths, &mut self.host.manager);
        std::mem::swap(&mut self.settings.counters, &mut self.host.counters);
        done?;
        if std::mem::take(&mut self.settings.forgets) {
            self.host.endpoint.forget_fast_open_servers();
        }
        let changes = std::mem::take(&mut self.settings.changes);
        self.host.change_paths(&changes)?;
        let listening: Vec<_> = self.sockets.all().filter(|t| t.role == Role::Listening).cloned().collect();
        for tcp in listening {
            tcp.listen(&mut self.host, &self.settings, 1024);
        }
        Ok(())
    }

    fn check(&mut self, code: &str) -> Step<()> {
        let mut names = names::of(&self.host);
        if self.host.current.is_none() && self.sockets.all().any(|t| t.role == Role::Listening) {
            names.insert("tcpi_state", names["TCP_LISTEN"]);
        }
        match (self.assert)(code, &names) {
            Ok(()) => Ok(()),
            Err(Refusal::False(expected, actual)) => Stop::differs(expected, actual),
            Err(Refusal::Unknown(name)) => Stop::lacks(format!("{name} in an assertion")),
            Err(Refusal::Wrong(why)) => Stop::wrong(why),
        }
    }
}

/// Converts a segment of the script into the segment that arrives at the engine.
fn arriving(packet: &Packet, flow: &Flow, options: &[option::Opt]) -> Segment {
    let syn = packet.flags & Flags::SYN.0 != 0;
    let ecn = match packet.mark {
        Some(Mark::Ce) => Ecn::Ce,
        Some(Mark::Ect0) => Ecn::Ect0,
        _ => Ecn::NotEct,
    };
    // The peer's SYN/ACK acknowledges our SYN by the absolute number in the script. All later
    // numbers are relative to our SYN.
    let first = if syn { flow.our_syn } else { 0 };
    Segment {
        seq: flow.theirs(packet.seq, syn),
        ack: if packet.flags & Flags::ACK.0 != 0 { flow.ours(packet.ack.unwrap_or(0).wrapping_sub(first)) } else { 0 },
        window: packet.window.unwrap_or(0),
        flags: Flags(packet.flags),
        ecn,
        options: option::arriving(options, flow),
        ..Segment::default()
    }
}
