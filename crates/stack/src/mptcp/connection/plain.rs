//! Plain TCP: how the sequence numbers of one subflow map to data offsets, and what is left to say of a fallback.

use super::Connection;
use crate::event::SubflowId;
use crate::mptcp::handshake::Keys;
use crate::segment::{Dss, Mapping, Mptcp, Segment};
use crate::seq::Seq;
use crate::tcp::subflow::Subflow;
use crate::time::Instant;

/// The path has passed mappings before it lost options: the peer may go on with Multipath TCP until it acknowledges our infinite mapping, or
/// sends its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Untold {
    /// What acknowledges the infinite mapping is what acknowledges it on a new segment, which this sequence number or a later one has.
    pub new: Seq,
    /// To read the peer's infinite mapping with.
    pub keys: Keys,
}

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
    /// The peer may not know of our fallback yet.
    pub untold: Option<Untold>,
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

impl Connection {
    /// RFC 8684 3.7: `seg`, on subflow `id`, comes from a peer that is plain TCP, too. A peer whose data have had a DATA_ACK learns that we are
    /// from the infinite mapping alone ("in case the path drops options in one direction only"); before that it may have sent octets once more
    /// at another place of the subflow. So it may have before it fell back itself, and its own infinite mapping says where they go on.
    pub(super) fn is_told(&mut self, id: SubflowId, seg: &Segment) -> bool {
        let Some(Untold { new, keys }) = self.plain.untold else { return true };
        let s = &self.paths.subflows[id];
        let carrier = self.plain.infinite.and_then(|(_, at)| at).filter(|&at| at >= new);
        let mut told = carrier.is_some_and(|at| Seq::unwrap(seg.ack, s.sender.una) > at);
        if let Mptcp::Dss(Dss { mapping: Some(m @ Mapping { len: 0, .. }), .. }) = seg.options.mptcp {
            let (seq, data) = (Seq::unwrap(s.mapped_seq(m.ssn), s.receiver.rcv_nxt), self.mapped_offset(&keys, &m));
            // Data before it that have not come never would: that is no place to go on from.
            if data <= self.recv.nxt() {
                self.plain.rx_base = Some((seq, data));
                told = true;
            }
        }
        self.plain.untold = self.plain.untold.filter(|_| !told);
        told
    }

    /// Every octet that arrives has its place in the stream: the peer knows of a fallback, if there was one.
    #[inline]
    pub(super) fn has_told(&self) -> bool {
        self.plain.untold.is_none()
    }
}
