//! TCP Fast Open (RFC 7413), and with Multipath TCP (RFC 8684 appendix B).

use anabranch_stack::config::Deviations;
use anabranch_stack::event::{Event, SendKind};
use anabranch_stack::host::{Addresses, Endpoint};
use anabranch_stack::segment::{Cookie, Flags, Mptcp, Payload, Segment, Signal};
use anabranch_stack::time::Duration;
use anabranch_stack::{Config, Connection, Instant};

use crate::bench::Bench;
use crate::mptcp_bench::{first_dsn, mptcp, peer_syn};
use crate::pair::{entropy, tcp};

fn cookie() -> Cookie {
    Cookie::new(&[1, 2, 3, 4, 5, 6, 7, 8]).expect("eight octets")
}

fn cached() -> Option<(Cookie, Option<u16>)> {
    Some((cookie(), Some(1460)))
}

// ---- client ----------------------------------------------------------------------------------------------------

/// 4.2.1: an empty option asks, the SYN/ACK gives; the host caches cookie and MSS. Without a cookie no data leave.
/// RFC 7413 4.2.1.
/// RFC 7413 4.2.2.
/// RFC 7413 9: with option 34.
#[test]
fn a_cookie_is_asked_for_and_given() {
    let mut b = Bench::fast_client(tcp(), None, 100);
    b.play(
        "0   > S 0:0(0) <mss 1040,sackOK,wscale 14,FO>
         0.1 < S. 0:0(0) ack 1 win 65535 <mss 1460,FO 0102030405060708>
         0.1 > P. 1:101(100) ack 1 {new}",
    );
    assert_eq!(b.count(|e| *e == Event::FastOpenCookie { cookie: cookie(), mss: Some(1460) }), 1);
    assert_eq!(b.count(|e| *e == Event::FastOpenRefused), 0);
}

/// 4.1.1: an empty option is a request, and gives nothing: what a server answers with it is no cookie, and refuses none.
#[test]
fn an_empty_answer_is_no_cookie() {
    let mut b = Bench::fast_client(tcp(), None, 100);
    b.play(
        "0   > S 0:0(0) <mss 1040,sackOK,wscale 14,FO>
         0.1 < S. 0:0(0) ack 1 win 65535 <mss 1460,FO>
         0.1 > P. 1:101(100) ack 1 {new}",
    );
    assert_eq!(b.count(|e| matches!(e, Event::FastOpenCookie { .. })), 0);
}

/// 4.2.2, client: data in the SYN, SND.NXT after them; the SYN/ACK acknowledges them. The figure in section 3.
/// RFC 7413 4.2.2.
#[test]
fn the_syn_carries_data() {
    let mut b = Bench::fast_client(tcp(), cached(), 300);
    b.play(
        "0   > S 0:300(300) <mss 1040,sackOK,wscale 14,FO 0102030405060708> {new}
         0.1 < S. 0:0(0) ack 301 win 65535 <mss 1460,sackOK,wscale 7>
         0.1 > . 301:301(0) ack 1
         0.1 flight 0
         0.1 timer none
         0.2 < P. 1:501(500) ack 301 win 1000
         0.2 > . 301:301(0) ack 501
         0.3 write 100
         0.3 > P. 301:401(100) ack 501",
    );
    assert_eq!((b.conn().subflows()[0].fast_opened(), b.conn().outbound().unacknowledged()), (300, 100));
}

/// 4.1.3: up to the cached MSS, else 536 octets; options count (RFC 6691 2): 4 + 4 + 4 + 12 = 24.
#[test]
fn the_syn_carries_no_more_than_the_cached_mss() {
    let mut b = Bench::fast_client(tcp(), Some((cookie(), Some(824))), 5000);
    b.play("0 > S 0:800(800) <mss 1040,sackOK,wscale 14,FO 0102030405060708>");
    let mut b = Bench::fast_client(tcp(), Some((cookie(), None)), 5000);
    b.play(
        "0   > S 0:512(512) <mss 1040,sackOK,wscale 14,FO 0102030405060708>
         0.1 < S. 0:0(0) ack 513 win 65535 <mss 1040,sackOK,wscale 7>
         0.1 > . 513:4513(4x1000) ack 1
         0.2 < . 1:1(0) ack 4513 win 1000
         0.2 > P. 4513:5001(488) ack 1         // Nagle's algorithm",
    );
}

