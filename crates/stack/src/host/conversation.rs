//! One connection of an endpoint: the engine's connection, its addresses, and its octets.

use std::net::IpAddr;
use std::num::NonZeroU16;

use super::error::JoinError;
use super::identity::Addresses;
use super::keep::Keep;
use super::table::Tuples;
use crate::Connection;
use crate::event::{ArrivalKind, Event, SubflowId};
use crate::mptcp::connection::{JoinRefusal, Linger};
use crate::segment::{AddrId, ResetReason, Segment, TcpRst};
use crate::tcp::State;
use crate::time::Instant;

/// One connection.
#[derive(Debug)]
pub(super) struct Conversation<K> {
    pub connection: Connection,
    pub tuples: Tuples<Addresses>,
    /// The token of the connection, or what it was before the fall back to plain TCP.
    pub token: Option<u32>,
    /// The octets, if the endpoint keeps them.
    pub keep: K,
    /// Octets written.
    pub written: u64,
    /// The last write was short: [`Event::Writable`] is due when there is room.
    awaits_room: bool,
    /// [`Event::JoinsPossible`] was reported, or will never be.
    joins_settled: bool,
    /// Our addresses with their identifiers.
    local: Vec<(u8, IpAddr)>,
    /// Our addresses to which the peer's joins are backups.
    backups: Vec<IpAddr>,
    /// The connection has ended, orderly or not.
    over: bool,
    /// The application will write no more.
    write_closed: bool,
    /// The application will read no more.
    read_closed: bool,
    /// The connection was not in SYN-RECEIVED when last looked at.
    handshaken: bool,
    /// The connection is queued to be polled.
    pub ready: bool,
    /// The deadline registered for the connection.
    pub deadline: Option<Instant>,
}

impl<K: Keep> Conversation<K> {
    pub fn new(connection: Connection, addresses: Addresses) -> Self {
        let mut tuples = Tuples::default();
        tuples.bind(0, addresses);
        Self {
            token: connection.token(),
            connection,
            tuples,
            keep: K::default(),
            written: 0,
            awaits_room: false,
            joins_settled: false,
            local: vec![(0, addresses.local.ip())],
            backups: Vec::new(),
            over: false,
            write_closed: false,
            read_closed: false,
            handshaken: false,
            ready: false,
            deadline: None,
        }
    }

    /// Processes an arriving segment with its octets, and passes the resulting events to `tell`.
    pub fn handle(&mut self, now: Instant, id: SubflowId, segment: &Segment, octets: &[u8], tell: impl FnMut(Event)) {
        let in_order = self.connection.inbound().received();
        self.connection.handle_segment(now, id, segment);
        self.take_events((octets, in_order), tell);
        self.keep.trim(&self.connection);
    }

    /// Passes waiting events to `tell`, and stores the octets of the segment that has arrived.
    pub fn take_events(&mut self, (octets, in_order): (&[u8], u64), mut tell: impl FnMut(Event)) {
        while let Some(event) = self.connection.poll_event() {
            match event {
                Event::Arrived { kind: ArrivalKind::DuplicateInSubflow, .. } | Event::Window { .. } => {}
                Event::Arrived { data, len, .. } => {
                    if self.keep.place(data, octets.get(..len as usize).unwrap_or_default(), in_order) {
                        tell(event);
                    }
                }
                Event::Closed | Event::Aborted(_) => {
                    self.over = true;
                    tell(event);
                }
                other => tell(other),
            }
        }
        if self.awaits_room && self.connection.writable() > 0 && !self.over {
            self.awaits_room = false;
            tell(Event::Writable);
        }
        if !self.joins_settled {
            match self.connection.join_refusal(None) {
                None => {
                    self.joins_settled = true;
                    tell(Event::JoinsPossible);
                }
                Some(refusal) => self.joins_settled = refusal.is_final(),
            }
        }
    }

    /// Writes as many of `octets` octets as fit and returns how many; `None` if our direction is
    /// closed.
    pub fn write(&mut self, octets: u64) -> Option<u64> {
        if self.write_closed || self.over {
            return None;
        }
        let taken = self.connection.write(octets);
        self.written += taken;
        self.awaits_room = taken < octets;
        Some(taken)
    }

    pub fn shutdown_write(&mut self) {
        self.write_closed = true;
        self.connection.shutdown_write();
    }

    /// Reads up to `octets` octets and returns how many.
    pub fn read(&mut self, octets: u64) -> u64 {
        self.connection.read(octets)
    }

    pub fn close(&mut self) {
        (self.write_closed, self.read_closed) = (true, true);
        self.connection.close(Linger::Deliver);
    }

    pub fn abort(&mut self) {
        (self.read_closed, self.over) = (true, true);
        self.connection.abort();
    }

