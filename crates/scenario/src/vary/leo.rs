//! `leo = { preset = "starlink-fixed-2024", ... }`: a link over low satellites.

use anabranch_stack::time::Duration;
use toml::{Table, Value};

use super::{Defaults, P90, P95, log_normal, outages, preset, spell};
use crate::error::Error;
use crate::model::{CodelParameters, Discipline, FqCodelParameters, Loss, Queue};
use crate::reader::{Section, Way, word};
use crate::schema::LEO;
use crate::units::TIME;
use crate::weather::{Gap, Leo, Outages, Rate, Shape, Spell, Weather};
use crate::words::LEO as LEO_PRESETS;

/// The presets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Preset {
    Fixed2022,
    Fixed2024,
    Mobile,
    Roam,
}

const MEANT: [Preset; 4] = [Preset::Fixed2022, Preset::Fixed2024, Preset::Mobile, Preset::Roam];

const MBIT: u64 = 1_000_000;
const NO_GAP: Gap = Gap {
    chance: 0.0,
    before: Duration::ZERO,
    length: Spell { median: Duration::from_millis(1), sigma: 0.0 },
    loss: 0.0,
    hold: Duration::ZERO,
};
/// Over lasers between satellites (LENS): at every boundary what is sent within half a second is lost, and what is sent in the next
/// fifth is released at once.
const LASER: Gap = Gap {
    chance: 1.0,
    before: Duration::from_millis(180),
    length: Spell { median: Duration::from_millis(520), sigma: 0.0 },
    loss: 1.0,
    hold: Duration::from_millis(210),
};

/// By way of one satellite to the ground: shorter, and not at each boundary.
fn bent_pipe() -> Gap {
    let length = log_normal(Duration::from_millis(80), Duration::from_millis(400), P95);
    Gap { chance: 0.5, before: Duration::ZERO, length, loss: 0.5, hold: Duration::ZERO }
}

fn of(preset: Preset, up: bool) -> Leo {
    let early = preset == Preset::Fixed2022;
    let fixed = matches!(preset, Preset::Fixed2022 | Preset::Fixed2024);
    // Fitted to what `measured.toml` has of the downlinks; that of 2024 is an estimate. Median, sigma, most, obstructions.
    let (median, sigma, most, per_hour) = match preset {
        Preset::Fixed2022 => (89 * MBIT, 0.47, 300, 0.0),
        Preset::Fixed2024 => (150 * MBIT, 0.45, 300, 0.0),
        Preset::Mobile => (156 * MBIT, 0.49, 280, 98.0),
        Preset::Roam => (71 * MBIT, 0.49, 300, 78.0),
    };
    // Outages take from what neighbours have in common: with them 0.65 gives the 0.53 that was measured.
    let correlation = if fixed { 0.53 } else { 0.65 };
    let normal = Shape::Normal;
    let down = Rate { shape: normal, median, sigma, correlation, least: 2 * MBIT, most: most * MBIT, ripple: 0.25 };
    let shape = Shape::LogNormal;
    let upward =
        Rate { shape, median: 18 * MBIT, sigma: 0.6, correlation: 0.99, least: MBIT, most: 50 * MBIT, ripple: 0.11 };
    let obstructed = log_normal(Duration::from_secs(1), Duration::from_secs(13), P90);
    Leo {
        rate: if up { upward } else { down },
        slot: Duration::from_secs(15),
        phase: Duration::from_secs(12),
        rtt: Duration::from_millis(20),
        step: Duration::from_millis(if early { 30 } else { 16 }),
        stay: 0.5,
        slope: Duration::from_millis(1),
        jitter: Duration::from_millis(if early { 14 } else { 5 }),
        jitter_interval: Duration::from_millis(15),
        share: if up { 0.6 } else { 0.4 },
        gap: bent_pipe(),
        surge: Duration::from_millis(40),
        outages: Outages { per_hour, length: obstructed },
    }
}

