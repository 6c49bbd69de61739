//! Keys of `leo = { ... }` and `cellular = { ... }`.

use anabranch_stack::registry::{Range, Setting};
use anabranch_stack::time::Duration;

use super::super::words::{CELLULAR as CELLULAR_PRESETS, LEO as LEO_PRESETS, SHAPES};
use super::Default::{Of, Required, Text};
use super::Value::{In, Words};
use super::{DAY, HOUR, Key, NANOSECOND, Part, RATE, RATIO, SECOND, ZERO, key, ms, names};

/// Delays of at most ten seconds.
const SHORT: Range = Range::Time(ZERO, Duration::from_secs(10));

static RATES: &[Key] = &[
    key("rate", In(RATE), Text("of the preset"), "median of the rate").directed(),
    key(
        "shape",
        Words(names!(SHAPES)),
        Text("of the preset"),
        "whether the rate or its logarithm is normally distributed",
    )
    .directed(),
    key(
        "sigma",
        In(Range::Number(0.0, 3.0)),
        Text("of the preset"),
        "standard deviation of the logarithm of the rate; of a normal rate as a share of the \
             median",
    )
    .directed(),
    key(
        "correlation",
        In(RATIO),
        Text("of the preset"),
        "satellite link: correlation of the rate (log-normal: of its logarithm) from slot to slot, before \
             limits, ripple and outages; cellular link: of the slow part of its logarithm from second to \
             second",
    )
    .directed(),
    key("least", In(RATE), Text("of the preset"), "lower bound of the rate, at most `most`").directed(),
    key("most", In(RATE), Text("of the preset"), "upper bound of the rate").directed(),
    key(
        "ripple",
        In(Range::Number(0.0, 1.0)),
        Text("of the preset"),
        "relative standard deviation of the fast part of the rate",
    )
    .directed(),
];

static GAPS: &[Key] = &[
    key("gap_median", In(Range::Time(NANOSECOND, DAY)), Text("of the preset"), "median length of a gap"),
    key(
        "gap_p95",
        In(Range::Time(NANOSECOND, DAY)),
        Text("of the preset"),
        "95th percentile of the length of a gap, at least the median",
    ),
    key(
        "gap_loss",
        In(RATIO),
        Text("of the preset"),
        "probability that a packet sent in a gap is lost; else it waits for the end of the gap",
    ),
];

static OUTAGES: &[Key] = &[
    key("outages", In(Range::Number(0.0, 3600.0)), Text("of the preset"), "mean number of outages in an hour"),
    key("outage_median", In(Range::Time(NANOSECOND, DAY)), Text("of the preset"), "median length of an outage"),
    key(
        "outage_p90",
        In(Range::Time(NANOSECOND, DAY)),
        Text("of the preset"),
        "90th percentile of the length of an outage, at least the median",
    ),
];

static LEO_PRESET: &[Key] = &[key(
    "preset",
    Words(|| LEO_PRESETS.to_vec()),
    Required,
    "the link that gives all other values ([links.md](links.md))",
)
.example("\"starlink-fixed-2024\"")];

static ORBIT: &[Key] = &[
    key(
        "slot",
        In(Range::Time(SECOND, HOUR)),
        Text("of the preset"),
        "length of a slot, in which the link keeps its satellite",
    ),
    key(
        "phase",
        In(Range::Time(ZERO, HOUR)),
        Text("of the preset"),
        "time of the first boundary of slots, at most `slot`",
    ),
    key("rtt", In(SHORT), Text("of the preset"), "least round-trip time over the satellite"),
    key("step", In(SHORT), Text("of the preset"), "what a slot adds to the round-trip time, uniformly up to this"),
    key("stay", In(RATIO), Text("of the preset"), "probability that a slot keeps what the previous slot had added"),
    key(
        "slope",
        In(SHORT),
        Text("of the preset"),
        "drift of the round-trip time within a slot, up or down, up to this",
    ),
    key("jitter", In(SHORT), Text("of the preset"), "mean of the exponential noise of the round-trip time"),
    key("jitter_interval", In(Range::Time(ms(1), SECOND)), Text("of the preset"), "how often the noise is drawn"),
    key("share_up", In(RATIO), Of(Setting::Number(0.6)), "the uplink's share of the round-trip time"),
    key(
        "gap",
        Words(|| vec!["laser", "bent-pipe", "none"]),
        Text("of the preset"),
        "what happens at a boundary of slots: values of the next six keys",
    ),
    key("gap_chance", In(RATIO), Text("of the preset"), "probability of a gap at a boundary"),
    key(
        "gap_before",
        In(Range::Time(ZERO, SECOND)),
        Text("of the preset"),
        "how long before the boundary a gap begins",
    ),
];

