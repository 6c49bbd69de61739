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
    key("at", In(PAUSE), Required, "time of the change"),
    key("path", Code("the number of a path, from 0, or a link that only this path has"), Required, "the path"),
    key(
        "action",
        Words(names!(ACTIONS)),
        Required,
        "`\"remove\"`: the interface is gone, its subflows are reset, the peer is told \
             (REMOVE_ADDR), nothing is answered any more. `\"add\"`: the interface is back, or the \
             path is joined although `path_manager` is `\"none\"`; the client joins, the server \
             advertises (ADD_ADDR). `\"backup\"`, `\"regular\"`: the path is used only when no \
             regular one works, or like the others (MP_PRIO)",
    ),
    key("by", Words(names!(ENDS)), Of(Setting::Word("client")), "whose interface, or who sends the signal"),
];
pub(super) static CHANGE: &[Key] = &[
    key("at", In(PAUSE), Required, "time of the change"),
    key("direction", Words(names!(WAYS)), Of(Setting::Word("both")), "direction of the link"),
    key("state", Words(names!(STATES)), Absent, "the link fails (queued and flying packets are lost) or works again"),
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
        "octets that the token bucket holds, and that may pass at once. A longer packet never passes",
    )
    .example("\"64 kB\"")
    .often(100, Draw::Spread(1_500, 300_000)),
];

