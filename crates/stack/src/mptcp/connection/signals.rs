//! Signals about addresses and subflows: ADD_ADDR and its echo (RFC 8684 3.4.1), REMOVE_ADDR (3.4.2), MP_PRIO (3.3.8).
//!
//! Only ADD_ADDR is answered, so only ADD_ADDR is retransmitted. MP_PRIO is a request about the subflow that carries it, and may
//! be lost. A REMOVE_ADDR does not take effect at once, because anyone who can observe the connection could forge it. First the
//! subflows of that address are probed with keep-alives (RFC 1122 4.2.3.6), and only those that do not answer are reset.

use super::{Connection, Outgoing};
use crate::event::{EndReason, Event, SubflowId};
use crate::mptcp::handshake::Keys;
use crate::mptcp::keys;
use crate::mptcp::negotiation::Mode;
use crate::path::Policy;
use crate::segment::{AddrId, Advertised, OPTION_SPACE, Signal};
use crate::tcp::subflow::State;
use crate::time::Instant;
use core::num::NonZeroU16;

/// The HMAC of an ADD_ADDR that a host with key `sender` sends to one with key `receiver` (RFC 8684
/// 3.4.1).
fn add_addr_hmac(sender: u64, receiver: u64, advertised: &Advertised) -> u64 {
    let Advertised { address: AddrId { id, addr }, port } = *advertised;
    keys::add_addr_hmac(sender, receiver, id, addr, port.map_or(0, NonZeroU16::get))
}

impl Connection {
    // ---- requests of the driver -----------------------------------------------------------------

    /// RFC 8684 3.4.1: tells the peer of another address of ours, with the port if it differs from that of the first subflow.
    /// Repeating an address that the peer knows invites another attempt to join there. An IPv6 address with a port does not fit
    /// beside timestamps, which RFC 7323 3.2 requires in every segment; it is not sent then.
    pub fn advertise(&mut self, address: AddrId, port: Option<NonZeroU16>) {
        self.addresses.announce(Advertised { address, port }, &mut self.fast);
    }

    /// RFC 8684 3.4.2: our address `id` is gone: resets its subflows, and tells the peer (REMOVE_ADDR) on another subflow. If no subflow is left,
    /// the connection waits for a new one as long as TIME-WAIT lasts.
    pub fn withdraw(&mut self, id: u8) {
        self.addresses.forget_announcement(id, &mut self.fast);
        if !self.negotiation.is_multipath() || self.negotiation.is_over() {
            return;
        }
        self.addresses.remove(id, &mut self.fast);
        for k in 0..self.paths.active.len() {
            let subflow = self.paths.active[k];
            if self.paths.members[subflow].local_id == id && self.paths.subflows[subflow].state != State::Closed {
                // 3.4.2: this RST is for the sake of middleboxes, and may not get through.
                self.reset(subflow, EndReason::Removed, Signal::None, None);
            }
        }
    }

    /// Asks the peer to use a subflow only when no regular one works, or as a regular one again (MP_PRIO; RFC 8684 3.3.8, 3.4.2). We do the same.
    pub fn set_backup(&mut self, id: SubflowId, backup: bool) {
        self.paths.set_backup(id, backup, &mut self.fast);
    }

    /// What the algorithms of this host are told of the path of a subflow. It stays until the subflow ends.
    pub fn set_policy(&mut self, id: SubflowId, policy: Policy) {
        self.paths.set_policy(id, policy, &mut self.fast);
    }

    /// Either side wants the subflow used only when no regular one works.
    pub fn is_backup(&self, id: SubflowId) -> bool {
        self.paths.members[id].is_backup()
    }

    /// Addresses that the peer has advertised and not removed.
    pub fn peer_addresses(&self) -> &[Advertised] {
        self.addresses.remote()
    }

    // ---- arriving signals -----------------------------------------------------------------------

    pub(super) fn take_signal(&mut self, now: Instant, id: SubflowId, k: &Keys, signal: &Signal) {
        match *signal {
            Signal::None | Signal::FastOpen(_) => {}
            // RFC 8684 3.2, 3.4.1: only an authentic ADD_ADDR counts.
            Signal::AddAddr { advertised, hmac } if hmac == add_addr_hmac(k.peer, k.own, &advertised) => {
                if self.config.deviations.add_addr_confirms {
                    self.negotiation.confirm_by_address();
                }
                let may_repeat = || self.paths.subflows[id].may_repeat(now);
                if let Some(news) = self.addresses.take(advertised, self.config.address_limit, may_repeat) {
                    self.paths.members[id].echo = Some(advertised);
                    let Advertised { address: AddrId { id, addr }, port } = advertised;
                    if news {
                        self.events.push_back(Event::RemoteAddress { id, addr, port });
                    }
                }
            }
            Signal::AddAddr { .. } => {}
            Signal::AddAddrEcho(advertised) => self.addresses.settle(advertised),
            Signal::RemoveAddr(ids) => {
                // 3.4.2: the subflows of the removed address are probed with keep-alives. An
                // unknown identifier is ignored.
                for &gone in ids.as_slice() {
                    if self.addresses.forget_remote(gone) | self.paths.suspect(now, gone) {
                        self.events.push_back(Event::RemoteAddressRemoved { id: gone });
                    }
                }
            }
            Signal::Prio { backup } => {
                if self.paths.members[id].peer_backup != backup {
                    self.paths.members[id].peer_backup = backup;
                    self.paths.rows[id].backup = self.paths.members[id].is_backup();
                    self.events.push_back(Event::Priority { subflow: id, backup });
                }
            }
            Signal::Fastclose { key } => self.take_fastclose(id, k, key),
            Signal::Fail { .. } => self.take_fail(now, id),
        }
    }

    // ---- signals to send ------------------------------------------------------------------------

    /// The next signal that is due, on a pure acknowledgement of its own.
    pub(super) fn poll_signals(&mut self, now: Instant) -> Option<Outgoing> {
        let Mode::Mptcp(k) = *self.negotiation.mode() else { return None };
        let addresses = !self.addresses.are_settled();
        if !addresses && !self.paths.active().any(|(_, m)| m.has_signal()) {
            return None;
        }
        if let Some((id, due)) = self.paths.next_signal(now) {
            return Some(self.composing().about_subflow(now, id, due));
        }
        if !self.negotiation.is_confirmed() || self.negotiation.is_over() || !addresses {
            return None;
        }
        let id = self.paths.ready_subflow()?;
        let dss = self.composing().signal_option(id);
        let room = self.composing().removal_room(id, &dss);
        if let Some(ids) = self.addresses.next_removals(room) {
            return Some(self.composing().signalling(now, id, dss, Signal::RemoveAddr(ids)));
        }
        let one_by_one = self.config.deviations.announces_one_by_one;
        let advertised = self.addresses.next_announcement(now, self.config.initial_rto, one_by_one)?;
        let signal = Signal::AddAddr { advertised, hmac: add_addr_hmac(k.own, k.peer, &advertised) };
        if signal.len().next_multiple_of(4) + self.paths.subflows[id].timestamp_len() > OPTION_SPACE {
            self.addresses.settle(advertised);
            return None;
        }
        Some(self.composing().about_address(now, id, signal))
    }
}
