//! A TCP subflow: the states of RFC 9293, its two halves, its timers, and the segments it sends.
//!
//! The connection drives it in the order of RFC 9293 3.10.7: [`Subflow::check`], then options of the connection's own,
//! then [`Subflow::on_ack`], the payload ([`super::receiver`]) and [`Subflow::on_fin`]. What it sends comes out of
//! `poll_*`, one segment at a time; which data it sends is the connection's choice.

use std::collections::VecDeque;

use super::loss::{Feedback, Phase};
use super::receiver::Receiver;
use super::rtt::Rtt;
use super::scoreboard::{Sacked, Scoreboard, Sent};
use super::undo::Ledger;
use crate::config::{Acknowledgement, Config, DelayedAck};
use crate::controller::{self, Controller, View};
use crate::event::{EndReason, Events, SubflowId};
use crate::recovery::{self, Recovery, Response};
use crate::segment::{Door, Ecn, Flags, Mptcp, OPTION_SPACE, Options, Payload, Segment, Timestamps};
use crate::seq::Seq;
use crate::time::{Duration, Instant};

/// States of RFC 9293 3.3.2 (LISTEN belongs to whoever demultiplexes).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// A SYN was sent.
    SynSent,
    /// A SYN was received and answered.
    SynReceived,
    /// Data flows.
    Established,
    /// We closed; the FIN is not acknowledged.
    FinWait1,
    /// Our FIN is acknowledged.
    FinWait2,
    /// The peer closed.
    CloseWait,
    /// Both closed at once; our FIN is not acknowledged.
    Closing,
    /// The peer closed, then we; our FIN is not acknowledged.
    LastAck,
    /// Old segments may still arrive.
    TimeWait,
    /// No connection.
    Closed,
}

/// What to do with an arriving segment (RFC 9293 3.10.7.4, first to fourth check).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// Go on with it.
    Accept,
    /// Ignore it (an answer may have been queued).
    Drop,
}

/// Time of a pure acknowledgement that leaves with the next poll.
const NOW: Instant = Instant::ZERO;
/// Time of a timer that is off.
const OFF: Instant = Instant::FAR_FUTURE;

/// What an acknowledgement did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AckResult {
    /// The handshake is complete with it.
    pub established: bool,
    /// New data was acknowledged.
    pub advanced: bool,
    /// The segment's window is news (RFC 9293 3.10.7.4 SND.WL1, SND.WL2).
    pub window_is_new: bool,
}

/// RFC 7323 5.5: how long TS.Recent is good for.
const TS_RECENT_VALID: Duration = Duration::from_secs(24 * 86_400);
/// RFC 9293 3.8.3 (MUST-23): a SYN is retransmitted for at least three minutes; given up at the first timeout after.
const SYN_PATIENCE: Duration = Duration::from_secs(180);

/// One subflow.
#[derive(Debug)]
pub struct Subflow {
    pub(crate) id: SubflowId,
    pub(crate) state: State,
    pub(crate) iss: Seq,
    pub(crate) irs: Seq,
    pub(crate) snd_una: Seq,
    pub(crate) snd_nxt: Seq,
    wl1: Seq,
    wl2: Seq,
    /// Window of the last acknowledgement, in octets.
    last_window: u64,
    pub(crate) board: Scoreboard,
    pub(super) phase: Phase,
    pub(super) dupacks: u32,
    /// RFC 6582: what fast recovery adds to the window; below zero after a large partial acknowledgement.
    pub(super) inflation: i64,
    /// RFC 6582 3.2 `recover`, plus one: without SACK duplicates at or below it start no fast recovery.
    pub(super) recover: Seq,
    /// Octets limited transmit sent beyond the window since the last new acknowledgement.
    pub(super) limited_sent: u64,
    pub(crate) rtt: Rtt,
    /// When the retransmission timer expires, or [`OFF`].
    pub(super) rto_at: Instant,
    /// RFC 6582 "Impatient": the timer as the first partial acknowledgement left it.
    pub(super) rto_before: Instant,
    /// Timeouts since the last sign of progress.
    pub(crate) retries: u32,
    pub(crate) controller: Box<dyn Controller>,
    pub(super) recovery: Box<dyn Recovery>,
    pub(super) ledger: Ledger,
    pub(crate) receiver: Receiver,
    /// Sequence number of the peer's FIN, once seen.
    fin_at: Option<Seq>,
    /// When the next pure acknowledgement leaves: [`NOW`], [`OFF`], or the end of its delay.
    ack_at: Instant,
    /// Octets received since the last acknowledgement left.
    unacked: u64,
    /// Largest payload seen: what counts as a full segment.
    rcv_mss: u32,
    last_ack_sent: Seq,
    ts_recent: u32,
    ts_recent_at: Instant,
    /// Payload octets of a full segment.
    pub(crate) mss: u32,
    pub(crate) peer_shift: u8,
    pub(crate) own_shift: u8,
    /// SACK is permitted on both sides.
    pub(crate) sack: bool,
    /// Its blocks drive loss recovery (RFC 6675). Not with coupled acknowledgement, where a held segment may start at the
    /// cumulative ACK: then only duplicates are reported (RFC 2883) and recovery is RFC 6582's.
    pub(super) selective: bool,
    coupled: bool,
    /// TCP-DOOR is permitted on both sides, and its state.
    door: bool,
    door_sent: u16,
    door_seen: Option<u16>,
    door_reordered: bool,
    door_duplicates: u8,
    door_acked: u32,
    /// TCP-DOOR: window and timer are held until then.
    pub(super) hold_until: Instant,
    /// The timer expired while they were: the oldest segment is to be sent again.
    pub(super) held_timeout: bool,
    /// After a spurious timeout (RFC 4015): the timer is adapted by the first sample of data beyond this number.
    pub(super) adapt: Option<(Seq, (u64, u64))>,
    pub(super) response: Response,
    /// Acknowledgement numbers still to be sent one by one (coupled acknowledgement).
    owed_acks: VecDeque<Seq>,
    pub(crate) timestamps: bool,
    pub(super) ecn: bool,
    /// A CE mark is to be echoed until CWR comes (RFC 3168 6.1.3).
    echo_ce: bool,
    pub(super) send_cwr: bool,
    /// snd_nxt when the window was cut last.
    pub(super) cut_at: Seq,
    send_syn: bool,
    syn_sent_at: Instant,
    first_syn_at: Option<Instant>,
    syn_retransmitted: bool,
    /// RST to send, ready made.
    pub(crate) reset: Option<Segment>,
    /// The connection wants this subflow closed.
    pub(crate) close: bool,
    fin_sent: bool,
    time_wait_at: Option<Instant>,
    last_sent: Instant,
    /// The zero-window probe in flight is to be sent again.
    pub(crate) probe_due: bool,
    /// Timeouts of the zero-window probe in flight.
    pub(super) probes: u32,
    delayed_ack: DelayedAck,
    pub(crate) min_rtt: Duration,
}

