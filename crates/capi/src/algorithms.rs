//! The algorithms that configurations may name.

use std::ffi::{CString, c_char};
use std::sync::LazyLock;

use anabranch_sim::algorithms::{list, registered};

use crate::status::{ANABRANCH_OK, caught, put};

/// Writes to `out` the algorithms that a configuration may name, as a JSON object: for each kind a
/// list, of each algorithm its name, summary and parameters with ranges. The text lives as long as
/// the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_algorithms(out: *mut *const c_char) -> i32 {
    static LIST: LazyLock<CString> =
        LazyLock::new(|| CString::new(list(&registered()).to_string()).unwrap_or_default());
    // SAFETY: null is refused; else the caller passes a place for a pointer.
    caught(|| unsafe { put(out, LIST.as_ptr(), "out") }.map(|()| ANABRANCH_OK))
}
