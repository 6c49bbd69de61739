//! A typed segment to bytes and back.
//!
//! Options are laid out as Linux does, so that the packets look like those of a common host: MSS, SACK permitted,
//! timestamps, window scale on a SYN; timestamps, SACK, MPTCP on others; NOPs before timestamps and SACK so that their
//! fields are aligned (RFC 7323 appendix A), NOPs after an MPTCP option up to a word. [`Options::wire_len`] is their length.
//!
//! **DSS checksums.** A typed mapping's checksum is computed as if the payload's octets summed to zero, because the engine
//! has no octets. Sums add up in any order (RFC 1071 2 A), so [`emit`] adds the sum of the octets that it writes. In the other
//! direction nothing has to be taken away: [`parse`] hands on the checksum as it came, and with it the sum of the octets
//! ([`crate::segment::Payload::sum`]), from which the engine verifies also mappings that span segments.
//!
//! [`parse`] drops what a typed segment cannot express: unknown options, all but the first of each kind, MP_CAPABLE of
//! another version or with an unknown cryptographic algorithm or extension (RFC 8684 3.1: such an option is ignored), an
//! ADD_ADDR that is no echo and has no HMAC (3.4.1), urgent data.

use core::net::SocketAddr;
use core::num::NonZeroU16;

use super::checksum::Sum;
use super::mptcp::{CapableFlags, MptcpOption};
use super::option::{self, NOP, TcpOption};
use super::{Error, ip, tcp};
use crate::segment::{
    AddrId, AddrIds, Advertised, Dss, Ecn, Mptcp, OPTION_SPACE, Options, Payload, ResetReason, Segment, Signal, TcpRst,
};

/// What a packet has beside its segment: addresses, ports, identification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Source address and port.
    pub src: SocketAddr,
    /// Destination address and port, of the same family.
    pub dst: SocketAddr,
    /// IPv4 identification; any value will do, as no packet may be fragmented (RFC 6864 4.1). IPv6 has none.
    pub id: u16,
}

/// MP_CAPABLE's version in RFC 8684 3.1: the highest, and the only one.
const VERSION: u8 = 1;
/// A common initial time to live.
pub(super) const HOP_LIMIT: u8 = 64;

/// Appends `segment` as an IP packet. `fill` writes the octets of its payload. `mapped` is the sum of all octets that the
/// segment's mapping covers; `None` if these are the payload.
///
/// # Errors
/// If the options do not fit, the packet is too long, or the addresses are of different families. Nothing usable is in
/// `out` then.
pub fn emit(
    segment: &Segment,
    envelope: &Envelope,
    mapped: Option<Sum>,
    fill: impl FnOnce(&mut [u8]),
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let option_len = segment.options.wire_len() as usize;
    if option_len > OPTION_SPACE as usize {
        return Err(Error::Field { what: "length of TCP options", value: option_len as u32 });
    }
    let (header_len, payload_len) = (tcp::HEADER_LEN + option_len, segment.payload.len as usize);
    let Ok(len) = u16::try_from(header_len + payload_len) else {
        return Err(Error::Field { what: "length of a TCP segment", value: segment.payload.len });
    };
    let ip = ip::Header {
        src: envelope.src.ip(),
        dst: envelope.dst.ip(),
        protocol: ip::TCP,
        ecn: segment.ecn,
        hop_limit: HOP_LIMIT,
        id: envelope.id,
        payload_len: len,
    };
    ip.emit(out)?;
    let start = out.len();
    header_of(segment, (envelope.src.port(), envelope.dst.port())).emit(option_len, out)?;
    // The payload is written first, behind the room for the options: their checksum depends on it.
    let options_at = out.len();
    out.resize(options_at + option_len + payload_len, 0);
    let (_, payload) = out[options_at..].split_at_mut(option_len);
    fill(payload);
    let payload_sum = Sum::of(payload);
    let mapped = mapped.unwrap_or(payload_sum);
    // Appended at the end, then moved to their place: no buffer of their own.
    let end = out.len();
    emit_options(&segment.options, mapped, out);
    debug_assert_eq!(out.len() - end, option_len, "{:?}", segment.options);
    out.copy_within(end.., options_at);
    out.truncate(end);
    tcp::fill_checksum(&mut out[start..], envelope.src.ip(), envelope.dst.ip())
}

