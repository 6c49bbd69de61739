//! An object of a Python class that the engine calls.

use std::sync::Arc;

use anabranch_stack::time::Instant;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::AlgorithmError;
use super::answer::truth;
use super::decision::repr;
use super::state::RunState;

/// An object of a class of Python, with the run that it belongs to.
pub struct Instance {
    object: Py<PyAny>,
    name: Arc<str>,
    run: Arc<RunState>,
}

/// A bound method; `None` if the class leaves the base class's method as it is.
pub type Method = Option<Py<PyAny>>;

impl std::fmt::Debug for Instance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

impl Instance {
    pub fn new(object: Py<PyAny>, name: Arc<str>, run: Arc<RunState>) -> Self {
        Self { object, name, run }
    }

    /// Kind and class, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The object.
    #[inline]
    pub fn object<'py>(&self, py: Python<'py>) -> &Bound<'py, PyAny> {
        self.object.bind(py)
    }

    /// Another object of the same run.
    pub fn beside(&self, object: Py<PyAny>) -> Self {
        Self { object, name: self.name.clone(), run: self.run.clone() }
    }

    /// Notes the virtual time of the call that follows.
    #[inline]
    pub fn at(&self, now: Instant) {
        self.run.at(now);
    }

    /// The attributes of the object, as text.
    pub fn state(&self, py: Python<'_>) -> PyResult<String> {
        py.import("anabranch.algorithms.attributes")?.call_method1("as_text", (self.object(py),))?.extract()
    }

    /// The bound method `name`.
    pub fn method(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        self.object.getattr(py, name)
    }

    /// The bound method `name`, if the class defines it itself.
    pub fn overridden(&self, py: Python<'_>, name: &str) -> PyResult<Method> {
        let class = self.object.bind(py).get_type();
        let own = class.call_method1("overrides", (name,))?.extract::<bool>()?;
        if own { self.method(py, name).map(Some) } else { Ok(None) }
    }

    /// Calls `method`; what it raises ends the run.
    #[inline]
    pub fn call<'py>(&self, method: &Py<PyAny>, arguments: &Bound<'py, PyTuple>) -> Bound<'py, PyAny> {
        self.or_fail(method.bind(arguments.py()).call1(arguments))
    }

    /// Calls `method` with new arguments, if there is such a method; what it raises ends the run.
    pub fn tell<A>(&self, method: &Method, arguments: impl FnOnce(Python<'_>) -> A)
    where
        A: for<'py> pyo3::call::PyCallArgs<'py>,
    {
        if let Some(method) = method {
            Python::attach(|py| {
                self.or_fail(method.bind(py).call1(arguments(py)));
            });
        }
    }

    /// The value of a method of the object without arguments.
    pub fn ask<'py, T>(&self, py: Python<'py>, method: &str) -> PyResult<T>
    where
        T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>,
    {
        self.object.bind(py).call_method0(method)?.extract().map_err(Into::into)
    }

    /// What `read` reads in what `method` returned; ends the run if `read` finds nothing.
    #[inline]
    pub fn answer<T>(
        &self,
        method: &str,
        value: &Bound<'_, PyAny>,
        read: impl Fn(&Bound<'_, PyAny>) -> Option<T>,
        wanted: impl FnOnce() -> String,
    ) -> T {
        read(value).unwrap_or_else(|| self.refuse(format!("{method} returned {}; return {}", repr(value), wanted())))
    }

    /// What `read` reads in what an overridden method returns; `None` if the class leaves it as it
    /// is.
    pub fn asked<T, A>(
        &self,
        method: &Method,
        name: &str,
        arguments: A,
        read: impl Fn(&Bound<'_, PyAny>) -> Option<T>,
        wanted: impl FnOnce() -> String,
    ) -> Option<T>
    where
        A: for<'py> pyo3::call::PyCallArgs<'py>,
    {
        let method = method.as_ref()?;
        Python::attach(|py| {
            let value = self.or_fail(method.bind(py).call1(arguments));
            Some(self.answer(name, &value, read, wanted))
        })
    }

    /// What a method of the object without arguments returns: True or False.
    pub fn asked_truth(&self, py: Python<'_>, method: &str) -> PyResult<bool> {
        let value = self.object.bind(py).call_method0(method)?;
        Ok(self.answer(&format!("{method}()"), &value, truth, || "True or False".to_owned()))
    }

    /// The value, or the end of the run.
    #[inline]
    pub fn or_fail<T>(&self, value: PyResult<T>) -> T {
        match value {
            Ok(value) => value,
            Err(error) => self.run.fail(&self.name, error),
        }
    }

    /// Ends the run because of a wrong value.
    #[cold]
    pub fn refuse(&self, problem: String) -> ! {
        self.run.fail(&self.name, AlgorithmError::new_err(problem))
    }
}
