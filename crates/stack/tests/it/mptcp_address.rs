//! ADD_ADDR (RFC 8684 3.4.1): authenticated, echoed, repeated until the echo comes, and the same however often it comes.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use anabranch_stack::event::{EndReason, Event};
use anabranch_stack::mptcp::keys;
use anabranch_stack::segment::{AddrId, AddrIds, Flags, Mptcp, OPTION_SPACE, Segment, Signal};

use crate::mptcp_bench::{Script, add_addr, joined, keys_of_pair, mptcp};
use crate::pair::{Fate, Packet, Pair, Side, at, ms};

const SECOND: AddrId = AddrId { id: 1, addr: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)) };
const THIRD: AddrId = AddrId { id: 2, addr: IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 3)) };

/// The server advertises at 50, over a path of 10 ms, while nothing else happens: at 60 the client knows, at 70 the echo is
/// back.
fn pair(filter: impl FnMut(&Packet) -> Fate + 'static) -> Pair {
    let mut pair = Pair::new(mptcp(), mptcp(), ms(10));
    pair.filter(filter);
    pair.write(Side::A, 1000);
    pair.run_until(at(50));
    pair.with(Side::B, |c| c.advertise(SECOND, None));
    pair
}

/// Times at which `from` sent ADD_ADDR (or its echo).
fn sent(pair: &Pair, from: Side) -> Vec<u64> {
    let about = |p: &&Packet| p.from == from && is_about_an_address(p);
    pair.log.iter().filter(about).map(|p| p.at.0 / 1_000_000).collect()
}

fn is_about_an_address(p: &Packet) -> bool {
    matches!(p.segment().options.signal, Signal::AddAddr { .. } | Signal::AddAddrEcho(_))
}

fn told(pair: &Pair, side: Side) -> usize {
    pair[side].count(|e| matches!(e, Event::RemoteAddress { .. }))
}

fn is_advertisement(p: &Packet) -> bool {
    p.from == Side::B && is_about_an_address(p)
}

fn is_echo(p: &Packet) -> bool {
    p.from == Side::A && is_about_an_address(p)
}

#[test]
fn an_address_is_advertised_once_and_echoed() {
    let mut pair = pair(|_| Fate::Pass);
    pair.run_until(at(60_000));
    let (a, b) = keys_of_pair(1);
    let options: Vec<Signal> =
        pair.log.iter().filter(|p| is_advertisement(p) || is_echo(p)).map(|p| p.segment().options.signal).collect();
    let hmac = keys::add_addr_hmac(b, a, SECOND.id, SECOND.addr, 0);
    assert_eq!(options, [add_addr(SECOND, Some(hmac)), add_addr(SECOND, None)]);
    assert_eq!((sent(&pair, Side::B), sent(&pair, Side::A)), (vec![50], vec![60]));
    let event = Event::RemoteAddress { id: SECOND.id, addr: SECOND.addr, port: None };
    assert_eq!(pair[Side::A].when(event), Some(at(60)));
    assert_eq!((told(&pair, Side::A), told(&pair, Side::B)), (1, 0));
}

/// The first two are lost: again after 1 s, then after 2 s more.
#[test]
fn a_lost_advertisement_is_repeated() {
    let mut pair = pair(|p| if is_advertisement(p) && p.at < at(2000) { Fate::Drop } else { Fate::Pass });
    pair.run_until(at(60_000));
    assert_eq!((sent(&pair, Side::B), sent(&pair, Side::A)), (vec![50, 1050, 3050], vec![3060]));
    assert_eq!(told(&pair, Side::A), 1);
}

/// The first two echoes are lost: the advertisement comes again and is echoed again, but the client's driver is told once.
#[test]
fn a_repeated_advertisement_is_echoed_again_and_told_once() {
    let mut pair = pair(|p| if is_echo(p) && p.at < at(2000) { Fate::Drop } else { Fate::Pass });
    pair.run_until(at(60_000));
    assert_eq!((sent(&pair, Side::B), sent(&pair, Side::A)), (vec![50, 1050, 3050], vec![60, 1060, 3060]));
    assert_eq!(told(&pair, Side::A), 1);
}

