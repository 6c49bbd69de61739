//! REMOVE_ADDR (RFC 8684 3.4.2): told once, believed only of subflows that give no sign of life.

use core::net::{IpAddr, Ipv4Addr};
use core::num::NonZeroU16;

use anabranch_stack::Config;
use anabranch_stack::config::{Deviations, DsnOctets};
use anabranch_stack::event::{EndReason, Event};
use anabranch_stack::mptcp::keys;
use anabranch_stack::segment::{AddrId, AddrIds, Advertised, Flags, Mptcp, Segment, Signal};

use crate::mptcp_bench::{Script, add_addr, joined, mptcp};
use crate::pair::{Fate, Packet, Pair, Side, at, ms};

const SECOND: AddrId = AddrId { id: 1, addr: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)) };

fn removed(ids: &[u8]) -> Signal {
    Signal::RemoveAddr(AddrIds::new(ids))
}

/// At 100 the client's address 1 is gone, and the RST it sends with it: REMOVE_ADDR goes out on subflow 0. The server hears of
/// it at 110 and asks subflow 1: keep-alives at 110, then one and three timeouts later; after another four it resets.
#[test]
fn a_subflow_without_a_sign_of_life_is_reset() {
    let mut pair = joined(mptcp(), mptcp(), &[10, 10], 1000);
    pair.run_until(at(100));
    pair.filter(|p| if p.path == 1 { Fate::Drop } else { Fate::Pass });
    pair.with(Side::A, |c| c.withdraw(1));
    assert_eq!(pair[Side::A].when(Event::SubflowEnded(1, EndReason::Removed)), Some(at(100)));
    pair.run_until(at(5000));
    let told = |p: &&Packet| p.segment().options.signal == removed(&[1]);
    let told: Vec<_> = pair.log.iter().filter(told).map(|p| (p.from, p.at, p.path)).collect();
    assert_eq!(told, [(Side::A, at(100), 0)]);
    assert_eq!(pair[Side::B].when(Event::RemoteAddressRemoved { id: 1 }), Some(at(110)));
    let rto = 200;
    let asked = pair.log.iter().filter(|p| p.from == Side::B && p.path == 1 && p.at >= at(110));
    let asked: Vec<_> = asked.map(|p| (p.at, p.has(Flags::RST))).collect();
    let times = [(0, false), (1, false), (3, false), (7, true)].map(|(n, rst)| (at(110 + n * rto), rst));
    assert_eq!(asked, times);
    assert_eq!(pair[Side::B].when(Event::SubflowEnded(1, EndReason::Removed)), Some(at(110 + 7 * rto)));
    assert!(pair[Side::B].conn().subflows()[0].octets_in_flight() == 0);
}

/// A forged REMOVE_ADDR of a living subflow: it is asked once, answers, and stays.
#[test]
fn a_subflow_that_answers_stays() {
    let mut pair = joined(mptcp(), mptcp(), &[10, 10], 1000);
    pair.run_until(at(100));
    let last = pair.log.iter().rfind(|p| p.from == Side::A && p.path == 0).map(|p| *p.segment()).unwrap();
    let mut forged = Segment { seq: last.seq + last.seq_len() as u32, payload: Default::default(), ..last };
    forged.options.signal = removed(&[1]);
    forged.options.mptcp = Mptcp::None;
    pair.inject(Side::B, 0, forged, ms(0));
    pair.run_until(at(10_000));
    let after = pair.log.iter().filter(|p| p.path == 1 && p.at >= at(100));
    let after: Vec<_> = after.map(|p| (p.from, p.at, p.has(Flags::RST))).collect();
    assert_eq!(after, [(Side::B, at(100), false), (Side::A, at(110), false)]);
    pair.write(Side::A, 500_000);
    pair.run_until(at(12_000));
    assert!(pair.log.iter().any(|p| p.path == 1 && p.data_n.is_some() && p.at >= at(10_000)));
}

/// Unknown identifiers are ignored silently.
#[test]
fn an_unknown_identifier_is_ignored() {
    let mut s = Script::server(mptcp());
    assert!(s.give(0, s.signal(0, removed(&[9, 200]))).is_empty());
    assert_eq!(s.count(|e| matches!(e, Event::RemoteAddressRemoved { .. })), 0);
    assert_eq!(s.c.poll_timeout(), None);
}

