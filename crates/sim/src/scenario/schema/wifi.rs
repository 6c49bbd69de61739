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
    key("standard", Words(names!(Standard::NAMES)), Of(Setting::Word("802.11g")), "rates and times")
        .often(70, Draw::Any),
    key(
        "rate",
        Code("a rate of the standard, `\"arf\"`, `\"aarf\"`, `\"minstrel\"`"),
        Text("the highest"),
        "of data frames, both directions; or the rate control. From 802.11n on a rate, or \
             `\"minstrel\"` (Minstrel-HT); or write `mcs`",
    )
    .example("\"54 Mbit/s\"")
    .often(50, Draw::Code),
    key("distance", Quantity(&LENGTH, 0, FARTHEST), Text("\"30 m\""), "of the station from its access point")
        .often(70, Draw::Code),
    key(
        "mode",
        Words(names!(MODES)),
        Of(Setting::Word("infrastructure")),
        "ad hoc: no access point, no beacons, the long slot at 2.4 GHz, no wired hop",
    )
    .often(20, Draw::Any),
    key("tx_power", Quantity(&POWER, -100_000_000, 100_000_000), Text("\"16.02 dBm\""), "of all stations of the link")
        .often(15, Draw::Code),
    key("path_loss", Words(names!(PATH_LOSSES)), Of(Setting::Word("log-distance")), "model of the path loss")
        .often(20, Draw::Any),
    key("path_loss_exponent", In(Range::Number(0.0, 10.0)), Of(Setting::Number(3.0)), "log-distance only")
        .often(10, Draw::Real(2.0, 4.0)),
    key("reference_loss", Quantity(&LEVEL, 0, 300_000_000), Text("\"46.6777 dB\""), "loss at the reference distance")
        .often(10, Draw::Code),
    key("reference_distance", Quantity(&LENGTH, 1, FARTHEST), Text("\"1 m\""), "distance of `reference_loss`")
        .often(10, Draw::Code),
    key(
        "frequency",
        Quantity(&FREQUENCY, 1_000_000, 1_000_000_000_000),
        Text("of the standard's first channel"),
        "Friis only",
    )
    .example("\"5.18 GHz\"")
    .often(10, Draw::Code),
    key("fading", Words(names!(FADINGS)), Of(Setting::Word("none")), "drawn for every frame and receiver")
        .often(30, Draw::Any),
    key(
        "nakagami_m",
        Code("0.5 to 1000"),
        Text("[1.5, 0.75, 0.75]"),
        "shape; three values for below 80 m, up to 200 m, and beyond",
    )
    .often(15, Draw::Code),
    key(
        "error_model",
        Words(names!(Model::NAMES)),
        Of(Setting::Word("table")),
        "how signal-to-noise ratio becomes loss of frames: tables of the standard's bit error \
             rates, or ns-3's NIST model",
    )
    .often(20, Draw::Any),
    key(
        "preamble_detection",
        In(Range::Flag),
        Of(Setting::Flag(true)),
        "frames below -82 dBm or 4 dB of signal-to-noise ratio are not detected; without it, \
             below -101 dBm",
    )
    .often(20, Draw::Any),
    key(
        "noise_figure",
        Quantity(&LEVEL, 0, 100_000_000),
        Text("\"7 dB\""),
        "noise of the receiver above thermal noise",
    )
    .often(10, Draw::Code),
    key(
        "channel_width",
        Code("`\"20 MHz\"`, `\"10 MHz\"`, `\"5 MHz\"`; 802.11n 20, 40; 802.11ac and ax 20, 40, 80, 160"),
        Text("`\"20 MHz\"`; 802.11ac and ax `\"80 MHz\"`"),
        "of OFDM; `802.11p` has 10 or 5 MHz. Rates shrink with it",
    )
    .example("\"20 MHz\"")
    .often(10, Draw::Code),
    key("retry_limit", In(Range::Whole(1, 255)), Of(Setting::Whole(7)), "transmissions of a frame in all")
        .often(20, Draw::Whole(1, 20)),
    key(
        "rts_threshold",
        Code("`\"off\"`, 0 to 65535 B"),
        Text("`\"off\"`"),
        "longer frames are preceded by RTS and CTS. From 802.11n on the whole PSDU counts, up \
             to 6500631 B, and with `like = \"ns-3\"` the default is 65535 B",
    )
    .example("\"1000 B\"")
    .often(20, Draw::Code),
    key("queue", In(Range::Packets(1, MOST_PACKETS)), Of(Setting::Whole(500)), "of each station")
        .often(20, Draw::Spread(1, 500)),
    key(
        "max_age",
        In(Range::Time(NANOSECOND, LATEST)),
        Of(Setting::Time(ms(500))),
        "older packets are dropped when their turn comes",
    )
    .often(20, Draw::Spread(1_000, 2_000_000)),
    key(
        "channel",
        Name,
        Text("one of its own"),
        "links with the same name share the medium; those to the same router share its access \
             point",
    )
    .example("\"a\"")
    .often(20, Draw::Code),
    key("position", Code("two coordinates"), Text("`distance` away"), "for channels with several stations")
        .example("[\"30 m\", \"0 m\"]")
        .often(5, Draw::Code),
    key("access_point", Code("two coordinates"), Text("`[\"0 m\", \"0 m\"]`"), "for channels with several stations")
        .example("[\"0 m\", \"0 m\"]")
        .often(5, Draw::Code),
    key(
        "velocity",
        Code("up to 1000 m/s"),
        Absent,
        "away from the access point (towards it if negative), or along both axes",
    )
    .example("\"1 m/s\"")
    .often(15, Draw::Code),
    key(
        "waypoints",
        Code("a list of tables"),
        Absent,
        "`{ at = \"10 s\", distance = \"80 m\" }` or with `position`: where the station is \
             when; it moves evenly between them",
    )
    .lists(&[&WAYPOINT])
    .example("[{ at = \"10 s\", distance = \"80 m\" }]")
    .often(10, Draw::Code),
];
pub static WIFI_HIGH: &[Key] = &[
    key("mcs", Code("802.11n 0 to 7 (8 to 15 are the same with two streams), 802.11ac 0 to 9 (in 20 MHz 8), 802.11ax 0 to 11; `\"minstrel\"`"), Text("the highest"),
            "modulation and code of each stream, or the rate control").example("7").often(20, Draw::Code),
    key("streams", In(Range::Whole(1, 2)), Of(Setting::Whole(1)),
            "spatial streams; with `\"minstrel\"` at most this number").often(20, Draw::Any),
    key("guard_interval", Code("802.11n and ac `\"0.4 us\"`, `\"0.8 us\"`; 802.11ax `\"0.8 us\"`, `\"1.6 us\"`, `\"3.2 us\"`"), Text("`\"0.8 us\"`"),
            "guard interval of a symbol").example("\"0.8 us\"").often(15, Draw::Code),
    key("band", Code("`\"5 GHz\"`; 802.11n and ax also `\"2.4 GHz\"`, there up to 40 MHz"), Text("`\"5 GHz\"`"),
            "spaces, control frames and signal extension of 802.11a or g").example("\"5 GHz\"").often(15, Draw::Code),
    key("aggregation", In(Range::Flag), Of(Setting::Flag(true)),
            "several frames per PPDU; `false`: one packet per frame, one frame per PPDU").often(20, Draw::Any),
    key("ampdu_limit", Code("`\"off\"`, 0 B to the default"), Text("the standard's longest: 65535, 1048575, 6500631 B"),
            "octets of an A-MPDU; with `like = \"ns-3\"` the default is 65535 B").example("\"65535 B\"").often(15, Draw::Code),
    key("amsdu_limit", Code("`\"off\"`, 0 to 7935 B (802.11n) or 11424 B"), Text("`\"off\"`"),
            "octets of an A-MSDU: packets that share one frame, and its fate").example("\"off\"").often(15, Draw::Code),
    key("block_ack_window", Code("1 to 64; 802.11ax 1 to 256"), Text("`64`"),
            "frames that may be unacknowledged").example("64").often(15, Draw::Code),
    key("category", Words(names!(Category::NAMES)), Of(Setting::Word("best effort")),
            "how both ends contend (EDCA); the same on all links of an access point").often(15, Draw::Any),
    key("txop_limit", In(Range::Time(ZERO, LATEST)), Text("of the category: 0, 0, 3.008 ms, 1.504 ms; with `like = \"ns-3\"` 0, 0, 4.096 ms, 2.080 ms"),
            "how long a station may hold the medium, frame after frame").example("\"3008 us\"").often(15, Draw::Spread(1, 10_000)),
    key("like", Words(names!(LIKES)), Of(Setting::Word("standard")),
            "which to follow where ns-3.37 departs from the standard: \
             [wifi.md](wifi.md#80211n-ac-and-ax)").often(20, Draw::Any),
];
pub(super) static WIFI: &[Part] =
    &[Part { title: "Every standard", keys: WIFI_OLD }, Part { title: "802.11n, ac and ax", keys: WIFI_HIGH }];
