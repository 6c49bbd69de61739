//! Enhanced distributed channel access (10.23.2): four categories, each with a way of its own to contend.
//!
//! A category waits AIFS = SIFS + AIFSN slots instead of DIFS, draws its back-off from a window of its own, and may hold the
//! medium for its TXOP limit: frame after frame, a SIFS apart. A limit of zero is one PPDU and its answer.

use super::phy::US;

/// A category of access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// AC_BK.
    Background,
    /// AC_BE.
    BestEffort,
    /// AC_VI.
    Video,
    /// AC_VO.
    Voice,
}

/// How a category contends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// AIFSN.
    pub slots: u64,
    /// CWmin and CWmax.
    pub window: [u32; 2],
    /// TXOP limit in ns.
    pub txop: u64,
}

impl Category {
    /// All categories by their names in a scenario.
    pub const NAMES: [(&'static str, Self); 4] = [
        ("background", Self::Background),
        ("best effort", Self::BestEffort),
        ("video", Self::Video),
        ("voice", Self::Voice),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, c)| *c == self).map_or("", |(name, _)| name)
    }

    /// The default parameters of OFDM (table 9-155 of 802.11-2016, with its TXOP limit of zero for background and best effort).
    /// An access point's own video and voice wait one slot less (dot11QAPEDCATable).
    pub fn access(self, access_point: bool) -> Access {
        let [slots, least, most, txop] = match self {
            Self::Background => [7, 15, 1023, 0],
            Self::BestEffort => [3, 15, 1023, 0],
            Self::Video => [2, 7, 15, 3_008],
            Self::Voice => [2, 3, 7, 1_504],
        };
        let early = u64::from(access_point && matches!(self, Self::Video | Self::Voice));
        Access { slots: slots - early, window: [least as u32, most as u32], txop: txop * US }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// AIFS at 5 GHz: SIFS 16, slot 9.
    #[test]
    fn best_effort_waits_43_us_and_voice_34() {
        let aifs = |c: Category, ap| 16 + 9 * c.access(ap).slots;
        assert_eq!((aifs(Category::BestEffort, true), aifs(Category::BestEffort, false)), (43, 43));
        assert_eq!((aifs(Category::Voice, false), aifs(Category::Voice, true)), (34, 25));
        assert_eq!(Category::Voice.access(false).window, [3, 7]);
        assert_eq!((Category::Video.access(true).txop, Category::BestEffort.access(true).txop), (3_008_000, 0));
    }
}
