//! How a link varies by itself, as JSON.

use serde_json::{Value, json};

use crate::weather::{Cellular, Leo, Outages, Rate, Shape, Spell, Weather};

pub(super) fn describe(weather: &Weather) -> Value {
    match weather {
        Weather::Leo(l) => leo(l),
        Weather::Cellular(c) => cellular(c),
    }
}

fn rate(r: &Rate) -> Value {
    json!({
        "shape": match r.shape {
            Shape::Normal => "normal",
            Shape::LogNormal => "log-normal",
        },
        "median_bps": r.median,
        "sigma": r.sigma,
        "correlation": r.correlation,
        "least_bps": r.least,
        "most_bps": r.most,
        "ripple": r.ripple,
    })
}

fn spell(s: &Spell) -> Value {
    json!({ "median_s": s.median.as_secs_f64(), "sigma": s.sigma })
}

fn outages(o: &Outages) -> Value {
    json!({ "per_hour": o.per_hour, "length": spell(&o.length) })
}

fn leo(l: &Leo) -> Value {
    json!({
        "kind": "leo",
        "rate": rate(&l.rate),
        "slot_s": l.slot.as_secs_f64(),
        "phase_s": l.phase.as_secs_f64(),
        "rtt_s": l.rtt.as_secs_f64(),
        "step_s": l.step.as_secs_f64(),
        "stay": l.stay,
        "slope_s": l.slope.as_secs_f64(),
        "jitter_s": l.jitter.as_secs_f64(),
        "jitter_interval_s": l.jitter_interval.as_secs_f64(),
        "share": l.share,
        "gap": {
            "chance": l.gap.chance,
            "before_s": l.gap.before.as_secs_f64(),
            "length": spell(&l.gap.length),
            "loss": l.gap.loss,
            "hold_s": l.gap.hold.as_secs_f64(),
        },
        "surge_s": l.surge.as_secs_f64(),
        "outages": outages(&l.outages),
    })
}

fn cellular(c: &Cellular) -> Value {
    json!({
        "kind": "cellular",
        "rate": rate(&c.rate),
        "slow": c.slow,
        "coherence_s": c.coherence.as_secs_f64(),
        "interval_s": c.interval.as_secs_f64(),
        "block_error": c.block_error,
        "harq_s": c.harq.as_secs_f64(),
        "harq_tries": c.harq_tries,
        "rlc_s": c.rlc.as_secs_f64(),
        "grant_s": c.grant.as_secs_f64(),
        "grant_period_s": c.grant_period.as_secs_f64(),
        "sleep_after_s": c.sleep_after.as_secs_f64(),
        "sleep_s": c.sleep.as_secs_f64(),
        "handover_s": c.handover.as_secs_f64(),
        "jump": c.jump,
        "gap": { "length": spell(&c.gap), "loss": c.gap_loss },
        "failure": c.failure,
        "outages": outages(&c.outages),
    })
}
