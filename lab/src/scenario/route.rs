//! Ends and routes of a connection: the links of each path, in order from client to server.

use std::collections::VecDeque;

use toml::Value;

use super::error::Error;
use super::model::{LinkId, NodeId};
use super::reader::{Section, list, show};
use super::topology::Topology;

/// RFC 8684 3.4.1: an address identifier is one octet.
const MOST_PATHS: usize = 255;

/// Client, server, and a route for each path. With `mesh` there is a path for every pair of interfaces.
pub(super) fn read(
    section: &Section<'_>,
    topology: &Topology,
    mesh: bool,
) -> Result<(NodeId, NodeId, Vec<Vec<LinkId>>), Error> {
    let end = |key: &str, short: NodeId| match (section.read(key, |v| topology.host(v))?, topology.short) {
        (Some(id), _) => Ok(id),
        (None, true) => Ok(short),
        (None, false) => section.require(key, "\"HOST\", the name of a [[host]]", |v| topology.host(v)),
    };
    let (client, server) = (end("client", 0)?, end("server", 1)?);
    let called = |n: NodeId| topology.nodes[n].name.as_str();
    if client == server {
        let problem = format!("client and server are both \"{}\"", called(client));
        return Err(Error::at("server", problem, "a connection joins two different hosts"));
    }
    let mut paths = match section.read("paths", |v| written(v, client, server, topology))? {
        Some(paths) => paths,
        None => derived(client, server, topology),
    };
    if mesh {
        complete(&mut paths, client, server, topology);
    }
    if paths.is_empty() {
        let problem = format!("no route leads from \"{}\" to \"{}\"", called(client), called(server));
        return Err(Error::at("paths", problem, "join them with links, by routers if need be (hosts do not forward)"));
    }
    if paths.len() > MOST_PATHS {
        return Err(Error::at("paths", format!("{} paths", paths.len()), format!("allowed: 1 to {MOST_PATHS}")));
    }
    Ok((client, server, paths))
}

const WRITTEN: &str = "paths = [[\"access1\", \"core\"], [\"access2\", \"core\"]], or paths = [\"path0\", \"path1\"]";

fn written(value: &Value, client: NodeId, server: NodeId, topology: &Topology) -> Result<Vec<Vec<LinkId>>, Error> {
    let one = |(i, v)| route(v, client, server, topology).map_err(|e| e.within(&format!("[{i}]")));
    list(value, WRITTEN)?.iter().enumerate().map(one).collect()
}

fn route(value: &Value, client: NodeId, server: NodeId, topology: &Topology) -> Result<Vec<LinkId>, Error> {
    let names = match value {
        Value::String(_) => std::slice::from_ref(value),
        Value::Array(names) => names.as_slice(),
        _ => {
            return Err(Error::new(
                format!("expected the links of a route, found {}", show(value)),
                format!("write {WRITTEN}"),
            ));
        }
    };
    let mut links = Vec::with_capacity(names.len());
    let mut been = vec![client];
    for (i, name) in names.iter().enumerate() {
        let step = topology.link(name).and_then(|link| Ok((link, step(topology, link, &been, server)?)));
        let (link, there) = step.map_err(|e| if value.is_array() { e.within(&format!("[{i}]")) } else { e })?;
        links.push(link);
        been.push(there);
    }
    let end = been[been.len() - 1];
    if end != server {
        let [end, server] = [end, server].map(|n| topology.nodes[n].name.as_str());
        let problem = format!("the route ends at \"{end}\", not at the server \"{server}\"");
        return Err(Error::new(problem, "a route is a chain of links from client to server"));
    }
    Ok(links)
}

/// The node to which `link` leads from the last node of `been`; refuses a link that does not continue the route.
fn step(topology: &Topology, link: LinkId, been: &[NodeId], server: NodeId) -> Result<NodeId, Error> {
    let here = been[been.len() - 1];
    let called = |n: NodeId| topology.nodes[n].name.as_str();
    let name = &topology.links[link].name;
    let Some(there) = other_end(topology, link, here) else {
        let (a, b) = (topology.links[link].a, topology.links[link].b);
        let next: Vec<&str> = leaving(topology, here).map(|(l, _)| topology.links[l].name.as_str()).collect();
        let (next, here) = (next.join(", "), called(here));
        return Err(Error::new(
            format!("link \"{name}\" joins \"{}\" and \"{}\", not \"{here}\"", called(a), called(b)),
            format!("a route is a chain of links from client to server; from \"{here}\" go: {next}"),
        ));
    };
    if been.contains(&there) {
        let problem = format!("link \"{name}\" leads back to \"{}\"", called(there));
        return Err(Error::new(problem, "a route visits no node twice"));
    }
    if there != server && !topology.nodes[there].router {
        let problem = format!("the route passes through host \"{}\"", called(there));
        return Err(Error::new(problem, "only routers forward; make it a [[router]]"));
    }
    Ok(there)
}

/// One shortest route for each link of the client, in the order of the file; ties go to the link written first.
fn derived(client: NodeId, server: NodeId, topology: &Topology) -> Vec<Vec<LinkId>> {
    leaving(topology, client).filter_map(|(first, next)| shortest(client, first, next, server, topology)).collect()
}

fn shortest(client: NodeId, first: LinkId, next: NodeId, server: NodeId, topology: &Topology) -> Option<Vec<LinkId>> {
    let mut seen = vec![false; topology.nodes.len()];
    seen[client] = true;
    seen[next] = true;
    let mut queue = VecDeque::from([(next, vec![first])]);
    while let Some((here, route)) = queue.pop_front() {
        if here == server {
            return Some(route);
        }
        if !topology.nodes[here].router {
            continue;
        }
        for (link, there) in leaving(topology, here) {
            if !std::mem::replace(&mut seen[there], true) {
                queue.push_back((there, route.iter().copied().chain([link]).collect()));
            }
        }
    }
    None
}

/// Adds the shortest route for each pair of a first and a last link that no path has, in their order.
fn complete(paths: &mut Vec<Vec<LinkId>>, client: NodeId, server: NodeId, topology: &Topology) {
    let ends = |p: &Vec<LinkId>| (p[0], p[p.len() - 1]);
    let written: Vec<(LinkId, LinkId)> = paths.iter().map(ends).collect();
    for &(first, _) in &written {
        // So many paths are refused by the caller.
        if paths.len() > MOST_PATHS {
            return;
        }
        for &(_, last) in &written {
            if paths.iter().any(|p| ends(p) == (first, last)) {
                continue;
            }
            let (Some(next), Some(before)) = (other_end(topology, first, client), other_end(topology, last, server))
            else {
                continue;
            };
            // A route to the node before the server, which must not be passed on the way.
            let way = if next == before { Some(vec![first]) } else { shortest(client, first, next, before, topology) };
            if let Some(mut way) = way.filter(|w| !w.contains(&last) && before != client) {
                way.push(last);
                paths.push(way);
            }
        }
    }
}

/// Links at `node` with their other ends, in the order of the file.
fn leaving(topology: &Topology, node: NodeId) -> impl Iterator<Item = (LinkId, NodeId)> + '_ {
    (0..topology.links.len()).filter_map(move |id| other_end(topology, id, node).map(|there| (id, there)))
}

fn other_end(topology: &Topology, link: LinkId, node: NodeId) -> Option<NodeId> {
    let l = &topology.links[link];
    match node {
        n if n == l.a => Some(l.b),
        n if n == l.b => Some(l.a),
        _ => None,
    }
}
