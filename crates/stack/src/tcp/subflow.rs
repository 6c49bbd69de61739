//! A TCP subflow: the states of RFC 9293, its sending and receiving halves, and the segments it sends.
//!
//! The connection drives it in the order of RFC 9293 3.10.7: `Subflow::check`, then the connection's own options, then
//! `Subflow::on_ack`, the payload ([`super::receiver`]) and `Subflow::on_fin`. The `poll_*` functions return what it sends, one
//! segment at a time. The connection chooses which data the subflow sends.

mod arriving;
mod closing;
mod handshake;
mod info;
mod leaving;
mod predicted;

use super::door::Numbering;
use super::ecn::Ecn;
use super::fast_open::FastOpen;
use super::info::Counts;
use super::peer_window::PeerWindow;
use super::receiver::acknowledgements::Acknowledgements;
use super::receiver::reassembly::Receiver;
use super::sender::Sender;
pub use super::state::State;
use super::syn::OwnSyn;
use super::throttle::Throttles;
use super::timestamps::Timestamps;
use crate::config::Config;
use crate::controller::Path;
use crate::event::{EndReason, Events, SubflowId};
use crate::registry::Need;
use crate::segment::Segment;
use crate::seq::Seq;
use crate::time::{Duration, Instant};

/// Result of checking an arriving segment (RFC 9293 3.10.7.4, first to fourth check).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// Continue processing the segment.
    Accept,
    /// Drop the segment. An answer may have been queued.
    Drop,
}

/// Deadline of a timer that is off.
const OFF: Instant = Instant::FAR_FUTURE;

/// Result of processing the ACK field of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AckResult {
    /// The handshake is complete with this acknowledgement.
    pub established: bool,
    /// The segment's window updates SND.WND (RFC 9293 3.10.7.4, by SND.WL1 and SND.WL2).
    pub window_is_new: bool,
    /// Octets newly acknowledged.
    pub acked: u64,
    /// Octets newly marked lost.
    pub lost: u64,
}

/// RFC 9293 3.8.3 (MUST-23): a SYN is retransmitted for at least three minutes. The first timeout after that ends the subflow.
const SYN_PATIENCE: Duration = Duration::from_secs(180);

/// One subflow.
///
/// Fields are ordered by use: with thousands of subflows each cache line is a cache miss. The fields that the connection reads of
/// every subflow on every event are adjacent, from the end of the sender to the beginning of the receiver.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Subflow {
    pub(crate) sender: Sender,
    pub(crate) acks: Acknowledgements,
    time_wait_at: Option<Instant>,
    /// A RST waiting to be sent.
    reset: Option<Box<Segment>>,
    pub(crate) state: State,
    /// The connection wants this subflow closed.
    pub(crate) close: bool,
    pub(crate) receiver: Receiver,
    // used for arriving segments
    pub(crate) irs: Seq,
    pub(crate) peer_window: PeerWindow,
    /// Sequence number of the peer's FIN, once received.
    fin_at: Option<Seq>,
    timestamps: Timestamps,
    ecn: Ecn,
    /// SACK is permitted on both sides.
    pub(crate) sack: bool,
    pub(crate) own_shift: u8,
    pub(crate) door: Numbering,
    // used in the handshake and at the end
    pub(crate) id: SubflowId,
    pub(crate) iss: Seq,
    own_syn: OwnSyn,
    /// Octets of the longest DSS that a data segment may need, if the handshake negotiates Multipath TCP.
    largest_dss: u32,
    fin_sent: bool,
    throttles: Throttles,
    /// What has passed.
    pub(crate) counts: Counts,
    pub(crate) fast_open: FastOpen,
}

