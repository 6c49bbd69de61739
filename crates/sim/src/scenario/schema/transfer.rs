//! Keys of `[transfer]`.

use anabranch_stack::registry::{Range, Setting};
use anabranch_stack::time::Duration;

use super::super::words::DIRECTIONS;
use super::Default::{Absent, Of, Required, Text};
use super::Value::{Code, In, Words};
use super::{
    EXPONENTIAL, FASTEST, LATEST, LOGNORMAL, OBJECT, PAGE, PARETO, PAUSE, Part, RATE, SPAN, Table, UNIFORM, ZERO, key,
    ms, names,
};

/// The most octets of a transfer or a request, a petabyte.
pub const MOST: u64 = 1_000_000_000_000_000;
/// Distributions of drawn messages and intervals.
const LAWS: &[&Table] = &[&UNIFORM, &EXPONENTIAL, &LOGNORMAL, &PARETO];
const AMOUNT: Range = Range::Octets(1, MOST);
const PLAYED: Range = Range::Time(ms(1), LATEST);

pub(super) static TRANSFER: &[Part] = &[
    Part {
        title: "Every transfer",
        keys: &[
            key(
                "bytes",
                In(AMOUNT),
                Of(Setting::Whole(50_000_000)),
                "the transfer ends after this amount. Not of a request/response transfer, messages, \
                 pages and films",
            )
            .rival("duration")
            .json("extent_bytes"),
            key("duration", In(SPAN), Absent, "instead of `bytes`: the transfer ends this long after its start")
                .rival("bytes")
                .json("extent_s")
                .example("\"20 s\""),
            key(
                "direction",
                Words(names!(DIRECTIONS)),
                Text("`\"up\"`; of pages and films `\"down\"`"),
                "client to server, or server to client; or both at once, each with its own `bytes` or \
                 `duration` (bulk and on-off transfers over TCP and MPTCP only). In a dialogue it is \
                 the direction of the answers: a client that asks a server needs `\"down\"`",
            )
            .example("\"up\""),
            key("start", In(PAUSE), Of(Setting::Time(ZERO)), "time of the first SYN"),
            key(
                "start_spread",
                In(PAUSE),
                Of(Setting::Time(ZERO)),
                "further delay of the start, drawn uniformly up to this",
            ),
            key(
                "read_rate",
                In(Range::Rate(8, FASTEST)),
                Absent,
                "the receiving application reads no faster than this. Without the key it reads at once. \
                 Not with UDP",
            )
            .example("\"8 Mbit/s\""),
        ],
    },
    Part {
        title: "on-off",
        keys: &[
            key("on", In(SPAN), Required, "the sender writes for this time, then rests").example("\"1 s\""),
            key("off", In(PAUSE), Required, "the sender rests for this time, then writes again").example("\"500 ms\""),
            key(
                "rate",
                In(RATE),
                Absent,
                "rate of writing while busy; without the key as fast as the connection takes data. With \
                 `off = \"0 s\"` a steady source. With `protocol = \"udp\"` the rate of the payload; \
                 without `rate`, `bytes` and `duration` a UDP flow sends a fifth more than its path \
                 carries until the run ends",
            )
            .example("\"2 Mbit/s\""),
        ],
    },
    Part {
        title: "request/response",
        keys: &[
            key(
                "request",
                In(AMOUNT),
                Text("required; of pages and films `\"400 B\"`"),
                "size of the receiver's request. Of a page or a film the size of a request for an \
                 object or a segment, at most 1 MB",
            )
            .example("\"200 B\""),
            key("response", In(AMOUNT), Required, "size of the sender's answer").example("\"100 kB\""),
            key(
                "count",
                In(Range::Whole(1, 1_000_000_000)),
                Text("`1`; of films required"),
                "rounds of requests and responses, at most 1000 TB in all either way. Number of \
                 messages (at most 10000000; this or `duration`), or number of segments of a film (at \
                 most 1000000)",
            )
            .example("1"),
            key(
                "think",
                In(PAUSE),
                Of(Setting::Time(ZERO)),
                "pause between an answer and the next request. Of a page: from the arrival of an object \
                 to the requests for its dependents",
            ),
        ],
    },
    Part {
        title: "messages",
        keys: &[
            key(
                "message",
                Code("1 B to 1 TB, or a table"),
                Required,
                "size of each message. The first is written when the connection is open",
            )
            .tables(LAWS)
            .json("message_bytes")
            .example("\"1 kB\""),
            key(
                "interval",
                Code("1 ns to 1000 h, or a table"),
                Required,
                "time to the next message, whatever the connection does",
            )
            .tables(LAWS)
            .json("interval_s")
            .example("\"20 ms\""),
            key("deadline", In(SPAN), Absent, "a message read later than this after its time is late")
                .example("\"100 ms\""),
        ],
    },
    Part {
        title: "web page",
        keys: &[
            key(
                "page",
                Code("a name, a table or a list"),
                Required,
                "the [page](#transfer-the-application): by name, drawn, or object by object",
            )
            .tables(&[&PAGE])
            .lists(&[&OBJECT])
            .example("\"amazon\""),
            key(
                "connections",
                In(Range::Whole(1, 256)),
                Of(Setting::Whole(1)),
                "number of connections that load the page together",
            ),
        ],
    },
    Part {
        title: "film",
        keys: &[
            key("ladder", Code("a list of 1 to 64 rates, rising"), Required, "qualities of the film in rising order")
                .json("ladder_bps")
                .example("[\"1 Mbit/s\", \"3 Mbit/s\"]"),
            key("segment", In(PLAYED), Of(Setting::Time(Duration::from_secs(4))), "playing time of a segment"),
            key(
                "buffer",
                In(PLAYED),
                Text("`\"30 s\"`, or one segment if that is longer"),
                "most playing time that the player keeps, at least one segment",
            )
            .example("\"30 s\""),
            key(
                "startup",
                In(PLAYED),
                Text("one segment"),
                "playing time buffered before the player plays, at the start and after each stop; at \
                 most the whole segments of the buffer",
            )
            .example("\"4 s\""),
        ],
    },
];
