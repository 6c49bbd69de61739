//! Everything with a clock: the simulator, scenarios and metrics.
pub mod scenario;
