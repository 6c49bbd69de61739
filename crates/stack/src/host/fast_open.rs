//! TCP Fast Open (RFC 7413) as an endpoint's user sees it: the key of a server's cookies, and whether a server has given us one.

use super::endpoint::Endpoint;
use super::identity::Addresses;
use super::keep::Keep;
use crate::Config;
use crate::segment::Cookie;
use crate::time::Instant;

/// Cookie and MSS that a server gave us; `None` before the first cookie.
type Known = Option<(Cookie, Option<u16>)>;

impl<K: Keep> Endpoint<K> {
    /// The cookies that the listener of `port` gives are made with `key` from now on, and only those it takes. RFC 7413 6.3.4: servers behind
    /// one address "should use the same key"; 4.1.2: a key should be changed from time to time. `None`: a key of this host's own. Without a
    /// listener nothing happens.
    pub fn set_fast_open_key(&mut self, port: u16, key: Option<[u8; 32]>) {
        if let Some(listener) = self.listening.get_mut(&port) {
            listener.key = key;
        }
    }

    /// Returns the cookie for a new connection to a server, or `Some(None)` to request one. Returns
    /// `None` if the connection does not use Fast Open.
    pub(super) fn begin_fast_open(&mut self, now: Instant, addresses: Addresses, config: &Config) -> Option<Known> {
        if config.fast_open && config.deviations.forgives_fast_open_refusal {
            self.cookies.tolerate(addresses);
        }
        config.fast_open.then(|| self.cookies.cached(now, addresses)).flatten()
    }

    /// Forgets what servers have given and refused.
    pub fn forget_fast_open_servers(&mut self) {
        self.cookies.forget();
    }

    /// A connection that opens now with these addresses would begin with a cookie, so that what is written at once leaves with the SYN.
    pub fn has_fast_open_cookie(&self, now: Instant, addresses: Addresses) -> bool {
        self.cookies.cached(now, addresses).flatten().is_some_and(|(cookie, _)| !cookie.is_request())
    }
}
