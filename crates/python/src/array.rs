//! Arrays of NumPy: the values fill a `bytearray`, and `numpy.frombuffer` makes an array of it
//! without a further copy.

use pyo3::prelude::*;
use pyo3::types::PyByteArray;

/// A type of which NumPy has arrays.
pub(crate) trait Element: Copy {
    /// Its name in NumPy.
    const DTYPE: &str;

    /// Writes the value into `octets`, in the machine's order; they are as many as the value has.
    fn write(self, octets: &mut [u8]);
}

impl Element for f64 {
    const DTYPE: &str = "f8";

    fn write(self, octets: &mut [u8]) {
        octets.copy_from_slice(&self.to_ne_bytes());
    }
}

impl Element for i32 {
    const DTYPE: &str = "i4";

    fn write(self, octets: &mut [u8]) {
        octets.copy_from_slice(&self.to_ne_bytes());
    }
}

/// A writable array of one dimension with `values`.
///
/// # Errors
/// If there is no memory for it, or NumPy cannot be imported.
pub(crate) fn array<'py, V>(py: Python<'py>, values: V) -> PyResult<Bound<'py, PyAny>>
where
    V: IntoIterator<IntoIter: ExactSizeIterator>,
    V::Item: Element,
{
    let values = values.into_iter();
    let size = size_of::<V::Item>();
    let octets = PyByteArray::new_with(py, size * values.len(), |octets| {
        octets.chunks_exact_mut(size).zip(values).for_each(|(chunk, value)| value.write(chunk));
        Ok(())
    })?;
    py.import("numpy")?.call_method1("frombuffer", (octets, <V::Item as Element>::DTYPE))
}
