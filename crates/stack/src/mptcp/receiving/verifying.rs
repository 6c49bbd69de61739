//! Mappings and checksums of arriving data (RFC 8684 3.3.1, 3.7).

use super::{Receiving, Refusal};
use crate::config::Config;
use crate::event::{Event, SubflowId};
use crate::mptcp::handshake::Keys;
use crate::mptcp::negotiation::Mode;
use crate::mptcp::recv_stream::RecvStream;
use crate::mptcp::verify::Broken;
use crate::segment::{Dss, Mapping, Mptcp, Payload, ResetReason, Segment, Signal};
use crate::seq::Seq;
use crate::wire::checksum::{Sum, dss_pseudo_header};

/// The checksum of our mapping, for a payload that sums to zero.
#[inline(always)]
pub(crate) fn checksum_of(config: &Config, dsn: u64, ssn: u32, len: u16) -> Option<u16> {
    config.checksum.then(|| dss_pseudo_header(dsn, ssn, len).checksum())
}

/// 3.3.1: the checksum of a DATA_FIN without data covers only the pseudo-header. With data, it is
/// verified together with that data.
pub(crate) fn is_intact(config: &Config, k: &Keys, recv: &RecvStream, seg: &Segment, m: &Mapping) -> bool {
    let dsn = k.peer_first_dsn.wrapping_add(k.mapped_offset(m, recv.nxt()));
    let sum = dss_pseudo_header(dsn, m.ssn, m.len);
    seg.payload.len > 0 || !config.checksum || m.checksum.is_some_and(|c| sum.plus(Sum(c)).is_valid())
}

/// The mapping of `seg` that maps payload, if it does, and whether its last octet is a DATA_FIN.
/// The mapping of the third ACK is of the first data (3.1).
fn own_mapping(seg: &Segment) -> Option<(Mapping, bool)> {
    match seg.options.mptcp {
        Mptcp::Dss(Dss { mapping: Some(m), data_fin, .. }) if m.len >= u16::from(data_fin) => Some((m, data_fin)),
        Mptcp::CapableAck { data: Some((len, checksum)), .. } => {
            Some((Mapping { dsn: 0, short: false, ssn: 1, len, checksum }, false))
        }
        _ => None,
    }
}

