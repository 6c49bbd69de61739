//! The UDP header (RFC 768), written for the datagrams of constant-rate flows.

use core::net::SocketAddr;

use super::checksum::{Sum, pseudo_header};
use super::segment::Envelope;
use super::{Error, ip};
use crate::segment::Ecn;

/// Octets of the header.
pub const HEADER_LEN: usize = 8;

/// Appends a datagram of `len` octets as an IP packet; `fill` writes them.
///
/// # Errors
/// If the packet is too long, or the addresses are of different families.
pub fn emit(len: u32, envelope: &Envelope, fill: impl FnOnce(&mut [u8]), out: &mut Vec<u8>) -> Result<(), Error> {
    let Ok(udp_len) = u16::try_from(HEADER_LEN + len as usize) else {
        return Err(Error::Field { what: "length of a UDP datagram", value: len });
    };
    let (src, dst) = (envelope.src, envelope.dst);
    let ip = ip::Header {
        src: src.ip(),
        dst: dst.ip(),
        protocol: ip::UDP,
        ecn: Ecn::NotEct,
        hop_limit: super::segment::HOP_LIMIT,
        id: envelope.id,
        payload_len: udp_len,
    };
    ip.emit(out)?;
    let start = out.len();
    for port in [src, dst].map(|a: SocketAddr| a.port()) {
        out.extend(port.to_be_bytes());
    }
    out.extend(udp_len.to_be_bytes());
    out.extend([0; 2]);
    let payload = out.len();
    out.resize(payload + len as usize, 0);
    fill(&mut out[payload..]);
    let sum = pseudo_header(src.ip(), dst.ip(), ip::UDP, udp_len.into()).plus(Sum::of(&out[start..]));
    // RFC 768: zero would say that there is no checksum; all ones are the same sum.
    let checksum = if sum.checksum() == 0 { 0xffff } else { sum.checksum() };
    out[start + 6..start + 8].copy_from_slice(&checksum.to_be_bytes());
    Ok(())
}
