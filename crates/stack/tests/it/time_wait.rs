//! SYNs that arrive in TIME-WAIT (RFC 9293 3.6.1, RFC 6191 2).

use anabranch_stack::event::Event;
use anabranch_stack::host::{Addresses, ConnectionId, Endpoint};
use anabranch_stack::segment::{Flags, Segment, Timestamps};
use anabranch_stack::tcp::State;
use anabranch_stack::{Config, Instant};

use crate::pair;

fn tcp() -> Config {
    pair::tcp().timestamps(true)
}

/// The peer's first sequence number; its SYN, one octet and its FIN follow one another.
const IRS: u32 = 5_000;
/// The last timestamp of the old connection.
const LAST: u32 = 300;
const LATER: Instant = Instant(3_000_000_000);

fn tuple() -> Addresses {
    Addresses { local: ([10, 0, 0, 1], 80).into(), remote: ([10, 0, 0, 2], 5000).into() }
}

fn segment(flags: Flags, seq: u32, ack: u32, ts: Option<u32>) -> Segment {
    let mut segment = Segment { seq, ack, flags, window: 65_535, ..Segment::default() };
    segment.options.timestamps = ts.map(|val| Timestamps { val, ecr: 0 });
    segment
}

fn sent(end: &mut Endpoint, now: Instant) -> Vec<Segment> {
    std::iter::from_fn(|| end.poll_transmit(now)).map(|t| t.segment).collect()
}

/// A server that closed first, and waits; the sequence number after its FIN.
fn waiting(config: Config, timestamps: bool, read: bool) -> (Endpoint, ConnectionId, u32) {
    let mut end = Endpoint::new([7; 32]);
    end.listen(80, config);
    let ts = |val| timestamps.then_some(val);
    let arrive = |end: &mut Endpoint, flags, seq, ack, val, octets: &[u8]| {
        end.handle_packet(Instant::ZERO, tuple(), &segment(flags, seq, ack, ts(val)), octets);
        sent(end, Instant::ZERO)
    };
    let answer = arrive(&mut end, Flags::SYN, IRS, 0, 100, &[]);
    let next = answer[0].seq.wrapping_add(1);
    arrive(&mut end, Flags::ACK, IRS + 1, next, 200, &[9]);
    let id = end.connections().next().expect("a connection");
    if read {
        end.read(id, &mut [0; 10]).expect("an octet");
        end.close(id).expect("it is there");
    } else {
        end.shutdown_write(id).expect("it is there");
    }
    let fin = sent(&mut end, Instant::ZERO);
    assert!(fin.iter().any(|s| s.flags.has(Flags::FIN)), "{fin:?}");
    arrive(&mut end, Flags::FIN.with(Flags::ACK), IRS + 2, next.wrapping_add(1), LAST, &[]);
    assert_eq!(end.connection(id).expect("it waits").subflows()[0].state(), State::TimeWait);
    (end, id, next.wrapping_add(1))
}

/// A SYN arrives; whether it opens a connection. Otherwise it is answered with an acknowledgement (RFC 5961 4.2).
fn opens(config: &Config, timestamps: bool, seq: u32, ts: Option<u32>) -> bool {
    let (mut end, id, after) = waiting(config.clone(), timestamps, true);
    end.handle_packet(LATER, tuple(), &segment(Flags::SYN, seq, 0, ts), &[]);
    let answer = sent(&mut end, LATER);
    let opened = answer.first().is_some_and(|s| s.flags.has(Flags::SYN));
    if opened {
        // 3.6.1: its numbers lie beyond those of the old one.
        assert_eq!((answer[0].ack, (answer[0].seq.wrapping_sub(after) as i32) >= 0), (seq.wrapping_add(1), true));
    } else if timestamps && ts.is_none() {
        // RFC 7323 3.2: dropped without a word.
        assert_eq!(answer, []);
    } else {
        assert_eq!((answer[0].flags, answer[0].seq, answer[0].ack), (Flags::ACK, after, IRS + 3));
    }
    assert_eq!(end.connection(id).is_none(), opened);
    opened
}

