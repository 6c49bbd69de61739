//! MPTCP version 0 (RFC 6824), of which most public captures are. It is measured as version 1 is (RFC 8684); they differ in this:
//!
//! | | version 0 | version 1 |
//! |---|---|---|
//! | key of the client | in the SYN, too | from the third ACK on |
//! | hash behind tokens, initial data sequence numbers and HMACs | SHA-1 | SHA-256 |
//! | the first data | carry a DSS | carry MP_CAPABLE |
//! | ADD_ADDR | without HMAC, never echoed | with HMAC, echoed |
//! | MP_PRIO | may name an address | of its own subflow |
//! | MP_TCPRST | does not exist | says why |
//!
//! All options have the same subtypes and, but for these, the same fields, so the parser of version 1 reads them.
//!
//! MP_CAPABLE says the version. A join has only the token, which tells the connection. The version of a connection whose
//! MP_CAPABLE is not in the capture is not known; nothing but the fields above depends on it.

use anabranch_stack::mptcp::keys;
use anabranch_stack::wire::mptcp::MptcpOption;
use hmac::{Hmac, KeyInit, Mac};
use sha1::{Digest, Sha1};

use anabranch_pcap::packet::Packet;

/// A version of MPTCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// RFC 6824.
    Zero,
    /// RFC 8684.
    One,
}

impl Version {
    /// Its number.
    pub fn number(self) -> u8 {
        match self {
            Self::Zero => 0,
            Self::One => 1,
        }
    }

    /// The version that the MP_CAPABLE of `p` names, if `p` has one.
    pub fn of(p: &Packet<'_>) -> Option<Self> {
        p.signals().find_map(|option| match option {
            MptcpOption::CapableSyn { version, .. }
            | MptcpOption::CapableSynAck { version, .. }
            | MptcpOption::CapableAck { version, .. } => Some(if version == 0 { Self::Zero } else { Self::One }),
            _ => None,
        })
    }

    /// The token of a key.
    pub fn token(self, key: u64) -> u32 {
        match self {
            Self::Zero => token(key),
            Self::One => keys::token(key),
        }
    }

    /// The initial data sequence number of a key.
    pub fn initial_dsn(self, key: u64) -> u64 {
        match self {
            Self::Zero => initial_dsn(key),
            Self::One => keys::initial_dsn(key),
        }
    }

    /// The leftmost 160 bits of the HMAC of a join: that of the host with `own` key and random number, to its `peer`.
    pub fn join_hmac(self, own: (u64, u32), peer: (u64, u32)) -> [u8; 20] {
        match self {
            Self::Zero => join_hmac(own, peer),
            Self::One => keys::truncate_160(&keys::join_hmac(own.0, peer.0, own.1, peer.1)),
        }
    }
}

/// RFC 6824 3.1: the most significant 32 bits of the key's SHA-1.
fn token(key: u64) -> u32 {
    let hash = Sha1::digest(key.to_be_bytes());
    u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]])
}

/// RFC 6824 3.1: the least significant 64 bits of the key's SHA-1.
fn initial_dsn(key: u64) -> u64 {
    let hash = Sha1::digest(key.to_be_bytes());
    hash[12..].iter().fold(0, |n, octet| n << 8 | u64::from(*octet))
}

/// RFC 6824 3.2: HMAC-SHA1 with both keys as key and both random numbers as message, those of the sender first.
fn join_hmac(own: (u64, u32), peer: (u64, u32)) -> [u8; 20] {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&own.0.to_be_bytes());
    key[8..].copy_from_slice(&peer.0.to_be_bytes());
    let mut mac = Hmac::<Sha1>::new_from_slice(&key).expect("a key may have any length");
    mac.update(&own.1.to_be_bytes());
    mac.update(&peer.1.to_be_bytes());
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `printf abcdefgh | sha1sum` gives 425af12a0743502b322e93a015bcf868e324d56a.
    #[test]
    fn token_and_initial_number_are_the_two_ends_of_a_sha_1() {
        let key = u64::from_be_bytes(*b"abcdefgh");
        assert_eq!((Version::Zero.token(key), Version::Zero.initial_dsn(key)), (0x425a_f12a, 0x15bc_f868_e324_d56a));
    }

    /// `printf ABCDEFGH | openssl dgst -sha1 -mac HMAC -macopt key:abcdefghijklmnop`.
    #[test]
    fn the_hmac_of_a_join_is_an_hmac_sha_1() {
        let word = |octets: &[u8; 8]| u64::from_be_bytes(*octets);
        let number = |octets: &[u8; 4]| u32::from_be_bytes(*octets);
        let hmac = Version::Zero.join_hmac((word(b"abcdefgh"), number(b"ABCD")), (word(b"ijklmnop"), number(b"EFGH")));
        let hex: String = hmac.iter().map(|octet| format!("{octet:02x}")).collect();
        assert_eq!(hex, "7769d7b5749b3125c8dc6b668a24459713d1fe18");
    }
}
