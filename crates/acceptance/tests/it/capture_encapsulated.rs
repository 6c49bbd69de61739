//! One connection in every encapsulation: the figures are those of the connection itself, whatever is around its packets. What
//! cannot be opened is counted by name. tshark, where it is installed, says of each file that it is what its name says.

use anabranch_capture::{Sort, analyze_octets};
use serde_json::{Value, json};

use crate::capture_formats::{Record, block};
use crate::capture_forms::{
    ACCESS_POINT, FORMS, STATION, connection, essence, ethernet, file, frame, gre, in_ip, in_udp, ip_in_ip, kind,
    outer, radiotap, wifi, words, wrapped,
};
use crate::capture_linux::analysed;
use crate::pcap::tshark;
use crate::support::count;

#[test]
fn a_connection_has_the_same_figures_in_every_encapsulation() {
    for v6 in [false, true] {
        let plain = connection(v6, 500);
        let wanted = essence(&file(101, &plain));
        assert_eq!((count(&wanted["bytes_delivered"]), &wanted["status"]), (20_000, &json!("completed")));
        assert_eq!(count(&wanted["subflows"][0]["retransmissions"]), 1);
        for (name, link, wrap, names, _) in FORMS {
            let file = file(*link, &wrapped(&plain, *wrap));
            assert!(essence(&file) == wanted, "{name}, IPv6 {v6}");
            let told = analysed(&file).summary["capture"].clone();
            let names: Vec<&str> = names.iter().copied().chain(ip_in_ip(name, v6)).collect();
            let opened: serde_json::Map<_, _> = names.iter().map(|n| ((*n).to_string(), json!(plain.len()))).collect();
            assert_eq!(told["opened"], Value::Object(opened), "{name}");
            assert_eq!((&told["not_opened"], count(&told["tcp"])), (&json!({}), plain.len() as u64), "{name}");
        }
    }
}

/// Any snap length: no panic, and no packet that the plain connection does not have.
#[test]
fn every_encapsulation_may_be_cut_anywhere() {
    let plain: Vec<Record> = connection(false, 40).drain(..8).collect();
    for (name, link, wrap, ..) in FORMS {
        let whole = wrapped(&plain, *wrap);
        let longest = whole.iter().map(|r| r.octets.len()).max().expect("records");
        for snap in 0..longest {
            let mut cut = whole.clone();
            cut.iter_mut().for_each(|r| r.octets.truncate(snap));
            if let Ok(capture) = analyze_octets(&[("cut", &file(*link, &cut))], None) {
                assert!(count(&capture.summary["capture"]["tcp"]) <= 8, "{name} cut to {snap}");
                assert!(count(&capture.summary["bytes_delivered"]) <= 160, "{name} cut to {snap}");
            }
        }
    }
}

/// Each octet of the headers set to 0, to 1, to 255, and flipped in its highest bit: lengths that lie, loops, versions that do not exist.
#[test]
fn headers_that_lie_never_panic() {
    let plain: Vec<Record> = connection(false, 40).drain(..5).collect();
    for (name, link, wrap, ..) in FORMS {
        let whole = wrapped(&plain, *wrap);
        let mut all = whole.clone();
        for at in 0..whole[0].octets.len() - plain[0].octets.len() + 40 {
            for change in [|_| 0, |_| 1, |_| 255, |octet| octet ^ 0x80_u8] {
                let from = all.len();
                all.extend(whole.iter().cloned());
                all[from..].iter_mut().for_each(|r| r.octets[at] = change(r.octets[at]));
            }
        }
        let told = analysed(&file(*link, &all)).summary["capture"].clone();
        assert_eq!(count(&told["packets"]), all.len() as u64, "{name}");
    }
}

// ---- the same packet twice ---------------------------------------------------------------------------------------------

