//! Keys of `[connection]` that describe the transport: buffers, windows, timers, options,
//! acknowledgements.

use anabranch_stack::registry::{Range, Setting};

use super::Default::{Absent, Of, Profile, Text};
use super::Value::{Code, Field, In, Within};
use super::{Draw, Key, key};

/// An IPv4 packet of 65535 octets less 20 of IP and up to 60 of TCP header.
const LARGEST_MSS: u64 = 65_455;

pub(super) static BUFFERS: &[Key] = &[
    key(
        "mss",
        Within(Range::Whole(1, LARGEST_MSS)),
        Profile,
        "payload octets of a full segment (and of a UDP datagram)",
    )
    .heeded()
    .json("mss_bytes")
    .often(50, Draw::Code),
    key(
        "receive_buffer",
        Field,
        Profile,
        "of the connection, shared by its subflows; octets of payload, constant. About Linux's \
                 maximum (`tcp_rmem`), up to which Linux grows",
    )
    .instead("the model's advertised window is constant and never binds")
    .often(45, Draw::Code),
    key(
        "receive_initial",
        Field,
        Profile,
        "initial receive buffer. It grows with the data read per round trip, up to \
                 `receive_buffer`. While it grows, each segment is acknowledged at once",
    )
    .often(15, Draw::Code),
    key(
        "held_charge",
        Field,
        Profile,
        "by how much each octet held for a hole narrows the window (with `acknowledge_on_read` \
                 also each unread octet). Linux counts memory, of which half is window: 0.5 (`linux-6.1` \
                 also counts what buffers take beside their payload)",
    )
    .often(15, Draw::Real(0.0, 2.0)),
    key(
        "tcp_rmem",
        Code("three numbers, as `sysctl` prints them"),
        Absent,
        "alias of `receive_initial` and `receive_buffer` in Linux's terms: least, first and \
                 largest size in octets of memory, e.g. `\"4096 131072 6291456\"`. Refused beside \
                 either",
    )
    .example("\"4096 131072 6291456\"")
    .often(4, Draw::Code),
    key(
        "truesize",
        In(Range::Number(1.0, 100.0)),
        Of(Setting::Number(2.0)),
        "octets of memory per octet of window in `tcp_rmem` (`tcp_adv_win_scale` = 1 is 2). \
                 Needs `tcp_rmem`",
    )
    .aside()
    .often(20, Draw::Whole(1, 20)),
    key(
        "tcp_wmem",
        Code("three numbers, as `sysctl` prints them"),
        Absent,
        "alias of `send_buffer`: the largest size counts, as octets of payload and from the \
                 start (Linux counts memory and starts with the second). Refused beside it",
    )
    .example("\"4096 16384 4194304\"")
    .often(4, Draw::Code),
    key(
        "send_buffer",
        Field,
        Profile,
        "of each end: octets of payload written and not acknowledged at data level \
                 (`tcp_wmem`). When it is full, the application waits",
    )
    .instead("the model's application writes whenever a window has room")
    .often(35, Draw::Code),
    key("nagle", Field, Profile, "Nagle's algorithm")
        .instead("the model sends a segment of one octet if the window is that small")
        .linux("true", "the sender writes as it can")
        .often(30, Draw::Any),
];

