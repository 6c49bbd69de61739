//! The draft's example test cases, over a path of one bottleneck that is all there is here.

use std::collections::VecDeque;

use super::super::worked::{MSS, close};
use super::Bbr;
use super::state::State;
use crate::controller::{AckSample, Cause, Congestion, Controller, Departure, LostSegment, Path};
use crate::path::Recovery;
use crate::registry::Setup;
use crate::sample::RateSample;
use crate::seq::Seq;
use crate::time::{Duration, Instant};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1000 * MS;
/// Twelve megabits a second, in octets.
const RATE: f64 = 1.5e6;

/// A segment in flight, with what the rate sampler keeps of it.
#[derive(Clone, Copy)]
struct Packet {
    number: u64,
    sent_at: u64,
    /// `None`: it was dropped.
    arrives: Option<u64>,
    delivered: u64,
    delivered_at: u64,
    first_sent_at: u64,
    in_flight: u64,
    lost: u64,
    app_limited: bool,
}

/// What the bottleneck does with packets beyond its rate.
#[derive(Clone, Copy)]
enum Excess {
    /// It queues them, so many at most.
    Queue(f64),
    /// It drops them once a bucket of so many tokens is empty.
    Police { tokens: f64, most: f64, at: u64 },
}

struct Net {
    b: Bbr,
    now: u64,
    rate: f64,
    excess: Excess,
    /// Round-trip time without a queue.
    rtt: u64,
    /// Acknowledgements arrive at multiples of this time.
    lumps: u64,
    /// Each nth segment is lost; zero: none.
    loses: u64,
    /// Octets per second that the application has; segments it has written and not sent; when it last wrote.
    app: f64,
    app_ready: f64,
    app_at: u64,
    free_at: u64,
    pace_at: u64,
    flight: VecDeque<Packet>,
    next: u64,
    delivered: u64,
    delivered_at: u64,
    first_sent_at: u64,
    lost: u64,
    app_until: u64,
    /// Numbers below it were sent before recovery began; whether it was in progress before this acknowledgement.
    recover: u64,
    fast: bool,
    /// When each state began, and at what round.
    log: Vec<(u64, u64, State)>,
}

impl Net {
    fn new(rate: f64, rtt: u64, excess: Excess) -> Self {
        let b = Bbr::new(&Setup::new(MSS as u32, 10));
        Self {
            b,
            now: 0,
            rate,
            excess,
            rtt,
            lumps: 1,
            loses: 0,
            app: f64::INFINITY,
            app_ready: 0.0,
            app_at: 0,
            free_at: 0,
            pace_at: 0,
            flight: VecDeque::new(),
            next: 1,
            delivered: 0,
            delivered_at: 0,
            first_sent_at: 0,
            lost: 0,
            app_until: 0,
            recover: 0,
            fast: false,
            log: vec![(0, 0, State::Startup)],
        }
    }

    /// Twelve megabits and 40 ms: 60 segments; a queue of four times that.
    fn usual() -> Self {
        Self::new(RATE, 40 * MS, Excess::Queue(240.0))
    }

    fn in_flight(&self) -> u64 {
        self.flight.len() as u64 * MSS as u64
    }

    /// What is sent at `now` arrives then, if it does.
    fn transmit(&mut self) -> Option<u64> {
        let took = |n: f64, rate: f64| (n * MSS / rate * 1e9) as u64;
        if self.loses > 0 && self.next % self.loses == 0 {
            return None;
        }
        let through = match &mut self.excess {
            Excess::Queue(most) => {
                if self.free_at.saturating_sub(self.now) > took(*most, self.rate) {
                    return None;
                }
                self.free_at = self.free_at.max(self.now) + took(1.0, self.rate);
                self.free_at
            }
            Excess::Police { tokens, most, at } => {
                *tokens = (*tokens + (self.now - *at) as f64 * 1e-9 * self.rate / MSS).min(*most);
                *at = self.now;
                if *tokens < 1.0 {
                    return None;
                }
                *tokens -= 1.0;
                self.now
            }
        };
        Some((through + self.rtt).next_multiple_of(self.lumps))
    }

