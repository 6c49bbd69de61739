//! `preset = "starlink"` in `[[path]]` and `[[link]]`: keys of a link by the name of what it is.
//!
//! A preset stands for keys; those that are written beside it replace its own. It is written out before the document is read, so that what is
//! kept with a result says everything.

use toml::{Table, Value};

use super::error::{Error, show};
use super::nearest::did_you_mean;
use super::reader::text;
use super::schema::{LINK, PATH};

/// A preset.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its names; the first is the usual one.
    pub names: &'static [&'static str],
    /// What it is.
    pub summary: &'static str,
    /// Its keys, in TOML.
    keys: &'static str,
    /// What a length after the name says, such as the distance in "wifi 30 m".
    distance: bool,
}

/// All presets; `measured.toml` says what each figure of theirs agrees with.
pub static PRESETS: &[Preset] = &[
    Preset {
        names: &["starlink", "starlink fixed"],
        summary: "Starlink, a fixed dish with a clear view of the sky, 2024 and later",
        keys: "leo = 'starlink-fixed-2024'",
        distance: false,
    },
    Preset {
        names: &["starlink 2022"],
        summary: "Starlink, a fixed dish with a clear view of the sky, 2022 and 2023",
        keys: "leo = 'starlink-fixed-2022'",
        distance: false,
    },
    Preset {
        names: &["starlink mobile", "starlink driving"],
        summary: "Starlink Mobility on a moving car, with obstructions by trees and bridges",
        keys: "leo = 'starlink-mobile'",
        distance: false,
    },
    Preset {
        names: &["starlink roam"],
        summary: "Starlink Roam on a moving car, with obstructions",
        keys: "leo = 'starlink-roam'",
        distance: false,
    },
    Preset {
        names: &["lte", "lte good", "4g"],
        summary: "LTE, at rest with a good signal",
        keys: "cellular = 'lte-good'",
        distance: false,
    },
    Preset {
        names: &["lte driving", "4g driving"],
        summary: "a cellular network (AT&T, 2023) in a moving car",
        keys: "cellular = 'lte-driving'",
        distance: false,
    },
    Preset {
        names: &["5g", "5g good", "5g mid-band"],
        summary: "5G on mid-band, at rest with a good signal",
        keys: "cellular = '5g-mid-band'",
        distance: false,
    },
    Preset {
        names: &["5g driving"],
        summary: "a cellular network (T-Mobile, 2023) in a moving car",
        keys: "cellular = '5g-driving'",
        distance: false,
    },
    Preset {
        names: &["geo"],
        summary: "a geostationary satellite with an RTT of 600 ms",
        keys: "rate_down = '50 Mbit/s'\nrate_up = '5 Mbit/s'\ndelay = '300 ms'\nqueue_down = '4 MB'\nqueue_up = '400 kB'",
        distance: false,
    },
    Preset {
        names: &["geo pep"],
        summary: "the link geo with a proxy at each end that splits TCP connections and starts with a window of the bandwidth-delay product; MPTCP falls back to TCP",
        keys: concat!(
            "rate_down = '50 Mbit/s'\nrate_up = '5 Mbit/s'\ndelay = '300 ms'\nqueue_down = '4 MB'\nqueue_up = '400 kB'\n",
            "middleboxes = [{ kind = 'pep', buffer = '8 MB', initial_window = 250 }, ",
            "{ kind = 'pep', end = 'far', buffer = '8 MB', initial_window = 2500 }]",
        ),
        distance: false,
    },
    Preset {
        names: &["dsl"],
        summary: "ADSL of 16 Mbit/s down and 1 Mbit/s up; ACKs of a download wait behind uploads",
        keys: "rate_down = '16 Mbit/s'\nrate_up = '1 Mbit/s'\ndelay = '10 ms'\nqueue_down = '300 kB'\nqueue_up = '128 kB'\noverhead = '24 B'",
        distance: false,
    },
    Preset {
        names: &["wifi"],
        summary: "802.11g with the rate control Minstrel; a distance may follow the name: \"wifi 30 m\"",
        keys: "wifi = { standard = '802.11g', rate = 'minstrel', distance = '10 m' }",
        distance: true,
    },
    Preset {
        names: &["wifi4", "wifi 4"],
        summary: "802.11n of 40 MHz and two streams with Minstrel-HT; a distance may follow: \"wifi4 10 m\"",
        keys: "wifi = { standard = '802.11n', channel_width = '40 MHz', streams = 2, rate = 'minstrel', distance = '10 m' }",
        distance: true,
    },
    Preset {
        names: &["wifi5", "wifi 5"],
        summary: "802.11ac of 80 MHz and two streams with Minstrel-HT; a distance may follow: \"wifi5 10 m\"",
        keys: "wifi = { standard = '802.11ac', channel_width = '80 MHz', streams = 2, rate = 'minstrel', distance = '10 m' }",
        distance: true,
    },
    Preset {
        names: &["wifi6", "wifi 6"],
        summary: "802.11ax of 80 MHz and two streams with Minstrel-HT; a distance may follow: \"wifi6 10 m\"",
        keys: "wifi = { standard = '802.11ax', channel_width = '80 MHz', streams = 2, rate = 'minstrel', distance = '10 m' }",
        distance: true,
    },
];

