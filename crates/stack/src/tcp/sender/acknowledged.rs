//! Processing of an acknowledgement: scoreboard, round-trip time, retransmission timer, and the sample that detector, judge and
//! controller read.

use super::{OFF, Sender};
use crate::controller::Path;
use crate::event::Events;
use crate::sample::{AckSample, Arrivals};
use crate::scoreboard::Sacked;
use crate::segment::{Mptcp, Segment};
use crate::seq::Seq;
use crate::shortcut::Shortcut;
use crate::tcp::timestamps;
use crate::time::{Duration, Instant};

/// What the subflow knows of an acknowledgement that passed the checks of RFC 9293 3.10.7.4.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckField {
    /// Acknowledgement number.
    pub ack: Seq,
    /// SACK is permitted on both sides.
    pub sack: bool,
    /// Echoed timestamp (TSecr), if timestamps are in use.
    pub ts_ecr: Option<u32>,
    /// ECE is set and ECN is in use.
    pub ece: bool,
    /// The advertised window allows this to be a duplicate acknowledgement (RFC 5681 2: unchanged). Always true with Multipath
    /// TCP, where subflows share one window and its change says nothing.
    pub same_window: bool,
}

/// What an acknowledgement changed, for the connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    /// Octets newly acknowledged.
    pub acked: u64,
    /// Octets newly marked lost.
    pub lost: u64,
    /// Our FIN is acknowledged.
    pub fin: bool,
}

impl Sender {
    /// Processes the acknowledgement in `seg`. The subflow is synchronized, and the acknowledgement number is at most SND.NXT and
    /// not older than the largest window (RFC 5961 5.2). (In line with what it calls for each acknowledgement: 40 instructions.)
    #[inline(always)]
    pub fn on_ack(
        &mut self,
        now: Instant,
        seg: &Segment,
        field: &AckField,
        paths: &[Path],
        events: &mut Events,
    ) -> Progress {
        let plain = !self.rules.weighs_acks
            && self.recovery.is_open()
            && self.recovery.duplicates() == 0
            && !self.recovery.waits_to_adapt()
            && seg.options.sack.as_slice().is_empty()
            && !field.ece
            && field.ack > self.una;
        if plain {
            let in_flight = self.in_flight();
            if let Some((octets, arrivals)) = self.board.acknowledge_plain(field.ack) {
                Shortcut::PlainAck.note();
                let lost = self.on_progress(now, seg, field, (octets, in_flight, arrivals), paths, events);
                return Progress { acked: octets, lost, fin: false };
            }
        }
        self.on_any_ack(now, seg, field, paths, events)
    }

    /// New data is acknowledged, and nothing else: `octets`, in segments that were sent once; `in_flight` octets were in flight before.
    /// The same as [`Sender::on_any_ack`] would do. Returns the octets newly marked lost.
    #[inline(always)]
    fn on_progress(
        &mut self,
        now: Instant,
        seg: &Segment,
        field: &AckField,
        (octets, in_flight, arrivals): (u64, u64, Arrivals),
        paths: &[Path],
        events: &mut Events,
    ) -> u64 {
        let Some((sent_at, _)) = arrivals.original else { return 0 };
        let cwnd_limited = self.fills_window(in_flight);
        let una_before = self.una;
        self.una = field.ack;
        let rtt = now.since(sent_at);
        self.sample_rtt(now, rtt);
        let mut sample = AckSample {
            now,
            ack: field.ack,
            una_before,
            snd_una: field.ack,
            snd_nxt: self.nxt,
            acked: octets,
            growth: octets,
            in_flight,
            sack: self.selective,
            cwnd_limited,
            rtt: Some(rtt),
            srtt: self.rtt.srtt().unwrap_or_default(),
            min_rtt: self.min_rtt,
            ts_ecr: field.ts_ecr,
            ..AckSample::default()
        };
        self.on_advance(now, &mut sample);
        if self.rules.ignores_progress {
            Shortcut::UntoldProgress.note();
            self.grow(!self.is_held(now), &mut sample, paths);
            return 0;
        }
        sample.arrivals = arrivals;
        sample.data_reordered = seg.options.door.duplicate.is_some_and(|(_, reordered)| reordered);
        sample.duplicate_number = seg.options.door.duplicate.map(|(number, _)| number);
        self.on_sample(&mut sample, paths, events);
        sample.lost
    }

