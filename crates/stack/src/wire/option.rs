//! TCP's options (RFC 9293 3.1 and 3.2), parsed and emitted.
//! In any segment, at any octet (RFC 9293 3.1, 3.2: MUST-4, MUST-5, MUST-68, MUST-64).
//!
//! Beside the standard options there are TCP-DOOR's (Wang and Zhang 2002), which were never assigned a kind. They use the
//! experimental kind 253 in the form of RFC 6994, each with an experiment identifier of its own. These identifiers are not
//! registered and have a meaning in this laboratory only.
//!
//! | option | kind | length | fields |
//! |---|---|---|---|
//! | maximum segment size | 2 | 4 | 2 octets |
//! | window scale (RFC 7323 2) | 3 | 3 | shift |
//! | SACK permitted (RFC 2018 2) | 4 | 2 | |
//! | SACK (RFC 2018 3, RFC 2883) | 5 | 2 + 8 n | n pairs of edges |
//! | timestamps (RFC 7323 3) | 8 | 10 | value, echo |
//! | Multipath TCP (RFC 8684) | 30 | | [`super::mptcp`] |
//! | Fast Open (RFC 7413 4.1.1, 9) | 34 | 2, or 6 to 18 and even | cookie |
//! | DOOR | 253 | 4 | identifier 0xd00a: permitted (SYN) |
//! | DOOR | 253 | 6 | identifier 0xd00a, number of the data segment |
//! | DOOR | 253 | 6 | identifier 0xd00b, number of the duplicate, 1 if data came out of order |

pub use super::mptcp::MPTCP;
use super::mptcp::MptcpOption;
use super::{Error, u16_at, u32_at};
use crate::segment::{Cookie, SackBlocks, Timestamps};

/// End of option list.
pub const EOL: u8 = 0;
/// No operation.
pub const NOP: u8 = 1;
/// Maximum segment size.
pub const MSS: u8 = 2;
/// Window scale.
pub const WINDOW_SCALE: u8 = 3;
/// SACK permitted.
pub const SACK_PERMITTED: u8 = 4;
/// SACK.
pub const SACK: u8 = 5;
/// Timestamps.
pub const TIMESTAMPS: u8 = 8;
/// Fast Open.
pub const FAST_OPEN: u8 = 34;
/// Experiments (RFC 4727 7.3, RFC 6994).
pub const EXPERIMENT: u8 = 253;
/// Kind: the other experiment.
pub const EXPERIMENT_2: u8 = 254;
/// Identifier of Fast Open before it had a kind of its own (RFC 7413 9).
pub const FAST_OPEN_EXPERIMENT: u16 = 0xf989;
/// Experiment identifier: DOOR permitted, and the number of a data segment.
pub const DOOR_PACKET: u16 = 0xd00a;
/// Experiment identifier: the number of a duplicate acknowledgement.
pub const DOOR_DUPLICATE: u16 = 0xd00b;

/// One option, parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpOption<'a> {
    /// Maximum segment size.
    Mss(u16),
    /// Window scale, as sent (RFC 7323 2.3: more than 14 counts as 14).
    WindowScale(u8),
    /// SACK permitted.
    SackPermitted,
    /// SACK blocks, a D-SACK block first if there is one.
    Sack(SackBlocks),
    /// Timestamps.
    Timestamps(Timestamps),
    /// Multipath TCP.
    Mptcp(MptcpOption<'a>),
    /// Fast Open: a cookie, or the request for one.
    FastOpen(Cookie),
    /// DOOR permitted.
    DoorPermitted,
    /// DOOR: number of a data segment.
    DoorPacket(u16),
    /// DOOR: number of a duplicate acknowledgement, and whether data came out of order.
    DoorDuplicate(u8, bool),
    /// Any other kind.
    Other {
        /// Kind.
        kind: u8,
        /// What follows kind and length.
        body: &'a [u8],
    },
}

impl<'a> TcpOption<'a> {
    /// Parses an option of `kind`; `body` is what follows kind and length.
    ///
    /// # Errors
    /// If a known kind has a length or a field that it cannot have.
    #[inline]
    pub fn parse(kind: u8, body: &'a [u8]) -> Result<Self, Error> {
        let length = |what| Error::Field { what, value: body.len() as u32 + 2 };
        Ok(match (kind, body.len()) {
            (TIMESTAMPS, 8) => Self::Timestamps(Timestamps { val: u32_at(body, 0), ecr: u32_at(body, 4) }),
            (MPTCP, _) => Self::Mptcp(MptcpOption::parse(body)?),
            (SACK, 8 | 16 | 24 | 32) => {
                let mut blocks = SackBlocks::default();
                for block in body.chunks_exact(8) {
                    blocks.push(u32_at(block, 0), u32_at(block, 4));
                }
                Self::Sack(blocks)
            }
            (MSS, 2) => Self::Mss(u16_at(body, 0)),
            (WINDOW_SCALE, 1) => Self::WindowScale(body[0]),
            (SACK_PERMITTED, 0) => Self::SackPermitted,
            (MSS, _) => return Err(length("length of the MSS option")),
            (WINDOW_SCALE, _) => return Err(length("length of the window scale option")),
            (SACK_PERMITTED, _) => return Err(length("length of the SACK permitted option")),
            (SACK, _) => return Err(length("length of the SACK option")),
            (TIMESTAMPS, _) => return Err(length("length of the timestamps option")),
            // RFC 7413 4.1.1: "Options with invalid Length values [...] MUST be ignored".
            (FAST_OPEN, _) => Self::FastOpen(Cookie::new(body).ok_or(length("length of the Fast Open option"))?),
            (EXPERIMENT_2, 2..) if u16_at(body, 0) == FAST_OPEN_EXPERIMENT => match Cookie::new(&body[2..]) {
                Some(cookie) => Self::FastOpen(cookie.in_experiment(true)),
                None => return Err(length("length of the experimental Fast Open option")),
            },
            (EXPERIMENT, n @ (2 | 4)) => match (u16_at(body, 0), n) {
                (DOOR_PACKET, 2) => Self::DoorPermitted,
                (DOOR_PACKET, 4) => Self::DoorPacket(u16_at(body, 2)),
                (DOOR_DUPLICATE, 4) => Self::DoorDuplicate(body[2], body[3] & 1 != 0),
                // RFC 6994 3: an identifier that is not one's own belongs to another experiment.
                _ => Self::Other { kind, body },
            },
            _ => Self::Other { kind, body },
        })
    }

