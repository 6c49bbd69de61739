//! What each subflow of a sender waits for (`metrics::causes`), found out from its packets, and what each path can carry.
//!
//! A capture does not show congestion windows, send buffers, or what an application has written. What it shows is who reacts to
//! what. A sender whose window is full answers each acknowledgement at once with new data, and has as much in flight after it
//! as before; one that has nothing to send does not. So a congestion window counts as full while as much is in flight as there
//! was at most since it was reduced last. A send buffer counts as full while the data without DATA_ACK keep to one ceiling for
//! many round trips. Windows of the receiver, losses and handshakes are facts.
//!
//! The account runs on the sender's time. In a capture at the sender that is the capture's; elsewhere [`timeline`] puts the
//! packets where the sender sent and received them. Only whether the receiver holds data behind a gap is a matter of the
//! receiver's time: [`gaps`]. [`flow`] is one subflow, [`capacity`] what its path carries,
//! [`queue`] how long its queue was.

use anabranch_measures::causes::Cause;
use anabranch_stack::ranges::RangeSet;
use beat::Beat;

use super::sender::{Kind, Sent};

mod beat;
mod capacity;
mod departures;
mod flow;
mod gaps;
mod history;
mod peak;
mod queue;
mod timeline;

pub use flow::Flow;
use gaps::{Gaps, MANY};
pub use timeline::{Event, Segment, Timeline, What};

/// New data of which at least this part answers news are sent when an acknowledgement makes room.
const CLOCKED: f64 = 0.9;

/// A transmission this soon after news (in nanoseconds) answers it.
const AT_ONCE: u64 = 200_000;

/// So many DATA_ACKs must be answered with new data up to the ceiling.
const REFILLS: u64 = 8;

/// How much the latest burst counts of those that ended what was written.
const MARKED: f64 = 0.125;

/// No send buffer is smaller than so many segments.
const LEAST: u64 = 4;

/// How far times of sending that come from timestamps may be wrong (nanoseconds): a tick of their clock, and one of the other end's.
const BLUR: u64 = 2_500_000;

/// A subflow without a word for so many retransmission timeouts, seen from the receiver, has failed: the first expires after one, the
/// second, backed off, after two more (RFC 6298 5.5).
const SILENT: u64 = 3;

/// A ceiling of the data in flight is the send buffer if it holds for so many round trips.
const ROUNDS: u64 = 8;

/// The account of one direction of a connection.
#[derive(Clone, Debug, Default)]
pub struct Waiting {
    timeline: Timeline,
    pub flows: Vec<Flow>,
    began: Option<u64>,
    now: u64,
    /// Data offsets: after the last octet sent, of the first without DATA_ACK, the window's right edge, after the last known to
    /// have arrived.
    nxt: u64,
    una: u64,
    edge: u64,
    high: u64,
    /// What was sent of the data from `una` on: what is sent again on another subflow is a copy.
    sent: RangeSet,
    /// When the sender last heard something that lets it send.
    news: u64,
    /// The most data without DATA_ACK that was seen, since when it is not a segment more, and what it was then.
    ceiling: (u64, u64, u64),
    /// How often data came at once to take the place of what a DATA_ACK had freed below that ceiling, and how often not.
    refilled: [u64; 2],
    freed: Option<u64>,
    /// The send buffer, once a ceiling was found to be one; the most data without DATA_ACK at any time.
    pub buffer: u64,
    pub most: u64,
    arrived: Vec<Sent>,
    /// Times of sending are blurred, since the capture is the receiver's.
    far: bool,
    /// The first subflow is established, and when the connection began is known.
    opened: bool,
    /// How news and new data follow each other.
    beat: Beat,
    /// Share of the latest new data on all subflows that answered news, by octets.
    clocked: f64,
    /// When the connection moved last.
    moved: u64,
    /// The latest new data were the last that was written, as far as segments show it.
    ended: bool,
    /// Share of the latest bursts that ended what was written.
    marked: f64,
    /// When new data left last, and when an acknowledgement without data last freed some of the send buffer.
    left_at: u64,
    freed_at: Option<u64>,
    /// When less than a segment left after an acknowledgement that freed some of the send buffer, if nothing has left since.
    rest: Option<u64>,
    gaps: Gaps,
}

impl Waiting {
    /// A packet of the connection.
    pub fn add(&mut self, event: Event) {
        if self.began.is_none() {
            (self.began, self.clocked) = (Some(event.at), 1.0);
        }
        self.timeline.push(event);
        while let Some(event) = self.timeline.pop(event.seen) {
            self.work_off(&event);
        }
    }