    fn send(&mut self) {
        let arrives = self.transmit();
        let in_flight = self.in_flight() + MSS as u64;
        if self.flight.is_empty() {
            (self.first_sent_at, self.delivered_at) = (self.now, self.now);
        }
        self.flight.push_back(Packet {
            number: self.next,
            sent_at: self.now,
            arrives,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            in_flight,
            lost: self.lost,
            app_limited: self.app_until > 0,
        });
        self.next += 1;
        self.app_ready -= 1.0;
        let srtt = Duration(if self.delivered > 0 { self.rtt } else { 0 });
        self.b.on_sent(&Departure { now: Instant(self.now), len: MSS as u32, again: false, in_flight, srtt });
        self.pace_at = self.pace_at.max(self.now) + (MSS / self.b.pacing.unwrap() * 1e9) as u64;
    }

    /// The acknowledgement of the segment at `i` arrives; those three and more before it that have not arrived are lost.
    fn acknowledge(&mut self, i: usize) {
        let limited = (self.in_flight() as f64) + MSS > self.b.window.cwnd;
        let p = self.flight.remove(i).unwrap();
        (self.delivered, self.delivered_at) = (self.delivered + MSS as u64, self.now);
        self.first_sent_at = p.sent_at;
        if self.delivered > self.app_until {
            self.app_until = 0;
        }
        let is_lost = |q: &Packet| q.arrives.is_none() && q.number + 3 <= p.number;
        let gone: Vec<Packet> = self.flight.iter().copied().filter(is_lost).collect();
        self.flight.retain(|q| !is_lost(q));
        let lost_before = self.lost;
        let recovering = p.number < self.recover;
        let recovery = if self.fast { Recovery::Fast } else { Recovery::Open };
        let interval = (p.sent_at - p.first_sent_at).max(self.now - p.delivered_at);
        let rate = RateSample {
            delivered: self.delivered - p.delivered,
            interval: Duration(if interval < self.rtt { 0 } else { interval }),
            prior_delivered: p.delivered,
            tx_in_flight: p.in_flight,
            lost: lost_before + gone.len() as u64 * MSS as u64 - p.lost,
            in_flight: self.in_flight(),
            app_limited: p.app_limited,
        };
        let ack = AckSample {
            now: Instant(self.now),
            acked: MSS as u64,
            cwnd_limited: limited,
            sack: true,
            rtt: Some(Duration(self.now - p.sent_at)),
            rate: Some(rate),
            ..AckSample::default()
        };
        self.b.on_ack(&ack, &[Path { recovery, ..Path::default() }], 0);
        if !gone.is_empty() && !recovering {
            let (now, cause) = (Instant(self.now), Cause::FastRetransmit);
            let flight_size = self.in_flight();
            self.b.on_congestion(&Congestion { now, cause, flight_size, repeated: false, nested: false }, &[], 0);
            self.recover = self.next;
        }
        self.fast = p.number < self.recover;
        for q in gone {
            self.lost += MSS as u64;
            self.b.on_lost_segment(&LostSegment {
                now: Instant(self.now),
                seq: Seq(q.number * MSS as u64),
                len: MSS as u64,
                tx_in_flight: q.in_flight,
                lost: self.lost - q.lost,
                app_limited: q.app_limited,
                sack: true,
            });
        }
        if self.log.last().unwrap().2 != self.b.state {
            self.log.push((self.now, self.b.rounds.count, self.b.state));
        }
    }

    /// Goes on until `done`, at most to `until`. Returns whether it was.
    fn go(&mut self, until: u64, done: impl Fn(&Self) -> bool) -> bool {
        while self.now < until {
            if done(self) {
                return true;
            }
            let ack = self.flight.iter().enumerate().filter_map(|(i, p)| Some((p.arrives?, i))).min();
            let room = self.in_flight() as f64 + MSS <= self.b.window.cwnd;
            self.app_ready = (self.app_ready + (self.now - self.app_at) as f64 * 1e-9 * self.app / MSS).min(10.0);
            if self.app.is_infinite() {
                self.app_ready = 10.0;
            }
            self.app_at = self.now;
            let paced = self.pace_at.max(self.now);
            let written = if self.app_ready >= 1.0 { paced } else { self.now + MS.min((MSS / self.app * 1e9) as u64) };
            if room && self.app_ready < 1.0 && paced <= self.now {
                self.app_until = (self.delivered + self.in_flight()).max(1);
            }
            match ack {
                Some((at, i)) if !room || at <= written => {
                    self.now = at.max(self.now);
                    self.acknowledge(i);
                }
                None if !room => panic!("nothing is under way and nothing may be sent"),
                _ => {
                    self.now = written;
                    if self.app_ready >= 1.0 {
                        self.send();
                    }
                }
            }
        }
        false
    }

