//! What `poll_timeout` offers as due does something: after `handle_timeout` and whatever leaves, the next deadline lies ahead. A timer
//! that stays due stops virtual time. [`crate::pair`], [`crate::bench`] and [`crate::mptcp_bench`] assert it at every step of every
//! test; here is what makes a timer's purpose vanish while it runs: fallback, ends of all kinds, and a peer and a network that do
//! anything at all.

use core::net::{IpAddr, Ipv4Addr};

use anabranch_stack::event::{Event, FallbackCause};
use anabranch_stack::mptcp::keys;
use anabranch_stack::segment::{AddrId, AddrIds, Flags, Mptcp, Payload, Segment, Signal};
use anabranch_stack::{Config, Linger};

use crate::mptcp_bench::{Script, add_addr, joined, keys_of_pair, mptcp};
use crate::pair::{Fate, Packet, Side, ms};
use anabranch_stack::testing::Rng;

fn checked() -> Config {
    mptcp().checksum(true)
}

fn address(id: u8) -> AddrId {
    AddrId { id, addr: IpAddr::V4(Ipv4Addr::new(192, 0, 2, id)) }
}

// ---- one at a time -----------------------------------------------------------------------------------------------------

/// 2500 octets and the DATA_FIN are out when the peer says that a checksum failed (RFC 8684 3.7): plain TCP has no DATA_FIN to repeat,
/// and ends with FINs.
#[test]
fn a_data_fin_is_forgotten_with_the_fallback() {
    let mut s = Script::server(checked());
    s.c.write(2500);
    s.c.shutdown_write();
    assert!(s.poll().last().is_some_and(|t| t.segment.dss().is_some_and(|dss| dss.data_fin)));
    s.give(0, s.signal(0, Signal::Fail { dsn: s.engine_dsn(0) }));
    assert_eq!(s.count(|e| matches!(e, Event::Fallback { cause: FallbackCause::Checksum, .. })), 1);
    let sent = s.wait(ms(10_000));
    assert!(
        sent.iter().any(|(_, t)| t.segment.payload.offset == 0 && t.segment.payload.len > 0),
        "it repeats its data"
    );
    let out = s.give(0, s.ack(0, 1, 2501, Mptcp::None));
    assert!(out.iter().all(|t| t.segment.flags.has(Flags::FIN)));
    s.give(0, Segment { flags: Flags::FIN.with(Flags::ACK), ..s.ack(0, 1, 2502, Mptcp::None) });
    assert_eq!(s.count(|e| *e == Event::Closed), 1);
}

/// Nothing is armed after the application has ended the connection at once, whatever was: keep-alives for a removed address, a probe
/// of a closed window, a DATA_FIN, an ADD_ADDR without its echo. (MP_FASTCLOSE on an acknowledgement has a timer of its own, and ends.)
#[test]
fn an_end_at_once_leaves_no_timer() {
    let closed = |s: &mut Script| {
        s.c.write(66_000);
        s.poll();
        while s.c.outbound().unsent() > 465 {
            let sent = 66_000 - s.c.outbound().unsent() as u32;
            let ack = s.dss(0, 1, 1 + sent, Some(sent.into()), None);
            let out = s.give(0, Segment { window: (65_535 - sent) as u16, ..ack });
            assert!(!out.is_empty() || !s.wait(ms(1000)).is_empty());
        }
        s.give(0, Segment { window: 0, ..s.dss(0, 1, 65_536, Some(65_535), None) });
        assert_eq!((s.c.outbound().unsent(), s.c.outbound().unacknowledged()), (465, 465));
    };
    type Situation<'a> = (&'static str, &'a dyn Fn(&mut Script));
    let situations: [Situation; 4] = [
        ("a suspicion", &|s| drop(s.give(0, s.signal(0, Signal::RemoveAddr(AddrIds::new(&[0])))))),
        ("a closed window", &closed),
        ("a DATA_FIN", &|s| s.c.shutdown_write()),
        ("an ADD_ADDR", &|s| s.c.advertise(address(3), None)),
    ];
    type End = fn(&mut Script);
    let ends: [(&str, End); 3] =
        [("abort", |s| s.c.abort()), ("fast close", |s| s.c.fast_close()), ("close", |s| s.c.close(Linger::Abort))];
    for (situation, prepare) in situations {
        for (end, act) in ends {
            let mut s = Script::server(mptcp());
            prepare(&mut s);
            s.poll();
            assert!(s.c.poll_timeout().is_some(), "{situation}");
            act(&mut s);
            s.poll();
            assert_eq!(s.c.poll_timeout().is_some(), end == "fast close", "{situation}, {end}");
            s.wait(ms(100_000));
            assert_eq!(s.c.poll_timeout(), None, "{situation}, {end}");
        }
    }
}

// ---- anything at all ---------------------------------------------------------------------------------------------------

/// Names the seed of a run that panics.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("seed {}", self.0);
        }
    }
}