pub(super) static WINDOW: &[Key] = &[
    key("initial_window", Field, Profile, "segments (RFC 6928)")
        .instead("the model's initial window is one segment")
        .json("initial_window_segments")
        .often(25, Draw::Spread(1, 200)),
    key(
        "byte_counting",
        Field,
        Profile,
        "windows grow by octets acknowledged (RFC 3465, recommended by RFC 5681 in congestion \
                 avoidance; Linux). `false`: by ACKs, each at most one segment (RFC 5681 3.1, equations \
                 (2) and (3)), as ns-3's NewReno",
    )
    .instead("the model's controllers have their own rules of increase")
    .often(15, Draw::Any),
    key(
        "count_segments",
        Field,
        Profile,
        "the congestion window counts segments of any length, and in slow start grows by one \
                 per arrived segment (Linux); `false`: octets (RFC 5681)",
    )
    .often(15, Draw::Any),
    key(
        "window_validation",
        Field,
        Profile,
        "a window grows only if it was used. `true`: judged over a round trip (full, or in slow \
                 start more than half full, at some time of it), not at each ACK; and a window unused \
                 for an RTO comes down half way to the used part (RFC 2861 3.2; Linux)",
    )
    .often(15, Draw::Any),
    key(
        "pacing",
        Field,
        Profile,
        "segments leave at most at 200 % of window per RTT in slow start, then 120 %, as Linux \
                 with `fq`. A controller with its own rate is always paced at that rate",
    )
    .often(20, Draw::Any),
    key(
        "defer_bursts",
        Field,
        Profile,
        "after sending, a sender waits until its window has room for a burst of segments or for \
                 a third of itself, while ACKs come soon (Linux: `tcp_tso_should_defer`). Of schedulers \
                 for several subflows, only with `linux`",
    )
    .often(15, Draw::Any),
    key("initial_rto", Field, Profile, "RTO before the first measurement, at most `max_rto`")
        .instead("the model's first retransmission timeout is 3 s")
        .linux("1.0", "1 s is a constant of Linux")
        .often(15, Draw::Spread(10_000, 3_000_000)),
    key(
        "min_rto",
        Field,
        Profile,
        "lower bound of the RTO, as `rto_floor` says, at most `max_rto`; RFC 6298 says 1 s, Linux uses 200 ms",
    )
    .instead("the model's retransmission timeout has no lower bound")
    .often(20, Draw::Spread(1_000, 1_000_000)),
    key("max_rto", Field, Profile, "upper bound of the RTO")
        .instead("the model's retransmission timeout has no upper bound but a multiplier of 64")
        .linux("120.0", "120 s is a constant of Linux")
        .often(20, Draw::Spread(1_000_000, 120_000_000)),
    key(
        "rto_floor",
        Field,
        Profile,
        "what `min_rto` bounds: the whole RTO (RFC 6298 2.4), or its variance term, so that the \
                 RTO is at least SRTT plus `min_rto` (Linux; RFC 6298 2 with a large G)",
    )
    .often(15, Draw::Any),
    key(
        "sack_timing",
        Field,
        Profile,
        "SACKs of never retransmitted segments give RTT samples, and timestamps do in recovery \
                 too. A SACK restarts the retransmission timer if its newly reported segment was sent \
                 before the head segment was last sent. Without this, the timer runs through a long \
                 recovery and expires in the middle. Later segments restart nothing, so a lost \
                 retransmission still times out",
    )
    .often(15, Draw::Any),
];

pub(super) static OPTIONS: &[Key] = &[
    key("sack", Field, Profile, "selective acknowledgement; without it NewReno")
        .instead("the model has no selective acknowledgement")
        .often(20, Draw::Any),
    key("timestamps", Field, Profile, "RFC 7323")
        .instead("the model sends timestamps with recovery = \"eifel\" and only then")
        .often(20, Draw::Any),
    key("ecn", Field, Profile, "RFC 3168; links with an `ecn_threshold` or a marking discipline set marks")
        .instead("the model has no ECN")
        .linux("false", "no queue of the topology marks")
        .often(25, Draw::Any),
    key("checksum", Field, Profile, "DSS checksums of Multipath TCP")
        .instead("the model has no checksums")
        .often(25, Draw::Any),
    key(
        "dsn_octets",
        Code("`8`, `4`"),
        Text("8"),
        "octets of the data sequence numbers sent (RFC 8684 3.3.1). The peer's DATA_ACKs have \
                 the same length (3.3.2), so 8 leaves room for one SACK block beside timestamps, 4 for \
                 two. 4 is refused where the paths' rates add up to 286 Mbit/s or more, at which 32 \
                 bits wrap within two minutes. With `judge = \"door\"` numbers always have 4 octets, \
                 because DOOR's own would not fit beside longer ones",
    )
    .left_out()
    .linux("8", "Linux sends eight")
    .often(25, Draw::Code),
    key(
        "fast_open",
        Code("`true`, `false`, `\"no-cookie\"`"),
        Text("false"),
        "TCP Fast Open (RFC 7413; with Multipath TCP, RFC 8684 appendix B). `true`: the client \
                 has the server's cookie and MSS from an earlier connection. Its SYN carries the data \
                 written by then, and the server may answer at once. `\"no-cookie\"`: its SYN asks for \
                 a cookie, and data waits for the handshake. With Multipath TCP, the server's own data \
                 waits until it has the client's keys",
    )
    .instead("the model's SYNs carry no data")
    .linux("false", "the sender connects before it writes")
    .often(20, Draw::Code),
];

