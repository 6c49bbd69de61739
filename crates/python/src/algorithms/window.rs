//! The window of a Python controller: attributes of the object, and the rules that all controllers
//! share.

use anabranch_stack::controller::Window;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyString};

use super::AlgorithmError;
use super::adjust::Adjust;
use super::decision::repr;
use super::sample::{AckSample, Congestion};

/// The attribute `name` of the object, a number; whole numbers are taken, too.
#[inline]
fn number(object: &Bound<'_, PyAny>, name: &Bound<'_, PyString>) -> PyResult<f64> {
    let value = object.getattr(name)?;
    match value.cast_exact::<PyFloat>() {
        Ok(number) => Ok(number.value()),
        Err(_) => value.extract().map_err(|_| no_number(name, &value)),
    }
}

#[cold]
fn no_number(name: &Bound<'_, PyString>, value: &Bound<'_, PyAny>) -> PyErr {
    AlgorithmError::new_err(format!("set self.{name} to {}; it must be a number", repr(value)))
}

/// The window that `object` has as attributes.
#[inline]
pub fn read(object: &Bound<'_, PyAny>) -> PyResult<Window> {
    let py = object.py();
    Ok(Window {
        cwnd: number(object, intern!(py, "cwnd"))?,
        ssthresh: number(object, intern!(py, "ssthresh"))?,
        mss: number(object, intern!(py, "mss"))?,
        initial: number(object, intern!(py, "initial"))?,
        vegas_rate: number(object, intern!(py, "vegas_rate"))?,
    })
}

/// Sets the attributes of `object` to `window`.
pub fn write(object: &Bound<'_, PyAny>, window: &Window) -> PyResult<()> {
    let py = object.py();
    object.setattr(intern!(py, "cwnd"), window.cwnd)?;
    object.setattr(intern!(py, "ssthresh"), window.ssthresh)?;
    object.setattr(intern!(py, "mss"), window.mss)?;
    object.setattr(intern!(py, "initial"), window.initial)
}

/// Changes the window of `object` by a rule of the engine.
fn change<T>(object: &Bound<'_, PyAny>, rule: impl FnOnce(&mut Window) -> T) -> PyResult<T> {
    let mut window = read(object)?;
    let result = rule(&mut window);
    write(object, &window)?;
    Ok(result)
}

/// Carries out a change that the engine makes to every window.
#[pyfunction]
fn window_adjust(controller: &Bound<'_, PyAny>, adjust: &Adjust) -> PyResult<()> {
    change(controller, |window| window.adjust(adjust.value()))
}

/// Slow start with byte counting (RFC 3465).
#[pyfunction]
fn window_slow_start(controller: &Bound<'_, PyAny>, ack: &AckSample) -> PyResult<()> {
    change(controller, |window| window.slow_start(&ack.value()))
}

/// What an acknowledgement does to every window: nothing, or slow start; False in congestion
/// avoidance.
#[pyfunction]
fn window_grow_in_slow_start(controller: &Bound<'_, PyAny>, ack: &AckSample) -> PyResult<bool> {
    let py = controller.py();
    let ack = ack.value();
    if !ack.cwnd_limited {
        return Ok(true);
    }
    let cwnd = number(controller, intern!(py, "cwnd"))?;
    let ssthresh = number(controller, intern!(py, "ssthresh"))?;
    if cwnd >= ssthresh {
        return Ok(false);
    }
    change(controller, |window| window.grow_in_slow_start(&ack))
}

/// Halves the flight (RFC 5681 3.1 equation (4)).
#[pyfunction]
fn window_halve(controller: &Bound<'_, PyAny>, congestion: &Congestion) -> PyResult<()> {
    change(controller, |window| window.halve(&congestion.value()))
}

/// Reduces the threshold to `target` octets, at least `least` segments.
#[pyfunction]
fn window_cut(controller: &Bound<'_, PyAny>, congestion: &Congestion, target: f64, least: f64) -> PyResult<()> {
    change(controller, |window| window.cut(&congestion.value(), target, least))
}

/// Cube root, equal to the last bit on every machine.
#[pyfunction]
fn math_cbrt(x: f64) -> f64 {
    libm::cbrt(x)
}

/// e to the power of x, equal to the last bit on every machine.
#[pyfunction]
fn math_exp(x: f64) -> f64 {
    libm::exp(x)
}

/// Natural logarithm, equal to the last bit on every machine.
#[pyfunction]
fn math_log(x: f64) -> f64 {
    libm::log(x)
}

/// x to the power of y, equal to the last bit on every machine.
#[pyfunction]
fn math_pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

pub fn add(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(window_adjust, m)?)?;
    m.add_function(wrap_pyfunction!(window_slow_start, m)?)?;
    m.add_function(wrap_pyfunction!(window_grow_in_slow_start, m)?)?;
    m.add_function(wrap_pyfunction!(window_halve, m)?)?;
    m.add_function(wrap_pyfunction!(window_cut, m)?)?;
    m.add_function(wrap_pyfunction!(math_cbrt, m)?)?;
    m.add_function(wrap_pyfunction!(math_exp, m)?)?;
    m.add_function(wrap_pyfunction!(math_log, m)?)?;
    m.add_function(wrap_pyfunction!(math_pow, m)?)
}