/// Several at once: an address without subflows is forgotten; a keep-alive asks of each subflow of the others.
#[test]
fn a_list_removes_each_of_its_addresses() {
    let mut s = Script::server(mptcp());
    let (one, two) = (s.join(), s.join());
    let third = AddrId { id: 3, ..SECOND };
    let hmac = keys::add_addr_hmac(s.peer_key, s.key, third.id, third.addr, 0);
    s.give(0, s.signal(0, add_addr(third, Some(hmac))));
    assert_eq!(s.c.peer_addresses().len(), 1);
    let out = s.give(0, s.signal(0, removed(&[3, 1, 2])));
    assert!(s.c.peer_addresses().is_empty());
    assert_eq!(out.iter().map(|t| (t.subflow, s.seq(t))).collect::<Vec<_>>(), [(one, 0), (two, 0)]);
    let told: Vec<_> = s.events.iter().filter(|e| matches!(e, Event::RemoteAddressRemoved { .. })).collect();
    assert_eq!(told.len(), 3);
    // What they answer ends the matter.
    s.give(one, s.ack(one, 1, 1, Mptcp::None));
    s.give(two, s.ack(two, 1, 1, Mptcp::None));
    assert_eq!(s.c.poll_timeout(), None);
}

/// RFC 8684 3.4.2: one REMOVE_ADDR names several identifiers, as many as fit into the 40 octets of options (RFC 9293 3.1) beside 8 for a
/// DATA_ACK of 4 octets, behind 3 of its own. The rest goes with the next.
#[test]
fn as_many_removed_addresses_are_named_as_fit() {
    let mut s = Script::client(mptcp());
    s.give(0, s.dss(0, 1, 1, Some(0), None));
    let all: Vec<u8> = (10..45).collect();
    all.iter().for_each(|&id| s.c.withdraw(id));
    let named = s.poll().into_iter().map(|t| match t.segment.options.signal {
        Signal::RemoveAddr(ids) => ids.as_slice().to_vec(),
        other => panic!("{other:?}"),
    });
    let named: Vec<Vec<u8>> = named.collect();
    assert_eq!((named[0].len(), named.concat()), (40 - 8 - 3, all));
}

/// The same with timestamps, which take 12 of the 40.
#[test]
fn fewer_removed_addresses_are_named_beside_timestamps() {
    let config = || mptcp().timestamps(true);
    let mut pair = Pair::seeded(config(), config(), &[ms(10)], 1);
    pair.write(Side::A, 1000);
    pair.run_until(at(200));
    let before = pair.log.len();
    pair.with(Side::A, |c| (10..45).for_each(|id| c.withdraw(id)));
    pair.run_until(at(400));
    let ids = |p: &Packet| match p.segment().options.signal {
        Signal::RemoveAddr(ids) if p.from == Side::A => Some(ids.as_slice().len()),
        _ => None,
    };
    let named: Vec<usize> = pair.log[before..].iter().filter_map(ids).collect();
    assert_eq!(named, [40 - 12 - 8 - 3, 40 - 12 - 8 - 3, 1]);
}

/// Break before make: the only address goes at 100, and the data with it. Another subflow is not there to tell; the
/// connection waits. A new join at 5000 takes up the data.
#[test]
fn a_connection_without_a_subflow_waits_for_one() {
    let mut s = Script::client(mptcp().time_wait(ms(60_000)));
    s.c.write(1000);
    assert_eq!(s.poll().len(), 1);
    s.c.withdraw(0);
    let out = s.poll();
    assert!(out.len() == 1 && out[0].segment.flags.has(Flags::RST));
    s.wait(ms(5000));
    let (flow, nonce) = s.open();
    s.give(flow, s.join_answer(flow, nonce));
    let out = s.give(flow, s.dss(flow, 1, 1, None, None));
    let octets: u32 = out.iter().map(|t| t.segment.payload.len).sum();
    assert_eq!(octets, 1000);
    assert!(out.iter().any(|t| t.segment.options.signal == removed(&[0])));
    assert_eq!(s.count(|e| matches!(e, Event::Aborted(_))), 0);
}

