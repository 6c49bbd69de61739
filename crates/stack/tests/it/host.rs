//! Endpoints with addresses and octets, over a network that loses, delays, reorders and repeats packets.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use anabranch_stack::event::{EndReason, Event};
use anabranch_stack::host::{Addresses, AdvertiseError, ConnectionId, Endpoint, Gone, JoinError, Transmit, WriteError};
use anabranch_stack::mptcp::connection::JoinRefusal;
use anabranch_stack::segment::{AddrId, Flags, Mptcp, Payload, ResetReason, Segment, Signal, TcpRst};
use anabranch_stack::time::{Duration, Instant};
use anabranch_stack::{Config, Connection};

#[path = "../../examples/pipe.rs"]
#[allow(dead_code, reason = "the example has a main of its own")]
mod pipe;

/// What the network does to packets, in percent.
#[derive(Clone, Copy, Default)]
struct Weather {
    lost: u64,
    repeated: u64,
    /// Delays vary by up to so many milliseconds.
    jitter: u64,
    /// Packets travel as bytes.
    bytes: bool,
}

/// A client, a server on port 80, and what is between them.
struct World {
    now: Instant,
    ends: [Endpoint; 2],
    under_way: BTreeMap<(Instant, u64), (usize, Transmit)>,
    weather: Weather,
    sent: u64,
    state: u64,
    /// Packets of a remote or local port that go nowhere.
    dead: Option<u16>,
    /// What each end was told and what it read, by connection.
    told: [Vec<(ConnectionId, Event)>; 2],
    read: [BTreeMap<ConnectionId, Vec<u8>>; 2],
    /// Ends that do not read.
    lazy: [bool; 2],
}

impl World {
    fn new(config: &Config, weather: Weather) -> Self {
        let mut ends = [Endpoint::new([1; 32]), Endpoint::new([2; 32])];
        ends[1].listen(80, config.clone());
        Self {
            now: Instant::ZERO,
            ends,
            under_way: BTreeMap::new(),
            weather,
            sent: 0,
            state: 7,
            dead: None,
            told: Default::default(),
            read: Default::default(),
            lazy: [false; 2],
        }
    }

    fn dice(&mut self, of: u64) -> u64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % of
    }

    fn send(&mut self, to: usize, packet: Transmit) {
        let ports = [packet.addresses.local.port(), packet.addresses.remote.port()];
        if self.dice(100) < self.weather.lost || self.dead.is_some_and(|port| ports.contains(&port)) {
            return;
        }
        let copies = if self.dice(100) < self.weather.repeated { 2 } else { 1 };
        for _ in 0..copies {
            self.sent += 1;
            let delay = 10 + self.dice(self.weather.jitter + 1);
            self.under_way.insert((self.now + Duration::from_millis(delay), self.sent), (to, packet.clone()));
        }
    }

    /// One round: what is to be sent is, what was told is noted, what can be read is read; then the next thing happens. False if
    /// nothing will.
    fn step(&mut self) -> bool {
        for side in 0..2 {
            while let Some(packet) = self.ends[side].poll_transmit(self.now) {
                self.send(1 - side, packet);
            }
            while let Some(event) = self.ends[side].poll_event() {
                self.told[side].push(event);
            }
            let ids: Vec<ConnectionId> = self.ends[side].connections().collect();
            for id in ids.into_iter().filter(|_| !self.lazy[side]) {
                let mut buffer = [0; 3000];
                while let Ok(n @ 1..) = self.ends[side].read(id, &mut buffer) {
                    self.read[side].entry(id).or_default().extend_from_slice(&buffer[..n]);
                }
            }
            while let Some(packet) = self.ends[side].poll_transmit(self.now) {
                self.send(1 - side, packet);
            }
        }
        let arrival = self.under_way.first_key_value().map(|(&(at, _), _)| at);
        let timeouts = self.ends.iter().map(Endpoint::poll_timeout);
        let Some(next) = timeouts.chain([arrival]).flatten().min() else { return false };
        assert!(next >= self.now, "time does not go back");
        self.now = next;
        if arrival == Some(next) {
            let (_, (to, t)) = self.under_way.pop_first().expect("a packet arrives");
            if self.weather.bytes {
                let mut packet = Vec::new();
                t.emit(1, &mut packet).expect("it has bytes");
                self.ends[to].handle_bytes(next, &packet).expect("they are sound");
            } else {
                self.ends[to].handle_packet(next, t.addresses.reversed(), &t.segment, &t.payload);
            }
        }
        self.ends.iter_mut().for_each(|end| end.handle_timeout(next));
        true
    }

    fn run(&mut self, until: impl Fn(&Self) -> bool) {
        for _ in 0..2_000_000 {
            if until(self) {
                return;
            }
            if !self.step() {
                assert!(until(self), "{}: nothing will happen any more", self.now);
            }
        }
        panic!("{}: it takes too long", self.now);
    }

    fn accepted(&self) -> Vec<ConnectionId> {
        self.told[1].iter().filter(|(_, e)| *e == Event::Connected).map(|(id, _)| *id).collect()
    }
}

