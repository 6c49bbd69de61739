//! Proportional Rate Reduction (RFC 9937) on the wire, at exact times: with either detector of loss by SACK, with ECN agreed and
//! with F-RTO as judge, neither of which may change what leaves.

use anabranch_stack::Config;

use crate::bench::Bench;
use crate::pair::tcp;

/// The configurations that must send alike: {`rfc6675`, `rack`} x {ECN off, on} x {no judge, F-RTO}.
fn configs() -> Vec<Config> {
    let mut all = Vec::new();
    for detector in ["rfc6675", "rack"] {
        for ecn in [false, true] {
            for judge in ["none", "frto"] {
                all.push(
                    tcp()
                        .detector(detector.parse().unwrap())
                        .reduction("prr".parse().unwrap())
                        .judge(judge.parse().unwrap())
                        .initial_window(20)
                        .ecn(ecn),
                );
            }
        }
    }
    all
}

/// Twenty segments are in flight, a round trip of 100 ms, and acknowledgements come a millisecond apart.
fn twenty_in_flight(config: &Config) -> Bench {
    let mut bench = Bench::open_client(config.clone());
    let ect = if config.ecn { "[ect0] " } else { "" };
    bench.play(&format!(
        "0.15 < . 1:1(0) ack 1 win 65535
         0.2 write 20000
         0.2 > {ect}. 1:19001(19x1000) ack 1
         0.2 > {ect}P. 19001:20001(1000) ack 1"
    ));
    bench
}

/// The line of a new segment. RFC 3168 6.1.2: the first one after a reduction carries CWR; 6.1.5: a retransmission is not ECT.
fn new_segment(config: &Config, at: &str, first: bool, n: u32) -> String {
    let (ect, flags) = match (config.ecn, first) {
        (true, true) => ("[ect0] ", "W."),
        (true, false) => ("[ect0] ", "."),
        (false, _) => ("", "."),
    };
    format!("{at} > {ect}{flags} {}:{}(1000) ack 1 {{new}}\n", 20_001 + 1000 * n, 21_001 + 1000 * n)
}

/// The first of twenty is lost. RecoverFS is 18 segments (two were SACKed before), ssthresh ten. With each SACK from the third on
/// leave 1, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 1 segments; the first is the fast retransmit. The window is ten segments
/// then, all in flight, and stays so when the retransmission is acknowledged.
/// RFC 5681 4.3: no more than half as much leaves in a round trip.
#[test]
fn one_loss_in_twenty() {
    for config in configs() {
        let mut bench = twenty_in_flight(&config);
        let mut script = String::new();
        let mut new = 0;
        let sends = [0, 0, 1, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 1];
        for (i, &send) in sends.iter().enumerate() {
            let at = format!("{:.3}", 0.3 + 0.001 * i as f64);
            script += &format!("{at} < . 1:1(0) ack 1 win 65535 <sack 1001:{}>\n", 2001 + 1000 * i);
            match (i, send) {
                // RFC 9937 5: the fast retransmit itself goes in any case. New data come only now, so that limited transmit had
                // none.
                (2, _) => {
                    script += &format!("{at} > . 1:1001(1000) ack 1 {{fast}}\n{at} ssthresh 10000\n{at} write 40000\n");
                }
                (_, 1) => {
                    script += &new_segment(&config, &at, new == 0, new);
                    new += 1;
                }
                _ => {}
            }
        }
        script += "0.35 cwnd 10000\n0.35 flight 10000\n";
        script += "0.4 < . 1:1(0) ack 20001 win 65535\n";
        script += &new_segment(&config, "0.4", false, new);
        script += "0.4 cwnd 10000\n0.4 flight 10000";
        bench.play(&script);
    }
}

/// Fifteen of twenty are lost, the last five arrive: fewer in flight than ssthresh. RFC 9937 5: as many octets leave as are
/// delivered while SACKs come alone (conservation), and one segment more with each acknowledgement that advances and reports no
/// further loss (slow start up to ssthresh).
/// RFC 8985 9.3.
#[test]
fn a_burst_of_losses() {
    for config in configs() {
        let mut bench = twenty_in_flight(&config);
        bench.play(
            "0.300 < . 1:1(0) ack 1 win 65535 <sack 15001:16001>
             0.301 < . 1:1(0) ack 1 win 65535 <sack 15001:17001>
             0.302 < . 1:1(0) ack 1 win 65535 <sack 15001:18001>
             0.302 > . 1:1001(1000) ack 1 {fast}
             0.302 ssthresh 10000
             0.303 < . 1:1(0) ack 1 win 65535 <sack 15001:19001>
             0.303 > . 1001:2001(1000) ack 1 {fast}
             0.304 < . 1:1(0) ack 1 win 65535 <sack 15001:20001>
             0.304 > . 2001:3001(1000) ack 1 {fast}
             0.402 < . 1:1(0) ack 1001 win 65535 <sack 15001:20001>
             0.402 > . 3001:5001(2x1000) ack 1 {fast}
             0.403 < . 1:1(0) ack 2001 win 65535 <sack 15001:20001>
             0.403 > . 5001:7001(2x1000) ack 1 {fast}
             0.404 < . 1:1(0) ack 3001 win 65535 <sack 15001:20001>
             0.404 > . 7001:9001(2x1000) ack 1 {fast}",
        );
    }
}

/// A timeout in the middle of it ends the reduction: one segment, then slow start (RFC 5681 3.1). F-RTO is asked only of a timeout
/// outside of recovery (RFC 5682 2.1 step 1). The timer runs 300 ms from the retransmission.
/// RFC 9937 5.
#[test]
fn a_timeout_ends_the_reduction() {
    for config in configs() {
        let mut bench = twenty_in_flight(&config);
        bench.play(
            "0.300 < . 1:1(0) ack 1 win 65535 <sack 1001:2001>
             0.301 < . 1:1(0) ack 1 win 65535 <sack 1001:3001>
             0.302 < . 1:1(0) ack 1 win 65535 <sack 1001:4001>
             0.302 > . 1:1001(1000) ack 1 {fast}
             0.602 > . 1:1001(1000) ack 1 {timeout}
             0.602 cwnd 1000
             0.702 < . 1:1(0) ack 4001 win 65535
             0.702 > . 4001:6001(2x1000) ack 1 {timeout}
             0.702 cwnd 2000",
        );
    }
}
