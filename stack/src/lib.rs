//! Anabranch's protocol engine: TCP and Multipath TCP v1, sans IO.
//!
//! No clock, no sockets, no randomness, no `unsafe`. In reading order:
//!
//! - [`time`], [`seq`], [`segment`]: what segments and moments are
//! - [`config`], [`event`]: what goes in and what comes out beside segments
//! - [`tcp`]: one subflow (states, scoreboard, loss recovery, receiver)
//! - [`mptcp`]: the connection over several subflows (handshakes, data sequence, reinjection)
//! - [`controller`], [`recovery`], [`scheduler`]: the three extension points, each with its registry
//! - [`wire`]: bytes, at the edges (captures, live links, fuzzing)
//! - [`ranges`], [`hold`]: the two containers all of that is built on
#![forbid(unsafe_code)]

pub mod config;
pub mod controller;
pub mod event;
pub mod hold;
pub mod mptcp;
pub mod ranges;
pub mod recovery;
pub mod registry;
pub mod scheduler;
pub mod segment;
pub mod seq;
pub mod tcp;
pub mod time;
pub mod wire;

pub use config::Config;
pub use mptcp::connection::{Connection, Linger, Transmit};
