//! Many connections of one host: [`Endpoint`].
//!
//! Any call of `handle_*`, or by the application, may cause something to be sent. After such a call, first call
//! [`Endpoint::poll_transmit`] until it returns nothing, then [`Endpoint::poll_timeout`] for the time of the next call at the
//! latest, then [`Endpoint::poll_event`]. Buffer sizes are those of the connection's [`Config`]: [`Endpoint::write`] takes as
//! much as there is room for, and the window makes a peer wait whose data the application does not read.
//!
//! A connection is removed when its end was reported, its octets are read, and TIME-WAIT is over.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::backlog::Listener;
use super::conversation::Conversation;
use super::cookies::Cookies;
use super::error::{Gone, InUse, JoinError, WriteError};
use super::identity::{Addresses, ConnectionId};
use super::keep::{Keep, Octets};
use super::listen::{Welcome, admit, answer};
use super::reference::Reference;
use super::table::Table;
use crate::event::{Event, SendKind, SubflowId};
use crate::mptcp::keys::Entropy;
use crate::segment::{Flags, Segment};
use crate::tcp::State;
use crate::time::Instant;
use crate::{Config, Connection};

/// Maximum number of half-open connections of a listener, unless it is given.
const BACKLOG: usize = 1024;

/// Maximum number of resets waiting to be sent; segments that would cause more of them are not answered.
const RESETS: usize = 256;

/// Maximum number of connections of a listener that have taken data with the SYN and whose handshake is not complete (RFC 7413 5.1).
const FAST_OPENS: usize = 64;

/// The connections of one host. `K` says who keeps the octets: the endpoint ([`Octets`], the
/// default) or its driver ([`ByReference`](super::ByReference)).
#[derive(Debug)]
pub struct Endpoint<K: Keep = Octets> {
    pub(super) entropy: Entropy,
    /// Secret from which timestamp offsets are derived; `None`: no offsets.
    pub(super) offsets: Option<[u8; 32]>,
    pub(super) listening: BTreeMap<u16, Listener>,
    table: Table<Addresses, ConnectionId>,
    pub(super) tokens: BTreeMap<u32, ConnectionId>,
    pub(super) connections: BTreeMap<ConnectionId, Conversation<K>>,
    opened: u64,
    /// Connections that may have something to send.
    ready: VecDeque<ConnectionId>,
    deadlines: BTreeSet<(Instant, ConnectionId)>,
    resets: VecDeque<(Addresses, Segment)>,
    pub(super) cookies: Cookies,
    events: VecDeque<(ConnectionId, Event)>,
}

impl<K: Keep> Endpoint<K> {
    pub(super) fn from_secret(secret: [u8; 32], offsets: Option<[u8; 32]>) -> Self {
        Self {
            entropy: Entropy::new(secret),
            offsets,
            listening: BTreeMap::new(),
            table: Table::default(),
            tokens: BTreeMap::new(),
            connections: BTreeMap::new(),
            opened: 0,
            ready: VecDeque::new(),
            deadlines: BTreeSet::new(),
            resets: VecDeque::new(),
            cookies: Cookies::default(),
            events: VecDeque::new(),
        }
    }

    // ---- opening -----------------------------------------------------------------------------------------------

    /// RFC 9293 3.9.1.1: accepts connections to `port` from now on, with `config`. [`Event::Connected`] reports each of them. At most 1024 are
    /// half-open at any time ([`Endpoint::listen_with_backlog`]).
    pub fn listen(&mut self, port: u16, config: Config) {
        self.listen_with_backlog(port, config, BACKLOG);
    }

    /// Like [`Endpoint::listen`], with another maximum number of half-open connections: those in SYN-RECEIVED, whose peer has not
    /// completed its handshake. When one more would be too many, the oldest is forgotten without a word (RFC 4987 3.4): its peer
    /// may not exist, and it was not reported as connected. Those that were, by Fast Open, stay; if there are only such, the new SYN is
    /// dropped. A `backlog` of 0 counts as 1.
    pub fn listen_with_backlog(&mut self, port: u16, config: Config, backlog: usize) {
        match self.listening.get_mut(&port) {
            Some(listener) => listener.renew(config, backlog),
            None => drop(self.listening.insert(port, Listener::new(config, backlog))),
        }
    }

    /// Accepts no more connections to `port`. Those that were reported as connected continue, half-open ones are forgotten.
    pub fn stop_listening(&mut self, port: u16) {
        for id in self.listening.remove(&port).iter().flat_map(Listener::unreported).collect::<Vec<_>>() {
            self.forget(id);
        }
    }