fn addresses(client: u16) -> Addresses {
    let at = |text: &str, port| SocketAddr::new(text.parse().expect("an address"), port);
    Addresses { local: at("10.0.0.1", client), remote: at("10.0.0.2", 80) }
}

/// Octets of which no two stretches are alike.
fn octets(n: usize, seed: u64) -> Vec<u8> {
    let mut x = seed | 1;
    let mut next = || {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (x >> 56) as u8
    };
    (0..n).map(|_| next()).collect()
}

/// Sends `data` up and `data` reversed down over a connection, with a second subflow where there may be one, to its end.
fn exchange(config: &Config, weather: Weather, data: &[u8]) -> World {
    let mut w = World::new(config, weather);
    let id = w.ends[0].connect(Instant::ZERO, addresses(1000), config.clone()).expect("it is free");
    let back: Vec<u8> = data.iter().rev().copied().collect();
    let (mut up, mut down, mut joined) = (0, 0, false);
    for _ in 0..2_000_000 {
        up += w.ends[0].write(id, &data[up..]).unwrap_or(0);
        let peer = w.accepted().first().copied();
        if let Some(peer) = peer {
            down += w.ends[1].write(peer, &back[down..]).unwrap_or(0);
            if down == back.len() {
                w.ends[1].shutdown_write(peer).ok();
            }
        }
        if up == data.len() {
            w.ends[0].shutdown_write(id).ok();
        }
        joined = joined || w.ends[0].open_subflow(id, addresses(1001), false).is_ok();
        if !w.step() {
            break;
        }
    }
    assert_eq!(joined, config.mptcp);
    assert!(w.read[1].values().next().is_some_and(|read| read == data), "up");
    assert!(w.read[0].values().next().is_some_and(|read| *read == back), "down");
    w
}

#[test]
fn octets_arrive_unchanged_whatever_the_network_does() {
    let data = octets(300_000, 1);
    for weather in [
        Weather::default(),
        Weather { lost: 3, ..Weather::default() },
        Weather { jitter: 30, ..Weather::default() },
        Weather { lost: 2, repeated: 20, jitter: 5, bytes: false },
        Weather { lost: 2, repeated: 20, jitter: 5, bytes: true },
    ] {
        for (mptcp, checksum) in [(true, false), (true, true), (false, false)] {
            let config = Config::classic().mptcp(mptcp).checksum(checksum);
            let w = exchange(&config, weather, &data);
            let failed =
                w.told.iter().flatten().find(|(_, e)| matches!(e, Event::ChecksumFailed { .. } | Event::Aborted(_)));
            assert_eq!(failed, None);
        }
    }
}

/// Once both have closed and TIME-WAIT is over, nothing is left, and the name is good for nothing.
#[test]
fn a_connection_that_has_ended_is_forgotten() {
    let w = exchange(&Config::classic(), Weather::default(), &octets(10_000, 2));
    for side in 0..2 {
        assert_eq!(w.ends[side].connections().count(), 0);
        assert!(w.told[side].iter().any(|(_, e)| *e == Event::Closed));
    }
    let id = w.told[0][0].0;
    let mut w = w;
    assert_eq!(w.ends[0].write(id, b"late"), Err(WriteError::Gone));
    assert_eq!(w.ends[0].read(id, &mut [0; 4]), Err(Gone));
    // The 4-tuple is free again.
    assert!(w.ends[0].connect(Instant::ZERO, addresses(1000), Config::classic()).is_ok());
}

