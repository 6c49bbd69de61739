//! What needs a look inside a connection: schedulers that are not registered.

use super::*;
use crate::event::Limit;

/// Waits before each segment.
#[derive(Debug)]
struct Waits {
    until: Option<Instant>,
    wait: Duration,
}

impl Scheduler for Waits {
    fn pick(&mut self, now: Instant, _candidates: &[Candidate]) -> Decision {
        let until = *self.until.get_or_insert(now + self.wait);
        if until > now { Decision::Wait(Some(until)) } else { Decision::Send(0) }
    }

    fn on_sent(&mut self, _subflow: usize) {
        self.until = None;
    }
}

/// A client with an established first subflow, at 1 ms.
fn established() -> Connection {
    let config = Config { timestamps: false, ..Config::default() };
    let mut client = Connection::connect(config.clone(), Entropy::new([1; 32]));
    let syn = client.poll_transmit(Instant(0)).expect("a SYN").segment;
    let mut server = Connection::accept(config, Entropy::new([2; 32]), &syn);
    let syn_ack = server.poll_transmit(Instant(0)).expect("a SYN/ACK").segment;
    client.handle_segment(Instant(1_000_000), 0, &syn_ack);
    assert!(client.poll_transmit(Instant(1_000_000)).is_some() && client.poll_transmit(Instant(1_000_000)).is_none());
    client
}

/// 0.001 write | 0.006 the first segment | 0.011 the second. A scheduler that waits is asked again at its time; nothing stays due.
#[test]
fn a_scheduler_that_waits_is_asked_again_at_its_time() {
    let mut c = established();
    c.scheduler = Box::new(Waits { until: None, wait: Duration::from_millis(5) });
    c.write(5000);
    for n in [1, 6, 11] {
        let now = Instant(n * 1_000_000);
        c.handle_timeout(now);
        let sent = c.poll_transmit(now);
        assert_eq!(sent.map(|t| t.kind), (n > 1).then_some(SendKind::New), "at {now}");
        if n > 1 {
            assert!(c.poll_transmit(now).is_none());
        }
        assert_eq!(c.limit(), Limit::Scheduler);
        assert_eq!(c.poll_timeout(), Some(now + Duration::from_millis(5)));
    }
}

/// Wants to be asked again at once.
#[derive(Debug)]
struct Impatient;

impl Scheduler for Impatient {
    fn pick(&mut self, now: Instant, _candidates: &[Candidate]) -> Decision {
        Decision::Wait(Some(now))
    }

    fn on_sent(&mut self, _subflow: usize) {}
}

/// A time that has come is no time to wait for: it would only stay due.
#[test]
fn a_scheduler_that_waits_until_now_waits_for_the_next_input() {
    let mut c = established();
    c.scheduler = Box::new(Impatient);
    c.write(1400);
    let now = Instant(1_000_000);
    assert!(c.poll_transmit(now).is_none());
    assert!(c.poll_timeout().is_none_or(|at| at > now));
}
