//! Schedulers compiled to machine code: a function of C that reads rows of real numbers.

use anabranch_stack::scheduler::{Assignment, Decision, Offer as EngineOffer, Scheduler};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::decision::send;
use super::instance::Instance;
use super::offer::Offer;
use super::path::Path;

const OFFER: usize = Offer::NAMES.len();
const PATH: usize = Path::NAMES.len();

/// What the function returns to send nothing now: `ab.WAIT`.
const WAIT: i64 = -1;

/// The function: a row of the offer, a row of each path, the number of paths, the memory of the
/// scheduler, the values of its parameters, and a flag that it sets if it raised an exception.
type Function = unsafe extern "C" fn(*mut f64, *mut f64, i64, *mut f64, *mut f64, *mut i64) -> i64;

/// Of a class that `ab.compiled` made: the address of its function, the length of its memory, and
/// the values of its parameters.
#[derive(FromPyObject)]
pub struct Code(usize, usize, Vec<f64>);

/// Names of the columns: of the row of the offer, and of the row of a path.
#[pyfunction]
pub fn columns() -> (&'static [&'static str], &'static [&'static str]) {
    (Offer::NAMES, Path::NAMES)
}

/// An object of a class that `ab.compiled` made.
#[derive(Debug)]
pub struct CompiledScheduler {
    instance: Instance,
    function: Function,
    parameters: Vec<f64>,
    memory: Vec<f64>,
    /// The memory before the present call.
    before: Vec<f64>,
    rows: Vec<[f64; PATH]>,
    remembers: bool,
}

impl CompiledScheduler {
    #[allow(unsafe_code)]
    pub fn new(py: Python<'_>, instance: Instance, Code(address, memory, parameters): Code) -> PyResult<Self> {
        if address == 0 {
            return Err(PyValueError::new_err("the address of the compiled function is 0"));
        }
        // SAFETY: `address` is that of the function which numba compiled with the signature of
        // `Function` (`machine_code` in algorithms/compiled.py); a null address was refused above.
        // Python keeps compiled functions until the process ends.
        let function = unsafe { std::mem::transmute::<*const (), Function>(address as *const ()) };
        Ok(Self {
            function,
            parameters,
            memory: vec![0.0; memory],
            before: vec![0.0; memory],
            rows: Vec::new(),
            remembers: instance.asked_truth(py, "remembers")?,
            instance,
        })
    }

    /// What the function returns for `offer`.
    #[inline]
    #[allow(unsafe_code)]
    fn call(&mut self, offer: &EngineOffer<'_>) -> i64 {
        self.before.copy_from_slice(&self.memory);
        self.rows.clear();
        self.rows.extend(offer.paths.iter().map(Path::reals));
        let (mut row, mut raised) = (Offer::reals(offer), 0);
        // SAFETY: every pointer is to memory of this function or of `self`, which nothing else uses
        // during the call, and which has the length that the function was compiled for: the columns
        // of `columns()`, as many rows as `rows.len()`, and `memory` and `parameters` as `Code` says.
        // Numba's code checks each index against these lengths, and keeps no pointer.
        let answer = unsafe {
            (self.function)(
                row.as_mut_ptr(),
                self.rows.as_mut_ptr().cast::<f64>(),
                self.rows.len() as i64,
                self.memory.as_mut_ptr(),
                self.parameters.as_mut_ptr(),
                &raw mut raised,
            )
        };
        if raised != 0 {
            self.raise(offer);
        }
        answer
    }

    /// Ends the run with the exception that the function raised. Python's form of the function
    /// raises it again, with a traceback.
    #[cold]
    fn raise(&self, offer: &EngineOffer<'_>) -> ! {
        Python::attach(|py| {
            let row: [f64; OFFER] = Offer::reals(offer);
            let rows: Vec<[f64; PATH]> = offer.paths.iter().map(Path::reals).collect();
            let again = self.instance.object(py).call_method1("_raise", (row, rows, self.before.clone()));
            self.instance.or_fail(again);
            self.instance.refuse("the compiled function raised an exception".to_owned())
        })
    }
}

impl Scheduler for CompiledScheduler {
    fn pick(&mut self, offer: &EngineOffer<'_>) -> Decision {
        self.instance.at(offer.now);
        match self.call(offer) {
            WAIT => Decision::Wait(None),
            i => send(i, offer).unwrap_or_else(|problem| self.instance.refuse(problem)),
        }
    }

    fn on_sent(&mut self, _assignment: &Assignment) {}

    fn remembers(&self) -> bool {
        self.remembers
    }
}
