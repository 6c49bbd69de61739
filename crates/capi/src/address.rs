//! Addresses and 4-tuples.

use std::net::{IpAddr, SocketAddr};

use anabranch_stack::host::Addresses;

use crate::status::{ANABRANCH_ARGUMENT, Fault, fault};

/// An IP address with a port. A struct of zeros is no address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct anabranch_address {
    /// 4 or 6.
    pub family: u8,
    /// Zero.
    pub reserved: u8,
    /// Port, in the byte order of the machine.
    pub port: u16,
    /// The address in network byte order; IPv4 uses the first four octets.
    pub octets: [u8; 16],
}

/// The 4-tuple of a subflow, as seen from the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct anabranch_tuple {
    /// Our address and port.
    pub local: anabranch_address,
    /// The peer's address and port.
    pub remote: anabranch_address,
}

impl anabranch_address {
    pub(crate) fn socket(&self, name: &str) -> Result<SocketAddr, Fault> {
        let o = self.octets;
        let ip = match self.family {
            4 => IpAddr::from([o[0], o[1], o[2], o[3]]),
            6 => IpAddr::from(o),
            other => return fault(ANABRANCH_ARGUMENT, format!("{name}.family is {other}: 4 or 6")),
        };
        Ok(SocketAddr::new(ip, self.port))
    }

    pub(crate) fn of(address: IpAddr, port: u16) -> Self {
        let mut octets = [0; 16];
        let family = match address {
            IpAddr::V4(a) => {
                octets[..4].copy_from_slice(&a.octets());
                4
            }
            IpAddr::V6(a) => {
                octets = a.octets();
                6
            }
        };
        Self { family, reserved: 0, port, octets }
    }
}

impl anabranch_tuple {
    pub(crate) fn addresses(&self) -> Result<Addresses, Fault> {
        let (local, remote) = (self.local.socket("local")?, self.remote.socket("remote")?);
        if local.is_ipv4() != remote.is_ipv4() {
            return fault(ANABRANCH_ARGUMENT, format!("{local} and {remote} are of different families"));
        }
        Ok(Addresses { local, remote })
    }

    pub(crate) fn of(a: Addresses) -> Self {
        let of = |s: SocketAddr| anabranch_address::of(s.ip(), s.port());
        Self { local: of(a.local), remote: of(a.remote) }
    }
}