/// Writes out the presets of `document`.
pub(super) fn expand(document: &mut Table) -> Result<(), Error> {
    for keys in [&PATH, &LINK] {
        let kind = keys.name;
        let Some(Value::Array(links)) = document.get_mut(kind).filter(|_| keys.contains("preset")) else { continue };
        for (i, link) in links.iter_mut().enumerate() {
            let Some(table) = link.as_table_mut() else { continue };
            let Some(value) = table.remove("preset") else { continue };
            let keys = found(&value).map_err(|e| e.within("preset").within(&format!("[{i}]")).within(kind))?;
            for (key, default) in keys {
                let base = key.strip_suffix("_up").or_else(|| key.strip_suffix("_down")).unwrap_or(&key);
                if let Some(Value::Table(written)) = table.get_mut(&key) {
                    complete(written, default);
                } else if !table.contains_key(base) && !table.contains_key(&key) {
                    table.insert(key, default);
                }
            }
        }
    }
    Ok(())
}

/// Adds to a table such as `wifi = { queue = "100 packets" }` or `leo = { gap = "laser" }` what the preset says of the rest.
fn complete(written: &mut Table, default: Value) {
    let default = match default {
        Value::Table(keys) => keys,
        name => Table::from_iter([("preset".to_owned(), name)]),
    };
    for (key, value) in default {
        // Keys that say the same thing in another way.
        let other = match key.as_str() {
            "rate" => "mcs",
            "distance" => "waypoints",
            same => same,
        };
        if !written.contains_key(&key) && !written.contains_key(other) {
            written.insert(key, value);
        }
    }
}

/// The keys of a preset, with the distance that follows its name.
fn found(value: &Value) -> Result<Table, Error> {
    let written = text(value)?.trim().to_lowercase();
    let words: Vec<&str> = written.split_whitespace().collect();
    let joined = words.join(" ");
    if let Some(preset) = named(&joined) {
        return Ok(keys(preset));
    }
    let (name, distance) = words.split_at(words.len().saturating_sub(2));
    if let Some(preset) = named(&name.join(" ")).filter(|p| p.distance) {
        let mut keys = keys(preset);
        if let Some(air) = keys.get_mut("wifi").and_then(Value::as_table_mut) {
            air.insert("distance".into(), distance.join(" ").into());
        }
        return Ok(keys);
    }
    let names: Vec<&str> = PRESETS.iter().flat_map(|p| p.names).copied().collect();
    let hint = did_you_mean(&joined, &names);
    Err(Error::new(format!("unknown preset {}", show(value)), format!("{hint}allowed: \"{}\"", names.join("\", \""))))
}