impl Subflow {
    fn new(id: SubflowId, config: &Config, iss: u32, active: bool, own_shift: u8) -> Self {
        let iss = Seq::initial(iss);
        Self {
            id,
            sender: Sender::new(id, config, iss, active),
            acks: Acknowledgements::new(config),
            state: if active { State::SynSent } else { State::SynReceived },
            iss,
            irs: Seq(0),
            peer_window: PeerWindow::new(),
            receiver: Receiver::default(),
            fin_at: None,
            timestamps: Timestamps::new(config.timestamps, &config.deviations),
            own_shift,
            sack: config.sack,
            door: Numbering::new(config.judge.info().needs.contains(&Need::DoorOptions)),
            ecn: Ecn::new(config.ecn, config.controller.info().needs.contains(&Need::ExactEcho)),
            own_syn: OwnSyn::new(config),
            largest_dss: handshake::largest_dss(config),
            reset: None,
            close: false,
            fin_sent: false,
            time_wait_at: None,
            throttles: Throttles::new(config.invalid_ack_interval),
            counts: Counts::default(),
            fast_open: FastOpen::default(),
        }
    }

    /// Active open: a SYN will be sent.
    pub(crate) fn connect(id: SubflowId, config: &Config, iss: u32, own_shift: u8) -> Self {
        Self::new(id, config, iss, true, own_shift)
    }

    /// Passive open by `syn`: a SYN/ACK will be sent.
    pub(crate) fn accept(id: SubflowId, config: &Config, iss: u32, own_shift: u8, syn: &Segment) -> Self {
        let mut s = Self::new(id, config, iss, false, own_shift);
        s.take_syn(syn);
        s
    }

    /// State (RFC 9293 3.3.2).
    pub fn state(&self) -> State {
        self.state
    }

    /// Congestion window in octets.
    pub fn cwnd(&self) -> f64 {
        self.sender.controller.window().cwnd
    }

    /// Slow-start threshold in octets.
    pub fn ssthresh(&self) -> f64 {
        self.sender.controller.window().ssthresh
    }

    /// Smoothed round-trip time; `None` before the first sample.
    pub fn srtt(&self) -> Option<Duration> {
        self.sender.rtt.srtt()
    }

    /// Number of valid samples of the round-trip time.
    pub fn rtt_samples(&self) -> u64 {
        self.sender.rtt.samples()
    }

    /// Current retransmission timeout, including back-off.
    pub fn rto(&self) -> Duration {
        self.sender.rtt.rto()
    }

    /// A segment with this sequence number has left and is not acknowledged (RFC 5927 4.1: SND.UNA <= SEG.SEQ < SND.NXT): a message of a router
    /// may be about it.
    pub fn is_in_flight(&self, seq: u32) -> bool {
        let seq = Seq::unwrap(seq, self.sender.una);
        self.state != State::Closed && seq >= self.sender.una && seq < self.sender.nxt
    }

    /// Octets in flight, by the estimate that is compared with the congestion window.
    pub fn octets_in_flight(&self) -> u64 {
        self.sender.in_flight()
    }

    /// Octets that may be in flight now: the congestion window or, in fast recovery, what the reduction allows.
    pub fn allowed_in_flight(&self) -> u64 {
        self.sender.allowed(self.sender.in_flight())
    }

    /// Payload octets of a full-sized segment on this subflow.
    pub fn mss(&self) -> u32 {
        self.sender.mss
    }

    /// Loss episodes undone.
    pub fn undone(&self) -> u64 {
        self.sender.undone()
    }

    /// Segments and octets held because of a hole in this subflow's sequence space.
    pub fn held(&self) -> (u64, u64) {
        (self.receiver.held_packets(), self.receiver.held_octets())
    }

    /// Timestamps were agreed.
    pub(crate) fn has_timestamps(&self) -> bool {
        self.timestamps.on
    }

    /// ECN was agreed.
    pub(crate) fn has_ecn(&self) -> bool {
        self.ecn.on
    }

    /// Our FIN is acknowledged.
    pub(crate) fn fin_is_acked(&self) -> bool {
        self.fin_sent && self.sender.una == self.sender.nxt
    }

    /// Octets of payload that have arrived in order.
    pub(crate) fn octets_received(&self) -> u64 {
        (self.receiver.rcv_nxt.0.saturating_sub(self.irs.0 + 1)) - u64::from(self.state.peer_has_closed())
    }

    /// The handshake is complete and the subflow has not ended: it may carry acknowledgements.
    pub(crate) fn is_open(&self) -> bool {
        self.state.is_open()
    }