/// A.1: a call that does not wait writes what the SYN takes, so the connection says how much that is: as above, nothing without a cookie,
/// and under Linux's rule the MSS less 40 octets, whatever the options.
#[test]
fn how_much_the_syn_takes_is_known_before() {
    let room = |config: Config, cached| {
        let mut connection = Connection::connect(config, entropy(1));
        connection.request_fast_open(cached);
        let room = connection.syn_room(Instant::ZERO);
        connection.write(5000);
        let sent = connection.poll_transmit(Instant::ZERO).expect("a SYN").segment.payload.len;
        (room, sent)
    };
    assert_eq!(room(tcp(), Some((cookie(), Some(824)))), (800, 800));
    assert_eq!(room(tcp(), None), (0, 0));
    let linux = tcp().deviations(Deviations::NONE.and("full_options_beside_syn_data"));
    assert_eq!(room(linux, Some((cookie(), Some(824)))), (784, 784));
}

/// 4.2.2: "The client SHOULD retransmit any unacknowledged data in the first ACK packet": at once, and the window is not cut.
/// RFC 7413 4.2.2.
#[test]
fn data_that_the_server_ignores_are_sent_again_at_once() {
    let mut b = Bench::fast_client(tcp(), cached(), 300);
    b.play(
        "0   > S 0:300(300) <mss 1040,sackOK,wscale 14,FO 0102030405060708>
         0.1 < S. 0:0(0) ack 1 win 65535 <mss 1040,sackOK,wscale 7,FO 0807060504030201>
         0.1 > P. 1:301(300) ack 1
         0.1 cwnd 10000
         0.1 ssthresh inf
         0.2 < . 1:1(0) ack 301 win 1000
         0.2 flight 0
         0.2 timer none",
    );
    // It gives another cookie, and with that one it takes data: no refusal.
    assert_eq!(b.count(|e| *e == Event::FastOpenRefused), 0);
    assert_eq!(b.count(|e| matches!(e, Event::FastOpenCookie { mss: Some(1040), .. })), 1);
    assert_eq!(b.count(|e| matches!(e, Event::Congestion { .. })), 0);
}

/// 4.1.3.1: "Negative responses include the server not acknowledging the data in the SYN".
/// RFC 7413 4.1.3.1.
#[test]
fn data_that_are_ignored_without_another_cookie_are_refused() {
    let mut b = Bench::fast_client(tcp(), cached(), 300);
    b.play(
        "0   > S 0:300(300) <mss 1040,sackOK,wscale 14,FO 0102030405060708>
         0.1 < S. 0:0(0) ack 1 win 65535 <mss 1040,sackOK,wscale 7>
         0.1 > P. 1:301(300) ack 1",
    );
    assert_eq!(b.count(|e| *e == Event::FastOpenRefused), 1);
}

/// 4.1.3.1: "(and most importantly) no response (SYN-ACK) from the server at all, i.e., connection timeout". Without the option it says
/// nothing of Fast Open.
/// RFC 7413 4.1.3.1.
#[test]
fn no_answer_at_all_is_a_refusal() {
    let unanswered = |mut c: Connection| {
        c.write(300);
        let mut now = Instant::ZERO;
        let mut events = Vec::new();
        loop {
            while c.poll_transmit(now).is_some() {}
            events.extend(std::iter::from_fn(|| c.poll_event()));
            let Some(at) = c.poll_timeout() else { break events };
            now = now.max(at);
            c.handle_timeout(now);
        }
    };
    for (fast, refusals) in [(true, 1), (false, 0)] {
        for user_timeout in [None, Some(Duration::from_secs(20))] {
            let mut c = Connection::connect(tcp().user_timeout(user_timeout), entropy(1));
            if fast {
                c.request_fast_open(cached());
            }
            let events = unanswered(c);
            assert_eq!(events.iter().filter(|e| **e == Event::FastOpenRefused).count(), refusals);
            assert!(matches!(events.last(), Some(Event::Aborted(_))), "{events:?}");
        }
    }
}

/// A part of it: the rest leaves from there.
/// RFC 7413 4.2.2.
#[test]
fn a_part_of_the_data_may_be_taken() {
    let mut b = Bench::fast_client(tcp(), cached(), 300);
    b.play(
        "0   > S 0:300(300) <mss 1040,sackOK,wscale 14,FO 0102030405060708>
         0.1 < S. 0:0(0) ack 101 win 65535 <mss 1040,sackOK,wscale 7>
         0.1 > P. 101:301(200) ack 1
         0.2 < . 1:1(0) ack 301 win 1000
         0.2 flight 0",
    );
}

