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
        "receive buffer of the connection in octets of payload, shared by its subflows. Without \
            `receive_initial`, the buffer is constant. The default is close to Linux's 6 MiB \
            (`tcp_rmem`)",
    )
    .instead("the model's advertised window is constant and never holds the sender up")
    .often(45, Draw::Code),
    key(
        "receive_initial",
        Field,
        Profile,
        "initial receive buffer, in octets of payload. The buffer grows with the data read per \
            round trip, up to `receive_buffer`; while the window opens towards the size of the \
            buffer, each segment is acknowledged at once. `full`: the buffer has its full size \
            from the start",
    )
    .often(15, Draw::Code),
    key(
        "held_charge",
        Field,
        Profile,
        "octets by which each octet that the receiver holds behind a gap narrows the receive \
            window; with `acknowledge_on_read` also each unread octet. Linux counts memory, of \
            which half is window: 0.5 (the Linux profiles also count the memory that buffers need \
            beside their payload)",
    )
    .often(15, Draw::Real(0.0, 2.0)),
    key(
        "tcp_rmem",
        Code("three numbers, as `sysctl` prints them"),
        Absent,
        "sets `receive_initial` and `receive_buffer` as Linux does: least, first and largest size \
            in octets of memory, such as `\"4096 131072 6291456\"`. The least size has no effect. \
            Refused beside `receive_initial` or `receive_buffer`",
    )
    .example("\"4096 131072 6291456\"")
    .often(4, Draw::Code),
    key(
        "truesize",
        In(Range::Number(1.0, 100.0)),
        Of(Setting::Number(2.0)),
        "octets of memory in `tcp_rmem` for each octet of window (2 is Linux's `tcp_adv_win_scale` \
                 = 1). Needs `tcp_rmem`",
    )
    .aside()
    .often(20, Draw::Whole(1, 20)),
    key(
        "tcp_wmem",
        Code("three numbers, as `sysctl` prints them"),
        Absent,
        "sets `send_buffer` to the last of the three sizes, as octets of payload and from the \
            start (Linux counts memory and starts with the second size). Refused beside \
            `send_buffer`",
    )
    .example("\"4096 16384 4194304\"")
    .often(4, Draw::Code),
    key(
        "send_buffer",
        Field,
        Profile,
        "send buffer of each end: most octets of payload that the application has written and \
            that are not acknowledged at data level (Linux: `tcp_wmem`). When the buffer is full, \
            the application waits",
    )
    .instead("the model's application writes whenever a window has room")
    .often(35, Draw::Code),
    key("nagle", Field, Profile, "Nagle's algorithm (RFC 9293 3.7.4)")
        .instead("the model sends a segment of one octet if the window is that small")
        .linux("true", "the program that sends on Linux leaves Nagle's algorithm on")
        .often(30, Draw::Any),
];

pub(super) static WINDOW: &[Key] = &[
    key("initial_window", Field, Profile, "initial congestion window in segments (RFC 6928)")
        .instead("the model's initial window is one segment")
        .json("initial_window_segments")
        .often(25, Draw::Spread(1, 200)),
    key(
        "byte_counting",
        Field,
        Profile,
        "`true`: congestion windows grow by the octets acknowledged (RFC 3465, recommended by RFC \
            5681 in congestion avoidance; Linux). `false`: windows grow with each ACK, which \
            counts for at most one segment (RFC 5681 3.1, equations (2) and (3)), as in ns-3's \
            NewReno",
    )
    .instead("the model's controllers have their own rules of increase")
    .often(15, Draw::Any),
    key(
        "count_segments",
        Field,
        Profile,
        "`true`: the congestion window counts segments of any length, and in slow start grows by \
            one segment for each segment acknowledged (Linux). `false`: the window counts octets \
            (RFC 5681)",
    )
    .often(15, Draw::Any),
    key(
        "window_validation",
        Field,
        Profile,
        "when a congestion window counts as used; an unused window does not grow. `true`: the \
            window counts as used if it was full at some time of the last round trip (in slow \
            start: more than half full). A window unused for an RTO falls half way to its used \
            part (RFC 2861 3.2; Linux). `false`: the window counts as used if it was full at the \
            ACK",
    )
    .often(15, Draw::Any),
    key(
        "pacing",
        Field,
        Profile,
        "`true`: paces segments at 200 % of one window per RTT while the window is below half of \
            ssthresh, later at 120 %, as Linux with the queue `fq`. A controller that sets a rate, such as BBR, is always \
            paced at this rate",
    )
    .often(20, Draw::Any),
    key(
        "defer_bursts",
        Field,
        Profile,
        "`true`: after sending, a sender waits until its window has room for a burst of segments, \
            or until a third of the window is free, if the next ACK is expected soon (Linux: \
            `tcp_tso_should_defer`). With several subflows, no effect under schedulers other than \
            `linux`",
    )
    .often(15, Draw::Any),
    key("initial_rto", Field, Profile, "RTO before the first RTT sample, at most `max_rto`")
        .instead("the model's first retransmission timeout is 3 s")
        .linux("1.0", "1 s is a constant of Linux")
        .often(15, Draw::Spread(10_000, 3_000_000)),
    key(
        "min_rto",
        Field,
        Profile,
        "lower bound of the RTO or of its variance term (`rto_floor`), at most `max_rto`. RFC \
            6298 says 1 s, Linux uses 200 ms",
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
        "what `min_rto` bounds. `timeout`: the RTO itself (RFC 6298 2.4). `variance`: its \
            variance term, so that the RTO is at least SRTT plus `min_rto` (Linux; RFC 6298 2 \
            with a large G)",
    )
    .often(15, Draw::Any),
    key(
        "sack_timing",
        Field,
        Profile,
        "`true`: SACK gives RTT samples (of segments sent only once), and timestamps give them in \
            recovery, too. SACK restarts the retransmission timer if a newly reported segment \
            was sent before the first unacknowledged segment was last sent. Segments sent later \
            do not restart the timer, so a lost retransmission still times out. `false`: SACK \
            does not restart the timer, which may expire in a long recovery",
    )
    .often(15, Draw::Any),
];