    /// Octets it takes, kind and length included.
    pub fn wire_len(&self) -> usize {
        match self {
            Self::Mss(_) => 4,
            Self::WindowScale(_) => 3,
            Self::SackPermitted => 2,
            Self::Sack(blocks) => 2 + 8 * blocks.as_slice().len(),
            Self::Timestamps(_) => 10,
            Self::Mptcp(option) => option.wire_len(),
            Self::FastOpen(cookie) => cookie.wire_len() as usize,
            Self::DoorPermitted => 4,
            Self::DoorPacket(_) | Self::DoorDuplicate(..) => 6,
            Self::Other { body, .. } => 2 + body.len(),
        }
    }

    /// Appends the option, without padding.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let len = self.wire_len() as u8;
        match *self {
            Self::Mss(mss) => {
                out.extend([MSS, len]);
                out.extend(mss.to_be_bytes());
            }
            Self::WindowScale(shift) => out.extend([WINDOW_SCALE, len, shift]),
            Self::SackPermitted => out.extend([SACK_PERMITTED, len]),
            Self::Sack(blocks) => {
                out.extend([SACK, len]);
                for (start, end) in blocks.as_slice() {
                    out.extend(start.to_be_bytes());
                    out.extend(end.to_be_bytes());
                }
            }
            Self::Timestamps(t) => {
                out.extend([TIMESTAMPS, len]);
                out.extend(t.val.to_be_bytes());
                out.extend(t.ecr.to_be_bytes());
            }
            Self::Mptcp(option) => option.emit(out),
            Self::FastOpen(cookie) => {
                if cookie.is_experimental() {
                    out.extend([EXPERIMENT_2, len]);
                    out.extend(FAST_OPEN_EXPERIMENT.to_be_bytes());
                } else {
                    out.extend([FAST_OPEN, len]);
                }
                out.extend(cookie.as_slice());
            }
            Self::DoorPermitted => {
                out.extend([EXPERIMENT, len]);
                out.extend(DOOR_PACKET.to_be_bytes());
            }
            Self::DoorPacket(number) => {
                out.extend([EXPERIMENT, len]);
                out.extend(DOOR_PACKET.to_be_bytes());
                out.extend(number.to_be_bytes());
            }
            Self::DoorDuplicate(number, reordered) => {
                out.extend([EXPERIMENT, len]);
                out.extend(DOOR_DUPLICATE.to_be_bytes());
                out.extend([number, reordered.into()]);
            }
            Self::Other { kind, body } => {
                out.extend([kind, len]);
                out.extend(body);
            }
        }
    }
}

/// The options of a segment, one after the other; NOPs are skipped.
///
/// An item is an error if an option is malformed; the next item is the option after it. If the octets end within an
/// option, or a length is below 2, the error is the last item.
#[derive(Clone, Debug)]
pub struct Iter<'a> {
    bytes: &'a [u8],
    /// Octets of options that were sent but that the capture cut off.
    missing: usize,
}

impl<'a> Iter<'a> {
    /// Over `bytes`, all option octets of a segment.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, missing: 0 }
    }

    /// Over `bytes`, to which a capture has cut `sent` octets of options.
    #[inline]
    pub fn cut(bytes: &'a [u8], sent: usize) -> Self {
        Self { bytes, missing: sent.saturating_sub(bytes.len()) }
    }

    #[inline]
    fn end(&mut self, error: Error) -> Option<Result<TcpOption<'a>, Error>> {
        (self.bytes, self.missing) = (&[], 0);
        Some(Err(error))
    }
}

impl<'a> Iterator for Iter<'a> {
    type Item = Result<TcpOption<'a>, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match *self.bytes {
                [] if self.missing == 0 => return None,
                [] => return self.end(Error::Short { what: "TCP options", need: self.missing, have: 0 }),
                [EOL, ..] => {
                    (self.bytes, self.missing) = (&[], 0);
                    return None;
                }
                [NOP, ref rest @ ..] => self.bytes = rest,
                [_] => return self.end(Error::Short { what: "TCP option", need: 2, have: 1 }),
                [kind, len, ..] => {
                    let len = usize::from(len);
                    if len < 2 {
                        return self.end(Error::Field { what: "length of a TCP option", value: len as u32 });
                    }
                    let Some((option, rest)) = self.bytes.split_at_checked(len) else {
                        let have = self.bytes.len();
                        return self.end(Error::Short { what: "TCP option", need: len, have });
                    };
                    self.bytes = rest;
                    return Some(TcpOption::parse(kind, &option[2..]));
                }
            }
        }
    }
}