impl Subflow {
    fn new(id: SubflowId, config: &Config, iss: u32, active: bool, own_shift: u8) -> Self {
        let iss = Seq::initial(iss);
        let make = controller::find(config.controller).expect("the configuration was validated").make;
        let judge = recovery::find(config.recovery).expect("the configuration was validated").make;
        Self {
            id,
            state: if active { State::SynSent } else { State::SynReceived },
            iss,
            irs: Seq(0),
            snd_una: iss,
            snd_nxt: iss,
            wl1: Seq(0),
            wl2: Seq(0),
            last_window: 0,
            board: Scoreboard::default(),
            phase: Phase::Open,
            dupacks: 0,
            inflation: 0,
            recover: iss,
            limited_sent: 0,
            rtt: Rtt::new(config),
            rto_at: OFF,
            rto_before: OFF,
            retries: 0,
            controller: make(config, config.mss),
            recovery: judge(config),
            ledger: Ledger::default(),
            receiver: Receiver::default(),
            fin_at: None,
            ack_at: OFF,
            unacked: 0,
            rcv_mss: 1,
            last_ack_sent: Seq(0),
            ts_recent: 0,
            ts_recent_at: Instant::ZERO,
            mss: config.mss,
            peer_shift: 0,
            own_shift,
            sack: config.sack,
            selective: false,
            coupled: config.acknowledgement == Acknowledgement::Coupled,
            door: config.recovery == "door",
            door_sent: 0,
            door_seen: None,
            door_reordered: false,
            door_duplicates: 0,
            door_acked: 0,
            hold_until: Instant::ZERO,
            held_timeout: false,
            adapt: None,
            response: config.response,
            owed_acks: VecDeque::new(),
            timestamps: config.timestamps,
            ecn: config.ecn,
            echo_ce: false,
            send_cwr: false,
            cut_at: iss,
            send_syn: true,
            syn_sent_at: Instant::ZERO,
            first_syn_at: None,
            syn_retransmitted: false,
            reset: None,
            close: false,
            fin_sent: false,
            time_wait_at: None,
            last_sent: Instant::ZERO,
            probe_due: false,
            probes: 0,
            delayed_ack: config.delayed_ack,
            min_rtt: Duration(u64::MAX),
        }
    }

    /// Opens: a SYN will be sent.
    pub(crate) fn connect(id: SubflowId, config: &Config, iss: u32, own_shift: u8) -> Self {
        Self::new(id, config, iss, true, own_shift)
    }

    /// Answers `syn`: a SYN/ACK will be sent.
    pub(crate) fn accept(id: SubflowId, config: &Config, iss: u32, own_shift: u8, syn: &Segment) -> Self {
        let mut s = Self::new(id, config, iss, false, own_shift);
        s.take_syn(syn);
        s
    }

