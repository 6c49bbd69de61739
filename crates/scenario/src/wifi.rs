//! The table `wifi = { ... }` of a path or link.

use anabranch_stack::time::Duration;
use anabranch_wifi::channel::{Fading, PathLoss};
use anabranch_wifi::error::Model;
use anabranch_wifi::mobility::{Course, Movement, Point};
use anabranch_wifi::phy::{Band, Phy, Standard};
use anabranch_wifi::rate::Choice;
use anabranch_wifi::{Air, Wifi};
use serde_json::{Value as Json, json};
use toml::{Table, Value};

use super::error::{Error, show};
use super::model::{Change, ChangeKind, Link};
use super::reader::{Section, each_table, list, name, table};
use super::schema::{PATH, WAYPOINT, WIFI};
use super::units::{BYTES, FREQUENCY, LENGTH, RATE, SPEED, word_or};
use super::wifi_high;
use super::words::{FADINGS, MODES, PATH_LOSSES};

const WRITTEN: &str = "wifi = { standard = \"802.11g\", distance = \"30 m\" }";
const WAYPOINTS: &str = "waypoints = [ { at = \"10 s\", distance = \"80 m\" } ]";

/// The longest distance, 100 km, in mm.
const FARTHEST: u64 = 100_000_000;
/// The highest speed, 1 km/s, in mm/s.
const SWIFTEST: u64 = 1_000_000;

/// The wireless part of the link that `section` describes, if it has one.
pub(super) fn read(section: &Section<'_>) -> Result<Option<Wifi>, Error> {
    let wired = section.given().any(|k| PATH.find(k).is_some_and(|key| key.directed));
    section.read("wifi", |v| table(v, WRITTEN).and_then(|t| wifi(&Section::new(t, &WIFI)?, wired)))
}

fn wifi(section: &Section<'_>, wired: bool) -> Result<Wifi, Error> {
    let standard = section.word("standard", &Standard::NAMES)?;
    let ad_hoc = section.word("mode", MODES)?;
    if ad_hoc && wired {
        let problem = "an ad-hoc path has no access point with a wired hop behind it";
        return Err(Error::at(
            "mode",
            problem,
            "remove mode = \"ad-hoc\", or the keys of the path that describe a wired hop, such as rate and delay",
        ));
    }
    let width = section.or("channel_width", standard.widths()[0], |v| width(v, standard))?;
    let later = wifi_high::read(section, standard, width, ad_hoc)?;
    let old = || {
        let phy = Phy::new(standard, width, ad_hoc);
        let highest = phy.modes.last().map_or(0, |m| m.kbps);
        section.or("rate", Choice::Constant(highest), |v| rate(v, standard, width, &phy))
    };
    let longest_rts = if later.own.is_some() { wifi_high::LONGEST_PSDU } else { 65_535 };
    let access_point = section.or("access_point", [0.0, 0.0], point)?;
    Ok(Wifi {
        channel: section.or("channel", String::new(), name)?,
        rate: later.rate.map_or_else(old, Ok)?,
        station: movement(section, access_point)?,
        access_point,
        wired,
        tx_power_dbm: section.quantity("tx_power")?.map_or(16.02, micro),
        retry_limit: section.value("retry_limit")?,
        rts_threshold: section.or("rts_threshold", later.rts_threshold, |v| {
            word_or(v, &[("off", None)], |v| BYTES.read(v, 0, longest_rts).map(|n| Some(n as u32)), "1000 B")
        })?,
        queue: section.value("queue")?,
        max_age: section.value::<Duration>("max_age")?.0,
        high: later.own,
        air: Air {
            standard,
            width,
            band: later.band,
            like: later.like,
            ad_hoc,
            path_loss: path_loss(section, standard, later.band)?,
            fading: fading(section)?,
            error_model: section.word("error_model", &Model::NAMES)?,
            preamble_detection: section.value("preamble_detection")?,
            noise_figure_db: section.quantity("noise_figure")?.map_or(7.0, micro),
        },
    })
}

/// A quantity in millionths as a number of units.
fn micro(quantity: i64) -> f64 {
    quantity as f64 / 1e6
}

/// A quantity in thousandths as a number of units.
fn milli(quantity: i64) -> f64 {
    quantity as f64 / 1e3
}

fn width(value: &Value, standard: Standard) -> Result<u32, Error> {
    let hz = FREQUENCY.read(value, 1, 1_000_000_000)?;
    standard.widths().iter().copied().find(|w| u64::from(*w) * 1_000_000 == hz).ok_or_else(|| {
        let allowed: Vec<String> = standard.widths().iter().map(|w| format!("\"{w} MHz\"")).collect();
        let problem = format!("{} has no channels of {}", standard.name(), show(value));
        Error::new(problem, format!("allowed with it: {}", allowed.join(", ")))
    })
}

