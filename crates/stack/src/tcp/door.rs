//! TCP-DOOR's numbers (Wang and Zhang, MobiHoc 2002). Every data segment has a packet number, and so has each duplicate of an
//! acknowledgement, so that either host detects segments that overtook each other. What follows from that is up to
//! [`crate::judge`].

use crate::segment::Segment;

/// TCP-DOOR's numbers of one subflow, in both directions.
#[derive(Debug)]
pub(crate) struct Numbering {
    /// Negotiated; before the handshake completes: offered.
    pub on: bool,
    /// Packet number of the data segment sent last.
    sent: u16,
    /// Largest packet number received.
    seen: Option<u16>,
    /// Data arrived out of order, and no acknowledgement has reported it yet.
    reordered: bool,
    /// Duplicates sent of the acknowledgement number `acked`.
    duplicates: u8,
    acked: u32,
}

impl Numbering {
    pub(super) fn new(on: bool) -> Self {
        Self { on, sent: 0, seen: None, reordered: false, duplicates: 0, acked: 0 }
    }

    /// Numbers a segment that is about to be sent. A data segment gets its packet number. A pure acknowledgement gets its number
    /// among its duplicates, with a report of reordering.
    pub(crate) fn number(&mut self, seg: &mut Segment) {
        if seg.payload.len > 0 {
            self.sent = self.sent.wrapping_add(1);
            seg.options.door.packet = Some(self.sent);
        } else {
            self.duplicates = if seg.ack == self.acked { self.duplicates.wrapping_add(1) } else { 0 };
            self.acked = seg.ack;
            seg.options.door.duplicate = Some((self.duplicates, self.reordered));
        }
    }

    /// Called when the options of `seg` are final: a report that found no room is sent with a later acknowledgement.
    pub(crate) fn note_fitted(&mut self, seg: &Segment) {
        self.reordered &= seg.payload.len > 0 || seg.options.door.duplicate.is_none();
    }

    /// Takes the packet number of an arriving segment. Returns true if a larger number arrived before: the data is out of order
    /// and must be reported at once.
    pub(super) fn note_packet(&mut self, seg: &Segment) -> bool {
        let Some(number) = seg.options.door.packet.filter(|_| self.on) else { return false };
        let late = self.seen.is_some_and(|seen| (number.wrapping_sub(seen) as i16) < 0);
        if late {
            self.reordered = true;
        } else {
            self.seen = Some(number);
        }
        late
    }
}
