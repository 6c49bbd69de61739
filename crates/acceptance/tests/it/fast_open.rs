//! TCP Fast Open in scenarios (RFC 7413; with Multipath TCP RFC 8684 appendix B): what it saves is the handshake's round trip.

use serde_json::Value;

use crate::support::{close, count, number, scenario, summary, traced};
use crate::trace::Event;

/// 50 ms each way at 100 Mbit/s: a packet takes 50 ms and its transmission, at most 0.12 ms.
const PATH: &str = "path = [{ rate = '100 Mbit/s', delay = '50 ms' }]\n";

fn run(connection: &str, transfer: &str) -> Value {
    let s = summary(&format!("connection = {{ {connection} }}\ntransfer = {{ {transfer} }}\n{PATH}"), &[]);
    assert_eq!((&s["status"], &s["content_ok"]), (&"completed".into(), &true.into()), "{s}");
    s
}

/// RFC 7413 1: "data to be carried in the SYN and SYN-ACK packets [is] consumed by the receiving end during the initial connection
/// handshake". What is sent up arrives after half a round trip instead of one and a half; an answer after one instead of two.
#[test]
fn a_request_takes_one_round_trip_less_with_a_cookie() {
    for (protocol, transfer, without, with) in [
        ("tcp", "bytes = '1 kB'", 0.150, 0.050),
        ("mptcp", "bytes = '1 kB'", 0.150, 0.050),
        ("tcp", "request = '1 kB', response = '1 kB', direction = 'down'", 0.200, 0.100),
        ("tcp", "message = '500 B', interval = '1 s', count = 1", 0.150, 0.050),
        // The server has the client's keys with the third ACK, and answers then (RFC 8684 B.3 would let it answer before).
        ("mptcp", "request = '1 kB', response = '1 kB', direction = 'down'", 0.200, 0.200),
    ] {
        for (fast, octets, arrives) in
            [("false", None, without), ("'no-cookie'", Some(0), without), ("true", Some(1000), with)]
        {
            let s = run(&format!("protocol = '{protocol}', fast_open = {fast}"), transfer);
            close(number(&s["last_byte_s"]), arrives, 0.001);
            let octets = octets.map(|n| if transfer.starts_with("message") && n > 0 { 500 } else { n });
            assert_eq!(s["fast_open_bytes"].as_u64(), octets, "{protocol} {transfer} {fast}: {s}");
        }
    }
}

/// What does not fit into the SYN follows when the handshake is over. RFC 7413 4.2.1: the server's MSS bounds the SYN, options included: 1440
/// less MSS 4, SACK 2, timestamps 10, window scale 3 and a cookie of 8 + 2 octets, to whole words; beside MP_CAPABLE (4) one of 6 + 2.
#[test]
fn the_syn_carries_as_much_as_the_servers_mss_allows() {
    for (more, octets) in [
        ("protocol = 'tcp'", 1440 - 32),
        ("protocol = 'tcp', timestamps = false", 1440 - 24),
        ("checksum = true", 1440 - 32),
        ("dsn_octets = 4, timestamps = false", 1440 - 24),
    ] {
        let s = run(&format!("fast_open = true, {more}"), "bytes = '300 kB'");
        assert_eq!((count(&s["fast_open_bytes"]), count(&s["bytes_delivered"])), (octets, 300_000), "{more}");
    }
}

/// A SYN with data that is lost is sent again without (RFC 7413 4.2.1), after the initial timeout; nothing is gained, and nothing lost
/// but the SYN. Data come once, whatever the network does to the SYN.
#[test]
fn a_lost_syn_takes_its_data_along_and_they_come_once() {
    let lost = "changes = [{ at = '0 s', state = 'down' }, { at = '500 ms', state = 'up' }]";
    for protocol in ["tcp", "mptcp"] {
        let text = |link: &str| {
            format!(
                "connection = {{ protocol = '{protocol}', fast_open = true }}\ntransfer = {{ bytes = '1 kB' }}
                path = [{{ rate = '100 Mbit/s', delay = '50 ms', {link} }}]"
            )
        };
        let s = summary(&text(lost), &[]);
        close(number(&s["last_byte_s"]), 1.150, 0.001);
        assert_eq!((&s["fast_open_bytes"], &s["bytes_delivered"]), (&0.into(), &1000.into()));
        for link in ["duplication = '100 %'", "middleboxes = ['replay']", "middleboxes = [{ kind = 'pep' }]"] {
            let s = summary(&text(link), &[]);
            assert_eq!((&s["status"], &s["content_ok"]), (&"completed".into(), &true.into()), "{link} {s}");
            assert_eq!(s["bytes_delivered"], 1000, "{link}");
        }
    }
}

/// Through bytes on the way in, as on a wire, the run is the same: cookies, the data of the SYN, mappings that begin behind them, and their
/// checksums.
#[test]
fn bytes_change_nothing() {
    for more in ["", ", checksum = true", ", dsn_octets = 4, checksum = true", ", protocol = 'tcp'"] {
        let text = |bytes: bool| {
            format!(
                "bytes = {bytes}\nconnection = {{ fast_open = true{more} }}\ntransfer = {{ bytes = '100 kB' }}
                path = [{{ loss = '2 %', middleboxes = [{{ kind = 'split', size = '300 B' }}] }}, {{}}]"
            )
        };
        let [plain, through] = [false, true].map(|bytes| traced(&scenario(&text(bytes))).0.summary);
        assert_eq!(plain["trace_sha256"], through["trace_sha256"], "{more}");
        assert_eq!((&plain["status"], &plain["content_ok"]), (&"completed".into(), &true.into()), "{more}");
    }
}

/// RFC 8684 B.2: the first octets have no data sequence numbers, and the mapping of those that follow begins with the first.
#[test]
fn with_multipath_tcp_data_sequence_numbers_begin_behind_the_syn() {
    let (run, rows) =
        traced(&scenario(&format!("connection = {{ fast_open = true }}\ntransfer = {{ bytes = '10 kB' }}\n{PATH}")));
    let first = rows.iter().find(|r| r.is(Event::Send)).expect("a SYN");
    assert_eq!((first.flags.as_str(), first.len), ("S", count(&run.summary["fast_open_bytes"])));
    let next = rows.iter().find(|r| r.is(Event::Send) && r.len > 0 && r.flags != "S").expect("more data");
    assert_eq!(next.offset, first.len);
    assert_eq!(run.summary["bytes_delivered"], 10_000);
}

/// A SYN that leaves before there is a window may carry more than the server ever has room for at once: the rest waits for room.
#[test]
fn a_small_receive_buffer_takes_what_it_has_room_for() {
    for protocol in ["tcp", "mptcp"] {
        for buffer in ["1 B", "100 B", "500 B"] {
            let s = run(
                &format!("protocol = '{protocol}', fast_open = true, receive_buffer = '{buffer}'"),
                "bytes = '1 kB'",
            );
            assert_eq!(s["bytes_delivered"], 1000, "{protocol} {buffer}");
        }
    }
}