    fn until(&mut self, state: State) -> &mut Self {
        assert!(self.go(self.now + 60 * SECOND, |n| n.b.state == state), "{state:?}: {:?}", self.log);
        self
    }

    fn after(&mut self, time: u64) -> &mut Self {
        self.go(self.now + time, |_| false);
        self
    }

    fn states(&self) -> Vec<State> {
        self.log.iter().map(|l| l.2).collect()
    }

    /// Octets per second delivered in the next `time`.
    fn goodput(&mut self, time: u64) -> f64 {
        let before = self.delivered;
        self.after(time);
        (self.delivered - before) as f64 / (time as f64 * 1e-9)
    }
}

use State::{Cruise, Down, Drain, ProbeRtt, Refill, Startup, Up};

/// "Exiting STARTUP on Bandwidth Plateau", "Exiting DRAIN Based on Inflight".
#[test]
fn startup_ends_at_the_plateau_and_drain_when_the_queue_is_empty() {
    let mut n = Net::usual();
    n.until(Drain);
    assert!(n.b.full.reached && n.b.full.now);
    assert!((n.b.bandwidth.max() / RATE - 1.0).abs() < 0.02, "{}", n.b.bandwidth.max());
    // From ten segments at twice the rate each round trip to sixty: three or four; then three without growth.
    let rounds = n.log[1].1;
    assert!((6..=9).contains(&rounds), "{rounds}");
    close(n.b.pacing.unwrap() / n.b.bandwidth.bw, 0.5 * 0.99);
    // DOWN has nothing left to do: it ends with the same acknowledgement.
    n.until(Cruise);
    let (in_flight, bdp) = (n.in_flight(), n.b.bdp(1.0));
    assert!(in_flight as f64 <= bdp && n.log[2].1 - n.log[1].1 <= 3, "{in_flight} {bdp} {:?}", n.log);
    n.until(Refill).until(Up).until(Down);
    assert_eq!(n.states(), [Startup, Drain, Cruise, Refill, Up, Down]);
}

/// "Exiting STARTUP on Loss When Application-Limited".
#[test]
fn startup_ends_by_loss_though_the_application_limits_it() {
    let mut n = Net::usual();
    n.app = 0.8 * RATE;
    n.after(2 * SECOND);
    assert_eq!(n.states(), [Startup]);
    n.loses = 5;
    assert!(n.go(n.now + SECOND, |n| n.b.state != Startup));
    assert!(n.b.full.reached && n.b.losses.inflight_long.is_finite());
    assert!(n.b.losses.inflight_long >= n.b.bdp(1.0));
}

/// "Exiting DRAIN Based on Time": much less bandwidth than was seen.
#[test]
fn drain_ends_after_three_rounds() {
    let mut n = Net::usual();
    n.until(Drain);
    n.rate *= 0.2;
    n.until(Down);
    assert!(n.in_flight() as f64 > n.b.inflight(1.0));
    assert_eq!(n.log[2].1 - n.log[1].1, 4);
}

/// "Exiting PROBE_UP on Bandwidth Plateau": three round trips of the full pipe, no loss.
#[test]
fn a_probe_ends_at_the_plateau() {
    let mut n = Net::usual();
    n.until(Up);
    let round = n.b.rounds.count;
    n.until(Down);
    assert!((3..=5).contains(&(n.b.rounds.count - round)) && n.lost == 0);
    assert!(n.b.losses.inflight_long.is_infinite() && !n.b.losses.probe_too_high);
}

