//! What becomes of a connection that meets a middlebox: every box, in each direction, on the first path, on the second, on
//! the only one, with data from client to server and back, with and without DSS checksums.
//!
//! The table of [`expected`] is what RFC 8684 requires (`docs/middleboxes.md` says why); each row is run and has to end
//! like that: exactly the octets sent over MPTCP or over TCP, altered octets where nobody can notice, or an end with a reason.

use anabranch_sim::scenario::middlebox::REGISTRY;
use serde_json::Value;

use crate::support::{count, finish, number, on_two_threads, scenario};

/// Where the box stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// On the only path.
    Alone,
    /// On the path of the first handshake, with another one beside it.
    First,
    /// On the path of a join.
    Second,
}

#[derive(Clone, Copy, Debug)]
struct Case {
    kind: &'static str,
    /// On which segments it acts.
    way: &'static str,
    place: Place,
    /// Which way the data go.
    data: &'static str,
    checksum: bool,
    /// It takes octets out, where others put some in.
    shortens: bool,
}

/// How it has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Over MPTCP, every path carries data.
    Multipath,
    /// Over MPTCP, nothing (or next to nothing) by the path of the box.
    OtherPath,
    /// Over MPTCP, by whatever path.
    Exact,
    /// Over TCP on the first path.
    Tcp,
    /// As TCP would have it: over TCP, and altered.
    TcpAltered,
    /// Over MPTCP, altered, and nobody has noticed.
    Altered,
    /// Nothing gets through: it ends with a reason.
    Aborted,
}

use Outcome::*;