static AFTER_GAP: &[Key] = &[
    key(
        "gap_hold",
        In(Range::Time(ZERO, SECOND)),
        Text("of the preset"),
        "after the gap: packets sent in this time arrive at its end, all at once",
    ),
    key(
        "surge",
        In(SHORT),
        Text("of the preset"),
        "after a gap the round-trip time is higher by 3/4 to 5/4 of this, and falls back within \
             half a second",
    ),
];

static CELLULAR_PRESET: &[Key] = &[key(
    "preset",
    Words(|| CELLULAR_PRESETS.to_vec()),
    Required,
    "the link that gives all other values ([links.md](links.md))",
)
.example("\"lte-driving\"")];

static RADIO: &[Key] = &[
    key(
        "slow",
        In(RATIO),
        Text("of the preset"),
        "share of the variance of the logarithm of the rate that is correlated; the rest is new \
             each second",
    )
    .directed(),
    key("coherence", In(Range::Time(ms(1), SECOND)), Text("of the preset"), "how long the fast part of the rate lasts")
        .directed(),
    key(
        "interval",
        In(Range::Time(Duration::from_micros(100), SECOND)),
        Text("of the preset"),
        "interval of the blocks in which data is sent",
    ),
    key("block_error", In(RATIO), Text("of the preset"), "probability that a transmission of a block fails"),
    key("harq", In(SHORT), Text("of the preset"), "time from a failed transmission of a block to the next one"),
    key(
        "harq_tries",
        In(Range::Whole(0, 16)),
        Text("of the preset"),
        "transmissions of a block after the first. If all fail, the layer above sends the block \
             again",
    ),
    key("rlc", In(SHORT), Text("of the preset"), "time that a transmission by the layer above takes"),
    key(
        "grant",
        In(SHORT),
        Text("of the preset"),
        "uplink with an empty buffer: time from a packet to the grant for it",
    ),
    key("grant_period", In(SHORT), Text("of the preset"), "uplink: how often a grant may be asked for"),
    key("sleep_after", In(SHORT), Text("of the preset"), "the receiver sleeps after this time without data"),
    key("sleep", In(SHORT), Text("of the preset"), "downlink: a packet for a sleeping receiver waits up to this time"),
    key(
        "handover",
        In(Range::Time(ZERO, DAY)),
        Text("of the preset"),
        "mean time between changes of cell, at least 1 s; `\"0 s\"`: never",
    ),
    key(
        "jump",
        In(Range::Number(0.0, 3.0)),
        Text("of the preset"),
        "standard deviation of the change of the logarithm of the rate at a change of cell",
    ),
];

static FAILURE: &[Key] = &[key(
    "failure",
    In(RATIO),
    Text("of the preset"),
    "probability that a change of cell fails, and the link is set up again in 0.3 to 1 s",
)];

pub(super) static LEO: &[Part] = &[
    Part { title: "", keys: LEO_PRESET },
    Part { title: "", keys: RATES },
    Part { title: "", keys: ORBIT },
    Part { title: "", keys: GAPS },
    Part { title: "", keys: AFTER_GAP },
    Part { title: "", keys: OUTAGES },
];
pub(super) static CELLULAR: &[Part] = &[
    Part { title: "", keys: CELLULAR_PRESET },
    Part { title: "", keys: RATES },
    Part { title: "", keys: RADIO },
    Part { title: "", keys: GAPS },
    Part { title: "", keys: FAILURE },
    Part { title: "", keys: OUTAGES },
];