pub(super) static OPTIONS: &[Key] = &[
    key(
        "sack",
        Field,
        Profile,
        "selective acknowledgement (RFC 2018). `false`: the default detector and reduction are \
            those of NewReno (RFC 6582)",
    )
    .instead("the model has no selective acknowledgement")
    .often(20, Draw::Any),
    key("timestamps", Field, Profile, "TCP timestamps (RFC 7323)")
        .instead("the model sends timestamps with recovery = \"eifel\" and only then")
        .often(20, Draw::Any),
    key(
        "ecn",
        Field,
        Profile,
        "explicit congestion notification (RFC 3168). Links with an `ecn_threshold`, or with a \
            discipline other than `drop-tail`, mark packets",
    )
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
        "octets of the data sequence numbers sent (RFC 8684 3.3.1). The peer's DATA_ACKs have the \
            same length (3.3.2), so 8 leaves room for one SACK block beside timestamps, 4 for \
            two. 4 is refused if the rates of the paths add up to more than about 286 Mbit/s, at \
            which 32 bits wrap within two minutes. With `judge = \"door\"`, numbers always have 4 \
            octets, because DOOR's options would not fit beside longer numbers",
    )
    .left_out()
    .linux("8", "Linux sends data sequence numbers of 8 octets")
    .often(25, Draw::Code),
    key(
        "fast_open",
        Code("`true`, `false`, `\"no-cookie\"`"),
        Text("false"),
        "TCP Fast Open (RFC 7413; with Multipath TCP, RFC 8684 appendix B). `true`: the client \
            has the server's cookie and MSS from an earlier connection. The client's SYN carries \
            the data written before it, and the server may answer at once. `\"no-cookie\"`: the \
            client's SYN asks for a cookie, and data waits for the end of the handshake. With \
            Multipath TCP, the server's own data waits until the server has the client's key",
    )
    .instead("the model's SYNs carry no data")
    .linux("false", "the program that sends on Linux connects before it writes")
    .often(20, Draw::Code),
];