/// 4.2.2: "when the SYN timer fires, the client SHOULD retransmit a SYN packet without data and Fast Open options". The late answer to the
/// first one acknowledges the data all the same.
/// RFC 7413 4.1.3.1, 4.2.2.
#[test]
fn a_syn_is_sent_again_without_data_and_option() {
    for (answer, then, refused) in [
        ("1.1 < S. 0:0(0) ack 1 win 65535 <mss 1040,sackOK,wscale 7>", "1.1 > P. 1:301(300) ack 1", 1),
        ("1.1 < S. 0:0(0) ack 301 win 65535 <mss 1040,sackOK,wscale 7>", "1.1 > . 301:301(0) ack 1", 0),
    ] {
        let mut b = Bench::fast_client(tcp(), cached(), 300);
        b.play(&format!(
            "0   > S 0:300(300) <mss 1040,sackOK,wscale 14,FO 0102030405060708>
             1   > S 0:0(0) <mss 1040,sackOK,wscale 14>
             {answer}
             {then}"
        ));
        // 4.1.3.1, 4.2.1: the host is told that the option may be the reason, unless the data have come in all the same.
        assert_eq!(b.count(|e| *e == Event::FastOpenRefused), refused);
    }
}

/// 4.2.2: "The protocol remains the same" in a simultaneous open: the peer's SYN is answered, and its ACK covers what it took. Beside SYN and
/// ACK a cookie would be one that is given (4.2.2, "Client: Receiving SYN-ACK", 1): the peer's own does not go back.
#[test]
fn both_open_at_once() {
    let mut b = Bench::fast_client(tcp(), cached(), 300);
    b.play(
        "0   > S 0:300(300) <mss 1040,sackOK,wscale 14,FO 0102030405060708>
         0.1 < S 0:0(0) win 65535 <mss 1040,sackOK,wscale 7>
         0.1 > S. 0:0(0) ack 1 <mss 1040,sackOK,wscale 14>
         0.2 < S. 0:0(0) ack 1 win 65535 <mss 1040,sackOK,wscale 7>
         0.2 state ESTABLISHED
         0.5 > P. 1:301(300) ack 1 {timeout}
         0.6 < . 1:1(0) ack 301 win 1000
         0.6 flight 0",
    );
}

/// 4.2.2: a small rest of the SYN's data leaves at once, too, and what was not acknowledged with the SYN has not been delivered.
#[test]
fn a_small_rest_of_the_syns_data_does_not_wait() {
    let mut b = Bench::fast_client(tcp(), cached(), 1000);
    b.play(
        "0   > S 0:1000(1000) <mss 1040,sackOK,wscale 14,FO 0102030405060708>
         0.1 < S. 0:0(0) ack 1 win 65535 <mss 640,sackOK,wscale 7>
         0.1 > . 1:641(640) ack 1
         0.1 > P. 641:1001(360) ack 1",
    );
    assert_eq!(b.conn().info(b.now, 0).delivered, 0);
}

/// Lost data of the SYN count for nothing but themselves: what follows them is sent as always.
#[test]
fn a_retransmission_of_the_syns_data_may_be_lost_too() {
    let mut b = Bench::fast_client(tcp(), cached(), 300);
    b.play(
        "0   > S 0:300(300) <mss 1040,sackOK,wscale 14,FO 0102030405060708>
         0.1 < S. 0:0(0) ack 1 win 65535 <mss 1040,sackOK,wscale 7>
         0.1 > P. 1:301(300) ack 1
         0.4 > P. 1:301(300) ack 1 {timeout}
         0.5 < . 1:1(0) ack 301 win 1000
         0.5 flight 0",
    );
}

/// Timestamps, their 12 octets less: 1460 - 32 (4 + 12 + 4 + 12) = 1428 of payload, but no more than our own MSS of 1040 leaves.
#[test]
fn timestamps_take_their_octets() {
    let mut b = Bench::fast_client(tcp().timestamps(true), cached(), 5000);
    b.play("0 > S 0:1008(1008) <mss 1040,sackOK,TS val 0 ecr 0,wscale 14,FO 0102030405060708>");
}

