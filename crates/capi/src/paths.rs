//! Path managers: which subflows a connection should have.

use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU16;

use anabranch_stack::event::Event;
use anabranch_stack::host::path_manager::{
    Attempt, Change, Join, Local, PairManager, PathManager, handle_event, handle_local,
};
use anabranch_stack::host::{Addresses, ConnectionId, Gone};
use anabranch_stack::segment::AddrId;
use anabranch_stack::tcp::State;
use anabranch_stack::time::Instant;

use crate::address::{anabranch_address, anabranch_tuple};
use crate::host::{anabranch_host, each, guarded};
use crate::managed::Managed;
use crate::opening::gone;
use crate::status::{ANABRANCH_ARGUMENT, ANABRANCH_NOTHING, ANABRANCH_OK, array, fault, given, null, put};

/// Path manager: neither advertises nor joins.
pub const ANABRANCH_PATHS_NONE: u32 = 0;
/// Path manager: one subflow for each of our addresses.
pub const ANABRANCH_PATHS_ONE_PER_INTERFACE: u32 = 1;
/// Path manager: every address of ours with every address of the peer.
pub const ANABRANCH_PATHS_FULL_MESH: u32 = 2;

impl anabranch_host {
    /// Tells the manager of the connection what has happened, and forgets it at the connection's
    /// end.
    pub(crate) fn tell_manager(&mut self, id: ConnectionId, event: &Event) {
        let Some(managed) = self.managed.get_mut(&id) else { return };
        if *event == Event::Connected && std::mem::replace(&mut managed.connected, true) {
            return;
        }
        let (by, now) = ((id, managed.opened), managed.now);
        each!(self, e => handle_event(&mut managed.manager, e, now, by, event));
        if matches!(event, Event::Closed | Event::Aborted(_) | Event::Fallback { .. }) {
            self.managed.remove(&id);
        }
    }

    /// The earliest deadline of the endpoint and of the path managers.
    pub(crate) fn deadline(&mut self) -> Option<Instant> {
        let of_managers = self.managed.values().filter_map(|m| m.manager.poll_timeout(m.now)).min();
        each!(self, e => e.poll_timeout()).into_iter().chain(of_managers).min()
    }

    /// The next subflow that the manager of `id` wants.
    fn poll_join(&mut self, now: Instant, id: ConnectionId) -> Option<(ConnectionId, Join, Addresses)> {
        let managed = self.managed.get_mut(&id)?;
        managed.now = now;
        let (first, open) = each!(self, e => {
            let connection = e.connection(id).filter(|c| c.join_refusal(None).is_none())?;
            let is_open = |s: &usize| connection.subflows()[*s].state() != State::Closed;
            let open = (0..connection.subflows().len()).filter(is_open).filter_map(|s| e.addresses(id, s));
            (e.addresses(id, 0)?, open.collect::<Vec<_>>())
        });
        let one = managed.one_per_interface;
        let taken = |join: &Join, remote: SocketAddr| {
            open.iter().any(|a| a.local.ip() == join.addresses.local.addr && (one || a.remote == remote))
        };
        let mut wanted = None;
        let join = managed.manager.open_next(now, &mut |join| {
            let port = join.port.map_or(first.remote.port(), NonZeroU16::get);
            let remote = SocketAddr::new(join.addresses.remote, port);
            if join.addresses.local.addr.is_ipv4() != remote.is_ipv4() || taken(join, remote) {
                return Attempt::Never;
            }
            wanted = Some(Addresses { local: SocketAddr::new(join.addresses.local.addr, 0), remote });
            Attempt::Opened
        })?;
        // The manager drops what is joined when it is asked the next time: a join that then fails
        // must not find itself wanted since before.
        managed.manager.open_next(now, &mut |_| Attempt::NotYet);
        Some((id, join, wanted?))
    }
}

