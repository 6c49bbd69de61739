//! Anabranch's protocol engine: TCP and Multipath TCP v1, sans IO.
//!
//! No clock, no sockets, no randomness, no `unsafe`. In reading order:
//!
//! - [`time`], [`seq`], [`segment`]: what segments and moments are
//! - [`config`], [`event`]: what goes in and what comes out beside segments
//! - [`tcp`]: one subflow (states, scoreboard, loss recovery, receiver)
//! - [`mptcp`]: the connection over several subflows (handshakes, data sequence, reinjection)
//! - [`controller`], [`judge`], [`scheduler`]: the three extension points; [`registry`]: how each is registered and chosen
//! - [`host`]: many connections behind addresses, with octets
//! - [`wire`]: bytes, at the edges (captures, live links, fuzzing)
//! - [`testing`]: what must hold for any algorithm, for the tests of whoever brings one
//! - [`ranges`], [`hold`]: the two containers all of that is built on
#![forbid(unsafe_code)]

pub mod config;
pub mod controller;
pub mod detector;
pub mod event;
pub mod hold;
pub mod host;
pub mod judge;
pub mod mptcp;
pub mod path;
pub mod ranges;
pub mod reduction;
pub mod registry;
pub mod sample;
pub mod scheduler;
pub mod segment;
pub mod seq;
pub mod tcp;
pub mod testing;
pub mod time;
pub mod wire;

pub use config::{Config, ConfigError};
pub use mptcp::connection::{Connection, Linger, Transmit};