/// A path that duplicates.
#[test]
fn a_duplicated_advertisement_is_told_once() {
    let mut pair = pair(|p| if is_advertisement(p) { Fate::Twice(ms(3)) } else { Fate::Pass });
    pair.run_until(at(60_000));
    assert_eq!((sent(&pair, Side::B), sent(&pair, Side::A)), (vec![50], vec![60, 63]));
    assert_eq!(told(&pair, Side::A), 1);
}

/// No echo ever: eight times, 127 s in all, then never again.
#[test]
fn an_advertisement_without_echo_is_given_up() {
    let mut pair = pair(|p| if is_echo(p) { Fate::Drop } else { Fate::Pass });
    pair.run_until(at(2_000_000));
    let times: Vec<u64> = (0..8).map(|n| 50 + 1000 * ((1 << n) - 1)).collect();
    assert_eq!(sent(&pair, Side::B), times);
}

/// One bit of the HMAC is wrong, or of what it covers: no event, no echo.
#[test]
fn an_advertisement_with_a_wrong_hmac_is_ignored() {
    type Change = fn(&mut AddrId, &mut u64);
    let changes: [Change; 4] = [
        |_, hmac| *hmac ^= 1,
        |_, hmac| *hmac ^= 1 << 63,
        |address, _| address.id = 7,
        |address, _| address.addr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 3)),
    ];
    for change in changes {
        let mut pair = pair(move |p| {
            let mut seg = *p.segment();
            if let Signal::AddAddr { advertised, hmac } = &mut seg.options.signal {
                change(&mut advertised.address, hmac);
            }
            Fate::As(seg)
        });
        pair.run_until(at(10_000));
        assert!(sent(&pair, Side::B).len() > 1);
        assert_eq!((sent(&pair, Side::A).len(), told(&pair, Side::A)), (0, 0));
    }
}

/// An advertisement that the peer's own key "protects", or that was made for the other direction.
#[test]
fn an_advertisement_is_bound_to_its_sender() {
    let mut s = Script::server(mptcp());
    let hmac = keys::add_addr_hmac(s.key, s.peer_key, SECOND.id, SECOND.addr, 0);
    let reflected = s.signal(0, add_addr(SECOND, Some(hmac)));
    assert!(s.give(0, reflected).is_empty());
    let hmac = keys::add_addr_hmac(s.peer_key, s.key, SECOND.id, SECOND.addr, 0);
    let own = s.signal(0, add_addr(SECOND, Some(hmac)));
    assert_eq!(s.give(0, own).len(), 1);
    assert_eq!(s.count(|e| matches!(e, Event::RemoteAddress { .. })), 1);
}

/// Two addresses, one of them IPv6, each acknowledged by itself.
#[test]
fn several_addresses_are_advertised_each_on_its_own_segment() {
    let mut pair = pair(|_| Fate::Pass);
    pair.with(Side::B, |c| c.advertise(THIRD, None));
    pair.with(Side::A, |c| c.advertise(THIRD, None));
    pair.run_until(at(60_000));
    assert_eq!((told(&pair, Side::A), told(&pair, Side::B)), (2, 1));
    // They are kept, although no subflow uses them.
    let kept = |side| pair[side].conn().peer_addresses().len();
    assert_eq!((kept(Side::A), kept(Side::B)), (2, 1));
    assert_eq!((sent(&pair, Side::B).len(), sent(&pair, Side::A).len()), (3, 3));
}

