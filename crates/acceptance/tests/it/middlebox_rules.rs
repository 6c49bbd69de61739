//! Middleboxes one by one: what a box does to segments, seen at both hosts; and boxes that begin to act when a connection is
//! under way.
//!
//! ```text
//! path0   10 Mbit/s, 10 ms     the box at the client's end
//! path1   10 Mbit/s, 20 ms
//! ```

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::{MS, S, count, number, scenario, summary, traced};
use crate::trace::{Event, Row};

fn text(transfer: &str, paths: usize, boxes: &str) -> String {
    let mut text = format!("transfer = {{ {transfer} }}\n[[path]]\ndelay = '10 ms'\nmiddleboxes = [{boxes}]\n");
    for _ in 1..paths {
        text += "[[path]]\ndelay = '20 ms'\n";
    }
    text
}

fn run(transfer: &str, paths: usize, boxes: &str) -> (Value, Vec<Row>) {
    let (run, rows) = traced(&scenario(&text(transfer, paths, boxes)));
    (run.summary, rows)
}

/// Goodput of each path.
fn carried(s: &Value) -> Vec<f64> {
    let of = |p: usize| {
        let these = s["subflows"].as_array().expect("a list").iter().filter(move |f| f["path"] == p);
        these.map(|f| number(&f["goodput_mbps"])).sum::<f64>()
    };
    (0..2).map(of).collect()
}

fn is_exact(s: &Value, octets: u64) {
    let told = (&s["status"], &s["bytes_delivered"], &s["content_ok"], &s["bytes_altered"]);
    assert_eq!(told, (&"completed".into(), &octets.into(), &true.into(), &0.into()));
}

/// Each payload arrives once here (nothing is lost), so what was sent and what arrives are known by their place in the stream.
/// The two directions of each flow have an offset of their own.
#[test]
fn a_rewritten_flow_has_one_offset_a_direction_and_hosts_agree_on_what_is_acknowledged() {
    let (s, rows) = run("bytes = '300 kB'", 2, "'rewrite-sequence'");
    is_exact(&s, 300_000);
    let mut offsets: BTreeMap<(u32, bool), Vec<u32>> = BTreeMap::new();
    for tuple in 0..2 {
        for client in [true, false] {
            // SYN and SYN/ACK tell the initial numbers on both sides.
            let seq = |event, at_client| {
                let syn = |r: &&Row| r.is(event) && r.tuple == tuple && r.client == at_client && r.flags.contains('S');
                rows.iter().find(syn).expect("there is a SYN").seq
            };
            let offset = seq(Event::Arrive, !client).wrapping_sub(seq(Event::Send, client));
            offsets.entry((tuple, client)).or_default().push(offset);
        }
    }
    for client in [true, false] {
        assert_ne!(offsets[&(0, client)], [0]);
        // The second path has no box.
        assert_eq!(offsets[&(1, client)], [0]);
    }
    assert_ne!(offsets[&(0, true)], offsets[&(0, false)]);
    for r in rows.iter().filter(|r| r.is(Event::Arrive) && r.tuple == 0 && r.len > 0) {
        let sent = |q: &&Row| q.is(Event::Send) && q.tuple == 0 && q.len > 0 && q.offset == r.offset;
        let sent = rows.iter().find(sent).expect("it was sent");
        assert_eq!(r.seq.wrapping_sub(sent.seq), offsets[&(0, true)][0]);
    }
}

/// 1400 octets are cut into 500 + 500 + 400; nothing else changes, with the options on every piece or on the first.
#[test]
fn pieces_are_as_long_as_the_box_makes_them() {
    for options in ["all", "first"] {
        let (s, rows) =
            run("bytes = '120 kB'", 2, &format!("{{ kind = 'split', size = '500 B', options = '{options}' }}"));
        is_exact(&s, 120_000);
        let lengths = |event, tuple| {
            let mut lengths: BTreeMap<u64, u64> = BTreeMap::new();
            let of = rows.iter().filter(|r| r.is(event) && r.tuple == tuple && r.len > 0);
            of.for_each(|r| *lengths.entry(r.len).or_default() += 1);
            lengths
        };
        let (sent, arrived) = (lengths(Event::Send, 0), lengths(Event::Arrive, 0));
        let full = sent[&1400];
        assert!(full > 30, "{sent:?}");
        assert!(arrived.keys().all(|len| *len <= 500), "{arrived:?}");
        assert!(arrived[&500] >= 2 * full && arrived[&400] >= full, "{sent:?} {arrived:?}");
        assert_eq!(lengths(Event::Send, 1), lengths(Event::Arrive, 1));
        // With the options on the first piece only, two of three arrive without a mapping.
        let mapped =
            rows.iter().filter(|r| r.is(Event::Arrive) && r.tuple == 0 && r.len == 400 && r.more.contains("map "));
        assert_eq!(mapped.count() > 0, options == "all");
    }
}

