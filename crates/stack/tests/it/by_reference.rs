//! An endpoint whose driver keeps the octets sends what an endpoint with octets sends.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use anabranch_stack::Config;
use anabranch_stack::event::Event;
use anabranch_stack::host::{Addresses, ByReference, ConnectionId, Endpoint, JoinError};
use anabranch_stack::mptcp::connection::JoinRefusal;
use anabranch_stack::segment::Segment;
use anabranch_stack::time::{Duration, Instant};
use anabranch_stack::wire::checksum::Sum;
use anabranch_stack::wire::segment::payload_of;

const LEN: usize = 300_000;

fn octets() -> Vec<u8> {
    (0..LEN).map(|i| (i * i / 255) as u8).collect()
}

fn addresses(path: u8) -> Addresses {
    let at = |host, port| SocketAddr::from(([10, path, 0, host], port));
    Addresses { local: at(1, 50_000), remote: at(2, 80) }
}

/// One of the two forms of an endpoint, with the octets of its one connection.
trait Host {
    fn handle(&mut self, now: Instant, addresses: Addresses, segment: &Segment, payload: &[u8]);
    fn poll(&mut self, now: Instant) -> Option<(Addresses, Segment, Vec<u8>)>;
    fn write(&mut self, id: ConnectionId, octets: &[u8]) -> usize;
    fn read(&mut self, id: ConnectionId, heard: &mut Vec<u8>);
}

impl Host for Endpoint {
    fn handle(&mut self, now: Instant, addresses: Addresses, segment: &Segment, payload: &[u8]) {
        self.handle_packet(now, addresses, segment, payload);
    }
    fn poll(&mut self, now: Instant) -> Option<(Addresses, Segment, Vec<u8>)> {
        self.poll_transmit(now).map(|t| (t.addresses, t.segment, t.payload))
    }
    fn write(&mut self, id: ConnectionId, octets: &[u8]) -> usize {
        Endpoint::write(self, id, octets).expect("it is open")
    }
    fn read(&mut self, id: ConnectionId, heard: &mut Vec<u8>) {
        let mut some = [0; 8192];
        while let Ok(n @ 1..) = Endpoint::read(self, id, &mut some) {
            heard.extend(&some[..n]);
        }
    }
}

/// The driver's buffers: what it wrote from offset `dropped` on, and what has arrived.
struct Kept {
    endpoint: Endpoint<ByReference>,
    written: Vec<u8>,
    dropped: u64,
    arrived: BTreeMap<u64, u8>,
    events: Vec<(ConnectionId, Event)>,
}

impl Host for Kept {
    fn handle(&mut self, now: Instant, addresses: Addresses, segment: &Segment, payload: &[u8]) {
        let segment = Segment { payload: payload_of(payload, &segment.options), ..*segment };
        self.endpoint.handle_segment(now, addresses, &segment);
        while let Some((id, event)) = self.endpoint.poll_event() {
            if let Event::Arrived { data, len, .. } = event {
                let octets = &payload[..len as usize];
                self.arrived.extend(octets.iter().enumerate().map(|(i, &o)| (data + i as u64, o)));
            } else {
                self.events.push((id, event));
            }
        }
    }
    fn poll(&mut self, now: Instant) -> Option<(Addresses, Segment, Vec<u8>)> {
        let mut t = self.endpoint.poll_reference(now)?;
        let (from, len) = (t.segment.payload.offset, t.segment.payload.len as usize);
        let payload = if len > 0 {
            assert!(from >= self.dropped, "octet {from} was released below {}", self.dropped);
            self.written[from as usize..from as usize + len].to_vec()
        } else {
            Vec::new()
        };
        t.add_to_checksum(Sum::of(&payload));
        if let Some((id, _)) = t.source {
            self.dropped = self.endpoint.needed_from(id).unwrap_or(self.dropped).min(self.written.len() as u64);
        }
        Some((t.addresses, t.segment, payload))
    }
    fn write(&mut self, id: ConnectionId, octets: &[u8]) -> usize {
        let taken = self.endpoint.write_count(id, octets.len() as u64).expect("it is open") as usize;
        self.written.extend(&octets[..taken]);
        taken
    }
    fn read(&mut self, id: ConnectionId, heard: &mut Vec<u8>) {
        let from = heard.len() as u64;
        let n = self.endpoint.read_count(id, u64::MAX).unwrap_or(0);
        heard.extend((from..from + n).map(|at| self.arrived.remove(&at).expect("it has arrived")));
    }
}

/// What a transfer has sent: time, 4-tuple, segment, octets.
type Sent = Vec<(Instant, Addresses, Segment, Vec<u8>)>;

