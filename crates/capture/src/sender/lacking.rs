//! Segments that were acknowledged and that the capture lacks. Without them what came behind would seem to wait for a gap.

use anabranch_stack::seq::Seq;

use super::{Sent, UNMAPPED};

/// Sequence number and data offset of what follows on the octets acknowledged last, if they are known.
#[derive(Clone, Copy, Debug, Default)]
pub struct Following(Option<(Seq, u64)>);

impl Following {
    /// All before `until` is acknowledged. What the capture lacks there, before the segment `next`: its place in the data is known if
    /// those on both sides of it leave just its octets between them.
    pub fn lacking(&mut self, until: Seq, next: &Sent) -> Option<Sent> {
        let (from, data) = self.0?;
        if from >= until || next.data.checked_sub(data) != Some(next.seq - from) {
            return None;
        }
        self.0 = Some((until, data + (until - from)));
        Some(Sent { seq: from, end: until, data, copies: 0, arrived: false, again: None, ..*next })
    }

    /// The octets of `s` before `end` are acknowledged.
    pub fn pass(&mut self, s: &Sent, end: Seq) {
        self.0 = (s.data != UNMAPPED).then(|| (end, s.data.saturating_add(end - s.seq)));
    }

    /// All before `ack` is acknowledged.
    pub fn end(&mut self, ack: Seq) {
        self.0 = self.0.filter(|(at, _)| *at == ack);
    }
}

#[cfg(test)]
mod tests {
    use anabranch_stack::segment::SackBlocks;

    use super::super::{Kind, Sender};
    use super::*;

    const MS: u64 = 1_000_000;

    /// Segments of 1000 octets with the numbers of `seen`, at data offsets that begin at 5000 where `place` leaves them; then
    /// everything before segment `acked` is acknowledged. Returns those that arrived: first octet, length, place, seen or not.
    fn arrived(seen: &[u64], acked: u64, place: impl Fn(u64) -> u64) -> Vec<(u64, u64, u64, bool)> {
        let mut sender = Sender::default();
        sender.begin(Seq(1000));
        for &n in seen {
            assert_eq!(sender.on_data(n * MS, Seq(1000 + 1000 * n), 1000, place(n), None, false), Kind::New);
        }
        let mut found = Vec::new();
        sender.on_ack(100 * MS, Seq(1000 + 1000 * acked), &SackBlocks::default(), None, true, &mut found);
        found.iter().map(|s| (s.seq.0, s.end - s.seq, s.data, s.copies > 0)).collect()
    }

    #[test]
    fn an_acknowledged_segment_between_two_others_has_arrived_though_the_capture_lacks_it() {
        let all = arrived(&[0, 1, 4], 5, |n| 5000 + 1000 * n);
        assert_eq!(all[2], (3000, 2000, 7000, false));
        assert_eq!(all.len(), 4);
        // Acknowledged is only the first of the two.
        assert_eq!(arrived(&[0, 1, 4], 3, |n| 5000 + 1000 * n)[2], (3000, 1000, 7000, false));
    }

    /// Between them other subflows' data may have been sent: what the capture lacks may be any of them.
    #[test]
    fn its_place_is_not_guessed() {
        assert_eq!(arrived(&[0, 2], 3, |n| 5000 + 2000 * n).len(), 2);
        assert_eq!(arrived(&[0, 2], 3, |_| UNMAPPED).len(), 2);
    }
}
