//! How connections and subflows come to be: who listens, which paths are joined, what nobody knows.

use anabranch_measures::account::SubflowAccount;
use anabranch_stack::event::SendKind;
use anabranch_stack::host::listen::{self, Welcome};
use anabranch_stack::mptcp::keys::{Entropy, fast_open_cookie};
use anabranch_stack::segment::{Cookie, OPTION_SPACE, Segment, TcpRst};
use anabranch_stack::time::Instant;
use anabranch_stack::{Connection, IcmpError};

use super::{End, Stream};
use crate::sim::network::Network;
use crate::sim::packet::{CLIENT, Packet, PacketId, SERVER};
use crate::sim::routes::TooLong;
use anabranch_scenario::{PathAction, PathChange};

impl Stream {
    /// A host does something with its interface on a path.
    pub(super) fn change_path(&mut self, net: &Network, change: PathChange) {
        let side = if change.client { CLIENT } else { SERVER };
        let Some(host) = self.hosts[side].as_mut().filter(|_| self.multipath) else { return };
        match change.action {
            PathAction::Remove => host.connection.withdraw(change.path as u8),
            PathAction::Add if side == SERVER => host.connection.advertise(self.paths.address(change.path), None),
            // The client joins when it is served.
            PathAction::Add => {}
            PathAction::Backup | PathAction::Regular => {
                for (subflow, end) in host.ends.as_slice().iter().enumerate() {
                    if net.flows[self.index].tuples[end.tuple as usize].path == change.path {
                        host.connection.set_backup(subflow, change.action == PathAction::Backup);
                    }
                }
            }
        }
    }

    /// A segment for a 4-tuple that this host does not know: a new connection, a join, or a mistake.
    #[cold]
    pub(super) fn on_stranger(&mut self, net: &mut Network, side: usize, id: PacketId) {
        let Packet { tuple, port, segment, altered, displaced, .. } = *net.pool.get(id);
        self.touched = (altered, displaced);
        match self.admit(net, side, tuple, &segment) {
            Ok(subflow) => {
                self.bind(net, side, tuple, port, subflow);
                self.taken = false;
                self.serve(net, side, false);
                if segment.payload.len > 0 && (side != self.sender || self.transfer.both) {
                    self.note_fate(net, id);
                }
            }
            Err(why) => self.answer_with_reset(net, side, id, why),
        }
    }

    /// RFC 9293 3.10.7.1: no such connection.
    #[cold]
    pub(super) fn answer_with_reset(&self, net: &mut Network, side: usize, id: PacketId, why: Option<TcpRst>) {
        let Packet { tuple, port, segment, .. } = *net.pool.get(id);
        if let Some(reset) = listen::answer(&segment, why) {
            let answer = Packet::new(reset, self.index, tuple, side == CLIENT, SendKind::Control, 0);
            net.send(Packet { port, ..answer });
        }
    }

    /// The subflow that a SYN opens, or why there is none.
    fn admit(&mut self, net: &Network, side: usize, tuple: u32, segment: &Segment) -> Result<usize, Option<TcpRst>> {
        let path = net.flows[self.index].tuples[tuple as usize].path;
        let backup = self.paths.is_backup(path, SERVER);
        let listens = side == SERVER && self.hosts[SERVER].is_none();
        let server = self.hosts[SERVER].as_mut().filter(|_| side == SERVER);
        let join = |token| {
            let host = server.filter(|h| h.connection.token() == Some(token))?;
            Some(host.connection.accept_join(segment, path as u8, backup))
        };
        match listen::admit(segment, listens, join)? {
            Welcome::Joins(subflow) => Ok(subflow),
            Welcome::Opens => {
                let mut connection =
                    Connection::accept(self.config.clone(), Entropy::new(self.secrets[SERVER]), segment);
                if self.multipath {
                    self.paths.to_advertise().into_iter().for_each(|address| connection.advertise(address, None));
                }
                if self.config.fast_open {
                    connection.answer_fast_open(Instant(net.now), segment, self.fast_open_cookie());
                }
                self.hosts[SERVER] = Some(self.host(SERVER, connection));
                Ok(0)
            }
        }
    }

    /// The server's cookie for this client, as long as [`Endpoint`](anabranch_stack::host::Endpoint)'s.
    fn fast_open_cookie(&self) -> Cookie {
        fast_open_cookie(&self.secrets[SERVER], self.paths.client(), if self.multipath { 6 } else { 8 })
    }

    /// The client may open the connection fast (RFC 7413): it has a cookie and the server's MSS from a connection before, or asks for one.
    pub(super) fn ask_fast_open(&mut self, connection: &mut Connection) {
        if self.config.fast_open {
            let mss = (self.config.mss + OPTION_SPACE).min(u16::MAX.into()) as u16;
            connection.request_fast_open(self.cookie.then(|| (self.fast_open_cookie(), Some(mss))));
            self.account.fast_open = Some(0);
        }
    }

    /// A router's message has come to a host: IPv4 and TCP headers take 40 octets of what the link passes on.
    #[cold]
    pub(super) fn on_message(&mut self, net: &Network, message: TooLong) {
        let TooLong { side, tuple, seq, mtu, .. } = message;
        let Some(subflow) = net.flows[self.index].tuples[tuple as usize].at[side] else { return };
        let Some(host) = &mut self.hosts[side] else { return };
        if host.ends.as_slice().get(subflow).is_some_and(|end| end.tuple == tuple) {
            host.connection.handle_icmp(Instant(net.now), subflow, seq, IcmpError::TooBig { room: mtu - 40 });
        }
    }

    /// A new 4-tuple on `path`, with an account.
    pub(super) fn open_tuple(&mut self, net: &mut Network, path: usize) -> u32 {
        let tuples = &mut net.flows[self.index].tuples;
        tuples.push(SubflowAccount { path, ..SubflowAccount::default() });
        (tuples.len() - 1) as u32
    }

    /// A subflow of a host has a 4-tuple from now on.
    pub(super) fn bind(&mut self, net: &mut Network, side: usize, tuple: u32, port: u16, subflow: usize) {
        let host = self.hosts[side].as_mut().expect("only hosts that exist have subflows");
        // The number of a join that came to nothing is given again.
        host.ends.bind(subflow, End { tuple, port });
        let tuple = &mut net.flows[self.index].tuples[tuple as usize];
        tuple.at[side] = Some(subflow);
        host.connection.set_policy(subflow, self.paths.policy(tuple.path));
    }

    /// Joins the paths whose time has come.
    pub(super) fn join(&mut self, net: &mut Network) {
        loop {
            let Some(host) = self.hosts[CLIENT].as_mut().filter(|h| !h.closed) else { return };
            let open = |path, backup| host.connection.open_subflow(path as u8, path as u8, backup);
            let Some((path, subflow)) = self.paths.join(net.now, open) else { return };
            let tuple = self.open_tuple(net, path);
            self.bind(net, CLIENT, tuple, 0, subflow);
        }
    }
}
