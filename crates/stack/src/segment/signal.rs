//! What a segment says of addresses, priorities and failures (RFC 8684 3.3.8 and 3.4 to 3.7), beside its handshake or DSS option.

use core::fmt;
use core::net::IpAddr;
use core::num::NonZeroU16;

/// An address and the identifier its owner gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddrId {
    /// Identifier, unique at its owner for the connection.
    pub id: u8,
    /// The address.
    pub addr: IpAddr,
}

/// An advertised address, with the port if it is not that of the connection (RFC 8684 3.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advertised {
    /// Address and identifier.
    pub address: AddrId,
    /// The port, if the option carries one. An option without a port is shorter, so zero cannot stand for "none".
    pub port: Option<NonZeroU16>,
}

/// Address identifiers, in the order of the option.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AddrIds {
    count: u8,
    ids: [u8; Self::MAX],
}

impl AddrIds {
    /// As many as fit beside a DATA_ACK in the option space (40 - 8 - 3); beside timestamps 17 fit. More of them need another
    /// segment.
    pub const MAX: usize = 29;

    /// The first [`AddrIds::MAX`] of `ids`.
    pub fn new(ids: &[u8]) -> Self {
        let count = ids.len().min(Self::MAX);
        let mut of = [0; Self::MAX];
        of[..count].copy_from_slice(&ids[..count]);
        Self { count: count as u8, ids: of }
    }

    /// The identifiers.
    pub fn as_slice(&self) -> &[u8] {
        &self.ids[..usize::from(self.count)]
    }
}

impl fmt::Debug for AddrIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}

/// A Fast Open option's cookie (RFC 7413 4.1.1): none, which asks for one, or an even number of 4 to 16 octets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Cookie {
    count: u8,
    octets: [u8; 16],
    experimental: bool,
}

impl Cookie {
    /// No cookie: the client asks for one.
    pub const REQUEST: Self = Self { count: 0, octets: [0; 16], experimental: false };

    /// A cookie of these octets; `None` if there cannot be one of so many.
    pub fn new(octets: &[u8]) -> Option<Self> {
        if !matches!(octets.len(), 0 | 4 | 6 | 8 | 10 | 12 | 14 | 16) {
            return None;
        }
        let mut of = [0; 16];
        of[..octets.len()].copy_from_slice(octets);
        Some(Self { count: octets.len() as u8, octets: of, experimental: false })
    }

    /// The same cookie in the experimental option, which clients older than the document send (RFC 7413 9), or in the option 34.
    #[must_use]
    pub fn in_experiment(self, experimental: bool) -> Self {
        Self { experimental, ..self }
    }

    /// The option is the experimental one.
    pub fn is_experimental(&self) -> bool {
        self.experimental
    }

    /// Octets of the option: kind and length, and in the experimental one its identifier (RFC 6994 3).
    pub fn wire_len(&self) -> u32 {
        2 + if self.experimental { 2 } else { 0 } + u32::from(self.count)
    }

    /// The octets.
    pub fn as_slice(&self) -> &[u8] {
        &self.octets[..usize::from(self.count)]
    }

    /// It asks for a cookie.
    pub fn is_request(&self) -> bool {
        self.count == 0
    }
}

impl fmt::Debug for Cookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cookie ")?;
        self.as_slice().iter().try_for_each(|octet| write!(f, "{octet:02x}"))
    }
}

/// What a segment may say of the connection or of its subflow beside its handshake or DSS option, at most one here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Signal {
    /// Nothing.
    #[default]
    None,
    /// ADD_ADDR (RFC 8684 3.4.1).
    AddAddr {
        /// The address advertised.
        advertised: Advertised,
        /// Rightmost 64 bits of the HMAC.
        hmac: u64,
    },
    /// ADD_ADDR with the flag E: an echo, which says that the peer's ADD_ADDR has arrived.
    AddAddrEcho(Advertised),
    /// REMOVE_ADDR (RFC 8684 3.4.2).
    RemoveAddr(AddrIds),
    /// MP_PRIO (RFC 8684 3.3.8): the priority of the subflow on which it arrives.
    Prio {
        /// Flag B: to be used only when no regular subflow works.
        backup: bool,
    },
    /// MP_FAIL (RFC 8684 3.7).
    Fail {
        /// Data sequence number of the start of the failed mapping, all 64 bits.
        dsn: u64,
    },
    /// MP_FASTCLOSE (RFC 8684 3.5).
    Fastclose {
        /// The receiver's key.
        key: u64,
    },
    /// Fast Open (RFC 7413), on a SYN or SYN/ACK only, where none of the others can be.
    FastOpen(Cookie),
}