/// Gives a connection a path manager: one of the `ANABRANCH_PATHS_` constants, with the `count`
/// addresses of this host, the connection's own first. Call it right after
/// [`anabranch_connect`](crate::opening::anabranch_connect) (`opened` 1) or at
/// `ANABRANCH_EVENT_CONNECTED` of an accepted connection (`opened` 0). The opener joins, the other
/// end advertises its addresses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_manage_paths(
    host: *mut anabranch_host,
    now: u64,
    connection: u64,
    policy: u32,
    opened: u8,
    addresses: *const anabranch_address,
    count: usize,
) -> i32 {
    let call = |host: &mut anabranch_host| {
        let (now, id) = (host.at(now)?, ConnectionId::from(connection));
        // SAFETY: null is refused; else the caller passes `count` addresses.
        let given = unsafe { array(addresses, count, "addresses") }?;
        let ips = given.iter().map(|a| a.socket("addresses").map(|s| s.ip())).collect::<Result<Vec<_>, _>>()?;
        let Some(first) = each!(host, e => e.addresses(id, 0)) else { return Err(gone(Gone)) };
        if policy > ANABRANCH_PATHS_FULL_MESH {
            return fault(ANABRANCH_ARGUMENT, format!("policy {policy} does not exist: 0 to 2"));
        }
        if policy == ANABRANCH_PATHS_NONE {
            host.managed.remove(&id);
            return Ok(ANABRANCH_OK);
        }
        let mut all = vec![first.local.ip()];
        all.extend(ips.into_iter().filter(|ip| *ip != first.local.ip()));
        if all.len() > 256 {
            return fault(ANABRANCH_ARGUMENT, format!("{} addresses: a connection identifies 256", all.len()));
        }
        let locals: Vec<AddrId> = all.iter().enumerate().map(|(i, &addr)| AddrId { id: i as u8, addr }).collect();
        let manager = PairManager::full_mesh(&locals, first.remote.ip());
        let one_per_interface = policy == ANABRANCH_PATHS_ONE_PER_INTERFACE;
        let opened = opened != 0;
        host.managed.insert(id, Managed { manager, locals, opened, one_per_interface, connected: false, now });
        let opening = |s: State| matches!(s, State::SynSent | State::SynReceived);
        if each!(host, e => e.connection(id)).is_some_and(|c| !opening(c.subflows()[0].state())) {
            host.tell_manager(id, &Event::Connected);
        }
        Ok(ANABRANCH_OK)
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

/// Takes the next subflow that the path manager of any connection wants, with local port 0; writes
/// the number of the connection to `connection`, and 1 to `backup` if it is to be a backup. Open
/// the subflow with [`anabranch_open_subflow`](crate::opening::anabranch_open_subflow). If that
/// fails, or the host has no route to the peer's address, call [`anabranch_join_failed`]. Call this
/// function after each event of the host and when the host's timeout has passed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_poll_join(
    host: *mut anabranch_host,
    now: u64,
    connection: *mut u64,
    tuple: *mut anabranch_tuple,
    backup: *mut u8,
) -> i32 {
    let call = |host: &mut anabranch_host| {
        let now = host.at(now)?;
        for (null_pointer, name) in
            [(connection.is_null(), "connection"), (tuple.is_null(), "tuple"), (backup.is_null(), "backup")]
        {
            if null_pointer {
                return Err(null(name));
            }
        }
        let wanting: Vec<_> = host.managed.iter().filter(|(_, m)| m.manager.wants()).map(|(id, _)| *id).collect();
        let Some((id, join, wanted)) = wanting.into_iter().find_map(|id| host.poll_join(now, id)) else {
            return Ok(ANABRANCH_NOTHING);
        };
        // SAFETY: none is null; the caller passes places for a number, a 4-tuple and an octet.
        unsafe {
            put(connection, id.into(), "connection")?;
            put(tuple, anabranch_tuple::of(wanted), "tuple")?;
            put(backup, join.backup.into(), "backup")?;
        }
        Ok(ANABRANCH_OK)
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

/// The subflow `tuple`, which [`anabranch_poll_join`] has given, could not be opened: the path
/// manager wants it again after 10 s. Do not call this after `ANABRANCH_NEVER`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_join_failed(
    host: *mut anabranch_host,
    now: u64,
    connection: u64,
    tuple: *const anabranch_tuple,
) -> i32 {
    let call = |host: &mut anabranch_host| {
        let now = host.at(now)?;
        // SAFETY: null is refused; else the caller passes a 4-tuple.
        let Addresses { local, remote } = unsafe { given(tuple, "tuple") }?.addresses()?;
        if let Some(managed) = host.managed.get_mut(&connection.into()) {
            managed.now = now;
            if let Some(pair) = managed.manager.pair_of(local.ip(), remote.ip()) {
                managed.manager.on_ended(now, pair, false);
            }
        }
        Ok(ANABRANCH_OK)
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

/// An address of this host comes (`present` 1) or goes (0): tells the path manager of a connection
/// and its peer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_address_changed(
    host: *mut anabranch_host,
    now: u64,
    connection: u64,
    address: *const anabranch_address,
    present: u8,
) -> i32 {
    let call = |host: &mut anabranch_host| {
        let (now, id) = (host.at(now)?, ConnectionId::from(connection));
        // SAFETY: null is refused; else the caller passes an address.
        let addr: IpAddr = unsafe { given(address, "address") }?.socket("address")?.ip();
        let Some(managed) = host.managed.get_mut(&id) else {
            if present == 0 {
                each!(host, e => e.withdraw(id, addr)).map_err(gone)?;
            }
            return Ok(ANABRANCH_OK);
        };
        managed.now = now;
        let known = managed.locals.iter().find(|l| l.addr == addr).map(|l| l.id);
        let Some(number) = known.or_else(|| u8::try_from(managed.locals.len()).ok()) else {
            return fault(ANABRANCH_ARGUMENT, format!("no identifier is left for {addr}"));
        };
        if known.is_none() {
            managed.locals.push(AddrId { id: number, addr });
        }
        let local = Local { id: number, addr, port: None, signal: !managed.opened, subflow: true, backup: false };
        let change = if present == 0 { Change::Gone(local) } else { Change::Added(local) };
        each!(host, e => handle_local(&mut managed.manager, e, now, id, change));
        Ok(ANABRANCH_OK)
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}
