//! Middleboxes that drop SYNs with unknown options (RFC 8684 3.1), join segments (3.3.1), or change data while a further
//! subflow is being joined (3.7).

use anabranch_stack::event::{Event, FallbackCause};
use anabranch_stack::segment::{Dss, Flags, Mapping, Mptcp, Payload, Segment, Signal};
use anabranch_stack::wire::checksum::{Sum, dss_pseudo_header};

use crate::mptcp_bench::{Script, mptcp};
use crate::pair::{Fate, Packet, Pair, Side, at, ms};

fn is_unknown(p: &Packet) -> bool {
    !p.segment().options.mptcp.is_empty()
}

/// ```text
/// 0 s, 1 s, 3 s   SYN, MP_CAPABLE  ---X     dropped on the way
/// 7 s             SYN              ------>  RFC 6298 5.5: 1, 2, 4 s
///                 <------ SYN/ACK
/// ```
/// RFC 8684 3.9.3.
#[test]
fn after_three_syns_without_an_answer_one_is_sent_without_mp_capable() {
    for (write, read) in [(Side::A, Side::B), (Side::B, Side::A)] {
        let mut pair = Pair::seeded(mptcp(), mptcp(), &[ms(10)], 1);
        pair.filter(|p| if p.has(Flags::SYN) && is_unknown(p) { Fate::Drop } else { Fate::Pass });
        pair.write(write, 50_000);
        pair.close(Side::A);
        pair.close(Side::B);
        pair.run();
        let syns = pair.log.iter().filter(|p| p.from == Side::A && p.has(Flags::SYN));
        let syns: Vec<_> = syns.map(|p| (p.at, is_unknown(p))).collect();
        assert_eq!(syns, [(at(0), true), (at(1000), true), (at(3000), true), (at(7000), false)]);
        assert_eq!(pair[Side::A].when(Event::Fallback { subflow: 0, cause: FallbackCause::Syn }), Some(at(7000)));
        assert_eq!(pair[read].read, 50_000);
        assert!(pair.is_closed());
        assert!(pair.log.iter().skip(3).all(|p| !is_unknown(p)));
    }
}

/// Only the way back drops them: the server has answered, but nobody has heard it. The SYN without MP_CAPABLE makes its answer
/// plain, too.
///
/// ```text
/// 0 s, 1 s, 3 s   SYN, MP_CAPABLE ------>
///                 X--- SYN/ACK, MP_CAPABLE     (and its own repetitions)
/// 7 s             SYN ------>
///                 <------ SYN/ACK
/// ```
#[test]
fn a_syn_repeated_without_mp_capable_is_answered_without() {
    let mut pair = Pair::seeded(mptcp(), mptcp(), &[ms(10)], 1);
    pair.filter(|p| if p.from == Side::B && is_unknown(p) { Fate::Drop } else { Fate::Pass });
    pair.write(Side::A, 50_000);
    pair.close(Side::A);
    pair.close(Side::B);
    pair.run();
    let server = Event::Fallback { subflow: 0, cause: FallbackCause::Syn };
    assert_eq!(pair[Side::B].when(server), Some(at(7010)));
    let answer = pair.log.iter().find(|p| p.from == Side::B && p.has(Flags::SYN) && !is_unknown(p));
    assert_eq!(answer.map(|p| p.at), Some(at(7010)));
    assert_eq!(pair[Side::B].read, 50_000);
    assert!(pair.is_closed());
}

/// One SYN lost by chance is no reason to give MPTCP up.
#[test]
fn two_lost_syns_do_not_end_mptcp() {
    let mut pair = Pair::seeded(mptcp(), mptcp(), &[ms(10)], 1);
    pair.filter(|p| if p.has(Flags::SYN) && p.at < at(3000) { Fate::Drop } else { Fate::Pass });
    pair.write(Side::A, 50_000);
    pair.run();
    assert_eq!(pair[Side::B].read, 50_000);
    assert!(pair[Side::A].conn().is_multipath() && pair[Side::B].conn().is_multipath());
}

/// Two segments of 500 octets as one, with the option of the first and its checksum: `sum` is that of all octets, `rest` what of
/// it belongs to the second half. Wrong octets in the second half are nobody's business yet; in the first they fail.
#[test]
fn the_mapped_part_of_a_joined_segment_is_verified_by_itself() {
    let (first, second) = (Sum(0x1234), Sum(0xfedc));
    for (altered, taken) in [(0, true), (7, false)] {
        let mut s = Script::server(mptcp().checksum(true));
        let m = s.mapping(0, 1, 500);
        let checksum = dss_pseudo_header(m.dsn, m.ssn, m.len).plus(first).checksum();
        let mapping = Mapping { checksum: Some(checksum), ..m };
        let option = Mptcp::Dss(Dss { data_ack: None, mapping: Some(mapping), data_fin: false });
        let sum = first.plus(second).plus(Sum(altered)).0;
        let payload = Payload { sum, rest: second.0, ..Payload::new(0, 1000) };
        s.give(0, Segment { payload, ..s.ack(0, 1, 1, option) });
        assert_eq!(s.read(), if taken { 500 } else { 0 });
        assert_eq!(s.count(|e| matches!(e, Event::ChecksumFailed { .. })), usize::from(!taken));
    }
}

/// The first data fail while a join is on its way: it has carried nothing, so the connection falls back as if it were not there,
/// and the join is refused.
///
/// ```text
/// path 0, 10 ms   data, altered ---------->        server: MP_FAIL
///                 <---------- ACK, MP_FAIL
/// path 1, 15 ms   SYN, MP_JOIN ----------------->  refused, or reset by the fallback
/// ```
#[test]
fn data_that_fail_during_a_join_make_plain_tcp() {
    for delay in [5, 15, 60] {
        let config = mptcp().checksum(true).receive_buffer(Some(50_000));
        let mut pair = Pair::seeded(config.clone(), config, &[ms(10), ms(delay)], 1);
        pair.filter(|p| {
            let mut seg = *p.segment();
            seg.payload.sum = if p.path == 0 && p.from == Side::A && seg.payload.len > 0 { 7 } else { 0 };
            Fate::As(seg)
        });
        // The server's data show that it knows the keys (3.1), so that the client may join; then data and join at once.
        pair.write(Side::B, 1000);
        pair.run_until(at(100));
        pair.write(Side::A, 50_000);
        assert!(pair.open(Side::A, 1, 1).is_some());
        pair.close(Side::A);
        pair.close(Side::B);
        pair.run();
        assert_eq!(pair[Side::B].read, 50_000, "{delay} ms");
        assert!(pair.is_closed() && !pair[Side::A].conn().is_multipath() && !pair[Side::B].conn().is_multipath());
        assert!(pair.log.iter().any(|p| matches!(p.segment().options.signal, Signal::Fail { .. })));
        assert!(pair.log.iter().all(|p| p.path == 0 || p.segment().payload.len == 0));
    }
}