    /// Opens a further subflow.
    ///
    /// # Errors
    /// Why it cannot be opened.
    pub fn open_subflow(&mut self, addresses: Addresses, backup: bool) -> Result<SubflowId, JoinError> {
        let local = self.local_id(addresses.local.ip()).ok_or(JoinError::NoIdentifier(addresses.local.ip()))?;
        let remote = self.remote_id(addresses.remote.ip());
        let refused = self.connection.join_refusal(Some(remote));
        let opened = self.connection.open_subflow(local, remote, backup);
        let subflow = opened.ok_or(JoinError::Refused(refused.unwrap_or(JoinRefusal::Closed)))?;
        self.assign(local, addresses.local.ip());
        Ok(subflow)
    }

    /// Answers a SYN with MP_JOIN that arrived at `address`.
    ///
    /// # Errors
    /// If the SYN cannot join: the reason to put into the reset.
    pub fn accept_join(&mut self, syn: &Segment, address: IpAddr) -> Result<SubflowId, TcpRst> {
        let none_left = TcpRst { transient: false, reason: ResetReason::RESOURCES };
        let local = self.local_id(address).ok_or(none_left)?;
        let backup = self.backups.contains(&address);
        let subflow = self.connection.accept_join(syn, local, backup)?;
        self.assign(local, address);
        Ok(subflow)
    }

    /// Tells the peer of an address of ours; `None` if no identifier is left for it.
    pub fn advertise(&mut self, address: IpAddr, port: Option<NonZeroU16>) -> Option<()> {
        let id = self.local_id(address)?;
        self.assign(id, address);
        self.connection.advertise(AddrId { id, addr: address }, port);
        Some(())
    }

    /// One of our addresses is gone, if it has an identifier.
    pub fn withdraw(&mut self, address: IpAddr) {
        if let Some(&(id, _)) = self.local.iter().find(|(_, a)| *a == address) {
            self.connection.withdraw(id);
        }
    }

    /// Gives an address of ours this identifier; `None` if either has another one.
    pub fn identify(&mut self, address: IpAddr, id: u8) -> Option<()> {
        match self.local.iter().find(|(i, a)| *i == id || *a == address) {
            Some(&(i, a)) => (i == id && a == address).then_some(()),
            None => {
                self.local.push((id, address));
                Some(())
            }
        }
    }

    /// Asks the peer from now on to use subflows that it opens to `address` as backups, or as regular
    /// ones.
    pub fn set_backup_address(&mut self, address: IpAddr, backup: bool) {
        self.backups.retain(|a| *a != address);
        self.backups.extend(backup.then_some(address));
    }

    /// The identifier of one of our addresses: the one it has, or the lowest free one. `None` if all 256 are assigned to others.
    fn local_id(&self, address: IpAddr) -> Option<u8> {
        let known = self.local.iter().find(|(_, a)| *a == address).map(|(id, _)| *id);
        known.or_else(|| (0..=u8::MAX).find(|id| self.local.iter().all(|(i, _)| i != id)))
    }

    /// Notes that `address` has the identifier that [`Self::local_id`] gave for it.
    fn assign(&mut self, id: u8, address: IpAddr) {
        if self.local.iter().all(|(i, _)| *i != id) {
            self.local.push((id, address));
        }
    }

    /// The identifier that the peer gave to one of its addresses. An address the peer has not advertised counts as its first one.
    fn remote_id(&self, address: IpAddr) -> u8 {
        let known = self.connection.peer_addresses().iter().find(|a| a.address.addr == address);
        known.map_or(0, |a| a.address.id)
    }

    /// Numbers of buffered octets: ours, and the peer's.
    pub fn buffered(&self) -> (usize, usize) {
        self.keep.buffered()
    }

    /// The connection is no longer half-open: the port whose listener may have it in its backlog. Says so once.
    pub fn leaves_backlog(&mut self) -> Option<u16> {
        if self.handshaken || self.connection.subflows()[0].state() == State::SynReceived {
            return None;
        }
        self.handshaken = true;
        Some(self.tuples.of(0).local.port())
    }

    /// Nothing is left to do on the connection but to wait in TIME-WAIT.
    pub fn only_waits(&self) -> bool {
        let unread = !self.read_closed && self.connection.inbound().readable() > 0;
        let waits = |state| matches!(state, State::TimeWait | State::Closed);
        self.over && !unread && self.connection.subflows().iter().all(|s| waits(s.state()))
    }

    /// Nothing more can happen on the connection, in either direction.
    pub fn is_finished(&self) -> bool {
        let unread = !self.read_closed && self.connection.inbound().readable() > 0;
        self.over && !unread && self.connection.subflows().iter().all(|s| s.state() == State::Closed)
    }
}
