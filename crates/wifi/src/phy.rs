//! The physical layer: which rates a standard has, and how long a frame is on the air.
//!
//! Two families. DSSS (802.11b, clauses 15 and 16): a long preamble and header of 192 us at 1 Mbit/s, then the octets at
//! 1, 2, 5.5 or 11 Mbit/s. OFDM (802.11a, clause 17): a preamble of 16 us, one symbol of header, then symbols of 4 us with a
//! fixed number of bits each. 802.11g is OFDM beside DSSS in the 2.4 GHz band; there every OFDM frame is followed by 6 us of
//! silence (signal extension, clause 18). In channels of 10 or 5 MHz the OFDM clock runs at half or a quarter of the speed:
//! every time grows and every rate shrinks by that factor (17.1.1; 802.11p is the 10 MHz form).
//!
//! From 802.11n on data have formats of their own ([`super::formats`]); what answers and announces them is sent as in 802.11a,
//! or at 2.4 GHz as in 802.11g.
//!
//! Left out: short DSSS preambles and PBCC.

use super::formats::{Format, Ppdu};
use super::modulation::Code;
pub use super::modulation::{Like, US};

/// A generation of the standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standard {
    /// DSSS at 2.4 GHz.
    B,
    /// OFDM at 5 GHz.
    A,
    /// OFDM and DSSS at 2.4 GHz.
    G,
    /// OFDM at 5.9 GHz in 10 MHz.
    P,
    /// High throughput.
    N,
    /// Very high throughput.
    Ac,
    /// High efficiency.
    Ax,
}

/// A band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Band {
    /// 2.4 GHz.
    Two,
    /// 5 GHz.
    Five,
}

impl Standard {
    /// All standards by their names in a scenario.
    pub const NAMES: [(&'static str, Self); 7] = [
        ("802.11b", Self::B),
        ("802.11a", Self::A),
        ("802.11g", Self::G),
        ("802.11p", Self::P),
        ("802.11n", Self::N),
        ("802.11ac", Self::Ac),
        ("802.11ax", Self::Ax),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, s)| *s == self).map_or("", |(name, _)| name)
    }

    /// Channel widths in MHz; the first is the default.
    pub fn widths(self) -> &'static [u32] {
        match self {
            // DSSS spans 22 MHz; 20 MHz of noise is what ns-3.37's results agree with.
            Self::B => &[20],
            Self::A | Self::G => &[20, 10, 5],
            Self::P => &[10, 5],
            Self::N => &[20, 40],
            Self::Ac | Self::Ax => &[80, 20, 40, 160],
        }
    }

    /// Bands; the first is the default.
    pub fn bands(self) -> &'static [Band] {
        match self {
            Self::B | Self::G => &[Band::Two],
            Self::A | Self::P | Self::Ac => &[Band::Five],
            Self::N | Self::Ax => &[Band::Five, Band::Two],
        }
    }

    /// The format of its data, if it is not older than 802.11n.
    pub fn format(self) -> Option<Format> {
        match self {
            Self::N => Some(Format::Ht),
            Self::Ac => Some(Format::Vht),
            Self::Ax => Some(Format::He),
            _ => None,
        }
    }

    /// Centre frequency of its usual first channel in Hz.
    pub fn frequency(self, band: Band) -> f64 {
        match (self, band) {
            (Self::P, _) => 5.86e9,
            (_, Band::Two) => 2.412e9,
            (_, Band::Five) => 5.18e9,
        }
    }
}

/// One modulation and coding, at a channel's clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// How bits are put on the air.
    pub code: Code,
    /// kbit/s.
    pub kbps: u32,
    /// How data are sent from 802.11n on; `None`: as before.
    pub ppdu: Option<Ppdu>,
}

impl Mode {
    /// A mode that was there before 802.11n.
    pub fn old(code: Code, kbps: u32) -> Self {
        Self { code, kbps, ppdu: None }
    }

    /// Bits on the air during `ns`.
    pub fn bits(&self, ns: u64) -> f64 {
        ns as f64 * f64::from(self.kbps) / 1e6
    }
}

