//! The MPTCP options as scripts write them.
//!
//! What is left out is filled in: on a segment that arrives, with what a correct peer would send; on one that is to be sent, with
//! whatever was sent. Data sequence numbers count from the initial one of the side that they belong to.

use std::net::IpAddr;

/// A name of a key, which it may give a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The name.
    pub name: String,
    /// `name=value`
    pub value: Option<u64>,
}

/// A data sequence number or a DATA_ACK.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Number {
    /// It has 64 bits, not 32.
    pub eight: bool,
    /// How far it is from the initial one of its side; `None`: what fits.
    pub value: Option<u64>,
    /// From that of this key instead.
    pub key: Option<String>,
}

/// What identifies the connection in MP_JOIN.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Token {
    /// The receiver's.
    Auto,
    /// This number.
    Is(u32),
    /// That of this key.
    Of(String),
}

/// What authenticates a join.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hmac {
    /// The right one.
    Auto,
    /// This number, the leftmost 64 bits.
    Is(u64),
    /// With these keys, in this order.
    Of(String, String),
}

/// A checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    /// None.
    Without,
    /// The right one.
    Auto,
    /// This number.
    Is(u16),
}

/// What authenticates an ADD_ADDR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Proof {
    /// Nothing: it is an echo.
    Echo,
    /// The right HMAC.
    Auto,
    /// This number.
    Is(u64),
}

/// A name of an address, which it may give a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The name.
    pub name: String,
    /// `name=inet_addr("192.0.2.1")`
    pub addr: Option<IpAddr>,
}

/// An MPTCP option (RFC 8684 3).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mp {
    /// MP_CAPABLE (3.1).
    Capable {
        /// Version.
        version: u8,
        /// Flags, as on the wire.
        flags: u8,
        /// None, the sender's, or both.
        keys: Vec<Key>,
        /// Length of the first data, and its checksum.
        data: Option<(u16, Check)>,
    },
    /// MP_JOIN of a SYN (3.2).
    JoinSyn {
        /// Flag B.
        backup: bool,
        /// Identifier of the sender's address.
        id: Option<u8>,
        /// The receiver's token.
        token: Token,
        /// Random number.
        nonce: Option<u32>,
    },
    /// MP_JOIN of a SYN/ACK.
    JoinSynAck {
        /// Flag B.
        backup: bool,
        /// Identifier of the sender's address.
        id: Option<u8>,
        /// HMAC.
        hmac: Hmac,
        /// Random number.
        nonce: Option<u32>,
    },
    /// MP_JOIN of the third ACK.
    JoinAck(Hmac),
    /// DSS (3.3).
    Dss {
        /// DATA_ACK.
        ack: Option<Number>,
        /// Data sequence number of a mapping.
        dsn: Option<Number>,
        /// Subflow sequence number.
        ssn: Option<u32>,
        /// Data-level length.
        len: Option<u16>,
        /// Checksum.
        check: Check,
        /// DATA_FIN.
        fin: bool,
    },
    /// ADD_ADDR (3.4.1).
    AddAddr {
        /// Identifier.
        id: Option<u8>,
        /// Address.
        place: Place,
        /// Port.
        port: Option<u16>,
        /// HMAC, or flag E.
        proof: Proof,
    },
    /// REMOVE_ADDR (3.4.2).
    RemoveAddr(Vec<u8>),
    /// MP_PRIO (3.3.8), with an address identifier in the form of version 0 (RFC 6824).
    Prio(bool, Option<u8>),
    /// MP_FAIL (3.7).
    Fail(Number),
    /// MP_FASTCLOSE (3.5), with the receiver's key unless another one is named, and what is added to it.
    Fastclose(Option<Key>, u64),
    /// MP_TCPRST (3.6): reason, flag T.
    Reset(u8, bool),
    /// Any octets after kind and length: subtypes that RFC 8684 does not define, lengths that it does not allow.
    Octets(Vec<u8>),
}

/// Flags of MP_CAPABLE, A first.
pub const FLAGS: [&str; 8] = ["flag_a", "flag_b", "flag_c", "flag_d", "flag_e", "flag_f", "flag_g", "flag_h"];
