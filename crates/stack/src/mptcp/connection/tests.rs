//! Tests that look inside a connection: schedulers that are not registered, and header prediction.

use super::Connection;
use crate::config::Config;
use crate::controller::Adjust;
use crate::event::{SendBlock, SendKind, SubflowId};
use crate::mptcp::keys::Entropy;
use crate::scheduler::{Assignment, Decision, Offer, Scheduler, Subflows};
use crate::segment::{Ecn, Segment};
use crate::time::{Duration, Instant};

/// A scheduler that waits before each segment.
#[derive(Debug)]
struct Waits {
    until: Option<Instant>,
    wait: Duration,
}

impl Scheduler for Waits {
    fn pick(&mut self, offer: &Offer<'_>) -> Decision {
        let now = offer.now;
        let until = *self.until.get_or_insert(now + self.wait);
        if until > now { Decision::Wait(Some(until)) } else { Decision::Send(0) }
    }

    fn on_sent(&mut self, _: &Assignment) {
        self.until = None;
    }
}

/// A client whose first subflow is established, at 1 ms.
fn established() -> Connection {
    established_with(Config::classic())
}

fn established_with(config: Config) -> Connection {
    let config = Config { timestamps: false, ..config };
    let mut client = Connection::connect(config.clone(), Entropy::new([1; 32]));
    let syn = client.poll_transmit(Instant(0)).expect("a SYN").segment;
    let mut server = Connection::accept(config, Entropy::new([2; 32]), &syn);
    let syn_ack = server.poll_transmit(Instant(0)).expect("a SYN/ACK").segment;
    client.handle_segment(Instant(1_000_000), 0, &syn_ack);
    assert!(client.poll_transmit(Instant(1_000_000)).is_some() && client.poll_transmit(Instant(1_000_000)).is_none());
    client
}

/// Gives `c` a scheduler that is to be asked each time.
fn schedule(c: &mut Connection, scheduler: impl Scheduler + 'static) {
    c.distribution.replace(Box::new(scheduler));
    c.fast.ask_always();
}

/// 0.001 write | 0.006 first segment | 0.011 second segment. A scheduler that waits is asked again at the time it named; no timer
/// stays due.
#[test]
fn a_scheduler_that_waits_is_asked_again_at_its_time() {
    let mut c = established();
    schedule(&mut c, Waits { until: None, wait: Duration::from_millis(5) });
    c.write(5000);
    for n in [1, 6, 11] {
        let now = Instant(n * 1_000_000);
        c.handle_timeout(now);
        let sent = c.poll_transmit(now);
        assert_eq!(sent.map(|t| t.kind), (n > 1).then_some(SendKind::New), "at {now}");
        if n > 1 {
            assert!(c.poll_transmit(now).is_none());
        }
        assert_eq!(c.outbound().limit(), SendBlock::Scheduler);
        assert_eq!(c.poll_timeout(), Some(now + Duration::from_millis(5)));
    }
}

/// A scheduler that asks to be asked again at once.
#[derive(Debug)]
struct Impatient;

impl Scheduler for Impatient {
    fn pick(&mut self, offer: &Offer<'_>) -> Decision {
        let now = offer.now;
        Decision::Wait(Some(now))
    }

    fn on_sent(&mut self, _: &Assignment) {}
}

/// A time that has passed is not worth waiting for: the timer would stay due.
#[test]
fn a_scheduler_that_waits_until_now_waits_for_the_next_input() {
    let mut c = established();
    schedule(&mut c, Impatient);
    c.write(1400);
    let now = Instant(1_000_000);
    assert!(c.poll_transmit(now).is_none());
    assert!(c.poll_timeout().is_none_or(|at| at > now));
}

/// Two endpoints over paths of 10 ms and 25 ms.
struct Pair {
    /// The server answers.
    both: bool,
    /// When the driver calls each end: a deadline that it was told of before.
    known: [Instant; 2],
    ends: [Option<Connection>; 2],
    /// Segments in flight: arrival time, receiver, subflow and segment.
    flying: Vec<(Instant, usize, SubflowId, Segment)>,
    sent: usize,
    /// Number of inputs that met a quiet connection, or flowing new data.
    predicted: usize,
    /// Number of acknowledgements that left a steady connection steady.
    acks: usize,
    log: Vec<String>,
}