/// On all interfaces of a host that ends a tunnel (Linux cooked v1, which does not name the interface), each packet is recorded
/// twice: plain and in the tunnel. No segment was sent twice but for one.
#[test]
fn a_packet_recorded_plain_and_in_a_tunnel_counts_once() {
    for v6 in [false, true] {
        let plain = connection(v6, 500);
        let wanted = essence(&file(101, &plain));
        let cooked = |packet: &[u8]| [&[0; 14], kind(packet).to_be_bytes().as_slice(), packet].concat();
        let mut both = Vec::new();
        for (i, r) in plain.iter().enumerate() {
            let outer = gre(0, kind(&r.octets), &[], &r.octets, i as u32)[14..].to_vec();
            // What the host sends is recorded plain first, what it receives in the tunnel first.
            let sent = r.octets[if v6 { 23 } else { 15 }] == 1;
            for packet in if sent { [&r.octets, &outer] } else { [&outer, &r.octets] } {
                let octets = cooked(packet);
                both.push(Record { time: r.time, sent: octets.len() as u32, octets });
            }
        }
        let file = file(113, &both);
        assert_eq!(count(&analysed(&file).summary["capture"]["repeated_packets"]), 87);
        assert!(essence(&file) == wanted, "IPv6 {v6}");
    }
}

/// RFC 4380 5.1.1: authentication (identifier of 2 octets, value of 4) and origin may stand before
/// the packet.
#[test]
fn teredo_is_opened_behind_its_indicators() {
    let plain = connection(true, 500);
    let wanted = essence(&file(101, &plain));
    let authentication = [[0, 1, 2, 4].as_slice(), &[7; 2 + 4 + 8 + 1]].concat();
    let origin = vec![0, 0, 1, 2, 3, 4, 5, 6];
    for before in [vec![], authentication.clone(), origin.clone(), [authentication, origin].concat()] {
        let mut records = plain.clone();
        for (i, r) in records.iter_mut().enumerate() {
            r.octets = in_udp(3544, &[&before, &r.octets].map(Vec::as_slice).concat(), i as u32);
            r.sent = r.octets.len() as u32;
        }
        assert!(essence(&file(1, &records)) == wanted, "{}", before.len());
    }
}

/// PKTAP names the interface of each packet: what is recorded on two interfaces was not sent twice.
#[test]
fn a_packet_recorded_on_two_interfaces_of_pktap_counts_once() {
    let plain = connection(false, 500);
    let (_, link, wrap, ..) = FORMS.iter().find(|form| form.0 == "pktap").expect("it is there");
    let mut both = Vec::new();
    for r in wrapped(&plain, *wrap) {
        let mut other = r.clone();
        other.octets[14] ^= 1;
        both.extend([r, other]);
    }
    let s = analysed(&file(*link, &both)).summary;
    assert_eq!((count(&s["bytes_delivered"]), count(&s["subflows"][0]["retransmissions"])), (20_000, 1));
}

/// The figure of sequence numbers over time has 40 segments of 500 octets, of which the 21st was
/// sent again.
#[test]
fn a_retransmission_is_told_from_new_data_over_time() {
    let spans = analysed(&file(101, &connection(false, 500))).spans;
    let of = |sort| spans.iter().filter(|s| s.1.sort == sort).map(|s| (s.1.low, s.1.high)).collect::<Vec<_>>();
    assert_eq!(of(Sort::New).iter().map(|(low, high)| high - low).sum::<u64>(), 20_000);
    assert_eq!((of(Sort::Retransmission), of(Sort::Reinjection)), (vec![(10_000, 10_500)], vec![]));
}

/// A frame of 802.11 that was not acknowledged is sent again with the flag Retry and the same number; TCP knows nothing of it. A
/// retransmission of TCP has another number.
#[test]
fn frames_of_80211_sent_again_count_once() {
    let plain = connection(false, 500);
    let frames = wrapped(&plain, |p, i| wifi([0x08, 1], &[ACCESS_POINT, STATION, ACCESS_POINT], i as u16, &[], p));
    let mut twice = Vec::new();
    for r in frames {
        let mut again = r.clone();
        again.octets[1] |= 0x08;
        twice.extend([r, again]);
    }
    let file = file(105, &twice);
    assert_eq!(count(&analysed(&file).summary["capture"]["repeated_packets"]), 87);
    assert!(essence(&file) == essence(&self::file(101, &plain)));
}

// ---- what cannot be opened ---------------------------------------------------------------------------------------------

