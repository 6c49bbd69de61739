//! What the names of a script stand for: keys and addresses; and what was seen of each connection's keys and joins.
//!
//! A name that is not known yet takes the value that is there when it is first used, and stands for it afterwards.

use std::collections::BTreeMap;
use std::net::IpAddr;

use anabranch_stack::host::Addresses;
use anabranch_stack::mptcp::keys;
use anabranch_stack::segment::{DataAck, Flags, Mptcp, Segment, Signal};

use super::option::{Key, Place};
use crate::script::report::{Step, Stop};

/// The keys of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct Session {
    /// The engine's.
    pub ours: Option<u64>,
    /// The script's.
    pub theirs: Option<u64>,
}

/// Both keys of a connection: those of the sender and of the receiver of a segment.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// The sender's key.
    pub sender: u64,
    /// The receiver's key.
    pub receiver: u64,
}

/// What a flow has of Multipath TCP.
#[derive(Clone, Copy, Debug, Default)]
pub struct Member {
    /// Number of its connection; `None` before its SYN.
    pub session: Option<usize>,
    /// Random number in our MP_JOIN.
    pub our_nonce: u32,
    /// Random number in the peer's.
    pub their_nonce: u32,
}

/// Direction of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// It arrives.
    In,
    /// It was sent.
    Out,
}

/// The names of a script.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Keys, and the connection in which each was given its value.
    keys: BTreeMap<String, (u64, usize)>,
    addresses: BTreeMap<String, IpAddr>,
    sessions: Vec<Session>,
    /// Identifiers of the peer's addresses.
    their_ids: BTreeMap<IpAddr, u8>,
    /// Identifiers of our addresses.
    our_ids: BTreeMap<IpAddr, u8>,
    /// The highest DATA_ACK that we sent, counted from the peer's first data sequence number.
    pub acknowledged: u64,
    /// The latest comparison took a segment without a DATA_ACK that the script expects.
    pub spared: bool,
}

impl Names {
    /// The script has keys.
    pub fn is_in_use(&self) -> bool {
        self.sessions.iter().any(|s| s.ours.is_some() || s.theirs.is_some())
    }

    // ---- connections -------------------------------------------------------------------------------------------

    /// A SYN without MP_JOIN begins a connection.
    pub fn begin(&mut self, member: &mut Member, remote: IpAddr) {
        self.sessions.push(Session::default());
        member.session = Some(self.sessions.len() - 1);
        self.their_ids.entry(remote).or_insert(0);
    }

    /// The latest connection whose receiver of a SYN with MP_JOIN has this token; else the latest one.
    pub fn join(&mut self, member: &mut Member, way: Way, token: u32) {
        let key = |s: &Session| if way == Way::In { s.ours } else { s.theirs };
        let of = |s: &Session| key(s).is_some_and(|key| keys::token(key) == token);
        member.session = self.sessions.iter().rposition(of).or(self.sessions.len().checked_sub(1));
    }

    /// The connection of a flow.
    pub fn session(&mut self, member: &Member) -> Step<&mut Session> {
        match member.session.and_then(|i| self.sessions.get_mut(i)) {
            Some(session) => Ok(session),
            None => Stop::wrong("an MPTCP option on a connection whose SYN the script has not had"),
        }
    }

    /// Both keys.
    ///
    /// # Errors
    /// If one of them has not been seen yet.
    pub fn pair(&mut self, member: &Member, way: Way) -> Step<Pair> {
        let Session { ours, theirs } = *self.session(member)?;
        match (ours, theirs, way) {
            (Some(ours), Some(theirs), Way::Out) => Ok(Pair { sender: ours, receiver: theirs }),
            (Some(ours), Some(theirs), Way::In) => Ok(Pair { sender: theirs, receiver: ours }),
            _ => Stop::wrong("this needs the keys of both sides, and they have not been exchanged yet"),
        }
    }

    /// A segment was sent: notes its keys, random numbers and identifiers of addresses.
    pub fn note_sent(&mut self, member: &mut Member, addresses: Addresses, segment: &Segment) {
        let syn = segment.flags.has(Flags::SYN);
        if syn && !segment.flags.has(Flags::ACK) {
            match segment.options.mptcp {
                Mptcp::JoinSyn { token, .. } => self.join(member, Way::Out, token),
                _ if member.session.is_none() => self.begin(member, addresses.remote.ip()),
                _ => {}
            }
        }
        match segment.options.mptcp {
            Mptcp::CapableSynAck { key, .. } | Mptcp::CapableAck { sender_key: key, .. } => {
                if let Ok(session) = self.session(member) {
                    session.ours = Some(key);
                }
            }
            Mptcp::JoinSyn { nonce, address_id, .. } | Mptcp::JoinSynAck { nonce, address_id, .. } => {
                member.our_nonce = nonce;
                self.our_ids.insert(addresses.local.ip(), address_id);
            }
            _ => {}
        }
        if let (Some(ack), Ok(pair)) = (segment.dss().and_then(|dss| dss.data_ack), self.pair(member, Way::In)) {
            let first = keys::initial_dsn(pair.sender);
            let ack = match ack {
                DataAck::Four(ack) => ack.wrapping_sub(first as u32).into(),
                DataAck::Eight(ack) => ack.wrapping_sub(first),
            };
            self.acknowledged = self.acknowledged.max(ack);
        }
        if let Signal::AddAddr { advertised, .. } = segment.options.signal {
            self.our_ids.insert(advertised.address.addr, advertised.address.id);
        }
    }