/// RFC 9293 3.9.1.1.
#[test]
fn many_connections_do_not_mix_up_their_octets() {
    let config = Config::classic();
    let mut w = World::new(&config, Weather { lost: 1, jitter: 3, ..Weather::default() });
    let sent: Vec<(ConnectionId, Vec<u8>)> = (0..100)
        .map(|i| {
            let id = w.ends[0].connect(Instant::ZERO, addresses(1000 + i), config.clone()).expect("it is free");
            let data = octets(20_000 + usize::from(i), u64::from(i) * 2);
            assert_eq!(w.ends[0].write(id, &data), Ok(data.len()));
            w.ends[0].shutdown_write(id).expect("it is there");
            (id, data)
        })
        .collect();
    assert!(w.ends[0].connect(Instant::ZERO, addresses(1000), config).is_err(), "this 4-tuple is in use");
    w.run(|w| w.told[1].iter().filter(|(_, e)| *e == Event::EndOfStream).count() == 100);
    let mut wanted: Vec<&Vec<u8>> = sent.iter().map(|(_, data)| data).collect();
    let mut read: Vec<&Vec<u8>> = w.read[1].values().collect();
    wanted.sort();
    read.sort();
    assert!(wanted == read);
}

/// RFC 9293 3.10.7.1: what is for nobody is answered with a RST that its sender can accept; a RST is not answered.
#[test]
fn segments_for_nobody_are_answered_with_resets_and_resets_are_not() {
    let mut server = Endpoint::new([1; 32]);
    server.listen(80, Config::classic());
    let mut answer = |port: u16, segment: Segment| {
        let mut to = addresses(1000).reversed();
        to.local.set_port(port);
        server.handle_packet(Instant::ZERO, to, &segment, &vec![0; segment.payload.len as usize]);
        let answer = server.poll_transmit(Instant::ZERO);
        if let Some(t) = &answer {
            assert_eq!((t.addresses, t.payload.len()), (to, 0));
        }
        answer.map(|t| (t.segment.flags, t.segment.seq, t.segment.ack))
    };
    let data = Segment { seq: 100, ack: 700, flags: Flags::ACK, ..Segment::default() };
    assert_eq!(answer(80, data), Some((Flags::RST, 700, 0)));
    let fin = Segment { seq: 100, flags: Flags::FIN, payload: Payload::new(0, 10), ..Segment::default() };
    assert_eq!(answer(80, fin), Some((Flags::RST.with(Flags::ACK), 0, 111)));
    let syn_ack = Segment { seq: 5, ack: 9, flags: Flags::SYN.with(Flags::ACK), ..Segment::default() };
    assert_eq!(answer(80, syn_ack), Some((Flags::RST, 9, 0)));
    let syn = Segment { seq: 5, flags: Flags::SYN, ..Segment::default() };
    assert_eq!(answer(81, syn), Some((Flags::RST.with(Flags::ACK), 0, 6)));
    for flags in [Flags::RST, Flags::RST.with(Flags::ACK), Flags::RST.with(Flags::SYN)] {
        assert_eq!(answer(80, Segment { flags, ..data }), None);
        assert_eq!(answer(81, Segment { flags, ..data }), None);
    }
    // And one that is welcome.
    let (flags, _, ack) = answer(80, syn).expect("it is answered");
    assert_eq!((flags, ack), (Flags::SYN.with(Flags::ACK), 6));
}

/// However many strangers there are, no more than some hundred answers wait.
#[test]
fn resets_that_nobody_fetches_are_bounded() {
    let mut server = Endpoint::new([1; 32]);
    for port in 1..10_000 {
        let segment = Segment { flags: Flags::ACK, ..Segment::default() };
        server.handle_packet(Instant::ZERO, addresses(port).reversed(), &segment, &[]);
    }
    let answers = std::iter::from_fn(|| server.poll_transmit(Instant::ZERO)).count();
    assert!((1..=1000).contains(&answers), "{answers}");
}

/// The 4-tuple of a server's connection with client number `n`.
fn client(n: u16) -> Addresses {
    let [high, low] = n.to_be_bytes();
    Addresses { local: addresses(0).remote, remote: ([10, 1, high, low], 1000).into() }
}

/// A client's SYN arrives; returns the sequence number of the answer, a SYN-ACK and nothing else.
fn knock(server: &mut Endpoint, n: u16) -> u32 {
    let syn = Segment { seq: 5, window: 65_535, flags: Flags::SYN, ..Segment::default() };
    server.handle_packet(Instant::ZERO, client(n), &syn, &[]);
    let t = server.poll_transmit(Instant::ZERO).expect("it is answered");
    assert_eq!((t.addresses, t.segment.flags, t.segment.ack), (client(n), Flags::SYN.with(Flags::ACK), 6));
    assert!(server.poll_transmit(Instant::ZERO).is_none(), "nobody else is told");
    t.segment.seq
}