/// "Exiting PROBE_UP on Loss", "Handling Loss During PROBE_UP After inflight_longterm is Set": a queue of six segments.
#[test]
fn a_probe_ends_by_loss_and_the_next_one_is_cautious() {
    let mut n = Net::new(RATE, 40 * MS, Excess::Queue(6.0));
    n.until(Up).until(Down);
    let long = n.b.losses.inflight_long;
    assert!(n.b.losses.probe_too_high && (42.0..70.0).contains(&(long / MSS)), "{long}");
    // The window leaves headroom while it cruises.
    n.until(Cruise).after(100 * MS);
    assert!(n.b.window.cwnd <= 0.85 * n.b.losses.inflight_long + 1.0);
    n.until(Up).until(Down);
    n.until(Up).until(Down);
    assert!(n.b.losses.inflight_long < 75.0 * MSS);
    let (before, lost) = (n.delivered, n.lost);
    n.after(30 * SECOND);
    assert!(((n.lost - lost) as f64) < 0.02 * (n.delivered - before) as f64);
    assert!((n.delivered - before) as f64 > 0.85 * 30.0 * RATE);
}

/// "Never Exiting PROBE_UP (or STARTUP) When Application-Limited With No Loss"; "Entering and Exiting PROBE_RTT During STARTUP".
#[test]
fn what_the_application_limits_stays_in_startup() {
    let mut n = Net::usual();
    n.app = 0.5 * RATE;
    n.after(12 * SECOND);
    assert!(n.states().iter().all(|s| matches!(s, Startup | ProbeRtt)), "{:?}", n.log);
    assert_eq!(n.states()[..4], [Startup, ProbeRtt, Startup, ProbeRtt]);
    let mut n = Net::usual();
    n.until(Up);
    n.app = 0.5 * RATE;
    n.after(3 * SECOND);
    assert!(!n.states()[6..].contains(&Down), "{:?}", n.log);
}

/// "Exiting PROBE_DOWN on Inflight" is in the first test; "After Max Time": the path has become slower and the queue does not drain.
#[test]
fn down_ends_when_it_is_time_to_probe() {
    let mut n = Net::usual();
    n.until(Cruise).after(SECOND);
    // A new minimum, so that ProbeRTT is far away.
    n.rtt -= MS;
    n.until(Up).until(Down);
    n.rate *= 0.8;
    let (began, i) = (n.now, n.log.len());
    n.until(Refill);
    assert_eq!(n.states()[i..], [Refill]);
    assert!(n.now - began < 3 * SECOND + 200 * MS);
}

/// "Entering and Exiting PROBE_RTT": five seconds after the last minimum, half of the bandwidth-delay product in flight, for 200 ms.
#[test]
fn the_round_trip_time_is_probed_after_five_seconds() {
    let mut n = Net::usual();
    n.until(Cruise);
    n.rtt += 2 * MS;
    n.until(ProbeRtt);
    let began = n.now;
    let least = n.b.min_rtt.least.unwrap();
    assert!((4.9..5.3).contains(&((began - least.1.0) as f64 * 1e-9)), "{began} {least:?}");
    n.after(150 * MS);
    assert!(n.in_flight() as f64 <= 0.5 * n.b.bdp(1.0) + MSS && n.b.state == ProbeRtt);
    n.until(Cruise);
    assert!((200 * MS..350 * MS).contains(&(n.now - began)), "{}", n.now - began);
    // Rates while it probed count for nothing.
    assert!(n.b.bandwidth.bw > 0.97 * RATE);
}

/// "Skipping PROBE_RTT Due to Application-Limited Sending": idle for six seconds.
#[test]
fn an_idle_flow_needs_no_probe_of_the_round_trip_time() {
    let mut n = Net::usual();
    n.until(Cruise);
    n.app = 1e-3;
    n.app_ready = 0.0;
    n.after(6 * SECOND);
    assert!(n.flight.is_empty());
    n.app = f64::INFINITY;
    n.rtt += MS;
    n.after(2 * SECOND);
    assert!(!n.states().contains(&ProbeRtt), "{:?}", n.log);
    assert!(n.goodput(SECOND) > 0.9 * RATE);
}

