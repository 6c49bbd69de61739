//! When packets arrive: whole runs against serialisation + propagation, hop by hop, and against the reference model.

use anabranch_sim::scenario::Scenario;

use crate::model::Fifo;
use crate::support::{MS, scenario, serialisation, traced};
use crate::trace::{Copy, Event, copies};

const MBIT: u64 = 1_000_000;

/// One datagram of 1000 octets, 1028 with its headers: 0.8224 ms at 10 Mbit/s, 25 ms to propagate.
#[test]
fn a_datagram_takes_serialisation_and_propagation() {
    let (run, rows) = traced(&scenario(
        "connection = { protocol = 'udp', mss = 1000 }
         transfer = { rate = '1 Mbit/s', bytes = '1 kB', start = '3 s' }
         path = [{ rate = '10 Mbit/s', delay = '25 ms' }]",
    ));
    let sent = copies(&rows);
    assert_eq!(sent.len(), 1);
    assert_eq!((sent[0].sent.at, &sent[0].arrived[..]), (3_000 * MS, &[3_000 * MS + 822_400 + 25 * MS][..]));
    assert_eq!(run.summary["completion_s"], 0.025_822_4);
    assert_eq!(run.summary["bytes_delivered"], 1000);
}

/// Store and forward: each of three links takes its own serialisation (1028 octets, its own overhead) and delay.
#[test]
fn every_hop_adds_its_own_serialisation_and_delay() {
    let (_, rows) = traced(&scenario(
        "host = [{ name = 'a' }, { name = 'b' }]
         router = [{ name = 'r' }, { name = 's' }]
         link = [
             { name = 'first', from = 'a', to = 'r', rate = '100 Mbit/s', delay = '1 ms' },
             { name = 'second', from = 'r', to = 's', rate = '2 Mbit/s', delay = '30 ms', overhead = '22 B' },
             { name = 'third', from = 's', to = 'b', rate = '1 Gbit/s', delay = '0.5 ms', overhead = '38 B' },
         ]
         connection = { protocol = 'udp', mss = 1000, client = 'a', server = 'b' }
         transfer = { rate = '100 kbit/s', bytes = '5 kB' }",
    ));
    let hops = [(1028, 100 * MBIT, MS), (1050, 2 * MBIT, 30 * MS), (1066, 1000 * MBIT, MS / 2)];
    let latency: u64 = hops.iter().map(|&(octets, rate, delay)| serialisation(octets, rate) + delay).sum();
    let sent = copies(&rows);
    assert_eq!(sent.len(), 5);
    for copy in sent {
        assert_eq!(copy.arrived, [copy.sent.at + latency]);
    }
}

/// The handshake of plain TCP: SYN and SYN/ACK are 60 octets (20 IP, 20 TCP, 4 MSS, 4 window scale, 12 timestamps with
/// SACK-permitted), at 1 Mbit/s 0.48 ms each way.
#[test]
fn a_handshake_takes_two_serialisations_and_a_round_trip() {
    let (_, rows) = traced(&scenario(
        "connection = { protocol = 'tcp' }
         transfer = { bytes = '1 kB' }
         path = [{ rate = '1 Mbit/s', delay = '10 ms' }]",
    ));
    let arrived = |client: bool| rows.iter().find(|r| r.is(Event::Arrive) && r.client == client).map(|r| r.at);
    assert_eq!(arrived(false), Some(480_000 + 10 * MS));
    assert_eq!(arrived(true), Some(2 * (480_000 + 10 * MS)));
}

/// Every packet of a run over paths of one link each against the reference model, in each direction without chance:
/// when it arrives, or that the queue drops it. Returns how many were compared and how many dropped.
fn against_the_model(scenario: &Scenario) -> (usize, usize) {
    let (_, rows) = traced(scenario);
    let all = copies(&rows);
    let path_of = |c: &Copy| scenario.connections[c.sent.connection as usize].paths[c.sent.tuple as usize][0];
    let (mut compared, mut dropped) = (0, 0);
    for (l, link) in scenario.links.iter().enumerate() {
        let ways = [(true, &link.up), (false, &link.down)];
        for (client, direction) in ways.into_iter().filter(|(_, d)| !d.varies()) {
            let mut model = Fifo::new(direction);
            for copy in all.iter().filter(|c| c.sent.client == client && path_of(c) == l) {
                compared += 1;
                match model.offer(copy.sent.at, copy.sent.wire_len(scenario)) {
                    Some(passage) if copy.arrived.is_empty() => {
                        // The run ended before.
                        assert!(
                            passage.arrives >= rows[rows.len() - 1].at,
                            "{copy:?} should have arrived: {passage:?}"
                        );
                        assert!(copy.dropped.is_empty(), "{copy:?} should not have been dropped");
                    }
                    Some(passage) => assert_eq!(copy.arrived, [passage.arrives], "{copy:?}"),
                    None => {
                        dropped += 1;
                        assert_eq!(copy.dropped, [(copy.sent.at, "Queue".to_string())], "{copy:?}");
                    }
                }
            }
        }
    }
    (compared, dropped)
}

/// 2 MB over a queue of 20 packets: slow start overshoots, the sawtooth follows. Acknowledgements come with jitter:
/// without any chance they come at the very instants at which transmissions end (see [`crate::phase`]), and which of
/// two events of one instant is first is not the model's to say.
#[test]
fn every_packet_of_a_tcp_transfer_passes_as_the_model_says() {
    let (packets, dropped) = against_the_model(&scenario(
        "connection = { protocol = 'tcp' }
         transfer = { bytes = '2 MB' }
         path = [{ rate = '10 Mbit/s', delay = '15 ms', delay_variation_down = '10 %', queue = '20 packets' }]",
    ));
    assert!(packets > 1_400 && dropped >= 20, "{packets} {dropped}");
}

/// Two unlike paths, one with framing, queues in packets and in octets, other rates up than down. With jitter on the
/// way of the data the acknowledgements are compared (SACK blocks, joins and addresses among them), and the reverse.
#[test]
fn every_packet_of_a_multipath_transfer_passes_as_the_model_says() {
    for (jitter, at_least) in [("up", 2_000), ("down", 1_200)] {
        let (packets, dropped) = against_the_model(&scenario(&format!(
            "transfer = {{ bytes = '3 MB', direction = 'down' }}
             [[path]]
             rate_up = '100 kbit/s'
             rate_down = '7 Mbit/s'
             delay = '10 ms'
             delay_variation_{jitter} = '20 %'
             queue_up = '10 packets'
             queue_down = '40 kB'
             overhead = '26 B'
             [[path]]
             rate = '3 Mbit/s'
             delay_up = '50 ms'
             delay_down = '20 ms'
             delay_variation_{jitter} = '20 %'
             queue = '25 packets'",
        )));
        assert!(packets > at_least && dropped >= 20, "{packets} {dropped}");
    }
}
