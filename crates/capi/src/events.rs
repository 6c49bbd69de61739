//! Events.

use std::net::IpAddr;
use std::num::NonZeroU16;

use anabranch_stack::event::{EndReason, Event, FallbackCause};

use crate::address::anabranch_address;
use crate::host::{anabranch_host, each, guarded};
use crate::status::{ANABRANCH_NOTHING, Sized32, place};

/// The first subflow is established.
pub const ANABRANCH_EVENT_CONNECTED: u32 = 1;
/// `subflow` may carry data.
pub const ANABRANCH_EVENT_SUBFLOW_ESTABLISHED: u32 = 2;
/// `subflow` ended; `reason` is an `ANABRANCH_END_` constant.
pub const ANABRANCH_EVENT_SUBFLOW_ENDED: u32 = 3;
/// The peer has the further address `address`, with the identifier `value`.
pub const ANABRANCH_EVENT_REMOTE_ADDRESS: u32 = 4;
/// The peer's address with the identifier `value` is gone.
pub const ANABRANCH_EVENT_REMOTE_ADDRESS_REMOVED: u32 = 5;
/// The peer wants `subflow` to be a backup (`value` 1) or a regular one (0).
pub const ANABRANCH_EVENT_PRIORITY: u32 = 6;
/// The connection goes on as plain TCP on `subflow`; `reason` is an `ANABRANCH_FALLBACK_` constant.
pub const ANABRANCH_EVENT_FALLBACK: u32 = 7;
/// `len` octets have arrived at `offset` of the peer's stream: the first octets of the payload of
/// the segment handled last. Only of hosts by reference.
pub const ANABRANCH_EVENT_ARRIVED: u32 = 8;
/// More octets can be read.
pub const ANABRANCH_EVENT_READABLE: u32 = 9;
/// After a short write there is room again.
pub const ANABRANCH_EVENT_WRITABLE: u32 = 10;
/// Further subflows may be opened from now on.
pub const ANABRANCH_EVENT_JOINS_POSSIBLE: u32 = 11;
/// The peer has closed its direction, and every octet can be read.
pub const ANABRANCH_EVENT_END_OF_STREAM: u32 = 12;
/// Both directions are closed.
pub const ANABRANCH_EVENT_CLOSED: u32 = 13;
/// The connection failed; `reason` is an `ANABRANCH_END_` constant.
pub const ANABRANCH_EVENT_ABORTED: u32 = 14;
/// A loss episode began on `subflow`.
pub const ANABRANCH_EVENT_CONGESTION: u32 = 15;
/// A router did not forward a segment of `subflow`, for a reason that may pass.
pub const ANABRANCH_EVENT_SOFT_ERROR: u32 = 16;
/// Another event of the engine, without details.
pub const ANABRANCH_EVENT_OTHER: u32 = 17;

/// Orderly.
pub const ANABRANCH_END_FINISHED: u32 = 1;
/// The peer reset it.
pub const ANABRANCH_END_RESET: u32 = 2;
/// No answer from the peer.
pub const ANABRANCH_END_TIMED_OUT: u32 = 3;
/// The join failed.
pub const ANABRANCH_END_REFUSED: u32 = 4;
/// Its address was removed.
pub const ANABRANCH_END_REMOVED: u32 = 5;
/// The whole connection was closed at once.
pub const ANABRANCH_END_FAST_CLOSED: u32 = 6;
/// A middlebox took options or changed data.
pub const ANABRANCH_END_MIDDLEBOX: u32 = 7;
/// Data came that no application will read.
pub const ANABRANCH_END_UNREAD: u32 = 8;
/// Another reason.
pub const ANABRANCH_END_OTHER: u32 = 9;

/// The SYN was without MP_CAPABLE.
pub const ANABRANCH_FALLBACK_SYN: u32 = 1;
/// The SYN/ACK was without MP_CAPABLE.
pub const ANABRANCH_FALLBACK_SYN_ACK: u32 = 2;
/// The third ACK was without MP_CAPABLE.
pub const ANABRANCH_FALLBACK_THIRD_ACK: u32 = 3;
/// The first data came without a DSS option.
pub const ANABRANCH_FALLBACK_OPTIONS: u32 = 4;
/// A DSS checksum failed on the only subflow.
pub const ANABRANCH_FALLBACK_CHECKSUM: u32 = 5;
/// The peer sent an infinite mapping.
pub const ANABRANCH_FALLBACK_INFINITE_MAPPING: u32 = 6;
/// Another cause.
pub const ANABRANCH_FALLBACK_OTHER: u32 = 7;

/// Something happened on a connection.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct anabranch_event {
    /// Octets of this struct.
    pub size: u32,
    /// An `ANABRANCH_EVENT_` constant.
    pub kind: u32,
    /// Number of the connection.
    pub connection: u64,
    /// Offset in the peer's stream.
    pub offset: u64,
    /// Octets.
    pub len: u32,
    /// Number of the subflow; `UINT32_MAX` if the event concerns the connection.
    pub subflow: u32,
    /// Why.
    pub reason: u32,
    /// As the kind says.
    pub value: u32,
    /// An address, if the kind says so; its port is 0 if it is that of the connection.
    pub address: anabranch_address,
}

