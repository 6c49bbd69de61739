//! A reduction written in Python.

use anabranch_stack::reduction::{self as engine, Reduction};
use anabranch_stack::sample::AckSample;
use pyo3::prelude::*;

use super::answer::{octets, signed_octets, truth};
use super::instance::{Instance, Method};
use super::sample;
use super::view::copied_view;

copied_view! {
    /// State at the beginning of fast recovery.
    Entry of engine::Entry, e
    {
        /// Virtual time in seconds.
        now: f64 = e.now.0 as f64 / 1e9;
        /// Virtual time in nanoseconds.
        now_ns: u64 = e.now.0;
        /// FlightSize (RFC 5681 2) in octets.
        flight_size: u64 = e.flight_size;
        /// Octets in flight by the estimate of RFC 6675, without lost segments.
        pipe: u64 = e.pipe;
        /// Outstanding octets that are SACKed.
        sacked: u64 = e.sacked;
        /// Octets delivered by the acknowledgement that begins recovery.
        delivered: u64 = e.delivered;
        /// The controller's window after its reduction, in octets.
        window: u64 = e.window;
        /// Payload of a full-sized segment in octets.
        mss: u32 = e.mss;
        /// SACK blocks drive loss recovery.
        sack: bool = e.sack;
    }
    also {}
}

/// An object of a subclass of `ab.Reduction`.
#[derive(Debug)]
pub struct PyReduction {
    instance: Instance,
    on_enter: Py<PyAny>,
    on_ack: Py<PyAny>,
    on_exit: Py<PyAny>,
    inflation: Py<PyAny>,
    on_sent: Method,
    allows: Method,
    is_proportional: Method,
}

impl PyReduction {
    pub fn new(py: Python<'_>, instance: Instance) -> PyResult<Self> {
        Ok(Self {
            on_enter: instance.method(py, "on_enter")?,
            on_ack: instance.method(py, "on_ack")?,
            on_exit: instance.method(py, "on_exit")?,
            inflation: instance.method(py, "inflation")?,
            on_sent: instance.overridden(py, "on_sent")?,
            allows: instance.overridden(py, "allows")?,
            is_proportional: instance.overridden(py, "is_proportional")?,
            instance,
        })
    }
}

impl Reduction for PyReduction {
    fn on_enter(&mut self, entry: &engine::Entry) {
        self.instance.at(entry.now);
        Python::attach(|py| {
            self.instance.or_fail(self.on_enter.bind(py).call1((Entry::new(*entry),)));
        });
    }

    fn on_ack(&mut self, ack: &AckSample, window: u64, in_flight: u64) {
        self.instance.at(ack.now);
        Python::attach(|py| {
            let arguments = (sample::AckSample::new(*ack), window, in_flight);
            self.instance.or_fail(self.on_ack.bind(py).call1(arguments));
        });
    }

    fn on_sent(&mut self, octets: u32) {
        self.instance.tell(&self.on_sent, |_| (octets,));
    }

    fn on_exit(&mut self) {
        Python::attach(|py| {
            self.instance.or_fail(self.on_exit.bind(py).call0());
        });
    }

    fn allows(&self, window: u64, in_flight: u64) -> u64 {
        let wanted = || "octets that may be in flight, at least 0".to_owned();
        self.instance.asked(&self.allows, "allows()", (window, in_flight), octets, wanted).unwrap_or(window)
    }

    fn is_proportional(&self) -> bool {
        let wanted = || "True or False".to_owned();
        self.instance.asked(&self.is_proportional, "is_proportional()", (), truth, wanted).unwrap_or(false)
    }

    fn inflation(&self) -> i64 {
        Python::attach(|py| {
            let value = self.instance.or_fail(self.inflation.bind(py).call0());
            self.instance.answer("inflation()", &value, signed_octets, || "octets, such as 0".to_owned())
        })
    }
}
