//! Captures with what real ones have: merged records, filtered packets, answers of several servers, ports used again, clocks of two
//! directions. Each is written packet by packet.

use std::net::{IpAddr, Ipv4Addr};

use anabranch_stack::segment::{Flags, SackBlocks, Timestamps};
use anabranch_stack::wire::option::TcpOption;
use serde_json::{Value, json};

use crate::capture_formats::{Record, packet_with_window, pcap};
use crate::capture_linux::analysed;
use crate::support::{close, count, number};

pub const C: usize = 0;
pub const S: usize = 1;

/// A segment as the capture has it.
#[derive(Clone)]
struct Segment {
    us: u64,
    side: usize,
    flags: Flags,
    numbers: (u32, u32),
    window: u16,
    len: usize,
    options: Vec<TcpOption<'static>>,
    damaged: bool,
}

/// A TCP connection between 192.0.2.1:40000 and 198.51.100.2:80, segment by segment.
#[derive(Clone, Default)]
pub struct Tape {
    segments: Vec<Segment>,
    port: u16,
    v6: bool,
}

impl Tape {
    /// A segment at `us` microseconds with the flags named by letters, and what is set afterwards.
    pub fn seg(&mut self, us: u64, side: usize, flags: &str, numbers: (u32, u32)) -> &mut Self {
        let letters = [('F', Flags::FIN), ('S', Flags::SYN), ('R', Flags::RST), ('P', Flags::PSH), ('A', Flags::ACK)];
        let set = letters.iter().filter(|(letter, _)| flags.contains(*letter)).map(|(_, flag)| *flag);
        let flags: Flags = set.reduce(Flags::with).unwrap_or_default();
        let syn = [TcpOption::Mss(1460), TcpOption::SackPermitted, TcpOption::WindowScale(7)];
        let options = if flags.has(Flags::SYN) { syn.to_vec() } else { Vec::new() };
        self.segments.push(Segment { us, side, flags, numbers, window: 65535, len: 0, options, damaged: false });
        self
    }

    pub fn data(&mut self, us: u64, side: usize, numbers: (u32, u32), len: usize) -> &mut Self {
        self.seg(us, side, "PA", numbers).last().len = len;
        self
    }

    fn last(&mut self) -> &mut Segment {
        self.segments.last_mut().expect("there is one")
    }

    pub fn window(&mut self, window: u16) -> &mut Self {
        self.last().window = window;
        self
    }

    pub fn damaged(&mut self) -> &mut Self {
        self.last().damaged = true;
        self
    }

    pub fn stamped(&mut self, val: u32, ecr: u32) -> &mut Self {
        self.last().options.push(TcpOption::Timestamps(Timestamps { val, ecr }));
        self
    }

    pub fn sack(&mut self, from: u32, to: u32) -> &mut Self {
        let mut blocks = SackBlocks::default();
        blocks.push(from, to);
        self.last().options.push(TcpOption::Sack(blocks));
        self
    }

    /// SYN, SYN/ACK 20 ms later, third ACK, as the client's capture has them.
    pub fn handshake(&mut self, us: u64, (client, server): (u32, u32)) -> &mut Self {
        self.seg(us, C, "S", (client, 0)).seg(us + 20_000, S, "SA", (server, client + 1));
        self.seg(us + 20_050, C, "A", (client + 1, server + 1))
    }

    /// A request of 100 octets, `n` segments of 1000 octets in answer, then FINs or a RST; returns when that was over.
    pub fn exchange(&mut self, us: u64, (client, server): (u32, u32), n: u32, end: &str) -> u64 {
        self.handshake(us, (client, server));
        let (mut us, c, mut s) = (us + 21_000, client + 1, server + 1);
        self.data(us, C, (c, s), 100).seg(us + 20_000, S, "A", (s, c + 100));
        us += 20_000;
        for _ in 0..n {
            us += 1000;
            self.data(us, S, (s, c + 100), 1000).seg(us + 40, C, "A", (c + 100, s + 1000));
            s += 1000;
        }
        match end {
            "R" => self.seg(us + 1000, C, "R", (c + 100, 0)),
            "F" => {
                self.seg(us + 1000, C, "FA", (c + 100, s)).seg(us + 21_000, S, "FA", (s, c + 101));
                self.seg(us + 21_040, C, "A", (c + 101, s + 1))
            }
            _ => self,
        };
        us + 22_000
    }

    /// The segments of `other` from the `n`-th on.
    pub fn add_from(&mut self, other: &Self, n: usize) {
        self.segments.extend(other.segments.iter().skip(n).cloned());
    }