/// RFC 6191 2, first part: the old connection had timestamps.
/// RFC 9293 3.6.1.
#[test]
fn a_later_timestamp_opens_a_connection() {
    let (config, next) = (tcp(), IRS + 3);
    assert!(opens(&config, true, IRS, Some(LAST + 1)), "whatever its sequence number");
    assert!(opens(&config, true, next, Some(LAST)), "as late, and of a number not used before");
    assert!(!opens(&config, true, next - 1, Some(LAST)), "the number of the old FIN");
    assert!(!opens(&config, true, next + 9000, Some(LAST - 1)), "an old duplicate");
    assert!(!opens(&config, true, next + 9000, None), "nothing tells its age");
}

/// RFC 6191 2, second part: it had none.
#[test]
fn timestamps_open_a_connection_where_there_were_none() {
    assert!(opens(&tcp(), false, IRS, Some(1)));
    assert!(!opens(&tcp(), false, IRS + 9000, None));
    let without = tcp().timestamps(false);
    assert!(!opens(&without, false, IRS + 9000, Some(1)), "the new one would have none");
}

/// The application has not read everything: the old connection stays, with what is unread.
#[test]
fn what_is_unread_is_kept() {
    let (mut end, id, _) = waiting(tcp(), true, false);
    end.handle_packet(LATER, tuple(), &segment(Flags::SYN, IRS, 0, Some(LAST + 1)), &[]);
    assert_eq!(sent(&mut end, LATER)[0].flags, Flags::ACK);
    assert_eq!(end.read(id, &mut [0; 10]), Ok(1));
    end.handle_packet(LATER, tuple(), &segment(Flags::SYN, IRS, 0, Some(LAST + 1)), &[]);
    assert!(sent(&mut end, LATER)[0].flags.has(Flags::SYN));
}

/// Nothing listens any more, or it is not a SYN that opens.
#[test]
fn only_a_listener_opens_one() {
    for flags in [Flags::SYN.with(Flags::ACK), Flags::SYN.with(Flags::RST)] {
        let (mut end, id, after) = waiting(tcp(), true, true);
        end.handle_packet(LATER, tuple(), &segment(flags, IRS + 3, after, Some(LAST + 1)), &[]);
        assert!(sent(&mut end, LATER).iter().all(|s| !s.flags.has(Flags::SYN)), "{flags:?}");
        assert!(flags.has(Flags::RST) || end.connection(id).is_some());
    }
    let (mut end, id, _) = waiting(tcp(), true, true);
    end.stop_listening(80);
    end.handle_packet(LATER, tuple(), &segment(Flags::SYN, IRS, 0, Some(LAST + 1)), &[]);
    assert_eq!(sent(&mut end, LATER)[0].flags, Flags::ACK);
    assert!(end.connection(id).is_some());
    let told: Vec<_> = std::iter::from_fn(|| end.poll_event()).map(|(_, event)| event).collect();
    assert_eq!(told.iter().filter(|e| **e == Event::Closed).count(), 1);
}

/// Delivers all segments that `from` has to send to `to`, which sends nothing in between. Returns
/// the segments.
fn carry(from: &mut Endpoint, to: &mut Endpoint, now: Instant) -> Vec<Segment> {
    let sent: Vec<_> = std::iter::from_fn(|| from.poll_transmit(now)).collect();
    for t in &sent {
        to.handle_packet(now, t.addresses.reversed(), &t.segment, &t.payload);
    }
    to.handle_timeout(now);
    sent.into_iter().map(|t| t.segment).collect()
}

