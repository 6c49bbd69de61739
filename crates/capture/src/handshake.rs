//! Handshakes and signals of a connection: keys, joins, addresses, and the reason of a fallback to
//! TCP.

use super::subflow::{Opening, Subflow};

/// Why a connection is not multipath (RFC 8684 3.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// The SYN/ACK answered without MP_CAPABLE.
    SynAck,
    /// The first data came without a data sequence signal.
    FirstData,
    /// An infinite mapping was sent.
    InfiniteMapping,
}

impl Fallback {
    /// The reason as text.
    pub fn reason(self) -> &'static str {
        match self {
            Self::SynAck => "the SYN/ACK has no MP_CAPABLE",
            Self::FirstData => "the first data have no data sequence signal",
            Self::InfiniteMapping => "infinite mapping",
        }
    }
}

/// How often each signal was seen, retransmissions included.
#[derive(Clone, Copy, Debug, Default)]
pub struct Signals {
    /// ADD_ADDR that announces an address. The fields below count the options of their names.
    pub add_addr: u64,
    /// ADD_ADDR with the flag E, which confirms an announcement (RFC 8684 3.4.1).
    pub echo: u64,
    pub remove_addr: u64,
    pub prio: u64,
    pub fail: u64,
    pub fastclose: u64,
    pub tcprst: u64,
    /// HMACs of ADD_ADDRs, right and wrong.
    pub hmac_right: u64,
    pub hmac_wrong: u64,
}

/// Counts of joins: whose token matches a key of the connection or not, whose HMACs are right or
/// wrong.
#[derive(Clone, Copy, Debug, Default)]
pub struct Joins {
    pub matched: u64,
    pub unmatched: u64,
    pub verified: u64,
    pub failed: u64,
}

impl Joins {
    /// Adds what is known of subflow `f` of a connection whose keys have these tokens.
    pub fn add(&mut self, f: &Subflow, tokens: [Option<u32>; 2]) {
        if f.opening != Opening::Join {
            return;
        }
        // RFC 8684 3.2: the token is that of the host the SYN went to.
        let matched = f.token.is_some() && tokens[1 - f.opener] == f.token;
        *(if matched { &mut self.matched } else { &mut self.unmatched }) += 1;
        for right in f.hmacs.iter().flatten() {
            *(if *right { &mut self.verified } else { &mut self.failed }) += 1;
        }
    }
}