/// A rate of the standard, or an algorithm that chooses among them.
fn rate(value: &Value, standard: Standard, width: u32, phy: &Phy) -> Result<Choice, Error> {
    let most = phy.modes.iter().map(|m| m.kbps).max().unwrap_or(0);
    word_or(
        value,
        &Choice::NAMES,
        |v| {
            let bps = RATE.read(v, 1, 1_000_000_000_000)?;
            let known = phy.modes.iter().find(|m| u64::from(m.kbps) * 1000 == bps);
            known.map(|m| Choice::Constant(m.kbps)).ok_or_else(|| {
                let rates: Vec<String> = phy.modes.iter().map(|m| format!("{}", f64::from(m.kbps) / 1e3)).collect();
                let problem = format!("{} is not a rate of {} in {width} MHz", show(v), standard.name());
                Error::new(problem, format!("its rates in Mbit/s: {}", rates.join(", ")))
            })
        },
        &format!("{} Mbit/s", f64::from(most) / 1e3),
    )
}

/// Two coordinates.
fn point(value: &Value) -> Result<Point, Error> {
    pair(value, "[\"30 m\", \"0 m\"]", |v| LENGTH.read_signed(v, FARTHEST).map(milli))
}

fn pair(value: &Value, written: &str, read: impl Fn(&Value) -> Result<f64, Error>) -> Result<Point, Error> {
    match list(value, written)? {
        [x, y] => Ok([read(x).map_err(|e| e.within("[0]"))?, read(y).map_err(|e| e.within("[1]"))?]),
        other => {
            Err(Error::new(format!("expected two coordinates, found {}", other.len()), format!("write {written}")))
        }
    }
}

/// A number, with or without a point.
fn number(value: &Value, least: f64, most: f64) -> Result<f64, Error> {
    let n = value.as_float().or_else(|| value.as_integer().map(|n| n as f64));
    n.filter(|n| (least..=most).contains(n)).ok_or_else(|| {
        Error::new(
            format!("expected a number from {least} to {most}, found {}", show(value)),
            format!("allowed: {least} to {most}, without quotes"),
        )
    })
}

fn path_loss(section: &Section<'_>, standard: Standard, band: Band) -> Result<PathLoss, Error> {
    let friis = section.word("path_loss", PATH_LOSSES)?;
    let frequency = section.quantity("frequency")?.map_or(standard.frequency(band), |hz| hz as f64);
    let exponent = section.value("path_loss_exponent")?;
    let reference_db = section.quantity("reference_loss")?.map_or(46.6777, micro);
    let reference_m = section.quantity("reference_distance")?.map_or(1.0, milli);
    for key in ["path_loss_exponent", "reference_loss", "reference_distance"] {
        if friis && section.has(key) {
            return Err(Error::at(
                key,
                "path_loss = \"friis\" depends on distance and frequency only",
                format!("remove {key}"),
            ));
        }
    }
    Ok(if friis {
        PathLoss::Friis { frequency }
    } else {
        PathLoss::LogDistance { exponent, reference_db, reference_m }
    })
}

fn fading(section: &Section<'_>) -> Result<Fading, Error> {
    let kind = section.word("fading", FADINGS)?;
    let shapes = section.read("nakagami_m", |v| match v.as_array().map(Vec::as_slice) {
        Some([a, b, c]) => Ok([number(a, 0.5, 1000.0)?, number(b, 0.5, 1000.0)?, number(c, 0.5, 1000.0)?]),
        Some(_) => Err(Error::new("expected one shape, or three by distance", "write 1.5 or [1.5, 0.75, 0.75]")),
        None => number(v, 0.5, 1000.0).map(|m| [m; 3]),
    })?;
    match (kind, shapes) {
        (Fading::Nakagami(_), Some(shapes)) => Ok(Fading::Nakagami(shapes)),
        (_, Some(_)) => Err(Error::at(
            "nakagami_m",
            "the key needs fading = \"nakagami\"",
            "add fading = \"nakagami\", or remove the key",
        )),
        (kind, None) => Ok(kind),
    }
}

