//! Plain TCP: how the sequence numbers of one subflow map to data offsets, and what is left to say of a fallback.

use super::*;

/// State of plain TCP, after a fallback or before it is complete: which subflow, and how sequence numbers map to data offsets.
#[derive(Debug, Default)]
pub(super) struct Plain {
    pub subflow: SubflowId,
    /// Our direction: a sequence number and its data offset. `None`: the first sequence number of data has offset 0.
    pub tx_base: Option<(Seq, u64)>,
    /// The peer's direction, likewise.
    pub rx_base: Option<(Seq, u64)>,
    /// The infinite mapping for our first data segment, and the sequence number of that segment once it was sent.
    pub infinite: Option<(Mapping, Option<Seq>)>,
    /// The path has passed mappings before it lost options: the peer may go on with Multipath TCP until it acknowledges the infinite
    /// mapping on a new segment, which this sequence number or a later one has.
    pub untold: Option<Seq>,
    /// Data sequence number of an MP_FAIL to be sent with the next acknowledgement.
    pub fail: Option<u64>,
    /// Data sequence number of the MP_FAIL we sent, in case the peer repeats its own.
    pub fail_sent: Option<u64>,
    /// How often we have repeated our MP_FAIL.
    pub repeats: u32,
    /// When it was last sent or put off.
    pub fail_sent_at: Instant,
}

impl Plain {
    /// Data offset of the peer's sequence number `seq` on `s`, its subflow.
    #[inline]
    pub fn rx(&self, s: &Subflow, seq: Seq) -> Option<u64> {
        let Some((base, data)) = self.rx_base else { return seq.0.checked_sub(s.irs.0 + 1) };
        data.checked_add_signed(seq.0.wrapping_sub(base.0) as i64)
    }

    /// Data offset of our sequence number `seq` on `s`, its subflow.
    #[inline]
    pub fn tx(&self, s: &Subflow, seq: Seq) -> u64 {
        let Some((base, data)) = self.tx_base else { return seq - (s.iss + 1) };
        data.saturating_add_signed(seq.0.wrapping_sub(base.0) as i64)
    }
}
