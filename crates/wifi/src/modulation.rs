//! What rates, formats and errors have in common: modulation and code, the unit of times, and whom
//! the model follows.

/// Nanoseconds in a microsecond.
pub const US: u64 = 1_000;

/// What is followed where ns-3.37 departs from the standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Like {
    /// IEEE 802.11.
    Standard,
    /// ns-3.37.
    Ns3,
}

/// Modulation and code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// 1 Mbit/s DSSS.
    Dbpsk,
    /// 2 Mbit/s DSSS.
    Dqpsk,
    /// 5.5 and 11 Mbit/s.
    Cck,
    /// OFDM, number 0 (BPSK 1/2) to 7 (64-QAM 3/4) in order of rate.
    Ofdm(u8),
    /// OFDM from 802.11n on, by the index of modulation and code, 0 (BPSK 1/2) to 11 (1024-QAM
    /// 5/6).
    Mcs(u8),
}

impl Code {
    /// Direct sequence, not OFDM.
    #[inline]
    pub fn is_dsss(self) -> bool {
        !matches!(self, Self::Ofdm(_) | Self::Mcs(_))
    }
}
