//! Compares the MPTCP options of a sent segment with the options that the script expects. Fields
//! that the script leaves out may have any value.

use anabranch_stack::mptcp::keys;
use anabranch_stack::segment::{DataAck, Dss, Options};
use anabranch_stack::wire::checksum::Sum;
use anabranch_stack::wire::mptcp::MptcpOption;
use anabranch_stack::wire::option::{Iter, TcpOption};
use anabranch_stack::wire::segment::emit_options;

use super::arriving::checksum;
use super::names::{Member, Names, Pair, Way};
use super::option::{Check, Hmac, Key, Mp, Number, Place, Proof, Token};
use crate::report::Step;

/// The flow on which a segment was sent.
pub struct Leaving<'a> {
    /// Values of the script's names.
    pub names: &'a mut Names,
    /// MPTCP state of the flow.
    pub member: &'a Member,
}

/// Calls `each` with each MPTCP option in `options`, in wire order.
fn each(options: &Options, mut each: impl FnMut(MptcpOption<'_>)) {
    let mut octets = Vec::with_capacity(40);
    emit_options(options, Sum(0), &mut octets);
    for option in Iter::new(&octets).flatten() {
        if let TcpOption::Mptcp(option) = option {
            each(option);
        }
    }
}

impl Leaving<'_> {
    /// Returns true if the MPTCP options in `found` match `wanted`, in any order. If the script
    /// expects ADD_ADDR, a DSS may be missing that only repeats an earlier DATA_ACK.
    ///
    /// # Errors
    /// If an expected option needs a key or name that has no value yet.
    pub fn are(&mut self, wanted: &[&Mp], found: &Options) -> Step<bool> {
        let mut open: Vec<&Mp> = wanted.to_vec();
        let (mut same, mut failed) = (true, None);
        each(found, |option| {
            let kind = std::mem::discriminant(&self.show(&option));
            match open.iter().position(|w| std::mem::discriminant(*w) == kind) {
                Some(at) => match self.is(open.remove(at), &option) {
                    Ok(is) => same &= is,
                    Err(stop) => failed = Some(stop),
                },
                None => same = false,
            }
        });
        let is_add_addr = |w: &&Mp| matches!(w, Mp::AddAddr { .. });
        let add_addr_was_sent = wanted.iter().any(is_add_addr) && !open.iter().any(is_add_addr);
        let expected = open.len();
        open.retain(|w| !(add_addr_was_sent && self.repeats(w)));
        self.names.spared = open.len() < expected;
        failed.map_or(Ok(same && open.is_empty()), Err)
    }

    /// Returns true if the expected option is a DSS with only a DATA_ACK, and if that DATA_ACK is
    /// no higher than those already sent. A relative DATA_ACK of 1 acknowledges no data.
    fn repeats(&self, option: &Mp) -> bool {
        let Mp::Dss { ack: Some(ack), dsn: None, fin: false, .. } = option else { return false };
        ack.key.is_none() && ack.value.is_none_or(|ack| ack <= self.names.acknowledged.max(1))
    }

    /// Returns the MPTCP options as the script would write them.
    pub fn written(&mut self, found: &Options) -> Vec<Mp> {
        let mut all = Vec::new();
        each(found, |option| all.push(self.show(&option)));
        all
    }

    fn is(&mut self, wanted: &Mp, found: &MptcpOption<'_>) -> Step<bool> {
        Ok(match (wanted, *found) {
            (Mp::Capable { version, flags, keys, data }, _) => self.is_capable((*version, *flags), keys, *data, found),
            (
                Mp::JoinSyn { backup, id, token, nonce },
                MptcpOption::JoinSyn { backup: b, address_id, token: t, nonce: n },
            ) => {
                let token = match token {
                    Token::Is(token) => *token,
                    Token::Of(name) => keys::token(self.names.key(name)?),
                    Token::Auto => keys::token(self.pair()?.receiver),
                };
                (*backup, token) == (b, t)
                    && id.is_none_or(|id| id == address_id)
                    && nonce.is_none_or(|nonce| nonce == n)
            }
            // The address ID in a SYN/ACK is not compared: existing scripts have arbitrary values
            // there.
            (
                Mp::JoinSynAck { backup, hmac, nonce, .. },
                MptcpOption::JoinSynAck { backup: b, hmac: h, nonce: n, .. },
            ) => *backup == b && keys::truncate_64(&self.hmac(hmac)?) == h && nonce.is_none_or(|nonce| nonce == n),
            (Mp::JoinAck(hmac), MptcpOption::JoinAck { hmac: found }) => keys::truncate_160(&self.hmac(hmac)?) == found,
            (Mp::Dss { ack, dsn, ssn, len, check, fin }, MptcpOption::Dss(dss)) => {
                self.is_ack(ack.as_ref(), dss.data_ack)?
                    && self.is_mapping((dsn.as_ref(), *check), (*ssn, *len), &dss)?
                    && *fin == dss.data_fin
            }
            (Mp::AddAddr { id, place, port, proof }, _) => self.is_address((*id, *port), place, *proof, found)?,
            (Mp::RemoveAddr(wanted), MptcpOption::RemoveAddr { ids }) => wanted == ids,
            (Mp::Prio(backup, None), MptcpOption::Prio { backup: found }) => *backup == found,
            (Mp::Fail(number), MptcpOption::Fail { dsn }) => self.is_number(number, dsn, Way::In)?,
            (Mp::Fastclose(key, more), MptcpOption::Fastclose { key: found }) => {
                let wanted = match key {
                    None => self.pair()?.receiver,
                    Some(Key { value: Some(value), .. }) => *value,
                    Some(key) => self.names.key(&key.name)?,
                };
                wanted.wrapping_add(*more) == found
            }
            (Mp::Reset(reason, transient), MptcpOption::Reset { transient: t, reason: r }) => {
                (*reason, *transient) == (r, t)
            }
            _ => false,
        })
    }

    fn is_address(
        &mut self,
        (id, port): (Option<u8>, Option<u16>),
        place: &Place,
        proof: Proof,
        found: &MptcpOption<'_>,
    ) -> Step<bool> {
        let MptcpOption::AddAddr { echo, id: found_id, addr, port: found_port, hmac } = *found else {
            return Ok(false);
        };
        let expected = place.addr.or_else(|| self.names.address(&place.name)).unwrap_or(addr);
        self.names.name_address(&place.name, expected);
        let proven = match proof {
            Proof::Echo => echo && hmac.is_none(),
            Proof::Is(n) => !echo && hmac == Some(n),
            Proof::Auto => {
                let Pair { sender, receiver } = self.pair()?;
                let right = keys::add_addr_hmac(sender, receiver, found_id, addr, found_port.unwrap_or(0));
                !echo && hmac == Some(right)
            }
        };
        Ok(proven && expected == addr && port == found_port && id.is_none_or(|id| id == found_id))
    }

    fn is_capable(
        &mut self,
        shape: (u8, u8),
        keys: &[Key],
        data: Option<(u16, Check)>,
        found: &MptcpOption<'_>,
    ) -> bool {
        let (is, values, first) = match *found {
            MptcpOption::CapableSyn { version, flags } => ((version, flags.0), vec![], None),
            MptcpOption::CapableSynAck { version, flags, key } => ((version, flags.0), vec![key], None),
            MptcpOption::CapableAck { version, flags, sender_key, receiver_key, data } => {
                ((version, flags.0), vec![sender_key, receiver_key], data)
            }
            _ => return false,
        };
        let named = keys.iter().zip(&values).all(|(key, value)| self.names.is(self.member, key, *value));
        let data = match (data, first) {
            (None, None) => true,
            (Some((len, check)), Some((found_len, found))) => {
                let dsn = values.first().map_or(0, |key| keys::initial_dsn(*key).wrapping_add(1));
                len == found_len && found == checksum(check, dsn, 1, len)
            }
            _ => false,
        };
        is == shape && keys.len() == values.len() && named && data
    }

    fn pair(&mut self) -> Step<Pair> {
        self.names.pair(self.member, Way::Out)
    }

    fn hmac(&mut self, hmac: &Hmac) -> Step<[u8; 32]> {
        let (sender, receiver) = match hmac {
            Hmac::Is(n) => {
                let mut octets = [0; 32];
                octets[..8].copy_from_slice(&n.to_be_bytes());
                return Ok(octets);
            }
            Hmac::Of(a, b) => (self.names.key(a)?, self.names.key(b)?),
            Hmac::Auto => self.pair().map(|pair| (pair.sender, pair.receiver))?,
        };
        Ok(keys::join_hmac(sender, receiver, self.member.our_nonce, self.member.their_nonce))
    }

    fn is_ack(&mut self, wanted: Option<&Number>, found: Option<DataAck>) -> Step<bool> {
        let (found, eight) = match found {
            None => return Ok(wanted.is_none()),
            Some(DataAck::Four(ack)) => (ack.into(), false),
            Some(DataAck::Eight(ack)) => (ack, true),
        };
        let Some(number) = wanted else { return Ok(false) };
        Ok(number.eight == eight && self.is_number(number, found, Way::In)?)
    }

    fn is_mapping(
        &mut self,
        (dsn, check): (Option<&Number>, Check),
        (ssn, len): (Option<u32>, Option<u16>),
        found: &Dss,
    ) -> Step<bool> {
        let (Some(number), Some(m)) = (dsn, found.mapping) else { return Ok(dsn.is_some() == found.mapping.is_some()) };
        let first = keys::initial_dsn(self.pair()?.sender);
        // Extends a 32-bit data sequence number to 64 bits (RFC 8684 3.3.1), assuming that it is
        // less than 4 GiB after the initial one.
        let whole = if m.short { first.wrapping_add((m.dsn as u32).wrapping_sub(first as u32).into()) } else { m.dsn };
        Ok(number.eight != m.short
            && self.is_number(number, m.dsn, Way::Out)?
            && ssn.is_none_or(|ssn| ssn == m.ssn)
            && len.is_none_or(|len| len == m.len)
            && m.checksum == checksum(check, whole, m.ssn, m.len))
    }

    /// Returns true if `found` matches the expected data sequence number. `way` is the direction of
    /// the data: the number belongs to the side that sends in this direction.
    fn is_number(&mut self, wanted: &Number, found: u64, way: Way) -> Step<bool> {
        let Some(value) = wanted.value else { return Ok(true) };
        let key = match &wanted.key {
            Some(name) => self.names.key(name)?,
            None => self.names.pair(self.member, way)?.sender,
        };
        let wanted_value = keys::initial_dsn(key).wrapping_add(value);
        Ok(if wanted.eight { wanted_value == found } else { wanted_value as u32 == found as u32 })
    }

    // ---- for people --------------------------------------------------------------------------------------------

    fn show(&mut self, found: &MptcpOption<'_>) -> Mp {
        let named = |names: &Names, key: u64| Key { name: names.name_of(key), value: None };
        match *found {
            MptcpOption::CapableSyn { version, flags } => {
                Mp::Capable { version, flags: flags.0, keys: vec![], data: None }
            }
            MptcpOption::CapableSynAck { version, flags, key } => {
                Mp::Capable { version, flags: flags.0, keys: vec![named(self.names, key)], data: None }
            }
            MptcpOption::CapableAck { version, flags, sender_key, receiver_key, data } => {
                let keys = [sender_key, receiver_key].map(|key| named(self.names, key)).into();
                let data = data.map(|(len, checksum)| (len, checksum.map_or(Check::Without, Check::Is)));
                Mp::Capable { version, flags: flags.0, keys, data }
            }
            MptcpOption::JoinSyn { backup, address_id, token, nonce } => {
                Mp::JoinSyn { backup, id: Some(address_id), token: Token::Is(token), nonce: Some(nonce) }
            }
            MptcpOption::JoinSynAck { backup, address_id, hmac, nonce } => {
                let right = self.hmac(&Hmac::Auto).is_ok_and(|right| keys::truncate_64(&right) == hmac);
                let hmac = if right { Hmac::Auto } else { Hmac::Is(hmac) };
                Mp::JoinSynAck { backup, id: Some(address_id), hmac, nonce: Some(nonce) }
            }
            MptcpOption::JoinAck { hmac } => {
                let right = self.hmac(&Hmac::Auto).is_ok_and(|right| keys::truncate_160(&right) == hmac);
                let first = hmac.first_chunk().map_or(0, |first| u64::from_be_bytes(*first));
                Mp::JoinAck(if right { Hmac::Auto } else { Hmac::Is(first) })
            }
            MptcpOption::Dss(dss) => self.show_dss(&dss),
            MptcpOption::AddAddr { echo, id, addr, port, hmac } => {
                let right =
                    self.pair().ok().map(|p| keys::add_addr_hmac(p.sender, p.receiver, id, addr, port.unwrap_or(0)));
                let proof = match hmac {
                    _ if echo => Proof::Echo,
                    hmac if hmac == right => Proof::Auto,
                    hmac => Proof::Is(hmac.unwrap_or_default()),
                };
                Mp::AddAddr { id: Some(id), place: self.names.place_of(addr), port, proof }
            }
            MptcpOption::RemoveAddr { ids } => Mp::RemoveAddr(ids.to_vec()),
            MptcpOption::Prio { backup } => Mp::Prio(backup, None),
            MptcpOption::Fail { dsn } => Mp::Fail(self.relative(dsn, true, Way::In)),
            MptcpOption::Fastclose { key } => Mp::Fastclose(Some(named(self.names, key)), 0),
            MptcpOption::Reset { transient, reason } => Mp::Reset(reason, transient),
            MptcpOption::Other { body, .. } => Mp::Octets(body.to_vec()),
        }
    }

    fn show_dss(&mut self, dss: &Dss) -> Mp {
        let ack = dss.data_ack.map(|ack| match ack {
            DataAck::Four(ack) => self.relative(ack.into(), false, Way::In),
            DataAck::Eight(ack) => self.relative(ack, true, Way::In),
        });
        let m = dss.mapping;
        Mp::Dss {
            ack,
            dsn: m.map(|m| self.relative(m.dsn, !m.short, Way::Out)),
            ssn: m.map(|m| m.ssn),
            len: m.map(|m| m.len),
            check: m.and_then(|m| m.checksum).map_or(Check::Without, Check::Is),
            fin: dss.data_fin,
        }
    }

    /// Returns a data sequence number relative to the initial one of the side that sends in the
    /// direction `way`.
    fn relative(&mut self, number: u64, eight: bool, way: Way) -> Number {
        let first = self.names.pair(self.member, way).map_or(0, |pair| keys::initial_dsn(pair.sender));
        let value = number.wrapping_sub(first);
        Number { eight, value: Some(if eight { value } else { (value as u32).into() }), key: None }
    }
}
