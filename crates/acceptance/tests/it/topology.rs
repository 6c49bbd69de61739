//! Hosts, routers and links in the long form: routes, directions, sharing.

use anabranch_sim::scenario::Scenario;

use crate::support::{MS, close, number, scenario, serialisation, summary, traced};
use crate::trace::{Event, copies};

const MBIT: u64 = 1_000_000;

/// One link from `a` to `b`, fast and near that way, slow and far the other.
fn one_link(client: &str, server: &str, direction: &str) -> Scenario {
    scenario(&format!(
        "host = [{{ name = 'a' }}, {{ name = 'b' }}]
         link = [{{ name = 'l', from = 'a', to = 'b', rate_up = '10 Mbit/s', delay_up = '5 ms',
                    rate_down = '1 Mbit/s', delay_down = '50 ms' }}]
         connection = {{ protocol = 'udp', mss = 972, client = '{client}', server = '{server}' }}
         transfer = {{ rate = '100 kbit/s', bytes = '10 kB', direction = '{direction}' }}"
    ))
}

/// `_up` of a link is from `from` to `to`, whoever is the client; `direction` of a transfer is the connection's.
///
/// ```text
/// a ── 10 Mbit/s, 5 ms ──► b      client a, up: a to b      client a, down: b to a
/// a ◄── 1 Mbit/s, 50 ms ── b      client b, up: b to a      client b, down: a to b
/// ```
#[test]
fn a_connection_from_b_to_a_uses_the_link_the_other_way() {
    let latency = |scenario: &Scenario| {
        let sent = copies(&traced(scenario).1);
        assert_eq!(sent.len(), 11);
        sent[0].arrived[0] - sent[0].sent.at
    };
    let forth = serialisation(1000, 10 * MBIT) + 5 * MS;
    let back = serialisation(1000, MBIT) + 50 * MS;
    assert_eq!(latency(&one_link("a", "b", "up")), forth);
    assert_eq!(latency(&one_link("a", "b", "down")), back);
    assert_eq!(latency(&one_link("b", "a", "up")), back);
    assert_eq!(latency(&one_link("b", "a", "down")), forth);
}

/// Two access links, a shared core, two exits.
///
/// ```text
///      ┌─ a1 10 ms ─┐                ┌─ b1 1 ms ─┐
/// client            r ── core 5 ms ── s          server
///      └─ a2 40 ms ─┘                └─ b2 2 ms ─┘
/// ```
const DIAMOND: &str = "
    host = [{ name = 'client' }, { name = 'server' }]
    router = [{ name = 'r' }, { name = 's' }]
    [[link]]
    name = 'a1'
    from = 'client'
    to = 'r'
    delay = '10 ms'
    rate = '1 Gbit/s'
    [[link]]
    name = 'a2'
    from = 'client'
    to = 'r'
    delay = '40 ms'
    rate = '1 Gbit/s'
    [[link]]
    name = 'core'
    from = 's'
    to = 'r'
    delay = '5 ms'
    [[link]]
    name = 'b1'
    from = 's'
    to = 'server'
    delay = '1 ms'
    rate = '1 Gbit/s'
    [[link]]
    name = 'b2'
    from = 'server'
    to = 's'
    delay = '2 ms'
    rate = '1 Gbit/s'";

