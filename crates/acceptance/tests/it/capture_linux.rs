//! Captures of Linux's MPTCP (`crates/acceptance/tests/data/README.md`): what must verify, and what
//! tshark says of the same files.

use anabranch_capture::{Capture, analyze_octets};

use crate::support::{close, count, number};

/// The first 400 packets, whole, with DSS checksums.
pub const FIRST_400: &[u8] = include_bytes!("../data/linux-mptcp-first-400.pcap");
/// The whole transfer, cut at 128 octets.
pub const CUT: &[u8] = include_bytes!("../data/linux-mptcp-two-paths-snap128.pcap");

/// Analyses one capture.
pub fn analysed(octets: &[u8]) -> Capture {
    analyze_octets(&[("test.pcap", octets)], None).unwrap_or_else(|error| panic!("{error}"))
}

/// RFC 8684 3.1, 3.2, 3.4.1: the join's token is the server's, its two HMACs verify, and that of the address advertised.
#[test]
fn tokens_and_hmacs_of_linux_verify_and_both_subflows_are_joined() {
    for file in [FIRST_400, CUT] {
        let summary = analysed(file).summary;
        let told = &summary["handshake"];
        // As tshark computes them from the keys.
        assert_eq!(told["client_token"], format!("{:08x}", 3_376_476_917_u32));
        assert_eq!(told["server_token"], format!("{:08x}", 2_991_332_918_u32));
        assert_eq!((count(&told["tokens_matched"]), count(&told["tokens_unmatched"])), (1, 0));
        assert_eq!((count(&told["hmacs_verified"]), count(&told["hmacs_failed"])), (2, 0));
        assert_eq!((count(&told["add_addr_hmacs_verified"]), count(&told["add_addr_hmacs_failed"])), (1, 0));
        let flows = summary["subflows"].as_array().expect("subflows");
        let ends: Vec<_> = flows.iter().map(|f| (f["client"].as_str(), f["server"].as_str())).collect();
        assert_eq!(
            ends,
            [(Some("10.1.1.1:40796"), Some("10.1.1.2:5001")), (Some("10.1.2.1:57261"), Some("10.1.2.2:5001"))]
        );
        assert_eq!(summary["connections"], serde_json::Value::Null, "one connection");
        assert_eq!(flows[0]["captured_at"], serde_json::json!(["client"]));
    }
}

/// RFC 8684 3.3.1: Linux maps up to 64 kB at once, so that a checksum covers up to 46 segments here. Eleven mappings are in the
/// file to their last octet; the twelfth is where it ends. With one octet changed, its mapping fails.
#[test]
fn all_complete_dss_checksums_of_linux_verify() {
    let sums = |octets: &[u8]| {
        let told = analysed(octets).summary["dss_checksums"].clone();
        [count(&told["verified"]), count(&told["failed"]), count(&told["incomplete"])]
    };
    assert_eq!(sums(FIRST_400), [11, 0, 1]);
    let mut changed = FIRST_400.to_vec();
    // The last octet of packet 10, which is a segment of the first mapping.
    let mut at = 24;
    for _ in 0..9 {
        at += 16 + u32::from_le_bytes(changed[at + 8..at + 12].try_into().expect("4 octets")) as usize;
    }
    let end = at + 16 + u32::from_le_bytes(changed[at + 8..at + 12].try_into().expect("4 octets")) as usize;
    changed[end - 1] ^= 1;
    assert_eq!(sums(&changed), [10, 1, 1]);
    // Cut packets have no octets to sum up.
    assert_eq!(sums(CUT)[..2], [0, 0]);
}

/// tshark's conversations: 2506 and 1362 frames; the last acknowledgements are 2039537 and 945881, and from the first SYN to the
/// last frame it is 4.637828 s.
#[test]
fn goodput_and_counts_agree_with_tshark() {
    let summary = analysed(CUT).summary;
    let flows = summary["subflows"].as_array().expect("subflows");
    let packets: Vec<u64> = flows.iter().map(|f| count(&f["packets"])).collect();
    assert_eq!(packets, [2506, 1362]);
    let acknowledged = [2_039_536, 945_880];
    assert_eq!([count(&flows[0]["bytes_first"]), count(&flows[1]["bytes_first"])], acknowledged);
    let tshark = acknowledged.iter().sum::<u64>() as f64 * 8.0 / 4.637_828 / 1e6;
    close(number(&summary["goodput_mbps"]), tshark, 0.01 * tshark);
    // 1442 and 691 frames with payload; 2048472 and 978200 octets of it, of which 2039928 and 960072 are sent once (by the
    // highest sequence numbers). So 6 segments of 1424 octets were sent twice on the first, 12 and one of 1040 on the second:
    // tshark calls only 1 and 5 of them retransmissions, and the others out-of-order.
    assert_eq!([count(&flows[0]["segments"]), count(&flows[1]["segments"])], [1442, 691]);
    assert_eq!([count(&flows[0]["bytes_sent"]), count(&flows[1]["bytes_sent"])], [2_048_472, 978_200]);
    assert_eq!([count(&flows[0]["retransmissions"]), count(&flows[1]["retransmissions"])], [6, 13]);
    assert_eq!(2_039_928 + 960_072, 3_000_000, "the whole transfer was sent");
    // Its paths' round trips: 200 ms and 20 ms, with one transmission of a full packet and what the host adds.
    close(number(&flows[0]["rtt_min_ms"]), 202.4, 1.0);
    close(number(&flows[1]["rtt_min_ms"]), 22.0, 4.0);
}