    /// Learns from the peer's SYN what it offers; what either side lacks is off.
    fn take_syn(&mut self, syn: &Segment) {
        self.irs = Seq::initial(syn.seq);
        self.receiver = Receiver::new(self.irs + 1);
        self.last_ack_sent = self.irs + 1;
        let o = &syn.options;
        // RFC 9293 3.7.1, RFC 6691: options take their room out of the peer's MSS. 536 where none was sent.
        let peer_mss = u32::from(o.mss.unwrap_or(536));
        self.mss = self.mss.min(peer_mss.saturating_sub(OPTION_SPACE).max(1));
        self.controller.window_mut().set_mss(self.mss);
        match o.window_scale {
            // RFC 7323 2.3: larger shifts count as 14.
            Some(shift) => self.peer_shift = shift.min(14),
            None => self.own_shift = 0,
        }
        self.sack &= o.sack_permitted;
        self.selective = self.sack && !self.coupled;
        self.door &= o.door_permitted;
        self.timestamps &= o.timestamps.is_some();
        if let Some(ts) = o.timestamps {
            self.ts_recent = ts.val;
        }
        // RFC 3168 6.1.1: ECE and CWR on a SYN, ECE alone on a SYN/ACK.
        let answer = syn.flags.has(Flags::ACK);
        self.ecn &= syn.flags.has(Flags::ECE) && syn.flags.has(Flags::CWR) != answer;
    }

    /// State of RFC 9293.
    pub fn state(&self) -> State {
        self.state
    }

    /// Congestion window in octets.
    pub fn cwnd(&self) -> f64 {
        self.controller.window().cwnd
    }

    /// Slow-start threshold in octets.
    pub fn ssthresh(&self) -> f64 {
        self.controller.window().ssthresh
    }

    /// Smoothed round-trip time, after the first sample.
    pub fn srtt(&self) -> Option<Duration> {
        self.rtt.srtt()
    }

    /// Retransmission timeout in force.
    pub fn rto(&self) -> Duration {
        self.rtt.rto()
    }

    /// Octets in flight, by the estimate that the congestion window is compared with.
    pub fn octets_in_flight(&self) -> u64 {
        self.in_flight()
    }

    /// Payload octets of a full segment on this subflow.
    pub fn mss(&self) -> u32 {
        self.mss
    }

    /// Loss episodes undone.
    pub fn undone(&self) -> u64 {
        self.ledger.undone()
    }

    /// Segments and octets held for a hole in this subflow.
    pub fn held(&self) -> (u64, u64) {
        (self.receiver.held_packets(), self.receiver.held_octets())
    }

    /// The handshake is over and the subflow has not ended: it may carry acknowledgements.
    pub(crate) fn is_open(&self) -> bool {
        !matches!(self.state, State::SynSent | State::SynReceived | State::Closed)
    }

    /// New data may be sent on it (RFC 9293: ESTABLISHED or CLOSE-WAIT, no FIN sent).
    #[inline]
    pub(crate) fn may_send(&self) -> bool {
        matches!(self.state, State::Established | State::CloseWait) && !self.close
    }

    /// Timed out and no acknowledgement since: not for new data.
    #[inline]
    pub(crate) fn is_stale(&self) -> bool {
        self.retries > 0
    }

    // ---- arriving segments -------------------------------------------------------------------------------------

    /// RFC 9293 3.10.7.3: a segment in SYN-SENT.
    pub(crate) fn on_segment_in_syn_sent(&mut self, now: Instant, seg: &Segment) -> (Check, Option<EndReason>) {
        let ack_ok = if seg.flags.has(Flags::ACK) {
            let ack = Seq::unwrap(seg.ack, self.snd_una);
            if ack <= self.iss || ack > self.snd_nxt {
                if !seg.flags.has(Flags::RST) {
                    self.reset = Some(Segment { seq: seg.ack, flags: Flags::RST, ..Segment::default() });
                }
                return (Check::Drop, None);
            }
            true
        } else {
            false
        };
        if seg.flags.has(Flags::RST) {
            return (Check::Drop, ack_ok.then(|| self.end(EndReason::Reset)));
        }
        if !seg.flags.has(Flags::SYN) {
            return (Check::Drop, None);
        }
        self.take_syn(seg);
        self.wl1 = self.irs;
        self.wl2 = self.iss;
        if ack_ok {
            self.finish_handshake(now, seg);
            self.ack_at = NOW;
        } else {
            // Simultaneous open (RFC 9293 3.5, figure 7).
            self.state = State::SynReceived;
            self.send_syn = true;
        }
        (Check::Accept, None)
    }

    fn finish_handshake(&mut self, now: Instant, seg: &Segment) {
        self.snd_una = self.iss + 1;
        self.state = State::Established;
        self.rto_at = OFF;
        self.retries = 0;
        if self.syn_retransmitted {
            // RFC 5681 3.1: one segment if a SYN or SYN/ACK was lost; ssthresh stays. RFC 6298 5.7: 3 s.
            let w = self.controller.window_mut();
            w.cwnd = w.mss;
            if let (true, Some(ts)) = (self.timestamps, seg.options.timestamps) {
                self.sample_from_echo(now, ts.ecr);
            }
            self.rtt.after_lost_syn();
        } else {
            self.sample_rtt(now, now.since(self.syn_sent_at));
        }
    }

