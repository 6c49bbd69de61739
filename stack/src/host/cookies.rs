//! Fast Open's cookies (RFC 7413): those that this host makes for clients, and those that servers have given it.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use super::endpoint::Addresses;
use crate::Config;
use crate::mptcp::keys::{Entropy, fast_open_cookie};
use crate::segment::Cookie;

/// Servers whose cookies are kept; another one takes the place of the first in order.
const SERVERS: usize = 1024;

/// A server's cookie and MSS.
type Known = (Cookie, Option<u16>);

/// Cookies of one host.
#[derive(Debug, Default)]
pub(super) struct Cookies {
    secret: Option<[u8; 32]>,
    /// By 4.1.3 and 4.1.3.1 for each client address, server address and port: cookie and MSS, or `None` after a refusal.
    cache: BTreeMap<(IpAddr, SocketAddr), Option<Known>>,
}

impl Cookies {
    /// The cookie of a client, made with `key` if there is one. Else the secret is drawn when the first one is made, so that a host without Fast Open draws what it always did.
    pub fn of(&mut self, client: IpAddr, config: &Config, key: Option<[u8; 32]>, entropy: &mut Entropy) -> Cookie {
        let secret = key.as_ref().unwrap_or_else(|| self.secret.get_or_insert_with(|| entropy.draw_secret()));
        // RFC 8684 B.1: a SYN/ACK with MP_CAPABLE and timestamps has room for 6 octets.
        fast_open_cookie(secret, client, if config.mptcp { 6 } else { 8 })
    }

    /// What a connection to a server begins with: a cookie or the request for one, or `None` where Fast Open has failed before.
    pub fn cached(&self, addresses: Addresses) -> Option<Option<Known>> {
        match self.cache.get(&(addresses.local.ip(), addresses.remote)) {
            None => Some(None),
            Some(None) => None,
            Some(&known) => Some(known),
        }
    }

    /// Keeps a cookie, or with `None` a refusal.
    pub fn keep(&mut self, addresses: Addresses, what: Option<Known>) {
        if self.cache.len() >= SERVERS {
            self.cache.pop_first();
        }
        self.cache.insert((addresses.local.ip(), addresses.remote), what);
    }
}
