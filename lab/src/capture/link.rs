//! From a frame to the IP packet in it, for the link types that captures of endpoints and routers have.
//!
//! Numbers: <https://www.tcpdump.org/linktypes.html>. VLAN tags are skipped however many there are, PPPoE session headers too.

/// The IP packet within a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inside<'a> {
    /// The octets from the IP header on; padding may follow the packet.
    pub ip: &'a [u8],
    /// Octets of the frame before the IP header.
    pub before: u32,
    /// The interface index at the host that captured it, which Linux cooked v2 has in every frame; else zero.
    pub index: u32,
}

/// Frames of this link type can be parsed.
pub fn is_known(link: u32) -> bool {
    matches!(link, 0 | 1 | 9 | 12 | 14 | 50 | 51 | 101 | 108 | 113 | 166 | 228 | 229 | 276)
}

const V4: u16 = 0x0800;
const V6: u16 = 0x86dd;

/// The IP packet in `frame`; `None` if there is none, or the frame was cut before it.
#[inline]
pub fn inside(link: u32, frame: &[u8]) -> Option<Inside<'_>> {
    match link {
        1 => typed(frame, 12, 14, 0),
        113 => typed(frame, 14, 16, 0),
        276 => typed(frame, 0, 20, u32::from_be_bytes(*frame.get(4..)?.first_chunk()?)),
        // BSD loopback: four octets of address family. Its values differ between systems, so the IP version decides.
        0 | 108 => versioned(frame, 4),
        12 | 14 | 101 | 228 | 229 => versioned(frame, 0),
        // With HDLC's address and control octets (RFC 1662 3.1), or without.
        9 | 50 => ppp(frame, if frame.starts_with(&[0xff, 0x03]) { 2 } else { 0 }),
        // Behind a PPPoE header (RFC 2516 4).
        51 => ppp(frame, 6),
        // The address octet holds the direction instead.
        166 => ppp(frame, 2),
        _ => None,
    }
}

fn versioned(frame: &[u8], from: usize) -> Option<Inside<'_>> {
    let ip = frame.get(from..)?;
    matches!(ip.first()? >> 4, 4 | 6).then_some(Inside { ip, before: from as u32, index: 0 })
}

/// PPP's number for the protocol is at `at`: two octets, or one if it is odd (RFC 1661 2, 6.5).
fn ppp(frame: &[u8], at: usize) -> Option<Inside<'_>> {
    let short = frame.get(at)? % 2 == 1;
    let number = if short { u16::from(frame[at]) } else { u16_at(frame, at)? };
    ppp_carries(number)?;
    versioned(frame, at + if short { 1 } else { 2 })
}

/// The EtherType of the protocol with this PPP number.
fn ppp_carries(number: u16) -> Option<u16> {
    match number {
        0x0021 => Some(V4),
        0x0057 => Some(V6),
        _ => None,
    }
}

/// The packet of a frame whose EtherType is at `at` and whose payload begins at `from`.
#[inline]
fn typed(frame: &[u8], at: usize, from: usize, index: u32) -> Option<Inside<'_>> {
    let mut kind = u16_at(frame, at)?;
    let mut from = from;
    loop {
        match kind {
            V4 | V6 => return versioned(frame, from).map(|i| Inside { index, ..i }),
            // IEEE 802.1Q, 802.1ad, and the older number for stacked tags.
            0x8100 | 0x88a8 | 0x9100 => {
                kind = u16_at(frame, from + 2)?;
                from += 4;
            }
            // PPPoE session: six octets, then PPP's own number for the protocol (RFC 2516).
            0x8864 => {
                kind = ppp_carries(u16_at(frame, from + 6)?)?;
                from += 8;
            }
            _ => return None,
        }
    }
}

#[inline]
fn u16_at(octets: &[u8], at: usize) -> Option<u16> {
    octets.get(at..)?.first_chunk().map(|w| u16::from_be_bytes(*w))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_type_leads_to_the_packet() {
        let ip = [0x45, 0, 0, 40];
        let mut ethernet = vec![0; 12];
        ethernet.extend([0x08, 0x00]);
        let mut stacked = vec![0; 12];
        stacked.extend([0x88, 0xa8, 0, 7, 0x81, 0x00, 0, 9, 0x08, 0x00]);
        let mut cooked = vec![0; 14];
        cooked.extend([0x08, 0x00]);
        let mut cooked2 = vec![0x08, 0x00, 0, 0, 0, 0, 0, 3];
        cooked2.extend([0; 12]);
        let mut pppoe = vec![0; 12];
        pppoe.extend([0x88, 0x64, 0x11, 0, 0, 1, 0, 6, 0x00, 0x21]);
        let links = [
            (1, ethernet, 0),
            (1, stacked, 0),
            (1, pppoe, 0),
            (113, cooked, 0),
            (276, cooked2, 3),
            (0, vec![2, 0, 0, 0], 0),
            (108, vec![0, 0, 0, 2], 0),
            (101, vec![], 0),
            (12, vec![], 0),
            (9, vec![0x00, 0x21], 0),
            (9, vec![0x21], 0),
            (9, vec![0xff, 0x03, 0x00, 0x21], 0),
            (50, vec![0xff, 0x03, 0x21], 0),
            (51, vec![0x11, 0, 0, 1, 0, 6, 0x00, 0x21], 0),
            (166, vec![0x01, 0x03, 0x00, 0x21], 0),
        ];
        for (link, header, index) in links {
            let mut frame = header.clone();
            frame.extend(ip);
            let found = inside(link, &frame);
            assert_eq!(found, Some(Inside { ip: &ip, before: header.len() as u32, index }), "link type {link}");
            // Cut anywhere before the packet there is nothing.
            (0..header.len()).for_each(|n| assert_eq!(inside(link, &frame[..n]), None));
        }
        assert_eq!(inside(1, &[0; 60]), None);
        assert_eq!(inside(147, &[0x45; 60]), None);
    }
}
