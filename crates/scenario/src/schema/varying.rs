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
    key("rate", In(RATE), Text("of the preset"), "median of the rate, before limits, outages and gaps").directed(),
    key(
        "shape",
        Words(names!(SHAPES)),
        Text("of the preset"),
        "whether the rate (`normal`) or its logarithm (`log-normal`) is normally distributed",
    )
    .directed(),
    key(
        "sigma",
        In(Range::Number(0.0, 3.0)),
        Text("of the preset"),
        "spread of the rate: standard deviation of its natural logarithm, or with `shape = \
             \"normal\"` of the rate as a share of its median",
    )
    .directed(),
    key(
        "correlation",
        In(RATIO),
        Text("of the preset"),
        "correlation of the rate over time. Satellite link: of the rate (log-normal: of its \
            logarithm) from slot to slot, before limits, ripple and outages. Cellular link: of \
            its slow part from second to second, between changes of cell",
    )
    .directed(),
    key(
        "least",
        In(RATE),
        Text("of the preset"),
        "lower bound of the rate (satellite link: of \
        the rate before `ripple`), at most `most`",
    )
    .directed(),
    key("most", In(RATE), Text("of the preset"), "upper bound of the rate").directed(),
    key(
        "ripple",
        In(Range::Number(0.0, 1.0)),
        Text("of the preset"),
        "standard deviation of the fast variation of the rate, as a share of the rate. Satellite \
            link: from second to second. Cellular link: from one `coherence` to the next",
    )
    .directed(),
];

static GAPS: &[Key] = &[
    key(
        "gap_median",
        In(Range::Time(NANOSECOND, DAY)),
        Text("of the preset"),
        "median length of a gap, in which no packet passes. Satellite link: at a slot boundary. \
            Cellular link: at a change of cell",
    ),
    key(
        "gap_p95",
        In(Range::Time(NANOSECOND, DAY)),
        Text("of the preset"),
        "95th percentile of the length of a gap, at least `gap_median`",
    ),
    key(
        "gap_loss",
        In(RATIO),
        Text("of the preset"),
        "probability that all packets sent in a gap are lost. Otherwise they wait for the end of the gap",
    ),
];

static OUTAGES: &[Key] = &[
    key(
        "outages",
        In(Range::Number(0.0, 3600.0)),
        Text("of the preset"),
        "mean number of outages in an hour. In an outage the link sends nothing, and packets wait in the queue",
    ),
    key("outage_median", In(Range::Time(NANOSECOND, DAY)), Text("of the preset"), "median length of an outage"),
    key(
        "outage_p90",
        In(Range::Time(NANOSECOND, DAY)),
        Text("of the preset"),
        "90th percentile of the length of an outage, at least `outage_median`",
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
        "length of a slot, the time for which the link keeps its satellite",
    ),
    key(
        "phase",
        In(Range::Time(ZERO, HOUR)),
        Text("of the preset"),
        "time of the first boundary between two slots, at most `slot`",
    ),
    key(
        "rtt",
        In(SHORT),
        Text("of the preset"),
        "RTT over the satellite, without the variations of the following keys",
    ),
    key("step", In(SHORT), Text("of the preset"), "time that a slot adds to the RTT, drawn uniformly from 0 to this"),
    key(
        "stay",
        In(RATIO),
        Text("of the preset"),
        "probability that a slot adds the same time (`step`) as the slot before it",
    ),
    key(
        "slope",
        In(SHORT),
        Text("of the preset"),
        "largest drift of the RTT within a slot, drawn uniformly, up or down",
    ),
    key("jitter", In(SHORT), Text("of the preset"), "mean of the exponential noise that is added to the RTT"),
    key(
        "jitter_interval",
        In(Range::Time(ms(1), SECOND)),
        Text("of the preset"),
        "interval in which new noise is drawn",
    ),
    key(
        "share_up",
        In(RATIO),
        Of(Setting::Number(0.6)),
        "share of the RTT that the uplink has; the downlink has the rest",
    ),
    key(
        "gap",
        Words(|| vec!["laser", "bent-pipe", "none"]),
        Text("of the preset"),
        "kind of gap at a slot boundary: sets the defaults of `gap_chance`, `gap_before`, \
            `gap_median`, `gap_p95`, `gap_loss` and `gap_hold`",
    ),
    key("gap_chance", In(RATIO), Text("of the preset"), "probability of a gap at a slot boundary"),
    key(
        "gap_before",
        In(Range::Time(ZERO, SECOND)),
        Text("of the preset"),
        "time before the slot boundary at which a gap begins",
    ),
];

static AFTER_GAP: &[Key] = &[
    key(
        "gap_hold",
        In(Range::Time(ZERO, SECOND)),
        Text("of the preset"),
        "time after the gap in which the packets sent are held. They arrive together at its end",
    ),
    key(
        "surge",
        In(SHORT),
        Text("of the preset"),
        "after a gap, the RTT is higher by 3/4 to 5/4 of this time, and falls back within half a \
             second",
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
        "share of the variance of the rate (log-normal: of its logarithm) that varies slowly, with `correlation`; \
            the rest is drawn anew each second",
    )
    .directed(),
    key(
        "coherence",
        In(Range::Time(ms(1), SECOND)),
        Text("of the preset"),
        "time after which the fast variation of the rate (`ripple`) is drawn anew",
    )
    .directed(),
    key(
        "interval",
        In(Range::Time(Duration::from_micros(100), SECOND)),
        Text("of the preset"),
        "interval at which blocks of data are sent",
    ),
    key("block_error", In(RATIO), Text("of the preset"), "probability that a transmission of a block fails"),
    key(
        "harq",
        In(SHORT),
        Text("of the preset"),
        "time from a failed transmission of a block to its next transmission",
    ),
    key(
        "harq_tries",
        In(Range::Whole(0, 16)),
        Text("of the preset"),
        "most retransmissions of a block (HARQ). If all transmissions fail, the layer above (RLC) \
            sends the block again",
    ),
    key("rlc", In(SHORT), Text("of the preset"), "time that a transmission by the layer above HARQ (RLC) takes"),
    key(
        "grant",
        In(SHORT),
        Text("of the preset"),
        "uplink: time from the arrival of a packet in an empty buffer to the grant to send it",
    ),
    key("grant_period", In(SHORT), Text("of the preset"), "uplink: period at which the sender may ask for a grant"),
    key("sleep_after", In(SHORT), Text("of the preset"), "time without data after which the receiver sleeps"),
    key(
        "sleep",
        In(SHORT),
        Text("of the preset"),
        "downlink: longest time that a packet waits for a sleeping receiver",
    ),
    key(
        "handover",
        In(Range::Time(ZERO, DAY)),
        Text("of the preset"),
        "mean time between changes of cell: at least 1 s, or `\"0 s\"` for no changes",
    ),
    key(
        "jump",
        In(Range::Number(0.0, 3.0)),
        Text("of the preset"),
        "standard deviation of the step that the rate (log-normal: its natural logarithm) takes at a change of cell",
    ),
];

static FAILURE: &[Key] = &[key(
    "failure",
    In(RATIO),
    Text("of the preset"),
    "probability that a change of cell fails. The link is then set up again, which takes 0.3 to 1 s",
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
