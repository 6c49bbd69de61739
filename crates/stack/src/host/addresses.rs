//! What a program says of its addresses: which it has besides the first, and which subflows are backups (RFC 8684 3.3.8, 3.4).

use std::net::IpAddr;
use std::num::NonZeroU16;

use super::endpoint::Endpoint;
use super::error::{AdvertiseError, Gone};
use super::identity::ConnectionId;
use super::keep::Keep;
use crate::event::SubflowId;

impl<K: Keep> Endpoint<K> {
    /// Tells the peer of a further address of ours (RFC 8684 3.4.1).
    ///
    /// # Errors
    /// If the connection is gone, or 256 other addresses of ours have identifiers.
    pub fn advertise(&mut self, id: ConnectionId, address: IpAddr) -> Result<(), AdvertiseError> {
        self.advertise_port(id, address, None)
    }

    /// Like [`Endpoint::advertise`], with the port to join if it is not that of the first subflow.
    ///
    /// # Errors
    /// As [`Endpoint::advertise`].
    pub fn advertise_port(
        &mut self,
        id: ConnectionId,
        address: IpAddr,
        port: Option<NonZeroU16>,
    ) -> Result<(), AdvertiseError> {
        let advertised = self.with(id, |c| c.advertise(address, port)).map_err(|Gone| AdvertiseError::Gone)?;
        advertised.ok_or(AdvertiseError::NoIdentifier(address))
    }

    /// Gives a further address of ours its identifier (RFC 8684 3.2), before it is advertised or joined from. Without this call it gets
    /// the lowest that is free.
    ///
    /// # Errors
    /// If the connection is gone, or the address or the identifier belongs to another one.
    pub fn identify(&mut self, id: ConnectionId, address: IpAddr, identifier: u8) -> Result<(), AdvertiseError> {
        let identified = self.with(id, |c| c.identify(address, identifier)).map_err(|Gone| AdvertiseError::Gone)?;
        identified.ok_or(AdvertiseError::NoIdentifier(address))
    }

    /// An address of ours is gone: resets its subflows and tells the peer (RFC 8684 3.4.2).
    ///
    /// # Errors
    /// If the connection is gone.
    pub fn withdraw(&mut self, id: ConnectionId, address: IpAddr) -> Result<(), Gone> {
        self.with(id, |c| c.withdraw(address))
    }

    /// Asks the peer to use a subflow only when no regular one works, or as a regular one again (RFC 8684 3.3.8).
    ///
    /// # Errors
    /// If the connection is gone.
    pub fn set_backup(&mut self, id: ConnectionId, subflow: SubflowId, backup: bool) -> Result<(), Gone> {
        self.with(id, |c| c.connection.set_backup(subflow, backup))
    }

    /// Says whether subflows that the peer opens to `address` from now on are backups: the SYN/ACK of
    /// such a join carries flag B (RFC 8684 3.2). At first they are regular subflows.
    ///
    /// # Errors
    /// If the connection is gone.
    pub fn set_backup_address(&mut self, id: ConnectionId, address: IpAddr, backup: bool) -> Result<(), Gone> {
        self.with(id, |c| c.set_backup_address(address, backup))
    }
}
