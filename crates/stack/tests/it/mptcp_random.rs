//! Random connections over two or three paths: loss, overtaking, duplicates, a path that goes down and comes back or does not,
//! data in both directions at once, in pieces of any size, through buffers of any size. Whatever happens, every octet is
//! delivered once and in order, no window is exceeded, no more is kept than the buffer, and both sides close.

use anabranch_stack::Config;
use anabranch_stack::config::{DelayedAck, RtoFloor};
use anabranch_stack::event::{ArrivalKind, Event, SendKind};
use anabranch_stack::registry::{Choice, Kind};
use anabranch_stack::segment::Flags;
use anabranch_stack::tcp::State;
use anabranch_stack::time::Duration;

use crate::mptcp_bench::{mptcp, watch_windows};
use crate::pair::{Fate, Pair, Side, at, ms};
use anabranch_stack::testing::Rng;

/// Names the seed of a run that panics.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("seed {}", self.0);
        }
    }
}

fn any<T: ?Sized + Kind>(rng: &mut Rng) -> Choice<T> {
    let mut all = Choice::all();
    all.swap_remove(rng.below(all.len() as u64) as usize)
}

fn config(rng: &mut Rng) -> Config {
    let buffer = match rng.below(4) {
        0 => None,
        1 => Some(1 + rng.below(5000)),
        2 => Some(5000 + rng.below(50_000)),
        _ => Some(50_000 + rng.below(500_000)),
    };
    let largest = if rng.percent(20) { 100 } else { 3000 };
    mptcp()
        .controller(any(rng))
        .judge(any(rng))
        .scheduler(any(rng))
        .mss(1 + rng.below(largest) as u32)
        .receive_buffer(buffer)
        .initial_window(1 + rng.below(10) as u32)
        .sack(rng.percent(70))
        .timestamps(rng.percent(70))
        .nagle(rng.percent(70))
        .ecn(rng.percent(20))
        .checksum(rng.percent(20))
        .delayed_ack(if rng.percent(50) { DelayedAck::Off } else { DelayedAck::After(ms(40)) })
        .max_rto(Duration::from_secs(4))
        .detector(any(rng).yielding())
        .reduction(any(rng).yielding())
        .rto_floor(if rng.percent(50) { RtoFloor::Timeout } else { RtoFloor::Variance })
        .sack_timing(rng.percent(50))
        .window_validation(rng.percent(50))
        .count_segments(rng.percent(50))
        .delayed_ack_adapts(rng.percent(50))
        .quick_acks(rng.below(20) as u32)
        .push_acks(rng.percent(50))
        .defer_bursts(rng.percent(50))
        .ack_compression(Duration::from_micros(if rng.percent(50) { 0 } else { 1000 }))
        // A small first window only where the window field counts octets: a segment without DATA_ACK shows its window from the
        // beginning of the stream, which units of 16 kB would tell from what the host means.
        .receive_initial(buffer.filter(|&b| b < 65_536 && rng.percent(30)).map(|_| 1 + rng.below(5000)))
        .held_charge(if rng.percent(50) { 0.0 } else { 0.81 })
        .stale_after(if rng.percent(50) { 0 } else { 4 })
}

/// What a run brought, to see that the runs are not all of one kind.
#[derive(Debug, Default)]
struct Tally {
    subflows: usize,
    retransmissions: usize,
    reinjections: usize,
    duplicates: usize,
    deaths: usize,
}

