//! DCTCP at a queue that marks (RFC 8257; M. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, section 3.3).

use anabranch_sim::scenario;

use crate::support::{close, number, summary};

/// `flows` TCPs over one path of 100 Mbit/s and 4 ms that marks from 20 packets on: goodputs, round-trip times in ms, drops.
fn flows(flows: usize, controller: &str) -> Vec<(f64, f64, f64)> {
    let mut text =
        String::from("duration = '20 s'\n[[host]]\nname = 's'\n[[router]]\nname = 'a'\n[[router]]\nname = 'b'\n");
    text += "[[link]]\nname = 'ab'\nfrom = 'a'\nto = 'b'\nrate = '100 Mbit/s'\ndelay = '1 ms'\nqueue = '200 packets'\n";
    text += "ecn_threshold = '20 packets'\n[[link]]\nname = 'bs'\nfrom = 'b'\nto = 's'\nrate = '1 Gbit/s'\ndelay = '1 ms'\n";
    for i in 0..flows {
        text +=
            &format!("[[host]]\nname = 'c{i}'\n[[link]]\nname = 'c{i}'\nfrom = 'c{i}'\nto = 'a'\nrate = '1 Gbit/s'\n");
        text += "delay = '0 ms'\n";
        text += &format!(
            "[[connection]]\nname = '{i}'\nprotocol = 'tcp'\ncontroller = '{controller}'\necn = true\nclient = 'c{i}'\n"
        );
        text += &format!(
            "server = 's'\npaths = [['c{i}', 'ab', 'bs']]\ntransfer = {{ duration = '20 s', start_spread = '1 s' }}\n"
        );
    }
    let s = summary(&text, &[]);
    let one = |c: &serde_json::Value| {
        let f = &c["subflows"][0];
        (number(&c["goodput_mbps"]), number(&f["srtt_ms"]), number(&f["queue_drops"]))
    };
    match s["connections"].as_array() {
        Some(all) => all.iter().map(one).collect(),
        None => vec![one(&s)],
    }
}

/// Packets in the queue, of 1500 octets and 0.12 ms each. Without a queue the round-trip time is 4 ms and what the packet and its
/// acknowledgement take on three links.
fn queue(srtt: f64) -> f64 {
    (srtt - 4.16) / 0.12
}

/// The paper's equations (4) to (8) for N flows: the queue has K + N at most, and swings by sqrt(2 N (C RTT + K)) / 2. With K = 20, C RTT = 33:
/// 21 at most, 16 at least. No packet is dropped, and the link is full. NewReno with the same marks halves: the queue runs empty.
#[test]
fn one_flow_holds_the_queue_at_the_threshold() {
    let (goodput, srtt, drops) = flows(1, "dctcp")[0];
    println!("dctcp: {goodput:.2} Mbit/s, {:.1} packets", queue(srtt));
    assert!((15.0..21.5).contains(&queue(srtt)) && goodput > 94.0 && drops == 0.0);
    let (_, srtt, drops) = flows(1, "uncoupled")[0];
    println!("uncoupled: {:.1} packets", queue(srtt));
    assert!(queue(srtt) < 13.0 && drops == 0.0);
}

/// Two flows: half each, and a queue of 22 at most.
#[test]
fn two_flows_share() {
    let found = flows(2, "dctcp");
    println!("{found:.3?}");
    close(found[0].0 / (found[0].0 + found[1].0), 0.5, 0.05);
    assert!(found.iter().all(|f| (12.0..22.5).contains(&queue(f.1)) && f.2 == 0.0));
    assert!(found[0].0 + found[1].0 > 94.0);
}

/// What it needs is named with the remedy.
#[test]
fn dctcp_without_ecn_is_refused() {
    let text = "transfer = {}\npath = [{}]\nconnection = { controller = 'dctcp' }";
    let said = scenario::parse(text, "t", &[], None).expect_err("it is refused").to_string();
    assert!(
        said.contains("connection.controller: \"dctcp\" needs ecn, which is off") && said.contains("set ecn = true"),
        "{said}"
    );
}
