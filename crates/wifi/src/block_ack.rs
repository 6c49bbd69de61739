//! Block acknowledgement (10.25): which frames of an agreement are on their way, and what the recipient holds until it is whole.
//!
//! The originator numbers frames and may send those of a window from the oldest one that is not acknowledged, its start. What
//! an answer reports missing goes again, before anything new. So one frame that does not get through throttles the window, and
//! when it is given up it leaves a hole: the recipient must be told by a request to move its start.
//!
//! The recipient passes frames on in order. What comes after a missing frame waits until that comes (or is given up), and then
//! all of it goes at once: no reordering reaches the packets' receiver, loss becomes delay, and packets arrive in bursts.
//!
//! Without an agreement there is one frame at a time, acknowledged by itself: a window of one, and nothing is held.
//!
//! Numbers count from the beginning of the run; the 12 bits on the air never wrap here. A window of numbers is a ring of slots
//! whose lists of packets keep their memory.

use super::PacketId;
use super::queue::Entry;

/// A numbered frame that is not acknowledged, or whose predecessors are not.
#[derive(Debug, Default)]
pub struct Mpdu {
    /// What it carries; nothing if its link went down meanwhile.
    pub packets: Vec<Entry>,
    /// Octets from header to check sequence.
    pub octets: u32,
    /// When the oldest of its packets came, ns.
    pub since: u64,
    /// How often it was sent.
    pub tries: u32,
    /// Acknowledged, or given up.
    pub done: bool,
    /// Given up.
    pub given_up: bool,
    /// The recipient has it.
    pub received: bool,
}

/// The sending half.
#[derive(Debug)]
pub struct Originator {
    ring: Vec<Mpdu>,
    /// The oldest number that is not acknowledged or given up.
    pub start: u64,
    /// The next new number.
    pub next: u64,
}

impl Originator {
    /// No frame is under way. `window` is the largest there will be.
    pub fn new(window: u32) -> Self {
        Self { ring: (0..window.max(1)).map(|_| Mpdu::default()).collect(), start: 0, next: 0 }
    }

    fn slot(&self, number: u64) -> usize {
        (number % self.ring.len() as u64) as usize
    }

    /// The frame of this number, from `start` to before `next`.
    #[inline]
    pub fn get(&self, number: u64) -> &Mpdu {
        &self.ring[self.slot(number)]
    }

    /// The frame of this number, from `start` to before `next`.
    #[inline]
    pub fn get_mut(&mut self, number: u64) -> &mut Mpdu {
        let slot = self.slot(number);
        &mut self.ring[slot]
    }

    /// Nothing waits to be acknowledged.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.start == self.next
    }

    /// A new number fits into a window of `window`.
    #[inline]
    pub fn has_room(&self, window: u32) -> bool {
        self.next - self.start < u64::from(window)
    }

    /// The slot of the next number, empty; [`Self::push`] takes it.
    pub fn fresh(&mut self) -> &mut Mpdu {
        let number = self.next;
        let mpdu = self.get_mut(number);
        mpdu.packets.clear();
        (mpdu.octets, mpdu.since, mpdu.tries) = (0, 0, 0);
        (mpdu.done, mpdu.given_up, mpdu.received) = (false, false, false);
        mpdu
    }

    /// The frame that was put into [`Self::fresh`] is on its way: its number.
    #[inline]
    pub fn push(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// Moves the start past what is acknowledged or given up. True if a frame was passed that the recipient does not have: it
    /// must be told.
    pub fn advance(&mut self) -> bool {
        let mut hole = false;
        while self.start < self.next && self.get(self.start).done {
            let mpdu = self.get(self.start);
            hole |= mpdu.given_up && !mpdu.received;
            self.start += 1;
        }
        hole
    }
}

/// A number's place in the recipient's buffer.
#[derive(Debug, Default)]
struct Held {
    full: bool,
    /// Packets with the number of their link.
    packets: Vec<(PacketId, usize)>,
}

/// The receiving half.
#[derive(Debug)]
pub struct Recipient {
    ring: Vec<Held>,
    /// The next number to be passed on.
    start: u64,
}

impl Recipient {
    /// Nothing is held. `window` is the largest there will be.
    pub fn new(window: u32) -> Self {
        Self { ring: (0..window.max(1)).map(|_| Held::default()).collect(), start: 0 }
    }

    fn slot(&self, number: u64) -> usize {
        (number % self.ring.len() as u64) as usize
    }

    /// Whether a block acknowledgement reports the frame of this number as received.
    #[inline]
    pub fn has(&self, number: u64) -> bool {
        number < self.start || (number < self.start + self.ring.len() as u64 && self.ring[self.slot(number)].full)
    }

