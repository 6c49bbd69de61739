//! An expected segment beside one that was sent.
//!
//! Compared are the sequence numbers, the flags, the acknowledgement number, the options by meaning (their order and padding are the
//! sender's own affair), and, if the script names them, window, urgent pointer and ECN field. A segment that the script writes longer
//! than segments of the connection can be stands for several that leave at once, the last one with PSH.

use anabranch_stack::segment::{Dss, Ecn, Flags, Mptcp, Segment, Signal};

use super::ast::{IpFields, Mark, Packet};
use super::flow::Flow;
use super::host::Sent;
use super::mptcp::{Leaving, Mp, Names};
use super::option::{self, Opt};
use super::report::{Step, Stop};

/// A segment that was sent, as the script would write it.
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

/// Joins `next` to what came before if both could be one longer segment.
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

/// Joins `fin`, a FIN without data, to the data before it.
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

/// The options of both are the same, and the mapping of the second continues that of the first, which is `len` octets long.
fn continues(a: &Segment, b: &Segment, len: u32) -> bool {
    let mut expected = a.options;
    if let (Mptcp::Dss(Dss { mapping: Some(m), data_fin, .. }), Some(n)) = (&mut expected.mptcp, b.dss()) {
        // A checksum covers its own mapping only.
        let whole = u32::from(m.len) == len && m.checksum.is_none();
        let Some(next) = n.mapping.filter(|_| whole) else { return false };
        (m.dsn, m.ssn, m.len) = (m.dsn.wrapping_add(len.into()), m.ssn.wrapping_add(len), next.len);
        *data_fin = n.data_fin;
    }
    expected == b.options
}

/// Compares `sent` with what the script expects. Returns what of the expectation was not met and makes no difference.
///
/// # Errors
/// If they differ.
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
        // A SYN has the number that the script gives it; all others count from it.
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

/// RFC 9293 3.9.1.2 (MUST-61) asks for PSH only on the last segment there is to send. Linux sets it on each packet that the interface
/// takes apart, as the script writes it (`tcp_transmit_skb`).
const PUSH: &str = "this segment stands for several, and the last of them was sent without PSH";

/// RFC 9293 3.10.4 leaves open whether a FIN leaves with the last data.
const FIN: &str = "the FIN left in a segment of its own behind the data";

/// RFC 8684 3.4.1 asks for no DATA_ACK beside ADD_ADDR, and Linux 6.1 sends none.
const DATA_ACK: &str = "the DATA_ACK beside ADD_ADDR acknowledges nothing new, and was not sent";

/// The octets of a cookie that our SYN/ACK is expected to have are the script's name for the cookie that it has.
fn learn_cookie(expected: &Packet, sent: &Sent, flow: &mut Flow) {
    let both = Flags::SYN.0 | Flags::ACK.0;
    let Signal::FastOpen(cookie) = &sent.segment.options.signal else { return };
    for option in expected.options.iter().flatten().filter(|_| expected.flags & both == both) {
        if let Opt::FastOpen(octets, _) = option {
            flow.cookies.learn(octets, cookie);
        }
    }
}

/// Whether the MPTCP options are those that are expected.
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

/// Shows timestamps in the script's numbers.
fn stamps(packet: &mut Packet, flow: &Flow) {
    for option in packet.options.iter_mut().flatten() {
        if let Opt::Ts(val, _) = option {
            *val = flow.stamp(*val);
        }
    }
}

/// Both have the same options.
fn options(wanted: &[Opt], found: &[Opt], flow: &mut Flow, (exact_stamps, multipath): (bool, bool)) -> bool {
    let meaning = |o: &&Opt| !matches!(o, Opt::Nop | Opt::Eol | Opt::Mptcp(_));
    let (mut wanted, mut found): (Vec<_>, Vec<_>) =
        (wanted.iter().filter(meaning).collect(), found.iter().filter(meaning).collect());
    wanted.sort();
    found.sort();
    wanted.len() == found.len()
        && wanted.iter().zip(found).all(|(w, f)| match (w, f) {
            (Opt::Ts(val, ecr), Opt::Ts(sent, echoed)) => {
                // Scripts of the multipath-tcp fork write any TSecr.
                let echoes = ecr == echoed || (multipath && !exact_stamps);
                flow.compare_stamp(*val, *sent, exact_stamps).is_ok() && echoes
            }
            (w, f) => *w == f,
        })
}