pub(super) static LOSS: &[Key] = &[
    key("good_to_bad", In(RATIO), Required, "probability to go from the good state to the bad one"),
    key(
        "bad_to_good",
        In(RATIO),
        Required,
        "probability to come back; its inverse is the mean length of a bad period in packets",
    ),
    key("loss_bad", In(RATIO), Of(Setting::Number(1.0)), "loss probability in the bad state"),
    key("loss_good", In(RATIO), Of(Setting::Number(0.0)), "loss probability in the good state"),
];
pub(super) static MTU: &[Key] = &[
    key("size", In(Range::Octets(LEAST_MTU, 65_535)), Required, "IPv4 length of the longest packet that passes"),
    key("icmp", In(Range::Flag), Of(Setting::Flag(true)), "whether the sender of a longer packet is told"),
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
        "end of the link: the client's (`from`), or the server's (`to`)",
    )
    .often(40, Draw::Any),
    key(
        "direction",
        Words(names!(WAYS)),
        Of(Setting::Word("both")),
        "the segments on which it acts. For a box that changes numbers (`rewrite-sequence`, \
             `alter-length`): whose numbers; the ACKs in the other direction follow. A NAT has no \
             direction (the client's side is the inner one), nor has a `pep`",
    )
    .often(40, Draw::Any),
    key(
        "at",
        In(PAUSE),
        Text("always"),
        "from when the box acts. `rewrite-sequence`, `nat` and `pep` handle flows whose first \
             segment passes then, to their end",
    )
    .often(40, Draw::Code),
    key("until", In(PAUSE), Text("always"), "until when the box acts, later than `at`").often(40, Draw::Code),
    key(
        "size",
        In(Range::Octets(1, 65_455)),
        Text("`\"500 B\"`, `\"64 kB\"`"),
        "`split`: largest payload of a piece; `coalesce`: of a joined segment",
    )
    .often(40, Draw::Spread(1, 65_000)),
    key(
        "options",
        Code("`\"all\"`, `\"first\"`; `\"first\"`, `\"last\"`"),
        Text("`\"all\"`, `\"first\"`"),
        "`split`: which pieces have the MPTCP options; `coalesce`: whose options are kept",
    )
    .often(40, Draw::Code),
    key(
        "hold",
        In(Range::Time(NANOSECOND, SECOND)),
        Text("`\"1 ms\"`, `\"100 us\"`"),
        "`coalesce`: how long a segment waits for the next; `pep`: how long it takes through \
             the box",
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
        "`alter-payload`, `alter-length`: a change at each stream offset that is a multiple of \
             this, the first octet included",
    )
    .often(40, Draw::Spread(1, 200_000)),
    key(
        "grow",
        Code("-100 to 100, not 0"),
        Text("`4`"),
        "`alter-length`: octets put in front of the segment with such an offset, or taken from \
             its start",
    )
    .json("grow_bytes")
    .often(40, Draw::Code),
    key(
        "buffer",
        In(Range::Octets(10_000, 100_000_000)),
        Text("`\"4 MB\"`"),
        "`pep`: buffer of a connection per direction, on each of its sides",
    )
    .often(40, Draw::Spread(10_000, 10_000_000)),
    key(
        "initial_window",
        In(Range::Whole(1, 65_535)),
        Text("`10`"),
        "`pep`: segments that it sends at first over the link (10 to the other side)",
    )
    .json("initial_window_segments")
    .often(40, Draw::Spread(1, 5_000)),
    key(
        "count",
        In(Range::Whole(1, 1000)),
        Text("`20`, `4`, `2`"),
        "`replay`: one of this number of segments of a flow and direction comes again; \
             `divide-acks`, `repeat-acks`: ACKs made of one; `thin-acks`: one of this number in a \
             row goes on",
    )
    .often(40, Draw::Spread(1, 40)),
    key("after", In(SPAN), Text("`\"1 s\"`"), "`replay`: delay of a copy").often(40, Draw::Spread(1, 100_000_000)),
];
pub(super) static WAYPOINT: &[Key] = &[
    key("at", In(PAUSE), Required, "when the station is there. Waypoints stand in order of time"),
    key("distance", Quantity(&LENGTH, 0, FARTHEST), Absent, "distance of the station from its access point")
        .example("\"80 m\""),
    key("position", Code("two coordinates"), Absent, "instead of `distance`: where the station is")
        .example("[\"30 m\", \"0 m\"]"),
];
pub(super) static PAGE: &[Key] = &[
    key("objects", In(Range::Whole(1, MOST_OBJECTS)), Required, "number of objects with the document"),
    key("bytes", In(Range::Octets(1, MOST_OF_ONE)), Required, "octets of all objects, at least one for each"),
    key(
        "depth",
        In(Range::Whole(1, MOST_OBJECTS)),
        Of(Setting::Whole(2)),
        "objects in the longest chain, at most `objects`. With 2, everything depends on the \
             document only. With more, the other objects stand on the further levels in turn, each \
             after a random one of the level above",
    ),
];
pub(super) static OBJECT: &[Key] = &[
    key("size", In(Range::Octets(1, MOST_OF_ONE)), Required, "octets of a written object"),
    key(
        "after",
        In(Range::Whole(0, MOST_OBJECTS)),
        Of(Setting::Whole(0)),
        "number of the object that it depends on, below its own",
    ),
];
static DISCIPLINE: &[Key] = &[key("name", Code("the name of the discipline"), Required, "which discipline")];
static RED_KEYS: &[Key] = &[
    key(
        "min",
        In(Range::Packets(1, 1_000_000)),
        Of(Setting::Whole(5)),
        "mean queue from which on packets are marked or dropped",
    ),
    key(
        "max",
        In(Range::Packets(1, 1_000_000)),
        Text("three times `min`"),
        "mean queue at which `probability` is reached, above `min`",
    )
    .example("\"15 packets\""),
    key("probability", In(RATIO), Of(Setting::Number(0.1)), "probability of a mark or drop at `max`, above 0 %"),
    key("weight", In(RATIO), Of(Setting::Number(0.002)), "weight of a new queue length in the mean, above 0 %"),
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
        "time within which the delay must fall below `target` once, about a worst-case round \
             trip (RFC 8289 4.3)",
    ),
];
static FQ_CODEL_KEYS: &[Key] = &[
    key(
        "quantum",
        In(Range::Octets(1, 1_000_000)),
        Of(Setting::Whole(1514)),
        "octets that a queue may send in its turn (RFC 8290 5.2)",
    ),
    key("flows", In(Range::Whole(1, 65_536)), Of(Setting::Whole(1024)), "number of queues"),
];
pub(super) static RED: &[Part] = &[Part { title: "", keys: DISCIPLINE }, Part { title: "", keys: RED_KEYS }];
pub(super) static CODEL: &[Part] = &[Part { title: "", keys: DISCIPLINE }, Part { title: "", keys: CODEL_KEYS }];
pub(super) static FQ_CODEL: &[Part] = &[
    Part { title: "", keys: DISCIPLINE },
    Part { title: "", keys: CODEL_KEYS },
    Part { title: "", keys: FQ_CODEL_KEYS },
];
pub(super) static UNIFORM: &[Key] = &[
    key("name", Words(names!(LAWS)), Required, "which distribution"),
    key("min", Code("as the key itself"), Required, "smallest value"),
    key("max", Code("as the key itself"), Required, "largest value; all are equally likely"),
];
pub(super) static EXPONENTIAL: &[Key] = &[
    key("name", Words(names!(LAWS)), Required, "which distribution"),
    key("mean", Code("as the key itself"), Required, "mean of the values"),
    key("most", Code("as the key itself"), Absent, "largest value: larger draws are replaced by it"),
];
pub(super) static LOGNORMAL: &[Key] = &[
    key("name", Words(names!(LAWS)), Required, "which distribution"),
    key("median", Code("as the key itself"), Required, "median of the values"),
    key("sigma", In(Range::Number(0.01, 10.0)), Required, "standard deviation of the natural logarithm").example("1.0"),
    key("most", Code("as the key itself"), Absent, "largest value: larger draws are replaced by it"),
];
pub(super) static PARETO: &[Key] = &[
    key("name", Words(names!(LAWS)), Required, "which distribution"),
    key("min", Code("as the key itself"), Required, "smallest value"),
    key("alpha", In(Range::Number(0.1, 100.0)), Required, "the share beyond x is (`min` / x)^`alpha`").example("1.5"),
    key("most", Code("as the key itself"), Absent, "largest value: larger draws are replaced by it"),
];
