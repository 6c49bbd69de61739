//! Path managers by themselves, and at two endpoints with a wire without delay between them.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use super::*;
use crate::host::{Addresses, ConnectionId, Endpoint};
use crate::segment::Mptcp;
use crate::tcp::State;
use crate::{Config, Event};

const NOW: Instant = Instant(1_000);

/// Address number `host` of network `net`: ours is 0, the peer's 1.
fn address(net: u8, host: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 0, net, host))
}

fn ours(id: u8) -> AddrId {
    AddrId { id, addr: address(0, id) }
}

fn theirs(id: u8) -> AddrId {
    AddrId { id, addr: address(1, id) }
}

/// From our address `local` to the peer's address `remote`.
fn pair(local: u8, remote: u8) -> Pair {
    Pair { local: ours(local), remote: address(1, remote), remote_id: Some(remote) }
}

fn local(id: u8) -> Local {
    Local { id, addr: address(0, id), port: None, signal: false, subflow: true, backup: false }
}

/// Opens everything that may be opened at `now`; returns the last octets of both addresses.
fn opens(manager: &mut dyn PathManager, now: Instant) -> Vec<(u8, u8)> {
    let last = |addr: IpAddr| if let IpAddr::V4(v4) = addr { v4.octets()[3] } else { 0 };
    let open = &mut |_: &Join| Attempt::Opened;
    let next = || manager.open_next(now, open).map(|j| (last(j.addresses.local.addr), last(j.addresses.remote)));
    std::iter::from_fn(next).collect()
}

fn connected(mut manager: PairManager) -> PairManager {
    manager.on_opened(0);
    manager.on_connected(NOW, pair(0, 0), true);
    manager
}

#[test]
fn a_pair_is_joined_as_soon_as_the_peers_address_is_known() {
    let mut m = connected(PairManager::one_per_interface([pair(0, 0), pair(1, 1), pair(2, 0)]));
    assert_eq!(opens(&mut m, NOW), [(2, 0)]);
    m.on_address(NOW, theirs(1), None);
    assert_eq!(opens(&mut m, NOW), [(1, 1)]);
    assert!(!m.wants());
}

#[test]
fn only_the_end_that_opened_the_connection_joins() {
    let mut m = PairManager::one_per_interface([pair(0, 0), pair(1, 0)]);
    m.on_connected(NOW, pair(0, 0), false);
    m.on_address(NOW, theirs(0), None);
    m.on_ended(NOW, 1, false);
    m.on_local(NOW, Change::Added(local(1)));
    assert!(!m.wants());
    assert!(m.announce().iter().all(|local| local.signal));
}

#[test]
fn a_subflow_that_ended_is_tried_again_after_ten_seconds_unless_the_connection_is_over() {
    let mut m = connected(PairManager::one_per_interface([pair(0, 0), pair(1, 0)]));
    assert_eq!(opens(&mut m, NOW), [(1, 0)]);
    m.on_ended(NOW, 1, false);
    let again = NOW + REJOIN_AFTER;
    assert_eq!((opens(&mut m, NOW), m.poll_timeout(NOW)), (vec![], Some(again)));
    assert_eq!((opens(&mut m, again), m.poll_timeout(again)), (vec![(1, 0)], None));
    m.on_ended(again, 1, true);
    assert!(!m.wants());
}

#[test]
fn what_cannot_be_opened_yet_stays_wanted_and_what_never_can_does_not() {
    let mut m = connected(PairManager::one_per_interface([pair(0, 0), pair(1, 0)]));
    assert_eq!(m.open_next(NOW, &mut |_| Attempt::NotYet), None);
    assert!(m.wants());
    assert_eq!(m.open_next(NOW, &mut |_| Attempt::Never), None);
    assert!(!m.wants());
}

#[test]
fn an_address_that_the_peer_removed_is_not_joined() {
    let mut m = connected(PairManager::one_per_interface([pair(0, 0), pair(1, 1)]));
    m.on_address(NOW, theirs(1), None);
    m.on_removal(1);
    assert_eq!(opens(&mut m, NOW), []);
}

