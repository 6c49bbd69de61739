//! IP fragments: of TCP segments and of the packets of tunnels, in any order, cut, incomplete, and too many.

use anabranch_stack::wire::checksum::Sum;

use crate::capture_formats::{MS, Record};
use crate::capture_forms::{connection, essence, file, frame, in_udp, words, wrapped};
use crate::capture_linux::analysed;
use crate::pcap::tshark;
use crate::support::count;

/// The packet in fragments of at most `most` octets of payload, a multiple of eight.
fn fragments(packet: &[u8], most: usize, id: u32) -> Vec<Vec<u8>> {
    let v4 = packet[0] >> 4 == 4;
    let (header, payload) = packet.split_at(if v4 { 20 } else { 40 });
    let last = payload.len().div_ceil(most) - 1;
    let one = |(i, piece): (usize, &[u8])| {
        let (mut out, more, offset) = (header.to_vec(), i < last, (i * most) as u16);
        if v4 {
            out[2..4].copy_from_slice(&(20 + piece.len() as u16).to_be_bytes());
            out[4..6].copy_from_slice(&(id as u16).to_be_bytes());
            out[6..8].copy_from_slice(&((offset / 8) | if more { 0x2000 } else { 0 }).to_be_bytes());
            out[10..12].fill(0);
            let sum = Sum::of(&out).checksum();
            out[10..12].copy_from_slice(&sum.to_be_bytes());
        } else {
            out[4..6].copy_from_slice(&(8 + piece.len() as u16).to_be_bytes());
            let next = std::mem::replace(&mut out[6], 44);
            out.extend([&[next, 0], (offset | u16::from(more)).to_be_bytes().as_slice(), &id.to_be_bytes()].concat());
        }
        [out.as_slice(), piece].concat()
    };
    payload.chunks(most).enumerate().map(one).collect()
}

/// Changes the order of fragments.
type Order = fn(&mut Vec<Vec<u8>>);

/// Each packet longer than `most` in fragments; `order` changes their order.
fn fragmented(records: &[Record], most: usize, order: Order) -> Vec<Record> {
    let one = |(i, r): (usize, &Record)| {
        let mut pieces = fragments(&r.octets, most, 7000 + i as u32);
        match pieces.len() {
            1 => pieces = vec![r.octets.clone()],
            _ => order(&mut pieces),
        }
        pieces.into_iter().map(|octets| Record { time: r.time, sent: octets.len() as u32, octets }).collect::<Vec<_>>()
    };
    records.iter().enumerate().flat_map(one).collect()
}

/// In order, backwards, each one twice; of the TCP segments themselves, and of the tunnel's packets around them.
#[test]
fn fragments_are_reassembled() {
    for v6 in [false, true] {
        let plain = connection(v6, 500);
        let wanted = essence(&file(101, &plain));
        let orders: [Order; 3] = [
            |_| {},
            |pieces| pieces.reverse(),
            |pieces| *pieces = pieces.iter().flat_map(|p| [p.clone(), p.clone()]).collect(),
        ];
        for (i, order) in orders.into_iter().enumerate() {
            let split = fragmented(&plain, 200, order);
            let inner = analysed(&file(101, &split)).summary;
            let told = inner["capture"].clone();
            assert_eq!((count(&told["reassembled_packets"]), count(&told["tcp"])), (41, 87), "order {i}");
            assert_eq!((count(&told["fragments"]), count(&told["incomplete_fragments"])), ([123, 123, 246][i], 0));
            assert!(essence(&file(101, &split)) == wanted, "IPv6 {v6}, order {i}");
            // VXLAN in UDP in IPv4.
            let tunnelled: Vec<Record> = wrapped(&plain, |p, i| {
                let vxlan = [words(&[0x0800_0000, 0x0000_0500]).as_slice(), &frame(p, i)].concat();
                in_udp(4789, &vxlan, i)[14..].to_vec()
            });
            let split = fragmented(&tunnelled, 400, order);
            assert!(essence(&file(101, &split)) == wanted, "around VXLAN, IPv6 {v6}, order {i}");
        }
    }
    let split = fragmented(&connection(false, 500), 200, |_| {});
    let fields = ["tcp.len", "ip.fragment.count"];
    let Some(rows) = tshark(&file(101, &split), "fragmented", "tcp.len == 500", &fields) else { return };
    assert_eq!(rows, vec![vec!["500".to_string(), "3".to_string()]; 41]);
}

/// The snap length cuts the fragments, too: lengths are those that were sent.
#[test]
fn fragments_that_are_cut_have_their_lengths() {
    let mut split = fragmented(&connection(false, 500), 200, |_| {});
    split.iter_mut().for_each(|r| r.octets.truncate(60));
    let summary = analysed(&file(101, &split)).summary;
    assert_eq!((count(&summary["bytes_delivered"]), count(&summary["missing_bytes"])), (20_000, 0));
}

/// A fragment is missing, fragments overlap, a fragment comes too late: the packet is left out, its fragments are counted. Nothing
/// else changes.
#[test]
fn fragments_of_incomplete_packets_are_counted() {
    let plain = connection(false, 500);
    let orders: [(Order, u64); 3] = [
        (|pieces| drop(pieces.pop()), 2),
        (|pieces| drop(pieces.remove(0)), 2),
        // The second one begins eight octets earlier.
        (|pieces| pieces[1][7] -= 1, 3),
    ];
    for (i, (order, seen)) in orders.into_iter().enumerate() {
        let told = analysed(&file(101, &fragmented(&plain, 200, order))).summary["capture"].clone();
        assert_eq!(count(&told["incomplete_fragments"]), 41 * seen, "case {i}");
        assert_eq!((count(&told["reassembled_packets"]), count(&told["tcp"])), (0, 87 - 41));
    }
    // 16 s later (RFC 791 3.1 suggests 15) the rest does not belong to it; 14 s later it does.
    for (late, whole) in [(14_000, 1), (16_000, 0)] {
        let mut pieces = fragmented(&plain[3..4], 200, |_| {});
        pieces[1..].iter_mut().for_each(|r| r.time += late * MS);
        let told = analysed(&file(101, &[plain[..3].to_vec(), pieces].concat())).summary["capture"].clone();
        assert_eq!(count(&told["reassembled_packets"]), whole, "{late} ms");
        assert_eq!(count(&told["incomplete_fragments"]), 3 * (1 - whole), "{late} ms");
    }
}

/// First fragments of 300,000 packets that never become complete, as an attack on reassembly has them.
#[test]
fn fragments_take_a_bounded_amount_of_memory() {
    let plain = connection(false, 500);
    let first = fragments(&plain[3].octets, 400, 0).swap_remove(0);
    let mut all = plain[..3].to_vec();
    for n in 0..300_000_u32 {
        let mut octets = first[..40].to_vec();
        octets[4..6].copy_from_slice(&(n as u16).to_be_bytes());
        octets[13] = (n >> 16) as u8;
        all.push(Record { time: plain[3].time, sent: first.len() as u32, octets });
    }
    all.extend(plain[3..].iter().cloned());
    let told = analysed(&file(101, &all)).summary;
    assert_eq!(count(&told["bytes_delivered"]), 20_000);
    assert_eq!(count(&told["capture"]["incomplete_fragments"]), 300_000);
}
