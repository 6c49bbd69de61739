//! The sending half of a subflow: which segments are in flight, which of them are lost, when the retransmission timer expires,
//! and how much more may be sent.
//!
//! Each acknowledgement becomes one [`AckSample`](crate::sample::AckSample). The scoreboard removes acknowledged segments
//! (`acknowledged`), the [`detector`](crate::detector) marks lost ones, the [`judge`](crate::judge) says whether the last loss
//! episode was genuine (`verdict`), and the [`controller`](crate::controller) sets the window. No other module writes the window.
//! `episode` has the loss episode in progress; `retransmission` picks the segments to retransmit.

mod acknowledged;
mod episode;
mod pacing;
mod path_mtu;
pub mod rate;
mod recovery;
mod retransmission;
mod room;
pub mod rtt;
mod steering;
pub mod undo;
mod usage;
mod verdict;

use crate::scoreboard::{Scoreboard, Sent};
pub(crate) use acknowledged::AckField;
use pacing::Pacer;
use rate::Rates;
use recovery::{Due, Phase, Recovery};
use rtt::Rtt;
use steering::Steering;
use undo::Ledger;
use usage::Usage;

use crate::config::{Acknowledgement, Config};
use crate::controller::{Adjust, Departure};
use crate::detector::{Detector, Outstanding};
use crate::event::SubflowId;
use crate::judge::{Judge, Response};
use crate::path::{Path, Recovery as Episode};
use crate::reduction::{self, Reduction};
use crate::registry::{Need, Place};
use crate::seq::Seq;
use crate::time::{Duration, Instant};

/// Deadline of a timer that is off.
const OFF: Instant = Instant::FAR_FUTURE;

/// What holds for a subflow from its beginning to its end. It is filled once and only read.
#[derive(Debug)]
struct Rules {
    response: Response,
    /// Paced even if the controller does not ask for it ([`Config::pacing`]).
    paced: bool,
    /// [`Config::byte_counting`].
    byte_counting: bool,
    /// SACK gives round-trip samples and restarts the retransmission timer ([`Config::sack_timing`]).
    sack_timing: bool,
    /// The window counts segments, whatever their length ([`Config::count_segments`]).
    counts_segments: bool,
    /// True if cwnd restarts after an idle period ([`Config::restart_after_idle`]).
    restarts: bool,
    /// One of the three: the window counts segments, or is validated, or bursts wait for room.
    validates: bool,
    /// Detector, controller, rate sampler or pacer want to be told of departures.
    heeds_departures: bool,
    /// The window is validated, segments are counted, delivery rates sampled, or
    /// [`Config::shortcuts`] off: each acknowledgement is measured in full.
    weighs_acks: bool,
    /// Acknowledgements that only make progress mean nothing to detector and judge.
    ignores_progress: bool,
    /// The detector withholds a part of the window now and then ([`Detector::withholds`]).
    withholds: bool,
    /// The reduction gives way to NewReno without SACK.
    reduction_yields: bool,
    /// The receiver uses coupled acknowledgement: it may hold segments at or above the cumulative ACK, so SACK blocks report
    /// duplicates only.
    coupled_ack: bool,
    /// The detector wants to be told of departures ([`Need::Departures`]), and has a timer
    /// ([`Need::Timer`]).
    follows: bool,
    timed: bool,
}

impl Rules {
    fn of(config: &Config, detector: &dyn Detector, judge: &dyn Judge) -> Self {
        let needs = &config.detector.info().needs;
        Self {
            response: config.response,
            paced: config.pacing,
            byte_counting: config.byte_counting,
            sack_timing: config.sack_timing,
            counts_segments: config.count_segments,
            restarts: config.restart_after_idle,
            validates: validates(config),
            heeds_departures: heeds_departures(config),
            weighs_acks: validates(config) || config.wants_rates() || !config.shortcuts,
            ignores_progress: config.shortcuts && ignores_progress(detector, judge),
            withholds: detector.withholds(),
            reduction_yields: config.reduction.yields(),
            coupled_ack: config.acknowledgement == Acknowledgement::Coupled,
            follows: needs.contains(&Need::Departures),
            timed: needs.contains(&Need::Timer),
        }
    }
}

