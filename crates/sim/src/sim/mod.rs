//! The discrete-event simulator: virtual time, links, hosts, applications.
//!
//! - the event queue: [`slots`]
//! - seeded randomness by component name: [`rng`]
//! - one direction of a link, with transmitter, propagation, impairments: [`link`]; the queue
//!   before it: [`queue`]; how much it could have sent: `capacity`; a transmitter paced by a
//!   recorded trace: [`opportunities`]
//! - the radio part of wireless links: [`radio`]
//! - packets: [`packet`]
//! - boxes that change, drop or delay segments: [`middlebox`]
//! - applications: [`app`]; what they draw: `draw`
//! - routes: [`routes`]; links and packets on them: [`network`]
//! - connections and constant-rate flows with their applications: [`stream`], [`datagrams`]; what
//!   the event loop asks of them: [`session`]
//! - which paths a connection joins: [`paths`]; its measures when a transfer's time is over:
//!   `measured`
//! - bytes: [`content`], [`codec`]; captures of a run: [`tap`]
//! - the record of protocol events and its hash: [`trace`]
//! - all of it together: [`world`]

pub mod app;
mod capacity;
pub mod codec;
pub mod content;
pub mod datagrams;
mod draw;
pub mod link;
mod measured;
pub mod middlebox;
pub mod network;
pub mod opportunities;
pub mod packet;
pub mod paths;
pub mod queue;
pub mod radio;
pub mod routes;
pub mod session;
pub mod slots;
pub mod stream;
pub mod tap;
pub mod trace;
pub mod world;

pub use anabranch_measures::rng;
