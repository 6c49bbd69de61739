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
        Code("one line of at most 200 characters, none of which controls a terminal or the direction of writing"),
        Text("\"\""),
        "title of the scenario, without effect on the run",
    ),
    key(
        "duration",
        In(SPAN),
        Of(Setting::Time(HOUR)),
        "the run ends at this virtual time at the latest. The run ends earlier if all transfers have ended",
    ),
    key(
        "stack",
        Words(names!(STACKS)),
        Of(Setting::Word("anabranch")),
        "what runs the connections: the engine of Anabranch, or the ns-3 model of 2011 that the \
            papers measured ([legacy.md](legacy.md))",
    )
    .aside(),
    key("seed", In(Range::Whole(0, i64::MAX as u64)), Of(Setting::Whole(1)), "seed of all random numbers of the run"),
    key(
        "bytes",
        In(Range::Flag),
        Of(Setting::Flag(false)),
        "`true`: the simulator writes each segment that reaches a host as the octets of a real \
            packet (payload, options, checksums) and parses them. Results and trace do not \
            change (a difference ends the program). Refused with `stack = \"legacy-2011\"`, \
            whose packets have no bytes",
    ),
    key(
        "connection",
        Code("a table, or a list of tables"),
        Text("all defaults"),
        "protocol and algorithms of the connection. A list, `[[connection]]`, describes several connections",
    )
    .tables(&[&super::CONNECTION])
    .lists(&[&super::LONG_CONNECTION]),
    key(
        "transfer",
        Code("a table"),
        Required,
        "what the application sends and receives. Beside `[[connection]]`, each connection has a \
            `transfer` of its own instead",
    )
    .tables(&[&super::TRANSFER]),
    key(
        "path",
        Code("a list of tables"),
        Text("at least one"),
        "links from client to server. Refused beside `[[link]]` or `[topology]`",
    )
    .lists(&[&super::PATH]),
    key(
        "host",
        Code("a table, or a list of tables"),
        Absent,
        "a table: keys of every host. A list: the hosts of [the long form](#the-long-form-any-topology)",
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
        "time for which each segment that the host sends or receives occupies one of its cores. \
            All segments of a subflow wait for the same core. The model has no segmentation \
            offload, and no limit on the number of waiting segments",
    )
    .example("\"2 us\"")
    .linux("0.0", "the kernel runs in virtual time, in which a segment costs nothing")
    .stored()
    .left_out()
    .often(5, Draw::Spread(1, 200)),
    key(
        "cores",
        In(Range::Whole(1, 1024)),
        Of(Setting::Whole(1)),
        "number of cores of the host. Each subflow is assigned to one core. No effect without `cost`",
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
    key("kind", Words(names!(NETWORKS)), Required, "the kind of the generated network"),
    key(
        "k",
        Code("an even number from 2 to 32"),
        Required,
        "fat-tree: ports of a switch; k³/4 hosts `h0`, ..., k²/2 edge switches `p0e0` (pod 0, \
             switch 0), ... and as many aggregation switches `p0a0`, ..., k²/4 core switches `c0`, \
             ... (Al-Fares et al., SIGCOMM 2008)",
    )
    .example("4"),
    key(
        "hosts",
        In(Range::Whole(1, 10_000)),
        Required,
        "dumbbell: hosts on each side, `left0`, \
        ... and `right0`, ...",
    )
    .example("10"),
    key(
        "bottlenecks",
        In(Range::Whole(1, 255)),
        Of(Setting::Whole(1)),
        "dumbbell: number of equal links between its two routers",
    ),
    key(
        "access",
        Code("a table with the keys of its links"),
        Text("as the others"),
        "keys of the links at hosts, if these links differ from the others: `access = { rate = \
            \"1 Gbit/s\", delay = \"10 us\" }`",
    )
    .tables(&[&super::ACCESS])
    .example("{ rate = \"1 Gbit/s\" }"),
];
pub(super) static TRAFFIC: &[Key] = &[
    key(
        "pattern",
        Words(names!(PATTERNS)),
        Required,
        "which hosts communicate. `permutation`: each host opens a connection to one other host, \
            and accepts one (in a dumbbell, each left host opens one to a right host). `incast`: \
            all connections lead to one host",
    )
    .example("\"permutation\""),
    key(
        "connections",
        In(Range::Whole(1, 100_000)),
        Text(
            "one for each host that opens connections; one fewer for `incast` in a dumbbell with \
            several hosts on each side",
        ),
        "number of connections. If it is larger than the number of hosts that open connections, \
             further permutations follow, or (`incast`) some hosts open several",
    )
    .example("16"),
    key(
        "subflows",
        In(Range::Whole(1, 255)),
        Of(Setting::Whole(4)),
        "number of paths of each connection. Each path is drawn among the shortest routes, so several \
            may take the same route. TCP and UDP use the first path only",
    ),
];

pub(super) static TOPOLOGY: &[Part] = &[Part { title: "", keys: OWN }, Part { title: "", keys: WIRE }];
pub(super) static ACCESS: &[Part] = &[Part { title: "", keys: WIRE }];
