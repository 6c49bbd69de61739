//! Which files and interfaces are one place: captures of one direction each, and captures that go on in another file.
//!
//! A host may record what it sends and what it receives separately (`tcpdump -Q`, links with asymmetric routes), or begin a new file
//! every so often (`tcpdump -C`, `-G`). Two files of this kind show no packet twice, while the captures of two places show nearly every
//! packet twice. The first packet from a new file decides; if a later one contradicts, the parts become two places.

use anabranch_pcap::packet::{Packet, Tap};
use anabranch_stack::segment::Flags;

use super::place::{Part, Place};
use super::subflow::Subflow;

/// At most so many places of one subflow are told apart.
const MOST_PLACES: usize = 64;

impl Subflow {
    /// Returns the number of the place where `p`, which `side` sent, was captured; the first packet from there adds the place.
    #[inline]
    pub fn place(&mut self, p: &Packet<'_>, side: usize) -> usize {
        match self.places.iter().position(|place| place.has(p.tap)) {
            Some(i) if self.places[i].note_side(p.tap, side) => i,
            Some(i) if self.follows(i, p, side) => i,
            Some(i) => self.divide(i, p.tap, side),
            // No host has so many interfaces: further places count as the last one.
            None if self.places.len() == MOST_PLACES => MOST_PLACES - 1,
            None => self.add_place(p, side),
        }
    }

    /// The place that sees the first packet first counts as nearest to its sender until gaps are known.
    #[cold]
    fn add_place(&mut self, p: &Packet<'_>, side: usize) -> usize {
        if self.joins(p, side) {
            return 0;
        }
        self.push_place(p.tap, side);
        let i = self.places.len() - 1;
        if i == 1 && !self.settled {
            self.near[1 - side] = i;
        }
        i
    }

    fn push_place(&mut self, tap: Tap, side: usize) {
        let mut place = Place::new(tap);
        place.begin(tap, side);
        self.places.push(place);
    }

    /// Adds `p.tap` to the only place so far, if it shows the other direction or goes on where the place ended. Returns whether it does.
    fn joins(&mut self, p: &Packet<'_>, side: usize) -> bool {
        let later = self.goes_on(p, side);
        let [only] = &mut self.places[..] else { return false };
        let has_both = matches!(only.part, Some((_, Part::Direction)));
        if !only.shown[side] && (later || !has_both) {
            only.part = Some((p.tap, Part::Direction));
            return true;
        }
        if !later || only.is_in(p.tap.file) {
            return false;
        }
        if !has_both {
            only.part = Some((only.tap, Part::Before));
        }
        only.begin(p.tap, side);
        true
    }

    /// The parts of place `i` are not of one direction each: `p` shows more of the other one. Returns true if one part can still be what came
    /// before the other.
    #[cold]
    fn follows(&mut self, i: usize, p: &Packet<'_>, side: usize) -> bool {
        let later = self.goes_on(p, side);
        let place = &mut self.places[i];
        let Some((part, Part::Direction)) = place.part else { return false };
        if !later || part.file == place.tap.file {
            return false;
        }
        place.part = Some((if p.tap == part { place.tap } else { part }, Part::Before));
        place.begin(p.tap, side);
        true
    }

    /// Returns true if all that `p` says is later than all packets before it.
    fn goes_on(&self, p: &Packet<'_>, side: usize) -> bool {
        let acked = self.halves[1 - side].sender.una();
        let later = acked.is_none_or(|una| (p.ack.wrapping_sub(una.wire()) as i32) >= 0);
        !p.flags.has(Flags::SYN) && self.halves[side].ahead(p.seq) >= 0 && (later || !p.flags.has(Flags::ACK))
    }

    /// The two parts of place `i` are two places, as a packet from `tap`, which `side` sent, shows. What was measured counted times between the
    /// two, so it is forgotten. Returns the number of the place of `tap`.
    #[cold]
    fn divide(&mut self, i: usize, tap: Tap, side: usize) -> usize {
        let place = &mut self.places[i];
        let other = place.part.map_or(tap, |(part, _)| part);
        let (first, shown) = (place.tap, place.shown);
        *place = Place::new(first);
        place.shown = shown;
        self.push_place(other, side);
        let new = self.places.len() - 1;
        let (here, there) = if tap == first { (i, new) } else { (new, i) };
        self.settled = false;
        self.near[side] = there;
        self.near[1 - side] = here;
        here
    }
}
