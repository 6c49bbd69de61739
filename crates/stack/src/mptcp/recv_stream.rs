//! The peer's direction of the data stream: what has arrived and was read, where it ends, and how
//! much more the receive buffer takes. All of it is in data offsets.
//!
//! By RFC 9293 3.8.6.2.2 the right edge of the window moves in steps worth a segment. What Linux
//! does instead, for [`Config::acknowledge_on_read`]: the window is what the memory of unread and
//! held segments leaves of the buffer, in units of the window field (`__tcp_select_window`); and a
//! buffer that has not grown keeps room for one segment back (`tcp_init_buffer_space`).

use super::charge::Charge;
use super::dss::{Placed, Reassembly};
use super::fast_path::FastPath;
use super::tuning::Tuning;
use crate::config::Config;
use crate::event::{ArrivalKind, SubflowId};
use crate::tcp::receiver::reassembly::Piece;
use crate::time::{Duration, Instant};
/// The window field has 16 bits and is scaled by at most 14 (RFC 7323 2.3).
pub(crate) const MAX_WINDOW: u64 = 65_535 << 14;

/// Receive buffers of fewer segments than this follow the window rule of RFC 9293 3.8.6.2.2. In
/// larger ones Linux's window follows the free memory, and its right edge may move by a few octets
/// (`__tcp_select_window`).
const SMALL_BUFFER_SEGMENTS: u64 = 16;

/// The receive buffer that a program may ask for by itself on Linux (`rmem_max`), in octets of
/// memory: the window scale allows for it.
const LARGEST_SET: u64 = 212_992;

/// The smallest window scale with which the whole buffer can be advertised (RFC 7323 2.3), or
/// its memory ([`Deviations::scale_of_memory`](crate::config::Deviations::scale_of_memory)).
pub(crate) fn window_shift(config: &Config) -> u8 {
    let window = config.receive_buffer.unwrap_or(MAX_WINDOW);
    let of_memory = config.deviations.scale_of_memory;
    let buffer = if of_memory { window.saturating_mul(2).max(LARGEST_SET) } else { window }.min(MAX_WINDOW);
    (0..14).find(|shift| buffer >> shift <= 65_535).unwrap_or(14)
}

/// What the configuration says of the receive window.
#[derive(Clone, Copy, Debug)]
struct Rules {
    mss: u64,
    /// Size of the buffer; `None`: there is no limit.
    buffer: Option<u64>,
    charge: Charge,
    /// [`Config::acknowledge_on_read`].
    acknowledges_on_read: bool,
}

/// The peer's direction of the data stream.
#[derive(Debug)]
pub(crate) struct RecvStream {
    reassembly: Reassembly,
    /// Scratch space for data on its way from a subflow to the stream; empty between segments.
    delivered: Vec<Piece>,
    /// Octets read.
    read: u64,
    /// The next segment advertises at least this right edge, if its window field can express it. It
    /// never moves left (RFC 8684 3.3.4, RFC 7323 2.4, RFC 9293 3.8.6).
    goal: u64,
    /// The highest edge advertised so far. Octets beyond it are refused. It is below `goal` while
    /// the window field cannot express `goal`: in a SYN, and without window scaling.
    advertised: u64,
    /// The application will read no more.
    abandoned: bool,
    /// All octets up to the end have arrived.
    ended: bool,
    /// Coupled acknowledgement: data that was moved to another subflow is there behind data that
    /// waits for it.
    moved: bool,
    /// Offset after the peer's last octet, once its FIN or DATA_FIN has arrived.
    end: Option<u64>,
    /// The window that was advertised last, in octets, on whichever subflow, if the memory of
    /// segments is counted ([`Config::held_charge`], [`Config::acknowledge_on_read`]).
    told: Option<u64>,
    /// The receive buffer, if it tunes itself.
    tuning: Option<Tuning>,
    rules: Rules,
}