    /// The capture is over.
    pub fn finish(&mut self) {
        while let Some(event) = self.timeline.pop(u64::MAX) {
            self.work_off(&event);
        }
        if self.ended {
            self.flows.iter_mut().for_each(|f| f.resolve(Cause::Scheduler, Cause::Application));
        }
        self.end_plateau(self.now);
        let moved = self.moved;
        for f in &mut self.flows {
            f.closed.iter_mut().for_each(|(_, to)| *to = moved.min(*to));
            f.closed.retain(|(from, to)| from < to);
        }
        self.gaps.end(self.now);
        self.split(u64::MAX);
        self.flows.iter_mut().for_each(Flow::finish);
    }

    /// The receiver holds data behind a gap at `now`, or does not.
    pub fn on_held(&mut self, now: u64, held: bool) {
        self.gaps.set(now, held);
        if self.gaps.len() > MANY {
            // What comes after the connection moved last may not count.
            self.split(self.moved.min(now));
        }
    }

    /// Gives the time until `until` with a closed window to what the receiver held.
    fn split(&mut self, until: u64) {
        for f in &mut self.flows {
            f.gap += self.gaps.common(&mut f.closed, until);
        }
        self.gaps.forget(until);
    }

    /// Flow `i`, from the time the connection began.
    fn flow(&mut self, i: usize) -> &mut Flow {
        let began = self.began.unwrap_or_default();
        while self.flows.len() <= i {
            self.flows.push(Flow::new(began));
        }
        &mut self.flows[i]
    }

    fn work_off(&mut self, e: &Event) {
        self.now = self.now.max(e.at);
        let (now, i) = (self.now, e.flow);
        self.flow(i);
        self.spend(now);
        match e.what {
            What::Opening => {}
            What::Up { rtt, answered } => {
                self.far |= e.displaced;
                if !std::mem::replace(&mut self.opened, true) && answered {
                    // The first packet left its sender half a round trip before it was seen.
                    let earlier = rtt.unwrap_or(0) / 2;
                    self.began = self.began.map(|began| began.saturating_sub(earlier));
                    self.flows.iter_mut().for_each(|f| f.begin_earlier(earlier));
                }
                self.flows[i].on_up(rtt);
            }
            What::Down => self.flows[i].up = false,
            What::Sent(ref segment) => self.on_sent(now, i, segment),
            What::Ack { ack, ref sack, echo, pure, congestion, data_ack, edge } => {
                self.beat.on_news(now, self.news);
                self.news = now;
                // What carries data may be a request, and the new data its answer.
                self.freed_at = self.freed_at.filter(|_| pure);
                self.arrived.clear();
                let mut arrived = std::mem::take(&mut self.arrived);
                let blur = if self.far { BLUR } else { 0 };
                self.flows[i].on_ack(now, ack, sack, echo, pure, blur, &mut arrived);
                if congestion {
                    self.flows[i].on_congestion();
                }
                let ends = arrived.iter().filter(|s| s.data != super::sender::UNMAPPED);
                self.high = ends.map(|s| s.data + (s.end - s.seq)).max().unwrap_or(0).max(self.high);
                self.arrived = arrived;
                // RFC 9293 3.8.6: a receiver may take back room that it had offered, and then closes its window.
                let shut = edge > 0 && edge <= data_ack && data_ack >= self.una;
                self.edge = if shut { edge } else { self.edge.max(edge) };
                if data_ack > self.una {
                    // Acknowledgements of one instant, as after a Wi-Fi aggregate, are answered together; and Linux wakes a writer when a
                    // third of its send buffer is free (`sk_stream_write_space`).
                    let out = self.nxt.saturating_sub(data_ack);
                    let waits = 5 * out > 3 * self.ceiling.0;
                    let before = if waits { self.freed.or(Some(now)) } else { self.freed.replace(now) };
                    let missed = before.is_some_and(|before| now.saturating_sub(before) > blur + AT_ONCE);
                    self.refilled[1] += u64::from(missed && !waits);
                    self.freed = self.freed.or(Some(now));
                    self.freed_at = if pure { Some(now) } else { None };
                    self.una = data_ack;
                    self.nxt = self.nxt.max(data_ack);
                    self.sent.remove_below(data_ack);
                    self.settle();
                }
            }
        }
        self.judge();
    }

