//! Floods: SYNs, joins, tokens, addresses. What is counted: connections, subflows and addresses that a host keeps, and packets that it
//! sends for each that arrives.

use core::net::{IpAddr, Ipv4Addr};

use anabranch_stack::Config;
use anabranch_stack::event::{EndReason, Event};
use anabranch_stack::host::{Addresses, Endpoint};
use anabranch_stack::mptcp::keys;
use anabranch_stack::segment::{AddrId, Flags, Mptcp, Segment};
use anabranch_stack::tcp::State;
use anabranch_stack::time::Instant;

use crate::attack::{Victim, config};
use crate::mptcp_bench::{Script, add_addr, mptcp};
use crate::pair::ms;

fn stranger(v: &Victim, n: u32) -> Addresses {
    let [_, a, b, c] = n.to_be_bytes();
    Addresses { local: v.addresses.local, remote: ([198, a, b, c], 1000).into() }
}

fn syn(mptcp: Mptcp) -> Segment {
    let mut syn = Segment { seq: 5, window: 65_535, flags: Flags::SYN, ..Segment::default() };
    syn.options.mptcp = mptcp;
    syn
}

/// RFC 4987 3.4: 100,000 SYNs from as many addresses, with MP_CAPABLE and without, while a connection works. Of half-open ones 1024 are kept, each SYN
/// is answered by one SYN-ACK of at most its size and eight octets, and the connection carries its octets as before. Five minutes later
/// nothing is left.
#[test]
fn a_flood_of_syns_takes_a_backlog_and_no_more() {
    let mut v = Victim::new(&config(true));
    for n in 0..100_000 {
        let option = if n % 2 == 0 { Mptcp::CapableSyn { no_join: false, checksum: false } } else { Mptcp::None };
        v.ends[1].handle_packet(v.now, stranger(&v, n), &syn(option), &[]);
        assert_eq!(v.answers().len(), 1);
        if n % 10_000 == 0 {
            assert!(v.ends[1].connections().count() <= 1 + 1024);
            v.ends[0].write(v.ids[0], b"still there").expect("it is open");
            let t = v.ends[0].poll_transmit(v.now).expect("it is sent");
            v.ends[1].handle_packet(v.now, v.addresses, &t.segment, &t.payload);
            assert_eq!(v.read(1), b"still there");
            for t in v.answers() {
                v.ends[0].handle_packet(v.now, t.addresses.reversed(), &t.segment, &t.payload);
            }
        }
    }
    assert_eq!(v.ends[1].connections().count(), 1 + 1024);
    // The SYN-ACKs go nowhere.
    for _ in 0..20_000 {
        let Some(at) = v.ends[1].poll_timeout() else { break };
        v.now = v.now.max(at);
        v.ends[1].handle_timeout(at);
        v.answers();
    }
    assert_eq!(v.ends[1].connections().collect::<Vec<_>>(), [v.ids[1]]);
}

/// RFC 8684 3.2: the token is 32 bits. 200,000 guesses at a host of one connection: each is refused by a reset, and no subflow begins. And who has
/// the token right has no more than a half-open join: without the keys his third ACK is refused (2^-160), and no octet of his is taken.
#[test]
fn guessing_tokens_opens_nothing() {
    let mut v = Victim::new(&config(true));
    let token = v.connection().token().expect("multipath");
    for n in 0..200_000_u32 {
        let guess = token.wrapping_add(1 + n.wrapping_mul(20_011));
        let join = Mptcp::JoinSyn { backup: false, address_id: 1, token: guess, nonce: n };
        v.ends[1].handle_packet(v.now, stranger(&v, n), &syn(join), &[]);
        let answers = v.answers();
        assert!(guess == token || (answers.len() == 1 && answers[0].segment.flags.has(Flags::RST)));
    }
    assert_eq!((v.connection().subflows().len(), v.ends[1].connections().count()), (1, 1));

    let from = stranger(&v, 7);
    let join = Mptcp::JoinSyn { backup: false, address_id: 1, token, nonce: 1 };
    v.ends[1].handle_packet(v.now, from, &syn(join), &[]);
    let answer = v.answers()[0].segment;
    let received = v.connection().inbound().received();
    let mut third = Segment { seq: 6, ack: answer.seq.wrapping_add(1), flags: Flags::ACK, ..Segment::default() };
    v.ends[1].handle_packet(v.now, from, &third, b"let me in");
    third.options.mptcp = Mptcp::JoinAck { hmac: [0; 20] };
    v.ends[1].handle_packet(v.now, from, &third, b"let me in");
    assert!(v.answers().iter().any(|t| t.segment.flags.has(Flags::RST)));
    assert!(v.events.iter().all(|e| !matches!(e, Event::SubflowEstablished(id) if *id > 0)));
    assert_eq!(v.connection().inbound().received(), received);
    v.works();
}

