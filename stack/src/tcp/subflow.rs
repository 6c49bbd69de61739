//! A TCP subflow: the states of RFC 9293, its two halves, its timers, and the segments it sends.
//!
//! The connection drives it in the order of RFC 9293 3.10.7: `Subflow::check`, then options of the connection's own,
//! then `Subflow::on_ack`, the payload ([`super::receiver`]) and `Subflow::on_fin`. What it sends comes out of
//! `poll_*`, one segment at a time; which data it sends is the connection's choice.

mod arriving;
mod closing;
mod handshake;
mod leaving;
mod predicted;

use std::collections::VecDeque;

use super::door::Numbering;
use super::loss::{Feedback, Phase};
use super::receiver::Receiver;
use super::rtt::Rtt;
use super::scoreboard::{Sacked, Scoreboard, Sent};
use super::throttle::Throttle;
use super::undo::Ledger;
use crate::config::{Acknowledgement, Config, DelayedAck, DsnOctets};
use crate::controller::{Controller, View};
use crate::event::{EndReason, Events, SubflowId};
use crate::judge::{Judge, Response};
use crate::registry::Need;
use crate::segment::{Ecn, Flags, Mptcp, OPTION_SPACE, Options, Payload, Segment, Signal, Timestamps};
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
///
/// The order of the fields is that of their use, for with thousands of subflows each cache line is a wait. What the connection asks
/// of every subflow at each event lies together, from the end of the scoreboard to the beginning of the receiver.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Subflow {
    pub(crate) board: Scoreboard,
    /// When the next pure acknowledgement leaves: [`NOW`], [`OFF`], or the end of its delay.
    ack_at: Instant,
    /// When the retransmission timer expires, or [`OFF`].
    pub(super) rto_at: Instant,
    time_wait_at: Option<Instant>,
    /// RST to send, ready made.
    reset: Option<Box<Segment>>,
    pub(super) phase: Phase,
    pub(crate) state: State,
    /// The connection wants this subflow closed.
    pub(crate) close: bool,
    /// The zero-window probe in flight is to be sent again.
    pub(crate) probe_due: bool,
    /// The timer expired while they were: the oldest segment is to be sent again.
    pub(super) held_timeout: bool,
    /// Its blocks drive loss recovery (RFC 6675). Not with coupled acknowledgement, where a held segment may start at the
    /// cumulative ACK: then only duplicates are reported (RFC 2883) and recovery is RFC 6582's.
    pub(super) selective: bool,
    coupled: bool,
    /// Timeouts since the last sign of progress.
    pub(crate) retries: u32,
    /// Payload octets of a full segment.
    pub(crate) mss: u32,
    pub(super) dupacks: u32,
    pub(crate) snd_una: Seq,
    pub(crate) snd_nxt: Seq,
    /// RFC 6582: what fast recovery adds to the window; below zero after a large partial acknowledgement.
    pub(super) inflation: i64,
    pub(crate) controller: Box<dyn Controller>,
    pub(crate) rtt: Rtt,
    pub(crate) receiver: Receiver,
    // touched by segments that arrive
    pub(crate) irs: Seq,
    wl1: Seq,
    wl2: Seq,
    /// Window of the last acknowledgement, in octets.
    last_window: u64,
    /// RFC 5961 5.2 MAX.SND.WND: the largest window the peer has shown here, in octets.
    max_window: u64,
    /// Sequence number of the peer's FIN, once seen.
    fin_at: Option<Seq>,
    ts_recent: u32,
    ts_recent_at: Instant,
    pub(crate) timestamps: bool,
    pub(super) ecn: bool,
    /// A CE mark is to be echoed until CWR comes (RFC 3168 6.1.3).
    echo_ce: bool,
    pub(super) send_cwr: bool,
    /// SACK is permitted on both sides.
    pub(crate) sack: bool,
    pub(crate) peer_shift: u8,
    pub(crate) own_shift: u8,
    /// Octets received since the last acknowledgement left.
    unacked: u64,
    /// Largest payload seen: what counts as a full segment.
    rcv_mss: u32,
    last_ack_sent: Seq,
    // by those that leave, and by acknowledgements
    last_sent: Instant,
    /// RFC 6582 3.2 `recover`, plus one: without SACK duplicates at or below it start no fast recovery.
    pub(super) recover: Seq,
    /// snd_nxt when the window was cut last.
    pub(super) cut_at: Seq,
    /// Octets limited transmit sent beyond the window since the last new acknowledgement.
    pub(super) limited_sent: u64,
    pub(super) judge: Box<dyn Judge>,
    /// TCP-DOOR: window and timer are held until then.
    pub(super) hold_until: Instant,
    pub(crate) min_rtt: Duration,
    delayed_ack: DelayedAck,
    pub(super) byte_counting: bool,
    /// RFC 6582 "Impatient": the timer as the first partial acknowledgement left it.
    pub(super) rto_before: Instant,
    // seldom
    pub(crate) id: SubflowId,
    pub(crate) iss: Seq,
    pub(super) ledger: Ledger,
    pub(crate) door: Numbering,
    /// After a spurious timeout (RFC 4015): the timer is adapted by the first sample of data beyond this number.
    pub(super) adapt: Option<(Seq, (u64, u64))>,
    pub(super) response: Response,
    /// Acknowledgement numbers still to be sent one by one (coupled acknowledgement).
    owed_acks: VecDeque<Seq>,
    send_syn: bool,
    syn_sent_at: Instant,
    first_syn_at: Option<Instant>,
    /// Octets of the longest DSS that data may need, if the handshake agrees on Multipath TCP.
    largest_dss: u32,
    syn_retransmitted: bool,
    fin_sent: bool,
    /// Timeouts of the zero-window probe in flight.
    pub(super) probes: u32,
    /// Answers to segments without payload that are not acceptable.
    invalid: Throttle,
    /// Challenge ACKs.
    challenges: Throttle,
    /// Answers to what the peer has said before.
    repetitions: Throttle,
    invalid_ack_interval: Duration,
}

