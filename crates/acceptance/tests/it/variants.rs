//! Algorithms as Linux has them: a name of their own means the same as the parameter `linux = 1`.

use anabranch_stack::controller::Controller;
use anabranch_stack::detector::Detector;
use anabranch_stack::judge::Judge;
use anabranch_stack::reduction::Reduction;
use anabranch_stack::registry::{Choice, Kind};
use anabranch_stack::scheduler::Scheduler;
use serde_json::Value;

use crate::support::{finish, scenario};

/// Name, key, the algorithm that it is a variant of, and parameters of both.
const VARIANTS: [(&str, &str, &str, &str); 8] = [
    ("linux-reno", "controller", "uncoupled", ""),
    ("linux-cubic", "controller", "cubic", ""),
    ("linux-cubic", "controller", "cubic", ", hz = 250, hystart = 0"),
    ("linux-olia", "controller", "olia", ""),
    ("linux-balia", "controller", "balia", ""),
    ("linux-blest", "scheduler", "blest", ""),
    ("linux-ecf", "scheduler", "ecf", ""),
    ("linux-ecf", "scheduler", "ecf", ", beta = 1"),
];

/// The trace of a transfer in which losses, unlike paths and a small buffer make algorithms differ.
fn trace(key: &str, value: &str) -> Value {
    let text = format!(
        "seed = 5
         transfer = {{ bytes = '3 MB' }}
         connection = {{ {key} = {value}, receive_buffer = '120 kB' }}
         path = [{{ rate = '9 Mbit/s', delay = '10 ms', loss = '0.3 %' }}, {{ rate = '2 Mbit/s', delay = '60 ms' }}]"
    );
    finish(&scenario(&text)).summary["trace_sha256"].clone()
}

#[test]
fn the_name_and_the_parameter_mean_the_same() {
    for (name, key, base, parameters) in VARIANTS {
        let named = trace(key, &format!("{{ name = '{name}'{parameters} }}"));
        let flagged = trace(key, &format!("{{ name = '{base}', linux = 1{parameters} }}"));
        assert_eq!(named, flagged, "{name}{parameters}");
        // The parameter counts: without it the trace is another one.
        let parameters = parameters.strip_prefix(", hz = 250").unwrap_or(parameters);
        let plain = trace(key, &format!("{{ name = '{base}', linux = 0{parameters} }}"));
        assert_ne!(named, plain, "{name}{parameters}");
    }
}

/// Whoever adds a variant adds it to the comparison above.
#[test]
fn every_variant_is_compared() {
    fn variants<T: ?Sized + Kind>() -> Vec<(String, String)> {
        let of = |choice: Choice<T>| Some((choice.name().to_string(), choice.info().variant_of?.to_string()));
        Choice::all().into_iter().filter_map(of).collect()
    }
    let mut known = variants::<dyn Controller>();
    known.extend(variants::<dyn Scheduler>());
    let mut compared = VARIANTS.map(|(name, _, base, _)| (name.to_string(), base.to_string())).to_vec();
    compared.dedup();
    assert_eq!(known, compared);
    assert!(variants::<dyn Detector>().is_empty() && variants::<dyn Judge>().is_empty());
    assert!(variants::<dyn Reduction>().is_empty());
}
