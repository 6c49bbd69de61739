//! The 40 octets of option space (RFC 9293 3.1: the data offset is at most 15 words): which option gives way to which.
//!
//! Timestamps (12 octets with their NOPs), a DSS with DATA_ACK, mapping and checksum (up to 28), SACK blocks (4 + 8 each),
//! DOOR's numbers (8) and an MPTCP signal (up to 32) do not all fit. Two steps make room, each only as far as it is needed:
//!
//! 1. SACK blocks are dropped, the last one first (RFC 2018 3, 4: the first block is the most recent, and as many as fit). The receiver asks
//!    [`sack_room`] beforehand. Beside timestamps and a DATA_ACK of 8 octets there is room for one block (12 + 12 + 12 = 36),
//!    beside a DATA_ACK of 4 octets for two (12 + 8 + 20 = 40).
//! 2. DOOR's number is dropped: it does not fit beside the keys, a long signal, a checksum, or a DATA_ACK of 8 octets. Where
//!    DOOR is in use, data sequence numbers have 4 octets (RFC 8684 3.3.1 permits either length), so that its number fits into
//!    every data segment (12 + 20 + 8 = 40).
//!
//! Never dropped: timestamps once negotiated (RFC 7323 3.2: every segment has them), the handshakes' options, a mapping, a
//! signal. A DATA_ACK is not shortened either: it must be as long as the number it acknowledges (RFC 8684 3.3.2). Whoever makes a
//! segment sees to it that these fit: a long signal (ADD_ADDR with an IPv6 address) is sent on an acknowledgement of its own
//! without a DSS.

use crate::segment::{Door, OPTION_SPACE, Options};

/// Makes `options` fit by steps 1 and 2, as far as these go.
#[inline]
pub fn fit(options: &mut Options) {
    if options.wire_len() > OPTION_SPACE {
        shrink(options);
    }
}

#[cold]
fn shrink(options: &mut Options) {
    let fits = |options: &Options| options.wire_len() <= OPTION_SPACE;
    while !fits(options) && !options.sack.as_slice().is_empty() {
        options.sack.pop();
    }
    if !fits(options) {
        options.door = Door::default();
    }
}

/// How many SACK blocks fit beside `options`, which have none yet.
#[inline]
pub fn sack_room(options: &Options) -> usize {
    let left = OPTION_SPACE.saturating_sub(options.wire_len());
    (left.saturating_sub(4) / 8) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::{DataAck, Dss, Mapping, Mptcp, Timestamps};

    fn options(ack: DataAck, mapping: bool) -> Options {
        let mapping = mapping.then_some(Mapping { dsn: 1 << 40 | 7, short: false, ssn: 1, len: 1400, checksum: None });
        let mut options = Options { timestamps: Some(Timestamps { val: 1, ecr: 2 }), ..Options::default() };
        options.mptcp = Mptcp::Dss(Dss { data_ack: Some(ack), mapping, data_fin: false });
        options
    }

    /// 12 timestamps + 12 DSS with an 8-octet DATA_ACK + 4 + 16 = 44: a block goes, the DATA_ACK stays whole.
    #[test]
    fn a_sack_block_goes_before_the_data_ack_is_cut_short() {
        let mut o = options(DataAck::Eight(1 << 32 | 5), false);
        o.sack.push(10, 20);
        o.sack.push(30, 40);
        fit(&mut o);
        assert_eq!((o.wire_len(), o.sack.as_slice()), (36, &[(10, 20)][..]));
        assert!(matches!(o.mptcp, Mptcp::Dss(Dss { data_ack: Some(DataAck::Eight(_)), .. })));
    }

    /// With room for everything nothing shrinks: 12 + 12 + 12.
    #[test]
    fn nothing_shrinks_without_need() {
        let mut o = options(DataAck::Eight(1 << 32 | 5), false);
        o.sack.push(10, 20);
        let before = o;
        fit(&mut o);
        assert_eq!((o, o.wire_len()), (before, 36));
    }

    /// 12 + 20 + 8 = 40 with numbers of four octets; with eight of either, 12 + 24 + 8 = 44: DOOR's number goes.
    #[test]
    fn doors_number_fits_beside_short_numbers_only() {
        let short = |o: &mut Options| {
            let Mptcp::Dss(Dss { mapping: Some(m), .. }) = &mut o.mptcp else { panic!("a mapping") };
            m.short = true;
        };
        for (ack, cut, fits) in [
            (DataAck::Four(5), true, true),
            (DataAck::Four(5), false, false),
            (DataAck::Eight(5), true, false),
            (DataAck::Eight(5), false, false),
        ] {
            let mut o = options(ack, true);
            if cut {
                short(&mut o);
            }
            o.door.packet = Some(9);
            fit(&mut o);
            assert_eq!(o.door.packet.is_some(), fits, "{ack:?} {cut}");
            assert!(o.wire_len() <= 40);
        }
    }

    /// 12 + 24 (both keys and the length of the first data) + 8 = 44: DOOR's number goes.
    #[test]
    fn doors_number_goes_beside_the_keys() {
        let data = Some((1400, None));
        let keys = Mptcp::CapableAck { checksum: false, sender_key: 1, receiver_key: 2, data };
        let mut o = Options { mptcp: keys, ..options(DataAck::Four(5), true) };
        o.door.packet = Some(9);
        fit(&mut o);
        assert_eq!((o.wire_len(), o.door, o.mptcp), (36, Door::default(), keys));
    }

    /// 12 + 8 leave 20: two blocks; 12 + 12 leave 16: one; without timestamps four would take 36 of 32.
    #[test]
    fn one_or_two_blocks_fit_beside_timestamps_and_three_without() {
        let o = options(DataAck::Four(5), false);
        assert_eq!(sack_room(&o), 2);
        assert_eq!(sack_room(&options(DataAck::Eight(5), false)), 1);
        assert_eq!(sack_room(&Options { timestamps: None, ..o }), 3);
        assert_eq!(sack_room(&Options::default()), 4);
    }
}
