//! One direction of a link by itself: serialisation, propagation, the queue.
//!
//! ```text
//! offered ─► [ waiting ... ] ─► transmitter (length / rate) ─► chance ─► propagation (delay) ─► arrives
//! ```

use anabranch_sim::scenario::Direction;
use anabranch_sim::sim::link::{Drop, Fate, LinkDirection};
use anabranch_sim::sim::packet::Transit;
use anabranch_sim::sim::slots::{Key, NEVER};

use crate::support::{MS, S, finish, scenario, serialisation};

/// The direction client to server of a path with these keys.
pub fn direction(keys: &str) -> Direction {
    scenario(&format!("transfer = {{}}\n[[path]]\n{keys}")).links[0].up.clone()
}

/// A link of its own with these keys.
pub fn link(keys: &str, seed: u64) -> LinkDirection {
    LinkDirection::new(&direction(keys), seed, "path0", "up")
}

/// Offers packets, (time, octets) each, and says when each arrived or why it did not. What ends or arrives at the
/// time of an offer comes before it.
pub fn drive(link: &mut LinkDirection, offers: &[(u64, u32)]) -> Vec<Result<u64, Drop>> {
    let mut fates = vec![Err(Drop::Down); offers.len()];
    let mut offered = 0;
    loop {
        let offer = offers.get(offered).map_or(u64::MAX, |o| o.0);
        let next = link.next();
        if next == NEVER && offer == u64::MAX {
            return fates;
        }
        if next.at() > offer {
            if let Err(why) = crate::link::offer(link, offer, offered as u32, offers[offered].1) {
                fates[offered] = Err(why);
            }
            offered += 1;
        } else if link.arrives() {
            fates[link.arrive().id as usize] = Ok(next.at());
        } else {
            let (sent, ..) = link.transmitted(next.at());
            match link.fate() {
                Fate::Lost => {
                    link.lose();
                    fates[sent.id as usize] = Err(Drop::Loss);
                }
                Fate::Sent { .. } => link.fly(next.at()),
            }
        }
    }
}

/// 1500 octets at 10 Mbit/s take 1.2 ms, and 10 ms to propagate.
#[test]
fn a_packet_takes_its_serialisation_and_the_propagation_delay() {
    let mut link = link("rate = '10 Mbit/s'\ndelay = '10 ms'", 1);
    assert_eq!(drive(&mut link, &[(5 * MS, 1500)]), [Ok(5 * MS + 1_200_000 + 10 * MS)]);
}

/// 1500 + 26 octets of framing at 16 Mbit/s take 763 us.
#[test]
fn overhead_is_transmitted_like_payload() {
    let mut link = link("rate = '16 Mbit/s'\ndelay = '0 ms'\noverhead = '26 B'", 1);
    assert_eq!(drive(&mut link, &[(0, 1500)]), [Ok(763_000)]);
}

/// One octet at 3 bit/s takes 2 2/3 s: no packet is faster than the rate, none later than the next nanosecond.
#[test]
fn a_serialisation_that_is_no_whole_nanosecond_is_rounded_up() {
    let mut link = link("rate = '3 bit/s'\ndelay = '0 ms'", 1);
    assert_eq!(drive(&mut link, &[(0, 1)]), [Ok(2_666_666_667)]);
}

/// Ten packets at once: each waits for those before it; the propagation of all overlaps.
#[test]
fn packets_offered_at_once_leave_one_serialisation_apart() {
    let mut link = link("rate = '8 Mbit/s'\ndelay = '7 ms'", 1);
    let arrivals = drive(&mut link, &[(0, 1000); 10]);
    let wanted: Vec<_> = (1..=10).map(|i| Ok(i * MS + 7 * MS)).collect();
    assert_eq!(arrivals, wanted);
}

