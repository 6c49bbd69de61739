//! Path managers: which addresses a connection advertises, which subflows it opens, and when it
//! tries again (RFC 8684 3.2 and 3.4; the RFC leaves the policy to the host).
//!
//! A path manager has neither clock nor sockets. A driver tells it what happens (`on_*`), asks it
//! what to advertise ([`PathManager::announce`]), lets it open subflows
//! ([`PathManager::open_next`]), and asks when to come back ([`PathManager::poll_timeout`]). The
//! functions [`handle_event`] and [`open_subflows`] are the driver for a connection of an
//! [`Endpoint`](super::Endpoint).
//!
//! - [`PairManager`]: joins pairs of addresses. `one-per-interface`, `full-mesh` and `none` of a
//!   scenario
//! - [`LinuxManager`]: what `ip mptcp endpoint` and `ip mptcp limits` configure on Linux

use core::fmt::Debug;
use std::net::IpAddr;
use std::num::NonZeroU16;

use crate::segment::AddrId;
use crate::time::{Duration, Instant};

mod driver;
mod linux;
mod pairs;

pub use driver::{handle_event, handle_local, open_subflows};
pub use linux::{Limits, LinuxManager};
pub use pairs::PairManager;

#[cfg(test)]
mod tests;

/// A join that failed, or a subflow that ended before its connection, is tried again after this.
pub const REJOIN_AFTER: Duration = Duration::from_secs(10);

/// An address of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Local {
    /// Identifier of the address (RFC 8684 3.2).
    pub id: u8,
    /// The address.
    pub addr: IpAddr,
    /// Port to advertise, if it is not that of the connection.
    pub port: Option<NonZeroU16>,
    /// The address is advertised (ADD_ADDR).
    pub signal: bool,
    /// Subflows are opened from the address.
    pub subflow: bool,
    /// These subflows are backups.
    pub backup: bool,
}

/// What becomes of an address of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The interface has come, or the address is new.
    Added(Local),
    /// The interface, or the address, is gone.
    Gone(Local),
    /// Subflows from the address are backups from now on, or regular ones ([`Local::backup`]).
    Priority(Local),
}

/// The two addresses of a subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Our address.
    pub local: AddrId,
    /// The peer's address.
    pub remote: IpAddr,
    /// The peer's identifier of its address, if it is known.
    pub remote_id: Option<u8>,
}

/// A subflow to open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Join {
    /// The manager's number of the pair. [`PathManager::on_ended`] names the pair by it.
    pub pair: usize,
    /// From and to.
    pub addresses: Pair,
    /// The peer's port, if it is not that of the first subflow.
    pub port: Option<NonZeroU16>,
    /// The subflow is a backup.
    pub backup: bool,
}

/// What came of the attempt to open a subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// It is being opened.
    Opened,
    /// It cannot be opened now: before the peer has confirmed the keys of the connection nothing
    /// can (RFC 8684 3.1).
    NotYet,
    /// It never can.
    Never,
}

/// The policy of one end of one connection.
pub trait PathManager: Debug + Send {
    /// Returns our addresses beside that of the first subflow. Each gets its identifier, and those
    /// with [`Local::signal`] are to be advertised. To be called once, when the connection is
    /// accepted, or is established and the manager knows it.
    fn announce(&mut self) -> Vec<Local>;
    /// The connection is established. `first` are the addresses of its first subflow; we opened it
    /// if `opened`.
    fn on_connected(&mut self, now: Instant, first: Pair, opened: bool);
    /// The peer has advertised an address, with its port if it is not that of the connection
    /// (ADD_ADDR).
    fn on_address(&mut self, now: Instant, address: AddrId, port: Option<NonZeroU16>);
    /// The peer has removed the address with this identifier (REMOVE_ADDR).
    fn on_removal(&mut self, id: u8);
    /// A subflow of the pair is open or being opened, though not by [`PathManager::open_next`].
    fn on_opened(&mut self, pair: usize);
    /// Returns the manager's number of a pair of addresses, if the manager has to hear of its end
    /// ([`PathManager::on_ended`]).
    fn pair_of(&self, local: IpAddr, remote: IpAddr) -> Option<usize>;
    /// A subflow of the pair has ended. If the connection is `over` as well, nothing is tried
    /// again.
    fn on_ended(&mut self, now: Instant, pair: usize, over: bool);
    /// An interface of ours comes or goes, or becomes a backup.
    fn on_local(&mut self, now: Instant, change: Change);
    /// Calls `open` for the subflows whose time has come, until one is opened, and returns this
    /// one. Subflows that cannot be opened yet stay wanted.
    fn open_next(&mut self, now: Instant, open: &mut dyn FnMut(&Join) -> Attempt) -> Option<Join>;
    /// True if the manager wants subflows, now or later.
    fn wants(&self) -> bool;
    /// Returns the earliest time after `now` at which a subflow may be opened.
    fn poll_timeout(&self, now: Instant) -> Option<Instant>;
    /// True if subflows that the peer opens to an address with [`Local::backup`] are backups: the
    /// SYN/ACK of the join then carries flag B (RFC 8684 3.2).
    fn marks_joins_of_peer(&self) -> bool {
        true
    }
    /// Maximum number of subflows of the connection, the first included.
    fn limit(&self) -> usize {
        usize::MAX
    }
}
