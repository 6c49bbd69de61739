//! TCP Fast Open (RFC 7413) in scripts: cookies and their keys.
//!
//! The server computes a client's cookie from a secret key, so a script cannot know its octets. Two
//! words stand for cookies of our listeners: `TFO_COOKIE` for a listener with the default key,
//! `TFO_COOKIE_ZERO` for a listener whose key is all zeros. If the script expects other octets in
//! our SYN/ACK, they become a name for the cookie that was sent. A cookie from the peer has exactly
//! the octets that the script writes.

use std::collections::BTreeMap;
use std::net::IpAddr;

use anabranch_stack::mptcp::keys::fast_open_cookie;
use anabranch_stack::segment::Cookie;

/// Secret key from which a listener computes cookies.
pub type Key = [u8; 32];

/// Key of all listeners until the script sets another one: `a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4`.
pub const KEY: Key = padded([0xa1, 0xb2, 0xc3, 0xd4]);

/// The words that stand for a cookie: the word, its default definition in hexadecimal, and the key
/// of the listener that sends the cookie.
const WORDS: [(&str, &str, Key); 2] =
    [("TFO_COOKIE", "c00c1e0000000001", KEY), ("TFO_COOKIE_ZERO", "c00c1e0000000000", [0; 32])];

/// Bit of `tcp_fastopen`: clients use Fast Open (`TFO_CLIENT_ENABLE`).
pub const CLIENT: u64 = 1;
/// Bit of `tcp_fastopen`: listeners that set TCP_FASTOPEN use Fast Open (`TFO_SERVER_ENABLE`).
pub const SERVER: u64 = 2;
/// Bit of `tcp_fastopen`: all listeners use Fast Open, also without TCP_FASTOPEN
/// (`TFO_SERVER_WO_SOCKOPT1`).
pub const EVERY_LISTENER: u64 = 0x400;
/// Bit of `tcp_fastopen`: clients send data in a SYN without a cookie (`TFO_CLIENT_NO_COOKIE`).
pub const CLIENT_BARE: u64 = 0x4;
/// Bit of `tcp_fastopen`: listeners accept data in a SYN without a cookie
/// (`TFO_SERVER_COOKIE_NOT_REQD`).
pub const SERVER_BARE: u64 = 0x200;

/// Returns the key that has each octet of `of` four times, followed by 16 zeros.
const fn padded(of: [u8; 4]) -> Key {
    let (mut key, mut i) = ([0; 32], 0);
    while i < 16 {
        key[i] = of[i / 4];
        i += 1;
    }
    key
}

/// Adds the default definition of each word that the user has not defined.
pub fn define(defines: &mut BTreeMap<String, String>) {
    for (word, value, _) in WORDS {
        defines.entry(word.to_owned()).or_insert_with(|| value.to_owned());
    }
}

/// Reads a key in the format of `tcp_fastopen_key`: four groups of up to eight hexadecimal digits.
/// Returns `None` for any other text, also if a backup key follows after a comma.
pub fn key(text: &str) -> Option<Key> {
    let groups: Vec<u32> =
        text.trim().split('-').map(|group| u32::from_str_radix(group, 16).ok()).collect::<Option<_>>()?;
    let mut key = [0; 32];
    let octets: Vec<u8> = groups.iter().flat_map(|group| group.to_be_bytes()).collect();
    (octets.len() == 16).then(|| key[..16].copy_from_slice(&octets))?;
    Some(key)
}

/// Reads a key of `len` octets in the format of TCP_FASTOPEN_KEY, `\xa1...`. Returns `None` unless
/// it has 16 octets.
pub fn key_of_escapes(text: &str, len: i64) -> Option<Key> {
    let octets: Vec<u8> = text.split("\\x").skip(1).map(|o| u8::from_str_radix(o, 16).ok()).collect::<Option<_>>()?;
    let mut key = [0; 32];
    (octets.len() == 16 && len == 16).then(|| key[..16].copy_from_slice(&octets))?;
    Some(key)
}

/// Names for Fast Open cookies on one 4-tuple: the octets that the script writes, and the cookie
/// that the engine sends or receives.
#[derive(Clone, Debug, Default)]
pub struct Cookies {
    /// The names `TFO_COOKIE` and `TFO_COOKIE_ZERO`, as far as they are defined.
    words: Vec<(Vec<u8>, Cookie)>,
    /// Names learned from SYN/ACKs that the script expects. The server chooses the cookie (RFC 7413
    /// 4.1.2), so the script's octets are only a name for it.
    learned: Vec<(Vec<u8>, Cookie)>,
}

