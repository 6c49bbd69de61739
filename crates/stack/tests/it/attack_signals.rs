//! Forged signals of Multipath TCP (RFC 8684 5; threats of RFC 6181 and RFC 7430): blind, by someone on the path who knows all
//! numbers but no key, and by the peer itself.

use core::net::{IpAddr, Ipv4Addr};
use std::num::NonZeroU16;

use anabranch_stack::event::Event;
use anabranch_stack::mptcp::keys;
use anabranch_stack::segment::{AddrId, AddrIds, DataAck, Dss, Flags, Mapping, Mptcp, Segment, Signal};
use anabranch_stack::tcp::State;

use crate::attack::{ANSWER, GREETING, Victim, config};
use crate::mptcp_bench::{PEER_KEY, Script, add_addr, mptcp};
use crate::pair::ms;

const ELSEWHERE: AddrId = AddrId { id: 9, addr: IpAddr::V4(Ipv4Addr::new(203, 0, 113, 66)) };

/// Every signal there is, each as bad as it can be made without a key.
fn signals(v: &Victim) -> Vec<Segment> {
    let honest = v.genuine(Flags::ACK);
    let with = |mptcp: Mptcp, signal: Signal| {
        let mut seg = honest;
        (seg.options.mptcp, seg.options.signal) = (mptcp, signal);
        seg
    };
    let ssn = 1 + GREETING.len() as u32;
    let fin = Mapping { dsn: 77, short: false, ssn: 0, len: 1, checksum: None };
    let infinite = Mapping { dsn: 77, short: false, ssn, len: 0, checksum: None };
    let dss = |data_ack, mapping, data_fin| Mptcp::Dss(Dss { data_ack, mapping, data_fin });
    vec![
        with(dss(Some(DataAck::Eight(77)), None, false), Signal::None),
        with(dss(Some(DataAck::Four(77)), None, false), Signal::None),
        with(dss(None, Some(fin), true), Signal::None),
        with(dss(None, Some(infinite), false), Signal::None),
        with(Mptcp::None, add_addr(ELSEWHERE, Some(77))),
        with(Mptcp::None, Signal::RemoveAddr(AddrIds::new(&[0]))),
        with(Mptcp::None, Signal::Prio { backup: true }),
        with(Mptcp::None, Signal::Fail { dsn: 77 }),
        with(Mptcp::None, Signal::Fastclose { key: 77 }),
    ]
}

/// An attacker who sees nothing: whatever the signal, two of 131,072 acknowledgement numbers are taken (RFC 5961 5.2), and of the
/// sequence numbers those of 2^30 (RFC 8684 3.3.1 leaves a subflow without a window of its own). Everything else has no effect.
#[test]
fn blind_signals_have_no_effect() {
    let mut v = Victim::new(&config(true));
    let before = v.condition();
    let signals = signals(&v);
    for forged in &signals {
        for guess in (0..=u32::MAX >> 15).map(|i| (i << 15) + (1 << 14)).filter(|&guess| guess < u32::MAX - 65_535) {
            let ack = forged.ack.wrapping_add(guess);
            v.forge(&Segment { ack, ..*forged }, &[]);
        }
        for far in [1 << 31, (1 << 30) + 1, u32::MAX, u32::MAX - (1 << 20)] {
            v.forge(&Segment { seq: forged.seq.wrapping_add(far), ..*forged }, &[]);
        }
    }
    assert_eq!((v.condition(), signals.len()), (before, 9));
    v.works();
}

/// An attacker who sees the segments and forges with all numbers of the subflow right, but neither data sequence numbers nor keys:
/// DATA_ACK and DATA_FIN of anything else, ADD_ADDR, REMOVE_ADDR of an address that answers, and MP_FASTCLOSE have no effect.
/// MP_PRIO, MP_FAIL and an infinite mapping need no key in RFC 8684: they have theirs, which is said in `SECURITY.md`.
#[test]
fn on_the_path_what_needs_a_key_has_no_effect() {
    let mut v = Victim::new(&config(true));
    for which in [0, 1, 2, 4, 5, 8] {
        let before = v.condition();
        let seg = signals(&v)[which];
        v.forge(&seg, &[]);
        v.wait(ms(5000));
        assert_eq!(v.condition(), before, "{:?}", seg.options);
        v.works(); // and the condition is another one
    }
}

/// MP_PRIO makes a backup of the subflow that it comes by, and of no other: RFC 8684 3.3.8 has no identifier in it any more, by which RFC
/// 6824's could be turned on other subflows (RFC 7430 2.3). A connection whose only subflow is a backup uses it.
#[test]
fn a_forged_mp_prio_concerns_the_subflow_it_comes_by_and_stops_nothing() {
    let mut s = Script::server(mptcp());
    let other = s.join();
    s.give(other, s.dss(other, 1, 1, Some(0), None));
    s.give(0, s.signal(0, Signal::Prio { backup: true }));
    assert_eq!((s.c.is_backup(0), s.c.is_backup(other)), (true, false));
    let mut v = Victim::new(&config(true));
    let prio = signals(&v)[6];
    v.forge(&prio, &[]);
    v.works();
}

/// MP_FAIL and the infinite mapping, with numbers right, take Multipath TCP from the connection (RFC 8684 3.7) or its subflow; no octet that
/// is forged enters the stream, and none that was read changes.
#[test]
fn a_forged_mp_fail_costs_multipath_and_no_octet() {
    for which in [3, 7] {
        let mut v = Victim::new(&config(true));
        let forged = signals(&v)[which];
        let received = v.connection().inbound().received();
        v.forge(&forged, &[]);
        v.wait(ms(60_000));
        let c = v.ends[1].connection(v.ids[1]);
        assert!(c.is_none_or(|c| c.inbound().received() == received), "{which}");
        assert_eq!(
            v.ends[0].connection(v.ids[0]).map_or(ANSWER.len() as u64, |c| c.inbound().received()),
            ANSWER.len() as u64
        );
    }
}

