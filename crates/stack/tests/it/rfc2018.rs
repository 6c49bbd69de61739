//! RFC 2018 and RFC 2883: SACK and D-SACK blocks as they leave, and what a sender makes of odd ones.
//!
//! The contents of blocks are tested beside the receiver; here it is their place on the wire.

use anabranch_stack::config::DelayedAck;
use anabranch_stack::config::DsnOctets;
use anabranch_stack::segment::{Mptcp, OPTION_SPACE};

use crate::bench::Bench;
use crate::pair::{Fate, Pair, Side, ms, tcp};

/// RFC 2018 3: four blocks fill 36 of 40 octets.
/// RFC 2018 4.
#[test]
fn four_blocks_fit_when_there_are_no_other_options() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 < . 1001:2001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 1 <sack 1001:2001>
         0.2 < . 3001:4001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 1 <sack 3001:4001 1001:2001>
         0.2 < . 5001:6001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 1 <sack 5001:6001 3001:4001 1001:2001>
         0.2 < . 7001:8001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 1 <sack 7001:8001 5001:6001 3001:4001 1001:2001>
         0.2 < . 9001:10001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 1 <sack 9001:10001 7001:8001 5001:6001 3001:4001>",
    );
}

/// RFC 2018 3: beside timestamps three.
/// RFC 2018 4.
#[test]
fn three_blocks_fit_beside_timestamps() {
    let mut b = Bench::open_client(tcp().timestamps(true));
    b.play(
        "0.2 < . 1001:2001(1000) ack 1 win 4 <TS val 1100 ecr 100>
         0.2 > . 1:1(0) ack 1 <TS val 200 ecr 1000,sack 1001:2001>
         0.2 < . 3001:4001(1000) ack 1 win 4 <TS val 1100 ecr 100>
         0.2 > . 1:1(0) ack 1 <TS val 200 ecr 1000,sack 3001:4001 1001:2001>
         0.2 < . 5001:6001(1000) ack 1 win 4 <TS val 1100 ecr 100>
         0.2 > . 1:1(0) ack 1 <TS val 200 ecr 1000,sack 5001:6001 3001:4001 1001:2001>
         0.2 < . 7001:8001(1000) ack 1 win 4 <TS val 1100 ecr 100>
         0.2 > . 1:1(0) ack 1 <TS val 200 ecr 1000,sack 7001:8001 5001:6001 3001:4001>",
    );
}

/// Every third segment is lost on a multipath subflow with timestamps: 12 octets of timestamps and 12 of a DSS with a DATA_ACK of
/// 64 bits leave room for one block, 8 with 32 bits for two; no segment's options exceed 40 octets.
#[test]
fn one_block_fits_beside_timestamps_and_a_data_acknowledgement_of_64_bits_and_two_beside_32() {
    for (dsn_octets, blocks, octets) in [(DsnOctets::Eight, 1, 36), (DsnOctets::Four, 2, OPTION_SPACE)] {
        blocks_beside(dsn_octets, blocks, octets);
    }
}

fn blocks_beside(dsn_octets: DsnOctets, blocks: usize, octets: u32) {
    let config = tcp().mptcp(true).timestamps(true).initial_window(30).dsn_octets(dsn_octets);
    let mut pair = Pair::new(config.clone(), config, ms(10));
    pair.filter(|p| match p.data_n {
        Some(n) if p.from == Side::A && n < 30 && n % 3 == 1 => Fate::Drop,
        _ => Fate::Pass,
    });
    pair.write(Side::A, 100_000);
    pair.close(Side::A);
    pair.close(Side::B);
    pair.run();
    assert_eq!(pair[Side::B].read, 100_000);
    let options = || pair.log.iter().map(|p| p.segment().options);
    assert!(options().all(|o| o.wire_len() <= OPTION_SPACE));
    let acks = || options().filter(|o| o.timestamps.is_some() && matches!(o.mptcp, Mptcp::Dss(_)));
    // (Before the first mapping came DATA_ACKs are short.)
    assert_eq!(acks().map(|o| o.sack.as_slice().len()).max(), Some(blocks));
    assert_eq!(acks().filter(|o| o.sack.as_slice().len() == blocks).map(|o| o.wire_len()).max(), Some(octets));
}

