//! The algorithms that configurations may name.

use std::ffi::{CString, c_char};
use std::sync::LazyLock;

use anabranch_sim::algorithms::{list, registered};

/// The algorithms that a configuration may name, as a JSON object: for each kind a list, of each
/// algorithm its name, summary and parameters with ranges. The text lives as long as the program.
#[unsafe(no_mangle)]
pub extern "C" fn anabranch_algorithms() -> *const c_char {
    static LIST: LazyLock<CString> =
        LazyLock::new(|| CString::new(list(&registered()).to_string()).unwrap_or_default());
    LIST.as_ptr()
}