/// RFC 8684 3.4.1: the address of an identifier stays; another one is ignored silently, until the old one is removed (3.4.2).
/// RFC 8684 3.2.
#[test]
fn another_address_under_a_known_identifier_is_ignored() {
    let mut s = Script::server(mptcp());
    let mut give = |addr, remove| {
        if remove {
            s.give(0, s.signal(0, Signal::RemoveAddr(AddrIds::new(&[1]))));
        }
        let address = AddrId { id: 1, addr };
        let hmac = Some(keys::add_addr_hmac(s.peer_key, s.key, 1, addr, 0));
        let out = s.give(0, s.signal(0, add_addr(address, hmac)));
        let echo = out.first().map(|t| t.segment.options.signal);
        assert!(echo.is_none_or(|echo| echo == add_addr(address, None)));
        (echo.is_some(), s.count(|e| matches!(e, Event::RemoteAddress { .. })))
    };
    assert_eq!(give(SECOND.addr, false), (true, 1));
    assert_eq!(give(SECOND.addr, false), (true, 1));
    assert_eq!(give(THIRD.addr, false), (false, 1));
    assert_eq!(give(THIRD.addr, true), (true, 2));
}

/// The server has been told to advertise before the handshake is over: it waits for the client's keys.
#[test]
fn nothing_is_advertised_before_the_keys_have_come() {
    let mut s = Script::listening(mptcp(), 5);
    s.c.advertise(SECOND, None);
    assert!(s.poll().is_empty());
    let third = s.third_ack();
    let out = s.give(0, third);
    assert_eq!(out.len(), 1);
    let Signal::AddAddr { advertised, .. } = out[0].segment.options.signal else { panic!("{out:?}") };
    assert_eq!(advertised.address, SECOND);
}

/// Plain TCP has no addresses to advertise, and its timer does not wait for it.
#[test]
fn plain_tcp_advertises_nothing() {
    let mut s = Script::opening(mptcp());
    s.c.advertise(SECOND, None);
    s.give(0, s.syn_ack(Mptcp::None));
    assert!(s.poll().is_empty());
    assert_eq!(s.c.poll_timeout(), None);
}

/// Path 0 is silent from 200 on. The address goes out on subflow 0 first, and on subflow 1 when subflow 0 has ended.
#[test]
fn an_advertisement_moves_to_a_living_subflow() {
    let mut pair = joined(mptcp(), mptcp(), &[10, 10], 1000);
    pair.run_until(at(200));
    let last = pair.log.iter().rfind(|p| p.from == Side::A && p.path == 0).map(|p| *p.segment()).unwrap();
    let rst = Segment { flags: Flags::RST, seq: last.seq + last.seq_len() as u32, ..Segment::default() };
    pair.filter(|p| if p.path == 0 { Fate::Drop } else { Fate::Pass });
    pair.with(Side::B, |c| c.advertise(SECOND, None));
    pair.inject(Side::B, 0, rst, ms(100));
    pair.run_until(at(5000));
    assert_eq!(pair[Side::B].count(|e| *e == Event::SubflowEnded(0, EndReason::Reset)), 1);
    let paths: Vec<usize> = pair.log.iter().filter(|p| is_advertisement(p)).map(|p| p.path).collect();
    assert_eq!(paths, [0, 1]);
    assert_eq!(told(&pair, Side::A), 1);
}

/// An address is to be advertised when no subflow is left that could carry it: the timer must not stay due.
#[test]
fn an_advertisement_without_a_subflow_waits() {
    let mut s = Script::client(mptcp());
    s.c.advertise(SECOND, None);
    assert_eq!(s.poll().len(), 1);
    // A join is on its way when the first subflow is reset.
    let (flow, nonce) = s.open();
    let reset = Segment { flags: Flags::RST, ..s.ack(0, 1, 1, Mptcp::None) };
    s.give(0, reset);
    s.wait(ms(4000));
    s.give(flow, s.join_answer(flow, nonce));
    let mut out = s.give(flow, s.dss(flow, 1, 1, None, None));
    out.extend(s.wait(ms(10_000)).into_iter().map(|t| t.1));
    let on: Vec<_> = out.iter().filter(|t| !t.segment.options.signal.is_empty()).collect();
    assert!(!on.is_empty() && on.iter().all(|t| t.subflow == flow));
}