/// The sending half of one subflow. Fields are ordered by how often they are used: the connection
/// reads the ones at the end on every event.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Sender {
    id: SubflowId,
    rules: Rules,
    ledger: Ledger,
    /// Delivery-rate samples, if the controller or the scheduler asks for them.
    rates: Option<Box<Rates>>,
    pacer: Pacer,
    /// Expirations of the retransmission timer for the zero-window probe in flight.
    pub probes: u32,
    /// The window is validated over a round trip ([`Config::window_validation`]).
    usage: Option<Box<Usage>>,
    /// The window was reduced: the next new segment carries CWR (RFC 3168 6.1.2).
    pub cwr: bool,
    /// Minimum round-trip time; the largest [`Duration`] before the first sample.
    min_rtt: Duration,
    last_sent: Instant,
    recovery: Recovery,
    pub judge: Box<dyn Judge>,
    detector: Box<dyn Detector>,
    reduction: Box<dyn Reduction>,
    pub board: Scoreboard,
    /// When the retransmission timer expires, or [`OFF`].
    pub rto_at: Instant,
    due: Due,
    /// SACK blocks drive loss recovery (RFC 6675). False under coupled acknowledgement: there a held segment may start at the
    /// cumulative ACK, so SACK blocks report only duplicates (RFC 2883) and recovery is that of RFC 6582.
    selective: bool,
    /// Consecutive expirations of the retransmission timer since SND.UNA last advanced.
    pub retries: u32,
    /// Payload octets of a full-sized segment.
    pub mss: u32,
    /// SND.UNA.
    pub una: Seq,
    /// SND.NXT.
    pub nxt: Seq,
    pub controller: Steering,
    pub rtt: Rtt,
}

impl Sender {
    /// The sending half of the subflow `id`, which begins at `iss`. `active`: this host opens the
    /// subflow.
    pub fn new(id: SubflowId, config: &Config, iss: Seq, active: bool) -> Self {
        let setup = config.setup().of(Place { index: id, active });
        let (detector, judge) = (config.detector.make(&setup), config.judge.make(&setup));
        Self {
            id,
            rules: Rules::of(config, &*detector, &*judge),
            ledger: Ledger::default(),
            rates: config.wants_rates().then(Box::default),
            pacer: Pacer::new(iss),
            probes: 0,
            usage: config.window_validation.then(|| Box::new(Usage::new(iss))),
            cwr: false,
            min_rtt: Duration(u64::MAX),
            last_sent: Instant::ZERO,
            recovery: Recovery::new(iss),
            judge,
            detector,
            reduction: config.reduction.make(&setup),
            board: Scoreboard::default(),
            rto_at: OFF,
            due: Due::default(),
            selective: false,
            retries: 0,
            mss: config.mss,
            una: iss,
            nxt: iss,
            controller: Steering::of(config, &setup),
            rtt: Rtt::new(config),
        }
    }

    // ---- negotiated by the handshake ------------------------------------------------------------

    /// Takes over what the handshake negotiated: `mss` payload octets in a full-sized segment, and whether SACK is permitted on
    /// both sides.
    pub fn settle(&mut self, mss: u32, sack: bool) {
        self.mss = mss;
        self.controller.adjust(Adjust::Mss(mss));
        if self.rules.counts_segments {
            self.board.count_as(mss);
        }
        self.selective = sack && !self.rules.coupled_ack;
        if !self.selective && self.rules.reduction_yields {
            self.reduction = reduction::rfc6675::newreno();
        }
    }

    /// The retransmission timer has expired and no new acknowledgement has come since: send no new data here.
    #[inline]
    pub fn is_stale(&self) -> bool {
        self.retries > 0
    }

