//! One endpoint against a script: segments go in at exact times, and exactly the expected ones come out.
//!
//! The dialect is packetdrill's, with tolerance zero. Every line begins with a time, in seconds since the bench was made
//! (`0.3`) or since the line before (`+.1`). Sequence numbers are relative to the initial ones. `//` begins a comment.
//!
//! ```text
//! 0.1 < S. 0:0(0) ack 1 win 65535 <mss 1040,sackOK>      a segment arrives
//! 0.1 > . 1:1(0) ack 1                                   this one leaves, and no other
//! 0.1 > . 1:10001(10x1000) ack 1                         ten segments of 1000 octets leave
//! 0.2 > [ect0] P. 1:501(500) ack 1 win 8 <nop> {new}     with an ECN field, options, and the kind of transmission
//! 0.2 write 500 | read 500 | shutdown | close | abort    what the application does
//! 0.2 no-delay on | cork off | user-timeout 5 | keepalive 5 1 3 | keepalive none
//! 0.2 cwnd 10000 | ssthresh inf | rto 0.3 | flight 0     what must hold
//! 0.2 state ESTABLISHED | timer 60.2 | timer none | event Closed | unread 0 | unsent 0
//! ```
//!
//! A segment that leaves and is not expected, one that is expected and does not leave, or one that leaves at another time
//! ends the test. Left out in `>` lines: `win` (any window will do), options (there must be none), `{kind}` (any kind).

use std::collections::VecDeque;
use std::fmt::Write as _;

use anabranch_stack::config::KeepAlive;
use anabranch_stack::event::{Event, SendKind};
use anabranch_stack::mptcp::keys::Entropy;
use anabranch_stack::segment::{Cookie, Ecn, Flags, Options, Payload, SackBlocks, Segment, Signal, Timestamps};
use anabranch_stack::tcp::State;
use anabranch_stack::time::{Duration, Instant};
use anabranch_stack::{Config, Connection, Linger, Setting, Transmit};

use crate::pair::entropy;

/// One endpoint under a script.
pub struct Bench {
    /// The time.
    pub now: Instant,
    config: Config,
    entropy: Option<Entropy>,
    cookie: Option<Cookie>,
    connection: Option<Connection>,
    own_iss: Option<u32>,
    /// The peer's initial sequence number.
    pub peer_iss: u32,
    out: VecDeque<(Instant, Transmit)>,
    events: Vec<(Instant, Event)>,
    last_line: Instant,
}

/// What a `>` line expects.
struct Expected {
    segment: Segment,
    window: bool,
    kind: Option<SendKind>,
}

impl Bench {
    fn new(config: Config, entropy: Entropy) -> Self {
        Self {
            now: Instant::ZERO,
            config,
            entropy: Some(entropy),
            cookie: None,
            connection: None,
            own_iss: None,
            peer_iss: 0,
            out: VecDeque::new(),
            events: Vec::new(),
            last_line: Instant::ZERO,
        }
    }

    /// A client whose SYN leaves at 0.
    pub fn client(config: Config) -> Self {
        Self::client_with(config, entropy(1))
    }

    /// As [`Bench::client`], with a secret of its own.
    pub fn client_with(config: Config, entropy: Entropy) -> Self {
        let mut bench = Self::new(config, entropy);
        let entropy = bench.entropy.take().expect("just put there");
        bench.connection = Some(Connection::connect(bench.config.clone(), entropy));
        bench.collect();
        bench
    }

    /// A client whose SYN asks for a cookie or carries `cached`, and of `octets` what it can (RFC 7413 4.2.2).
    pub fn fast_client(config: Config, cached: Option<(Cookie, Option<u16>)>, octets: u64) -> Self {
        let mut bench = Self::new(config, entropy(1));
        let entropy = bench.entropy.take().expect("just put there");
        let mut connection = Connection::connect(bench.config.clone(), entropy);
        connection.request_fast_open(cached);
        assert_eq!(connection.write(octets), octets);
        bench.connection = Some(connection);
        bench.collect();
        bench
    }

