//! Loaded links in a run: utilisation, throughput of overload, random loss, duplicates and damage counted.

use crate::model::Fifo;
use crate::statistics::frequency;
use crate::support::{MS, S, close, count, number, scenario, summary, traced, with};
use crate::trace::{Event, copies};

/// 12 Mbit/s of payload for 10 s into 8 Mbit/s. The link is busy from the first datagram to the last one's departure,
/// so n packets of 1428 octets take n x 1.428 ms, and the run ends one delay later.
#[test]
fn an_overloaded_link_is_busy_all_the_time() {
    let text = "connection = { protocol = 'udp' }
        transfer = { rate = '12 Mbit/s', duration = '10 s' }
        path = [{ rate = '8 Mbit/s', delay = '20 ms', queue = '50 packets' }]";
    let s = summary(text, &[]);
    let passed = count(&s["bytes_delivered"]) / 1400;
    let busy = passed as f64 * 1.428e-3;
    close(number(&s["completion_s"]), busy + 0.02, 1e-12);
    close(number(&s["subflows"][0]["utilisation"]), busy / (busy + 0.02), 1e-9);
    // A datagram every 14/15 ms: as many as fit into 10 s, one at the start included.
    assert_eq!(count(&s["segments"]), 10_715);
    assert_eq!(count(&s["subflows"][0]["queue_drops"]), 10_715 - passed);
    close(number(&s["goodput_mbps"]), 8.0 * 1400.0 / 1428.0 * busy / (busy + 0.02), 1e-9);
}

/// A flow of half the rate uses half the link, and none of it waits: 700 octets of payload every 1.4 ms, 728 on the
/// wire.
#[test]
fn the_utilisation_of_a_half_loaded_link_counts_headers() {
    let text = "connection = { protocol = 'udp', mss = 700 }
        transfer = { rate = '4 Mbit/s', duration = '20 s' }
        path = [{ rate = '8 Mbit/s', delay = '0 ms' }]";
    let s = summary(text, &[]);
    close(number(&s["subflows"][0]["utilisation"]), 0.5 * 728.0 / 700.0, 1e-4);
}

/// TCP on 10 Mbit/s, 10 ms: the queue of 100 packets never runs empty, since half of 117 packets still fill the 17 that
/// the path holds. Only the handshake, the first round trips and the close are idle: less than 0.15 s of 60.
#[test]
fn a_saturating_tcp_uses_its_link_fully() {
    let text = "connection = { protocol = 'tcp' }\ntransfer = { duration = '60 s' }\n[[path]]";
    let s = summary(text, &[]);
    let utilisation = number(&s["subflows"][0]["utilisation"]);
    assert!((1.0 - 0.15 / 60.0..=1.0).contains(&utilisation), "{utilisation}");
    // 1400 of 1452 octets are payload; a few copies that were dropped took no time on the link.
    close(number(&s["goodput_mbps"]), utilisation * 10.0 * 1400.0 / 1452.0, 0.01);
}

/// Two flows of 6 Mbit/s of payload share 8 Mbit/s: together they get exactly what the link carries.
#[test]
fn flows_that_share_a_link_share_its_rate() {
    let text = "[[path]]
        rate = '8 Mbit/s'
        delay = '20 ms'
        [[connection]]
        protocol = 'udp'
        transfer = { rate = '6 Mbit/s', duration = '10 s' }
        [[connection]]
        protocol = 'udp'
        transfer = { rate = '6.1 Mbit/s', duration = '10 s', start = '0.5 ms' }";
    let s = summary(text, &[]);
    let passed = count(&s["bytes_delivered"]) / 1400;
    close(number(&s["last_byte_s"]), passed as f64 * 1.428e-3 + 0.02, 1e-9);
    let utilisation: f64 = (0..2).map(|i| number(&s["subflows"][i]["utilisation"])).sum();
    close(utilisation, 1.0, 5e-3);
}

/// Loss is drawn after the queue, for each packet on its own, and is no queue drop.
#[test]
fn datagrams_are_lost_as_often_as_configured() {
    let text = "duration = '3 min'
        connection = { protocol = 'udp', mss = 100 }
        transfer = { rate = '800 kbit/s', duration = '100 s' }
        path = [{ loss = '2 %', loss_down = '50 %' }]";
    let s = summary(text, &[]);
    assert_eq!(count(&s["segments"]), 100_000);
    frequency(100_000 - count(&s["bytes_delivered"]) / 100, 100_000, 0.02);
    assert_eq!(s["subflows"][0]["queue_drops"], 0);
}

