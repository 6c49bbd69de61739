//! Any typed segment whose options fit: its octets have the length it says and are parsed to it again, with the sum of its payload
//! and the DSS checksum that covers it (RFC 8684 3.3.1).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::num::NonZeroU16;

use anabranch_stack::segment::{
    AddrId, AddrIds, Advertised, DataAck, Door, Dss, Ecn, Flags, Mapping, Mptcp, OPTION_SPACE, Options, Payload,
    ResetReason, SackBlocks, Segment, Signal, TcpRst, Timestamps,
};
use anabranch_stack::wire::budget;
use anabranch_stack::wire::checksum::{Sum, dss_pseudo_header};
use anabranch_stack::wire::segment::{Envelope, emit, parse};

use super::kind;
use crate::Target;
use crate::input::{Input, Rng};

/// The target.
pub const TARGET: Target = Target {
    name: "segment",
    holds: "a typed segment is emitted to octets of its length that are parsed to it again; its DSS checksum covers its payload",
    run,
    seeds: || {
        let mut rng = Rng(3);
        (0..64).map(|_| rng.octets(220)).collect()
    },
};

fn address(i: &mut Input<'_>, v4: bool) -> IpAddr {
    if v4 {
        Ipv4Addr::from(i.u32()).into()
    } else {
        Ipv6Addr::from(u128::from(i.u64()) << 64 | u128::from(i.u64())).into()
    }
}

fn advertised(i: &mut Input<'_>) -> Advertised {
    let v4 = i.flag();
    let address = AddrId { id: i.u8(), addr: address(i, v4) };
    Advertised { address, port: NonZeroU16::new(if i.flag() { i.u16() } else { 0 }) }
}

fn dss(i: &mut Input<'_>) -> Dss {
    let data_ack = i.maybe(|i| if i.flag() { DataAck::Four(i.u32()) } else { DataAck::Eight(i.u64()) });
    let mapping = i.maybe(|i| {
        let short = i.flag();
        let dsn = if short { i.u32().into() } else { i.u64() };
        Mapping { dsn, short, ssn: i.u32(), len: i.u16(), checksum: i.maybe(Input::u16) }
    });
    Dss { data_ack, mapping, data_fin: i.flag() && mapping.is_some() }
}

fn options(i: &mut Input<'_>) -> Options {
    let mptcp = match i.below(10) {
        0 => Mptcp::CapableSyn { no_join: i.flag(), checksum: i.flag() },
        1 => Mptcp::CapableSynAck { no_join: i.flag(), checksum: i.flag(), key: i.u64() },
        2 => {
            let data = i.maybe(|i| (i.u16(), i.maybe(Input::u16)));
            Mptcp::CapableAck { checksum: i.flag(), sender_key: i.u64(), receiver_key: i.u64(), data }
        }
        3 => Mptcp::JoinSyn { backup: i.flag(), address_id: i.u8(), token: i.u32(), nonce: i.u32() },
        4 => Mptcp::JoinSynAck { backup: i.flag(), address_id: i.u8(), hmac: i.u64(), nonce: i.u32() },
        5 => {
            let mut hmac = [0; 20];
            hmac.iter_mut().for_each(|octet| *octet = i.u8());
            Mptcp::JoinAck { hmac }
        }
        6 => Mptcp::None,
        _ => Mptcp::Dss(dss(i)),
    };
    let signal = match i.below(12) {
        0 => Signal::AddAddr { advertised: advertised(i), hmac: i.u64() },
        1 => Signal::AddAddrEcho(advertised(i)),
        2 => {
            let n = 1 + i.below(AddrIds::MAX);
            let taken = i.take(n);
            Signal::RemoveAddr(AddrIds::new(if taken.is_empty() { &[0] } else { taken }))
        }
        3 => Signal::Prio { backup: i.flag() },
        4 => Signal::Fail { dsn: i.u64() },
        5 => Signal::Fastclose { key: i.u64() },
        _ => Signal::None,
    };
    let mut sack = SackBlocks::default();
    for _ in 0..i.below(5) {
        sack.push(i.u32(), i.u32());
    }
    Options {
        mss: i.maybe(Input::u16),
        window_scale: i.maybe(|i| i.u8() % 15),
        sack_permitted: i.flag(),
        door_permitted: i.flag(),
        door: Door { packet: i.maybe(Input::u16), duplicate: i.maybe(|i| (i.u8(), i.flag())) },
        timestamps: i.maybe(|i| Timestamps { val: i.u32(), ecr: i.u32() }),
        sack,
        mptcp,
        signal,
        tcp_rst: i.maybe(|i| TcpRst { transient: i.flag(), reason: ResetReason(i.u8()) }),
    }
}

