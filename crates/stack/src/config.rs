//! Configuration of an endpoint of a connection.

use crate::controller::Controller;
use crate::detector::Detector;
use crate::judge::{Judge, Response};
use crate::reduction::Reduction;
use crate::registry::{Choice, Need, Setup};
use crate::scheduler::Scheduler;
use crate::time::Duration;

mod deviations;
mod field;
mod profile;
mod registries;
mod validation;

pub use crate::registry::ConfigError;
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

/// Declares [`Config`]: for each field its documentation, type and default, and a setter of the same
/// name.
macro_rules! config {
    ($($(#[doc = $doc:literal])+ $name:ident: $type:ty = $default:expr,)*) => {
        /// Parameters of one endpoint of a connection.
        ///
        /// [`Config::default`] is the documented default of a scenario. Each field has a setter of
        /// the same name, so that a configuration is its defaults and what differs from them;
        /// [`Config::checked`] reports what is wrong with it. A later version may add fields.
        ///
        /// ```
        /// use anabranch_stack::Config;
        ///
        /// let config = Config::default().controller("cubic".parse()?).judge("eifel".parse()?).mss(1200).checked()?;
        /// assert_eq!((config.controller.name(), config.mss), ("cubic", 1200));
        /// // What is not set keeps its default.
        /// assert_eq!(config.initial_window, Config::default().initial_window);
        ///
        /// let refused = config.clone().mss(0).checked().unwrap_err();
        /// assert_eq!(refused.to_string(), "mss: 0 is out of range; allowed: 1 to 65495");
        /// let refused = config.judge("dsack".parse()?).sack(false).checked().unwrap_err();
        /// assert!(refused.to_string().starts_with("judge: \"dsack\" needs sack, which is off"));
        /// # Ok::<(), anabranch_stack::ConfigError>(())
        /// ```
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub struct Config {
            $($(#[doc = $doc])+ pub $name: $type,)*
            /// Takes [short paths](crate::shortcut): header prediction and its relatives skip work
            /// whose result is known. If false, the full path processes everything, and every
            /// algorithm is told of everything. Results are the same; a test compares them.
            #[doc(hidden)]
            pub shortcuts: bool,
        }

        impl Config {
            $(
                #[doc = concat!("Sets the field `", stringify!($name), "` and returns the configuration.")]
                ///
                $(#[doc = $doc])+
                #[must_use]
                pub fn $name(mut self, $name: $type) -> Self {
                    self.$name = $name;
                    self
                }
            )*

            /// Sets the field `shortcuts` and returns the configuration.
            #[doc(hidden)]
            #[must_use]
            pub fn shortcuts(mut self, shortcuts: bool) -> Self {
                self.shortcuts = shortcuts;
                self
            }
        }

        impl Default for Config {
            /// The defaults of [`Profile::Modern`].
            fn default() -> Self {
                Self { $($name: $default,)* shortcuts: true }
            }
        }

        /// Each field with its documentation.
        #[cfg(test)]
        const DOCUMENTED: &[(&str, &str)] = &[$((stringify!($name), concat!($($doc),+)),)*];
    };
}

config! {
    /// The stack whose defaults these are. Recorded only: each behaviour has a field of its own.
    /// Default: modern.
    profile: Profile = Profile::Modern,
    /// Offers (client) or accepts (server) Multipath TCP (RFC 8684 3.1). If false, the connection
    /// is plain TCP. Default: true.
    mptcp: bool = true,
    /// The congestion controller. Default: coupled (RFC 6356).
    controller: Choice<dyn Controller> = Choice::new(&crate::controller::coupled::BUILTIN),
    /// The detector of losses. Default: rack (RFC 8985; 9.3 lets a connection without SACK use
    /// another one).
    detector: Choice<dyn Detector> = Choice::new(&crate::detector::rack::BUILTIN).yielding(),
    /// The reduction: how the octets in flight come down in fast recovery. Default: prr (RFC 9937).
    reduction: Choice<dyn Reduction> = Choice::new(&crate::reduction::prr::BUILTIN).yielding(),
    /// The judge, which says after a loss episode whether the episode was spurious. Default: none.
    judge: Choice<dyn Judge> = Choice::new(&crate::judge::none::BUILTIN),
    /// The response to an episode judged spurious. Range: default, rfc4015, restore,
    /// slow-start-to-saved, none. Default: default.
    response: Response = Response::Default,
    /// The scheduler, which picks the subflow for the next data. Default: min-rtt.
    scheduler: Choice<dyn Scheduler> = Choice::new(&crate::scheduler::min_rtt::BUILTIN),
    /// Sends the data that block the peer's window or the send buffer again, on a subflow that
    /// could send (Raiciu et al., NSDI 2012, 4.2). Default: false.
    opportunistic_retransmission: bool = false,
    /// Halves the window of the subflow that holds the blocking data, unless it is in loss recovery,
    /// at most once in a round-trip time of the subflow that could send (Raiciu et al., NSDI 2012,
    /// 4.2). Default: false.
    penalisation: bool = false,
    /// Whether a subflow's cumulative acknowledgement waits for data order. Range: independent,
    /// coupled. Default: independent (RFC 8684 3.3.2).
    acknowledgement: Acknowledgement = Acknowledgement::Independent,
    /// Payload of a full-sized segment, in octets: the sender's maximum segment size (RFC 9293
    /// 3.7.1). Range: 1 to 65495; an IPv4 packet has 65535 octets, of which headers take 40.
    /// Default: 1400, which leaves room for the options of MPTCP in a packet of 1500 octets.
    mss: u32 = 1400,
    /// Value of the MSS option of this host's SYNs, in octets: what fits into a packet of the
    /// interface, options included (RFC 9293 3.7.1: its MTU less 40). With a value, payload and
    /// options of a segment have at most so many octets together, too. `None`: `mss` and the room
    /// for options. Default: `None`.
    mss_option: Option<u16> = None,
    /// Receive buffer of the connection, in octets of payload. `None`, in scenarios "unlimited",
    /// advertises the largest possible window. Range: unlimited, or 1 to 1073741824 octets (RFC
    /// 7323 2.3). Default: 6000000, near the 6 MiB of Linux's `tcp_rmem`.
    receive_buffer: Option<u64> = Some(6_000_000),
    /// Size with which the receive buffer begins, in octets of payload; it grows with what the
    /// application reads in a round trip (Linux: `tcp_rcv_space_adjust`). `None`, in scenarios
    /// "full": the buffer has its full size at once. Range: full, or 1 to 1073741824 octets.
    /// Default: full.
    receive_initial: Option<u64> = None,
    /// Octets by which each octet that is held for a hole narrows the window beyond it. Zero: a
    /// held octet takes its own place in the window and nothing else (RFC 9293 3.8.6). Linux counts
    /// memory, of which half is window: 0.5 of the payload and of what
    /// [`Deviations::charges_buffers`] adds to it. The right edge never moves left for it. Range: 0
    /// to 2. Default: 0.
    held_charge: f64 = 0.0,
    /// Send buffer of the connection, in octets of payload that are written and not acknowledged at
    /// data level. `None`, in scenarios "unlimited", has no limit. Range: unlimited, or 1 to
    /// 1073741824 octets. Default: 4000000, near the 4 MiB of Linux's `tcp_wmem`.
    send_buffer: Option<u64> = Some(4_000_000),
    /// Initial congestion window, in segments. Range: 1 to 65535. Default: 10 (RFC 6928).
    initial_window: u32 = 10,
    /// If true, windows grow by octets acknowledged (RFC 3465, which RFC 5681 3.1 recommends in
    /// congestion avoidance). If false, windows grow by acknowledgements, each counting for at most
    /// one segment (RFC 5681 3.1 equations (2) and (3)), so that delayed and lost acknowledgements
    /// slow the growth. Default: true.
    byte_counting: bool = true,
    /// Lower bound of the retransmission timeout, at most `max_rto`. Range: 0.001 ms to 3600000 ms.
    /// Default: 200 ms, as Linux (RFC 6298 2.4 says 1 s).
    min_rto: Duration = Duration::from_millis(200),
    /// Upper bound of the retransmission timeout (RFC 6298 2.5: at least 60 s). Range: 0.001 ms to
    /// 3600000 ms. Default: 120000 ms, as Linux.
    max_rto: Duration = Duration::from_secs(120),
    /// Retransmission timeout before the first measurement, at most `max_rto`. Range: 0.001 ms to
    /// 3600000 ms. Default: 1000 ms (RFC 6298 2.1).
    initial_rto: Duration = Duration::from_secs(1),
    /// What `min_rto` applies to: the timeout (RFC 6298 2.4) or its variance term (Linux). Range:
    /// timeout, variance. Default: variance, because a floor of 200 ms under the timeout expires
    /// within delayed acknowledgements.
    rto_floor: RtoFloor = RtoFloor::Variance,
    /// SACK gives round-trip samples and restarts the retransmission timer. Both need SACK. A
    /// sample is taken of a segment that was never retransmitted when it is SACKed. The timer
    /// restarts if a newly SACKed segment had been sent before the head segment was last
    /// (re)transmitted: the path delivers, and the head segment is not late yet. What was sent
    /// later says nothing of the head segment, so a lost retransmission still times out. Default:
    /// true (Linux: `tcp_clean_rtx_queue`, `tcp_rearm_rto`).
    sack_timing: bool = true,
    /// Judges over a round trip, not as each acknowledgement comes, whether the congestion window
    /// was used, which it must be to grow. A window that the application has not used for a
    /// retransmission timeout comes down half way to what was used (RFC 2861 3.2; Linux:
    /// `tcp_cwnd_validate`). Default: false.
    window_validation: bool = false,
    /// Counts the congestion window in segments, whatever their length (Linux), so that it grows
    /// with each that arrives. If false, it counts octets (RFC 5681). Default: false.
    count_segments: bool = false,
    /// Retransmissions of one segment after which a subflow is abandoned (RFC 9293 3.8.3, R2; RFC
    /// 8684 3.3.6). Range: 1 to 1000. Default: 15, as Linux's `tcp_retries2`.
    max_retransmissions: u32 = 15,
    /// Zero: when a subflow's timer expires, its data is sent on another subflow too (RFC 8684
    /// 3.3.6). Otherwise that happens only after more than so many periods of the data-level timer
    /// in which nothing was heard there (Linux: `stale_loss_cnt`, 4). Range: 0 to 255. Default: 0.
    stale_after: u32 = 0,
    /// Selective acknowledgement (RFC 2018, 2883, 6675). If false, recovery is NewReno (RFC 6582).
    /// Default: true.
    sack: bool = true,
    /// Timestamps (RFC 7323). Default: true.
    timestamps: bool = true,
    /// Where an RFC says SHOULD, or leaves a choice open, and the stack described does otherwise
    /// than this engine: one flag for each deviation. Default: [`Deviations::NONE`].
    deviations: Deviations = Deviations::NONE,
    /// Explicit congestion notification (RFC 3168). Default: false.
    ecn: bool = false,
    /// Nagle's algorithm (RFC 9293 3.7.4). Default: true.
    nagle: bool = true,
    /// TCP Fast Open, heeded by [`host::Endpoint`](crate::host::Endpoint): a client keeps servers'
    /// cookies and sends data with its SYN, a server gives cookies and takes such data. These data
    /// may come twice (RFC 7413 2.1): for requests that may be repeated only. Default: false (RFC
    /// 7413 4.2: off unless asked for).
    fast_open: bool = false,
    /// With `fast_open`: a client sends data with a SYN that has no cookie, and a server takes
    /// these data (RFC 7413 7.3, cookie-less Fast Open): for servers that do not fear what cookies
    /// protect from (RFC 7413 5.1, 5.2). Default: false.
    fast_open_without_cookies: bool = false,
    /// How long sent data, a SYN or a FIN may remain unacknowledged before the connection is
    /// aborted (RFC 9293 3.10.8, RFC 5482 1). It takes the place of `max_retransmissions` for a
    /// connection's last subflow. `None`: retransmissions are counted. Range: none, or 1 ms to
    /// 86400000 ms. Default: none.
    user_timeout: Option<Duration> = None,
    /// Retransmissions of a SYN after which the attempt to connect is given up (Linux:
    /// `tcp_syn_retries`, 6). `None`: retransmissions continue for three minutes (RFC 9293 3.8.3).
    /// Default: `None`.
    syn_retries: Option<u32> = None,
    /// Retransmissions of a SYN/ACK after which a half-open connection is dropped (Linux:
    /// `tcp_synack_retries`, 5). `None`: retransmissions continue for three minutes (RFC 9293
    /// 3.8.3). Default: `None`.
    syn_ack_retries: Option<u32> = None,
    /// Restarts the congestion window after an idle period (RFC 5681 4.1; Linux:
    /// `tcp_slow_start_after_idle`). Default: true.
    restart_after_idle: bool = true,
    /// Keep-alives on every subflow (RFC 9293 3.8.4); the range is that of the idle time before the
    /// first one. `None`, as MUST-25 asks for by default: none are sent. Range: off, or 1 ms to
    /// 86400000 ms. Default: off.
    keepalive: Option<KeepAlive> = None,
    /// Paces segments under every controller: at 200 % of the window a round-trip time while the
    /// window is below half of ssthresh, then at 120 % (Linux under its `fq` queue,
    /// `tcp_update_pacing_rate`). A controller with a rate of its own is paced at that rate in any
    /// case. Default: false.
    pacing: bool = false,
    /// How long an acknowledgement of less than two full-sized segments may wait. Range: off, or
    /// 0.000001 ms to 500 ms (RFC 5681 4.2, RFC 1122 4.2.3.2: at most half a second). Default: 40
    /// ms, as Linux's `TCP_DELACK_MIN`.
    delayed_ack: DelayedAck = DelayedAck::After(Duration::from_millis(40)),
    /// The delay is that of `delayed_ack` at first, and follows how often data arrive: twice the
    /// interval where that is longer than half the delay and shorter than the delay; a delay that
    /// was used up doubles the next one. It stays between the first one and the round-trip time,
    /// and below 200 ms (Linux: `tcp_event_data_recv`, `tcp_send_delayed_ack`,
    /// `tcp_delack_timer_handler`). Default: false.
    delayed_ack_adapts: bool = false,
    /// Number of acknowledgements that are not delayed at the beginning of a connection, and after
    /// an idle period (RFC 5681 4.2 allows it; Linux: 16), at most half as many as there are
    /// segments in the window. Zero: none. Range: 0 to 1000. Default: 0.
    quick_acks: u32 = 0,
    /// The last segment of a burst of several, and of all that may be sent, carries PSH, and a
    /// full-sized segment with PSH is acknowledged at once, for an application that reads at once
    /// (Linux 6.1: `tcp_push`, `tcp_measure_rcv_mss`); with `acknowledge_on_read` when everything
    /// has been read. Default: false.
    push_acks: bool = false,
    /// A sender that has just sent waits until its window has room for a burst of several segments,
    /// or for a third of it, as long as acknowledgements will come soon (Linux:
    /// `tcp_tso_should_defer`). Of the schedulers for several subflows only `linux` waits. Default:
    /// false.
    defer_bursts: bool = false,
    /// Acknowledges what an arrival calls for before the application reads it, as soon as more than
    /// a full segment has come; each subflow decides after a read whether to acknowledge again. The
    /// window is what the memory of unread and held segments leaves of the buffer (Linux:
    /// `__tcp_select_window`, `mptcp_cleanup_rbuf`). A driver sends what is due between the arrival
    /// and [`Connection::read`](crate::Connection::read). Default: false.
    acknowledge_on_read: bool = false,
    /// While segments are missing, acknowledgements after the third duplicate wait for further
    /// arrivals, up to this time or a twentieth of the round-trip time (Linux: 1 ms). Zero, in
    /// scenarios "off": each segment is acknowledged at once (RFC 5681 4.2). Range: off, or
    /// 0.000001 ms to 100 ms. Default: off.
    ack_compression: Duration = Duration::ZERO,
    /// DSS checksums: flag A (RFC 8684 3.1, 3.3). Default: false.
    checksum: bool = false,
    /// Octets of the data sequence numbers sent (RFC 8684 3.3.1). Range: 8, 4. Default: 8, as the
    /// rate may be high.
    dsn_octets: DsnOctets = DsnOctets::Eight,
    /// Maximum number of open subflows; further joins are refused (RFC 8684 3.2). Range: 1 to 255.
    /// Default: 255.
    subflow_limit: usize = 255,
    /// Maximum number of the peer's addresses kept; further advertisements are ignored (RFC 8684
    /// 3.4.1: an address identifier has one octet). Range: 0 to 255. Default: 255.
    address_limit: usize = 255,
    /// Minimum interval between answers to unacceptable segments without payload (with an old
    /// timestamp, or outside the window), on each subflow; the first one is answered at once. Ten
    /// challenge ACKs (RFC 5961 7), and ten answers to repeated signals, may be sent in ten times
    /// this interval. Zero: no limit. Range: 0 ms to 3600000 ms. Default: 500 ms, as Linux's
    /// `tcp_invalid_ratelimit`.
    invalid_ack_interval: Duration = Duration::from_millis(500),
    /// How long TIME-WAIT lasts: twice the maximum segment lifetime (RFC 9293 3.6.1, MUST-13; 3.4.1
    /// says 2 x 2 min). Range: 0 ms to 3600000 ms. Default: 60000 ms, as Linux.
    time_wait: Duration = Duration::from_secs(60),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The documentation of a field names its range and its default as errors and resolved scenarios do.
    #[test]
    fn each_field_is_documented_with_its_range_and_its_default() {
        let config = Config::default();
        for (name, text) in DOCUMENTED {
            let Some(field) = Field::find(name) else {
                assert!(text.contains(" Default: "), "{name}: no default");
                continue;
            };
            let (allowed, value) = (field.allowed(), (field.get)(&config));
            let range = format!(" Range: {allowed}");
            assert!(text.contains(&range) || allowed == "true or false", "{name}:{range}");
            assert!(text.contains(&format!(" Default: {value}")), "{name}: Default: {value}");
        }
    }
}
