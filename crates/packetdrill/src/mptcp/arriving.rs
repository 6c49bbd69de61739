//! MPTCP options of a segment that arrives: what the script leaves out is what a correct peer would send.

use anabranch_stack::host::Addresses;
use anabranch_stack::mptcp::keys;
use anabranch_stack::segment::{DataAck, Dss, Mapping, Options};
use anabranch_stack::wire::checksum::dss_pseudo_header;
use anabranch_stack::wire::mptcp::{CapableFlags, MptcpOption};
use anabranch_stack::wire::option::{Iter, MPTCP};
use anabranch_stack::wire::segment::parse_options;

use super::names::{Member, Names, Way};
use super::option::{Check, Hmac, Key, Mp, Number, Place, Proof, Token};
use crate::ast::Packet;
use crate::option::Opt;
use crate::report::Step;

/// An arriving segment, and who receives it.
pub struct Arriving<'a> {
    /// What names stand for.
    pub names: &'a mut Names,
    /// Its flow.
    pub member: &'a mut Member,
    /// Its addresses, as seen from our side.
    pub addresses: Addresses,
    /// The segment.
    pub packet: &'a Packet,
}

impl Arriving<'_> {
    /// Puts the MPTCP options among `options` into `to`, through their octets: what the engine's parser ignores is ignored here.
    ///
    /// # Errors
    /// If one of them needs something that the script has not had yet.
    pub fn complete(&mut self, options: &[Opt], to: &mut Options) -> Step<()> {
        let mut octets = Vec::new();
        for option in options {
            if let Opt::Mptcp(option) = option {
                self.emit(option, &mut octets)?;
            }
        }
        let Options { mptcp, signal, tcp_rst, .. } = parse_options(Iter::new(&octets));
        (to.mptcp, to.tcp_rst) = (mptcp, tcp_rst);
        if !signal.is_empty() {
            to.signal = signal;
        }
        Ok(())
    }

    /// Appends `option` as it is on the wire.
    ///
    /// # Errors
    /// If it needs something that the script has not had yet.
    fn emit(&mut self, option: &Mp, out: &mut Vec<u8>) -> Step<()> {
        let option = match option {
            Mp::Capable { version, flags, keys, data } => self.capable((*version, *flags), keys, *data)?,
            Mp::JoinSyn { backup, id, token, nonce } => self.join_syn(*backup, *id, token, *nonce)?,
            Mp::JoinSynAck { backup, id, hmac, nonce } => {
                self.member.their_nonce = nonce.unwrap_or(NONCE + 1);
                let hmac = keys::truncate_64(&self.hmac(hmac)?);
                let address_id = self.names.their_id(*id, self.addresses.remote.ip());
                MptcpOption::JoinSynAck { backup: *backup, address_id, hmac, nonce: self.member.their_nonce }
            }
            Mp::JoinAck(hmac) => MptcpOption::JoinAck { hmac: keys::truncate_160(&self.hmac(hmac)?) },
            Mp::Dss { ack, dsn, ssn, len, check, fin } => {
                self.dss((ack.as_ref(), dsn.as_ref()), (*ssn, *len), *check, *fin)?
            }
            Mp::AddAddr { id, place, port, proof } => self.add_address(*id, place, *port, *proof)?,
            Mp::RemoveAddr(ids) => MptcpOption::RemoveAddr { ids },
            Mp::Prio(backup, None) => MptcpOption::Prio { backup: *backup },
            // RFC 6824 3.3.8: with the identifier of the address that is meant.
            Mp::Prio(backup, Some(id)) => {
                out.extend([MPTCP, 4, 5 << 4 | u8::from(*backup), *id]);
                return Ok(());
            }
            Mp::Fail(dsn) => {
                MptcpOption::Fail { dsn: self.number(dsn, Way::Out, self.packet.ack.unwrap_or(1).into())? }
            }
            Mp::Fastclose(key, more) => {
                let key = match key {
                    // A value that is given here is this option's alone.
                    Some(Key { value: Some(value), .. }) => *value,
                    Some(key) => self.names.key(&key.name)?,
                    None => self.names.pair(self.member, Way::In)?.receiver,
                };
                MptcpOption::Fastclose { key: key.wrapping_add(*more) }
            }
            Mp::Reset(reason, transient) => MptcpOption::Reset { transient: *transient, reason: *reason },
            Mp::Octets(octets) => {
                out.extend([MPTCP, octets.len() as u8 + 2]);
                out.extend(octets);
                return Ok(());
            }
        };
        option.emit(out);
        Ok(())
    }

    fn add_address(
        &mut self,
        id: Option<u8>,
        place: &Place,
        port: Option<u16>,
        proof: Proof,
    ) -> Step<MptcpOption<'static>> {
        let addr = self.names.place(place, self.addresses.remote.ip());
        let echo = proof == Proof::Echo;
        let id = match id {
            Some(id) if echo => id,
            None if echo => self.names.our_id(addr),
            id => self.names.their_id(id, addr),
        };
        let hmac = match proof {
            Proof::Echo => None,
            Proof::Is(n) => Some(n),
            Proof::Auto => {
                let pair = self.names.pair(self.member, Way::In)?;
                Some(keys::add_addr_hmac(pair.sender, pair.receiver, id, addr, port.unwrap_or(0)))
            }
        };
        Ok(MptcpOption::AddAddr { echo, id, addr, port, hmac })
    }

    fn capable(
        &mut self,
        (version, flags): (u8, u8),
        keys: &[Key],
        data: Option<(u16, Check)>,
    ) -> Step<MptcpOption<'static>> {
        let flags = CapableFlags(flags);
        let values: Vec<u64> = keys.iter().map(|key| self.names.given(self.member, key)).collect();
        if let (Some(&key), true) = (values.first(), version > 0) {
            // The first key that the peer sends is its own; a script may name other keys later.
            let session = self.names.session(self.member)?;
            session.theirs.get_or_insert(key);
        }
        Ok(match values[..] {
            [] => MptcpOption::CapableSyn { version, flags },
            [key] => MptcpOption::CapableSynAck { version, flags, key },
            [sender_key, receiver_key, ..] => {
                let data = match data {
                    None => None,
                    Some((len, check)) => {
                        // RFC 8684 3.1: it maps to the first data sequence number.
                        let theirs = self.names.session(self.member)?.theirs.unwrap_or(sender_key);
                        let first = keys::initial_dsn(theirs).wrapping_add(1);
                        Some((len, checksum(check, first, 1, len)))
                    }
                };
                MptcpOption::CapableAck { version, flags, sender_key, receiver_key, data }
            }
        })
    }

    fn join_syn(
        &mut self,
        backup: bool,
        id: Option<u8>,
        token: &Token,
        nonce: Option<u32>,
    ) -> Step<MptcpOption<'static>> {
        let token = match token {
            Token::Is(token) => *token,
            Token::Of(name) => keys::token(self.names.key(name)?),
            Token::Auto => {
                self.names.join(self.member, Way::In, 0);
                keys::token(self.names.pair(self.member, Way::In)?.receiver)
            }
        };
        self.names.join(self.member, Way::In, token);
        self.member.their_nonce = nonce.unwrap_or(NONCE);
        let address_id = self.names.their_id(id, self.addresses.remote.ip());
        Ok(MptcpOption::JoinSyn { backup, address_id, token, nonce: self.member.their_nonce })
    }

    /// The HMAC of a join.
    fn hmac(&mut self, hmac: &Hmac) -> Step<[u8; 32]> {
        let (sender, receiver) = match hmac {
            Hmac::Is(n) => {
                let mut octets = [0; 32];
                octets[..8].copy_from_slice(&n.to_be_bytes());
                return Ok(octets);
            }
            Hmac::Of(a, b) => (self.names.key(a)?, self.names.key(b)?),
            Hmac::Auto => {
                let pair = self.names.pair(self.member, Way::In)?;
                (pair.sender, pair.receiver)
            }
        };
        Ok(keys::join_hmac(sender, receiver, self.member.their_nonce, self.member.our_nonce))
    }

    fn dss(
        &mut self,
        (ack, dsn): (Option<&Number>, Option<&Number>),
        (ssn, len): (Option<u32>, Option<u16>),
        check: Check,
        fin: bool,
    ) -> Step<MptcpOption<'static>> {
        let data_ack = match ack {
            None => None,
            Some(number) => {
                let ack = self.number(number, Way::Out, self.packet.ack.unwrap_or(1).into())?;
                Some(if number.eight { DataAck::Eight(ack) } else { DataAck::Four(ack as u32) })
            }
        };
        let mapping = match dsn {
            None => None,
            Some(number) => {
                let dsn = self.number(number, Way::In, self.packet.seq.into())?;
                // RFC 8684 3.3.3: a DATA_FIN without data has the subflow sequence number 0, and counts for one octet.
                let ssn = ssn.unwrap_or(if self.packet.len > 0 { self.packet.seq } else { 0 });
                let len = len.unwrap_or(self.packet.len as u16 + u16::from(fin));
                let short = !number.eight;
                let checksum = checksum(check, dsn, ssn, len);
                Some(Mapping { dsn: if short { dsn & u64::from(u32::MAX) } else { dsn }, short, ssn, len, checksum })
            }
        };
        Ok(MptcpOption::Dss(Dss { data_ack, mapping, data_fin: fin }))
    }

    /// A data sequence number of the one who sends segments this way.
    fn number(&mut self, number: &Number, way: Way, fits: u64) -> Step<u64> {
        let key = match &number.key {
            Some(name) => self.names.key(name)?,
            None => self.names.pair(self.member, way)?.sender,
        };
        Ok(keys::initial_dsn(key).wrapping_add(number.value.unwrap_or(fits)))
    }
}

/// Random number of a peer that the script does not say.
const NONCE: u32 = 42;

/// The checksum of a mapping of octets that are all zero, as payloads of scripts are.
pub(super) fn checksum(check: Check, dsn: u64, ssn: u32, len: u16) -> Option<u16> {
    match check {
        Check::Without => None,
        Check::Is(n) => Some(n),
        // RFC 8684 3.7: that of an infinite mapping is zero.
        Check::Auto if len == 0 => Some(0),
        Check::Auto => Some(dss_pseudo_header(dsn, ssn, len).checksum()),
    }
}
