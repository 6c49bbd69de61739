//! How many octets a thread holds on the heap, counted where they are allocated.
//!
//! A run is made by one thread, so what that thread holds more than before is what the engine holds for the run: not the
//! process, not other runs, not Python, which has an allocator of its own. The count is of octets asked for and not given
//! back, so it is the same on every machine. What one thread allocates and another frees makes the two counts wrong by as
//! much, in opposite directions; nothing of a run does that while it goes on.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static HELD: Cell<i64> = const { Cell::new(0) };
}

/// Octets that this thread holds.
pub fn held() -> u64 {
    HELD.get().max(0) as u64
}

/// The system's allocator, with a count for each thread.
struct Counting;

fn count(octets: i64) {
    // While a thread ends its count is gone, and nobody asks for it.
    let _ = HELD.try_with(|held| held.set(held.get() + octets));
}

// SAFETY: every call goes to the system's allocator as it came; counting neither allocates nor panics.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as i64 - layout.size() as i64);
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;
