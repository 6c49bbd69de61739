//! Connections without data: how many of them are kept open.
//!
//! A port scan opens a connection with each packet, a million of them within the time that a handshake may take, and unused
//! connections may stay open for ever. So only the latest [`HALF_OPEN`] connections without an answer are kept, and the latest
//! [`ESTABLISHED`] of those that were answered; older ones are closed in the state they are in. If data of such a connection
//! come later, they count as those of a connection that began before the capture.

use std::collections::{HashSet, VecDeque};

use anabranch_pcap::packet::{MixBuilder, Tuple};

/// Connections whose handshake has not been answered.
const HALF_OPEN: usize = 4096;
/// Connections that are established and have carried nothing.
const ESTABLISHED: usize = 16_384;

/// A connection's place and running number.
type Id = (usize, u64);

/// The state of a connection, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Its handshake has not been answered.
    HalfOpen,
    /// It is established and has carried no data.
    Established,
    /// It has carried data, or is closed.
    Other,
}

/// The queues, oldest first.
#[derive(Clone, Debug, Default)]
pub struct Quiet {
    half_open: VecDeque<Id>,
    established: VecDeque<Id>,
}

impl Quiet {
    /// A connection is opened. Returns the place of one that has to be closed to make room; `state` gives the present state of
    /// any.
    pub fn add(&mut self, id: Id, state: impl Fn(Id) -> State) -> Option<usize> {
        self.half_open.push_back(id);
        if self.half_open.len() <= HALF_OPEN {
            return None;
        }
        let oldest = self.half_open.pop_front()?;
        match state(oldest) {
            State::Other => None,
            State::HalfOpen => Some(oldest.0),
            State::Established => {
                self.established.push_back(oldest);
                if self.established.len() <= ESTABLISHED {
                    return None;
                }
                self.established.pop_front().filter(|id| state(*id) != State::Other).map(|id| id.0)
            }
        }
    }
}

/// So many connections that are over are remembered.
const OVER: usize = 4096;

/// 4-tuples of connections that are over, and were forgotten otherwise: late segments on them open nothing.
#[derive(Clone, Debug, Default)]
pub struct Over {
    tuples: HashSet<Tuple, MixBuilder>,
    order: VecDeque<Tuple>,
}

impl Over {
    /// A connection on `tuple` is over.
    pub fn add(&mut self, tuple: Tuple) {
        if self.tuples.insert(tuple) {
            self.order.push_back(tuple);
        }
        if self.order.len() > OVER {
            let oldest = self.order.pop_front();
            oldest.map(|oldest| self.tuples.remove(&oldest));
        }
    }

    /// Whether the latest connection on `tuple` is over.
    pub fn contains(&self, tuple: &Tuple) -> bool {
        self.tuples.contains(tuple)
    }

    /// There is another connection on `tuple`.
    pub fn forget(&mut self, tuple: &Tuple) {
        self.tuples.remove(tuple);
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;

    /// The latest 4096 connections that are over are remembered, each once, and forgotten when
    /// another begins on their ports.
    #[test]
    fn the_latest_connections_that_are_over_are_remembered() {
        let host = |n: u16| (IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), n);
        let tuple = |n: u16| Tuple::of(host(1), host(1000 + n));
        let mut over = Over::default();
        (0..4096).for_each(|n| over.add(tuple(n)));
        over.add(tuple(7));
        assert!((0..4096).all(|n| over.contains(&tuple(n))));
        over.add(tuple(4096));
        assert!(!over.contains(&tuple(0)) && (1..=4096).all(|n| over.contains(&tuple(n))));
        over.forget(&tuple(9));
        assert!(!over.contains(&tuple(9)));
    }

    #[test]
    fn of_connections_without_data_only_the_latest_stay_open() {
        for (state, kept) in [(State::HalfOpen, HALF_OPEN), (State::Established, HALF_OPEN + ESTABLISHED)] {
            let mut quiet = Quiet::default();
            let closed: Vec<usize> = (0..100_000).filter_map(|n| quiet.add((n as usize, n), |_| state)).collect();
            assert_eq!(closed, (0..100_000 - kept).collect::<Vec<_>>());
        }
        let mut quiet = Quiet::default();
        assert!((0..100_000).all(|n| quiet.add((n as usize, n), |_| State::Other).is_none()));
        assert!(quiet.half_open.len() + quiet.established.len() <= HALF_OPEN + 1);
    }
}
