//! Connections without data: how many of them are kept open.
//!
//! A scan opens a connection with each packet, a million of them within the time that a handshake may take; and
//! connections that nobody uses may stay open for ever. Of those that were not answered the [`HALF_OPEN`] latest are kept, of
//! those that were, the [`ESTABLISHED`] latest; older ones are closed as they stand. Data that come for one after that are
//! those of a connection that began before the capture.

use std::collections::VecDeque;

/// Connections whose handshake has not been answered.
const HALF_OPEN: usize = 4096;
/// Connections that are established and have carried nothing.
const ESTABLISHED: usize = 16_384;

/// A connection's place and running number.
type Id = (usize, u64);

/// What a connection is like now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Its handshake has not been answered.
    HalfOpen,
    /// It has carried nothing.
    Established,
    /// It has carried data, or is no more.
    Other,
}

/// The queues, oldest first.
#[derive(Debug, Default)]
pub struct Quiet {
    half_open: VecDeque<Id>,
    established: VecDeque<Id>,
}

impl Quiet {
    /// A connection is opened; returns the place of the one that is to be closed for it. `state` tells what became of one.
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

#[cfg(test)]
mod tests {
    use super::*;

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
