//! The receiving half of a subflow: what is in order, what is held for a hole, and what acknowledgements say of it and when.

mod coupled_ack;
pub mod reassembly;

pub use reassembly::{Arrival, Piece, Receiver};

pub(crate) mod acknowledgements;
