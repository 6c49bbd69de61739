//! What the engine tells its driver: the only source of traces and metrics.

use core::fmt;
use core::net::IpAddr;
use core::num::NonZeroU16;
use std::collections::VecDeque;

use crate::controller::Cause;
use crate::segment::TcpRst;

/// Number of a subflow in its connection, in order of opening; that of a join which came to nothing is given again, after its
/// [`Event::SubflowEnded`]. A subflow is one 4-tuple; the driver keeps the addresses.
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
#[non_exhaustive]
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
    /// All that was written is out, and the send buffer takes no more before some of it is acknowledged.
    SendBuffer,
}

impl Limit {
    /// All of them, in order of their numbers.
    pub const ALL: [Self; 4] = [Self::Application, Self::Cwnd, Self::ReceiveWindow, Self::Scheduler];
}

/// Why a subflow ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndReason {
    /// Orderly: both FINs are acknowledged.
    Finished,
    /// The peer reset it.
    Reset,
    /// Too many retransmissions without an answer (RFC 9293 3.8.3).
    TimedOut,
    /// A join failed its authentication or the peer did not accept it.
    Refused,
    /// Its address was removed, ours or the peer's (RFC 8684 3.4.2).
    Removed,
    /// The whole connection was closed at once (RFC 8684 3.5).
    FastClosed,
    /// A middlebox took its options or changed its data (RFC 8684 3.7).
    Middlebox,
    /// Data came that no application will read: it has closed (RFC 1122 4.2.2.13).
    Unread,
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Finished => "closed",
            Self::Reset => "reset by the peer",
            Self::TimedOut => "no answer from the peer",
            Self::Refused => "refused",
            Self::Removed => "address removed",
            Self::FastClosed => "closed at once",
            Self::Middlebox => "a middlebox took options or changed data",
            Self::Unread => "closed, with data unread",
        })
    }
}

/// Why a connection went on as plain TCP (RFC 8684 3.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FallbackCause {
    /// The SYN had no MP_CAPABLE, or none that had it was answered.
    Syn,
    /// The SYN/ACK had none.
    SynAck,
    /// The third ACK had none.
    ThirdAck,
    /// The first data, or their acknowledgement, came without a DSS option.
    Options,
    /// A checksum failed on the only subflow, ours or the peer's (MP_FAIL).
    Checksum,
    /// The peer sent an infinite mapping.
    InfiniteMapping,
}

/// Events not yet polled, oldest first.
pub(crate) type Events = VecDeque<Event>;

/// Something happened.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
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
        /// Its port, if it is not that of the connection.
        port: Option<NonZeroU16>,
    },
    /// An address of the peer is gone (REMOVE_ADDR).
    RemoteAddressRemoved {
        /// The peer's identifier of the address.
        id: u8,
    },
    /// The peer wants a subflow to be a backup, or a regular one again (MP_PRIO, or the flag B of its SYN).
    Priority {
        /// Which subflow.
        subflow: SubflowId,
        /// It is to be used only when no regular one works.
        backup: bool,
    },
    /// The connection goes on as plain TCP on one subflow.
    Fallback {
        /// Which one.
        subflow: SubflowId,
        /// Why.
        cause: FallbackCause,
    },
    /// The checksum of a mapping of the peer does not fit what came (RFC 8684 3.3.1).
    ChecksumFailed {
        /// On which subflow.
        subflow: SubflowId,
        /// First octet of the mapping in the peer's data stream.
        data: u64,
    },
    /// The peer says why it resets a subflow; the end of the subflow follows.
    ResetReason {
        /// Which subflow.
        subflow: SubflowId,
        /// Why (RFC 8684 3.6).
        tcp_rst: TcpRst,
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
