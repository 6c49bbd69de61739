//! Keys of the tables inside other tables.

use anabranch_stack::registry::{Range, Setting};

use super::super::units::LENGTH;
use super::super::words::{ACTIONS, BOX_ENDS, ENDS, LAWS, STATES, WAYS};
use super::Default::{Absent, Of, Required, Text};
use super::Value::{Code, In, Quantity, Words};
use super::wifi::FARTHEST;
use super::{DELAY, Draw, HOUR, Key, NANOSECOND, PAUSE, Part, RATE, RATIO, SECOND, SPAN, key, ms, names};

/// Whatever message comes, segments keep a payload of 48 octets, beside headers and options of up
/// to 80.
const LEAST_MTU: u64 = 128;
/// The most objects of a page.
pub const MOST_OBJECTS: u64 = 100_000;
/// The most octets of a message, an object or a page.
pub const MOST_OF_ONE: u64 = 1_000_000_000_000;

pub(super) static PATH_CHANGE: &[Key] = &[
    key("at", In(PAUSE), Required, "virtual time of the change"),
    key(
        "path",
        Code("the number of a path, from 0, or a link that only this path has"),
        Required,
        "the path that changes",
    ),
    key(
        "action",
        Words(names!(ACTIONS)),
        Required,
        "what happens to the path. `\"remove\"`: the interface goes away: its subflows are closed, \
            the peer gets a REMOVE_ADDR, and nothing that arrives on the interface is answered \
            any more. `\"add\"`: the interface comes back, or the path is joined although \
            `path_manager` is `\"none\"`; the client joins, the server advertises its address \
            (ADD_ADDR). `\"backup\"`: the path is used only when no regular one works (MP_PRIO). \
            `\"regular\"`: the path is used like other regular paths (MP_PRIO)",
    ),
    key(
        "by",
        Words(names!(ENDS)),
        Of(Setting::Word("client")),
        "the end whose interface changes, or (`backup`, `regular`) that sends the signal",
    ),
];
pub(super) static CHANGE: &[Key] = &[
    key("at", In(PAUSE), Required, "virtual time of the change"),
    key("direction", Words(names!(WAYS)), Of(Setting::Word("both")), "direction of the link that changes"),
    key(
        "state",
        Words(names!(STATES)),
        Absent,
        "`down`: the link fails, and packets in its queue and on their way are lost. `up`: the link works again",
    ),
    key("rate", In(RATE), Absent, "new rate of the link"),
    key("delay", In(DELAY), Absent, "new delay of the link"),
    key("loss", Code("as of the link"), Absent, "new random loss of the link"),
];
pub(super) static POLICER: &[Key] = &[
    key("rate", In(RATE), Required, "rate at which the token bucket fills").often(100, Draw::Spread(200, 100_000)),
    key(
        "burst",
        In(Range::Octets(1500, 1_000_000_000)),
        Required,
        "most octets that the token bucket holds, and that may pass at once. A packet longer than \
            `burst` never passes",
    )
    .example("\"64 kB\"")
    .often(100, Draw::Spread(1_500, 300_000)),
];