/// The client completes its handshake; returns whether the server still knows it, and otherwise resets it.
fn complete(server: &mut Endpoint, n: u16, iss: u32) -> bool {
    let ack = Segment { seq: 6, ack: iss.wrapping_add(1), window: 65_535, flags: Flags::ACK, ..Segment::default() };
    server.handle_packet(Instant::ZERO, client(n), &ack, &[]);
    let reset = server.poll_transmit(Instant::ZERO).is_some_and(|t| t.segment.flags == Flags::RST);
    let connected = std::iter::from_fn(|| server.poll_event()).any(|(_, e)| e == Event::Connected);
    assert!(reset != connected);
    connected
}

/// RFC 4987 3.4: of however many SYNs, the last 1024 are kept, and nothing of them once the SYN-ACKs are given up.
#[test]
fn syns_that_nobody_follows_up_are_bounded() {
    let mut server = Endpoint::new([1; 32]);
    server.listen(80, Config::classic());
    for n in 0..20_000 {
        knock(&mut server, n);
    }
    let kept: Vec<_> = server.connections().map(|id| server.addresses(id, 0)).collect();
    assert_eq!(kept, (20_000 - 1024..20_000).map(|n| Some(client(n))).collect::<Vec<_>>());
    assert!(std::iter::from_fn(|| server.poll_event()).all(|(_, e)| matches!(e, Event::Fallback { .. })));
    let mut answers = 0;
    while let Some(at) = server.poll_timeout() {
        server.handle_timeout(at);
        answers += std::iter::from_fn(|| server.poll_transmit(at)).count();
    }
    assert_eq!((server.connections().count(), answers % 1024), (0, 0));
}

/// Two may be half-open: the third SYN takes the place of the oldest, whose ACK is then answered with a RST. Who has completed
/// the handshake does not count, and does not yield.
#[test]
fn the_oldest_half_open_connection_yields_and_no_other() {
    let mut server = Endpoint::new([1; 32]);
    server.listen_with_backlog(80, Config::classic(), 2);
    let established = knock(&mut server, 0);
    assert!(complete(&mut server, 0, established));
    let iss: Vec<u32> = (1..=3).map(|n| knock(&mut server, n)).collect();
    assert!(!complete(&mut server, 1, iss[0]), "it had to yield");
    assert!(complete(&mut server, 3, iss[2]));
    // There is room for one more.
    let fourth = knock(&mut server, 4);
    assert!(complete(&mut server, 2, iss[1]) && complete(&mut server, 4, fourth));
    assert_eq!(server.connections().count(), 4);
    // A smaller backlog is in force from the next SYN on.
    let iss: Vec<u32> = (5..=6).map(|n| knock(&mut server, n)).collect();
    server.listen_with_backlog(80, Config::classic(), 1);
    let last = knock(&mut server, 7);
    assert_eq!(server.connections().count(), 5);
    assert!(!complete(&mut server, 5, iss[0]) && !complete(&mut server, 6, iss[1]) && complete(&mut server, 7, last));
}

/// A half-open connection that is reset leaves the backlog, so no other one yields in its place.
/// RFC 9293 3.5.
#[test]
fn a_half_open_connection_that_ends_makes_room() {
    let mut server = Endpoint::new([1; 32]);
    server.listen_with_backlog(80, Config::classic(), 2);
    let first = knock(&mut server, 1);
    knock(&mut server, 2);
    let reset = Segment { seq: 6, flags: Flags::RST, ..Segment::default() };
    server.handle_packet(Instant::ZERO, client(2), &reset, &[]);
    while server.poll_transmit(Instant::ZERO).is_some() {}
    while server.poll_event().is_some() {}
    knock(&mut server, 3);
    assert!(complete(&mut server, 1, first));
}

/// RFC 8684 3.2: a token that no connection has is answered with a RST and MP_TCPRST that says why.
#[test]
fn a_join_with_an_unknown_token_is_refused_with_a_reason() {
    let mut server = Endpoint::new([1; 32]);
    server.listen(80, Config::classic());
    let mut syn = Segment { seq: 5, flags: Flags::SYN, ..Segment::default() };
    syn.options.mptcp = Mptcp::JoinSyn { backup: false, address_id: 1, token: 0xdead_beef, nonce: 1 };
    server.handle_packet(Instant::ZERO, addresses(1000).reversed(), &syn, &[]);
    let t = server.poll_transmit(Instant::ZERO).expect("it is answered");
    let why = Some(TcpRst { transient: false, reason: ResetReason::MPTCP });
    assert_eq!((t.segment.flags, t.segment.options.tcp_rst), (Flags::RST.with(Flags::ACK), why));
    assert_eq!(server.connections().count(), 0);
}

