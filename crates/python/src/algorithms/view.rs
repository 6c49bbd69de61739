//! Views: frozen Python objects that show a value of the engine. A view is made once and refreshed
//! before each call of an algorithm.
//!
//! The views that schedulers and controllers read at each segment keep one atomic word for each
//! attribute, so that a read takes no lock. The other views keep a copy of the value behind a lock.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How an attribute of an atomic view is kept in a word.
pub trait Kept {
    /// Type on the engine's side.
    type Value;
    /// Type in Python.
    type Shown;
    /// Word of `value`.
    fn word(value: Self::Value) -> u64;
    /// The attribute of a word, as Python reads it.
    fn attribute(word: u64) -> Self::Shown;
    /// `value` in a row of a compiled scheduler.
    fn real(value: Self::Value) -> f64;
}

/// A whole number.
pub struct Whole;
/// A real number.
pub struct Real;
/// True or false.
pub struct Flag;
/// A time in nanoseconds, shown in seconds.
pub struct Seconds;

impl Kept for Whole {
    type Value = u64;
    type Shown = u64;
    fn word(value: u64) -> u64 {
        value
    }
    fn attribute(word: u64) -> u64 {
        word
    }
    fn real(value: u64) -> f64 {
        value as f64
    }
}

impl Kept for Real {
    type Value = f64;
    type Shown = f64;
    fn word(value: f64) -> u64 {
        value.to_bits()
    }
    fn attribute(word: u64) -> f64 {
        f64::from_bits(word)
    }
    fn real(value: f64) -> f64 {
        value
    }
}

impl Kept for Flag {
    type Value = bool;
    type Shown = bool;
    fn word(value: bool) -> u64 {
        u64::from(value)
    }
    fn attribute(word: u64) -> bool {
        word != 0
    }
    fn real(value: bool) -> f64 {
        f64::from(u8::from(value))
    }
}

impl Kept for Seconds {
    type Value = u64;
    type Shown = f64;
    fn word(value: u64) -> u64 {
        value
    }
    fn attribute(word: u64) -> f64 {
        word as f64 / 1e9
    }
    fn real(value: u64) -> f64 {
        value as f64 / 1e9
    }
}

/// Words of an atomic view.
pub struct Words<const N: usize>([AtomicU64; N]);

impl<const N: usize> Words<N> {
    pub fn new() -> Self {
        Self(std::array::from_fn(|_| AtomicU64::new(0)))
    }

    #[inline]
    pub fn get(&self, i: usize) -> u64 {
        self.0[i].load(Relaxed)
    }

    #[inline]
    pub fn put(&self, words: [u64; N]) {
        for (slot, word) in self.0.iter().zip(words) {
            slot.store(word, Relaxed);
        }
    }
}

/// The place of `name` in `names`, computed by the compiler.
pub const fn place(names: &[&str], name: &str) -> usize {
    let mut i = 0;
    while i < names.len() {
        if same(names[i].as_bytes(), name.as_bytes()) {
            return i;
        }
        i += 1;
    }
    panic!("no such attribute")
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

/// Declares an atomic view: `attribute: how it is kept = value of the source`.
macro_rules! atomic_view {
    (
        $(#[$meta:meta])* $name:ident of $source:ty, $s:ident, keeps { $($extra:ident: $extra_type:ty),* }
        { $($(#[$doc:meta])* $field:ident: $kind:ty = $get:expr;)* }
        also { $($also:tt)* }
    ) => {
        $(#[$meta])*
        #[pyo3::pyclass(frozen, module = "anabranch._core")]
        pub struct $name {
            words: $crate::algorithms::view::Words<{ [$(stringify!($field)),*].len() }>,
            $(pub $extra: $extra_type,)*
        }

        impl $name {
            /// Names of the attributes.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($field)),*];

            pub fn new($($extra: $extra_type),*) -> Self {
                Self { words: $crate::algorithms::view::Words::new() $(, $extra)* }
            }

            /// Takes over the values of `$s`.
            #[inline]
            pub fn refresh(&self, $s: $source) {
                self.words.put([$(<$kind as $crate::algorithms::view::Kept>::word($get)),*]);
            }

            /// The values of `$s` as a compiled scheduler reads them, in the order of `NAMES`.
            #[inline]
            pub fn reals($s: $source) -> [f64; { [$(stringify!($field)),*].len() }] {
                [$(<$kind as $crate::algorithms::view::Kept>::real($get)),*]
            }
        }

        #[pyo3::pymethods]
        impl $name {
            $(
                $(#[$doc])*
                #[getter]
                fn $field(&self) -> <$kind as $crate::algorithms::view::Kept>::Shown {
                    const AT: usize = $crate::algorithms::view::place($name::NAMES, stringify!($field));
                    <$kind as $crate::algorithms::view::Kept>::attribute(self.words.get(AT))
                }
            )*

            /// A copy of an algorithm shares its views.
            fn __deepcopy__<'py>(this: pyo3::PyRef<'py, Self>, _memo: &pyo3::Bound<'py, pyo3::PyAny>) -> pyo3::PyRef<'py, Self> {
                this
            }

            $($also)*
        }
    };
}

/// Declares a view that keeps a copy: `attribute: type in Python = value of the source`.
macro_rules! copied_view {
    (
        $(#[$meta:meta])* $name:ident of $source:ty, $s:ident
        { $($(#[$doc:meta])* $field:ident: $shown:ty = $get:expr;)* }
        also { $($also:tt)* }
    ) => {
        $(#[$meta])*
        #[pyo3::pyclass(frozen, module = "anabranch._core")]
        pub struct $name(std::sync::Mutex<$source>);

        impl $name {
            pub fn new(value: $source) -> Self {
                Self(std::sync::Mutex::new(value))
            }

            /// The value shown.
            #[inline]
            pub fn value(&self) -> $source {
                *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
            }

            /// Shows `value` from now on.
            #[inline]
            pub fn refresh(&self, value: &$source) {
                *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = *value;
            }
        }

        #[pyo3::pymethods]
        impl $name {
            $(
                $(#[$doc])*
                #[getter]
                fn $field(&self) -> $shown {
                    let guard = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    let $s = &*guard;
                    $get
                }
            )*

            /// A copy of an algorithm shares its views.
            fn __deepcopy__<'py>(this: pyo3::PyRef<'py, Self>, _memo: &pyo3::Bound<'py, pyo3::PyAny>) -> pyo3::PyRef<'py, Self> {
                this
            }

            fn __repr__(&self) -> String {
                format!("{:?}", self.value())
            }

            $($also)*
        }
    };
}

pub(crate) use {atomic_view, copied_view};