/// Runs a transfer of `size` octets from a server, which then closes; the client has closed first
/// and reads after each segment that it sends. Returns the acknowledgements of the FIN.
fn acknowledgements_of_a_fin(size: usize) -> Vec<Segment> {
    let (mut client, mut server) = (Endpoint::new([1; 32]), Endpoint::new([2; 32]));
    server.listen(80, tcp());
    let id = client.connect(Instant::ZERO, tuple().reversed(), tcp()).expect("it is free");
    let (mut now, mut written, mut read) = (Instant::ZERO, 0, 0);
    let (octets, mut buffer) = (vec![7; size], vec![0; size]);
    loop {
        now = Instant(now.0 + 5_000_000);
        assert!(now < LATER, "{read} of {size} octets");
        carry(&mut client, &mut server, now);
        for at_server in server.connections().collect::<Vec<_>>() {
            written += server.write(at_server, &octets[written..]).unwrap_or(0);
            if written == size {
                server.shutdown_write(at_server).expect("it is there");
            }
        }
        let _ = client.shutdown_write(id);
        let batch = carry(&mut server, &mut client, now);
        let fin = batch.iter().find(|s| s.flags.has(Flags::FIN));
        let mut sent = Vec::new();
        loop {
            read += client.read(id, &mut buffer).unwrap_or(0);
            let Some(t) = client.poll_transmit(now) else { break };
            server.handle_packet(now, t.addresses.reversed(), &t.segment, &t.payload);
            sent.push(t.segment);
        }
        if let Some(fin) = fin {
            let end = fin.seq.wrapping_add(fin.payload.len + 1);
            sent.retain(|s| s.ack == end);
            assert_eq!(read, size);
            return sent;
        }
    }
}

/// RFC 9293 3.10.7.4, MUST-59: the last segments of a transfer and the FIN arrive in one batch, and
/// one acknowledgement answers them.
#[test]
fn a_fin_that_comes_in_a_batch_is_acknowledged_once() {
    for size in [1, 3_000, 400_000] {
        let sent = acknowledgements_of_a_fin(size);
        assert_eq!(sent.len(), 1, "{size} octets: {sent:?}");
    }
}

/// RFC 9293 3.6.1: in TIME-WAIT a retransmitted FIN is acknowledged. A copy within one round trip
/// of the first acknowledgement is not: that acknowledgement is still on its way, and the peer will
/// have closed by the time a second one arrives. RFC 1337 3, fix F1: a RST changes nothing.
#[test]
fn a_fin_again_is_answered_once_the_first_answer_may_be_lost() {
    let (mut end, id, after) = waiting(tcp(), true, true);
    let state = |end: &Endpoint| end.connection(id).map(|c| c.subflows()[0].state());
    let fin = segment(Flags::FIN.with(Flags::ACK), IRS + 2, after, Some(LAST));
    let srtt = end.connection(id).unwrap().subflows()[0].info().srtt.expect("it was measured");
    assert!(srtt.0 > 0);
    end.handle_packet(Instant(srtt.0 - 1), tuple(), &fin, &[]);
    assert_eq!(sent(&mut end, Instant(srtt.0 - 1)), []);
    end.handle_packet(Instant(srtt.0), tuple(), &fin, &[]);
    let answer = sent(&mut end, Instant(srtt.0));
    assert_eq!(answer.iter().map(|s| (s.flags, s.ack)).collect::<Vec<_>>(), [(Flags::ACK, IRS + 3)]);
    let rst = segment(Flags::RST, IRS + 3, 0, None);
    end.handle_packet(LATER, tuple(), &rst, &[]);
    assert_eq!((sent(&mut end, LATER), state(&end)), (vec![], Some(State::TimeWait)));
    let told: Vec<_> = std::iter::from_fn(|| end.poll_event()).map(|(_, event)| event).collect();
    assert_eq!(told.iter().filter(|e| **e == Event::Closed).count(), 1, "{told:?}");
}

