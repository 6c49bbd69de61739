//! Who keeps the octets of the connections of an endpoint.

use core::fmt::Debug;

use super::octets::{Incoming, Outgoing};
use crate::Connection;

mod sealed {
    pub trait Sealed {}
}

/// What keeps the octets of one connection: [`Octets`] or [`ByReference`].
pub trait Keep: Default + Debug + sealed::Sealed {
    /// Stores octets that have arrived at offset `data` of the peer's stream, which is in order up
    /// to `in_order`. Returns true if the driver stores them and has to be told.
    #[doc(hidden)]
    fn place(&mut self, data: u64, octets: &[u8], in_order: u64) -> bool;

    /// Releases octets that `connection` will not send again.
    #[doc(hidden)]
    fn trim(&mut self, connection: &Connection);

    /// Numbers of octets kept: ours, and the peer's.
    #[doc(hidden)]
    fn buffered(&self) -> (usize, usize);
}

/// The endpoint keeps the octets.
#[derive(Debug, Default)]
pub struct Octets {
    pub(super) outgoing: Outgoing,
    pub(super) incoming: Incoming,
}

/// The driver keeps the octets: segments refer to them by their offset in the stream.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByReference;

impl sealed::Sealed for Octets {}
impl sealed::Sealed for ByReference {}

impl Keep for Octets {
    fn place(&mut self, data: u64, octets: &[u8], in_order: u64) -> bool {
        self.incoming.place(data, octets, in_order);
        false
    }

    fn trim(&mut self, connection: &Connection) {
        self.outgoing.trim(connection);
    }

    fn buffered(&self) -> (usize, usize) {
        (self.outgoing.len(), self.incoming.len())
    }
}

impl Keep for ByReference {
    fn place(&mut self, _: u64, _: &[u8], _: u64) -> bool {
        true
    }

    fn trim(&mut self, _: &Connection) {}

    fn buffered(&self) -> (usize, usize) {
        (0, 0)
    }
}
