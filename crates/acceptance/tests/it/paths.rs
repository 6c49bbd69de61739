//! The path manager: which paths are joined, backups, interfaces that come and go (RFC 8684 3.3.8, 3.4).

use anabranch_sim::scenario::Scenario;

use crate::support::{S, example, finish, number, summary, traced, with};
use crate::trace::{Event, Row};

const TWO: &str =
    "connection = {}\ntransfer = { duration = '30 s' }\n[[path]]\nrate = '4 Mbit/s'\n[[path]]\nrate = '4 Mbit/s'";

fn two(overrides: &[&str]) -> Scenario {
    with(TWO, overrides)
}

/// Data segments that subflows of `tuples` carried in [from, to), in seconds.
fn carried(rows: &[Row], tuples: &[u32], from: u64, to: u64) -> usize {
    let within = |r: &&Row| (from * S..to * S).contains(&r.at) && tuples.contains(&r.tuple);
    rows.iter().filter(|r| r.is(Event::Send) && r.client && r.len > 0).filter(within).count()
}

/// How often `word` was sent by `host`.
fn said(rows: &[Row], host: &str, word: &str) -> Vec<u64> {
    let is = |r: &&Row| r.is(Event::Send) && r.client == (host == "client") && r.more.contains(word);
    rows.iter().filter(is).map(|r| r.at).collect()
}

/// Two interfaces each side and a router between: the default joins what is written, a full mesh all four pairs, `none` nothing.
#[test]
fn the_policies_join_what_they_say() {
    let text = "[[host]]\nname = 'c'\n[[host]]\nname = 's'\n[[router]]\nname = 'r'\n[transfer]\nbytes = '5 MB'\n\
        [[link]]\nname = 'c1'\nfrom = 'c'\nto = 'r'\n[[link]]\nname = 'c2'\nfrom = 'c'\nto = 'r'\n\
        [[link]]\nname = 's1'\nfrom = 'r'\nto = 's'\n[[link]]\nname = 's2'\nfrom = 'r'\nto = 's'\n\
        [connection]\nclient = 'c'\nserver = 's'\npaths = [['c1', 's1'], ['c2', 's2']]\n";
    for (policy, expected) in [("one-per-interface", 2), ("full-mesh", 4), ("none", 1)] {
        let scenario = with(text, &[&format!("connection.path_manager={policy}")]);
        let s = finish(&scenario).summary;
        assert_eq!(s["subflows"].as_array().unwrap().len(), expected, "{policy}");
        let paths = if policy == "full-mesh" {
            vec![vec![0, 2], vec![1, 3], vec![0, 3], vec![1, 2]]
        } else {
            vec![vec![0, 2], vec![1, 3]]
        };
        assert_eq!(scenario.connections[0].paths, paths);
        assert_eq!(s["status"], "completed");
    }
}

/// The default is what a scenario without the key has.
#[test]
fn the_default_changes_nothing() {
    for name in ["unlike-paths", "small-buffer", "path-failure"] {
        let hash = |overrides: &[&str]| summary(&example(name), overrides)["trace_sha256"].clone();
        assert_eq!(hash(&[]), hash(&["connection.path_manager=one-per-interface"]));
    }
    // Disjoint links have no further pairs with a route.
    let hash = |policy: &str| finish(&two(&[policy])).summary["trace_sha256"].clone();
    assert_eq!(hash("connection.path_manager=full-mesh"), hash("connection.path_manager=one-per-interface"));
}

/// Path 1 is a backup: it carries nothing while path 0 works, all while that is down (10 s to 20 s), and nothing once it works again.
#[test]
fn a_backup_path_stands_in() {
    let down = "path.0.changes=[{ at = '10 s', state = 'down' }, { at = '15 s', state = 'up' }]";
    let (run, rows) = traced(&two(&["path.1.backup=true", down]));
    assert_eq!(carried(&rows, &[1], 0, 10), 0);
    assert!(carried(&rows, &[1], 10, 15) > 1000);
    assert!(carried(&rows, &[0], 25, 30) > 1000);
    assert_eq!(carried(&rows, &[1], 25, 30), 0);
    assert_eq!(run.summary["content_ok"], true);
    // The other way round: the first path is the backup, as MP_PRIO says.
    let (_, rows) = traced(&two(&["path.0.backup=true"]));
    assert_eq!(said(&rows, "client", "Prio { backup: true }").len(), 1);
    assert_eq!(carried(&rows, &[0], 1, 30), 0);
    assert!(carried(&rows, &[1], 1, 30) > 5000);
}

