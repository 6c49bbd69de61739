//! A path manager at a connection of an [`Endpoint`].

use std::net::SocketAddr;
use std::num::NonZeroU16;

use super::{Attempt, Change, Join, Local, Pair, PathManager};
use crate::event::{Event, SubflowId};
use crate::host::{Addresses, ConnectionId, Endpoint, Keep};
use crate::segment::AddrId;
use crate::tcp::State;
use crate::time::Instant;

/// Tells `manager` of an event of the connection `id`, and advertises what the manager announces.
/// `opened`: we opened the connection. Call [`open_subflows`] afterwards, and whenever the
/// manager's [timeout](PathManager::poll_timeout) has come.
pub fn handle_event<K: Keep>(
    manager: &mut dyn PathManager,
    endpoint: &mut Endpoint<K>,
    now: Instant,
    (id, opened): (ConnectionId, bool),
    event: &Event,
) {
    match event {
        Event::Connected => {
            let Some(first) = endpoint.addresses(id, 0) else { return };
            let local = AddrId { id: 0, addr: first.local.ip() };
            manager.on_opened(0);
            let first = Pair { local, remote: first.remote.ip(), remote_id: Some(0) };
            manager.on_connected(now, first, opened);
            let marks = manager.marks_joins_of_peer();
            for local in manager.announce() {
                announce(endpoint, id, local, marks);
            }
        }
        Event::RemoteAddress { id, addr, port } => manager.on_address(now, AddrId { id: *id, addr: *addr }, *port),
        Event::RemoteAddressRemoved { id } => manager.on_removal(*id),
        Event::SubflowEnded(subflow, _) => {
            let over = endpoint.connection(id).is_none_or(|c| !c.is_multipath());
            let ended = endpoint.addresses(id, *subflow);
            let ended = ended.map(|a| (a.local.ip(), a.remote.ip()));
            if let Some(pair) = ended.and_then(|(local, remote)| manager.pair_of(local, remote)) {
                manager.on_ended(now, pair, over);
            }
        }
        _ => {}
    }
}

/// Tells `manager` what becomes of an address of ours, and the peer of the connection `id` what it
/// has to know.
pub fn handle_local<K: Keep>(
    manager: &mut dyn PathManager,
    endpoint: &mut Endpoint<K>,
    now: Instant,
    id: ConnectionId,
    change: Change,
) {
    match change {
        Change::Added(local) => announce(endpoint, id, local, manager.marks_joins_of_peer()),
        // A connection that is gone has no part in it.
        Change::Gone(local) => drop(endpoint.withdraw(id, local.addr)),
        Change::Priority(local) => {
            let count = endpoint.connection(id).map_or(0, |c| c.subflows().len());
            let from = |s: &SubflowId| endpoint.addresses(id, *s).is_some_and(|a| a.local.ip() == local.addr);
            for subflow in (0..count).filter(from).collect::<Vec<_>>() {
                let _ = endpoint.set_backup(id, subflow, local.backup);
            }
            if manager.marks_joins_of_peer() {
                let _ = endpoint.set_backup_address(id, local.addr, local.backup);
            }
        }
    }
    manager.on_local(now, change);
}

/// An address that has no identifier left is neither advertised nor joined from. `marks`:
/// [`PathManager::marks_joins_of_peer`].
fn announce<K: Keep>(endpoint: &mut Endpoint<K>, id: ConnectionId, local: Local, marks: bool) {
    let _ = endpoint.identify(id, local.addr, local.id);
    if marks {
        let _ = endpoint.set_backup_address(id, local.addr, local.backup);
    }
    if local.signal {
        let _ = endpoint.advertise_port(id, local.addr, local.port);
    }
}

/// Chooses the local port of a join to a remote address; `None` if there is none.
pub type Ports<'a, K> = &'a mut dyn FnMut(&mut Endpoint<K>, &Join, SocketAddr) -> Option<u16>;

/// Opens the subflows of the connection `id` whose time has come, each from the port that `port`
/// returns for the join. Returns true if a subflow was opened: then the endpoint has segments to
/// send.
pub fn open_subflows<K: Keep>(
    manager: &mut dyn PathManager,
    endpoint: &mut Endpoint<K>,
    now: Instant,
    id: ConnectionId,
    port: Ports<'_, K>,
) -> bool {
    let (mut opened, limit) = (false, manager.limit());
    while manager.open_next(now, &mut |join| attempt(endpoint, id, limit, join, port)).is_some() {
        opened = true;
    }
    opened
}

fn attempt<K: Keep>(
    endpoint: &mut Endpoint<K>,
    id: ConnectionId,
    limit: usize,
    join: &Join,
    port: Ports<'_, K>,
) -> Attempt {
    let Some(connection) = endpoint.connection(id).filter(|c| c.is_multipath()) else { return Attempt::Never };
    let is_open = |&s: &SubflowId| connection.subflows()[s].state() != State::Closed;
    let open: Vec<Addresses> =
        (0..connection.subflows().len()).filter(is_open).filter_map(|s| endpoint.addresses(id, s)).collect();
    let Some(first) = endpoint.addresses(id, 0) else { return Attempt::Never };
    let Pair { local, remote, .. } = join.addresses;
    let remote = SocketAddr::new(remote, join.port.map_or(first.remote.port(), NonZeroU16::get));
    if open.len() >= limit || open.iter().any(|a| a.local.ip() == local.addr && a.remote == remote) {
        return Attempt::Never;
    }
    let Some(port) = port(endpoint, join, remote) else { return Attempt::Never };
    let addresses = Addresses { local: SocketAddr::new(local.addr, port), remote };
    match endpoint.open_subflow(id, addresses, join.backup) {
        Ok(_) => Attempt::Opened,
        Err(e) if e.is_final() => Attempt::Never,
        Err(_) => Attempt::NotYet,
    }
}
