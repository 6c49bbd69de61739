//! TCP Fast Open (RFC 7413), with Multipath TCP as RFC 8684 appendix B says.
//!
//! The cache of cookies is the host's, and so is their making: a server's host derives the cookie of a client's address from a secret of
//! its own ([`keys::fast_open_cookie`](crate::mptcp::keys::fast_open_cookie)) and passes it to [`Connection::answer_fast_open`], or does not
//! while too many requests are pending (RFC 7413 5.1). A client's host keeps what [`Event::FastOpenCookie`] says and passes it to
//! [`Connection::request_fast_open`] of the next connection to that server, and then writes before it polls.
//!
//! Left out: with Multipath TCP the server sends no data before it has the client's keys (RFC 8684 B.3 shows it doing so); and a
//! server's data in a SYN/ACK.

use super::Connection;
use crate::segment::{Cookie, Options, Segment, Signal};
use crate::tcp::fast_open::DEFAULT_MSS;
use crate::time::Instant;

impl Connection {
    /// Client, before the first poll: the SYN asks for a cookie, or carries the one that the host
    /// has `cached`, with the server's MSS, and as much as it can of what is written (RFC 7413
    /// 4.2.1, 4.2.2). With
    /// [`Config::fast_open_without_cookies`](crate::Config::fast_open_without_cookies) it has
    /// neither, and carries data.
    pub fn request_fast_open(&mut self, cached: Option<(Cookie, Option<u16>)>) {
        let fast = &mut self.paths.subflows[0].fast_open;
        let (cookie, mss) = cached.unwrap_or((Cookie::REQUEST, None));
        fast.option = Some(cookie);
        fast.bare = self.config.fast_open_without_cookies;
        // Linux takes its own (`tcp_connect_init`).
        let unknown = if self.config.deviations.own_mss_bounds_syn_data { u32::MAX } else { DEFAULT_MSS };
        fast.peer_mss = mss.map_or(unknown, u32::from);
    }

    /// Server, at once after [`Connection::accept`]: `cookie` is what this host makes for the
    /// client's address. If the SYN carries it, its data are taken, and can be read; else the
    /// SYN/ACK acknowledges the SYN alone. Whoever asks for a cookie, or shows a wrong one, is
    /// given one. With
    /// [`Config::fast_open_without_cookies`](crate::Config::fast_open_without_cookies) data are
    /// taken whatever the SYN shows, and it is given none then (RFC 7413 7.3).
    pub fn answer_fast_open(&mut self, now: Instant, syn: &Segment, cookie: Cookie) {
        let shown = match syn.options.signal {
            Signal::FastOpen(shown) => Some(shown),
            _ => None,
        };
        let right = shown.is_some_and(|shown| shown.as_slice() == cookie.as_slice());
        let free = self.config.fast_open_without_cookies && syn.payload.len > 0;
        if !right && !free {
            // RFC 7413 9: one that asks with the experimental option does not know the other.
            let given = shown.map(|shown| cookie.in_experiment(shown.is_experimental()));
            self.paths.subflows[0].fast_open.option = given;
            return;
        }
        self.paths.subflows[0].fast_open.opened = true;
        if syn.payload.len > 0 {
            self.recv.open_for_syn();
            let mut data = *syn;
            (data.seq, data.options) = (syn.seq.wrapping_add(1), Options::default());
            self.take_payload(now, 0, &data);
            let s = &mut self.paths.subflows[0];
            s.fast_open.rx = (s.receiver.rcv_nxt.0 - s.irs.0 - 1) as u32;
            // The SYN/ACK acknowledges them.
            s.acks.done();
        }
        if self.negotiation.is_plain() {
            self.paths.connect(0, &mut self.events);
        }
    }

    /// Client, before the first poll: so many octets can leave with the SYN. An application that must not wait writes no more (a call of
    /// `sendto` with `MSG_FASTOPEN` on a non-blocking socket).
    pub fn syn_room(&self, now: Instant) -> u32 {
        self.paths.subflows[0].syn_room(now, self.paths.syn_option(0, &self.negotiation, &self.config), &self.config)
    }
}
