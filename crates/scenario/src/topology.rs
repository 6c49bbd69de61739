//! Hosts, routers and links, in the short form (`[[path]]`) and in the long one (`[[host]]`, `[[router]]`, `[[link]]`).

use std::collections::{HashMap, HashSet};

use anabranch_measures::ask::Ask;
use anabranch_stack::path::Policy;
use toml::{Table, Value};

use super::error::{Error, asked};
use super::model::{Link, LinkId, More, Node, NodeId, Stack};
use super::nearest::did_you_mean;
use super::reader::{Section, each_table, list, name, text};
use super::schema::{HOST, LINK, NODE, PATH, ROUTER};
use super::{legacy, link, wifi};

/// The network: hosts, routers and links.
#[derive(Debug)]
pub(super) struct Topology {
    pub(super) nodes: Vec<Node>,
    pub(super) links: Vec<Link>,
    /// Given in the short form, two hosts with disjoint links: ends and routes of a connection need not be written.
    pub(super) short: bool,
    /// Numbers by name, so that names are found fast in networks with ten thousands of links.
    node_ids: HashMap<String, NodeId>,
    link_ids: HashMap<String, LinkId>,
    /// By node, its links in the order of the file.
    at: Vec<Vec<LinkId>>,
    /// By node, those of its links that lead to a router, with that router, in the order of the file.
    to_routers: Vec<Vec<(LinkId, NodeId)>>,
}

/// Reads the topology from the root of the document.
pub(super) fn read(root: &Section<'_>, stack: Stack, ask: Ask<'_>) -> Result<Topology, Error> {
    let common = root.read("host", |v| v.as_table().map(|t| Section::new(t, &HOST)?.more("")).transpose())?.flatten();
    let long =
        ["host", "router", "link"].into_iter().find(|k| root.get(k).is_some_and(|v| *k != "host" || !v.is_table()));
    let mut topology = networked(root, long, stack, ask)?;
    for host in topology.nodes.iter_mut().filter(|node| !node.router) {
        if let Some(common) = &common {
            host.more.fill(common);
        }
    }
    Ok(topology)
}

fn networked(root: &Section<'_>, long: Option<&str>, stack: Stack, ask: Ask<'_>) -> Result<Topology, Error> {
    match (root.get("path"), long) {
        (Some(_), Some(key)) => Err(Error::at(
            key,
            format!("[[{key}]] cannot stand beside [[path]]"),
            "use [[path]] for two hosts with disjoint links, else [[host]], [[router]] and [[link]] alone",
        )),
        (Some(paths), None) => short(paths, stack, ask).map_err(|e| e.within("path")),
        (None, Some(_)) => full(root, stack, ask),
        (None, None) => Err(Error::at(
            "path",
            "the scenario has no path",
            "add at least one [[path]], with for example rate = \"10 Mbit/s\" and delay = \"10 ms\"",
        )),
    }
}

fn short(paths: &Value, stack: Stack, ask: Ask<'_>) -> Result<Topology, Error> {
    let written = "[[path]] (with double brackets) for each path";
    let mut links = each_table(list(paths, written)?, written, |i, t| {
        asked(ask)?;
        let section = Section::new(t, &PATH)?;
        let name = section.or("name", format!("path{i}"), name)?;
        let (up, down, changes) = link::read(&section, stack)?;
        let backup = section.value("backup")?;
        let policy = policy(&section, stack)?;
        let capture = section.value("capture")?;
        let middleboxes = link::middleboxes(&section, stack)?;
        let wifi = wifi::read(&section)?;
        Ok(Link { name, a: 0, b: 1, up, down, wifi, backup, policy, capture, middleboxes, changes })
    })?;
    if links.is_empty() {
        return Err(Error::new("the scenario has no path", "add at least one [[path]]"));
    }
    let nodes = ["client", "server"].map(|n| Node { name: n.into(), router: false, more: More::default() }).to_vec();
    distinct(links.iter().map(|l| l.name.as_str()), [].into_iter())?;
    wifi::settle(&mut links)?;
    Ok(Topology::new(nodes, links, true))
}

fn full(root: &Section<'_>, stack: Stack, ask: Ask<'_>) -> Result<Topology, Error> {
    let mut nodes: Vec<Node> = Vec::new();
    for (key, router) in [("host", false), ("router", true)] {
        let written = format!("[[{key}]] (with double brackets) for each {key}");
        let new = root.or(key, Vec::new(), |v| {
            let new = each_table(list(v, &written)?, &written, |_, t| {
                let section = Section::new(t, if router { &ROUTER } else { &NODE })?;
                Ok(Node { name: section.require("name", name)?, router, more: section.more("")? })
            })?;
            distinct(new.iter().map(|n| n.name.as_str()), nodes.iter().map(|n| n.name.as_str()))?;
            Ok(new)
        })?;
        nodes.extend(new);
    }
    let written = "[[link]] (with double brackets) for each link";
    let links = root.or("link", Vec::new(), |v| {
        let ids = numbers(nodes.iter().map(|n| &n.name));
        let mut links = each_table(list(v, written)?, written, |_, t| {
            asked(ask)?;
            one_link(t, &nodes, &ids, stack)
        })?;
        distinct(links.iter().map(|l| l.name.as_str()), [].into_iter())?;
        wifi::settle(&mut links)?;
        Ok(links)
    })?;
    if links.is_empty() {
        return Err(Error::at("link", "the scenario has no link", "add [[link]] with name, from and to"));
    }
    Ok(Topology::new(nodes, links, false))
}

