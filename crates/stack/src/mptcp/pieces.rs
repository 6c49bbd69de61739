//! Pieces of memory in which Linux keeps the data that the application writes
//! (`mptcp_carve_data_frag`). Linux asks for room in a send buffer once for each piece: in that of
//! the connection when it begins a piece, in that of a subflow when it assigns one.
//!
//! A piece is a part of a page of 32 KiB. While data wait to be assigned, what is written continues
//! the last piece, up to the end of its page (`mptcp_frag_can_collapse_to`). If all data have been
//! assigned, what is written begins a new piece, in the same page if that has room.

use std::collections::VecDeque;

/// Octets of a page (`SKB_FRAG_PAGE_ORDER`).
const PAGE: u64 = 1 << 15;
/// Octets of a piece's header (`struct mptcp_data_frag`).
const HEADER: u64 = 40;
/// A piece begins in a new page if the old one has less room (`mptcp_page_frag_refill`).
const LEAST: u64 = HEADER + 32;

/// The pieces with data that have no DATA_ACK, and the page in which the last one lies.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    /// Data offset of the end of each piece, in order.
    ends: VecDeque<u64>,
    /// Octets of the page behind the last piece.
    left: u64,
}

impl Pieces {
    /// Octets of a write of `octets` that are taken at `written`: pieces begin while less than
    /// `buffer` octets are unacknowledged, and all data before `una` are acknowledged. `waiting`:
    /// some data wait to be assigned.
    pub fn write(&mut self, written: u64, octets: u64, una: u64, buffer: u64, waiting: bool) -> u64 {
        while self.ends.front().is_some_and(|&end| end <= una) && self.ends.len() > 1 {
            self.ends.pop_front();
        }
        let (mut at, end) = (written, written + octets);
        let mut continues = waiting && self.left > 0;
        while at < end {
            if continues {
                self.ends.pop_back();
            } else if at - una >= buffer {
                break;
            } else {
                self.begin();
            }
            let len = self.left.min(end - at);
            self.left -= len;
            at += len;
            self.ends.push_back(at);
            continues = false;
        }
        at - written
    }

    /// Begins a piece: its header takes room, at a multiple of eight octets.
    fn begin(&mut self) {
        self.left -= self.left % 8;
        if self.left < LEAST {
            self.left = PAGE;
        }
        self.left -= HEADER;
    }

    /// Octets that the last piece still takes.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Data offset of the end of the piece in which the octet at `offset` lies if each page is one
    /// piece.
    pub fn usual_end(offset: u64) -> u64 {
        (offset / (PAGE - HEADER) + 1) * (PAGE - HEADER)
    }

    /// Data offset of the end of the piece in which the octet at `offset` lies; `offset` itself if
    /// it was not written.
    pub fn end(&self, offset: u64) -> u64 {
        let k = self.ends.partition_point(|&end| end <= offset);
        self.ends.get(k).copied().unwrap_or(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIECE: u64 = PAGE - HEADER;
    const ALL: u64 = u64::MAX;

    /// Blocks of 64 KiB that wait: each page is one piece, and blocks share a page.
    #[test]
    fn data_that_wait_share_pages() {
        let mut p = Pieces::default();
        assert_eq!(p.write(0, 65_536, 0, ALL, false), 65_536);
        assert_eq!((p.end(0), p.end(32_727), p.end(32_728), p.end(65_456)), (PIECE, PIECE, 2 * PIECE, 65_536));
        assert_eq!((p.end(65_535), p.end(65_536), p.left()), (65_536, 65_536, PIECE - 80));
        assert_eq!(p.write(65_536, 65_536, 0, ALL, true), 65_536);
        assert_eq!((p.end(65_456), p.end(3 * PIECE), p.end(4 * PIECE)), (3 * PIECE, 4 * PIECE, 131_072));
    }

    /// All data were assigned: the rest of the page, less a header, is a piece of its own.
    #[test]
    fn a_write_after_all_was_assigned_begins_a_piece_in_the_same_page() {
        let mut p = Pieces::default();
        p.write(0, 10_000, 0, ALL, false);
        assert_eq!(p.write(10_000, 65_536, 0, ALL, false), 65_536);
        let rest = PIECE - 10_000 - HEADER;
        assert_eq!((p.end(9_999), p.end(10_000), p.end(10_000 + rest)), (10_000, 10_000 + rest, 10_000 + rest + PIECE));
        // 16 octets of a page are no room for a header and 32 octets.
        let mut p = Pieces::default();
        p.write(0, PIECE - 16, 0, ALL, false);
        p.write(PIECE - 16, 65_536, 0, ALL, false);
        assert_eq!(p.end(PIECE - 16), 2 * PIECE - 16);
        // Headers lie at multiples of eight octets.
        let mut p = Pieces::default();
        p.write(0, 10_001, 0, ALL, false);
        p.write(10_001, 65_536, 0, ALL, false);
        assert_eq!(p.end(10_001), 10_001 + PIECE - 10_008 - HEADER);
    }

    /// A piece begins if the buffer is not full, and is then filled beyond the buffer's end.
    #[test]
    fn room_is_asked_for_once_a_piece() {
        let mut p = Pieces::default();
        assert_eq!(p.write(0, 65_536, 0, 30_000, false), PIECE);
        assert_eq!(p.write(PIECE, 65_536, 0, 30_000, true), 0);
        assert_eq!(p.write(PIECE, 65_536, 5_000, 30_000, true), PIECE);
        // The last piece takes more whatever the buffer.
        let mut p = Pieces::default();
        p.write(0, 10_000, 0, ALL, false);
        assert_eq!(p.write(10_000, 65_536, 0, 5_000, true), PIECE - 10_000);
        assert_eq!(p.end(0), PIECE);
    }
}
