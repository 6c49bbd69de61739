//! Tests of [`Composing`](super::Composing). Each test builds the parts of a connection that
//! `Composing` borrows, without a whole `Connection`.

use crate::config::Config;
use crate::event::SendKind;
use crate::mptcp::distribution::Choice;
use crate::mptcp::handshake::Keys;
use crate::mptcp::parts::{IRS, ISS, OWN_KEY, PEER_KEY, Parts};
use crate::mptcp::send_stream::{FIN_TRIES, Fin};
use crate::mptcp::timers::Timer;
use crate::segment::{Flags, Mapping, Mptcp, OPTION_SPACE, Signal};
use crate::time::Instant;

const NOW: Instant = Instant(2_000_000);

fn multipath() -> Parts {
    Parts::new(Config { mptcp: true, ..Config::classic() })
}

/// Writes `octets`, and sends the next `len` of what was written on the subflow.
fn write_and_send(parts: &mut Parts, octets: u64, len: u32) {
    parts.send.write(octets, &mut parts.fast);
    let data = parts.send.advance(len.into());
    let choice = Choice { id: 0, data, len, kind: SendKind::New, choices: 1 };
    let outgoing = parts.composing().send(NOW, choice);
    assert_eq!((outgoing.subflow, outgoing.wire_len), (0, parts.out.wire_len()));
}

fn mapping(parts: &Parts) -> Option<Mapping> {
    parts.out.dss().and_then(|dss| dss.mapping)
}

/// RFC 8684 3.3.1: the mapping names data sequence number, relative subflow sequence number and
/// length. RFC 9293 3.9.1.2: the last segment of what was written has PSH.
#[test]
fn a_data_segment_maps_its_payload() {
    let first = Keys::new(OWN_KEY, PEER_KEY).own_first_dsn;
    let mut parts = multipath();
    write_and_send(&mut parts, 1500, 900);
    assert_eq!((parts.out.seq, parts.out.ack, parts.out.flags.has(Flags::PSH)), (ISS + 1, IRS + 1, false));
    assert_eq!(mapping(&parts), Some(Mapping { dsn: first, short: false, ssn: 1, len: 900, checksum: None }));
    write_and_send(&mut parts, 0, 600);
    assert_eq!((parts.out.seq, parts.out.flags.has(Flags::PSH)), (ISS + 901, true));
    let dsn = first.wrapping_add(900);
    assert_eq!(mapping(&parts), Some(Mapping { dsn, short: false, ssn: 901, len: 600, checksum: None }));
    assert!(!parts.out.dss().is_some_and(|dss| dss.data_fin));
}

/// RFC 8684 3.3.3: the DATA_FIN takes one octet of the last mapping; its timer runs.
#[test]
fn the_last_data_carries_the_data_fin() {
    let mut parts = multipath();
    write_and_send(&mut parts, 500, 500);
    parts.send.write(400, &mut parts.fast);
    parts.send.close(&mut parts.fast);
    write_and_send(&mut parts, 0, 400);
    assert!(parts.out.dss().is_some_and(|dss| dss.data_fin));
    assert_eq!(mapping(&parts).map(|m| (m.ssn, m.len)), Some((501, 401)));
    assert!(matches!(parts.send.fin(), Fin::Sent { .. }) && parts.timers.runs(Timer::DataFin));
}

/// RFC 8684 3.3.3: without data, the mapping has subflow sequence number 0 and length 1. It waits
/// for written data, is repeated when its timer expires, and has an end.
#[test]
fn a_data_fin_without_data_is_repeated_and_given_up() {
    let mut parts = multipath();
    let end = Keys::new(OWN_KEY, PEER_KEY).own_first_dsn;
    parts.send.write(10, &mut parts.fast);
    parts.send.close(&mut parts.fast);
    assert!(matches!(parts.composing().poll_data_fin(NOW), Ok(None)), "10 octets are not sent yet");
    let mut parts = multipath();
    parts.send.close(&mut parts.fast);
    let (mut now, mut sent) = (NOW, 0);
    while let Ok(outgoing) = parts.composing().poll_data_fin(now) {
        assert!(outgoing.is_some(), "copy {sent}");
        let expected = Mapping { dsn: end, short: false, ssn: 0, len: 1, checksum: None };
        assert_eq!((mapping(&parts), parts.out.payload.len), (Some(expected), 0));
        assert!(matches!(parts.composing().poll_data_fin(now), Ok(None)), "its timer has not expired");
        sent += 1;
        now = parts.timers.at(Timer::DataFin);
    }
    assert_eq!(sent, FIN_TRIES * parts.config.max_retransmissions + 1);
}

/// RFC 8684 3.3.2: an acknowledgement carries a DATA_ACK of what is in order; the window field
/// holds what is left. Without Multipath TCP it has neither option nor mapping.
#[test]
fn an_acknowledgement_says_what_has_arrived() {
    for mptcp in [true, false] {
        let mut parts = Parts::new(Config { mptcp, ..Config::classic() });
        parts.recv.arrive(0, 300);
        parts.recv.place(0, 300, 0);
        let shift = parts.paths.subflows[0].own_shift;
        let mut composing = parts.composing();
        let option = composing.control_option(0);
        composing.acknowledgement(NOW, 0, option);
        let first = Keys::new(OWN_KEY, PEER_KEY).peer_first_dsn;
        let data_ack = parts.out.dss().and_then(|dss| dss.data_ack).map(|ack| match ack {
            crate::segment::DataAck::Eight(dsn) => dsn,
            crate::segment::DataAck::Four(low) => u64::from(low),
        });
        let expected = first.wrapping_add(300);
        let low = u64::from(expected as u32);
        assert!(if mptcp { [Some(expected), Some(low)].contains(&data_ack) } else { data_ack.is_none() });
        assert_eq!(parts.out.options.mptcp == Mptcp::None, !mptcp);
        let window = u64::from(parts.out.window) << shift;
        assert!(window <= parts.recv.window() && parts.recv.window() - window < 1 << shift, "{window}");
    }
}

/// RFC 9293 3.1: options take at most 40 octets. Beside the longest signal and SACK blocks the
/// segment keeps within them, whatever else it carries.
#[test]
fn options_fit_the_header() {
    for judge in ["none", "door"] {
        let mut parts =
            Parts::new(Config { mptcp: true, judge: judge.parse().expect("it is registered"), ..Config::classic() });
        let signal = Signal::Fail { dsn: 7 };
        let mut composing = parts.composing();
        let option = composing.control_option(0);
        composing.signalling(NOW, 0, option, signal);
        assert!(parts.out.options.wire_len() <= OPTION_SPACE, "{judge}");
    }
}
