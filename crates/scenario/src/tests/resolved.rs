//! The resolved scenario has every key of links and of transfers. A sweep knows its runs by this
//! text, so it stays as it is, octet for octet.

use super::super::parse;
use super::super::schema::{CHANGE, CODEL, FQ_CODEL, LINK, LOSS, PATH_CHANGE, RED, TRANSFER};

const RESOLVED: &str = include_str!("resolved.json");

fn resolved(text: &str) -> String {
    parse(text, "t", &[], None).unwrap().to_json().to_string()
}

#[test]
fn the_resolved_scenario_stays_octet_for_octet() {
    let now = resolved(include_str!("resolved.toml"));
    let kept = RESOLVED.trim_end();
    let at = now.bytes().zip(kept.bytes()).position(|(a, b)| a != b).unwrap_or(now.len().min(kept.len()));
    let around = |text: &str| text.chars().skip(at.saturating_sub(40)).take(80).collect::<String>();
    assert!(now == kept, "at octet {at}: {} instead of {}", around(&now), around(kept));
}

#[test]
fn a_proxy_and_joined_segments_have_the_names_of_the_table() {
    let of = |kind: &str| {
        let text = format!("transfer = {}\n[[path]]\nmiddleboxes = [{{ kind = '{kind}' }}]", "{}");
        let text = resolved(&text);
        let (_, tail) = text.split_once("\"until_s\":null,").expect("a middlebox is there");
        tail.split('}').next().unwrap().to_owned()
    };
    assert_eq!(of("pep"), "\"buffer_bytes\":4000000,\"initial_window_segments\":10,\"hold_s\":0.0001");
    assert_eq!(of("coalesce"), "\"size_bytes\":64000,\"hold_s\":0.001,\"options\":\"first\"");
}

/// `weather` has the values of the models of varying links, and a preset is resolved into its keys.
#[test]
fn the_resolved_scenario_lacks_no_key_of_a_link_or_a_transfer() {
    const ELSEWHERE: &[&str] = &["preset", "leo", "cellular", "queue"];
    for table in [&LINK, &TRANSFER, &CHANGE, &PATH_CHANGE, &LOSS, &RED, &CODEL, &FQ_CODEL] {
        for key in table.keys().filter(|key| !ELSEWHERE.contains(&key.name)) {
            let name = format!("\"{}\":", key.resolved());
            assert!(RESOLVED.contains(&name), "{} of {}: no {name}", key.name, table.written);
        }
    }
}