/// Transfers [`octets`] over two paths of 5 and 20 ms that lose every 37th packet.
fn transfer<H: Host>(
    mut ends: [H; 2],
    mut events: impl FnMut(&mut H, Instant) -> (Option<ConnectionId>, bool),
    mut timeout: impl FnMut(&mut H, Option<Instant>) -> Option<Instant>,
    id: ConnectionId,
) -> (Sent, Vec<u8>) {
    let (message, mut written, mut heard) = (octets(), 0, Vec::new());
    let (mut now, mut sent, mut under_way) = (Instant::ZERO, Sent::new(), BTreeMap::new());
    let mut number = 0_u64;
    let mut room = true;
    while heard.len() < LEN {
        for side in 0..2 {
            let (any, writable) = events(&mut ends[side], now);
            room |= side == 0 && writable;
            if let (1, Some(id)) = (side, any) {
                ends[1].read(id, &mut heard);
            }
        }
        // Writes only at the start and at the event Writable: without the event the transfer would
        // stop.
        if room && written < LEN {
            let taken = ends[0].write(id, &message[written..]);
            written += taken;
            room = false;
        }
        for (side, end) in ends.iter_mut().enumerate() {
            while let Some((addresses, segment, payload)) = end.poll(now) {
                number += 1;
                sent.push((now, addresses, segment, payload.clone()));
                let slow = addresses.local.ip().to_string().starts_with("10.2");
                if number % 37 != 0 {
                    let at = now + Duration::from_millis(if slow { 20 } else { 5 });
                    under_way.insert((at, number), (1 - side, addresses.reversed(), segment, payload));
                }
            }
        }
        let arrival = under_way.first_key_value().map(|((at, _), _)| *at);
        let [a, b] = &mut ends;
        now = [arrival, timeout(a, None), timeout(b, None)].into_iter().flatten().min().expect("something happens");
        if arrival == Some(now) {
            let (_, (side, addresses, segment, payload)) = under_way.pop_first().expect("it is there");
            ends[side].handle(now, addresses, &segment, &payload);
        }
        for end in &mut ends {
            timeout(end, Some(now));
        }
    }
    (sent, heard)
}

fn config(checksum: bool) -> Config {
    Config::classic().checksum(checksum).send_buffer(Some(40_000))
}

fn with_octets(checksum: bool) -> (Sent, Vec<u8>) {
    let mut ends = [Endpoint::new([1; 32]), Endpoint::new([2; 32])];
    ends[1].listen(80, config(checksum));
    let id = ends[0].connect(Instant::ZERO, addresses(1), config(checksum)).expect("it is free");
    let mut opened = false;
    let events = move |end: &mut Endpoint, _| {
        let (mut any, mut writable) = (None, false);
        while let Some((id, event)) = end.poll_event() {
            (any, writable) = (Some(id), writable || event == Event::Writable);
            if event == Event::JoinsPossible && !opened {
                opened = true;
                end.open_subflow(id, addresses(2), false).expect("the peer has confirmed");
            }
        }
        (any, writable)
    };
    let timeout = |end: &mut Endpoint, at: Option<Instant>| {
        let Some(at) = at else { return end.poll_timeout() };
        end.handle_timeout(at);
        None
    };
    transfer(ends, events, timeout, id)
}

fn by_reference(checksum: bool) -> (Sent, Vec<u8>) {
    let kept = |secret| Kept {
        endpoint: Endpoint::by_reference([secret; 32]),
        written: Vec::new(),
        dropped: 0,
        arrived: BTreeMap::new(),
        events: Vec::new(),
    };
    let mut ends = [kept(1), kept(2)];
    ends[1].endpoint.listen(80, config(checksum));
    let id = ends[0].endpoint.connect(Instant::ZERO, addresses(1), config(checksum)).expect("it is free");
    let mut opened = false;
    let events = move |end: &mut Kept, _| {
        let (mut any, mut writable) = (None, false);
        let mut waiting = std::mem::take(&mut end.events);
        while let Some(event) = end.endpoint.poll_event() {
            waiting.push(event);
        }
        for (id, event) in waiting {
            (any, writable) = (Some(id), writable || event == Event::Writable);
            if event == Event::JoinsPossible && !opened {
                opened = true;
                end.endpoint.open_subflow(id, addresses(2), false).expect("the peer has confirmed");
            }
        }
        (any, writable)
    };
    let timeout = |end: &mut Kept, at: Option<Instant>| {
        let Some(at) = at else { return end.endpoint.poll_timeout() };
        end.endpoint.handle_timeout(at);
        None
    };
    transfer(ends, events, timeout, id)
}

/// Both forms send the same segments at the same times, and every octet arrives.
#[test]
fn both_forms_of_an_endpoint_send_the_same() {
    for checksum in [false, true] {
        let ((sent, heard), (references, heard_too)) = (with_octets(checksum), by_reference(checksum));
        assert_eq!((&heard, &heard_too), (&octets(), &octets()));
        assert!(sent.iter().any(|(_, a, ..)| *a == addresses(2)), "the second subflow carries data");
        assert_eq!(sent.len(), references.len());
        for (one, other) in sent.iter().zip(&references) {
            assert_eq!(
                (one.0, one.1, one.2.seq, one.2.options, &one.3),
                (other.0, other.1, other.2.seq, other.2.options, &other.3)
            );
        }
    }
}

/// RFC 8684 3.1: before the peer's first DSS a join is refused for now; on a plain connection for
/// ever.
#[test]
fn a_refused_join_says_whether_it_is_for_ever() {
    for (mptcp, why) in [(true, JoinRefusal::Unconfirmed), (false, JoinRefusal::Plain)] {
        let config = Config::classic().mptcp(mptcp);
        let mut client = Endpoint::new([1; 32]);
        let id = client.connect(Instant::ZERO, addresses(1), config).expect("it is free");
        let refused = client.open_subflow(id, addresses(2), false).expect_err("it is not established");
        assert_eq!((refused, refused.is_final()), (JoinError::Refused(why), !mptcp));
        assert_eq!(client.open_subflow(id, addresses(1), false), Err(JoinError::InUse(addresses(1))));
        client.abort(id).expect("it is there");
        while client.poll_transmit(Instant::ZERO).is_some() {}
        assert_eq!(client.open_subflow(id, addresses(2), false), Err(JoinError::Gone));
    }
}
