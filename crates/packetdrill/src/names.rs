//! The names that assertions may use: fields of `TCP_INFO`, as Linux has them, and the constants that go with them.

use std::collections::BTreeMap;

use anabranch_stack::tcp::State;
use anabranch_stack::tcp::info::{Info, Recovering};

use super::host::Host;

/// Values by name.
pub type Names = BTreeMap<&'static str, i64>;

/// Constants.
const CONSTANTS: &[(&str, i64)] = &[
    ("TCP_ESTABLISHED", 1),
    ("TCP_SYN_SENT", 2),
    ("TCP_SYN_RECV", 3),
    ("TCP_FIN_WAIT1", 4),
    ("TCP_FIN_WAIT2", 5),
    ("TCP_TIME_WAIT", 6),
    ("TCP_CLOSE", 7),
    ("TCP_CLOSE_WAIT", 8),
    ("TCP_LAST_ACK", 9),
    ("TCP_LISTEN", 10),
    ("TCP_CLOSING", 11),
    ("TCP_CA_Open", 0),
    ("TCP_CA_Disorder", 1),
    ("TCP_CA_CWR", 2),
    ("TCP_CA_Recovery", 3),
    ("TCP_CA_Loss", 4),
    ("TCPI_OPT_TIMESTAMPS", 1),
    ("TCPI_OPT_SACK", 2),
    ("TCPI_OPT_WSCALE", 4),
    ("TCPI_OPT_ECN", 8),
    ("TCPI_OPT_ECN_SEEN", 16),
    ("TCPI_OPT_SYN_DATA", 32),
];

/// Linux shows a slow-start threshold that was never set as this.
const INFINITE: i64 = 0x7fff_ffff;

fn state(state: State) -> i64 {
    let name = match state {
        State::Established => "TCP_ESTABLISHED",
        State::SynSent => "TCP_SYN_SENT",
        State::SynReceived => "TCP_SYN_RECV",
        State::FinWait1 => "TCP_FIN_WAIT1",
        State::FinWait2 => "TCP_FIN_WAIT2",
        State::TimeWait => "TCP_TIME_WAIT",
        State::Closed => "TCP_CLOSE",
        State::CloseWait => "TCP_CLOSE_WAIT",
        State::LastAck => "TCP_LAST_ACK",
        State::Closing => "TCP_CLOSING",
    };
    CONSTANTS.iter().find(|(n, _)| *n == name).map_or(0, |(_, n)| *n)
}

/// The names with their values for the connection that the script is about.
pub fn of(host: &Host) -> Names {
    let mut names: Names = CONSTANTS.iter().copied().collect();
    names.insert("tcpi_state", state(host.state()));
    let mss = host.current.and_then(|flow| host.flows[flow].mss);
    names.insert("tcpi_advmss", mss.map_or(0, i64::from));
    let Some((id, info)) = host.current_info() else {
        host.last_info().iter().for_each(|(id, info)| subflow(&mut names, info, host.is_ours(*id)));
        return names;
    };
    subflow(&mut names, &info, host.is_ours(id));
    let Some(connection) = host.endpoint.connection(id) else { return names };
    let known = host.known.get(&id).cloned().unwrap_or_default();
    names.insert("tcpi_bytes_received", connection.inbound().received() as i64);
    let heard = known.heard.map_or(host.now.0, |at| host.now.since(at).0);
    names.insert("tcpi_last_data_recv", (heard / 1_000_000) as i64);
    names
}

/// Linux counts the SYN, too; with data of ours it is one segment.
fn delivered(info: &Info, opened: bool) -> i64 {
    let with_data = info.syn_data && opened;
    info.delivered as i64 + i64::from(info.syn_is_acked && !with_data)
}

fn subflow(names: &mut Names, info: &Info, opened: bool) {
    let mss = f64::from(info.mss.max(1));
    let microseconds = |d: anabranch_stack::Duration| (d.0 / 1000) as i64;
    let (received, sent) = info.scales.unwrap_or((0, 0));
    let recovering = match info.recovering {
        Recovering::Open => 0,
        Recovering::Disorder => 1,
        Recovering::Cwr => 2,
        Recovering::Fast => 3,
        Recovering::Loss => 4,
    };
    let options = i64::from(info.timestamps)
        | i64::from(info.sack) << 1
        | i64::from(info.scales.is_some()) << 2
        | i64::from(info.ecn) << 3
        | i64::from(info.syn_data) << 5;
    let ssthresh = if info.ssthresh / mss >= INFINITE as f64 { INFINITE } else { (info.ssthresh / mss) as i64 };
    names.extend([
        ("tcpi_ca_state", recovering),
        ("tcpi_backoff", info.backoff.into()),
        ("tcpi_probes", (info.probes + info.keepalives).into()),
        ("tcpi_options", options),
        ("tcpi_snd_wscale", received.into()),
        ("tcpi_rcv_wscale", sent.into()),
        ("tcpi_rto", microseconds(info.rto)),
        ("tcpi_rtt", info.srtt.map_or(0, microseconds)),
        ("tcpi_rttvar", microseconds(info.rttvar)),
        ("tcpi_snd_mss", info.mss.into()),
        ("tcpi_snd_cwnd", (info.cwnd / mss) as i64),
        ("tcpi_snd_ssthresh", ssthresh),
        ("tcpi_unacked", info.in_flight.all.into()),
        ("tcpi_sacked", info.in_flight.sacked.into()),
        ("tcpi_lost", info.in_flight.lost.into()),
        ("tcpi_retrans", info.in_flight.retransmitted.into()),
        ("tcpi_rcv_mss", info.rcv_mss.into()),
        ("tcpi_reordering", info.reordering.into()),
        ("tcpi_min_rtt", info.min_rtt.map_or(0, microseconds)),
        ("tcpi_delivered", delivered(info, opened)),
        ("tcpi_delivered_ce", info.counts.delivered_ce as i64),
        ("tcpi_bytes_acked", info.octets_acked as i64),
        ("tcpi_bytes_sent", info.counts.octets_out as i64),
        ("tcpi_bytes_retrans", info.counts.octets_retransmitted as i64),
        ("tcpi_total_retrans", info.counts.retransmissions as i64),
        ("tcpi_segs_in", info.counts.segments_in as i64),
        ("tcpi_segs_out", info.counts.segments_out as i64),
        ("tcpi_data_segs_in", info.counts.data_segments_in as i64),
        ("tcpi_data_segs_out", info.counts.data_segments_out as i64),
        ("tcpi_notsent_bytes", info.unsent as i64),
        ("tcpi_busy_time", microseconds(info.times.busy)),
        ("tcpi_rwnd_limited", microseconds(info.times.receive_window_limited)),
        ("tcpi_sndbuf_limited", microseconds(info.times.send_buffer_limited)),
    ]);
}
