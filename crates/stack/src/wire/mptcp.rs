//! The options of Multipath TCP version 1 (RFC 8684 3): kind 30, a subtype in the upper half of the third octet.
//!
//! The length decides which form of a subtype it is: whether a checksum, a port or an HMAC is there, and which part of a
//! handshake a key or a random number belongs to. Bits that RFC 8684 3.1, 3.2, 3.3, 3.4.1 and 3.6 reserve are ignored
//! and sent as zero, except the flags of MP_CAPABLE, which are kept. MP_CAPABLE of version 0 (RFC 6824) is recognized by its version; its keys are read
//! where its lengths agree with those of version 1.
//!
//! A segment can carry several of these options (a DSS beside an ADD_ADDR, say); see [`super::option::Iter`].

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Error, get, u16_at, u32_at, u64_at};
use crate::segment::{DataAck, Dss, Mapping};

/// The kind of the options of Multipath TCP (RFC 8684 3).
pub const MPTCP: u8 = 30;

/// The flags of MP_CAPABLE (RFC 8684 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CapableFlags(pub u8);

impl CapableFlags {
    /// A: DSS checksums are required.
    pub const CHECKSUM: u8 = 0x80;
    /// B: extensibility; must be zero.
    pub const EXTENSIBILITY: u8 = 0x40;
    /// C: the sender takes no further subflows to this address and port.
    pub const NO_JOIN_HERE: u8 = 0x20;
    /// H: HMAC-SHA256, the one algorithm of RFC 8684 3.1.
    pub const HMAC_SHA256: u8 = 0x01;

    /// All of `flags` are set.
    #[inline]
    pub fn has(self, flags: u8) -> bool {
        self.0 & flags == flags
    }
}

/// The length that an MP_CAPABLE with the first data maps, and its DSS checksum if it has one (RFC 8684 3.1).
pub type FirstData = (u16, Option<u16>);

/// An MPTCP option, parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MptcpOption<'a> {
    /// MP_CAPABLE without a key: the SYN of version 1.
    CapableSyn {
        /// Version.
        version: u8,
        /// Flags.
        flags: CapableFlags,
    },
    /// MP_CAPABLE with one key: the SYN/ACK (in version 0 the SYN too).
    CapableSynAck {
        /// Version.
        version: u8,
        /// Flags.
        flags: CapableFlags,
        /// The sender's key.
        key: u64,
    },
    /// MP_CAPABLE with both keys: the third ACK, or the first data.
    CapableAck {
        /// Version.
        version: u8,
        /// Flags.
        flags: CapableFlags,
        /// The sender's key.
        sender_key: u64,
        /// The receiver's key.
        receiver_key: u64,
        /// Length and checksum of the first data; `None` on the third ACK.
        data: Option<FirstData>,
    },
    /// MP_JOIN of a SYN (3.2, figure 5).
    JoinSyn {
        /// B: a backup path.
        backup: bool,
        /// Identifier of the sender's address.
        address_id: u8,
        /// The receiver's token.
        token: u32,
        /// The sender's random number.
        nonce: u32,
    },
    /// MP_JOIN of a SYN/ACK (figure 6).
    JoinSynAck {
        /// B: a backup path.
        backup: bool,
        /// Identifier of the sender's address.
        address_id: u8,
        /// Leftmost 64 bits of the sender's HMAC.
        hmac: u64,
        /// The sender's random number.
        nonce: u32,
    },
    /// MP_JOIN of the third ACK (figure 7).
    JoinAck {
        /// Leftmost 160 bits of the sender's HMAC.
        hmac: [u8; 20],
    },
    /// Data sequence signal (3.3, figure 9). A mapping of length zero is infinite (3.7).
    Dss(Dss),
    /// ADD_ADDR (3.4.1, figure 12).
    AddAddr {
        /// E: an echo.
        echo: bool,
        /// Identifier of the address.
        id: u8,
        /// The address.
        addr: IpAddr,
        /// The port, if not that of the connection.
        port: Option<u16>,
        /// Rightmost 64 bits of the HMAC.
        hmac: Option<u64>,
    },
    /// REMOVE_ADDR (3.4.2): one identifier or more.
    RemoveAddr {
        /// Identifiers.
        ids: &'a [u8],
    },
    /// MP_PRIO (3.3.8).
    Prio {
        /// B: the subflow becomes a backup.
        backup: bool,
    },
    /// MP_FAIL (3.7): the checksum of the mapping that begins at `dsn` failed.
    Fail {
        /// Data sequence number.
        dsn: u64,
    },
    /// MP_FASTCLOSE (3.5).
    Fastclose {
        /// The receiver's key.
        key: u64,
    },
    /// MP_TCPRST (3.6).
    Reset {
        /// T: the condition is transient.
        transient: bool,
        /// Reason code.
        reason: u8,
    },
    /// A subtype that RFC 8684 does not define.
    Other {
        /// Subtype.
        subtype: u8,
        /// Everything after kind and length, subtype included.
        body: &'a [u8],
    },
}

