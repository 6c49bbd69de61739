//! Listening, connecting, further subflows, addresses.

use std::net::SocketAddr;
use std::num::NonZeroU16;

use anabranch_stack::host::{Addresses, AdvertiseError, ConnectionId, Gone, JoinError};
use anabranch_stack::path::Policy;

use crate::address::{anabranch_address, anabranch_tuple};
use crate::config::anabranch_config;
use crate::host::{anabranch_host, each, guarded};
use crate::status::{
    ANABRANCH_ARGUMENT, ANABRANCH_GONE, ANABRANCH_IN_USE, ANABRANCH_NEVER, ANABRANCH_NOT_YET, ANABRANCH_OK, Fault,
    fault, given, put,
};

pub(crate) fn gone(_: Gone) -> Fault {
    Fault { code: ANABRANCH_GONE, text: Gone.to_string() }
}

/// Accepts connections to `port` from now on. `backlog`: maximum number of half-open connections;
/// 0: 1024.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_listen(
    host: *mut anabranch_host,
    port: u16,
    config: *const anabranch_config,
    backlog: u32,
) -> i32 {
    let call = |host: &mut anabranch_host| {
        // SAFETY: null is refused; else it came from `anabranch_config_new`.
        let config = unsafe { given(config, "config") }?.0.clone();
        let backlog = if backlog == 0 { 1024 } else { backlog as usize };
        each!(host, e => e.listen_with_backlog(port, config, backlog));
        Ok(ANABRANCH_OK)
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

/// Accepts no more connections to `port`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_stop_listening(host: *mut anabranch_host, port: u16) -> i32 {
    let call = |host: &mut anabranch_host| {
        each!(host, e => e.stop_listening(port));
        Ok(ANABRANCH_OK)
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

/// Draws a free local port for a connection from `tuple.local` to `tuple.remote`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_draw_port(
    host: *mut anabranch_host,
    tuple: *const anabranch_tuple,
    port: *mut u16,
) -> i32 {
    let call = |host: &mut anabranch_host| {
        // SAFETY: null is refused; else the caller passes a 4-tuple.
        let tuple = unsafe { given(tuple, "tuple") }?.addresses()?;
        match host.draw_port(tuple.local, tuple.remote) {
            // SAFETY: null is refused; else the caller passes a place for a port.
            Some(drawn) => unsafe { put(port, drawn, "port") }.map(|()| ANABRANCH_OK),
            None => fault(ANABRANCH_IN_USE, format!("every port to {} is in use", tuple.remote)),
        }
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

impl anabranch_host {
    pub(crate) fn draw_port(&mut self, local: SocketAddr, remote: SocketAddr) -> Option<u16> {
        let ports = self.ports.0..=self.ports.1;
        each!(self, e => e.draw_port_within(ports, local.ip(), remote))
    }
}

/// Opens a connection and writes its number to `connection`. Further functions take this number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_connect(
    host: *mut anabranch_host,
    now: u64,
    tuple: *const anabranch_tuple,
    config: *const anabranch_config,
    connection: *mut u64,
) -> i32 {
    let call = |host: &mut anabranch_host| {
        let now = host.at(now)?;
        // SAFETY: null is refused; else the caller passes a 4-tuple and a configuration.
        let (tuple, config) = unsafe { (given(tuple, "tuple")?.addresses()?, given(config, "config")?.0.clone()) };
        // SAFETY: null is refused; else the caller passes a place for a number.
        unsafe { put(connection, 0, "connection") }?;
        has_ports(tuple)?;
        match each!(host, e => e.connect(now, tuple, config)) {
            // SAFETY: as above.
            Ok(id) => unsafe { put(connection, id.into(), "connection") }.map(|()| ANABRANCH_OK),
            Err(e) => fault(ANABRANCH_IN_USE, e),
        }
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

/// Opens a further subflow and writes its number to `subflow`. `ANABRANCH_NOT_YET`: try again at
/// the event `ANABRANCH_EVENT_JOINS_POSSIBLE`. `ANABRANCH_NEVER`: this connection never can.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_open_subflow(
    host: *mut anabranch_host,
    connection: u64,
    tuple: *const anabranch_tuple,
    backup: u8,
    subflow: *mut u32,
) -> i32 {
    let call = |host: &mut anabranch_host| {
        // SAFETY: null is refused; else the caller passes a 4-tuple.
        let tuple = unsafe { given(tuple, "tuple") }?.addresses()?;
        // SAFETY: null is refused; else the caller passes a place for a number.
        unsafe { put(subflow, u32::MAX, "subflow") }?;
        has_ports(tuple)?;
        match each!(host, e => e.open_subflow(connection.into(), tuple, backup != 0)) {
            // SAFETY: as above.
            Ok(id) => unsafe { put(subflow, id as u32, "subflow") }.map(|()| ANABRANCH_OK),
            Err(e) => fault(join_code(e), e),
        }
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

/// Refuses port 0, which no segment can carry.
fn has_ports(tuple: Addresses) -> Result<(), Fault> {
    match (tuple.local.port(), tuple.remote.port()) {
        (0, _) => fault(ANABRANCH_ARGUMENT, "local.port is 0: draw one with anabranch_draw_port"),
        (_, 0) => fault(ANABRANCH_ARGUMENT, "remote.port is 0: state the port of the peer"),
        _ => Ok(()),
    }
}

fn join_code(e: JoinError) -> i32 {
    match e {
        JoinError::Gone => ANABRANCH_GONE,
        JoinError::InUse(_) => ANABRANCH_IN_USE,
        _ if e.is_final() => ANABRANCH_NEVER,
        _ => ANABRANCH_NOT_YET,
    }
}

/// Tells the peer of a further address of ours (ADD_ADDR). Its port is told unless it is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_advertise(
    host: *mut anabranch_host,
    connection: u64,
    address: *const anabranch_address,
) -> i32 {
    let call = |host: &mut anabranch_host| {
        // SAFETY: null is refused; else the caller passes an address.
        let address = unsafe { given(address, "address") }?.socket("address")?;
        let (id, port) = (ConnectionId::from(connection), NonZeroU16::new(address.port()));
        match each!(host, e => e.advertise_port(id, address.ip(), port)) {
            Ok(()) => Ok(ANABRANCH_OK),
            Err(AdvertiseError::Gone) => Err(gone(Gone)),
            Err(e) => fault(ANABRANCH_NEVER, e),
        }
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

/// An address of ours is gone: resets its subflows and tells the peer (REMOVE_ADDR).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_withdraw(
    host: *mut anabranch_host,
    connection: u64,
    address: *const anabranch_address,
) -> i32 {
    let call = |host: &mut anabranch_host| {
        // SAFETY: null is refused; else the caller passes an address.
        let address = unsafe { given(address, "address") }?.socket("address")?.ip();
        each!(host, e => e.withdraw(connection.into(), address)).map_err(gone).map(|()| ANABRANCH_OK)
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

/// Asks the peer to use a subflow only when no regular one works, or as a regular one again
/// (MP_PRIO).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_set_backup(
    host: *mut anabranch_host,
    connection: u64,
    subflow: u32,
    backup: u8,
) -> i32 {
    let call = |host: &mut anabranch_host| {
        let id = host.subflow(connection, subflow)?;
        each!(host, e => e.set_backup(connection.into(), id, backup != 0)).map_err(gone).map(|()| ANABRANCH_OK)
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

impl anabranch_host {
    /// The number of a subflow, if the connection has it.
    pub(crate) fn subflow(&mut self, connection: u64, subflow: u32) -> Result<usize, Fault> {
        let count = each!(self, e => e.connection(connection.into()).map(|c| c.subflows().len()));
        let count = count.ok_or_else(|| gone(Gone))?;
        if subflow as usize >= count {
            let text = format!("subflow {subflow} does not exist: the connection has had {count}");
            return fault(ANABRANCH_ARGUMENT, text);
        }
        Ok(subflow as usize)
    }
}

/// Gives a further address of ours its identifier (RFC 8684 3.2), before it is advertised or joined
/// from. Without this call it gets the lowest that is free. The port of `address` counts for
/// nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_identify(
    host: *mut anabranch_host,
    connection: u64,
    address: *const anabranch_address,
    identifier: u8,
) -> i32 {
    let call = |host: &mut anabranch_host| {
        // SAFETY: null is refused; else the caller passes an address.
        let address = unsafe { given(address, "address") }?.socket("address")?.ip();
        match each!(host, e => e.identify(connection.into(), address, identifier)) {
            Ok(()) => Ok(ANABRANCH_OK),
            Err(AdvertiseError::Gone) => Err(gone(Gone)),
            Err(_) => fault(
                ANABRANCH_IN_USE,
                format!("{address} has another identifier, or {identifier} belongs to another address"),
            ),
        }
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

/// What schedulers and controllers are told of the path of a subflow: what an octet costs there and
/// its share of the load compared with the others', both above 0 and 1 unless said otherwise; a
/// lower `priority` is preferred, 0 unless said otherwise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_set_path_policy(
    host: *mut anabranch_host,
    connection: u64,
    subflow: u32,
    cost: f64,
    weight: f64,
    priority: u32,
) -> i32 {
    let call = |host: &mut anabranch_host| {
        let id = host.subflow(connection, subflow)?;
        let allowed = |x: f64| x.is_finite() && x > 0.0;
        if !allowed(cost) || !allowed(weight) {
            return fault(ANABRANCH_ARGUMENT, format!("cost is {cost} and weight {weight}: finite, above 0"));
        }
        let policy = Policy { cost, weight, priority };
        each!(host, e => e.configure(connection.into(), |c| c.set_policy(id, policy))).map_err(gone)?;
        Ok(ANABRANCH_OK)
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

/// Makes the Fast Open cookies of the listener of `port` with the 32 octets `key` from now on
/// (RFC 7413 6.3.4); null: with a key of the host's own. Without a listener nothing happens.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_set_fast_open_key(host: *mut anabranch_host, port: u16, key: *const u8) -> i32 {
    let call = |host: &mut anabranch_host| {
        // SAFETY: null means none; else the caller passes 32 octets.
        let key = unsafe { key.cast::<[u8; 32]>().as_ref() }.copied();
        each!(host, e => e.set_fast_open_key(port, key));
        Ok(ANABRANCH_OK)
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

/// Forgets the Fast Open cookies that servers have given, and that they have refused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_forget_fast_open_servers(host: *mut anabranch_host) -> i32 {
    let call = |host: &mut anabranch_host| {
        each!(host, e => e.forget_fast_open_servers());
        Ok(ANABRANCH_OK)
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

/// Writes 1 to `has` if a connection that opens at `now` would begin with a Fast Open cookie, so
/// that what is written at once leaves with the SYN; else 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_has_fast_open_cookie(
    host: *mut anabranch_host,
    now: u64,
    tuple: *const anabranch_tuple,
    has: *mut u8,
) -> i32 {
    let call = |host: &mut anabranch_host| {
        let now = host.at(now)?;
        // SAFETY: null is refused; else the caller passes a 4-tuple.
        let tuple = unsafe { given(tuple, "tuple") }?.addresses()?;
        let cookie = each!(host, e => e.has_fast_open_cookie(now, tuple));
        // SAFETY: null is refused; else the caller passes a place for an octet.
        unsafe { put(has, cookie.into(), "has") }.map(|()| ANABRANCH_OK)
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}
