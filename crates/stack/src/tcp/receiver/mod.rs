//! The receiving half of a subflow: data in order, segments held because of a hole, and what acknowledgements report and when.

mod coupled_ack;
pub mod reassembly;

pub use reassembly::{Arrival, Piece, Receiver};

pub(crate) mod acknowledgements;
