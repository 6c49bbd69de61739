//! The answer to data in our SYN (RFC 7413).

use super::{Distribution, Sending};
use crate::event::{Event, SubflowId};
use crate::segment::{Segment, Signal};

impl Distribution {
    /// Client: the SYN/ACK says how much of the SYN's data has been taken, and may give a cookie.
    /// Returns false if it does not matter, because there was no Fast Open.
    pub fn on_fast_open_answer(&mut self, w: &mut Sending, id: SubflowId, seg: &Segment) -> bool {
        let fast = w.paths.subflows[id].fast_open;
        if fast.option.is_none() {
            return false;
        }
        // What it has not taken is still to be sent, before any FIN.
        w.send.taken_with_syn(fast.tx);
        w.paths.subflows[id].close &= w.send.nxt() == w.send.written();
        // 4.2.2: they leave with the first ACK, so a small rest does not wait (Nagle's algorithm is
        // about new data).
        self.cork.push(fast.sent.into(), w.fast);
        let given = match seg.options.signal {
            // One that was not asked for is not kept.
            Signal::FastOpen(cookie) if !cookie.is_request() && !fast.bare => Some(cookie),
            _ => None,
        };
        // 4.2.2: "a Fast Open option, an MSS option, or both, update the corresponding cookie and
        // MSS information in the cookie cache". Without cookies the MSS is kept beside the request
        // for one.
        let known = fast.option.filter(|_| fast.carries_data() && seg.options.mss.is_some());
        if let Some(cookie) = given.or(known) {
            w.events.push_back(Event::FastOpenCookie { cookie, mss: seg.options.mss });
        }
        let given = given.is_some();
        // With another cookie it says why it has not taken the data, and what to do.
        if !given && fast.tx == 0 && (fast.sent > 0 || w.paths.subflows[id].has_lost_syn()) {
            // RFC 7413 4.1.3.1: "the server not acknowledging the data in the SYN"; 4.2.1: one that
            // does not answer the option.
            w.events.push_back(Event::FastOpenRefused);
        }
        true
    }
}