impl Cookies {
    /// Returns the names for the cookies of a client at the address `client`.
    pub fn of(client: IpAddr, defines: &BTreeMap<String, String>) -> Self {
        let octets =
            |hex: &str| (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(hex.get(i..i + 2)?, 16).ok()).collect();
        let known = WORDS.iter().filter_map(|(word, _, key)| {
            let script: Option<Vec<u8>> = octets(defines.get(*word)?);
            Some((script?, fast_open_cookie(key, client, 8)))
        });
        Self { words: known.collect(), learned: Vec::new() }
    }

    /// Learns that the octets `script`, expected in a SYN/ACK, are the script's name for the cookie
    /// `sent` in that SYN/ACK.
    ///
    /// Returns false and learns nothing if `script` is empty, if its length is not that of `sent`,
    /// if it already names another cookie, or if another learned name already stands for `sent`.
    pub fn learn(&mut self, script: &[u8], sent: &Cookie) -> bool {
        let fits = |known: &[(Vec<u8>, Cookie)], named: bool| {
            known.iter().all(|(name, cookie)| if name == script { cookie == sent } else { !named || cookie != sent })
        };
        let sent = &sent.in_experiment(false);
        if script.is_empty()
            || script.len() != sent.as_slice().len()
            || !fits(&self.words, false)
            || !fits(&self.learned, true)
        {
            return false;
        }
        if !self.learned.iter().any(|(name, _)| name == script) {
            self.learned.push((script.to_vec(), *sent));
        }
        true
    }

    /// Replaces the learned names by those of `other`, a 4-tuple of the same client.
    pub fn share(&mut self, other: &Self) {
        self.learned.clone_from(&other.learned);
    }

    /// Returns all names, the learned ones first.
    fn all(&self) -> impl Iterator<Item = &(Vec<u8>, Cookie)> {
        self.learned.iter().chain(&self.words)
    }

    /// Returns the cookie that arrives if the script writes the octets `script`. If `multipath` is
    /// true, a named cookie is cut to the 6 octets that fit beside MP_CAPABLE (RFC 8684 B.1).
    /// Returns `None` if no cookie can have the length of `script`.
    pub fn arriving(&self, script: &[u8], multipath: bool) -> Option<Cookie> {
        match self.all().find(|(known, _)| known == script) {
            Some((_, cookie)) => {
                Cookie::new(&cookie.as_slice()[..cookie.as_slice().len().min(if multipath { 6 } else { 8 })])
            }
            None => Cookie::new(script),
        }
    }

    /// Returns the octets by which the script names a cookie that was sent, or the cookie's own
    /// octets if it has no name.
    pub fn sent(&self, cookie: &Cookie) -> Vec<u8> {
        let octets = cookie.as_slice();
        let known = self.all().find(|(_, ours)| octets.len() >= 6 && ours.as_slice().starts_with(octets));
        known.map_or_else(|| octets.to_vec(), |(script, _)| script.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_in_a_syn_ack_is_a_name() {
        let cookies = [[1; 8], [2; 8]].map(|octets| Cookie::new(&octets).expect("eight octets are a cookie"));
        let mut names = Cookies::default();
        assert!(names.learn(b"cookie 1", &cookies[0]) && names.learn(b"cookie 1", &cookies[0]));
        assert!(!names.learn(b"cookie 1", &cookies[1]), "a name has one cookie");
        assert!(!names.learn(b"cookie 2", &cookies[0]), "a cookie has one name");
        assert!(!names.learn(b"", &cookies[1]), "a request for a cookie is no name");
        assert_eq!(names.arriving(b"cookie 1", false), Some(cookies[0]));
        assert_eq!(names.sent(&cookies[0]), b"cookie 1");
    }

    #[test]
    fn keys_are_read() {
        assert_eq!(key("a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4"), Some(KEY));
        assert_eq!(key("0-0-0-0"), Some([0; 32]));
        assert_eq!((key("0-0-0"), key("x-0-0-0"), key("")), (None, None, None));
        let escapes = "\\xa1".repeat(4) + &"\\xb2".repeat(4) + &"\\xc3".repeat(4) + &"\\xd4".repeat(4);
        assert_eq!(key_of_escapes(&escapes, 16), Some(KEY));
        assert_eq!((key_of_escapes(&escapes, 3), key_of_escapes("", 0)), (None, None));
    }
}
