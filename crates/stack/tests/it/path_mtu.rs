//! Path MTU signals (RFC 1191, RFC 8201), and hard errors. The exchanges are in
//! `crates/stack/scripts/path-mtu*.pkt`.

use anabranch_stack::event::{EndReason, Event};
use anabranch_stack::host::{Addresses, Endpoint};
use anabranch_stack::segment::{Flags, Options, Segment};
use anabranch_stack::tcp::State;
use anabranch_stack::testing::Rng;
use anabranch_stack::{Config, Connection, IcmpError, Instant};

use crate::pair::{entropy, tcp};

/// An established client that has sent 10 segments of 1000 octets; returns its initial sequence number as well.
fn sending(config: Config) -> (Connection, u32) {
    let mut c = Connection::connect(config, entropy(1));
    let syn = c.poll_transmit(Instant::ZERO).expect("a SYN").segment;
    let options = Options { mss: Some(1040), sack_permitted: true, ..Options::default() };
    let flags = Flags::SYN.with(Flags::ACK);
    let answer = Segment { ack: syn.seq.wrapping_add(1), flags, window: 65_535, options, ..Segment::default() };
    c.handle_segment(Instant::ZERO, 0, &answer);
    c.write(10_000);
    assert_eq!(sent(&mut c), [1000; 10]);
    (c, syn.seq)
}

fn sent(c: &mut Connection) -> Vec<u32> {
    let all = std::iter::from_fn(|| c.poll_transmit(Instant::ZERO)).map(|t| t.segment.payload.len);
    all.filter(|len| *len > 0).collect()
}

/// RFC 5681 3.1: "cwnd SHOULD be reduced by the ratio of the old segment size to the new". RFC 8201 5.4: it is no congestion.
#[test]
fn a_smaller_segment_keeps_the_number_of_segments() {
    let (mut c, iss) = sending(tcp());
    c.handle_icmp(Instant::ZERO, 0, iss.wrapping_add(1), IcmpError::TooBig { room: 500 });
    let s = &c.subflows()[0];
    assert_eq!((s.mss(), s.cwnd(), s.ssthresh()), (500, 5000.0, f64::INFINITY));
    // The window holds half of what was in flight.
    assert_eq!(sent(&mut c), [500; 10]);
    while let Some(event) = c.poll_event() {
        assert!(!matches!(event, Event::Congestion { .. }), "{event:?}");
    }
}

/// RFC 5927 4.1: SND.UNA <= SEG.SEQ < SND.NXT, to the octet; RFC 8201 4: never upwards; never below 48 octets.
#[test]
fn only_a_segment_in_flight_lowers_the_size_and_nothing_raises_it() {
    for (offset, room, mss) in
        [(0, 500, 1000), (1, 500, 500), (10_000, 500, 500), (10_001, 500, 1000), (1, 1001, 1000), (1, 3, 48)]
    {
        let (mut c, iss) = sending(tcp());
        c.handle_icmp(Instant::ZERO, 0, iss.wrapping_add(offset), IcmpError::TooBig { room });
        assert_eq!(c.subflows()[0].mss(), mss, "{offset} {room}");
    }
}

/// No such port, quoting our SYN: the connection ends. Quoting another segment, or once it is established: nothing does (RFC 5461 4.1).
/// RFC 9293 3.9.2.2.
#[test]
fn a_hard_error_ends_only_what_is_being_opened() {
    for (offset, ends) in [(0, true), (1, false)] {
        let mut c = Connection::connect(tcp(), entropy(1));
        let syn = c.poll_transmit(Instant::ZERO).expect("a SYN").segment;
        c.handle_icmp(Instant::ZERO, 0, syn.seq.wrapping_add(offset), IcmpError::Unreachable);
        let aborted = std::iter::from_fn(|| c.poll_event()).any(|e| e == Event::Aborted(EndReason::Reset));
        assert_eq!((aborted, c.poll_timeout().is_none()), (ends, ends));
    }
    let (mut c, iss) = sending(tcp());
    for offset in [0, 1] {
        c.handle_icmp(Instant::ZERO, 0, iss.wrapping_add(offset), IcmpError::Unreachable);
    }
    assert!(std::iter::from_fn(|| c.poll_event()).all(|e| !matches!(e, Event::Aborted(_))));
}

