//! Subflow order at the receiver: what is next, what is held for a hole.
//!
//! The rules are those of the engine's receiver (`stack::tcp::receiver`), without its SACK reports. In addition, a capture may
//! lack records: octets that the receiver acknowledges have arrived, whether the capture shows them or not. Several interfaces
//! or processors may write their records out of order, so an acknowledgement of octets not seen yet takes effect only some
//! milliseconds later.

use anabranch_stack::hold::HoldQueue;
use anabranch_stack::seq::Seq;
use anabranch_stack::tcp::receiver::Piece;

use super::sender::Unseen;

/// How much later than its acknowledgement a record may stand in the capture, in nanoseconds.
pub const LATE: u64 = 10_000_000;

/// No receiver holds more segments than this. If more seem to be held, the capture lacks the segment they wait for.
pub const HELD: u64 = 1 << 17;

/// What became of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It was next on its subflow.
    InOrder,
    /// It is held for a hole.
    Held,
    /// All of it had arrived.
    Duplicate,
}

/// The receiving half of one direction of a subflow.
#[derive(Clone, Debug, Default)]
pub struct Order {
    began: bool,
    nxt: Option<Seq>,
    held: HoldQueue,
    /// An acknowledgement of octets that were not seen to arrive, and its time.
    ahead: Option<(u64, Seq)>,
    /// Octets that the receiver acknowledged and the capture lacks.
    missing: Unseen,
}

impl Order {
    /// Data begin at `first`. (What was acknowledged before the SYN was recorded comes later, too.)
    pub fn begin(&mut self, first: Seq) {
        if !self.began && self.nxt.is_none_or(|nxt| nxt > first) {
            *self = Self { nxt: Some(first), ..Self::default() };
        }
        self.began = true;
    }

    /// The first data seen are at `first`, and the SYN was not seen: what was in flight before is not in the capture.
    pub fn begin_late(&mut self, first: Seq) {
        if !self.began && self.nxt < Some(first) {
            self.begin(first);
            self.nxt = Some(first);
        }
        self.began = true;
    }

    /// Octets that the receiver acknowledged and the capture lacks.
    pub fn missing(&self) -> u64 {
        self.missing.octets(None)
    }

    /// The receiver acknowledged `[from, to)`, and the capture lacks it.
    pub fn miss(&mut self, from: Seq, to: Seq) {
        self.missing.add(from, to);
    }

    /// `[from, to)` has been seen after all; returns how many of its octets counted as missing.
    pub fn find(&mut self, from: Seq, to: Seq) -> u64 {
        self.missing.take(from, to)
    }

    /// The next sequence number expected.
    pub fn nxt(&self) -> Option<Seq> {
        self.nxt
    }

    /// Segments and octets held.
    #[inline]
    pub fn held(&self) -> (u64, u64) {
        (self.held.packets(), self.held.octets())
    }

    /// The subflow was reset: drops what is held. Returns how many segments and octets were.
    pub fn drop_held(&mut self) -> (u64, u64) {
        let held = self.held();
        self.held = HoldQueue::default();
        held
    }

    /// `len` octets at `seq`, of data offset `data`, arrive; what is in order now is appended to `pieces`.
    #[inline]
    pub fn accept(&mut self, seq: Seq, data: u64, len: u32, pieces: &mut Vec<Piece>) -> Place {
        let end = seq + u64::from(len);
        let nxt = *self.nxt.get_or_insert(seq);
        if seq == nxt && self.held.is_empty() {
            self.nxt = Some(end);
            pieces.push(Piece { data, len });
            return Place::InOrder;
        }
        if end <= nxt {
            return Place::Duplicate;
        }
        let from = seq.max(nxt);
        if self.held.insert(from.0, end.0, data.wrapping_sub(seq.0)) == 0 {
            return Place::Duplicate;
        }
        if from > nxt {
            return Place::Held;
        }
        self.drain(pieces);
        Place::InOrder
    }