/// The receiver's DATA_ACK says how much was in order when it was sent. The estimate of the arrivals, which does not look
/// at it, must say the same.
#[test]
fn estimated_arrivals_agree_with_the_data_acknowledgements() {
    let capture = analysed(CUT);
    assert_ne!(capture.summary["estimated"], serde_json::json!([]));
    assert_eq!(count(&capture.summary["missing_bytes"]), 0, "every octet acknowledged was seen to arrive before");
    let in_order = count(&capture.summary["bytes_delivered"]);
    let acknowledged = capture.windows.last().expect("windows").1.data_ack;
    assert!(in_order >= acknowledged, "{in_order} in order, {acknowledged} acknowledged");
    assert!(in_order - acknowledged < 100_000, "{in_order} in order, {acknowledged} acknowledged");
}

/// Begun in the middle: keys and handshakes are missing, so the subflows are named, not matched; the data count from the
/// first mapping seen.
#[test]
fn a_capture_begun_within_the_connection_names_its_subflows() {
    let mut at = 24;
    for _ in 0..1000 {
        at += 16 + u32::from_le_bytes(CUT[at + 8..at + 12].try_into().expect("4 octets")) as usize;
    }
    let mut late = CUT[..24].to_vec();
    late.extend(&CUT[at..]);
    let summary = analysed(&late).summary;
    let connections = summary["connections"].as_array().expect("two");
    assert_eq!(connections.len(), 2);
    // In the order of their first packets here.
    for (connection, (client, acked)) in connections.iter().zip([("10.1.2.1", 945_881_u64), ("10.1.1.1", 2_039_537)]) {
        let name = connection["name"].as_str().expect("a name");
        assert!(name.starts_with(&format!("unmatched subflow {client}:")), "{name}");
        assert_eq!(connection["complete_beginning"], false);
        let flow = &connection["subflows"][0];
        assert_eq!(flow["opening"], "unseen");
        assert_eq!(flow["captured_at"], serde_json::json!(["client"]));
        // The initial sequence number is found out where the second mapping begins, and one has at most 64 kB.
        assert!(count(&connection["unmapped_bytes"]) < 65_536, "{}", connection["unmapped_bytes"]);
        let arrived = count(&flow["bytes_first"]);
        assert!(arrived > acked / 2 && arrived < acked, "{arrived} of {acked}");
    }
}

/// What a capture loses, the acknowledgements tell: every 50th packet with payload is taken out.
#[test]
fn lost_records_are_noticed_and_do_not_stop_the_account() {
    let (mut out, mut at, mut data, mut lost) = (CUT[..24].to_vec(), 24, 0, 0);
    while at < CUT.len() {
        let field = |from: usize| u32::from_le_bytes(CUT[at + from..at + from + 4].try_into().expect("4 octets"));
        let end = at + 16 + field(8) as usize;
        data += u32::from(field(12) > 1000);
        if field(12) > 1000 && data % 50 == 0 {
            lost += 1;
        } else {
            out.extend(&CUT[at..end]);
        }
        at = end;
    }
    let (whole, holed) = (analysed(CUT).summary, analysed(&out).summary);
    assert!(lost > 30);
    let missing = count(&holed["missing_bytes"]);
    // Some of the lost ones were retransmissions or retransmitted, or their acknowledgements are beyond the end.
    assert!(missing > 25 * 1424 && missing <= lost * 1424, "{missing} octets of {lost} segments");
    // At the end of the file the DATA_ACK of the last 35 kB is still to come, and with it the news of what they lack.
    let [whole_read, holed_read] = [&whole, &holed].map(|s| count(&s["bytes_delivered"]));
    assert!(holed_read <= whole_read && whole_read - holed_read < 87_000, "{holed_read} of {whole_read}");
    assert!(number(&holed["goodput_mbps"]) > 0.97 * number(&whole["goodput_mbps"]));
    assert_eq!(holed["handshake"], whole["handshake"]);
}
