//! Enhanced distributed channel access (10.23.2): four categories, each with a way of its own to contend.
//!
//! A category waits AIFS = SIFS + AIFSN slots instead of DIFS, draws its back-off from a window of its own, and may hold the
//! medium for its TXOP limit: frame after frame, a SIFS apart. A limit of zero is one PPDU and its answer.

use super::phy::{Like, US};

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

    /// The default parameters of OFDM. TXOP limits are those of table 8-105 of 802.11-2012, which access points still announce
    /// (`hostapd`'s defaults); an access point's own video and voice wait one slot less (dot11QAPEDCATable). ns-3.37 has the
    /// longer limits of table 9-137 of 802.11-2016 for video and voice, but not those for the others, and one table for all.
    pub fn access(self, access_point: bool, like: Like) -> Access {
        let [slots, least, most, txop] = match (self, like) {
            (Self::Background, _) => [7, 15, 1023, 0],
            (Self::BestEffort, _) => [3, 15, 1023, 0],
            (Self::Video, Like::Standard) => [2, 7, 15, 3_008],
            (Self::Voice, Like::Standard) => [2, 3, 7, 1_504],
            (Self::Video, Like::Ns3) => [2, 7, 15, 4_096],
            (Self::Voice, Like::Ns3) => [2, 3, 7, 2_080],
        };
        let early = access_point && like == Like::Standard && matches!(self, Self::Video | Self::Voice);
        Access { slots: slots - u64::from(early), window: [least as u32, most as u32], txop: txop * US }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// AIFS at 5 GHz: SIFS 16, slot 9.
    #[test]
    fn best_effort_waits_43_us_and_voice_34() {
        let access = |c: Category, ap| c.access(ap, Like::Standard);
        let aifs = |c: Category, ap| 16 + 9 * access(c, ap).slots;
        assert_eq!((aifs(Category::BestEffort, true), aifs(Category::BestEffort, false)), (43, 43));
        assert_eq!((aifs(Category::Voice, false), aifs(Category::Voice, true)), (34, 25));
        assert_eq!(access(Category::Voice, false).window, [3, 7]);
        assert_eq!((access(Category::Video, true).txop, access(Category::BestEffort, true).txop), (3_008_000, 0));
    }

    /// As seen in ns-3.37: after voice at least 34 us, from the access point, too, and 2.080 ms of frames a SIFS apart.
    #[test]
    fn ns3_has_longer_limits_and_one_table_for_all() {
        let access = |c: Category| c.access(true, Like::Ns3);
        assert_eq!(16 + 9 * access(Category::Voice).slots, 34);
        let limits = Category::NAMES.map(|(_, c)| access(c).txop);
        assert_eq!(limits, [0, 0, 4_096_000, 2_080_000]);
    }
}
