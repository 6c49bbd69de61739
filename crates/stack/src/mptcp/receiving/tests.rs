//! Tests of [`Receiving`](super::Receiving). Each test builds the parts of a connection that
//! `Receiving` borrows, without a whole `Connection`.

use super::Refusal;
use crate::config::Config;
use crate::event::{ArrivalKind, Event};
use crate::mptcp::handshake::Keys;
use crate::mptcp::parts::{IRS, OWN_KEY, PEER_KEY, Parts};
use crate::segment::{Dss, Flags, Mapping, Mptcp, Payload, ResetReason, Segment, Signal};
use crate::time::Instant;

const NOW: Instant = Instant(2_000_000);

/// A segment with the peer's octets from `offset` on, at the same place on the subflow.
fn data(offset: u32, len: u32) -> Segment {
    let payload = Payload::new(offset.into(), len);
    Segment { seq: IRS + 1 + offset, flags: Flags::ACK, payload, ..Segment::default() }
}

/// `segment` with a mapping of its payload to data offset `at`.
fn mapped(mut segment: Segment, at: u64) -> Segment {
    let k = Keys::new(OWN_KEY, PEER_KEY);
    let (ssn, len) = (segment.seq - IRS, segment.payload.len as u16);
    let mapping = Mapping { dsn: k.peer_first_dsn.wrapping_add(at), short: false, ssn, len, checksum: None };
    segment.options.mptcp = Mptcp::Dss(Dss { data_ack: None, mapping: Some(mapping), data_fin: false });
    segment.payload.offset = at;
    segment
}

fn multipath() -> Parts {
    Parts::new(Config { mptcp: true, ..Config::classic() })
}

fn plain() -> Parts {
    Parts::new(Config { mptcp: false, ..Config::classic() })
}

/// Takes `segment`, and returns the kinds and fresh octets of the arrivals that it causes.
fn take(parts: &mut Parts, segment: &Segment) -> Result<Vec<(ArrivalKind, u32)>, Refusal> {
    parts.told();
    parts.receiving().take_payload(NOW, 0, segment)?;
    let arrived = |event| match event {
        Event::Arrived { kind, fresh, .. } => Some((kind, fresh)),
        _ => None,
    };
    Ok(parts.told().into_iter().filter_map(arrived).collect())
}

/// RFC 9293 3.10.7.4: a segment behind a hole waits; the octets that fill the hole deliver it.
#[test]
fn a_hole_holds_what_follows_it() {
    let mut parts = plain();
    assert_eq!(take(&mut parts, &data(100, 50)), Ok(vec![(ArrivalKind::HeldInSubflow, 50)]));
    assert_eq!((parts.recv.nxt(), parts.recv.readable()), (0, 0));
    assert_eq!(take(&mut parts, &data(0, 120)), Ok(vec![(ArrivalKind::InOrder, 100)]));
    assert_eq!((parts.recv.nxt(), parts.recv.readable()), (150, 150));
    assert_eq!(take(&mut parts, &data(20, 50)), Ok(vec![(ArrivalKind::DuplicateInSubflow, 0)]));
    assert_eq!(parts.recv.nxt(), 150);
}

/// RFC 8684 3.3.1: the place in the data stream comes from the mapping, not from the sequence
/// number.
#[test]
fn a_mapping_gives_the_place_in_the_stream() {
    let mut parts = multipath();
    assert_eq!(take(&mut parts, &mapped(data(0, 40), 1000)), Ok(vec![(ArrivalKind::AheadInData, 40)]));
    assert_eq!((parts.recv.nxt(), parts.recv.readable()), (0, 0));
    assert_eq!(take(&mut parts, &mapped(data(40, 1000), 0)), Ok(vec![(ArrivalKind::InOrder, 1000)]));
    assert_eq!((parts.recv.nxt(), parts.recv.readable()), (1040, 1040));
    // Sent again, at a new place on the subflow.
    assert_eq!(take(&mut parts, &mapped(data(1040, 40), 1000)), Ok(vec![(ArrivalKind::DuplicateInData, 0)]));
}

/// RFC 8684 3.3.1, 3.7: octets without a mapping are not taken. If the next expected ones come
/// again and again, a middlebox removes the option, and the subflow is reset.
#[test]
fn octets_without_a_mapping_are_not_taken() {
    let mut parts = multipath();
    let mut results: Vec<_> = (0..5).map(|_| take(&mut parts, &data(0, 100))).collect();
    let reset = Refusal::Reset { signal: Signal::None, reason: ResetReason::MIDDLEBOX };
    assert_eq!(results.pop(), Some(Err(reset)));
    assert!(
        results.contains(&Ok(vec![])) && results.iter().all(|r| *r == Ok(vec![]) || *r == Err(reset)),
        "{results:?}"
    );
    assert_eq!((parts.recv.nxt(), parts.paths.subflows[0].receiver.rcv_nxt.0 as u32), (0, IRS + 1));
}

/// RFC 8684 3.1: neither end asked for checksums, so a mapping with one is an error.
#[test]
fn a_checksum_that_was_not_negotiated_is_refused() {
    let mut parts = multipath();
    let mut segment = mapped(data(0, 100), 0);
    if let Mptcp::Dss(Dss { mapping: Some(m), .. }) = &mut segment.options.mptcp {
        m.checksum = Some(1);
    }
    assert!(matches!(take(&mut parts, &segment), Err(Refusal::Reset { .. })));
    assert_eq!(parts.recv.nxt(), 0);
}

/// RFC 9293 3.10.7.4, first check: octets beyond the advertised window are not taken and are
/// answered at once.
#[test]
fn octets_beyond_the_window_are_refused() {
    let mut parts = plain();
    let window = u32::try_from(parts.recv.window()).expect("it is small");
    parts.paths.subflows[0].acks.done();
    assert!(!parts.paths.subflows[0].ack_is_due());
    assert_eq!(take(&mut parts, &data(window, 1)), Ok(vec![]));
    assert!(parts.paths.subflows[0].ack_is_due());
    assert_eq!(take(&mut parts, &data(window - 1, 1)), Ok(vec![(ArrivalKind::HeldInSubflow, 1)]));
}

/// RFC 1122 4.2.2.13: data that nobody will read resets the connection; a copy of data that was
/// read before does not.
#[test]
fn data_after_the_last_read_resets_the_connection() {
    let mut parts = plain();
    assert_eq!(take(&mut parts, &data(0, 100)).map(|v| v.len()), Ok(1));
    assert_eq!(parts.recv.read(100), 100);
    parts.recv.abandon(&mut parts.fast);
    assert_eq!(take(&mut parts, &data(0, 100)), Ok(vec![(ArrivalKind::DuplicateInSubflow, 0)]));
    assert_eq!(take(&mut parts, &data(100, 1)), Err(Refusal::Unread));
}

/// RFC 8684 3.3.3: the DATA_FIN ends the stream; octets behind it are ignored.
#[test]
fn octets_behind_the_end_are_ignored() {
    let mut parts = multipath();
    parts.recv.end_at(60);
    assert_eq!(take(&mut parts, &mapped(data(0, 100), 0)), Ok(vec![(ArrivalKind::InOrder, 60)]));
    assert_eq!((parts.recv.nxt(), parts.recv.readable()), (60, 60));
    assert_eq!(take(&mut parts, &mapped(data(60, 40), 60)), Ok(vec![]));
}
