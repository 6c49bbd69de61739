//! Configuration of an endpoint of a connection.

use crate::controller::Controller;
use crate::detector::Detector;
use crate::judge::{Judge, Response};
use crate::reduction::Reduction;
use crate::registry::{Choice, Need, Setup};
use crate::scheduler::Scheduler;
use crate::time::Duration;

mod builder;
mod deviations;
mod field;
mod profile;
mod registries;

pub use crate::registry::ConfigError;
pub use builder::Builder;
pub use deviations::Deviations;
pub use field::{ACKNOWLEDGEMENTS, FIELDS, Field};
pub use profile::{PROFILES, Profile};
pub use registries::{Registered, Registries};

/// When a pure acknowledgement may wait (RFC 1122 4.2.3.2, RFC 5681 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayedAck {
    /// Acknowledge every segment at once.
    Off,
    /// Acknowledge every second full-sized segment, and at the latest after this delay (at most 500 ms).
    After(Duration),
}

/// How a subflow's cumulative acknowledgement relates to the data sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledgement {
    /// RFC 8684 3.3.2: a subflow's cumulative acknowledgement does not wait for data order.
    Independent,
    /// The rule of the papers' model: the cumulative acknowledgement advances only if a segment is next both on its subflow and
    /// in the data stream.
    Coupled,
}

/// What the lower bound of the retransmission timeout applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoFloor {
    /// The timeout (RFC 6298 2.4).
    Timeout,
    /// The variance term: the timeout is at least SRTT plus the bound, as if G in RFC 6298 2 were that large (Linux). The timer
    /// then never expires within a delayed acknowledgement, however steady the round-trip time has been.
    Variance,
}

/// Names of the lower bounds in scenarios.
pub const RTO_FLOORS: &[(&str, RtoFloor)] = &[("timeout", RtoFloor::Timeout), ("variance", RtoFloor::Variance)];

/// When keep-alives are sent (RFC 9293 3.8.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepAlive {
    /// The first one is sent when nothing has arrived for so long and nothing sent is unacknowledged.
    pub idle: Duration,
    /// The next one is sent when the one before has not been answered for so long.
    pub interval: Duration,
    /// After so many unanswered ones the subflow is reset. At least two: one that is not answered may be lost (MUST-29).
    pub probes: u32,
}

impl Default for KeepAlive {
    /// After two hours (MUST-28); then every 75 s, nine of them, as Linux.
    fn default() -> Self {
        Self { idle: Duration::from_secs(7200), interval: Duration::from_secs(75), probes: 9 }
    }
}

/// How much of a data sequence number a mapping carries (RFC 8684 3.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DsnOctets {
    /// The low 32 bits: only if data sequence numbers cannot wrap within two minutes, twice Linux's maximum segment lifetime.
    Four,
    /// All 64 bits.
    Eight,
}