    /// The segments that `keep` wants, by side, flags and length.
    pub fn filtered(&self, keep: impl Fn(usize, Flags, usize) -> bool) -> Self {
        let segments = self.segments.iter().filter(|s| keep(s.side, s.flags, s.len)).cloned().collect();
        Self { segments, ..self.clone() }
    }

    /// What follows is on the port `port` above the first one.
    pub fn records_on(&self, port: u16) -> Vec<Record> {
        Self { port, ..self.clone() }.records()
    }

    pub fn records(&self) -> Vec<Record> {
        let v4 = [Ipv4Addr::new(192, 0, 2, 1), Ipv4Addr::new(198, 51, 100, 2)];
        let addr = |side: usize| if self.v6 { IpAddr::V6(v4[side].to_ipv6_mapped()) } else { IpAddr::V4(v4[side]) };
        let ends = [(addr(C), 40_000 + self.port), (addr(S), 80)];
        let record = |s: &Segment| {
            let payload: Vec<u8> = (0..s.len).map(|i| i as u8).collect();
            let (to, time) = ((ends[s.side], ends[1 - s.side]), 1_000_000_000 + s.us * 1000);
            let mut r = packet_with_window(time, to, s.numbers, (s.flags, s.window), &s.options, &payload);
            if s.damaged {
                let header = if self.v6 { 40 } else { 20 };
                r.octets[header + 16] ^= 0x5a;
            }
            r
        };
        let mut records: Vec<Record> = self.segments.iter().map(record).collect();
        records.sort_by_key(|r| r.time);
        records
    }

    pub fn file(&self) -> Vec<u8> {
        pcap(&self.records(), false, true, 101, &[])
    }

    /// What is found, over IPv4 and, the same, over IPv6.
    #[track_caller]
    pub fn analysed(&self) -> Value {
        let mut found = analysed(&self.file()).summary;
        let mut other = analysed(&Self { v6: true, ..self.clone() }.file()).summary;
        // Names have other addresses, and packets longer headers.
        let strip = |v: &mut Value| {
            for f in v["subflows"].as_array_mut().into_iter().flatten() {
                ["client", "server"].iter().for_each(|name| f[*name] = Value::Null);
                ["delivered_wire_bytes", "best_mbps"].iter().for_each(|name| f["diagnosis"][*name] = Value::Null);
            }
        };
        if found["connections"].is_null() {
            let (mut a, mut b) = (found.clone(), other.take());
            [&mut a, &mut b].into_iter().for_each(|v| {
                v["name"] = Value::Null;
                strip(v);
            });
            for (key, value) in a.as_object().expect("an object") {
                assert_eq!(value, &b[key], "IPv4 and IPv6: {key}");
            }
        }
        found.take()
    }
}

pub fn flow(s: &Value) -> &Value {
    &s["subflows"][0]
}

#[track_caller]
pub fn all(found: &Value, wanted: &[(&str, u64)]) {
    for (key, value) in wanted {
        assert_eq!(count(&found[*key]), *value, "{key}");
    }
}

pub fn deliveries(s: &Value) -> Vec<u64> {
    let connections = s["connections"].as_array();
    connections.map_or_else(
        || vec![count(&s["bytes_delivered"])],
        |all| all.iter().map(|c| count(&c["bytes_delivered"])).collect(),
    )
}

// ---- offload -------------------------------------------------------------------------------------------------------

/// A download at its client; the `n`-th of twelve pairs of records is `record(tape, us, first octet)`, which returns how many octets it has.
fn download(record: impl Fn(&mut Tape, u64, u32) -> u32) -> Value {
    let mut t = Tape::default();
    t.handshake(0, (1000, 2000)).data(21_000, C, (1001, 2001), 100).seg(41_000, S, "A", (2001, 1101));
    let mut seq = 2001;
    for n in 0..12_u64 {
        let us = 42_000 + n * 20_000;
        t.data(us, S, (seq, 1101), 1460).seg(us + 40, C, "A", (1101, seq + 1460));
        seq += 1460;
        seq += record(&mut t, us + 1000, seq);
    }
    t.seg(300_000, C, "FA", (1101, seq)).seg(320_000, S, "FA", (seq, 1102)).seg(320_040, C, "A", (1102, seq + 1));
    t.analysed()
}

/// Three segments in one record, longer than the MSS: its checksum never was on the wire.
#[test]
fn the_checksum_of_merged_segments_says_nothing() {
    let s = download(|t, us, seq| {
        t.data(us, S, (seq, 1101), 4380).damaged().seg(us + 40, C, "A", (1101, seq + 4380));
        4380
    });
    all(flow(&s), &[("damaged", 0), ("bytes_sent", 70_080), ("unseen_bytes", 0), ("missing_bytes", 0)]);
    assert_eq!((deliveries(&s), &s["ooo_ratio"]), (vec![70_080], &json!(0.0)));
}