/// RFC 8684 3.4.1: the port is covered by the HMAC; the same address with another port is news, and the echo repeats all of it.
#[test]
fn an_address_with_a_port_is_advertised_and_echoed() {
    let mut s = Script::server(mptcp());
    let add = |s: &Script, port: u16, covered: u16| {
        let hmac = keys::add_addr_hmac(s.peer_key, s.key, SECOND.id, SECOND.addr, covered);
        s.signal(0, Signal::AddAddr { advertised: Advertised { address: SECOND, port: NonZeroU16::new(port) }, hmac })
    };
    assert!(s.give(0, add(&s, 443, 0)).is_empty(), "the HMAC covers the port");
    let out = s.give(0, add(&s, 443, 443));
    let echoed = Advertised { address: SECOND, port: NonZeroU16::new(443) };
    assert_eq!(out[0].segment.options.signal, Signal::AddAddrEcho(echoed));
    s.give(0, add(&s, 8080, 8080));
    assert_eq!(s.count(|e| matches!(e, Event::RemoteAddress { .. })), 2);
    assert_eq!(s.c.peer_addresses().len(), 1);
    // And the other way round: an echo of something else is no echo.
    s.c.advertise(SECOND, NonZeroU16::new(80));
    let out = s.poll();
    let Signal::AddAddr { advertised, hmac } = out[0].segment.options.signal else { panic!("{out:?}") };
    assert_eq!(hmac, keys::add_addr_hmac(s.key, s.peer_key, SECOND.id, SECOND.addr, 80));
    s.give(0, s.signal(0, add_addr(SECOND, None)));
    assert!(s.c.poll_timeout().is_some());
    s.give(0, s.signal(0, Signal::AddAddrEcho(advertised)));
    assert_eq!(s.c.poll_timeout(), None);
}

/// More addresses than the limit are neither kept nor echoed.
/// RFC 8684 3.4.1.
#[test]
fn addresses_beyond_the_limit_are_ignored() {
    let mut s = Script::server(mptcp().address_limit(2));
    let mut echoed = 0;
    for id in 1..=5 {
        let address = AddrId { id, ..SECOND };
        let hmac = keys::add_addr_hmac(s.peer_key, s.key, id, SECOND.addr, 0);
        echoed += s.give(0, s.signal(0, add_addr(address, Some(hmac)))).len();
    }
    assert_eq!((echoed, s.c.peer_addresses().len()), (2, 2));
}

/// At 100 the client's only address is gone, and nothing arrives any more: it waits as long as TIME-WAIT, then gives up.
#[test]
fn who_withdraws_the_last_address_gives_up_without_being_asked() {
    let mut pair = joined(mptcp(), mptcp(), &[10], 1000);
    pair.run_until(at(100));
    pair.filter(|_| Fate::Drop);
    pair.write(Side::A, 1000);
    pair.with(Side::A, |c| c.withdraw(0));
    assert!(pair[Side::A].conn().poll_timeout().is_some(), "somebody has to wake it");
    pair.run();
    let waits = Config::default().time_wait.0 / 1_000_000;
    assert_eq!(pair[Side::A].when(Event::Aborted(EndReason::TimedOut)), Some(at(100 + waits)));
}

/// Linux repeats the DATA_FIN on each acknowledgement while it is not acknowledged. With a data sequence number and a DATA_ACK of 8
/// octets, and beside timestamps, that fills the 40 octets of options (RFC 9293 3.1), so a REMOVE_ADDR or an MP_PRIO goes without it.
#[test]
fn a_signal_goes_without_the_data_fin_that_linux_repeats() {
    let deviations = Deviations::NONE.and("data_fin_on_all");
    let linux = mptcp().deviations(deviations).timestamps(true).dsn_octets(DsnOctets::Eight);
    let mut pair = joined(linux.clone(), linux, &[10, 10], 1000);
    pair.run_until(at(100));
    pair.filter(|p| if p.from == Side::B { Fate::Drop } else { Fate::Pass });
    pair.close(Side::A);
    pair.run_until(at(105));
    pair.with(Side::A, |c| c.set_backup(0, true));
    pair.with(Side::A, |c| c.withdraw(1));
    pair.run_until(at(200));
    assert!(pair.log.iter().all(|p| p.segment().options.wire_len() <= 40));
    let sent = |signal| pair.log.iter().filter(|p| p.from == Side::A && p.segment().options.signal == signal).count();
    assert_eq!((sent(removed(&[1])), sent(Signal::Prio { backup: true })), (1, 1));
    let fins = pair.log.iter().filter(|p| p.from == Side::A && p.segment().dss().is_some_and(|dss| dss.data_fin));
    assert!(fins.count() > 0);
}