fn named(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|p| p.names.contains(&name))
}

fn keys(preset: &Preset) -> Table {
    preset.keys.parse().expect("the keys of a preset are TOML")
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn every_preset_is_a_valid_link() {
        for name in PRESETS.iter().flat_map(|p| p.names) {
            let scenario = parse(&format!("transfer = {{}}\n[[path]]\npreset = '{name}'"), "t", &[], None);
            assert!(scenario.is_ok(), "{name}: {scenario:?}");
        }
    }

    #[test]
    fn written_keys_replace_those_of_the_preset() {
        let link =
            |keys: &str| parse(&format!("transfer = {{}}\n[[path]]\n{keys}"), "t", &[], None).unwrap().links[0].clone();
        let geo = link("preset = 'GEO'\nrate = '9 Mbit/s'\nqueue_up = '7 packets'");
        assert_eq!((geo.up.rate, geo.down.rate), (9_000_000, 9_000_000));
        assert_eq!((geo.up.delay.0, geo.down.delay.0), (300_000_000, 300_000_000));
        assert_eq!(geo.down.queue, super::super::Queue::Bytes(4_000_000));
        assert_eq!(geo.up.queue, super::super::Queue::Packets(7));
        let wifi = link("preset = 'wifi  25 m'").wifi.unwrap();
        assert_eq!(wifi.distance(0), 25.0);
        assert_eq!(link("preset = 'wifi6 4 m'").wifi.unwrap().distance(0), 4.0);
    }

    #[test]
    fn keys_of_a_table_replace_those_of_the_presets_table() {
        let same = |one: &str, other: &str| {
            let link = |keys: &str| parse(&format!("transfer = {{}}\n[[path]]\n{keys}"), "t", &[], None).unwrap();
            assert_eq!(format!("{:?}", link(one).links), format!("{:?}", link(other).links), "{one}");
        };
        let wifi6 = "standard = '802.11ax', channel_width = '80 MHz', streams = 2";
        same(
            "preset = 'wifi6 4 m'\nwifi = { queue = '9 packets' }",
            &format!("wifi = {{ {wifi6}, rate = 'minstrel', distance = '4 m', queue = '9 packets' }}"),
        );
        same(
            "preset = 'wifi6 4 m'\nwifi = { mcs = 5, distance = '6 m' }",
            &format!("wifi = {{ {wifi6}, mcs = 5, distance = '6 m' }}"),
        );
        let way = "waypoints = [{ at = '0 s', distance = '3 m' }, { at = '9 s', distance = '5 m' }]";
        same(
            &format!("preset = 'wifi6 4 m'\nwifi = {{ {way} }}"),
            &format!("wifi = {{ {wifi6}, rate = 'minstrel', {way} }}"),
        );
        same("preset = 'starlink'\nleo = { gap = 'laser' }", "leo = { preset = 'starlink-fixed-2024', gap = 'laser' }");
        same("preset = 'starlink'\nleo = { preset = 'starlink-roam' }", "leo = 'starlink-roam'");
        same("preset = 'lte'\ncellular = { handover = '9 s' }", "cellular = { preset = 'lte-good', handover = '9 s' }");
    }

    #[test]
    fn an_unknown_preset_is_told() {
        let refused = |name: &str| {
            parse(&format!("transfer = {{}}\n[[path]]\n[[path]]\npreset = {name}"), "t", &[], None)
                .unwrap_err()
                .to_string()
        };
        assert!(refused("'starlnk'").contains("path[1].preset: unknown preset \"starlnk\""));
        assert!(refused("'lte drivin'").contains("did you mean \"lte driving\"?"));
        assert!(refused("'wifi 3 kg'").contains("path[1].wifi.distance"));
        assert!(refused("5").contains("path[1].preset"));
    }
}