    /// New data may be sent on this subflow (RFC 9293: ESTABLISHED or CLOSE-WAIT, and no FIN is due or sent).
    #[inline]
    pub(crate) fn may_send(&self) -> bool {
        matches!(self.state, State::Established | State::CloseWait) && !self.close
            || self.state == State::SynReceived && self.fast_open.opened
    }

    /// A SYN or SYN/ACK was sent again.
    pub(crate) fn has_lost_syn(&self) -> bool {
        self.own_syn.was_retransmitted()
    }

    /// The sequence number of our first octet that data sequence numbers count (RFC 8684 B.2).
    #[inline]
    pub(crate) fn first_own(&self) -> Seq {
        self.iss + 1 + u64::from(self.fast_open.tx)
    }

    /// The same of the peer's octets.
    #[inline]
    pub(crate) fn first_peers(&self) -> Seq {
        self.irs + 1 + u64::from(self.fast_open.rx)
    }

    /// The sequence number, on the wire, that a relative one in a mapping of the peer's stands for (RFC 8684 3.3.1).
    #[inline]
    pub(crate) fn mapped_seq(&self, ssn: u32) -> u32 {
        self.irs.wire().wrapping_add(self.fast_open.rx).wrapping_add(ssn)
    }

    /// The retransmission timer has expired and no new acknowledgement has come since: send no new data here.
    #[inline]
    pub(crate) fn is_stale(&self) -> bool {
        self.sender.is_stale()
    }

    // ---- timers ---------------------------------------------------------------------------------

    /// Earliest deadline of this subflow, delayed acknowledgements excepted; [`Instant::FAR_FUTURE`] if no timer runs.
    #[inline]
    pub(crate) fn other_deadline(&self, time_wait: Duration) -> Instant {
        let time_wait = self.time_wait_at.map_or(OFF, |at| at + time_wait);
        if self.state.is_open() { self.sender.deadline().min(time_wait) } else { self.sender.rto_at.min(time_wait) }
    }

    /// Runs the timers that are due. Returns the reason if the subflow ended, and whether its data in flight is stuck and may be
    /// reinjected on another subflow. `patient`: however often it was retransmitted.
    pub(crate) fn on_timers(
        &mut self,
        now: Instant,
        config: &Config,
        (window_closed, patient): (bool, bool),
        paths: &[Path],
        events: &mut Events,
    ) -> (Option<EndReason>, bool) {
        self.acks.on_timer(now);
        if self.time_wait_at.is_some_and(|at| at + config.time_wait <= now) {
            return (Some(self.end(EndReason::Finished)), false);
        }
        let sender = &mut self.sender;
        let detector = sender.detector_deadline();
        if self.state.is_open() && detector < OFF && detector.min(sender.rto_at) <= now {
            sender.on_detector_deadline(now, window_closed, paths, events);
        }
        if sender.rto_at > now {
            return (None, false);
        }
        sender.rto_at = OFF;
        sender.retries += 1;
        if matches!(self.state, State::SynSent | State::SynReceived) {
            let most = if self.state == State::SynSent { config.syn_retries } else { config.syn_ack_retries };
            let tried = match most {
                Some(most) => sender.retries > most,
                None => self.own_syn.first_at().is_some_and(|first| now.since(first) >= SYN_PATIENCE),
            };
            if !patient && tried {
                self.note_silence(events);
                return (Some(self.end(EndReason::TimedOut)), false);
            }
            // RFC 6298 5.5-5.7: back off, retransmit the SYN or SYN/ACK.
            sender.rtt.back_off();
            self.own_syn.repeat();
            return (None, false);
        }
        if sender.board.is_empty() {
            return (None, false);
        }
        if window_closed {
            // RFC 9293 3.8.6.1: probing continues as long as the peer answers. A closed window is no sign of congestion: the
            // intervals between probes grow, not the timeout.
            sender.repeat_probe();
            return (None, false);
        }
        if sender.retries > config.max_retransmissions && !patient {
            return (Some(self.end(EndReason::TimedOut)), false);
        }
        sender.on_timeout(now, paths, events);
        // TCP-DOOR (1): data in flight is taken for reordered, not for stuck, so none of it is reinjected on another subflow.
        (None, !sender.is_held(now))
    }
}
