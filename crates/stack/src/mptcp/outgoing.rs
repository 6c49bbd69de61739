//! Segments to send, as the driver sees them.

use crate::event::{SendKind, SubflowId};
use crate::segment::Segment;

/// A segment to send.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Transmit {
    /// Subflow to send it on.
    pub subflow: SubflowId,
    /// Kind of segment.
    pub kind: SendKind,
    /// Transmissions of this segment on this subflow, including this one; zero without payload.
    pub transmissions: u8,
    /// How many subflows could have sent it; zero if the scheduler was not asked.
    pub choices: u16,
    /// The segment.
    pub segment: Segment,
}

/// What [`Connection::poll_outgoing`](crate::Connection::poll_outgoing) says of a segment to send;
/// the segment itself is [`Connection::outgoing`](crate::Connection::outgoing). As in [`Transmit`],
/// and how long it is.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Outgoing {
    /// Subflow to send it on.
    pub subflow: SubflowId,
    /// Kind of segment.
    pub kind: SendKind,
    /// Transmissions of this segment on this subflow, including this one; zero without payload.
    pub transmissions: u8,
    /// How many subflows could have sent it; zero if the scheduler was not asked.
    pub choices: u16,
    /// [`Segment::wire_len`].
    pub wire_len: u32,
}
