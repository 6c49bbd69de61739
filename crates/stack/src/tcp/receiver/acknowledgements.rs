//! When acknowledgements are sent (RFC 5681 4.2, RFC 1122 4.2.3.2), and the acknowledgement numbers of coupled acknowledgement.

use std::collections::VecDeque;

use crate::config::{Acknowledgement, Config, DelayedAck};
use crate::seq::Seq;
use crate::time::{Duration, Instant};

/// Deadline of a pure acknowledgement that is sent with the next poll.
const NOW: Instant = Instant::ZERO;
/// Deadline when no acknowledgement is due.
const OFF: Instant = Instant::FAR_FUTURE;

/// The acknowledgements of one subflow.
#[derive(Debug)]
pub(crate) struct Acknowledgements {
    /// Deadline of the next pure acknowledgement: [`NOW`], [`OFF`], or the end of its delay.
    at: Instant,
    delay: DelayedAck,
    /// The delay that follows the arrivals ([`Config::delayed_ack_adapts`]).
    adaptive: Option<Adaptive>,
    /// Coupled acknowledgement (the papers' model): each released segment has an acknowledgement of its own.
    pub coupled_ack: bool,
    /// Largest payload received: counts as full-sized.
    full: u32,
    /// Octets received since the last acknowledgement was sent.
    unacked: u64,
    /// Coupled acknowledgement: acknowledgement numbers still to be sent, one ACK each.
    owed: VecDeque<Seq>,
    /// Acknowledgements still to be sent without delay, and how many there are at the beginning and after an idle period.
    quick: u32,
    quick_acks: u32,
    /// The window that is offered while the buffer tunes itself.
    pub offered: u64,
    /// Round-trip time as the receiver of data sees it, from echoed timestamps.
    pub rtt: Option<Duration>,
    /// The last timestamp that was echoed: of the segments that echo one, the first tells the round-trip time.
    last_echo: Option<u32>,
    /// Segments with PSH are acknowledged at once, and the one that is being processed has it.
    push_acks: bool,
    pushed: bool,
    plain: bool,
    /// A read may call for an acknowledgement, too ([`Config::acknowledge_on_read`]).
    reads_late: bool,
    /// For that: a segment with PSH or a short one has arrived since the last acknowledgement.
    ends: bool,
    /// For that: the window that this subflow advertised last, in octets.
    pub told: u64,
    /// When the last payload arrived.
    last: Instant,
    /// The longest delay of an acknowledgement while segments are missing; zero if there is none.
    compression: Duration,
    /// RCV.NXT at the last payload, and the acknowledgements sent since it last advanced.
    reported: (Seq, u32),
}

/// A delay that follows how often data arrive (Linux: `icsk_ack.ato`).
#[derive(Clone, Copy, Debug)]
struct Adaptive {
    /// The least delay, and the present one.
    least: Duration,
    delay: Duration,
    /// The delay is no longer than a round-trip time, nor, when it has been used up, than a retransmission timeout.
    longest: Duration,
    rto: Duration,
    /// Time of the last payload, or of the end of the handshake before the first one.
    heard: Instant,
    /// True once data sent can count as an answer (Linux: `icsk_ack.ato` is not zero). A server
    /// begins with true. A client waits for the first payload, or for data written during the
    /// handshake that leave with the third ACK.
    counts: bool,
    /// The application answers promptly, so acknowledgements wait for its answers (Linux: pingpong
    /// mode).
    interactive: bool,
}

impl Adaptive {
    /// Creates the state before the handshake, with the delay `least`.
    fn new(least: Duration) -> Self {
        let (longest, rto) = (LONGEST_DELAY, LONGEST_DELAY);
        Self { least, delay: least, longest, rto, heard: Instant::ZERO, counts: false, interactive: false }
    }

    /// Records that data are sent at `now`. Data sent within the delay after an arrival are an
    /// answer: the application is interactive (`tcp_event_data_sent`).
    fn on_data_sent(&mut self, now: Instant) {
        self.interactive |= self.counts && now.since(self.heard) < self.delay;
    }