/// Two small segments in one record, no longer than the MSS. Before it is acknowledged another segment comes.
#[test]
fn a_record_that_is_acknowledged_and_does_not_come_again_was_not_damaged() {
    let s = download(|t, us, seq| {
        t.data(us, S, (seq, 1101), 1000).damaged().data(us + 10, S, (seq + 1000, 1101), 700);
        t.seg(us + 40, C, "A", (1101, seq + 1700));
        1700
    });
    all(flow(&s), &[("damaged", 0), ("bytes_sent", 12 * 3160), ("missing_bytes", 0), ("duplicates_arrived", 0)]);
    assert_eq!((deliveries(&s), &s["ooo_ratio"]), (vec![12 * 3160], &json!(0.0)));
}

/// The same record is not acknowledged, what comes behind it is reported by SACK or not, and it comes again.
#[test]
fn a_record_that_comes_again_was_damaged() {
    for sacks in [true, false] {
        let s = download(|t, us, seq| {
            t.data(us, S, (seq, 1101), 1000).damaged().data(us + 10, S, (seq + 1000, 1101), 700);
            t.seg(us + 40, C, "A", (1101, seq));
            if sacks {
                t.sack(seq + 1000, seq + 1700);
            }
            t.data(us + 10_000, S, (seq, 1101), 1000).seg(us + 10_040, C, "A", (1101, seq + 1700));
            1700
        });
        all(flow(&s), &[("damaged", 12), ("missing_bytes", 0)]);
        assert_eq!(deliveries(&s), [12 * 3160]);
        let ooo = number(&s["ooo_ratio"]);
        assert!(ooo > 0.0, "{sacks}: {ooo}");
    }
}

// ---- handshakes ----------------------------------------------------------------------------------------------------

/// The SYN is sent at 0 and at 1 s, answered at 1.05 s; round trips are 1049.9 ms by the data. RFC 6298 3 (Karn): which SYN was answered is
/// not known, unless timestamps tell.
#[test]
fn a_syn_sent_twice_gives_a_round_trip_only_if_a_timestamp_tells_which_was_answered() {
    let mut t = Tape::default();
    t.seg(0, C, "S", (1000, 0)).seg(1_000_000, C, "S", (1000, 0)).seg(1_050_000, S, "SA", (2000, 1001));
    t.seg(1_050_100, C, "A", (1001, 2001)).data(1_060_000, C, (1001, 2001), 1460).data(
        1_060_100,
        C,
        (2461, 2001),
        1460,
    );
    t.seg(2_050_000, S, "SA", (2000, 1001)).seg(2_050_100, C, "A", (1001, 2001)).seg(2_110_000, S, "A", (2001, 3921));
    t.seg(2_200_000, C, "FA", (3921, 2001)).seg(3_249_900, S, "FA", (2001, 3922)).seg(3_250_000, C, "A", (3922, 2002));
    let s = t.analysed();
    close(number(&flow(&s)["rtt_min_ms"]), 1049.9, 1e-6);
    close(number(&flow(&s)["diagnosis"]["base_rtt_ms"]), 1049.9, 1e-6);
    close(number(&flow(&s)["diagnosis"]["rtt_max_ms"]), 1050.0, 0.2);
    assert_eq!(flow(&s)["captured_at"], json!(["client"]));

    for (echo, rtt) in [(2000, 50.0), (1000, 1050.0)] {
        let mut t = Tape::default();
        t.seg(0, C, "S", (1000, 0)).stamped(1000, 0).seg(1_000_000, C, "S", (1000, 0)).stamped(2000, 0);
        t.seg(1_050_000, S, "SA", (2000, 1001)).stamped(7, echo).seg(1_050_100, C, "A", (1001, 2001)).stamped(2050, 7);
        t.data(1_060_000, C, (1001, 2001), 100).stamped(2060, 7);
        let s = t.analysed();
        close(number(&flow(&s)["diagnosis"]["base_rtt_ms"]), rtt, 1e-6);
    }
}

/// At the server, a SYN/ACK that is sent twice gives none, either: neither 1050 ms nor 50.
#[test]
fn a_syn_ack_sent_twice_gives_no_round_trip() {
    let mut t = Tape::default();
    t.seg(0, C, "S", (1000, 0)).seg(100, S, "SA", (2000, 1001)).seg(1_000_000, S, "SA", (2000, 1001));
    t.seg(1_050_000, C, "A", (1001, 2001)).data(1_051_000, S, (2001, 1001), 1000);
    t.seg(1_121_000, C, "A", (1001, 3001));
    let s = t.analysed();
    close(number(&flow(&s)["rtt_min_ms"]), 70.0, 1e-6);
    close(number(&flow(&s)["diagnosis"]["base_rtt_ms"]), 70.0, 1e-6);
}

