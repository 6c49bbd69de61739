//! Data that have to go out again at data level (RFC 8684 3.3.6).
//!
//! A subflow retransmits what is lost on it by itself. Data go out again on another one when their subflow times out or ends.
//! What a subflow has acknowledged is not data the peer has: it may have discarded them (a checksum failed, a mapping did
//! not come, the subflow was reset). They stay ours until the DATA_ACK (3.3.2). So when nothing is in flight on any subflow
//! and the DATA_ACK still lacks something, a timer sends the first of it again, on whichever subflow has room: a segment, for the
//! peer may hold all that follows. If the DATA_ACK then moves to its end and no further, what follows is lost, too, and twice as
//! much goes out at once; if it moves further, the next gap is tried as the first was.

use super::*;

/// When the oldest data without a DATA_ACK go out again, and how often they have.
#[derive(Clone, Copy, Debug)]
pub(super) struct DataTimer {
    pub at: Instant,
    tries: u32,
    data_una: u64,
    /// How much goes out the next time.
    segments: u32,
    /// Where what went out the last time ended.
    end: u64,
}

impl Connection {
    /// What was stuck on `id` may go out elsewhere.
    pub(super) fn reinject(&mut self, id: SubflowId) {
        if !self.reinjects() {
            return;
        }
        for sent in self.paths.subflows[id].sender.board.iter().filter(|s| !s.is_fin()) {
            let end = sent.data + u64::from(sent.len);
            if end > self.data_una {
                self.reinjections.add(sent.data.max(self.data_una), end, Some(id));
            }
        }
    }

    /// The papers' model has no reinjection: under its acknowledgement nothing goes out on a second subflow while the first has it. (The
    /// data-level timer runs all the same: a DATA_ACK can be lost under any acknowledgement, 3.3.2.)
    fn reinjects(&self) -> bool {
        let coupled_ack = self.config.acknowledgement == Acknowledgement::Coupled;
        matches!(self.mode, Mode::Mptcp(_)) && !coupled_ack
    }

    /// The peer has discarded data that it had acknowledged on a subflow (MP_FAIL on a RST): whatever no active subflow has in
    /// flight goes out again.
    pub(super) fn reinject_missing(&mut self) {
        if !self.reinjects() {
            return;
        }
        let mut under_way = RangeSet::default();
        for id in 0..self.paths.subflows.len() {
            if self.paths.subflows[id].state == State::Closed {
                // Of what was stuck there, too.
                self.reinjections.forget(id);
            }
        }
        for (s, _) in self.paths.active().filter(|(s, _)| s.state != State::Closed) {
            for sent in s.sender.board.iter().filter(|sent| !sent.is_fin()) {
                under_way.insert(sent.data, sent.data + u64::from(sent.len));
            }
        }
        let mut at = self.data_una;
        for (start, end) in under_way.iter() {
            if at < start {
                self.reinjections.again(at, start.min(self.data_nxt));
            }
            at = at.max(end);
        }
        if at < self.data_nxt {
            self.reinjections.again(at, self.data_nxt);
        }
    }

    /// Starts, keeps or stops the timer, after any input.
    pub(super) fn arm_data_timer(&mut self, now: Instant) {
        let missing = self.data_una < self.data_nxt && !self.closed && matches!(self.mode, Mode::Mptcp(_));
        // What a closed subflow still lists is under way no more.
        let idle = || {
            let mut alive = self.paths.active().filter(|(s, _)| s.state != State::Closed);
            self.reinjections.is_empty() && alive.all(|(s, _)| s.sender.board.is_empty())
        };
        if !missing {
            self.data_timer = None;
        } else if !idle() || self.ready_subflow().is_none() {
            // A try is under way, or nothing is wrong.
            if let Some(timer) = &mut self.data_timer {
                timer.at = Instant::FAR_FUTURE;
            }
        } else {
            let data_una = self.data_una;
            let patience = self.fin_patience();
            let first = DataTimer { at: now + patience, tries: 0, data_una, segments: 1, end: 0 };
            self.data_timer = Some(match self.data_timer {
                None => first,
                // The try was of use.
                Some(t) if t.tries > 0 && t.data_una < data_una => {
                    let segments = if t.end == data_una { t.segments.saturating_mul(2) } else { 1 };
                    DataTimer { at: now, segments, ..first }
                }
                Some(t) if t.data_una < data_una => first,
                Some(t) if t.at == Instant::FAR_FUTURE => {
                    DataTimer { at: now + patience.saturating_mul(1 << t.tries.min(FIN_BACKOFF)), segments: 1, ..t }
                }
                Some(t) => t,
            });
        }
    }

    /// The timer: the first of what is missing goes out again.
    pub(super) fn on_data_timer(&mut self, now: Instant) {
        let Some(timer) = &mut self.data_timer else { return };
        if timer.at > now {
            return;
        }
        timer.at = Instant::FAR_FUTURE;
        timer.tries += 1;
        if timer.tries > FIN_TRIES * self.config.max_retransmissions {
            self.give_up();
            return;
        }
        let octets = u64::from(timer.segments) * u64::from(self.config.mss);
        let end = (self.data_una + octets).min(self.data_nxt);
        timer.end = end;
        self.reinjections.again(self.data_una, end);
    }
}
