//! Multipath TCP in scripts, in the style of the multipath-tcp fork of packetdrill: options with names for keys, addresses on the
//! lines of segments, and `ip mptcp`.
//!
//! - [`option`], `read`, `show`: the options as they are written
//! - `names`: what names stand for, and each connection's keys and random numbers
//! - `arriving`: an option of a segment that arrives, complete; `sent`: options of a segment that was sent, beside the expected ones
//! - `flows`: which 4-tuple a line is about
//! - `manager`: when the host advertises its addresses and joins, as `ip mptcp` configures it

mod arriving;
pub mod flows;
pub mod manager;
mod names;
pub mod option;
mod read;
mod sent;
mod show;

pub use arriving::Arriving;
pub use names::{Member, Names};
pub use option::Mp;
pub use read::{TABLE, place};
pub use sent::Leaving;