impl RecvStream {
    /// Nothing has arrived yet.
    pub fn new(config: &Config) -> Self {
        let most = config.receive_buffer.unwrap_or(MAX_WINDOW);
        // In whole units of the window field, so that no segment after the SYN has to show less.
        let unit = 1 << window_shift(config);
        let initial = config.receive_initial.map(|initial| initial.next_multiple_of(unit));
        let segment = config.full_segment();
        let skips = config.mptcp && config.deviations.skips_first_read;
        let tuning = initial.map(|initial| {
            Tuning::new(initial, most, segment, config.deviations.tunes_by_memory).skipping_first_read(skips)
        });
        let goal = tuning.map_or(most, |t| t.size);
        let counts_memory = config.acknowledge_on_read || config.held_charge > 0.0;
        Self {
            reassembly: Reassembly::default(),
            delivered: Vec::new(),
            read: 0,
            goal,
            advertised: 0,
            abandoned: false,
            ended: false,
            moved: false,
            end: None,
            told: counts_memory.then_some(goal),
            tuning,
            rules: Rules {
                mss: config.mss.into(),
                buffer: config.receive_buffer,
                charge: Charge::new(config),
                acknowledges_on_read: config.acknowledge_on_read,
            },
        }
    }

    // ---- what has arrived -----------------------------------------------------------------------

    /// The next octet expected: all before it have arrived.
    #[inline(always)]
    pub fn nxt(&self) -> u64 {
        self.reassembly.nxt()
    }

    /// Segments and octets held because of a hole in the data stream.
    #[inline]
    pub fn held(&self) -> (u64, u64) {
        self.reassembly.held()
    }

    /// The part of [`RecvStream::held`] that arrived on `subflow`.
    pub fn held_by(&self, subflow: SubflowId) -> (u64, u64) {
        self.reassembly.held_by(subflow)
    }

    /// `[data, end)` has arrived at this host. Returns how many of these octets had not arrived
    /// before.
    pub fn arrive(&mut self, data: u64, end: u64) -> u64 {
        self.reassembly.arrive(data, end)
    }

    /// `len` octets from `data` on are in order on `subflow`: places them in the stream.
    pub fn place(&mut self, data: u64, len: u32, subflow: SubflowId) -> Placed {
        self.reassembly.place(data, len, subflow)
    }

    /// [`RecvStream::arrive`] and [`RecvStream::place`] in one.
    #[inline(always)]
    pub fn take(&mut self, data: u64, len: u32, subflow: SubflowId) -> (u64, ArrivalKind) {
        let (fresh, placed) = self.reassembly.take(data, len, subflow);
        let kind = match placed {
            Placed::InOrder => ArrivalKind::InOrder,
            Placed::Ahead if fresh > 0 => ArrivalKind::AheadInData,
            Placed::Ahead | Placed::Duplicate => ArrivalKind::DuplicateInData,
        };
        (fresh, kind)
    }

    /// See [`RecvStream::set_moved`].
    pub fn has_moved(&self) -> bool {
        self.moved
    }

    /// Coupled acknowledgement: notes whether data that was moved to another subflow is there
    /// behind data that waits for it.
    pub fn set_moved(&mut self, moved: bool) {
        self.moved = moved;
    }

    /// Pieces that have just become in order on a subflow, on their way into the stream.
    pub fn delivered(&mut self) -> &mut Vec<Piece> {
        &mut self.delivered
    }

    /// Places all pieces of [`RecvStream::delivered`], which are in order on `subflow`. Returns
    /// where the first one belongs; `None` if there is none.
    pub fn place_delivered(&mut self, subflow: SubflowId) -> Option<Placed> {
        let mut first = None;
        for piece in self.delivered.drain(..) {
            let placed = self.reassembly.place(piece.data, piece.len, subflow);
            first = first.or(Some(placed));
        }
        first
    }

    // ---- the end of the stream ------------------------------------------------------------------

    /// Offset after the peer's last octet, once its FIN or DATA_FIN has arrived.
    #[inline(always)]
    pub fn end(&self) -> Option<u64> {
        self.end
    }

