//! Bytes: what a host puts on the wire and what it finds there.
//!
//! The engine works with typed segments ([`crate::segment`]); bytes exist at the edges, where a capture is read or written,
//! where a live link ends and where a test wants to know that both forms say the same. In reading order:
//!
//! - [`checksum`]: the Internet checksum (RFC 1071), of IP, of TCP with its pseudo-header, of data sequence mappings
//! - [`ip`], [`tcp`]: headers, each as a *view* of bytes and as a parsed *header* that can be emitted; [`udp`]: emitted only
//! - [`option`], [`mptcp`]: TCP's options and RFC 8684's, parsed and emitted
//! - [`budget`]: the 40 octets of option space, and which option gives way when not all fit
//! - [`segment`]: a typed segment to bytes and back
//!
//! A view borrows the bytes and reads a field when asked. It checks at the start that the fixed part of the header is there,
//! so no later read can fail. Parsing never panics, whatever the bytes, and copies nothing. Captures cut packets
//! short, so a view distinguishes the length that the header states from the octets that are there.
//!
//! Left out: IP options (skipped), reassembly of IP fragments (recognized), TCP's urgent data (RFC 9293 3.8.5).

pub mod budget;
pub mod checksum;
pub mod ip;
pub mod mptcp;
pub mod option;
pub mod segment;
pub mod tcp;
pub mod udp;

use core::fmt;

/// Why bytes cannot be parsed, or a value cannot be emitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// Fewer octets than the header needs: cut short, or not this protocol.
    Short {
        /// What was being read.
        what: &'static str,
        /// Octets it needs.
        need: usize,
        /// Octets there are.
        have: usize,
    },
    /// A field has a value the format does not allow.
    Field {
        /// Which field.
        what: &'static str,
        /// Its value.
        value: u32,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { what, need, have } => write!(f, "{what}: {need} octets needed, {have} there"),
            Self::Field { what, value } => write!(f, "{what}: {value} is not a value it can have"),
        }
    }
}

impl core::error::Error for Error {}

/// The `N` octets at `at`; zeros if they are not all there, which callers have checked before.
#[inline]
fn get<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes.get(at..).and_then(<[u8]>::first_chunk).copied().unwrap_or([0; N])
}

#[inline]
fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes(get(bytes, at))
}

#[inline]
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(get(bytes, at))
}

#[inline]
fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(get(bytes, at))
}

/// Checks that `need` octets are there.
#[inline]
fn require(what: &'static str, bytes: &[u8], need: usize) -> Result<(), Error> {
    let have = bytes.len();
    if have < need { Err(Error::Short { what, need, have }) } else { Ok(()) }
}
