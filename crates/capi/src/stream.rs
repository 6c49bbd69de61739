//! Writing, reading, ending, run-time options.

use anabranch_stack::Setting;
use anabranch_stack::config::KeepAlive;
use anabranch_stack::host::WriteError;
use anabranch_stack::time::Duration;

use crate::host::{LONGEST, anabranch_host, each, guarded};
use crate::opening::gone;
use crate::status::{
    ANABRANCH_ARGUMENT, ANABRANCH_CLOSED, ANABRANCH_GONE, ANABRANCH_OK, Fault, array, fault, null, put, put_all,
};

fn unwritten(e: WriteError) -> Fault {
    let code = if e == WriteError::Gone { ANABRANCH_GONE } else { ANABRANCH_CLOSED };
    Fault { code, text: e.to_string() }
}

/// Writes `len` octets, or as many as the send buffer has room for; writes their number to
/// `written`.
/// After a short write, `ANABRANCH_EVENT_WRITABLE` says when there is room again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_write(
    host: *mut anabranch_host,
    connection: u64,
    octets: *const u8,
    len: usize,
    written: *mut usize,
) -> i32 {
    let call = |host: &mut anabranch_host| {
        // SAFETY: null is refused; else the caller passes `len` octets and a place for a number.
        let octets = unsafe { array(octets, len, "octets") }?;
        // SAFETY: as above.
        unsafe { put(written, 0, "written") }?;
        let taken = host.octets()?.write(connection.into(), octets).map_err(unwritten)?;
        // SAFETY: as above.
        unsafe { put(written, taken, "written") }.map(|()| ANABRANCH_OK)
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

/// As [`anabranch_write`], for a host by reference: the caller keeps the octets.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_write_count(
    host: *mut anabranch_host,
    connection: u64,
    len: u64,
    written: *mut u64,
) -> i32 {
    let call = |host: &mut anabranch_host| {
        // SAFETY: null is refused; else the caller passes a place for a number.
        unsafe { put(written, 0, "written") }?;
        let taken = host.reference()?.write_count(connection.into(), len).map_err(unwritten)?;
        // SAFETY: as above.
        unsafe { put(written, taken, "written") }.map(|()| ANABRANCH_OK)
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

/// Reads up to `len` octets that have arrived in order, and writes their number to `taken`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_read(
    host: *mut anabranch_host,
    connection: u64,
    octets: *mut u8,
    len: usize,
    taken: *mut usize,
) -> i32 {
    let call = |host: &mut anabranch_host| {
        if octets.is_null() && len > 0 {
            return Err(null("octets"));
        }
        if isize::try_from(len).is_err() {
            return fault(ANABRANCH_ARGUMENT, format!("len {len} is out of range"));
        }
        // SAFETY: null is refused; else the caller passes a place for a number.
        unsafe { put(taken, 0, "taken") }?;
        let mut none = [];
        // SAFETY: not null unless `len` is 0; the caller passes room for `len` octets.
        let out = if len == 0 { &mut none[..] } else { unsafe { std::slice::from_raw_parts_mut(octets, len) } };
        let n = host.octets()?.read(connection.into(), out).map_err(gone)?;
        // SAFETY: as above.
        unsafe { put(taken, n, "taken") }.map(|()| ANABRANCH_OK)
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

/// As [`anabranch_read`], for a host by reference: the next `taken` octets of the peer's stream
/// belong to the application.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_read_count(
    host: *mut anabranch_host,
    connection: u64,
    len: u64,
    taken: *mut u64,
) -> i32 {
    let call = |host: &mut anabranch_host| {
        // SAFETY: null is refused; else the caller passes a place for a number.
        unsafe { put(taken, 0, "taken") }?;
        let n = host.reference()?.read_count(connection.into(), len).map_err(gone)?;
        // SAFETY: as above.
        unsafe { put(taken, n, "taken") }.map(|()| ANABRANCH_OK)
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

/// Offset in our stream below which a host by reference will not send again: the caller may drop
/// these octets.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_needed_from(host: *mut anabranch_host, connection: u64, offset: *mut u64) -> i32 {
    let call = |host: &mut anabranch_host| {
        let from = host.reference()?.needed_from(connection.into());
        let from = from.ok_or_else(|| gone(anabranch_stack::host::Gone))?;
        // SAFETY: null is refused; else the caller passes a place for a number.
        unsafe { put(offset, from, "offset") }.map(|()| ANABRANCH_OK)
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

/// The application will write no more; the peer's data can still be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_shutdown_write(host: *mut anabranch_host, connection: u64) -> i32 {
    let call = |host: &mut anabranch_host| {
        each!(host, e => e.shutdown_write(connection.into())).map_err(gone).map(|()| ANABRANCH_OK)
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

/// The application will neither write nor read any more; what was written is delivered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_close(host: *mut anabranch_host, connection: u64) -> i32 {
    let call =
        |host: &mut anabranch_host| each!(host, e => e.close(connection.into())).map_err(gone).map(|()| ANABRANCH_OK);
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

/// Ends a connection at once, with resets.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_abort(host: *mut anabranch_host, connection: u64) -> i32 {
    let call =
        |host: &mut anabranch_host| each!(host, e => e.abort(connection.into())).map_err(gone).map(|()| ANABRANCH_OK);
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

/// Run-time option: 1 switches Nagle's algorithm off (RFC 9293 3.7.4).
pub const ANABRANCH_OPTION_NO_DELAY: u32 = 1;
/// Run-time option: 1 holds back segments that are not full.
pub const ANABRANCH_OPTION_CORK: u32 = 2;
/// Run-time option: user timeout in ns; 0: none (RFC 5482).
pub const ANABRANCH_OPTION_USER_TIMEOUT: u32 = 3;
/// Run-time option: keep-alives after so many ns without a segment; 0: none.
/// [`anabranch_set_keepalive`] also sets their interval and number.
pub const ANABRANCH_OPTION_KEEPALIVE: u32 = 4;
/// Run-time option: retransmissions of a SYN before the connection fails; `UINT32_MAX`: no limit
/// of its own.
pub const ANABRANCH_OPTION_SYN_RETRIES: u32 = 5;

/// Changes an option of a connection: one of the `ANABRANCH_OPTION_` constants.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_set_option(
    host: *mut anabranch_host,
    now: u64,
    connection: u64,
    option: u32,
    value: u64,
) -> i32 {
    let call = |host: &mut anabranch_host| {
        let now = host.at(now)?;
        if value > LONGEST {
            return fault(ANABRANCH_ARGUMENT, format!("value is {value}: at most {LONGEST}"));
        }
        let time = (value > 0).then_some(Duration(value));
        let set = each!(host, e => e.configure(connection.into(), |c| {
            match option {
                ANABRANCH_OPTION_NO_DELAY => c.set(now, Setting::NoDelay(value != 0)),
                ANABRANCH_OPTION_CORK => c.set(now, Setting::Cork(value != 0)),
                ANABRANCH_OPTION_USER_TIMEOUT => c.set(now, Setting::UserTimeout(time)),
                ANABRANCH_OPTION_KEEPALIVE => {
                    c.set(now, Setting::KeepAlive(time.map(|idle| KeepAlive { idle, ..KeepAlive::default() })));
                }
                ANABRANCH_OPTION_SYN_RETRIES => {
                    let most = u32::try_from(value).unwrap_or(u32::MAX);
                    c.set(now, Setting::SynRetries((most != u32::MAX).then_some(most)));
                }
                _ => return false,
            }
            true
        }));
        match set.map_err(gone)? {
            true => Ok(ANABRANCH_OK),
            false => fault(ANABRANCH_ARGUMENT, format!("option {option} does not exist: 1 to 5")),
        }
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

/// Sends keep-alives on every subflow of a connection (RFC 9293 3.8.4): the first after `idle` ns
/// without a segment, then one every `interval` ns; after `probes` unanswered ones (at least 2) the
/// subflow is reset. `idle` 0: no keep-alives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_set_keepalive(
    host: *mut anabranch_host,
    now: u64,
    connection: u64,
    idle: u64,
    interval: u64,
    probes: u32,
) -> i32 {
    let call = |host: &mut anabranch_host| {
        let now = host.at(now)?;
        if idle > LONGEST || interval > LONGEST || idle > 0 && (interval == 0 || probes < 2) {
            let text = format!("idle {idle} ns, interval {interval} ns: 1 to {LONGEST}; probes {probes}: at least 2");
            return fault(ANABRANCH_ARGUMENT, text);
        }
        let keepalive = (idle > 0).then_some(KeepAlive { idle: Duration(idle), interval: Duration(interval), probes });
        let set = each!(host, e => e.configure(connection.into(), |c| c.set(now, Setting::KeepAlive(keepalive))));
        set.map_err(gone).map(|()| ANABRANCH_OK)
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

/// A range of our stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct anabranch_range {
    /// Offset of the first octet.
    pub start: u64,
    /// Offset after the last octet.
    pub end: u64,
}

/// Ranges of our stream below the data-level acknowledgement that some subflow of a host by
/// reference may send again, in order: what keeps [`anabranch_needed_from`] back. `count` is the
/// room in `ranges` and becomes the number of ranges; `ANABRANCH_SMALL`: there are more than fit,
/// and nothing else is written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_still_in_flight(
    host: *mut anabranch_host,
    connection: u64,
    ranges: *mut anabranch_range,
    count: *mut usize,
) -> i32 {
    let call = |host: &mut anabranch_host| {
        let held = host.reference()?.still_in_flight(connection.into());
        let held = held.ok_or_else(|| gone(anabranch_stack::host::Gone))?;
        let held: Vec<_> = held.into_iter().map(|(start, end)| anabranch_range { start, end }).collect();
        // SAFETY: as `put_all` requires of its caller.
        unsafe { put_all(&held, ranges, count, "ranges") }
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}
