//! The sending half of a subflow: what is under way, what of it is lost, when the timer expires, and how much more may leave.
//!
//! An acknowledgement passes through it as one [`AckSample`](crate::sample::AckSample): the scoreboard takes out what has arrived
//! (`acknowledged`), the [`detector`](crate::detector) marks what is lost, the [`judge`](crate::judge) says whether the last
//! episode was genuine (`verdict`), and the [`controller`](crate::controller) sets the window, which nobody else writes. What
//! follows for the episode in progress is in `episode`; what is to be sent again, in `retransmission`.

mod acknowledged;
mod episode;
mod pacing;
pub mod rate;
mod retransmission;
pub mod rtt;
pub mod undo;
mod verdict;

use crate::scoreboard::{Scoreboard, Sent};
pub(crate) use acknowledged::Heard;
pub(crate) use episode::Phase;
use rate::Rates;
use rtt::Rtt;
use undo::Ledger;

use crate::config::{Acknowledgement, Config};
use crate::controller::{Adjust, Controller, Departure};
use crate::detector::{Detector, Outstanding};
use crate::event::SubflowId;
use crate::judge::{Judge, Response};
use crate::path::{Path, Recovery};
use crate::reduction::Reduction;
use crate::seq::Seq;
use crate::time::{Duration, Instant};

/// Time of a timer that is off.
const OFF: Instant = Instant::FAR_FUTURE;

/// The sending half of one subflow. The order of the fields is that of their use: what the connection asks of every subflow at each
/// event is at the end.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Sender {
    id: SubflowId,
    ledger: Ledger,
    /// After a spurious timeout (RFC 4015): the timer is adapted by the first sample of data beyond this number.
    adapt: Option<(Seq, (u64, u64))>,
    response: Response,
    /// Delivery-rate samples, if the controller or the scheduler wants them.
    rates: Option<Box<Rates>>,
    /// Pacing: the next segment leaves then at the earliest.
    pace_at: Instant,
    /// Timeouts of the zero-window probe in flight.
    pub probes: u32,
    byte_counting: bool,
    /// A coupled acknowledgement may hold back what has arrived: SACK blocks are reports of duplicates only.
    coupled_ack: bool,
    /// The window was reduced, which the next new segment is to tell (RFC 3168 6.1.2 CWR).
    pub cwr: bool,
    /// RFC 6582 "Impatient": the timer as the first partial acknowledgement left it.
    rto_before: Instant,
    /// TCP-DOOR: window and timer are held until then.
    hold_until: Instant,
    /// Least round-trip time; [`Duration`]'s largest before the first sample.
    min_rtt: Duration,
    last_sent: Instant,
    /// RFC 6582 3.2 `recover`, plus one: without SACK duplicates at or below it start no fast recovery.
    recover: Seq,
    /// snd_nxt when the window was cut last.
    cut_at: Seq,
    /// snd_nxt when the present round trip began.
    round_end: Seq,
    /// Octets limited transmit sent beyond the window since the last new acknowledgement.
    limited_sent: u64,
    /// Octets acknowledged since the last loss episode began, and between the two before that.
    acked_since_loss: [u64; 2],
    pub judge: Box<dyn Judge>,
    detector: Box<dyn Detector>,
    reduction: Box<dyn Reduction>,
    pub board: Scoreboard,
    /// When the retransmission timer expires, or [`OFF`].
    pub rto_at: Instant,
    pub phase: Phase,
    /// The zero-window probe in flight is to be sent again.
    pub probe_due: bool,
    /// The timer expired while TCP-DOOR held the congestion response: the oldest segment is to be sent again.
    held_timeout: bool,
    /// SACK blocks drive loss recovery (RFC 6675). Not with coupled acknowledgement, where a held segment may start at the
    /// cumulative ACK: then only duplicates are reported (RFC 2883) and recovery is RFC 6582's.
    selective: bool,
    /// Timeouts since the last sign of progress.
    pub retries: u32,
    /// Payload octets of a full segment.
    pub mss: u32,
    /// Duplicate acknowledgements since the last one that acknowledged new data.
    duplicates: u32,
    /// SND.UNA.
    pub una: Seq,
    /// SND.NXT.
    pub nxt: Seq,
    pub controller: Box<dyn Controller>,
    pub rtt: Rtt,
}