/// A segment whose options fit, and an envelope.
pub fn build(i: &mut Input<'_>) -> (Segment, Envelope) {
    let v4 = i.flag();
    let (src, dst) = (SocketAddr::new(address(i, v4), i.u16()), SocketAddr::new(address(i, v4), i.u16()));
    let envelope = Envelope { src, dst, id: if v4 { i.u16() } else { 0 } };
    let mut options = options(i);
    budget::fit(&mut options);
    // What the budget does not drop, a caller would not have put together.
    let steps: [fn(&mut Options); 6] = [
        |o| (o.mss, o.window_scale, o.sack_permitted, o.door_permitted) = (None, None, false, false),
        |o| o.tcp_rst = None,
        |o| o.timestamps = None,
        |o| o.signal = Signal::None,
        |o| o.mptcp = Mptcp::None,
        |o| o.sack = SackBlocks::default(),
    ];
    for step in steps {
        if options.wire_len() > OPTION_SPACE {
            step(&mut options);
        }
    }
    let segment = Segment {
        seq: i.u32(),
        ack: i.u32(),
        window: i.u16(),
        flags: Flags(i.u8()),
        ecn: [Ecn::NotEct, Ecn::Ect0, Ecn::Ce][i.below(3)],
        payload: Payload::new(0, u32::from(i.u16()) % 1461),
        options,
    };
    (segment, envelope)
}

/// DSN, SSN, length and place of the DSS checksum.
fn checksum(options: &mut Options) -> Option<(u64, u32, u16, &mut u16)> {
    match &mut options.mptcp {
        Mptcp::Dss(Dss { mapping: Some(Mapping { dsn, ssn, len, checksum: Some(c), .. }), .. }) => {
            Some((*dsn, *ssn, *len, c))
        }
        Mptcp::CapableAck { data: Some((len, Some(c))), .. } => Some((0, 1, *len, c)),
        _ => None,
    }
}

fn run(octets: &[u8]) -> u64 {
    let mut input = Input(octets);
    let (mut sent, envelope) = build(&mut input);
    // As the engine computes it: the payload sums to zero.
    if let Some((dsn, ssn, len, c)) = checksum(&mut sent.options) {
        *c = if len == 0 { 0 } else { dss_pseudo_header(dsn, ssn, len).checksum() };
    }
    let pattern = input.u64().to_be_bytes();
    let fill = |out: &mut [u8]| out.iter_mut().zip(pattern.iter().cycle()).for_each(|(to, from)| *to = *from);
    let mut bytes = Vec::new();
    emit(&sent, &envelope, None, fill, &mut bytes).expect("built to fit");
    let v6 = if envelope.src.is_ipv4() { 0 } else { 20 };
    assert_eq!(bytes.len(), sent.wire_len() as usize + v6, "{sent:?}");
    let (mut received, found, payload) = parse(&bytes).expect("emitted");
    assert_eq!(found, envelope);
    let sum = Sum(received.payload.sum);
    assert_eq!(sum, Sum::of(payload));
    if let (Some((dsn, ssn, len @ 1.., c)), Some((.., typed))) =
        (checksum(&mut received.options), checksum(&mut sent.options))
    {
        assert!(dss_pseudo_header(dsn, ssn, len).plus(sum).plus(Sum(*c)).is_valid(), "{sent:?}");
        *c = *typed;
    }
    received.payload = sent.payload;
    assert_eq!(received, sent);
    kind((std::mem::discriminant(&sent.options.mptcp), std::mem::discriminant(&sent.options.signal), bytes.len() / 4))
}
