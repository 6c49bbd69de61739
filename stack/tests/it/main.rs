//! Tests of the engine from outside: what goes in, what comes out, at exact virtual times.
//!
//! - [`bench`]: one endpoint against a script in packetdrill's dialect
//! - [`pair`]: two endpoints and a filter between them

#[allow(dead_code)]
mod pair;