/// Where the station is and how it moves; distances are from the access point, along the first axis.
fn movement(section: &Section<'_>, access_point: Point) -> Result<Movement, Error> {
    let away = |d: f64| [access_point[0] + d, access_point[1]];
    let distance = section.quantity("distance")?.map(milli);
    let start = match (distance, section.read("position", point)?) {
        (Some(_), Some(_)) => {
            return Err(Error::at("position", "both distance and position say where the station is", "remove one"));
        }
        (d, None) => away(d.unwrap_or(30.0)),
        (None, Some(p)) => p,
    };
    let speed = |v: &Value| SPEED.read_signed(v, SWIFTEST).map(milli);
    let velocity = section.read("velocity", |v| match v {
        Value::Array(_) => pair(v, "[\"1 m/s\", \"0 m/s\"]", speed),
        _ => speed(v).map(|v| [v, 0.0]),
    })?;
    let waypoints = section.read("waypoints", |v| {
        each_table(list(v, WAYPOINTS)?, WAYPOINTS, |_, t| waypoint(t, away)).and_then(in_order)
    })?;
    let course = match (velocity, waypoints) {
        (Some(_), Some(_)) => {
            return Err(Error::at("waypoints", "both velocity and waypoints say how the station moves", "remove one"));
        }
        (Some(v), None) => Course::Velocity(v),
        (None, Some(points)) if !points.is_empty() => Course::Waypoints(points),
        _ => Course::Rest,
    };
    Ok(Movement { start, course })
}

fn waypoint(t: &Table, away: impl Fn(f64) -> Point) -> Result<(u64, Point), Error> {
    let section = Section::new(t, &WAYPOINT)?;
    let at = section.value::<Duration>("at")?.0;
    match (section.quantity("distance")?.map(milli), section.read("position", point)?) {
        (Some(d), None) => Ok((at, away(d))),
        (None, Some(p)) => Ok((at, p)),
        _ => Err(Error::new("a waypoint has either a distance or a position", format!("write {WAYPOINTS}"))),
    }
}

fn in_order(points: Vec<(u64, Point)>) -> Result<Vec<(u64, Point)>, Error> {
    match points.windows(2).position(|w| w[1].0 <= w[0].0) {
        None => Ok(points),
        Some(i) => {
            let problem = "is not later than the waypoint before it";
            Err(Error::at("at", problem, "write waypoints in order of time, with different times")
                .within(&format!("[{}]", i + 1)))
        }
    }
}

/// Checks that concern several links, or a link and its changes. A link without a channel's name gets a channel of its own.
pub(super) fn settle(links: &mut [Link]) -> Result<(), Error> {
    for l in links.iter_mut() {
        if let Some(wifi) = l.wifi.as_mut().filter(|w| w.channel.is_empty()) {
            // With a space, so that it differs from any name that a scenario can give.
            wifi.channel = format!("of {}", l.name);
        }
    }
    for (i, l) in links.iter().enumerate() {
        let Some(wifi) = &l.wifi else { continue };
        let here = |e: Error| e.within(&format!("[{i}]"));
        let of_wire = |c: &Change| !matches!(c.what, ChangeKind::LinkDown | ChangeKind::LinkUp);
        if !wifi.wired && l.changes.iter().any(of_wire) {
            let problem =
                "changes of rate, delay and loss concern the wired hop behind the access point, and there is none";
            let remedy = match wifi.air.ad_hoc {
                true => "change only the state of the link",
                false => "add the key rate or delay for the wired hop, or change only the state of the link",
            };
            return Err(here(Error::at("changes", problem, remedy)));
        }
        let first = links[..i].iter().find(|o| o.wifi.as_ref().is_some_and(|w| w.channel == wifi.channel));
        if let Some(other) = first.filter(|o| o.wifi.as_ref().is_some_and(|w| w.air != wifi.air)) {
            let problem = format!("channel \"{}\" has other properties on link \"{}\"", wifi.channel, other.name);
            let remedy = "standard, mode, channel_width, band, like, frequency, path loss, fading, error_model, preamble_detection and \
                          noise_figure are the channel's: write the same, or another channel";
            return Err(here(Error::at("channel", problem, remedy).within("wifi")));
        }
        let category = |w: &Wifi| w.high.map(|h| (h.category, h.txop));
        let same_ends = |o: &&Link| o.b == l.b && o.wifi.as_ref().is_some_and(|w| w.channel == wifi.channel);
        let before =
            links[..i].iter().find(same_ends).filter(|o| o.wifi.as_ref().map(category) != Some(category(wifi)));
        if let Some(other) = before {
            let problem =
                format!("link \"{}\" of the same access point has another category or txop_limit", other.name);
            let remedy = "write the same category and txop_limit on all links of an access point";
            return Err(here(Error::at("category", problem, remedy).within("wifi")));
        }
    }
    Ok(())
}

