//! Keys of `[connection]` and `[[connection]]`.

use anabranch_stack::config::PROFILES;
use anabranch_stack::registry::Setting;

use super::super::words::{POLICIES, PROTOCOLS};
use super::Default::{Absent, Of, Profile, Required, Text};
use super::Value::{Algorithm, Code, Field, In, Name, Words};
use super::transport::{ACKNOWLEDGEMENTS, BUFFERS, LIFETIME, OPTIONS, WINDOW};
use super::{Draw, Key, PATH_CHANGE, Part, RATIO, TRANSFER, key, names};
use crate::legacy::ACK_DISCARD;

static ALGORITHMS: &[Key] = &[
    key(
        "protocol",
        Words(names!(PROTOCOLS)),
        Of(Setting::Word("mptcp")),
        "Multipath TCP v1, plain TCP, or a constant-rate flow. TCP and UDP use the first path \
                 only, so one override makes a baseline. `check` warns about links that then carry no connection",
    )
    .heeded(),
    key(
        "profile",
        Words(names!(PROFILES)),
        Of(Setting::Word("modern")),
        "the defaults of the other keys: see [profiles](#profiles). A written key always wins",
    )
    .heeded()
    .often(30, Draw::Any),
    key("controller", Algorithm, Profile, "congestion control").heeded().often(85, Draw::Code),
    key(
        "detector",
        Algorithm,
        Profile,
        "which segments are lost, and when recovery begins. Without SACK, and under coupled \
                 acknowledgement, the default is NewReno (RFC 6582). A named detector that needs SACK \
                 is then refused",
    )
    .instead("the model counts duplicate acknowledgements")
    .often(40, Draw::Code),
    key(
        "reduction",
        Algorithm,
        Profile,
        "how octets in flight come down in fast recovery; the default changes likewise",
    )
    .instead("the model halves its window at once")
    .often(30, Draw::Code),
    key("judge", Algorithm, Profile, "how reordering mistaken for loss is found")
        .rival("recovery")
        .heeded()
        .often(60, Draw::Code),
    key(
        "recovery",
        Code("as `judge`"),
        Absent,
        "alias of `judge`. Results keep the name that was written; both at once are refused",
    )
    .aside()
    .rival("judge")
    .heeded()
    .example("\"dsack\"")
    .often(2, Draw::Code),
    key(
        "response",
        Field,
        Profile,
        "response to a spurious episode: the judge's own, or this one. `restore` is the papers' \
                 response of Eifel; `none` only counts",
    )
    .instead("the model's recoveries have their own responses")
    .often(20, Draw::Any),
    key(
        "door_t1",
        Code("as `t1`"),
        Absent,
        "aliases of `judge.t1` and `judge.t2`; no effect if the judge is not `door`",
    )
    .instead("the model's TCP-DOOR is a stub")
    .example("1.0")
    .json("door_t1_srtt")
    .often(3, Draw::Real(0.0, 5.0)),
    key(
        "door_t2",
        Code("as `t2`"),
        Absent,
        "aliases of `judge.t1` and `judge.t2`; no effect if the judge is not `door`",
    )
    .instead("the model's TCP-DOOR is a stub")
    .example("1.0")
    .json("door_t2_srtt")
    .often(3, Draw::Real(0.0, 5.0)),
    key("scheduler", Algorithm, Profile, "which path takes the next segment")
        .instead("the model has a round robin of its own, one segment at a time")
        .often(75, Draw::Code),
    key(
        "opportunistic_retransmission",
        Field,
        Profile,
        "when the receive window or the send buffer is full, sends its oldest segment again on \
                 the fastest path that could send. Condition: the subflows that carry it are four times \
                 as slow, or have windows of at most four segments (Raiciu et al., NSDI 2012, with the \
                 conditions of out-of-tree Linux). With any scheduler; refused with coupled \
                 acknowledgement",
    )
    .often(25, Draw::Any),
    key(
        "penalisation",
        Field,
        Profile,
        "halves the window of the slower path that carries that segment, at most once per RTT \
                 of the fast path",
    )
    .often(25, Draw::Any),
    key(
        "acknowledgement",
        Field,
        Profile,
        "whether a subflow's cumulative ACK waits for data order. RFC 8684 is independent. \
                 `\"coupled\"` is the rule of the papers' model \
                 ([explanation.md](explanation.md#the-papers-receiver)): SACK blocks report duplicates \
                 only, the default detector is NewReno, and data is reinjected only after its subflow \
                 has ended",
    )
    .instead("the model has its own receiver, whose subflow acknowledgements wait for the data")
    .linux("\"independent\"", "Linux has no other")
    .often(20, Draw::Any),
];

static NAMES: &[Key] = &[
    key(
        "subflow_limit",
        Field,
        Profile,
        "open subflows; further joins are refused. A subflow counts once it is authenticated. \
                 At most 255 are not yet; the oldest yields",
    )
    .instead("the model joins all paths")
    .linux("255", "each path is a subflow")
    .often(8, Draw::Whole(1, 10)),
    key(
        "path_manager",
        Words(names!(POLICIES)),
        Of(Setting::Word("one-per-interface")),
        "the subflows that the client opens by itself: one per path; also on pairs of a \
                 client's and a server's interface without a written path, by the shortest route; or \
                 only the first. None before a DSS has come from the server (RFC 8684 3.1). A silent \
                 server sends it with its first ACK of data",
    )
    .linux("\"one-per-interface\"", "each path is a subflow")
    .often(15, Draw::Any)
    .simulated(),
    key("path_changes", Code("a list of tables"), Text("[]"), "[later changes of paths](#changes-of-paths)")
        .lists(&[&PATH_CHANGE])
        .linux("[]", "Linux' path manager has no schedule")
        .simulated(),
    key(
        "ack_discard",
        In(RATIO),
        Of(Setting::Number(ACK_DISCARD)),
        "only with `stack = \"legacy-2011\"` and `judge = \"frto\"`: how often a burst of ACKs \
                 is discarded",
    )
    .aside()
    .heeded()
    .often(2, Draw::Share(10.0))
    .simulated(),
    key("name", Name, Text("\"connection0\""), "in tables and plots: 1 to 64 letters, digits, `-`, `_` or `.`")
        .heeded()
        .simulated(),
    key("client", Code("a host"), Text("\"client\""), "host that opens the connection; required beside `[[link]]`")
        .example("\"client\"")
        .heeded()
        .simulated(),
    key("server", Code("a host"), Text("\"server\""), "host that accepts the connection; required beside `[[link]]`")
        .example("\"server\"")
        .heeded()
        .simulated(),
    key("paths", Code("a list of routes"), Absent, "the first carries the first handshake")
        .heeded()
        .example("[\"path0\"]")
        .simulated(),
];

/// The last part is that of `[[connection]]` alone.
pub(super) const PARTS: &[Part] = &[
    Part { title: "Protocol and algorithms", keys: ALGORITHMS },
    Part { title: "Segments and buffers", keys: BUFFERS },
    Part { title: "Congestion window and timers", keys: WINDOW },
    Part { title: "Options", keys: OPTIONS },
    Part { title: "Acknowledgements", keys: ACKNOWLEDGEMENTS },
    Part { title: "Lifetime", keys: LIFETIME },
    Part { title: "Subflows and names", keys: NAMES },
    Part { title: "Transfer", keys: OWN_TRANSFER },
];

static OWN_TRANSFER: &[Key] =
    &[key("transfer", Code("a table"), Required, "what is transferred: the keys of `[transfer]`")
        .tables(&[&TRANSFER])
        .heeded()
        .simulated()
        .example("{ bytes = \"50 MB\" }")];
