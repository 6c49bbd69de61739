//! What an attacker off the path must not be able to guess of a host beside keys and sequence numbers: its ports (RFC 6056) and the offsets
//! of its timestamps (RFC 7323 5.4).

use std::net::{IpAddr, SocketAddr};

use super::endpoint::{Addresses, Endpoint};
use crate::mptcp::keys;

impl Endpoint {
    /// A local port at random (RFC 6056 3.3.1) that makes a 4-tuple with the address `local` and the peer's `remote` which no connection
    /// has: the range is 1024 to 65535 (3.2) without the ports that listen. `None`: there is none.
    pub fn draw_port(&mut self, local: IpAddr, remote: SocketAddr) -> Option<u16> {
        let (first, count) = (1024_u32, 65_536 - 1024);
        let start = self.entropy.next_u32() % count;
        (0..count).map(|step| (first + (start + step) % count) as u16).find(|&port| {
            let addresses = Addresses { local: SocketAddr::new(local, port), remote };
            !self.listening.contains_key(&port) && self.find(addresses).is_none()
        })
    }

    /// What is added to the timestamps of a subflow with this 4-tuple.
    pub(super) fn timestamp_offset(&self, addresses: Addresses) -> u32 {
        self.offsets.map_or(0, |secret| keys::timestamp_offset(&secret, addresses.local, addresses.remote))
    }
}
