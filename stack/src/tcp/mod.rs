//! One TCP subflow.
pub mod undo;