/// Routes as written: over links in either sense. The join's SYN of path 1 takes 40 + 5 + 2 ms and three
/// serialisations.
#[test]
fn paths_follow_the_links_as_written() {
    let (run, rows) = traced(&scenario(&format!(
        "{DIAMOND}
         [connection]
         client = 'client'
         server = 'server'
         paths = [['a1', 'core', 'b1'], ['a2', 'core', 'b2']]
         [transfer]
         bytes = '2 MB'"
    )));
    assert_eq!(run.summary["status"], "completed");
    let gigabit = 1000 * MBIT;
    // 60 octets, and 64 or 72 with MP_CAPABLE and MP_JOIN (RFC 8684 figures 4 and 5).
    for (tuple, octets, delay) in [(0, 64, 16), (1, 72, 47)] {
        let syn = copies(&rows).into_iter().find(|c| c.sent.tuple == tuple && c.sent.flags == "S").expect("a SYN");
        let serialisations = 2 * serialisation(octets, gigabit) + serialisation(octets, 10 * MBIT);
        assert_eq!(syn.arrived, [syn.sent.at + serialisations + delay * MS]);
    }
    // The core is what both share.
    let utilisation: f64 = (0..2).map(|i| number(&run.summary["subflows"][i]["utilisation"])).sum();
    assert!((0.9..=1.0).contains(&utilisation), "{utilisation}");
}

/// Without `paths`: from each link of the client the route with the fewest hops, of equals the one written first.
#[test]
fn routes_that_are_not_written_are_the_shortest() {
    let scenario = scenario(&format!(
        "{DIAMOND}
         [connection]
         client = 'client'
         server = 'server'
         [transfer]
         bytes = '100 kB'"
    ));
    assert_eq!(scenario.connections[0].paths, [vec![0, 2, 3], vec![1, 2, 3]]);
    let (run, rows) = traced(&scenario);
    assert_eq!(run.summary["bytes_delivered"], 100_000);
    let latest = rows.iter().filter(|r| r.is(Event::Arrive) && r.flags == "S").map(|r| r.tuple).max();
    assert_eq!(latest, Some(1));
}

/// Connections of several hosts through one router; each direction of a link is a queue of its own, so transfers up and
/// down do not take each other's rate, only the room of acknowledgements.
#[test]
fn the_two_directions_of_a_link_do_not_share_its_rate() {
    let text = "[[path]]
        rate = '10 Mbit/s'
        [[connection]]
        protocol = 'udp'
        transfer = { rate = '9 Mbit/s', duration = '5 s' }
        [[connection]]
        protocol = 'udp'
        transfer = { rate = '9 Mbit/s', duration = '5 s', direction = 'down' }";
    let s = summary(text, &[]);
    for i in 0..2 {
        assert_eq!(s["subflows"][i]["queue_drops"], 0);
        close(number(&s["connections"][i]["goodput_mbps"]), 9.0, 0.05);
    }
}

/// A server reached over two routers by three clients at once: everything arrives where it belongs.
#[test]
fn many_connections_share_routers_without_mixing() {
    let mut text = String::from(
        "host = [{ name = 'x' }, { name = 'y' }, { name = 'z' }, { name = 'server' }]
         router = [{ name = 'r' }, { name = 's' }]\n",
    );
    for (name, from, to) in [
        ("x", "x", "r"),
        ("y", "y", "r"),
        ("z", "z", "s"),
        ("rs", "r", "s"),
        ("s1", "s", "server"),
        ("s2", "s", "server"),
    ] {
        text += &format!("[[link]]\nname = '{name}'\nfrom = '{from}'\nto = '{to}'\nloss = '0.5 %'\n");
    }
    for (i, (client, protocol, direction)) in
        [("x", "mptcp", "up"), ("y", "tcp", "down"), ("z", "mptcp", "down"), ("x", "tcp", "up")].into_iter().enumerate()
    {
        text += &format!(
            "[[connection]]\nclient = '{client}'\nserver = 'server'\nprotocol = '{protocol}'\n\
             transfer = {{ bytes = '{} kB', direction = '{direction}' }}\n",
            100 * (i + 1)
        );
    }
    let s = summary(&text, &[]);
    assert_eq!((&s["status"], &s["content_ok"]), (&"completed".into(), &true.into()));
    for i in 0..4 {
        assert_eq!(s["connections"][i]["bytes_delivered"], 100_000 * (i + 1));
    }
    assert_eq!(s["bytes_delivered"], 1_000_000);
}