    // ---- keys --------------------------------------------------------------------------------------------------

    /// The key that a name stands for.
    pub fn key(&self, name: &str) -> Step<u64> {
        match self.keys.get(name) {
            Some((key, _)) => Ok(*key),
            None => Stop::wrong(format!("no key is named {name} yet: a name gets its value in mpcapable")),
        }
    }

    /// The name of a key of a connection.
    pub fn name_of(&self, key: u64) -> String {
        let named = self.keys.iter().find(|(_, (k, _))| *k == key);
        named.map_or_else(|| format!("{key:#x}"), |(name, _)| name.clone())
    }

    /// The value of a key in an arriving segment: the one it is given, or has, or else one made from its name.
    pub fn given(&mut self, member: &Member, key: &Key) -> u64 {
        let session = member.session.unwrap_or_default();
        let made =
            || key.name.bytes().fold(0x6b65_795f, |sum: u64, octet| sum.wrapping_mul(257).wrapping_add(octet.into()));
        let had = self.keys.get(&key.name).map(|(value, _)| *value);
        let value = key.value.or(had).unwrap_or_else(made);
        self.keys.insert(key.name.clone(), (value, session));
        value
    }

    /// Whether a key of a segment that was sent is the one named. A name without a value in this connection gets it.
    pub fn is(&mut self, member: &Member, key: &Key, found: u64) -> bool {
        let session = member.session.unwrap_or_default();
        let had = self.keys.get(&key.name).filter(|(_, of)| *of == session).map(|(value, _)| *value);
        let wanted = key.value.or(had);
        if wanted.is_none_or(|wanted| wanted == found) {
            self.keys.insert(key.name.clone(), (found, session));
            return true;
        }
        false
    }

    // ---- addresses ---------------------------------------------------------------------------------------------

    /// The address that a name stands for, if it does.
    pub fn address(&self, name: &str) -> Option<IpAddr> {
        self.addresses.get(name).copied()
    }

    /// `name` stands for `addr` from now on.
    pub fn name_address(&mut self, name: &str, addr: IpAddr) {
        self.addresses.insert(name.to_owned(), addr);
    }

    /// The name of an address, or itself.
    pub fn place_of(&self, addr: IpAddr) -> Place {
        let named = self.addresses.iter().find(|(_, a)| **a == addr);
        named.map_or(Place { name: "ep".to_owned(), addr: Some(addr) }, |(name, _)| Place {
            name: name.clone(),
            addr: None,
        })
    }

    /// The address of a place in an arriving segment: the one it is given, or has; else the peer's next address after `first`.
    pub fn place(&mut self, place: &Place, first: IpAddr) -> IpAddr {
        let addr = place.addr.or_else(|| self.address(&place.name)).unwrap_or_else(|| self.next_after(first));
        self.name_address(&place.name, addr);
        addr
    }

    /// The next address after `first` that no name stands for.
    pub fn next_after(&self, first: IpAddr) -> IpAddr {
        let mut addr = first;
        while addr == first || self.addresses.values().any(|a| *a == addr) || self.their_ids.contains_key(&addr) {
            addr = match addr {
                IpAddr::V4(v4) => IpAddr::from((u32::from(v4).wrapping_add(1)).to_be_bytes()),
                IpAddr::V6(v6) => IpAddr::from((u128::from(v6).wrapping_add(1)).to_be_bytes()),
            };
        }
        addr
    }

    /// The identifier of one of the peer's addresses: the one said, or the one it has, or the next one.
    pub fn their_id(&mut self, said: Option<u8>, addr: IpAddr) -> u8 {
        let next = || self.their_ids.values().max().map_or(0, |id| id.wrapping_add(1));
        let id = said.or_else(|| self.their_ids.get(&addr).copied()).unwrap_or_else(next);
        self.their_ids.insert(addr, id);
        id
    }

    /// The identifier of one of our addresses, as far as it was seen.
    pub fn our_id(&self, addr: IpAddr) -> u8 {
        self.our_ids.get(&addr).copied().unwrap_or_default()
    }
}