/// Parameters of one endpoint of a connection. [`Config::default`] is the documented default of a scenario. [`Config::builder`]
/// makes other configurations and reports what is wrong with them.
#[derive(Clone, Debug)]
pub struct Config {
    /// The stack whose defaults these are; recorded only, each behaviour has its own field.
    pub profile: Profile,
    /// Offer (client) or accept (server) Multipath TCP. Without it the connection is plain TCP.
    pub mptcp: bool,
    /// The congestion controller.
    pub controller: Choice<dyn Controller>,
    /// The detector of losses.
    pub detector: Choice<dyn Detector>,
    /// The reduction: how the octets in flight come down in fast recovery.
    pub reduction: Choice<dyn Reduction>,
    /// The judge of loss episodes.
    pub judge: Choice<dyn Judge>,
    /// The response to an episode judged spurious.
    pub response: Response,
    /// The scheduler.
    pub scheduler: Choice<dyn Scheduler>,
    /// What blocks the peer's window or the send buffer is sent again on a subflow that could send (Raiciu et al., NSDI 2012, 4.2).
    pub opportunistic_retransmission: bool,
    /// Who has it in flight has its window halved, once in a round-trip time of the subflow that could send (the same).
    pub penalisation: bool,
    /// Whether subflow acknowledgements wait for data order.
    pub acknowledgement: Acknowledgement,
    /// Payload octets of a full-sized segment (the sender's maximum segment size), 1 to 65495.
    pub mss: u32,
    /// The MSS option of our SYNs: what fits into a packet of our interface, options included (RFC 9293 3.7.1: its MTU less 40). Then
    /// no segment has more payload and options together, either. `None`: `mss` and the room for options.
    pub mss_option: Option<u16>,
    /// Receive buffer of the connection in octets of payload; `None` advertises the largest possible window.
    pub receive_buffer: Option<u64>,
    /// The receive buffer begins with so many octets of payload and grows with what the application reads in a round trip, as on
    /// Linux. `None`: it has its full size at once.
    pub receive_initial: Option<u64>,
    /// By how much each octet that is held for a hole narrows the window beyond it, 0 to 2. Zero: a
    /// held octet takes its own place in the window and nothing else (RFC 9293 3.8.6). Linux counts
    /// memory, of which half is window: 0.5 of the payload and of what
    /// [`Deviations::charges_buffers`] adds to it. The right edge never moves left for it.
    pub held_charge: f64,
    /// Send buffer of the connection in octets of payload that are written and not acknowledged at data level; `None` is
    /// unlimited.
    pub send_buffer: Option<u64>,
    /// Initial window in segments (RFC 6928).
    pub initial_window: u32,
    /// If true, windows grow by octets acknowledged (RFC 3465, which RFC 5681 3.1 recommends in congestion avoidance). If false,
    /// by acknowledgements, each counting for at most one segment (RFC 5681 3.1 equations (2) and (3)), so that delayed and lost
    /// acknowledgements slow the growth.
    pub byte_counting: bool,
    /// Lower bound of the retransmission timeout (RFC 6298 2.4 says 1 s; Linux uses 200 ms).
    pub min_rto: Duration,
    /// Upper bound of the retransmission timeout, at least 60 s in RFC 6298 2.5.
    pub max_rto: Duration,
    /// Retransmission timeout before the first measurement (RFC 6298 2.1: 1 s).
    pub initial_rto: Duration,
    /// What `min_rto` applies to.
    pub rto_floor: RtoFloor,
    /// SACK gives round-trip samples and restarts the retransmission timer. Both need SACK. A sample is taken of a segment that
    /// was never retransmitted when it is SACKed. The timer restarts if a newly SACKed segment had been sent before the head
    /// segment was last (re)transmitted: the path delivers, and the head segment is not late yet. What was sent later says
    /// nothing of the head segment, so a lost retransmission still times out.
    pub sack_timing: bool,
    /// Whether the congestion window was used, which it must be to grow, is judged over a round trip and not as each acknowledgement
    /// comes; and a window that the application has not used for a retransmission timeout comes down half way to what was used
    /// (RFC 2861 3.2; Linux: `tcp_cwnd_validate`).
    pub window_validation: bool,
    /// The congestion window counts segments, whatever their length, and grows with each that arrives (Linux); not octets (RFC 5681).
    pub count_segments: bool,
    /// Retransmissions of one segment after which a subflow is abandoned (RFC 9293 3.8.3, R2; RFC 8684 3.3.6).
    pub max_retransmissions: u32,
    /// Zero: when a subflow's timer expires, its data is sent on another subflow too (RFC 8684 3.3.6). Otherwise that happens only
    /// after more than so many periods of the data-level timer in which nothing was heard there (Linux: `stale_loss_cnt`, 4).
    pub stale_after: u32,
    /// Selective acknowledgement (RFC 2018, 2883, 6675); without it NewReno (RFC 6582).
    pub sack: bool,
    /// Timestamps (RFC 7323).
    pub timestamps: bool,
    /// Where an RFC says SHOULD, or leaves a choice open, and the stack described does otherwise
    /// than this engine: one flag for each deviation.
    pub deviations: Deviations,
    /// Explicit congestion notification (RFC 3168).
    pub ecn: bool,
    /// Nagle's algorithm (RFC 9293 3.7.4).
    pub nagle: bool,
    /// TCP Fast Open (RFC 7413 4.2: off unless asked for), heeded by [`host::Endpoint`](crate::host::Endpoint): a client keeps servers'
    /// cookies and sends data with its SYN, a server gives cookies and takes such data. They may come twice (2.1): for requests that may
    /// be repeated only.
    pub fast_open: bool,
    /// With `fast_open`: a client sends data with a SYN that has no cookie, a server takes them (RFC 7413 7.3, cookie-less Fast Open): for
    /// servers that do not fear what cookies protect from (5.1, 5.2).
    pub fast_open_without_cookies: bool,
    /// How long sent data, a SYN or a FIN may remain unacknowledged before the connection is aborted (RFC 9293 3.10.8, RFC 5482 1). It
    /// takes the place of `max_retransmissions` for a connection's last subflow. `None`: retransmissions are counted.
    pub user_timeout: Option<Duration>,
    /// How often a SYN is sent again before the attempt to connect is given up (Linux: `tcp_syn_retries`, 6). `None`: for three minutes
    /// (RFC 9293 3.8.3).
    pub syn_retries: Option<u32>,
    /// Maximum number of SYN/ACK retransmissions before a half-open connection is dropped (Linux:
    /// `tcp_synack_retries`, 5). `None`: retransmissions continue for three minutes (RFC 9293
    /// 3.8.3).
    pub syn_ack_retries: Option<u32>,
    /// If true, the congestion window restarts after an idle period (RFC 5681 4.1; Linux:
    /// `tcp_slow_start_after_idle`).
    pub restart_after_idle: bool,
    /// Keep-alives on every subflow (RFC 9293 3.8.4). `None`, as MUST-25 asks for by default: none are sent.
    pub keepalive: Option<KeepAlive>,
    /// Segments are paced under every controller: at 200 % of the window a round-trip time in slow start, 120 % afterwards (Linux
    /// under its `fq` queue, `tcp_update_pacing_rate`). A controller with a rate of its own is paced at that rate in any case.
    pub pacing: bool,
    /// Delayed acknowledgements.
    pub delayed_ack: DelayedAck,
    /// The delay is that of an acknowledgement at first, and follows how often data arrive: twice the interval where that is longer than
    /// half the delay and shorter than the delay; a delay that was used up doubles the next one. It stays between the first one and the
    /// round-trip time, and below 200 ms (Linux: `tcp_event_data_recv`, `tcp_send_delayed_ack`, `tcp_delack_timer_handler`).
    pub delayed_ack_adapts: bool,
    /// At the beginning of a connection, and after an idle period, so many acknowledgements are not delayed (RFC 5681 4.2 allows
    /// it; Linux: 16), at most half as many as there are segments in the window. Zero: none.
    pub quick_acks: u32,
    /// The last segment of a burst of several, and of all that may be sent, carries PSH, and a full-sized segment with PSH is acknowledged
    /// at once, for an application that reads at once (Linux 6.1: `tcp_push`, `tcp_measure_rcv_mss`); with
    /// [`Config::acknowledge_on_read`] when everything has been read.
    pub push_acks: bool,
    /// A sender that has just sent waits until its window has room for a burst of several segments, or for a third of it, as long as
    /// acknowledgements will come soon (Linux: `tcp_tso_should_defer`). Of schedulers for several subflows `linux` only.
    pub defer_bursts: bool,
    /// What an arrival calls for is acknowledged before the application reads it, as soon as more than a full segment has come, and each
    /// subflow decides after a read whether to acknowledge again; the window is what the memory of unread and held segments leaves of the
    /// buffer (Linux: `__tcp_select_window`, `mptcp_cleanup_rbuf`). A driver sends what is due between the arrival and
    /// [`Connection::read`](crate::Connection::read).
    pub acknowledge_on_read: bool,
    /// While segments are missing, acknowledgements after the third duplicate wait for further arrivals, up to this time or a
    /// twentieth of the round-trip time (Linux: 1 ms). Zero: each segment is acknowledged at once (RFC 5681 4.2).
    pub ack_compression: Duration,
    /// DSS checksums: flag A (RFC 8684 3.1, 3.3).
    pub checksum: bool,
    /// Length of the data sequence numbers sent.
    pub dsn_octets: DsnOctets,
    /// Maximum number of open subflows, 1 to 255; further joins are refused (RFC 8684 3.2).
    pub subflow_limit: usize,
    /// Maximum number of the peer's addresses kept, 0 to 255; further advertisements are ignored.
    pub address_limit: usize,
    /// Minimum interval between answers to unacceptable segments without payload (with an old timestamp, or outside the window),
    /// on each subflow; the first one is answered at once (Linux: 500 ms). Ten challenge ACKs (RFC 5961 7), and ten answers to
    /// repeated signals, may be sent in ten times this interval. Zero: no limit.
    pub invalid_ack_interval: Duration,
    /// How long TIME-WAIT lasts: twice the maximum segment lifetime (RFC 9293 3.4.1 says 2 x 2 min; Linux 60 s).
    /// RFC 9293 3.6.1, MUST-13.
    pub time_wait: Duration,
    /// Short paths may be taken: header prediction and its relatives skip work whose result is known. Off, the full path processes
    /// everything, and every algorithm is told of everything. Results are the same; a test compares them.
    #[doc(hidden)]
    pub shortcuts: bool,
}

