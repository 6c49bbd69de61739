//! A TCP segment of a capture: the fields that the analysis needs, parsed in place.

use std::hash::{BuildHasherDefault, Hasher};
use std::net::IpAddr;

use anabranch_stack::segment::{Dss, Flags, SackBlocks, Timestamps};
use anabranch_stack::wire::mptcp::MptcpOption;
use anabranch_stack::wire::option::{MPTCP, TcpOption};
use anabranch_stack::wire::{ip, tcp};

/// An address and a port.
pub type Endpoint = (IpAddr, u16);

/// Where a packet was captured: a file and an interface in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tap {
    /// Number of the file.
    pub file: u32,
    /// Number of the interface in the file.
    pub interface: u32,
    /// The interface index at the host, if the link layer tells it.
    pub index: u32,
}

/// The two ends of a 4-tuple, the lower one first, so that both directions are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tuple {
    low: (u128, u16),
    high: (u128, u16),
    /// Zero, or the number after that of the file that shows a connection of its own between them.
    file: u32,
}

impl Tuple {
    /// The 4-tuple of two ends.
    pub fn of(a: Endpoint, b: Endpoint) -> Self {
        let number = |(addr, port): Endpoint| match addr {
            IpAddr::V4(v4) => (v4.to_ipv6_mapped().to_bits(), port),
            IpAddr::V6(v6) => (v6.to_bits(), port),
        };
        let (a, b) = (number(a), number(b));
        if a <= b { Self { low: a, high: b, file: 0 } } else { Self { low: b, high: a, file: 0 } }
    }

    /// The same as `file` shows it.
    #[must_use]
    pub fn apart(self, file: u32) -> Self {
        Self { file: file + 1, ..self }
    }
}

/// A hasher for [`Tuple`]s and tokens: multiply and rotate. It need not resist an attacker: a capture crafted to collide slows
/// only its own analysis.
#[derive(Default)]
pub struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, octets: &[u8]) {
        octets.iter().for_each(|o| self.write_u64(u64::from(*o)));
    }

    fn write_u16(&mut self, n: u16) {
        self.write_u64(u64::from(n));
    }

    fn write_u32(&mut self, n: u32) {
        self.write_u64(u64::from(n));
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0.rotate_left(5) ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_u128(&mut self, n: u128) {
        self.write_u64(n as u64);
        self.write_u64((n >> 64) as u64);
    }
}

/// Builds [`Mix`]es.
pub type MixBuilder = BuildHasherDefault<Mix>;

/// What tells a packet from the others at a place of capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    tap: Tap,
    seq: u32,
    ack: u32,
    len: u32,
    id: u16,
    checksum: u16,
}

/// A segment.
#[derive(Clone, Debug)]
pub struct Packet<'a> {
    /// Nanoseconds since the epoch.
    pub time: u64,
    /// Where it was captured.
    pub tap: Tap,
    /// Sender.
    pub src: Endpoint,
    /// Receiver.
    pub dst: Endpoint,
    /// IPv4 identification, zero for IPv6.
    pub id: u16,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// Flags.
    pub flags: Flags,
    /// Window, unscaled.
    pub window: u16,
    /// Octets of payload as sent.
    pub len: u32,
    /// Timestamps.
    pub timestamps: Option<Timestamps>,
    /// SACK blocks.
    pub sack: SackBlocks,
    /// Window scale of a SYN.
    pub scale: Option<u8>,
    /// Maximum segment size of a SYN.
    pub mss: Option<u16>,
    /// Data sequence signal.
    pub dss: Option<Dss>,
    /// It has an MPTCP option.
    pub multipath: bool,
    /// It has an MPTCP option other than a data sequence signal.
    pub signals: bool,
    /// The capture cut the packet within its options: some may be missing here.
    pub cut: bool,
    /// An option was malformed.
    pub malformed: bool,
    /// The IP packet, and how many octets it had on the wire.
    octets: &'a [u8],
    sent: usize,
    /// It has an MP_PRIO that names an address (RFC 6824 3.3.8), as only version 0 has.
    pub prio_of_address: bool,
    ip: ip::View<'a>,
    tcp: tcp::View<'a>,
}

/// Parses the segment in the IP packet `octets`; on the wire the packet had `sent` octets. `None` if it does not hold TCP, is a
/// fragment, or was cut before the end of the fixed TCP header.
#[inline(always)]
pub fn parse(octets: &[u8], sent: usize, time: u64, tap: Tap) -> Option<Packet<'_>> {
    let ip = ip::View::cut(octets, sent).ok()?;
    if ip.protocol() != ip::TCP || ip.is_fragment() {
        return None;
    }
    let tcp = tcp::View::new(ip.payload()).ok()?;
    let len = ip.payload_len().checked_sub(tcp.header_len())?;
    let mut p = Packet {
        time,
        tap,
        src: (ip.src(), tcp.src_port()),
        dst: (ip.dst(), tcp.dst_port()),
        id: ip.id(),
        seq: tcp.seq(),
        ack: tcp.ack(),
        flags: tcp.flags(),
        window: tcp.window(),
        len: len as u32,
        timestamps: None,
        sack: SackBlocks::default(),
        scale: None,
        mss: None,
        dss: None,
        multipath: false,
        signals: false,
        cut: tcp.option_bytes().len() + tcp::HEADER_LEN < tcp.header_len(),
        malformed: false,
        octets,
        sent,
        prio_of_address: false,
        ip,
        tcp,
    };
    for option in tcp.options() {
        match option {
            Ok(TcpOption::Timestamps(t)) => p.timestamps = Some(t),
            Ok(TcpOption::Mptcp(MptcpOption::Dss(dss))) => (p.multipath, p.dss) = (true, p.dss.or(Some(dss))),
            Ok(TcpOption::Mptcp(_)) => (p.multipath, p.signals) = (true, true),
            Ok(TcpOption::Sack(blocks)) => p.sack = blocks,
            Ok(TcpOption::Mss(mss)) => p.mss = Some(mss),
            Ok(TcpOption::WindowScale(shift)) => p.scale = Some(shift.min(14)), // RFC 7323 2.3
            Ok(_) => {}
            Err(_) if has_prio_of_address(tcp.option_bytes()) => {
                (p.multipath, p.signals, p.prio_of_address) = (true, true, true);
            }
            Err(_) => p.malformed = !p.cut,
        }
    }
    Some(p)
}