    fn sample_rtt(&mut self, now: Instant, rtt: Duration) {
        self.min_rtt = self.min_rtt.min(rtt);
        if !self.is_held(now) {
            self.rtt.sample(rtt);
        }
    }

    /// RFC 7323 4: a sample by the echoed timestamp, in its milliseconds.
    fn sample_from_echo(&mut self, now: Instant, ecr: u32) -> Option<Duration> {
        let elapsed = Self::timestamp(now).wrapping_sub(ecr);
        if elapsed >= 1 << 31 {
            return None;
        }
        let rtt = Duration::from_millis(u64::from(elapsed).max(1));
        self.sample_rtt(now, rtt);
        Some(rtt)
    }

    /// The timestamp clock: milliseconds (RFC 7323 5.4).
    pub(super) fn timestamp(now: Instant) -> u32 {
        (now.0 / 1_000_000) as u32
    }

    /// RFC 9293 3.10.7.4, first to fourth check, with PAWS (RFC 7323 5) and the RST and SYN rules of RFC 5961.
    /// `window` is the octets we accept from rcv_nxt on.
    pub(crate) fn check(&mut self, now: Instant, seg: &Segment, window: u64) -> (Check, Option<EndReason>) {
        let rcv_nxt = self.receiver.rcv_nxt;
        let seq = Seq::unwrap(seg.seq, rcv_nxt);
        let rst = seg.flags.has(Flags::RST);
        let len = seg.seq_len();
        // A copy that comes late is out of order although nothing in it is wanted any more.
        self.note_packet_number(seg);
        if self.timestamps && !rst {
            match seg.options.timestamps {
                // RFC 7323 3.2: dropped silently.
                None => return (Check::Drop, None),
                // RFC 7323 5.3 R1; a RST is not subject to it. 5.5: nor is anything after 24 days of silence, in which the
                // peer's clock may have come round by half.
                Some(ts)
                    if (ts.val.wrapping_sub(self.ts_recent) as i32) < 0
                        && now.since(self.ts_recent_at) <= TS_RECENT_VALID =>
                {
                    self.report_duplicate(seg, seq);
                    self.ack_at = NOW;
                    return (Check::Drop, None);
                }
                Some(_) => {}
            }
        }
        // "Special allowance should be made to accept valid ACKs" when the window is closed: a probe's header counts (the
        // payload is refused later), and so does what the peer sends with the number after its probe or its last octet.
        // A window of one octet does that, and a right edge that belongs to it for segments without text.
        let window = window.max(1);
        let acceptable = if len == 0 {
            seq >= rcv_nxt && seq <= rcv_nxt + window
        } else {
            seq < rcv_nxt + window && seq + len > rcv_nxt
        };
        if !acceptable {
            if rst {
                return (Check::Drop, None);
            }
            if self.state == State::SynReceived && seg.flags.has(Flags::SYN) && seq == self.irs {
                // The peer's SYN again: our SYN/ACK was lost, or this is a simultaneous open's SYN/ACK.
                if seg.flags.has(Flags::ACK) {
                    return (Check::Accept, None);
                }
                self.send_syn = true;
                return (Check::Drop, None);
            }
            if self.state == State::TimeWait && seg.flags.has(Flags::FIN) {
                self.restart_time_wait(now);
            }
            self.report_duplicate(seg, seq);
            self.ack_at = NOW;
            return (Check::Drop, None);
        }
        if rst {
            // RFC 5961 3.2: exactly next, or a challenge ACK.
            if seq == rcv_nxt {
                return (Check::Drop, Some(self.end(EndReason::Reset)));
            }
            self.ack_at = NOW;
            return (Check::Drop, None);
        }
        if seg.flags.has(Flags::SYN) {
            // RFC 5961 4.2: challenge ACK in any synchronized state.
            self.ack_at = NOW;
            return (Check::Drop, None);
        }
        if !seg.flags.has(Flags::ACK) {
            return (Check::Drop, None);
        }
        if let (true, Some(ts)) = (self.timestamps, seg.options.timestamps) {
            // RFC 7323 4.3 (2).
            if seq <= self.last_ack_sent {
                self.ts_recent = ts.val;
                self.ts_recent_at = now;
            }
        }
        (Check::Accept, None)
    }

    /// RFC 2883 4.1.1: a duplicate below the window is reported, unless it is a mere keep-alive or old ACK; so is an original
    /// that arrives after its retransmission and is refused for its old timestamp.
    fn report_duplicate(&mut self, seg: &Segment, seq: Seq) {
        if seg.payload.len > 0 && seq + seg.seq_len() <= self.receiver.rcv_nxt {
            self.receiver.note_duplicate(seq, seg.payload.len);
        }
    }

