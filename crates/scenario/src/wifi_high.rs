//! The keys of `wifi = { ... }` from 802.11n on.

use anabranch_stack::time::Duration;
use anabranch_wifi::aggregate::Limits;
use anabranch_wifi::edca::Category;
use anabranch_wifi::formats::Format;
use anabranch_wifi::phy::{Band, Like, Phy, Standard};
use anabranch_wifi::rate::Choice;
use anabranch_wifi::{HighThroughput, Wifi};
use serde_json::{Map, Value as Json, json};
use toml::Value;

use super::error::{Error, show};
use super::nearest::did_you_mean;
use super::reader::{Section, whole};
use super::schema::WIFI_HIGH;
use super::units::{BYTES, FREQUENCY, LATEST, RATE, time, word_or};
use super::words::LIKES;

/// The longest PSDU of any format, in octets (table 27-54).
pub(super) const LONGEST_PSDU: u64 = 6_500_631;

/// ns-3's default of RtsCtsThreshold.
const NS3_RTS: u32 = 65_535;

/// What these keys say.
pub(super) struct Later {
    pub band: Band,
    pub like: Like,
    /// None for older standards.
    pub rate: Option<Choice>,
    /// None for older standards.
    pub own: Option<HighThroughput>,
    /// The default.
    pub rts_threshold: Option<u32>,
}

pub(super) fn read(section: &Section<'_>, standard: Standard, width: u32, ad_hoc: bool) -> Result<Later, Error> {
    let band = standard.bands()[0];
    let Some(format) = standard.format() else {
        if let Some(key) = WIFI_HIGH.iter().map(|key| key.name).find(|k| section.has(k)) {
            let problem = format!("the standard {} does not have the key {key}", standard.name());
            let remedy = "remove the key, or write standard = \"802.11n\", \"802.11ac\" or \"802.11ax\"";
            return Err(Error::at(key, problem, remedy));
        }
        return Ok(Later { band, like: Like::Standard, rate: None, own: None, rts_threshold: None });
    };
    if ad_hoc {
        let problem = format!("{} is modelled with an access point only", standard.name());
        return Err(Error::at("mode", problem, "allowed with it: \"infrastructure\""));
    }
    let band = section.or("band", band, |v| read_band(v, standard))?;
    if band == Band::Two && width > 40 {
        let problem = format!("the band of 2.4 GHz has no channels of {width} MHz");
        return Err(Error::at("channel_width", problem, "allowed in it: \"20 MHz\", \"40 MHz\""));
    }
    let like = section.word("like", LIKES)?;
    let (streams, fixed) = mcs(section, standard, format, width)?;
    let guard = section.or("guard_interval", format.guards()[0], |v| guard(v, standard, format))?;
    let phy = Phy::high(standard, format, width, band, like);
    let rate = rate(section, standard, &phy, (fixed, streams, guard))?;
    let own = HighThroughput {
        streams,
        guard,
        limits: limits(section, standard, format, like)?,
        category: section.word("category", &Category::NAMES)?,
        txop: section.given_value("txop_limit")?.map(|d: Duration| d.0),
    };
    let rts_threshold = (like == Like::Ns3).then_some(NS3_RTS);
    Ok(Later { band, like, rate: Some(rate), own: Some(own), rts_threshold })
}

fn read_band(value: &Value, standard: Standard) -> Result<Band, Error> {
    let hz = FREQUENCY.read(value, 1, 1_000_000_000_000)?;
    let name = |b: Band| if b == Band::Two { "2.4 GHz" } else { "5 GHz" };
    let of = |b: Band| if b == Band::Two { 2_400_000_000 } else { 5_000_000_000 };
    standard.bands().iter().copied().find(|b| of(*b) == hz).ok_or_else(|| {
        let allowed: Vec<String> = standard.bands().iter().map(|b| format!("\"{}\"", name(*b))).collect();
        let problem = format!("{} is no band of {}", show(value), standard.name());
        Error::new(problem, format!("allowed with it: {}", allowed.join(", ")))
    })
}

/// Streams, and the index of one stream if one is written.
fn mcs(
    section: &Section<'_>,
    standard: Standard,
    format: Format,
    width: u32,
) -> Result<(u8, Option<Option<u8>>), Error> {
    let streams = section.given_value("streams")?.map(|n: u32| n as u8);
    let highest = format.mcs(width).max().unwrap_or(0);
    let also = if format == Format::Ht { ", or 8 to 15 with two streams" } else { "" };
    let written = section.read("mcs", |v| match v.as_str() {
        Some("minstrel") => Ok(None),
        Some(other) => {
            let remedy = format!(
                "{}allowed: \"minstrel\", or a number without quotes, 0 to {highest}{also}",
                did_you_mean(other, &["minstrel"])
            );
            Err(Error::new(format!("unknown MCS \"{other}\""), remedy))
        }
        None => match v.as_integer().map(u64::try_from) {
            Some(Ok(index)) => Ok(Some(index)),
            _ => {
                let remedy = format!("allowed: 0 to {highest}{also}, or \"minstrel\"");
                Err(Error::new(format!("expected an index of an MCS, found {}", show(v)), remedy))
            }
        },
    })?;
    let Some(Some(mcs)) = written else { return Ok((streams.unwrap_or(1), written.map(|_| None))) };
    // 802.11n counts on with the streams: 8 to 15 are 0 to 7 with two of them.
    let (mcs, implied) = match format {
        Format::Ht if (8..16).contains(&mcs) => (mcs - 8, Some(2)),
        _ => (mcs, None),
    };
    if let (Some(2), Some(1)) = (implied, streams) {
        let problem = format!("802.11n's MCS {} has two streams", mcs + 8);
        return Err(Error::at("mcs", problem, "allowed with one stream: 0 to 7"));
    }
    let streams = streams.or(implied).unwrap_or(1);
    if mcs > u64::from(highest) {
        let problem = format!(
            "{} in {width} MHz has no MCS {mcs} with {streams} stream{}",
            standard.name(),
            if streams == 1 { "" } else { "s" }
        );
        return Err(Error::at("mcs", problem, format!("allowed with it: 0 to {highest}{also}")));
    }
    Ok((streams, Some(Some(mcs as u8))))
}

