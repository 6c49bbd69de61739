//! Codes that functions return, and the text of the last error.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Done.
pub const ANABRANCH_OK: i32 = 0;
/// There is nothing to poll.
pub const ANABRANCH_NOTHING: i32 = 1;
/// Not possible now; a later attempt may succeed.
pub const ANABRANCH_NOT_YET: i32 = 2;
/// A pointer is null.
pub const ANABRANCH_NULL: i32 = -1;
/// An argument is out of range, or a struct is smaller than this version of the library needs.
pub const ANABRANCH_ARGUMENT: i32 = -2;
/// The text of a configuration is wrong.
pub const ANABRANCH_CONFIG: i32 = -3;
/// The connection does not exist, or not any more.
pub const ANABRANCH_GONE: i32 = -4;
/// Our direction of the connection is closed.
pub const ANABRANCH_CLOSED: i32 = -5;
/// The 4-tuple belongs to another subflow, or every port is in use.
pub const ANABRANCH_IN_USE: i32 = -6;
/// Never possible on this connection.
pub const ANABRANCH_NEVER: i32 = -7;
/// The packet is damaged or no TCP segment; it was dropped.
pub const ANABRANCH_PACKET: i32 = -8;
/// The engine panicked. The host answers every further call so.
pub const ANABRANCH_PANIC: i32 = -9;
/// The host keeps octets and the function is for hosts by reference, or the other way round.
pub const ANABRANCH_FORM: i32 = -10;
/// The buffer of the caller is too small.
pub const ANABRANCH_SMALL: i32 = -11;

thread_local! {
    static LAST: RefCell<CString> = RefCell::new(CString::default());
}

/// Why a call failed: a code, and a text that names place, value and remedy.
#[derive(Debug)]
pub(crate) struct Fault {
    pub code: i32,
    pub text: String,
}

pub(crate) fn fault<T>(code: i32, text: impl Display) -> Result<T, Fault> {
    Err(Fault { code, text: text.to_string() })
}

/// Stores the text of `fault` for [`anabranch_last_error`] and returns its code.
pub(crate) fn report(fault: Fault) -> i32 {
    let text = CString::new(fault.text.replace('\0', "\u{fffd}")).unwrap_or_default();
    // A thread that is ending has no text any more.
    let _ = LAST.try_with(|last| *last.borrow_mut() = text);
    fault.code
}

/// Runs `call`, which needs no host; catches panics, and stores the text of an error.
pub(crate) fn caught(call: impl FnOnce() -> Result<i32, Fault>) -> i32 {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(code)) => code,
        Ok(Err(fault)) => report(fault),
        Err(panic) => report(panicked(&*panic)),
    }
}

/// The error that a caught panic becomes.
pub(crate) fn panicked(panic: &(dyn Any + Send)) -> Fault {
    let said = panic.downcast_ref::<String>().map(String::as_str);
    let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    Fault { code: ANABRANCH_PANIC, text: format!("the engine panicked: {said}") }
}

/// Text of the last error of this thread, in UTF-8; empty before the first error. It stays valid
/// until the next call of this thread that fails.
#[unsafe(no_mangle)]
pub extern "C" fn anabranch_last_error() -> *const c_char {
    // A thread that is ending has no text any more.
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// A reference to what `pointer` points to.
///
/// # Safety
/// `pointer` is null or points to a `T` that nothing else uses during `'a`.
pub(crate) unsafe fn given<'a, T>(pointer: *const T, name: &str) -> Result<&'a T, Fault> {
    // SAFETY: the caller of this function passes on what its own caller owes.
    unsafe { pointer.as_ref() }.ok_or_else(|| null(name))
}

/// Writes `value` to `out`.
///
/// # Safety
/// `out` is null or may be written.
pub(crate) unsafe fn put<T>(out: *mut T, value: T, name: &str) -> Result<(), Fault> {
    if out.is_null() {
        return Err(null(name));
    }
    // SAFETY: `out` is not null, and the caller of this function vouches for it.
    unsafe { out.write(value) };
    Ok(())
}

/// The octets of the caller's array; an empty one may be null.
///
/// # Safety
/// `octets` is null or points to `len` values.
pub(crate) unsafe fn array<'a, T>(octets: *const T, len: usize, name: &str) -> Result<&'a [T], Fault> {
    if len == 0 {
        return Ok(&[]);
    }
    if octets.is_null() {
        return Err(null(name));
    }
    if len.checked_mul(size_of::<T>()).is_none_or(|all| all > isize::MAX as usize) {
        return fault(ANABRANCH_ARGUMENT, format!("length {len} of {name} is out of range"));
    }
    // SAFETY: not null, and no longer than memory can be; the caller vouches for the rest.
    Ok(unsafe { std::slice::from_raw_parts(octets, len) })
}

pub(crate) fn null(name: &str) -> Fault {
    Fault { code: ANABRANCH_NULL, text: format!("{name} is null: pass a pointer") }
}

/// A struct of the interface that begins with its size in octets, which the caller sets.
///
/// # Safety
/// The first field is a `u32`, the size.
pub(crate) unsafe trait Sized32: Copy {}

/// Returns a place for a struct that begins with its size, once there is room for the whole struct.
///
/// # Safety
/// `out` is null or points to as many octets as its first field says.
pub(crate) unsafe fn place<T: Sized32>(out: *mut T, name: &str) -> Result<Place<T>, Fault> {
    // SAFETY: `T: Sized32` begins with its size; the caller vouches for the pointer.
    let size = *unsafe { given(out.cast::<u32>(), name) }? as usize;
    check_size::<T>(size, name)?;
    Ok(Place(out))
}

/// Room for a struct of the caller.
pub(crate) struct Place<T>(*mut T);

impl<T: Sized32> Place<T> {
    /// Writes the struct.
    pub(crate) fn fill(self, value: T) -> i32 {
        // SAFETY: `place` has checked that the pointer is not null and that there is room.
        unsafe { self.0.write(value) };
        ANABRANCH_OK
    }
}

/// Refuses a struct that is smaller than the library's.
pub(crate) fn check_size<T>(size: usize, name: &str) -> Result<(), Fault> {
    if size < size_of::<T>() {
        let text = format!("{name}.size is {size}, the library needs {}: set it to sizeof", size_of::<T>());
        return fault(ANABRANCH_ARGUMENT, text);
    }
    Ok(())
}

/// Writes all of `values` to the array `out` of the caller, and their number to `count`.
///
/// # Safety
/// `count` is null or points to the number of values for which `out`, unless it is null, has room.
pub(crate) unsafe fn put_all<T: Copy>(values: &[T], out: *mut T, count: *mut usize, name: &str) -> Result<i32, Fault> {
    // SAFETY: null is refused; else the caller of this function vouches for it.
    let room = *unsafe { given(count, "count") }?;
    // SAFETY: as above.
    unsafe { put(count, values.len(), "count") }?;
    if values.len() > room {
        return fault(ANABRANCH_SMALL, format!("{} {name}, and room for {room}: call again with more", values.len()));
    }
    if out.is_null() && !values.is_empty() {
        return Err(null(name));
    }
    if !values.is_empty() {
        // SAFETY: not null, and there is room for all.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), out, values.len()) };
    }
    Ok(ANABRANCH_OK)
}