/// Several servers answer one SYN, or one server with another number each time (SYN cookies); after the handshake the others send their
/// SYN/ACKs again.
#[test]
fn of_several_syn_acks_the_one_counts_that_is_acknowledged() {
    for chosen in 0..3_u32 {
        let numbers = [3_114_480_110, 2000, 77_000_u32];
        let mut t = Tape::default();
        t.seg(0, C, "S", (1000, 0)).seg(1_000_000, C, "S", (1000, 0));
        for (n, seq) in numbers.into_iter().enumerate() {
            t.seg(1_010_000 + n as u64 * 100, S, "SA", (seq, 1001)).window(1000 + n as u16);
        }
        let first = numbers[chosen as usize] + 1;
        t.seg(1_010_500, C, "A", (1001, first)).data(1_011_000, C, (1001, first), 100);
        for (n, seq) in numbers.into_iter().enumerate().filter(|(n, _)| *n != chosen as usize) {
            let us = 1_012_000 + n as u64 * 100;
            // RFC 5961 4.2: a challenge ACK answers a SYN.
            t.seg(us, S, "SA", (seq, 1001)).seg(us + 50, C, "A", (1101, first));
        }
        t.seg(1_021_000, S, "A", (first, 1101)).data(1_021_100, S, (first, 1101), 1000);
        t.seg(1_021_140, C, "A", (1101, first + 1000)).seg(1_030_000, C, "FA", (1101, first + 1000));
        t.seg(1_040_000, S, "FA", (first + 1000, 1102)).seg(1_040_050, C, "A", (1102, first + 1001));
        let s = t.analysed();
        assert_eq!((deliveries(&s), &s["status"]), (vec![1000], &json!("completed")), "{chosen}");
        all(&s, &[("missing_bytes", 0), ("bytes_back", 100)]);
        all(flow(&s), &[("stray_packets", 4), ("bytes_sent", 1000)]);
        // Two SYNs: no round trip of theirs.
        close(number(&flow(&s)["diagnosis"]["base_rtt_ms"]), 10.0, 1e-6);
    }
}

/// RFC 9293 3.5: both sides send SYNs; and a SYN that is recorded after its answer, as on hosts that stamp both directions apart.
#[test]
fn a_syn_of_the_other_side_or_after_its_answer_opens_no_second_connection() {
    let mut t = Tape::default();
    t.seg(0, C, "S", (1000, 0)).seg(5000, S, "S", (2000, 0)).seg(5050, C, "SA", (1000, 2001));
    t.seg(20_000, S, "SA", (2000, 1001)).data(30_000, C, (1001, 2001), 1000).seg(50_000, S, "A", (2001, 2001));
    let s = t.analysed();
    assert_eq!((deliveries(&s), count(&s["capture"]["tcp_connections"])), (vec![1000], 1));
    assert_eq!(flow(&s)["opening"], "syn");

    let mut t = Tape::default();
    t.seg(0, S, "SA", (2000, 1001)).seg(20, C, "S", (1000, 0)).seg(120, C, "A", (1001, 2001));
    t.data(1000, C, (1001, 2001), 1000).seg(1100, S, "A", (2001, 2001));
    let s = t.analysed();
    assert_eq!((deliveries(&s), count(&s["capture"]["tcp_connections"])), (vec![1000], 1));
}

/// RFC 7413: data in the SYN, taken (as the client's and the server's capture have it) or refused.
#[test]
fn data_in_a_syn_count_if_the_syn_ack_takes_them() {
    for (answer, taken) in [(20_000, true), (50, true), (20_000, false)] {
        let (next, seq) = if taken { (1501, 1501) } else { (1501, 1001) };
        let mut t = Tape::default();
        t.seg(0, C, "S", (1000, 0)).last().len = 500;
        t.seg(answer, S, "SA", (2000, seq)).seg(20_050, C, "A", (seq, 2001));
        if !taken {
            t.data(20_060, C, (1001, 2001), 500).seg(40_060, S, "A", (2001, next));
        }
        t.data(50_000, C, (next, 2001), 1000).seg(50_000 + answer, S, "A", (2001, next + 1000));
        let s = t.analysed();
        assert_eq!((deliveries(&s), count(&s["missing_bytes"])), (vec![1500], 0), "{answer} {taken}");
        all(flow(&s), &[("bytes_sent", if taken { 1500 } else { 2000 }), ("retransmissions", u64::from(!taken))]);
    }
}