/// 4.2.2 1 a: a cookie of 16 octets beside everything else and MP_CAPABLE has no room: 4 + 12 + 4 + 4 + 20 = 44.
#[test]
fn without_room_for_the_cookie_the_handshake_is_a_usual_one() {
    let config = mptcp().timestamps(true);
    let mut c = Connection::connect(config, entropy(1));
    c.request_fast_open(Some((Cookie::new(&[9; 16]).expect("sixteen"), None)));
    c.write(100);
    let syn = c.poll_transmit(Instant::ZERO).expect("a SYN").segment;
    assert_eq!((syn.payload.len, syn.options.signal, syn.options.wire_len()), (0, Signal::None, 24));
}

/// 7.3: without cookies data leave without the option, as many as the cached MSS allows, or 536 octets less options (4 + 4 + 4), under Linux's rule as
/// many as our own (40 octets less). Given a cookie it did not ask for, the client keeps the MSS alone.
#[test]
fn without_cookies_the_syn_carries_data_too() {
    let bare = tcp().fast_open_without_cookies(true);
    for (config, cached, sent) in [
        (bare.clone(), None, 524),
        (bare.clone(), Some((Cookie::REQUEST, Some(824))), 812),
        (bare.clone().deviations(Deviations::NONE.and("own_mss_bounds_syn_data")), None, 1028),
        (bare.clone().deviations(Deviations::LINUX_61), None, 1000),
    ] {
        let mut b = Bench::fast_client(config, cached, 5000);
        b.play(&format!("0 > S 0:{sent}({sent}) <mss 1040,sackOK,wscale 14>"));
    }
    let mut b = Bench::fast_client(bare, None, 300);
    b.play(
        "0   > S 0:300(300) <mss 1040,sackOK,wscale 14>
         0.1 < S. 0:0(0) ack 301 win 65535 <mss 940,FO 0102030405060708>
         0.1 > . 301:301(0) ack 1",
    );
    assert_eq!(b.conn().subflows()[0].fast_opened(), 300);
    assert_eq!(b.count(|e| *e == Event::FastOpenCookie { cookie: Cookie::REQUEST, mss: Some(940) }), 1);
    assert_eq!(b.count(|e| matches!(e, Event::FastOpenCookie { .. })), 1);
    // The MSS that is kept says nothing of a cookie: a client that needs one asks for it.
    let mut b = Bench::fast_client(tcp(), Some((Cookie::REQUEST, Some(824))), 5000);
    b.play("0 > S 0:0(0) <mss 1040,sackOK,wscale 14,FO>");
}

/// 4.1.3.1: a refusal is one without cookies, too.
#[test]
fn without_cookies_a_server_may_refuse_too() {
    let mut b = Bench::fast_client(tcp().fast_open_without_cookies(true), None, 300);
    b.play(
        "0   > S 0:300(300) <mss 1040,sackOK,wscale 14>
         0.1 < S. 0:0(0) ack 1 win 65535 <mss 1040,sackOK,wscale 7>
         0.1 > P. 1:301(300) ack 1",
    );
    assert_eq!(b.count(|e| *e == Event::FastOpenRefused), 1);
}

// ---- server ----------------------------------------------------------------------------------------------------

/// 7.3: a server that needs no cookie takes data with none, a wrong one, or a request, and gives none then; without data it answers as always.
#[test]
fn a_server_that_needs_no_cookie_takes_any_data() {
    for shown in ["", ",FO", ",FO 0102030405060709"] {
        let mut b = Bench::fast_server(tcp().fast_open_without_cookies(true), cookie());
        b.play(&format!(
            "0    < S 0:300(300) win 65535 <mss 1040,sackOK{shown}>
             0    > S. 0:0(0) ack 301 <mss 1040,sackOK>
             0    read 300"
        ));
        assert_eq!(b.conn().subflows()[0].fast_opened(), 300);
    }
    let mut b = Bench::fast_server(tcp().fast_open_without_cookies(true), cookie());
    b.play(
        "0 < S 0:0(0) win 65535 <mss 1040,sackOK,FO>
         0 > S. 0:0(0) ack 1 <mss 1040,sackOK,FO 0102030405060708>",
    );
    assert!(!b.conn().subflows()[0].is_fast_opened());
}