    /// Opens a connection. With [`Config::fast_open`] what is written before the next poll may leave with the SYN.
    ///
    /// # Errors
    /// If the 4-tuple is in use.
    pub fn connect(&mut self, now: Instant, addresses: Addresses, config: Config) -> Result<ConnectionId, InUse> {
        if self.find(addresses).is_some() {
            return Err(InUse(addresses));
        }
        let entropy = self.draw();
        let cached = self.begin_fast_open(now, addresses, &config);
        let mut connection = Connection::connect_among(config, entropy, |token| self.tokens.contains_key(&token));
        if let Some(cached) = cached {
            connection.request_fast_open(cached);
        }
        Ok(self.insert(connection, addresses))
    }

    /// Opens a further subflow of a connection; a `backup` is used only when no other subflow
    /// works.
    ///
    /// # Errors
    /// Why it cannot be opened. After an error that is [not final](JoinError::is_final), try again
    /// at the next event of the connection: [`Event::JoinsPossible`] says that the peer has
    /// confirmed the keys.
    pub fn open_subflow(
        &mut self,
        id: ConnectionId,
        addresses: Addresses,
        backup: bool,
    ) -> Result<SubflowId, JoinError> {
        if self.find(addresses).is_some() {
            return Err(JoinError::InUse(addresses));
        }
        let c = self.connections.get_mut(&id).ok_or(JoinError::Gone)?;
        let subflow = c.open_subflow(addresses, backup)?;
        self.bind(id, subflow, addresses);
        self.touch(id);
        Ok(subflow)
    }

    /// A separate secret for each connection.
    pub(super) fn draw(&mut self) -> Entropy {
        Entropy::new(self.entropy.draw_secret())
    }

    fn insert(&mut self, mut connection: Connection, addresses: Addresses) -> ConnectionId {
        connection.shift_timestamps(0, self.timestamp_offset(addresses));
        self.opened += 1;
        let id = ConnectionId::from(self.opened);
        let conversation = Conversation::new(connection, addresses);
        self.tokens.extend(conversation.token.map(|token| (token, id)));
        self.connections.insert(id, conversation);
        self.table.insert(addresses, id, 0);
        self.touch(id);
        id
    }

    fn bind(&mut self, id: ConnectionId, subflow: SubflowId, addresses: Addresses) {
        let offset = self.timestamp_offset(addresses);
        let Some(c) = self.connections.get_mut(&id) else { return };
        c.connection.shift_timestamps(subflow, offset);
        if let Some(before) = c.tuples.bind(subflow, addresses) {
            self.table.remove(&before, id, subflow);
        }
        self.table.insert(addresses, id, subflow);
    }

    /// The connection and subflow with this 4-tuple, if the subflow has not ended.
    pub(super) fn find(&self, addresses: Addresses) -> Option<(ConnectionId, SubflowId)> {
        let (id, subflow) = self.table.find(&addresses)?;
        let c = self.connections.get(&id)?;
        (c.connection.subflows()[subflow].state() != State::Closed).then_some((id, subflow))
    }

    // ---- packets and time --------------------------------------------------------------------------------------

    /// A segment arrives whose payload is described; `payload` has its octets, or nothing if the
    /// driver keeps them.
    pub(super) fn arrive(&mut self, now: Instant, addresses: Addresses, segment: &Segment, payload: &[u8]) {
        let Some((id, subflow)) = self.find(addresses) else {
            return self.handle_stranger(now, addresses, segment, payload);
        };
        if segment.flags.has(Flags::SYN) {
            if let Some(after) = self.make_way(id, subflow, addresses, segment) {
                return self.accept(now, addresses, segment, payload, Some(after));
            }
        }
        if let Some(c) = self.connections.get_mut(&id) {
            let events = &mut self.events;
            let cookies = &mut self.cookies;
            c.handle(now, subflow, segment, payload, |event| {
                events.extend(cookies.learn(now, addresses, event).map(|event| (id, event)));
            });
        }
        self.touch(id);
    }

    /// A segment whose 4-tuple is unknown.
    fn handle_stranger(&mut self, now: Instant, addresses: Addresses, segment: &Segment, payload: &[u8]) {
        let listens = self.listening.contains_key(&addresses.local.port());
        let (tokens, connections) = (&self.tokens, &mut self.connections);
        let welcome = admit(segment, listens, |token| {
            let id = *tokens.get(&token)?;
            let c = connections.get_mut(&id)?;
            Some(c.accept_join(segment, addresses.local.ip()).map(|subflow| (id, subflow)))
        });
        match welcome {
            Ok(Welcome::Opens) => self.accept(now, addresses, segment, payload, None),
            Ok(Welcome::Joins((id, subflow))) => {
                self.bind(id, subflow, addresses);
                self.touch(id);
            }
            Err(why) if self.resets.len() < RESETS => {
                self.resets.extend(answer(segment, why).map(|reset| (addresses, reset)));
            }
            Err(_) => {}
        }
    }

