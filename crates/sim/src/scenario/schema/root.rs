//! Keys of the top level, of hosts and of generated networks.

use anabranch_stack::registry::{Range, Setting};

use super::super::words::{NETWORKS, PATTERNS, STACKS};
use super::Default::{Absent, Of, Required, Text};
use super::Value::{Code, In, Name, Words};
use super::link::WIRE;
use super::{Draw, HOUR, Key, Part, SECOND, SPAN, ZERO, key, names};

pub(super) static ROOT: &[Key] = &[
    key(
        "title",
        Code("one line, at most 200 characters, no control characters (terminal, writing direction)"),
        Text("\"\""),
        "free text",
    ),
    key(
        "duration",
        In(SPAN),
        Of(Setting::Time(HOUR)),
        "upper bound of virtual time. A run ends when its transfers end",
    ),
    key(
        "stack",
        Words(names!(STACKS)),
        Of(Setting::Word("anabranch")),
        "the engine, or the ns-3 model of 2011 that the papers measured \
             ([legacy.md](legacy.md))",
    )
    .aside(),
    key("seed", In(Range::Whole(0, i64::MAX as u64)), Of(Setting::Whole(1)), "source of all randomness"),
    key(
        "bytes",
        In(Range::Flag),
        Of(Setting::Flag(false)),
        "emits and parses every segment on its way into a host, with payload octets, options \
             and checksums as on a wire. Run and trace stay the same (a disagreement ends the \
             program), but the run takes longer. Not with `stack = \"legacy-2011\"`, whose packets \
             have no bytes",
    ),
    key(
        "connection",
        Code("a table, or a list of tables"),
        Text("all defaults"),
        "the protocol of the connection. A list describes several connections",
    )
    .tables(&[&super::CONNECTION])
    .lists(&[&super::LONG_CONNECTION]),
    key("transfer", Code("a table"), Required, "the application that sends and receives").tables(&[&super::TRANSFER]),
    key("path", Code("a list of tables"), Text("at least one"), "links from client to server").lists(&[&super::PATH]),
    key(
        "host",
        Code("a table, or a list of tables"),
        Absent,
        "what all hosts have in common. A list: hosts of [the long form](#the-long-form-any-topology)",
    )
    .tables(&[&super::HOST])
    .lists(&[&super::NODE]),
    key("router", Code("a list of tables"), Absent, "routers of the long form").lists(&[&super::ROUTER]),
    key("link", Code("a list of tables"), Absent, "links of the long form").lists(&[&super::LINK]),
    key("topology", Code("a table"), Absent, "a [generated network](#generated-networks)").tables(&[&super::TOPOLOGY]),
    key("traffic", Code("a table"), Absent, "connections between the hosts of a generated network")
        .tables(&[&super::TRAFFIC]),
];
/// Keys of hosts alone or of all hosts.
static COST: &[Key] = &[
    key(
        "cost",
        In(Range::Time(ZERO, SECOND)),
        Of(Setting::Time(ZERO)),
        "time that a core of the host needs for each segment, in and out. The segments of a subflow wait \
         for the same core. The model has neither segmentation offload nor a bound of the waiting segments",
    )
    .example("\"2 us\"")
    .linux("0.0", "the kernel runs without a cost of segments")
    .stored()
    .left_out()
    .often(5, Draw::Spread(1, 200)),
    key(
        "cores",
        In(Range::Whole(1, 1024)),
        Of(Setting::Whole(1)),
        "cores of the host, over which its subflows are spread",
    )
    .stored()
    .left_out()
    .often(3, Draw::Whole(1, 4)),
];
pub(super) static HOST: &[Part] = &[Part { title: "", keys: COST }];
pub(super) static NODES: &[Part] = &[Part { title: "", keys: NODE }, Part { title: "", keys: COST }];

pub(super) static NODE: &[Key] = &[key(
    "name",
    Name,
    Required,
    "name of the host or router. Hosts end connections and do not forward; routers forward",
)];
static OWN: &[Key] = &[
    key("kind", Words(names!(NETWORKS)), Required, "which network is generated"),
    key(
        "k",
        Code("an even number from 2 to 32"),
        Required,
        "fat-tree: ports of a switch; k³/4 hosts `h0`, ..., k²/2 edge switches `p0e0` (pod 0, \
             switch 0), ... and as many aggregation switches `p0a0`, ..., k²/4 core switches `c0`, \
             ... (Al-Fares et al., SIGCOMM 2008)",
    )
    .example("4"),
    key("hosts", In(Range::Whole(1, 10_000)), Required, "dumbbell: hosts on each side, `left0`, ... and `right0`, ...")
        .example("10"),
    key(
        "bottlenecks",
        In(Range::Whole(1, 255)),
        Of(Setting::Whole(1)),
        "dumbbell: equal links between its two routers",
    ),
    key(
        "access",
        Code("a table with the keys of its links"),
        Text("as the others"),
        "different values for the links of hosts: `access = { rate = \"1 Gbit/s\", delay = \"10 \
             us\" }`",
    )
    .tables(&[&super::ACCESS])
    .example("{ rate = \"1 Gbit/s\" }"),
];
pub(super) static TRAFFIC: &[Key] = &[
    key(
        "pattern",
        Words(names!(PATTERNS)),
        Required,
        "every host sends to one other and receives from one other (in a dumbbell from left to \
             right); or all send to one",
    )
    .example("\"permutation\""),
    key(
        "connections",
        In(Range::Whole(1, 100_000)),
        Text("one of each sender"),
        "number of connections. More than senders: further permutations, or further rounds of \
             the same senders",
    )
    .example("16"),
    key(
        "subflows",
        In(Range::Whole(1, 255)),
        Of(Setting::Whole(4)),
        "paths of each connection; with TCP and UDP only the first counts",
    ),
];

pub(super) static TOPOLOGY: &[Part] = &[Part { title: "", keys: OWN }, Part { title: "", keys: WIRE }];
pub(super) static ACCESS: &[Part] = &[Part { title: "", keys: WIRE }];
