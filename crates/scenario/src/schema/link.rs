//! Keys of `[[path]]` and `[[link]]`.

use anabranch_stack::registry::{Range, Setting};

use super::Default::{Absent, Of, Required, Text};
use super::Value::{Code, Either, In, Inner, Name, Or};
use super::{
    CELLULAR, CHANGE, CODEL, DELAY, Draw, FQ_CODEL, HOUR, Key, LEO, LOSS, MIDDLEBOX, MOST_PACKETS, MTU, NANOSECOND,
    POLICER, POSITIVE, Part, RATE, RATIO, RED, WIFI, key, ms,
};

static NAMED: &[Key] = &[key("name", Name, Text("\"path0\""), "name of the path in tables and plots")];
static TRACED: &[Key] = &[key(
    "trace",
    Code("a file, or a list of milliseconds"),
    Absent,
    "times at which packets may leave, instead of `rate` ([traces](#traces))",
)
.example("\"lte.trace\"")
.often(4, Draw::Code)
.directed()];
pub(super) static WIRE: &[Key] = &[
    key(
        "rate",
        In(RATE),
        Of(Setting::Whole(10_000_000)),
        "rate of the link. On a wireless link (`wifi`), rate of the wired hop behind the access \
            point, by default without limit. Refused beside `trace`, `leo` or `cellular`",
    )
    .often(90, Draw::Code)
    .directed(),
    key(
        "delay",
        In(DELAY),
        Of(Setting::Time(ms(10))),
        "one-way propagation delay. The default of a link with `wifi` or `leo` is `\"0 s\"`, of a \
            link with `cellular` that of its preset",
    )
    .often(85, Draw::Code)
    .directed(),
    key(
        "delay_variation",
        Either(RATIO, DELAY),
        Of(Setting::Number(0.0)),
        "the delay varies uniformly by this share or time: at a delay of 10 ms, `\"20 %\"` and \
            `\"2 ms\"` give 8 to 12 ms. A delay is never below zero",
    )
    .often(20, Draw::Share(100.0))
    .directed(),
    key(
        "delay_redraw",
        Or(&["packet", "write"], Range::Time(NANOSECOND, HOUR)),
        Of(Setting::Word("packet")),
        "when a new delay is drawn: for each packet, each time an application writes (one draw for \
            both directions), or once in each interval of this length. No effect without \
            `delay_variation`. With `stack = \"legacy-2011\"`, the default is `\"write\"`",
    )
    .json("delay_redraw")
    .often(10, Draw::Code)
    .directed(),
    key(
        "overtaking",
        In(Range::Flag),
        Of(Setting::Flag(false)),
        "whether a packet may arrive before one sent earlier. With `stack = \"legacy-2011\"`, the default is `true`",
    )
    .often(20, Draw::Any)
    .directed(),
    key(
        "queue",
        Code("0 to 10000000 packets, 0 B to 1 TB"),
        Text("\"100 packets\""),
        "capacity of the queue, without the packet in transmission",
    )
    .often(50, Draw::Code)
    .directed(),
    key(
        "discipline",
        Code("`\"drop-tail\"`, `\"red\"`, `\"codel\"`, `\"fq-codel\"`, or a table"),
        Text("\"drop-tail\""),
        "queue discipline: decides which packets are dropped or marked ([queue disciplines](#queue-disciplines))",
    )
    .tables(&[&RED, &CODEL, &FQ_CODEL])
    .often(15, Draw::Code)
    .directed(),
    key(
        "loss",
        Code("0 % to 100 %, or a table"),
        Text("\"0 %\""),
        "probability that a packet (data or ACK) is lost on the link, after the queue. A table \
            describes [loss in bursts](#loss-in-bursts)",
    )
    .tables(&[&LOSS])
    .often(35, Draw::Code)
    .directed(),
    key("duplication", In(RATIO), Of(Setting::Number(0.0)), "probability that a packet arrives twice")
        .linux("0.0", "the links to the kernel duplicate no packets")
        .often(15, Draw::Code)
        .directed(),
    key(
        "corruption",
        In(RATIO),
        Of(Setting::Number(0.0)),
        "probability that a packet is damaged on the link. The receiver drops it because of its checksum",
    )
    .linux("0.0", "the links to the kernel damage no packets")
    .often(10, Draw::Share(10.0))
    .directed(),
    key(
        "overhead",
        In(Range::Octets(0, 65_535)),
        Of(Setting::Whole(0)),
        "octets of lower layers that the link adds to the IPv4 length of every packet",
    )
    .often(10, Draw::Spread(1, 200))
    .directed(),
    key(
        "mtu",
        Code("`\"none\"`, 128 B to 65535 B, or a table"),
        Text("\"none\""),
        "IPv4 length of the longest packet that the link passes ([MTU](#mtu))",
    )
    .tables(&[&MTU])
    .json("mtu_bytes")
    .linux("null", "the links to the kernel have no MTU of their own")
    .often(8, Draw::Code)
    .directed(),
    key(
        "ecn_threshold",
        Or(&["off"], Range::Packets(0, MOST_PACKETS)),
        Of(Setting::Word("off")),
        "marks each ECN-capable packet that finds this many packets or more in the queue",
    )
    .linux("null", "the links to the kernel do not mark packets")
    .often(12, Draw::Spread(1, 60))
    .directed(),
    key(
        "policer",
        Inner,
        Absent,
        "token bucket in front of the queue: it fills at `rate` and holds at most `burst`. A packet \
            that finds fewer tokens than it has octets is dropped",
    )
    .tables(&[&POLICER])
    .linux("null", "the links to the kernel have no policer")
    .stored()
    .left_out()
    .often(4, Draw::Code)
    .directed(),
];
static MORE: &[Key] = &[
    key(
        "backup",
        In(Range::Flag),
        Of(Setting::Flag(false)),
        "`true`: connections use paths over this link only when no regular one works (flag B of \
             MP_JOIN, MP_PRIO on the first subflow)",
    )
    .often(8, Draw::Any),
    key(
        "cost",
        In(POSITIVE),
        Of(Setting::Number(1.0)),
        "cost of an octet on the path, for algorithms that use it (`controller = \
            \"energy-linked\"`, `scheduler = \"cheapest-path-first\"`)",
    )
    .often(8, Draw::Real(0.1, 20.0))
    .instead("the model has a round robin of its own, one segment at a time"),
    key(
        "weight",
        In(POSITIVE),
        Of(Setting::Number(1.0)),
        "the path's share of the load relative to the other paths (`scheduler = \"load-balancing\"`)",
    )
    .often(8, Draw::Real(0.1, 20.0))
    .instead("the model has a round robin of its own, one segment at a time"),
    key(
        "priority",
        In(Range::Whole(0, 1000)),
        Of(Setting::Whole(0)),
        "priority of the path: a lower number is preferred (`scheduler = \"priority\"`)",
    )
    .often(8, Draw::Spread(1, 1000))
    .instead("the model has a round robin of its own, one segment at a time"),
    key(
        "preset",
        Code("a name of `anabranch list links`"),
        Absent,
        "name of a kind of link, such as `\"starlink\"`, `\"5g driving\"`, `\"wifi 30 m\"`, which \
            stands for keys of the link. Keys written beside the preset replace its keys, also \
            inside tables: `preset = \"wifi6 10 m\"`, `wifi = { queue = \"100 packets\" }`",
    )
    .example("\"starlink\""),
    key("wifi", Code("a table"), Absent, "a [wireless path](#wireless-paths)")
        .tables(&[&WIFI])
        .example("{ standard = \"802.11g\", distance = \"30 m\" }"),
    key(
        "leo",
        Code("a preset or a table"),
        Absent,
        "a varying link over satellites in low orbit ([links.md](links.md))",
    )
    .tables(&[&LEO])
    .example("\"starlink-fixed-2024\""),
    key("cellular", Code("a preset or a table"), Absent, "a varying cellular link ([links.md](links.md))")
        .tables(&[&CELLULAR])
        .example("\"lte-driving\""),
    key(
        "capture",
        In(Range::Flag),
        Of(Setting::Flag(false)),
        "`true`: `anabranch run --pcap DIR` also writes `NAME.link.pcapng`, where NAME is the \
            name of the link: its packets in both directions, each with the time at which its \
            transmission ended",
    )
    .often(5, Draw::Any),
    key(
        "middleboxes",
        Code("a list of names and tables"),
        Text("[]"),
        "boxes on the link that change, drop or add segments ([middleboxes](#middleboxes))",
    )
    .lists(&[&MIDDLEBOX]),
    key("changes", Code("a list of tables"), Text("[]"), "[changes of the link](#scheduled-changes) during the run")
        .lists(&[&CHANGE]),
];
static ENDS: &[Key] = &[
    key("name", Name, Required, "name of the link"),
    key(
        "from",
        Code("a host or router"),
        Required,
        "one end of the link. The direction `_up` leads from `from` to `to`",
    ),
    key("to", Code("a host or router"), Required, "the other end of the link"),
];

pub(super) static PATH: &[Part] = &[
    Part { title: "", keys: NAMED },
    Part { title: "", keys: TRACED },
    Part { title: "", keys: WIRE },
    Part { title: "", keys: MORE },
];
pub(super) static LINK: &[Part] = &[
    Part { title: "", keys: ENDS },
    Part { title: "", keys: TRACED },
    Part { title: "", keys: WIRE },
    Part { title: "", keys: MORE },
];