    fn on_sent(&mut self, now: u64, i: usize, segment: &Segment) {
        let &Segment { len, data, mss, probe, .. } = segment;
        let mapped = data != super::sender::UNMAPPED;
        let probe = probe || (mapped && self.edge > 0 && data.wrapping_sub(self.edge) <= 1);
        let end = data.saturating_add(u64::from(len));
        // Data assigned to subflows ahead leave in any order: only what was sent before is a copy.
        let known = |(_, known)| known >= end;
        let copy = mapped && (end <= self.una || self.sent.containing(data).is_some_and(known));
        let clocked = now.saturating_sub(self.news) <= if self.far { BLUR } else { AT_ONCE };
        let blur = if self.far { BLUR } else { 0 };
        let flow = &mut self.flows[i];
        let before = flow.is_repairing();
        let kind = flow.on_sent(now, segment, (probe, copy, clocked), blur);
        let begins = !before && flow.is_repairing();
        let ended = kind == Kind::New && flow.on_departure(now, segment);
        if kind == Kind::New && !copy {
            self.end_gap(now, ended, clocked);
            // Data that were assigned to another subflow ahead of its window may follow: the last octet of the stream decides.
            if !mapped || end >= self.nxt {
                self.ended = ended;
            }
            self.ended |= self.flows.iter().all(Flow::has_ended);
        }
        let answers = self.clocked >= 0.5;
        self.flows[i].note_full(now, blur, !self.ended, answers);
        if kind == Kind::New {
            let weight = (f64::from(len) / self.ceiling.0.max(10 * u64::from(mss)).max(1) as f64).min(1.0);
            self.clocked += weight * (f64::from(u8::from(clocked)) - self.clocked);
        }
        if mapped && kind == Kind::New {
            self.nxt = self.nxt.max(end);
            if end > self.una {
                self.sent.insert(data.max(self.una), end);
            }
        }
        if begins {
            self.end_plateau(now);
        }
        let out = self.nxt - self.una.min(self.nxt);
        self.most = self.most.max(out);
        if out > self.ceiling.2 + self.grain() {
            self.end_plateau(now);
            self.ceiling = (out, now, out);
        } else if out > self.ceiling.0 {
            self.ceiling.0 = out;
        }
        if kind == Kind::New && clocked && out + self.grain() + u64::from(mss) > self.ceiling.0 {
            self.refilled[0] += u64::from(self.freed.take().is_some());
        }
        self.settle();
    }

    /// New data leave at `now`; they show what the sender waited for since the last ones. `ended`: they are the last that is written;
    /// `clocked`: they answer news.
    fn end_gap(&mut self, now: u64, ended: bool, clocked: bool) {
        // What was left of the data written before, less than a segment, leaves together with more: an acknowledgement made room for that.
        if self.rest.take().is_some_and(|at| now.saturating_sub(at) <= AT_ONCE) {
            self.flows.iter_mut().for_each(|f| f.resolve_again(Cause::Application, Cause::SendBuffer));
        }
        if now > self.left_at {
            let dry = self.flows.iter().any(Flow::runs_dry);
            let dry = dry && self.clocked < CLOCKED;
            let freed = !self.far && !dry && self.freed_at.is_some_and(|at| now.saturating_sub(at) <= AT_ONCE);
            self.beat.on_data(now, self.news);
            self.rest = (freed && !self.ended && ended).then_some(now);
            for f in &mut self.flows {
                f.end_gap();
                match (self.ended, ended) {
                    // An acknowledgement lets a sender go on that had sent all: it made room in the send buffer.
                    (true, more) if freed && (!more || self.marked > 0.5) => {
                        f.resolve(Cause::Application, Cause::SendBuffer);
                        if self.beat.is_chance() {
                            f.doubt_gap();
                        }
                    }
                    // Without news the data are new to the sender, too: it had nothing to send, whatever other subflows were about.
                    (true, _) if !clocked => f.resolve(Cause::Scheduler, Cause::Application),
                    // Less than a segment was left, which waited for the rest, or for an acknowledgement (RFC 9293 3.7.4).
                    (false, true) => {
                        f.resolve(Cause::Scheduler, Cause::Application);
                        f.resolve(Cause::Cwnd, Cause::Application);
                    }
                    _ => {}
                }
            }
            self.marked += MARKED * (f64::from(u8::from(self.ended)) - self.marked);
        }
        self.flows.iter_mut().for_each(Flow::begin_gap);
        self.left_at = now;
    }

    /// The time until `now` goes to what each subflow waited for.
    fn spend(&mut self, now: u64) {
        let blocked = self.flows.iter().any(|f| f.cause == Cause::HeadOfLine);
        let head = if blocked { self.blocking() } else { None };
        for (i, f) in self.flows.iter_mut().enumerate() {
            f.spend(now, head == Some(i));
        }
    }

    /// The connection moves: what was spent until now counts.
    fn settle(&mut self) {
        self.moved = self.now;
        self.flows.iter_mut().for_each(Flow::settle);
    }