/// 4.2.2, server: the right cookie. The application reads and answers before the handshake is complete; a duplicate of the SYN (2.1) is
/// answered by the SYN/ACK again.
/// RFC 7413 4.1.1.
#[test]
fn the_server_takes_data_with_the_right_cookie() {
    let mut b = Bench::fast_server(tcp(), cookie());
    b.play(
        "0    < S 0:300(300) win 65535 <mss 1040,sackOK,FO 0102030405060708>
         0    > S. 0:0(0) ack 301 <mss 1040,sackOK>
         0    event Connected
         0    read 300
         0.01 write 2000
         0.01 > . 1:1001(1000) ack 301
         0.01 > P. 1001:2001(1000) ack 301
         0.05 < S 0:300(300) win 65535 <mss 1040,sackOK,FO 0102030405060708>
         0.05 > S. 0:0(0) ack 301 <mss 1040,sackOK>
         0.1  state SYN-RECEIVED
         0.1  < . 301:301(0) ack 2001 win 65535
         0.1  state ESTABLISHED
         0.1  flight 0
         0.1  timer none",
    );
    assert_eq!((b.conn().subflows()[0].fast_opened(), b.conn().inbound().received()), (300, 300));
    assert_eq!(b.count(|e| *e == Event::Connected), 1);
}

/// The ACK covers the SYN alone: what was sent beside the SYN/ACK has a timer.
#[test]
fn the_servers_early_data_are_retransmitted() {
    let mut b = Bench::fast_server(tcp(), cookie());
    b.play(
        "0    < S 0:300(300) win 65535 <mss 1040,sackOK,FO 0102030405060708>
         0    > S. 0:0(0) ack 301 <mss 1040,sackOK>
         0    write 100
         0    > P. 1:101(100) ack 301
         0.1  < . 301:301(0) ack 1 win 65535
         0.4  > P. 1:101(100) ack 301 {timeout}",
    );
}

/// 4.2.2 step 3 and 5: with a wrong cookie only the SYN is acknowledged, and another cookie given; 4.2.1: likewise if one is asked for.
/// The data count for nothing, and arrive after the handshake.
#[test]
fn a_wrong_cookie_has_its_data_left_alone() {
    for shown in ["FO 0102030405060709", "FO 01020304", "FO"] {
        let mut b = Bench::fast_server(tcp(), cookie());
        b.play(&format!(
            "0    < S 0:300(300) win 65535 <mss 1040,sackOK,{shown}>
             0    > S. 0:0(0) ack 1 <mss 1040,sackOK,FO 0102030405060708>
             0    unread 0
             0.05 < S 0:300(300) win 65535 <mss 1040,sackOK,{shown}>
             0.05 > S. 0:0(0) ack 1 <mss 1040,sackOK,FO 0102030405060708>
             0.1  < P. 1:301(300) ack 1 win 65535
             0.1  > . 1:1(0) ack 301
             0.1  read 300"
        ));
        assert_eq!(b.conn().subflows()[0].fast_opened(), 0);
    }
}

/// 4.2.2: "If the SYN-ACK timer fires, the server SHOULD retransmit a SYN-ACK segment with neither data nor Fast Open options".
/// RFC 7413 4.2.2.
#[test]
fn the_syn_ack_is_sent_again_without_the_option() {
    let mut b = Bench::fast_server(tcp(), cookie());
    b.play(
        "0   < S 0:0(0) win 65535 <mss 1040,sackOK,FO>
         0   > S. 0:0(0) ack 1 <mss 1040,sackOK,FO 0102030405060708>
         1   > S. 0:0(0) ack 1 <mss 1040,sackOK>",
    );
}

/// RFC 7413 4.2: a host that is asked for a cookie gives one only if Fast Open was asked for, which
/// it is not by default.
#[test]
fn a_host_gives_cookies_only_if_configured() {
    for fast_open in [true, false] {
        let mut server = Endpoint::new([2; 32]);
        server.listen(80, tcp().fast_open(fast_open));
        let addresses = Addresses { local: ([10, 0, 0, 2], 80).into(), remote: ([10, 0, 0, 1], 1000).into() };
        let mut syn = Segment { window: 65_535, flags: Flags::SYN, ..Segment::default() };
        syn.options.signal = Signal::FastOpen(Cookie::REQUEST);
        server.handle_packet(Instant::ZERO, addresses, &syn, &[]);
        let answer = server.poll_transmit(Instant::ZERO).expect("a SYN/ACK").segment;
        assert_eq!(matches!(answer.options.signal, Signal::FastOpen(_)), fast_open);
    }
    assert!(!Config::default().fast_open && !Config::classic().fast_open);
}

