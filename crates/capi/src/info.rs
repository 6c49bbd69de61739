//! The state of connections and subflows.

use anabranch_stack::host::Gone;
use anabranch_stack::tcp::State;
use anabranch_stack::tcp::info::Recovering;
use anabranch_stack::time::Instant;

use crate::address::anabranch_tuple;
use crate::host::{anabranch_host, each, guarded};
use crate::opening::gone;
use crate::status::{Sized32, place, put_all};

/// The state of a connection.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct anabranch_connection_info {
    /// Octets of this struct.
    pub size: u32,
    /// Subflows so far, those that have ended included: their numbers are below this one.
    pub subflows: u32,
    /// Octets that can be written now.
    pub writable: u64,
    /// Octets that can be read now.
    pub readable: u64,
    /// Octets written and not acknowledged at data level.
    pub unacknowledged: u64,
    /// Octets of the peer's stream that have arrived in order.
    pub received: u64,
    /// Octets of ours that a host keeps, because they may be sent again; 0 by reference.
    pub kept_out: u64,
    /// Octets of the peer's that a host keeps, because they were not read; 0 by reference.
    pub kept_in: u64,
    /// Token of the connection (RFC 8684 3.2), if `multipath`.
    pub token: u32,
    /// Not 0: Multipath TCP is in use, or being negotiated.
    pub multipath: u8,
    /// Not 0: further subflows may be opened now.
    pub joins_possible: u8,
    /// Zero.
    pub reserved: [u8; 2],
}

// SAFETY: the struct begins with its size.
unsafe impl Sized32 for anabranch_connection_info {}

/// The state of a subflow.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct anabranch_subflow_info {
    /// Octets of this struct.
    pub size: u32,
    /// State of RFC 9293: 0 CLOSED, 1 SYN-SENT, 2 SYN-RECEIVED, 3 ESTABLISHED, 4 FIN-WAIT-1,
    /// 5 FIN-WAIT-2, 6 CLOSE-WAIT, 7 CLOSING, 8 LAST-ACK, 9 TIME-WAIT.
    pub state: u32,
    /// Source and destination.
    pub tuple: anabranch_tuple,
    /// Loss episode in progress: 0 none, 1 reduced for ECN, 2 fast recovery, 3 after a timeout.
    pub recovery: u32,
    /// Payload octets of a full segment.
    pub mss: u32,
    /// Congestion window in octets.
    pub cwnd: f64,
    /// Slow-start threshold in octets; infinite before the first loss.
    pub ssthresh: f64,
    /// Smoothed round-trip time in ns; 0 before the first sample.
    pub srtt: u64,
    /// RTTVAR in ns.
    pub rttvar: u64,
    /// Least round-trip time in ns; 0 before the first sample.
    pub min_rtt: u64,
    /// Retransmission timeout in ns, with its back-off.
    pub rto: u64,
    /// Octets in flight.
    pub in_flight: u64,
    /// Octets of payload acknowledged on the subflow.
    pub octets_acked: u64,
    /// Octets of payload that have arrived in order.
    pub octets_received: u64,
    /// Octets of payload sent, retransmissions included.
    pub octets_sent: u64,
    /// Octets of payload sent again.
    pub octets_retransmitted: u64,
    /// Segments sent.
    pub segments_out: u64,
    /// Segments arrived.
    pub segments_in: u64,
    /// Data segments and FINs sent again.
    pub retransmissions: u64,
}

// SAFETY: the struct begins with its size.
unsafe impl Sized32 for anabranch_subflow_info {}

fn state(state: State) -> u32 {
    match state {
        State::Closed => 0,
        State::SynSent => 1,
        State::SynReceived => 2,
        State::Established => 3,
        State::FinWait1 => 4,
        State::FinWait2 => 5,
        State::CloseWait => 6,
        State::Closing => 7,
        State::LastAck => 8,
        State::TimeWait => 9,
    }
}

/// Writes the state of a connection.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_connection_state(
    host: *mut anabranch_host,
    connection: u64,
    info: *mut anabranch_connection_info,
) -> i32 {
    let call = |host: &mut anabranch_host| {
        // SAFETY: null is refused; else the caller passes a struct that begins with its size.
        let place = unsafe { place(info, "info") }?;
        let kept = each!(host, e => e.buffered(connection.into())).ok_or_else(|| gone(Gone))?;
        let c = each!(host, e => e.connection(connection.into())).ok_or_else(|| gone(Gone))?;
        let described = anabranch_connection_info {
            size: size_of::<anabranch_connection_info>() as u32,
            subflows: c.subflows().len() as u32,
            writable: c.writable(),
            readable: c.inbound().readable(),
            unacknowledged: c.outbound().unacknowledged(),
            received: c.inbound().received(),
            kept_out: kept.0 as u64,
            kept_in: kept.1 as u64,
            token: c.token().unwrap_or(0),
            multipath: c.is_multipath().into(),
            joins_possible: c.join_refusal(None).is_none().into(),
            reserved: [0; 2],
        };
        Ok(place.fill(described))
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

/// Writes the state of a subflow at `now`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_subflow_state(
    host: *mut anabranch_host,
    now: u64,
    connection: u64,
    subflow: u32,
    info: *mut anabranch_subflow_info,
) -> i32 {
    let call = |host: &mut anabranch_host| {
        // SAFETY: null is refused; else the caller passes a struct that begins with its size.
        let place = unsafe { place(info, "info") }?;
        let (now, id) = (host.at(now)?, host.subflow(connection, subflow)?);
        let described = host.describe(now, connection, id).ok_or_else(|| gone(Gone))?;
        Ok(place.fill(described))
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

impl anabranch_host {
    fn describe(&mut self, now: Instant, connection: u64, subflow: usize) -> Option<anabranch_subflow_info> {
        let addresses = each!(self, e => e.addresses(connection.into(), subflow))?;
        let c = each!(self, e => e.connection(connection.into()))?;
        let i = c.info(now, subflow);
        Some(anabranch_subflow_info {
            size: size_of::<anabranch_subflow_info>() as u32,
            state: state(i.state),
            tuple: anabranch_tuple::of(addresses),
            recovery: match i.recovering {
                Recovering::Open | Recovering::Disorder => 0,
                Recovering::Cwr => 1,
                Recovering::Fast => 2,
                Recovering::Loss => 3,
            },
            mss: i.mss,
            cwnd: i.cwnd,
            ssthresh: i.ssthresh,
            srtt: i.srtt.map_or(0, |t| t.0),
            rttvar: i.rttvar.0,
            min_rtt: i.min_rtt.map_or(0, |t| t.0),
            rto: i.rto.0,
            in_flight: i.pipe,
            octets_acked: i.octets_acked,
            octets_received: i.octets_received,
            octets_sent: i.counts.octets_out,
            octets_retransmitted: i.counts.octets_retransmitted,
            segments_out: i.counts.segments_out,
            segments_in: i.counts.segments_in,
            retransmissions: i.counts.retransmissions,
        })
    }
}

/// Writes the numbers of the existing connections to `connections`, in order of opening. `count` is
/// the room in `connections` and becomes their number; `ANABRANCH_SMALL`: there are more than fit,
/// and nothing else is written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_connections(
    host: *mut anabranch_host,
    connections: *mut u64,
    count: *mut usize,
) -> i32 {
    let call = |host: &mut anabranch_host| {
        let all: Vec<u64> = each!(host, e => e.connections().map(u64::from).collect());
        // SAFETY: as `put_all` requires of its caller.
        unsafe { put_all(&all, connections, count, "connections") }
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}
