//! What the engine tells its driver: the only source of traces and metrics.

use core::fmt;
use core::net::IpAddr;
use core::num::NonZeroU16;

use crate::controller::Cause;
use crate::segment::{Cookie, TcpRst};

/// Number of a subflow in its connection, in order of opening. The number of a join that failed is used again for a later
/// subflow, after the failed one's [`Event::SubflowEnded`]. A subflow is one 4-tuple; the driver keeps the addresses.
pub type SubflowId = usize;

/// Why a segment is sent.
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
    /// Tail loss probe (RFC 8985 7.3): new data, beyond the congestion window if need be, or the last segment again.
    TailProbe,
}

/// Where an arriving data segment stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArrivalKind {
    /// Next on its subflow and next in the data stream.
    InOrder,
    /// Next on its subflow, ahead in the data stream.
    AheadInData,
    /// Ahead on its subflow: held until the hole before it is filled.
    HeldInSubflow,
    /// Nothing new on its subflow: the subflow's receiver has had these sequence numbers.
    DuplicateInSubflow,
    /// New on its subflow, but its data arrived before on another one: either of the two copies is a reinjection.
    DuplicateInData,
}

/// What keeps a subflow, or the whole connection, from sending new data. Of a subflow the first
/// that applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendBlock {
    /// The subflow is not established: not yet, or no longer.
    NotUp,
    /// The subflow's retransmission timer has expired at least twice in a row without an
    /// acknowledgement.
    Failed,
    /// The subflow repairs a loss: fast recovery, or after a timeout.
    Recovery,
    /// The peer's window is used up. Of a subflow: it takes no full segment, and there is more to
    /// send.
    ReceiveWindow,
    /// No congestion window has room. Of a subflow: its own has none for a full segment or for the
    /// burst that waits, or pacing delays the segment.
    Cwnd,
    /// The scheduler waits for another subflow.
    Scheduler,
    /// All written data were sent. The send buffer is full until a DATA_ACK frees room.
    SendBuffer,
    /// There is nothing new to send.
    Application,
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
    /// The client's SYN had no MP_CAPABLE; or SYNs with MP_CAPABLE went unanswered, and one without it was sent.
    Syn,
    /// The SYN/ACK had no MP_CAPABLE.
    SynAck,
    /// The third ACK had no MP_CAPABLE.
    ThirdAck,
    /// The first data, or their acknowledgement, came without a DSS option.
    Options,
    /// A DSS checksum failed on the only subflow: at this host, or at the peer, which said so with MP_FAIL.
    Checksum,
    /// The peer sent an infinite mapping.
    InfiniteMapping,
}

/// Events not yet polled, oldest first. They are polled until there are none, so the places of those that were are not used again before.
#[derive(Debug, Default)]
pub(crate) struct Events {
    events: Vec<Event>,
    polled: usize,
    /// [`Event::Readable`] is due, before the event with this number.
    readable: Option<usize>,
}

impl Events {
    /// No events.
    pub fn new() -> Self {
        Self::default()
    }

    /// None waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Appends an event.
    #[inline]
    pub fn push_back(&mut self, event: Event) {
        self.events.push(event);
    }

    /// More octets are in order: [`Event::Readable`] follows the events that wait now. It need not be told twice.
    #[inline]
    pub fn note_readable(&mut self) {
        self.readable = Some(self.events.len());
    }

    /// Takes the oldest, [`Event::Readable`] in its place.
    pub fn pop(&mut self) -> Option<Event> {
        if self.readable == Some(self.polled) {
            self.readable = None;
            return Some(Event::Readable);
        }
        let event = self.pop_front();
        if self.events.is_empty() && self.readable.is_some() {
            self.readable = Some(0);
        }
        event
    }

    /// Takes the oldest, without [`Event::Readable`].
    #[inline]
    pub fn pop_front(&mut self) -> Option<Event> {
        let event = *self.events.get(self.polled)?;
        self.polled += 1;
        if self.polled == self.events.len() {
            self.events.clear();
            self.polled = 0;
        }
        Some(event)
    }
}

/// Something happened. Fields of several variants: `subflow` is the number of the subflow that it concerns.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The first subflow is established: data may be written and read.
    Connected,
    /// A subflow may carry data.
    SubflowEstablished(SubflowId),
    /// A subflow ended.
    /// (RFC 9293 3.6, MUST-12: by a FIN or by a RST, the reason says.)
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
    /// The server gives a cookie: what the host caches for its next connection to it (RFC 7413 4.1.3).
    FastOpenCookie {
        /// For [`Connection::request_fast_open`](crate::Connection::request_fast_open).
        cookie: Cookie,
        /// The server's MSS, likewise.
        mss: Option<u16>,
    },
    /// The server has taken none of the SYN's data and given no other cookie, or a SYN with Fast Open's option was not answered: the host
    /// refrains from Fast Open there for a time (RFC 7413 4.1.3.1).
    FastOpenRefused,
    /// A router has said that it did not forward a segment of ours, for a reason that may pass: a soft error (RFC 9293 3.9.2.2).
    SoftError {
        /// Of which subflow.
        subflow: SubflowId,
    },
    /// The connection goes on as plain TCP on one subflow.
    Fallback {
        /// Which one.
        subflow: SubflowId,
        /// Why.
        cause: FallbackCause,
    },
    /// The DSS checksum of a mapping does not match the octets that arrived (RFC 8684 3.3.1).
    ChecksumFailed {
        /// On which subflow.
        subflow: SubflowId,
        /// First octet of the mapping in the peer's data stream.
        data: u64,
    },
    /// The peer's RST says why (MP_TCPRST); [`Event::SubflowEnded`] follows.
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
        /// Where it stands in its subflow and in the data stream.
        kind: ArrivalKind,
        /// The payload is the part of the stream that its mapping names: the reference in the segment and the mapping agree.
        intact: bool,
    },
    /// More octets are in order: [`Connection::read`](crate::Connection::read) returns more than zero.
    Readable,
    /// After a short write, the send buffer has room again. Only
    /// [`Endpoint`](crate::host::Endpoint) reports it.
    Writable,
    /// Further subflows may be opened from now on: the peer has confirmed the keys with its first
    /// DSS (RFC 8684 3.1). Only [`Endpoint`](crate::host::Endpoint) reports it.
    JoinsPossible,
    /// The peer has closed its direction and every octet can be read.
    EndOfStream,
    /// The congestion window changed.
    Window {
        /// The window of which subflow.
        subflow: SubflowId,
        /// Congestion window in octets.
        cwnd: f64,
        /// Slow-start threshold in octets.
        ssthresh: f64,
    },
    /// A loss episode began: the congestion window was cut.
    Congestion {
        /// On which subflow.
        subflow: SubflowId,
        /// What showed the congestion.
        cause: Cause,
    },
    /// The judge has decided on the latest loss episode.
    Judged {
        /// On which subflow.
        subflow: SubflowId,
        /// Spurious: nothing had been lost. Else genuine.
        spurious: bool,
        /// The response undid the reduction of the window.
        restored: bool,
    },
    /// Both directions are closed: everything sent is acknowledged, everything received is read or readable.
    Closed,
    /// The connection failed: its last subflow ended before both directions were closed, or data came that nobody will read.
    Aborted(EndReason),
}
