//! SYNs that arrive in TIME-WAIT (RFC 9293 3.6.1, RFC 6191 2).

use anabranch_stack::event::Event;
use anabranch_stack::host::{Addresses, ConnectionId, Endpoint};
use anabranch_stack::segment::{Flags, Segment, Timestamps};
use anabranch_stack::tcp::State;
use anabranch_stack::{Config, Instant};

use crate::pair;

fn tcp() -> Config {
    Config { timestamps: true, ..pair::tcp() }
}

/// The peer's first sequence number; its SYN, one octet and its FIN follow one another.
const IRS: u32 = 5_000;
/// The last timestamp of the old connection.
const LAST: u32 = 300;
const LATER: Instant = Instant(3_000_000_000);

fn tuple() -> Addresses {
    Addresses { local: ([10, 0, 0, 1], 80).into(), remote: ([10, 0, 0, 2], 5000).into() }
}

fn segment(flags: Flags, seq: u32, ack: u32, ts: Option<u32>) -> Segment {
    let mut segment = Segment { seq, ack, flags, window: 65_535, ..Segment::default() };
    segment.options.timestamps = ts.map(|val| Timestamps { val, ecr: 0 });
    segment
}

fn sent(end: &mut Endpoint, now: Instant) -> Vec<Segment> {
    std::iter::from_fn(|| end.poll_transmit(now)).map(|t| t.segment).collect()
}

/// A server that closed first, and waits; the sequence number after its FIN.
fn waiting(config: Config, timestamps: bool, read: bool) -> (Endpoint, ConnectionId, u32) {
    let mut end = Endpoint::new([7; 32]);
    end.listen(80, config);
    let ts = |val| timestamps.then_some(val);
    let arrive = |end: &mut Endpoint, flags, seq, ack, val, octets: &[u8]| {
        end.handle_packet(Instant::ZERO, tuple(), &segment(flags, seq, ack, ts(val)), octets);
        sent(end, Instant::ZERO)
    };
    let answer = arrive(&mut end, Flags::SYN, IRS, 0, 100, &[]);
    let next = answer[0].seq.wrapping_add(1);
    arrive(&mut end, Flags::ACK, IRS + 1, next, 200, &[9]);
    let id = end.connections().next().expect("a connection");
    if read {
        end.read(id, &mut [0; 10]).expect("an octet");
        end.close(id).expect("it is there");
    } else {
        end.shutdown_write(id).expect("it is there");
    }
    let fin = sent(&mut end, Instant::ZERO);
    assert!(fin.iter().any(|s| s.flags.has(Flags::FIN)), "{fin:?}");
    arrive(&mut end, Flags::FIN.with(Flags::ACK), IRS + 2, next.wrapping_add(1), LAST, &[]);
    assert_eq!(end.connection(id).expect("it waits").subflows()[0].state(), State::TimeWait);
    (end, id, next.wrapping_add(1))
}

/// A SYN arrives; whether it opens a connection. Otherwise it is answered with an acknowledgement (RFC 5961 4.2).
fn opens(config: &Config, timestamps: bool, seq: u32, ts: Option<u32>) -> bool {
    let (mut end, id, after) = waiting(config.clone(), timestamps, true);
    end.handle_packet(LATER, tuple(), &segment(Flags::SYN, seq, 0, ts), &[]);
    let answer = sent(&mut end, LATER);
    let opened = answer.first().is_some_and(|s| s.flags.has(Flags::SYN));
    if opened {
        // 3.6.1: its numbers lie beyond those of the old one.
        assert_eq!((answer[0].ack, (answer[0].seq.wrapping_sub(after) as i32) >= 0), (seq.wrapping_add(1), true));
    } else if timestamps && ts.is_none() {
        // RFC 7323 3.2: dropped without a word.
        assert_eq!(answer, []);
    } else {
        assert_eq!((answer[0].flags, answer[0].seq, answer[0].ack), (Flags::ACK, after, IRS + 3));
    }
    assert_eq!(end.connection(id).is_none(), opened);
    opened
}

/// RFC 6191 2, first part: the old connection had timestamps.
/// RFC 9293 3.6.1.
#[test]
fn a_later_timestamp_opens_a_connection() {
    let (config, next) = (tcp(), IRS + 3);
    assert!(opens(&config, true, IRS, Some(LAST + 1)), "whatever its sequence number");
    assert!(opens(&config, true, next, Some(LAST)), "as late, and of a number not used before");
    assert!(!opens(&config, true, next - 1, Some(LAST)), "the number of the old FIN");
    assert!(!opens(&config, true, next + 9000, Some(LAST - 1)), "an old duplicate");
    assert!(!opens(&config, true, next + 9000, None), "nothing tells its age");
}

/// RFC 6191 2, second part: it had none.
#[test]
fn timestamps_open_a_connection_where_there_were_none() {
    assert!(opens(&tcp(), false, IRS, Some(1)));
    assert!(!opens(&tcp(), false, IRS + 9000, None));
    let without = Config { timestamps: false, ..tcp() };
    assert!(!opens(&without, false, IRS + 9000, Some(1)), "the new one would have none");
}

/// The application has not read everything: the old connection stays, with what is unread.
#[test]
fn what_is_unread_is_kept() {
    let (mut end, id, _) = waiting(tcp(), true, false);
    end.handle_packet(LATER, tuple(), &segment(Flags::SYN, IRS, 0, Some(LAST + 1)), &[]);
    assert_eq!(sent(&mut end, LATER)[0].flags, Flags::ACK);
    assert_eq!(end.read(id, &mut [0; 10]), Ok(1));
    end.handle_packet(LATER, tuple(), &segment(Flags::SYN, IRS, 0, Some(LAST + 1)), &[]);
    assert!(sent(&mut end, LATER)[0].flags.has(Flags::SYN));
}

/// Nothing listens any more, or it is not a SYN that opens.
#[test]
fn only_a_listener_opens_one() {
    for flags in [Flags::SYN.with(Flags::ACK), Flags::SYN.with(Flags::RST)] {
        let (mut end, id, after) = waiting(tcp(), true, true);
        end.handle_packet(LATER, tuple(), &segment(flags, IRS + 3, after, Some(LAST + 1)), &[]);
        assert!(sent(&mut end, LATER).iter().all(|s| !s.flags.has(Flags::SYN)), "{flags:?}");
        assert!(flags.has(Flags::RST) || end.connection(id).is_some());
    }
    let (mut end, id, _) = waiting(tcp(), true, true);
    end.stop_listening(80);
    end.handle_packet(LATER, tuple(), &segment(Flags::SYN, IRS, 0, Some(LAST + 1)), &[]);
    assert_eq!(sent(&mut end, LATER)[0].flags, Flags::ACK);
    assert!(end.connection(id).is_some());
    let told: Vec<_> = std::iter::from_fn(|| end.poll_event()).map(|(_, event)| event).collect();
    assert_eq!(told.iter().filter(|e| **e == Event::Closed).count(), 1);
}