const CAPABLE: u8 = 0;
const JOIN: u8 = 1;
const DSS: u8 = 2;
const ADD_ADDR: u8 = 3;
const REMOVE_ADDR: u8 = 4;
const PRIO: u8 = 5;
const FAIL: u8 = 6;
const FASTCLOSE: u8 = 7;
const RESET: u8 = 8;

impl<'a> MptcpOption<'a> {
    /// Parses `body`, which is what follows kind and length.
    ///
    /// # Errors
    /// If a subtype of RFC 8684 has a length or a field that it cannot have.
    #[inline]
    pub fn parse(body: &'a [u8]) -> Result<Self, Error> {
        let Some(&first) = body.first() else {
            return Err(Error::Field { what: "length of an MPTCP option", value: 2 });
        };
        let (subtype, low) = (first >> 4, first & 0x0f);
        let len = body.len() + 2;
        let wrong = |what| Err(Error::Field { what, value: len as u32 });
        Ok(match (subtype, len) {
            (DSS, 4..) => Self::Dss(parse_dss(body)?),
            (CAPABLE, 4) => Self::CapableSyn { version: low, flags: CapableFlags(body[1]) },
            (CAPABLE, 12) => Self::CapableSynAck { version: low, flags: CapableFlags(body[1]), key: u64_at(body, 2) },
            (CAPABLE, 20 | 22 | 24) => Self::CapableAck {
                version: low,
                flags: CapableFlags(body[1]),
                sender_key: u64_at(body, 2),
                receiver_key: u64_at(body, 10),
                data: (len > 20).then(|| (u16_at(body, 18), (len == 24).then(|| u16_at(body, 20)))),
            },
            (CAPABLE, _) => return wrong("length of MP_CAPABLE"),
            (JOIN, 12) => Self::JoinSyn {
                backup: low & 1 != 0,
                address_id: body[1],
                token: u32_at(body, 2),
                nonce: u32_at(body, 6),
            },
            (JOIN, 16) => Self::JoinSynAck {
                backup: low & 1 != 0,
                address_id: body[1],
                hmac: u64_at(body, 2),
                nonce: u32_at(body, 10),
            },
            (JOIN, 24) => Self::JoinAck { hmac: get(body, 2) },
            (JOIN, _) => return wrong("length of MP_JOIN"),
            (DSS, _) => return wrong("length of DSS"),
            (ADD_ADDR, 8 | 10 | 16 | 18 | 20 | 22 | 28 | 30) => {
                let v4 = len < 20;
                let addr = if v4 {
                    Ipv4Addr::from(get::<4>(body, 2)).into()
                } else {
                    IpAddr::from(Ipv6Addr::from(get::<16>(body, 2)))
                };
                let rest = if v4 { &body[6..] } else { &body[18..] };
                let (port, rest) = if rest.len() % 8 == 2 { (Some(u16_at(rest, 0)), &rest[2..]) } else { (None, rest) };
                let hmac = (!rest.is_empty()).then(|| u64_at(rest, 0));
                Self::AddAddr { echo: low & 1 != 0, id: body[1], addr, port, hmac }
            }
            (ADD_ADDR, _) => return wrong("length of ADD_ADDR"),
            (REMOVE_ADDR, 4..) => Self::RemoveAddr { ids: &body[1..] },
            (REMOVE_ADDR, _) => return wrong("length of REMOVE_ADDR"),
            (PRIO, 3) => Self::Prio { backup: low & 1 != 0 },
            (PRIO, _) => return wrong("length of MP_PRIO"),
            (FAIL, 12) => Self::Fail { dsn: u64_at(body, 2) },
            (FAIL, _) => return wrong("length of MP_FAIL"),
            (FASTCLOSE, 12) => Self::Fastclose { key: u64_at(body, 2) },
            (FASTCLOSE, _) => return wrong("length of MP_FASTCLOSE"),
            (RESET, 4) => Self::Reset { transient: low & 1 != 0, reason: body[1] },
            (RESET, _) => return wrong("length of MP_TCPRST"),
            _ => Self::Other { subtype, body },
        })
    }

