//! Which segments that are refused draw an acknowledgement, and how many (RFC 5961 3 to 7; RFC 9293 3.10.7.4; RFC 7323 5.3 R1; RFC 1122
//! 4.2.3.6). Those that might answer an answer are bounded: two ends could go on with it for ever.

use core::net::{IpAddr, Ipv4Addr};

use anabranch_stack::Config;
use anabranch_stack::mptcp::keys;
use anabranch_stack::segment::{AddrId, Signal};

use crate::bench::Bench;
use crate::mptcp_bench::{Script, add_addr, mptcp};
use crate::pair::{Fate, Pair, Side, at, ms, tcp};
use anabranch_stack::testing::Rng;

fn stamped() -> Config {
    tcp().timestamps(true)
}

// ---- old timestamps ----------------------------------------------------------------------------------------------------

/// Data with the timestamp 1100 (0.2) have overtaken acknowledgements of 1099 and of 801, less than the timeout of 300 ms before: these
/// say nothing new, and nothing is said to them.
#[test]
fn an_acknowledgement_that_was_overtaken_is_dropped_in_silence() {
    let mut b = Bench::open_client(stamped());
    b.play(
        "0.2  < . 1:1001(1000) ack 1 win 4 <TS val 1100 ecr 100>
         0.2  > . 1:1(0) ack 1001 <TS val 200 ecr 1100>
         0.21 < . 1:1(0) ack 1 win 4 <TS val 1099 ecr 100>
         0.21 < . 1001:1001(0) ack 1 win 4 <TS val 801 ecr 100>
         0.21 timer none",
    );
}

/// One that is older than that may be of another time: answered (RFC 7323 5.3 R1) at once, and after half a second again.
#[test]
fn an_acknowledgement_of_another_time_is_answered_now_and_then() {
    let mut b = Bench::open_client(stamped());
    b.play(
        "0.2  < . 1:1001(1000) ack 1 win 4 <TS val 1100 ecr 100>
         0.2  > . 1:1(0) ack 1001 <TS val 200 ecr 1100>
         0.3  < . 1001:1001(0) ack 1 win 4 <TS val 800 ecr 100>
         0.3  > . 1:1(0) ack 1001 <TS val 300 ecr 1100>
         0.3  < . 1001:1001(0) ack 1 win 4 <TS val 800 ecr 100>
         0.79 < . 1001:1001(0) ack 1 win 4 <TS val 5 ecr 100>
         0.8  < . 1001:1001(0) ack 1 win 4 <TS val 5 ecr 100>
         0.8  > . 1:1(0) ack 1001 <TS val 800 ecr 1100>",
    );
}

/// Segments with payload are answered each, whatever their age: what they bring may be missed.
#[test]
fn old_segments_with_payload_are_answered_each() {
    let mut b = Bench::open_client(stamped());
    b.play(
        "0.2  < . 1:1001(1000) ack 1 win 4 <TS val 1100 ecr 100>
         0.2  > . 1:1(0) ack 1001 <TS val 200 ecr 1100>
         0.3  < . 1:1001(1000) ack 1 win 4 <TS val 1000 ecr 100>
         0.3  > . 1:1(0) ack 1001 <TS val 300 ecr 1100,sack 1:1001>
         0.31 < . 1001:2001(1000) ack 1 win 4 <TS val 5 ecr 100>
         0.31 > . 1:1(0) ack 1001 <TS val 310 ecr 1100>
         0.32 < F. 1001:1001(0) ack 1 win 4 <TS val 5 ecr 100>
         0.32 > . 1:1(0) ack 1001 <TS val 320 ecr 1100>",
    );
}

// ---- outside the window ------------------------------------------------------------------------------------------------

/// A keep-alive, or Linux's probe of a closed window, has the number before the next and no text: it draws an acknowledgement each half
/// second, the first at once. Data below the window are answered each.
#[test]
fn keep_alives_draw_an_acknowledgement_each_half_second() {
    let mut b = Bench::open_client(tcp());
    b.play(
        "0.2  < . 0:0(0) ack 1 win 4
         0.2  > . 1:1(0) ack 1
         0.3  < . 0:0(0) ack 1 win 4
         0.69 < . 0:0(0) ack 1 win 4
         0.7  < . 0:0(0) ack 1 win 4
         0.7  > . 1:1(0) ack 1
         1.3  < . 0:0(0) ack 1 win 4
         1.3  > . 1:1(0) ack 1
         1.4  < . 1:101(100) ack 1 win 4
         1.4  > . 1:1(0) ack 101
         1.41 < . 1:101(100) ack 1 win 4
         1.41 > . 1:1(0) ack 101 <sack 1:101>
         1.42 < . 1:101(100) ack 1 win 4
         1.42 > . 1:1(0) ack 101 <sack 1:101>",
    );
}

/// The interval is the configuration's; zero answers each.
#[test]
fn the_interval_between_answers_can_be_chosen() {
    for (interval, answers) in [(0, 4), (100, 2), (1000, 1)] {
        let mut b = Bench::open_client(tcp().invalid_ack_interval(ms(interval)));
        let mut script = String::new();
        for (i, time) in ["0.2", "0.25", "0.29", "0.31"].iter().enumerate() {
            script += &format!("{time} < . 0:0(0) ack 1 win 4\n");
            if interval == 0 || i == 0 || (interval == 100 && i == 3) {
                script += &format!("{time} > . 1:1(0) ack 1\n");
            }
        }
        assert_eq!(script.matches('>').count(), answers);
        b.play(&script);
    }
}