    /// A server that waits for a SYN from a client whose cookie is `cookie`.
    pub fn fast_server(config: Config, cookie: Cookie) -> Self {
        Self { cookie: Some(cookie), ..Self::server(config) }
    }

    /// A server that waits for a SYN.
    pub fn server(config: Config) -> Self {
        Self::new(config, entropy(2))
    }

    /// A client at 0.1 s, established with a peer that has every option of ours and a round trip of 0.1 s.
    /// Its timeout is then 0.1 s + 4 * 0.05 s = 0.3 s.
    pub fn open_client(config: Config) -> Self {
        let sack = if config.sack { ",sackOK" } else { "" };
        let syn_ecn = if config.ecn { "SEW" } else { "S" };
        let answer_ecn = if config.ecn { "SE." } else { "S." };
        let mss = config.mss + 40;
        let (ours, theirs, last) = match config.timestamps {
            true => (",TS val 0 ecr 0", ",TS val 1000 ecr 0", "<TS val 100 ecr 1000>"),
            false => ("", "", ""),
        };
        let scale = shift(&config);
        let mut bench = Self::client(config);
        bench.play(&format!(
            "0   > {syn_ecn} 0:0(0) <mss {mss}{sack}{ours},wscale {scale}>
             0.1 < {answer_ecn} 0:0(0) ack 1 win 65535 <mss {mss}{sack}{theirs},wscale 14>
             0.1 > . 1:1(0) ack 1 {last}"
        ));
        bench
    }

    /// The connection.
    pub fn conn(&self) -> &Connection {
        self.connection.as_ref().expect("the SYN has not come")
    }

    /// The connection, to call it directly.
    pub fn conn_mut(&mut self) -> &mut Connection {
        self.connection.as_mut().expect("the SYN has not come")
    }

    /// How many events satisfy `wanted`.
    pub fn count(&self, wanted: impl Fn(&Event) -> bool) -> usize {
        self.events.iter().filter(|e| wanted(&e.1)).count()
    }

    /// Lets time pass; every timer runs when it is due.
    pub fn run_to(&mut self, at: Instant) {
        while let Some(due) = self.connection.as_ref().and_then(Connection::poll_timeout).filter(|&due| due <= at) {
            assert!(due >= self.now, "a timer in the past: {due} at {}", self.now);
            self.now = due;
            self.conn_mut().handle_timeout(due);
            self.collect();
            let next = self.conn().poll_timeout();
            assert!(next.is_none_or(|next| next > due), "a timer that is due stays due at {due}");
        }
        self.now = self.now.max(at);
    }

    /// A segment arrives now.
    pub fn inject(&mut self, segment: &Segment) {
        let now = self.now;
        match &mut self.connection {
            Some(c) => c.handle_segment(now, 0, segment),
            None => {
                let entropy = self.entropy.take().expect("one connection a bench");
                let mut connection = Connection::accept(self.config.clone(), entropy, segment);
                if let Some(cookie) = self.cookie {
                    connection.answer_fast_open(now, segment, cookie);
                }
                self.connection = Some(connection);
            }
        }
        self.collect();
    }

    fn collect(&mut self) {
        let now = self.now;
        let Some(c) = &mut self.connection else { return };
        while let Some(transmit) = c.poll_transmit(now) {
            if self.own_iss.is_none() && transmit.segment.flags.has(Flags::SYN) {
                self.own_iss = Some(transmit.segment.seq);
            }
            self.out.push_back((now, transmit));
        }
        while let Some(event) = c.poll_event() {
            self.events.push((now, event));
        }
    }

    /// Our initial sequence number.
    pub fn own_iss(&self) -> u32 {
        self.own_iss.expect("no SYN has left")
    }

    /// Plays a script. Panics at the first line that does not hold, or if something is left over at its end.
    pub fn play(&mut self, script: &str) {
        for (i, raw) in script.lines().enumerate() {
            let line = raw.split("//").next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let fail = |message: String| panic!("script line {}: {line}\n{message}", i + 1);
            if let Err(message) = self.line(line) {
                fail(message);
            }
        }
        if let Err(message) = self.nothing_left() {
            panic!("at the end of the script\n{message}");
        }
    }