/// What follows from standard, channel width and mode of operation: rates, times, contention windows.
#[derive(Clone, Debug)]
pub struct Phy {
    /// Rates, in rising order; then those of 802.11n and later for data, by streams, guard interval and index.
    pub modes: Vec<Mode>,
    /// How many of them are older than 802.11n.
    pub old: usize,
    /// Slot time in ns.
    pub slot: u64,
    /// Short interframe space in ns.
    pub sifs: u64,
    /// Smallest contention window.
    pub cw_min: u32,
    /// Largest contention window.
    pub cw_max: u32,
    /// Time of an ACK at the lowest rate in ns, as EIFS counts it (10.3.2.3.7).
    pub ack_time: u64,
    /// Octets of a beacon.
    pub beacon_octets: u32,
    /// Noise bandwidth in Hz.
    pub bandwidth: f64,
    /// Clock divider of OFDM: 1, 2 or 4.
    slower: u64,
    /// Silence after an OFDM frame in ns.
    extension: u64,
    /// The highest DSSS rate of control frames: with an access point the highest basic rate, without one the highest of all.
    dsss_control_kbps: u32,
    /// By mode: that of an ACK or CTS in answer to it.
    answers: Vec<usize>,
}

/// OFDM at 20 MHz: kbit/s and coding (table 17-4).
const OFDM: [(u32, Code); 8] = [
    (6_000, Code::Ofdm(0)),
    (9_000, Code::Ofdm(1)),
    (12_000, Code::Ofdm(2)),
    (18_000, Code::Ofdm(3)),
    (24_000, Code::Ofdm(4)),
    (36_000, Code::Ofdm(5)),
    (48_000, Code::Ofdm(6)),
    (54_000, Code::Ofdm(7)),
];

/// DSSS (15.2, 16.2).
const DSSS: [(u32, Code); 4] = [(1_000, Code::Dbpsk), (2_000, Code::Dqpsk), (5_500, Code::Cck), (11_000, Code::Cck)];

impl Phy {
    /// The physical layer of `standard` in a channel of `width` MHz, one of [`Standard::widths`].
    pub fn new(standard: Standard, width: u32, ad_hoc: bool) -> Self {
        let slower = if standard == Standard::B { 1 } else { u64::from(20 / width) };
        let dsss = standard == Standard::B || (standard == Standard::G && slower == 1);
        let mut modes: Vec<Mode> = Vec::new();
        if standard != Standard::B {
            modes.extend(OFDM.map(|(kbps, code)| Mode::old(code, kbps / slower as u32)));
        }
        if dsss {
            modes.extend(DSSS.map(|(kbps, code)| Mode::old(code, kbps)));
        }
        modes.sort_by_key(|m| m.kbps);
        // Tables 15-5 (DSSS), 17-21 (OFDM), 18-5 (ERP). A network without access point uses the long slot in the 2.4 GHz
        // band (18.4.5).
        let (slot, sifs, ack_time) = match slower {
            1 if standard == Standard::A => (9, 16, 44),
            1 if standard == Standard::G && !ad_hoc => (9, 10, 304),
            1 => (20, 10, 304),
            2 => (13, 32, 88),
            _ => (21, 64, 176),
        };
        let mut phy = Self {
            old: modes.len(),
            modes,
            slot: slot * US,
            sifs: sifs * US,
            cw_min: if standard == Standard::B { 31 } else { 15 },
            cw_max: 1023,
            ack_time: ack_time * US,
            beacon_octets: match standard {
                Standard::B => 56,
                Standard::G if dsss => 69,
                _ => 57,
            },
            bandwidth: f64::from(width) * 1e6,
            slower,
            extension: if standard == Standard::G && slower == 1 { 6 * US } else { 0 },
            dsss_control_kbps: if ad_hoc { 11_000 } else { 2_000 },
            answers: Vec::new(),
        };
        phy.answers = (0..phy.modes.len()).map(|mode| phy.answer_to(mode)).collect();
        phy
    }

    /// The physical layer of 802.11n and later in a channel of `width` MHz: control frames and beacons of 802.11a or g, in
    /// 20 MHz, and data in a format of their own.
    pub fn high(standard: Standard, format: Format, width: u32, band: Band, like: Like) -> Self {
        let before = if band == Band::Two { Standard::G } else { Standard::A };
        let mut phy = Self::new(before, 20, false);
        for streams in [1, 2] {
            for guard in format.guards() {
                for mcs in format.mcs(width) {
                    let ppdu = Ppdu::new(format, width, streams, mcs, *guard, like);
                    phy.modes.push(Mode { code: ppdu.code(), kbps: ppdu.kbps, ppdu: Some(ppdu) });
                }
            }
        }
        phy.answers = (0..phy.modes.len()).map(|mode| phy.answer_to(mode)).collect();
        phy.bandwidth = f64::from(width) * 1e6;
        // As measured in ns-3.37: what an access point of each generation announces.
        phy.beacon_octets = match standard {
            Standard::N => 131,
            Standard::Ac => 159,
            _ => 192,
        };
        phy
    }

    /// DCF interframe space (10.3.7): SIFS and two slots.
    pub fn difs(&self) -> u64 {
        self.sifs + 2 * self.slot
    }

