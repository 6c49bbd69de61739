//! Headers that systems put before packets when they log them: Linux's NFLOG, Apple's PKTAP, OpenBSD's PFLOG and ENC.

use super::octets::Octets;
use super::{Layer, Step};

/// NFLOG: address family, version, resource; then attributes with length and type in the byte order of the host. Attribute 9 is
/// the packet.
pub fn nflog(o: Octets<'_>) -> Option<Step<'_>> {
    let mut at = 4;
    loop {
        let [len, kind] = [o.array(at)?, o.array(at + 2)?];
        // The types are small numbers, so the octet that is zero tells the order.
        let number = if kind[0] == 0 { u16::from_be_bytes } else { u16::from_le_bytes };
        let (len, kind) = (usize::from(number(len)), number(kind) & 0x7fff);
        if kind == 9 {
            return Some(Step::Next(Layer::Ip, o.from(at + 4)?.first(len.saturating_sub(4))));
        }
        if len < 4 {
            return Some(Step::Nothing);
        }
        at += len.next_multiple_of(4);
    }
}

/// PKTAP: length, type, link type of what follows, and the interface's name. The byte order is that of the host.
pub fn pktap(o: Octets<'_>) -> Option<Step<'_>> {
    let words: [[u8; 4]; 3] = [o.array(0)?, o.array(4)?, o.array(8)?];
    let word = if words[0][3] == 0 { u32::from_le_bytes } else { u32::from_be_bytes };
    let [len, kind, link] = words.map(word);
    // Type 1 is a packet.
    if kind != 1 {
        return Some(Step::Nothing);
    }
    let name: [u8; 24] = o.array(12)?;
    let index =
        name.iter().take_while(|octet| **octet != 0).fold(7, |n: u32, octet| n.wrapping_mul(31) ^ u32::from(*octet));
    Some(Step::At(index, Layer::Link(link), o.from(len as usize)?))
}

/// PFLOG: its length, without the padding to four octets, is the first octet.
pub fn pflog(o: Octets<'_>) -> Option<Step<'_>> {
    Some(Step::Next(Layer::Ip, o.from(usize::from(o.u8(0)?).next_multiple_of(4))?))
}

/// ENC: address family, security parameter index, flags; then the packet before encryption or after decryption.
pub fn enc(o: Octets<'_>) -> Option<Step<'_>> {
    Some(Step::Next(Layer::Ip, o.from(12)?))
}