pub(super) fn read(value: &Value, up: bool) -> Result<(Weather, Defaults), Error> {
    let presets: Vec<(&str, Preset)> = LEO_PRESETS.iter().copied().zip(MEANT).collect();
    let (preset, table) = preset(value, "leo", &presets, "leo = { preset = \"starlink-fixed-2024\" }")?;
    let empty = Table::new();
    let section = Section::new(table.unwrap_or(&empty), &LEO)?;
    let default = of(preset, up);
    let share_up = section.value_or("share_up", 0.6)?;
    let leo = Leo {
        rate: Way { section: &section, way: if up { "_up" } else { "_down" } }.rate(default.rate)?,
        slot: section.value_or("slot", default.slot)?,
        phase: section.value_or("phase", default.phase)?,
        rtt: section.value_or("rtt", default.rtt)?,
        step: section.value_or("step", default.step)?,
        stay: section.value_or("stay", default.stay)?,
        slope: section.value_or("slope", default.slope)?,
        jitter: section.value_or("jitter", default.jitter)?,
        jitter_interval: section.value_or("jitter_interval", default.jitter_interval)?,
        share: if up { share_up } else { 1.0 - share_up },
        gap: gap(&section, default.gap)?,
        surge: section.value_or("surge", default.surge)?,
        outages: outages(&section, default.outages)?,
    };
    if leo.phase.0 > leo.slot.0 {
        let [first, slot] = [leo.phase, leo.slot].map(|time| TIME.write(time.0));
        let problem = format!("the first slot boundary, {first}, is later than one slot, {slot}");
        return Err(Error::at("phase", problem, "set phase to at most slot, or raise slot"));
    }
    Ok((Weather::Leo(leo), defaults(&leo, preset)))
}

/// `gap = "laser" | "bent-pipe" | "none"`, and its numbers one by one.
fn gap(section: &Section<'_>, default: Gap) -> Result<Gap, Error> {
    let kinds = [("laser", LASER), ("bent-pipe", bent_pipe()), ("none", NO_GAP)];
    let kind = section.or("gap", default, |v| word(v, "gap", &kinds))?;
    let found = Gap {
        chance: section.value_or("gap_chance", kind.chance)?,
        before: section.value_or("gap_before", kind.before)?,
        length: spell(section, "gap", "p95", kind.length)?,
        loss: section.value_or("gap_loss", kind.loss)?,
        hold: section.value_or("gap_hold", kind.hold)?,
    };
    Ok(found)
}

/// Loss outside gaps comes in bursts, of 15 packets on average among 30. (Were each packet lost on its own, one TCP would have a
/// twentieth of the rate and not the quarter that was measured.)
fn bursts(share: f64) -> Loss {
    let bad_to_good = 1.0 / 30.0;
    // Half of the packets of the bad state are lost.
    let bad = 2.0 * share;
    Loss::GilbertElliott { good_to_bad: bad_to_good * bad / (1.0 - bad), bad_to_good, loss_good: 0.0, loss_bad: 0.5 }
}

/// Queue: a fifth of a second at the median rate; since 2024 half as long at most, and managed per flow with a target of 30 ms.
fn defaults(leo: &Leo, preset: Preset) -> Defaults {
    let fair = FqCodelParameters {
        codel: CodelParameters { target: Duration::from_millis(30), interval: Duration::from_millis(100) },
        quantum: 1514,
        flows: 1024,
    };
    let managed = preset == Preset::Fixed2024;
    Defaults {
        rate: leo.rate.median,
        delay: Duration::ZERO,
        queue: Queue::Bytes(leo.rate.median / 8 / if managed { 10 } else { 5 }),
        discipline: if managed { Discipline::FqCodel(fair) } else { Discipline::DropTail },
        loss: bursts(match preset {
            Preset::Fixed2022 | Preset::Fixed2024 => 0.001,
            Preset::Mobile => 0.002,
            Preset::Roam => 0.005,
        }),
    }
}