/// Two segments sent at one time arrive as one, as long as both; those sent alone wait a millisecond.
#[test]
fn joined_segments_arrive_as_one() {
    for options in ["first", "last"] {
        let boxes = format!("{{ kind = 'coalesce', size = '2800 B', options = '{options}', direction = 'up' }}");
        let (s, rows) = run("bytes = '100 kB'", 2, &boxes);
        is_exact(&s, 100_000);
        let longest = rows.iter().filter(|r| r.is(Event::Arrive) && r.tuple == 0).map(|r| r.len).max();
        assert_eq!(longest, Some(2800));
    }
    // A source of 1 Mbit/s sends most of them one by one.
    let shortest = |boxes| {
        let text = text("on = '1 s', off = '0 s', rate = '1 Mbit/s', bytes = '30 kB'", 1, boxes);
        let (run, rows) = traced(&scenario(&format!("connection = {{ profile = 'classic' }}\n{text}")));
        let s = run.summary;
        is_exact(&s, 30_000);
        let alone = rows.iter().filter(|r| r.is(Event::Arrive) && r.len == 1400);
        let flight = |r: &Row| {
            let copies =
                rows.iter().filter(|q| q.is(Event::Send) && q.len == 1400 && q.offset == r.offset && q.at < r.at);
            copies.map(|q| r.at - q.at).min()
        };
        alone.filter_map(flight).min().expect("some arrive alone")
    };
    assert_eq!(shortest("'coalesce'"), shortest("") + MS);
}

/// A pause of 20 s, a NAT that forgets after 10 s. The client speaks first after it, from a new port:
///
/// ```text
/// client  data ----NAT, new port----> server   RFC 9293 3.10.7.1: a stranger
///         <------------------ RST
/// ```
#[test]
fn a_forgotten_mapping_resets_the_subflow_and_the_others_go_on() {
    let transfer = "on = '1 s', off = '20 s', rate = '1 Mbit/s', bytes = '250 kB'";
    let nat = "{ kind = 'nat', timeout = '10 s' }";
    let (s, rows) = run(transfer, 2, nat);
    is_exact(&s, 250_000);
    let reset = rows.iter().find(|r| r.is(Event::Arrive) && r.client && r.flags.contains('R')).expect("a reset");
    assert_eq!(reset.tuple, 0);
    assert!((21 * S..22 * S).contains(&reset.at), "{reset:?}");
    assert_eq!(s["fallback"], false);
    // Alone the connection waits for a new subflow (RFC 8684 3.5: a RST ends a subflow, not the connection), which comes after
    // ten seconds. Plain TCP ends.
    let (s, rows) = run(transfer, 1, nat);
    is_exact(&s, 250_000);
    assert!(rows.iter().any(|r| r.is(Event::Arrive) && r.tuple == 1 && r.len > 0 && r.at > reset.at + 10 * S));
    let (tcp, _) = traced(&scenario(&format!("connection.protocol = 'tcp'\n{}", text(transfer, 1, nat))));
    let (status, by) = (&tcp.summary["status"], &tcp.summary["aborted_by"]);
    assert_eq!((status, by), (&"aborted".into(), &"client: reset by the peer".into()));
    assert_eq!(tcp.summary["content_ok"], true);
    // One that waits longer than the pause changes nothing.
    let (s, rows) = run(transfer, 1, "{ kind = 'nat', timeout = '30 s' }");
    is_exact(&s, 250_000);
    assert!(!rows.iter().any(|r| r.flags.contains('R')));
}

/// The server speaks first after the pause: the NAT drops it, and the data go out on the other path.
#[test]
fn what_comes_to_a_forgotten_mapping_is_dropped() {
    let transfer = "on = '1 s', off = '20 s', rate = '1 Mbit/s', bytes = '250 kB', direction = 'down'";
    let (s, rows) = run(transfer, 2, "{ kind = 'nat', timeout = '10 s' }");
    is_exact(&s, 250_000);
    let dropped = rows.iter().filter(|r| r.is(Event::Drop) && r.tuple == 0 && r.at > 20 * S);
    assert!(dropped.inspect(|r| assert_eq!(r.why(), "Middlebox")).count() > 0);
    assert!(carried(&s)[1] > 0.0);
}

