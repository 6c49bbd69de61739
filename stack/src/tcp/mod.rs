//! One TCP subflow (RFC 9293). It keeps with each segment which part of the data stream it carries, for whoever asks, and does not
//! look into it: order, mappings and the shared window of the data are [`crate::mptcp`]'s.

pub(crate) mod door;
mod loss;
pub mod receiver;
pub mod rtt;
pub(crate) mod scoreboard;
pub mod subflow;
pub(crate) mod throttle;
pub(crate) mod undo;

pub use subflow::State;
