//! The TCP header (RFC 9293 3.1).
//! Its checksum is made and checked with the addresses (RFC 9293 3.1: MUST-2, MUST-3).
//!
//! The data offset may point beyond the octets that are there: a capture with a short snap length ends somewhere in the
//! options. The view accepts that, and the last item of [`View::options`] is then an error.

use core::net::IpAddr;

use super::checksum::{Sum, tcp_pseudo_header};
use super::{Error, option, require, u16_at, u32_at};
use crate::segment::Flags;

/// Octets of the header without options.
pub const HEADER_LEN: usize = 20;

/// A TCP segment in bytes.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    bytes: &'a [u8],
    header_len: usize,
}

impl<'a> View<'a> {
    /// The segment of which `bytes` are there, from its first octet on.
    ///
    /// # Errors
    /// If the fixed header is not whole, or the data offset points into it.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Result<Self, Error> {
        require("TCP header", bytes, HEADER_LEN)?;
        let header_len = usize::from(bytes[12] >> 4) * 4;
        if header_len < HEADER_LEN {
            return Err(Error::Field { what: "TCP data offset", value: header_len as u32 });
        }
        Ok(Self { bytes, header_len })
    }

    /// Source port.
    #[inline]
    pub fn src_port(&self) -> u16 {
        u16_at(self.bytes, 0)
    }

    /// Destination port.
    #[inline]
    pub fn dst_port(&self) -> u16 {
        u16_at(self.bytes, 2)
    }

    /// Sequence number.
    #[inline]
    pub fn seq(&self) -> u32 {
        u32_at(self.bytes, 4)
    }

    /// Acknowledgement number; counts only with [`Flags::ACK`].
    #[inline]
    pub fn ack(&self) -> u32 {
        u32_at(self.bytes, 8)
    }

    /// Octets of the header with options.
    #[inline]
    pub fn header_len(&self) -> usize {
        self.header_len
    }

    /// Flags.
    #[inline]
    pub fn flags(&self) -> Flags {
        Flags(self.bytes[13])
    }

    /// Window, unscaled.
    #[inline]
    pub fn window(&self) -> u16 {
        u16_at(self.bytes, 14)
    }

    /// Checksum.
    #[inline]
    pub fn checksum(&self) -> u16 {
        u16_at(self.bytes, 16)
    }

    /// Urgent pointer.
    pub fn urgent(&self) -> u16 {
        u16_at(self.bytes, 18)
    }

    /// The option octets that are there.
    #[inline]
    pub fn option_bytes(&self) -> &'a [u8] {
        &self.bytes[HEADER_LEN..self.bytes.len().min(self.header_len)]
    }

    /// The options. If the capture cut them, the last item is an error.
    #[inline]
    pub fn options(&self) -> option::Iter<'a> {
        option::Iter::cut(self.option_bytes(), self.header_len - HEADER_LEN)
    }

    /// The octets of payload that are there. The IP header says how many were sent.
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        self.bytes.get(self.header_len..).unwrap_or_default()
    }

    /// Whether the checksum is right, for a segment of `len` octets as sent; `None` if it was cut.
    pub fn checksum_ok(&self, src: IpAddr, dst: IpAddr, len: usize) -> Option<bool> {
        if self.bytes.len() < len {
            return None;
        }
        let pseudo = tcp_pseudo_header(src, dst, len as u32);
        Some(pseudo.plus(Sum::of(&self.bytes[..len])).is_valid())
    }
}

/// The fields of a TCP header without options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Source port.
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// Flags.
    pub flags: Flags,
    /// Window, unscaled.
    pub window: u16,
}

impl Header {
    /// The fields of the header in `view`.
    pub fn parse(view: &View<'_>) -> Self {
        Self {
            src_port: view.src_port(),
            dst_port: view.dst_port(),
            seq: view.seq(),
            ack: view.ack(),
            flags: view.flags(),
            window: view.window(),
        }
    }

    /// Appends the header for `option_len` octets of options, which the caller appends next; the checksum is zero until
    /// [`fill_checksum`].
    ///
    /// # Errors
    /// If the options are no whole words or more than 40 octets.
    pub fn emit(&self, option_len: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        if option_len % 4 != 0 || option_len > 40 {
            return Err(Error::Field { what: "length of TCP options", value: option_len as u32 });
        }
        out.extend(self.src_port.to_be_bytes());
        out.extend(self.dst_port.to_be_bytes());
        out.extend(self.seq.to_be_bytes());
        out.extend(self.ack.to_be_bytes());
        out.extend([(((HEADER_LEN + option_len) / 4) as u8) << 4, self.flags.0]);
        out.extend(self.window.to_be_bytes());
        out.extend([0; 4]);
        Ok(())
    }
}

/// Sets the checksum of the whole segment in `bytes`.
///
/// # Errors
/// If the fixed header is not whole.
pub fn fill_checksum(bytes: &mut [u8], src: IpAddr, dst: IpAddr) -> Result<(), Error> {
    require("TCP header", bytes, HEADER_LEN)?;
    bytes[16..18].copy_from_slice(&[0; 2]);
    let sum = tcp_pseudo_header(src, dst, bytes.len() as u32).plus(Sum::of(bytes));
    bytes[16..18].copy_from_slice(&sum.checksum().to_be_bytes());
    Ok(())
}
