//! Anabranch's protocol engine: TCP and Multipath TCP v1, sans IO.
#![forbid(unsafe_code)]
pub mod config;
pub mod controller;
pub mod recovery;
pub mod registry;
pub mod scheduler;
pub mod seq;
pub mod tcp;
pub mod time;
