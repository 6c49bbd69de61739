//! Connections of MPTCP version 0 (RFC 6824), which are not measured: their options look like those of version 1 but mean
//! something else (keys in the SYN, other HMACs, another start of the data).
//!
//! MP_CAPABLE has a version; a join has only the token, which in version 0 is derived from the key with SHA-1 (RFC 6824
//! 3.1). The version of a connection that began before the capture cannot be told.

use std::collections::HashSet;

use anabranch_stack::wire::mptcp::MptcpOption;
use sha1::{Digest, Sha1};

use super::packet::{MixBuilder, Packet};

/// Tokens of version 0.
#[derive(Clone, Debug, Default)]
pub struct Old {
    tokens: HashSet<u32, MixBuilder>,
}

impl Old {
    /// `p` belongs to a handshake of version 0: of a connection, whose keys are then noted, or of a join to one.
    pub fn is_old(&mut self, p: &Packet<'_>) -> bool {
        let mut old = false;
        for option in p.signals() {
            match option {
                MptcpOption::CapableSyn { version: 0, .. } => old = true,
                MptcpOption::CapableSynAck { version: 0, key, .. } => {
                    self.tokens.insert(token(key));
                    old = true;
                }
                MptcpOption::CapableAck { version: 0, sender_key, receiver_key, .. } => {
                    self.tokens.extend([token(sender_key), token(receiver_key)]);
                    old = true;
                }
                MptcpOption::JoinSyn { token, .. } => old |= self.tokens.contains(&token),
                _ => {}
            }
        }
        old
    }

    /// `p` has an MP_JOIN with a token of version 0.
    pub fn joins(&self, p: &Packet<'_>) -> bool {
        p.signals().any(|option| matches!(option, MptcpOption::JoinSyn { .. }))
    }
}

/// RFC 6824 3.1: the most significant 32 bits of the key's SHA-1.
fn token(key: u64) -> u32 {
    let hash = Sha1::digest(key.to_be_bytes());
    u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `printf abcdefgh | sha1sum` gives 425af12a0743502b322e93a015bcf868e324d56a.
    #[test]
    fn a_token_of_version_0_is_the_beginning_of_a_sha_1() {
        assert_eq!(token(u64::from_be_bytes(*b"abcdefgh")), 0x425a_f12a);
    }
}