impl Case {
    fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for kind in REGISTRY.iter().map(|e| e.name) {
            for way in ["both", "up", "down"] {
                for place in [Place::Alone, Place::First, Place::Second] {
                    for data in ["up", "down"] {
                        for checksum in [false, true] {
                            all.push(Self { kind, way, place, data, checksum, shortens: false });
                        }
                    }
                }
            }
        }
        all.retain(|c| !is_whole(c.kind) || c.way == "both");
        let shortening: Vec<Self> = all.iter().filter(|c| c.kind == "alter-length").copied().collect();
        all.extend(shortening.into_iter().map(|c| Self { shortens: true, ..c }));
        all
    }

    fn text(&self) -> String {
        let mut text = format!(
            "transfer = {{ bytes = '1 MB', direction = '{}' }}\nconnection.checksum = {}\n",
            self.data, self.checksum
        );
        let paths = if self.place == Place::Alone { 1 } else { 2 };
        for p in 0..paths {
            text += &format!("[[path]]\nrate = '10 Mbit/s'\ndelay = '{} ms'\n", 10 + 10 * p);
            if p == usize::from(self.place == Place::Second) {
                let every = if self.kind.starts_with("alter") { ", every = '10 kB'" } else { "" };
                let way = if is_whole(self.kind) { String::new() } else { format!(", direction = '{}'", self.way) };
                let every = if self.shortens { format!("{every}, grow = -4") } else { every.to_string() };
                text += &format!("middleboxes = [{{ kind = '{}'{way}{every} }}]\n", self.kind);
            }
        }
        text
    }

    fn acts(&self, way: &str) -> bool {
        self.way == "both" || self.way == way
    }

    /// What RFC 8684 requires.
    fn expected(&self) -> Outcome {
        // If the box does what it does: on the path of the first handshake, or on a join's.
        let else_other = |first| if self.place == Place::Second { OtherPath } else { first };
        let on_data = self.acts(self.data);
        match self.kind {
            // 3.7, 3.1: no MP_CAPABLE in SYN or SYN/ACK: regular TCP. 3.2: no MP_JOIN in the answer: that subflow is reset.
            "strip-mptcp" => else_other(Tcp),
            "strip-mptcp-syn" if self.acts("up") => else_other(Tcp),
            "strip-mptcp-syn-ack" if self.acts("down") => else_other(Tcp),
            // 3.1: the first data has the keys once more; without data from the client the server has only the third ACK.
            // 3.2: there is no way to authenticate but the HMAC in the third ACK.
            "strip-mptcp-third-ack" if self.acts("up") => else_other(if self.data == "up" { Multipath } else { Tcp }),
            // 3.7: the first data without an option, the first subflow: regular TCP. On an additional one: RST.
            "strip-mptcp-data" if on_data => else_other(Tcp),
            // RFC 7323 3.2: the server has seen timestamps in the SYN and drops everything without.
            "strip-timestamps" if self.way == "down" => else_other(Aborted),
            // 3.1: a SYN that is not answered is sent without MP_CAPABLE in the end.
            "drop-unknown-options" => else_other(Tcp),
            "drop-unknown-options-syn" if self.acts("up") => else_other(Tcp),
            // 3.1, 3.2: who answers in the server's place knows neither option.
            "pep" => else_other(Tcp),
            // 3.3.1: what has lost its mapping is sent again.
            "coalesce" if on_data => Exact,
            // A mapping that lacks octets fails later than one that has too many: of the server's first data, which are sent a
            // round trip later than the client's, when there is another path already.
            "alter-length" if on_data && self.checksum && self.shortens => match self.place {
                Place::Alone => TcpAltered,
                Place::First if self.data == "up" => TcpAltered,
                Place::First | Place::Second => Exact,
            },
            // 3.7: a checksum that fails on the only subflow: infinite mapping, as TCP. (The first octet is one of those
            // changed, so on the first path that is before the second subflow is there.) With others: MP_FAIL and RST.
            "alter-payload" | "alter-length" if on_data && self.checksum => else_other(TcpAltered),
            "alter-payload" if on_data => Altered,
            // Without checksums mapped octets are delivered, wherever they came from.
            "alter-length" if on_data => Altered,
            _ => Multipath,
        }
    }

    fn run(&self) -> Result<(), String> {
        let summary = finish(&scenario(&self.text())).summary;
        let (outcome, expected) = (self.outcome(&summary), self.expected());
        let near = matches!((outcome, expected), (Multipath | OtherPath, Exact));
        if outcome == expected || near {
            return Ok(());
        }
        let shown =
            ["status", "bytes_delivered", "bytes_altered", "content_ok", "fallback", "aborted_by", "last_byte_s"];
        let shown: Vec<String> = shown.iter().map(|k| format!("{k} {}", summary[k])).collect();
        Err(format!("{self:?}: {outcome:?}, not {expected:?}: {}", shown.join(", ")))
    }

    fn outcome(&self, s: &Value) -> Outcome {
        let (altered, tcp) = (count(&s["bytes_altered"]) > 0, s["fallback"] == true);
        // Content is told to be as sent if and only if it is.
        assert_eq!(s["content_ok"], !altered, "{self:?}");
        if s["status"] != "completed" {
            // Somebody has given up, and says why.
            let why = s["aborted_by"].as_str().unwrap_or_default();
            let expected = if s["status"] == "stalled" { "no answer" } else { "" };
            assert!(why.contains(": ") && why.contains(expected), "{self:?}: {s}");
            return Aborted;
        }
        assert_eq!(s["aborted_by"], Value::Null, "{self:?}");
        if !altered {
            assert_eq!(s["bytes_delivered"], 1_000_000, "{self:?}");
        }
        let carried: Vec<f64> = (0..2)
            .map(|p| {
                let of_path = s["subflows"].as_array().expect("a list").iter().filter(|f| f["path"] == p);
                of_path.map(|f| number(&f["goodput_mbps"])).sum()
            })
            .collect();
        let boxed = usize::from(self.place == Place::Second);
        match (altered, tcp) {
            (true, true) => TcpAltered,
            (true, false) => Altered,
            (false, true) => Tcp,
            (false, false) if self.place == Place::Alone => Multipath,
            (false, false) if carried[boxed] < 0.2 => OtherPath,
            (false, false) if carried[1 - boxed] > 0.2 => Multipath,
            (false, false) => Exact,
        }
    }
}