impl Sender {
    pub fn new(id: SubflowId, config: &Config, iss: Seq) -> Self {
        Self {
            id,
            ledger: Ledger::default(),
            adapt: None,
            response: config.response,
            rates: config.wants_rates().then(Box::default),
            pace_at: Instant::ZERO,
            probes: 0,
            byte_counting: config.byte_counting,
            coupled_ack: config.acknowledgement == Acknowledgement::Coupled,
            cwr: false,
            rto_before: OFF,
            hold_until: Instant::ZERO,
            min_rtt: Duration(u64::MAX),
            last_sent: Instant::ZERO,
            recover: iss,
            cut_at: iss,
            round_end: iss,
            limited_sent: 0,
            acked_since_loss: [0; 2],
            judge: config.judge.make(&config.setup()),
            detector: config.detector.make(&config.setup()),
            reduction: config.reduction.make(&config.setup()),
            board: Scoreboard::default(),
            rto_at: OFF,
            phase: Phase::Open,
            probe_due: false,
            held_timeout: false,
            selective: false,
            retries: 0,
            mss: config.mss,
            duplicates: 0,
            una: iss,
            nxt: iss,
            controller: config.controller.make(&config.setup()),
            rtt: Rtt::new(config),
        }
    }

    // ---- what the handshake settles ----------------------------------------------------------------------------

    /// The peer takes segments of `mss` octets; `sack` is permitted on both sides.
    pub fn settle(&mut self, mss: u32, sack: bool) {
        self.mss = mss;
        self.controller.adjust(Adjust::Mss(mss));
        self.selective = sack && !self.coupled_ack;
    }

    // ---- what may leave ----------------------------------------------------------------------------------------

    /// Octets in flight as the congestion window counts them.
    #[inline]
    pub fn in_flight(&self) -> u64 {
        if self.selective { self.board.pipe() } else { self.in_flight_without_sack() }
    }

    fn in_flight_without_sack(&self) -> u64 {
        let flight = self.flight_size();
        match self.phase {
            Phase::Loss { .. } => self.board.pipe(),
            // RFC 6582 3.2: the window is inflated by what has left the network.
            Phase::Fast { .. } => flight.saturating_add_signed(-self.reduction.inflation()),
            Phase::Open | Phase::Cwr { .. } if self.duplicates == 0 => flight,
            Phase::Open | Phase::Cwr { .. } => {
                let beyond = self.detector.limited_transmit(self.duplicates);
                flight.saturating_sub(u64::from(beyond) * u64::from(self.mss))
            }
        }
    }

    /// RFC 5681 2 FlightSize.
    #[inline]
    pub fn flight_size(&self) -> u64 {
        self.nxt - self.una
    }

    /// Octets that may be in flight.
    #[inline]
    fn allowed(&self, in_flight: u64) -> u64 {
        let window = self.controller.window().octets();
        if matches!(self.phase, Phase::Fast { .. }) { self.reduction.allows(window, in_flight) } else { window }
    }

    /// The window has room for `len` more octets.
    #[inline]
    pub fn has_room(&self, len: u32) -> bool {
        let in_flight = self.in_flight();
        in_flight + u64::from(len) <= self.allowed(in_flight)
    }

    /// The window has room for a full segment; and octets in flight.
    #[inline]
    pub fn room(&self) -> (bool, u64) {
        let in_flight = self.in_flight();
        (in_flight + u64::from(self.mss) <= self.allowed(in_flight), in_flight)
    }

    /// Timed out and no acknowledgement since: not for new data.
    #[inline]
    pub fn is_stale(&self) -> bool {
        self.retries > 0
    }

    /// It has nothing to send again.
    #[inline]
    pub fn is_quiescent(&self) -> bool {
        matches!(self.phase, Phase::Open) && !self.probe_due && !self.held_timeout
    }

    /// Episodes undone.
    pub fn undone(&self) -> u64 {
        self.ledger.undone()
    }

    // ---- what leaves -------------------------------------------------------------------------------------------

