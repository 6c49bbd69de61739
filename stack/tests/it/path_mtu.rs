//! Path MTU signals (RFC 1191, RFC 8201), and hard errors. The exchanges are in `stack/scripts/path-mtu*.pkt`.

use anabranch_stack::event::{EndReason, Event};
use anabranch_stack::segment::{Flags, Options, Segment};
use anabranch_stack::{Config, Connection, Instant};

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
    c.handle_too_big(Instant::ZERO, 0, iss.wrapping_add(1), 500);
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
        c.handle_too_big(Instant::ZERO, 0, iss.wrapping_add(offset), room);
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
        c.handle_unreachable(Instant::ZERO, 0, syn.seq.wrapping_add(offset));
        let aborted = std::iter::from_fn(|| c.poll_event()).any(|e| e == Event::Aborted(EndReason::Reset));
        assert_eq!((aborted, c.poll_timeout().is_none()), (ends, ends));
    }
    let (mut c, iss) = sending(tcp());
    for offset in [0, 1] {
        c.handle_unreachable(Instant::ZERO, 0, iss.wrapping_add(offset));
    }
    assert!(std::iter::from_fn(|| c.poll_event()).all(|e| !matches!(e, Event::Aborted(_))));
}