/// What a network, or a peer, may put into a segment instead.
fn altered(p: &Packet, rng: &mut Rng) -> Segment {
    let mut seg = *p.segment();
    let (a, b) = keys_of_pair(1);
    let (own, peer) = if p.from == Side::A { (a, b) } else { (b, a) };
    let bits = [Flags::FIN, Flags::RST, Flags::SYN, Flags::PSH, Flags::ECE];
    match rng.below(14) {
        0 => seg.options.mptcp = Mptcp::None,
        1 => seg.options.signal = Signal::Fail { dsn: rng.below(1 << 40) },
        2 => seg.options.signal = Signal::RemoveAddr(AddrIds::new(&[rng.below(3) as u8])),
        3 => seg.options.signal = Signal::Prio { backup: rng.percent(50) },
        4 => seg.options.signal = Signal::Fastclose { key: peer },
        5 => {
            let to = address(rng.below(4) as u8);
            seg.options.signal = add_addr(to, Some(keys::add_addr_hmac(own, peer, to.id, to.addr, 0)));
        }
        6 => seg.options.signal = Signal::None,
        7 => seg.payload.sum = seg.payload.sum.wrapping_add(1),
        8 => seg.payload = Payload::default(),
        9 => seg.window = rng.pick(&[0, 0, 1, 65_535]),
        10 => seg.flags = Flags(seg.flags.0 ^ rng.pick(&bits).0),
        11 => seg.ack = seg.ack.wrapping_add(rng.below(5000) as u32).wrapping_sub(2500),
        12 => seg.seq = seg.seq.wrapping_add(rng.below(5000) as u32).wrapping_sub(2500),
        _ => {
            if let Mptcp::Dss(dss) = &mut seg.options.mptcp {
                match rng.below(3) {
                    0 => dss.data_fin = !dss.data_fin && dss.mapping.is_some_and(|m| m.len > 0),
                    1 => dss.data_ack = None,
                    _ => dss.mapping = dss.mapping.map(|m| anabranch_stack::segment::Mapping { len: 0, ..m }),
                }
            }
        }
    }
    seg
}

/// A connection over two paths on which one segment of `rare` is something else, with deeds of all kinds; followed for 20 minutes.
fn anything(seed: u64) -> usize {
    let _seed = Seed(seed);
    let rng = &mut Rng::new(seed);
    let config = |rng: &mut Rng| {
        mptcp()
            .checksum(rng.percent(50))
            .timestamps(rng.percent(50))
            .receive_buffer(rng.pick(&[None, Some(3000), Some(50_000)]))
            .time_wait(ms(rng.pick(&[0, 1000, 60_000])))
            .max_rto(ms(10_000))
    };
    let (client, server) = (config(rng), config(rng));
    let mut pair = joined(client, server, &[1 + rng.below(50), 1 + rng.below(50)][..1], 1000);
    pair.paths.push(pair.paths[0]);
    let (rare, lost) = (rng.pick(&[5, 20, 100]), rng.below(10));
    let mut dice = rng.clone();
    pair.filter(move |p| match dice.below(100) {
        n if n < lost => Fate::Drop,
        n if n < lost + 5 => Fate::Late(ms(dice.below(100))),
        n if n < lost + 10 => Fate::Twice(ms(dice.below(100))),
        _ if dice.below(rare) == 0 => Fate::As(altered(p, &mut dice)),
        _ => Fate::Pass,
    });
    let mut time = pair.now;
    let mut over = [false; 2];
    for _ in 0..30 {
        time += ms(rng.pick(&[0, 1, 20, 300]));
        pair.run_until(time);
        let side = rng.pick(&[Side::A, Side::B]);
        if !pair[side].is_there() {
            continue;
        }
        pair[side].reads = rng.percent(70);
        let open = !over[side as usize];
        match rng.below(16) {
            0..=6 if open => pair.write(side, 1 + rng.below(20_000)),
            7 => drop(pair.open(Side::A, 1, 1)),
            8 => pair.with(side, |c| c.advertise(address(2), None)),
            9 => pair.with(side, |c| c.withdraw(1)),
            10 => pair.with(side, |c| c.set_backup(0, true)),
            n @ 11..=15 if rng.percent(30) => {
                over[side as usize] = true;
                pair.with(side, |c| match n {
                    11 => c.abort(),
                    12 => c.fast_close(),
                    13 => c.close(Linger::Deliver),
                    _ => c.shutdown_write(),
                });
            }
            _ => drop(pair.read(side, 5000)),
        }
    }
    pair.run_until(time + ms(1_200_000));
    pair.log.len()
}

#[test]
fn whatever_happens_a_timer_that_is_due_does_something() {
    let sent: Vec<usize> = (0..3000).map(anything).collect();
    // And nothing storms: 20 minutes of retransmissions, keep-alives and answers to them, at most.
    assert!(sent.iter().all(|&n| n < 20_000), "{:?}", sent.iter().max());
    assert!(sent.iter().sum::<usize>() > 50 * sent.len(), "so that this tries something");
}

#[test]
#[ignore = "long"]
fn whatever_happens_a_timer_that_is_due_does_something_at_length() {
    assert!((3000..300_000).map(anything).all(|n| n < 20_000));
}