/// It has no direction: it acts in both.
fn is_whole(kind: &str) -> bool {
    ["nat", "pep"].contains(&kind)
}

/// Those of the table with this kind of box.
fn check(kind: &str) {
    let cases: Vec<Case> = Case::all().into_iter().filter(|c| c.kind == kind).collect();
    assert!(!cases.is_empty());
    let wrong: Vec<String> = on_two_threads(&cases, Case::run).into_iter().filter_map(Result::err).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn without_any_mptcp_option_a_connection_is_tcp_and_a_join_fails() {
    check("strip-mptcp");
}

#[test]
fn without_the_option_in_the_syn_a_connection_is_tcp_and_a_join_fails() {
    check("strip-mptcp-syn");
}

#[test]
fn without_the_option_in_the_syn_ack_a_connection_is_tcp_and_a_join_fails() {
    check("strip-mptcp-syn-ack");
}

#[test]
fn without_the_third_ack_the_first_data_bring_the_keys() {
    check("strip-mptcp-third-ack");
}

#[test]
fn without_the_option_in_data_a_connection_is_tcp_and_a_join_is_reset() {
    check("strip-mptcp-data");
}

#[test]
fn without_timestamps_nothing_changes_unless_only_the_syn_ack_lost_them() {
    check("strip-timestamps");
}

#[test]
fn without_sack_nothing_changes_but_recovery() {
    check("strip-sack");
}

#[test]
fn where_unknown_options_are_dropped_the_syn_is_repeated_without() {
    check("drop-unknown-options");
}

#[test]
fn where_syns_with_unknown_options_are_dropped_they_are_repeated_without() {
    check("drop-unknown-options-syn");
}

#[test]
fn other_sequence_numbers_change_nothing() {
    check("rewrite-sequence");
}

#[test]
fn cut_segments_change_nothing() {
    check("split");
}

#[test]
fn joined_segments_lose_mappings_and_no_data() {
    check("coalesce");
}

#[test]
fn a_nat_changes_nothing() {
    check("nat");
}

#[test]
fn a_proxy_that_answers_itself_makes_a_connection_tcp_and_a_join_fail() {
    check("pep");
}

#[test]
fn altered_payloads_are_noticed_by_checksums_only() {
    check("alter-payload");
}

#[test]
fn altered_lengths_are_noticed_by_checksums_only() {
    check("alter-length");
}

/// With `bytes = true` everything goes through real octets and checksums, whatever boxes made of it.
#[test]
fn bytes_change_nothing_behind_a_middlebox() {
    let cases: Vec<Case> = Case::all().into_iter().filter(|c| c.way == "both" && c.place == Place::First).collect();
    on_two_threads(&cases, |case| {
        let hash = |text: &str| finish(&scenario(text)).summary["trace_sha256"].clone();
        let text = case.text();
        assert_eq!(hash(&format!("bytes = true\n{text}")), hash(&text), "{case:?}");
    });
    // Keys, timestamps, checksum and TCP-DOOR's number: joined, they are more than fits.
    let crowded = "transfer = { bytes = '100 kB' }
        connection = { recovery = 'door', checksum = true }
        path = [{ middleboxes = ['coalesce'] }]";
    let hash = |text: &str| finish(&scenario(text)).summary["trace_sha256"].clone();
    assert_eq!(hash(&format!("bytes = true\n{crowded}")), hash(crowded));
}

/// 2453 octets, the DATA_FIN behind them; the first segment grows by 4 octets and its checksum fails: plain TCP, which has no DATA_FIN
/// to repeat. Virtual time goes on.
#[test]
fn a_fallback_with_the_data_fin_out_ends() {
    let text = "duration = '10 min'
        connection = { checksum = true }
        transfer = { bytes = '2453 B' }
        path = [{ middleboxes = ['alter-length'] }]";
    let summary = finish(&scenario(text)).summary;
    assert_eq!((&summary["status"], &summary["fallback"]), (&"completed".into(), &true.into()));
    assert!(summary["events"].as_u64().is_some_and(|n| n < 1000), "{}", summary["events"]);
}
