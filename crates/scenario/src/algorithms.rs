//! The algorithms whose names scenarios may use.
//!
//! Whatever reads, draws or lists names of algorithms takes [`Registries`] as an argument. Without
//! the argument it takes [`registered`]: the engine's algorithms and those that this process has
//! added with [`register`].

use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use anabranch_stack::ConfigError;
use anabranch_stack::config::{Registered, Registries};
use anabranch_stack::controller::Controller;
use anabranch_stack::detector::Detector;
use anabranch_stack::judge::Judge;
use anabranch_stack::reduction::Reduction;
use anabranch_stack::registry::{Factory, Info, Parameter, Unit};
use anabranch_stack::scheduler::Scheduler;
use serde_json::{Value, json};

static REGISTERED: LazyLock<RwLock<Arc<Registries>>> = LazyLock::new(RwLock::default);

/// Adds an algorithm for the whole process: from now on scenarios, sweeps, torture and lists know
/// its name.
///
/// # Errors
/// As [`Registry::add`](anabranch_stack::registry::Registry::add), above all if the name is
/// registered already.
pub fn register<T: ?Sized + Registered>(factory: impl Factory<T> + 'static) -> Result<(), ConfigError> {
    let mut all = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    Arc::make_mut(&mut all).add(Arc::new(factory) as Arc<dyn Factory<T>>)
}

/// The engine's algorithms, and those that this process has registered.
pub fn registered() -> Arc<Registries> {
    REGISTERED.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The algorithms of `known` as JSON: for each kind a list, and of each algorithm all that is
/// known.
pub fn list(known: &Registries) -> Value {
    json!({
        "controller": of_kind::<dyn Controller>(known),
        "detector": of_kind::<dyn Detector>(known),
        "reduction": of_kind::<dyn Reduction>(known),
        "judge": of_kind::<dyn Judge>(known),
        "scheduler": of_kind::<dyn Scheduler>(known),
    })
}

fn of_kind<T: ?Sized + Registered>(known: &Registries) -> Vec<Value> {
    known.of::<T>().iter().map(|choice| described(choice.info())).collect()
}

fn described(i: &Info) -> Value {
    json!({
        "name": i.name,
        "label": i.label,
        "variant_of": i.variant_of,
        "summary": i.summary,
        "source": i.source,
        "needs": i.needs.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        "validated": i.validated,
        "fairness": i.fairness.map(|f| f.to_string()),
        "parameters": i.parameters.iter().map(parameter).collect::<Vec<_>>(),
    })
}

fn parameter(p: &Parameter) -> Value {
    let unit = match p.unit {
        Unit::Time => "s",
        Unit::RoundTrips => "smoothed round-trip times",
        Unit::Whole => "whole number",
        Unit::Share => "share",
        _ => "number",
    };
    let Parameter { name, default, least, most, meaning, .. } = p;
    json!({ "name": name, "default": default, "least": least, "most": most, "unit": unit, "meaning": meaning })
}