    /// Octets it takes, kind and length included, without padding.
    pub fn wire_len(&self) -> usize {
        match self {
            Self::CapableSyn { .. } | Self::Reset { .. } => 4,
            Self::CapableSynAck { .. } | Self::JoinSyn { .. } | Self::Fail { .. } | Self::Fastclose { .. } => 12,
            Self::CapableAck { data: None, .. } => 20,
            Self::CapableAck { data: Some((_, checksum)), .. } => 22 + 2 * usize::from(checksum.is_some()),
            Self::JoinSynAck { .. } => 16,
            Self::JoinAck { .. } => 24,
            Self::Dss(dss) => dss_len(dss),
            Self::AddAddr { addr, port, hmac, .. } => {
                let address = if addr.is_ipv4() { 4 } else { 16 };
                4 + address + 2 * usize::from(port.is_some()) + 8 * usize::from(hmac.is_some())
            }
            Self::RemoveAddr { ids } => 3 + ids.len(),
            Self::Prio { .. } => 3,
            Self::Other { body, .. } => 2 + body.len(),
        }
    }

    /// Appends the option, without padding.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend([MPTCP, self.wire_len() as u8]);
        let flag = |bit: bool| u8::from(bit);
        match *self {
            Self::CapableSyn { version, flags } => out.extend([CAPABLE << 4 | version & 15, flags.0]),
            Self::CapableSynAck { version, flags, key } => {
                out.extend([CAPABLE << 4 | version & 15, flags.0]);
                out.extend(key.to_be_bytes());
            }
            Self::CapableAck { version, flags, sender_key, receiver_key, data } => {
                out.extend([CAPABLE << 4 | version & 15, flags.0]);
                out.extend(sender_key.to_be_bytes());
                out.extend(receiver_key.to_be_bytes());
                if let Some((len, checksum)) = data {
                    out.extend(len.to_be_bytes());
                    out.extend(checksum.iter().flat_map(|c| c.to_be_bytes()));
                }
            }
            Self::JoinSyn { backup, address_id, token, nonce } => {
                out.extend([JOIN << 4 | flag(backup), address_id]);
                out.extend(token.to_be_bytes());
                out.extend(nonce.to_be_bytes());
            }
            Self::JoinSynAck { backup, address_id, hmac, nonce } => {
                out.extend([JOIN << 4 | flag(backup), address_id]);
                out.extend(hmac.to_be_bytes());
                out.extend(nonce.to_be_bytes());
            }
            Self::JoinAck { hmac } => {
                out.extend([JOIN << 4, 0]);
                out.extend(hmac);
            }
            Self::Dss(dss) => emit_dss(&dss, out),
            Self::AddAddr { echo, id, addr, port, hmac } => {
                out.extend([ADD_ADDR << 4 | flag(echo), id]);
                match addr {
                    IpAddr::V4(v4) => out.extend(v4.octets()),
                    IpAddr::V6(v6) => out.extend(v6.octets()),
                }
                out.extend(port.iter().flat_map(|p| p.to_be_bytes()));
                out.extend(hmac.iter().flat_map(|h| h.to_be_bytes()));
            }
            Self::RemoveAddr { ids } => {
                out.push(REMOVE_ADDR << 4);
                out.extend(ids);
            }
            Self::Prio { backup } => out.push(PRIO << 4 | flag(backup)),
            Self::Fail { dsn } => {
                out.extend([FAIL << 4, 0]);
                out.extend(dsn.to_be_bytes());
            }
            Self::Fastclose { key } => {
                out.extend([FASTCLOSE << 4, 0]);
                out.extend(key.to_be_bytes());
            }
            Self::Reset { transient, reason } => out.extend([RESET << 4 | flag(transient), reason]),
            Self::Other { body, .. } => out.extend(body),
        }
    }
}