    /// RFC 9293 3.10.7.4, fifth check: the ACK field. `multipath`: windows belong to the connection.
    pub(crate) fn on_ack(
        &mut self,
        now: Instant,
        seg: &Segment,
        views: &[View],
        events: &mut Events,
        multipath: bool,
    ) -> (Check, AckResult) {
        let mut result = AckResult::default();
        let ack = Seq::unwrap(seg.ack, self.snd_una);
        if self.state == State::SynReceived {
            if ack <= self.snd_una || ack > self.snd_nxt {
                self.reset = Some(Segment { seq: seg.ack, flags: Flags::RST, ..Segment::default() });
                return (Check::Drop, result);
            }
            self.wl1 = Seq::unwrap(seg.seq, self.receiver.rcv_nxt);
            self.wl2 = ack;
            self.finish_handshake(now, seg);
            result.established = true;
        }
        if ack > self.snd_nxt {
            self.ack_at = NOW;
            return (Check::Drop, result);
        }
        let seq = Seq::unwrap(seg.seq, self.receiver.rcv_nxt);
        let window = u64::from(seg.window) << self.peer_shift;
        if window > 0 {
            // What is in flight is no probe any more.
            self.probes = 0;
        }
        let same_window = window == self.last_window;
        self.last_window = window;
        if ack >= self.snd_una && (self.wl1 < seq || (self.wl1 == seq && self.wl2 <= ack)) {
            self.wl1 = seq;
            self.wl2 = ack;
            result.window_is_new = true;
        }
        if ack < self.snd_una && seg.options.sack.as_slice().is_empty() && !self.door {
            return (Check::Accept, result);
        }
        let old = ack < self.snd_una;
        let in_flight = self.in_flight();
        let window = self.controller.window();
        // The window was in use: full, or in slow start at least half full (the other half was acknowledged just now).
        let cwnd = window.octets();
        let cwnd_limited = in_flight + u64::from(self.mss) > cwnd || (window.in_slow_start() && 2 * in_flight >= cwnd);
        let (una_before, flight_before) = (self.snd_una, self.flight_size());
        let sacked_before = !seg.options.sack.as_slice().is_empty() && self.board.has_sacked();
        let acked = if ack > self.snd_una { self.board.acknowledge(ack) } else { Default::default() };
        let (sacked, dsack) = if self.sack { self.take_sacks(seg, ack) } else { Default::default() };
        let ts_ecr = seg.options.timestamps.filter(|_| self.timestamps).map(|t| t.ecr);
        let mut rtt = None;
        if ack > self.snd_una {
            self.snd_una = ack;
            result.advanced = true;
            rtt = acked.sample.map(|sent_at| now.since(sent_at));
            if let Some(rtt) = rtt {
                self.sample_rtt(now, rtt);
            } else if let (true, Some(ecr)) = (acked.retransmitted, ts_ecr) {
                rtt = self.sample_from_echo(now, ecr);
            }
            self.adapt_timer(ack, rtt);
            // RFC 6298 5.2, 5.3.
            self.retries = 0;
            self.probes = 0;
            self.rto_at = if self.snd_una < self.snd_nxt { now + self.rtt.rto() } else { OFF };
            if acked.fin {
                self.on_fin_acked(now);
            }
        }
        // Duplicate: RFC 6675 2 by new SACK information, even if the acknowledgement advances; RFC 5681 2 otherwise, where
        // a connection's shared window may change on any subflow and so does not count.
        let plain = seg.payload.len == 0 && ack == self.snd_una && flight_before > 0 && !result.advanced;
        // A report of a duplicate does not say that anything is missing.
        let duplicate = match self.selective {
            true => sacked.octets > 0,
            false => plain && (multipath || same_window) && dsack.is_none(),
        };
        if flight_before > 0 || dsack.is_some() {
            let sacked_original = sacked.original;
            let door = seg.options.door;
            let ece = self.ecn && seg.flags.has(Flags::ECE);
            let feedback = Feedback {
                acked,
                duplicate,
                dsack,
                sacked_before,
                sacked_original,
                ack,
                una_before,
                old,
                door,
                ts_ecr,
                rtt,
                cwnd_limited,
                ece,
            };
            self.on_feedback(now, &feedback, views, events);
        }
        if self.ecn && seg.flags.has(Flags::ECE) && flight_before > 0 {
            self.on_ecn_echo(now, views, events);
        }
        (Check::Accept, result)
    }