    /// RFC 8684 3.3.3: a DATA_FIN says that the stream ends at `end`. One before data that have
    /// arrived or beyond the window is ignored, and only the first counts.
    pub fn end_at(&mut self, end: u64) {
        let valid = self.reassembly.end() <= end && end <= self.advertised;
        self.end = self.end.or(valid.then_some(end));
    }

    /// Plain TCP: a FIN has arrived in order.
    pub fn end_here(&mut self) {
        self.end = Some(self.nxt());
    }

    /// All octets up to the end have arrived.
    #[inline(always)]
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Returns true once: when all octets up to the end have arrived.
    #[inline]
    pub fn ends_now(&mut self) -> bool {
        let now = !self.ended && self.end == Some(self.nxt());
        self.ended |= now;
        now
    }

    // ---- the reader -----------------------------------------------------------------------------

    /// Octets that can be read.
    #[inline(always)]
    pub fn readable(&self) -> u64 {
        self.nxt() - self.read
    }

    /// Reads up to `max` octets and returns how many.
    #[inline(always)]
    pub fn read(&mut self, max: u64) -> u64 {
        let octets = self.readable().min(max);
        self.read += octets;
        octets
    }

    /// Notes that the application will read no more.
    pub fn abandon(&mut self, fast: &mut FastPath) {
        fast.invalidate();
        self.abandoned = true;
    }

    /// Returns true if the application will read no more.
    #[inline(always)]
    pub fn is_abandoned(&self) -> bool {
        self.abandoned
    }

    /// A number that changes whenever octets arrive in order or are read: both only grow.
    #[inline(always)]
    pub fn progress(&self) -> u64 {
        self.nxt().wrapping_add(self.read)
    }

    // ---- a buffer that tunes itself -------------------------------------------------------------

    /// Returns true if a read can change more than the window: the size of a buffer that tunes
    /// itself, or acknowledgements that wait for the reader.
    #[inline(always)]
    pub fn follows_reader(&self) -> bool {
        self.tuning.is_some() || self.rules.acknowledges_on_read
    }

    /// Returns true if the window is the free part of a buffer of fixed size.
    #[inline(always)]
    pub fn has_fixed_buffer(&self) -> bool {
        self.tuning.is_none() && self.told.is_none()
    }

    /// `len` octets arrive at `now`. Returns how far a window may open, if the buffer tunes itself:
    /// as far as there is room beside what arrives (`tcp_grow_window`).
    #[inline(always)]
    pub fn tune(&mut self, now: Instant, len: u32) -> Option<u64> {
        let tuning = self.tuning.as_mut()?;
        tuning.on_arrival(now, self.read);
        if !self.rules.acknowledges_on_read {
            return Some(tuning.size);
        }
        let kept = tuning.reserve().max(self.rules.charge.of(len.into()));
        Some(tuning.size.saturating_sub(kept))
    }

    /// The application has read: the buffer grows with what it reads in a round trip.
    pub fn tune_to_reader(&mut self, rtt: Duration) {
        if let Some(tuning) = &mut self.tuning {
            tuning.on_read(self.read, rtt);
        }
    }

    // ---- the window -----------------------------------------------------------------------------

    /// Returns true if octets up to `end` lie within the window that was advertised.
    #[inline(always)]
    pub fn accepts(&self, end: u64) -> bool {
        end <= self.advertised
    }

    /// Returns the size of the advertised window, from the next expected octet on.
    pub fn window(&self) -> u64 {
        self.advertised.saturating_sub(self.nxt())
    }

    /// The window that was advertised last, if the memory of segments is counted.
    pub fn told(&self) -> Option<u64> {
        self.told
    }

    /// Returns the part of the receive buffer that a subflow advertises which offers at most
    /// `offered` octets; `None` if the buffer has no limit.
    #[inline(always)]
    pub fn buffer(&self, offered: u64) -> Option<u64> {
        match self.tuning {
            None => self.rules.buffer,
            Some(t) => Some(t.size.min(offered)),
        }
    }

