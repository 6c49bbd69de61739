//! How connections and subflows come to be: who listens, which paths are joined, what nobody knows.

use anabranch_stack::Connection as Endpoint;
use anabranch_stack::event::SendKind;
use anabranch_stack::mptcp::connection::reset_for;
use anabranch_stack::mptcp::keys::Entropy;
use anabranch_stack::segment::{Flags, Mptcp, ResetReason, Segment, TcpRst};

use super::{End, Stream};
use crate::metrics::account::SubflowAccount;
use crate::scenario::{PathAction, PathChange};
use crate::sim::network::Network;
use crate::sim::packet::{CLIENT, Packet, PacketId, SERVER};

impl Stream {
    /// A host does something with its interface on a path.
    pub(super) fn change_path(&mut self, net: &Network, change: PathChange) {
        let side = if change.client { CLIENT } else { SERVER };
        let Some(host) = self.hosts[side].as_mut().filter(|_| self.multipath) else { return };
        match change.action {
            PathAction::Remove => host.endpoint.withdraw(change.path as u8),
            PathAction::Add if side == SERVER => host.endpoint.advertise(self.paths.address(change.path), None),
            // The client joins when it is served.
            PathAction::Add => {}
            PathAction::Backup | PathAction::Regular => {
                for (subflow, end) in host.ends.iter().enumerate() {
                    if net.flows[self.index].tuples[end.tuple as usize].path == change.path {
                        host.endpoint.set_backup(subflow, change.action == PathAction::Backup);
                    }
                }
            }
        }
    }

    /// A segment for a 4-tuple that this host does not know: a new connection, a join, or a mistake.
    #[cold]
    pub(super) fn on_stranger(&mut self, net: &mut Network, side: usize, id: PacketId) {
        let Packet { tuple, port, segment, .. } = *net.pool.get(id);
        match self.listen(net, side, tuple, &segment) {
            Ok(subflow) => {
                self.bind(net, side, tuple, port, subflow);
                self.taken = false;
                self.serve(net, side, false);
            }
            Err(tcp_rst) => self.answer_with_reset(net, side, id, tcp_rst),
        }
    }

    /// RFC 9293 3.10.7.1: no such connection.
    #[cold]
    pub(super) fn answer_with_reset(&self, net: &mut Network, side: usize, id: PacketId, tcp_rst: Option<TcpRst>) {
        let Packet { tuple, port, segment, .. } = *net.pool.get(id);
        if let Some(mut reset) = reset_for(&segment) {
            reset.options.tcp_rst = tcp_rst;
            let answer = Packet::new(reset, self.index, tuple, side == CLIENT, SendKind::Control, 0);
            net.send(Packet { port, ..answer });
        }
    }

    /// The subflow that a SYN opens, or why there is none.
    fn listen(&mut self, net: &Network, side: usize, tuple: u32, segment: &Segment) -> Result<usize, Option<TcpRst>> {
        if side != SERVER || !segment.flags.has(Flags::SYN) || segment.flags.has(Flags::ACK) {
            return Err(None);
        }
        let path = net.flows[self.index].tuples[tuple as usize].path;
        if let Mptcp::JoinSyn { token, .. } = segment.options.mptcp {
            // RFC 8684 3.2: the token names the connection.
            let unknown = TcpRst { transient: false, reason: ResetReason::MPTCP };
            let host =
                self.hosts[SERVER].as_mut().filter(|h| h.endpoint.token() == Some(token)).ok_or(Some(unknown))?;
            let backup = self.paths.is_backup(path, SERVER);
            return host.endpoint.accept_join(segment, path as u8, backup).map_err(Some);
        }
        if self.hosts[SERVER].is_some() {
            return Err(None);
        }
        let mut endpoint = Endpoint::accept(self.config.clone(), Entropy::new(self.secrets[SERVER]), segment);
        if self.multipath {
            self.paths.to_advertise().into_iter().for_each(|address| endpoint.advertise(address, None));
        }
        self.hosts[SERVER] = Some(self.host(SERVER, endpoint));
        Ok(0)
    }

    pub(super) fn open_tuple(&mut self, net: &mut Network, path: usize) -> u32 {
        let tuples = &mut net.flows[self.index].tuples;
        tuples.push(SubflowAccount { path, ..SubflowAccount::default() });
        (tuples.len() - 1) as u32
    }

    pub(super) fn bind(&mut self, net: &mut Network, side: usize, tuple: u32, port: u16, subflow: usize) {
        let host = self.hosts[side].as_mut().expect("only hosts that exist have subflows");
        if let Some(failed) = host.ends.get_mut(subflow) {
            // In place of a join that came to nothing.
            *failed = End { tuple, port };
        } else {
            host.ends.push(End { tuple, port });
        }
        net.flows[self.index].tuples[tuple as usize].at[side] = Some(subflow);
    }

    /// Joins the paths whose time has come.
    pub(super) fn join(&mut self, net: &mut Network) {
        loop {
            let Some(host) = self.hosts[CLIENT].as_mut().filter(|h| !h.closed) else { return };
            let open = |path, backup| host.endpoint.open_subflow(path as u8, path as u8, backup);
            let Some((path, subflow)) = self.paths.join(net.now, open) else { return };
            let tuple = self.open_tuple(net, path);
            self.bind(net, CLIENT, tuple, 0, subflow);
        }
    }
}