    /// The window was in use with so many octets in flight: it was full, or at least half full in slow start (the acknowledgement may have
    /// covered the other half).
    #[inline(always)]
    fn fills_window(&self, in_flight: u64) -> bool {
        let cwnd = self.controller.octets();
        in_flight + u64::from(self.mss) > cwnd || (self.controller.window().in_slow_start() && 2 * in_flight >= cwnd)
    }

    /// Processes any acknowledgement.
    #[inline(never)]
    fn on_any_ack(
        &mut self,
        now: Instant,
        seg: &Segment,
        field: &AckField,
        paths: &[Path],
        events: &mut Events,
    ) -> Progress {
        let mut sample = self.measure(now, seg, field);
        let flight_before = self.flight_size();
        // With nothing in flight no window grows, and none is taken away either: what an idle period takes is taken by the next segment
        // (RFC 5681 4.1).
        let weighs = self.rules.validates && flight_before > 0;
        let delivered = if weighs { self.before_growth(&mut sample) } else { self.board.delivered() };
        let advanced = field.ack > self.una;
        let acked = if advanced { self.board.acknowledge(field.ack) } else { Default::default() };
        let (sacked, dsack) = if field.sack && !seg.options.sack.as_slice().is_empty() {
            self.take_sacks(seg, field.ack)
        } else {
            Default::default()
        };
        (sample.acked, sample.acked_sacked, sample.sacked) = (acked.octets, acked.sacked, sacked.octets);
        (sample.dsack, sample.sacked_original) = (dsack, sacked.original);
        sample.arrivals = if sacked.octets == 0 { acked.arrivals } else { acked.arrivals.and(sacked.arrivals) };
        sample.growth = if self.rules.counts_segments { self.new_segments(delivered) } else { acked.octets };
        if advanced {
            self.una = field.ack;
            sample.rtt = acked.sample.map(|sent_at| now.since(sent_at));
            // RFC 6298 3: every acknowledgement of new data gives a sample, if it can be told whose.
            if let Some(rtt) = sample.rtt {
                self.sample_rtt(now, rtt);
            } else if let (true, Some(ecr)) = (acked.retransmitted, field.ts_ecr) {
                sample.rtt = self.sample_from_echo(now, ecr);
            }
            if sample.rtt.is_none() && self.rules.sack_timing {
                sample.rtt = self.sample_from_sack(now, &sacked).or_else(|| self.sample_from_echo(now, field.ts_ecr?));
            }
            self.on_advance(now, &mut sample);
        } else if self.rules.sack_timing && sacked.octets > 0 {
            sample.rtt = self.sample_from_sack(now, &sacked);
            self.restart_by_sack(now, &sacked);
        }
        sample.snd_una = self.una;
        let plain = field.ack == self.una && flight_before > 0 && !advanced;
        sample.duplicate = self.is_duplicate(seg, field, &sample, plain);
        if self.rates.is_some() {
            self.take_rate(seg, &mut sample);
        }
        if flight_before > 0 || dsack.is_some() {
            self.on_sample(&mut sample, paths, events);
        }
        if field.ece && flight_before > 0 {
            self.on_ecn_echo(now, paths, events);
        }
        Progress { acked: acked.octets, lost: sample.lost, fin: acked.fin }
    }