/// "Achieving Expected STARTUP Bandwidth" and "Cruise Bandwidth on a Link With Aggregation": acknowledgements every 20 ms.
#[test]
fn acknowledgements_in_lumps_cost_no_bandwidth() {
    let mut n = Net::usual();
    n.lumps = 20 * MS;
    n.until(Drain);
    assert!(n.b.bandwidth.max() > 0.95 * RATE, "{}", n.b.bandwidth.max());
    n.until(Cruise).after(300 * MS);
    assert!(n.b.aggregation.extra(n.b.rounds.count, true) >= 10.0 * MSS);
    assert!(n.b.window.cwnd > n.b.bdp(2.0) + 10.0 * MSS);
    assert!(n.goodput(4 * SECOND) > 0.95 * RATE);
}

/// "Correctly Managing Sub-Packet BDPs": 200 kbit/s and 5 ms, 125 octets. (At 64 kbit/s the twenty segments of Startup last half of the five
/// seconds between probes of the round-trip time, whose samples do not count, and Startup never ends.)
#[test]
fn less_than_a_segment_fits_into_the_path() {
    let mut n = Net::new(25_000.0, 5 * MS, Excess::Queue(50.0));
    n.until(Cruise);
    assert!(n.b.window.cwnd >= 4.0 * MSS && n.lost == 0);
    assert!(n.goodput(30 * SECOND) > 0.93 * 25_000.0);
    assert!(n.b.window.cwnd <= 20.0 * MSS);
}

/// "Increasing Bandwidth 10x": in UP the flow paces at 1.25 * 0.99 of the largest sample, which is the mean of a round trip that ended one
/// ago. So it grows by 1.2375 in one and a half round trips, and 9.5 times take 1.5 log(9.5) / log(1.2375) = 15.8.
#[test]
fn ten_times_the_bandwidth_is_found() {
    let mut n = Net::new(RATE, 40 * MS, Excess::Queue(1200.0));
    n.until(Cruise);
    n.rate *= 10.0;
    n.until(Up);
    let round = n.b.rounds.count;
    assert!(n.go(n.now + 30 * SECOND, |n| n.b.bandwidth.max() > 9.5 * RATE));
    let rounds = n.b.rounds.count - round;
    assert!((14..=18).contains(&rounds), "{rounds}");
}

/// "Decreasing Bandwidth 10x": losses lower the short-term bandwidth at once, the maximum falls after two cycles.
#[test]
fn a_tenth_of_the_bandwidth_is_adapted_to() {
    let mut n = Net::new(10.0 * RATE, 40 * MS, Excess::Queue(100.0));
    n.until(Down).until(Cruise);
    n.rate /= 10.0;
    assert!(n.go(n.now + SECOND, |n| n.b.bandwidth.short < 5.0 * RATE), "{}", n.b.bandwidth.short);
    let cycles = |n: &Net| n.states().iter().filter(|s| **s == Up).count();
    assert!(n.go(n.now + 30 * SECOND, |n| n.b.bandwidth.max() < 1.05 * RATE));
    assert!(cycles(&n) <= 3, "{:?}", n.log);
    assert!(n.goodput(5 * SECOND) > 0.9 * RATE);
}

/// "Handling Token Bucket Policers": a bucket of fifty segments, filled at the rate. What is lost in the long run stays near the threshold.
#[test]
fn a_policer_is_conformed_to() {
    let mut n = Net::new(RATE, 40 * MS, Excess::Police { tokens: 50.0, most: 50.0, at: 0 });
    n.until(Cruise).after(5 * SECOND);
    assert!(n.b.losses.inflight_long.is_finite());
    let lost = n.lost;
    let goodput = n.goodput(30 * SECOND);
    let share = (n.lost - lost) as f64 / (30.0 * goodput);
    assert!((0.85..1.01).contains(&(goodput / RATE)) && share < 0.03, "{} {share}", goodput / RATE);
}

/// "Handling Application-Limited Sending During PROBE_REFILL": the maximum stays, and UP follows.
#[test]
fn an_application_that_pauses_while_the_pipe_is_filled_lowers_nothing() {
    let mut n = Net::usual();
    n.until(Refill);
    let max = n.b.bandwidth.max();
    n.app = 0.3 * RATE;
    n.app_ready = 0.0;
    n.until(Up);
    assert!(n.b.bandwidth.max() >= max);
    n.app = f64::INFINITY;
    n.until(Down).until(Cruise);
    assert!(n.b.bandwidth.max() > 0.98 * RATE);
}