pub(super) static LOSS: &[Key] = &[
    key(
        "good_to_bad",
        In(RATIO),
        Required,
        "probability, at each packet, of a change from the good state to the bad one",
    ),
    key(
        "bad_to_good",
        In(RATIO),
        Required,
        "probability, at each packet, of a change from the bad state to the good one. The inverse \
            of this probability is the mean length of a bad period in packets",
    ),
    key("loss_bad", In(RATIO), Of(Setting::Number(1.0)), "probability that a packet is lost in the bad state"),
    key("loss_good", In(RATIO), Of(Setting::Number(0.0)), "probability that a packet is lost in the good state"),
];
pub(super) static MTU: &[Key] = &[
    key("size", In(Range::Octets(LEAST_MTU, 65_535)), Required, "IPv4 length of the longest packet that passes"),
    key(
        "icmp",
        In(Range::Flag),
        Of(Setting::Flag(true)),
        "whether the sender of a longer packet gets an ICMP message that says the MTU",
    ),
];
pub(super) static MIDDLEBOX: &[Key] = &[
    key(
        "kind",
        Code("a name of `anabranch list`"),
        Required,
        "what the box does; [middleboxes.md](middleboxes.md) says how MPTCP reacts",
    ),
    key(
        "end",
        Words(names!(BOX_ENDS)),
        Of(Setting::Word("near")),
        "end of the link at which the box stands. `near`: the end of the client (in the long form \
            `from`). `far`: the end of the server (`to`)",
    )
    .often(40, Draw::Any),
    key(
        "direction",
        Words(names!(WAYS)),
        Of(Setting::Word("both")),
        "direction of the segments on which the box acts. `rewrite-sequence` and `alter-length` \
            change the sequence numbers of this direction, and adapt the ACKs of the other one. \
            `nat` and `pep` always act on both directions; the inner side of a `nat` is the \
            client's",
    )
    .often(40, Draw::Any),
    key(
        "at",
        In(PAUSE),
        Text("always"),
        "time from which the box acts. `rewrite-sequence` and `pep` act only on flows that begin \
            between `at` and `until`, and on these until they end. `nat` gives also older flows \
            a new port",
    )
    .often(40, Draw::Code),
    key("until", In(PAUSE), Text("always"), "time until which the box acts, later than `at`").often(40, Draw::Code),
    key(
        "size",
        In(Range::Octets(1, 65_455)),
        Text("`\"500 B\"`, `\"64 kB\"`"),
        "largest payload: for `split`, of a piece; for `coalesce`, of a joined segment (from 2 B)",
    )
    .often(40, Draw::Spread(1, 65_000)),
    key(
        "options",
        Code("`\"all\"`, `\"first\"`; `\"first\"`, `\"last\"`"),
        Text("`\"all\"`, `\"first\"`"),
        "`split`: which pieces carry the MPTCP options; `coalesce`: which of the joined segments gives the options",
    )
    .often(40, Draw::Code),
    key(
        "hold",
        In(Range::Time(NANOSECOND, SECOND)),
        Text("`\"1 ms\"`, `\"100 us\"`"),
        "`coalesce`: longest time that a segment waits for the next one; `pep`: how long a segment \
            takes through the box",
    )
    .often(40, Draw::Spread(1, 1_000_000)),
    key(
        "timeout",
        In(SPAN),
        Text("`\"124 min\"`"),
        "`nat`: a mapping unused for this long is removed (RFC 5382 5 demands at least 124 min)",
    )
    .often(40, Draw::Spread(1_000, 200_000_000)),
    key(
        "every",
        In(Range::Octets(1, 1_000_000_000_000)),
        Text("`\"100 kB\"`"),
        "`alter-payload`, `alter-length`: spacing of the changes. The box changes the stream at \
            offset 0 and at each multiple of this",
    )
    .often(40, Draw::Spread(1, 200_000)),
    key(
        "grow",
        Code("-100 to 100, not 0"),
        Text("`4`"),
        "`alter-length`: number of octets that the box inserts before the payload of a segment \
            (see `every`), or removes from its start if negative",
    )
    .json("grow_bytes")
    .often(40, Draw::Code),
    key(
        "buffer",
        In(Range::Octets(10_000, 100_000_000)),
        Text("`\"4 MB\"`"),
        "`pep`: buffer of the box for each connection and direction, on each of its two sides",
    )
    .often(40, Draw::Spread(10_000, 10_000_000)),
    key(
        "initial_window",
        In(Range::Whole(1, 65_535)),
        Text("`10`"),
        "`pep`: initial window in segments towards the link (towards the other side it is 10)",
    )
    .json("initial_window_segments")
    .often(40, Draw::Spread(1, 5_000)),
    key(
        "count",
        In(Range::Whole(1, 1000)),
        Text("`20`, `4`, `2`, `2`"),
        "`replay`: each time this number of segments of a flow and direction has passed, the box \
            sends a copy of the last of them. `divide-acks`, `repeat-acks`: number of ACKs made \
            of one. `thin-acks`: in each group of this many ACKs of a flow, only the last one \
            passes. The others are dropped at once, even if the last one never comes",
    )
    .often(40, Draw::Spread(1, 40)),
    key("after", In(SPAN), Text("`\"1 s\"`"), "`replay`: time after which the copy follows")
        .often(40, Draw::Spread(1, 100_000_000)),
];
pub(super) static WAYPOINT: &[Key] = &[
    key(
        "at",
        In(PAUSE),
        Required,
        "time at which the station is at the waypoint. Each waypoint is later than the one before it",
    ),
    key("distance", Quantity(&LENGTH, 0, FARTHEST), Absent, "distance of the station from its access point")
        .example("\"80 m\""),
    key("position", Code("two coordinates"), Absent, "place of the station, instead of `distance`")
        .example("[\"30 m\", \"0 m\"]"),
];
pub(super) static PAGE: &[Key] = &[
    key(
        "objects",
        In(Range::Whole(1, MOST_OBJECTS)),
        Required,
        "number of objects of the page, \
        the document included",
    ),
    key("bytes", In(Range::Octets(1, MOST_OF_ONE)), Required, "octets of all objects, at least one for each"),
    key(
        "depth",
        In(Range::Whole(1, MOST_OBJECTS)),
        Of(Setting::Whole(2)),
        "number of objects in the longest chain of dependencies, at most `objects`. With 2, all \
            other objects depend on the document; with more, they are spread evenly over the \
            levels below it, and each depends on a random object of the level above",
    ),
];
pub(super) static OBJECT: &[Key] = &[
    key("size", In(Range::Octets(1, MOST_OF_ONE)), Required, "octets of the object"),
    key(
        "after",
        In(Range::Whole(0, MOST_OBJECTS)),
        Of(Setting::Whole(0)),
        "number of the object on which this object depends: a smaller number than its own. \
            Objects count from 0, the document",
    ),
];
static DISCIPLINE: &[Key] =
    &[key("name", Code("the name of the discipline"), Required, "name of the queue discipline")];