    /// No loss episode is in progress, and no probe or retransmission is due.
    #[inline]
    pub fn is_quiescent(&self) -> bool {
        self.recovery.is_open() && self.due.is_none()
    }

    /// A loss is being repaired: fast recovery, or after a timeout.
    pub fn is_repairing(&self) -> bool {
        self.recovery.is_repairing()
    }

    /// The zero-window probe in flight must be retransmitted.
    pub fn owes_probe(&self) -> bool {
        self.due.probe
    }

    /// The retransmission timer has expired for a zero-window probe: it is sent again, and that is
    /// no sign of loss.
    pub fn repeat_probe(&mut self) {
        self.retries = 0;
        self.probes += 1;
        self.due.probe = true;
    }

    /// Loss episodes undone.
    pub fn undone(&self) -> u64 {
        self.ledger.undone()
    }

    /// Longest reordering observed, in segments; at least 3.
    pub fn reordering(&self) -> u32 {
        self.detector.reordering(self.mss)
    }

    // ---- sending --------------------------------------------------------------------------------

    /// Sends `len` octets of new data, from data offset `data` on, at `now`.
    #[inline(always)]
    pub fn send_new(&mut self, now: Instant, data: u64, len: u32) -> Sent {
        // RFC 5681 4.1: after an idle period longer than the RTO, the window restarts at no more than the initial window.
        let (idle, rto) = (now.since(self.last_sent), self.rtt.rto());
        if self.rules.restarts && self.board.is_empty() && idle > rto {
            self.controller.adjust(Adjust::Idle { timeouts: idle.0 as f64 / rto.0 as f64 });
            if let Some(usage) = &mut self.usage {
                usage.restart(now);
            }
        }
        let seq = self.nxt;
        self.nxt += u64::from(len);
        if self.recovery.duplicates() > 0 && self.recovery.is_open() {
            let beyond = self.flight_size().saturating_sub(self.controller.octets());
            self.recovery.note_limited(beyond.min(u64::from(len)));
        }
        self.board.push(seq, len, data, now, false);
        self.note_probe();
        self.arm_timer(now);
        self.last_sent = now;
        let sent = Sent::first(seq, data, len, now);
        self.note_departure(now, &sent);
        sent
    }

    /// Tells detector, reduction, controller, rate sampler and pacer of a segment with payload that is sent, new or
    /// retransmitted.
    #[inline(always)]
    fn note_departure(&mut self, now: Instant, sent: &Sent) {
        if self.rules.heeds_departures || self.recovery.is_fast() {
            self.tell_departure(now, sent);
        }
    }

    fn tell_departure(&mut self, now: Instant, sent: &Sent) {
        let srtt = self.rtt.srtt().unwrap_or_default();
        if self.rules.follows {
            self.detector.on_sent(now, sent, srtt);
        }
        if self.recovery.is_fast() {
            self.reduction.on_sent(sent.len);
        }
        let again = sent.transmissions > 1;
        let follows = self.controller.follows_departures();
        if follows || self.rates.is_some() {
            let in_flight = self.in_flight();
            if follows {
                self.controller.on_sent(&Departure { now, len: sent.len, again, in_flight, srtt });
            }
            if let Some(rates) = &mut self.rates {
                rates.on_sent(now, sent.seq, again, in_flight, u64::from(sent.len));
            }
        }
        if follows || self.rules.paced {
            self.pace(now, sent.len);
        }
    }

    /// The segment that was just sent has the FIN, too.
    pub fn add_fin(&mut self) {
        self.nxt += 1;
        self.board.add_fin();
    }

    /// Sends the FIN at `now`. Returns its sequence number.
    pub fn send_fin(&mut self, now: Instant) -> Seq {
        let seq = self.nxt;
        self.nxt += 1;
        self.board.push(seq, 1, 0, now, true);
        self.arm_timer(now);
        if self.rules.follows {
            // RFC 8985 2: a FIN takes a sequence number, so it can be lost and probed for as data
            // can.
            let srtt = self.rtt.srtt().unwrap_or_default();
            self.detector.on_sent(now, &Sent::first(seq, 0, 1, now), srtt);
        }
        seq
    }