    /// A payload has come, `gap` after the one before unless that is a retransmission timeout ago (`tcp_event_data_recv`).
    fn on_payload(&mut self, gap: Option<Duration>, arrived: &Arrived) {
        match gap {
            Some(gap) if gap.0 <= self.least.0 / 2 => self.delay = Duration((self.delay.0 + self.least.0) / 2),
            Some(gap) if gap < self.delay => self.delay = Duration(self.delay.0 / 2 + gap.0).min(arrived.rto),
            _ => {}
        }
        self.longest = arrived.srtt.unwrap_or(LONGEST_DELAY).min(LONGEST_DELAY).max(self.least);
        self.rto = arrived.rto;
    }

    /// The delay has expired (`tcp_delack_timer_handler`). An interactive application did not
    /// answer in time and counts as interactive no longer; otherwise the delay doubles.
    fn on_expiry(&mut self) {
        let was_interactive = std::mem::take(&mut self.interactive);
        self.delay = if was_interactive { self.least } else { self.delay.saturating_mul(2).min(self.rto) };
    }

    /// The delay of an acknowledgement (`tcp_send_delayed_ack`).
    fn of_now(&self) -> Duration {
        self.delay.min(self.longest)
    }
}

/// The longest delay of an acknowledgement (Linux: `TCP_DELACK_MAX`).
const LONGEST_DELAY: Duration = Duration::from_millis(200);

/// What decides when a payload is acknowledged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived {
    /// Octets of payload.
    pub len: u32,
    /// It leaves or fills a hole, or is a duplicate.
    pub at_once: bool,
    /// RCV.NXT after it.
    pub rcv_nxt: Seq,
    /// Segments are missing, and there is nothing else to report.
    pub holes: bool,
    /// Smoothed round-trip time, and the retransmission timeout: what is an idle period.
    pub srtt: Option<Duration>,
    pub rto: Duration,
}

/// Duplicate acknowledgements that are sent at once even if they are compressed: the sender needs three (RFC 5681 3.2).
const UNCOMPRESSED: u32 = 3;

impl Acknowledgements {
    pub fn new(config: &Config) -> Self {
        let coupled_ack = config.acknowledgement == Acknowledgement::Coupled;
        // At most one for every second segment that the window holds.
        let window = config.receive_buffer.map_or(u64::MAX, |buffer| (buffer / u64::from(2 * config.mss)).max(2));
        Self {
            at: OFF,
            delay: config.delayed_ack,
            adaptive: match config.delayed_ack {
                DelayedAck::After(least) if config.delayed_ack_adapts => Some(Adaptive::new(least)),
                _ => None,
            },
            coupled_ack,
            full: 1,
            unacked: 0,
            owed: VecDeque::new(),
            quick: 0,
            offered: config.receive_initial.map_or(u64::MAX, |initial| {
                let initial = initial.next_multiple_of(1 << 14);
                // `tcp_init_buffer_space`: the window opens from here, less a segment.
                let kept = if config.acknowledge_on_read { u64::from(config.full_segment()) } else { 0 };
                if initial > 2 * kept { initial - kept } else { initial }
            }),
            rtt: None,
            last_echo: None,
            push_acks: config.push_acks,
            pushed: false,
            reads_late: config.acknowledge_on_read,
            ends: false,
            told: 0,
            plain: config.shortcuts
                && config.quick_acks == 0
                && !config.delayed_ack_adapts
                && !config.acknowledge_on_read
                && !config.push_acks
                && config.ack_compression == Duration::ZERO
                && config.receive_initial.is_none(),
            quick_acks: config.quick_acks.min(u32::try_from(window).unwrap_or(u32::MAX)),
            last: Instant::ZERO,
            compression: config.ack_compression,
            reported: (Seq::default(), 0),
        }
    }

    /// The largest payload received, in octets; one before the first.
    pub fn largest_payload(&self) -> u32 {
        self.full
    }

    /// Only RFC 5681 decides when to acknowledge: a sender's and receiver's other habits ([`Config::quick_acks`] and what follows there) are
    /// off.
    #[inline]
    pub fn are_plain(&self) -> bool {
        self.plain
    }

