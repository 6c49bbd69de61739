//! Aggregation: how long frames of several packets are, and how many packets they may hold.
//!
//! An A-MSDU (9.3.2.2.2) puts packets into one frame, each behind a subheader: one check sequence, so all are lost together. An
//! A-MPDU (9.7) puts whole frames behind delimiters into one PPDU: each has its own check sequence and is acknowledged by
//! itself. Both pad each part but the last to a multiple of 4 octets.
//!
//! Left out: a minimum of time between the starts of frames (a receiver that needs none), and fragments.

use super::formats::{Format, LONGEST, Ppdu};
use super::phy::Like;

/// Octets that a QoS data frame adds to what it carries (9.2.4): header and frame check sequence.
pub const QOS_OVERHEAD: u32 = 26 + 4;
/// Octets of LLC and SNAP before a packet.
pub const LLC: u32 = 8;
/// Octets of a delimiter in an A-MPDU.
const DELIMITER: u32 = 4;
/// Octets of a subheader in an A-MSDU: two addresses and a length.
const SUBHEADER: u32 = 14;

/// What a station may put into one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Octets of an A-MPDU; 0: none are sent.
    pub ampdu: u32,
    /// Octets of an A-MSDU; 0: none are sent.
    pub amsdu: u32,
    /// Frames that may be unacknowledged: the window of block acknowledgement.
    pub window: u32,
}

impl Limits {
    /// The most that a format allows in an A-MPDU (9.4.2.56, 9.4.2.158, 9.4.2.248); ns-3's default is HT's for all.
    pub fn ampdu_of(format: Format, like: Like) -> u32 {
        match (format, like) {
            (Format::Ht, _) | (_, Like::Ns3) => 65_535,
            (Format::Vht, _) => 1_048_575,
            (Format::He, _) => 6_500_631,
        }
    }

    /// The longest A-MSDU of a format (9.4.2.56; in VHT and HE what is left of a frame of 11 454 octets, 9.4.2.158).
    pub fn amsdu_of(format: Format) -> u32 {
        match format {
            Format::Ht => 7_935,
            Format::Vht | Format::He => 11_424,
        }
    }
}

/// Octets of a frame being filled with packets.
#[inline]
pub fn with_packet(amsdu: u32, packets: usize, msdu: u32) -> u32 {
    match packets {
        0 => msdu,
        // The first packet gets its subheader when a second one comes.
        1 => (amsdu + SUBHEADER).next_multiple_of(4) + SUBHEADER + msdu,
        _ => amsdu.next_multiple_of(4) + SUBHEADER + msdu,
    }
}

/// Octets of an A-MPDU of `octets` to which a frame of `mpdu` octets is added.
#[inline]
pub fn with_frame(octets: u32, mpdu: u32) -> u32 {
    octets.next_multiple_of(4) + DELIMITER + mpdu
}

/// The room of one PPDU.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Most octets of an A-MPDU.
    pub most: u32,
    /// Most octets of a PPDU, by its time.
    pub longest: u32,
    /// A single frame gets a delimiter, too (10.12.7: VHT and HE).
    pub always: bool,
}

impl Room {
    /// The room of a PPDU of `ppdu` that lasts at most `time` ns, for a station with these limits.
    pub fn new(ppdu: &Ppdu, limits: Limits, time: u64) -> Self {
        let longest = ppdu.most_octets(time.min(LONGEST));
        Self { most: limits.ampdu.min(longest), longest, always: ppdu.format != Format::Ht }
    }

    /// Octets of a PSDU of a single frame.
    #[inline]
    pub fn alone(&self, mpdu: u32) -> u32 {
        if self.always { with_frame(0, mpdu) } else { mpdu }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// n equal frames of L octets: (n - 1) x 4 ceil((L + 4) / 4) + L + 4.
    #[test]
    fn an_ampdu_pads_all_frames_but_the_last() {
        let of = |n: u32| (0..n).fold(0, |octets, _| with_frame(octets, 1538));
        assert_eq!([of(1), of(2), of(4), of(28), of(42), of(64)], [1542, 3086, 6174, 43_230, 64_846, 98_814]);
    }

    /// Five packets of 1500 octets with LLC: 4 x 1524 + 1522, the frame of 980 us at HT20 MCS 7.
    #[test]
    fn an_amsdu_puts_a_subheader_before_each_packet() {
        let of = |n: usize| (0..n).fold(0, |octets, i| with_packet(octets, i, 1508));
        assert_eq!((of(1), of(2), of(5)), (1508, 1524 + 1522, 4 * 1524 + 1522));
        let ppdu = Ppdu::new(Format::Ht, 20, 1, 7, 800, Like::Ns3);
        assert_eq!(ppdu.airtime(of(5) + QOS_OVERHEAD), 980_000);
    }

    /// How many frames of 1538 octets a PPDU holds, as seen in ns-3.37 with 65 535 octets: bound by octets or by 5484 us.
    #[test]
    fn octets_and_time_limit_an_ampdu() {
        let frames = |format, width, mcs, ampdu| {
            let ppdu = Ppdu::new(format, width, 1, mcs, 800, Like::Ns3);
            let room = Room::new(&ppdu, Limits { ampdu, amsdu: 0, window: 64 }, LONGEST);
            (1..)
                .scan(0, |octets, _| Some(with_frame(*octets, 1538)).inspect(|o| *octets = *o))
                .take_while(|o| *o <= room.most)
                .count()
        };
        assert_eq!(frames(Format::Ht, 20, 0, 65_535), 2);
        assert_eq!(frames(Format::Ht, 20, 3, 65_535), 11);
        assert_eq!(frames(Format::Ht, 20, 7, 65_535), 28);
        assert_eq!(frames(Format::Ht, 40, 7, 65_535), 42);
        assert_eq!(frames(Format::Vht, 80, 0, 65_535), 12);
        assert_eq!(frames(Format::Vht, 80, 9, 65_535), 42);
        assert!(frames(Format::Vht, 80, 9, 1_048_575) > 64);
    }
}