    /// Works in SACK blocks; returns octets newly SACKed and the D-SACK block, if the first one is one (RFC 2883 4).
    fn take_sacks(&mut self, seg: &Segment, ack: Seq) -> (Sacked, Option<(Seq, Seq)>) {
        let una = ack.max(self.snd_una);
        let blocks = seg.options.sack.as_slice();
        let unwrap = |b: (u32, u32)| (Seq::unwrap(b.0, una), Seq::unwrap(b.1, una));
        let mut sacked = Sacked::default();
        let mut dsack = None;
        for (i, &block) in blocks.iter().enumerate() {
            let (start, end) = unwrap(block);
            if start >= end || end > self.snd_nxt {
                continue;
            }
            if !self.selective {
                // Coupled acknowledgement: there are reports only, also of what is held from the acknowledgement on.
                dsack = Some((start, end));
                break;
            }
            if i == 0 {
                let inside_next = blocks.get(1).is_some_and(|&second| {
                    let (s, e) = unwrap(second);
                    s <= start && end <= e
                });
                // RFC 2883 4: compared with the acknowledgement beside it, not with one that overtook it.
                if start < ack || inside_next {
                    dsack = Some((start, end));
                    continue;
                }
            }
            if start >= una {
                let more = self.board.sack(start, end);
                sacked.octets += more.octets;
                sacked.original = sacked.original.max(more.original);
            }
        }
        (sacked, dsack)
    }

    /// A payload was accepted or refused: when to acknowledge (RFC 5681 4.2, RFC 1122 4.2.3.2).
    pub(crate) fn on_payload_done(&mut self, now: Instant, len: u32, at_once: bool) {
        self.rcv_mss = self.rcv_mss.max(len);
        self.unacked += u64::from(len);
        let due = match self.delayed_ack {
            _ if at_once || self.has_report() => NOW,
            DelayedAck::Off => NOW,
            // At least every second full-sized segment.
            DelayedAck::After(_) if self.unacked >= 2 * u64::from(self.rcv_mss) => NOW,
            DelayedAck::After(delay) => now + delay,
        };
        self.ack_at = self.ack_at.min(due);
    }

    /// An acknowledgement leaves at once.
    pub(crate) fn ack_now(&mut self) {
        self.ack_at = NOW;
    }

    /// RFC 3168 6.1.3: the receiver echoes a CE mark until the sender says CWR.
    pub(crate) fn on_ecn_marks(&mut self, seg: &Segment) {
        if !self.ecn {
            return;
        }
        if seg.flags.has(Flags::CWR) {
            self.echo_ce = false;
        }
        if seg.ecn == Ecn::Ce {
            self.echo_ce = true;
            self.ack_at = NOW;
        }
    }

    /// RFC 9293 3.10.7.4, eighth check: a FIN, which counts once everything before it has arrived. True when it does.
    pub(crate) fn on_fin(&mut self, now: Instant, seg: &Segment) -> bool {
        if seg.flags.has(Flags::FIN) {
            self.fin_at = Some(Seq::unwrap(seg.seq, self.receiver.rcv_nxt) + u64::from(seg.payload.len));
        }
        if self.fin_at != Some(self.receiver.rcv_nxt) {
            return false;
        }
        self.fin_at = None;
        self.receiver.rcv_nxt += 1;
        self.ack_at = NOW;
        match self.state {
            State::SynReceived | State::Established => self.state = State::CloseWait,
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => {
                self.state = State::TimeWait;
                self.restart_time_wait(now);
            }
            _ => {}
        }
        true
    }

    fn on_fin_acked(&mut self, now: Instant) {
        match self.state {
            State::FinWait1 => self.state = State::FinWait2,
            State::Closing => {
                self.state = State::TimeWait;
                self.restart_time_wait(now);
            }
            State::LastAck => {
                self.end(EndReason::Finished);
            }
            _ => {}
        }
    }

    fn restart_time_wait(&mut self, now: Instant) {
        self.time_wait_at = Some(now);
    }

    /// The subflow ends; nothing more is sent but a reset that may be pending.
    pub(crate) fn end(&mut self, reason: EndReason) -> EndReason {
        self.state = State::Closed;
        self.rto_at = OFF;
        self.time_wait_at = None;
        self.ack_at = OFF;
        self.send_syn = false;
        reason
    }

    // ---- time --------------------------------------------------------------------------------------------------

    /// Earliest of this subflow's timers; [`Instant::FAR_FUTURE`] if none runs.
    #[inline]
    pub(crate) fn deadline(&self, time_wait: Duration) -> Instant {
        let ack = if self.ack_at == NOW { OFF } else { self.ack_at };
        let wait = self.time_wait_at.map_or(OFF, |at| at + time_wait);
        self.rto_at.min(ack).min(wait)
    }