    /// A payload of `len` octets was accepted or refused, and only RFC 5681 decides. `at_once`: it leaves or fills a hole, or is a
    /// duplicate.
    #[inline(always)]
    pub fn on_plain_payload(&mut self, now: Instant, len: u32, at_once: bool) {
        // RFC 5681 4.2, RFC 9293 3.10.7.4 (MUST-58, MUST-59): there is one deadline, so one acknowledgement for an arriving segment at
        // most, and for several that arrive together.
        self.full = self.full.max(len);
        self.unacked += u64::from(len);
        self.at = self.at.min(if at_once { NOW } else { self.delayed(now) });
    }

    /// When a payload that has no reason to be acknowledged at once is.
    #[inline(always)]
    fn delayed(&self, now: Instant) -> Instant {
        match self.delay {
            DelayedAck::Off => NOW,
            // RFC 5681 4.2: at least every second full-sized segment.
            DelayedAck::After(_) if self.unacked >= 2 * u64::from(self.full) => NOW,
            DelayedAck::After(_) if self.reads_late && self.is_more_than_a_segment() => NOW,
            DelayedAck::After(delay) => {
                let Some(adaptive) = self.adaptive else { return now + delay };
                let delay = adaptive.of_now();
                // What ends within a quarter of the delay ends now.
                if self.at <= now + Duration(delay.0 / 4) { NOW } else { now + delay }
            }
        }
    }

    /// A payload was accepted or refused.
    pub fn on_payload(&mut self, now: Instant, arrived: &Arrived) {
        self.full = self.full.max(arrived.len);
        self.unacked += u64::from(arrived.len);
        let gap = Some(self.last).filter(|&last| last != Instant::ZERO).map(|last| now.since(last));
        let gap = gap.filter(|&gap| gap <= arrived.rto);
        if gap.is_none() && self.quick_acks > 0 {
            self.quick = self.quick_acks;
        }
        self.last = now;
        self.adaptive.iter_mut().for_each(|adaptive| adaptive.on_payload(gap, arrived));
        if let Some(adaptive) = &mut self.adaptive {
            (adaptive.heard, adaptive.counts) = (now, true);
        }
        let mut pushed = std::mem::take(&mut self.pushed) && arrived.len == self.full;
        let interactive = self.is_interactive();
        if self.reads_late {
            self.ends |= pushed || arrived.len < self.full;
            pushed = false;
        }
        let compressed = arrived.holes && self.compresses(arrived);
        let due = match () {
            () if compressed => {
                let share = arrived.srtt.map_or(self.compression, |srtt| Duration(srtt.0 / 20));
                now + self.compression.min(share)
            }
            () if arrived.at_once || (self.quick > 0 || pushed) && !interactive => NOW,
            () => self.delayed(now),
        };
        self.at = self.at.min(due);
    }

    /// Records that the handshake ended at `now`. `counts`: data sent from now on can be an answer;
    /// true for a server.
    pub fn on_handshake(&mut self, now: Instant, counts: bool) {
        if let Some(adaptive) = &mut self.adaptive {
            (adaptive.heard, adaptive.counts) = (now, counts);
        }
    }

    /// Records that a client's data, written during the handshake, leave with the third ACK.
    pub fn on_data_waiting(&mut self) {
        self.adaptive.iter_mut().for_each(|adaptive| adaptive.counts = true);
    }

    /// Records that a segment with data is sent at `now`.
    #[inline]
    pub fn on_data_sent(&mut self, now: Instant) {
        self.adaptive.iter_mut().for_each(|adaptive| adaptive.on_data_sent(now));
    }

    fn is_interactive(&self) -> bool {
        self.adaptive.is_some_and(|adaptive| adaptive.interactive)
    }

    /// The segment that is being processed carries PSH.
    #[inline]
    pub fn note_push(&mut self, push: bool) {
        self.pushed = push && self.push_acks;
    }

    /// A full-sized segment echoes a timestamp of ours, `rtt` old (Linux: `tcp_rcv_rtt_measure_ts`).
    #[inline]
    pub fn note_rtt(&mut self, echo: u32, rtt: Duration) {
        if self.last_echo.replace(echo) == Some(echo) {
            return;
        }
        self.rtt = Some(self.rtt.map_or(rtt, |old| Duration(old.0 - old.0 / 8 + rtt.0 / 8)));
    }

