//! ICMP and ICMPv6.

use crate::address::anabranch_tuple;
use crate::host::{anabranch_host, each, guarded};
use crate::status::{ANABRANCH_OK, given};

/// ICMP "fragmentation needed" or ICMPv6 "packet too big" about a segment of ours: its 4-tuple, its
/// sequence number, and the MTU that the router states.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_handle_too_big(
    host: *mut anabranch_host,
    now: u64,
    tuple: *const anabranch_tuple,
    seq: u32,
    mtu: u32,
) -> i32 {
    let call = |host: &mut anabranch_host| {
        let now = host.at(now)?;
        // SAFETY: null is refused; else the caller passes a 4-tuple.
        let tuple = unsafe { given(tuple, "tuple") }?.addresses()?;
        each!(host, e => e.handle_too_big(now, tuple, seq, mtu));
        Ok(ANABRANCH_OK)
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

/// ICMP "destination unreachable" that will not pass (RFC 9293 3.9.2.2) about a segment of ours:
/// ends a connection that is being opened.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_handle_unreachable(
    host: *mut anabranch_host,
    now: u64,
    tuple: *const anabranch_tuple,
    seq: u32,
) -> i32 {
    let call = |host: &mut anabranch_host| {
        let now = host.at(now)?;
        // SAFETY: null is refused; else the caller passes a 4-tuple.
        let tuple = unsafe { given(tuple, "tuple") }?.addresses()?;
        each!(host, e => e.handle_unreachable(now, tuple, seq));
        Ok(ANABRANCH_OK)
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

/// A soft error (RFC 9293 3.9.2.2) about a segment of ours: ends nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_handle_soft_error(
    host: *mut anabranch_host,
    tuple: *const anabranch_tuple,
    seq: u32,
) -> i32 {
    let call = |host: &mut anabranch_host| {
        // SAFETY: null is refused; else the caller passes a 4-tuple.
        let tuple = unsafe { given(tuple, "tuple") }?.addresses()?;
        each!(host, e => e.handle_soft_error(tuple, seq));
        Ok(ANABRANCH_OK)
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}