    /// Answers a SYN that opens a connection, in place of the oldest half-open one if there are too many.
    fn accept(&mut self, now: Instant, addresses: Addresses, syn: &Segment, payload: &[u8], after: Option<u32>) {
        let port = addresses.local.port();
        while let Some(listener) = self.listening.get_mut(&port).filter(|l| !l.has_room()) {
            let Some(oldest) = listener.yields() else { return };
            self.forget(oldest);
        }
        let Some(listener) = self.listening.get(&port) else { return };
        let (config, key, pending) = (listener.config.clone(), listener.key, listener.pending_fast_opens());
        let mut connection = self.open_beyond(&config, syn, after);
        // RFC 7413 4.2: "MUST ignore all cookie options" when it is off; 5.1: while too many requests are pending, too.
        let cookie = (config.fast_open && pending < FAST_OPENS)
            .then(|| self.cookies.of(addresses.remote.ip(), &config, key, &mut self.entropy));
        if let Some(cookie) = cookie {
            connection.answer_fast_open(now, syn, cookie);
        }
        let fast = connection.subflows()[0].is_fast_opened();
        let id = self.insert(connection, addresses);
        if let Some(listener) = self.listening.get_mut(&port) {
            listener.enter(id, fast);
        }
        let events = &mut self.events;
        if let Some(c) = self.connections.get_mut(&id).filter(|_| fast) {
            c.take_events((payload, 0), |event| events.push_back((id, event)));
        }
    }

    /// The next segment to send, without its octets.
    pub(super) fn next_segment(&mut self, now: Instant) -> Option<Reference> {
        if let Some((addresses, segment)) = self.resets.pop_front() {
            return Some(Reference { addresses, source: None, kind: SendKind::Control, segment });
        }
        while let Some(&id) = self.ready.front() {
            if let Some(c) = self.connections.get_mut(&id) {
                if let Some(t) = c.connection.poll_transmit(now) {
                    let (addresses, source) = (c.tuples.of(t.subflow), Some((id, t.subflow)));
                    return Some(Reference { addresses, source, kind: t.kind, segment: t.segment });
                }
                self.settle(now, id);
            }
            self.ready.pop_front();
        }
        None
    }

    /// A connection has nothing more to send: registers its next deadline, or removes it at its end.
    fn settle(&mut self, now: Instant, id: ConnectionId) {
        let Some(c) = self.connections.get_mut(&id) else { return };
        c.ready = false;
        let (events, cookies, addresses) = (&mut self.events, &mut self.cookies, c.tuples.of(0));
        c.take_events((&[], 0), |event| {
            events.extend(cookies.learn(now, addresses, event).map(|event| (id, event)));
        });
        if c.is_finished() {
            return self.forget(id);
        }
        let deadline = c.connection.poll_timeout();
        if deadline != c.deadline {
            if let Some(before) = c.deadline {
                self.deadlines.remove(&(before, id));
            }
            self.deadlines.extend(deadline.map(|at| (at, id)));
            c.deadline = deadline;
        }
    }

    pub(super) fn forget(&mut self, id: ConnectionId) {
        let Some(c) = self.connections.remove(&id) else { return };
        for (subflow, addresses) in c.tuples.as_slice().iter().enumerate() {
            self.table.remove(addresses, id, subflow);
        }
        if let Some(token) = c.token {
            self.tokens.remove(&token);
        }
        if let Some(at) = c.deadline {
            self.deadlines.remove(&(at, id));
        }
    }