    /// Runs the timers that are due. `Some` if the subflow ended; the boolean tells of a data timeout.
    pub(crate) fn on_timers(
        &mut self,
        now: Instant,
        config: &Config,
        window_closed: bool,
        views: &[View],
        events: &mut Events,
    ) -> (Option<EndReason>, bool) {
        if self.ack_at <= now {
            self.ack_at = NOW;
        }
        if self.time_wait_at.is_some_and(|at| at + config.time_wait <= now) {
            return (Some(self.end(EndReason::Finished)), false);
        }
        if self.rto_at > now {
            return (None, false);
        }
        self.rto_at = OFF;
        self.retries += 1;
        if matches!(self.state, State::SynSent | State::SynReceived) {
            if self.first_syn_at.is_some_and(|first| now.since(first) >= SYN_PATIENCE) {
                return (Some(self.end(EndReason::TimedOut)), false);
            }
            // RFC 6298 5.5-5.7.
            self.rtt.back_off();
            self.syn_retransmitted = true;
            self.send_syn = true;
            return (None, false);
        }
        if self.board.is_empty() {
            return (None, false);
        }
        if window_closed {
            // RFC 9293 3.8.6.1: probing goes on as long as the peer answers; it is no sign of congestion, so the intervals
            // grow, not the timeout.
            self.retries = 0;
            self.probes += 1;
            self.probe_due = true;
            return (None, false);
        }
        if self.retries > config.max_retransmissions {
            return (Some(self.end(EndReason::TimedOut)), false);
        }
        self.on_data_timeout(now, views, events);
        (None, true)
    }

    // ---- leaving segments --------------------------------------------------------------------------------------

    /// A segment with the header fields every segment has. `window` is scaled already.
    fn header(&mut self, now: Instant, seq: Seq, flags: Flags, window: u16) -> Segment {
        let mut options = Options::default();
        if self.timestamps {
            options.timestamps = Some(Timestamps { val: Self::timestamp(now), ecr: self.ts_recent });
        }
        self.last_ack_sent = self.receiver.rcv_nxt;
        let flags = if self.echo_ce { flags.with(Flags::ECE) } else { flags };
        Segment {
            seq: seq.wire(),
            ack: self.receiver.rcv_nxt.wire(),
            window,
            flags: flags.with(Flags::ACK),
            options,
            ..Segment::default()
        }
    }

    /// SYN or SYN/ACK, if one is due. `window` is unscaled octets (RFC 7323 2.2: never scaled on a SYN).
    pub(crate) fn poll_syn(&mut self, now: Instant, window: u64, mptcp: Mptcp, config: &Config) -> Option<Segment> {
        if !self.send_syn {
            return None;
        }
        self.send_syn = false;
        self.syn_sent_at = now;
        self.first_syn_at.get_or_insert(now);
        self.snd_nxt = self.iss + 1;
        self.rto_at = now + self.rtt.rto();
        let mut flags = Flags::SYN;
        if self.state == State::SynReceived {
            flags = flags.with(Flags::ACK);
        }
        if self.ecn {
            // RFC 3168 6.1.1.
            flags = flags.with(Flags::ECE);
            if self.state == State::SynSent {
                flags = flags.with(Flags::CWR);
            }
        }
        let answering = self.state == State::SynReceived;
        let mut options = Options {
            mss: Some((config.mss + OPTION_SPACE).min(u32::from(u16::MAX)) as u16),
            sack_permitted: self.sack,
            door_permitted: self.door,
            mptcp,
            ..Options::default()
        };
        if self.own_shift > 0 || self.peer_shift > 0 || !answering {
            options.window_scale = Some(self.own_shift);
        }
        if self.timestamps {
            options.timestamps = Some(Timestamps { val: Self::timestamp(now), ecr: self.ts_recent });
        }
        let ack = if answering { self.receiver.rcv_nxt.wire() } else { 0 };
        Some(Segment {
            seq: self.iss.wire(),
            ack,
            window: window.min(u64::from(u16::MAX)) as u16,
            flags,
            options,
            ..Segment::default()
        })
    }

    /// Sends `len` octets of new data from `data` on; the connection made sure of room and windows.
    pub(crate) fn send_new(&mut self, now: Instant, data: u64, len: u32, push: bool, window: u16) -> (Segment, Sent) {
        // RFC 5681 4.1: after an idle time of an RTO the window restarts at no more than the initial one.
        if self.board.is_empty() && now.since(self.last_sent) > self.rtt.rto() {
            let w = self.controller.window_mut();
            w.cwnd = w.cwnd.min(w.initial.max(w.mss));
        }
        let seq = self.snd_nxt;
        self.snd_nxt += u64::from(len);
        if self.dupacks > 0 && self.phase == Phase::Open {
            let beyond = self.flight_size().saturating_sub(self.controller.window().octets());
            self.limited_sent += beyond.min(u64::from(len));
        }
        self.board.push(seq, len, data, now, false);
        self.note_probe();
        // RFC 6298 5.1.
        if self.rto_at == OFF {
            self.rto_at = now + self.rtt.rto();
        }
        self.last_sent = now;
        let mut flags = if push { Flags::PSH } else { Flags::default() };
        if self.send_cwr {
            self.send_cwr = false;
            flags = flags.with(Flags::CWR);
        }
        let mut seg = self.header(now, seq, flags, window);
        seg.payload = Payload { offset: data, len };
        if self.ecn {
            seg.ecn = Ecn::Ect0;
        }
        self.piggyback();
        let sent = Sent::first(seq, data, len, now);
        (seg, sent)
    }

