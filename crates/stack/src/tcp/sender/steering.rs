//! The controller of a subflow, and its window beside it: windows are read several times for each segment, and change once for an
//! acknowledgement.

use core::fmt;

use crate::config::Config;
use crate::controller::{Adjust, Congestion, Controller, Departure, Window};
use crate::path::Path;
use crate::registry::{Need, Setup};
use crate::sample::{AckSample, LostSegment};
use crate::time::Instant;

/// A controller with a copy of its window, which every call that may change it renews.
pub(crate) struct Steering {
    controller: Box<dyn Controller>,
    window: Window,
    octets: u64,
    /// It wants to be told of departures ([`Need::Departures`](crate::registry::Need::Departures)).
    departures: bool,
    reduces_itself: bool,
}

impl fmt::Debug for Steering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.controller.fmt(f)
    }
}

impl Steering {
    /// The controller of a new subflow.
    pub fn of(config: &Config, setup: &Setup) -> Self {
        let departures = config.controller.info().needs.contains(&Need::Departures);
        Self::new(config.controller.make(setup), departures)
    }

    /// Takes over `controller`. `departures`: it wants to be told of them.
    pub fn new(controller: Box<dyn Controller>, departures: bool) -> Self {
        let window = *controller.window();
        let reduces_itself = controller.reduces_itself();
        Self { controller, window, octets: window.octets(), departures, reduces_itself }
    }

    /// It is `controller` from now on: a copy of its earlier state.
    pub fn restore(&mut self, controller: Box<dyn Controller>) {
        *self = Self::new(controller, self.departures);
    }

    /// The controller wants to be told of departures, and may limit their rate.
    #[inline]
    pub fn follows_departures(&self) -> bool {
        self.departures
    }

    /// Window and threshold.
    #[inline]
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// Octets that may be in flight.
    #[inline]
    pub fn octets(&self) -> u64 {
        self.octets
    }

    #[inline]
    fn renew(&mut self) {
        self.window = *self.controller.window();
        self.octets = self.window.octets();
    }

    /// [`Controller::adjust`].
    pub fn adjust(&mut self, adjust: Adjust) {
        self.controller.adjust(adjust);
        self.renew();
    }

    /// [`Controller::on_ack`].
    pub fn on_ack(&mut self, ack: &AckSample, paths: &[Path], me: usize) {
        self.controller.on_ack(ack, paths, me);
        self.renew();
    }

    /// [`Controller::on_other_ack`].
    pub fn on_other_ack(&mut self, ack: &AckSample, paths: &[Path], me: usize) {
        self.controller.on_other_ack(ack, paths, me);
        self.renew();
    }

    /// [`Controller::on_congestion`].
    pub fn on_congestion(&mut self, congestion: &Congestion, paths: &[Path], me: usize) {
        self.controller.on_congestion(congestion, paths, me);
        self.renew();
    }

    /// [`Controller::on_lost`].
    pub fn on_lost(&mut self, now: Instant, octets: u64) {
        self.controller.on_lost(now, octets);
        self.renew();
    }

    /// [`Controller::on_sent`], if it [follows](Steering::follows_departures) departures.
    pub fn on_sent(&mut self, departure: &Departure) {
        self.controller.on_sent(departure);
        self.renew();
    }

    /// [`Controller::on_lost_segment`].
    pub fn on_lost_segment(&mut self, segment: &LostSegment) {
        self.controller.on_lost_segment(segment);
        self.renew();
    }

    /// [`Controller::reduces_itself`].
    #[inline]
    pub fn reduces_itself(&self) -> bool {
        self.reduces_itself
    }

    /// [`Controller::pacing`], if it [follows](Steering::follows_departures) departures.
    #[inline]
    pub fn pacing(&self) -> Option<f64> {
        if self.departures { self.controller.pacing() } else { None }
    }

    /// An independent copy of the controller.
    pub fn snapshot(&self) -> Box<dyn Controller> {
        self.controller.snapshot()
    }
}