/// 4.2: "When this flag is off, the server [...] MUST ignore all cookie options."
/// RFC 7413 4.2.
#[test]
fn a_server_without_fast_open_ignores_the_option() {
    let mut b = Bench::server(tcp());
    b.play(
        "0   < S 0:300(300) win 65535 <mss 1040,sackOK,FO 0102030405060708>
         0   > S. 0:0(0) ack 1 <mss 1040,sackOK>
         0.1 < . 1:301(300) ack 1 win 65535
         0.1 > . 1:1(0) ack 301",
    );
}

// ---- with Multipath TCP ----------------------------------------------------------------------------------------

fn mapping_of(segment: &Segment) -> Option<(u64, u32, u16)> {
    segment.dss().and_then(|d| d.mapping).map(|m| (m.dsn, m.ssn, m.len))
}

/// RFC 8684 figure 19 and B.2: 20 octets in the SYN are no part of the data sequence space. The next data, TCP sequence number 21, have the
/// first data sequence number and subflow sequence number 1; DATA_ACKs count from there, too.
#[test]
fn data_of_the_syn_have_no_data_sequence_numbers() {
    let mut c = Connection::connect(mptcp(), entropy(1));
    let own_key = crate::mptcp_bench::key_of(1);
    c.request_fast_open(cached());
    c.write(20);
    let now = Instant::ZERO;
    let syn = c.poll_transmit(now).expect("a SYN").segment;
    assert_eq!(
        (syn.payload, syn.options.mptcp),
        (Payload::new(0, 20), Mptcp::CapableSyn { no_join: false, checksum: false })
    );
    let peer_key = 0x55;
    let answer = peer_syn(Mptcp::CapableSynAck { no_join: false, checksum: false, key: peer_key });
    let answer = Segment { ack: syn.seq.wrapping_add(21), flags: Flags::SYN.with(Flags::ACK), ..answer };
    c.handle_segment(now, 0, &answer);
    let third = c.poll_transmit(now).expect("the third ACK").segment;
    assert!(matches!(third.options.mptcp, Mptcp::CapableAck { data: None, .. }), "{third:?}");
    assert_eq!((third.seq, c.outbound().unacknowledged()), (syn.seq.wrapping_add(21), 0));
    c.write(20);
    let first = c.poll_transmit(now).expect("data").segment;
    assert_eq!((first.seq, first.payload), (syn.seq.wrapping_add(21), Payload::new(20, 20)));
    assert!(matches!(first.options.mptcp, Mptcp::CapableAck { data: Some((20, _)), .. }), "{first:?}");
    // "ack=21" in the figure's terms: 20 octets after the first.
    let dsn = first_dsn(own_key).wrapping_add(20);
    let mut ack = Segment { seq: answer.seq.wrapping_add(1), ack: first.seq.wrapping_add(20), ..answer };
    ack.flags = Flags::ACK;
    ack.options.mptcp = Mptcp::Dss(anabranch_stack::segment::Dss {
        data_ack: Some(anabranch_stack::segment::DataAck::Eight(dsn)),
        ..Default::default()
    });
    c.handle_segment(now, 0, &ack);
    assert_eq!(c.outbound().unacknowledged(), 0);
    c.write(10);
    let next = c.poll_transmit(now).expect("data").segment;
    assert_eq!(mapping_of(&next), Some((dsn, 21, 10)));
}

/// Figure 20: the listener has not taken the data. They are sent again after the handshake, as the first of the data sequence space.
#[test]
fn data_that_come_again_have_data_sequence_numbers() {
    let mut c = Connection::connect(mptcp(), entropy(1));
    c.request_fast_open(cached());
    c.write(1000);
    let now = Instant::ZERO;
    let syn = c.poll_transmit(now).expect("a SYN").segment;
    for taken in [0, 500] {
        let mut c = Connection::connect(mptcp(), entropy(1));
        c.request_fast_open(cached());
        c.write(1000);
        let len = c.poll_transmit(now).expect("a SYN").segment.payload.len;
        let answer = peer_syn(Mptcp::CapableSynAck { no_join: false, checksum: false, key: 0x55 });
        let ack = syn.seq.wrapping_add(1 + taken);
        c.handle_segment(now, 0, &Segment { ack, flags: Flags::SYN.with(Flags::ACK), ..answer });
        let t = c.poll_transmit(now).expect("the rest");
        assert_eq!((t.kind, t.transmissions), (SendKind::New, 1));
        assert_eq!((t.segment.seq, t.segment.payload.len), (ack, len - taken));
        // Figure 21: "dlen=500", the first octets that are numbered.
        let Mptcp::CapableAck { data: Some((n, _)), .. } = t.segment.options.mptcp else { panic!("{t:?}") };
        assert_eq!(u32::from(n), len - taken);
    }
}

