//! Two programs, two paths, real octets: `cargo run -p anabranch-stack --example pipe`.
//!
//! The engine has no sockets and no clock, so a program brings them. Here they are a queue and a number: each path of this
//! little network delays packets and loses some, time jumps from event to event. A client sends a megabyte over the first path,
//! opens a second subflow as soon as it may, and the server checks every octet.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use anabranch_stack::Config;
use anabranch_stack::event::Event;
use anabranch_stack::host::{Addresses, ConnectionId, Endpoint, Transmit};
use anabranch_stack::time::{Duration, Instant};

const MEGABYTE: usize = 1_000_000;

/// Packets under way, by when they arrive: whether at the server, and what.
#[derive(Default)]
struct Network {
    under_way: BTreeMap<(Instant, u64), (bool, Transmit)>,
    sent: u64,
}

impl Network {
    /// The path by 10.0.0.x takes 10 ms, the other 30 ms; every 50th packet is lost.
    fn send(&mut self, now: Instant, to_server: bool, packet: Transmit) {
        self.sent += 1;
        if self.sent % 50 != 0 {
            let first = [packet.addresses.local, packet.addresses.remote].contains(&address("10.0.0.2:80"));
            let delay = Duration::from_millis(if first { 10 } else { 30 });
            self.under_way.insert((now + delay, self.sent), (to_server, packet));
        }
    }
}

fn address(text: &str) -> SocketAddr {
    text.parse().expect("an address and a port")
}

/// Octet number `i` of what is sent: any function will do.
fn octet(i: usize) -> u8 {
    (i * i / 255) as u8
}

fn main() {
    let (received, now) = transfer();
    println!("{received} octets arrived as they were sent, over two paths with losses, in {now}");
}

/// Transfers a megabyte; returns how many octets arrived and when.
pub fn transfer() -> (usize, Instant) {
    let mut network = Network::default();
    let mut now = Instant::ZERO;
    // The secrets are where keys and sequence numbers come from: draw them where nobody can guess them.
    let mut client = Endpoint::new([1; 32]);
    let mut server = Endpoint::new([2; 32]);
    server.listen(80, Config::default());

    let first = Addresses { local: address("10.0.0.1:50000"), remote: address("10.0.0.2:80") };
    let second = Addresses { local: address("10.1.0.1:50001"), remote: address("10.1.0.2:80") };
    let id = client.connect(now, first, Config::default()).expect("the 4-tuple is free");
    let message: Vec<u8> = (0..MEGABYTE).map(octet).collect();
    let (mut written, mut received) = (0, 0);

    loop {
        // The applications: the client writes what there is room for, then closes; the server reads what is there.
        written += client.write(id, &message[written..]).unwrap_or(0);
        if written == message.len() {
            client.shutdown_write(id).ok();
        }
        let mut over = false;
        while let Some((accepted, event)) = server.poll_event() {
            received += read(&mut server, accepted, received);
            if event == Event::EndOfStream {
                server.shutdown_write(accepted).ok();
            }
        }
        while let Some((_, event)) = client.poll_event() {
            match event {
                // Refused before the server has sent its first multipath option.
                Event::JoinsPossible => drop(client.open_subflow(id, second, false)),
                Event::Connected | Event::SubflowEstablished(_) => println!("{now}: {event:?}"),
                Event::Closed => over = true,
                _ => {}
            }
        }
        if over {
            return (received, now);
        }

        // What the endpoints have to send goes out; then the next thing happens: a packet arrives, or a timer expires.
        while let Some(packet) = client.poll_transmit(now) {
            network.send(now, true, packet);
        }
        while let Some(packet) = server.poll_transmit(now) {
            network.send(now, false, packet);
        }
        let arrival = network.under_way.first_key_value().map(|(&(at, _), _)| at);
        let next = [arrival, client.poll_timeout(), server.poll_timeout()].into_iter().flatten().min();
        now = next.expect("a connection that is not closed waits for something");
        if arrival == Some(now) {
            let (_, (to_server, t)) = network.under_way.pop_first().expect("a packet arrives");
            let endpoint = if to_server { &mut server } else { &mut client };
            endpoint.handle_packet(now, t.addresses.reversed(), &t.segment, &t.payload);
        }
        client.handle_timeout(now);
        server.handle_timeout(now);
    }
}

/// Reads what is there and compares it with what was sent from octet `from` on; returns how many.
fn read(server: &mut Endpoint, id: ConnectionId, from: usize) -> usize {
    let mut buffer = [0; 4096];
    let mut total = 0;
    while let Ok(n @ 1..) = server.read(id, &mut buffer) {
        assert!(buffer[..n].iter().enumerate().all(|(i, &o)| o == octet(from + total + i)), "an octet is another");
        total += n;
    }
    total
}
