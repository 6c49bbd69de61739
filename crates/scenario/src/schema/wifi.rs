//! Keys of `wifi = { ... }`.

use anabranch_stack::registry::{Range, Setting};
use anabranch_wifi::edca::Category;
use anabranch_wifi::error::Model;
use anabranch_wifi::phy::Standard;

use super::super::units::{FREQUENCY, LENGTH, LEVEL, POWER};
use super::super::words::{FADINGS, LIKES, MODES, PATH_LOSSES};
use super::Default::{Absent, Of, Text};
use super::Value::{Code, In, Name, Quantity, Words};
use super::{Draw, Key, LATEST, MOST_PACKETS, NANOSECOND, Part, WAYPOINT, ZERO, key, ms, names};

/// The longest distance, 100 km, in mm.
pub(super) const FARTHEST: i64 = 100_000_000;

static WIFI_OLD: &[Key] = &[
    key("standard", Words(names!(Standard::NAMES)), Of(Setting::Word("802.11g")), "standard of the wireless link")
        .often(70, Draw::Any),
    key(
        "rate",
        Code("a rate of the standard, `\"arf\"`, `\"aarf\"`, `\"minstrel\"`"),
        Text("the highest"),
        "rate of data frames in both directions, or the rate control that chooses it. From \
            802.11n on, `\"minstrel\"` is Minstrel-HT, `\"arf\"` and `\"aarf\"` are refused, and \
            `mcs` can be written instead of `rate`",
    )
    .example("\"54 Mbit/s\"")
    .often(50, Draw::Code),
    key(
        "distance",
        Quantity(&LENGTH, 0, FARTHEST),
        Text("\"30 m\""),
        "distance of the station from its access point (ad hoc: from the other station)",
    )
    .often(70, Draw::Code),
    key(
        "mode",
        Words(names!(MODES)),
        Of(Setting::Word("infrastructure")),
        "whether the station is attached to an access point, or two stations talk directly. \
            `ad-hoc`: no beacons, the long slot at 2.4 GHz, no wired hop. Refused with 802.11n, \
            ac and ax",
    )
    .often(20, Draw::Any),
    key(
        "tx_power",
        Quantity(&POWER, -100_000_000, 100_000_000),
        Text("\"16.02 dBm\""),
        "transmission power of the station and of the access point",
    )
    .often(15, Draw::Code),
    key(
        "path_loss",
        Words(names!(PATH_LOSSES)),
        Of(Setting::Word("log-distance")),
        "model of the path loss over distance",
    )
    .often(20, Draw::Any),
    key(
        "path_loss_exponent",
        In(Range::Number(0.0, 10.0)),
        Of(Setting::Number(3.0)),
        "exponent of the path loss. Needs `path_loss = \"log-distance\"`",
    )
    .often(10, Draw::Real(2.0, 4.0)),
    key(
        "reference_loss",
        Quantity(&LEVEL, 0, 300_000_000),
        Text("\"46.6777 dB\""),
        "path loss at `reference_distance`. Needs `path_loss = \"log-distance\"`",
    )
    .often(10, Draw::Code),
    key(
        "reference_distance",
        Quantity(&LENGTH, 1, FARTHEST),
        Text("\"1 m\""),
        "distance at which the path loss is `reference_loss`. Needs `path_loss = \"log-distance\"`",
    )
    .often(10, Draw::Code),
    key(
        "frequency",
        Quantity(&FREQUENCY, 1_000_000, 1_000_000_000_000),
        Text("of the standard's first channel"),
        "frequency of the carrier for `path_loss = \"friis\"`",
    )
    .example("\"5.18 GHz\"")
    .often(10, Draw::Code),
    key(
        "fading",
        Words(names!(FADINGS)),
        Of(Setting::Word("none")),
        "model of the fading, which is drawn for each frame and receiver",
    )
    .often(30, Draw::Any),
    key(
        "nakagami_m",
        Code("0.5 to 1000"),
        Text("[1.5, 0.75, 0.75]"),
        "shape of Nakagami fading: one value, or three for distances below 80 m, from 80 to 200 m, \
            and beyond. Needs `fading = \"nakagami\"`",
    )
    .often(15, Draw::Code),
    key(
        "error_model",
        Words(names!(Model::NAMES)),
        Of(Setting::Word("table")),
        "how the loss of frames follows from the signal-to-noise ratio. `table`: tables of frame \
            error rates. `nist`: ns-3's NIST model",
    )
    .often(20, Draw::Any),
    key(
        "preamble_detection",
        In(Range::Flag),
        Of(Setting::Flag(true)),
        "frames below -82 dBm, or below a signal-to-noise ratio of 4 dB, are not detected. \
            `false`: only frames below -101 dBm are not detected",
    )
    .often(20, Draw::Any),
    key("noise_figure", Quantity(&LEVEL, 0, 100_000_000), Text("\"7 dB\""), "noise of a receiver above thermal noise")
        .often(10, Draw::Code),
    key(
        "channel_width",
        Code("`\"20 MHz\"`, `\"10 MHz\"`, `\"5 MHz\"`; 802.11n 20, 40; 802.11ac and ax 20, 40, 80, 160"),
        Text("`\"20 MHz\"`; 802.11p `\"10 MHz\"`; 802.11ac and ax `\"80 MHz\"`"),
        "width of the channel. `802.11b` has 20 MHz only, and `802.11p` 10 or 5 MHz. A narrower \
            channel has lower rates",
    )
    .example("\"20 MHz\"")
    .often(10, Draw::Code),
    key(
        "retry_limit",
        In(Range::Whole(1, 255)),
        Of(Setting::Whole(7)),
        "most transmissions of a frame, the first one included",
    )
    .often(20, Draw::Whole(1, 20)),
    key(
        "rts_threshold",
        Code("`\"off\"`, 0 to 65535 B"),
        Text("`\"off\"`"),
        "RTS and CTS precede frames that are longer than this. From 802.11n on, the length of the \
            whole PSDU counts (up to 6500631 B), and with `like = \"ns-3\"` the default is 65535 B",
    )
    .example("\"1000 B\"")
    .often(20, Draw::Code),
    key(
        "queue",
        In(Range::Packets(1, MOST_PACKETS)),
        Of(Setting::Whole(500)),
        "capacity of the \
        queue of each station",
    )
    .often(20, Draw::Spread(1, 500)),
    key(
        "max_age",
        In(Range::Time(NANOSECOND, LATEST)),
        Of(Setting::Time(ms(500))),
        "a packet that has waited longer than this in the queue of a station is dropped when its turn comes",
    )
    .often(20, Draw::Spread(1_000, 2_000_000)),
    key(
        "channel",
        Name,
        Text("one of its own"),
        "name of the channel. Links with the same channel share the medium, and those of them \
            that lead to the same router share its access point",
    )
    .example("\"a\"")
    .often(20, Draw::Code),
    key(
        "position",
        Code("two coordinates"),
        Text("`distance` away"),
        "place of the station, for channels with several stations",
    )
    .example("[\"30 m\", \"0 m\"]")
    .often(5, Draw::Code),
    key(
        "access_point",
        Code("two coordinates"),
        Text("`[\"0 m\", \"0 m\"]`"),
        "place of the access point, for channels with several stations",
    )
    .example("[\"0 m\", \"0 m\"]")
    .often(5, Draw::Code),
    key(
        "velocity",
        Code("up to 1000 m/s"),
        Absent,
        "velocity of the station. One value: along the first axis, on which `distance` lies \
            (negative: towards the access point). Two values: along both axes",
    )
    .example("\"1 m/s\"")
    .often(15, Draw::Code),
    key(
        "waypoints",
        Code("a list of tables"),
        Absent,
        "places of the station at given times: `{ at = \"10 s\", distance = \"80 m\" }`, or with \
            `position`. Between waypoints, the station moves at a constant speed",
    )
    .lists(&[&WAYPOINT])
    .example("[{ at = \"10 s\", distance = \"80 m\" }]")
    .often(10, Draw::Code),
];
pub static WIFI_HIGH: &[Key] = &[
    key(
        "mcs",
        Code(
            "802.11n 0 to 7 (8 to 15 are the same with two streams), 802.11ac 0 to 9 (in \
        20 MHz 8), 802.11ax 0 to 11; `\"minstrel\"`",
        ),
        Text(
            "the \
        highest",
        ),
        "index of modulation and coding of each stream, or the rate control",
    )
    .example("7")
    .often(20, Draw::Code),
    key(
        "streams",
        In(Range::Whole(1, 2)),
        Of(Setting::Whole(1)),
        "number of spatial streams; with `\"minstrel\"`, the largest number",
    )
    .often(20, Draw::Any),
    key(
        "guard_interval",
        Code(
            "802.11n and ac `\"0.4 us\"`, `\"0.8 us\"`; 802.11ax `\"0.8 us\"`, \
        `\"1.6 us\"`, `\"3.2 us\"`",
        ),
        Text(
            "`\"0.8 \
        us\"`",
        ),
        "guard interval of a symbol",
    )
    .example("\"0.8 us\"")
    .often(15, Draw::Code),
    key(
        "band",
        Code("`\"5 GHz\"`; 802.11n and ax also `\"2.4 GHz\"`, there up to 40 MHz"),
        Text("`\"5 GHz\"`"),
        "frequency band. Interframe spaces, control frames and signal extension are those of \
                802.11a (5 GHz) or 802.11g (2.4 GHz)",
    )
    .example(
        "\"5 \
                GHz\"",
    )
    .often(15, Draw::Code),
    key(
        "aggregation",
        In(Range::Flag),
        Of(Setting::Flag(true)),
        "whether a PPDU has several frames (A-MPDU). `false`: one packet per frame, one frame \
                per PPDU",
    )
    .often(20, Draw::Any),
    key(
        "ampdu_limit",
        Code("`\"off\"`, 0 B to 65535 B (802.11n), 1048575 B (802.11ac) or 6500631 B (802.11ax)"),
        Text(
            "802.11n 65535 B, 802.11ac \
        1048575 B, 802.11ax 6500631 B",
        ),
        "most octets of an A-MPDU; with `like = \"ns-3\"` the default is 65535 B",
    )
    .example(
        "\"65535 \
                B\"",
    )
    .often(15, Draw::Code),
    key(
        "amsdu_limit",
        Code("`\"off\"`, 0 to 7935 B (802.11n) or 11424 B"),
        Text("`\"off\"`"),
        "most octets of an A-MSDU, whose packets share one frame and are lost together",
    )
    .example("\"off\"")
    .often(15, Draw::Code),
    key(
        "block_ack_window",
        Code("1 to 64; 802.11ax 1 to 256"),
        Text("`64`"),
        "most frames that may be unacknowledged (block acknowledgement)",
    )
    .example("64")
    .often(15, Draw::Code),
    key(
        "category",
        Words(names!(Category::NAMES)),
        Of(Setting::Word("best effort")),
        "access category with which both ends contend for the medium (EDCA). The category must be \
            the same on all links of an access point",
    )
    .often(15, Draw::Any),
    key(
        "txop_limit",
        In(Range::Time(ZERO, LATEST)),
        Text(
            "of the category: 0, for video 3.008 \
        ms, for voice 1.504 ms (with `like = \"ns-3\"` 4.096 ms and 2.080 ms)",
        ),
        "longest time for which a station may hold the medium, sending frame after frame. 0: one \
            PPDU. The limit must be the same on all links of an access point",
    )
    .example(
        "\"3008 \
                us\"",
    )
    .often(15, Draw::Spread(1, 10_000)),
    key(
        "like",
        Words(names!(LIKES)),
        Of(Setting::Word("standard")),
        "whether the link follows the standard or ns-3.37 where they differ: \
             [wifi.md](wifi.md#80211n-ac-and-ax)",
    )
    .often(20, Draw::Any),
];
pub(super) static WIFI: &[Part] =
    &[Part { title: "Every standard", keys: WIFI_OLD }, Part { title: "802.11n, ac and ax", keys: WIFI_HIGH }];