    fn nothing_left(&self) -> Result<(), String> {
        let Some((at, transmit)) = self.out.front() else { return Ok(()) };
        Err(format!("not expected: {at} > {}", self.render(transmit)))
    }

    fn line(&mut self, line: &str) -> Result<(), String> {
        let (time, rest) = line.split_once(char::is_whitespace).ok_or("a time and something to do")?;
        let rest = rest.trim();
        let at = match time.strip_prefix('+') {
            Some(after) => self.last_line + seconds(after)?,
            None => Instant(seconds(time)?.0),
        };
        if at < self.last_line {
            return Err("time goes back".into());
        }
        self.last_line = at;
        if let Some(text) = rest.strip_prefix('>') {
            self.run_to(at);
            return self.expect(at, text);
        }
        // Nothing may leave between the lines; what the timers of this very moment send is a line before this one.
        self.run_to(at);
        self.nothing_left()?;
        if let Some(text) = rest.strip_prefix('<') {
            for (segment, _, _) in self.parse(text, false)? {
                self.inject(&segment);
            }
            return Ok(());
        }
        let (verb, argument) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        self.verb(at, verb, argument.trim())
    }

    fn verb(&mut self, at: Instant, verb: &str, argument: &str) -> Result<(), String> {
        let number = || argument.parse::<u64>().map_err(|e| format!("{argument}: {e}"));
        let same = |what: &str, want: String, have: String| match want == have {
            true => Ok(()),
            false => Err(format!("{what} is {have}")),
        };
        match verb {
            "write" => {
                let octets = number()?;
                let taken = self.conn_mut().write(octets);
                same("taken", octets.to_string(), taken.to_string())?;
            }
            "read" => {
                let octets = number()?;
                let got = self.conn_mut().read(octets);
                same("readable", octets.to_string(), got.to_string())?;
            }
            "shutdown" => self.conn_mut().shutdown_write(),
            "close" => self.conn_mut().close(Linger::Deliver),
            "close-linger-0" => self.conn_mut().close(Linger::Abort),
            // Data and the end of them in one call, so that the last segment is known to be the last.
            "write-shutdown" => {
                let octets = number()?;
                self.conn_mut().write(octets);
                self.conn_mut().shutdown_write();
            }
            "abort" => self.conn_mut().abort(),
            "no-delay" => self.conn_mut().set(at, Setting::NoDelay(argument == "on")),
            "cork" => self.conn_mut().set(at, Setting::Cork(argument == "on")),
            "user-timeout" => {
                let timeout = if argument == "none" { None } else { Some(seconds(argument)?) };
                self.conn_mut().set(at, Setting::UserTimeout(timeout));
            }
            // Idle time, interval, probes.
            "keepalive" => {
                let keepalive = match argument.split_whitespace().collect::<Vec<_>>()[..] {
                    [idle, interval, probes] => Some(KeepAlive {
                        idle: seconds(idle)?,
                        interval: seconds(interval)?,
                        probes: probes.parse().map_err(|e| format!("{probes}: {e}"))?,
                    }),
                    _ => None,
                };
                self.conn_mut().set(at, Setting::KeepAlive(keepalive));
            }
            "cwnd" => same("cwnd", argument.into(), self.subflow().cwnd().floor().to_string())?,
            "ssthresh" => same("ssthresh", argument.into(), self.subflow().ssthresh().floor().to_string())?,
            "flight" => same("in flight", argument.into(), self.subflow().octets_in_flight().to_string())?,
            "unread" => same("readable", argument.into(), self.conn().inbound().readable().to_string())?,
            "unsent" => same("unsent", argument.into(), self.conn().outbound().unsent().to_string())?,
            "rto" => same("rto", seconds(argument)?.to_string(), self.subflow().rto().to_string())?,
            "srtt" => {
                let have = self.subflow().srtt().map_or("none".into(), |d| d.to_string());
                same("srtt", seconds(argument)?.to_string(), have)?;
            }
            "state" => same("state", argument.into(), name(self.subflow().state()).into())?,
            "timer" => {
                let want = match argument {
                    "none" => "none".into(),
                    time => Instant(seconds(time)?.0).to_string(),
                };
                same("timer", want, self.conn().poll_timeout().map_or("none".into(), |t| t.to_string()))?;
            }
            "event" => {
                let has = self.events.iter().any(|(when, e)| *when == at && describe(e) == argument);
                if !has {
                    let all: Vec<_> = self.events.iter().map(|(t, e)| format!("{t} {}", describe(e))).collect();
                    return Err(format!("events: {}", all.join(", ")));
                }
            }
            _ => return Err(format!("unknown verb {verb}")),
        }
        self.collect();
        Ok(())
    }

