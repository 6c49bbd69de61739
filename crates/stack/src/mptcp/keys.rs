//! Keys, tokens, initial data sequence numbers and HMACs of MPTCP v1 (RFC 8684 3.1, 3.2, 3.4.1): SHA-256 throughout.

use core::net::{IpAddr, SocketAddr};

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use crate::segment::Cookie;

/// A source of unpredictable numbers (RFC 8684 3, 3.1; RFC 9293 3.4.1), expanded from a secret that the caller provides (the engine has no randomness).
#[derive(Clone)]
pub struct Entropy {
    secret: [u8; 32],
    drawn: u64,
}

impl Entropy {
    /// Each `secret` gives a different stream of numbers.
    pub fn new(secret: [u8; 32]) -> Self {
        Self { secret, drawn: 0 }
    }

    /// The next 64 bits: SHA-256(secret, counter).
    pub fn next_u64(&mut self) -> u64 {
        let digest = Sha256::new().chain_update(self.secret).chain_update(self.drawn.to_be_bytes()).finalize();
        self.drawn += 1;
        first_u64(&digest)
    }

    /// A secret for something else.
    pub fn draw_secret(&mut self) -> [u8; 32] {
        let mut secret = [0; 32];
        for word in secret.chunks_exact_mut(8) {
            word.copy_from_slice(&self.next_u64().to_be_bytes());
        }
        secret
    }

    /// The next 32 bits.
    pub fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }
}

impl core::fmt::Debug for Entropy {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Entropy(drawn {})", self.drawn)
    }
}

fn first_u64(octets: &[u8]) -> u64 {
    u64::from_be_bytes(octets[..8].try_into().expect("a digest has at least 8 octets"))
}

fn last_u64(octets: &[u8]) -> u64 {
    first_u64(&octets[octets.len() - 8..])
}

/// The token of a key: the most significant 32 bits of its SHA-256 (RFC 8684 3.1).
pub fn token(key: u64) -> u32 {
    (first_u64(&Sha256::digest(key.to_be_bytes())) >> 32) as u32
}

/// The initial data sequence number of a key: the least significant 64 bits of its SHA-256 (RFC 8684 3.1).
pub fn initial_dsn(key: u64) -> u64 {
    last_u64(&Sha256::digest(key.to_be_bytes()))
}

/// A key whose token is not `in_use` (RFC 8684 3.1: tokens are unique on their host).
pub fn draw(entropy: &mut Entropy, in_use: impl Fn(u32) -> bool) -> u64 {
    loop {
        let key = entropy.next_u64();
        if !in_use(token(key)) {
            return key;
        }
    }
}

fn hmac(sender_key: u64, receiver_key: u64, message: &[&[u8]]) -> [u8; 32] {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&sender_key.to_be_bytes());
    key[8..].copy_from_slice(&receiver_key.to_be_bytes());
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).expect("HMAC takes keys of any length");
    message.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

/// The HMAC of a join, by the host whose key and random number come first (RFC 8684 3.2).
pub fn join_hmac(own_key: u64, peer_key: u64, own_nonce: u32, peer_nonce: u32) -> [u8; 32] {
    hmac(own_key, peer_key, &[&own_nonce.to_be_bytes(), &peer_nonce.to_be_bytes()])
}

/// The part of [`join_hmac`] that a SYN/ACK carries: the leftmost 64 bits.
pub fn truncate_64(hmac: &[u8; 32]) -> u64 {
    first_u64(hmac)
}

/// The part of [`join_hmac`] that the third ACK of a join carries: the leftmost 160 bits.
pub fn truncate_160(hmac: &[u8; 32]) -> [u8; 20] {
    hmac[..20].try_into().expect("20 of 32 octets")
}

/// The Fast Open cookie of a client's address, of `len` octets (RFC 7413 4.1.2: "a MAC tag" of it): the leftmost ones of its HMAC-SHA256
/// under the host's `secret`. The RFC's example encrypts with AES, but the HMAC of keys and tokens is here already. Of 6 octets it fits
/// beside MP_CAPABLE and timestamps in a SYN/ACK (RFC 8684 B.1).
///
/// # Panics
/// If a cookie cannot have `len` octets.
pub fn fast_open_cookie(secret: &[u8; 32], client: IpAddr, len: usize) -> Cookie {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("HMAC takes keys of any length");
    match client {
        IpAddr::V4(v4) => mac.update(&v4.octets()),
        IpAddr::V6(v6) => mac.update(&v6.octets()),
    }
    Cookie::new(&mac.finalize().into_bytes()[..len]).expect("a cookie has 4 to 16 octets, an even number")
}

/// Timestamp offset of the subflow from `local` to `remote`, in milliseconds: the leftmost 32 bits
/// of the HMAC-SHA256 of the 4-tuple under the host's `secret`. RFC 7323 5.4, 7 and 7.1 ask for a
/// random offset for each connection. The offset depends on the 4-tuple only, so a new connection
/// that reuses a 4-tuple sends later timestamps than the old one (RFC 6191 2).
pub fn timestamp_offset(secret: &[u8; 32], local: SocketAddr, remote: SocketAddr) -> u32 {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("HMAC takes keys of any length");
    mac.update(b"timestamps");
    for end in [local, remote] {
        match end.ip() {
            IpAddr::V4(v4) => mac.update(&v4.octets()),
            IpAddr::V6(v6) => mac.update(&v6.octets()),
        }
        mac.update(&end.port().to_be_bytes());
    }
    (first_u64(&mac.finalize().into_bytes()) >> 32) as u32
}

/// The rightmost 64 bits of the HMAC that protects an ADD_ADDR. Without a port, the HMAC covers zero in its place (RFC 8684
/// 3.4.1).
pub fn add_addr_hmac(own_key: u64, peer_key: u64, id: u8, addr: IpAddr, port: u16) -> u64 {
    let port = port.to_be_bytes();
    let mac = match addr {
        IpAddr::V4(v4) => hmac(own_key, peer_key, &[&[id], &v4.octets(), &port]),
        IpAddr::V6(v6) => hmac(own_key, peer_key, &[&[id], &v6.octets(), &port]),
    };
    last_u64(&mac)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is printed for debugging does not give the secret away from which keys follow.
    #[test]
    fn a_secret_is_not_printed() {
        let mut entropy = Entropy::new([0x5a; 32]);
        entropy.next_u64();
        assert_eq!(std::format!("{entropy:?}"), "Entropy(drawn 1)");
    }
}
