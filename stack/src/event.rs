//! What the engine tells its driver: the only source of traces and metrics.

use core::net::IpAddr;
use std::collections::VecDeque;

use crate::controller::Cause;

/// Index of a subflow in its connection, in order of opening. A subflow is one 4-tuple; the driver keeps the addresses.
pub type SubflowId = usize;

/// Why a data segment is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendKind {
    /// No payload.
    Control,
    /// First transmission of these octets on any subflow.
    New,
    /// Retransmission in fast recovery (RFC 6675, RFC 6582).
    Fast,
    /// Retransmission after a timeout.
    Timeout,
    /// Octets already sent on another subflow (RFC 8684 3.3.6).
    Reinjection,
    /// Zero-window probe, first or repeated (RFC 9293 3.8.6.1).
    Probe,
}

/// Where an arriving data segment stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrivalKind {
    /// Next on its subflow and next in the data stream.
    InOrder,
    /// Next on its subflow, ahead in the data stream.
    AheadInData,
    /// Held for a hole in its subflow.
    HeldInSubflow,
    /// Nothing new on its subflow.
    DuplicateInSubflow,
    /// New on its subflow, nothing new in the data stream: a reinjected copy came first, or this is it.
    DuplicateInData,
}

/// Why the sender sends no more just now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// There is nothing (new) to send.
    Application,
    /// No congestion window has room.
    Cwnd,
    /// The peer's window is used up.
    ReceiveWindow,
    /// The scheduler waits for another subflow.
    Scheduler,
}

impl Limit {
    /// All of them, in order of their numbers.
    pub const ALL: [Self; 4] = [Self::Application, Self::Cwnd, Self::ReceiveWindow, Self::Scheduler];
}

/// Why a subflow ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// Orderly: both FINs are acknowledged.
    Finished,
    /// The peer reset it.
    Reset,
    /// Too many retransmissions without an answer (RFC 9293 3.8.3).
    TimedOut,
    /// A join failed its authentication or the peer did not accept it.
    Refused,
}

/// Events not yet polled, oldest first.
pub(crate) type Events = VecDeque<Event>;

/// Something happened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// The first subflow is established: data may be written and read.
    Connected,
    /// A subflow may carry data.
    SubflowEstablished(SubflowId),
    /// A subflow ended.
    SubflowEnded(SubflowId, EndReason),
    /// The peer has another address (ADD_ADDR, authenticated).
    RemoteAddress {
        /// The peer's identifier of the address.
        id: u8,
        /// The address.
        addr: IpAddr,
    },
    /// A data segment arrived.
    Arrived {
        /// On which subflow.
        subflow: SubflowId,
        /// First octet in the peer's data stream.
        data: u64,
        /// Octets.
        len: u32,
        /// Octets that had not arrived on any subflow before.
        fresh: u32,
        /// Where it stands.
        kind: ArrivalKind,
        /// The payload is the one that the mapping promises.
        intact: bool,
    },
    /// More octets can be read.
    Readable,
    /// The peer has closed its direction and every octet can be read.
    EndOfStream,
    /// Window or threshold changed.
    Window {
        /// Of which subflow.
        subflow: SubflowId,
        /// Congestion window in octets.
        cwnd: f64,
        /// Slow-start threshold in octets.
        ssthresh: f64,
    },
    /// A loss episode began.
    Congestion {
        /// On which subflow.
        subflow: SubflowId,
        /// Why.
        cause: Cause,
    },
    /// The latest loss episode was judged.
    Judged {
        /// On which subflow.
        subflow: SubflowId,
        /// Spurious, or genuine.
        spurious: bool,
        /// The window reduction was undone.
        restored: bool,
    },
    /// Everything sent is acknowledged, everything received is read or readable, both directions are closed.
    Closed,
    /// The connection failed: its last subflow ended before it was closed.
    Aborted(EndReason),
}