    /// `len` octets of new data from `data` on leave at `now`.
    #[inline]
    pub fn send_new(&mut self, now: Instant, data: u64, len: u32) -> Sent {
        // RFC 5681 4.1: after an idle time of an RTO the window restarts at no more than the initial one.
        if self.board.is_empty() && now.since(self.last_sent) > self.rtt.rto() {
            self.controller.adjust(Adjust::Idle);
        }
        let seq = self.nxt;
        self.nxt += u64::from(len);
        if self.duplicates > 0 && self.phase == Phase::Open {
            let beyond = self.flight_size().saturating_sub(self.controller.window().octets());
            self.limited_sent += beyond.min(u64::from(len));
        }
        self.board.push(seq, len, data, now, false);
        self.note_probe();
        self.arm_timer(now);
        self.last_sent = now;
        let sent = Sent::first(seq, data, len, now);
        self.note_departure(now, &sent);
        sent
    }

    /// What learns of each segment with payload that leaves, whether new or again.
    #[inline]
    fn note_departure(&mut self, now: Instant, sent: &Sent) {
        self.detector.on_sent(now, sent);
        if matches!(self.phase, Phase::Fast { .. }) {
            self.reduction.on_sent(sent.len);
        }
        let in_flight = self.in_flight();
        let again = sent.transmissions > 1;
        self.controller.on_sent(&Departure { now, len: sent.len, again, in_flight });
        if let Some(rates) = &mut self.rates {
            rates.on_sent(now, sent.seq, again, in_flight, u64::from(sent.len));
        }
        self.pace(now, sent.len);
    }

    /// The FIN leaves at `now`; its number.
    pub fn send_fin(&mut self, now: Instant) -> Seq {
        let seq = self.nxt;
        self.nxt += 1;
        self.board.push(seq, 1, 0, now, true);
        self.arm_timer(now);
        seq
    }

    /// A retransmission leaves at `now`.
    pub fn note_resent(&mut self, now: Instant) {
        self.arm_timer(now);
        self.last_sent = now;
    }

    /// RFC 6298 5.1.
    #[inline]
    fn arm_timer(&mut self, now: Instant) {
        if self.rto_at == OFF {
            self.rto_at = now + self.rtt.rto();
        }
    }

    // ---- what others may know ----------------------------------------------------------------------------------

    fn outstanding(&self) -> Outstanding {
        Outstanding {
            snd_una: self.una,
            snd_nxt: self.nxt,
            recover: self.recover,
            duplicates: self.duplicates,
            sack: self.selective,
            recovering: matches!(self.phase, Phase::Fast { .. } | Phase::Loss { .. }),
            mss: self.mss,
            srtt: self.rtt.srtt().unwrap_or_default(),
            min_rtt: self.least_rtt(),
        }
    }

    /// Least round-trip time; zero before the first sample.
    fn least_rtt(&self) -> Duration {
        if self.min_rtt.0 == u64::MAX { Duration::ZERO } else { self.min_rtt }
    }

    /// What of our data stream the oldest segment under way carries.
    #[inline]
    pub fn oldest(&self) -> (u64, u64) {
        match self.board.front() {
            Some(front) if !front.is_fin() => (front.data, front.data + u64::from(front.len)),
            _ => (0, 0),
        }
    }

    /// Brings what an acknowledgement or a timeout may have changed of its row up to date.
    #[inline]
    pub fn describe(&self, path: &mut Path) {
        let window = self.controller.window();
        (path.cwnd, path.ssthresh) = (window.cwnd, window.ssthresh);
        path.srtt = self.rtt.srtt().unwrap_or_default();
        path.rttvar = self.rtt.rttvar();
        path.min_rtt = self.least_rtt();
        path.mss = self.mss;
        path.stale = self.is_stale();
        path.recovery = match self.phase {
            Phase::Open => Recovery::Open,
            Phase::Cwr { .. } => Recovery::Cwr,
            Phase::Fast { .. } => Recovery::Fast,
            Phase::Loss { .. } => Recovery::Loss,
        };
        path.acked_since_loss = self.acked_since_loss;
        path.oldest = self.oldest();
        if let Some(rates) = &self.rates {
            path.delivery_rate = rates.newest();
        }
    }
}