/// A packet takes 1 ms. `n` of them may wait, and one is in transmission: of a burst of n + 3, the first n + 1 pass.
#[test]
fn a_queue_of_n_packets_holds_n_besides_the_one_in_transmission() {
    for n in [0, 1, 2, 33, 100] {
        let mut link = link(&format!("rate = '8 Mbit/s'\ndelay = '0 ms'\nqueue = '{n} packets'"), 1);
        let fates = drive(&mut link, &vec![(0, 1000); n + 3]);
        let passed = fates.iter().filter(|f| f.is_ok()).count();
        assert_eq!(passed, n + 1);
        assert_eq!(fates[n + 1..], [Err(Drop::Queue); 2]);
    }
}

/// Two may wait. At 1 ms the first has left, so one more is taken at 1 ms, and none at 0.999 ms.
#[test]
fn a_place_in_the_queue_is_free_when_a_transmission_ends() {
    let keys = "rate = '8 Mbit/s'\ndelay = '0 ms'\nqueue = '2 packets'";
    let burst = [(0, 1000); 3];
    let fates = drive(&mut link(keys, 1), &[&burst[..], &[(MS - 1, 1000)]].concat());
    assert_eq!(fates[3], Err(Drop::Queue));
    let fates = drive(&mut link(keys, 1), &[&burst[..], &[(MS, 1000), (MS, 1000)]].concat());
    assert_eq!(fates[3..], [Ok(4 * MS), Err(Drop::Queue)]);
}

/// The first is in transmission; 3000 octets may wait: two packets of 1500 fill them, not an octet more passes.
#[test]
fn a_queue_in_octets_takes_what_fits_and_not_one_octet_more() {
    let keys = "rate = '8 Mbit/s'\ndelay = '0 ms'\nqueue = '3 kB'";
    let dropped = |sizes: &[u32]| {
        let offers: Vec<_> = sizes.iter().map(|&n| (0, n)).collect();
        let fates = drive(&mut link(keys, 1), &offers);
        fates.iter().map(|f| *f == Err(Drop::Queue)).collect::<Vec<_>>()
    };
    assert_eq!(dropped(&[1500, 1500, 1500]), [false, false, false]);
    assert_eq!(dropped(&[1500, 1500, 1500, 1]), [false, false, false, true]);
    // A large one that does not fit leaves room that a small one takes.
    assert_eq!(dropped(&[60_000, 2900, 101, 100]), [false, false, true, false]);
}

/// Overhead counts in the queue, too: 2 x (1474 + 26) = 3000.
#[test]
fn overhead_takes_room_in_a_queue_of_octets() {
    let keys = "rate = '8 Mbit/s'\ndelay = '0 ms'\nqueue = '3 kB'\noverhead = '26 B'";
    let fates = drive(&mut link(keys, 1), &[(0, 1474); 4]);
    assert_eq!(fates.iter().filter(|f| f.is_ok()).count(), 3);
    let fates = drive(&mut link(keys, 1), &[(0, 1474), (0, 1474), (0, 1475)]);
    assert_eq!(fates[2], Err(Drop::Queue));
}

/// Packets of 1 ms every 0.8 ms: each waits 0.2 ms longer than the last, until ten wait; from then on one of five is
/// dropped.
#[test]
fn an_overload_is_dropped_in_proportion() {
    let mut link = link("rate = '8 Mbit/s'\ndelay = '0 ms'\nqueue = '10 packets'", 1);
    let offers: Vec<_> = (0..10_000).map(|i| (i * 800_000 + 100, 1000)).collect();
    let fates = drive(&mut link, &offers);
    for (i, fate) in fates.iter().take(50).enumerate() {
        assert_eq!(*fate, Ok(100 + (i as u64 + 1) * MS));
    }
    let passed = fates.iter().flatten().count() as f64;
    // In 8 s the link carries 8000; the queue's ten come after.
    assert!((passed - 8_010.0).abs() <= 1.0, "{passed}");
}

/// 5 s at 10 Mbit/s, 5 s at 2 Mbit/s, 10 s at 40 Mbit/s.
#[test]
fn what_a_link_could_have_carried_follows_its_rate() {
    let mut link = link("rate = '10 Mbit/s'", 1);
    link.set_rate(5 * S, 2_000_000);
    link.set_rate(10 * S, 40_000_000);
    assert_eq!(link.capacity_bits(20 * S), 460e6);
}