fn one_link(value: &Table, nodes: &[Node], ids: &HashMap<String, NodeId>, stack: Stack) -> Result<Link, Error> {
    let section = Section::new(value, &LINK)?;
    let end = |v| node(v, nodes, ids);
    let (a, b) = (section.require("from", end)?, section.require("to", end)?);
    if a == b {
        let problem = format!("the link begins and ends at \"{}\"", nodes[a].name);
        return Err(Error::at("to", problem, "a link joins two different hosts or routers"));
    }
    let (up, down, changes) = link::read(&section, stack)?;
    let backup = section.value("backup")?;
    let policy = policy(&section, stack)?;
    let capture = section.value("capture")?;
    let middleboxes = link::middleboxes(&section, stack)?;
    let name = section.require("name", name)?;
    let wifi = wifi::read(&section)?;
    Ok(Link { name, a, b, up, down, wifi, backup, policy, capture, middleboxes, changes })
}

/// What schedulers and controllers are told of a path.
fn policy(section: &Section<'_>, stack: Stack) -> Result<Policy, Error> {
    if stack == Stack::Legacy2011 {
        legacy::check_path(section)?;
    }
    Ok(Policy { cost: section.value("cost")?, weight: section.value("weight")?, priority: section.value("priority")? })
}

impl Topology {
    fn new(nodes: Vec<Node>, links: Vec<Link>, short: bool) -> Self {
        let node_ids = numbers(nodes.iter().map(|n| &n.name));
        let link_ids = numbers(links.iter().map(|l| &l.name));
        let (mut at, mut to_routers) = (vec![Vec::new(); nodes.len()], vec![Vec::new(); nodes.len()]);
        for (id, link) in links.iter().enumerate() {
            for (here, there) in [(link.a, link.b), (link.b, link.a)] {
                at[here].push(id);
                if nodes[there].router {
                    to_routers[here].push((id, there));
                }
            }
        }
        Self { nodes, links, short, node_ids, link_ids, at, to_routers }
    }

    /// Links at `node` with their other ends, in the order of the file.
    pub(super) fn leaving(&self, node: NodeId) -> impl Iterator<Item = (LinkId, NodeId)> + '_ {
        self.at[node].iter().filter_map(move |&id| self.other_end(id, node).map(|there| (id, there)))
    }

    /// Links from `node` to routers, with these, in the order of the file.
    pub(super) fn to_routers(&self, node: NodeId) -> &[(LinkId, NodeId)] {
        &self.to_routers[node]
    }

    /// The first link in the order of the file that joins two nodes.
    pub(super) fn joining(&self, here: NodeId, there: NodeId) -> Option<LinkId> {
        // One of the two may be the hub of ten thousand links.
        let (few, other) = if self.at[here].len() <= self.at[there].len() { (here, there) } else { (there, here) };
        self.leaving(few).find(|(_, end)| *end == other).map(|(id, _)| id)
    }

    /// The node at the other end of `link`, if it is a link of `node`.
    pub(super) fn other_end(&self, link: LinkId, node: NodeId) -> Option<NodeId> {
        let l = &self.links[link];
        match node {
            n if n == l.a => Some(l.b),
            n if n == l.b => Some(l.a),
            _ => None,
        }
    }

    /// The host called by `value`.
    pub(super) fn host(&self, value: &Value) -> Result<NodeId, Error> {
        let id = node(value, &self.nodes, &self.node_ids)?;
        if self.nodes[id].router {
            let hosts: Vec<&str> = self.nodes.iter().filter(|n| !n.router).map(|n| n.name.as_str()).collect();
            let problem = format!("\"{}\" is a router; connections begin and end at hosts", self.nodes[id].name);
            return Err(Error::new(problem, format!("hosts: {}", hosts.join(", "))));
        }
        Ok(id)
    }

    /// The link called by `value`.
    pub(super) fn link(&self, value: &Value) -> Result<LinkId, Error> {
        find(text(value)?, "link", &self.link_ids, || self.links.iter().map(|l| l.name.as_str()).collect())
    }
}

fn node(value: &Value, nodes: &[Node], ids: &HashMap<String, NodeId>) -> Result<NodeId, Error> {
    find(text(value)?, "host or router", ids, || nodes.iter().map(|n| n.name.as_str()).collect())
}

fn numbers<'a>(names: impl Iterator<Item = &'a String>) -> HashMap<String, usize> {
    names.enumerate().map(|(i, name)| (name.clone(), i)).collect()
}

/// The number of `name`; `names` lists all names, for a message.
fn find<'a>(
    name: &str,
    what: &str,
    ids: &HashMap<String, usize>,
    names: impl FnOnce() -> Vec<&'a str>,
) -> Result<usize, Error> {
    ids.get(name).copied().ok_or_else(|| {
        let names = names();
        let known =
            if names.is_empty() { "there is none".to_owned() } else { format!("allowed: {}", names.join(", ")) };
        Error::new(format!("no {what} is called \"{name}\""), format!("{}{known}", did_you_mean(name, &names)))
    })
}

/// Refuses a name that is given twice, or is among those already `taken`.
pub(super) fn distinct<'a>(
    names: impl Iterator<Item = &'a str>,
    taken: impl Iterator<Item = &'a str>,
) -> Result<(), Error> {
    let mut taken: HashSet<&str> = taken.collect();
    for (i, name) in names.enumerate() {
        if !taken.insert(name) {
            let problem = format!("the name \"{name}\" is taken");
            return Err(Error::at("name", problem, "names must differ").within(&format!("[{i}]")));
        }
    }
    Ok(())
}