    fn subflow(&self) -> &anabranch_stack::tcp::subflow::Subflow {
        &self.conn().subflows()[0]
    }

    fn expect(&mut self, at: Instant, text: &str) -> Result<(), String> {
        for (segment, window, kind) in self.parse(text, true)? {
            let expected = Expected { segment, window, kind };
            let Some((when, got)) = self.out.pop_front() else { return Err("nothing left".into()) };
            let mut compared = got.segment;
            if !expected.window {
                compared.window = expected.segment.window;
            }
            let same = compared == expected.segment && when == at && expected.kind.is_none_or(|kind| kind == got.kind);
            if !same {
                let got = self.render(&got);
                return Err(format!("instead: {when} > {got}"));
            }
        }
        Ok(())
    }

    /// The segments of one line: segment, whether a window was given, kind.
    fn parse(&self, text: &str, leaving: bool) -> Result<Vec<(Segment, bool, Option<SendKind>)>, String> {
        let own = self.own_iss.unwrap_or_default();
        let (near, far) = if leaving { (own, self.peer_iss) } else { (self.peer_iss, own) };
        let mut segment = Segment::default();
        let mut rest = text.trim();
        let mut window = false;
        let mut kind = None;
        if let Some(after) = rest.strip_prefix('[') {
            let (ecn, after) = after.split_once(']').ok_or("] is missing")?;
            segment.ecn = match ecn {
                "ect0" => Ecn::Ect0,
                "ce" => Ecn::Ce,
                other => return Err(format!("ECN field {other}")),
            };
            rest = after.trim();
        }
        if let Some((before, after)) = rest.split_once('{') {
            kind = Some(match after.trim_end_matches('}') {
                "control" => SendKind::Control,
                "new" => SendKind::New,
                "fast" => SendKind::Fast,
                "timeout" => SendKind::Timeout,
                "probe" => SendKind::Probe,
                other => return Err(format!("kind {other}")),
            });
            rest = before.trim();
        }
        if let Some((before, after)) = rest.split_once('<') {
            segment.options = options(after.trim_end_matches('>'), far)?;
            rest = before.trim();
        }
        let mut words = rest.split_whitespace();
        for letter in words.next().ok_or("flags")?.chars() {
            segment.flags = segment.flags.with(match letter {
                'S' => Flags::SYN,
                'F' => Flags::FIN,
                'R' => Flags::RST,
                'P' => Flags::PSH,
                'E' => Flags::ECE,
                'U' => Flags::URG,
                'W' => Flags::CWR,
                '.' => Flags::ACK,
                other => return Err(format!("flag {other}")),
            });
        }
        let (start, end, count, len) = range(words.next().ok_or("sequence numbers")?)?;
        while let Some(word) = words.next() {
            let value: u64 = words.next().ok_or("a value")?.parse().map_err(|e| format!("{word}: {e}"))?;
            match word {
                "ack" => segment.ack = far.wrapping_add(value as u32),
                "win" => {
                    segment.window = value as u16;
                    window = true;
                }
                other => return Err(format!("field {other}")),
            }
        }
        if start + count * len != end {
            return Err(format!("{start} + {count} * {len} is not {end}"));
        }
        let one = |i: u64| {
            let seq = start + i * len;
            let mut s = segment;
            s.seq = near.wrapping_add(seq as u32);
            if len > 0 {
                let data = if s.flags.has(Flags::SYN) { seq } else { seq.wrapping_sub(1) };
                s.payload = Payload::new(data, len as u32);
            }
            (s, window, kind)
        };
        Ok((0..count).map(one).collect())
    }

