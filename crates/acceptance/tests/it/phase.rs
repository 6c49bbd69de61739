//! A finding: without any chance in it a drop-tail queue is not fair, whatever the protocol.
//!
//! All packets take the same time on the bottleneck, so departures, acknowledgements and the packets these release keep
//! one rhythm, and the phase of each connection in it, fixed by the exact delays, decides who finds the queue full (S.
//! Floyd, V. Jacobson, "On Traffic Phase Effects in Packet-Switched Gateways", 1992). A tenth of a millisecond more
//! delay changes who wins; a variation of one packet's time or more ends it. Three plain TCPs show it like one MPTCP
//! connection and one TCP, so it is no property of MPTCP.

use crate::statistics::mean;
use crate::support::example;
use crate::targets::shared;

const NO_VARIATION: [&str; 3] =
    ["link.0.delay_variation=0 %", "link.1.delay_variation=0 %", "link.2.delay_variation=0 %"];
const UNCOUPLED: &str = "connection.0.controller=uncoupled";
/// Senders of the paper's time: proportional rate reduction spreads what is sent in recovery.
const CLASSIC: [&str; 2] = ["connection.0.profile=classic", "connection.1.profile=classic"];

/// Mean ratio of the first connection's goodput (or of all but the last) to the last's, and mean share.
fn measure(name: &str, text: &str, overrides: &[&str], seeds: u64) -> (f64, f64) {
    let runs = shared(text, overrides, seeds);
    let split = |g: &Vec<f64>| (g[..g.len() - 1].iter().sum::<f64>(), g[g.len() - 1]);
    let ratio = mean(&runs.iter().map(split).map(|(a, b)| a / b).collect::<Vec<_>>());
    let share = mean(&runs.iter().map(split).map(|(a, b)| a / (a + b)).collect::<Vec<_>>());
    println!("{name:<60} ratio {ratio:.3} share {share:.3}");
    (ratio, share)
}

/// With variation the subflows share as their controllers say; without, two uncoupled ones take far more than two
/// thirds.
#[test]
fn a_variation_of_the_delay_dissolves_the_lock_of_a_drop_tail_queue() {
    let text = example("shared-bottleneck");
    let (_, with) = measure("uncoupled", &text, &[&CLASSIC[..], &[UNCOUPLED]].concat(), 3);
    let still = [&CLASSIC[..], &NO_VARIATION[..], &[UNCOUPLED]].concat();
    let (_, without) = measure("uncoupled, no variation", &text, &still, 3);
    assert!((with - 2.0 / 3.0).abs() < 0.03 && without > 0.7, "{with} {without}");
}

/// The example's links with three plain TCPs, two from one host and one from the other.
fn three_tcps() -> String {
    let text = example("shared-bottleneck");
    let mut text = text[..text.find("[[connection]]").expect("it has connections")].to_string();
    for (i, (host, access)) in [("dual", "access1"), ("dual", "access2"), ("single", "access3")].iter().enumerate() {
        text += &format!(
            "[[connection]]
             protocol = 'tcp'
             profile = 'classic'
             client = '{host}'
             server = 'server'
             mss = {}
             paths = [['{access}', 'bottleneck', 'last']]
             transfer = {{ duration = '300 s', start_spread = '1 s' }}\n",
            // As long on the wire as a segment of MPTCP.
            if i < 2 { 1424 } else { 1400 }
        );
    }
    text
}

/// Both subflows and the TCP on one link between two hosts.
const ONE_LINK: &str = "
    path = [{ rate = '10 Mbit/s', delay = '20 ms', queue = '33 packets' }]
    [[connection]]
    paths = ['path0', 'path0']
    transfer = { duration = '300 s', start_spread = '1 s' }
    [[connection]]
    protocol = 'tcp'
    paths = ['path0']
    transfer = { duration = '300 s', start_spread = '1 s' }";

/// The layouts of `crates/acceptance/tests/data/phase.csv`:
/// `cargo test --profile lab -p anabranch-acceptance --test it -- --ignored --nocapture phase`.
#[test]
#[ignore = "long"]
fn the_lock_depends_on_tenths_of_a_millisecond_and_on_packet_sizes_not_on_mptcp() {
    let text = example("shared-bottleneck");
    let both = |name: &str, text: &str, overrides: &[&str]| {
        let classic = [&CLASSIC[..], overrides].concat();
        let coupled = measure(&format!("{name}, coupled"), text, &classic, 10);
        let uncoupled = measure(&format!("{name}, uncoupled"), text, &[&classic[..], &[UNCOUPLED]].concat(), 10);
        (coupled.0, uncoupled.1)
    };
    let fixed = |more: &[&'static str]| [&NO_VARIATION[..], more].concat();
    let (varied, varied_share) = both("as the example is", &text, &[]);
    let (locked, locked_share) = both("no variation", &text, &NO_VARIATION);
    let (longer, longer_share) = both("no variation, 0.1 ms longer", &text, &fixed(&["link.3.delay=16.1 ms"]));
    let (half, half_share) = both("no variation, 0.5 ms longer", &text, &fixed(&["link.3.delay=16.5 ms"]));
    let (equal, equal_share) = both("no variation, equal packets", &text, &fixed(&["connection.1.mss=1424"]));
    let (_, one_link_share) = both("one link for all", ONE_LINK, &[]);
    let (tcps, _) = measure("three TCPs, no variation", &three_tcps(), &NO_VARIATION, 10);
    let (equal_tcps, _) =
        measure("three TCPs, no variation, equal packets", &three_tcps(), &fixed(&["connection.2.mss=1424"]), 10);
    let (varied_tcps, _) = measure("three TCPs as the example is", &three_tcps(), &[], 10);

    assert!((0.8..1.25).contains(&varied) && (varied_share - 2.0 / 3.0).abs() < 0.03);
    assert!(locked > 1.2 && locked_share > 0.7 && one_link_share > 0.7);
    // A round trip 0.2 ms longer, and who wins is another; at 1 ms (nearly a packet's time) it is the same again.
    assert!(longer < 1.1 && longer_share < 0.67, "{longer} {longer_share}");
    assert!(half > 1.2 && half_share > 0.7, "{half} {half_share}");
    assert!(equal < 1.25 && equal_share < 0.69, "{equal} {equal_share}");
    // Two TCPs against one should have 2.
    assert!(tcps > 2.5 && (equal_tcps - 2.0).abs() < 0.15 && (varied_tcps - 2.0).abs() < 0.2);
}