impl Receiving<'_> {
    /// RFC 8684 3.3.1, 3.7: data arrived without a mapping. If the next expected octet arrives so
    /// repeatedly, and nothing else does, the subflow is reset.
    pub(super) fn on_unmapped(&mut self, id: SubflowId, start: Seq) -> Result<(), Refusal> {
        if self.paths.comes_repeatedly(id, start) { Err(Refusal::middlebox(Signal::None)) } else { Ok(()) }
    }

    /// Stores the mapping of `seg` for payload that arrives later. The mapping covers more than the
    /// payload of `seg`: `octets` octets from subflow sequence number `at` are the data from data
    /// offset `data`. Stores its checksum as well, because later segments of the mapping may carry
    /// no DSS option (RFC 8684 3.3.1). Returns false if too many mappings wait for their payload.
    pub(super) fn note_mapping(
        &mut self,
        id: SubflowId,
        k: &Keys,
        seg: &Segment,
        at: Seq,
        data: u64,
        octets: u64,
    ) -> Result<bool, Refusal> {
        self.check_negotiated(seg)?;
        let end = at + octets;
        if let Some((Mapping { ssn, len, checksum: Some(c), .. }, _)) = own_mapping(seg) {
            let pseudo = dss_pseudo_header(k.peer_first_dsn.wrapping_add(data), ssn, len);
            let expected = self.paths.subflows[id].receiver.rcv_nxt;
            let checks = &mut self.paths.members[id].checks;
            if end > expected && !checks.promise((at, end), data, pseudo.plus(Sum(c)), expected) {
                return Ok(false);
            }
        }
        self.paths.members[id].mappings.add(at, data, octets);
        Ok(true)
    }

    /// Records a segment whose octets are all mapped, the first of them to `data`. Returns false if
    /// a checksum has failed and the segment must not be taken.
    pub(super) fn verify(
        &mut self,
        id: SubflowId,
        seg: &Segment,
        payload: Payload,
        start: Seq,
        data: u64,
    ) -> Result<bool, Refusal> {
        let Mode::Mptcp(k) = *self.negotiation.mode() else { return Ok(true) };
        if let Some(dsn) = self.fallback.renew_failure(id) {
            self.check_contiguous(id, &k, seg, dsn)?;
            return Ok(true);
        }
        self.check_negotiated(seg)?;
        if !self.config.checksum {
            return Ok(true);
        }
        let end = start + u64::from(payload.len);
        let sum = Sum(payload.sum);
        let mut broken = None;
        if let Some((m, data_fin)) = own_mapping(seg) {
            let s = &self.paths.subflows[id];
            let at = Seq::unwrap(s.mapped_seq(m.ssn), s.receiver.rcv_nxt);
            let mapped_end = at + (u64::from(m.len) - u64::from(data_fin));
            let mapped = data.wrapping_sub(start.0.wrapping_sub(at.0));
            let dsn = k.peer_first_dsn.wrapping_add(mapped);
            let pseudo = dss_pseudo_header(dsn, m.ssn, m.len);
            // Here only a mapping of exactly this payload. The checksum of a longer mapping was
            // stored with the mapping and is tested when all of its payload has arrived.
            if let Some(c) = m.checksum.filter(|_| at == start && mapped_end == end) {
                let valid = pseudo.plus(Sum(c)).plus(sum).is_valid();
                broken = (!valid).then_some(Broken { seq: at, data: mapped });
            }
        }
        // Its boundaries are not those of what has arrived before. The peer sends it again, perhaps
        // with other boundaries.
        if !self.paths.members[id].checks.can_tell(start, end) && !self.paths.comes_repeatedly(id, start) {
            return Ok(false);
        }
        let checks = &mut self.paths.members[id].checks;
        if broken.is_none() && !checks.is_empty() {
            checks.arrive(start, end, sum);
            broken = checks.verify(start, end);
        }
        if let Some(broken) = broken {
            self.on_broken(id, &k, broken)?;
        }
        Ok(true)
    }

    /// After a checksum has failed: refuses a mapping that does not continue the one that failed,
    /// as it must if the peer is to fall back. Data that it sends once more have a second place in
    /// the sequence space.
    fn check_contiguous(&self, id: SubflowId, k: &Keys, seg: &Segment, failed: u64) -> Result<(), Refusal> {
        let Mptcp::Dss(Dss { mapping: Some(m), .. }) = seg.options.mptcp else { return Ok(()) };
        let s = &self.paths.subflows[id];
        let at = Seq::unwrap(s.mapped_seq(m.ssn), s.receiver.rcv_nxt);
        let (from, _) = self.fallback.rx_base().unwrap_or((at, 0));
        // By the numbers of the mapping: a box that changes lengths changes those of the segments.
        let contiguous = at < from || self.fallback.rx(s.irs, at) == Some(k.mapped_offset(&m, self.recv.nxt()));
        // 3.7: "In the rare case that the data is not contiguous [...], the receiver MUST close the
        // subflow with a RST with MP_FAIL."
        if contiguous { Ok(()) } else { Err(Refusal::middlebox(Signal::Fail { dsn: failed })) }
    }

    /// Refuses a mapping with a checksum if the handshake did not negotiate checksums, and one
    /// without a checksum if it did.
    fn check_negotiated(&self, seg: &Segment) -> Result<(), Refusal> {
        let Some((Mapping { len, checksum, .. }, _)) = own_mapping(seg) else { return Ok(()) };
        // RFC 8684 3.3: in both cases "the receiver MUST close the subflow with a RST". An infinite
        // mapping has none (3.7).
        let right = if self.config.checksum { checksum.is_some() || len == 0 } else { checksum.is_none() };
        if right { Ok(()) } else { Err(Refusal::Reset { signal: Signal::None, reason: ResetReason::MPTCP }) }
    }

    /// 3.7: a checksum has failed. MP_FAIL follows, on a reset of the subflow if other data than
    /// its own is concerned.
    fn on_broken(&mut self, id: SubflowId, k: &Keys, broken: Broken) -> Result<(), Refusal> {
        self.events.push_back(Event::ChecksumFailed { subflow: id, data: broken.data });
        let dsn = k.peer_first_dsn.wrapping_add(broken.data);
        if !self.paths.is_alone(id) || self.recv.held().1 > 0 || broken.data < self.recv.nxt() {
            return Err(Refusal::middlebox(Signal::Fail { dsn }));
        }
        self.fallback.fail(id, dsn, (broken.seq, broken.data), self.fast);
        Ok(())
    }
}
