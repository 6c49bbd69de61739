//! Parameters of a connection of the 2011 model: the multipath TCP of ns-3 that four papers
//! measured.
//!
//! Comments cite the numbered rules of `crates/sim/src/legacy/rules.md`. The crate `sim` implements
//! the model.

/// The model's four congestion controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Controller {
    /// The window of each subflow grows and falls independently.
    Uncoupled,
    /// Growth and reduction depend on the sum of all windows.
    FullyCoupled,
    /// Growth by alpha divided by the sum of all windows.
    LinkedIncreases,
    /// Growth by alpha divided by the sum of all windows, at most that of a single flow.
    RttCompensator,
}

/// Reaction to duplicate ACKs (rule 6). Quoted are the names in the papers' tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// "NoPR": fast retransmit at the third duplicate ACK.
    None,
    /// "D_SACK": the receiver reports data sequence numbers, and duplicate ACKs count against the
    /// subflow that is late.
    Dsack,
    /// "Eifel": timestamps, tested on duplicate ACKs only.
    Eifel,
    /// "TCP_DOOR": a stub that ignores duplicate ACKs.
    Door,
    /// "F_RTO": ignores duplicate ACKs, and discards ACKs on purpose.
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

/// Mean probability with which the original's F_RTO begins to discard ACKs. In the original the
/// probability is 0.061 times the wall clock's position in a period (rule 6.5). The position is
/// uniform in the long run, so the mean is half of 0.061.
pub const ACK_DISCARD: f64 = 0.0305;

/// Largest segment size, in octets. The sink reads 2000 octets at a time (rule 2), and the rest of
/// a longer segment would stay in the buffer.
pub const LARGEST_MSS: u32 = 2000;

/// Parameters of a connection of the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// Congestion control.
    pub controller: Controller,
    /// Reaction to duplicate ACKs.
    pub recovery: Recovery,
    /// Probability, at each ACK, that the sender begins to discard a burst of ACKs. Used only by
    /// [`Recovery::Frto`].
    pub ack_discard: f64,
    /// Payload octets of a full segment.
    pub mss: u32,
    /// True: a variant with a receiver that acknowledges each subflow in the subflow's own order,
    /// to show the effect of the model's receiver. Only tests set this field.
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