impl Pair {
    fn new(config: &Config, both: bool) -> Self {
        let client = Connection::connect(config.clone(), Entropy::new([1; 32]));
        Self {
            both,
            known: [Instant::FAR_FUTURE; 2],
            ends: [Some(client), None],
            flying: Vec::new(),
            sent: 0,
            predicted: 0,
            acks: 0,
            log: Vec::new(),
        }
    }

    fn end(&mut self, side: usize) -> &mut Connection {
        let c = self.ends[side].as_mut().expect("it has been opened");
        self.predicted += usize::from(c.fast.is_quiet() || c.fast.flowing().is_some());
        c
    }

    /// A driver that calls at `known` learns of every deadline that is earlier, and of no other.
    fn look_at_deadlines(&mut self, now: Instant, side: usize) {
        let known = Some(self.known[side]).filter(|&at| at > now).unwrap_or(Instant::FAR_FUTURE);
        let c = self.end(side);
        let deadline = c.poll_timeout();
        let earlier = c.poll_earlier_timeout(now, known);
        assert_eq!(earlier, deadline.filter(|&at| at < known), "at {now}, known: {known}");
        // The driver calls every 100 ms in any case.
        let tick = Instant((now.0 / 100_000_000 + 1) * 100_000_000);
        self.known[side] = earlier.unwrap_or(known).min(tick);
    }

    fn arrive(&mut self, now: Instant, side: usize, id: SubflowId, seg: &Segment, config: &Config) {
        if self.ends[side].is_none() {
            self.ends[side] = Some(Connection::accept(config.clone(), Entropy::new([2; 32]), seg));
        } else if id < self.end(side).subflows().len() {
            let steady = self.end(side).fast.is_steady();
            self.end(side).handle_segment(now, id, seg);
            self.acks += usize::from(steady && self.ends[side].as_ref().is_some_and(|c| c.fast.is_steady()));
        } else {
            self.end(side).accept_join(seg, 1, false).expect("a join that is right");
        }
    }

    /// Runs the applications: the client sends in bursts; the server reads everything and answers now and then. Then sends
    /// everything that is due.
    fn serve(&mut self, now: Instant, side: usize) {
        let bursts = now.0 / 400_000_000 + 1;
        if side == 0 && self.end(0).subflows().len() == 1 {
            self.end(0).open_subflow(1, 1, false);
        }
        let due = match side {
            0 => bursts * 300_000,
            _ if self.both => self.end(1).inbound().received() / 10_000 * 225,
            _ => 0,
        };
        let written = self.end(side).send.written();
        self.end(side).write(due.saturating_sub(written).min(14_000));
        let readable = self.end(side).inbound().readable();
        self.end(side).read(readable);
        while let Some(t) = self.end(side).poll_transmit(now) {
            self.log.push(format!("{now} {side} {t:?}"));
            self.sent += 1;
            let marked = Segment {
                ecn: if self.sent % 91 == 0 && t.segment.ecn == Ecn::Ect0 { Ecn::Ce } else { t.segment.ecn },
                ..t.segment
            };
            if self.sent % 37 != 0 {
                let delay = Duration::from_millis([10, 25][t.subflow] + self.sent as u64 % 3);
                self.flying.push((now + delay, 1 - side, t.subflow, marked));
            }
        }
        while let Some(event) = self.end(side).poll_event() {
            self.log.push(format!("{now} {side} {event:?}"));
        }
        self.look_at_deadlines(now, side);
        let (limit, timeout) = (self.end(side).outbound().limit(), self.end(side).poll_timeout());
        self.log.push(format!("{now} {side} {limit:?} {timeout:?}"));
    }

    /// Runs until 2 s.
    fn run(&mut self, config: &Config) {
        self.serve(Instant::ZERO, 0);
        loop {
            let timeouts = [0, 1].map(|side| self.ends[side].as_ref().and_then(Connection::poll_timeout));
            let timer = (0..2).filter_map(|side| Some((timeouts[side]?, side))).min();
            let first = self.flying.iter().enumerate().min_by_key(|(i, f)| (f.0, *i)).map(|(i, f)| (f.0, i));
            let at = timer.map(|t| t.0).into_iter().chain(first.map(|f| f.0)).min().expect("something is to come");
            if at > Instant(2_000_000_000) {
                return;
            }
            match (first, timer) {
                (Some((arrival, i)), _) if arrival == at => {
                    let (_, side, id, seg) = self.flying.remove(i);
                    self.arrive(at, side, id, &seg, config);
                    self.serve(at, side);
                }
                (_, Some((_, side))) => {
                    self.end(side).handle_timeout(at);
                    self.serve(at, side);
                }
                _ => unreachable!("one of the two comes first"),
            }
        }
    }
}

