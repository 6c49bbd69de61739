//! Duplicate reports on the wire (RFC 2883): who makes them, who reads them, and networks that duplicate.

use anabranch_stack::controller::Cause;

use crate::bench::Bench;
use crate::judge::{config, copy, number, tell};
use crate::pair::{Fate, Packet, Side, at, ms, tcp};

// ---- the receiver ------------------------------------------------------------------------------------------------

/// An original that arrives behind its retransmission has an older timestamp than the one it would have to be compared with:
/// RFC 7323 5.3 R1 refuses it, RFC 2883 4 reports it.
///
/// 0.2 1001:2001 sent at 1300 | 0.3 1:1001, sent again at 1400 | 0.4 the original of 1:1001, sent at 1200
#[test]
fn an_original_refused_for_its_timestamp_is_reported() {
    Bench::open_client(tcp().timestamps(true)).play(
        "0.2 < . 1001:2001(1000) ack 1 win 100 <TS val 1300 ecr 0>
         0.2 > . 1:1(0) ack 1 <TS val 200 ecr 1000,sack 1001:2001>
         0.3 < . 1:1001(1000) ack 1 win 100 <TS val 1400 ecr 0>
         0.3 > . 1:1(0) ack 2001 <TS val 300 ecr 1400>
         0.4 < . 1:1001(1000) ack 1 win 100 <TS val 1200 ecr 0>
         0.4 > . 1:1(0) ack 2001 <TS val 400 ecr 1400,sack 1:1001>
         0.4 unread 2000",
    );
}

/// Not so one that is refused for its timestamp and has not arrived before (it must come again), and not without SACK.
#[test]
fn what_has_not_arrived_is_not_reported() {
    Bench::open_client(tcp().timestamps(true)).play(
        "0.3 < . 1:1001(1000) ack 1 win 100 <TS val 1400 ecr 0>
         0.3 > . 1:1(0) ack 1001 <TS val 300 ecr 1400>
         0.4 < . 1001:2001(1000) ack 1 win 100 <TS val 1200 ecr 0>
         0.4 > . 1:1(0) ack 1001 <TS val 400 ecr 1400>
         0.4 unread 1000",
    );
    Bench::open_client(tcp().sack(false)).play(
        "0.3 < . 1:1001(1000) ack 1 win 100
         0.3 > . 1:1(0) ack 1001
         0.4 < . 1:1001(1000) ack 1 win 100
         0.4 > . 1:1(0) ack 1001",
    );
}

// ---- the sender --------------------------------------------------------------------------------------------------

/// RFC 2883 4: a block is a report if it lies below the acknowledgement beside it. An acknowledgement with an ordinary block
/// that was overtaken by a larger acknowledgement is none: D-SACK would take it for duplication by the network, and be off.
///
/// 0.3 ACK of six, overtaking | 0.31 an ACK of one, SACKing the third to fifth | 0.4 three SACKed: a fast retransmit | 0.42
/// the seventh had only been late | 0.5 the report: the window comes back
/// RFC 2883 5.
#[test]
fn an_overtaken_block_is_no_report() {
    let mut bench = Bench::open_client(tcp().judge("dsack".parse().unwrap()));
    bench.play(
        "0.2  write 30000
         0.2  > . 1:10001(10x1000) ack 1
         0.3  < . 1:1(0) ack 6001 win 100
         0.3  > . 10001:18001(8x1000) ack 1
         0.31 < . 1:1(0) ack 1001 win 100 <sack 2001:5001>
         0.4  < . 1:1(0) ack 6001 win 100 <sack 7001:10001>
         0.4  > . 6001:7001(1000) ack 1 {fast}
         0.42 < . 1:1(0) ack 10001 win 100
         0.5  < . 1:1(0) ack 10001 win 100 <sack 6001:7001>
         0.5  event Judged { subflow: 0, spurious: true, restored: true }
         0.5  ssthresh 12000",
    );
}