    fn render(&self, transmit: &Transmit) -> String {
        let s = &transmit.segment;
        let own = self.own_iss.unwrap_or_default();
        let seq = s.seq.wrapping_sub(own);
        let mut text = match s.ecn {
            Ecn::NotEct => String::new(),
            Ecn::Ect0 => "[ect0] ".into(),
            Ecn::Ce => "[ce] ".into(),
        };
        let _ = write!(text, "{} {seq}:{}({})", s.flags, seq.wrapping_add(s.payload.len), s.payload.len);
        if s.flags.has(Flags::ACK) {
            let _ = write!(text, " ack {}", s.ack.wrapping_sub(self.peer_iss));
        }
        let _ = write!(text, " win {}", s.window);
        let mut list = Vec::new();
        if let Some(mss) = s.options.mss {
            list.push(format!("mss {mss}"));
        }
        if s.options.sack_permitted {
            list.push("sackOK".into());
        }
        if let Some(ts) = s.options.timestamps {
            list.push(format!("TS val {} ecr {}", ts.val, ts.ecr));
        }
        if let Some(scale) = s.options.window_scale {
            list.push(format!("wscale {scale}"));
        }
        let blocks = s.options.sack.as_slice();
        if !blocks.is_empty() {
            let relative = |n: u32| n.wrapping_sub(self.peer_iss);
            let text: Vec<_> = blocks.iter().map(|b| format!("{}:{}", relative(b.0), relative(b.1))).collect();
            list.push(format!("sack {}", text.join(" ")));
        }
        if !s.options.signal.is_empty() {
            list.push(format!("{:?}", s.options.signal));
        }
        if !s.options.mptcp.is_empty() {
            list.push(format!("{:?}", s.options.mptcp));
        }
        if !list.is_empty() {
            let _ = write!(text, " <{}>", list.join(","));
        }
        let _ = write!(text, " {{{:?}}}", transmit.kind);
        text
    }
}

/// The window scale an endpoint with this configuration offers.
fn shift(config: &Config) -> u8 {
    let buffer = config.receive_buffer.unwrap_or(65_535 << 14);
    (0..14).find(|s| buffer >> s <= 65_535).unwrap_or(14)
}

/// `1:2001(2x1000)`: start, end, count, length.
fn range(text: &str) -> Result<(u64, u64, u64, u64), String> {
    let wrong = || format!("sequence numbers {text}");
    let (start, rest) = text.split_once(':').ok_or_else(wrong)?;
    let (end, rest) = rest.split_once('(').ok_or_else(wrong)?;
    let len = rest.trim_end_matches(')');
    let (count, len) = len.split_once('x').unwrap_or(("1", len));
    let n = |s: &str| s.parse::<u64>().map_err(|_| wrong());
    Ok((n(start)?, n(end)?, n(count)?, n(len)?))
}

