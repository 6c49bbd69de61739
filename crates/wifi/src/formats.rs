//! Frames from 802.11n on: PPDU formats, their rates and how long they last.
//!
//! HT (802.11n, clause 19), VHT (802.11ac, clause 21) and HE (802.11ax, clause 27) put the same OFDM on wider channels and more
//! streams. A PPDU is a preamble that every older station understands, headers and training of its own format, then symbols
//! of N_DBPS data bits each. HT and VHT keep the symbol of 3.2 us and a guard interval of 0.8 or 0.4 us; HE has symbols of
//! 12.8 us and 0.8, 1.6 or 3.2 us.
//!
//! ns-3.37 departs from the standard (`like = "ns-3"`): VHT frames without VHT-SIG-B, HE-LTFs of 8 us at every guard interval,
//! 3.2 us where a guard interval of 1.6 us is asked for, convolutional coding where the standard has LDPC.
//!
//! Left out: greenfield and extended-range formats, trigger frames and MU, STBC, packet extension (a receiver that needs none),
//! the extra symbol of an LDPC encoder, and more than two streams.

use super::modulation::{Code, Like, US};

/// The format of a PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// HT mixed (802.11n).
    Ht,
    /// VHT single user (802.11ac).
    Vht,
    /// HE single user (802.11ax).
    He,
}

/// How data are sent: what follows from format, index, streams, width and guard interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ppdu {
    /// Its format.
    pub format: Format,
    /// Index of modulation and coding of one stream, 0 to 11.
    pub mcs: u8,
    /// Spatial streams, 1 or 2.
    pub streams: u8,
    /// Guard interval in ns.
    pub guard: u32,
    /// kbit/s, rounded down.
    pub kbps: u32,
    /// Bits of data in a symbol.
    pub bits_per_symbol: u64,
    /// ns.
    pub symbol: u64,
    /// ns before the first data symbol.
    pub preamble: u64,
    /// Bits before and after the PSDU: service, and the tails of the convolutional encoders.
    pub overhead_bits: u64,
    /// Coded bit/s over the width in Hz, where ns-3 has no error rates and takes a bound that depends on it.
    pub coded_per_hertz: Option<f64>,
}

/// aPPDUMaxTime of all three formats (tables 19-25, 21-29 and 27-54).
pub const LONGEST: u64 = 5_484 * US;

/// Bits per subcarrier, and the code rate as a fraction, by index (tables 19-27, 21-30 and 27-65).
const CODING: [(u64, u64, u64); 12] = [
    (1, 1, 2),
    (2, 1, 2),
    (2, 3, 4),
    (4, 1, 2),
    (4, 3, 4),
    (6, 2, 3),
    (6, 3, 4),
    (6, 5, 6),
    (8, 3, 4),
    (8, 5, 6),
    (10, 3, 4),
    (10, 5, 6),
];

impl Format {
    /// Its guard intervals in ns, the longest in use by default first.
    pub fn guards(self) -> &'static [u32] {
        match self {
            Self::Ht | Self::Vht => &[800, 400],
            Self::He => &[800, 1600, 3200],
        }
    }

    /// How many indices of modulation and coding it has.
    fn indices(self) -> u8 {
        match self {
            Self::Ht => 8,
            Self::Vht => 10,
            Self::He => 12,
        }
    }

    /// Data subcarriers in a channel of `width` MHz (tables 19-6, 21-5 and 27-13).
    fn subcarriers(self, width: u32) -> u64 {
        match (self, width) {
            (Self::He, 20) => 234,
            (Self::He, 40) => 468,
            (Self::He, 80) => 980,
            (Self::He, _) => 1960,
            (_, 20) => 52,
            (_, 40) => 108,
            (_, 80) => 234,
            _ => 468,
        }
    }

    /// All indices with `streams` streams in `width` MHz: all but VHT's 9 in 20 MHz, whose symbol would not hold whole bits for
    /// each encoder (21.5).
    pub fn mcs(self, width: u32) -> impl Iterator<Item = u8> {
        let none = if self == Self::Vht && width == 20 { 9 } else { u8::MAX };
        (0..self.indices()).filter(move |m| *m != none)
    }
}