/// RFC 2018 4: acknowledgements are delayed by 40 ms, but each segment beyond a hole draws one with
/// SACK blocks at once. A segment with data that leaves in the same instant has no room for the
/// blocks, so the pure acknowledgement leaves beside it.
#[test]
fn a_segment_beyond_a_hole_draws_blocks_although_acknowledgements_are_delayed() {
    let mut b = Bench::open_client(tcp().delayed_ack(DelayedAck::After(ms(40))));
    b.play(
        "0.2  < . 1001:1501(500) ack 1 win 4
         0.2  > . 1:1(0) ack 1 <sack 1001:1501>
         0.3  < . 2001:2501(500) ack 1 win 4
         0.3  > . 1:1(0) ack 1 <sack 2001:2501 1001:1501>
         0.4  write 11000
         0.4  > . 1:10001(10x1000) ack 1
         0.5  < . 3001:3501(500) ack 1001 win 4
         0.5  > P. 10001:11001(1000) ack 1
         0.5  > . 11001:11001(0) ack 1 <sack 3001:3501 2001:2501 1001:1501>",
    );
}

/// RFC 2018 2: no blocks without permission in the SYN.
/// RFC 2018 4.
#[test]
fn without_permission_there_are_no_blocks() {
    let mut b = Bench::client(tcp());
    b.play(
        "0   > S 0:0(0) <mss 1040,sackOK,wscale 14>
         0.1 < S. 0:0(0) ack 1 win 65535 <mss 1040,wscale 14>
         0.1 > . 1:1(0) ack 1
         0.2 < . 1001:2001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 1
         0.3 < . 1:1001(1000) ack 1 win 4
         0.3 > . 1:1(0) ack 2001
         0.4 < . 1:1001(1000) ack 1 win 4
         0.4 > . 1:1(0) ack 2001",
    );
}

/// RFC 2018 2: blocks come only where they are permitted. A D-SACK block that comes without is none: the retransmission, which it
/// says was not needed, stays one that was, and slow start ends at half of the flight of ten (RFC 6582 3.2), not at all of it.
#[test]
fn blocks_without_permission_are_ignored() {
    for (permission, left) in [("sackOK,", 10_000), ("", 5000)] {
        let mut b = Bench::client(tcp().judge("dsack".parse().unwrap()).detector("rfc6675".parse().unwrap()));
        b.play(&format!(
            "0   > S 0:0(0) <mss 1040,sackOK,wscale 14>
             0.1 < S. 0:0(0) ack 1 win 65535 <mss 1040,{permission}wscale 14>
             0.1 > . 1:1(0) ack 1
             0.2 < . 1:1(0) ack 1 win 4
             0.2 write 10000
             0.2 > . 1:9001(9x1000) ack 1
             0.2 > P. 9001:10001(1000) ack 1
             0.3 < . 1:1(0) ack 1 win 4 <sack 1001:2001>
             0.3 < . 1:1(0) ack 1 win 4 <sack 1001:3001>
             0.3 < . 1:1(0) ack 1 win 4 <sack 1001:4001>
             0.3 > . 1:1001(1000) ack 1 {{fast}}
             0.31 < . 1:1(0) ack 10001 win 4
             0.4 < . 1:1(0) ack 10001 win 4 <sack 1:1001>
             0.4 ssthresh {left}"
        ));
    }
}

/// RFC 2018 2: the option is offered only if configured.
#[test]
fn sack_is_not_offered_when_off() {
    let mut b = Bench::client(tcp().sack(false));
    b.play(
        "0   > S 0:0(0) <mss 1040,wscale 14>
         0.1 < S. 0:0(0) ack 1 win 65535 <mss 1040,sackOK,wscale 14>
         0.1 > . 1:1(0) ack 1
         0.2 < . 1001:2001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 1",
    );
}

/// RFC 2883 4: the duplicate comes first, and once.
#[test]
fn a_duplicate_is_reported_first_and_once() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 < . 1:1001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 1001
         0.2 < . 2001:3001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 1001 <sack 2001:3001>
         0.3 < . 1:1001(1000) ack 1 win 4
         0.3 > . 1:1(0) ack 1001 <sack 1:1001 2001:3001>
         0.4 < . 3001:4001(1000) ack 1 win 4
         0.4 > . 1:1(0) ack 1001 <sack 2001:4001>
         0.5 < . 2001:3001(1000) ack 1 win 4
         0.5 > . 1:1(0) ack 1001 <sack 2001:3001 2001:4001>",
    );
}

/// RFC 2883 4.2.1: the part of a segment that had arrived is reported, at once, although the rest is in order.
#[test]
fn a_partial_duplicate_is_reported_at_once() {
    let mut b = Bench::open_client(tcp().delayed_ack(DelayedAck::After(ms(40))));
    b.play(
        "0.2 < . 1:1001(1000) ack 1 win 4
         0.2 < . 1001:2001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 2001
         0.3 < . 1501:2501(1000) ack 1 win 4
         0.3 > . 1:1(0) ack 2501 <sack 1501:2001>",
    );
}

