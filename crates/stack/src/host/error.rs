//! Why an [`Endpoint`](super::Endpoint) does not do what the application asks for.

use std::fmt;
use std::net::IpAddr;

use super::identity::Addresses;
use crate::mptcp::connection::JoinRefusal;

/// The connection does not exist, or not any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone;

impl fmt::Display for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the connection has ended and was forgotten: open another one")
    }
}

impl std::error::Error for Gone {}

/// Why nothing can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteError {
    /// The connection does not exist, or not any more.
    Gone,
    /// Our direction is closed: by [`Endpoint::shutdown_write`](super::Endpoint::shutdown_write), or because the connection has ended.
    Closed,
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone => Gone.fmt(f),
            Self::Closed => {
                f.write_str("nothing can be written after shutdown_write, close or the end of the connection")
            }
        }
    }
}

impl std::error::Error for WriteError {}

/// The 4-tuple belongs to another connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InUse(pub Addresses);

impl fmt::Display for InUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {} is in use: take another local port", self.0.local, self.0.remote)
    }
}

impl std::error::Error for InUse {}

/// Why a subflow cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinError {
    /// The connection does not exist, or not any more.
    Gone,
    /// The 4-tuple belongs to another subflow.
    InUse(Addresses),
    /// All 256 address identifiers of the connection (RFC 8684 3.2) belong to other addresses.
    NoIdentifier(IpAddr),
    /// The connection does not take one.
    Refused(JoinRefusal),
}

impl JoinError {
    /// Returns true if the connection can never open this subflow, false if a later attempt may
    /// succeed.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Gone | Self::NoIdentifier(_) => true,
            Self::InUse(_) => false,
            Self::Refused(refusal) => refusal.is_final(),
        }
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone => Gone.fmt(f),
            Self::InUse(addresses) => InUse(*addresses).fmt(f),
            Self::NoIdentifier(address) => AdvertiseError::NoIdentifier(*address).fmt(f),
            Self::Refused(refusal) => refusal.fmt(f),
        }
    }
}

impl std::error::Error for JoinError {}

/// Why an address cannot be advertised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdvertiseError {
    /// The connection does not exist, or not any more.
    Gone,
    /// All 256 address identifiers of the connection (RFC 8684 3.2) belong to other addresses.
    NoIdentifier(IpAddr),
}

impl fmt::Display for AdvertiseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone => Gone.fmt(f),
            Self::NoIdentifier(address) => {
                write!(
                    f,
                    "no identifier is left for {address}: the connection has used 256 addresses; open another one"
                )
            }
        }
    }
}

impl std::error::Error for AdvertiseError {}