/// A block above the acknowledgement inside the next one reports a duplicate of what is held (RFC 2883 4.1.2, 4.1.3).
#[test]
fn a_report_above_the_acknowledgement_counts() {
    let mut bench = Bench::open_client(tcp().judge("dsack".parse().unwrap()));
    bench.play(
        "0.2  write 30000
         0.2  > . 1:10001(10x1000) ack 1
         0.3  < . 1:1(0) ack 1 win 100 <sack 3001:6001>
         0.3  > . 1:1001(1000) ack 1 {fast}
         0.31 < . 1:1(0) ack 1 win 100 <sack 3001:10001>
         0.31 > . 1001:3001(2x1000) ack 1 {fast}
         0.31 > . 10001:12001(2x1000) ack 1 {new}
         0.32 < . 1:1(0) ack 1 win 100 <sack 2001:10001>
         0.32 > . 12001:13001(1000) ack 1 {new}
         0.33 < . 1:1(0) ack 1 win 100 <sack 2001:3001 2001:10001> // the third, twice
         0.34 < . 1:1(0) ack 10001 win 100
         0.34 > . 13001:15001(2x1000) ack 1 {new}
         0.4  < . 1:1(0) ack 10001 win 100 <sack 1:1001>
         0.41 < . 1:1(0) ack 10001 win 100 <sack 1001:2001>
         0.41 event Judged { subflow: 0, spurious: true, restored: true }
         0.41 cwnd 5000
         0.41 ssthresh 10000",
    );
}

// ---- networks that duplicate -------------------------------------------------------------------------------------

/// RFC 3708 2 (A.4): every tenth segment arrives twice. The first report is of a segment that was sent once: D-SACK judges
/// nothing from then on, although the retransmission at 2.1 was needless and is reported.
#[test]
fn on_a_network_that_duplicates_dsack_does_not_judge() {
    let late = |p: &Packet| number(p) == Some(2) && copy(p) == 1;
    let s = tell(&config("dsack"), 100, 3000, move |p| match number(p) {
        _ if late(p) => Fate::Late(ms(20)),
        Some(n) if n % 10 == 0 => Fate::Twice(ms(0)),
        _ => Fate::Pass,
    });
    assert_eq!(s.episodes, [(2100, Cause::FastRetransmit)]);
    assert_eq!((s.undone(), s.verdicts), (0, vec![]));
    let s = tell(&config("dsack"), 100, 3000, move |p| if late(p) { Fate::Late(ms(20)) } else { Fate::Pass });
    assert_eq!((s.undone(), s.verdicts), (1, vec![(2200, true, true)]));
}

/// The network duplicates a retransmission: two reports of it. The first one comes first, and deceives D-SACK if nothing else
/// was sent again (RFC 3708 knows no better); the connection's next episode is not judged any more.
#[test]
fn a_duplicated_retransmission_is_found_out_by_its_second_report() {
    let s = tell(&config("dsack"), 100, 4000, |p| match number(p) {
        Some(2 | 40) if copy(p) == 1 => Fate::Late(ms(20)),
        Some(2) => Fate::Twice(ms(1)),
        _ => Fate::Pass,
    });
    assert_eq!(s.verdicts, [(2200, true, true)]);
    assert!(s.episodes.len() >= 2, "{:?}", s.episodes);
}

/// Segments 2 and 4 come 130 ms late: 2 is sent again at 2.1, 4 at 2.2. The originals arrive at 2.18, that of 2 after its
/// retransmission: reports at 2.23 and 2.3. Without the first one the episode stays unjudged (B.2).
#[test]
fn a_lost_report_leaves_the_episode_unjudged() {
    for lose in [false, true] {
        // (Timestamps would keep the late original of 4 out: RFC 7323 5.3.)
        let c = config("dsack").timestamps(false);
        let s = tell(&c, 100, 3000, move |p| match number(p) {
            Some(2 | 4) if copy(p) == 1 => Fate::Late(ms(130)),
            None if lose && p.from == Side::B && p.at == at(2180) && is_report(p) => Fate::Drop,
            _ => Fate::Pass,
        });
        let again: Vec<_> = s.again.iter().map(|a| (a.0, a.1)).collect();
        assert_eq!(again, [(2100, 2), (2200, 4)]);
        assert_eq!(s.episodes, [(2100, Cause::FastRetransmit)]);
        assert_eq!(s.verdicts, if lose { vec![] } else { vec![(2300, true, true)] });
    }
}

/// Its first block lies below its acknowledgement.
fn is_report(p: &Packet) -> bool {
    let blocks = p.segment().options.sack;
    blocks.as_slice().first().is_some_and(|b| b.1.wrapping_sub(p.segment().ack) as i32 <= 0)
}