impl Ppdu {
    /// The PPDU of these properties, which must exist together.
    pub fn new(format: Format, width: u32, streams: u8, mcs: u8, guard: u32, like: Like) -> Self {
        let (bits, numerator, denominator) = CODING[usize::from(mcs)];
        let coded = format.subcarriers(width) * bits * u64::from(streams) * numerator;
        let bits_per_symbol = coded / denominator;
        let symbol = match (format, guard, like) {
            // ns-3 sends 3.2 us where 1.6 us are asked for.
            (Format::He, 1_600, Like::Ns3) => 12_800 + 3_200,
            (Format::He, ..) => 12_800 + u64::from(guard),
            _ => 3_200 + u64::from(guard),
        };
        // 19.3.11.4, 21.5: one encoder for so many Mbit/s with the short guard interval.
        let encoders = match format {
            Format::Ht => (bits_per_symbol * 1000 / 3_600).div_ceil(300),
            Format::Vht => (bits_per_symbol * 1000 / 3_600).div_ceil(600),
            // 27.3.12.5: above 20 MHz, and for indices 10 and 11, LDPC, which needs no tail.
            Format::He if like == Like::Standard && (width > 20 || mcs > 9) => 0,
            Format::He => 1,
        };
        Self {
            format,
            mcs,
            streams,
            guard,
            kbps: (coded * 1_000_000 / denominator / symbol) as u32,
            bits_per_symbol,
            symbol,
            preamble: preamble(format, streams, guard, like),
            overhead_bits: 16 + 6 * encoders,
            coded_per_hertz: (like == Like::Ns3 && mcs > 9).then(|| {
                let coded_bits = (format.subcarriers(width) * bits * u64::from(streams)) as f64;
                coded_bits * 1e3 / symbol as f64 / f64::from(width)
            }),
        }
    }

    /// Modulation and code, for the error model.
    pub fn code(&self) -> Code {
        Code::Mcs(self.mcs)
    }

    /// Symbols of a PSDU of `octets`.
    #[inline]
    pub fn symbols(&self, octets: u32) -> u64 {
        (self.overhead_bits + 8 * u64::from(octets)).div_ceil(self.bits_per_symbol)
    }

    /// ns of data symbols.
    #[inline]
    pub fn payload_time(&self, octets: u32) -> u64 {
        self.symbols(octets) * self.symbol
    }

    /// ns on the air of a PSDU of `octets`, without signal extension.
    #[inline]
    pub fn airtime(&self, octets: u32) -> u64 {
        self.preamble + self.payload_time(octets)
    }

    /// The longest PSDU that lasts at most `time` ns.
    #[inline]
    pub fn most_octets(&self, time: u64) -> u32 {
        let symbols = time.saturating_sub(self.preamble) / self.symbol;
        ((symbols * self.bits_per_symbol).saturating_sub(self.overhead_bits) / 8).min(u64::from(u32::MAX)) as u32
    }

    /// The rate in Mbit/s at which an older station would send with the same modulation and code (table 10-10): what the
    /// rates of answers are chosen by.
    pub fn reference_kbps(&self) -> u32 {
        [6_000, 12_000, 18_000, 24_000, 36_000, 48_000, 54_000].get(usize::from(self.mcs)).copied().unwrap_or(54_000)
    }
}

