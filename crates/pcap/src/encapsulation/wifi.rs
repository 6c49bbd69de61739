//! Frames of IEEE 802.11, as monitor mode records them: behind radiotap, PPI, Prism or AVS headers, or bare.
//!
//! Only data frames matter. What is protected (WEP, TKIP, CCMP, GCMP) or fragmented cannot be opened. A frame that was not
//! acknowledged is sent again with the flag Retry and the same sequence number: monitor mode records each transmission, the
//! receiver takes one (IEEE 802.11-2020 10.3.2.14), so the later ones are not delivered.

use std::collections::HashMap;

use super::octets::Octets;
use super::{Layer, Step};

/// Transmitters whose latest sequence number is remembered.
const TRANSMITTERS: usize = 4096;

// Flags of the second octet of frame control (9.2.4.1).
const FOUR_ADDRESSES: u8 = 0x03;
const MORE_FRAGMENTS: u8 = 0x04;
const RETRY: u8 = 0x08;
const PROTECTED: u8 = 0x40;
const HT_CONTROL: u8 = 0x80;

/// Radiotap (<https://www.radiotap.org>): a length, words that say which fields follow, and the fields.
pub fn radiotap(o: Octets<'_>) -> Option<Step<'_>> {
    let len = o.array(2).map(u16::from_le_bytes)?;
    let word = |at| o.array(at).map(u32::from_le_bytes);
    let present = word(4)?;
    let (mut fields, mut more) = (8, present);
    while more & 1 << 31 != 0 {
        more = word(fields)?;
        fields += 4;
    }
    // Bit 0 is an aligned time of eight octets, bit 1 the octet of flags.
    let at = if present & 1 != 0 { fields.next_multiple_of(8) + 8 } else { fields };
    let flags = if present & 2 != 0 { o.u8(at)? } else { 0 };
    let frame = o.from(len.into())?;
    if flags & 0x40 != 0 {
        return Some(Step::Closed("802.11 with a wrong FCS"));
    }
    let frame = if flags & 0x10 != 0 { frame.first(frame.sent.saturating_sub(4)) } else { frame };
    Some(Step::Next(Layer::Wifi { padded: flags & 0x20 != 0 }, frame))
}

/// Per-Packet Information: a length and the link type of what follows.
pub fn ppi(o: Octets<'_>) -> Option<Step<'_>> {
    let (len, link) = (o.array(2).map(u16::from_le_bytes)?, o.array(4).map(u32::from_le_bytes)?);
    Some(Step::Next(Layer::Link(link), o.from(len.into())?))
}

/// Prism: the length is the second word, in the byte order of the host that captured. Some systems put AVS headers here.
pub fn prism(o: Octets<'_>) -> Option<Step<'_>> {
    if o.u16(0)? == 0x8021 {
        return avs(o);
    }
    let len: [u8; 4] = o.array(4)?;
    let len = u32::from_le_bytes(len).min(u32::from_be_bytes(len));
    Some(Step::Next(Layer::Wifi { padded: false }, o.from(len as usize)?))
}

/// AVS: a version, and the length.
pub fn avs(o: Octets<'_>) -> Option<Step<'_>> {
    Some(Step::Next(Layer::Wifi { padded: false }, o.from(o.u32(4)? as usize)?))
}

/// The latest sequence number of each transmitter and traffic identifier.
#[derive(Clone, Debug, Default)]
pub struct Retries {
    latest: HashMap<([u8; 6], u8), u16>,
}

impl Retries {
    /// A frame of `transmitter`; returns whether it is the same one sent again.
    fn is_repeated(&mut self, transmitter: ([u8; 6], u8), retry: bool, number: u16) -> bool {
        if self.latest.len() >= TRANSMITTERS && !self.latest.contains_key(&transmitter) {
            self.latest.clear();
        }
        self.latest.insert(transmitter, number) == Some(number) && retry
    }

    /// The next step in a frame that may have two octets before the payload to align it; [`Step::Again`] if the frame was
    /// recorded before.
    pub fn open<'a>(&mut self, o: Octets<'a>, padded: bool) -> Option<Step<'a>> {
        let [control, flags] = o.array(0)?;
        // Version 0, type data; bit 2 of the subtype: without data.
        if control & 0x0f != 0x08 || control & 0x40 != 0 {
            return Some(Step::Nothing);
        }
        let four = flags & FOUR_ADDRESSES == FOUR_ADDRESSES;
        let mut header = if four { 30 } else { 24 };
        let (mut traffic, mut aggregated) = (16, false);
        if control & 0x80 != 0 {
            let quality = o.u8(header)?;
            (traffic, aggregated) = (quality & 0x0f, quality & 0x80 != 0);
            header += if flags & HT_CONTROL != 0 { 6 } else { 2 };
        }
        if padded {
            header = header.next_multiple_of(4);
        }
        if flags & PROTECTED != 0 {
            return Some(Step::Closed("protected 802.11"));
        }
        let sequence = o.array(22).map(u16::from_le_bytes)?;
        if flags & MORE_FRAGMENTS != 0 || sequence & 0x0f != 0 {
            return Some(Step::Closed("fragmented 802.11"));
        }
        if self.is_repeated((o.array(10)?, traffic), flags & RETRY != 0, sequence) {
            return Some(Step::Again);
        }
        let rest = o.from(header)?;
        let way = u32::from(flags & FOUR_ADDRESSES);
        Some(Step::Tagged(way, if aggregated { Layer::Aggregate } else { Layer::Llc }, rest))
    }
}

/// The first subframe of an A-MSDU (IEEE 802.11-2020 9.3.2.2): destination, source, length, payload; and what follows its padding.
pub fn subframe(o: Octets<'_>) -> Option<(Octets<'_>, Option<Octets<'_>>)> {
    let len = usize::from(o.u16(12)?);
    Some((o.from(14)?.first(len), o.from((14 + len).next_multiple_of(4))))
}