fn connection(seed: u64) -> Tally {
    let _seed = Seed(seed);
    let rng = &mut Rng::new(seed);
    let (client, server) = (config(rng), config(rng));
    let buffers = [client.receive_buffer, server.receive_buffer];
    // No more segments than about a thousand for each direction.
    let mss = u64::from(client.mss.min(server.mss));
    let octets = |rng: &mut Rng, buffer: Option<u64>| {
        let segment = mss.min(buffer.unwrap_or(u64::MAX));
        let most = if rng.percent(20) { 3 * segment } else { 1_000_000 };
        rng.below(1 + most.min(1000 * segment))
    };
    let mut left = [octets(rng, server.receive_buffer), octets(rng, client.receive_buffer)];
    let total = left;
    let paths = 2 + rng.below(2) as usize;
    let mut delay = || {
        let longest = if rng.percent(30) { 200 } else { 30 };
        ms(1 + rng.below(longest))
    };
    let delays: Vec<Duration> = (0..paths).map(|_| delay()).collect();
    let mut pair = Pair::seeded(client, server, &delays, seed + 1);
    watch_windows(&mut pair, seed + 1, buffers);

    let (loss, late, twice) = (rng.below(10), rng.below(20), rng.below(10));
    // Paths go down for a while, all of them at once now and then; once there is another one a path may stay down.
    let mut outage = || {
        let from = rng.below(2500);
        (rng.below(paths as u64) as usize, at(from), at(from + rng.below(3000)))
    };
    let outages = [outage(), outage(), outage()];
    let outages = outages[..rng.below(4) as usize].to_vec();
    let mut dice = rng.clone();
    pair.filter(move |p| {
        // The connection stays multipath: after more than one lost SYN it would be opened as plain TCP (RFC 8684 3.1).
        if p.flow == 0 && p.has(Flags::SYN) && (p.from == Side::B || p.n > 0) {
            return Fate::Pass;
        }
        if outages.iter().any(|o| p.path == o.0 && o.1 <= p.at && p.at < o.2) || dice.percent(loss) {
            return Fate::Drop;
        }
        if dice.percent(late) {
            return Fate::Late(Duration::from_micros(1 + dice.below(30_000)));
        }
        if dice.percent(twice) {
            return Fate::Twice(Duration::from_micros(dice.below(30_000)));
        }
        Fate::Pass
    });
    let mut unopened: Vec<usize> = (1..paths).collect();
    let slow_reader = rng.percent(30);
    for side in [Side::A, Side::B] {
        pair[side].reads = !slow_reader;
    }
    let mut now = 0;
    // Unhurried, with a pause now and then in which windows close and connections fall idle.
    while left != [0, 0] {
        now += if rng.percent(5) { rng.below(1000) } else { rng.below(20) };
        pair.run_until(at(now));
        for side in [Side::A, Side::B] {
            let left = &mut left[side as usize];
            let size = if rng.percent(30) { 10 } else { 20_000 };
            let piece = (1 + rng.below(size)).min(*left);
            if rng.percent(60) && piece > 0 {
                *left -= piece;
                pair.write(side, piece);
                if *left == 0 && rng.percent(50) {
                    pair.close(side);
                }
            }
            if slow_reader && pair[side].is_there() {
                let max = 1 + rng.below(10_000);
                pair.read(side, max);
            }
        }
        if let Some(&path) = unopened.last().filter(|_| rng.percent(30)) {
            if pair.open(Side::A, path, path as u8).is_some() {
                unopened.pop();
            }
        }
    }
    for _ in 0..20 {
        if let Some(&path) = unopened.last() {
            now += rng.below(200);
            pair.run_until(at(now));
            if pair.open(Side::A, path, path as u8).is_some() {
                unopened.pop();
            }
        }
    }
    for side in [Side::A, Side::B] {
        pair[side].reads = true;
        if pair[side].is_there() {
            pair.read(side, u64::MAX);
        }
    }
    let both = |pair: &Pair, n: usize| {
        [Side::A, Side::B].iter().all(|&s| pair[s].when(Event::SubflowEstablished(n)).is_some())
    };
    let mut deaths = 0;
    if both(&pair, 1) && rng.percent(30) {
        // One path is silent from now on.
        let dead = if rng.percent(50) { 0 } else { paths - 1 };
        let mut dice = rng.clone();
        pair.filter(move |p| if p.path == dead || dice.percent(loss) { Fate::Drop } else { Fate::Pass });
        deaths = 1;
    }
    now += rng.below(3000);
    pair.run_until(at(now));
    for side in [Side::A, Side::B] {
        pair.close(side);
    }
    pair.run();

    assert!(pair.is_closed());
    for side in [Side::A, Side::B] {
        let end = &pair[side];
        assert_eq!(end.read, total[side.other() as usize], "{side:?} reads everything");
        let mut fresh = 0;
        for (_, event) in &end.events {
            match event {
                Event::Arrived { fresh: n, intact, .. } => {
                    assert!(intact, "every octet at its place");
                    fresh += u64::from(*n);
                }
                Event::Aborted(reason) => panic!("{reason:?}"),
                _ => {}
            }
        }
        assert_eq!(fresh, end.read, "{side:?} counts every octet once");
        assert_eq!(end.count(|e| *e == Event::EndOfStream), 1);
        assert_eq!(end.count(|e| *e == Event::Closed), 1);
        assert_eq!((end.conn().inbound().held(), end.conn().outbound().unacknowledged()), ((0, 0), 0));
        assert_eq!(end.conn().poll_timeout(), None);
        // Only a FIN that no path brings leaves its receiver in FIN-WAIT-2, which has no timer.
        let over = |state| state == State::Closed || (deaths == 1 && state == State::FinWait2);
        assert!(end.conn().subflows().iter().all(|s| over(s.state())));
    }
    let of = |kind| pair.log.iter().filter(|p| p.transmit.kind == kind).count();
    Tally {
        subflows: pair[Side::A].conn().subflows().len(),
        retransmissions: pair.log.iter().filter(|p| p.transmit.transmissions > 1).count(),
        reinjections: of(SendKind::Reinjection),
        duplicates: pair[Side::B].count(|e| matches!(e, Event::Arrived { kind: ArrivalKind::DuplicateInData, .. })),
        deaths,
    }
}

fn connections(seeds: core::ops::Range<u64>) {
    let n = (seeds.end - seeds.start) as usize;
    let mut all = Tally::default();
    for seed in seeds {
        let t = connection(seed);
        all.subflows += t.subflows;
        all.retransmissions += t.retransmissions;
        all.reinjections += t.reinjections;
        all.duplicates += t.duplicates;
        all.deaths += t.deaths;
    }
    assert!(all.subflows > 2 * n && all.retransmissions > 10 * n, "{all:?}");
    assert!(all.reinjections > n && all.duplicates > n && all.deaths > n / 10, "{all:?}");
}

#[test]
fn every_octet_arrives_once_and_in_order_whatever_the_paths_do() {
    connections(0..1500);
}

#[test]
#[ignore = "long"]
fn every_octet_arrives_once_and_in_order_whatever_the_paths_do_at_length() {
    connections(1500..60_000);
}
