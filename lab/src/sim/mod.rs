//! The discrete-event simulator: virtual time, links, hosts, applications.
//!
//! - [`slots`]: the event queue
//! - [`rng`]: seeded randomness by component name
//! - [`link`]: one direction of a link: queue, transmitter, propagation, impairments
//! - [`packet`]: what travels
//! - [`app`]: applications
//! - [`network`]: links, packets on them, routes
//! - [`stream`], [`datagrams`]: connections and constant-rate flows with their applications
//! - [`trace`]: the record of protocol events and its hash
//! - [`world`]: all of it together

pub mod app;
pub mod datagrams;
pub mod link;
pub mod network;
pub mod packet;
pub mod rng;
pub mod slots;
pub mod stream;
pub mod trace;
pub mod world;
