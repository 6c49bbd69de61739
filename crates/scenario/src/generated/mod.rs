//! Networks and traffic too large to write down: `[topology]` and `[traffic]`.
//!
//! Both are shorthand. Before the document is read they are replaced by `[[host]]`, `[[router]]`, `[[link]]` and
//! `[[connection]]`, the long form, which is then validated and run as if it had been typed; `anabranch check --expand` prints
//! it. `[topology]` makes the network ([`shape`]), `[traffic]` the pairs of hosts that communicate ([`pattern`]). Protocol and
//! transfer of each connection are given in `[connection]` and `[transfer]`.
//!
//! Each subflow of a connection takes one of the equal-cost paths between its hosts, drawn independently of the others. That is
//! ECMP (RFC 2992) with an ideal, seeded hash of the subflow's 4-tuple: two subflows may share a path, as in a data centre.
//! One difference: real switches hash each direction separately; here acknowledgements take the path of the data.

mod pattern;
mod shape;

use anabranch_measures::ask::Ask;
use anabranch_measures::rng::Rng;
use toml::{Table, Value};

use super::error::{Error, asked};
use super::link;
use super::model::Stack;
use super::reader::{Section, table, whole};
use super::schema::{ACCESS, CONNECTION, PATH, TOPOLOGY, TRAFFIC};
use super::words::{NETWORKS, PATTERNS, Pattern};
use shape::Shape;

/// The most connections that can be generated; a run with more would take too long.
const MOST_CONNECTIONS: u64 = 100_000;
/// The default number of subflows.
const SUBFLOWS: u64 = 4;

/// The long form of `document`, if it has `[topology]`; `seed` is that of the random draws.
pub(super) fn expand(document: &Table, stack: Stack, seed: u64, ask: Ask<'_>) -> Result<Option<Table>, Error> {
    let Some(written) = document.get("topology") else {
        if document.contains_key("traffic") {
            let remedy = "add [topology] with for example kind = \"fat-tree\" and k = 4, or write [[connection]]s";
            return Err(Error::at("traffic", "[traffic] needs a [topology]", remedy));
        }
        return Ok(None);
    };
    if let Some(key) = ["path", "host", "router", "link"]
        .into_iter()
        .find(|k| document.get(*k).is_some_and(|v| *k != "host" || !v.is_table()))
    {
        let problem = format!("[[{key}]] cannot stand beside [topology], which makes hosts, routers and links");
        return Err(Error::at(key, problem, "use one of the two; `anabranch check --expand` writes a [topology] out"));
    }
    let shape = network(written, stack).map_err(|e| e.within("topology"))?;
    let mut out: Table = document.clone();
    for key in ["topology", "traffic"] {
        out.remove(key);
    }
    let common = out.remove("host");
    shape.write(&mut out);
    let hosts = out.get_mut("host").and_then(Value::as_array_mut);
    for (host, common) in hosts.into_iter().flatten().zip(std::iter::repeat(common.and_then(|v| v.as_table().cloned())))
    {
        if let (Some(host), Some(common)) = (host.as_table_mut(), common) {
            host.extend(common);
        }
    }
    if let Some(traffic) = document.get("traffic") {
        write_traffic(traffic, document, (&shape, seed), &mut out, ask)?;
    }
    Ok(Some(out))
}

/// A fault found in the long form, with the key path that the user wrote.
pub(super) fn place(fault: Error, traffic: bool) -> Error {
    if traffic { fault.moved("connection[0].transfer", "transfer").moved("connection[0]", "connection") } else { fault }
}

fn network(value: &Value, stack: Stack) -> Result<Shape, Error> {
    let section = Section::new(table(value, "[topology]")?, &TOPOLOGY)?;
    let own = |key: &str| TOPOLOGY.find(key).is_some_and(|key| !key.directed);
    let given = table(value, "[topology]")?.iter().filter(|(k, _)| !own(k));
    let each: Table = given.map(|(k, v)| (k.clone(), v.clone())).collect();
    Section::new(&each, &PATH).and_then(|s| link::read(&s, stack))?;
    let access = section.read("access", |v| {
        let t = table(v, "access = { rate = \"1 Gbit/s\", delay = \"10 us\" }")?;
        Section::new(t, &ACCESS)?;
        Section::new(t, &PATH).and_then(|s| link::read(&s, stack))?;
        Ok(t.clone())
    })?;
    let fat_tree = section.word("kind", NETWORKS)?;
    let (kind, strangers): (_, &[&str]) = match fat_tree {
        true => ("fat-tree", &["hosts", "bottlenecks"]),
        false => ("dumbbell", &["k"]),
    };
    if let Some(key) = strangers.iter().find(|k| section.has(k)) {
        let problem = format!("a {kind} has no {key}");
        let other = if fat_tree { "the key k sets its size" } else { "the key hosts sets its size" };
        return Err(Error::at(key, problem, format!("remove it; {other}")));
    }
    if fat_tree {
        let k = section.require("k", ports)?;
        return Ok(Shape::fat_tree(k, each, access));
    }
    let (hosts, bottlenecks) = (section.value("hosts")?, section.value("bottlenecks")?);
    Ok(Shape::dumbbell(hosts, bottlenecks, each, access))
}

