//! Ends and routes of a connection: the links of each path, in order from client to server.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

use toml::Value;

use super::error::{Error, show};
use super::model::{LinkId, NodeId};
use super::reader::{Section, list};
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
        (None, false) => section.require(key, |v| topology.host(v)),
    };
    let (client, server) = (end("client", 0)?, end("server", 1)?);
    let called = |n: NodeId| topology.nodes[n].name.as_str();
    if client == server {
        let problem = format!("client and server are both \"{}\"", called(client));
        return Err(Error::at("server", problem, "a connection joins two different hosts"));
    }
    if section.get("paths").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        return Err(Error::at("paths", "the list of routes is empty", "add a route, or remove the key"));
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
        let problem = format!("the connection has more than {MOST_PATHS} paths");
        return Err(Error::at(
            "paths",
            problem,
            format!("allowed: 1 to {MOST_PATHS}; write fewer routes, or no full mesh"),
        ));
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
    let Some(there) = topology.other_end(link, here) else {
        let (a, b) = (topology.links[link].a, topology.links[link].b);
        let next: Vec<&str> = topology.leaving(here).map(|(l, _)| topology.links[l].name.as_str()).collect();
        let next = if next.is_empty() { "none".to_owned() } else { next.join(", ") };
        let here = called(here);
        return Err(Error::new(
            format!("link \"{name}\" joins \"{}\" and \"{}\", not \"{here}\"", called(a), called(b)),
            format!("a route is a chain of links from client to server; links of \"{here}\": {next}"),
        ));
    };
    if been.contains(&there) {
        let problem = format!("link \"{name}\" leads back to \"{}\"", called(there));
        return Err(Error::new(problem, "write a route that visits no node twice"));
    }
    if there != server && !topology.nodes[there].router {
        let problem = format!("the route passes through host \"{}\"", called(there));
        return Err(Error::new(problem, "only routers forward; make it a [[router]]"));
    }
    Ok(there)
}

/// One shortest route for each link of the client, in the order of the file; ties go to the link written first.
fn derived(client: NodeId, server: NodeId, topology: &Topology) -> Vec<Vec<LinkId>> {
    topology.leaving(client).filter_map(|(first, next)| shortest(first, next, server, topology)).collect()
}

/// A shortest route from a host over `first`, whose other end is `next`, to the node `end`; ties go to the link written
/// first. Only routers are between. A breadth-first search of routers: hosts, of which a router may have thousands, are not
/// looked at.
fn shortest(first: LinkId, next: NodeId, end: NodeId, topology: &Topology) -> Option<Vec<LinkId>> {
    if next == end {
        return Some(vec![first]);
    }
    if !topology.nodes[next].router {
        return None;
    }
    // Of each router that was reached: by which link, from which router.
    let mut reached = HashMap::from([(next, (first, next))]);
    let mut queue = VecDeque::from([next]);
    while let Some(here) = queue.pop_front() {
        if let Some(last) = topology.joining(here, end) {
            return Some(traced(&reached, here, next, last));
        }
        for &(link, there) in topology.to_routers(here) {
            if let Entry::Vacant(new) = reached.entry(there) {
                new.insert((link, here));
                queue.push_back(there);
            }
        }
    }
    None
}

/// The route that ends with a link `last` of the router `here`; it began at the router `next`.
fn traced(reached: &HashMap<NodeId, (LinkId, NodeId)>, mut here: NodeId, next: NodeId, last: LinkId) -> Vec<LinkId> {
    let mut route = vec![last];
    loop {
        let (link, before) = reached[&here];
        route.push(link);
        if here == next {
            break;
        }
        here = before;
    }
    route.reverse();
    route
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
            let (Some(next), Some(before)) = (topology.other_end(first, client), topology.other_end(last, server))
            else {
                continue;
            };
            // A route to the node before the server, which must not be passed on the way.
            let way = if next == before { Some(vec![first]) } else { shortest(first, next, before, topology) };
            if let Some(mut way) = way.filter(|w| !w.contains(&last) && before != client) {
                way.push(last);
                paths.push(way);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use anabranch_measures::ask::go_on;
    use anabranch_measures::rng::Rng;

    use super::super::model::Stack;
    use super::super::schema::ROOT;
    use super::super::topology;
    use super::*;

    /// The same route by a search that looks at every link of the network at each step.
    fn by_every_link(first: LinkId, next: NodeId, end: NodeId, topology: &Topology) -> Option<Vec<LinkId>> {
        let mut seen = vec![next];
        let mut queue = VecDeque::from([(next, vec![first])]);
        while let Some((here, route)) = queue.pop_front() {
            if here == end {
                return Some(route);
            }
            let links = if topology.nodes[here].router { topology.links.len() } else { 0 };
            for link in 0..links {
                let there = topology.other_end(link, here);
                if let Some(there) = there.filter(|there| !seen.contains(there)) {
                    seen.push(there);
                    queue.push_back((there, route.iter().copied().chain([link]).collect()));
                }
            }
        }
        None
    }

    #[test]
    fn routes_are_those_of_a_search_that_looks_at_every_link() {
        let mut rng = Rng::new(1, "routes");
        let mut below = |n: usize| (rng.uniform() * n as f64) as usize;
        let mut found = 0;
        for _ in 0..300 {
            let nodes = 3 + below(8);
            let mut text = String::from("[[host]]\nname = 'n0'\n[[host]]\nname = 'n1'\n");
            text += &(2..nodes).map(|n| format!("[[router]]\nname = 'n{n}'\n")).collect::<String>();
            for link in 0..2 + below(20) {
                let a = below(nodes);
                let b = (a + 1 + below(nodes - 1)) % nodes;
                text += &format!("[[link]]\nname = 'l{link}'\nfrom = 'n{a}'\nto = 'n{b}'\nrate = '1 Mbit/s'\n");
            }
            let document: toml::Table = text.parse().unwrap();
            let root = Section::new(&document, &ROOT).unwrap();
            let topology = topology::read(&root, Stack::Anabranch, &go_on).unwrap();
            for (first, next) in topology.leaving(0) {
                // To the other host, and, as a mesh needs it, to each router.
                for end in 1..nodes {
                    let route = shortest(first, next, end, &topology);
                    assert_eq!(route, by_every_link(first, next, end, &topology), "{text}");
                    found += usize::from(route.is_some_and(|r| r.len() > 2));
                }
            }
        }
        assert!(found > 300, "{found} routes over three links or more");
    }
}