// SAFETY: the struct begins with its size.
unsafe impl Sized32 for anabranch_event {}

/// Takes the next event, oldest first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_poll_event(host: *mut anabranch_host, event: *mut anabranch_event) -> i32 {
    let call = |host: &mut anabranch_host| {
        // SAFETY: null is refused; else the caller passes a struct that begins with its size.
        let place = unsafe { place(event, "event") }?;
        let Some((id, happened)) = each!(host, e => e.poll_event()) else { return Ok(ANABRANCH_NOTHING) };
        host.tell_manager(id, &happened);
        Ok(place.fill(described(id.into(), happened)))
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

fn end(reason: EndReason) -> u32 {
    match reason {
        EndReason::Finished => ANABRANCH_END_FINISHED,
        EndReason::Reset => ANABRANCH_END_RESET,
        EndReason::TimedOut => ANABRANCH_END_TIMED_OUT,
        EndReason::Refused => ANABRANCH_END_REFUSED,
        EndReason::Removed => ANABRANCH_END_REMOVED,
        EndReason::FastClosed => ANABRANCH_END_FAST_CLOSED,
        EndReason::Middlebox => ANABRANCH_END_MIDDLEBOX,
        EndReason::Unread => ANABRANCH_END_UNREAD,
        _ => ANABRANCH_END_OTHER,
    }
}

fn fallback(cause: FallbackCause) -> u32 {
    match cause {
        FallbackCause::Syn => ANABRANCH_FALLBACK_SYN,
        FallbackCause::SynAck => ANABRANCH_FALLBACK_SYN_ACK,
        FallbackCause::ThirdAck => ANABRANCH_FALLBACK_THIRD_ACK,
        FallbackCause::Options => ANABRANCH_FALLBACK_OPTIONS,
        FallbackCause::Checksum => ANABRANCH_FALLBACK_CHECKSUM,
        FallbackCause::InfiniteMapping => ANABRANCH_FALLBACK_INFINITE_MAPPING,
        _ => ANABRANCH_FALLBACK_OTHER,
    }
}

fn described(connection: u64, event: Event) -> anabranch_event {
    let blank = anabranch_event {
        size: size_of::<anabranch_event>() as u32,
        kind: ANABRANCH_EVENT_OTHER,
        connection,
        offset: 0,
        len: 0,
        subflow: u32::MAX,
        reason: 0,
        value: 0,
        address: anabranch_address::default(),
    };
    let of = |kind| anabranch_event { kind, ..blank };
    let on = |kind, subflow| anabranch_event { kind, subflow: subflow as u32, ..blank };
    let at = |addr: IpAddr, port: Option<NonZeroU16>| anabranch_address::of(addr, port.map_or(0, NonZeroU16::get));
    match event {
        Event::Connected => of(ANABRANCH_EVENT_CONNECTED),
        Event::SubflowEstablished(subflow) => on(ANABRANCH_EVENT_SUBFLOW_ESTABLISHED, subflow),
        Event::SubflowEnded(subflow, reason) => {
            anabranch_event { reason: end(reason), ..on(ANABRANCH_EVENT_SUBFLOW_ENDED, subflow) }
        }
        Event::RemoteAddress { id, addr, port } => {
            anabranch_event { value: id.into(), address: at(addr, port), ..of(ANABRANCH_EVENT_REMOTE_ADDRESS) }
        }
        Event::RemoteAddressRemoved { id } => {
            anabranch_event { value: id.into(), ..of(ANABRANCH_EVENT_REMOTE_ADDRESS_REMOVED) }
        }
        Event::Priority { subflow, backup } => {
            anabranch_event { value: backup.into(), ..on(ANABRANCH_EVENT_PRIORITY, subflow) }
        }
        Event::Fallback { subflow, cause } => {
            anabranch_event { reason: fallback(cause), ..on(ANABRANCH_EVENT_FALLBACK, subflow) }
        }
        Event::Arrived { subflow, data, len, .. } => {
            anabranch_event { offset: data, len, ..on(ANABRANCH_EVENT_ARRIVED, subflow) }
        }
        Event::Readable => of(ANABRANCH_EVENT_READABLE),
        Event::Writable => of(ANABRANCH_EVENT_WRITABLE),
        Event::JoinsPossible => of(ANABRANCH_EVENT_JOINS_POSSIBLE),
        Event::EndOfStream => of(ANABRANCH_EVENT_END_OF_STREAM),
        Event::Closed => of(ANABRANCH_EVENT_CLOSED),
        Event::Aborted(reason) => anabranch_event { reason: end(reason), ..of(ANABRANCH_EVENT_ABORTED) },
        Event::Congestion { subflow, .. } => on(ANABRANCH_EVENT_CONGESTION, subflow),
        Event::SoftError { subflow } => on(ANABRANCH_EVENT_SOFT_ERROR, subflow),
        _ => blank,
    }
}