fn header_of(segment: &Segment, (src_port, dst_port): (u16, u16)) -> tcp::Header {
    let &Segment { seq, ack, flags, window, .. } = segment;
    tcp::Header { src_port, dst_port, seq, ack, flags, window }
}

/// Appends the TCP header of `segment` with its options and no payload, for source and destination
/// port `ports`. The checksum of the header is zero; a DSS checksum is that of the typed segment.
///
/// # Errors
/// If the options do not fit.
pub fn emit_tcp(segment: &Segment, ports: (u16, u16), out: &mut Vec<u8>) -> Result<(), Error> {
    header_of(segment, ports).emit(segment.options.wire_len() as usize, out)?;
    emit_options(&segment.options, Sum(0), out);
    Ok(())
}

/// The segment whose TCP header is `view`, with the ECN field of its IP header; `payload` are its
/// octets.
pub fn parse_tcp(view: &tcp::View<'_>, ecn: Ecn, payload: &[u8]) -> Segment {
    let options = parse_options(view.options());
    Segment {
        seq: view.seq(),
        ack: view.ack(),
        window: view.window(),
        flags: view.flags(),
        ecn,
        payload: payload_of(payload, &options),
        options,
    }
}

/// Appends `options`, padded to whole words; `mapped` is added to the DSS checksum if there is one.
pub fn emit_options(options: &Options, mapped: Sum, out: &mut Vec<u8>) {
    if let Some(mss) = options.mss {
        TcpOption::Mss(mss).emit(out);
    }
    if options.sack_permitted {
        if options.timestamps.is_none() {
            out.extend([NOP; 2]);
        }
        TcpOption::SackPermitted.emit(out);
    }
    if let Some(timestamps) = options.timestamps {
        if !options.sack_permitted {
            out.extend([NOP; 2]);
        }
        TcpOption::Timestamps(timestamps).emit(out);
    }
    if let Some(shift) = options.window_scale {
        out.push(NOP);
        TcpOption::WindowScale(shift).emit(out);
    }
    if let Signal::FastOpen(cookie) = options.signal {
        let option = TcpOption::FastOpen(cookie);
        option.emit(out);
        out.extend(&[NOP; 3][..option.wire_len().next_multiple_of(4) - option.wire_len()]);
    }
    if options.door_permitted {
        TcpOption::DoorPermitted.emit(out);
    }
    if let Some(number) = options.door.packet {
        out.extend([NOP; 2]);
        TcpOption::DoorPacket(number).emit(out);
    }
    if let Some((number, reordered)) = options.door.duplicate {
        out.extend([NOP; 2]);
        TcpOption::DoorDuplicate(number, reordered).emit(out);
    }
    if !options.sack.as_slice().is_empty() {
        out.extend([NOP; 2]);
        TcpOption::Sack(options.sack).emit(out);
    }
    let reset = options.tcp_rst.map(|r| MptcpOption::Reset { transient: r.transient, reason: r.reason.0 });
    for option in [handshake_or_dss(&options.mptcp, mapped), signal(&options.signal), reset].into_iter().flatten() {
        option.emit(out);
        let padding = option.wire_len().next_multiple_of(4) - option.wire_len();
        out.extend(&[NOP; 3][..padding]);
    }
}

/// The checksum that goes on the wire for a mapping of `len` octets with the typed checksum `checksum`; `mapped` is the sum of
/// the octets.
fn real(checksum: Option<u16>, len: u16, mapped: Sum) -> Option<u16> {
    // RFC 8684 3.3.1: the checksum of an infinite mapping is zero.
    checksum.map(|c| if len == 0 { c } else { Sum(!c).plus(mapped).checksum() })
}

