//! Local ports (RFC 6056) and timestamp offsets (RFC 7323 5.4) of a host, which an off-path
//! attacker must not be able to guess.

use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;

use super::endpoint::Endpoint;
use super::identity::Addresses;
use super::keep::Keep;
use crate::mptcp::keys;

impl<K: Keep> Endpoint<K> {
    /// Draws a random local port from 1024 to 65535 for a connection from the address `local` to
    /// `remote` (RFC 6056 3.2, 3.3.1). Skips ports that listen and ports whose 4-tuple is in use.
    /// Returns `None` if no port is free.
    pub fn draw_port(&mut self, local: IpAddr, remote: SocketAddr) -> Option<u16> {
        self.draw_port_within(1024..=u16::MAX, local, remote)
    }

    /// Like [`Endpoint::draw_port`], from the ports in `range`.
    pub fn draw_port_within(&mut self, range: RangeInclusive<u16>, local: IpAddr, remote: SocketAddr) -> Option<u16> {
        let (first, count) = (u32::from(*range.start()), range.len() as u32);
        let start = self.entropy.next_u32().checked_rem(count)?;
        (0..count).map(|step| (first + (start + step) % count) as u16).find(|&port| {
            let addresses = Addresses { local: SocketAddr::new(local, port), remote };
            !self.listening.contains_key(&port) && self.find(addresses).is_none()
        })
    }

    /// Timestamp offset of a subflow with this 4-tuple, in milliseconds; 0 in virtual time.
    pub(super) fn timestamp_offset(&self, addresses: Addresses) -> u32 {
        self.offsets.map_or(0, |secret| keys::timestamp_offset(&secret, addresses.local, addresses.remote))
    }
}