    /// If more is held than any receiver holds, the hole before the first held segment counts as filled: the capture lacks its
    /// octets.
    pub fn give_up_first(&mut self) {
        if self.held.packets() > HELD {
            // Like an acknowledgement of octets that were not seen, at time zero: it takes effect at once.
            self.ahead = self.held.first().map(|first| (0, Seq(first.at) + u64::from(first.len)));
        }
    }

    fn drain(&mut self, pieces: &mut Vec<Piece>) {
        let Some(nxt) = &mut self.nxt else { return };
        while let Some(h) = self.held.pop_at(nxt.0) {
            *nxt += u64::from(h.len);
            pieces.push(Piece { data: h.at.wrapping_add(h.tag), len: h.len });
        }
    }

    /// Octets without a known place in the data stream arrive.
    pub fn pass(&mut self, seq: Seq, len: u32, pieces: &mut Vec<Piece>) {
        let nxt = self.nxt.get_or_insert(seq);
        if seq <= *nxt {
            *nxt = (*nxt).max(seq + u64::from(len));
            self.clear_passed(pieces);
        }
    }

    /// The receiver acknowledges everything before `ack` at `now`.
    #[inline]
    pub fn on_ack(&mut self, now: u64, ack: Seq) {
        match self.nxt {
            None => self.nxt = Some(ack),
            // One number beyond `nxt` may be a FIN's. Of several acknowledgements beyond it the oldest counts.
            Some(nxt) if ack > nxt + 1 && self.ahead.is_none_or(|(_, a)| a <= nxt) => self.ahead = Some((now, ack)),
            _ => {}
        }
    }

    /// Octets acknowledged at `late` or before were not seen to arrive.
    #[inline]
    pub fn is_ahead(&self, late: u64) -> bool {
        self.ahead.is_some_and(|(since, _)| since <= late)
    }

    /// Octets acknowledged at `late` or before that were not seen count as arrived; held segments that follow them are appended
    /// to `pieces`.
    pub fn settle(&mut self, late: u64, pieces: &mut Vec<Piece>) {
        let (Some((since, ack)), Some(nxt)) = (self.ahead, self.nxt) else { return };
        if ack <= nxt + 1 {
            self.ahead = None;
        } else if since <= late {
            self.ahead = None;
            let mut known = nxt;
            while let Some(first) = self.held.first().filter(|h| h.at <= ack.0) {
                if self.held.pop_at(first.at).is_none() {
                    break;
                }
                self.missing.add(known, Seq(first.at));
                known = known.max(Seq(first.at) + u64::from(first.len));
                pieces.push(Piece { data: first.at.wrapping_add(first.tag), len: first.len });
            }
            self.missing.add(known, ack);
            self.nxt = Some(known.max(ack));
            self.clear_passed(pieces);
        }
    }