/// RFC 8684 3.7: options are lost when a connection with several subflows is under way (a route changed): the subflow is reset.
/// With one subflow alone nothing can be delivered any more, and no fallback be signalled.
#[test]
fn options_lost_under_way_break_the_subflow() {
    let (s, _) = run("bytes = '2 MB'", 2, "{ kind = 'strip-mptcp', at = '300 ms' }");
    is_exact(&s, 2_000_000);
    assert_eq!(s["fallback"], false);
    let (s, _) = run("bytes = '2 MB'", 1, "{ kind = 'strip-mptcp', at = '300 ms' }");
    assert_eq!(s["status"], "aborted");
    assert_eq!(s["content_ok"], true);
}

/// Nothing on this path gets through any more (RFC 7323 3.2); the other one carries the rest.
#[test]
fn timestamps_lost_under_way_stop_the_path() {
    let (s, _) = run("bytes = '2 MB'", 2, "{ kind = 'strip-timestamps', at = '300 ms' }");
    is_exact(&s, 2_000_000);
    let s = summary(&text("bytes = '2 MB'", 1, "{ kind = 'strip-timestamps', at = '300 ms' }"), &[]);
    assert_eq!((&s["status"], &s["aborted_by"]), (&"stalled".into(), &"client: no answer from the peer".into()));
}

/// A box that acts for a while is as if it had never been, before and after.
#[test]
fn a_box_acts_from_at_until_until() {
    let (s, rows) = run("bytes = '1 MB'", 1, "{ kind = 'split', size = '700 B', at = '300 ms', until = '500 ms' }");
    is_exact(&s, 1_000_000);
    // A piece that is lost is sent again by itself: not cut then.
    let sent = |r: &Row| rows.iter().any(|q| q.is(Event::Send) && (q.offset, q.len) == (r.offset, r.len));
    let cut = |r: &&Row| r.is(Event::Arrive) && r.len == 700 && !sent(r);
    let (first, last) = (rows.iter().find(cut).expect("some"), rows.iter().rfind(cut).expect("some"));
    // They wait in the queue behind the box, 100 packets at most: a tenth of a second.
    assert!(first.at > 310 * MS && last.at < 510 * MS + 130 * MS, "{} {}", first.at, last.at);
    assert!(rows.iter().filter(|r| r.is(Event::Arrive) && r.len == 1400).count() > 300);
}

/// RFC 8684 3.7, with two subflows: MP_FAIL and a RST for the one whose data are altered; its octets come again by the other.
#[test]
fn a_failed_checksum_resets_one_of_several_subflows() {
    let boxes = "{ kind = 'alter-payload', every = '10 kB', at = '300 ms' }";
    let (run, rows) = traced(&scenario(&format!("connection.checksum = true\n{}", text("bytes = '2 MB'", 2, boxes))));
    is_exact(&run.summary, 2_000_000);
    assert_eq!(run.summary["fallback"], false);
    let fail = rows.iter().find(|r| r.more.contains("Fail")).expect("MP_FAIL");
    assert!(fail.is(Event::Send) && !fail.client && fail.flags.contains('R') && fail.tuple == 0, "{fail:?}");
    assert!((300 * MS..450 * MS).contains(&fail.at), "{fail:?}");
    assert!(carried(&run.summary)[1] > 1.0);
}

/// Without checksums the receiver cannot know. One octet in 10 000 is changed: exactly those that went by this path.
#[test]
fn altered_octets_are_counted_one_by_one() {
    let (s, rows) = run("bytes = '1 MB'", 2, "{ kind = 'alter-payload', every = '10 kB' }");
    let sent = rows.iter().filter(|r| r.is(Event::Send) && r.tuple == 0 && r.len > 0 && r.kind == "New");
    let places = sent.map(|r| (r.offset..r.offset + r.len).filter(|o| o % 10_000 == 0).count() as u64);
    assert_eq!(count(&s["bytes_altered"]), places.sum::<u64>());
    assert_eq!((&s["status"], &s["content_ok"]), (&"completed".into(), &false.into()));
}
