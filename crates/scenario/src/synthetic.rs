//! Synthetic traces of a cellular link: a rate that changes at random between given states (a Markov-modulated process).
//!
//! States are the rates in the order given. The link stays in a state for a random time (geometric over milliseconds, with a
//! given mean), then goes to a neighbouring state, up or down with equal probability. Within a state each millisecond has as
//! many opportunities of 1500 octets as correspond to the rate, a fraction of one with that probability. The format is
//! mahimahi's, as of real recordings.

use anabranch_measures::rng::Rng;
use anabranch_stack::time::Duration;
use toml::Value;

use super::error::Error;
use super::schema::FASTEST;
use super::units::{RATE, time};

/// Millisecond stamps of a trace, in order; the last one is its length.
///
/// `rates` and times are quantities as in a scenario. `dwell` is the mean time in a state, at least 1 ms; `duration` is
/// from 1 ms to an hour.
///
/// # Errors
/// If a quantity cannot be read or is out of range, or if there is no rate.
pub fn synthetic_trace(rates: &[String], dwell: &str, duration: &str, seed: u64) -> Result<Vec<u64>, Error> {
    let span = |key: &str, text: &str| {
        let longest = Duration::from_secs(3600);
        time(&Value::String(text.into()), Duration::from_millis(1), longest)
            .map(|d| d.0 / 1_000_000)
            .map_err(|e| e.within(key))
    };
    let read = |(i, text): (usize, &String)| {
        RATE.read(&Value::String(text.clone()), 1, FASTEST).map_err(|e| e.within(&format!("rate[{i}]")))
    };
    let rates: Vec<u64> = rates.iter().enumerate().map(read).collect::<Result<_, _>>()?;
    let (dwell, duration) = (span("dwell", dwell)?, span("duration", duration)?);
    if rates.is_empty() {
        return Err(Error::at("rate", "no rate is given", "give at least one, such as \"10 Mbit/s\""));
    }
    let mut rng = Rng::new(seed, "synthetic trace");
    let leave = 1.0 / dwell as f64;
    let mut state = rates.len() / 2;
    let mut stamps = Vec::new();
    for ms in 0..duration {
        // 1500 octets a millisecond are 12 Mbit/s.
        let expected = rates[state] as f64 / 12e6;
        let whole = expected as u64;
        let here = whole + u64::from(rng.chance(expected - whole as f64));
        stamps.extend((0..here).map(|_| ms));
        if rates.len() > 1 && rng.chance(leave) {
            let up = rng.chance(0.5);
            state = match state {
                0 => 1,
                s if s + 1 == rates.len() || !up => s - 1,
                s => s + 1,
            };
        }
    }
    // The last stamp is the trace's length.
    stamps.push(duration);
    Ok(stamps)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(rates: &[&str], dwell: &str, seed: u64) -> Vec<u64> {
        let rates: Vec<String> = rates.iter().map(|r| r.to_string()).collect();
        synthetic_trace(&rates, dwell, "600 s", seed).unwrap()
    }

    /// One state: so many opportunities as the rate gives. 4 Mbit/s over 600 s are 200,000, with a standard deviation of 365.
    #[test]
    fn a_single_state_gives_its_rate() {
        let trace = made(&["4 Mbit/s"], "1 s", 3);
        assert!((trace.len() as f64 - 200_000.0).abs() < 1_500.0, "{}", trace.len());
        assert!(trace.is_sorted() && trace.last() == Some(&600_000));
    }

    /// Neighbours up and down with equal chance: of three states the middle one is visited as often as both others together,
    /// so the mean is (1 + 2 x 6 + 11) / 4 = 6 Mbit/s; 1200 visits of half a second make its error a few per cent.
    #[test]
    fn several_states_give_their_mean_and_vary() {
        let trace = made(&["1 Mbit/s", "6 Mbit/s", "11 Mbit/s"], "500 ms", 5);
        let mean = trace.len() as f64 * 12_000.0 / 600.0 / 1e6;
        assert!((mean - 6.0).abs() < 0.6, "{mean}");
        let seconds: Vec<usize> = (0..600).map(|s| trace.iter().filter(|&&t| t / 1000 == s).count()).collect();
        assert!(seconds.iter().min() < Some(&200) && seconds.iter().max() > Some(&800), "a second has 83 to 917");
    }

    #[test]
    fn a_seed_gives_a_trace() {
        assert_eq!(made(&["2 Mbit/s", "8 Mbit/s"], "1 s", 1), made(&["2 Mbit/s", "8 Mbit/s"], "1 s", 1));
        assert_ne!(made(&["2 Mbit/s", "8 Mbit/s"], "1 s", 1), made(&["2 Mbit/s", "8 Mbit/s"], "1 s", 2));
    }

    #[test]
    fn wrong_quantities_are_named() {
        let refused = |rates: &[&str], dwell: &str| {
            let rates: Vec<String> = rates.iter().map(|r| r.to_string()).collect();
            synthetic_trace(&rates, dwell, "1 s", 1).unwrap_err().to_string()
        };
        assert!(refused(&["fast"], "1 s").contains("rate[0]"));
        assert!(refused(&["1 Mbit/s"], "0 s").contains("dwell"));
        assert!(refused(&[], "1 s").contains("no rate is given"));
    }
}