fn guard(value: &Value, standard: Standard, format: Format) -> Result<u32, Error> {
    let ns = time(value, Duration(1), LATEST)?.0;
    format.guards().iter().copied().find(|g| u64::from(*g) == ns).ok_or_else(|| {
        let allowed: Vec<String> = format.guards().iter().map(|g| format!("\"{} us\"", f64::from(*g) / 1e3)).collect();
        let problem = format!("{} has no guard interval of {}", standard.name(), show(value));
        Error::new(problem, format!("allowed with it: {}", allowed.join(", ")))
    })
}

/// A rate in bit/s, an index, an algorithm, or the highest index.
fn rate(
    section: &Section<'_>,
    standard: Standard,
    phy: &Phy,
    (mcs, streams, guard): (Option<Option<u8>>, u8, u32),
) -> Result<Choice, Error> {
    let constant = |mcs: u8| Choice::Mcs { mcs, streams, guard };
    let known = || phy.modes.iter().filter_map(|m| m.ppdu).filter(|p| (p.streams, p.guard) == (streams, guard));
    let highest = known().map(|p| p.mcs).max().unwrap_or(0);
    let minstrel = Choice::MinstrelHt { streams, guard };
    match mcs {
        Some(_) if section.has("rate") => {
            Err(Error::at("rate", "both rate and mcs set the rate", "remove one of the two"))
        }
        Some(None) => Ok(minstrel),
        Some(Some(mcs)) => Ok(constant(mcs)),
        None => section.or("rate", constant(highest), |v| {
            let written = |v: &Value| {
                let kbps = RATE.read(v, 1, 1_000_000_000_000)? / 1000;
                // A rate such as 72.2 Mbit/s is rounded.
                let found = known().find(|p| u64::from(p.kbps).abs_diff(kbps) <= 100);
                found.map(|p| constant(p.mcs)).ok_or_else(|| {
                    let rates: Vec<String> = known().map(|p| format!("{:.1}", f64::from(p.kbps) / 1e3)).collect();
                    let problem = format!("{} is not a rate of {} with these keys", show(v), standard.name());
                    Error::new(problem, format!("its rates in Mbit/s: {}", rates.join(", ")))
                })
            };
            let most = known().map(|p| p.kbps).max().unwrap_or(0);
            word_or(v, &[("minstrel", minstrel)], written, &format!("{:.1} Mbit/s", f64::from(most) / 1e3))
        }),
    }
}

fn limits(section: &Section<'_>, standard: Standard, format: Format, like: Like) -> Result<Limits, Error> {
    let aggregates: bool = section.value("aggregation")?;
    for key in ["ampdu_limit", "amsdu_limit"] {
        if !aggregates && section.has(key) {
            return Err(Error::at(
                key,
                "aggregation = false sends one packet per frame",
                format!("remove {key}, or aggregation = false"),
            ));
        }
    }
    let size = |most: u32| {
        move |v: &Value| {
            let read = |v: &Value| BYTES.read(v, 0, u64::from(most)).map(|n| n as u32);
            word_or(v, &[("off", 0)], read, &format!("{most} B"))
        }
    };
    let ampdu =
        section.or("ampdu_limit", Limits::ampdu_of(format, like), size(Limits::ampdu_of(format, Like::Standard)))?;
    let mut amsdu = section.or("amsdu_limit", 0, size(Limits::amsdu_of(format)))?;
    if format == Format::Ht && ampdu > 0 {
        // 10.12.1: a frame within an A-MPDU of 802.11n has at most 4095 octets.
        amsdu = amsdu.min(4_065);
    }
    let most = if format == Format::He { 256 } else { 64 };
    let window = section.or("block_ack_window", 64, |v| {
        whole(v, 1, most).map_err(|_| {
            let problem = format!("{} has no block acknowledgement window of {}", standard.name(), show(v));
            Error::new(problem, format!("allowed with it: a whole number from 1 to {most}"))
        })
    })?;
    Ok(if aggregates {
        Limits { ampdu, amsdu, window: window as u32 }
    } else {
        Limits { ampdu: 0, amsdu: 0, window: window as u32 }
    })
}

/// In SI units.
pub(super) fn describe(w: &Wifi, own: &HighThroughput) -> Map<String, Json> {
    let mcs = match w.rate {
        Choice::Mcs { mcs, .. } => Some(mcs),
        _ => None,
    };
    let txop = own.txop.unwrap_or_else(|| own.category.access(true, w.air.like).txop);
    let all = json!({
        "band_hz": if w.air.band == Band::Two { 2_400_000_000_u64 } else { 5_000_000_000 },
        "mcs": mcs,
        "read_from_dbm": w.least_dbm(),
        "streams": own.streams,
        "guard_interval_s": f64::from(own.guard) / 1e9,
        "ampdu_limit_bytes": own.limits.ampdu,
        "amsdu_limit_bytes": own.limits.amsdu,
        "block_ack_window": own.limits.window,
        "category": own.category.name(),
        "txop_limit_s": txop as f64 / 1e9,
        "like": if w.air.like == Like::Ns3 { "ns-3" } else { "standard" },
    });
    match all {
        Json::Object(all) => all,
        _ => Map::new(),
    }
}