#[test]
fn an_interface_that_went_is_not_joined_from_until_it_comes_back() {
    let mut m = connected(PairManager::one_per_interface([pair(0, 0), pair(1, 0)]));
    m.on_local(NOW, Change::Gone(local(1)));
    assert_eq!(opens(&mut m, NOW), []);
    m.on_local(NOW, Change::Priority(Local { backup: true, ..local(1) }));
    m.on_local(NOW, Change::Added(local(1)));
    let join = m.open_next(NOW, &mut |_| Attempt::Opened).expect("the interface is back");
    assert!(join.backup && join.pair == 1);
}

#[test]
fn addresses_are_announced_once_and_the_first_never() {
    let mut m = PairManager::one_per_interface([pair(0, 0), pair(1, 0), pair(1, 1), pair(0, 1), pair(2, 0)]);
    m.on_local(NOW, Change::Gone(local(2)));
    let announced: Vec<_> = m.announce().iter().map(|l| (l.id, l.addr, l.signal)).collect();
    assert_eq!(announced, [(1, address(0, 1), true)]);
    let silent = connected(PairManager::one_per_interface([pair(0, 0), pair(1, 0)])).announce();
    assert!(!silent[0].signal, "the end that opened the connection joins from its addresses");
    assert_eq!(PairManager::none([pair(0, 0), pair(1, 1)]).announce(), []);
}

#[test]
fn none_joins_only_from_an_interface_that_comes() {
    let mut m = connected(PairManager::none([pair(0, 0), pair(1, 0)]));
    m.on_address(NOW, theirs(0), None);
    m.on_ended(NOW, 0, false);
    assert!(!m.wants());
    m.on_local(NOW, Change::Added(local(1)));
    assert_eq!(opens(&mut m, NOW), [(1, 0)]);
}

#[test]
fn a_full_mesh_grows_with_each_address_of_the_peer() {
    let mut m = connected(PairManager::full_mesh(&[ours(0), ours(1)], address(1, 0)));
    assert_eq!(opens(&mut m, NOW), [(1, 0)]);
    m.on_address(NOW, theirs(1), None);
    m.on_address(NOW, theirs(1), None);
    assert_eq!(opens(&mut m, NOW), [(0, 1), (1, 1)]);
    assert_eq!(m.pair_of(address(0, 1), address(1, 1)), Some(3));
}

#[test]
fn linux_joins_from_its_addresses_to_the_first_one_of_the_peer() {
    let limits = Limits { subflows: 2, accepted: 0 };
    let mut m = LinuxManager::new(&[local(1), Local { subflow: false, signal: true, ..local(2) }], limits);
    m.on_connected(NOW, pair(0, 0), true);
    assert_eq!(opens(&mut m, NOW), [(1, 0)]);
    m.on_address(NOW, theirs(1), None);
    assert!(!m.wants(), "add_addr_accepted is 0");
    m.set_limits(Limits { subflows: 2, accepted: 1 });
    m.on_address(NOW, theirs(1), NonZeroU16::new(8080));
    let join = m.open_next(NOW, &mut |_| Attempt::Opened).expect("it may be joined");
    assert_eq!((join.addresses, join.port), (pair(0, 1), NonZeroU16::new(8080)));
    m.on_local(NOW, Change::Added(local(3)));
    assert_eq!((opens(&mut m, NOW), m.limit()), (vec![(3, 0)], 3));
}

// ---- at endpoints -------------------------------------------------------------------------------

/// A client and a server with two addresses each, whose path managers are called as a program
/// would.
struct Hosts {
    ends: [Endpoint; 2],
    managers: [Box<dyn PathManager>; 2],
    ids: [Option<ConnectionId>; 2],
    /// A middlebox sets flag C of MP_CAPABLE: no joins to the first address.
    no_join: bool,
}

impl Hosts {
    fn new(client: PairManager, server: PairManager) -> Self {
        let mut ends = [Endpoint::new([1; 32]), Endpoint::new([2; 32])];
        ends[1].listen(80, Config::default());
        let addresses =
            Addresses { local: SocketAddr::new(address(0, 0), 49_152), remote: SocketAddr::new(address(1, 0), 80) };
        let id = ends[0].connect(NOW, addresses, Config::default()).expect("the 4-tuple is free");
        ends[0].write(id, &[7; 5000]).expect("it is open");
        Self { ends, managers: [Box::new(client), Box::new(server)], ids: [Some(id), None], no_join: false }
    }

