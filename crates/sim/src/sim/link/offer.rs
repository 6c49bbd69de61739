//! What a link offers over time, whoever uses it: its rate and its delay, as the scenario has them.
//!
//! Rates by weather, by a trace, or fixed and changed at times; none while the link is down. A radio is left out: what it offers
//! depends on who sends.

use super::weather;
use crate::sim::opportunities::{OPPORTUNITY, Opportunities};
use anabranch_scenario::{Change, ChangeKind, Direction, Scenario};

/// The direction of link number `link`, its changes, and what the weather calls it.
fn look(scenario: &Scenario, link: usize, up: bool) -> (&Direction, Vec<&Change>, &'static str) {
    let of = &scenario.links[link];
    let concerns = |c: &&Change| if up { c.up } else { c.down };
    (if up { &of.up } else { &of.down }, of.changes.iter().filter(concerns).collect(), if up { "up" } else { "down" })
}

/// The spans in which the direction is up, with its fixed rate then: from, until, bit/s.
fn spans(direction: &Direction, changes: &[&Change], end: u64) -> Vec<(u64, u64, u64)> {
    let (mut rate, mut works, mut since, mut spans) = (direction.rate, true, 0, Vec::new());
    for change in changes.iter().take_while(|c| c.at.0 < end) {
        let now = (rate, works);
        match change.what {
            ChangeKind::Rate(new) => rate = new,
            ChangeKind::LinkDown => works = false,
            ChangeKind::LinkUp => works = true,
            _ => {}
        }
        if now != (rate, works) {
            spans.extend(now.1.then_some((since, change.at.0, now.0)));
            since = change.at.0;
        }
    }
    spans.extend(works.then_some((since, end, rate)));
    spans
}

/// Bits that a direction of a link offers in each of `steps` steps of `step` nanoseconds.
pub fn offered(scenario: &Scenario, link: usize, up: bool, step: u64, steps: u64) -> Vec<f64> {
    let (direction, changes, way) = look(scenario, link, up);
    let spans = spans(direction, &changes, step.saturating_mul(steps));
    let trace = direction.trace.as_ref().map(|t| Opportunities::new(t.stamps.clone()));
    let weather =
        direction.weather.as_ref().map(|w| weather::Weather::new(w, scenario.seed, &scenario.links[link].name, way));
    // Of what varies by itself, bits since the beginning.
    let until = |at: u64, rate: u64| match (&trace, &weather) {
        (Some(t), _) => t.until(at) as f64 * (OPPORTUNITY * 8) as f64,
        (_, Some(w)) => w.bits(at),
        _ => rate as f64 * at as f64 / 1e9,
    };
    let mut bits = vec![0.0; steps as usize];
    for (from, to, rate) in spans {
        let mut before = until(from, rate);
        for n in from / step..steps.min(to.div_ceil(step)) {
            let now = until(to.min((n + 1) * step), rate);
            bits[n as usize] += now - before;
            before = now;
        }
    }
    bits
}

/// Seconds that lone packets of 64 octets are under way over a direction of a link, `interval` nanoseconds apart: propagation and what
/// the weather adds, without the time that a fixed rate takes. None where one is lost or the link is down; random loss and delay
/// variation of the link are left out.
pub fn delays(scenario: &Scenario, link: usize, up: bool, interval: u64, probes: u64) -> Vec<Option<f64>> {
    let (direction, changes, way) = look(scenario, link, up);
    let name = &scenario.links[link].name;
    let own = direction.weather.as_ref().map(|w| weather::probed(w, scenario.seed, name, way, interval, probes));
    let mut changes = changes.into_iter().peekable();
    let (mut delay, mut works) = (direction.delay.0, true);
    let one = |n: u64| {
        while let Some(change) = changes.next_if(|c| c.at.0 <= n * interval) {
            match change.what {
                ChangeKind::Delay(new) => delay = new.0,
                ChangeKind::LinkDown => works = false,
                ChangeKind::LinkUp => works = true,
                _ => {}
            }
        }
        let more = own.as_ref().map_or(Some(0), |own| own[n as usize])?;
        works.then(|| (delay + more) as f64 / 1e9)
    };
    (0..probes).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_scenario::parse;

    fn scenario(keys: &str) -> Scenario {
        parse(&format!("transfer = {{}}\n[[path]]\n{keys}"), "t", &[], None).expect("a scenario")
    }

    const MS: u64 = 1_000_000;

    #[test]
    fn a_fixed_rate_changes_at_its_times_and_is_nothing_while_the_link_is_down() {
        let s = scenario(
            "rate = '8 Mbit/s'\nchanges = [{ at = '2.5 s', rate = '4 Mbit/s' }, { at = '4 s', state = 'down', direction = 'up' },
            { at = '5.25 s', state = 'up' }]",
        );
        assert_eq!(offered(&s, 0, true, 1000 * MS, 7), [8e6, 8e6, 6e6, 4e6, 0.0, 3e6, 4e6]);
        assert_eq!(offered(&s, 0, false, 1000 * MS, 7), [8e6, 8e6, 6e6, 4e6, 4e6, 4e6, 4e6]);
    }

    #[test]
    fn a_trace_offers_its_opportunities_also_in_further_rounds() {
        let s = scenario("trace = [1, 1, 5, 10]");
        let packets: Vec<f64> = offered(&s, 0, true, 5 * MS, 4).into_iter().map(|b| b / 12_000.0).collect();
        assert_eq!(packets, [3.0, 1.0, 3.0, 1.0]);
    }

    #[test]
    fn weather_is_what_the_link_makes_of_it() {
        let s = scenario("leo = 'starlink-mobile'");
        let all: f64 = offered(&s, 0, false, 100 * MS, 600).iter().sum();
        let direct: f64 =
            weather::offered(s.links[0].down.weather.as_ref().unwrap(), 1, "path0", "down", 1000 * MS, 60).iter().sum();
        assert!((all - direct).abs() < 1.0 && all > 1e9, "{all} {direct}");
    }

    #[test]
    fn delays_follow_changes_and_end_where_the_link_does() {
        let s =
            scenario("delay = '20 ms'\nchanges = [{ at = '1 s', delay = '50 ms' }, { at = '2 s', state = 'down' }]");
        assert_eq!(delays(&s, 0, true, 500 * MS, 5), [Some(0.02), Some(0.02), Some(0.05), Some(0.05), None]);
    }
}