/// A packet that waits until later ones show what it is.
#[derive(Clone, Debug)]
pub struct Kept {
    octets: Box<[u8]>,
    sent: usize,
    time: u64,
    tap: Tap,
}

impl Kept {
    /// The packet.
    pub fn packet(&self) -> Option<Packet<'_>> {
        parse(&self.octets, self.sent, self.time, self.tap)
    }

    /// How many octets it takes.
    pub fn size(&self) -> usize {
        self.octets.len()
    }
}

impl<'a> Packet<'a> {
    /// A copy that may wait.
    pub fn keep(&self) -> Kept {
        Kept { octets: self.octets.into(), sent: self.sent, time: self.time, tap: self.tap }
    }

    /// The same without its acknowledgement, which cannot be true.
    pub fn without_ack(&self) -> Self {
        let mut p = self.clone();
        p.flags = Flags(p.flags.0 & !Flags::ACK.0);
        p.sack = SackBlocks::default();
        p.dss = p.dss.map(|dss| Dss { data_ack: None, ..dss });
        p
    }

    /// The octets of payload that are there.
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        self.tcp.payload()
    }

    /// The MPTCP options other than data sequence signals.
    pub fn signals(&self) -> impl Iterator<Item = MptcpOption<'a>> + use<'a> {
        self.tcp.options().filter_map(|option| match option {
            Ok(TcpOption::Mptcp(MptcpOption::Dss(_))) => None,
            Ok(TcpOption::Mptcp(option)) => Some(option),
            _ => None,
        })
    }

    /// Sequence numbers that it occupies (RFC 9293 3.4).
    #[inline]
    pub fn seq_len(&self) -> u32 {
        self.len + u32::from(self.flags.has(Flags::SYN)) + u32::from(self.flags.has(Flags::FIN))
    }

    /// Octets of its TCP options, padding included.
    pub fn options_len(&self) -> u32 {
        (self.tcp.header_len() - tcp::HEADER_LEN) as u32
    }

    /// Octets of its headers, without the link's.
    pub fn headers(&self) -> u32 {
        let ip = if self.src.0.is_ipv6() { 40 } else { 20 };
        ip + self.tcp.header_len() as u32
    }

    /// What two records of the same packet at the same place share, whatever is around it. (Addresses and ports are in the checksum.)
    #[inline]
    pub fn identity(&self) -> Identity {
        Identity {
            tap: self.tap,
            seq: self.seq,
            ack: self.ack,
            len: self.len,
            id: self.id,
            checksum: self.tcp.checksum(),
        }
    }

    /// Whether the TCP checksum is right; `None` if the segment was cut.
    pub fn checksum_ok(&self) -> Option<bool> {
        self.tcp.checksum_ok(self.src.0, self.dst.0, self.ip.payload_len())
    }
}

/// `options` have an MP_PRIO of four octets (RFC 6824 3.3.8), which names the address whose
/// priority changes. In version 1 it has three, so the parser takes it for malformed.
#[cold]
fn has_prio_of_address(mut options: &[u8]) -> bool {
    loop {
        match *options {
            [MPTCP, 4, subtype, _, ..] if subtype >> 4 == 5 => return true,
            [1, ref rest @ ..] => options = rest,
            [kind, len, ..] if kind > 1 && len > 1 => options = options.get(usize::from(len)..).unwrap_or_default(),
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An acknowledgement without options: 20 octets of IPv4 and 20 of TCP.
    const ACKNOWLEDGEMENT: [u8; 40] = [
        0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, // IPv4
        0, 80, 1, 0, 0, 0, 0, 7, 0, 0, 0, 9, 0x50, 0x10, 2, 0, 0, 0, 0, 0, // TCP
    ];

    #[test]
    fn a_packet_that_is_kept_is_the_same_and_takes_its_octets() {
        let packet = parse(&ACKNOWLEDGEMENT, 40, 5, Tap::default()).expect("a packet of TCP");
        assert_eq!((packet.seq, packet.ack, packet.time), (7, 9, 5));
        let kept = packet.keep();
        assert_eq!(kept.size(), 40);
        let again = kept.packet().expect("the same packet");
        assert_eq!((again.seq, again.ack, again.time, again.flags), (7, 9, 5, packet.flags));
    }

    #[test]
    fn a_priority_of_an_address_is_found_among_other_options() {
        assert!(has_prio_of_address(&[1, 1, 8, 10, 0, 0, 0, 0, 0, 0, 0, 0, 30, 4, 0x51, 2]));
        assert!(!has_prio_of_address(&[30, 3, 0x51, 1]));
        assert!(!has_prio_of_address(&[30, 4, 0x81, 2]));
        assert!(!has_prio_of_address(&[8, 0, 30, 4, 0x51, 2]));
        assert!(!has_prio_of_address(&[8, 200, 30]));
        assert!(!has_prio_of_address(&[0, 30, 4, 0x51, 2]));
    }
}
