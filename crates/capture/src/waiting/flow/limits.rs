//! Is the congestion window of one subflow full, or does something pace it?

use anabranch_measures::causes::Cause;

use super::{Flow, INITIAL, LACKING, ROUNDS, SHORTEST};

impl Flow {
    /// The network, or pacing, decides when the next segment leaves: packets wait before a link, or departures are even.
    pub(super) fn is_known_to_be_pressed(&self, now: u64) -> bool {
        self.departures.are_even(now) || self.busy >= 0.5 || self.is_shaped() || self.reducing
    }

    /// Packets wait before a link again and again: a sender that paces probes for more now and then.
    pub(super) fn is_held_by_network(&self, now: u64) -> bool {
        let lately = |at| now.saturating_sub(at) < self.round().saturating_mul(2 * ROUNDS);
        self.busy >= 0.5 || self.is_shaped() || self.reducing || self.pressed_at.is_some_and(lately)
    }

    /// Nothing proves that its congestion window is full.
    pub fn is_unproven(&self, now: u64) -> bool {
        let open = self.sent_all || !self.answers && !self.departures.are_even(now);
        !self.is_held_by_network(now) && (self.streaming.is_some() && open || self.is_flat(now))
    }

    /// The data in flight have not grown for long. A congestion window that is used up grows, if nothing is lost; a paced sender, a send
    /// buffer and an application that writes steadily look like this.
    pub(super) fn is_flat(&self, now: u64) -> bool {
        now.saturating_sub(self.window.1) > self.round().saturating_mul(2 * ROUNDS)
    }

    /// Packets wait in a queue of the sender's own host.
    pub fn is_shaped(&self) -> bool {
        self.departures.are_queued()
    }

    /// Notes whether what waits on its host may reach to the right edge of the receiver's window, `room` octets away.
    pub fn note_room(&mut self, room: u64) {
        self.may_meet_window = 2 * self.departures.queued() + 2 * self.mss > room;
    }

    /// So many of its segments are short that the sender must have run out of data again and again.
    pub fn runs_dry(&self) -> bool {
        self.departures.run_dry(false)
    }

    /// It is not established, or its latest segment ended what was written.
    pub fn has_ended(&self) -> bool {
        !self.up || self.departures.have_ended()
    }

    /// For so long (nanoseconds) a paced sender may pause between two bursts.
    pub(super) fn patience(&self) -> u64 {
        (2 * self.round()).max(4 * self.departures.pause()).max(SHORTEST)
    }

    /// Says for how long its cause holds without further packets, where times of sending may be wrong by `blur`: a window that is not
    /// known to be full is thought to be as long as data keep leaving; then the subflow waits for `after`.
    pub fn limit_streaming(&mut self, blur: u64, after: Cause) {
        let known = (self.is_full(blur) || self.is_reduced()) && !self.sent_all;
        let by_streaming = self.cause == Cause::Cwnd && !known;
        self.streaming = by_streaming.then(|| (self.fresh_at + self.patience(), after));
    }

    /// It has sent: notes whether its window is full now.
    pub fn note_full(&mut self, now: u64, blur: u64, more: bool, answers: bool) {
        self.answers = answers;
        self.was_full = self.own(now, blur, (more, false, answers)) == Some(Cause::Cwnd);
    }

    /// Returns what it waits for by itself, whatever the connection does; `None` if it could send. Times of sending may be wrong by
    /// `blur`; `more`: segments do not show that all written data was sent; `others`: the window of another subflow is full, and that one
    /// may be to send it; `answers`: most new data leave when an acknowledgement has come.
    pub fn own(&self, now: u64, blur: u64, (more, others, answers): (bool, bool, bool)) -> Option<Cause> {
        if !self.up {
            return Some(Cause::NotUp);
        }
        if self.expired > 1 {
            return Some(Cause::Failed);
        }
        if self.recover.is_some() {
            return Some(Cause::Recovery);
        }
        let held = self.is_known_to_be_pressed(now) && 3 * self.sender.in_flight() >= 2 * self.peak.most();
        let sends = now < self.fresh_at + self.patience() && (held || !others);
        // Packets that wait on the sender's own host were written, whatever the last of those that left says.
        let more = more && !self.departures.have_ended() || self.is_shaped();
        let at_will = !answers && !self.is_known_to_be_pressed(now);
        let dry = self.departures.run_dry(at_will) && !self.is_shaped();
        let streams = more && (self.is_reduced() || sends && !dry);
        if (dry || !self.is_full(blur)) && !streams {
            return None;
        }
        let copied: u64 = self.copies.iter().map(|(a, b)| b - a).sum();
        Some(if copied > 0 && 2 * copied >= self.sender.in_flight() { Cause::Reinjection } else { Cause::Cwnd })
    }

    /// As much is in flight as at most since the last loss, as exactly as that is known, and acknowledgements are answered at once.
    pub fn is_full(&self, blur: u64) -> bool {
        let flight = self.sender.in_flight();
        let least = if self.cut { self.window.0 } else { self.window.0.max(INITIAL * self.mss) };
        let slack = if blur > 0 { self.per(blur) } else { 0 } + self.grain() - self.mss;
        flight > 0 && flight + self.mss + slack > least && self.clocked >= 0.5
    }

    /// The controller has reduced the window in answer to ECE, and what is in flight still has to come down to it.
    pub(super) fn is_reduced(&self) -> bool {
        self.reducing && self.sender.in_flight() > 0
    }

    /// How exactly what is in flight is known: to a segment or, since an acknowledgement of two segments may be missing from the
    /// capture, and the next one, to five.
    pub fn grain(&self) -> u64 {
        if self.sender.holes > 0 { LACKING * self.mss } else { self.mss }
    }

    /// Octets that it sends in `time`: a window in each round trip.
    pub(super) fn per(&self, time: u64) -> u64 {
        (self.window.0 as f64 * time as f64 / self.round().max(1) as f64) as u64
    }

    /// Its window was full, or it repaired a loss, and it has neither sent nor heard anything for so many retransmission timeouts.
    pub fn is_silent(&self, now: u64, times: u64) -> bool {
        (self.was_full || self.recover.is_some())
            && now.saturating_sub(self.active) > self.sender.rto().saturating_mul(times)
    }

    /// It repairs a loss.
    pub fn is_repairing(&self) -> bool {
        self.recover.is_some()
    }
}