    /// `seg`, just made by [`Subflow::send_new`], is a zero-window probe: neither ECT nor CWR (RFC 3168 6.1.6).
    pub(crate) fn make_probe(&mut self, seg: &mut Segment) {
        seg.ecn = Ecn::NotEct;
        self.send_cwr |= seg.flags.has(Flags::CWR);
        seg.flags.0 &= !Flags::CWR.0;
    }

    /// The header of a retransmission (RFC 3168 6.1.5: not ECN-capable).
    pub(crate) fn resend(&mut self, now: Instant, sent: &Sent, window: u16) -> Segment {
        let fin = sent.is_fin();
        let mut seg = self.header(now, sent.seq, if fin { Flags::FIN } else { Flags::default() }, window);
        if !fin {
            seg.payload = Payload { offset: sent.data, len: sent.len };
        }
        if self.rto_at == OFF {
            self.rto_at = now + self.rtt.rto();
        }
        self.last_sent = now;
        self.piggyback();
        seg
    }

    /// Something held or duplicate is to be reported at once (RFC 5681 4.2, RFC 2883 4).
    fn has_report(&self) -> bool {
        self.receiver.has_holes() || (self.sack && self.receiver.has_dsack())
    }

    /// A segment with payload acknowledges too, unless there is something to report that only a pure one has room for.
    fn piggyback(&mut self) {
        if !self.has_report() {
            self.ack_at = OFF;
            self.unacked = 0;
        }
    }

    /// The FIN, once the connection wants it and all data is out (RFC 9293 3.10.4).
    pub(crate) fn poll_fin(&mut self, now: Instant, window: u16) -> Option<Segment> {
        if !self.close || self.fin_sent {
            return None;
        }
        self.state = match self.state {
            State::Established => State::FinWait1,
            State::CloseWait => State::LastAck,
            _ => return None,
        };
        self.fin_sent = true;
        let seq = self.snd_nxt;
        self.snd_nxt += 1;
        self.board.push(seq, 1, 0, now, true);
        if self.rto_at == OFF {
            self.rto_at = now + self.rtt.rto();
        }
        self.ack_at = OFF;
        Some(self.header(now, seq, Flags::FIN, window))
    }

    /// A pure acknowledgement is due now.
    #[inline]
    pub(crate) fn ack_is_due(&self) -> bool {
        (self.ack_at == NOW || !self.owed_acks.is_empty()) && self.state != State::SynSent
    }

    /// A pure acknowledgement with SACK blocks in what `mptcp` leaves of the option space.
    pub(crate) fn make_ack(&mut self, now: Instant, window: u16, mptcp: Mptcp) -> Segment {
        let mut seg = self.header(now, self.snd_nxt, Flags::default(), window);
        match self.owed_acks.pop_front() {
            Some(ack) => seg.ack = ack.wire(),
            None => {
                self.ack_at = OFF;
                self.unacked = 0;
            }
        }
        seg.options.mptcp = mptcp;
        if self.door {
            self.door_duplicates = if seg.ack == self.door_acked { self.door_duplicates.wrapping_add(1) } else { 0 };
            self.door_acked = seg.ack;
            seg.options.door.duplicate = Some((self.door_duplicates, self.door_reordered));
            fit_door(&mut seg.options);
            self.door_reordered &= seg.options.door.duplicate.is_none();
        }
        if self.sack {
            let left = OPTION_SPACE - seg.options.wire_len();
            let room = (left.saturating_sub(4) / 8) as usize;
            seg.options.sack =
                if self.coupled { self.receiver.duplicate_block(room) } else { self.receiver.sack_blocks(room) };
        }
        seg
    }

    /// Numbers a segment with data for TCP-DOOR, if its options leave the room.
    pub(crate) fn number_for_door(&mut self, seg: &mut Segment) {
        if self.door {
            self.door_sent = self.door_sent.wrapping_add(1);
            seg.options.door.packet = Some(self.door_sent);
            fit_door(&mut seg.options);
        }
    }

    /// TCP-DOOR: a smaller packet number than one seen before is data out of order.
    pub(crate) fn note_packet_number(&mut self, seg: &Segment) {
        let Some(number) = seg.options.door.packet.filter(|_| self.door) else { return };
        match self.door_seen {
            Some(seen) if (number.wrapping_sub(seen) as i16) < 0 => {
                self.door_reordered = true;
                self.ack_at = NOW;
            }
            _ => self.door_seen = Some(number),
        }
    }

    /// TCP-DOOR's numbers are in use: mappings are short to make room.
    pub(crate) fn uses_door(&self) -> bool {
        self.door
    }

    /// An acknowledgement of its own for the segment just freed (coupled acknowledgement).
    pub(crate) fn owe_ack(&mut self) {
        self.owed_acks.push_back(self.receiver.rcv_nxt);
    }
}

/// What gives way when the option space is full: DOOR's number is left out (only with keys, with a DATA_FIN by itself, and
/// with an IPv6 address).
fn fit_door(options: &mut Options) {
    if options.wire_len() > OPTION_SPACE {
        options.door = Door::default();
    }
}
