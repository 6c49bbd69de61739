//! The `mtu` of a link (RFC 1191): what is too long is dropped at its far end, and its sender makes smaller segments.

use crate::support::{MS, close, count, number, scenario, summary, traced};
use crate::trace::{Event, Row};

fn text(connection: &str, link: &str) -> String {
    format!(
        "connection = {{ {connection} }}\ntransfer = {{ bytes = '200 kB' }}\n[[path]]\nrate = '10 Mbit/s'\ndelay = '20 ms'\n{link}\n"
    )
}

fn too_long(r: &&Row) -> bool {
    r.is(Event::Drop) && r.why() == "Mtu"
}

/// RFC 1191 3: 1400 octets are 1360 after the headers, 1320 after 12 of timestamps and 28 of a DSS; in plain TCP 1348. The first flight is
/// too long; the message comes a round trip after it left (20 ms there, 20 ms back, and 1.16 ms for the first 1452 octets at 10 Mbit/s).
#[test]
fn a_path_of_1400_octets_carries_the_transfer_in_segments_that_fit() {
    for (protocol, mss, longest) in [("mptcp", 1320, 1400), ("tcp", 1348, 1400)] {
        let own = scenario(&text(&format!("protocol = '{protocol}'"), "mtu = '1400 B'"));
        let (run, rows) = traced(&own);
        let s = &run.summary;
        assert_eq!((&s["status"], &s["content_ok"]), (&"completed".into(), &true.into()), "{s}");
        assert_eq!(s["bytes_delivered"], 200_000);
        let dropped: Vec<&Row> = rows.iter().filter(too_long).collect();
        assert_eq!(s["subflows"][0]["mtu_drops"], dropped.len());
        // The ten segments of the initial window, and none after the message.
        assert!(dropped.len() == 10 && dropped.iter().all(|r| r.len == 1400), "{}", dropped.len());
        let first = dropped[0].at;
        let heard = first + 20 * MS;
        for r in rows.iter().filter(|r| r.is(Event::Send) && r.len > 0 && r.at > heard) {
            assert!(r.len <= mss && r.wire_len(&own) <= longest, "{r:?}");
        }
        assert!(rows.iter().any(|r| r.is(Event::Arrive) && r.len == mss));
        let again = rows.iter().find(|r| r.is(Event::Send) && r.len > 0 && r.at >= heard).expect("it is sent again");
        assert_eq!((again.at, again.offset, again.len), (heard, 0, mss));
        // RFC 8201 5.4: it is no congestion.
        assert!(s["episodes"].as_object().is_some_and(|e| e.values().all(|n| n == 0)), "{s}");
        assert_eq!(s["subflows"][0]["spurious"], 0);
    }
}

/// What fits is left alone: 1400 octets of payload, 12 of timestamps, 24 of a DSS whose DATA_ACK has four octets, 40 of headers.
#[test]
fn a_link_that_takes_every_packet_changes_nothing() {
    let plain = summary(&text("", ""), &[]);
    assert!(plain["subflows"][0].get("mtu_drops").is_none());
    let wide = summary(&text("", "mtu = '1476 B'"), &[]);
    assert_eq!((&plain["trace_sha256"], &wide["subflows"][0]["mtu_drops"]), (&wide["trace_sha256"], &0.into()));
    assert!(count(&summary(&text("", "mtu = '1475 B'"), &[])["subflows"][0]["mtu_drops"]) > 0);
}

/// A black hole: the handshake passes, no long segment does, and another path carries everything.
#[test]
fn without_a_message_nothing_long_gets_through() {
    let hole = "mtu = { size = '1000 B', icmp = false }";
    let s = summary(&format!("duration = '100 s'\n{}", text("", hole)), &[]);
    assert_eq!((&s["status"], &s["bytes_delivered"]), (&"stalled".into(), &0.into()));
    // Of two paths the second (no data, no DSS, and so no join: RFC 8684 3.1).
    let two = |mtu: &str| summary(&format!("{}[[path]]\nrate = '50 Mbit/s'\n{mtu}\n", text("", "")), &[]);
    let s = two(hole);
    assert_eq!((&s["status"], &s["content_ok"]), (&"completed".into(), &true.into()));
    assert_eq!(number(&s["subflows"][1]["goodput_mbps"]), 0.0);
    let told = two("mtu = '1000 B'");
    assert!(number(&told["subflows"][1]["goodput_mbps"]) > 0.0, "{told}");
}