/// Octets of a DSS option with a DATA_ACK of 32 bits and a mapping of 64.
pub(crate) const DSS_ROOM: u64 = 24;

impl Config {
    /// The parameters that algorithms receive when they are made.
    pub fn setup(&self) -> Setup {
        Setup::new(self.mss, self.initial_window)
    }

    /// Octets of a full segment: in Multipath TCP with the DSS, as Linux counts its windows.
    pub(crate) fn full_segment(&self) -> u32 {
        self.mss + if self.mptcp { DSS_ROOM as u32 } else { 0 }
    }

    /// Somebody asks how segments leave in bursts.
    pub(crate) fn counts_bursts(&self) -> bool {
        self.push_acks || self.defer_bursts || self.deviations.minshall
    }

    /// Whether this configuration provides what an algorithm needs.
    pub(crate) fn meets(&self, need: Need) -> bool {
        match need {
            Need::Sack => self.sack,
            Need::Scoreboard => self.acknowledgement == Acknowledgement::Independent,
            Need::Timestamps => self.timestamps,
            Need::Ecn => self.ecn,
            // Available in every configuration; negotiated or switched on when needed.
            Need::DoorOptions | Need::DeliveryRate | Need::ExactEcho | Need::Backlog | Need::Blocks => true,
            Need::Departures | Need::Timer => true,
        }
    }

    /// The controller or the scheduler needs samples of the delivery rate.
    pub(crate) fn wants_rates(&self) -> bool {
        let wants = |needs: &[Need]| needs.contains(&Need::DeliveryRate);
        wants(&self.controller.info().needs) || wants(&self.scheduler.info().needs)
    }
}

impl Default for Config {
    fn default() -> Self {
        Profile::default().config()
    }
}