pub(super) static ACKNOWLEDGEMENTS: &[Key] = &[
    key("delayed_ack", Field, Profile, "longest delay of an ACK; with `delayed_ack_adapts`, the shortest delay")
        .instead("the model acknowledges every segment at once")
        .often(30, Draw::Code),
    key(
        "delayed_ack_adapts",
        Field,
        Profile,
        "`true`: the delay of ACKs follows the arrivals of data. The delay approaches twice the \
            interval between two arrivals. After a delay that ran out, the delay doubles, or falls \
            to `delayed_ack` if the application had answered promptly before. The delay is at most \
            the RTT and 200 ms, but at least `delayed_ack` (Linux)",
    )
    .often(15, Draw::Any),
    key(
        "quick_acks",
        Field,
        Profile,
        "number of ACKs that are not delayed, at the start of the connection and after a pause \
            longer than an RTO. The number is at most half the segments of the receive window",
    )
    .often(15, Draw::Whole(1, 20)),
    key(
        "push_acks",
        Field,
        Profile,
        "`true`: the last segment of a burst, and the last of all that may be sent, carries PSH. A \
            full-sized segment with PSH is acknowledged at once, so that the last of an odd \
            number of segments does not wait for a delayed ACK",
    )
    .often(15, Draw::Any),
    key(
        "acknowledge_on_read",
        Field,
        Profile,
        "`true`: acknowledges by Linux's rule. If more than one full segment has come since the \
            last ACK, the ACK leaves before the application reads. After each read, a subflow \
            acknowledges again if its window has at least doubled. A subflow that owes an ACK \
            also acknowledges if nothing is left to read and the data ended with a short segment \
            (with `push_acks`: or with PSH), unless `delayed_ack_adapts` expects an answer of \
            the application. The window is the buffer less the memory of unread and held \
            segments (`held_charge`), in units of the window field. Until a buffer with \
            `receive_initial` has grown, the window leaves out one segment of the buffer",
    )
    .often(15, Draw::Any),
    key(
        "ack_compression",
        Field,
        Profile,
        "while segments are missing, ACKs after the third duplicate ACK wait for further \
            arrivals: for this time or a twentieth of the RTT, whichever is shorter (Linux: 1 \
            ms). `off`: each segment is acknowledged at once",
    )
    .often(15, Draw::Code),
    key(
        "invalid_ack_interval",
        Field,
        Profile,
        "shortest interval between two answers of a subflow to unacceptable segments without \
            payload (with an old timestamp, or outside the window). The first such segment is \
            answered at once, as in Linux. Without a limit, both ends could answer each other \
            endlessly. Challenge ACKs (RFC 5961) and answers to repeated signals are limited to \
            ten in ten such intervals. `\"0 s\"`: no limit",
    )
    .instead("the model answers no segment but data")
    .often(10, Draw::Code),
];

pub(super) static LIFETIME: &[Key] = &[
    key(
        "max_retransmissions",
        Field,
        Profile,
        "retransmissions of one segment after which its \
        subflow is given up (with `user_timeout`, not the last subflow)",
    )
    .instead("the model never gives up")
    .often(10, Draw::Whole(3, 30)),
    key(
        "stale_after",
        Field,
        Profile,
        "when the data of a subflow whose retransmission timer expires is also sent on another \
            subflow (RFC 8684 3.3.6). 0: at once. Otherwise: after the data-level timer has \
            expired more than this number of times without a segment from the peer on the subflow \
            (Linux: 4, about a second and a half)",
    )
    .often(20, Draw::Whole(0, 8)),
    key(
        "user_timeout",
        Field,
        Profile,
        "longest time that sent data, a SYN, a FIN or a window probe may stay unacknowledged \
            before the connection is aborted (RFC 9293 3.10.8, RFC 5482). The time counts from \
            the last progress at data level, so a connection lives while one subflow delivers. \
            With this key, `max_retransmissions` does not apply to the last subflow",
    )
    .instead("the model never gives up")
    .often(5, Draw::Spread(500_000, 100_000_000)),
    key(
        "keepalive",
        Field,
        Profile,
        "both ends send keep-alives (RFC 9293 3.8.4) on a subflow that has nothing in flight and on \
            which nothing has arrived for this time. RFC 9293 demands a default of at least two \
            hours",
    )
    .instead("the model sends nothing on an idle subflow")
    .often(8, Draw::Spread(10_000, 10_000_000)),
    key(
        "keepalive_interval",
        Field,
        Profile,
        "interval between keep-alives that are not \
        answered. No effect if `keepalive` is off",
    )
    .instead("the model sends no keep-alives")
    .often(8, Draw::Spread(10_000, 10_000_000)),
    key(
        "keepalive_probes",
        Field,
        Profile,
        "number of unanswered keep-alives after which the subflow is reset, and with the last \
            subflow the connection. With `user_timeout`, the last subflow instead ends once that time \
            has passed without an answer. No effect if `keepalive` is off",
    )
    .instead("the model sends no keep-alives")
    .often(8, Draw::Whole(2, 20)),
    key(
        "time_wait",
        Field,
        Profile,
        "length of TIME-WAIT. A connection whose last subflow has ended also waits this long for a new subflow",
    )
    .instead("the model falls silent when the last octet is read")
    .often(15, Draw::Spread(1, 120_000_000)),
];
