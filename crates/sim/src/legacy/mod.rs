//! The 2011 model: the multipath TCP of ns-3 that four papers of 2014 to 2016 measured.
//!
//! It exists to reproduce those papers and for nothing else. It is not TCP. A subflow's cumulative
//! acknowledgement waits for the order of the *data*; pure acknowledgements occupy sequence
//! numbers; ssthresh in octets is compared with a window in segments; a timeout does not reduce the
//! window to one segment; there is no SACK, no NewReno and no reinjection. Of the five recoveries
//! one is a stub, and one discards acknowledgements on purpose. So it shares nothing with the
//! engine (`anabranch_stack`) but the clock and the simulated network, which carries its segments
//! with their own lengths. `stack = "legacy-2011"` selects it. Comments here cite the numbered
//! rules of `rules.md`; `docs/legacy-validation.md` says how far its results agree with those
//! of the original.
//!
//! - [`sender`]: staging buffer, scheduler, acknowledgements, timers
//! - [`subflow`]: segments, window, round-trip time and timer of one subflow of the sender
//! - [`reordering`]: what a duplicate acknowledgement does under each of the five recoveries
//! - [`controller`]: growth and cut of the window
//! - [`rtt`]: round-trip time and timeout
//! - [`counts`]: how often each segment was acknowledged
//! - [`receiver`]: the rule of acknowledgement, on which the papers' results rest
//! - [`session`]: handshake, application, and the connection to the simulator
//!
//! The original looks through every segment ever sent at every acknowledgement. Here the same
//! questions are answered by binary search and sums over a tree, so that a transfer takes time in
//! proportion to its length.
//!
//! Left out because no parameter of a scenario reaches it: the drop probability inside the sender
//! (rule 5.6), REMOVE_ADDR, the closing handshake (a transfer is over when its last octet is read).

pub mod controller;
pub mod counts;
pub mod receiver;
pub mod reordering;
pub mod rtt;
pub mod sender;
pub mod session;
pub mod subflow;

pub use anabranch_scenario::model_2011::{
    ACK_DISCARD, CONTROLLERS, Controller, LARGEST_MSS, Model, RECOVERIES, Recovery,
};

/// Octets of options (rule 1), which have no length octet.
pub mod option {
    /// Token of the connection, kind 30.
    pub const CAPABLE: u32 = 5;
    /// Joining subflow, kind 31.
    pub const JOIN: u32 = 6;
    /// One address, kind 32.
    pub const ADDRESS: u32 = 6;
    /// Mapping, kind 34.
    pub const MAPPING: u32 = 15;
    /// Timestamps, kind 8.
    pub const TIMESTAMPS: u32 = 17;
    /// Two blocks of data sequence numbers, kind 5.
    pub const REPORT: u32 = 33;
}

/// Octets on the wire (rule 1): 20 of IP, 2 of PPP, the TCP header and the payload. Options count
/// twice: their octets, padded to words, and once more the number of words.
pub fn wire_len(payload: u32, options: u32) -> u32 {
    const HEADERS: u32 = 20 + 2 + 20;
    let words = options.div_ceil(4);
    HEADERS + 4 * words + words + payload
}

/// The number nearest to `reference` whose low 32 bits are `wire`.
pub fn near(reference: u64, wire: u32) -> u64 {
    let ahead = wire.wrapping_sub(reference as u32) as i32;
    reference.saturating_add_signed(i64::from(ahead))
}