/// RFC 7323 5.4, 7, 7.1, RFC 6056: timestamp offsets and ports come from the secret. A reused
/// 4-tuple has the same offset, so the timestamps of the new connection are later than those of the
/// old one.
#[test]
fn offsets_and_ports_come_from_the_secret() {
    // Not inlined: rustc 1.95 otherwise merges two equal values that are passed by value, and the
    // second callee receives the endpoint that the first one has changed (rust-lang/rust#155241).
    #[inline(never)]
    fn endpoint(secret: u8) -> Endpoint {
        Endpoint::new([secret; 32])
    }
    let (local, remote) = ([10, 0, 0, 2].into(), ([10, 0, 0, 1], 80).into());
    let first = |mut end: Endpoint, now| {
        let addresses = Addresses { local: (local, 5000).into(), remote };
        end.connect(now, addresses, tcp()).expect("it is free");
        sent(&mut end, now)[0].options.timestamps.expect("they are offered").val
    };
    let ports = |mut end: Endpoint| (0..4).map(|_| end.draw_port(local, remote).expect("one")).collect::<Vec<_>>();
    let [one, other] = [7, 8].map(|secret| move || endpoint(secret));
    assert_eq!(first(one(), Instant::ZERO), first(one(), Instant::ZERO));
    assert_ne!(first(one(), Instant::ZERO), first(other(), Instant::ZERO));
    assert_eq!(first(one(), LATER).wrapping_sub(first(one(), Instant::ZERO)), 3000);
    assert_eq!(first(Endpoint::in_virtual_time([7; 32]), LATER), 3000);
    assert_eq!(ports(one()), ports(one()));
    assert_ne!(ports(one()), ports(other()));
    assert!(ports(one()).iter().all(|&port| port >= 1024));
    // Another 4-tuple has another offset.
    let mut end = one();
    let vals = [5000, 5001].map(|port| {
        let addresses = Addresses { local: (local, port).into(), remote };
        end.connect(Instant::ZERO, addresses, tcp()).expect("it is free");
        sent(&mut end, Instant::ZERO)[0].options.timestamps.expect("they are offered").val
    });
    assert_ne!(vals[0], vals[1]);
}

/// Draws every free port, and no port that listens or whose 4-tuple is in use.
#[test]
fn a_port_in_use_is_not_drawn() {
    let mut end = Endpoint::new([9; 32]);
    let (local, remote) = ([10, 0, 0, 2].into(), ([10, 0, 0, 1], 80).into());
    let free = [1024, 40_000, 65_535];
    for port in (1024..=u16::MAX).filter(|port| !free.contains(port)) {
        if port % 2 == 0 {
            end.listen(port, tcp());
        } else {
            end.connect(Instant::ZERO, Addresses { local: (local, port).into(), remote }, tcp()).expect("it is free");
        }
    }
    let mut drawn = Vec::new();
    while let Some(port) = end.draw_port(local, remote) {
        drawn.push(port);
        end.connect(Instant::ZERO, Addresses { local: (local, port).into(), remote }, tcp()).expect("it is free");
    }
    drawn.sort_unstable();
    assert_eq!(drawn, free);
}

/// RFC 7323 7: with timestamp offsets at both ends, round-trip times are measured correctly and
/// PAWS drops nothing.
#[test]
fn shifted_timestamps_measure_round_trips() {
    let (mut client, mut server) = (Endpoint::new([1; 32]), Endpoint::new([2; 32]));
    server.listen(80, tcp());
    let id = client.connect(Instant::ZERO, tuple().reversed(), tcp()).expect("it is free");
    client.write(id, &[5; 9000]).expect("there is room");
    let mut now = Instant::ZERO;
    for _ in 0..20 {
        for t in std::iter::from_fn(|| client.poll_transmit(now)).collect::<Vec<_>>() {
            server.handle_packet(Instant(now.0 + 20_000_000), t.addresses.reversed(), &t.segment, &t.payload);
        }
        now = Instant(now.0 + 20_000_000);
        for t in std::iter::from_fn(|| server.poll_transmit(now)).collect::<Vec<_>>() {
            client.handle_packet(Instant(now.0 + 20_000_000), t.addresses.reversed(), &t.segment, &t.payload);
        }
        now = Instant(now.0 + 20_000_000);
    }
    let info = client.connection(id).unwrap().subflows()[0].info();
    assert_eq!(info.srtt.map(|srtt| srtt.0 / 1_000_000), Some(40));
    assert_eq!(client.connection(id).unwrap().outbound().acknowledged(), 9000);
}
