//! What an object of Python records through.

use std::sync::Arc;

use pyo3::prelude::*;

use super::AlgorithmError;
use super::record::Owner;
use super::state::RunState;

/// What an object of Python records through.
#[pyclass(frozen, module = "anabranch._core")]
pub struct Recorder {
    run: Arc<RunState>,
    owner: Owner,
}

impl Recorder {
    pub fn new(run: Arc<RunState>, owner: Owner) -> Self {
        Self { run, owner }
    }
}

#[pymethods]
impl Recorder {
    /// Records `value` as `name` at the virtual time of the present call.
    fn record(&self, name: &str, value: f64) -> PyResult<()> {
        self.run.record(self.owner, name, value).map_err(AlgorithmError::new_err)
    }

    /// A copy of an algorithm records to the same columns.
    fn __deepcopy__<'py>(this: PyRef<'py, Self>, _memo: &Bound<'py, PyAny>) -> PyRef<'py, Self> {
        this
    }
}
