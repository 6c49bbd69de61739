//! The registries of all five kinds of algorithms together.

use std::sync::Arc;

use super::{ConfigError, Controller, Detector, Judge, Reduction, Scheduler};
use crate::registry::{Factory, Kind, Registry};

/// The algorithms of all five kinds, by name. The default has those of this crate.
///
/// Whoever reads names of algorithms, as a scenario has them, takes this as an argument.
#[derive(Clone, Debug, Default)]
pub struct Registries {
    controller: Registry<dyn Controller>,
    detector: Registry<dyn Detector>,
    reduction: Registry<dyn Reduction>,
    judge: Registry<dyn Judge>,
    scheduler: Registry<dyn Scheduler>,
}

/// A kind of algorithm that [`Registries`] has a registry of.
pub trait Registered: Kind {
    /// The registry of this kind.
    fn of(all: &Registries) -> &Registry<Self>;
    /// The registry of this kind, to add to.
    fn of_mut(all: &mut Registries) -> &mut Registry<Self>;
}

macro_rules! registered {
    ($($kind:ident $field:ident),*) => {$(
        impl Registered for dyn $kind {
            fn of(all: &Registries) -> &Registry<Self> {
                &all.$field
            }

            fn of_mut(all: &mut Registries) -> &mut Registry<Self> {
                &mut all.$field
            }
        }
    )*};
}
registered!(Controller controller, Detector detector, Reduction reduction, Judge judge, Scheduler scheduler);

impl Registries {
    /// The registry of one kind.
    pub fn of<T: ?Sized + Registered>(&self) -> &Registry<T> {
        T::of(self)
    }

    /// Adds an algorithm behind those of its kind.
    ///
    /// # Errors
    /// As [`Registry::add`].
    pub fn add<T: ?Sized + Registered>(&mut self, factory: Arc<dyn Factory<T>>) -> Result<(), ConfigError> {
        T::of_mut(self).add(factory)
    }

    /// Returns the registries with one more algorithm.
    ///
    /// # Errors
    /// As [`Registry::add`].
    pub fn with<T: ?Sized + Registered>(mut self, factory: impl Factory<T> + 'static) -> Result<Self, ConfigError> {
        self.add(Arc::new(factory) as Arc<dyn Factory<T>>).map(|()| self)
    }
}