fn handshake_or_dss(mptcp: &Mptcp, mapped: Sum) -> Option<MptcpOption<'static>> {
    let version = VERSION;
    let flags = |checksum, no_join| {
        let checksum = if checksum { CapableFlags::CHECKSUM } else { 0 };
        let no_join = if no_join { CapableFlags::NO_JOIN_HERE } else { 0 };
        CapableFlags(CapableFlags::HMAC_SHA256 | checksum | no_join)
    };
    Some(match *mptcp {
        Mptcp::None => return None,
        Mptcp::CapableSyn { no_join, checksum } => MptcpOption::CapableSyn { version, flags: flags(checksum, no_join) },
        Mptcp::CapableSynAck { no_join, checksum, key } => {
            MptcpOption::CapableSynAck { version, flags: flags(checksum, no_join), key }
        }
        Mptcp::CapableAck { checksum, sender_key, receiver_key, data } => {
            let data = data.map(|(len, checksum)| (len, real(checksum, len, mapped)));
            MptcpOption::CapableAck { version, flags: flags(checksum, false), sender_key, receiver_key, data }
        }
        Mptcp::JoinSyn { backup, address_id, token, nonce } => {
            MptcpOption::JoinSyn { backup, address_id, token, nonce }
        }
        Mptcp::JoinSynAck { backup, address_id, hmac, nonce } => {
            MptcpOption::JoinSynAck { backup, address_id, hmac, nonce }
        }
        Mptcp::JoinAck { hmac } => MptcpOption::JoinAck { hmac },
        Mptcp::Dss(mut dss) => {
            if let Some(m) = &mut dss.mapping {
                m.checksum = real(m.checksum, m.len, mapped);
            }
            MptcpOption::Dss(dss)
        }
    })
}

fn signal(signal: &Signal) -> Option<MptcpOption<'_>> {
    let add = |a: &Advertised, hmac: Option<u64>| MptcpOption::AddAddr {
        echo: hmac.is_none(),
        id: a.address.id,
        addr: a.address.addr,
        port: a.port.map(NonZeroU16::get),
        hmac,
    };
    Some(match signal {
        Signal::None | Signal::FastOpen(_) => return None,
        Signal::AddAddr { advertised, hmac } => add(advertised, Some(*hmac)),
        Signal::AddAddrEcho(advertised) => add(advertised, None),
        Signal::RemoveAddr(ids) => MptcpOption::RemoveAddr { ids: ids.as_slice() },
        Signal::Prio { backup } => MptcpOption::Prio { backup: *backup },
        Signal::Fail { dsn } => MptcpOption::Fail { dsn: *dsn },
        Signal::Fastclose { key } => MptcpOption::Fastclose { key: *key },
    })
}

/// The TCP segment in an IP packet as a typed value, its envelope, and the octets of its payload. The payload's offset is set
/// to zero, since a packet does not state it. The checksums of IP and TCP are not verified here.
///
/// # Errors
/// If it is no TCP segment, a fragment, cut short, or its options end in the middle of one.
pub fn parse(bytes: &[u8]) -> Result<(Segment, Envelope, &[u8]), Error> {
    let ip = ip::View::new(bytes)?;
    if ip.protocol() != ip::TCP {
        return Err(Error::Field { what: "protocol number of an IP packet with TCP", value: ip.protocol().into() });
    }
    if ip.is_fragment() {
        return Err(Error::Field { what: "fragment bits of an IP packet with TCP", value: 1 });
    }
    let view = tcp::View::new(ip.payload())?;
    super::require("TCP segment", ip.payload(), ip.payload_len().max(view.header_len()))?;
    let payload = view.payload();
    let segment = parse_tcp(&view, ip.ecn(), payload);
    let envelope = Envelope {
        src: SocketAddr::new(ip.src(), view.src_port()),
        dst: SocketAddr::new(ip.dst(), view.dst_port()),
        id: ip.id(),
    };
    Ok((segment, envelope, payload))
}

/// What the engine is told of the octets of a payload: how many, and their sums. Its offset is zero: octets do not say it.
pub fn payload_of(octets: &[u8], options: &Options) -> Payload {
    let mapped = match options.mptcp {
        Mptcp::Dss(Dss { mapping: Some(m), data_fin, .. }) => usize::from(m.len) - usize::from(data_fin && m.len > 0),
        Mptcp::CapableAck { data: Some((len, _)), .. } => usize::from(len),
        _ => octets.len(),
    };
    let rest = octets.get(mapped..).map_or(Sum(0), |rest| Sum::of(rest).at(mapped as u64));
    Payload { sum: Sum::of(octets).0, rest: rest.0, ..Payload::new(0, octets.len() as u32) }
}