/// Two engines: data in the SYN, more in both directions, every octet arrives once and in order, with checksums too.
/// RFC 7413 4.1.3.
#[test]
fn two_endpoints_open_fast_with_multipath() {
    for checksum in [false, true] {
        let config = mptcp().fast_open(true).timestamps(true).checksum(checksum);
        let mut ends = Ends::new(config);
        let text: Vec<u8> = (0..20_000_u32).map(|n| (n * 7 % 251) as u8).collect();
        // The first connection fetches the cookie.
        let first = ends.connect(1000);
        let _ = ends.client.write(first, b"hello");
        ends.run();
        for port in [1001, 1002] {
            let id = ends.connect(port);
            let written = ends.client.write(id, &text[..5000]).expect("room");
            assert_eq!(written, 5000);
            let syn = ends.client.poll_transmit(ends.now).expect("a SYN");
            assert!(syn.payload.len() > 500 && syn.segment.flags == Flags::SYN, "{syn:?}");
            ends.server.handle_packet(ends.now, syn.addresses.reversed(), &syn.segment, &syn.payload);
            ends.run();
            let _ = ends.client.write(id, &text[5000..]);
            ends.run();
            let server = ends.server.connections().last().expect("it has come");
            assert!(ends.server.connection(server).expect("there").is_multipath());
            let mut heard = vec![0; 30_000];
            let n = ends.server.read(server, &mut heard).expect("there");
            assert!(heard[..n] == text[..], "{n} octets");
            assert_eq!(ends.client.connection(id).expect("there").outbound().unacknowledged(), 0);
            assert_eq!(
                ends.client.connection(id).expect("there").subflows()[0].fast_opened() as usize,
                syn.payload.len()
            );
            // And back, before the client writes again.
            ends.server.write(server, &text).expect("room");
            ends.run();
            let n = ends.client.read(id, &mut heard).expect("there");
            assert!(heard[..n] == text[..], "{n} octets");
        }
    }
}

// ---- hosts -----------------------------------------------------------------------------------------------------

struct Ends {
    client: Endpoint,
    server: Endpoint,
    config: Config,
    now: Instant,
}

impl Ends {
    fn new(config: Config) -> Self {
        let (client, mut server) = (Endpoint::new([1; 32]), Endpoint::new([2; 32]));
        server.listen(80, config.clone());
        Self { client, server, config, now: Instant::ZERO }
    }

    fn connect(&mut self, port: u16) -> anabranch_stack::host::ConnectionId {
        let addresses = Addresses { local: ([10, 0, 0, 1], port).into(), remote: ([10, 0, 0, 2], 80).into() };
        self.client.connect(Instant::ZERO, addresses, self.config.clone()).expect("free")
    }

    fn run(&mut self) {
        loop {
            let mut quiet = true;
            while let Some(t) = self.client.poll_transmit(self.now) {
                self.server.handle_packet(self.now, t.addresses.reversed(), &t.segment, &t.payload);
                quiet = false;
            }
            while let Some(t) = self.server.poll_transmit(self.now) {
                self.client.handle_packet(self.now, t.addresses.reversed(), &t.segment, &t.payload);
                quiet = false;
            }
            if quiet {
                break;
            }
        }
    }
}

/// 5.1: with a listener's limit of requests pending, data in SYNs are no longer taken, and connections open all the same. A request whose
/// handshake completes makes room.
/// RFC 7413 4.2.
#[test]
fn too_many_pending_requests_switch_it_off() {
    let config = tcp().fast_open(true);
    let mut ends = Ends::new(config);
    let first = ends.connect(1);
    ends.run();
    let _ = ends.client.abort(first);
    ends.run();
    let (mut taken, mut last) = (0, None);
    for port in 2..102 {
        let id = ends.connect(port);
        ends.client.write(id, b"request").expect("room");
        let syn = ends.client.poll_transmit(ends.now).expect("a SYN");
        assert_eq!(syn.payload, b"request");
        ends.server.handle_packet(ends.now, syn.addresses.reversed(), &syn.segment, &syn.payload);
        let server = ends.server.connections().last().expect("it has come");
        taken += ends.server.connection(server).expect("there").subflows()[0].fast_opened();
        // What the server sends is held back.
        last = Some(syn);
    }
    assert_eq!(taken, 64 * 7);
    ends.run();
    // The client refrains from Fast Open now (4.1.3.1), having been refused. Another program at its address does not.
    let mut syn = last.expect("a hundred");
    syn.addresses.local.set_port(500);
    ends.server.handle_packet(ends.now, syn.addresses.reversed(), &syn.segment, &syn.payload);
    let server = ends.server.connections().last().expect("it has come");
    assert_eq!(ends.server.connection(server).expect("there").subflows()[0].fast_opened(), 7);
}

