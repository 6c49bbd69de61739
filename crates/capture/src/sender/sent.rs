//! A segment that was sent, and what kind of transmission it was.

use anabranch_stack::seq::Seq;

/// A segment not yet acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Sequence number of the first octet.
    pub seq: Seq,
    /// Sequence number after the last octet.
    pub end: Seq,
    /// Data offset, or [`UNMAPPED`](super::UNMAPPED).
    pub data: u64,
    /// First transmission and the last, nanoseconds.
    pub at: u64,
    pub last: u64,
    /// Transmissions; none if the capture lacks it, and an acknowledgement says that it arrived.
    pub copies: u16,
    /// The receiver has it: it was acknowledged, selectively or cumulatively, or seen to arrive.
    pub arrived: bool,
    /// It probes a closed window.
    pub probe: bool,
    /// Timestamp of the first transmission, if that was seen, and of the first retransmission.
    pub(super) stamp: Option<u32>,
    pub(super) again: Option<u32>,
}

impl Sent {
    /// Sent once, at `now`, with the timestamp `stamp`.
    pub(super) fn new((seq, end): (Seq, Seq), data: u64, now: u64, stamp: Option<u32>) -> Self {
        Self { seq, end, data, at: now, last: now, copies: 1, arrived: false, probe: false, stamp, again: None }
    }

    /// A segment with the timestamp `stamp` was sent before this one, or in the same tick. A retransmission leaves a round trip after
    /// what followed the first copy, with a later timestamp (RFC 7323 3.2).
    pub(super) fn is_later_than(&self, stamp: Option<u32>) -> bool {
        stamp.zip(self.stamp).is_some_and(|(first, own)| own.wrapping_sub(first) as i32 >= 0)
    }
}

/// What kind of transmission a segment with payload is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It has octets not sent before on this subflow.
    New,
    /// It has octets not sent before on this subflow, and the receiver has already said that they arrived: the acknowledgement was recorded
    /// first.
    Late,
    /// A retransmission; the number says which copy of the segment it is.
    Again(u16),
    /// A repeated probe of a closed window, which is no retransmission; the number is as in [`Self::Again`].
    Probe(u16),
    /// Everything in it is acknowledged already: a keep-alive (RFC 9293 3.8.4), or a late copy.
    Nothing,
}

#[cfg(test)]
mod tests {
    use anabranch_stack::segment::SackBlocks;

    use super::super::Sender;
    use super::*;

    const MS: u64 = 1_000_000;

    /// Sends segment `n` of 1000 octets at `at` ms with the timestamp `stamp`.
    fn send(sender: &mut Sender, at: u64, n: u64, stamp: u32) -> Kind {
        sender.begin(Seq(1000));
        sender.on_data(at * MS, Seq(1000 + 1000 * n), 1000, 1000 * n, Some(stamp), false)
    }

    #[test]
    fn what_was_sent_before_the_segment_behind_the_hole_was_overtaken_however_late_it_comes() {
        let mut sender = Sender::default();
        send(&mut sender, 0, 0, u32::MAX - 1);
        send(&mut sender, 1, 3, 1);
        assert_eq!(send(&mut sender, 50, 1, u32::MAX), Kind::New);
        assert_eq!(send(&mut sender, 51, 2, 50), Kind::Again(2), "sent after it");
        assert_eq!(sender.fast + sender.timeout, 1);
    }

    /// Karn's algorithm: without SACK, what arrived behind a hole is acknowledged when that is filled, long after it arrived.
    #[test]
    fn an_acknowledgement_of_a_retransmission_gives_no_round_trip() {
        let mut sender = Sender::default();
        (0..5).for_each(|n| assert_eq!(send(&mut sender, n, n, n as u32), Kind::New));
        let acknowledge = |sender: &mut Sender, at: u64, n: u64| {
            sender.on_ack(at * MS, Seq(1000 + 1000 * n), &SackBlocks::default(), None, true, &mut Vec::new());
        };
        acknowledge(&mut sender, 20, 1);
        assert_eq!(send(&mut sender, 300, 1, 300), Kind::Again(2));
        acknowledge(&mut sender, 320, 5);
        assert_eq!(sender.rtt_range, Some((20 * MS, 20 * MS)));
        assert_eq!(send(&mut sender, 320, 5, 320), Kind::New);
        acknowledge(&mut sender, 350, 6);
        assert_eq!(sender.rtt_range, Some((20 * MS, 30 * MS)));
    }
}