    /// What EIFS adds to DIFS (10.3.2.3.7): a SIFS and an ACK at the lowest rate.
    pub fn eifs_extra(&self) -> u64 {
        self.sifs + self.ack_time
    }

    /// How long a receiver needs to detect a preamble, in ns.
    pub fn detection(&self) -> u64 {
        4 * US
    }

    /// Preamble and header in ns.
    #[inline]
    pub fn preamble(&self, mode: &Mode) -> u64 {
        if let Some(ppdu) = &mode.ppdu {
            return ppdu.preamble;
        }
        // 15.2.2, 16.2.2: 144 us and 48 us; 17.3.2: 16 us and one symbol.
        if mode.code.is_dsss() { 192 * US } else { 20 * US * self.slower }
    }

    /// Time on the air, in ns, of a frame of `octets` from the MAC header to the frame check sequence.
    #[inline]
    pub fn airtime(&self, mode: &Mode, octets: u32) -> u64 {
        if let Some(ppdu) = &mode.ppdu {
            return ppdu.airtime(octets) + self.extension;
        }
        let bits = u64::from(octets) * 8;
        if mode.code.is_dsss() {
            // 16.2.3.5: whole microseconds.
            return self.preamble(mode) + (bits * 1000).div_ceil(u64::from(mode.kbps)) * US;
        }
        // 17.3.5.4: 16 service bits and 6 tail bits.
        let bits_per_symbol = 4 * u64::from(mode.kbps) * self.slower / 1000;
        let symbols = (16 + bits + 6).div_ceil(bits_per_symbol);
        self.preamble(mode) + symbols * 4 * US * self.slower + self.extension
    }

    /// The mode of the header's bits and how many there are: SIGNAL of OFDM (17.3.4), the PLCP header of DSSS (15.2.3).
    pub fn header(&self, mode: &Mode) -> (Mode, f64) {
        if mode.code.is_dsss() {
            (Mode::old(Code::Dbpsk, 1_000), 48.0)
        } else {
            // L-SIG, and two symbols of HT-SIG, VHT-SIG-A or HE-SIG-A.
            let bits = if mode.ppdu.is_some() { 72.0 } else { 24.0 };
            (Mode::old(Code::Ofdm(0), 6_000 / self.slower as u32), bits)
        }
    }

    /// Time with payload on the air: what the error model counts bits of.
    #[inline]
    pub fn payload_time(&self, mode: &Mode, octets: u32) -> u64 {
        self.airtime(mode, octets) - self.preamble(mode)
    }

    /// Index of the rate of an ACK or CTS in answer to a frame at `mode`.
    #[inline]
    pub fn control(&self, mode: usize) -> usize {
        self.answers[mode]
    }

    /// 10.6.6.5.2: the highest basic rate of the same kind that is not higher; of data from 802.11n on their reference rate
    /// counts (10.6.11).
    fn answer_to(&self, mode: usize) -> usize {
        let asked = match &self.modes[mode] {
            Mode { ppdu: Some(ppdu), .. } => Mode::old(Code::Ofdm(0), ppdu.reference_kbps()),
            old => *old,
        };
        let basic = |m: &Mode| {
            if m.code.is_dsss() { m.kbps <= self.dsss_control_kbps } else { matches!(m.code, Code::Ofdm(0 | 2 | 4)) }
        };
        let fits = |m: &Mode| m.code.is_dsss() == asked.code.is_dsss() && m.kbps <= asked.kbps && basic(m);
        self.modes[..self.old].iter().rposition(fits).unwrap_or(0)
    }

    /// Index of the rate of `kbps`; where two kinds have the same, there is none in any standard.
    pub fn find(&self, kbps: u32) -> Option<usize> {
        self.modes[..self.old].iter().position(|m| m.kbps == kbps)
    }

