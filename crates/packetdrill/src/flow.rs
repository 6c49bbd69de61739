//! One 4-tuple of a script: how its numbers become those of the wire, and back.
//!
//! A script counts sequence numbers from the initial ones, which it does not know of our side. Its timestamps are its own, too: a
//! value it expects from us stands for whatever we sent there, and the same value echoed stands for the same.

use std::collections::BTreeMap;

use anabranch_stack::host::Addresses;
use anabranch_stack::segment::Segment;

use super::fast_open::Cookies;
use super::mptcp::Member;
use super::over::Over;

/// The peer's initial sequence number on the wire: 100000 before the numbers wrap.
const PEER: u32 = 0u32.wrapping_sub(100_000);

/// A 4-tuple.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Addresses, as seen from our side.
    pub addresses: Addresses,
    /// Our initial sequence number, once a SYN of ours was seen.
    iss: Option<u32>,
    /// The MSS that our SYN offers.
    pub mss: Option<u16>,
    /// The sequence number that the peer's SYN has in the script.
    peer_syn: u32,
    /// The sequence number that our SYN has in the script.
    pub our_syn: u32,
    /// Our timestamps: the wire's values by the script's.
    stamps: BTreeMap<u32, u32>,
    /// What has to be added to the wire's timestamps to give the script's, by the first of them.
    offset: Option<u32>,
    /// What it has of Multipath TCP.
    pub member: Member,
    /// The peer's side of Multipath TCP, if the script is run over it.
    pub over: Option<Over>,
    /// What the words for Fast Open's cookies stand for here.
    pub cookies: Cookies,
}

impl Flow {
    /// A 4-tuple on which nothing has happened.
    pub fn new(addresses: Addresses, over_mptcp: bool, defines: &BTreeMap<String, String>) -> Self {
        let cookies = Cookies::of(addresses.remote.ip(), defines);
        let (stamps, member, over) = (BTreeMap::new(), Member::default(), over_mptcp.then(Over::default));
        Self { addresses, iss: None, mss: None, peer_syn: 0, our_syn: 0, stamps, offset: None, member, over, cookies }
    }

    /// A SYN of ours leaves.
    pub fn note_our_syn(&mut self, syn: &Segment) {
        self.iss = Some(syn.seq);
        self.mss = syn.options.mss.or(self.mss);
    }

    /// A SYN of the peer with this number in the script arrives.
    pub fn note_peer_syn(&mut self, seq: u32) {
        self.peer_syn = seq;
    }

    /// The wire's number for the peer's sequence number `script`. A SYN's is absolute, all others count from it.
    pub fn theirs(&self, script: u32, syn: bool) -> u32 {
        PEER.wrapping_add(script).wrapping_sub(if syn { self.peer_syn } else { 0 })
    }

    /// The script's number for the peer's sequence number `wire`.
    pub fn to_theirs(&self, wire: u32) -> u32 {
        wire.wrapping_sub(PEER)
    }

    /// The script's number of the first octet that the peer's SYN and data take, as a SYN/ACK acknowledges it: absolute.
    pub fn to_theirs_in_syn(&self, wire: u32) -> u32 {
        self.to_theirs(wire).wrapping_add(self.peer_syn)
    }

    /// The wire's number for our sequence number `script`.
    pub fn ours(&self, script: u32) -> u32 {
        self.iss.unwrap_or(0).wrapping_add(script)
    }

    /// The script's number for our sequence number `wire`.
    pub fn to_ours(&self, wire: u32) -> u32 {
        wire.wrapping_sub(self.iss.unwrap_or(0))
    }

    /// A timestamp that the script has as `script` was sent as `wire`. `exact`: it must have moved on since the first one as our clock
    /// has; else a value is only a name, for what the peer echoes.
    ///
    /// # Errors
    /// The value that the script would have to have.
    pub fn compare_stamp(&mut self, script: u32, wire: u32, exact: bool) -> Result<(), u32> {
        self.stamps.insert(script, wire);
        let expected = self.offset.get_or_insert(script.wrapping_sub(wire)).wrapping_add(wire);
        if !exact || expected == script { Ok(()) } else { Err(expected) }
    }

    /// The script's value of a timestamp of ours.
    pub fn stamp(&self, wire: u32) -> u32 {
        self.offset.map_or(wire, |offset| wire.wrapping_add(offset))
    }

    /// The wire's value of a timestamp of ours that the script echoes. One that it never expected from us counts from the first.
    pub fn echoed(&self, script: u32) -> u32 {
        let from_first = || script.wrapping_sub(self.offset.unwrap_or(0));
        self.stamps.get(&script).copied().unwrap_or_else(from_first)
    }
}
