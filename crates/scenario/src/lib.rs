//! A scenario: everything a run depends on, validated, in SI units (nanoseconds, bit/s, octets,
//! ratios).
//!
//! [`Source`] turns a TOML document and overrides into a [`Scenario`] or an [`Error`] that names
//! the place.
//!
//! The modules stand in layers, from the lowest: messages (`error`, `nearest`, `decimal`);
//! quantities (`units`); what is described (`model`, `words`); the table of keys (`schema`) and its
//! reader (`reader`); the tables of a document, each in a module of its own; whole documents
//! (`parse`, `source`, `template`) and what is said of a scenario (`json`, `warnings`).
//! `tests/test_layers_rust.py` checks the layers.
#![forbid(unsafe_code)]
// Readers of these pages have the source beside them, so links may lead to private items.
#![allow(rustdoc::private_intra_doc_links)]
#![deny(rustdoc::broken_intra_doc_links)]

mod algorithm;
pub mod algorithms;
pub mod application;
mod boxes;
mod change;
mod config;
mod connection;
mod decimal;
mod discipline;
mod draw;
mod error;
mod generated;
mod json;
mod legacy;
mod link;
pub mod measured;
mod memory;
pub mod middlebox;
mod model;
pub mod model_2011;
mod mtu;
pub mod nearest;
mod overrides;
mod page;
mod parse;
mod path_manager;
pub mod presets;
mod properties;
mod reader;
mod route;
pub mod schema;
mod si;
mod source;
mod syntax;
mod synthetic;
mod template;
#[cfg(test)]
mod tests;
mod topology;
mod trace;
mod transfer;
mod units;
pub mod vary;
mod video;
mod warnings;
mod weather;
mod wifi;
mod wifi_high;
mod words;

pub use anabranch_measures::ask::{Ask, go_on};
pub use application::{Application, Extent};
pub use config::connection_config;
pub use error::Error;
pub use model::*;
pub use schema::keys;
pub use source::{Source, parse};
pub use synthetic::synthetic_trace;
pub use template::template;
pub use units::duration;
pub use weather::*;