/// The message goes back over the links that the packet has crossed: of three, the second takes 1300 octets, so 10 + 5 ms; and it is lost
/// where one of them is down.
#[test]
fn the_message_comes_back_over_the_links_crossed() {
    let net = |change: &str| {
        format!(
            "transfer = {{ bytes = '20 kB' }}\nhost = [{{ name = 'client' }}, {{ name = 'server' }}]
            router = [{{ name = 'r' }}, {{ name = 'q' }}]
            link = [{{ name = 'a', from = 'client', to = 'r', delay = '10 ms', rate = '1 Gbit/s', {change} }},
            {{ name = 'b', from = 'r', to = 'q', delay = '5 ms', rate = '1 Gbit/s', mtu_up = '1300 B' }},
            {{ name = 'c', from = 'q', to = 'server', delay = '40 ms', rate = '1 Gbit/s' }}]
            connection = {{ client = 'client', server = 'server' }}"
        )
    };
    let (run, rows) = traced(&scenario(&net("")));
    let first = rows.iter().find(|r| r.is(Event::Send) && r.len > 0).expect("data");
    let again = rows.iter().filter(|r| r.is(Event::Send) && r.len > 0).find(|r| r.offset == 0 && r.at > first.at);
    close((again.expect("again").at - first.at) as f64 / 1e6, 30.0, 0.1);
    assert_eq!(run.summary["status"], "completed");
    // Data leave after 110 ms, are dropped at 125, and the message is lost from 120 on.
    let (_, rows) = traced(&scenario(&net(
        "changes = [{ at = '122 ms', state = 'down', direction = 'down' }, { at = '200 ms', state = 'up' }]",
    )));
    let again = rows.iter().filter(|r| r.is(Event::Send) && r.len > 0).find(|r| r.offset == 0 && r.at > first.at);
    assert!(again.expect("a timeout").at - first.at > 200 * MS);
}

/// Also against the data, with bytes, checksums, beside boxes that cut and rewrite, and over a radio.
#[test]
fn whatever_else_is_on_the_path_the_content_stays_whole() {
    for (connection, link) in [
        ("checksum = true", "mtu = '600 B'"),
        ("timestamps = false", "mtu = '600 B'\nloss = '3 %'"),
        ("scheduler = 'linux', profile = 'linux'", "mtu = '1200 B'"),
        ("acknowledgement = 'coupled'", "mtu = '1200 B'"),
        ("", "mtu = '128 B'"),
        ("", "mtu = '1000 B'\nmiddleboxes = ['rewrite-sequence', { kind = 'split', size = '700 B' }]"),
        ("", "mtu = '1000 B'\nwifi = { standard = '802.11g', distance = '10 m' }"),
        ("fast_open = true", "mtu = '500 B'"),
    ] {
        for direction in ["up", "down", "both"] {
            let s = summary(
                &format!("bytes = true\n{}[[path]]\n", text(connection, link)),
                &[&format!("transfer.direction={direction}")],
            );
            assert_eq!(
                (&s["status"], &s["content_ok"]),
                (&"completed".into(), &true.into()),
                "{connection} {link} {s}"
            );
            assert_eq!(s["bytes_delivered"], 200_000);
        }
    }
}

/// A box that makes packets of its own would not hear that they are too long.
#[test]
fn boxes_that_make_packets_are_refused_beside_it() {
    for kind in ["pep", "coalesce"] {
        let text = text("", &format!("mtu = '1400 B'\nmiddleboxes = ['{kind}']"));
        let refused = anabranch_sim::scenario::parse(&text, "t", &[], None).unwrap_err().to_string();
        assert!(refused.contains("path[0].middleboxes[0]") && refused.contains("mtu"), "{refused}");
    }
}
