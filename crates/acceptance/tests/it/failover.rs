//! A path that goes down at 10 s and comes back at 20 s.
//!
//! ```text
//!          last ACK                 timeout: the data go out on the other path, too
//! ... ────────┤◄──────── RTO ───────►├── 2 RTO ──┤──── 4 RTO ────┤────── ... ──────┤ the first one after 20 s
//!         10 s: down                                                        20 s: up   gets through
//! ```
//!
//! The failed subflow keeps what it sent until it is acknowledged there (RFC 8684 3.3.6), with its timer backed off
//! (RFC 6298 5.5); so it is used again some time after 20 s, not at once.

use anabranch_sim::scenario::Scenario;
use anabranch_stack::controller::Controller;
use anabranch_stack::registry::Choice;

use crate::support::{S, close, finish, on_two_threads, scenario, summary, traced};
use crate::trace::{Event, Row};

/// Rate in bit/s and delay of two paths.
type Paths = [(u64, &'static str); 2];

const PATHS: [Paths; 4] = [
    [(4_000_000, "20 ms"), (4_000_000, "40 ms")],
    [(6_000_000, "10 ms"), (2_000_000, "100 ms")],
    // The rest for the long test.
    [(10_000_000, "10 ms"), (2_000_000, "100 ms")],
    [(20_000_000, "5 ms"), (20_000_000, "5 ms")],
];

#[derive(Clone, Copy, Debug)]
struct Variant {
    paths: Paths,
    /// Which one fails.
    fails: usize,
    /// Of the data.
    direction: &'static str,
    /// Which direction of the path fails.
    way: &'static str,
}

impl Variant {
    fn of(paths: &[Paths]) -> impl Iterator<Item = Self> {
        let ways = ["both", "up", "down"];
        let with = move |paths| {
            let direction = move |fails| ["up", "down"].map(|direction| (fails, direction));
            let each = [0, 1].into_iter().flat_map(direction);
            each.flat_map(move |(fails, direction)| ways.map(|way| Self { paths, fails, direction, way }))
        };
        paths.iter().copied().flat_map(with)
    }

    fn scenario(&self, scheduler: &str) -> Scenario {
        let Self { paths, fails, direction, way } = self;
        let mut text = format!(
            "connection = {{ profile = 'classic', scheduler = '{scheduler}' }}\ntransfer = {{ duration = '40 s', direction = '{direction}' }}\n"
        );
        for (i, (rate, delay)) in paths.iter().enumerate() {
            text += &format!("[[path]]\nrate = '{rate} bit/s'\ndelay = '{delay}'\n");
            if i == *fails {
                text += &format!(
                    "changes = [{{ at = '10 s', state = 'down', direction = '{way}' }},
                                {{ at = '20 s', state = 'up', direction = '{way}' }}]\n"
                );
            }
        }
        scenario(&text)
    }

    /// The data themselves are lost, not only their acknowledgements.
    fn loses_data(&self) -> bool {
        self.way == "both" || self.way == self.direction
    }

    /// Everything the module's picture says, at exact times.
    fn check(&self) {
        let (run, rows) = traced(&self.scenario("min-rtt"));
        let failed = self.fails as u32;
        let up = self.direction == "up";
        // Nothing is lost.
        assert_eq!(
            (&run.summary["status"], &run.summary["content_ok"]),
            (&"completed".into(), &true.into()),
            "{self:?}"
        );

        // The timer expires one RTO after the last acknowledgement that came through ...
        let timeout =
            rows.iter().find(|r| r.is(Event::Send) && r.tuple == failed && r.kind == "Timeout" && r.at >= 10 * S);
        let timeout = timeout.unwrap_or_else(|| panic!("no timeout: {self:?}"));
        let heard = |r: &&Row| r.is(Event::Arrive) && r.tuple == failed && r.client == up && r.at < timeout.at;
        let last_ack = rows.iter().rfind(heard).expect("the path worked before").at;
        let in_force = run.series.samples().iter().rfind(|s| s.subflow == failed && s.at < timeout.at);
        let rto = in_force.expect("there are samples").rto * 1e9;
        close((timeout.at - last_ack) as f64, rto, 10.0);

        // ... and its data go out on the other path as soon as that has room: it is full, and acknowledgements of two
        // segments open it.
        let other_rate = self.paths[1 - self.fails].0;
        let reinjected = |event| rows.iter().find(move |r| r.is(event) && r.kind == "Reinjection" && r.at >= 10 * S);
        let mut filled = 0;
        if let (true, Some(first)) = (self.loses_data(), reinjected(Event::Send)) {
            assert_ne!(first.tuple, failed);
            assert!(first.at - timeout.at <= 2 * 1476 * 8 * S / other_rate, "{self:?}");
            // What had arrived, though its acknowledgement had not, comes twice; the next fills the hole.
            let mut read = 0;
            let mut fills = |r: &&Row| {
                read = if r.is(Event::Deliver) { r.offset + r.len } else { read };
                r.is(Event::Arrive) && r.kind == "Reinjection" && r.at >= 10 * S && r.offset >= read
            };
            filled = rows.iter().find(|r| fills(r)).expect("the hole is filled").at;
        } else {
            // What was acknowledged at data level by the other path need not be sent there.
            assert!(!self.loses_data(), "{self:?}");
        }
        // The application waits for the hole to be filled; else no longer than for a segment lost in a queue.
        let delivered: Vec<u64> = rows.iter().filter(|r| r.is(Event::Deliver)).map(|r| r.at).collect();
        let during = delivered.windows(2).filter(|w| w[1] > 10 * S && w[0] < 11 * S);
        let pauses = during.inspect(|w| assert!(w[1] <= filled || w[1] - w[0] <= rto as u64, "{self:?}: {w:?}"));
        let pause = pauses.map(|w| w[1] - w[0]).max().expect("the transfer goes on");

        // The segment is sent again after 1, 2, 4, ... times the timeout, and gets through when the path is back.
        let tries =
            rows.iter().filter(|r| r.is(Event::Send) && r.tuple == failed && r.seq == timeout.seq && r.at >= 10 * S);
        let tries: Vec<u64> = tries.map(|r| r.at).collect();
        for (i, at) in tries.iter().enumerate() {
            close((at - last_ack) as f64, rto * ((2_u64 << i) - 1) as f64, 100.0 * (1 << i) as f64);
        }
        let (last, before) = tries.split_last().expect("at least the timeout");
        assert!(*last >= 20 * S && before.iter().all(|at| *at < 20 * S), "{self:?}: {tries:?}");
        let [rto, pause, last] = [rto as u64, pause, *last].map(|ns| ns as f64 / 1e9);
        println!("{self:?}: timeout {rto:.3} s, longest pause {pause:.3} s, tried again at {last:.2} s");

        // Both paths are full again at the end.
        for (tuple, (rate, _)) in self.paths.iter().enumerate() {
            let late = |r: &&Row| {
                r.is(Event::Arrive) && r.tuple as usize == tuple && r.has_data() && (35 * S..40 * S).contains(&r.at)
            };
            let segments = rows.iter().filter(late).count() as u64;
            assert!(segments * 1476 * 8 > rate * 5 * 95 / 100, "{self:?}: {segments} on path {tuple}");
        }
    }
}

fn check(variants: &[Variant]) {
    on_two_threads(variants, Variant::check);
}

#[test]
fn a_transfer_goes_on_within_one_timeout_when_a_path_fails() {
    check(&Variant::of(&PATHS[..2]).filter(|v| v.way == "both").collect::<Vec<_>>());
}

#[test]
fn a_path_whose_data_are_lost_has_failed_though_acknowledgements_pass() {
    check(&Variant::of(&PATHS[..2]).filter(|v| v.way != "both" && v.loses_data()).collect::<Vec<_>>());
}

#[test]
fn a_path_whose_acknowledgements_are_lost_has_failed_though_data_pass() {
    check(&Variant::of(&PATHS[..2]).filter(|v| !v.loses_data()).collect::<Vec<_>>());
}

#[test]
#[ignore = "long"]
fn a_transfer_survives_every_kind_of_failure() {
    check(&Variant::of(&PATHS).collect::<Vec<_>>());
}

/// The same with the other scheduler, and with every controller: nothing is lost, and the path is used again.
#[test]
fn failures_do_not_depend_on_scheduler_or_controller() {
    for controller in Choice::<dyn Controller>::all() {
        let variants: Vec<Variant> = Variant::of(&PATHS[..2]).filter(|v| v.way == "both").collect();
        on_two_threads(&variants, |v| {
            let mut scenario = v.scenario("round-robin");
            scenario.connections[0].config.controller = controller.clone();
            let run = finish(&scenario);
            let s = run.summary;
            assert_eq!(
                (&s["status"], &s["content_ok"]),
                (&"completed".into(), &true.into()),
                "{} {v:?}",
                controller.name()
            );
            let of_failed = run.series.samples().iter().filter(|s| s.subflow as usize == v.fails);
            let delivered: Vec<(u64, u64)> = of_failed.map(|s| (s.at, s.delivered)).collect();
            let while_down =
                delivered.iter().filter(|(at, _)| (11 * S..20 * S).contains(at)).map(|(_, octets)| *octets);
            let while_down: Vec<u64> = while_down.collect();
            assert!(while_down.windows(2).all(|w| w[0] == w[1]));
            let (_, at_the_end) = delivered[delivered.len() - 1];
            assert!(at_the_end > while_down[0], "{} {v:?}", controller.name());
        });
    }
}

/// The path that carries the handshake fails before the second one is known: the connection waits for it.
#[test]
fn a_failure_during_the_handshake_delays_the_connection() {
    let text = "transfer = { bytes = '1 MB' }
        path = [{ changes = [{ at = '0 s', state = 'down' }, { at = '2 s', state = 'up' }] }, {}]";
    let s = summary(text, &[]);
    // SYNs at 0, 1 and 3 s (RFC 6298 2.1, 5.5).
    assert_eq!(s["status"], "completed");
    close(s["first_byte_s"].as_f64().expect("a time"), 3.03, 0.02);
}

/// A scheduler that queues ahead has assigned data to the path that fails, which were never sent there: they go by the other path, too.
#[test]
fn data_assigned_to_a_path_that_fails_go_by_the_other() {
    for scheduler in ["linux", "otias", "daps", "after-sttf", "after-stms", "delay-estimating"] {
        let s = summary(
            &format!(
                "connection.scheduler = '{scheduler}'
                transfer = {{ message = '10 kB', interval = '33 ms', duration = '6 s' }}
                [[path]]\nrate = '4 Mbit/s'\ndelay = '10 ms'\nchanges = [{{ at = '2 s', state = 'down' }}]
                [[path]]\nrate = '20 Mbit/s'\ndelay = '30 ms'"
            ),
            &[],
        );
        assert_eq!(s["status"], "completed", "{scheduler}: {s}");
        assert!(s["longest_gap_s"].as_f64().is_some_and(|gap| gap < 1.0), "{scheduler}: {}", s["longest_gap_s"]);
    }
}

/// The same without pause in what is written, with a buffer that the path which fails could fill, and with a backup (RFC 8684 3.3.8).
#[test]
fn a_path_that_fails_gets_no_more_data_assigned() {
    for scheduler in ["linux", "otias", "daps", "after-sttf", "after-stms", "delay-estimating", "min-rtt"] {
        for (send_buffer, backup) in [("64 kB", false), ("64 kB", true), ("1 MB", true)] {
            let s = summary(
                &format!(
                    "duration = '60 s'
                    connection = {{ scheduler = '{scheduler}', send_buffer = '{send_buffer}' }}
                    transfer.bytes = '3 MB'
                    [[path]]\nrate = '5 Mbit/s'\ndelay = '20 ms'\nchanges = [{{ at = '1 s', state = 'down' }}]
                    [[path]]\nrate = '5 Mbit/s'\ndelay = '40 ms'\nbackup = {backup}"
                ),
                &[],
            );
            assert_eq!(s["status"], "completed", "{scheduler}, {send_buffer}, {backup}: {s}");
            // 3 MB at 5 Mbit/s take 5.1 s and the timeout less than 1 s.
            let (gap, end) = (s["longest_gap_s"].as_f64(), s["completion_s"].as_f64());
            assert!(gap.is_some_and(|gap| gap < 1.5), "{scheduler}, {send_buffer}, {backup}: {gap:?}");
            assert!(end.is_some_and(|end| end < 7.0), "{scheduler}, {send_buffer}, {backup}: {end:?}");
        }
    }
}