/// A burst at 0.0, 0.4, 0.8 ... s; every 37th segment is lost, every 91st is marked CE. With and without header prediction both
/// ends send and report the same, and have the same deadlines.
#[test]
fn a_prediction_changes_nothing() {
    let usual = Config { timestamps: true, ..Config::classic() };
    let variants = [
        Config { mptcp: true, ..usual.clone() },
        Config { mptcp: true, receive_buffer: Some(60_000), ..usual.clone() },
        Config { mptcp: true, checksum: true, ecn: true, ..usual.clone() },
        Config {
            mptcp: true,
            scheduler: "round-robin".parse().unwrap(),
            timestamps: false,
            send_buffer: Some(50_000),
            ..usual.clone()
        },
        Config { mptcp: false, ecn: true, ..usual.clone() },
        Config { mptcp: true, controller: "dctcp".parse().unwrap(), ecn: true, ..usual.clone() },
        Config { mptcp: false, sack: false, receive_buffer: Some(30_000), ..usual },
    ];
    for (config, both) in variants.into_iter().flat_map(|config| [(config.clone(), true), (config, false)]) {
        let full = Config { shortcuts: false, ..config.clone() };
        let [mut general, mut usual] = [&full, &config].map(|config| Pair::new(config, both));
        general.run(&full);
        usual.run(&config);
        let (received, answered) = (usual.end(1).inbound().received(), usual.end(0).inbound().received());
        assert!(received > 200_000 && (answered > 2_000) == both, "{received} octets came: {config:?}");
        assert!(usual.predicted > 1_000, "only {} inputs were predicted: {config:?}", usual.predicted);
        assert!(
            usual.acks > 100 && general.acks == 0 && general.predicted == 0,
            "only {} acknowledgements were predicted: {config:?}",
            usual.acks
        );
        let differs = general.log.iter().zip(&usual.log).find(|(a, b)| a != b);
        assert_eq!(differs, None, "{config:?}");
        assert_eq!(general.log.len(), usual.log.len());
    }
}

/// A scheduler that has heard of a second subflow, which there is not.
#[derive(Debug)]
struct Everywhere;

impl Scheduler for Everywhere {
    fn pick(&mut self, _: &Offer<'_>) -> Decision {
        Decision::SendAll(Subflows::default().with(0).with(1))
    }

    fn on_sent(&mut self, _: &Assignment) {}
}

#[test]
fn a_copy_for_a_subflow_that_there_is_not_goes_nowhere() {
    let mut c = established();
    schedule(&mut c, Everywhere);
    c.write(3 * u64::from(c.paths.subflows[0].mss()));
    let sent = std::iter::from_fn(|| c.poll_transmit(Instant(1_000_000)));
    assert!(sent.map(|t| (t.subflow, t.kind)).eq([(0, SendKind::New); 3]));
    assert!(!c.send.has_copies());
}

/// `tcp_check_space`: what an acknowledgement releases has left. If the window has room then, and
/// the application waits for room, the send buffer of 10 segments grows to the window's 20.
#[test]
fn a_send_buffer_grows_if_the_window_has_room_after_the_push() {
    for (waits, full, memory) in [(true, false, 92_160), (true, true, 46_080), (false, false, 46_080)] {
        let mut c = established_with(Config { scheduler: "linux".parse().unwrap(), ..Config::classic() });
        let mss = c.paths.subflows[0].mss();
        let cwnd = 20.0 * f64::from(mss);
        c.paths.subflows[0].sender.controller.adjust(Adjust::Cached { cwnd, ssthresh: f64::INFINITY });
        let ahead = &mut c.paths.members[0].ahead;
        ahead.expand(10);
        ahead.look_at_memory();
        c.config.send_buffer = Some(1_000_000);
        c.send.write(1_000_000, &mut c.fast);
        if waits {
            c.distribution.stop_writer();
        }
        if full {
            let s = &mut c.paths.subflows[0].sender;
            s.board.push(s.nxt, 20 * mss, 0, Instant(0), false);
        }
        let (distribution, mut w) = c.sending();
        distribution.grow_buffers(&mut w);
        assert_eq!(c.paths.members[0].ahead.memory(), memory, "waits {waits}, full {full}");
        let (distribution, mut w) = c.sending();
        distribution.grow_buffers(&mut w);
        assert_eq!(c.paths.members[0].ahead.memory(), memory, "nothing has happened since");
    }
}