    /// Whether the acknowledgement is a duplicate. `plain`: it acknowledges nothing new while data are in flight.
    ///
    /// With SACK, RFC 6675 2, 5: an ACK with new SACK information counts as a duplicate, even if it advances SND.UNA. Otherwise RFC 5681 2;
    /// a D-SACK block reports a duplicate and does not say that anything is missing. RFC 3042 2, RFC 5681 3.2: with SACK a duplicate
    /// without news lets nothing leave. RFC 8684 3, 3.4.1, 4: signals of Multipath TCP make no duplicate; a DSS does.
    #[inline(always)]
    fn is_duplicate(&self, seg: &Segment, field: &AckField, sample: &AckSample, plain: bool) -> bool {
        let options = &seg.options;
        let signals = !options.signal.is_empty() || !matches!(options.mptcp, Mptcp::None | Mptcp::Dss(_));
        let plain = seg.payload.len == 0 && plain && !signals;
        if self.selective { sample.sacked > 0 } else { plain && field.same_window && sample.dsack.is_none() }
    }

    /// Segments that have reached the peer since `delivered` had, in octets of full ones.
    fn new_segments(&self, delivered: u64) -> u64 {
        (self.board.delivered() - delivered) * u64::from(self.mss)
    }

    /// The part of the sample that is known before the scoreboard changes.
    #[inline(always)]
    fn measure(&self, now: Instant, seg: &Segment, field: &AckField) -> AckSample {
        let in_flight = self.in_flight();
        AckSample {
            now,
            ack: field.ack,
            una_before: self.una,
            snd_una: self.una,
            snd_nxt: self.nxt,
            in_flight,
            old: field.ack < self.una,
            sack: self.selective,
            ece: field.ece,
            cwnd_limited: self.fills_window(in_flight),
            after_timeout: false,
            ts_ecr: field.ts_ecr,
            sacked_before: !seg.options.sack.as_slice().is_empty() && self.board.has_sacked(),
            data_reordered: seg.options.door.duplicate.is_some_and(|(_, reordered)| reordered),
            duplicate_number: seg.options.door.duplicate.map(|(number, _)| number),
            ..AckSample::default()
        }
    }

    /// SND.UNA has advanced.
    #[inline(always)]
    fn on_advance(&mut self, now: Instant, sample: &mut AckSample) {
        self.adapt_timer(self.una, sample.rtt);
        // RFC 6298 5.2: all data acknowledged, timer off. 5.3: otherwise restart it.
        self.retries = 0;
        self.probes = 0;
        self.rto_at = if self.una < self.nxt { now + self.rtt.rto() } else { OFF };
        sample.round |= self.recovery.on_advance(self.una, self.nxt, sample.acked);
    }

    /// Enters the SACK blocks into the scoreboard. Returns the newly SACKed octets, and the first block if it is a D-SACK block
    /// (RFC 2883 4; RFC 2018 5).
    fn take_sacks(&mut self, seg: &Segment, ack: Seq) -> (Sacked, Option<(Seq, Seq)>) {
        let una = ack.max(self.una);
        let blocks = seg.options.sack.as_slice();
        let unwrap = |b: (u32, u32)| (Seq::unwrap(b.0, una), Seq::unwrap(b.1, una));
        let mut sacked = Sacked::default();
        let mut dsack = None;
        for (i, &block) in blocks.iter().enumerate() {
            let (start, end) = unwrap(block);
            if start >= end || end > self.nxt {
                continue;
            }
            if !self.selective {
                // Under coupled acknowledgement every block is a D-SACK block, also for a segment that the receiver holds at or
                // above the cumulative ACK.
                dsack = Some((start, end));
                break;
            }
            if i == 0 {
                let inside_next = blocks.get(1).is_some_and(|&second| {
                    let (s, e) = unwrap(second);
                    s <= start && end <= e
                });
                // RFC 2883 4, 5: compare with the cumulative ACK of this segment, not with a later one that overtook it.
                if start < ack || inside_next {
                    dsack = Some((start, end));
                    continue;
                }
            }
            if start >= una {
                let more = self.board.sack(start, end);
                sacked.octets += more.octets;
                sacked.arrivals = sacked.arrivals.and(more.arrivals);
                sacked.original = sacked.original.max(more.original);
            }
        }
        (sacked, dsack)
    }

