//! One TCP subflow (RFC 9293), without knowledge of the data stream it carries.

pub(crate) mod door;
mod loss;
pub mod receiver;
pub mod rtt;
pub mod scoreboard;
pub mod subflow;
pub(crate) mod throttle;
pub mod undo;

pub use subflow::State;