/// Damaged packets travel to the end and are dropped there; duplicates arrive twice, together.
#[test]
fn damage_and_duplicates_show_at_the_receiver() {
    let text = "duration = '3 min'
        connection = { protocol = 'udp', mss = 972 }
        transfer = { rate = '777.6 kbit/s', duration = '100 s' }
        path = [{ rate = '8 Mbit/s', delay = '35 ms', corruption = '10 %', duplication = '20 %' }]";
    let sent = copies(&traced(&scenario(text)).1);
    assert_eq!(sent.len(), 10_000);
    let (mut damaged, mut twice) = (0, 0);
    for copy in &sent {
        let due = copy.sent.at + 36 * MS;
        let fates = copy.arrived.iter().chain(copy.dropped.iter().map(|(at, _)| at));
        assert!(fates.clone().all(|at| *at == due), "{copy:?}");
        assert!(copy.dropped.iter().all(|(_, why)| why == "Checksum"));
        assert!(copy.arrived.is_empty() != copy.dropped.is_empty(), "a twin is damaged like the other: {copy:?}");
        damaged += u64::from(!copy.dropped.is_empty());
        twice += u64::from(fates.count() == 2);
    }
    frequency(damaged, 10_000, 0.1);
    frequency(twice, 10_000, 0.2);
}

/// TCP takes damage for loss and duplicates for duplicates: every octet arrives once.
#[test]
fn tcp_survives_damage_duplicates_and_overtaking() {
    for protocol in ["tcp", "mptcp"] {
        let text = "transfer = { bytes = '1 MB' }
            [[path]]
            corruption = '1 %'
            duplication = '5 %'
            loss = '1 %'
            delay_variation = '50 %'
            overtaking = true
            [[path]]
            corruption = '1 %'
            duplication = '5 %'";
        let s = summary(text, &[&format!("connection.protocol={protocol}")]);
        assert_eq!((&s["status"], &s["content_ok"]), (&"completed".into(), &true.into()));
        assert_eq!(s["bytes_delivered"], 1_000_000);
    }
}

/// A queue that marks from 20 packets on never overflows at 100. The window is cut once for all marks of a round trip
/// (RFC 3168 6.1.2): from 40 segments to 19, which still fill the 17 of the path.
#[test]
fn marks_keep_a_queue_short_without_drops() {
    let text = "connection = { protocol = 'tcp', ecn = true, initial_window = 2 }
        transfer = { duration = '30 s' }
        path = [{ ecn_threshold = '20 packets' }]";
    let s = summary(text, &[]);
    assert_eq!((&s["subflows"][0]["queue_drops"], &s["subflows"][0]["retransmissions_fast"]), (&0.into(), &0.into()));
    assert!(number(&s["subflows"][0]["utilisation"]) > 0.99);
    // 17 packets fill the path; up to about 20 more wait, 1.16 ms each. Without marks 100 do.
    let srtt = |s: &serde_json::Value| number(&s["subflows"][0]["srtt_ms"]);
    assert!(srtt(&s) < 20.0 + 20.0 * 1.17, "{}", srtt(&s));
    assert!(srtt(&summary(text, &["connection.ecn=false"])) > 20.0 + 50.0 * 1.17);
}

/// What a queue of 33 packets drops, the summary counts; and one in octets drops what the model says.
#[test]
fn queue_drops_are_those_of_the_trace() {
    for queue in ["33 packets", "20 kB"] {
        let text = "connection = { protocol = 'udp', mss = 1000 }
            transfer = { rate = '30 Mbit/s', duration = '2 s' }
            path = [{ rate = '7 Mbit/s' }]";
        let scenario = with(text, &[&format!("path.0.queue={queue}")]);
        let (run, rows) = traced(&scenario);
        let dropped = rows.iter().filter(|r| r.is(Event::Drop) && r.why() == "Queue").count();
        assert_eq!(run.summary["subflows"][0]["queue_drops"], dropped);
        let mut model = Fifo::new(&scenario.links[0].up);
        let sends = rows.iter().filter(|r| r.is(Event::Send));
        assert_eq!(sends.filter(|r| model.offer(r.at, 1028).is_none()).count(), dropped);
        assert!(dropped > 100 && rows[rows.len() - 1].at > 2 * S, "{dropped}");
    }
}
