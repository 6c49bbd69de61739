//! Web pages whose loading time can be worked out.

use std::collections::BTreeMap;

use anabranch_measures::items::Item;

use crate::support::{MS, S, finish, number, scenario, traced};
use crate::trace::Event;

/// TCP over 10 Mbit/s and 10 ms: a request of 400 octets and an object of 1 kB, with 52 octets of headers each, take 361.6 us and
/// 841.6 us on the link.
const ROUND: u64 = 20 * MS + 361_600 + 841_600;
/// SYN and its answer, 60 octets each.
const HANDSHAKE: u64 = 20 * MS + 2 * 48_000;

fn over_tcp(transfer: &str) -> String {
    format!("connection = {{ protocol = 'tcp', nagle = false }}\ntransfer = {{ {transfer} }}\n[[path]]")
}

/// Time to load, and the objects by number with their connection.
fn loaded(text: &str) -> (u64, BTreeMap<u32, (usize, Item)>) {
    let run = finish(&scenario(text));
    assert_eq!(run.summary["status"], "completed");
    let objects: BTreeMap<u32, (usize, Item)> =
        run.items.iter().flat_map(|(c, items)| items.all().iter().map(|i| (i.number, (*c, *i)))).collect();
    assert_eq!(objects.len(), run.items.iter().map(|(_, items)| items.all().len()).sum::<usize>(), "each comes once");
    let bytes: u64 = objects.values().map(|(_, o)| o.bytes).sum();
    assert_eq!(run.summary["bytes_delivered"], bytes);
    ((number(&run.summary["page_load_s"]) * 1e9).round() as u64, objects)
}

fn chain(n: usize) -> String {
    let objects: Vec<String> = (0..n)
        .map(|i| format!("{{ size = '1 kB'{} }}", if i > 0 { format!(", after = {}", i - 1) } else { String::new() }))
        .collect();
    format!("page = [{}]", objects.join(", "))
}

fn star(n: usize) -> String {
    format!("page = [{}]", vec!["{ size = '1 kB' }"; n + 1].join(", "))
}

#[test]
fn a_chain_of_small_objects_takes_a_round_trip_each() {
    for n in [1, 2, 5, 20] {
        let (load, objects) = loaded(&over_tcp(&chain(n)));
        assert_eq!(load, HANDSHAKE + n as u64 * ROUND);
        assert!(objects.values().skip(1).all(|(_, o)| o.latency() == Some(ROUND)));
    }
}

#[test]
fn thinking_comes_between_an_object_and_what_depends_on_it() {
    let (load, _) = loaded(&over_tcp(&format!("{}, think = '50 ms'", chain(5))));
    assert_eq!(load, HANDSHAKE + 5 * ROUND + 4 * 50 * MS);
}

/// Nine objects that depend on the document: over one connection, or over nine, they come in one round, over three in three. More
/// than the rounds it can take at most all transmissions.
#[test]
fn connections_ask_for_one_object_each_and_a_single_one_for_all() {
    for (connections, rounds) in [(1, 2), (9, 2), (3, 4), (2, 6)] {
        let (load, objects) = loaded(&over_tcp(&format!("{}, connections = {connections}", star(9))));
        let least = HANDSHAKE + rounds * ROUND;
        assert!((least..least + 9 * (361_600 + 841_600)).contains(&load), "{connections}: {load}, {least}");
        let used: std::collections::BTreeSet<usize> = objects.values().map(|(c, _)| *c).collect();
        assert_eq!(used.len(), connections);
    }
}

/// One connection with idle paths beside it: nothing else changes.
#[test]
fn a_page_goes_over_several_paths() {
    let text = format!("transfer = {{ {} }}\n[[path]]\n[[path]]", chain(5));
    let (load, _) = loaded(&text);
    assert!((load as f64 / (HANDSHAKE + 5 * ROUND) as f64 - 1.0).abs() < 0.01, "{load}");
}

/// BLEST's pages: 15 objects of 72 KiB, 54 of 1024, 138 of 3994.
#[test]
fn named_pages_have_their_objects_and_their_octets() {
    for (name, objects, kib) in [("wikipedia", 15, 72), ("amazon", 54, 1024), ("huffington-post", 138, 3994)] {
        for connections in [1, 6] {
            let (_, found) = loaded(&over_tcp(&format!("page = '{name}', connections = {connections}")));
            assert_eq!(found.len(), objects);
            assert_eq!(found.values().map(|(_, o)| o.bytes).sum::<u64>(), kib << 10);
            let document = found[&0].1.done().unwrap();
            assert!(found.values().skip(1).all(|(_, o)| o.asked >= document));
        }
    }
}

#[test]
fn the_seed_draws_the_page_and_the_name_does_not_matter_to_others() {
    let sizes = |seed: u64, transfer: &str| {
        let text = format!("seed = {seed}\n{}", over_tcp(transfer));
        loaded(&text).1.into_values().map(|(_, o)| o.bytes).collect::<Vec<_>>()
    };
    let page = "page = { objects = 30, bytes = '300 kB', depth = 4 }";
    assert_eq!(sizes(1, page), sizes(1, &format!("{page}, connections = 4")));
    assert_ne!(sizes(1, page), sizes(2, page));
}

/// A path that goes down for good in the middle of the page: what came is told, the page was not loaded.
#[test]
fn a_page_that_is_not_loaded_has_no_time() {
    let text = format!(
        "duration = '30 s'\n{}\nchanges = [{{ at = '100 ms', state = 'down' }}]",
        over_tcp("page = 'huffington-post', connections = 6")
    );
    let run = finish(&scenario(&text));
    assert!(run.summary["page_load_s"].is_null());
    let there = run.items.iter().flat_map(|(_, i)| i.all()).filter(|o| o.done().is_some()).count();
    assert!((1..138).contains(&there), "{there}");
}

/// The client of each page is the one that asks, unless the direction says otherwise.
#[test]
fn a_page_may_be_asked_for_by_the_server() {
    let (load, _) = loaded(&over_tcp(&format!("{}, direction = 'up'", chain(3))));
    // The server may ask when it has heard of the client, half a round trip later than the client could; the client's third
    // segment of the handshake opens the way.
    assert!(load > 3 * ROUND && load < HANDSHAKE + 4 * ROUND, "{load}");
}

/// An object is given to a connection that is open: its request leaves at once, and what a lost handshake delays is its own
/// connection alone. On a path that loses a tenth,
/// some handshakes take a second more.
#[test]
fn a_connection_whose_handshake_is_not_done_is_given_no_object() {
    let mut late = 0;
    for seed in 1..=40 {
        let text = format!("seed = {seed}\n{}\nloss = '10 %'", over_tcp(&format!("{}, connections = 6", star(9))));
        let (run, rows) = traced(&scenario(&text));
        for (connection, items) in &run.items {
            let opened = rows.iter().find(|r| r.connection as usize == *connection && r.is(Event::Arrive) && r.client);
            let opened = opened.expect("it was answered").at;
            late += usize::from(opened > S);
            assert!(items.all().iter().all(|o| o.asked >= opened), "{seed} {connection}");
        }
    }
    assert!(late > 10, "{late} handshakes were delayed");
}