/// 4.1.3.1: a client pauses Fast Open to a server that has ignored its data; Linux pauses after the
/// second time.
#[test]
fn a_first_refusal_may_be_forgiven() {
    for forgives in [true, false] {
        let forgiving = Deviations::NONE.and("forgives_fast_open_refusal");
        let deviations = if forgives { forgiving } else { Deviations::NONE };
        let mut ends = Ends::new(tcp().fast_open(true).deviations(deviations));
        let first = ends.connect(1);
        ends.run();
        let _ = ends.client.abort(first);
        ends.run();
        let mut kept = Vec::new();
        for port in [2, 3] {
            let id = ends.connect(port);
            ends.client.write(id, b"request").expect("room");
            let syn = ends.client.poll_transmit(ends.now).expect("a SYN");
            let answer = Segment {
                ack: syn.segment.seq.wrapping_add(1),
                flags: Flags::SYN.with(Flags::ACK),
                window: 65_535,
                ..Segment::default()
            };
            ends.client.handle_packet(ends.now, syn.addresses, &answer, &[]);
            ends.run();
            let mut next = syn.addresses;
            next.local.set_port(9);
            kept.push(ends.client.has_fast_open_cookie(ends.now, next));
        }
        assert_eq!(kept, [forgives, false]);
    }
}

/// 4.1.2: "authenticates the client's (source) IP address": another client's cookie is worth nothing.
/// RFC 7413 4.1.2.
#[test]
fn a_cookie_is_good_for_one_client() {
    let mut ends = Ends::new(tcp().fast_open(true));
    let first = ends.connect(1);
    ends.run();
    let _ = ends.client.abort(first);
    ends.run();
    let id = ends.connect(2);
    ends.client.write(id, b"request").expect("room");
    let mut syn = ends.client.poll_transmit(ends.now).expect("a SYN");
    syn.addresses.local = ([10, 0, 0, 9], 2).into();
    ends.server.handle_packet(ends.now, syn.addresses.reversed(), &syn.segment, &syn.payload);
    let server = ends.server.connections().last().expect("it has come");
    assert_eq!(ends.server.connection(server).expect("there").subflows()[0].fast_opened(), 0);
    assert_eq!(ends.server.connection(server).expect("there").inbound().received(), 0);
}

/// The SYN left before its sender knew of a window. What the server did not take leaves within the one that it then offers (RFC 9293
/// 3.8.6): not as one segment of 300 octets that no window of 100 ever admits.
#[test]
fn data_that_were_not_taken_fit_into_the_window_when_they_leave_again() {
    let mut b = Bench::fast_client(tcp().nagle(false), cached(), 300);
    b.play(
        "0    > S 0:300(300) <mss 1040,sackOK,wscale 14,FO 0102030405060708>
         0.1  < S. 0:0(0) ack 1 win 100 <mss 1040,sackOK,wscale 0>
         0.1  > . 1:101(100) ack 1
         0.2  < . 1:1(0) ack 101 win 100
         0.2  > . 101:201(100) ack 1
         0.3  < . 1:1(0) ack 201 win 100
         0.3  > P. 201:301(100) ack 1
         0.4  < . 1:1(0) ack 301 win 100
         0.4  flight 0",
    );
}

/// The application has closed its direction by then: the FIN follows the data that were not taken.
#[test]
fn a_fin_waits_for_data_that_were_not_taken() {
    let mut b = Bench::fast_client(tcp(), cached(), 300);
    b.play(
        "0    > S 0:300(300) <mss 1040,sackOK,wscale 14,FO 0102030405060708>
         0.05 shutdown
         0.1  < S. 0:0(0) ack 1 win 65535 <mss 1040,sackOK,wscale 7>
         0.1  > P. 1:301(300) ack 1
         0.1  > F. 301:301(0) ack 1",
    );
}
