//! The laboratory from outside: scenarios in, summaries and traces out, each figure against something that does not
//! come from the program: a closed formula, a count made anew from the trace, a published model.
//!
//! - [`support`], [`trace`]: running a scenario written in a test, and reading its trace
//! - [`statistics`], [`model`]: bounds for what is drawn by chance; a reference model of a link
//! - [`link`], [`delay`], [`chance`]: one direction of a link by itself
//! - [`latency`], [`changes`], [`load`]: links in a run, seen through the trace
//! - [`applications`], [`topology`]: who sends what, and by which way
//! - [`accounting`]: the summary, recomputed from the trace
//! - [`ending`]: how a run ends, and what it is called
//! - [`determinism`]: what changes a trace and what must not
//! - [`targets`]: what the whole must reach; [`failover`]: a path that goes down and comes back
//! - [`phase`]: a finding about drop-tail queues without chance
//! - [`legacy`], [`legacy_runs`]: the 2011 model, rule by rule and in runs; [`legacy_reference`]: against runs of the original
//! - [`examples`]: what the comments in `examples/` promise

mod accounting;
mod applications;
mod chance;
mod changes;
mod delay;
mod determinism;
mod ending;
mod examples;
mod failover;
mod latency;
mod legacy;
mod legacy_reference;
mod legacy_runs;
mod link;
mod load;
mod model;
mod phase;
mod statistics;
mod support;
mod targets;
mod topology;
mod trace;
