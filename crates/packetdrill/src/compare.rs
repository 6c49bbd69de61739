//! Compares an expected segment with a segment that the engine sent.
//!
//! The comparison covers sequence numbers, flags, acknowledgement number and options. The order and
//! the padding of options do not matter. Window, urgent pointer, ECN field, TOS and TTL are
//! compared if the script names them. An expected segment that is longer than the connection's MSS
//! stands for several segments sent at the same time, the last of them with PSH.

use anabranch_stack::segment::{Dss, Ecn, Flags, Mptcp, Segment, Signal};

use super::ast::{IpFields, Mark, Packet};
use super::flow::Flow;
use super::host::Sent;
use super::mptcp::{Leaving, Mp, Names};
use super::option::{self, Opt};
use super::report::{Step, Stop};

/// Returns a sent segment as the script would write it.
pub fn written(sent: &Sent, flow: &Flow, names: &mut Names) -> Packet {
    let s = &sent.segment;
    let syn = s.flags.has(Flags::SYN);
    let mut options = option::sent(&s.options, flow);
    options.extend(Leaving { names, member: &flow.member }.written(&s.options).into_iter().map(option::Opt::Mptcp));
    Packet {
        flags: s.flags.0,
        accurate: false,
        seq: if syn { 0 } else { flow.to_ours(s.seq) },
        len: sent.len,
        ack: s.flags.has(Flags::ACK).then(|| if syn { flow.to_theirs_in_syn(s.ack) } else { flow.to_theirs(s.ack) }),
        window: Some(s.window),
        urgent: None,
        options: Some(options),
        ..Packet::default()
    }
}

/// Joins `next` to `first` if both could be one longer segment. Returns true if they were joined.
pub fn join(first: &mut Sent, next: &Sent) -> bool {
    let (a, b) = (&mut first.segment, &next.segment);
    let plain = |s: &Segment| !s.flags.has(Flags::SYN) && !s.flags.has(Flags::FIN) && !s.flags.has(Flags::RST);
    let fits = first.at == next.at
        && first.flow == next.flow
        && first.full
        && next.len > 0
        && plain(a)
        && plain(b)
        && b.seq == a.seq.wrapping_add(first.len)
        && (a.ack, a.window, a.ecn) == (b.ack, b.window, b.ecn)
        && continues(a, b, first.len);
    if fits {
        a.flags = Flags(a.flags.0 | b.flags.0);
        first.len += next.len;
        if let (Mptcp::Dss(Dss { mapping: Some(m), data_fin, .. }), Some(&n)) = (&mut a.options.mptcp, b.dss()) {
            (m.len, *data_fin) = (m.len.saturating_add(n.mapping.map_or(0, |n| n.len)), n.data_fin);
        }
        first.full = next.full;
        first.joined = true;
    }
    fits
}

/// Joins `fin` to the data segment `first` if `fin` is a FIN without data that was sent at the same
/// time and follows directly. Returns true if they were joined.
pub fn join_fin(first: &mut Sent, fin: &Sent) -> bool {
    let (a, b) = (&mut first.segment, &fin.segment);
    let bare = Flags::FIN.with(Flags::ACK);
    let fits = first.len > 0 && (first.at, first.flow, fin.len) == (fin.at, fin.flow, 0) && b.flags == bare;
    let follows =
        b.seq == a.seq.wrapping_add(first.len) && (a.ack, a.window) == (b.ack, b.window) && a.options == b.options;
    if fits && follows && !a.flags.has(Flags::FIN) && !a.flags.has(Flags::SYN) {
        a.flags = a.flags.with(Flags::FIN);
        first.apart = true;
        return true;
    }
    false
}

/// Returns true if `a` and `b` have the same options, and if the DSS mapping of `b` continues the
/// mapping of `a`. The payload of `a` is `len` octets long.
fn continues(a: &Segment, b: &Segment, len: u32) -> bool {
    let mut expected = a.options;
    if let (Mptcp::Dss(Dss { mapping: Some(m), data_fin, .. }), Some(n)) = (&mut expected.mptcp, b.dss()) {
        // A DSS checksum covers one mapping, so mappings with checksums cannot be joined.
        let whole = u32::from(m.len) == len && m.checksum.is_none();
        let Some(next) = n.mapping.filter(|_| whole) else { return false };
        (m.dsn, m.ssn, m.len) = (m.dsn.wrapping_add(len.into()), m.ssn.wrapping_add(len), next.len);
        *data_fin = n.data_fin;
    }
    expected == b.options
}