/// A name, a link type, and a frame.
type Closed = (&'static str, u32, fn() -> Vec<u8>);

/// Frames of which each has a name, and that name; an empty one: nothing that holds TCP.
const CLOSED: &[Closed] = &[
    ("WireGuard", 1, || in_udp(51820, &[&[4, 0, 0, 0], [7; 44].as_slice()].concat(), 1)),
    ("ESP", 1, || in_ip(50, &[7; 60], 1)),
    ("ESP", 1, || in_udp(4500, &[7; 60], 1)),
    ("", 1, || in_udp(4500, &[0; 60], 1)),
    ("", 1, || in_udp(4500, &[0xff], 1)),
    ("OpenVPN", 1, || in_udp(1194, &[0x48; 60], 1)),
    ("IPComp", 1, || in_ip(108, &[6; 60], 1)),
    ("L2TPv3", 1, || in_ip(115, &[7; 60], 1)),
    ("GRE", 1, || gre(0, 0x1234, &[], &[7; 60], 1)),
    ("GRE", 1, || gre(5, 0x0800, &[], &[7; 60], 1)),
    ("", 1, || gre(0, 0x0806, &[], &[7; 28], 1)),
    ("VXLAN", 1, || in_udp(4790, &[words(&[0x0c00_0009, 0x500]), vec![7; 60]].concat(), 1)),
    ("", 1, || in_udp(4789, &[0; 60], 1)),
    ("Geneve", 1, || in_udp(6081, &[words(&[0x0000_1234, 0x500]), vec![7; 60]].concat(), 1)),
    ("GTP-U", 1, || in_udp(2152, &[words(&[0x30ff_003c, 1]), vec![7; 60]].concat(), 1)),
    ("", 1, || in_udp(2152, &words(&[0x3201_0004, 0, 0]), 1)),
    ("MPLS", 1, || ethernet(0x8847, &[words(&[0x0001_0140]), vec![0x77; 60]].concat())),
    ("MACsec", 1, || ethernet(0x88e5, &[[0x2c; 6].as_slice(), &[7; 60]].concat())),
    ("multilink PPP", 9, || [&[0xff, 3, 0, 0x3d], [7; 60].as_slice()].concat()),
    ("PPP, encrypted or compressed", 9, || [&[0xff, 3, 0, 0xfd], [7; 60].as_slice()].concat()),
    ("protected 802.11", 105, || wifi([0x08, 0x41], &[ACCESS_POINT; 3], 1, &[], &[0x45; 60])),
    ("fragmented 802.11", 105, || wifi([0x08, 0x05], &[ACCESS_POINT; 3], 1, &[], &[0x45; 60])),
    ("", 105, || wifi([0x48, 0x01], &[ACCESS_POINT; 3], 1, &[], &[0x45; 60])),
    ("802.11 with a wrong FCS", 127, || radiotap(0x50, &wifi([0x08, 1], &[ACCESS_POINT; 3], 1, &[], &[0x45; 60]))),
    ("more than 32 headers", 1, || {
        let mut packet = vec![0x45; 40];
        (0..40).for_each(|_| packet = outer(false, 4, &packet, 1));
        frame(&packet, 1)
    }),
    ("", 1, || in_udp(53, &[7; 60], 1)),
    ("", 1, || ethernet(0x0806, &[7; 28])),
    ("", 1, || ethernet(0x1234, &[7; 28])),
];

#[test]
fn what_cannot_be_opened_is_counted_by_name() {
    for (i, (name, link, make)) in CLOSED.iter().enumerate() {
        let octets = make();
        let record = Record { time: 0, sent: octets.len() as u32, octets };
        let error = analyze_octets(&[("x", &file(*link, &vec![record; 3]))], None).expect_err("no TCP").to_string();
        assert_eq!(error.lines().count(), 1, "{error}");
        let told = format!("0 of them TCP; 3 packets of {name}, which cannot be read");
        match name {
            &"" => assert!(error.ends_with("3 packets, 0 of them TCP"), "{i}: {error}"),
            _ => assert!(error.contains(&told), "{name}: {error}"),
        }
    }
    // Beside a connection, in the summary; the most frequent first.
    let mut all = wrapped(&connection(false, 500), frame);
    for (n, (_, link, make)) in CLOSED.iter().enumerate().filter(|(_, c)| c.1 == 1).take(6) {
        let octets = make();
        all.extend(vec![
            Record { time: all[n].time, sent: octets.len() as u32, octets };
            1 + usize::from(*link == 1 && n == 0)
        ]);
    }
    let told = analysed(&file(1, &all)).summary["capture"]["not_opened"].to_string();
    assert_eq!(told, r#"{"ESP":2,"WireGuard":2,"OpenVPN":1}"#);
}

/// A pseudo-wire whose frame begins with an address that looks like the version of IP, and a header of IP that is one.
#[test]
fn a_pseudo_wire_is_told_from_ip() {
    let plain = connection(false, 500);
    let wanted = essence(&file(101, &plain));
    let wire = wrapped(&plain, |p, i| {
        let mut inner = frame(p, i);
        inner[0] = 0x46;
        ethernet(0x8847, &[words(&[0x0001_0140]), inner].concat())
    });
    assert!(essence(&file(1, &wire)) == wanted);
}

/// A bridge's frame of spanning tree in a pseudo-wire (a length, LLC 42-42-03) is a frame without
/// TCP. If the length is more than follows, the octets are none.
#[test]
fn a_bridges_frame_in_a_pseudo_wire_is_opened() {
    let told = |len: u16| {
        let inner = ethernet(len, &[[0x42, 0x42, 3].as_slice(), &[0; 40]].concat());
        let octets = ethernet(0x8847, &[words(&[0x0001_0140]), inner].concat());
        let record = Record { time: 0, sent: octets.len() as u32, octets };
        analyze_octets(&[("x", &file(1, &[record]))], None).expect_err("no TCP").to_string()
    };
    assert!(told(43).ends_with("0 of them TCP"), "{}", told(43));
    assert!(told(44).contains("MPLS"), "{}", told(44));
}

// ---- tshark ------------------------------------------------------------------------------------------------------------

/// All forms in one file, each on an interface of its own.
fn all_forms(plain: &[Record]) -> Vec<u8> {
    let mut out = block(0x0a0d_0d0a, &[words(&[0x4d3c_2b1a, 0x0100_0000]), vec![0xff; 8]].concat(), false);
    for (_, link, ..) in FORMS {
        out.extend(block(1, &[(*link as u16).to_le_bytes().as_slice(), &[0; 6]].concat(), false));
    }
    for (i, (_, _, wrap, ..)) in FORMS.iter().enumerate() {
        for r in wrapped(plain, *wrap) {
            let len = r.octets.len() as u32;
            let mut body: Vec<u8> = [i as u32, 0, 0, len, len].iter().flat_map(|w| w.to_le_bytes()).collect();
            body.extend(r.octets);
            out.extend(block(6, &body, false));
        }
    }
    out
}

/// tshark finds the protocols that are meant, in their order, and the same sequence numbers.
#[test]
fn tshark_finds_the_same_segments_in_every_encapsulation() {
    let plain = connection(false, 40);
    let number = |r: &Record| u32::from_be_bytes([24, 25, 26, 27].map(|i| r.octets[i])).to_string();
    let wanted: Vec<String> = plain.iter().map(number).collect();
    let fields = ["frame.interface_id", "frame.protocols", "tcp.seq_raw"];
    let Some(rows) = tshark(&all_forms(&plain), "encapsulated", "tcp", &fields) else { return };
    for (i, (name, .., protocols)) in FORMS.iter().enumerate().filter(|(_, form)| !form.4.is_empty()) {
        let rows: Vec<_> = rows.iter().filter(|row| row[0] == i.to_string()).collect();
        assert!(!rows.is_empty(), "{name}: tshark finds no TCP");
        assert!(rows[0][1].contains(protocols), "{name}: tshark says {}", rows[0][1]);
        let found: Vec<String> = rows.iter().map(|row| row[2].clone()).collect();
        assert_eq!(found, wanted, "{name}");
    }
}
