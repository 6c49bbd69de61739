//! Variables of a script for MPTCP keys and addresses (such as `ckey`), and the keys, nonces and
//! address IDs that segments of each connection have carried.
//!
//! A name gets its value from the segment in which it is first used, and keeps that value.

use std::collections::BTreeMap;
use std::net::IpAddr;

use anabranch_stack::host::Addresses;
use anabranch_stack::mptcp::keys;
use anabranch_stack::segment::{DataAck, Flags, Mptcp, Segment, Signal};

use super::option::{Key, Place};
use crate::report::{Step, Stop};

/// The keys of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct Session {
    /// The engine's key, once it was sent.
    pub ours: Option<u64>,
    /// The peer's key, once the script sent it.
    pub theirs: Option<u64>,
}

/// Both keys of a connection, ordered by the direction of a segment.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// Key of the segment's sender.
    pub sender: u64,
    /// Key of the segment's receiver.
    pub receiver: u64,
}

/// MPTCP state of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Member {
    /// Index of its connection in [`Names`]; `None` before its SYN.
    pub session: Option<usize>,
    /// Random number in our MP_JOIN.
    pub our_nonce: u32,
    /// Random number in the peer's MP_JOIN.
    pub their_nonce: u32,
}

/// Direction of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The peer sent the segment.
    In,
    /// The engine sent the segment.
    Out,
}

/// Names of a script with their values, and the MPTCP connections seen so far.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Values of the key names, and the connection in which each name got its value.
    keys: BTreeMap<String, (u64, usize)>,
    addresses: BTreeMap<String, IpAddr>,
    sessions: Vec<Session>,
    /// Address IDs of the peer.
    their_ids: BTreeMap<IpAddr, u8>,
    /// Our address IDs.
    our_ids: BTreeMap<IpAddr, u8>,
    /// Highest DATA_ACK that the engine sent, relative to the peer's initial data sequence number.
    pub acknowledged: u64,
    /// The latest comparison accepted a segment with ADD_ADDR although it lacks the DATA_ACK that
    /// the script expects.
    pub spared: bool,
}

impl Names {
    /// Returns true if a key of any connection was seen, so that the script uses MPTCP.
    pub fn is_in_use(&self) -> bool {
        self.sessions.iter().any(|s| s.ours.is_some() || s.theirs.is_some())
    }

    // ---- connections -------------------------------------------------------------------------------------------

    /// Adds a connection, which begins with a SYN without MP_JOIN.
    pub fn begin(&mut self, member: &mut Member, remote: IpAddr) {
        self.sessions.push(Session::default());
        member.session = Some(self.sessions.len() - 1);
        self.their_ids.entry(remote).or_insert(0);
    }

    /// Assigns the flow of an MP_JOIN SYN to the latest connection whose receiver has this token.
    /// If no token matches, uses the latest connection.
    pub fn join(&mut self, member: &mut Member, way: Way, token: u32) {
        let key = |s: &Session| if way == Way::In { s.ours } else { s.theirs };
        let of = |s: &Session| key(s).is_some_and(|key| keys::token(key) == token);
        member.session = self.sessions.iter().rposition(of).or(self.sessions.len().checked_sub(1));
    }

    /// Returns the keys of the flow's connection.
    pub fn session(&mut self, member: &Member) -> Step<&mut Session> {
        match member.session.and_then(|i| self.sessions.get_mut(i)) {
            Some(session) => Ok(session),
            None => Stop::wrong("an MPTCP option on a connection whose SYN the script has not had"),
        }
    }

    /// Returns both keys, ordered by the direction of a segment.
    ///
    /// # Errors
    /// If one key has not been seen yet.
    pub fn pair(&mut self, member: &Member, way: Way) -> Step<Pair> {
        let Session { ours, theirs } = *self.session(member)?;
        match (ours, theirs, way) {
            (Some(ours), Some(theirs), Way::Out) => Ok(Pair { sender: ours, receiver: theirs }),
            (Some(ours), Some(theirs), Way::In) => Ok(Pair { sender: theirs, receiver: ours }),
            _ => Stop::wrong("this needs the keys of both sides, and they have not been exchanged yet"),
        }
    }

    /// Records the keys, random numbers, address IDs and the DATA_ACK of a sent segment.
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

    /// Returns the key that a name stands for.
    pub fn key(&self, name: &str) -> Step<u64> {
        match self.keys.get(name) {
            Some((key, _)) => Ok(*key),
            None => Stop::wrong(format!("no key is named {name} yet: a name gets its value in mpcapable")),
        }
    }

    /// Returns the name of a key, or its hexadecimal digits if it has no name.
    pub fn name_of(&self, key: u64) -> String {
        let named = self.keys.iter().find(|(_, (k, _))| *k == key);
        named.map_or_else(|| format!("{key:#x}"), |(name, _)| name.clone())
    }

    /// Returns the value of a key in an arriving segment and gives it to the name. Without a value
    /// in the script, uses the earlier value of the name, or else one computed from the name.
    pub fn given(&mut self, member: &Member, key: &Key) -> u64 {
        let session = member.session.unwrap_or_default();
        let made =
            || key.name.bytes().fold(0x6b65_795f, |sum: u64, octet| sum.wrapping_mul(257).wrapping_add(octet.into()));
        let had = self.keys.get(&key.name).map(|(value, _)| *value);
        let value = key.value.or(had).unwrap_or_else(made);
        self.keys.insert(key.name.clone(), (value, session));
        value
    }

    /// Returns true if the key `found` in a sent segment is the key that the script expects. A name
    /// without a value in this connection gets the value `found`.
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

    /// Returns the address that a name stands for, or `None` if it has no value.
    pub fn address(&self, name: &str) -> Option<IpAddr> {
        self.addresses.get(name).copied()
    }

    /// Gives `name` the value `addr`.
    pub fn name_address(&mut self, name: &str, addr: IpAddr) {
        self.addresses.insert(name.to_owned(), addr);
    }

    /// Returns the name of an address, or a place with the address itself if it has no name.
    pub fn place_of(&self, addr: IpAddr) -> Place {
        let named = self.addresses.iter().find(|(_, a)| **a == addr);
        named.map_or(Place { name: "ep".to_owned(), addr: Some(addr) }, |(name, _)| Place {
            name: name.clone(),
            addr: None,
        })
    }

    /// Returns the address of a place in an arriving segment, and gives it to the name. Without a
    /// value in the script, uses the earlier value of the name, or else the next free address after
    /// `first`.
    pub fn place(&mut self, place: &Place, first: IpAddr) -> IpAddr {
        let addr = place.addr.or_else(|| self.address(&place.name)).unwrap_or_else(|| self.next_after(first));
        self.name_address(&place.name, addr);
        addr
    }

    /// Returns the next address after `first` that has neither a name nor an address ID of the
    /// peer.
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

    /// Returns the address ID of one of the peer's addresses: `said`, or its earlier ID, or the
    /// next unused ID.
    pub fn their_id(&mut self, said: Option<u8>, addr: IpAddr) -> u8 {
        let next = || self.their_ids.values().max().map_or(0, |id| id.wrapping_add(1));
        let id = said.or_else(|| self.their_ids.get(&addr).copied()).unwrap_or_else(next);
        self.their_ids.insert(addr, id);
        id
    }

    /// Returns the address ID (RFC 8684 3.4.1) that the engine announced for its own address
    /// `addr`, or 0 if no segment of the engine has carried an ID for `addr` yet.
    pub fn our_id(&self, addr: IpAddr) -> u8 {
        self.our_ids.get(&addr).copied().unwrap_or_default()
    }
}