/// Velocity, or waypoints.
fn course(w: &Wifi) -> (Option<&Point>, Vec<Json>) {
    match &w.station.course {
        Course::Rest => (None, Vec::new()),
        Course::Velocity(v) => (Some(v), Vec::new()),
        Course::Waypoints(p) => {
            (None, p.iter().map(|(at, p)| json!({ "at_s": *at as f64 / 1e9, "position_m": p })).collect())
        }
    }
}

/// The radio part of a link as JSON, in SI units, for a run of `duration` nanoseconds.
pub(super) fn describe(w: &Wifi, duration: u64) -> Json {
    let (fading, shapes) = match w.air.fading {
        Fading::None => ("none", None),
        Fading::Rayleigh => ("rayleigh", None),
        Fading::Nakagami(m) => ("nakagami", Some(m)),
    };
    let path_loss = match w.air.path_loss {
        PathLoss::Friis { frequency } => json!({ "name": "friis", "frequency_hz": frequency }),
        PathLoss::LogDistance { exponent, reference_db, reference_m } => json!({
            "name": "log-distance",
            "exponent": exponent,
            "reference_loss_db": reference_db,
            "reference_distance_m": reference_m,
        }),
    };
    let (velocity, waypoints) = course(w);
    let (algorithm, fixed) = match w.rate {
        Choice::Constant(_) | Choice::Mcs { .. } => ("constant", Some(w.peak_rate())),
        Choice::MinstrelHt { .. } => ("minstrel", None),
        other => (Choice::NAMES.iter().find(|(_, c)| *c == other).map_or("", |(n, _)| *n), None),
    };
    let mut described = json!({
        "standard": w.air.standard.name(),
        "mode": if w.air.ad_hoc { "ad-hoc" } else { "infrastructure" },
        "channel": w.channel,
        "channel_width_hz": u64::from(w.air.width) * 1_000_000,
        "rate_control": algorithm,
        "rate_bps": fixed,
        "peak_rate_bps": w.peak_rate(),
        "position_m": w.station.start,
        "velocity_m_per_s": velocity,
        "waypoints": waypoints,
        "access_point_m": w.access_point,
        "distance_m": w.distance(0),
        "received_dbm": w.received_dbm(0),
        "noticed_from_dbm": w.noticed_dbm(),
        "out_of_range_from_s": w.out_of_range_from(duration).map(|at| at as f64 / 1e9),
        "wired_hop": w.wired,
        "tx_power_dbm": w.tx_power_dbm,
        "path_loss": path_loss,
        "fading": fading,
        "nakagami_m": shapes,
        "error_model": Model::NAMES.iter().find(|(_, m)| *m == w.air.error_model).map(|(n, _)| *n),
        "preamble_detection": w.air.preamble_detection,
        "noise_figure_db": w.air.noise_figure_db,
        "retry_limit": w.retry_limit,
        "rts_threshold_bytes": w.rts_threshold,
        "queue_packets": w.queue,
        "max_age_s": w.max_age as f64 / 1e9,
    });
    if let (Some(all), Some(own)) = (described.as_object_mut(), &w.high) {
        all.extend(wifi_high::describe(w, own));
    }
    described
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    fn wifi(keys: &str) -> Wifi {
        let text = format!("[transfer]\n[[path]]\nwifi = {{ {keys} }}");
        parse(&text, "t", &[], None).unwrap_or_else(|e| panic!("{text}\n{e}")).links[0].wifi.clone().unwrap()
    }

    #[test]
    fn the_defaults_are_the_documented_ones() {
        let w = wifi("");
        assert_eq!((w.rate, w.station.start, w.tx_power_dbm), (Choice::Constant(54_000), [30.0, 0.0], 16.02));
        let (reference_db, reference_m) = (46.6777, 1.0);
        assert_eq!(w.air.path_loss, PathLoss::LogDistance { exponent: 3.0, reference_db, reference_m });
        assert_eq!((w.air.standard, w.air.ad_hoc, w.air.fading), (Standard::G, false, Fading::None));
        assert_eq!((w.air.error_model, w.air.preamble_detection, w.air.width), (Model::Table, true, 20));
        assert_eq!((w.retry_limit, w.rts_threshold, w.queue, w.max_age), (7, None, 500, 500_000_000));
        let written = "standard = '802.11g', rate = '54 Mbit/s', distance = '30 m', mode = 'infrastructure', tx_power = '16.02 dBm',
            path_loss_exponent = 3.0, reference_loss = '46.6777 dB', fading = 'none', error_model = 'table', preamble_detection = true";
        assert_eq!(wifi(written), w);
    }

    #[test]
    fn a_path_with_a_rate_or_a_delay_has_a_wired_hop() {
        let of = |keys: &str| {
            let s = parse(&format!("[transfer]\n[[path]]\nwifi = {{}}\n{keys}"), "t", &[], None).unwrap();
            let l = &s.links[0];
            (l.wifi.as_ref().unwrap().wired, l.up.rate, l.up.delay.0)
        };
        assert_eq!(of(""), (false, 1_000_000_000_000, 0));
        assert_eq!(of("delay = '10 ms'"), (true, 1_000_000_000_000, 10_000_000));
        assert_eq!(of("rate_up = '1 Mbit/s'"), (true, 1_000_000, 0));
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_the_reason() {
        for (keys, part) in [
            ("standard = '802.11m'", "wifi.standard: unknown standard \"802.11m\"\n  did you mean"),
            ("rate = '11 Mbit/s', standard = '802.11a'", "wifi.rate: \"11 Mbit/s\" is not a rate of 802.11a in 20 MHz"),
            ("rate = '54 Mbit/s', standard = '802.11b'", "its rates in Mbit/s: 1, 2, 5.5, 11"),
            ("rate = '54 Mbit/s', channel_width = '10 MHz'", "its rates in Mbit/s: 3, 4.5, 6, 9, 12, 18, 24, 27"),
            ("rate = 'minstrell'", "did you mean \"minstrel\"?"),
            ("distance = '-1 m'", "wifi.distance: \"-1 m\" is negative"),
            ("distance = '30'", "has no unit"),
            ("distance = '30 m', position = ['1 m', '2 m']", "wifi.position: both distance and position"),
            ("position = ['1 m']", "expected two coordinates, found 1"),
            ("tx_power = '16 dB'", "\"dB\" is not a unit of power"),
            ("tx_power = '-200 dBm'", "allowed: -100 dBm to 100 dBm"),
            ("reference_loss = '400 dB'", "allowed: 0 dB to 300 dB"),
            ("standard = '802.11n', mcs = 100", "802.11n in 20 MHz has no MCS 100"),
            ("standard = '802.11n', mcs = -1", "expected an index of an MCS, found -1"),
            ("channel_width = '40 MHz'", "802.11g has no channels of \"40 MHz\""),
            ("nakagami_m = 1.5", "wifi.nakagami_m: the key needs fading = \"nakagami\""),
            ("fading = 'nakagami', nakagami_m = 0.1", "allowed: 0.5 to 1000"),
            (
                "path_loss = 'friis', path_loss_exponent = 2.0",
                "path_loss = \"friis\" depends on distance and frequency only",
            ),
            ("velocity = '1 m/s', waypoints = [{ at = '1 s', distance = '1 m' }]", "both velocity and waypoints"),
            (
                "waypoints = [{ at = '2 s', distance = '1 m' }, { at = '1 s', distance = '2 m' }]",
                "wifi.waypoints[1].at: is not later than the waypoint before it",
            ),
            ("waypoints = [{ at = '2 s' }]", "either a distance or a position"),
            ("retry_limit = 0", "wifi.retry_limit: "),
            ("distanse = '3 m'", "wifi.distanse: unknown key\n  did you mean \"distance\"?"),
        ] {
            let text = format!("[transfer]\n[[path]]\nwifi = {{ {keys} }}");
            let said = parse(&text, "t", &[], None).expect_err(keys).to_string();
            assert!(said.contains(part), "{keys}\n{said}");
        }
        let said = |text: &str| parse(text, "t", &[], None).expect_err(text).to_string();
        let ad_hoc = said("[transfer]\n[[path]]\nrate = '1 Mbit/s'\nwifi = { mode = 'ad-hoc' }");
        assert!(ad_hoc.contains("path[0].wifi.mode: an ad-hoc path has no access point"), "{ad_hoc}");
        let shared = said(
            "[transfer]\n[[path]]\nwifi = { channel = 'a' }\n[[path]]\nwifi = { channel = 'a', standard = '802.11b' }",
        );
        assert!(
            shared.contains("path[1].wifi.channel: channel \"a\" has other properties on link \"path0\""),
            "{shared}"
        );
        let change = said("[transfer]\n[[path]]\nwifi = {}\nchanges = [{ at = '1 s', rate = '1 Mbit/s' }]");
        assert!(change.contains("path[0].changes: changes of rate, delay and loss concern the wired hop"), "{change}");
    }
}