    /// When to call [`Endpoint::handle_timeout`] at the latest.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.deadlines.first().map(|&(at, _)| at)
    }

    /// Runs everything that is due at `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some(&(at, id)) = self.deadlines.first().filter(|(at, _)| *at <= now) {
            self.deadlines.remove(&(at, id));
            if let Some(c) = self.connections.get_mut(&id) {
                c.deadline = None;
                c.connection.handle_timeout(now);
            }
            self.touch(id);
        }
    }

    /// The next event of a connection, oldest first. Events of single segments and windows are not reported.
    pub fn poll_event(&mut self) -> Option<(ConnectionId, Event)> {
        self.events.pop_front()
    }

    /// Something has happened to the connection. Queues it to be polled: it may have something to send, or another deadline.
    fn touch(&mut self, id: ConnectionId) {
        let Some(c) = self.connections.get_mut(&id) else { return };
        if let Some(listener) = c.leaves_backlog().and_then(|port| self.listening.get_mut(&port)) {
            listener.leave(id);
        }
        if !c.ready {
            c.ready = true;
            self.ready.push_back(id);
        }
    }

    // ---- the application's calls -------------------------------------------------------------------------------

    pub(super) fn with<R>(
        &mut self,
        id: ConnectionId,
        call: impl FnOnce(&mut Conversation<K>) -> R,
    ) -> Result<R, Gone> {
        let result = self.connections.get_mut(&id).map(call).ok_or(Gone)?;
        self.touch(id);
        Ok(result)
    }

    /// Writes up to `octets` octets and passes to `store` how many the send buffer has taken.
    pub(super) fn write_with(
        &mut self,
        id: ConnectionId,
        octets: u64,
        store: impl FnOnce(&mut K, u64),
    ) -> Result<u64, WriteError> {
        let written = self.with(id, |c| c.write(octets).inspect(|&taken| store(&mut c.keep, taken)));
        written.map_err(|Gone| WriteError::Gone)?.ok_or(WriteError::Closed)
    }

    /// The application will write no more; the peer's data can still be read.
    ///
    /// # Errors
    /// If the connection is gone.
    pub fn shutdown_write(&mut self, id: ConnectionId) -> Result<(), Gone> {
        self.with(id, Conversation::shutdown_write)
    }

    /// The application will neither write nor read any more; what was written is delivered ([`Connection::close`]).
    ///
    /// # Errors
    /// If the connection is gone.
    pub fn close(&mut self, id: ConnectionId) -> Result<(), Gone> {
        self.with(id, Conversation::close)
    }

    /// Ends a connection at once, with resets.
    ///
    /// # Errors
    /// If the connection is gone.
    pub fn abort(&mut self, id: ConnectionId) -> Result<(), Gone> {
        self.with(id, Conversation::abort)
    }

    /// Passes the connection to `call`, for what an application may change at run time
    /// ([`Connection::set`]). What moves octets or ends the connection goes by the functions of the
    /// endpoint.
    ///
    /// # Errors
    /// If the connection is gone.
    pub fn configure<R>(&mut self, id: ConnectionId, call: impl FnOnce(&mut Connection) -> R) -> Result<R, Gone> {
        self.with(id, |c| call(&mut c.connection))
    }

    /// The state of a connection, for inspection.
    pub fn connection(&self, id: ConnectionId) -> Option<&Connection> {
        self.connections.get(&id).map(|c| &c.connection)
    }

    /// Octets buffered for a connection: written and possibly to be retransmitted, and arrived but not read.
    pub fn buffered(&self, id: ConnectionId) -> Option<(usize, usize)> {
        self.connections.get(&id).map(Conversation::buffered)
    }

    /// The existing connections, in order of opening.
    pub fn connections(&self) -> impl Iterator<Item = ConnectionId> {
        self.connections.keys().copied()
    }

    /// The 4-tuple of a subflow.
    pub fn addresses(&self, id: ConnectionId, subflow: SubflowId) -> Option<Addresses> {
        self.connections.get(&id)?.tuples.as_slice().get(subflow).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::{Flags, Mptcp, Options};

    /// Every second connection becomes plain TCP, because its peer repeats the SYN without MP_CAPABLE: it has no token at its end,
    /// but had one.
    #[test]
    fn nothing_is_left_of_connections_that_are_forgotten() {
        let mut e = Endpoint::new([1; 32]);
        e.listen(80, Config::default());
        let at = |port| Addresses { local: ([10, 0, 0, 1], 80).into(), remote: ([10, 0, 0, 2], port).into() };
        let mut syn = Segment { flags: Flags::SYN, window: 65_535, ..Segment::default() };
        for port in 1..=100 {
            syn.options =
                Options { mptcp: Mptcp::CapableSyn { no_join: false, checksum: false }, ..Options::default() };
            e.handle_packet(Instant::ZERO, at(port), &syn, &[]);
            if port % 2 == 0 {
                syn.options = Options::default();
                e.handle_packet(Instant::ZERO, at(port), &syn, &[]);
            }
        }
        while e.poll_transmit(Instant::ZERO).is_some() {}
        let plain = e.connections.values().filter(|c| c.connection.token().is_none()).count();
        assert_eq!((e.tokens.len(), e.deadlines.len(), plain), (100, 100, 50));
        for id in e.connections().collect::<Vec<_>>().into_iter().take(99) {
            e.abort(id).expect("it is there");
        }
        while e.poll_transmit(Instant::ZERO).is_some() {}
        assert_eq!((e.tokens.len(), e.deadlines.len(), e.connections.len()), (1, 1, 1));
        assert!(e.find(at(100)).is_some() && e.table.find(&at(99)).is_none() && e.ready.is_empty());
    }
}