/// The handshake of a join that was seen, played again: the host's nonce is another one, and so is the HMAC it wants (RFC 8684 5).
#[test]
fn a_join_that_was_overheard_cannot_be_played_again() {
    let mut s = Script::server(mptcp());
    let (flow, nonce, peer_nonce) = s.join_half();
    let third = s.join_ack(flow, nonce, peer_nonce);
    s.give(flow, third);
    assert_eq!(s.count(|e| *e == Event::SubflowEstablished(flow)), 1);
    let (again, _, _) = s.join_half();
    let replayed = Segment { options: third.options, ..s.ack(again, 1, 1, Mptcp::None) };
    assert!(s.give(again, replayed)[0].segment.flags.has(Flags::RST));
    assert_eq!(s.count(|e| matches!(e, Event::SubflowEnded(_, EndReason::Refused))), 1);
}

/// Joins with the token right, from someone who saw it: 20,000 that stay half-open and 20,000 that fail. At most 255 are kept; subflows that
/// work are untouched, and a join with the keys finds room.
#[test]
fn a_flood_of_joins_takes_255_places_and_keeps_nobody_out() {
    let mut s = Script::server(mptcp());
    let good = s.join();
    for i in 0..40_000 {
        let (flow, nonce, peer_nonce) = s.join_half();
        if i % 2 == 0 {
            let out = s.give(flow, s.join_ack(flow, nonce, peer_nonce ^ 1));
            assert!(out.len() == 1 && out[0].segment.flags.has(Flags::RST));
        }
        assert!(s.c.subflows().len() <= 2 + 256, "{i}");
        s.events.clear();
    }
    let late = s.join();
    s.give(good, s.data(good, 1, 0, 1000));
    s.give(late, s.data(late, 1, 1000, 1000));
    assert_eq!(s.read(), 2000);
    s.wait(ms(300_000));
    assert_eq!(s.c.subflows().iter().filter(|s| s.state() != State::Closed).count(), 3);
}

/// Authentic advertisements without end come from the peer itself: 10,000 addresses under 256 identifiers. It keeps `address_limit` of them, tells of as
/// many, echoes no more than it keeps, and opens nothing by itself: whom the peer names gets no segment (RFC 8684 5, 3.9).
#[test]
fn a_flood_of_addresses_is_kept_to_the_limit() {
    let c = mptcp().address_limit(8);
    let mut s = Script::client(c);
    let mut answers = 0;
    for n in 0..10_000_u32 {
        let [_, _, high, low] = n.to_be_bytes();
        let address = AddrId { id: n as u8, addr: IpAddr::V4(Ipv4Addr::new(203, 0, high, low)) };
        let hmac = keys::add_addr_hmac(s.peer_key, s.key, address.id, address.addr, 0);
        let out = s.give(0, s.signal(0, add_addr(address, Some(hmac))));
        assert!(out.iter().all(|t| t.subflow == 0 && t.segment.payload.len == 0));
        answers += out.len();
    }
    assert_eq!((s.c.peer_addresses().len(), s.c.subflows().len()), (8, 1));
    assert_eq!((answers, s.count(|e| matches!(e, Event::RemoteAddress { .. }))), (8, 8));
}

/// RFC 9293 3.10.7.1: segments for nobody draw a reset each and leave nothing; a reset none. Resets that nobody fetches are at most 256.
#[test]
fn segments_for_nobody_leave_nothing() {
    let mut server = Endpoint::new([2; 32]);
    server.listen(80, Config::classic());
    let v = Victim::new(&config(false));
    for n in 0..100_000 {
        let flags = if n % 2 == 0 { Flags::ACK } else { Flags::RST };
        server.handle_packet(Instant::ZERO, stranger(&v, n), &Segment { flags, ..Segment::default() }, b"x");
    }
    let answers: Vec<_> = std::iter::from_fn(|| server.poll_transmit(Instant::ZERO)).collect();
    assert_eq!((answers.len(), server.connections().count(), server.poll_timeout()), (256, 0, None));
    assert!(answers.iter().all(|t| t.segment.flags.has(Flags::RST) && t.payload.is_empty()));
}