    /// Index of the data mode with these properties.
    pub fn find_mcs(&self, mcs: u8, streams: u8, guard: u32) -> Option<usize> {
        let wanted = |p: &Ppdu| (p.mcs, p.streams, p.guard) == (mcs, streams, guard);
        self.modes.iter().position(|m| m.ppdu.as_ref().is_some_and(wanted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(standard: Standard, width: u32, kbps: u32, octets: u32) -> u64 {
        let phy = Phy::new(standard, width, false);
        let mode = phy.modes[phy.find(kbps).unwrap()];
        phy.airtime(&mode, octets) / US
    }

    /// Times measured with ns-3.37 (MAC frames with their 28 octets of header and check, 8 of LLC).
    #[test]
    fn frame_times_are_right_to_the_microsecond() {
        assert_eq!(time(Standard::G, 20, 54_000, 1464), 246);
        assert_eq!(time(Standard::G, 20, 54_000, 1488), 250);
        assert_eq!(time(Standard::A, 20, 54_000, 1464), 240);
        assert_eq!(time(Standard::G, 20, 24_000, 14), 34);
        assert_eq!(time(Standard::G, 20, 1_000, 69), 744);
        assert_eq!(time(Standard::B, 20, 2_000, 1488), 6144);
        assert_eq!(time(Standard::B, 20, 2_000, 14), 248);
        assert_eq!(time(Standard::B, 20, 1_000, 56), 640);
        // 17.3.5.4: 1464 octets are (16 + 11712 + 6) / 24 = 489 symbols of 8 us.
        assert_eq!(time(Standard::P, 10, 3_000, 1464), 40 + 489 * 8);
        assert_eq!(time(Standard::G, 20, 6_000, 1464), 20 + 489 * 4 + 6);
        // 11 bits in 5.5 Mbit/s take 2 us.
        assert_eq!(time(Standard::B, 20, 5_500, 14), 192 + 21);
    }

    #[test]
    fn spaces_are_those_of_the_standards() {
        let of = |s, w, ad_hoc| {
            let p = Phy::new(s, w, ad_hoc);
            (p.slot / US, p.sifs / US, p.difs() / US, p.cw_min, p.cw_max)
        };
        assert_eq!(of(Standard::G, 20, false), (9, 10, 28, 15, 1023));
        assert_eq!(of(Standard::G, 20, true), (20, 10, 50, 15, 1023));
        assert_eq!(of(Standard::B, 20, false), (20, 10, 50, 31, 1023));
        assert_eq!(of(Standard::A, 20, true), (9, 16, 34, 15, 1023));
        assert_eq!(of(Standard::P, 10, true), (13, 32, 58, 15, 1023));
    }

    #[test]
    fn acknowledgements_use_the_highest_basic_rate_below() {
        let answer = |s, w, ad_hoc, kbps| {
            let p = Phy::new(s, w, ad_hoc);
            p.modes[p.control(p.find(kbps).unwrap())].kbps
        };
        for (data, ack) in [(6, 6), (9, 6), (12, 12), (18, 12), (24, 24), (36, 24), (48, 24), (54, 24)] {
            assert_eq!(answer(Standard::G, 20, false, data * 1000), ack * 1000);
        }
        assert_eq!(answer(Standard::B, 20, false, 2_000), 2_000);
        assert_eq!(answer(Standard::B, 20, false, 11_000), 2_000);
        assert_eq!(answer(Standard::B, 20, true, 11_000), 11_000);
        assert_eq!(answer(Standard::P, 10, false, 27_000), 12_000);
        assert_eq!(answer(Standard::P, 10, false, 4_500), 3_000);
    }

    /// Octets, rate in Mbit/s, time: ACK or CTS, RTS, BlockAck, BlockAckReq.
    #[test]
    fn control_frames_of_later_standards_are_those_of_802_11a() {
        let phy = Phy::high(Standard::Ax, Format::He, 80, Band::Five, Like::Ns3);
        for (octets, times) in [(14, [44, 32, 28]), (20, [52, 36, 28]), (32, [68, 44, 32]), (24, [56, 40, 32])] {
            let of = |kbps| phy.airtime(&phy.modes[phy.find(kbps).unwrap()], octets) / US;
            assert_eq!([of(6_000), of(12_000), of(24_000)], times, "{octets} octets");
        }
        // BPSK 1/2 is answered at 6, QPSK at 12, everything from 16-QAM 1/2 on at 24 Mbit/s.
        for (mcs, kbps) in [(0, 6_000), (1, 12_000), (2, 12_000), (3, 24_000), (7, 24_000), (11, 24_000)] {
            let mode = phy.find_mcs(mcs, 1, 800).unwrap();
            assert_eq!(phy.modes[phy.control(mode)].kbps, kbps, "MCS {mcs}");
        }
    }

    #[test]
    fn at_2_4_ghz_a_signal_extension_follows_and_the_spaces_are_those_of_802_11g() {
        let five = Phy::high(Standard::N, Format::Ht, 20, Band::Five, Like::Standard);
        let two = Phy::high(Standard::N, Format::Ht, 20, Band::Two, Like::Standard);
        let time = |p: &Phy| p.airtime(&p.modes[p.find_mcs(7, 1, 800).unwrap()], 1538) / US;
        assert_eq!((time(&five), time(&two)), (228, 234));
        assert_eq!((five.sifs, two.sifs, five.slot, two.slot), (16 * US, 10 * US, 9 * US, 9 * US));
        assert_eq!((five.modes[0].kbps, two.modes[0].kbps), (6_000, 1_000));
    }
}