    /// Takes out held segments that `nxt` has reached or passed, and those that follow on them.
    fn clear_passed(&mut self, pieces: &mut Vec<Piece>) {
        let Some(nxt) = &mut self.nxt else { return };
        while let Some(first) = self.held.first().filter(|h| h.at <= nxt.0) {
            if self.held.pop_at(first.at).is_none() {
                break;
            }
            *nxt = (*nxt).max(Seq(first.at) + u64::from(first.len));
            pieces.push(Piece { data: first.at.wrapping_add(first.tag), len: first.len });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments of 1000 octets; data offsets are sequence numbers less 1000.
    struct Seen {
        order: Order,
        pieces: Vec<Piece>,
    }

    impl Seen {
        fn new() -> Self {
            Self { order: Order::default(), pieces: Vec::new() }
        }

        fn accept(&mut self, seq: u64) -> Place {
            self.order.accept(Seq(seq), seq - 1000, 1000, &mut self.pieces)
        }

        /// Data offsets of what is in order.
        fn delivered(&self) -> Vec<u64> {
            self.pieces.iter().map(|p| p.data).collect()
        }
    }

    #[test]
    fn a_hole_holds_what_follows_until_it_is_filled() {
        let mut s = Seen::new();
        s.order.begin(Seq(1000));
        assert_eq!([s.accept(1000), s.accept(3000), s.accept(4000)], [Place::InOrder, Place::Held, Place::Held]);
        assert_eq!((s.order.held(), s.delivered()), ((2, 2000), vec![0]));
        assert_eq!([s.accept(3000), s.accept(1000)], [Place::Duplicate; 2]);
        assert_eq!(s.accept(2000), Place::InOrder);
        assert_eq!(
            (s.order.held(), s.order.nxt(), s.delivered()),
            ((0, 0), Some(Seq(5000)), vec![0, 1000, 2000, 3000])
        );
    }

    /// The SYN is recorded after data that came behind it: what is held stays, unless an
    /// acknowledgement was taken for the beginning.
    #[test]
    fn a_syn_that_is_recorded_late_drops_nothing_that_is_held() {
        for (acknowledged, held) in [(1000, 1000), (1500, 0)] {
            let mut s = Seen::new();
            s.order.on_ack(0, Seq(acknowledged));
            s.accept(3000);
            s.order.begin(Seq(1000));
            assert_eq!((s.order.nxt(), s.order.held().1), (Some(Seq(1000)), held), "{acknowledged}");
        }
    }

    /// 2000 is acknowledged but never seen. It counts as arrived as soon as its record is too late,
    /// and not before.
    #[test]
    fn what_is_acknowledged_and_not_seen_counts_as_missing_after_a_while() {
        let mut s = Seen::new();
        s.order.begin(Seq(1000));
        s.accept(1000);
        s.accept(3000);
        s.order.on_ack(50, Seq(2001));
        assert!(!s.order.is_ahead(50), "one number beyond may be a FIN's");
        s.order.on_ack(60, Seq(3000));
        s.order.on_ack(70, Seq(4000));
        assert_eq!((s.order.is_ahead(59), s.order.is_ahead(60)), (false, true), "the oldest counts");
        s.order.settle(59, &mut s.pieces);
        assert_eq!((s.order.missing(), s.delivered()), (0, vec![0]));
        s.order.settle(60, &mut s.pieces);
        assert_eq!((s.order.missing(), s.order.nxt(), s.delivered()), (1000, Some(Seq(4000)), vec![0, 2000]));
        assert!(!s.order.is_ahead(u64::MAX));
    }

    /// Octets without a mapping fill a hole, and are no data. Beyond the hole they fill nothing.
    #[test]
    fn octets_without_a_place_in_the_stream_are_passed() {
        let mut s = Seen::new();
        s.order.begin(Seq(1000));
        s.accept(2000);
        s.order.pass(Seq(4000), 1000, &mut s.pieces);
        assert_eq!((s.order.nxt(), s.delivered()), (Some(Seq(1000)), vec![]));
        s.order.pass(Seq(1000), 1000, &mut s.pieces);
        assert_eq!((s.order.nxt(), s.order.held(), s.delivered()), (Some(Seq(3000)), (0, 0), vec![1000]));
    }

    /// The record comes after all, before it is too late.
    #[test]
    fn what_is_seen_after_its_acknowledgement_is_not_missing() {
        let mut s = Seen::new();
        s.order.begin(Seq(1000));
        s.order.on_ack(60, Seq(2000));
        s.accept(1000);
        s.order.settle(60, &mut s.pieces);
        assert_eq!((s.order.missing(), s.delivered(), s.order.is_ahead(60)), (0, vec![0], false));
    }
    /// One segment more than any receiver holds waits behind a hole: the capture lacks the hole, so
    /// it is passed at once.
    #[test]
    fn a_hole_before_too_much_is_given_up() {
        let mut s = Seen::new();
        s.order.begin(Seq(1000));
        (0..HELD).for_each(|n| _ = s.accept(2000 + 1000 * n));
        s.order.give_up_first();
        assert!(!s.order.is_ahead(u64::MAX));
        s.accept(2000 + 1000 * HELD);
        s.order.give_up_first();
        assert!(s.order.is_ahead(0));
        s.order.settle(0, &mut s.pieces);
        assert_eq!((s.order.missing(), s.order.held()), (1000, (0, 0)));
        assert_eq!(s.pieces.len() as u64, HELD + 1);
    }
}