/// RFC 2883 4: a duplicate takes the place of the block reported longest ago.
#[test]
fn a_duplicate_takes_one_of_the_four_places() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 < . 1001:2001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 1 <sack 1001:2001>
         0.2 < . 3001:4001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 1 <sack 3001:4001 1001:2001>
         0.2 < . 5001:6001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 1 <sack 5001:6001 3001:4001 1001:2001>
         0.2 < . 7001:8001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 1 <sack 7001:8001 5001:6001 3001:4001 1001:2001>
         0.2 < . 7001:8001(1000) ack 1 win 4
         0.2 > . 1:1(0) ack 1 <sack 7001:8001 7001:8001 5001:6001 3001:4001>",
    );
}

/// A segment with payload carries no blocks here: what there is to report leaves in a pure acknowledgement beside it.
/// RFC 2018 4.
#[test]
fn blocks_leave_in_pure_acknowledgements() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 write 11000
         0.2 > . 1:10001(10x1000) ack 1
         0.3 < . 1001:2001(1000) ack 1001 win 4
         0.3 > P. 10001:11001(1000) ack 1
         0.3 > . 11001:11001(0) ack 1 <sack 1001:2001>",
    );
}

/// RFC 2018 5: blocks that cannot be (beyond SND.NXT, empty, inverted) are ignored.
#[test]
fn impossible_blocks_are_ignored() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 write 5000
         0.2 > . 1:4001(4x1000) ack 1
         0.2 > P. 4001:5001(1000) ack 1
         0.3 < . 1:1(0) ack 1 win 4 <sack 4001:9001>
         0.3 < . 1:1(0) ack 1 win 4 <sack 3001:3001>
         0.3 < . 1:1(0) ack 1 win 4 <sack 4001:2001>
         0.3 < . 1:1(0) ack 1 win 4 <sack 2001:3001 8001:9001>
         0.3 flight 4000",
    );
}

/// RFC 2883 4: a report lies below the acknowledgement number. A block that begins at it is of what has no acknowledgement yet.
#[test]
fn a_block_that_begins_at_the_acknowledgement_is_no_report() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 write 3000
         0.2 > . 1:2001(2x1000) ack 1
         0.2 > P. 2001:3001(1000) ack 1
         0.3 < . 1:1(0) ack 1001 win 100 <sack 1001:2001>
         0.3 flight 1000",
    );
}

/// RFC 2018 5: blocks that cover part of a segment do not take it out of the network.
#[test]
fn a_block_over_part_of_a_segment_does_not_count() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2 write 5000
         0.2 > . 1:4001(4x1000) ack 1
         0.2 > P. 4001:5001(1000) ack 1
         0.3 < . 1:1(0) ack 1 win 4 <sack 1501:2501>
         0.3 flight 5000
         0.3 < . 1:1(0) ack 1 win 4 <sack 1501:3001>
         0.3 flight 4000                          // 2001:3001 is whole now",
    );
}

/// 5, 8: a receiver may discard what it has reported. Segments 2 and 3 were SACKed; the timeout brings segment 1, and its acknowledgement says that 2
/// is missing. The timer sends it again, SACKed or not, and then 3. With either detector.
/// RFC 6675 4.
#[test]
fn a_receiver_that_discards_what_it_had_sacked_gets_it_again() {
    for (detector, again, timeout) in [
        ("rfc6675", "0.5 > . 1:1001(1000) ack 1 {timeout}", "+0.6"),
        ("rack", "0.325 > . 1:1001(1000) ack 1 {fast}", "+0.3"),
    ] {
        let mut b = Bench::open_client(tcp().detector(detector.parse().unwrap()));
        b.play("0.2 write 3000\n 0.2 > . 1:2001(2x1000) ack 1\n 0.2 > P. 2001:3001(1000) ack 1");
        b.play("0.3 < . 1:1(0) ack 1 win 100 <sack 1001:3001>");
        b.play(again);
        b.play(&format!(
            "+0.1 < . 1:1(0) ack 1001 win 100
             {timeout} > . 1001:2001(1000) ack 1 {{timeout}}
             +0.1 < . 1:1(0) ack 2001 win 100
             +0   > P. 2001:3001(1000) ack 1 {{timeout}}
             +0.1 < . 1:1(0) ack 3001 win 100
             +0   timer none"
        ));
    }
}
