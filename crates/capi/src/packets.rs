//! Packets and time.

use anabranch_stack::event::SendKind;
use anabranch_stack::host::{Addresses, Reference};
use anabranch_stack::segment::{Ecn, Payload};
use anabranch_stack::wire::segment::{parse_tcp, payload_of};
use anabranch_stack::wire::{checksum, tcp};

use crate::address::anabranch_tuple;
use crate::host::{anabranch_host, each, guarded};
use crate::status::{
    ANABRANCH_ARGUMENT, ANABRANCH_NOTHING, ANABRANCH_OK, ANABRANCH_PACKET, ANABRANCH_SMALL, Fault, Sized32, array,
    caught, fault, given, null, place, put,
};

/// No ECN.
pub const ANABRANCH_ECN_NONE: u8 = 0;
/// ECT(0).
pub const ANABRANCH_ECN_ECT0: u8 = 2;
/// Congestion experienced.
pub const ANABRANCH_ECN_CE: u8 = 3;

/// Kind of segment: no payload.
pub const ANABRANCH_SEND_CONTROL: u8 = 0;
/// Kind of segment: octets sent for the first time.
pub const ANABRANCH_SEND_NEW: u8 = 1;
/// Kind of segment: retransmission in fast recovery.
pub const ANABRANCH_SEND_FAST: u8 = 2;
/// Kind of segment: retransmission after a timeout.
pub const ANABRANCH_SEND_TIMEOUT: u8 = 3;
/// Kind of segment: octets already sent on another subflow.
pub const ANABRANCH_SEND_REINJECTION: u8 = 4;
/// Kind of segment: zero-window probe.
pub const ANABRANCH_SEND_PROBE: u8 = 5;
/// Kind of segment: tail loss probe.
pub const ANABRANCH_SEND_TAIL_PROBE: u8 = 6;

/// A segment to send, of a host by reference.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct anabranch_segment {
    /// Octets of this struct.
    pub size: u32,
    /// Number of the subflow; `UINT32_MAX` for a reset that belongs to no connection.
    pub subflow: u32,
    /// Number of the connection; 0 for such a reset.
    pub connection: u64,
    /// Offset of the payload in our stream.
    pub payload_offset: u64,
    /// Octets of the payload.
    pub payload_len: u32,
    /// ECN field of the IP header: an `ANABRANCH_ECN_` constant.
    pub ecn: u8,
    /// An `ANABRANCH_SEND_` constant.
    pub kind: u8,
    /// Octets of the TCP header.
    pub header_len: u8,
    /// Not 0: the header has a DSS checksum, to which [`anabranch_fill_checksums`] adds the octets.
    pub dss_checksum: u8,
    /// Source and destination.
    pub tuple: anabranch_tuple,
    /// The TCP header with its options; its checksum is 0 until [`anabranch_fill_checksums`].
    pub header: [u8; 60],
    /// Offset in `header` of the DSS checksum, if there is one.
    pub dss_checksum_at: u32,
}

// SAFETY: the struct begins with its size.
unsafe impl Sized32 for anabranch_segment {}

fn ecn(field: u8) -> Ecn {
    match field & 3 {
        0 => Ecn::NotEct,
        3 => Ecn::Ce,
        _ => Ecn::Ect0,
    }
}

fn ecn_field(ecn: Ecn) -> u8 {
    match ecn {
        Ecn::NotEct => ANABRANCH_ECN_NONE,
        Ecn::Ect0 => ANABRANCH_ECN_ECT0,
        Ecn::Ce => ANABRANCH_ECN_CE,
    }
}

fn kind(kind: SendKind) -> u8 {
    match kind {
        SendKind::Control => ANABRANCH_SEND_CONTROL,
        SendKind::New => ANABRANCH_SEND_NEW,
        SendKind::Fast => ANABRANCH_SEND_FAST,
        SendKind::Timeout => ANABRANCH_SEND_TIMEOUT,
        SendKind::Reinjection => ANABRANCH_SEND_REINJECTION,
        SendKind::Probe => ANABRANCH_SEND_PROBE,
        SendKind::TailProbe => ANABRANCH_SEND_TAIL_PROBE,
    }
}