    /// The subflow that carries the first octet without DATA_ACK.
    fn blocking(&mut self) -> Option<usize> {
        let una = self.una;
        let at = |f: &mut Flow| {
            f.sender.queue().iter().any(|s| s.data <= una && s.data + (s.end - s.seq) > una && !s.arrived)
        };
        self.flows.iter_mut().position(at)
    }

    /// How exactly the data without DATA_ACK are known.
    fn grain(&self) -> u64 {
        self.flows.iter().map(Flow::grain).max().unwrap_or(1460)
    }

    /// What each subflow waits for from now on.
    fn judge(&mut self) {
        let mss = self.flows.iter().map(|f| f.mss).max().unwrap_or(1460);
        let closed = self.edge > 0 && self.edge.saturating_sub(self.nxt) < mss;
        let held = self.high > self.una;
        let (now, far, more, answers) = (self.now, self.far, !self.ended, self.clocked >= 0.5);
        let blur = if far { BLUR } else { 0 };
        let full = |c: Option<Cause>| matches!(c, Some(Cause::Cwnd | Cause::Reinjection));
        // If there are more data and no subflow's window is known to be full, each that still sends is limited by its window or paced.
        let others = self.flows.iter().filter(|f| f.up).count() > 1;
        let others = others && self.flows.iter().any(|f| f.is_full(blur));
        // A sender that ends its data again and again while its window seems full has sent all: it waits for room in its send buffer.
        let sent_all = self.ended && self.marked > 0.5;
        let own = |f: &Flow| {
            f.own(now, blur, (more, others, answers)).filter(|c| !sent_all || !full(Some(*c)) || f.is_shaped())
        };
        // Somebody else's window is full, so there was something to send. During recovery that cannot be seen; then it is as it
        // was before.
        let repairs = |c: Option<Cause>| c == Some(Cause::Recovery) && self.clocked > 0.5;
        let wanting = self.flows.iter().map(own).filter(|c| full(*c) || repairs(*c)).count();
        let wants = wanting > 0;
        let out = self.nxt - self.una.min(self.nxt);
        let plateau = out + self.grain() + mss > self.ceiling.0 && self.ceiling.0 >= LEAST * mss;
        for f in &mut self.flows {
            if closed && !held {
                // A closed window says enough of why nothing comes.
                f.forgive(now);
            }
            let own = own(f);
            let silent = far && wants && f.up && f.is_silent(now, SILENT);
            if silent && f.cause != Cause::Failed {
                f.on_failed();
            }
            f.cause = match own {
                _ if silent => Cause::Failed,
                Some(cause @ (Cause::NotUp | Cause::Failed | Cause::Recovery)) => cause,
                _ if closed && held => Cause::HeadOfLine,
                _ if closed => Cause::ReceiveWindow,
                Some(cause) => cause,
                None if wants => Cause::Scheduler,
                None => Cause::Application,
            };
            f.plateau = plateau;
            f.sent_all = sent_all;
            let others_want = wanting > usize::from(full(own) || repairs(own));
            f.limit_streaming(blur, if others_want { Cause::Scheduler } else { Cause::Application });
        }
        let busy = |f: &Flow| match f.cause {
            Cause::Cwnd => !f.is_unproven(now),
            cause => matches!(cause, Cause::Reinjection | Cause::Recovery),
        };
        let follows = !self.flows.iter().any(busy);
        let room = self.edge.saturating_sub(self.nxt);
        for f in &mut self.flows {
            f.follows = follows;
            f.note_room(room);
        }
    }

    /// The data in flight exceed their ceiling, or something is lost: was the ceiling the send buffer?
    fn end_plateau(&mut self, now: u64) {
        let round = self.flows.iter().map(Flow::round).max().unwrap_or(0);
        let (out, since, _) = self.ceiling;
        let [refilled, missed] = std::mem::take(&mut self.refilled);
        let same = self.buffer > 0 && out.abs_diff(self.buffer) < 1500;
        // Copies do not fill a send buffer.
        let copies = self.flows.iter().any(Flow::is_full_of_copies);
        let buffer = out > 0 && !copies && (refilled >= REFILLS || same) && refilled >= 3 * missed;
        let long = same || (round > 0 && now.saturating_sub(since) >= round.saturating_mul(ROUNDS));
        self.flows.iter_mut().for_each(|f| f.end_plateau(now, (buffer, long, self.far)));
        if buffer && long {
            self.buffer = out;
        }
        self.ceiling = (0, now, 0);
    }
}

#[cfg(test)]
mod tests;
