//! Fast Open's cookies (RFC 7413): those that this host makes for clients, and those that servers have given it.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use super::identity::Addresses;
use crate::Config;
use crate::event::Event;
use crate::mptcp::keys::{Entropy, fast_open_cookie};
use crate::segment::Cookie;
use crate::time::{Duration, Instant};

/// Servers that are remembered; another one takes the place of the first in order.
const SERVERS: usize = 1024;

/// How long a server that has refused Fast Open is opened without. RFC 7413 4.1.3.1 says "at least temporarily", and no time.
const PAUSE: Duration = Duration::from_secs(600);

/// What is known of a server (RFC 7413 4.1.3, 4.1.3.1).
#[derive(Debug, Default)]
struct Server {
    /// Its cookie and MSS.
    known: Option<(Cookie, Option<u16>)>,
    /// It has refused, and until then no SYN has the option.
    pause: Instant,
    /// Fast Open pauses only after two refusals in a row ([`Cookies::tolerate`]).
    lenient: bool,
    /// The latest attempt was refused, and `lenient` forgave it.
    refused: bool,
}

/// Cookies of one host.
#[derive(Debug, Default)]
pub(super) struct Cookies {
    secret: Option<[u8; 32]>,
    /// By client address, server address and port.
    servers: BTreeMap<(IpAddr, SocketAddr), Server>,
}

impl Cookies {
    /// The cookie of a client, made with `key` if there is one. Else the secret is drawn when the first one is made, so that a host without Fast Open draws what it always did.
    pub fn of(&mut self, client: IpAddr, config: &Config, key: Option<[u8; 32]>, entropy: &mut Entropy) -> Cookie {
        let secret = key.as_ref().unwrap_or_else(|| self.secret.get_or_insert_with(|| entropy.draw_secret()));
        // RFC 8684 B.1: a SYN/ACK with MP_CAPABLE and timestamps has room for 6 octets.
        fast_open_cookie(secret, client, if config.mptcp { 6 } else { 8 })
    }

    /// What a connection to a server begins with: a cookie or the request for one, or `None` where Fast Open has failed lately.
    pub fn cached(&self, now: Instant, addresses: Addresses) -> Option<Option<(Cookie, Option<u16>)>> {
        match self.servers.get(&key(addresses)) {
            None => Some(None),
            Some(server) => (server.pause <= now).then_some(server.known),
        }
    }

    /// Makes Fast Open to this server pause only after two refusals in a row, because a lost
    /// segment can look like a refusal (Linux: `tcp_fastopen_cookie_check`).
    pub fn tolerate(&mut self, addresses: Addresses) {
        self.server(addresses).lenient = true;
    }

    /// Forgets the servers.
    pub fn forget(&mut self) {
        self.servers.clear();
    }

    /// Keeps what a connection with these addresses has learnt; any other event is returned.
    pub fn learn(&mut self, now: Instant, addresses: Addresses, event: Event) -> Option<Event> {
        match event {
            Event::FastOpenCookie { cookie, mss } => {
                let server = self.server(addresses);
                (server.known, server.refused) = (Some((cookie, mss)), false);
            }
            Event::FastOpenRefused => {
                let server = self.server(addresses);
                if !server.lenient || std::mem::replace(&mut server.refused, true) {
                    server.pause = now + PAUSE;
                }
            }
            other => return Some(other),
        }
        None
    }

    fn server(&mut self, addresses: Addresses) -> &mut Server {
        let key = key(addresses);
        if self.servers.len() >= SERVERS && !self.servers.contains_key(&key) {
            self.servers.pop_first();
        }
        self.servers.entry(key).or_default()
    }
}

/// 4.1.3.1: "the client's cache should include remote port numbers, too".
fn key(addresses: Addresses) -> (IpAddr, SocketAddr) {
    (addresses.local.ip(), addresses.remote)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(n: u16) -> Addresses {
        Addresses { local: ([10, 0, 0, 1], 1).into(), remote: ([10, 0, 0, 2], n).into() }
    }

    fn given(first: u8) -> Event {
        Event::FastOpenCookie { cookie: Cookie::new(&[first; 8]).expect("eight octets"), mss: None }
    }

    /// RFC 7413 4.2.2: "update the corresponding cookie and MSS information": of a server that is known, whatever else is.
    #[test]
    fn only_a_new_server_takes_the_place_of_another() {
        let mut cookies = Cookies::default();
        let known =
            |cookies: &Cookies| (1..=1025).filter(|n| cookies.cached(Instant::ZERO, server(*n)) != Some(None)).count();
        for n in 1..=1024 {
            assert!(cookies.learn(Instant::ZERO, server(n), given(1)).is_none());
        }
        for first in 0..100 {
            cookies.learn(Instant::ZERO, server(1024), given(first));
        }
        assert_eq!(known(&cookies), 1024);
        cookies.learn(Instant::ZERO, server(1025), given(1));
        assert_eq!((known(&cookies), cookies.cached(Instant::ZERO, server(1))), (1024, Some(None)));
    }

    #[test]
    fn one_refusal_may_count_for_nothing() {
        let (mut cookies, now) = (Cookies::default(), Instant(5_000_000_000));
        let refused = |cookies: &mut Cookies| {
            cookies.learn(now, server(80), Event::FastOpenRefused);
            cookies.cached(now, server(80)).is_none()
        };
        cookies.tolerate(server(80));
        assert!(!refused(&mut cookies));
        cookies.learn(now, server(80), given(1));
        assert!(!refused(&mut cookies), "a cookie in between: they are not in a row");
        assert!(refused(&mut cookies));
    }

    /// RFC 7413 4.1.3.1: "the client SHOULD disable Fast Open on the specific path [...] at least temporarily".
    #[test]
    fn a_refusal_counts_for_a_time_and_for_one_port() {
        let mut cookies = Cookies::default();
        let now = Instant(5_000_000_000);
        cookies.learn(now, server(80), given(1));
        let with = cookies.cached(now, server(80));
        assert!(with.is_some_and(|known| known.is_some()));
        assert!(cookies.learn(now, server(80), Event::FastOpenRefused).is_none());
        assert_eq!(cookies.cached(now, server(80)), None);
        assert_eq!(cookies.cached(Instant((now + PAUSE).0 - 1), server(80)), None);
        assert_eq!(cookies.cached(now + PAUSE, server(80)), with);
        assert_eq!(cookies.cached(now, server(81)), Some(None));
        assert_eq!(cookies.learn(now, server(80), Event::Connected), Some(Event::Connected));
    }
}