/// A join finds its connection among others, by its token alone; the server does not listen any more by then.
/// RFC 8684 3.2.
#[test]
fn a_join_finds_its_connection_by_the_token() {
    let config = Config::classic();
    let mut w = World::new(&config, Weather::default());
    let ids: Vec<_> =
        (0..5).map(|i| w.ends[0].connect(Instant::ZERO, addresses(1000 + i), config.clone()).expect("free")).collect();
    for &id in &ids {
        w.ends[0].write(id, b"something").expect("it is there");
    }
    w.run(|w| w.told[1].iter().filter(|(_, e)| *e == Event::Readable).count() == 5);
    w.ends[1].stop_listening(80);
    while w.step() {} // the client has had the first DSS then
    let subflow = w.ends[0].open_subflow(ids[3], addresses(2000), false).expect("it may");
    w.run(|w| w.told[0].contains(&(ids[3], Event::SubflowEstablished(subflow))));
    while w.step() {}
    let joined = w.told[1].iter().find(|(_, e)| *e == Event::SubflowEstablished(1)).expect("it was told").0;
    assert_eq!(joined, w.accepted()[3]);
    assert_eq!(w.ends[1].addresses(joined, 1), Some(addresses(2000).reversed()));
}

/// The address number `n` of a host with many.
fn address(n: u16) -> IpAddr {
    let [high, low] = n.to_be_bytes();
    [10, 2, high, low].into()
}

/// A client and a server that have exchanged something, so that there can be joins; and the name of the connection at each.
fn acquainted(config: &Config) -> (World, [ConnectionId; 2]) {
    let mut w = World::new(config, Weather::default());
    let id = w.ends[0].connect(Instant::ZERO, addresses(1000), config.clone()).expect("it is free");
    w.ends[0].write(id, b"something").expect("it is there");
    while w.step() {}
    let peer = w.accepted()[0];
    (w, [id, peer])
}

/// The answer to a SYN that would join the server's connection at address number `n` of the server.
fn join_at(w: &mut World, peer: ConnectionId, n: u16) -> Segment {
    let token = w.ends[1].connection(peer).and_then(Connection::token).expect("multipath");
    let mut syn = Segment { seq: 5, window: 65_535, flags: Flags::SYN, ..Segment::default() };
    syn.options.mptcp = Mptcp::JoinSyn { backup: false, address_id: 1, token, nonce: 1 };
    let to = Addresses { local: (address(n), 80).into(), remote: ([10, 0, 0, 1], 2000).into() };
    w.ends[1].handle_packet(w.now, to, &syn, &[]);
    w.ends[1].poll_transmit(w.now).expect("it is answered").segment
}

/// RFC 8684 3.2: an identifier is an octet. The first address has 0, 255 more get one, and no two have the same.
/// RFC 8684 3.4.1.
#[test]
fn there_are_256_identifiers_of_addresses_and_no_more() {
    let (mut w, [_, peer]) = acquainted(&Config::classic());
    for n in 1..=255 {
        assert_eq!(w.ends[1].advertise(peer, address(n)), Ok(()));
    }
    assert_eq!(w.ends[1].advertise(peer, address(256)), Err(AdvertiseError::NoIdentifier(address(256))));
    assert_eq!(w.ends[1].advertise(peer, address(255)), Ok(()), "it has one");
    let elsewhere = Addresses { local: (address(256), 80).into(), ..addresses(1000).reversed() };
    assert_eq!(w.ends[1].open_subflow(peer, elsewhere, false), Err(JoinError::NoIdentifier(address(256))));
    while w.ends[1].poll_transmit(w.now).is_some() {}
    let refused = join_at(&mut w, peer, 256);
    let why = Some(TcpRst { transient: false, reason: ResetReason::RESOURCES });
    assert_eq!((refused.flags, refused.options.tcp_rst), (Flags::RST.with(Flags::ACK), why));
    let Mptcp::JoinSynAck { address_id, .. } = join_at(&mut w, peer, 200).options.mptcp else { panic!("it may join") };
    assert_eq!(address_id, 200);
}

