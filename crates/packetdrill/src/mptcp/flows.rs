//! Which 4-tuple a line of a script is about: `addr[caddr1] > addr[saddr0]`.
//!
//! A line without addresses is about the 4-tuple of the latest SYN in the script (as in the fork). A name without an address gets that of the 4-tuple that the
//! line is found to be about.

use std::net::{IpAddr, SocketAddr};

use anabranch_stack::host::Addresses;
use anabranch_stack::segment::Flags;
use anabranch_stack::tcp::State;

use super::names::Way;
use super::option::Place;
use crate::ast::{Icmp, Packet};
use crate::host::Host;
use crate::report::{Step, Stop};

/// The line says where its segment comes from or goes to.
pub fn is_said(packet: &Packet) -> bool {
    packet.from.is_some() || packet.to.is_some()
}

fn opens(packet: &Packet) -> bool {
    packet.flags & (Flags::SYN.0 | Flags::ACK.0) == Flags::SYN.0
}

/// Our end and the peer's, as far as the line says.
fn ends(packet: &Packet, way: Way) -> [Option<&Place>; 2] {
    let (from, to) = (packet.from.as_ref(), packet.to.as_ref());
    if way == Way::In { [to, from] } else { [from, to] }
}

fn address(host: &Host, place: Option<&Place>) -> Option<IpAddr> {
    place.and_then(|place| place.addr.or_else(|| host.names.address(&place.name)))
}

/// The names of a line stand for the addresses of the flow.
fn bind(host: &mut Host, flow: usize, packet: &Packet, way: Way) {
    let Addresses { local, remote } = host.flows[flow].addresses;
    for (place, addr) in ends(packet, way).into_iter().zip([local.ip(), remote.ip()]) {
        if let Some(place) = place {
            host.names.name_address(&place.name, addr);
        }
    }
}

fn fits(host: &Host, flow: usize, packet: &Packet, way: Way) -> bool {
    let [local, remote] = ends(packet, way).map(|place| address(host, place));
    let at = host.flows[flow].addresses;
    local.is_none_or(|addr| addr == at.local.ip()) && remote.is_none_or(|addr| addr == at.remote.ip())
}

/// The 4-tuple on which a segment arrives; that of a SYN becomes the current one. `first`: where connections to us come from.
///
/// # Errors
/// If no such segment can arrive.
pub fn arrive(host: &mut Host, packet: &Packet, first: IpAddr, listener: Option<SocketAddr>) -> Step<usize> {
    let found = (0..host.flows.len()).rfind(|&flow| fits(host, flow, packet, Way::In));
    // A SYN between names that are not known yet opens another 4-tuple.
    let known = ends(packet, Way::In).into_iter().flatten().all(|place| address(host, Some(place)).is_some());
    let half_open =
        |host: &Host, flow: usize| host.subflow_on(flow).is_some_and(|(_, s)| s.state() == State::SynReceived);
    let flow = match found {
        Some(flow) if !opens(packet) || (known && half_open(host, flow)) => flow,
        _ if opens(packet) => {
            let [local, remote] = ends(packet, Way::In);
            let port = host.flows.first().map_or(listener, |flow| Some(flow.addresses.local));
            let Some(port) = port else { return Stop::wrong("a SYN arrives, but no socket listens") };
            let local = SocketAddr::new(address(host, local).unwrap_or(port.ip()), port.port());
            let remote = match address(host, remote) {
                Some(addr) => addr,
                None if host.flows.is_empty() => first,
                None => host.names.next_after(first),
            };
            let port = u16::try_from(50_000 + host.flows.len()).unwrap_or(u16::MAX);
            host.enter(Addresses { local, remote: SocketAddr::new(remote, port) })
        }
        _ => return Stop::wrong("a segment arrives between addresses that no connection has"),
    };
    bind(host, flow, packet, Way::In);
    Ok(flow)
}

/// The 4-tuple that a router's message is about. A message about nothing in flight is somebody's forgery, and arrives; but not if it is about what
/// another subflow has in flight, which its line then has to name.
///
/// # Errors
/// If there is no such connection, or the line has to say which subflow it means.
pub fn concerned(host: &Host, icmp: &Icmp, seq: u32) -> Step<usize> {
    let in_flight = |flow: usize| {
        host.subflow_on(flow).is_some_and(|(_, subflow)| subflow.is_in_flight(host.flows[flow].ours(seq)))
    };
    let line = Packet { from: icmp.from.clone(), to: icmp.to.clone(), ..Packet::default() };
    if is_said(&line) {
        let found = (0..host.flows.len()).rfind(|&flow| fits(host, flow, &line, Way::In));
        return match found {
            Some(flow) if in_flight(flow) => Ok(flow),
            Some(_) => {
                Stop::wrong(format!("an ICMP message is about {seq}, which is not in flight between these addresses"))
            }
            None => Stop::wrong("an ICMP message arrives between addresses that no connection has"),
        };
    }
    let Some(current) = host.current.filter(|at| *at < host.flows.len()) else {
        return Stop::wrong("an ICMP message arrives, but there is no connection: listen or connect first");
    };
    if !in_flight(current) && (0..host.flows.len()).any(in_flight) {
        return Stop::wrong(format!(
            "an ICMP message is about {seq}, which another subflow has in flight: name this subflow, such as addr[caddr0] > addr[saddr0]"
        ));
    }
    Ok(current)
}

/// The 4-tuple of a segment that is to be sent, among those on which something was sent: `None` if there is none yet.
pub fn leave(host: &Host, packet: &Packet) -> Option<usize> {
    if !is_said(packet) {
        return host.current;
    }
    let fits = |flow: &usize| fits(host, *flow, packet, Way::Out);
    if opens(packet) {
        let syn = |flow: &usize| host.sent.iter().any(|s| s.flow == *flow && s.segment.flags.0 == Flags::SYN.0);
        return (0..host.flows.len()).filter(syn).find(fits);
    }
    (0..host.flows.len()).rev().find(fits)
}

/// The segment was found to be of this flow; that of a SYN becomes the current one.
pub fn left(host: &mut Host, flow: usize, packet: &Packet) {
    bind(host, flow, packet, Way::Out);
    if opens(packet) {
        host.current = Some(flow);
    }
}