impl Subflow {
    fn new(id: SubflowId, config: &Config, iss: u32, active: bool, own_shift: u8) -> Self {
        let iss = Seq::initial(iss);
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
            max_window: 0,
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
            controller: config.controller.make(config),
            judge: config.judge.make(config),
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
            door: Numbering::new(config.judge.info().needs.contains(&Need::DoorOptions)),
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
            largest_dss: handshake::largest_dss(config),
            syn_retransmitted: false,
            reset: None,
            close: false,
            fin_sent: false,
            time_wait_at: None,
            last_sent: Instant::ZERO,
            probe_due: false,
            probes: 0,
            invalid: Throttle::default(),
            challenges: Throttle::default(),
            repetitions: Throttle::default(),
            invalid_ack_interval: config.invalid_ack_interval,
            delayed_ack: config.delayed_ack,
            byte_counting: config.byte_counting,
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

    /// Valid samples of the round-trip time so far.
    pub fn rtt_samples(&self) -> u64 {
        self.rtt.samples()
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

    /// The peer's FIN has come, with all that was before it.
    pub(crate) fn peer_has_closed(&self) -> bool {
        matches!(self.state, State::CloseWait | State::Closing | State::LastAck | State::TimeWait)
    }

    /// Timed out and no acknowledgement since: not for new data.
    #[inline]
    pub(crate) fn is_stale(&self) -> bool {
        self.retries > 0
    }

    // ---- time --------------------------------------------------------------------------------------------------

    /// When a delayed acknowledgement is due; [`Instant::FAR_FUTURE`] if none is delayed.
    #[inline]
    pub(crate) fn ack_deadline(&self) -> Instant {
        if self.ack_at == NOW { OFF } else { self.ack_at }
    }

    /// Earliest of its other timers; [`Instant::FAR_FUTURE`] if none runs.
    #[inline]
    pub(crate) fn other_deadline(&self, time_wait: Duration) -> Instant {
        self.rto_at.min(self.time_wait_at.map_or(OFF, |at| at + time_wait))
    }

    /// Runs the timers that are due. `Some` if the subflow ended; the boolean tells that its data are stuck.
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
        // TCP-DOOR (1): what is taken for reordered is not stuck, so that nothing of it goes out on another subflow.
        (None, !self.is_held(now))
    }
}