    /// RFC 9293 3.8.6.2.2: `octets` have been read of a buffer of `buffer`: the window opens by a
    /// step worth a segment, and the peer may be waiting for it.
    #[inline(always)]
    pub fn opens_by_step(&self, octets: u64, buffer: u64) -> bool {
        let gain = (self.read + buffer).saturating_sub(self.goal);
        let step = (2 * self.rules.mss).min(buffer / 2).max(1);
        let left = self.left();
        octets > 0 && gain >= step && (left < step || gain >= buffer / 2)
    }

    /// Octets up to the right edge that segments show. After a SYN it may lie before what has
    /// arrived: a SYN shows more of a buffer than later segments ([`RecvStream::syn_window`]).
    #[inline(always)]
    fn left(&self) -> u64 {
        self.goal.saturating_sub(self.nxt())
    }

    /// The window field that a segment would have on a subflow with this window scale that offers
    /// `offered` octets of the buffer (RFC 7323 2.3). `held` returns the octets held behind
    /// holes; it is called only if their memory narrows the window.
    #[inline(always)]
    pub fn window_field(&self, offered: u64, shift: u8, held: impl FnOnce() -> u64) -> u64 {
        let goal = match self.buffer(offered) {
            None => self.nxt() + MAX_WINDOW,
            Some(buffer) if self.told.is_some() => self.goal_by_memory(buffer, shift, held()),
            Some(buffer) => self.goal_in_steps(buffer, 0, shift),
        };
        (goal.max(self.goal).saturating_sub(self.nxt()) >> shift).min(65_535)
    }

    /// Notes that a segment advertises a window of `window` octets.
    #[inline(always)]
    pub fn advertise(&mut self, window: u64) {
        let edge = self.nxt() + window;
        self.advertised = self.advertised.max(edge);
        self.goal = self.goal.max(edge);
        if let Some(told) = &mut self.told {
            *told = window;
        }
    }

    /// A window of so many octets would say more than the peer has been told.
    pub fn opens_with(&self, window: u64) -> bool {
        self.nxt() + window > self.goal
    }

    /// The window field of a SYN, which is not scaled (RFC 7323 2.2). Records what it advertises.
    /// `segment`: as Linux, show whole segments of this size (`tcp_select_initial_window`).
    pub fn syn_window(&mut self, segment: Option<u64>) -> u64 {
        let mut window = self.left().min(u64::from(u16::MAX));
        if let Some(segment) = segment.filter(|&segment| window > segment) {
            window -= window % segment;
        }
        self.advertised = self.advertised.max(self.nxt() + window);
        // What the SYN shows is not held back yet (`tcp_init_buffer_space`).
        if self.rules.acknowledges_on_read {
            self.goal = self.goal.saturating_sub(self.tuning.map_or(0, |t| t.reserve()));
        }
        window
    }

    /// Data in the peer's SYN are taken as far as the window of our SYN/ACK will reach.
    pub fn open_for_syn(&mut self) {
        self.advertised = self.goal.min(u64::from(u16::MAX));
    }

    /// The right edge, less `charge` octets.
    #[inline(always)]
    fn goal_in_steps(&self, buffer: u64, charge: u64, shift: u8) -> u64 {
        // RFC 9293 3.8.6.2.2: move the edge only in steps worth a segment.
        let goal = self.read + buffer - charge;
        let step = self.rules.mss.min(buffer / 2).max(1);
        // RFC 7323 2.3: less than one unit of the field, of at most 2^14, is shown as a closed
        // window.
        let nxt = self.nxt();
        let closed = || self.left() < 1 << 14 && self.left() >> shift == 0 && goal >= nxt + step;
        if goal >= self.goal + step || closed() { goal } else { self.goal }
    }

