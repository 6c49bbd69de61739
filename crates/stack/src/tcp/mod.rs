//! A subflow is a TCP connection: its states (RFC 9293), its sending half and its receiving half.

pub(crate) mod door;
mod ecn;
pub(crate) mod fast_open;
pub mod info;
mod peer_window;
pub mod receiver;
mod sender;
pub mod state;
pub mod subflow;
mod syn;
pub(crate) mod throttle;
pub(crate) mod timestamps;

pub use sender::rtt;
pub use state::State;