/// Backup at 5 s, said by the server, which receives; regular at 10 s.
#[test]
fn a_change_of_priority_is_told() {
    let changes = "connection.path_changes=[{ at = '5 s', path = 1, action = 'backup', by = 'server' }, \
                   { at = '10 s', path = 'path1', action = 'regular', by = 'server' }]";
    let (_, rows) = traced(&two(&[changes]));
    assert_eq!(said(&rows, "server", "Prio { backup: true }"), [5 * S]);
    assert_eq!(said(&rows, "server", "Prio { backup: false }"), [10 * S]);
    assert!(carried(&rows, &[1], 1, 5) > 1000);
    assert_eq!(carried(&rows, &[1], 6, 10), 0);
    assert!(carried(&rows, &[1], 11, 30) > 1000);
}

/// The interface of path 1 goes at 5 s and comes at 10 s: REMOVE_ADDR at once, no retry after ten seconds meanwhile, a new
/// subflow when it is back. As the client says, and as the server says.
#[test]
fn an_interface_goes_and_comes() {
    for by in ["client", "server"] {
        let changes = format!(
            "connection.path_changes=[{{ at = '5 s', path = 1, action = 'remove', by = '{by}' }}, \
             {{ at = '20 s', path = 1, action = 'add', by = '{by}' }}]"
        );
        let (run, rows) = traced(&two(&[&changes]));
        assert_eq!(said(&rows, by, "RemoveAddr([1])"), [5 * S], "{by}");
        assert!(carried(&rows, &[1], 1, 5) > 1000);
        assert_eq!(carried(&rows, &[1, 2], 6, 20), 0, "{by}");
        assert!(carried(&rows, &[2], 20, 30) > 1000, "{by}");
        let join = rows.iter().find(|r| r.is(Event::Send) && r.tuple == 2).expect("a join");
        assert!(join.at >= 20 * S && join.at < 20 * S + S / 10, "{by}: {}", join.at);
        let s = &run.summary;
        assert_eq!((&s["status"], &s["content_ok"]), (&"completed".into(), &true.into()));
        assert_eq!(s["subflows"].as_array().unwrap().len(), 3);
    }
}

/// Break before make: the only interface goes at 5 s, another comes at 8 s. The transfer goes on over it.
#[test]
fn a_connection_survives_without_a_path() {
    let changes = "connection.path_changes=[{ at = '5 s', path = 0, action = 'remove' }, { at = '8 s', path = 1, action = 'add' }]";
    let (run, rows) = traced(&two(&["connection.path_manager=none", changes]));
    assert_eq!(carried(&rows, &[0, 1], 6, 8), 0);
    assert!(carried(&rows, &[1], 8, 30) > 1000);
    let s = &run.summary;
    assert_eq!((&s["status"], &s["content_ok"]), (&"completed".into(), &true.into()));
    assert!(number(&s["goodput_mbps"]) > 2.0);
}

/// A limit of two subflows on three paths: the server refuses nothing, since the client does not ask.
#[test]
fn a_limit_of_subflows_holds() {
    let text = format!("{TWO}\n[[path]]\nrate = '4 Mbit/s'");
    let s = summary(&text, &["connection.subflow_limit=2"]);
    assert_eq!(s["subflows"].as_array().unwrap().len(), 2);
}

/// What cannot be meant is refused, with the place and a way out.
#[test]
fn wrong_keys_are_refused() {
    let refused = |o: (&str, &str), words: &[&str]| {
        let o = [(o.0.to_string(), o.1.to_string())];
        let e = anabranch_sim::scenario::parse(TWO, "t", &o, None).expect_err("it is wrong").to_string();
        assert!(words.iter().all(|w| e.contains(w)), "{e}");
    };
    refused(("connection.path_manager", "fullmesh"), &["full-mesh"]);
    refused(
        ("connection.path_changes", "[{ at = '1 s', path = 2, action = 'add' }]"),
        &["path_changes[0].path", "0 to 1"],
    );
    refused(("connection.path_changes", "[{ at = '1 s', path = 'path7', action = 'add' }]"), &["path7", "path0"]);
    refused(("connection.path_changes", "[{ at = '1 s', path = 1, action = 'drop' }]"), &["remove"]);
    refused(("connection.subflow_limit", "0"), &["subflow_limit", "1 to 255"]);
    let legacy = anabranch_sim::scenario::parse(
        &format!("stack = 'legacy-2011'\n{}", TWO.replace("{}", "{ path_manager = 'none' }")),
        "t",
        &[],
        None,
    );
    let said = legacy.expect_err("the model has none").to_string();
    assert!(said.contains("path_manager") && said.contains("joins all paths"), "{said}");
    let late = with(TWO, &["connection.path_changes=[{ at = '2 h', path = 1, action = 'add' }]"]);
    assert!(late.warnings().iter().any(|w| w.contains("changes at 2 h")), "{:?}", late.warnings());
}
