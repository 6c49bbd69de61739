//! A hint to the processor: these cache lines will be wanted.
//!
//! It changes nothing but time, and it is the only unsafe code of this crate: there is no safe way to say it. On processors other
//! than x86-64 Rust does not offer it yet, and it does nothing.

/// Fetches the cache lines in which `what` lies, without waiting for them.
#[inline]
pub fn prefetch<T: ?Sized>(what: &T) {
    prefetch_at(core::ptr::from_ref(what).cast(), size_of_val(what));
}

/// Fetches the cache lines of `octets` octets from `start` on.
#[inline]
pub fn prefetch_at(start: *const u8, octets: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        const LINE: usize = 64;
        let lead = start.addr() % LINE;
        for offset in (0..lead + octets).step_by(LINE) {
            // The prefetch of an address, whatever it is, cannot fault and has no effect that a program can see.
            #[allow(unsafe_code)]
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(start.wrapping_sub(lead).wrapping_add(offset).cast());
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (start, octets);
}
