//! What one host of a subflow has in flight, counted from outside, against the congestion window that it has reported.
//!
//! From outside it is known only while nothing is known to be missing: then what is in flight is what was sent and not acknowledged. So that
//! is asked of new data alone, sent while no block of SACK, no retransmission and no third duplicate acknowledgement is beyond what was
//! acknowledged.

use anabranch_stack::event::SendKind;
use anabranch_stack::segment::{Flags, Segment};

/// Full segments by which new data may exceed the window: two of limited transmit (RFC 3042), and the one that fills it up.
const BEYOND: f64 = 3.0;

/// One host's side of a subflow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flight {
    una: Option<u32>,
    /// The end of the highest octets that were sent.
    nxt: u32,
    /// What is in flight can be told again once this is acknowledged.
    unclear: Option<u32>,
    /// Duplicate acknowledgements in a row: from the third on each may allow new data (RFC 4653 3.1), as what caused it has left.
    duplicates: u32,
    /// Its congestion window, octets, once that has changed.
    window: Option<f64>,
}

/// Whether `a` is after `b`.
fn after(a: u32, b: u32) -> bool {
    a.wrapping_sub(b) as i32 > 0
}

impl Flight {
    /// The congestion window is `cwnd` octets from now on. After a timeout (RFC 5681 3.1) what was in flight counts as lost, and its retransmission may
    /// wait for its turn, where segments are paced, while F-RTO sends new data (RFC 5682 2.1, step 2b).
    pub fn set_window(&mut self, cwnd: f64) {
        if self.window.is_some_and(|before| cwnd < before / 2.0) && self.una != Some(self.nxt) {
            self.unclear = Some(self.nxt);
        }
        self.window = Some(cwnd);
    }

    /// The host sends `seg`. Returns what it has in flight and its window, in octets, where that is too much for new data; `initial` is its
    /// window if it has not told, `mss` that of its largest segments.
    pub fn sends(&mut self, seg: &Segment, kind: SendKind, initial: f64, mss: f64) -> Option<(u32, f64)> {
        if seg.flags.has(Flags::SYN) {
            // With Fast Open data are in flight beside it (RFC 7413 4.2), and before it goes again.
            let end = seg.seq.wrapping_add(1 + seg.payload.len);
            self.nxt = if self.una.is_some() && after(self.nxt, end) { self.nxt } else { end };
            (self.una, self.unclear) = (Some(seg.seq), Some(self.nxt));
            return None;
        }
        let (una, end) = (self.una?, seg.seq.wrapping_add(seg.payload.len));
        if seg.payload.len == 0 {
            return None;
        }
        let new = kind == SendKind::New && after(end, self.nxt);
        if after(end, self.nxt) {
            self.nxt = end;
        }
        if !new {
            self.unclear = Some(self.nxt);
        }
        let (flight, window) = (self.nxt.wrapping_sub(una), self.window.unwrap_or(initial));
        let too_much = self.unclear.is_none() && f64::from(flight) > window + BEYOND * mss;
        too_much.then_some((flight, window))
    }

    /// The host hears `seg` of its peer.
    pub fn hears(&mut self, seg: &Segment) {
        let Some(una) = self.una.filter(|_| seg.flags.has(Flags::ACK)) else { return };
        if after(seg.ack, una) && !after(seg.ack, self.nxt) {
            self.una = Some(seg.ack);
            self.unclear = self.unclear.filter(|&end| after(end, seg.ack));
            self.duplicates = 0;
        } else if seg.ack == una && seg.payload.len == 0 {
            self.duplicates += 1;
        }
        if self.duplicates > 2 || seg.options.sack.as_slice().iter().any(|&(_, to)| after(to, seg.ack)) {
            self.unclear = Some(self.nxt);
        }
    }
}

#[cfg(test)]
mod tests {
    use anabranch_stack::segment::Payload;

    use super::*;

    fn data(seq: u32, len: u32) -> Segment {
        Segment { seq, flags: Flags::ACK, payload: Payload::new(0, len), ..Segment::default() }
    }

    fn ack(ack: u32) -> Segment {
        Segment { ack, flags: Flags::ACK, ..Segment::default() }
    }

    /// A window of 2000 octets and segments of 1000: six are one too many, and numbers wrap.
    #[test]
    fn what_is_beyond_the_window_is_told() {
        let first = u32::MAX - 1500;
        let mut f = Flight::default();
        let syn = Segment { seq: first.wrapping_sub(1), flags: Flags::SYN, ..Segment::default() };
        assert_eq!(f.sends(&syn, SendKind::New, 2000.0, 1000.0), None);
        f.hears(&ack(first));
        let send =
            |f: &mut Flight, i: u32, kind| f.sends(&data(first.wrapping_add(1000 * i), 1000), kind, 2000.0, 1000.0);
        for i in 0..5 {
            assert_eq!(send(&mut f, i, SendKind::New), None, "{i}");
        }
        assert_eq!(send(&mut f, 5, SendKind::New), Some((6000, 2000.0)));
        f.hears(&ack(first.wrapping_add(2000)));
        f.set_window(3000.0);
        assert_eq!(send(&mut f, 6, SendKind::New), None);
        assert_eq!(send(&mut f, 7, SendKind::New), None);
        f.set_window(2000.0);
        assert_eq!(send(&mut f, 8, SendKind::New), Some((7000, 2000.0)));
        // What is sent again may be lost, and is in flight no more.
        assert_eq!(send(&mut f, 3, SendKind::Fast), None);
        assert_eq!(send(&mut f, 9, SendKind::New), None);
        f.hears(&ack(first.wrapping_add(10_000)));
        for i in 10..15 {
            assert_eq!(send(&mut f, i, SendKind::New), None);
        }
        assert_eq!(send(&mut f, 15, SendKind::New), Some((6000, 2000.0)));
        // Nor is what had been sent before a timeout.
        f.set_window(999.0);
        assert_eq!(send(&mut f, 16, SendKind::New), None);
        f.hears(&ack(first.wrapping_add(17_000)));
        for i in 17..20 {
            assert_eq!(send(&mut f, i, SendKind::New), None);
        }
        assert_eq!(send(&mut f, 20, SendKind::New), Some((4000, 999.0)));
    }
}
