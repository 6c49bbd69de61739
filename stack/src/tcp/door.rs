//! TCP-DOOR's numbers (Wang and Zhang, MobiHoc 2002): every data segment is numbered, and so are the duplicates of an
//! acknowledgement, so that either host sees packets that overtook each other. What follows is [`crate::judge`]'s.

use crate::segment::Segment;

/// The numbers of one subflow, both directions.
#[derive(Debug)]
pub(crate) struct Numbering {
    /// Permitted on both sides (so far as is known).
    pub on: bool,
    /// Of the data segment sent last.
    sent: u16,
    /// The largest that came.
    seen: Option<u16>,
    /// Data came out of order since the last acknowledgement that said so.
    reordered: bool,
    /// Duplicates sent of the acknowledgement number `acked`.
    duplicates: u8,
    acked: u32,
}

impl Numbering {
    pub(super) fn new(on: bool) -> Self {
        Self { on, sent: 0, seen: None, reordered: false, duplicates: 0, acked: 0 }
    }

    /// Numbers a segment that is about to leave: one with data by itself, an acknowledgement among its duplicates, with a report.
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

    /// The options have been fitted: a report that found no room is still to be made.
    pub(crate) fn note_left(&mut self, seg: &Segment) {
        self.reordered &= seg.payload.len > 0 || seg.options.door.duplicate.is_none();
    }

    /// A segment came. True if one with a larger number came before: data out of order, to be reported at once.
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