/// The subflow that an advertisement came by is reset before the echo has left: nothing leaves on it any more.
#[test]
fn nothing_is_echoed_on_a_subflow_that_has_ended() {
    let mut s = Script::server(mptcp());
    let hmac = Some(keys::add_addr_hmac(s.peer_key, s.key, SECOND.id, SECOND.addr, 0));
    let add = s.signal(0, add_addr(SECOND, hmac));
    let reset = Segment { flags: Flags::RST, ..s.ack(0, 1, 1, Mptcp::None) };
    s.c.handle_segment(s.now, 0, &add);
    s.c.handle_segment(s.now, 0, &reset);
    assert!(s.poll().is_empty());
}

/// The server advertises as soon as it has the keys, which come with the first 1000 octets. The ADD_ADDR, which has no room for a DSS
/// beside timestamps and an IPv6 address, acknowledges them on the subflow; another acknowledgement does at data level (RFC 8684
/// 3.3.2). Without it the client would send them again, and wait with its joins (3.1).
#[test]
fn an_advertisement_does_not_take_the_place_of_a_data_ack() {
    for address in [SECOND, THIRD] {
        let config = mptcp().timestamps(true);
        let mut pair = Pair::new(config.clone(), config, ms(10));
        pair.write(Side::A, 1000);
        // SYN 10, SYN/ACK 20, the first data arrive at 30.
        pair.run_until(at(20));
        pair.with(Side::B, |c| c.advertise(address, None));
        pair.run_until(at(60_000));
        let out: Vec<&Packet> = pair.log.iter().filter(|p| p.from == Side::B && p.at == at(30)).collect();
        assert_eq!(out.len(), 2);
        assert!(matches!(out[0].segment().options.signal, Signal::AddAddr { .. }));
        assert!(out[1].segment().dss().is_some_and(|dss| dss.data_ack.is_some()));
        assert!(out.iter().all(|p| p.segment().options.wire_len() <= OPTION_SPACE));
        assert_eq!(pair.log.iter().filter(|p| p.data_n.is_some()).count(), 1, "nothing is sent again");
    }
}

/// RFC 8684 3, 3.4.1, 4: without SACK duplicates are counted, but an acknowledgement with a signal is none. Ten of them, with data outstanding: nothing
/// happens. Three with nothing but a DSS: fast retransmit.
#[test]
fn acknowledgements_with_signals_are_no_duplicates() {
    let mut s = Script::server(mptcp().sack(false));
    s.give(0, s.data(0, 1, 0, 100));
    s.c.write(5000);
    s.poll();
    let cuts = |s: &Script| s.count(|e| matches!(e, Event::Congestion { .. }));
    for n in 0..10 {
        let mut seg = s.dss(0, 101, 1, Some(0), None);
        seg.options.signal = Signal::Prio { backup: n % 2 == 0 };
        assert!(s.give(0, seg).iter().all(|t| t.segment.payload.len == 0));
    }
    assert_eq!(cuts(&s), 0);
    for _ in 0..3 {
        s.give(0, s.dss(0, 101, 1, Some(0), None));
    }
    assert_eq!(cuts(&s), 1);
}

/// RFC 8684 3, 3.4.2: TCP's checks come first: MP_PRIO on a segment outside the window, or one that acknowledges what was never sent, is not heard.
#[test]
fn a_signal_outside_the_window_is_not_heard() {
    let mut s = Script::server(mptcp());
    let flow = s.join();
    let prio = |mut seg: Segment| {
        seg.options.signal = Signal::Prio { backup: true };
        seg
    };
    s.give(flow, prio(s.dss(flow, 0x7000_0000, 1, None, None)));
    s.give(flow, prio(s.dss(flow, 1, 0x7000_0000, None, None)));
    assert!(!s.c.is_backup(flow));
    s.give(flow, prio(s.dss(flow, 1, 1, None, None)));
    assert!(s.c.is_backup(flow));
}
