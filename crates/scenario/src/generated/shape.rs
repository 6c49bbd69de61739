//! Generated networks: which hosts, routers and links there are, and the equal-cost paths between two hosts.
//!
//! The fat-tree is that of Al-Fares, Loukissas and Vahdat, "A scalable, commodity data center network architecture" (SIGCOMM
//! 2008), 2.2: switches of k ports; k pods, each with k/2 edge and k/2 aggregation switches; k/2 hosts at each edge switch;
//! (k/2)^2 core switches, of which number c leads to the aggregation switch c / (k/2) of every pod. All links are alike, so the
//! bisection carries as much as all hosts can send: a network in which only the choice of paths can lose capacity.
//!
//! The dumbbell has two routers, hosts on either side, and one or several equal links between the routers.

use toml::{Table, Value};

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// A fat-tree of switches with `k` ports.
    FatTree { k: usize },
    /// A dumbbell with `hosts` hosts on each side and `bottlenecks` links between its routers.
    Dumbbell { hosts: usize, bottlenecks: usize },
}

/// A network. Its hosts are numbered, in a dumbbell those on the left first.
#[derive(Debug)]
pub(super) struct Shape {
    kind: Kind,
    /// The keys of each link.
    each: Table,
    /// The keys of the links at hosts, if they are different.
    access: Option<Table>,
}

impl Shape {
    pub(super) fn fat_tree(k: usize, each: Table, access: Option<Table>) -> Self {
        Self { kind: Kind::FatTree { k }, each, access }
    }

    pub(super) fn dumbbell(hosts: usize, bottlenecks: usize, each: Table, access: Option<Table>) -> Self {
        Self { kind: Kind::Dumbbell { hosts, bottlenecks }, each, access }
    }

    /// Hosts that open connections.
    pub(super) fn senders(&self) -> Vec<usize> {
        match self.kind {
            Kind::FatTree { k } => (0..k * k * k / 4).collect(),
            Kind::Dumbbell { hosts, .. } => (0..hosts).collect(),
        }
    }

    /// Hosts that accept connections.
    pub(super) fn receivers(&self) -> Vec<usize> {
        match self.kind {
            Kind::FatTree { .. } => self.senders(),
            Kind::Dumbbell { hosts, .. } => (hosts..2 * hosts).collect(),
        }
    }

    /// Name of host number `host`.
    pub(super) fn host(&self, host: usize) -> String {
        match self.kind {
            Kind::Dumbbell { hosts, .. } if host < hosts => format!("left{host}"),
            Kind::Dumbbell { hosts, .. } => format!("right{}", host - hosts),
            Kind::FatTree { .. } => format!("h{host}"),
        }
    }

    /// How many equal-cost paths lead from one host to another.
    pub(super) fn routes(&self, from: usize, to: usize) -> usize {
        match self.kind {
            Kind::Dumbbell { bottlenecks, .. } => bottlenecks,
            Kind::FatTree { k } => {
                let half = k / 2;
                if from / half == to / half {
                    1
                } else if from / (half * half) == to / (half * half) {
                    half
                } else {
                    half * half
                }
            }
        }
    }

    /// The links of path number `choice` from one host to another.
    pub(super) fn route(&self, from: usize, to: usize, choice: usize) -> Vec<String> {
        match self.kind {
            Kind::Dumbbell { .. } => vec![self.host(from), format!("bottleneck{choice}"), self.host(to)],
            Kind::FatTree { k } => {
                let half = k / 2;
                let (pods, edges) = ([from, to].map(|h| h / (half * half)), [from, to].map(|h| h / half % half));
                let ([p, q], [e, f]) = (pods, edges);
                let mut middle = if from / half == to / half {
                    vec![]
                } else if p == q {
                    vec![edge_link(p, e, choice), edge_link(p, f, choice)]
                } else {
                    let a = choice / half;
                    vec![edge_link(p, e, a), core_link(p, choice), core_link(q, choice), edge_link(q, f, a)]
                };
                middle.insert(0, self.host(from));
                middle.push(self.host(to));
                middle
            }
        }
    }

    /// Puts hosts, routers and links into `document`.
    pub(super) fn write(&self, document: &mut Table) {
        let (mut routers, mut links) = (Vec::new(), Vec::new());
        let mut link = |name: String, from: String, to: String, how: &Table| {
            let mut t = Table::new();
            for (key, value) in [("name", name), ("from", from), ("to", to)] {
                t.insert(key.into(), value.into());
            }
            t.extend(how.clone());
            links.push(Value::Table(t));
        };
        let access = self.access.as_ref().unwrap_or(&self.each);
        let hosts: Vec<String> = match self.kind {
            Kind::FatTree { .. } => self.senders(),
            Kind::Dumbbell { hosts, .. } => (0..2 * hosts).collect(),
        }
        .into_iter()
        .map(|h| self.host(h))
        .collect();
        match self.kind {
            Kind::Dumbbell { hosts: side, bottlenecks } => {
                routers.extend(["near".to_owned(), "far".to_owned()]);
                (0..bottlenecks).for_each(|b| link(format!("bottleneck{b}"), "near".into(), "far".into(), &self.each));
                for (i, host) in hosts.iter().enumerate() {
                    // Data go from left to right: on every link that is the direction `_up`.
                    let (near, far) = (("near".to_owned(), host.clone()), ("far".to_owned(), host.clone()));
                    let (from, to) = if i < side { (near.1, near.0) } else { (far.0, far.1) };
                    link(host.clone(), from, to, access);
                }
            }
            Kind::FatTree { k } => {
                let half = k / 2;
                for pod in 0..k {
                    routers.extend((0..half).map(|e| edge(pod, e)));
                    routers.extend((0..half).map(|a| aggregation(pod, a)));
                    for e in 0..half {
                        (0..half)
                            .for_each(|a| link(edge_link(pod, e, a), edge(pod, e), aggregation(pod, a), &self.each));
                    }
                    for c in 0..half * half {
                        link(core_link(pod, c), aggregation(pod, c / half), format!("c{c}"), &self.each);
                    }
                }
                routers.extend((0..half * half).map(|c| format!("c{c}")));
                for (h, host) in hosts.iter().enumerate() {
                    link(host.clone(), host.clone(), edge(h / (half * half), h / half % half), access);
                }
            }
        }
        let named = |name: String| Value::Table(Table::from_iter([("name".to_owned(), Value::from(name))]));
        document.insert("host".into(), hosts.into_iter().map(named).collect::<Vec<_>>().into());
        document.insert("router".into(), routers.into_iter().map(named).collect::<Vec<_>>().into());
        document.insert("link".into(), links.into());
    }
}

fn edge(pod: usize, e: usize) -> String {
    format!("p{pod}e{e}")
}

fn aggregation(pod: usize, a: usize) -> String {
    format!("p{pod}a{a}")
}

fn edge_link(pod: usize, e: usize, a: usize) -> String {
    format!("p{pod}e{e}-a{a}")
}

fn core_link(pod: usize, core: usize) -> String {
    format!("p{pod}-c{core}")
}
