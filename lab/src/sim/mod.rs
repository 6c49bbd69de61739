//! The discrete-event simulator: virtual time, links, hosts, applications.
//!
//! - the event queue: [`slots`]
//! - seeded randomness by component name: [`rng`]
//! - one direction of a link, with queue, transmitter, propagation, impairments: [`link`]
//! - what travels: [`packet`]
//! - applications: [`app`]
//! - links, packets on them, routes: [`network`]
//! - connections and constant-rate flows with their applications: [`stream`], [`datagrams`]
//! - the record of protocol events and its hash: [`trace`]
//! - all of it together: [`world`]

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