    /// Carries segments and events until nothing happens at `now`.
    fn settle(&mut self, now: Instant) {
        let mut busy = true;
        while std::mem::take(&mut busy) {
            for side in [0, 1] {
                self.ends[side].handle_timeout(now);
                while let Some(mut t) = self.ends[side].poll_transmit(now) {
                    busy = true;
                    if let Mptcp::CapableSynAck { no_join, .. } = &mut t.segment.options.mptcp {
                        *no_join |= self.no_join;
                    }
                    self.ends[1 - side].handle_packet(now, t.addresses.reversed(), &t.segment, &t.payload);
                }
                let (end, manager) = (&mut self.ends[side], &mut *self.managers[side]);
                while let Some((id, event)) = end.poll_event() {
                    busy = true;
                    self.ids[side] = Some(id);
                    handle_event(manager, end, now, (id, side == 0), &event);
                    if event == Event::Connected && side == 1 {
                        end.write(id, b"welcome").expect("it is open");
                    }
                }
                if let Some(id) = self.ids[side] {
                    let port =
                        &mut |end: &mut Endpoint, join: &Join, remote| end.draw_port(join.addresses.local.addr, remote);
                    busy |= open_subflows(manager, end, now, id, port);
                }
            }
        }
    }

    /// The pairs of the client's established subflows.
    fn established(&self) -> Vec<(IpAddr, IpAddr)> {
        let id = self.ids[0].expect("it is connected");
        let subflows = self.ends[0].connection(id).expect("it lives").subflows();
        let open = (0..subflows.len()).filter(|&s| subflows[s].state() == State::Established);
        let mut pairs: Vec<_> =
            open.filter_map(|s| self.ends[0].addresses(id, s)).map(|a| (a.local.ip(), a.remote.ip())).collect();
        pairs.sort_unstable();
        pairs
    }
}

/// The server's side of a pair.
fn reversed(local: u8, remote: u8) -> Pair {
    Pair { local: theirs(local), remote: address(0, remote), remote_id: Some(remote) }
}

#[test]
fn two_endpoints_with_path_managers_make_a_full_mesh_and_repair_it() {
    let server = PairManager::one_per_interface([reversed(0, 0), reversed(1, 1)]);
    let mut hosts = Hosts::new(PairManager::full_mesh(&[ours(0), ours(1)], address(1, 0)), server);
    hosts.settle(NOW);
    let all = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(a, b)| (address(0, a), address(1, b)));
    assert_eq!(hosts.established(), all);
    // The server loses its second address, which ends both subflows there. The client joins again
    // when the address is back.
    let id = hosts.ids[1].expect("it was accepted");
    let change = |hosts: &mut Hosts, now, change| {
        handle_local(&mut *hosts.managers[1], &mut hosts.ends[1], now, id, change);
        hosts.settle(now);
    };
    let gone = Local { id: 1, addr: address(1, 1), port: None, signal: true, subflow: true, backup: false };
    change(&mut hosts, NOW, Change::Gone(gone));
    assert_eq!(hosts.established(), [all[0], all[2]]);
    change(&mut hosts, NOW + REJOIN_AFTER, Change::Added(gone));
    assert_eq!(hosts.established(), all);
}

#[test]
fn with_none_there_is_one_subflow() {
    let server = PairManager::none([reversed(0, 0), reversed(1, 1)]);
    let mut hosts = Hosts::new(PairManager::none([pair(0, 0), pair(1, 1)]), server);
    hosts.settle(NOW);
    assert_eq!(hosts.established(), [(address(0, 0), address(1, 0))]);
}

#[test]
fn a_join_that_is_refused_for_ever_is_wanted_no_more() {
    let server = PairManager::one_per_interface([reversed(0, 0)]);
    let mut hosts = Hosts::new(PairManager::full_mesh(&[ours(0), ours(1)], address(1, 0)), server);
    hosts.no_join = true;
    hosts.settle(NOW);
    assert_eq!(hosts.established(), [(address(0, 0), address(1, 0))]);
    assert!(!hosts.managers[0].wants());
}

#[test]
fn a_full_mesh_joins_from_an_address_that_comes_later() {
    let mut m = connected(PairManager::full_mesh(&[ours(0)], address(1, 0)));
    m.on_address(NOW, theirs(1), None);
    assert_eq!(opens(&mut m, NOW), [(0, 1)]);
    m.on_local(NOW, Change::Added(local(2)));
    assert_eq!(opens(&mut m, NOW), [(2, 0), (2, 1)]);
}