    /// The right edge that the memory left allows, of what a subflow offers
    /// (`__tcp_select_window`).
    #[cold]
    fn goal_by_memory(&self, offered: u64, shift: u8, held: u64) -> u64 {
        let buffer = self.tuning.map_or(offered, |t| t.size);
        let held = self.rules.charge.of(held);
        if !self.rules.acknowledges_on_read {
            return self.goal_in_steps(offered, held.min(offered), shift);
        }
        let unread = self.rules.charge.of(self.readable());
        let reserve = self.tuning.map_or(0, |t| t.reserve());
        let left = buffer.saturating_sub((unread + held).max(reserve));
        // Below half of the buffer, a sixteenth of it, or less than a segment, is shown as nothing
        // (RFC 9293 3.8.6.2.2).
        let silly = left < buffer / 2 && (left < buffer / 16 || left < self.rules.mss.min(buffer));
        let nxt = self.nxt();
        if silly {
            return nxt;
        }
        let whole = left >= buffer.saturating_sub(reserve).min(offered);
        // RFC 7323 2.3: the field has whole units. Linux rounds up while half of the buffer is free,
        // and down otherwise, but not to zero, which would keep the window closed for ever.
        let shown = left.min(offered);
        let unit = 1 << shift;
        let goal = nxt + if left >= buffer / 2 { shown.next_multiple_of(unit) } else { shown.max(unit) };
        if whole || buffer >= SMALL_BUFFER_SEGMENTS * self.rules.mss {
            return goal;
        }
        // RFC 9293 3.8.6.2.2: the edge moves by a segment at least, or by half of the buffer if
        // that is less. It may always move to the end of the buffer.
        let step = self.rules.mss.min(buffer / 2).max(1);
        if goal >= self.goal + step { goal } else { self.goal }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream with a buffer of 10,000 octets and segments of 1,000 that has advertised its
    /// window.
    fn stream() -> RecvStream {
        let config = Config { mss: 1_000, receive_buffer: Some(10_000), receive_initial: None, ..Config::default() };
        let mut s = RecvStream::new(&config);
        assert_eq!(show(&mut s), 10_000);
        s
    }

    /// Advertises the window that an acknowledgement shows, unscaled.
    fn show(s: &mut RecvStream) -> u64 {
        let window = s.window_field(u64::MAX, 0, || 0);
        s.advertise(window);
        window
    }

    #[test]
    fn what_is_accepted_was_advertised() {
        let mut s = stream();
        assert!(s.accepts(10_000) && !s.accepts(10_001));
        s.take(0, 4_000, 0);
        assert_eq!((s.window(), s.readable()), (6_000, 4_000));
        assert!(!s.accepts(10_001));
    }

    /// RFC 9293 3.8.6.2.2: the window opens in steps worth a segment.
    #[test]
    fn the_right_edge_stays_until_it_can_move_by_a_segment() {
        let mut s = stream();
        s.take(0, 4_000, 0);
        assert_eq!(s.read(999), 999);
        assert_eq!(show(&mut s), 6_000);
        assert_eq!(s.read(1), 1);
        assert_eq!(show(&mut s), 7_000);
        assert!(s.accepts(11_000) && !s.accepts(11_001));
    }

    #[test]
    fn the_end_is_told_once_and_when_everything_before_it_has_arrived() {
        let mut s = stream();
        s.end_at(10_001);
        assert_eq!(s.end(), None, "beyond the window");
        s.arrive(0, 2_000);
        s.end_at(1_999);
        assert_eq!(s.end(), None, "before data that have arrived");
        s.end_at(3_000);
        s.end_at(4_000);
        assert_eq!(s.end(), Some(3_000), "the first counts");
        s.take(0, 2_000, 0);
        assert!(!s.ends_now());
        s.take(2_000, 1_000, 0);
        assert!(s.ends_now() && !s.ends_now() && s.has_ended());
    }

    /// RFC 7323 2.2: the window of a SYN is not scaled.
    #[test]
    fn a_syn_shows_no_more_than_its_field_holds() {
        let config = Config { mss: 1_460, receive_buffer: Some(1 << 20), receive_initial: None, ..Config::default() };
        let mut s = RecvStream::new(&config);
        assert_eq!(s.syn_window(None), 65_535);
        assert_eq!(s.window(), 65_535);
        let mut s = RecvStream::new(&config);
        assert_eq!(s.syn_window(Some(1_460)), 44 * 1_460);
        assert_eq!(window_shift(&config), 5);
    }
}