// The flags of a DSS (RFC 8684 figure 9).
const F: u8 = 0x10;
const M8: u8 = 0x08;
const M: u8 = 0x04;
const A8: u8 = 0x02;
const A: u8 = 0x01;

#[inline]
fn parse_dss(body: &[u8]) -> Result<Dss, Error> {
    let flags = body[1];
    let (ack_len, dsn_len) = (if flags & A8 != 0 { 8 } else { 4 }, if flags & M8 != 0 { 8 } else { 4 });
    let mut need = 2;
    need += if flags & A != 0 { ack_len } else { 0 };
    need += if flags & M != 0 { dsn_len + 6 } else { 0 };
    // A checksum is there if the length says so, and only of a mapping.
    let checksum = flags & M != 0 && body.len() == need + 2;
    if body.len() != need && !checksum {
        return Err(Error::Field { what: "length of DSS", value: body.len() as u32 + 2 });
    }
    let mut at = 2;
    let mut data_ack = None;
    if flags & A != 0 {
        data_ack = Some(if ack_len == 8 { DataAck::Eight(u64_at(body, at)) } else { DataAck::Four(u32_at(body, at)) });
        at += ack_len;
    }
    let mut mapping = None;
    if flags & M != 0 {
        let short = dsn_len == 4;
        let dsn = if short { u32_at(body, at).into() } else { u64_at(body, at) };
        at += dsn_len;
        let checksum = checksum.then(|| u16_at(body, at + 6));
        mapping = Some(Mapping { dsn, short, ssn: u32_at(body, at), len: u16_at(body, at + 4), checksum });
    }
    // RFC 8684 3.3.3: a DATA_FIN is the last octet of a mapping; without one it has no place.
    Ok(Dss { data_ack, mapping, data_fin: flags & F != 0 && mapping.is_some() })
}

fn dss_len(dss: &Dss) -> usize {
    let ack = match dss.data_ack {
        None => 0,
        Some(DataAck::Four(_)) => 4,
        Some(DataAck::Eight(_)) => 8,
    };
    let mapping = |m: Mapping| if m.short { 10 } else { 14 } + 2 * usize::from(m.checksum.is_some());
    4 + ack + dss.mapping.map_or(0, mapping)
}

fn emit_dss(dss: &Dss, out: &mut Vec<u8>) {
    let ack = match dss.data_ack {
        None => 0,
        Some(DataAck::Four(_)) => A,
        Some(DataAck::Eight(_)) => A | A8,
    };
    let mapping = dss.mapping.map_or(0, |m| if m.short { M } else { M | M8 });
    out.extend([DSS << 4, ack | mapping | if dss.data_fin { F } else { 0 }]);
    match dss.data_ack {
        None => {}
        Some(DataAck::Four(ack)) => out.extend(ack.to_be_bytes()),
        Some(DataAck::Eight(ack)) => out.extend(ack.to_be_bytes()),
    }
    if let Some(m) = dss.mapping {
        let dsn = m.dsn.to_be_bytes();
        out.extend(if m.short { &dsn[4..] } else { &dsn[..] });
        out.extend(m.ssn.to_be_bytes());
        out.extend(m.len.to_be_bytes());
        out.extend(m.checksum.iter().flat_map(|c| c.to_be_bytes()));
    }
}