/// Compares `sent` with the expected segment. Returns the differences that are accepted because the
/// RFCs allow them, as texts for notes.
///
/// # Errors
/// If the segments differ in any other way.
pub fn compare(
    expected: &Packet,
    sent: &Sent,
    flow: &mut Flow,
    names: &mut Names,
    exact_stamps: bool,
) -> Step<Vec<&'static str>> {
    let same_mptcp = mptcp(expected, sent, flow, names)?;
    learn_cookie(expected, sent, flow);
    let mut actual = written(sent, flow, names);
    if expected.seq != 0 && actual.flags & Flags::SYN.0 != 0 {
        // Our SYN takes the sequence number in the script. Later sequence numbers are relative to
        // it.
        (actual.seq, flow.our_syn) = (expected.seq, expected.seq);
    }
    let mark = |actual: &Packet| {
        let ip = IpFields { tos: expected.ip.tos.map(|_| sent.ip.tos), ttl: expected.ip.ttl.map(|_| sent.ip.ttl) };
        Packet { mark: expected.mark.map(|_| ecn(sent.segment.ecn)), ip, ..actual.clone() }
    };
    let shown = |actual: &Packet| {
        let mut shown = mark(actual);
        shown.window = expected.window.and(actual.window);
        stamps(&mut shown, flow);
        shown.to_string()
    };
    let push = sent.joined && expected.flags == actual.flags | Flags::PSH.0 && expected.flags != actual.flags;
    let same = (expected.flags == actual.flags || push)
        && (expected.seq, expected.len, expected.ack) == (actual.seq, actual.len, actual.ack)
        && expected.window.is_none_or(|w| Some(w) == actual.window)
        && expected.urgent.is_none_or(|u| u == 0)
        && expected.mark.is_none_or(|m| m == ecn(sent.segment.ecn))
        && expected.ip.tos.is_none_or(|tos| tos == sent.ip.tos)
        && expected.ip.ttl.is_none_or(|ttl| ttl == sent.ip.ttl);
    let text = shown(&actual);
    if !same {
        return Stop::differs(expected, text);
    }
    let notes = [(push, PUSH), (sent.apart, FIN), (std::mem::take(&mut names.spared), DATA_ACK)];
    let notes = notes.into_iter().filter(|(holds, _)| *holds).map(|(_, text)| text).collect();
    let (Some(wanted), Some(found)) = (&expected.options, &actual.options) else { return Ok(notes) };
    if same_mptcp && options(wanted, found, flow, (exact_stamps, names.is_in_use())) {
        Ok(notes)
    } else {
        Stop::differs(expected, text)
    }
}

/// Note on an accepted difference. RFC 9293 3.9.1.2 (MUST-61) requires PSH only on the last queued
/// segment. Linux also sets PSH on each packet that segmentation offload will divide
/// (`tcp_transmit_skb`), so scripts expect it there.
const PUSH: &str = "several segments were sent for this one, and the last of them has no PSH";

/// Note on an accepted difference. RFC 9293 3.10.4 does not say whether the last data segment
/// carries the FIN.
const FIN: &str = "the FIN was sent in a segment of its own after the data";

/// Note on an accepted difference. RFC 8684 3.4.1 requires no DATA_ACK beside ADD_ADDR, and Linux
/// 6.1 sends none.
const DATA_ACK: &str = "the DATA_ACK beside ADD_ADDR would acknowledge nothing new, and was not sent";

/// If the script expects a Fast Open cookie in our SYN/ACK, learns its octets as the script's name
/// for the cookie that was sent.
fn learn_cookie(expected: &Packet, sent: &Sent, flow: &mut Flow) {
    let both = Flags::SYN.0 | Flags::ACK.0;
    let Signal::FastOpen(cookie) = &sent.segment.options.signal else { return };
    for option in expected.options.iter().flatten().filter(|_| expected.flags & both == both) {
        if let Opt::FastOpen(octets, _) = option {
            flow.cookies.learn(octets, cookie);
        }
    }
}

/// Returns true if the MPTCP options match, or if the script accepts any options.
fn mptcp(expected: &Packet, sent: &Sent, flow: &Flow, names: &mut Names) -> Step<bool> {
    let Some(options) = &expected.options else { return Ok(true) };
    let wanted: Vec<&Mp> = options.iter().filter_map(|o| if let Opt::Mptcp(m) = o { Some(m) } else { None }).collect();
    Leaving { names, member: &flow.member }.are(&wanted, &sent.segment.options)
}

fn ecn(ecn: Ecn) -> Mark {
    match ecn {
        Ecn::NotEct => Mark::NotEct,
        Ecn::Ect0 => Mark::Ect0,
        Ecn::Ce => Mark::Ce,
    }
}

/// Replaces our TSvals in `packet` by the script's numbers.
fn stamps(packet: &mut Packet, flow: &Flow) {
    for option in packet.options.iter_mut().flatten() {
        if let Opt::Ts(val, _) = option {
            *val = flow.stamp(*val);
        }
    }
}

/// Returns true if both lists have the same options, MPTCP options excepted, in any order.
fn options(wanted: &[Opt], found: &[Opt], flow: &mut Flow, (exact_stamps, multipath): (bool, bool)) -> bool {
    let meaning = |o: &&Opt| !matches!(o, Opt::Nop | Opt::Eol | Opt::Mptcp(_));
    let (mut wanted, mut found): (Vec<_>, Vec<_>) =
        (wanted.iter().filter(meaning).collect(), found.iter().filter(meaning).collect());
    wanted.sort();
    found.sort();
    wanted.len() == found.len()
        && wanted.iter().zip(found).all(|(w, f)| match (w, f) {
            (Opt::Ts(val, ecr), Opt::Ts(sent, echoed)) => {
                // Scripts of packetdrill's multipath-tcp fork have arbitrary TSecr values.
                let echoes = ecr == echoed || (multipath && !exact_stamps);
                flow.compare_stamp(*val, *sent, exact_stamps).is_ok() && echoes
            }
            (w, f) => *w == f,
        })
}
