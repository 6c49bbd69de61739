//! Cutting segments, as network cards with segmentation offload and some proxies do.
//!
//! Sequence numbers go on from piece to piece; FIN and PSH stay with the last piece, CWR with the first. A card copies the
//! options to every piece: since a mapping names the subflow sequence numbers it is for, copies say the same (RFC 8684
//! 3.3.1). A proxy that does not know MPTCP may leave them on the first piece alone; its mapping is then for the octets
//! of pieces still to come. Timestamps and SACK blocks go with every piece in either case.

use anabranch_stack::segment::{Flags, Mptcp, Payload, Signal};

use super::super::packet::Packet;

/// Cuts `packet` into pieces of at most `size` octets of payload; those after the first have the MPTCP options if `all`.
pub fn split(packet: Packet, size: u32, all: bool, through: &mut Vec<Packet>) {
    let whole = packet.segment.payload;
    if whole.len <= size || packet.segment.flags.has(Flags::SYN) {
        through.push(packet);
        return;
    }
    let without = |flags: Flags, these: Flags| Flags(flags.0 & !these.0);
    let mut at = 0;
    while at < whole.len {
        let len = size.min(whole.len - at);
        let mut piece = packet;
        piece.piece = true;
        piece.edit(|s| {
            s.seq = s.seq.wrapping_add(at);
            // The difference that a box made to the payload stays with the first piece, whichever octet it was.
            let sum = if at == 0 { whole.sum } else { 0 };
            s.payload = Payload { offset: whole.offset.wrapping_add(at.into()), len, sum, rest: 0 };
            if at + len < whole.len {
                s.flags = without(s.flags, Flags::FIN.with(Flags::PSH));
            }
            if at > 0 {
                s.flags = without(s.flags, Flags::CWR);
                if !all {
                    (s.options.mptcp, s.options.signal) = (Mptcp::None, Signal::None);
                }
            }
        });
        if at > 0 {
            piece.altered = 0;
        }
        through.push(piece);
        at += len;
    }
}

#[cfg(test)]
mod tests {
    use anabranch_stack::event::SendKind;
    use anabranch_stack::segment::{Dss, Mapping, Segment};

    use super::*;

    #[test]
    fn pieces_follow_each_other_and_flags_stay_at_their_ends() {
        let mut s =
            Segment { seq: u32::MAX - 500, flags: Flags::ACK, payload: Payload::new(7000, 1400), ..Segment::default() };
        s.flags = s.flags.with(Flags::FIN).with(Flags::PSH).with(Flags::CWR);
        let mapping = Some(Mapping { dsn: 1, short: false, ssn: 1, len: 1400, checksum: None });
        s.options.mptcp = Mptcp::Dss(Dss { mapping, ..Dss::default() });
        for all in [true, false] {
            let mut pieces = Vec::new();
            split(Packet::new(s, 0, 0, true, SendKind::New, 1), 500, all, &mut pieces);
            let seen: Vec<_> =
                pieces.iter().map(|p| (p.segment.seq, p.segment.payload.offset, p.segment.payload.len)).collect();
            assert_eq!(seen, [(u32::MAX - 500, 7000, 500), (u32::MAX, 7500, 500), (499, 8000, 400)]);
            let flags: Vec<String> = pieces.iter().map(|p| p.segment.flags.to_string()).collect();
            assert_eq!(flags, ["W.", ".", "FP."]);
            let options: Vec<bool> = pieces.iter().map(|p| p.segment.dss().is_some()).collect();
            assert_eq!(options, [true, all, all]);
            assert!(pieces.iter().all(|p| p.wire_len == p.segment.wire_len()));
        }
    }

    #[test]
    fn what_is_short_enough_is_left_alone() {
        let s = Segment { flags: Flags::ACK, payload: Payload::new(0, 500), ..Segment::default() };
        let mut pieces = Vec::new();
        split(Packet::new(s, 0, 0, true, SendKind::New, 1), 500, true, &mut pieces);
        assert_eq!((pieces.len(), pieces[0].piece), (1, false));
    }
}