/// L-STF, L-LTF and L-SIG (20 us), and what the format adds before its data (19.3.2, 21.3.2, 27.3.4).
fn preamble(format: Format, streams: u8, guard: u32, like: Like) -> u64 {
    let trainings = u64::from(streams);
    match (format, like) {
        // HT-SIG 8, HT-STF 4, HT-LTF 4 each; ns-3's VHT has the same.
        (Format::Ht, _) | (Format::Vht, Like::Ns3) => (32 + 4 * trainings) * US,
        // VHT-SIG-A 8, VHT-STF 4, VHT-LTF 4 each, VHT-SIG-B 4.
        (Format::Vht, Like::Standard) => (36 + 4 * trainings) * US,
        (Format::He, Like::Ns3) => (36 + 8 * trainings) * US,
        // RL-SIG 4, HE-SIG-A 8, HE-STF 4; HE-LTF 2x with 0.8 and 1.6 us, 4x with 3.2 us.
        (Format::He, Like::Standard) => {
            let training = if guard == 3_200 { 12_800 } else { 6_400 } + u64::from(guard);
            36 * US + trainings * training
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NS3: Like = Like::Ns3;
    const STANDARD: Like = Like::Standard;

    fn ppdu(format: Format, width: u32, streams: u8, mcs: u8, guard: u32, like: Like) -> Ppdu {
        Ppdu::new(format, width, streams, mcs, guard, like)
    }

    /// PPDUs seen in ns-3.37, in ns: PSDU octets, symbols, time.
    #[test]
    fn durations_are_those_of_the_worked_cases() {
        for (p, octets, symbols, time) in [
            (ppdu(Format::Ht, 20, 1, 7, 800, NS3), 1538, 48, 228_000),
            (ppdu(Format::Ht, 20, 1, 7, 800, NS3), 6174, 191, 800_000),
            (ppdu(Format::Ht, 20, 1, 7, 800, NS3), 43_230, 1331, 5_360_000),
            (ppdu(Format::Ht, 20, 1, 0, 800, NS3), 3086, 951, 3_840_000),
            (ppdu(Format::Ht, 40, 1, 7, 800, NS3), 64_846, 961, 3_880_000),
            (ppdu(Format::Vht, 80, 1, 9, 800, NS3), 1542, 8, 68_000),
            (ppdu(Format::Vht, 80, 1, 9, 800, STANDARD), 1542, 8, 72_000),
            (ppdu(Format::Vht, 80, 1, 9, 800, NS3), 64_846, 333, 1_368_000),
            (ppdu(Format::Vht, 80, 1, 9, 800, STANDARD), 98_814, 507, 2_068_000),
            (ppdu(Format::He, 80, 1, 5, 800, NS3), 1542, 4, 98_400),
            (ppdu(Format::He, 80, 1, 11, 800, NS3), 64_846, 64, 914_400),
            (ppdu(Format::He, 80, 1, 11, 3200, NS3), 44_774, 44, 748_000),
            (ppdu(Format::He, 80, 1, 9, 1600, NS3), 64_846, 80, 1_324_000),
            (ppdu(Format::He, 80, 1, 9, 1600, STANDARD), 64_846, 80, 1_196_000),
        ] {
            assert_eq!((p.symbols(octets), p.airtime(octets)), (symbols, time), "{p:?}, {octets} octets");
        }
    }

    /// The standard's tables of N_DBPS (19.5, 21.5, 27.5), one stream.
    #[test]
    fn bits_per_symbol_are_those_of_the_tables() {
        let of = |format, width, streams, mcs| ppdu(format, width, streams, mcs, 800, STANDARD).bits_per_symbol;
        let column =
            |format: Format, width: u32| format.mcs(width).map(|m| of(format, width, 1, m)).collect::<Vec<_>>();
        assert_eq!(column(Format::Ht, 20), [26, 52, 78, 104, 156, 208, 234, 260]);
        assert_eq!(column(Format::Ht, 40), [54, 108, 162, 216, 324, 432, 486, 540]);
        assert_eq!(column(Format::Vht, 20), [26, 52, 78, 104, 156, 208, 234, 260, 312]);
        assert_eq!(column(Format::Vht, 80), [117, 234, 351, 468, 702, 936, 1053, 1170, 1404, 1560]);
        assert_eq!(column(Format::He, 20), [117, 234, 351, 468, 702, 936, 1053, 1170, 1404, 1560, 1755, 1950]);
        assert_eq!(column(Format::He, 80), [490, 980, 1470, 1960, 2940, 3920, 4410, 4900, 5880, 6533, 7350, 8166]);
        assert_eq!(
            (of(Format::He, 160, 1, 11), of(Format::He, 80, 2, 11), of(Format::Vht, 160, 1, 9)),
            (16_333, 16_333, 3120)
        );
    }

    #[test]
    fn rates_are_those_of_the_tables() {
        let of = |format, width, streams, mcs, guard| ppdu(format, width, streams, mcs, guard, STANDARD).kbps;
        assert_eq!((of(Format::Ht, 20, 1, 7, 800), of(Format::Ht, 20, 1, 7, 400)), (65_000, 72_222));
        assert_eq!((of(Format::Ht, 40, 2, 7, 800), of(Format::Ht, 40, 2, 7, 400)), (270_000, 300_000));
        assert_eq!((of(Format::Vht, 80, 1, 9, 800), of(Format::Vht, 80, 1, 9, 400)), (390_000, 433_333));
        assert_eq!((of(Format::He, 80, 1, 11, 800), of(Format::He, 80, 1, 11, 3200)), (600_490, 510_416));
        assert_eq!((of(Format::He, 80, 1, 9, 800), of(Format::He, 80, 2, 11, 800)), (480_392, 1_200_980));
    }

    /// 27.3.4: 2x LTF with 0.8 and 1.6 us, 4x with 3.2; ns-3 8 us always. Two streams have two.
    #[test]
    fn preambles_are_the_sum_of_their_fields() {
        let of = |format, streams, guard, like| ppdu(format, 80, streams, 0, guard, like).preamble;
        assert_eq!(ppdu(Format::Ht, 40, 2, 0, 800, STANDARD).preamble, 40_000);
        assert_eq!((of(Format::Vht, 1, 800, STANDARD), of(Format::Vht, 2, 800, STANDARD)), (40_000, 44_000));
        assert_eq!((of(Format::Vht, 1, 800, NS3), of(Format::Vht, 2, 800, NS3)), (36_000, 40_000));
        assert_eq!((of(Format::He, 1, 800, STANDARD), of(Format::He, 2, 800, STANDARD)), (43_200, 50_400));
        assert_eq!((of(Format::He, 1, 1600, STANDARD), of(Format::He, 1, 3200, STANDARD)), (44_000, 52_000));
        assert_eq!((of(Format::He, 1, 3200, NS3), of(Format::He, 2, 800, NS3)), (44_000, 52_000));
    }

    #[test]
    fn the_longest_psdu_of_a_time_fits_and_one_octet_more_does_not() {
        for (format, width, mcs) in
            [(Format::Ht, 20, 0), (Format::Ht, 40, 7), (Format::Vht, 80, 4), (Format::He, 160, 11)]
        {
            for like in [NS3, STANDARD] {
                let p = ppdu(format, width, 1, mcs, 800, like);
                let most = p.most_octets(LONGEST);
                assert!(p.airtime(most) <= LONGEST && p.airtime(most + 1) > LONGEST, "{p:?}: {most}");
            }
        }
    }
}
