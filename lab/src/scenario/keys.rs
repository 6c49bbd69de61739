//! The words of a scenario: which keys each table has.
//!
//! They are listed together because a message about a key in the wrong table names the table it belongs to. Tables inside
//! others have their keys beside the code that reads them.

/// The keys of one kind of table.
#[derive(Debug)]
pub(super) struct Keys {
    /// How the table is written in a file, for messages.
    pub table: &'static str,
    /// Keys read as they are.
    pub plain: &'static [&'static str],
    /// Keys that may also end in `_up` or `_down`.
    pub directed: &'static [&'static str],
}

impl Keys {
    pub(super) fn contains(&self, key: &str) -> bool {
        let base = key.strip_suffix("_up").or_else(|| key.strip_suffix("_down"));
        self.all().any(|k| k == key) || base.is_some_and(|b| self.directed.contains(&b))
    }

    /// Every key, without the directed variants.
    pub(super) fn all(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.plain.iter().chain(self.directed).copied()
    }
}

pub(super) static ROOT: Keys = Keys {
    table: "the top level",
    plain: &[
        "title",
        "stack",
        "duration",
        "seed",
        "bytes",
        "connection",
        "transfer",
        "path",
        "host",
        "router",
        "link",
        "topology",
        "traffic",
    ],
    directed: &[],
};

pub(super) static PATH: Keys = Keys {
    table: "[[path]]",
    plain: &[
        "name",
        "preset",
        "wifi",
        "leo",
        "cellular",
        "backup",
        "cost",
        "weight",
        "priority",
        "capture",
        "middleboxes",
        "changes",
    ],
    directed: DIRECTED,
};
pub(super) static LINK: Keys = Keys {
    table: "[[link]]",
    plain: &[
        "name",
        "from",
        "to",
        "preset",
        "wifi",
        "leo",
        "cellular",
        "backup",
        "cost",
        "weight",
        "priority",
        "capture",
        "middleboxes",
        "changes",
    ],
    directed: DIRECTED,
};
/// Keys that describe a link, in `[[path]]`, `[[link]]` and `[topology]`.
pub(super) const DIRECTED: &[&str] = &[
    "trace",
    "rate",
    "delay",
    "delay_variation",
    "delay_redraw",
    "overtaking",
    "queue",
    "discipline",
    "loss",
    "duplication",
    "corruption",
    "overhead",
    "mtu",
    "ecn_threshold",
];

/// Keys that describe a link without a trace.
pub(super) const PACED: &[&str] = DIRECTED.split_at(1).1;

pub(super) static WIFI: Keys = Keys {
    table: "wifi = { ... }",
    plain: &[
        "standard",
        "rate",
        "distance",
        "mode",
        "tx_power",
        "path_loss",
        "path_loss_exponent",
        "reference_loss",
        "reference_distance",
        "fading",
        "nakagami_m",
        "error_model",
        "preamble_detection",
        "noise_figure",
        "channel_width",
        "band",
        "mcs",
        "streams",
        "guard_interval",
        "aggregation",
        "ampdu_limit",
        "amsdu_limit",
        "block_ack_window",
        "category",
        "txop_limit",
        "like",
        "frequency",
        "retry_limit",
        "rts_threshold",
        "queue",
        "max_age",
        "channel",
        "position",
        "access_point",
        "velocity",
        "waypoints",
    ],
    directed: &[],
};

pub(super) static TRANSFER: Keys = Keys {
    table: "[transfer]",
    plain: &[
        "bytes",
        "duration",
        "direction",
        "start",
        "start_spread",
        "read_rate",
        "rate",
        "on",
        "off",
        "request",
        "response",
        "count",
        "think",
        "message",
        "interval",
        "deadline",
        "page",
        "connections",
        "ladder",
        "segment",
        "buffer",
        "startup",
    ],
    directed: &[],
};

/// Keys of a connection without its transfer.
pub(super) static CONNECTION: Keys = Keys { table: "[connection]", plain: PLAIN, directed: &[] };
/// Keys of one of several connections.
pub(super) static LONG_CONNECTION: Keys = Keys { table: "[[connection]]", plain: LONG, directed: &[] };

const PLAIN: &[&str] = LONG.split_at(LONG.len() - 1).0;

const LONG: &[&str] = &[
    "protocol",
    "profile",
    "controller",
    "detector",
    "reduction",
    "judge",
    "recovery",
    "response",
    "door_t1",
    "door_t2",
    "scheduler",
    "opportunistic_retransmission",
    "penalisation",
    "acknowledgement",
    "mss",
    "receive_buffer",
    "receive_initial",
    "held_charge",
    "tcp_rmem",
    "tcp_wmem",
    "truesize",
    "send_buffer",
    "initial_window",
    "byte_counting",
    "min_rto",
    "max_rto",
    "initial_rto",
    "rto_floor",
    "sack_timing",
    "window_validation",
    "count_segments",
    "max_retransmissions",
    "stale_after",
    "sack",
    "timestamps",
    "ecn",
    "pacing",
    "nagle",
    "fast_open",
    "user_timeout",
    "keepalive",
    "keepalive_interval",
    "keepalive_probes",
    "delayed_ack",
    "delayed_ack_adapts",
    "quick_acks",
    "push_acks",
    "defer_bursts",
    "acknowledge_on_read",
    "ack_compression",
    "checksum",
    "dsn_octets",
    "time_wait",
    "invalid_ack_interval",
    "subflow_limit",
    "path_manager",
    "path_changes",
    "ack_discard",
    "name",
    "client",
    "server",
    "paths",
    "transfer",
];

pub(super) static TOPOLOGY: Keys =
    Keys { table: "[topology]", plain: &["kind", "k", "hosts", "bottlenecks", "access"], directed: PACED };
pub(super) static TRAFFIC: Keys =
    Keys { table: "[traffic]", plain: &["pattern", "connections", "subflows"], directed: &[] };

/// The keys of the tables of a document, by table.
#[cfg(test)]
pub(crate) fn tables() -> Vec<(&'static str, Vec<&'static str>)> {
    TABLES.iter().map(|keys| (keys.table, keys.all().collect())).collect()
}

/// Tables in which a misplaced key is looked for; a message names the first that has it.
pub(super) static TABLES: &[&Keys] = &[&CONNECTION, &PATH, &TRANSFER, &LINK, &ROOT, &WIFI, &TOPOLOGY, &TRAFFIC];