static RED_KEYS: &[Key] = &[
    key(
        "min",
        In(Range::Packets(1, 1_000_000)),
        Of(Setting::Whole(5)),
        "mean queue length from which on packets are marked or dropped",
    ),
    key(
        "max",
        In(Range::Packets(1, 1_000_000)),
        Text("three times `min`"),
        "mean queue length at which the probability of a mark or drop reaches `probability`. It must be above `min`",
    )
    .example("\"15 packets\""),
    key(
        "probability",
        In(RATIO),
        Of(Setting::Number(0.1)),
        "probability of a mark or drop when the mean queue length reaches `max`. It must be above 0 %",
    ),
    key(
        "weight",
        In(RATIO),
        Of(Setting::Number(0.002)),
        "weight of the present queue length in the moving average. It must be above 0 %",
    ),
];
static CODEL_KEYS: &[Key] = &[
    key(
        "target",
        In(Range::Time(NANOSECOND, HOUR)),
        Of(Setting::Time(ms(5))),
        "acceptable standing delay (RFC 8289 4.2)",
    ),
    key(
        "interval",
        In(Range::Time(NANOSECOND, HOUR)),
        Of(Setting::Time(ms(100))),
        "if the queueing delay stays above `target` for this long, packets are marked or dropped: \
            about one worst-case RTT (RFC 8289 4.3)",
    ),
];
static FQ_CODEL_KEYS: &[Key] = &[
    key(
        "quantum",
        In(Range::Octets(1, 1_000_000)),
        Of(Setting::Whole(1514)),
        "octets that each queue may send in its turn (RFC 8290 5.2)",
    ),
    key(
        "flows",
        In(Range::Whole(1, 65_536)),
        Of(Setting::Whole(1024)),
        "number of queues, over which flows are spread by a hash",
    ),
];
pub(super) static RED: &[Part] = &[Part { title: "", keys: DISCIPLINE }, Part { title: "", keys: RED_KEYS }];
pub(super) static CODEL: &[Part] = &[Part { title: "", keys: DISCIPLINE }, Part { title: "", keys: CODEL_KEYS }];
pub(super) static FQ_CODEL: &[Part] = &[
    Part { title: "", keys: DISCIPLINE },
    Part { title: "", keys: CODEL_KEYS },
    Part { title: "", keys: FQ_CODEL_KEYS },
];
pub(super) static UNIFORM: &[Key] = &[
    key("name", Words(names!(LAWS)), Required, "name of the distribution"),
    key("min", Code("a value that the key takes without a table"), Required, "smallest value"),
    key("max", Code("a value that the key takes without a table"), Required, "largest value; all are equally likely"),
];
pub(super) static EXPONENTIAL: &[Key] = &[
    key("name", Words(names!(LAWS)), Required, "name of the distribution"),
    key(
        "mean",
        Code("a value that the key takes without a table"),
        Required,
        "mean of the values before `most` applies",
    ),
    key(
        "most",
        Code("a value that the key takes without a table"),
        Absent,
        "largest value: larger draws are replaced by it",
    ),
];
pub(super) static LOGNORMAL: &[Key] = &[
    key("name", Words(names!(LAWS)), Required, "name of the distribution"),
    key(
        "median",
        Code("a value that the key takes without a table"),
        Required,
        "median of the values before `most` applies",
    ),
    key("sigma", In(Range::Number(0.01, 10.0)), Required, "standard deviation of the natural logarithm of the values")
        .example("1.0"),
    key(
        "most",
        Code("a value that the key takes without a table"),
        Absent,
        "largest value: larger draws are replaced by it",
    ),
];
pub(super) static PARETO: &[Key] = &[
    key("name", Words(names!(LAWS)), Required, "name of the distribution"),
    key("min", Code("a value that the key takes without a table"), Required, "smallest value"),
    key(
        "alpha",
        In(Range::Number(0.1, 100.0)),
        Required,
        "shape of the distribution: the share of values above x is (`min` / x)^`alpha`",
    )
    .example("1.5"),
    key(
        "most",
        Code("a value that the key takes without a table"),
        Absent,
        "largest value: larger draws are replaced by it",
    ),
];
