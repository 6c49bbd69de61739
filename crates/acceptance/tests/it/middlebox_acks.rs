//! Segments that come again, and acknowledgements that are not what the receiver sent (`replay`, `divide-acks`, `repeat-acks`, `thin-acks`,
//! `optimistic-acks`).

use serde_json::Value;

use crate::support::{finish, number, scenario};

const LINK: &str = "rate = '10 Mbit/s', delay = '20 ms', queue = '30 packets',";

/// 2 MB up or down one path, that of [`LINK`] unless another is given.
fn run(connection: &str, path: &str, boxes: &str, way: &str) -> Value {
    let path = if path.contains("rate") { path.to_string() } else { format!("{LINK} {path}") };
    let text = format!(
        "transfer = {{ bytes = '2 MB', direction = '{way}' }}
         connection = {{ {connection} }}
         path = [{{ {path} middleboxes = [{boxes}] }}]"
    );
    finish(&scenario(&text)).summary
}

fn is_exact(s: &Value) {
    assert_eq!((&s["status"], &s["content_ok"]), (&Value::from("completed"), &Value::from(true)), "{s}");
    assert_eq!(s["bytes_delivered"].as_u64(), Some(2_000_000));
}

/// Every fifth segment of both directions comes again after 15 ms (in the window), 1 s (behind it), and 70 s (when all is over):
/// RFC 9293 3.10.7.4, RFC 7323 5, RFC 8684 3.3.1.
#[test]
fn segments_that_come_again_change_nothing_that_is_read() {
    for connection in ["", "protocol = 'tcp'", "timestamps = false", "checksum = true"] {
        for after in ["15 ms", "1 s", "70 s"] {
            for way in ["up", "down"] {
                is_exact(&run(connection, "", &format!("{{ kind = 'replay', count = 5, after = '{after}' }}"), way));
            }
        }
    }
}

/// Savage et al. 1: a window that grows by acknowledgements opens ten times as fast where each is divided by ten. One that grows by
/// octets (RFC 5681 3.1) does not: slow start from ten segments to 256 kB takes as long as before.
#[test]
fn divided_acknowledgements_do_not_open_the_window_faster() {
    let takes = |boxes: &str, way: &str| {
        let s = run("", "rate = '100 Mbit/s', delay = '50 ms', queue = '10 MB',", boxes, way);
        is_exact(&s);
        number(&s["completion_s"])
    };
    for way in ["up", "down"] {
        let (alone, divided) = (takes("", way), takes("{ kind = 'divide-acks', count = 10 }", way));
        assert!((divided / alone - 1.0).abs() < 0.05, "{way}: {divided} s, {alone} s without");
    }
}

/// Repeated acknowledgements cost needless retransmissions, not an octet.
#[test]
fn repeated_acknowledgements_cost_no_octet() {
    for connection in ["", "protocol = 'tcp'", "sack = false, judge = 'none'"] {
        let boxes = "{ kind = 'repeat-acks', count = 4 }";
        ["up", "down"].into_iter().for_each(|way| is_exact(&run(connection, "loss = '1 %',", boxes, way)));
    }
}

/// Half of the acknowledgements are enough, as long as several are under way. (Where the window is down to one segment each second
/// one waits for a timeout, and with timestamps these count as round trips, RFC 7323 4.3. So nothing is lost here, and the third
/// segment of the handshake, which counts as an acknowledgement, has data.)
#[test]
fn half_of_the_acknowledgements_are_enough() {
    let path = "rate = '10 Mbit/s', delay = '20 ms', queue = '10 MB',";
    for connection in ["", "protocol = 'tcp'", "sack = false, judge = 'none'"] {
        is_exact(&run(connection, path, "'thin-acks'", "up"));
    }
}

/// RFC 8684 3.3.2: an acknowledgement on a subflow does not mean that the peer has the data; the DATA_ACK does, and what it lacks goes
/// out by the other path, which is left alone. With TCP what is lost never comes, and what is behind it is never read.
#[test]
fn an_optimist_starves_tcp_and_not_mptcp() {
    let two = "transfer = { bytes = '200 kB' }
        path = [{ rate = '10 Mbit/s', delay = '20 ms', loss_up = '1 %', middleboxes = ['optimistic-acks'] }, { rate = '4 Mbit/s' }]";
    let s = finish(&scenario(two)).summary;
    let told = (&s["status"], &s["content_ok"], s["bytes_delivered"].as_u64());
    assert_eq!(told, (&Value::from("completed"), &Value::from(true), Some(200_000)), "{s}");
    let s = run("protocol = 'tcp'", "loss_up = '1 %',", "'optimistic-acks'", "up");
    assert_ne!(s["status"], Value::from("completed"));
    assert!(s["bytes_delivered"].as_u64() < Some(2_000_000) && s["content_ok"] == true, "{s}");
}