/// RFC 1191 6.4: a message should not change the window in segments, and triggers slow start. Whatever acknowledgements came before it, in or out of
/// fast recovery: no more leaves at once than the window holds, the window keeps its number of segments, and what is sent fits.
#[test]
fn a_message_at_any_time_lets_no_more_leave_than_the_window_holds() {
    let (mut recovering, mut after) = (0, 0);
    for seed in 0..2000 {
        let mut rng = Rng::new(seed);
        let sack = rng.percent(70);
        let reduction = if rng.percent(50) { "prr" } else { "rfc6675" };
        let config = tcp().sack(sack).reduction(reduction.parse().expect("it is there"));
        let (mut c, iss) = sending(config);
        c.write(100_000);
        let (mut una, mut top) = (0_u32, 10_u32);
        for _ in 0..rng.below(8) {
            let mut options = Options::default();
            if rng.percent(40) {
                una = top.min(una + rng.below(3) as u32);
            }
            if sack && una + 2 <= top {
                let first = una + 1 + rng.below(u64::from(top - una - 1)) as u32;
                options.sack.push(number(iss, first), number(iss, first + 1));
            }
            let (seq, ack) = (1, number(iss, una));
            c.handle_segment(
                Instant::ZERO,
                0,
                &Segment { seq, ack, window: 65_535, flags: Flags::ACK, options, ..Segment::default() },
            );
            // New data, if the window has room for more of them.
            let new = std::iter::from_fn(|| c.poll_transmit(Instant::ZERO)).filter(|t| t.transmissions == 1);
            top += new.filter(|t| t.segment.payload.len > 0).count() as u32;
        }
        if una == top {
            continue;
        }
        recovering += u32::from(c.subflows()[0].ssthresh().is_finite());
        let before = c.subflows()[0].cwnd() / f64::from(c.subflows()[0].mss());
        let room = 100 + rng.below(800) as u32;
        c.handle_icmp(Instant::ZERO, 0, number(iss, una), IcmpError::TooBig { room });
        let left = sent(&mut c);
        let s = &c.subflows()[0];
        assert_eq!((s.mss(), s.cwnd() / f64::from(room)), (room, before), "{seed}");
        assert!(left.iter().all(|len| *len <= room), "{seed}: {left:?}");
        assert!(left.is_empty() || s.octets_in_flight() as f64 <= s.cwnd(), "{seed} {reduction} {sack}: {left:?}");
        after += left.len();
    }
    assert!(recovering > 300 && after > 3000, "{recovering} {after}");
}

/// The sequence number of the segment `n` of 1000 octets.
fn number(iss: u32, n: u32) -> u32 {
    iss.wrapping_add(1 + 1000 * n)
}

/// RFC 9293 3.9.2.2: a soft error "MUST NOT abort the connection (MUST-56), and it SHOULD make the information available to the application
/// (SHLD-25)". RFC 5927 4.1: if it is about a segment in flight. RFC 9293 MUST-54: it reaches the connection that sent it.
#[test]
fn a_soft_error_is_told_and_ends_nothing() {
    for (offset, told) in [(0, 0), (1, 1), (10_000, 1), (10_001, 0)] {
        let (mut c, iss) = sending(tcp());
        while c.poll_event().is_some() {}
        c.handle_icmp(Instant::ZERO, 0, iss.wrapping_add(offset), IcmpError::Soft);
        let events: Vec<_> = std::iter::from_fn(|| c.poll_event()).collect();
        assert_eq!(events, vec![Event::SoftError { subflow: 0 }; told], "{offset}");
        assert_eq!((c.subflows()[0].state(), c.subflows()[0].mss()), (State::Established, 1000));
    }
}

/// RFC 9293 3.9.2.2, MUST-54: of two connections of a host the one whose segment an ICMP message
/// quotes hears of it.
#[test]
fn a_soft_error_reaches_the_connection_that_it_is_about() {
    let mut host = Endpoint::new([1; 32]);
    let addresses = |port| Addresses { local: ([10, 0, 0, 1], port).into(), remote: ([10, 0, 0, 2], 80).into() };
    let mut open = |port| {
        let id = host.connect(Instant::ZERO, addresses(port), tcp()).expect("free");
        (id, host.poll_transmit(Instant::ZERO).expect("a SYN").segment.seq)
    };
    let (_, (second, syn)) = (open(1001), open(1002));
    host.handle_soft_error(addresses(1002), syn);
    while host.poll_transmit(Instant::ZERO).is_some() {}
    assert_eq!(host.poll_event(), Some((second, Event::SoftError { subflow: 0 })));
    assert_eq!(host.poll_event(), None);
}

/// RFC 7413 4.1.3.1: "Negative responses include [...] ICMP error messages", if the SYN had Fast Open's option.
#[test]
fn a_soft_error_about_a_syn_is_a_refusal_of_fast_open() {
    for (fast, told) in [(true, 1), (false, 0)] {
        let mut c = Connection::connect(tcp(), entropy(1));
        if fast {
            c.request_fast_open(None);
        }
        let syn = c.poll_transmit(Instant::ZERO).expect("a SYN").segment;
        c.handle_icmp(Instant::ZERO, 0, syn.seq, IcmpError::Soft);
        let events: Vec<_> = std::iter::from_fn(|| c.poll_event()).collect();
        assert_eq!(events.iter().filter(|e| **e == Event::FastOpenRefused).count(), told);
        assert!(events.contains(&Event::SoftError { subflow: 0 }) && c.subflows()[0].state() == State::SynSent);
    }
}
