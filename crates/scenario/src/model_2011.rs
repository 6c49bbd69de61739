//! What a scenario says of the 2011 model, the multipath TCP of ns-3 that four papers measured.
//!
//! The rules are numbered as in `crates/sim/src/legacy/rules.md`; the crate `sim` carries them out.

/// The model's four congestion controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Controller {
    /// Each subflow grows and is cut by itself.
    Uncoupled,
    /// Growth and cut in proportion to the sum.
    FullyCoupled,
    /// Growth by alpha over the sum.
    LinkedIncreases,
    /// Growth by alpha over the sum, but not more than a single flow would grow.
    RttCompensator,
}

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
