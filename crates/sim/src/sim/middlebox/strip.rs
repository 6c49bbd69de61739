//! Boxes that take options away, or drop what has options they do not know.
//!
//! Honda et al. (IMC 2011) saw options removed from SYNs, from data, or from both; all or only those that the box did not
//! know; and some paths that dropped SYNs with unknown options. To a box of that time the options of MPTCP (kind 30) and of
//! experiments (kinds 253 and 254, RFC 6994: here TCP-DOOR's) are unknown.

use anabranch_stack::segment::{Door, Flags, Mptcp, Options, SackBlocks, Segment, Signal};

use anabranch_scenario::middlebox::{Kind, Segments};

/// The segment is one of those meant.
pub fn matches(which: Segments, segment: &Segment) -> bool {
    let (syn, ack) = (segment.flags.has(Flags::SYN), segment.flags.has(Flags::ACK));
    match which {
        Segments::All => true,
        Segments::Syn => syn && !ack,
        Segments::SynAck => syn && ack,
        // Known by what it carries: the first such segment and its repetitions.
        Segments::ThirdAck => {
            matches!(segment.options.mptcp, Mptcp::CapableAck { data: None, .. } | Mptcp::JoinAck { .. })
        }
        Segments::Data => segment.payload.len > 0,
    }
}

/// There is an option that the box does not know.
pub fn has_unknown(options: &Options) -> bool {
    let mptcp = !options.mptcp.is_empty() || !options.signal.is_empty() || options.tcp_rst.is_some();
    mptcp || options.door_permitted || options.door != Door::default()
}

/// Takes away what a box of this kind does.
pub fn strip(kind: Kind, segment: &mut Segment) {
    let o = &mut segment.options;
    match kind {
        Kind::StripTimestamps => o.timestamps = None,
        Kind::StripSack => {
            o.sack_permitted = false;
            o.sack = SackBlocks::default();
        }
        Kind::StripMptcp(which) if matches(which, segment) => {
            segment.options.mptcp = Mptcp::None;
            if !matches!(segment.options.signal, Signal::FastOpen(_)) {
                segment.options.signal = Signal::None;
            }
            segment.options.tcp_rst = None;
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use anabranch_stack::segment::{Dss, Payload};

    use super::*;

    fn with(flags: Flags, mptcp: Mptcp, len: u32) -> Segment {
        let mut segment = Segment { flags, payload: Payload::new(0, len), ..Segment::default() };
        segment.options.mptcp = mptcp;
        segment.options.sack_permitted = true;
        segment
    }

    #[test]
    fn each_kind_of_segment_is_told_from_the_others() {
        let keys = |data| Mptcp::CapableAck { checksum: false, sender_key: 1, receiver_key: 2, data };
        let segments = [
            with(Flags::SYN, Mptcp::CapableSyn { no_join: false, checksum: false }, 0),
            with(Flags::SYN.with(Flags::ACK), Mptcp::CapableSynAck { no_join: false, checksum: false, key: 2 }, 0),
            with(Flags::ACK, keys(None), 0),
            with(Flags::ACK, keys(Some((10, None))), 10),
            with(Flags::ACK, Mptcp::Dss(Dss::default()), 0),
            with(Flags::ACK, Mptcp::JoinAck { hmac: [0; 20] }, 0),
        ];
        for (which, expected) in [
            (Segments::All, [true; 6]),
            (Segments::Syn, [true, false, false, false, false, false]),
            (Segments::SynAck, [false, true, false, false, false, false]),
            (Segments::ThirdAck, [false, false, true, false, false, true]),
            (Segments::Data, [false, false, false, true, false, false]),
        ] {
            assert_eq!(segments.map(|s| matches(which, &s)), expected, "{which:?}");
            for (mut segment, gone) in segments.into_iter().zip(expected) {
                strip(Kind::StripMptcp(which), &mut segment);
                assert_eq!(segment.options.mptcp.is_empty(), gone);
                assert!(segment.options.sack_permitted);
            }
        }
    }

    #[test]
    fn options_older_than_the_box_are_known() {
        let mut options =
            Options { mss: Some(1400), sack_permitted: true, window_scale: Some(7), ..Options::default() };
        assert!(!has_unknown(&options));
        options.door_permitted = true;
        assert!(has_unknown(&options));
        options = Options { signal: Signal::Prio { backup: true }, ..Options::default() };
        assert!(has_unknown(&options));
    }
}