    /// The receive buffer has `size` octets, and a segment with `len` octets has arrived: opens the window towards that size.
    #[inline]
    pub fn open_window(&mut self, size: u64, len: u64) {
        if self.offered < size {
            self.offered = size.min(self.offered + 2 * len);
            self.quick = self.quick.max(1);
        }
    }

    /// Segments are missing. Whether the acknowledgement may wait for further arrivals.
    fn compresses(&mut self, arrived: &Arrived) -> bool {
        if self.compression == Duration::ZERO {
            return false;
        }
        if self.reported.0 != arrived.rcv_nxt {
            self.reported = (arrived.rcv_nxt, 0);
        }
        self.reported.1 = self.reported.1.saturating_add(1);
        self.quick == 0 && self.reported.1 > UNCOMPRESSED
    }

    /// A pure acknowledgement is sent with the next poll.
    #[inline]
    pub fn now(&mut self) {
        self.at = NOW;
    }

    /// Cancels the pure acknowledgement.
    #[inline]
    pub fn off(&mut self) {
        self.at = OFF;
    }

    /// A segment that acknowledges everything received so far is sent.
    #[inline]
    pub fn done(&mut self) {
        self.at = OFF;
        self.unacked = 0;
        self.ends = false;
        self.quick = self.quick.saturating_sub(1);
    }

    /// A pure acknowledgement is due now.
    #[inline]
    pub fn are_due(&self) -> bool {
        self.at == NOW || (self.coupled_ack && !self.owed.is_empty())
    }

    /// A pure acknowledgement is due, now or after its delay.
    #[inline]
    pub fn are_owed(&self) -> bool {
        self.at != OFF
    }

    /// Deadline of the delayed acknowledgement; [`Instant::FAR_FUTURE`] if none is delayed.
    #[inline]
    pub fn deadline(&self) -> Instant {
        if self.at == NOW { OFF } else { self.at }
    }

    fn is_more_than_a_segment(&self) -> bool {
        self.unacked > u64::from(self.full)
    }

    /// The application has read (Linux: `mptcp_subflow_could_cleanup`, `tcp_cleanup_rbuf`). `empty`: nothing is left, not even held for a
    /// hole. `window`: if that alone may call for an acknowledgement, the window that one would advertise, and the largest there is.
    pub fn on_read(&mut self, empty: bool, window: Option<(u64, u64)>) {
        let completed =
            self.are_owed() && (self.is_more_than_a_segment() || (empty && self.ends && !self.is_interactive()));
        let opened = window.is_some_and(|(window, most)| {
            let left = self.told.saturating_sub(self.unacked);
            window > 0 && 2 * left <= most && window >= 2 * left
        });
        if completed || opened {
            self.at = NOW;
        }
    }

    /// A delayed acknowledgement is due once its delay has ended.
    #[inline]
    pub fn on_timer(&mut self, now: Instant) {
        if self.at <= now {
            if self.at != NOW {
                self.adaptive.iter_mut().for_each(Adaptive::on_expiry);
            }
            self.at = NOW;
        }
    }

    /// Coupled acknowledgement: queues an ACK with number `seq` for the segment just released.
    pub fn owe(&mut self, seq: Seq) {
        self.owed.push_back(seq);
    }

    /// The acknowledgement number of the pure ACK being sent, if it is a queued one; `None` means RCV.NXT, and nothing more is
    /// due.
    #[inline]
    pub fn take(&mut self) -> Option<Seq> {
        let owed = self.owed.pop_front();
        if owed.is_none() {
            self.done();
        }
        owed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `__tcp_cleanup_rbuf`: what was read calls for an acknowledgement if the peer has at most half of the largest window left, and would have twice as
    /// much as it has.
    #[test]
    fn a_reader_tells_of_a_window_that_doubles() {
        let tells = |left: u64, window: u64, most: u64| {
            let mut a = Acknowledgements::new(&Config::default());
            a.told = left;
            a.on_read(false, Some((window, most)));
            a.at == NOW
        };
        assert!(tells(5000, 10_000, 10_000) && tells(1000, 2000, 10_000) && tells(0, 1, 10_000));
        assert!(!tells(5001, 20_000, 10_000), "more than half is left");
        assert!(!tells(4000, 7999, 10_000), "less than twice as much");
        assert!(!tells(0, 0, 10_000), "none");
    }
}