/// An IP packet arrives at a host that keeps octets. A packet that is damaged or no TCP segment is
/// dropped and gives `ANABRANCH_PACKET`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_handle_packet(
    host: *mut anabranch_host,
    now: u64,
    packet: *const u8,
    len: usize,
) -> i32 {
    let call = |host: &mut anabranch_host| {
        let now = host.at(now)?;
        // SAFETY: null is refused; else the caller passes `len` octets.
        let packet = unsafe { array(packet, len, "packet") }?;
        match host.octets()?.handle_bytes(now, packet) {
            Ok(()) => Ok(ANABRANCH_OK),
            Err(e) => fault(ANABRANCH_PACKET, e),
        }
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

/// A segment arrives at a host by reference. `header` is the TCP header with its options, `tuple`
/// the 4-tuple as seen from this host, `ecn` the ECN field of the IP header. The caller has
/// verified the TCP checksum. `payload` is only read for the sum of its octets, which DSS checksums
/// need; null: the sum is 0. Poll events next: `ANABRANCH_EVENT_ARRIVED` says where the octets
/// belong.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_handle_segment(
    host: *mut anabranch_host,
    now: u64,
    tuple: *const anabranch_tuple,
    ecn_of_ip: u8,
    header: *const u8,
    header_len: usize,
    payload: *const u8,
    payload_len: u32,
) -> i32 {
    let call = |host: &mut anabranch_host| {
        let now = host.at(now)?;
        // SAFETY: null is refused; else the caller passes a 4-tuple, and `header_len` octets.
        let (addresses, header) =
            unsafe { (given(tuple, "tuple")?.addresses()?, array(header, header_len, "header")?) };
        if payload_len > 65_535 {
            return fault(ANABRANCH_ARGUMENT, format!("payload_len is {payload_len}: at most 65535"));
        }
        let view = tcp::View::new(header).map_err(|e| Fault { code: ANABRANCH_PACKET, text: e.to_string() })?;
        if view.header_len() != header.len() {
            let text = format!("the TCP data offset says {} octets, header_len {header_len}", view.header_len());
            return fault(ANABRANCH_PACKET, text);
        }
        let mut segment = parse_tcp(&view, ecn(ecn_of_ip), &[]);
        segment.payload = Payload::new(0, payload_len);
        if !payload.is_null() {
            // SAFETY: not null: the caller passes `payload_len` octets.
            let payload = unsafe { array(payload, payload_len as usize, "payload") }?;
            segment.payload = payload_of(payload, &segment.options);
        }
        host.reference()?.handle_segment(now, addresses, &segment);
        Ok(ANABRANCH_OK)
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

/// Takes the next IP packet to send of a host that keeps octets. `len` is the room in `packet` and
/// becomes the length of the packet. 65535 octets always suffice; less room loses the packet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_poll_packet(
    host: *mut anabranch_host,
    now: u64,
    packet: *mut u8,
    len: *mut usize,
) -> i32 {
    let call = |host: &mut anabranch_host| {
        let now = host.at(now)?;
        // SAFETY: null is refused; else the caller passes a length.
        let room = *unsafe { given(len, "len") }?;
        if packet.is_null() {
            return Err(null("packet"));
        }
        let Some(t) = host.octets()?.poll_transmit(now) else { return Ok(ANABRANCH_NOTHING) };
        let mut octets = std::mem::take(&mut host.buffer);
        octets.clear();
        let emitted = t.emit(0, &mut octets).map_err(|e| Fault { code: ANABRANCH_PACKET, text: e.to_string() });
        let result = emitted.and_then(|()| {
            if octets.len() > room {
                let text = format!("the packet has {} octets, the buffer room for {room}", octets.len());
                return fault(ANABRANCH_SMALL, text);
            }
            // SAFETY: `packet` has room for `room` octets, which is enough, and `len` is a place
            // for a length.
            unsafe {
                std::ptr::copy_nonoverlapping(octets.as_ptr(), packet, octets.len());
                put(len, octets.len(), "len")
            }
            .map(|()| ANABRANCH_OK)
        });
        host.buffer = octets;
        result
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

/// Takes the next segment to send of a host by reference.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_poll_segment(
    host: *mut anabranch_host,
    now: u64,
    segment: *mut anabranch_segment,
) -> i32 {
    let call = |host: &mut anabranch_host| {
        let now = host.at(now)?;
        // SAFETY: null is refused; else the caller passes a struct that begins with its size.
        let place = unsafe { place(segment, "segment") }?;
        let Some(t) = host.reference()?.poll_reference(now) else { return Ok(ANABRANCH_NOTHING) };
        let mut header = std::mem::take(&mut host.buffer);
        header.clear();
        let described = describe(&t, &mut header);
        host.buffer = header;
        Ok(place.fill(described?))
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

fn describe(t: &Reference, header: &mut Vec<u8>) -> Result<anabranch_segment, Fault> {
    t.emit_header(header).map_err(|e| Fault { code: ANABRANCH_PACKET, text: e.to_string() })?;
    let (connection, subflow) = t.source.map_or((0, u32::MAX), |(id, subflow)| (id.into(), subflow as u32));
    let mut described = anabranch_segment {
        size: size_of::<anabranch_segment>() as u32,
        subflow,
        connection,
        payload_offset: t.segment.payload.offset,
        payload_len: t.segment.payload.len,
        ecn: ecn_field(t.segment.ecn),
        kind: kind(t.kind),
        header_len: header.len() as u8,
        dss_checksum: 0,
        tuple: anabranch_tuple::of(t.addresses),
        header: [0; 60],
        dss_checksum_at: 0,
    };
    described.header[..header.len()].copy_from_slice(header);
    if let Some(at) = dss_checksum_at(t, header) {
        (described.dss_checksum, described.dss_checksum_at) = (1, at);
    }
    Ok(described)
}

/// Where the DSS checksum of a segment stands that the octets of its payload have to be added to.
fn dss_checksum_at(t: &Reference, header: &[u8]) -> Option<u32> {
    let mut added = *t;
    added.add_to_checksum(checksum::Sum(1));
    if added.segment.options == t.segment.options {
        return None;
    }
    // The two headers differ in the checksum alone, and there in the low octet at least.
    let mut other = Vec::with_capacity(header.len());
    added.emit_header(&mut other).ok()?;
    let last = header.iter().zip(&other).rposition(|(a, b)| a != b)?;
    Some((last as u32) & !1)
}

/// Adds the octets of the payload to the DSS checksum of a segment's header, if it has one, and
/// sets the header's TCP checksum. `payload` null: the octets are zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_fill_checksums(segment: *mut anabranch_segment, payload: *const u8) -> i32 {
    caught(|| {
        // SAFETY: null is refused; else the caller passes a segment that nothing else uses.
        let Some(s) = (unsafe { segment.as_mut() }) else { return Err(null("segment")) };
        let Addresses { local, remote } = s.tuple.addresses()?;
        let len = if payload.is_null() { 0 } else { s.payload_len as usize };
        // SAFETY: null counts as no octets; else the caller passes `payload_len` octets.
        let sum = checksum::Sum::of(unsafe { array(payload, len, "payload") }?);
        let (header_len, at) = (usize::from(s.header_len), s.dss_checksum_at as usize);
        if !(tcp::HEADER_LEN..=60).contains(&header_len) || (s.dss_checksum != 0 && at + 2 > header_len) {
            return fault(ANABRANCH_ARGUMENT, "the segment is none that anabranch_poll_segment has filled in");
        }
        if s.payload_len > u32::from(u16::MAX) {
            return fault(ANABRANCH_ARGUMENT, format!("payload_len is {}: at most {}", s.payload_len, u16::MAX));
        }
        let header = &mut s.header[..header_len];
        if s.dss_checksum != 0 {
            let field = checksum::Sum(!u16::from_be_bytes([header[at], header[at + 1]]));
            header[at..at + 2].copy_from_slice(&field.plus(sum).checksum().to_be_bytes());
        }
        header[16..18].fill(0);
        let whole = header_len as u32 + s.payload_len;
        let pseudo = checksum::tcp_pseudo_header(local.ip(), remote.ip(), whole);
        let all = pseudo.plus(checksum::Sum::of(header)).plus(sum);
        header[16..18].copy_from_slice(&all.checksum().to_be_bytes());
        Ok(ANABRANCH_OK)
    })
}

/// When to call [`anabranch_handle_timeout`] at the latest, in ns; `ANABRANCH_NOTHING`: no timer
/// runs. Call it after everything else was polled.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_poll_timeout(host: *mut anabranch_host, at: *mut u64) -> i32 {
    let call = |host: &mut anabranch_host| match host.deadline() {
        // SAFETY: null is refused; else the caller passes a place for a time.
        Some(deadline) => unsafe { put(at, deadline.0, "at") }.map(|()| ANABRANCH_OK),
        None => Ok(ANABRANCH_NOTHING),
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

/// Runs everything that is due at `now`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_handle_timeout(host: *mut anabranch_host, now: u64) -> i32 {
    let call = |host: &mut anabranch_host| {
        let now = host.at(now)?;
        each!(host, e => e.handle_timeout(now));
        Ok(ANABRANCH_OK)
    };
    // SAFETY: `host` is null, which is refused, or came from `anabranch_host_new`.
    unsafe { guarded(host, call) }
}

/// Verifies the TCP checksum of a segment that has arrived: `ANABRANCH_PACKET` if it is wrong.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_verify_checksum(
    tuple: *const anabranch_tuple,
    header: *const u8,
    header_len: usize,
    payload: *const u8,
    payload_len: usize,
) -> i32 {
    caught(|| {
        // SAFETY: null is refused; else the caller passes a 4-tuple, and octets of these lengths.
        let (tuple, header, payload) = unsafe {
            let tuple = given(tuple, "tuple")?.addresses()?;
            (tuple, array(header, header_len, "header")?, array(payload, payload_len, "payload")?)
        };
        if header_len % 2 != 0 || header_len + payload_len.min(1 << 20) > 65_535 {
            return fault(ANABRANCH_PACKET, format!("{header_len} and {payload_len} octets are no TCP segment"));
        }
        let pseudo =
            checksum::tcp_pseudo_header(tuple.remote.ip(), tuple.local.ip(), (header_len + payload_len) as u32);
        match pseudo.plus(checksum::Sum::of(header)).plus(checksum::Sum::of(payload)).checksum() {
            0 => Ok(ANABRANCH_OK),
            _ => fault(ANABRANCH_PACKET, "the TCP checksum is wrong"),
        }
    })
}