pub(super) static ACKNOWLEDGEMENTS: &[Key] = &[
    key("delayed_ack", Field, Profile, "longest delay of an ACK")
        .instead("the model acknowledges every segment at once")
        .often(30, Draw::Code),
    key(
        "delayed_ack_adapts",
        Field,
        Profile,
        "the delay follows the arrival of data: twice the interval if that is longer than half \
                 the delay, twice the last delay if that was used up; at least `delayed_ack`, at most \
                 the RTT and 200 ms (Linux)",
    )
    .often(15, Draw::Any),
    key(
        "quick_acks",
        Field,
        Profile,
        "number of ACKs that are not delayed at the start, and after a pause of an RTO; at most \
                 half the receive buffer's segments",
    )
    .often(15, Draw::Whole(1, 20)),
    key(
        "push_acks",
        Field,
        Profile,
        "the last segment of a burst, and of all that may be sent, carries PSH. A full-sized \
                 segment with PSH is acknowledged at once, so an odd number of segments leaves none \
                 waiting for a round trip",
    )
    .often(15, Draw::Any),
    key(
        "acknowledge_on_read",
        Field,
        Profile,
        "Linux's rule. An arrival is acknowledged before the application reads it, if more than \
                 one full segment has come. After each read, a subflow acknowledges again if it owes an \
                 ACK and nothing is left to read, or if its window has at least doubled. The window is \
                 the buffer less the memory of unread and held segments (`held_charge`), in units of \
                 the window field. A buffer that has not grown keeps room for one segment",
    )
    .often(15, Draw::Any),
    key(
        "ack_compression",
        Field,
        Profile,
        "while segments are missing, ACKs after the third one for the same hole wait for \
                 further arrivals, for this time or a twentieth of the RTT",
    )
    .often(15, Draw::Code),
    key(
        "invalid_ack_interval",
        Field,
        Profile,
        "minimum interval of answers, per subflow, to unacceptable segments without payload \
                 (old timestamp, or outside the window); the first is answered at once, as in Linux. \
                 Without it, a network that reorders and duplicates makes both ends answer each other \
                 endlessly. Challenge ACKs (RFC 5961) and answers to repeated signals: ten per ten \
                 intervals. `\"0 s\"`: no bound",
    )
    .instead("the model answers no segment but data")
    .often(10, Draw::Code),
];

pub(super) static LIFETIME: &[Key] = &[
    key("max_retransmissions", Field, Profile, "of one segment; then its subflow is given up")
        .instead("the model never gives up")
        .often(10, Draw::Whole(3, 30)),
    key(
        "stale_after",
        Field,
        Profile,
        "0: when a subflow's timer expires, its data is also sent on another subflow (RFC 8684 \
                 3.3.6). Else: only after more than this number of periods of the data-level timer \
                 without a segment from the peer there (Linux: 4, about a second and a half)",
    )
    .often(20, Draw::Whole(0, 8)),
    key(
        "user_timeout",
        Field,
        Profile,
        "longest time that sent data, a SYN, a FIN or a window probe may stay unacknowledged \
                 before the connection is aborted (RFC 9293 3.10.8, RFC 5482). It counts from the last \
                 progress at data level, so a connection lives while one subflow delivers. The last \
                 subflow is then not given up by number of retransmissions",
    )
    .instead("the model never gives up")
    .often(5, Draw::Spread(500_000, 100_000_000)),
    key(
        "keepalive",
        Field,
        Profile,
        "both ends send keep-alives (RFC 9293 3.8.4) on a subflow with nothing in flight on \
                 which nothing has arrived for this time. RFC 9293 demands two hours or more as a \
                 default",
    )
    .instead("the model sends nothing while there is nothing to send")
    .often(8, Draw::Spread(10_000, 10_000_000)),
    key("keepalive_interval", Field, Profile, "interval of unanswered keep-alives. No effect if `keepalive` is off")
        .instead("the model sends no keep-alives")
        .often(8, Draw::Spread(10_000, 10_000_000)),
    key(
        "keepalive_probes",
        Field,
        Profile,
        "after this number the subflow is reset, and with the last subflow the connection. No \
                 effect if `keepalive` is off",
    )
    .instead("the model sends no keep-alives")
    .often(8, Draw::Whole(2, 20)),
    key(
        "time_wait",
        Field,
        Profile,
        "length of TIME-WAIT. A connection without a subflow also waits this long for one",
    )
    .instead("the model falls silent when the last octet is read")
    .often(15, Draw::Spread(1, 120_000_000)),
];