/// Ports of a switch of a fat-tree.
fn ports(value: &Value) -> Result<usize, Error> {
    let k = whole(value, 2, 32)?;
    if k % 2 == 1 {
        return Err(Error::new(
            format!("{k} is odd, but half of the ports of a switch lead up and half down"),
            "allowed: an even number from 2 to 32",
        ));
    }
    Ok(k as usize)
}

fn write_traffic(
    value: &Value,
    document: &Table,
    (shape, seed): (&Shape, u64),
    out: &mut Table,
    ask: Ask<'_>,
) -> Result<(), Error> {
    let template = match document.get("connection") {
        Some(Value::Table(t)) => t.clone(),
        Some(Value::Array(_)) => {
            let problem = "[[connection]] cannot stand beside [traffic], which makes the connections";
            return Err(Error::at(
                "connection",
                problem,
                "write [connection], once, with what all of them have in common",
            ));
        }
        Some(other) => return table(other, "[connection]").map(|_| ()).map_err(|e| e.within("connection")),
        None => Table::new(),
    };
    Section::new(&template, &CONNECTION).map_err(|e| e.within("connection"))?;
    if let Some(key) = ["name", "client", "server", "paths"].into_iter().find(|k| template.contains_key(*k)) {
        let problem = "[traffic] sets this key";
        return Err(Error::at(key, problem, format!("remove {key}, or [traffic]")).within("connection"));
    }
    let Some(transfer) = document.get("transfer") else {
        return Err(Error::at("transfer", "missing", "add [transfer] with bytes = \"50 MB\" or duration = \"20 s\""));
    };
    let (pairs, subflows) = traffic(value, shape, seed).map_err(|e| e.within("traffic"))?;
    let mut connections = Vec::with_capacity(pairs.len());
    for (i, (client, server)) in pairs.into_iter().enumerate() {
        asked(ask)?;
        let name = format!("connection{i}");
        let route = |subflow: u64| {
            let mut ecmp = Rng::new(seed, &format!("ecmp {name} subflow {subflow}"));
            let choice = (ecmp.uniform() * shape.routes(client, server) as f64) as usize;
            Value::from(shape.route(client, server, choice))
        };
        let paths: Vec<Value> = (0..subflows).map(route).collect();
        let mut c = Table::new();
        c.insert("name".into(), name.clone().into());
        c.insert("client".into(), shape.host(client).into());
        c.insert("server".into(), shape.host(server).into());
        c.extend(template.clone());
        c.insert("paths".into(), paths.into());
        c.insert("transfer".into(), transfer.clone());
        connections.push(Value::Table(c));
    }
    out.remove("transfer");
    out.insert("connection".into(), connections.into());
    Ok(())
}