    /// A retransmission is sent at `now`.
    pub fn note_resent(&mut self, now: Instant) {
        self.arm_timer(now);
        self.last_sent = now;
    }

    /// When the retransmission timer or the detector's timer expires; [`OFF`] if neither runs.
    #[inline]
    pub fn deadline(&self) -> Instant {
        self.rto_at.min(self.detector_deadline())
    }

    /// RFC 6298 5.1: starts the timer if it is not running.
    #[inline]
    fn arm_timer(&mut self, now: Instant) {
        if self.rto_at == OFF {
            self.rto_at = now + self.rtt.rto();
        }
    }

    // ---- what detectors, controllers and schedulers see -----------------------------------------

    fn outstanding(&self) -> Outstanding {
        Outstanding {
            snd_una: self.una,
            snd_nxt: self.nxt,
            recover: self.recovery.point(),
            duplicates: self.recovery.duplicates(),
            sack: self.selective,
            recovering: self.recovery.is_repairing(),
            mss: self.mss,
            srtt: self.rtt.srtt().unwrap_or_default(),
            min_rtt: self.least_rtt(),
        }
    }

    /// Minimum round-trip time; zero before the first sample.
    fn least_rtt(&self) -> Duration {
        if self.min_rtt.0 == u64::MAX { Duration::ZERO } else { self.min_rtt }
    }

    /// Minimum round-trip time; `None` before the first sample.
    pub fn min_rtt(&self) -> Option<Duration> {
        (self.min_rtt.0 < u64::MAX).then_some(self.min_rtt)
    }

    /// Segments that have reached the peer.
    pub fn delivered(&self) -> u64 {
        self.board.delivered()
    }

    /// The loss episode in progress.
    pub fn recovery(&self) -> Episode {
        match self.recovery.phase() {
            Phase::Open => Episode::Open,
            Phase::Cwr { .. } => Episode::Cwr,
            Phase::Fast { .. } => Episode::Fast,
            Phase::Loss { .. } => Episode::Loss,
        }
    }

    /// The range of our data stream that the head segment carries; empty if nothing is in flight or the head segment is a FIN.
    #[inline]
    pub fn oldest(&self) -> (u64, u64) {
        match self.board.front() {
            Some(front) if front.data_len() > 0 => (front.data, front.data_end()),
            _ => (0, 0),
        }
    }

    /// Updates what an acknowledgement or a timeout may have changed in `path`, the row that controllers and schedulers see.
    #[inline(always)]
    pub fn describe(&self, path: &mut Path) {
        let window = self.controller.window();
        (path.cwnd, path.ssthresh, path.vegas_rate) = (window.cwnd, window.ssthresh, window.vegas_rate);
        path.srtt = self.rtt.srtt().unwrap_or_default();
        path.rttvar = self.rtt.rttvar();
        path.min_rtt = self.least_rtt();
        path.mss = self.mss;
        path.stale = self.is_stale();
        path.recovery = self.recovery();
        path.acked_since_loss = self.recovery.acked_since_loss();
        path.oldest = self.oldest();
        if let Some(rates) = &self.rates {
            path.delivery_rate = rates.newest();
        }
    }
}

/// The window counts segments, or is validated, or bursts wait for room.
fn validates(config: &Config) -> bool {
    config.count_segments || config.window_validation || config.defer_bursts
}

/// Neither learns anything from an acknowledgement of progress.
fn ignores_progress(detector: &dyn Detector, judge: &dyn Judge) -> bool {
    detector.ignores_progress() && judge.ignores_progress() && !detector.withholds()
}

/// Detector, controller, rate sampler or pacer want to be told of departures.
fn heeds_departures(config: &Config) -> bool {
    let asks = config.detector.info().needs.contains(&Need::Departures)
        || config.controller.info().needs.contains(&Need::Departures);
    asks || config.wants_rates() || config.pacing
}