/// Neither a join that is refused nor one that cannot be opened uses up an identifier.
#[test]
fn a_refused_join_takes_no_identifier() {
    let config = Config::classic().subflow_limit(1);
    let (mut w, [id, peer]) = acquainted(&config);
    for n in 1..=300 {
        assert_eq!(join_at(&mut w, peer, n).flags, Flags::RST.with(Flags::ACK));
        let from = Addresses { local: (address(n), 1000).into(), ..addresses(1000) };
        assert_eq!(w.ends[0].open_subflow(id, from, false), Err(JoinError::Refused(JoinRefusal::Full)));
    }
    for side in 0..2 {
        assert_eq!(w.ends[side].advertise([id, peer][side], address(300)), Ok(()));
        let t = w.ends[side].poll_transmit(w.now).expect("it is told");
        let Signal::AddAddr { advertised, .. } = t.segment.options.signal else { panic!("{t:?}") };
        assert_eq!(advertised.address, AddrId { id: 1, addr: address(300) });
    }
}

/// 10 kB may be sent and not acknowledged, 20 kB arrive and not be read: nobody keeps more, and nothing is lost.
#[test]
fn a_reader_that_does_not_read_stops_the_writer() {
    let config = Config::classic().send_buffer(Some(10_000)).receive_buffer(Some(20_000));
    let mut w = World::new(&config, Weather::default());
    let id = w.ends[0].connect(Instant::ZERO, addresses(1000), config).expect("it is free");
    let data = octets(500_000, 3);
    let mut written = 0;
    w.lazy[1] = true;
    for _ in 0..1000 {
        written += w.ends[0].write(id, &data[written..]).expect("it is open");
        w.step();
    }
    assert!((20_000..=30_000).contains(&written), "{written}");
    let peer = w.accepted()[0];
    let (kept, arrived) = (w.ends[0].buffered(id).expect("there").0, w.ends[1].buffered(peer).expect("there").1);
    assert!(kept <= 2 * 64 * 1024 && arrived <= 20_000, "{kept} {arrived}");
    // Nothing was read: what was written is here or there.
    assert!(arrived > 0 && kept + arrived >= written, "{kept} {arrived} {written}");
    w.lazy[1] = false;
    while w.read[1].get(&peer).map_or(0, Vec::len) < data.len() {
        written += w.ends[0].write(id, &data[written..]).expect("it is open");
        assert!(w.step());
        assert!(w.ends[0].buffered(id).expect("there").0 <= 3 * 64 * 1024);
    }
    assert_eq!(w.read[1][&peer], data);
}

/// One path dies with data on it, and 20 MB pass by the other: what was on the dead one is kept, no more.
#[test]
fn a_dead_subflow_does_not_keep_what_passes_by_another() {
    let config = Config::classic().send_buffer(Some(500_000));
    let mut w = World::new(&config, Weather::default());
    let id = w.ends[0].connect(Instant::ZERO, addresses(1000), config).expect("it is free");
    let data = octets(20_000_000, 4);
    let (mut written, mut most) = (0, 0);
    while w.read[1].values().next().map_or(0, Vec::len) < data.len() {
        if written < data.len() {
            written += w.ends[0].write(id, &data[written..]).expect("it is open");
        }
        let _ = w.ends[0].open_subflow(id, addresses(1001), false);
        if written > 1_000_000 {
            w.dead = Some(1001);
        }
        assert!(w.step());
        most = most.max(w.ends[0].buffered(id).expect("there").0);
    }
    assert_eq!(*w.read[1].values().next().expect("read"), data);
    assert!(most < 2_000_000, "{most} octets were kept");
}

#[test]
fn an_aborted_connection_ends_at_both_ends() {
    let config = Config::classic();
    let mut w = World::new(&config, Weather::default());
    let id = w.ends[0].connect(Instant::ZERO, addresses(1000), config).expect("it is free");
    w.ends[0].write(id, b"something").expect("it is there");
    w.run(|w| w.told[1].iter().any(|(_, e)| *e == Event::Readable));
    w.ends[0].abort(id).expect("it is there");
    while w.step() {}
    let why = |e: &Event| matches!(e, Event::Aborted(EndReason::Reset | EndReason::FastClosed));
    assert!(w.told[1].iter().any(|(_, e)| why(e)), "{:?}", w.told[1]);
    assert!(w.ends.iter().all(|end| end.connections().count() == 0));
}

#[test]
fn the_example_runs() {
    let (received, now) = pipe::transfer();
    assert_eq!(received, 1_000_000);
    assert!(now < Instant::ZERO + Duration::from_secs(60), "{now}");
}
