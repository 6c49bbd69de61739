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
                "amount of data after which the transfer ends. Refused with request/response, \
                    messages, a page or a film",
            )
            .rival("duration")
            .json("extent_bytes"),
            key(
                "duration",
                In(SPAN),
                Absent,
                "time after its start at which the sender stops writing, instead of `bytes`. \
                    Refused with request/response, a page or a film",
            )
            .rival("bytes")
            .json("extent_s")
            .example("\"20 s\""),
            key(
                "direction",
                Words(names!(DIRECTIONS)),
                Text("`\"up\"`; of pages and films `\"down\"`"),
                "direction of the data: `up` from client to server, `down` from server to client. \
                    `both`: each end sends `bytes` or for `duration` (bulk and on-off transfers \
                    over TCP and MPTCP only). In a request/response transfer it is the direction \
                    of the answers: a client that asks a server needs `\"down\"`",
            )
            .example("\"up\""),
            key(
                "start",
                In(PAUSE),
                Of(Setting::Time(ZERO)),
                "virtual time of the first SYN (UDP: \
                of the first datagram)",
            ),
            key(
                "start_spread",
                In(PAUSE),
                Of(Setting::Time(ZERO)),
                "random delay that is added to `start`, drawn uniformly from 0 to this",
            ),
            key(
                "read_rate",
                In(Range::Rate(8, FASTEST)),
                Absent,
                "largest rate at which the receiving application reads. Without the key, the \
                    application reads at once. Refused with UDP",
            )
            .example("\"8 Mbit/s\""),
        ],
    },
    Part {
        title: "on-off",
        keys: &[
            key("on", In(SPAN), Required, "length of a busy period, in which the sender writes").example("\"1 s\""),
            key("off", In(PAUSE), Required, "length of a pause between two busy periods").example("\"500 ms\""),
            key(
                "rate",
                In(RATE),
                Absent,
                "rate at which the sender writes in busy periods. Without the key, the sender \
                    writes as fast as the connection takes data. With `off = \"0 s\"` the source \
                    never pauses. With `protocol = \"udp\"`: rate of the payload; without the \
                    key, a UDP flow sends a fifth more than its path carries, and if `bytes` and \
                    `duration` are missing, too, it sends until the run ends",
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
                "size of each request, which the receiver of the answers sends. Of a page or a \
                    film: size of each request for an object or a segment, at most 1 MB",
            )
            .example("\"200 B\""),
            key("response", In(AMOUNT), Required, "size of each answer").example("\"100 kB\""),
            key(
                "count",
                In(Range::Whole(1, 1_000_000_000)),
                Text("`1`; of films required"),
                "number of requests, each with an answer; at most 1000 TB in total in each \
                    direction. Of messages: their number (at most 10000000; instead of \
                    `duration`). Of a film: number of its segments (at most 1000000)",
            )
            .example("1"),
            key(
                "think",
                In(PAUSE),
                Of(Setting::Time(ZERO)),
                "pause between an answer and the next request. Of a page: time from the arrival \
                    of an object to the requests for the objects that depend on it",
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
                "size of each message. The first message is written when the connection is open",
            )
            .tables(LAWS)
            .json("message_bytes")
            .example("\"1 kB\""),
            key("interval", Code("1 ns to 1000 h, or a table"), Required, "time from one message to the next")
                .tables(LAWS)
                .json("interval_s")
                .example("\"20 ms\""),
            key(
                "deadline",
                In(SPAN),
                Absent,
                "a message is late if it is read later than this \
                after the time at which it was written",
            )
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
                "web [page](#transfer-the-application) to be loaded: by name, drawn at random, or \
                    written object by object",
            )
            .tables(&[&PAGE])
            .lists(&[&OBJECT])
            .example("\"amazon\""),
            key(
                "connections",
                In(Range::Whole(1, 256)),
                Of(Setting::Whole(1)),
                "number of connections over which the page is loaded",
            ),
        ],
    },
    Part {
        title: "film",
        keys: &[
            key(
                "ladder",
                Code("a list of 1 to 64 rates, rising"),
                Required,
                "bit rates in which \
                the film (adaptive video) is available, in rising order",
            )
            .json("ladder_bps")
            .example("[\"1 Mbit/s\", \"3 Mbit/s\"]"),
            key(
                "segment",
                In(PLAYED),
                Of(Setting::Time(Duration::from_secs(4))),
                "playing time \
                of each segment of the film",
            ),
            key(
                "buffer",
                In(PLAYED),
                Text("`\"30 s\"`, or one segment if that is longer"),
                "largest playing time that the player buffers, at least one segment",
            )
            .example("\"30 s\""),
            key(
                "startup",
                In(PLAYED),
                Text("one segment"),
                "playing time that must be buffered before the player plays, at the start and \
                    after each stop. At most the whole segments that fit into `buffer`",
            )
            .example("\"4 s\""),
        ],
    },
];