/// Two ends that disagree (as after a forged segment): the client takes octets the server has not sent for received. Each acknowledgement
/// of one lies outside the window of the other. 1 ms apart they would exchange a million in 1000 s; a few are left.
#[test]
fn two_ends_that_disagree_do_not_answer_each_other_without_end() {
    let mut pair = Pair::new(tcp(), tcp(), ms(1));
    pair.write(Side::A, 1000);
    pair.run_until(at(1000));
    let mut forged = *pair.log.iter().rfind(|p| p.from == Side::B).expect("an acknowledgement").segment();
    forged.payload = anabranch_stack::segment::Payload::new(0, 50);
    pair.inject(Side::A, 0, forged, ms(0));
    pair.run_until(at(2000));
    let before = pair.log.len();
    let mut keep_alive = forged;
    keep_alive.payload = Default::default();
    pair.inject(Side::A, 0, keep_alive, ms(0));
    pair.run_until(at(1_002_000));
    let sent = pair.log.len() - before;
    assert!((1..10).contains(&sent), "{sent}");
}

/// A path that lets segments overtake each other and delivers half of them twice: 75 segments up, 75 down, with and without timestamps.
/// Not more acknowledgements than a few for each segment that arrives.
#[test]
fn reordering_and_duplication_make_no_war_of_acknowledgements() {
    for (seed, timestamps) in (0..20).map(|seed| (seed, seed % 2 == 0)) {
        let config = tcp().timestamps(timestamps).mss(1400);
        let mut pair = Pair::seeded(config.clone(), config, &[ms(50)], seed + 1);
        let mut dice = Rng::new(seed);
        pair.filter(move |_| match dice.percent(50) {
            true => Fate::Twice(ms(dice.below(100))),
            false => Fate::Late(ms(dice.below(100))),
        });
        pair.write(Side::A, 105_000);
        pair.write(Side::B, 105_000);
        pair.close(Side::A);
        pair.close(Side::B);
        pair.run();
        assert!(pair.is_closed());
        assert_eq!((pair[Side::A].read, pair[Side::B].read), (105_000, 105_000));
        assert!(pair.log.len() < 2000, "seed {seed}: {}", pair.log.len());
    }
}

// ---- challenge ACKs ----------------------------------------------------------------------------------------------------

/// RFC 5961 3.2, 4.2, 7: resets and SYNs inside the window draw challenge ACKs, ten in five seconds.
#[test]
fn challenge_acks_are_ten_in_five_seconds() {
    for flags in ["R", "S", "S."] {
        let mut b = Bench::open_client(tcp());
        let answered = |time: &str| format!("{time} < {flags} 5:5(0) ack 1 win 4\n{time} > . 1:1(0) ack 1\n");
        let unanswered = format!("3 < {flags} 5:5(0) ack 1 win 4\n").repeat(50);
        b.play(&(answered("0.2").repeat(10) + &unanswered + &answered("5.2")));
    }
}

/// RFC 5961 5.2: an acknowledgement is acceptable from the largest window (here 4 * 2^14 octets; 65,535 in the SYN) before SND.UNA on. A
/// forged segment that does not know that has its payload dropped.
#[test]
fn an_acknowledgement_that_is_too_old_is_refused() {
    let mut b = Bench::open_client(tcp().initial_window(100));
    b.play(
        "0.2 write 80000
         0.2 > . 1:65001(65x1000) ack 1
         0.3 < . 1:1(0) ack 65001 win 4
         0.3 > . 65001:79001(14x1000) ack 1
         0.3 > P. 79001:80001(1000) ack 1
         0.4 < . 1:1(0) ack 80001 win 4
         0.5 < . 1:101(100) ack 14465 win 4       // 80001 - 65536
         0.5 > . 80001:80001(0) ack 101
         0.5 read 100
         0.6 < . 101:201(100) ack 14464 win 4
         0.6 > . 80001:80001(0) ack 101
         0.6 unread 0",
    );
}

/// RFC 9293 3.10.7.4, RFC 5961 5.2: an acknowledgement of what was not sent yet is answered and dropped; ten in five seconds if there is nothing
/// else in the segment.
#[test]
fn an_acknowledgement_of_what_was_not_sent_is_answered() {
    let mut b = Bench::open_client(tcp());
    for _ in 0..10 {
        b.play("0.2 < . 1:1(0) ack 2 win 100\n 0.2 > . 1:1(0) ack 1");
    }
    b.play(
        "0.2 < . 1:1(0) ack 2 win 100
         0.2 < . 1:101(100) ack 2 win 100
         0.2 > . 1:1(0) ack 1",
    );
}

// ---- what Multipath TCP answers ----------------------------------------------------------------------------------------

/// The third ACK of a join, a DATA_FIN, an ADD_ADDR: each is answered when it comes first, and when it is repeated because the answer was
/// lost; a thousand of them in one moment are not. MP_PRIO draws no answer at all.
#[test]
fn signals_that_are_repeated_without_end_are_not_answered_without_end() {
    let mut s = Script::server(mptcp());
    let (flow, nonce, peer_nonce) = s.join_half();
    let address = AddrId { id: 4, addr: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 4)) };
    let hmac = keys::add_addr_hmac(s.peer_key, s.key, address.id, address.addr, 0);
    let signals = [
        (flow, s.join_ack(flow, nonce, peer_nonce), 11),
        (0, s.data_fin(0, 1, 0, 0), 11),
        (flow, s.signal(flow, add_addr(address, Some(hmac))), 11),
        (0, s.signal(0, Signal::Prio { backup: true }), 0),
    ];
    for (on, segment, most) in signals {
        s.wait(ms(10_000));
        let answers: usize = (0..1000).map(|_| s.give(on, segment).len()).sum();
        assert_eq!(answers, most, "{:?}", segment.options);
        s.wait(ms(10_000));
        assert_eq!(s.give(on, segment).len(), usize::from(most > 0), "later again");
    }
}