/// Who sends to whom, and over how many paths.
fn traffic(value: &Value, shape: &Shape, seed: u64) -> Result<(Vec<(usize, usize)>, u64), Error> {
    let section = Section::new(table(value, "[traffic]")?, &TRAFFIC)?;
    let pattern = section.word("pattern", PATTERNS)?;
    let natural = match pattern {
        Pattern::Permutation => shape.senders().len(),
        Pattern::Incast => shape.senders().len().max(2) - 1,
    };
    let count = section.or("connections", natural as u64, |v| whole(v, 1, MOST_CONNECTIONS))?;
    let subflows = section.or("subflows", SUBFLOWS, |v| whole(v, 1, 255))?;
    let mut rng = Rng::new(seed, "traffic");
    Ok((pattern::pairs(pattern, shape, count as usize, &mut rng), subflows))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::super::{Scenario, Source, parse};

    fn read(text: &str) -> Scenario {
        parse(text, "t", &[], None).unwrap_or_else(|e| panic!("{e}"))
    }

    fn refused(text: &str) -> String {
        parse(text, "t.toml", &[], None).unwrap_err().to_string()
    }

    const TREE: &str = "transfer = {}\n[topology]\nkind = 'fat-tree'\nk = 4\n[traffic]\npattern = 'permutation'\n";

    /// Al-Fares et al. 2008, 2.2: k^3/4 hosts, k^2/2 edge and aggregation switches each, (k/2)^2 core switches; k^3/4 links in
    /// each of three layers.
    #[test]
    fn a_fat_tree_has_as_many_parts_as_its_paper_says() {
        for k in [2, 4, 6, 8] {
            let s = read(&TREE.replace("k = 4", &format!("k = {k}")));
            let routers = s.nodes.iter().filter(|n| n.router).count();
            assert_eq!(s.nodes.len() - routers, k * k * k / 4);
            assert_eq!(routers, k * k + k * k / 4);
            assert_eq!(s.links.len(), 3 * k * k * k / 4);
            for (id, node) in s.nodes.iter().enumerate() {
                let ports = s.links.iter().filter(|l| l.a == id || l.b == id).count();
                assert_eq!(ports, if node.router { k } else { 1 }, "{}", node.name);
            }
        }
    }

    /// Between pods there are (k/2)^2 paths of six links, in a pod k/2 of four, under one switch one of two.
    #[test]
    fn equal_cost_paths_are_all_used_and_as_long_as_they_must_be() {
        let s = read(&format!("{TREE}connections = 160\nsubflows = 16\n"));
        let mut kinds: BTreeMap<usize, usize> = BTreeMap::new();
        for c in &s.connections {
            let different: BTreeSet<_> = c.paths.iter().collect();
            let length = c.paths[0].len();
            assert!(c.paths.iter().all(|p| p.len() == length));
            assert!(
                different.len()
                    <= match length {
                        2 => 1,
                        4 => 2,
                        _ => 4,
                    }
            );
            let most = kinds.entry(length).or_default();
            *most = (*most).max(different.len());
        }
        assert_eq!(kinds, BTreeMap::from([(2, 1), (4, 2), (6, 4)]));
        let used: BTreeSet<_> = s.connections.iter().flat_map(|c| c.paths.iter().flatten()).collect();
        assert_eq!(used.len(), s.links.len());
    }

    #[test]
    fn in_a_permutation_each_host_sends_once_and_receives_once_never_to_itself() {
        let s = read(TREE);
        let ends = |f: fn(&super::super::Connection) -> usize| s.connections.iter().map(f).collect::<BTreeSet<_>>();
        assert_eq!((s.connections.len(), ends(|c| c.client).len(), ends(|c| c.server).len()), (16, 16, 16));
        assert!(s.connections.iter().all(|c| c.client != c.server));
        let twice = read(&format!("{TREE}connections = 32"));
        for host in ends(|c| c.client) {
            assert_eq!(twice.connections.iter().filter(|c| c.client == host).count(), 2);
        }
    }

    #[test]
    fn incast_goes_to_one_host_from_all_others() {
        let s = read(&TREE.replace("permutation", "incast"));
        let servers: BTreeSet<_> = s.connections.iter().map(|c| c.server).collect();
        let clients: BTreeSet<_> = s.connections.iter().map(|c| c.client).collect();
        assert_eq!((servers.len(), clients.len(), s.connections.len()), (1, 15, 15));
        assert!(servers.is_disjoint(&clients));
    }

    #[test]
    fn a_dumbbell_has_its_bottlenecks_between_two_routers() {
        let text = "transfer = {}\n[topology]\nkind = 'dumbbell'\nhosts = 3\nbottlenecks = 2\nrate = '7 Mbit/s'
            access = { rate = '1 Gbit/s' }\n[traffic]\npattern = 'permutation'\nsubflows = 16";
        let s = read(text);
        let rates: Vec<u64> = s.links.iter().map(|l| l.up.rate / 1_000_000).collect();
        assert_eq!(rates, [7, 7, 1000, 1000, 1000, 1000, 1000, 1000]);
        let core: BTreeSet<_> = s.connections.iter().flat_map(|c| c.paths.iter().map(|p| p[1])).collect();
        assert_eq!(core, BTreeSet::from([0, 1]));
        assert!(s.connections.iter().all(|c| c.paths.len() == 16 && c.paths.iter().all(|p| p.len() == 3)));
    }

    #[test]
    fn written_out_it_is_the_same_scenario() {
        for text in [TREE.to_owned(), TREE.replace("permutation", "incast")] {
            let long = Source::new(&text).named("t").seed(3).expanded_toml().unwrap();
            assert!(!long.contains("topology") && !long.contains("traffic"));
            let short = parse(&text, "t", &[], Some(3)).unwrap();
            assert_eq!(format!("{short:?}"), format!("{:?}", read(&long)));
        }
    }

    #[test]
    fn the_seed_decides_who_talks_with_whom_and_how() {
        let drawn = |seed| format!("{:?}", parse(TREE, "t", &[], Some(seed)).unwrap().connections);
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
        // More subflows leave those there were where they were.
        let few = read(&format!("{TREE}subflows = 2"));
        let more = read(&format!("{TREE}subflows = 8"));
        for (a, b) in few.connections.iter().zip(&more.connections) {
            assert_eq!((a.client, a.server, &a.paths[..]), (b.client, b.server, &b.paths[..2]));
        }
    }

    /// A hash is fair: of 1600 draws over four paths each gets 400, with a standard deviation of 17.
    #[test]
    fn subflows_spread_evenly_over_the_paths() {
        let s = read(&format!("{TREE}connections = 160\nsubflows = 20"));
        let mut by_core: BTreeMap<usize, usize> = BTreeMap::new();
        for path in s.connections.iter().flat_map(|c| &c.paths).filter(|p| p.len() == 6) {
            *by_core.entry(s.links[path[2]].b).or_default() += 1;
        }
        let all: usize = by_core.values().sum();
        assert_eq!(by_core.len(), 4);
        for n in by_core.values() {
            let apart = (*n as f64 - all as f64 / 4.0).abs();
            assert!(apart < 4.0 * (all as f64 * 3.0 / 16.0).sqrt(), "{by_core:?}");
        }
    }

    #[test]
    fn faults_are_told_where_they_were_written() {
        let with = |line: &str| refused(&format!("{line}\n{TREE}"));
        assert!(
            with("connection.mss = 0").starts_with("t.toml: connection.mss: 0 is out of range"),
            "{}",
            with("connection.mss = 0")
        );
        assert!(refused(&TREE.replace("{}", "{ bytes = '1 parsec' }")).starts_with("t.toml: transfer.bytes: "));
        assert!(refused(&TREE.replace("k = 4", "k = 4\nrate = 'fast'")).starts_with("t.toml: topology.rate: "));
        assert!(
            refused(&TREE.replace("k = 4", "k = 4\naccess = { delay = 3 }"))
                .starts_with("t.toml: topology.access.delay: ")
        );
        assert!(refused(&TREE.replace("k = 4", "k = 5")).contains("topology.k: 5 is odd"));
        assert!(refused(&TREE.replace("k = 4", "k = 34")).contains("allowed: a whole number from 2 to 32"));
        assert!(refused(&TREE.replace("k = 4", "")).contains("topology.k: missing"));
        assert!(
            refused(&TREE.replace("k = 4", "k = 4\nhosts = 3")).contains("topology.hosts: a fat-tree has no hosts")
        );
        assert!(refused(&TREE.replace("fat-tree", "fat-three")).contains("did you mean \"fat-tree\"?"));
        assert!(refused(&TREE.replace("permutation", "permute")).contains("choices: permutation, incast"));
        assert!(refused(&TREE.replace("transfer = {}", "")).contains("transfer: missing"));
        assert!(with("connection.server = 'h1'").contains("connection.server: [traffic] sets this key"));
        assert!(with("connection = [{}]").contains("[[connection]] cannot stand beside [traffic]"));
        assert!(with("path = [{}]").contains("[[path]] cannot stand beside [topology]"));
        assert!(refused("transfer = {}\ntraffic.pattern = 'incast'").contains("traffic: [traffic] needs a [topology]"));
        assert!(with("k = 4").contains("it belongs in [topology]"));
    }

    #[test]
    fn a_generated_network_takes_written_connections_too() {
        let s = read(
            "transfer = {}\nconnection = { client = 'h0', server = 'h15' }\ntopology = { kind = 'fat-tree', k = 4 }",
        );
        assert_eq!((s.connections.len(), s.connections[0].paths.len(), s.connections[0].paths[0].len()), (1, 1, 6));
    }
}
