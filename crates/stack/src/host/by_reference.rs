//! An endpoint whose driver keeps the octets: [`ByReference`].
//!
//! The endpoint counts octets, the driver stores them. What the driver has written is its stream
//! from offset 0 on; a [`Reference`] names the octets of a segment by their offset in this stream.
//! An [`Event::Arrived`](crate::Event::Arrived) names the place of the octets that a segment has
//! brought in the peer's stream, right after the segment was handled: poll the events before the
//! segment's octets are gone. [`Endpoint::read_count`] then says that so many octets of the peer's
//! stream, from the last read on, belong to the application.

use super::endpoint::Endpoint;
use super::error::{Gone, WriteError};
use super::identity::{Addresses, ConnectionId};
use super::keep::ByReference;
use super::octets::in_flight;
use super::reference::Reference;
use crate::segment::Segment;
use crate::time::Instant;

impl Endpoint<ByReference> {
    /// Creates an endpoint whose driver keeps the octets. `secret` is that of [`Endpoint::new`].
    pub fn by_reference(secret: [u8; 32]) -> Self {
        Self::from_secret(secret, Some(secret))
    }

    /// Like [`Endpoint::by_reference`], but timestamps show the driver's clock in ms, without
    /// offset.
    pub fn by_reference_in_virtual_time(secret: [u8; 32]) -> Self {
        Self::from_secret(secret, None)
    }

    /// A segment arrives. `addresses` are as seen from this end. The segment's payload says how
    /// many octets there are ([`payload_of`](crate::wire::segment::payload_of)); its offset counts
    /// for nothing.
    pub fn handle_segment(&mut self, now: Instant, addresses: Addresses, segment: &Segment) {
        self.arrive(now, addresses, segment, &[]);
    }

    /// The next segment to send, if there is one.
    pub fn poll_reference(&mut self, now: Instant) -> Option<Reference> {
        self.next_segment(now)
    }

    /// Writes as many of `octets` octets as the send buffer has room for and returns how many.
    /// Offer the rest again at [`Event::Writable`](crate::Event::Writable).
    ///
    /// # Errors
    /// If the connection is gone, or its direction closed.
    pub fn write_count(&mut self, id: ConnectionId, octets: u64) -> Result<u64, WriteError> {
        self.write_with(id, octets, |_, _| {})
    }

    /// Reads up to `octets` octets that are in order and returns how many.
    ///
    /// # Errors
    /// If the connection is gone.
    pub fn read_count(&mut self, id: ConnectionId, octets: u64) -> Result<u64, Gone> {
        self.with(id, |c| c.read(octets))
    }

    /// Offset in our stream below which nothing will be sent again: the driver may drop these
    /// octets. A subflow that no longer answers holds it back until it ends;
    /// [`Endpoint::still_in_flight`] then names the few octets that are needed. Takes time in
    /// proportion to the segments in flight.
    pub fn needed_from(&self, id: ConnectionId) -> Option<u64> {
        let c = self.connections.get(&id)?;
        let acknowledged = c.written - c.connection.outbound().unacknowledged();
        Some(in_flight(&c.connection, acknowledged).iter().next().map_or(acknowledged, |(start, _)| start))
    }

    /// Ranges of our stream below the data-level acknowledgement, in order, that some subflow may
    /// send again.
    pub fn still_in_flight(&self, id: ConnectionId) -> Option<Vec<(u64, u64)>> {
        let c = self.connections.get(&id)?;
        let acknowledged = c.written - c.connection.outbound().unacknowledged();
        Some(in_flight(&c.connection, acknowledged).iter().collect())
    }
}
