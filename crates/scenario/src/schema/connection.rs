//! Keys of `[connection]` and `[[connection]]`.

use anabranch_stack::config::PROFILES;
use anabranch_stack::registry::Setting;

use super::super::words::{POLICIES, PROTOCOLS};
use super::Default::{Absent, Of, Profile, Required, Text};
use super::Value::{Algorithm, Code, Field, In, Name, Words};
use super::transport::{ACKNOWLEDGEMENTS, BUFFERS, LIFETIME, OPTIONS, WINDOW};
use super::{Draw, Key, PATH_CHANGE, Part, RATIO, TRANSFER, key, names};
use crate::model_2011::ACK_DISCARD;

static ALGORITHMS: &[Key] = &[
    key(
        "protocol",
        Words(names!(PROTOCOLS)),
        Of(Setting::Word("mptcp")),
        "Multipath TCP v1, plain TCP, or a constant-rate flow. TCP and UDP use the first path only, \
            so one override makes a baseline",
    )
    .heeded(),
    key(
        "profile",
        Words(names!(PROFILES)),
        Of(Setting::Word("modern")),
        "chooses the defaults of the other keys of the connection: see [profiles](#profiles). A \
            written key replaces the default",
    )
    .heeded()
    .often(30, Draw::Any),
    key("controller", Algorithm, Profile, "congestion controller of each subflow").heeded().often(85, Draw::Code),
    key(
        "detector",
        Algorithm,
        Profile,
        "decides which segments are lost and when fast recovery begins. With `sack = false` or \
            `acknowledgement = \"coupled\"`, NewReno (RFC 6582) takes the place of the default \
            and of `rfc6675`, and other detectors that need SACK are refused",
    )
    .instead("the model counts duplicate acknowledgements")
    .often(40, Draw::Code),
    key(
        "reduction",
        Algorithm,
        Profile,
        "decides how cwnd falls during fast recovery (the controller `bbr` decides this itself). With \
            `sack = false` or `acknowledgement = \"coupled\"`, the default is that of NewReno \
            (RFC 6582)",
    )
    .instead("the model reduces cwnd at once when it detects a loss")
    .often(30, Draw::Code),
    key(
        "judge",
        Algorithm,
        Profile,
        "decides whether a loss episode was spurious: caused by reordering or delay, not by loss",
    )
    .rival("recovery")
    .heeded()
    .often(60, Draw::Code),
    key("recovery", Code("as `judge`"), Absent, "alias of `judge`. `judge` and `recovery` together are refused")
        .aside()
        .rival("judge")
        .heeded()
        .example("\"dsack\"")
        .often(2, Draw::Code),
    key(
        "response",
        Field,
        Profile,
        "what happens to cwnd and ssthresh after a spurious loss episode. `default`: what the RFC \
            or paper of the judge says. `restore`: the response of Eifel in the papers. `none`: \
            nothing; the episode is only counted",
    )
    .instead("the model's recoveries have their own responses")
    .often(20, Draw::Any),
    key("door_t1", Code("as `t1`"), Absent, "alias of `judge.t1`. No effect if the judge is not `door`")
        .instead("the model's TCP-DOOR is a stub")
        .example("1.0")
        .json("door_t1_srtt")
        .often(3, Draw::Real(0.0, 5.0)),
    key("door_t2", Code("as `t2`"), Absent, "alias of `judge.t2`. No effect if the judge is not `door`")
        .instead("the model's TCP-DOOR is a stub")
        .example("1.0")
        .json("door_t2_srtt")
        .often(3, Draw::Real(0.0, 5.0)),
    key("scheduler", Algorithm, Profile, "decides which subflow sends the next data")
        .instead("the model has a round robin of its own, one segment at a time")
        .often(75, Draw::Code),
    key(
        "opportunistic_retransmission",
        Field,
        Profile,
        "`true`: when the receive window or the send buffer is full, the sender also sends the \
            oldest segment without a DATA_ACK on the fastest subflow that can send. Condition: \
            the subflows that carry this segment have more than four times the RTT of the \
            fastest subflow, or a window of at most four segments. Source: Raiciu et al., NSDI \
            2012, with the conditions of out-of-tree Linux. Works with any scheduler; refused \
            with `acknowledgement = \"coupled\"`",
    )
    .often(25, Draw::Any),
    key(
        "penalisation",
        Field,
        Profile,
        "`true`: when the receive window or the send buffer is full, the sender halves the window \
            of the slower subflow that carries the oldest segment without a DATA_ACK. The sender \
            does so at most once per RTT of the fastest subflow that can send, and not in loss \
            recovery",
    )
    .often(25, Draw::Any),
    key(
        "acknowledgement",
        Field,
        Profile,
        "whether a subflow's cumulative ACK waits until data is in order in the data stream. \
            `\"independent\"`: no, as in RFC 8684. `\"coupled\"` is the rule of the papers' model \
            ([explanation.md](explanation.md#the-papers-receiver)): SACK blocks report duplicates \
            only, the default detector is NewReno, and data is reinjected only after its subflow \
            has ended",
    )
    .instead("the model has its own receiver, whose subflow acknowledgements wait for the data")
    .linux("\"independent\"", "Linux acknowledges as RFC 8684 says, independently of the data order")
    .often(20, Draw::Any),
];

static NAMES: &[Key] = &[
    key(
        "subflow_limit",
        Field,
        Profile,
        "most open subflows of the connection; further joins are refused. A subflow counts as open \
                 once its join is authenticated",
    )
    .instead("the model joins all paths")
    .linux("255", "the program makes each path a subflow")
    .often(8, Draw::Whole(1, 10)),
    key(
        "path_manager",
        Words(names!(POLICIES)),
        Of(Setting::Word("one-per-interface")),
        "the subflows that the client opens by itself. `one-per-interface`: one per path. \
            `full-mesh`: also one for each other pair of a client's and a server's interface that \
            the paths use. The shortest route between the pair becomes a further path of the \
            connection, numbered after the others (with `[[path]]` there is none). `none`: only \
            the first subflow. The client opens further subflows only after a DSS has come from \
            the server (RFC 8684 3.1); a server without data of its own sends a DSS with its first \
            ACK of data",
    )
    .linux("\"one-per-interface\"", "the program makes each path a subflow")
    .often(15, Draw::Any)
    .simulated(),
    key(
        "path_changes",
        Code("a list of tables"),
        Text("[]"),
        "[changes of the paths](#changes-of-paths) during the run",
    )
    .lists(&[&PATH_CHANGE])
    .linux("[]", "the path manager of Linux follows no schedule")
    .simulated(),
    key(
        "ack_discard",
        In(RATIO),
        Of(Setting::Number(ACK_DISCARD)),
        "only with `stack = \"legacy-2011\"` and `judge = \"frto\"`: probability with which the \
            model, after an ACK, discards the ACKs that follow it, about one window of them",
    )
    .aside()
    .heeded()
    .often(2, Draw::Share(10.0))
    .simulated(),
    key("name", Name, Text("\"connection0\""), "name of the connection in tables and plots").heeded().simulated(),
    key("client", Code("a host"), Text("\"client\""), "host that opens the connection; required beside `[[link]]`")
        .example("\"client\"")
        .heeded()
        .simulated(),
    key("server", Code("a host"), Text("\"server\""), "host that accepts the connection; required beside `[[link]]`")
        .example("\"server\"")
        .heeded()
        .simulated(),
    key(
        "paths",
        Code("a list of routes"),
        Absent,
        "routes of the connection. The first route carries the first handshake. Without the key, \
            the connection has one shortest route for each link of the client that leads to the \
            server",
    )
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