    /// A valid RTT sample.
    #[inline(always)]
    pub fn sample_rtt(&mut self, now: Instant, rtt: Duration) {
        self.min_rtt = self.min_rtt.min(rtt);
        if !self.is_held(now) {
            self.rtt.sample(rtt);
        }
    }

    /// RFC 6298 3: the oldest of the segments just SACKed that were never retransmitted gives a valid sample too.
    fn sample_from_sack(&mut self, now: Instant, sacked: &Sacked) -> Option<Duration> {
        let (_, sent_at) = sacked.arrivals.lowest?;
        let rtt = now.since(sent_at);
        self.sample_rtt(now, rtt);
        Some(rtt)
    }

    /// RFC 6298 5.3 restarts the timer for new acknowledgements; with SACK that is the path's sign of life, too. But not if what was
    /// SACKed was sent after the head segment was last (re)transmitted: then the head segment is late, and the timer must expire.
    fn restart_by_sack(&mut self, now: Instant, sacked: &Sacked) {
        let Some((_, sent_at)) = sacked.arrivals.lowest else { return };
        if self.rto_at != OFF && self.board.front().is_some_and(|head| sent_at < head.sent_at) {
            self.rto_at = now + self.rtt.rto();
        }
    }

    /// RFC 7323 4: an RTT sample from the echoed timestamp, in the milliseconds of the timestamp clock.
    pub fn sample_from_echo(&mut self, now: Instant, ecr: u32) -> Option<Duration> {
        let rtt = timestamps::elapsed(now, ecr)?;
        self.sample_rtt(now, rtt);
        Some(rtt)
    }

    /// The first RTT sample of data sent after a spurious timeout (RFC 4015 3.2, last step): the timer becomes as conservative as
    /// the path has proved necessary.
    fn adapt_timer(&mut self, ack: Seq, sample: Option<Duration>) {
        if let Some((saved, sample)) = self.recovery.take_adaptation(ack, sample) {
            self.rtt.adapt(saved, sample);
        }
    }

    /// Our SYN is acknowledged. Nothing else was in flight.
    pub fn on_syn_acked(&mut self, una: Seq) {
        self.una = una;
        self.rto_at = OFF;
        self.retries = 0;
        debug_assert!(self.recovery.is_open());
    }

    /// Data that left in or beside a SYN may still be in flight once the handshake is complete: RFC 6298 5.1.
    pub fn restart_after_syn(&mut self, now: Instant) {
        if !self.board.is_empty() {
            self.rto_at = now + self.rtt.rto();
        }
    }

    /// A SYN/ACK acknowledges our SYN and, up to `ack`, the data in it. Returns how many octets. RFC 7413 4.2.2: "The client SHOULD
    /// retransmit any unacknowledged data in the first ACK packet". They leave as if for the first time: that is no sign of congestion, and
    /// they left before there was a window, which they may not fit into.
    pub fn on_syn_data_acked(&mut self, now: Instant, ack: Seq) -> u32 {
        let (octets, una_before, with_data) = (ack - self.una, self.una, !self.board.is_empty());
        self.board.acknowledge(ack);
        self.board.forget();
        (self.una, self.nxt, self.rto_at) = (ack, ack, OFF);
        if with_data && self.rules.follows {
            // Tells the detector that the data of the SYN arrived, which stops its timers.
            let srtt = self.rtt.srtt().unwrap_or_default();
            let sample = AckSample {
                now,
                ack,
                una_before,
                snd_una: ack,
                snd_nxt: ack,
                acked: octets,
                srtt,
                ..AckSample::default()
            };
            let sample = AckSample { sack: self.selective, min_rtt: self.min_rtt, ..sample };
            let outstanding = self.outstanding();
            self.detector.on_ack(&sample, &mut self.board, &outstanding);
        }
        octets as u32
    }
}
