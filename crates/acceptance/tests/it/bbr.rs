//! BBR in the simulator: what one flow takes and leaves in the queue, how several share, and what reordering costs it. The cases of the
//! draft are tests of the controller itself (`crates/stack/src/controller/bbr/cases.rs`).

use serde_json::Value;

use crate::statistics::mean;
use crate::support::{close, number, on_two_threads, summary};

/// Payload octets of a packet of 1500 with timestamps.
const PAYLOAD: f64 = 1448.0 / 1500.0;

/// TCPs with these controllers over one path of 12 Mbit/s for each and 40 ms; the queue holds so many bandwidth-delay products.
fn beside(controllers: &[&str], products: f64, seconds: u64, seed: u64) -> Vec<Value> {
    let n = controllers.len();
    let queue = (products * 40.0 * n as f64) as u64;
    let rate = 12 * n;
    let mut text = format!(
        "duration = '{seconds} s'\nseed = {seed}\n[[host]]\nname = 's'\n[[router]]\nname = 'a'\n
         [[link]]\nname = 'as'\nfrom = 'a'\nto = 's'\nrate = '{rate} Mbit/s'\ndelay = '20 ms'\nqueue = '{queue} packets'\n"
    );
    for (i, controller) in controllers.iter().enumerate() {
        text += &format!(
            "[[host]]\nname = 'c{i}'\n[[link]]\nname = 'c{i}'\nfrom = 'c{i}'\nto = 'a'\nrate = '1 Gbit/s'\ndelay = '0 ms'\n
             [[connection]]\nname = '{i}'\nprotocol = 'tcp'\nmss = 1448\ncontroller = '{controller}'\nreceive_buffer = '16 MB'\n
             client = 'c{i}'\nserver = 's'\npaths = [['c{i}', 'as']]\n
             transfer = {{ duration = '{seconds} s', start_spread = '5 s' }}\n"
        );
    }
    let s = summary(&text, &[]);
    s["connections"].as_array().cloned().unwrap_or_else(|| vec![s])
}

fn goodput(c: &Value) -> f64 {
    number(&c["goodput_mbps"])
}

/// One flow uses more than 95 % of the path, with a queue of two bandwidth-delay products as with half of one, for ten minutes as for one; the
/// queue stays short: 0.3 of a product on average, which is 12 ms.
#[test]
fn one_flow_fills_the_path_and_not_the_queue() {
    for (products, seconds) in [(4.0, 60), (1.0, 60), (0.5, 60), (4.0, 600)] {
        let c = &beside(&["bbr"], products, seconds, 1)[0];
        let (part, srtt) = (goodput(c) / (12.0 * PAYLOAD), number(&c["subflows"][0]["srtt_ms"]));
        println!("queue {products}, {seconds} s: {part:.3}, {srtt:.1} ms");
        assert!(part > 0.95 && part <= 1.0 && srtt < 53.0, "{part} {srtt}");
    }
}

/// Flows that begin within five seconds: no one has less than half or more than one and a half of its share, and the path is used.
#[test]
fn flows_share() {
    for n in [2, 4] {
        let runs = on_two_threads(&[1, 2, 3], |seed| {
            beside(&vec!["bbr"; n], 2.0, 120, *seed).iter().map(goodput).collect::<Vec<_>>()
        });
        println!("{runs:.2?}");
        for run in &runs {
            assert!(run.iter().all(|g| (0.5..1.5).contains(&(g / 12.0 / PAYLOAD))), "{run:?}");
            assert!(mean(run) > 0.93 * 12.0 * PAYLOAD);
        }
    }
}

/// Beside a CUBIC: both live, in a deep queue and in a shallow one.
#[test]
fn a_cubic_beside_it_lives() {
    for products in [0.5, 2.0] {
        let both: Vec<f64> = beside(&["bbr", "cubic"], products, 120, 1).iter().map(goodput).collect();
        println!("queue {products}: {both:.2?}");
        assert!(both.iter().all(|g| *g > 0.2 * 24.0 * PAYLOAD), "{both:?}");
    }
}

/// A delay that varies by a fifth lets segments overtake, and fast retransmit by count repairs what is not lost: without a judge BBR believes
/// in losses of more than 2 % and keeps half of the path. Eifel finds each episode spurious, and the model before it is restored. A detector
/// that goes by time sees nothing to repair.
#[test]
fn spurious_recovery_is_undone() {
    let run = |detector: &str, judge: &str| {
        let text = format!(
            "connection = {{ protocol = 'tcp', controller = 'bbr', detector = '{detector}', judge = '{judge}', receive_buffer = '8 MB' }}
             transfer = {{ duration = '60 s' }}
             path = [{{ rate = '12 Mbit/s', delay = '20 ms', delay_variation = '20 %', overtaking = true, queue = '160 packets' }}]"
        );
        let s = summary(&text, &[]);
        (number(&s["goodput_mbps"]) / (12.0 * PAYLOAD), number(&s["subflows"][0]["undone"]))
    };
    let ((believes, none), (judged, undone), (by_time, _)) =
        (run("rfc6675", "none"), run("rfc6675", "eifel"), run("rack", "none"));
    println!("none {believes:.3}, eifel {judged:.3} with {undone} undone, rack {by_time:.3}");
    assert!(none == 0.0 && undone > 500.0);
    assert!(believes < 0.6 && judged > 1.3 * believes && by_time > 0.95);
}

/// Two subflows over unlike paths, each by itself: the sum of both.
#[test]
fn two_subflows_use_both_paths() {
    let text = "connection = { controller = 'bbr', receive_buffer = '8 MB' }
         transfer = { duration = '60 s' }
         path = [{ rate = '12 Mbit/s', delay = '20 ms' }, { rate = '5 Mbit/s', delay = '60 ms', loss = '0.1 %' }]";
    let s = summary(text, &[]);
    let used: Vec<f64> = (0..2).map(|i| number(&s["subflows"][i]["utilisation"])).collect();
    println!("{used:.3?}");
    close(used[0], 0.98, 0.03);
    assert!(used[1] > 0.85, "{used:?}");
}
