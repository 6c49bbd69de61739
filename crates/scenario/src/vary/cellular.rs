//! `cellular = { preset = "lte-driving", ... }`: a link over a cellular network.

use anabranch_stack::time::Duration;
use toml::{Table, Value};

use super::{Defaults, P90, P95, log_normal, outages, preset, spell};
use crate::error::Error;
use crate::model::{Discipline, Loss, Queue};
use crate::reader::{Section, Way};
use crate::schema::CELLULAR;
use crate::weather::{Cellular, Outages, Rate, Shape, Weather};
use crate::words::CELLULAR as CELLULAR_PRESETS;

/// The presets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Preset {
    LteGood,
    LteDriving,
    MidBand,
    Driving5g,
}

const MEANT: [Preset; 4] = [Preset::LteGood, Preset::LteDriving, Preset::MidBand, Preset::Driving5g];

const MBIT: u64 = 1_000_000;
const KBIT: u64 = 1_000;

/// Median, sigma, correlation, its share, least and most of the downlink; median of the uplink.
fn rates(preset: Preset) -> (Rate, f64, u64) {
    let rate = |median: u64, sigma, correlation, most: u64| Rate {
        shape: Shape::LogNormal,
        median: median * MBIT,
        sigma,
        correlation,
        least: 100 * KBIT,
        most: most * MBIT,
        ripple: 0.3,
    };
    match preset {
        Preset::LteGood => (rate(60, 0.35, 0.93, 150), 1.0, 15),
        Preset::LteDriving => (rate(46, 1.13, 0.9963, 240), 0.98, 8),
        Preset::MidBand => (rate(350, 0.35, 0.93, 900), 1.0, 50),
        Preset::Driving5g => (rate(68, 1.79, 0.9964, 366), 0.965, 20),
    }
}

fn of(preset: Preset, up: bool) -> Cellular {
    let (down, slow, upward) = rates(preset);
    let nr = matches!(preset, Preset::MidBand | Preset::Driving5g);
    let driving = matches!(preset, Preset::LteDriving | Preset::Driving5g);
    let ms = Duration::from_millis;
    let most = down.most / 4;
    let without = log_normal(ms(if nr { 700 } else { 1000 }), ms(3500), P90);
    Cellular {
        rate: if up { Rate { median: upward * MBIT, most, ..down } } else { down },
        slow,
        coherence: ms(50),
        interval: if nr { Duration::from_micros(500) } else { ms(1) },
        block_error: 0.1,
        harq: ms(if nr { 5 } else { 8 }),
        harq_tries: 3,
        rlc: ms(if nr { 25 } else { 40 }),
        grant: if up { ms(if nr { 2 } else { 8 }) } else { Duration::ZERO },
        grant_period: if up { ms(if nr { 5 } else { 10 }) } else { Duration::ZERO },
        sleep_after: ms(100),
        sleep: if up { Duration::ZERO } else { ms(if nr { 20 } else { 40 }) },
        handover: Duration::from_secs(if driving { 30 } else { 0 }),
        jump: 0.7,
        gap: log_normal(ms(50), ms(200), P95),
        gap_loss: 0.1,
        failure: if driving { 0.015 } else { 0.0 },
        outages: Outages { per_hour: if driving { [95.0, 120.0][usize::from(nr)] } else { 0.0 }, length: without },
    }
}

pub(super) fn read(value: &Value, up: bool) -> Result<(Weather, Defaults), Error> {
    let presets: Vec<(&str, Preset)> = CELLULAR_PRESETS.iter().copied().zip(MEANT).collect();
    let (preset, table) = preset(value, "cellular", &presets, "cellular = { preset = \"lte-driving\" }")?;
    let empty = Table::new();
    let section = Section::new(table.unwrap_or(&empty), &CELLULAR)?;
    let way = Way { section: &section, way: if up { "_up" } else { "_down" } };
    let d = of(preset, up);
    // Grants are the uplink's, sleep is the downlink's.
    let only = |mine: bool, key: &str, default: Duration| {
        section.value_or(key, default).map(|found| if mine { found } else { Duration::ZERO })
    };
    let cellular = Cellular {
        rate: way.rate(d.rate)?,
        slow: way.value_or("slow", d.slow)?,
        coherence: way.value_or("coherence", d.coherence)?,
        interval: section.value_or("interval", d.interval)?,
        block_error: section.value_or("block_error", d.block_error)?,
        harq: section.value_or("harq", d.harq)?,
        harq_tries: section.value_or("harq_tries", d.harq_tries)?,
        rlc: section.value_or("rlc", d.rlc)?,
        grant: only(up, "grant", d.grant)?,
        grant_period: only(up, "grant_period", d.grant_period)?,
        sleep_after: section.value_or("sleep_after", d.sleep_after)?,
        sleep: only(!up, "sleep", d.sleep)?,
        handover: section.value_or("handover", d.handover)?,
        jump: section.value_or("jump", d.jump)?,
        gap: spell(&section, "gap", "p95", d.gap)?,
        gap_loss: section.value_or("gap_loss", d.gap_loss)?,
        failure: section.value_or("failure", d.failure)?,
        outages: outages(&section, d.outages)?,
    };
    if (1..1_000_000_000).contains(&cellular.handover.0) {
        return Err(Error::at(
            "handover",
            "a mean time below 1 s",
            "allowed: 1 s to 24 h, or \"0 s\" for no changes of cell",
        ));
    }
    let nr = matches!(preset, Preset::MidBand | Preset::Driving5g);
    let defaults = Defaults {
        rate: cellular.rate.median,
        delay: Duration::from_millis(if nr { 6 } else { 12 }),
        queue: Queue::Packets(if nr { 2000 } else { 1200 }),
        discipline: Discipline::DropTail,
        loss: Loss::Bernoulli(0.0),
    };
    Ok((Weather::Cellular(cellular), defaults))
}