/// The options as typed values: the first of each kind. Malformed ones are left out like unknown ones (RFC 9293 3.1).
pub fn parse_options(options: option::Iter<'_>) -> Options {
    let mut o = Options::default();
    for option in options.flatten() {
        match option {
            TcpOption::Mss(mss) => {
                o.mss.get_or_insert(mss);
            }
            TcpOption::WindowScale(shift) => {
                o.window_scale.get_or_insert(shift);
            }
            TcpOption::SackPermitted => o.sack_permitted = true,
            TcpOption::Sack(blocks) => {
                if o.sack.as_slice().is_empty() {
                    o.sack = blocks;
                }
            }
            TcpOption::Timestamps(timestamps) => {
                o.timestamps.get_or_insert(timestamps);
            }
            TcpOption::FastOpen(cookie) => {
                if o.signal.is_empty() {
                    o.signal = Signal::FastOpen(cookie);
                }
            }
            TcpOption::DoorPermitted => o.door_permitted = true,
            TcpOption::DoorPacket(number) => {
                o.door.packet.get_or_insert(number);
            }
            TcpOption::DoorDuplicate(number, reordered) => {
                o.door.duplicate.get_or_insert((number, reordered));
            }
            TcpOption::Mptcp(option) => parse_mptcp(option, &mut o),
            TcpOption::Other { .. } => {}
        }
    }
    o
}

fn parse_mptcp(option: MptcpOption<'_>, o: &mut Options) {
    let known = |version, flags: CapableFlags| {
        version == VERSION && flags.has(CapableFlags::HMAC_SHA256) && !flags.has(CapableFlags::EXTENSIBILITY)
    };
    let mut mptcp = Mptcp::None;
    let mut signal = Signal::None;
    match option {
        MptcpOption::CapableSyn { version, flags } if known(version, flags) => {
            let no_join = flags.has(CapableFlags::NO_JOIN_HERE);
            mptcp = Mptcp::CapableSyn { no_join, checksum: flags.has(CapableFlags::CHECKSUM) };
        }
        MptcpOption::CapableSynAck { version, flags, key } if known(version, flags) => {
            let no_join = flags.has(CapableFlags::NO_JOIN_HERE);
            mptcp = Mptcp::CapableSynAck { no_join, checksum: flags.has(CapableFlags::CHECKSUM), key };
        }
        MptcpOption::CapableAck { version, flags, sender_key, receiver_key, data } if known(version, flags) => {
            let checksum = flags.has(CapableFlags::CHECKSUM);
            mptcp = Mptcp::CapableAck { checksum, sender_key, receiver_key, data };
        }
        MptcpOption::CapableSyn { .. } | MptcpOption::CapableSynAck { .. } | MptcpOption::CapableAck { .. } => {}
        MptcpOption::JoinSyn { backup, address_id, token, nonce } => {
            mptcp = Mptcp::JoinSyn { backup, address_id, token, nonce };
        }
        MptcpOption::JoinSynAck { backup, address_id, hmac, nonce } => {
            mptcp = Mptcp::JoinSynAck { backup, address_id, hmac, nonce };
        }
        MptcpOption::JoinAck { hmac } => mptcp = Mptcp::JoinAck { hmac },
        MptcpOption::Dss(dss) => mptcp = Mptcp::Dss(dss),
        MptcpOption::AddAddr { echo, id, addr, port, hmac } => {
            let advertised = Advertised { address: AddrId { id, addr }, port: port.and_then(NonZeroU16::new) };
            signal = match hmac {
                // RFC 8684 3.4.1: an echo has no HMAC to look at.
                _ if echo => Signal::AddAddrEcho(advertised),
                Some(hmac) => Signal::AddAddr { advertised, hmac },
                None => Signal::None,
            };
        }
        MptcpOption::RemoveAddr { ids } => signal = Signal::RemoveAddr(AddrIds::new(ids)),
        MptcpOption::Prio { backup } => signal = Signal::Prio { backup },
        MptcpOption::Fail { dsn } => signal = Signal::Fail { dsn },
        MptcpOption::Fastclose { key } => signal = Signal::Fastclose { key },
        MptcpOption::Reset { transient, reason } => {
            o.tcp_rst.get_or_insert(TcpRst { transient, reason: ResetReason(reason) });
        }
        MptcpOption::Other { .. } => {}
    }
    if o.mptcp.is_empty() {
        o.mptcp = mptcp;
    }
    if o.signal.is_empty() {
        o.signal = signal;
    }
}
