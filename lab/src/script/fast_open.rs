//! TCP Fast Open (RFC 7413) in scripts: cookies and their keys.
//!
//! A server's cookie for a client is its own affair, so a script cannot know its octets. Two words stand for it: `TFO_COOKIE` is what a
//! listener gives whose key is the one that the settings begin with, `TFO_COOKIE_ZERO` what one gives whose key is zero. Cookies that the
//! peer gives are the octets that the script writes.

use std::collections::BTreeMap;
use std::net::IpAddr;

use anabranch_stack::mptcp::keys::fast_open_cookie;
use anabranch_stack::segment::Cookie;

/// A key of cookies.
pub type Key = [u8; 32];

/// The key at the beginning, `a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4`.
pub const KEY: Key = padded([0xa1, 0xb2, 0xc3, 0xd4]);

/// The words that stand for a cookie, what they are read as unless they are defined otherwise, and the key.
const WORDS: [(&str, &str, Key); 2] =
    [("TFO_COOKIE", "c00c1e0000000001", KEY), ("TFO_COOKIE_ZERO", "c00c1e0000000000", [0; 32])];

/// Bits of `tcp_fastopen` that are followed: clients, servers, every listener without being asked.
pub const CLIENT: u64 = 1;
/// See [`CLIENT`].
pub const SERVER: u64 = 2;
/// See [`CLIENT`].
pub const EVERY_LISTENER: u64 = 0x400;
/// Data in a SYN without a cookie are sent (`TFO_CLIENT_NO_COOKIE`).
pub const CLIENT_BARE: u64 = 0x4;
/// They are taken (`TFO_SERVER_COOKIE_NOT_REQD`).
pub const SERVER_BARE: u64 = 0x200;

/// Four octets, each four times, and zeros.
const fn padded(of: [u8; 4]) -> Key {
    let (mut key, mut i) = ([0; 32], 0);
    while i < 16 {
        key[i] = of[i / 4];
        i += 1;
    }
    key
}

/// Defines the words that the script's user has not.
pub fn define(defines: &mut BTreeMap<String, String>) {
    for (word, value, _) in WORDS {
        defines.entry(word.to_owned()).or_insert_with(|| value.to_owned());
    }
}

/// A key as `tcp_fastopen_key` has it: four groups of eight hexadecimal digits. A second key, behind a comma, is for cookies of before.
pub fn key(text: &str) -> Option<Key> {
    let groups: Vec<u32> =
        text.trim().split('-').map(|group| u32::from_str_radix(group, 16).ok()).collect::<Option<_>>()?;
    let mut key = [0; 32];
    let octets: Vec<u8> = groups.iter().flat_map(|group| group.to_be_bytes()).collect();
    (octets.len() == 16).then(|| key[..16].copy_from_slice(&octets))?;
    Some(key)
}

/// A key of `len` octets as TCP_FASTOPEN_KEY has it: 16, written `\xa1...`.
pub fn key_of_escapes(text: &str, len: i64) -> Option<Key> {
    let octets: Vec<u8> = text.split("\\x").skip(1).map(|o| u8::from_str_radix(o, 16).ok()).collect::<Option<_>>()?;
    let mut key = [0; 32];
    (octets.len() == 16 && len == 16).then(|| key[..16].copy_from_slice(&octets))?;
    Some(key)
}

/// What cookies of the script stand for on one 4-tuple: the octets of the script, and those of the wire, of which a cookie may have fewer.
#[derive(Clone, Debug, Default)]
pub struct Cookies {
    /// The two words.
    words: Vec<(Vec<u8>, Cookie)>,
    /// Octets that the script expected in a SYN/ACK: RFC 7413 4.1.2 leaves the cookie to the server, so they are a name.
    learned: Vec<(Vec<u8>, Cookie)>,
}

impl Cookies {
    /// Those of a client at this address.
    pub fn of(client: IpAddr, defines: &BTreeMap<String, String>) -> Self {
        let octets =
            |hex: &str| (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(hex.get(i..i + 2)?, 16).ok()).collect();
        let known = WORDS.iter().filter_map(|(word, _, key)| {
            let script: Option<Vec<u8>> = octets(defines.get(*word)?);
            Some((script?, fast_open_cookie(key, client, 8)))
        });
        Self { words: known.collect(), learned: Vec::new() }
    }

    /// The script expects `script` where our SYN/ACK has the cookie `sent`. Returns true if both can be the same: the script has no
    /// other name for `sent`, and no other cookie for `script`.
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

    /// Takes over the names that another 4-tuple of the same client has learned.
    pub fn share(&mut self, other: &Self) {
        self.learned.clone_from(&other.learned);
    }

    fn all(&self) -> impl Iterator<Item = &(Vec<u8>, Cookie)> {
        self.learned.iter().chain(&self.words)
    }

    /// The cookie that arrives when the script says `script`; beside MP_CAPABLE there is room for 6 octets (RFC 8684 B.1). `None` if there can
    /// be none of that length.
    pub fn arriving(&self, script: &[u8], multipath: bool) -> Option<Cookie> {
        match self.all().find(|(known, _)| known == script) {
            Some((_, cookie)) => {
                Cookie::new(&cookie.as_slice()[..cookie.as_slice().len().min(if multipath { 6 } else { 8 })])
            }
            None => Cookie::new(script),
        }
    }

    /// What the script says of a cookie that was sent.
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
