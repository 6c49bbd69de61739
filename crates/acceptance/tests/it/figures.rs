//! Figures of the summary that must not contradict each other.

use crate::support::{S, close, count, finish, number, scenario, summary};

/// The window closes, and its probes are sent again and again: they are no retransmissions, so none of them is a spurious one.
#[test]
fn spurious_retransmissions_are_some_of_the_retransmissions() {
    for read_rate in ["8 kbit/s", "100 kbit/s", "1 Mbit/s"] {
        for (protocol, loss) in [("mptcp", "0 %"), ("tcp", "0 %"), ("mptcp", "3 %"), ("tcp", "3 %")] {
            let text = format!(
                "duration = '200 s'\nconnection = {{ protocol = '{protocol}', receive_buffer = '20 kB', min_rto = '200 ms' }}
                transfer = {{ bytes = '300 kB', read_rate = '{read_rate}' }}
                path = [{{ rate = '10 Mbit/s', delay = '10 ms', loss = '{loss}' }}, {{ rate = '5 Mbit/s', delay = '50 ms' }}]"
            );
            let s = summary(&text, &[]);
            for flow in s["subflows"].as_array().expect("a list") {
                let [spurious, fast, timeout] =
                    ["spurious", "retransmissions_fast", "retransmissions_timeout"].map(|f| count(&flow[f]));
                assert!(spurious <= fast + timeout, "{spurious} of {fast} + {timeout}: {text}");
            }
        }
    }
}

/// A rate that changes within a transmission holds from the next one on, for what could be sent as for what was.
#[test]
fn nothing_uses_more_of_a_link_than_there_was() {
    for (first, then) in [("10 Mbit/s", "1 Mbit/s"), ("1 Mbit/s", "10 Mbit/s"), ("10 Mbit/s", "9 kbit/s")] {
        for at in 0..20 {
            let text = format!(
                "connection.protocol = 'udp'\ntransfer = {{ rate = '12 Mbit/s', bytes = '200 kB' }}
                [[path]]\nrate = '{first}'\nqueue = '10000 packets'
                changes = [{{ at = '{} us', rate = '{then}' }}, {{ at = '{} us', rate = '2 Mbit/s' }}]",
                20_000 + 97 * at,
                20_300 + 97 * at
            );
            let used = number(&summary(&text, &[])["subflows"][0]["utilisation"]);
            assert!((0.9..=1.0).contains(&used), "{used}: {text}");
        }
    }
    // Opportunities at 0, 5, 10, 10, 15 ms and so on, a packet of 1500 octets at each of the first sixteen.
    let paced = "connection = { protocol = 'udp', mss = 1472 }\ntransfer = { rate = '120 Mbit/s', bytes = '23552 B' }
        path = [{ trace = [0, 5, 10], delay = '0 ms' }]";
    assert_eq!(number(&summary(paced, &[])["subflows"][0]["utilisation"]), 1.0);
}

/// The time of the server's application is over when the first SYN comes: the connection is opened and closed.
#[test]
fn a_transfer_of_nothing_is_complete_when_both_sides_have_closed() {
    for protocol in ["mptcp", "tcp"] {
        let text = format!(
            "connection.protocol = '{protocol}'\ntransfer = {{ duration = '1 ns', direction = 'down' }}
            path = [{{ rate = '10 Mbit/s', delay = '10 ms' }}]"
        );
        let s = summary(&text, &[]);
        assert_eq!((&s["status"], count(&s["bytes_delivered"])), (&"completed".into(), 0));
        // SYN, SYN/ACK, FIN and its answer: 40 ms at least.
        assert!((0.04..1.0).contains(&number(&s["completion_s"])), "{}", s["completion_s"]);
        assert!(s["first_byte_s"].is_null() && s["last_byte_s"].is_null());
    }
}

/// Both paths fail at 5 s; the transfer was to last 20 s, and the run may take an hour. Rates are those of the 20 s, and the
/// samples end ten seconds after the last octet was read.
#[test]
fn a_transfer_that_stalls_is_measured_over_its_own_time() {
    for (protocol, direction) in [("mptcp", "up"), ("mptcp", "down"), ("tcp", "up")] {
        let down = "changes = [{ at = '5 s', state = 'down' }]";
        let text = format!(
            "connection.protocol = '{protocol}'
            transfer = {{ duration = '20 s', direction = '{direction}' }}
            [[path]]\nrate = '10 Mbit/s'\ndelay = '10 ms'\n{down}\n[[path]]\nrate = '5 Mbit/s'\ndelay = '20 ms'\n{down}"
        );
        let run = finish(&scenario(&text));
        let s = &run.summary;
        let delivered = number(&s["bytes_delivered"]);
        assert!(delivered > 4e6, "{delivered}: {text}");
        close(number(&s["goodput_mbps"]), delivered * 8.0 / 20.0 / 1e6, 1e-9);
        let flows = s["subflows"].as_array().expect("a list");
        // What arrived and was not read waited for something before it.
        let waited = flows.iter().map(|f| number(&f["goodput_mbps"])).sum::<f64>() - number(&s["goodput_mbps"]);
        let most = number(&s["ooo_buffer_max_bytes"]) * 8.0 / 20.0 / 1e6;
        assert!((-1e-9..=most + 1e-9).contains(&waited), "{waited} of {most}");
        // The first link carried all it could for a quarter of the time.
        assert!((0.2..=0.2505).contains(&number(&flows[0]["utilisation"])), "{}", flows[0]["utilisation"]);
        let last = run.series.samples().last().expect("there are samples").at;
        assert!((14 * S..16 * S).contains(&last), "{last}");
    }
}

/// What is sent within the time of the transfer and read after it counts, in amount and in time.
#[test]
fn a_transfer_that_ends_late_is_measured_to_its_last_octet() {
    let text =
        "transfer = { duration = '2 s' }\npath = [{ rate = '1 Mbit/s', delay = '100 ms', queue = '500 packets' }]";
    let s = summary(text, &[]);
    assert_eq!(s["status"], "completed");
    let last = number(&s["last_byte_s"]);
    assert!(last > 2.1, "{last}");
    close(number(&s["goodput_mbps"]), number(&s["bytes_delivered"]) * 8.0 / last / 1e6, 1e-9);
}
