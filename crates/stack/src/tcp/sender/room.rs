//! Room in the window: what is in flight, and how much more may be.

use super::{Phase, Sender};

impl Sender {
    /// Octets in flight, as compared with the congestion window.
    #[inline]
    pub fn in_flight(&self) -> u64 {
        if self.selective { self.board.pipe() } else { self.in_flight_without_sack() }
    }

    /// Octets of the window that a careful detector withholds while nothing is lost yet.
    #[inline]
    fn withheld(&self) -> u64 {
        if self.rules.withholds { self.withheld_now() } else { 0 }
    }

    #[cold]
    fn withheld_now(&self) -> u64 {
        let extended = self.selective && self.recovery.duplicates() > 0 && self.recovery.is_open();
        if extended { self.detector.withheld() } else { 0 }
    }

    fn in_flight_without_sack(&self) -> u64 {
        let flight = self.flight_size();
        match self.recovery.phase() {
            Phase::Loss { .. } => self.board.pipe(),
            // RFC 6582 3.2 inflates the window by the octets that have left the network. Subtracting them from FlightSize has the
            // same effect, and the window stays at ssthresh.
            Phase::Fast { .. } => flight.saturating_add_signed(-self.reduction.inflation()),
            Phase::Open | Phase::Cwr { .. } if self.recovery.duplicates() == 0 => flight,
            Phase::Open | Phase::Cwr { .. } => {
                // RFC 3042 2: the octets of limited transmit do not count; the window stays as it is.
                let beyond = self.detector.limited_transmit(self.recovery.duplicates());
                flight.saturating_sub(u64::from(beyond) * u64::from(self.mss))
            }
        }
    }

    /// Duplicate acknowledgements have come since the last one of new data.
    pub fn has_duplicates(&self) -> bool {
        self.recovery.duplicates() > 0
    }

    /// FlightSize (RFC 5681 2).
    #[inline]
    pub fn flight_size(&self) -> u64 {
        self.nxt - self.una
    }

    /// How many octets may be in flight now.
    #[inline]
    pub fn allowed(&self, in_flight: u64) -> u64 {
        let window = self.controller.octets();
        let reduces = self.recovery.is_fast() && !self.controller.reduces_itself();
        if reduces { self.reduction.allows(window, in_flight) } else { window }
    }

    /// What the window has room for, in octets.
    pub fn open_window(&self) -> u64 {
        let in_flight = self.in_flight();
        self.allowed(in_flight).saturating_sub(in_flight)
    }

    /// The window has room for `len` more octets (RFC 5681 2; RFC 6675 5 (C): cwnd less pipe).
    #[inline]
    pub fn has_room(&self, len: u32) -> bool {
        let in_flight = self.in_flight();
        in_flight + self.board.weight(len) + self.withheld() <= self.allowed(in_flight)
    }

    /// Whether the window has room for a full-sized segment, and the octets in flight.
    #[inline]
    pub fn room(&self) -> (bool, u64) {
        let in_flight = self.in_flight();
        (in_flight + u64::from(self.mss) + self.withheld() <= self.allowed(in_flight), in_flight)
    }

    /// Octets that the window has room for if no recovery is in progress.
    #[inline(always)]
    pub fn free(&self) -> u64 {
        self.controller.octets().saturating_sub(self.in_flight())
    }

    /// More decides than the octets in flight and the window when the next segment may leave: pacing, what is withheld, segments that count
    /// as full ones.
    #[inline(always)]
    pub fn is_metered(&self) -> bool {
        self.controller.follows_departures() || self.rules.paced || self.rules.withholds || self.rules.counts_segments
    }
}
