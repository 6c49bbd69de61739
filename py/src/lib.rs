//! Python binding of the laboratory.
use pyo3::prelude::*;

#[pymodule]
mod _core {}
