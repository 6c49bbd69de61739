//! Where the time of one subflow goes: what was spent, and what a later packet says of it.

use anabranch_measures::causes::{Cause, Times};

use super::{Flow, ROUNDS};

impl Flow {
    /// Time until `now` goes to its cause. `blocks`: other data wait for what it has in flight.
    pub fn spend(&mut self, now: u64, blocks: bool) {
        let time = now.saturating_sub(self.since);
        if time > 0 && matches!(self.cause, Cause::ReceiveWindow | Cause::HeadOfLine) {
            match self.closed.back_mut() {
                Some(last) if last.1 == self.since => last.1 = now,
                _ => self.closed.push_back((self.since, now)),
            }
        }
        let mut rest = 0;
        if let Some((until, after)) = self.streaming {
            rest = now.saturating_sub(until.max(self.since));
            self.gap_times[after as usize] += rest;
            self.gap_times[self.cause as usize] += time - rest;
            let spent = if self.plateau { &mut self.held_open } else { &mut self.open };
            spent[after as usize] += rest;
        }
        match self.cause {
            Cause::Cwnd if self.is_unproven(now) => self.unproven += time - rest,
            Cause::Cwnd if self.is_shaped() => {
                self.shaped += time - rest;
                self.near_window += if self.may_meet_window { time - rest } else { 0 };
            }
            Cause::Scheduler if self.follows => self.unproven_choice += time,
            _ => {}
        }
        self.since = self.since.max(now);
        if matches!(self.cause, Cause::Scheduler | Cause::Application) {
            self.gap_times[self.cause as usize] += time;
        }
        let spent = if self.plateau { &mut self.held_open } else { &mut self.open };
        spent[self.cause as usize] += time - rest;
        self.blocked += if blocks { time } else { 0 };
    }

    /// The connection moves: what was spent counts.
    pub fn settle(&mut self) {
        for (all, more) in [(&mut self.times, &mut self.open), (&mut self.held, &mut self.held_open)] {
            all.iter_mut().zip(std::mem::take(more)).for_each(|(all, more)| *all += more);
        }
    }

    /// New data leave on any subflow: the time from now on is another gap.
    pub fn begin_gap(&mut self) {
        self.gap_times = Times::default();
    }

    /// The present gap ends.
    pub fn end_gap(&mut self) {
        self.latest_gap = 0;
    }

    /// What it seemed to wait for since new data left last was not `from` but `to`.
    pub fn resolve(&mut self, from: Cause, to: Cause) {
        let time = std::mem::take(&mut self.gap_times[from as usize]);
        self.gap_times[to as usize] += time;
        self.latest_gap += time;
        self.transfer(time, from, to);
    }

    /// In the gap that ended last it waited not for `from` but for `to`.
    pub fn resolve_again(&mut self, from: Cause, to: Cause) {
        let time = std::mem::take(&mut self.latest_gap);
        self.transfer(time, from, to);
    }

    fn transfer(&mut self, mut time: u64, from: Cause, to: Cause) {
        for times in [&mut self.held_open, &mut self.open, &mut self.held, &mut self.times] {
            let part = time.min(times[from as usize]);
            times[from as usize] -= part;
            times[to as usize] += part;
            time -= part;
        }
    }

    /// The gap that was resolved last may be one of the application.
    pub fn doubt_gap(&mut self) {
        self.by_chance += self.latest_gap;
    }

    /// Of the time at the present ceiling, its window was full of copies for most.
    pub fn is_full_of_copies(&self) -> bool {
        let sum = |cause: usize| self.held[cause] + self.held_open[cause];
        2 * sum(Cause::Reinjection as usize) > (0..Cause::COUNT).map(sum).sum()
    }

    /// The connection is over, and moved last at `until`: what the receiver held meanwhile is known.
    pub fn finish(&mut self) {
        let [window, line] = [Cause::ReceiveWindow as usize, Cause::HeadOfLine as usize];
        let closed = self.times[window] + self.times[line];
        self.times[line] = self.gap.min(closed);
        self.times[window] = closed - self.times[line];
    }

    /// The ceiling of the data in flight ends. It was a send buffer for subflows with room, and for those with full windows, or
    /// beside them, if it lasted `long`.
    pub fn end_plateau(&mut self, now: u64, (buffer, long, blurred): (bool, bool, bool)) {
        let flat = now.saturating_sub(self.window.1) >= self.round().saturating_mul(ROUNDS);
        for (held, times) in [(&mut self.held, &mut self.times), (&mut self.held_open, &mut self.open)] {
            for (cause, time) in std::mem::take(held).into_iter().enumerate() {
                let window = cause == Cause::Cwnd as usize && flat && long;
                let beside = cause == Cause::Scheduler as usize && long;
                let room = cause == Cause::Application as usize;
                let to = match cause {
                    _ if buffer && (window || beside || room) => Cause::SendBuffer as usize,
                    // A window that is full grows, if nothing is lost.
                    _ if window && blurred => Cause::Application as usize,
                    cause => cause,
                };
                times[to] += time;
            }
        }
    }

    /// Away from the sender its silence shows that the timer expired twice. The first time, two timeouts ago (RFC 6298 5.5), a
    /// retransmission was lost that nobody saw: recovery began.
    pub fn on_failed(&mut self) {
        let mut hidden = self.sender.rto().saturating_mul(2);
        for times in [&mut self.held_open, &mut self.open, &mut self.held, &mut self.times] {
            for cause in [Cause::Scheduler, Cause::Cwnd] {
                let part = hidden.min(times[cause as usize]);
                times[cause as usize] -= part;
                times[Cause::Recovery as usize] += part;
                hidden -= part;
            }
        }
    }

    /// The connection began `earlier` than was known.
    pub fn begin_earlier(&mut self, earlier: u64) {
        self.open[Cause::NotUp as usize] += earlier;
    }

    /// That it is silent has another reason until `now`.
    pub fn forgive(&mut self, now: u64) {
        self.active = self.active.max(now);
    }
}