    /// A frame without errors arrives; packets to be passed on go to `out`. False: it was there before.
    pub fn receive(&mut self, number: u64, packets: &[Entry], agreed: bool, out: &mut Vec<(PacketId, usize)>) -> bool {
        if self.has(number) {
            return false;
        }
        let window = self.ring.len() as u64;
        if !agreed {
            self.move_to(number, out);
        } else if number >= self.start + window {
            // 10.25.6.6.2: a number beyond the window moves it.
            self.move_to(number + 1 - window, out);
        }
        if number == self.start {
            // Nothing is missing before it: no need to hold it.
            out.extend(packets.iter().map(|e| (e.id, e.link)));
            self.start += 1;
        } else {
            let slot = self.slot(number);
            self.ring[slot].full = true;
            self.ring[slot].packets.extend(packets.iter().map(|e| (e.id, e.link)));
        }
        self.release(out);
        true
    }

    /// Passes on what is in order.
    fn release(&mut self, out: &mut Vec<(PacketId, usize)>) {
        loop {
            let slot = self.slot(self.start);
            let held = &mut self.ring[slot];
            if !held.full {
                return;
            }
            held.full = false;
            out.append(&mut held.packets);
            self.start += 1;
        }
    }

    /// The originator's start is `number`: everything before it is passed on, holes are skipped (10.25.6.6.3).
    pub fn move_to(&mut self, number: u64, out: &mut Vec<(PacketId, usize)>) {
        while self.start < number {
            let slot = self.slot(self.start);
            self.ring[slot].full = false;
            out.append(&mut self.ring[slot].packets);
            self.start += 1;
        }
        self.release(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: PacketId) -> Entry {
        Entry { id, to: 1, link: 0, octets: 1508, since: 0, delivered: false, void: false }
    }

    fn receive(r: &mut Recipient, number: u64) -> Vec<PacketId> {
        let mut out = Vec::new();
        assert!(r.receive(number, &[entry(number as PacketId)], true, &mut out));
        out.into_iter().map(|(id, _)| id).collect()
    }

    // 0 | 2 3 (1 is missing) | 1: 1, 2 and 3 at once
    #[test]
    fn what_follows_a_hole_waits_for_it_and_comes_in_order() {
        let mut r = Recipient::new(64);
        assert_eq!(receive(&mut r, 0), [0]);
        assert_eq!(receive(&mut r, 2), [0; 0]);
        assert_eq!(receive(&mut r, 3), [0; 0]);
        assert!(r.has(0) && !r.has(1) && r.has(2) && r.has(3) && !r.has(4));
        assert_eq!(receive(&mut r, 1), [1, 2, 3]);
        let mut out = Vec::new();
        assert!(!r.receive(2, &[entry(2)], true, &mut out) && out.is_empty(), "it was there before");
    }

    // 1 is given up: a request moves the start to 3, and 2 goes on; 4 waits for 3
    #[test]
    fn a_request_skips_what_was_given_up() {
        let mut r = Recipient::new(64);
        receive(&mut r, 0);
        receive(&mut r, 2);
        receive(&mut r, 4);
        let mut out = Vec::new();
        r.move_to(3, &mut out);
        assert_eq!(out, [(2, 0)]);
        assert_eq!(receive(&mut r, 3), [3, 4]);
    }

    #[test]
    fn a_number_beyond_the_window_moves_it() {
        let mut r = Recipient::new(4);
        receive(&mut r, 1);
        receive(&mut r, 3);
        assert_eq!(receive(&mut r, 5), [1], "2 to 5 are the window now");
        assert!(r.has(3) && !r.has(2) && r.has(5));
        assert_eq!(receive(&mut r, 2), [2, 3]);
        assert_eq!(receive(&mut r, 4), [4, 5]);
    }

    #[test]
    fn without_an_agreement_nothing_is_held() {
        let mut r = Recipient::new(64);
        let mut out = Vec::new();
        assert!(r.receive(3, &[entry(3)], false, &mut out));
        assert_eq!(out, [(3, 0)]);
        assert!(!r.receive(3, &[entry(3)], false, &mut out));
    }

    /// The oldest frame does not get through: the window stays, and its end stops new frames.
    #[test]
    fn the_oldest_missing_frame_holds_the_window() {
        let mut o = Originator::new(4);
        for _ in 0..4 {
            o.fresh();
            o.push();
        }
        assert!(!o.has_room(4));
        for number in 1..4 {
            o.get_mut(number).done = true;
        }
        assert!(!o.advance() && !o.has_room(4) && o.start == 0);
        (o.get_mut(0).done, o.get_mut(0).given_up) = (true, true);
        assert!(o.advance() && o.start == 4 && o.is_empty(), "a hole: the recipient must be told");
    }
}
