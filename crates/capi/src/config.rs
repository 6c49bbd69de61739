//! The configuration of a connection.

use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use anabranch_sim::algorithms::registered;
use anabranch_sim::scenario::connection_config;
use anabranch_stack::Config;

use crate::status::{ANABRANCH_CONFIG, ANABRANCH_OK, Fault, caught, fault, null, put};

/// The configuration of connections: an opaque handle.
#[derive(Debug)]
pub struct anabranch_config(pub(crate) Config);

/// Makes a configuration from the text of a scenario's `[connection]` table (TOML, without the
/// heading): `controller = "olia"`, one key a line. An empty text gives the defaults. Keys that
/// only the simulator carries out are refused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_config_new(text: *const c_char, out: *mut *mut anabranch_config) -> i32 {
    caught(|| {
        if text.is_null() {
            return Err(null("text"));
        }
        if out.is_null() {
            return Err(null("out"));
        }
        // SAFETY: not null; the caller passes a string that ends with a zero octet.
        let text = unsafe { CStr::from_ptr(text) };
        let Ok(text) = text.to_str() else { return fault(ANABRANCH_CONFIG, "the text is not UTF-8") };
        let config = connection_config(text, &registered());
        let config = config.map_err(|e| Fault { code: ANABRANCH_CONFIG, text: e.to_string() })?;
        let config = Box::into_raw(Box::new(anabranch_config(config)));
        // SAFETY: not null; the caller passes a place for a pointer.
        unsafe { put(out, config, "out") }.map(|()| ANABRANCH_OK)
    })
}

/// Frees a configuration; hosts keep copies of what they need. A null pointer is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_config_free(config: *mut anabranch_config) {
    if !config.is_null() {
        // SAFETY: the pointer came from `anabranch_config_new` and is freed once.
        let config = unsafe { Box::from_raw(config) };
        let _ = catch_unwind(AssertUnwindSafe(|| drop(config)));
    }
}
