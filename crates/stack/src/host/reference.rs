//! Segments whose octets the driver keeps.

use super::identity::{Addresses, ConnectionId};
use crate::event::{SendKind, SubflowId};
use crate::segment::{Mptcp, Segment};
use crate::wire;
use crate::wire::checksum::Sum;
use crate::wire::segment::emit_tcp;

/// A segment to send, without its octets.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    /// Source and destination.
    pub addresses: Addresses,
    /// Connection and subflow; `None` for a reset that answers a segment without a connection.
    pub source: Option<(ConnectionId, SubflowId)>,
    /// Why the segment is sent.
    pub kind: SendKind,
    /// The segment. Its payload is a range of the stream. A DSS checksum in it counts the octets as
    /// zero.
    pub segment: Segment,
}

impl Reference {
    /// RFC 8684 3.3.1: adds the sum of the payload's octets to the DSS checksum, if there is one.
    /// The checksum of an infinite mapping stays zero.
    pub fn add_to_checksum(&mut self, octets: Sum) {
        let (len, checksum) = match &mut self.segment.options.mptcp {
            Mptcp::Dss(dss) => match &mut dss.mapping {
                Some(m) => (m.len, &mut m.checksum),
                None => return,
            },
            Mptcp::CapableAck { data: Some((len, checksum)), .. } => (*len, checksum),
            _ => return,
        };
        if let Some(checksum) = checksum.as_mut().filter(|_| len > 0) {
            *checksum = Sum(!*checksum).plus(octets).checksum();
        }
    }

    /// Appends the TCP header with its options to `out`. The checksum of the header is zero:
    /// [`fill_checksum`](crate::wire::tcp::fill_checksum) computes it over header and octets.
    ///
    /// # Errors
    /// If the options do not fit.
    pub fn emit_header(&self, out: &mut Vec<u8>) -> Result<(), wire::Error> {
        emit_tcp(&self.segment, (self.addresses.local.port(), self.addresses.remote.port()), out)
    }
}