impl Signal {
    /// Octets of the option (RFC 8684 figures 12 to 16), zero for none.
    pub fn len(&self) -> u32 {
        // Kind, length, subtype with flags, identifier; 4 or 16 octets of address; 2 octets of port.
        let address =
            |a: &Advertised| 4 + if a.address.addr.is_ipv4() { 4 } else { 16 } + if a.port.is_some() { 2 } else { 0 };
        match self {
            Self::None => 0,
            Self::AddAddr { advertised, .. } => address(advertised) + 8,
            Self::AddAddrEcho(advertised) => address(advertised),
            Self::RemoveAddr(ids) => 3 + u32::from(ids.count),
            Self::Prio { .. } => 3,
            Self::Fail { .. } | Self::Fastclose { .. } => 12,
            Self::FastOpen(cookie) => cookie.wire_len(),
        }
    }

    /// There is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::None)
    }
}

/// Why a subflow is reset (RFC 8684 3.6, table 3): the reasons the document gives, as their numbers on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResetReason(pub u8);

impl ResetReason {
    /// Unspecified error.
    pub const UNSPECIFIED: Self = Self(0);
    /// An error in the use of MPTCP: a join that does not authenticate, an option that makes no sense.
    pub const MPTCP: Self = Self(1);
    /// Not enough resources for a further subflow.
    pub const RESOURCES: Self = Self(2);
    /// Not wanted by policy.
    pub const PROHIBITED: Self = Self(3);
    /// Too much data outstanding, without acknowledgement at data level.
    pub const OUTSTANDING: Self = Self(4);
    /// Its performance is unacceptable.
    pub const PERFORMANCE: Self = Self(5);
    /// A middlebox changed the data, or the mapping was not to be had.
    pub const MIDDLEBOX: Self = Self(6);
}

/// MP_TCPRST (RFC 8684 3.6), on a RST only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpRst {
    /// Flag T: the condition is transient, so the subflow may be tried again.
    pub transient: bool,
    /// Why the subflow is reset.
    pub reason: ResetReason,
}

impl TcpRst {
    /// Octets of the option.
    pub const LEN: u32 = 4;
    /// Of a SYN whose token no connection has.
    pub const UNKNOWN_TOKEN: Self = Self { transient: false, reason: ResetReason::MPTCP };
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::{Ipv4Addr, Ipv6Addr};

    fn advertised(v6: bool, port: u16) -> Advertised {
        let addr = if v6 { IpAddr::V6(Ipv6Addr::LOCALHOST) } else { IpAddr::V4(Ipv4Addr::LOCALHOST) };
        Advertised { address: AddrId { id: 1, addr }, port: NonZeroU16::new(port) }
    }

    /// RFC 8684 3.3.8, 3.4.1, 3.4.2, 3.5, 3.6, 3.7: lengths of the options as drawn there.
    #[test]
    fn signals_have_the_lengths_of_their_figures() {
        let add = |v6, port| Signal::AddAddr { advertised: advertised(v6, port), hmac: 1 }.len();
        let echo = |v6, port| Signal::AddAddrEcho(advertised(v6, port)).len();
        assert_eq!([add(false, 0), add(false, 80), add(true, 0), add(true, 80)], [16, 18, 28, 30]);
        assert_eq!([echo(false, 0), echo(false, 80), echo(true, 0), echo(true, 80)], [8, 10, 20, 22]);
        assert_eq!(Signal::RemoveAddr(AddrIds::new(&[1])).len(), 4);
        assert_eq!(Signal::RemoveAddr(AddrIds::new(&[1, 2, 3])).len(), 6);
        assert_eq!(Signal::Prio { backup: true }.len(), 3);
        assert_eq!(Signal::Fail { dsn: 1 }.len(), 12);
        assert_eq!(Signal::Fastclose { key: 1 }.len(), 12);
    }

    /// RFC 7413 4.1.1: "0, or 4 to 16 bytes", and "the number MUST be even".
    #[test]
    fn a_cookie_has_an_even_number_of_octets() {
        let lens: Vec<_> = (0..20).filter(|&n| Cookie::new(&[7; 20][..n]).is_some()).collect();
        assert_eq!(lens, [0, 4, 6, 8, 10, 12, 14, 16]);
        assert_eq!(Signal::FastOpen(Cookie::REQUEST).len(), 2);
        assert_eq!(Signal::FastOpen(Cookie::new(&[1; 8]).unwrap()).len(), 10);
        assert_eq!(format!("{:?}", Cookie::new(&[1, 2, 0xab, 4])), "Some(cookie 0102ab04)");
    }
}
