//! Options other than DSS: keys, joins, addresses, priorities.

use std::net::IpAddr;

use anabranch_pcap::packet::Packet;
use anabranch_stack::mptcp::keys;
use anabranch_stack::segment::{Flags, Mapping};
use anabranch_stack::wire::mptcp::{CapableFlags, MptcpOption};

use super::super::handshake::Fallback;
use super::super::subflow::Opening;
use super::super::version0::Version;
use super::Connection;

impl Connection {
    /// Works in options other than DSS. They are counted if the packet is `new`, not one already seen at another place. Returns
    /// the mapping of the first data, if an MP_CAPABLE has it.
    pub(crate) fn on_signals(&mut self, i: usize, s: usize, p: &Packet<'_>, new: bool) -> Option<(Mapping, bool)> {
        let mut first_data = None;
        if let Some(version) = Version::of(p) {
            // RFC 8684 3.1: the SYN/ACK has the version of the SYN or a lower one.
            self.version = Some(self.version.map_or(version, |known| known.min(version)));
        }
        for option in p.signals() {
            match option {
                MptcpOption::CapableSyn { flags, .. } => self.checksum |= flags.has(CapableFlags::CHECKSUM),
                MptcpOption::CapableSynAck { flags, key, .. } => {
                    self.checksum |= flags.has(CapableFlags::CHECKSUM);
                    self.learn(s, key);
                }
                MptcpOption::CapableAck { sender_key, receiver_key, data, .. } => {
                    self.learn(s, sender_key);
                    self.learn(1 - s, receiver_key);
                    if let (Some((len, checksum)), Some(dsn)) = (data, self.streams[s].first_numbered()) {
                        // RFC 8684 3.1: it maps the first octet of the subflow to the first of the data stream.
                        first_data = Some((Mapping { dsn, short: false, ssn: 1, len, checksum }, false));
                    }
                }
                MptcpOption::JoinSyn { backup, address_id, token, nonce } => {
                    let sub = &mut self.subflows[i];
                    (sub.backup, sub.token) = (backup, Some(token));
                    (sub.address_ids[s], sub.nonces[s]) = (Some(address_id), Some(nonce));
                }
                MptcpOption::JoinSynAck { backup, address_id, hmac, nonce } => {
                    let sub = &mut self.subflows[i];
                    sub.backup |= backup;
                    (sub.address_ids[s], sub.nonces[s]) = (Some(address_id), Some(nonce));
                    let computed = self.join_hmac(i, s);
                    self.subflows[i].hmacs[0] = computed.map(|c| c[..8] == hmac.to_be_bytes());
                }
                MptcpOption::JoinAck { hmac } => {
                    let computed = self.join_hmac(i, s);
                    self.subflows[i].hmacs[1] = computed.map(|c| c == hmac);
                }
                _ if !new => {}
                MptcpOption::AddAddr { echo: false, id, addr, port, hmac } => {
                    self.signals.add_addr += 1;
                    self.verify_address(s, id, (addr, port.unwrap_or(0)), hmac);
                }
                MptcpOption::AddAddr { .. } => self.signals.echo += 1,
                MptcpOption::RemoveAddr { .. } => self.signals.remove_addr += 1,
                MptcpOption::Prio { .. } => self.signals.prio += 1,
                MptcpOption::Fail { .. } => self.signals.fail += 1,
                MptcpOption::Fastclose { .. } => self.signals.fastclose += 1,
                MptcpOption::Reset { .. } => self.signals.tcprst += 1,
                _ => {}
            }
        }
        self.signals.prio += u64::from(new && p.prio_of_address);
        first_data
    }

    /// Side `s` announces an address with a port, 0 if it names none.
    fn verify_address(&mut self, s: usize, id: u8, (addr, port): (IpAddr, u16), hmac: Option<u64>) {
        // The ADD_ADDR of version 0 has no HMAC.
        let hmac = hmac.filter(|_| self.version == Some(Version::One));
        if let (Some(own), Some(peer), Some(hmac)) = (self.keys[s], self.keys[1 - s], hmac) {
            match keys::add_addr_hmac(own, peer, id, addr, port) == hmac {
                true => self.signals.hmac_right += 1,
                false => self.signals.hmac_wrong += 1,
            }
        }
    }

    /// The tokens of both sides' keys, as far as these are known.
    pub fn key_tokens(&self) -> [Option<u32>; 2] {
        self.keys.map(|key| Some(self.version?.token(key?)))
    }

    fn learn(&mut self, s: usize, key: u64) {
        let Some(version) = self.version else { return };
        if self.keys[s] != Some(key) {
            self.keys[s] = Some(key);
            self.tokens.push(version.token(key));
            // RFC 8684 3.1: the first octet of data has the number after the initial one.
            self.streams[s].begin_at(version.initial_dsn(key).wrapping_add(1));
            self.matched = true;
        }
    }

    fn join_hmac(&self, i: usize, s: usize) -> Option<[u8; 20]> {
        let nonces = self.subflows[i].nonces;
        let of = |side: usize| Some((self.keys[side]?, nonces[side]?));
        Some(self.version?.join_hmac(of(s)?, of(1 - s)?))
    }

    pub(crate) fn note_fallback(&mut self, i: usize, s: usize, p: &Packet<'_>) {
        if self.fallback.is_some() || p.cut || p.multipath {
            return;
        }
        let sub = &self.subflows[i];
        if sub.opening != Opening::Capable || self.dss_seen || p.flags.has(Flags::RST) {
            return;
        }
        // RFC 8684 3.1 and 3.7: a SYN/ACK without MP_CAPABLE means plain TCP.
        if p.flags.has(Flags::SYN) && s != sub.opener {
            self.fallback = Some(Fallback::SynAck);
        } else if p.len > 0 && !p.flags.has(Flags::SYN) && sub.syn == [true; 2] {
            self.fallback = Some(Fallback::FirstData);
        }
    }
}
