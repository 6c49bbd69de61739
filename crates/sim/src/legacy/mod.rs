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

pub use controller::Controller;

/// What happens on duplicate acknowledgements (rule 6), named as in the papers' tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// "NoPR": fast retransmit at the third.
    None,
    /// "D_SACK": the receiver reports data sequence numbers, and duplicates count against the late subflow.
    Dsack,
    /// "Eifel": timestamps, tested on duplicates only.
    Eifel,
    /// "TCP_DOOR": a stub; duplicates are ignored.
    Door,
    /// "F_RTO": duplicates are ignored, acknowledgements are discarded on purpose.
    Frto,
}

/// The controllers by name. The papers' "Coupled" is `rtt-compensator`.
pub static CONTROLLERS: &[(&str, Controller)] = &[
    ("uncoupled", Controller::Uncoupled),
    ("fully-coupled", Controller::FullyCoupled),
    ("linked-increases", Controller::LinkedIncreases),
    ("rtt-compensator", Controller::RttCompensator),
];

/// The recoveries by name.
pub static RECOVERIES: &[(&str, Recovery)] = &[
    ("none", Recovery::None),
    ("dsack", Recovery::Dsack),
    ("eifel", Recovery::Eifel),
    ("door", Recovery::Door),
    ("frto", Recovery::Frto),
];

/// The mean probability with which the original's F_RTO begins to discard acknowledgements. There it is 0.061 times the wall
/// clock's position in a period, which is uniform in the long run (rule 6.5).
pub const ACK_DISCARD: f64 = 0.0305;

/// The sink reads this many octets at a time (rule 2); the rest of a larger segment would stay in
/// its buffer.
pub const LARGEST_MSS: u32 = 2000;

/// The parameters of a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// Congestion control.
    pub controller: Controller,
    /// Answer to duplicate acknowledgements.
    pub recovery: Recovery,
    /// Under [`Recovery::Frto`]: the probability, at each acknowledgement, that a burst of acknowledgements is discarded.
    pub ack_discard: f64,
    /// Payload octets of a full segment.
    pub mss: u32,
    /// A variant that is not the model: its sender with a receiver that acknowledges each subflow in the subflow's order. It
    /// shows the effect of the model's receiver. Tests use it; no scenario can ask for it.
    pub standard_receiver: bool,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            controller: Controller::RttCompensator,
            recovery: Recovery::None,
            ack_discard: ACK_DISCARD,
            mss: 1400,
            standard_receiver: false,
        }
    }
}

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