fn options(text: &str, far: u32) -> Result<Options, String> {
    let mut o = Options::default();
    for item in text.split(',').map(str::trim) {
        let words: Vec<_> = item.split_whitespace().collect();
        let n = |s: &str| s.parse::<u32>().map_err(|e| format!("{item}: {e}"));
        match words.as_slice() {
            ["mss", v] => o.mss = Some(n(v)? as u16),
            ["sackOK"] => o.sack_permitted = true,
            ["wscale", v] => o.window_scale = Some(n(v)? as u8),
            ["TS", "val", v, "ecr", e] => o.timestamps = Some(Timestamps { val: n(v)?, ecr: n(e)? }),
            ["sack", blocks @ ..] => {
                let mut list = SackBlocks::default();
                for block in blocks {
                    let (from, to) = block.split_once(':').ok_or("a block is from:to")?;
                    list.push(far.wrapping_add(n(from)?), far.wrapping_add(n(to)?));
                }
                o.sack = list;
            }
            ["FO", cookie @ ..] => {
                let hex = cookie.concat();
                let octet = |i: usize| u8::from_str_radix(&hex[i..i + 2], 16).map_err(|e| format!("{item}: {e}"));
                let octets = (0..hex.len()).step_by(2).map(octet).collect::<Result<Vec<_>, _>>()?;
                o.signal = Signal::FastOpen(Cookie::new(&octets).ok_or("a cookie has 4 to 16 octets")?);
            }
            ["nop"] => {}
            _ => return Err(format!("option {item}")),
        }
    }
    Ok(o)
}

/// Decimal seconds, exactly.
fn seconds(text: &str) -> Result<Duration, String> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let wrong = |e| format!("time {text}: {e}");
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().map_err(wrong)? };
    let fraction: u64 = format!("{fraction:0<9}").parse().map_err(wrong)?;
    Ok(Duration(whole * 1_000_000_000 + fraction))
}

fn name(state: State) -> &'static str {
    match state {
        State::SynSent => "SYN-SENT",
        State::SynReceived => "SYN-RECEIVED",
        State::Established => "ESTABLISHED",
        State::FinWait1 => "FIN-WAIT-1",
        State::FinWait2 => "FIN-WAIT-2",
        State::CloseWait => "CLOSE-WAIT",
        State::Closing => "CLOSING",
        State::LastAck => "LAST-ACK",
        State::TimeWait => "TIME-WAIT",
        State::Closed => "CLOSED",
    }
}

fn describe(event: &Event) -> String {
    match event {
        Event::Congestion { cause, .. } => format!("Congestion({cause:?})"),
        Event::Arrived { kind, .. } => format!("{kind:?}"),
        Event::SubflowEnded(_, reason) => format!("Ended({reason:?})"),
        other => format!("{other:?}"),
    }
}

mod tests {
    use super::*;
    use crate::pair::tcp;

    /// 0 SYN, 0.1 SYN/ACK, data in both directions, closed by the peer, then by us.
    #[test]
    fn a_whole_connection_in_a_script() {
        let mut bench = Bench::client(tcp());
        bench.play(
            "0    > S 0:0(0) win 65535 <mss 1040,sackOK,wscale 14>
             0    timer 1
             0.1  < S. 0:0(0) ack 1 win 65535 <mss 1040,sackOK,wscale 7>
             0.1  > . 1:1(0) ack 1
             0.1  event Connected
             0.2  write 2500
             0.2  > . 1:2001(2x1000) ack 1 {new}
             0.25 < . 1:1(0) ack 1001 win 1000
             0.3  < P. 1:101(100) ack 2001 win 1000
             0.3  > P. 2001:2501(500) ack 101
             0.4  < F. 101:101(0) ack 2501 win 1000
             0.4  > . 2501:2501(0) ack 102
             0.4  read 100
             0.4  state CLOSE-WAIT
             +.1  shutdown
             +0   > F. 2501:2501(0) ack 102
             0.6  < . 102:102(0) ack 2502 win 1000
             0.6  state CLOSED
             0.6  event Closed
             0.6  timer none",
        );
    }

    #[test]
    #[should_panic(expected = "not expected: 0.200000000 > P. 1:101(100) ack 1")]
    fn a_segment_too_many_ends_the_script() {
        Bench::open_client(tcp()).play("0.2 write 100");
    }

    #[test]
    #[should_panic(expected = "instead: 0.200000000 > P. 1:101(100) ack 1")]
    fn a_segment_at_another_time_ends_the_script() {
        Bench::open_client(tcp()).play(
            "0.2 write 100
             0.3 > P. 1:101(100) ack 1",
        );
    }
}