/// The packet in transmission keeps the rate it began with; the next takes the new one.
#[test]
fn a_new_rate_holds_from_the_next_transmission_on() {
    let mut link = link("rate = '8 Mbit/s'\ndelay = '0 ms'", 1);
    assert_eq!(offer(&mut link, 0, 0, 1000), Ok(Some(MS)));
    assert_eq!(offer(&mut link, 0, 1, 1000), Ok(None));
    link.set_rate(MS / 2, 80_000_000);
    let (first, _, next) = link.transmitted(MS);
    let next = next.map(|n| n.end);
    assert_eq!((first.id, next), (0, Some(MS + serialisation(1000, 80_000_000))));
}

/// What waits, what is transmitted and what flies is lost, and what comes while the link is down.
#[test]
fn a_link_that_goes_down_loses_everything_in_it() {
    let mut link = link("rate = '8 Mbit/s'\ndelay = '10 ms'", 1);
    assert_eq!(offer(&mut link, 0, 0, 1000), Ok(Some(MS)));
    for id in 1..4 {
        assert_eq!(offer(&mut link, 0, id, 1000), Ok(None));
    }
    link.transmitted(MS);
    link.fly(MS);
    let mut lost = link.go_down(MS);
    lost.sort_unstable();
    assert_eq!(lost, [0, 1, 2, 3]);
    assert_eq!((link.next(), link.waiting(after(MS))), (NEVER, 0));
    assert_eq!(offer(&mut link, 5 * MS, 4, 1000), Err(Drop::Down));
    link.go_up();
    assert_eq!(offer(&mut link, 6 * MS, 5, 1000), Ok(Some(7 * MS)));
}

/// Large networks have links by the ten thousand, and no event is at a link that is near: no larger than this without a reason.
#[test]
fn a_link_takes_two_cache_lines_and_a_packet_on_it_half_of_one() {
    assert_eq!((size_of::<LinkDirection>(), size_of::<Transit>()), (128, 32));
}

/// After all that happens at `now`.
pub fn after(now: u64) -> Key {
    Key::new(now + 1, 0)
}

/// A packet of a flow without ECN comes, after all else that happens at `now`: the link's next event, if it is another one then.
pub fn offer(link: &mut LinkDirection, now: u64, id: u32, octets: u32) -> Result<Option<u64>, Drop> {
    let packet = Transit { id, wire_len: octets, arrives: Key::new(0, u64::from(id)), ..Transit::default() };
    let taken = if link.looks_ahead() {
        link.enqueue_ahead(Key::new(now, u64::MAX >> 24), packet)?
    } else {
        link.enqueue_now(now, packet, || 0)?
    };
    Ok(taken.next.then(|| link.next().at()))
}

/// 75 segments over paths whose packets overtake each other, half of them delivered twice: acknowledgements that were overtaken draw no
/// acknowledgements, and the run is over after some hundreds of events, where it took millions.
#[test]
fn overtaking_and_duplication_make_no_war_of_acknowledgements() {
    for (delay, seed) in [("20 ms", 1), ("50 ms", 2), ("100 ms", 3), ("200 ms", 4)] {
        for timestamps in [true, false] {
            let text = format!(
                "seed = {seed}
                connection = {{ timestamps = {timestamps} }}
                transfer = {{ bytes = '105 kB' }}
                [[path]]
                delay = '{delay}'
                delay_variation = '100 %'
                overtaking = true
                duplication = '50 %'
                [[path]]
                delay = '{delay}'
                delay_variation = '100 %'
                overtaking = true
                duplication = '50 %'"
            );
            let summary = finish(&scenario(&text)).summary;
            assert_eq!(summary["status"], "completed");
            let segments = summary["segments"].as_u64().expect("a number");
            let events = summary["events"].as_u64().expect("a number");
            // A packet is two events on its link, twice if duplicated; each segment draws an acknowledgement, and there are timers.
            assert!(segments >= 75 && events < 20 * segments, "{delay}: {events} events for {segments} segments");
        }
    }
}