/// ADD_ADDR counts with an HMAC by both keys over identifier, address and port: 10,000 guesses of 64 bits, one that was right for another
/// address (a replay that changes the address), one for another port. None is echoed, and no subflow is opened (RFC 7430 2.1).
#[test]
fn an_advertisement_without_the_keys_diverts_nothing() {
    let mut s = Script::client(mptcp());
    let right = keys::add_addr_hmac(s.peer_key, s.key, ELSEWHERE.id, ELSEWHERE.addr, 0);
    let other = AddrId { addr: IpAddr::V4(Ipv4Addr::new(203, 0, 113, 67)), ..ELSEWHERE };
    let reflected = keys::add_addr_hmac(s.key, s.peer_key, ELSEWHERE.id, ELSEWHERE.addr, 0);
    let mut forged = vec![add_addr(other, Some(right)), add_addr(ELSEWHERE, Some(reflected))];
    let mut ported = add_addr(ELSEWHERE, Some(right));
    if let Signal::AddAddr { advertised, .. } = &mut ported {
        advertised.port = NonZeroU16::new(80);
    }
    forged.push(ported);
    forged.extend((0..10_000).map(|guess| add_addr(ELSEWHERE, Some(right ^ (guess + 1)))));
    let answers: usize = forged.into_iter().map(|signal| s.give(0, s.signal(0, signal)).len()).sum();
    assert_eq!((answers, s.c.peer_addresses().len()), (0, 0));
    // The one that is right is echoed.
    assert_eq!(s.give(0, s.signal(0, add_addr(ELSEWHERE, Some(right)))).len(), 1);
    assert_eq!(s.c.peer_addresses().len(), 1);
}

/// REMOVE_ADDR of every identifier there is, a hundred times: a subflow whose address answers its keep-alives stays (RFC 8684 3.4.2). The
/// attacker gets keep-alives without an octet: one each for what names the address it comes from, one for the other subflow, and
/// none for the 254 identifiers that nobody has.
#[test]
fn a_forged_removal_ends_no_subflow_that_answers() {
    let mut s = Script::server(mptcp());
    let flow = s.join();
    let all: Vec<u8> = (0..=255).collect();
    let mut answers = 0;
    for ids in all.chunks(AddrIds::MAX) {
        for _ in 0..100 {
            answers += s.give(0, s.signal(0, Signal::RemoveAddr(AddrIds::new(ids)))).len();
        }
    }
    assert_eq!(answers, 100 + 1);
    for id in [0, flow] {
        s.give(id, s.dss(id, 1, 1, Some(0), None));
    }
    s.wait(ms(100_000));
    assert!([0, flow].iter().all(|&id| s.c.subflows()[id].state() == State::Established));
}

/// RFC 8684 3.5: MP_FASTCLOSE carries the receiver's key, on an acknowledgement or a reset: a key that is wrong in one bit ends nothing (as a
/// reset with the right number it ends its subflow, as any reset does).
#[test]
fn a_fastclose_with_a_wrong_key_does_not_end_the_connection() {
    let mut s = Script::server(mptcp());
    let flow = s.join();
    for bit in 0..64 {
        s.give(0, s.signal(0, Signal::Fastclose { key: s.key ^ 1 << bit }));
        s.give(0, s.signal(0, Signal::Fastclose { key: PEER_KEY }));
    }
    let reset = Segment { flags: Flags::RST, ..s.signal(0, Signal::Fastclose { key: s.key ^ 1 }) };
    s.give(0, reset);
    assert_eq!(s.count(|e| matches!(e, Event::Aborted(_))), 0);
    s.give(flow, s.data(flow, 1, 0, 1000));
    assert_eq!(s.read(), 1000);
}

/// RFC 8684 3.3.2, 3.3.3: a DATA_ACK of what was never sent, 2^31 of them apart, frees nothing; a DATA_FIN before the data or beyond the window
/// ends nothing.
#[test]
fn data_level_numbers_outside_the_window_are_ignored() {
    let mut s = Script::server(mptcp());
    s.c.write(10_000);
    s.poll();
    let beyond = [10_001, 65_536, 1 << 30, (1 << 31) - 1, 1 << 33, 1 << 63];
    for offset in beyond {
        for ack in [DataAck::Eight(s.engine_dsn(offset)), DataAck::Four(s.engine_dsn(offset) as u32)] {
            s.give(0, s.ack(0, 1, 1, Mptcp::Dss(Dss { data_ack: Some(ack), mapping: None, data_fin: false })));
            // The 4-octet form of 2^33 and 2^63 says 0: nothing new.
            assert_eq!(s.c.outbound().unacknowledged(), 10_000, "{offset} {ack:?}");
        }
    }
    s.give(0, s.data(0, 1, 0, 1000));
    for offset in [0, 999, 1 << 31, 1 << 40, u64::MAX - 1] {
        s.give(0, s.data_fin(0, 1001, offset, 0));
        assert_eq!(s.count(|e| matches!(e, Event::EndOfStream)), 0, "{offset}");
    }
    s.give(0, s.data(0, 1001, 1000, 1000));
    assert_eq!(s.read(), 2000);
}
