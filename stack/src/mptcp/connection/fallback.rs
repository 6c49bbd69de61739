//! Fallback (RFC 8684 3.7): what happens when a path loses MPTCP options or changes the payload.
//!
//! Plain TCP is the same data stream on one subflow without any signal. As long as that subflow alone has carried all data that
//! matter, sequence numbers and data go together, and the connection can become plain TCP at any moment: each direction is
//! then one infinite mapping, from a point that both sides agree on. Otherwise the subflow is reset, and its data go elsewhere.
//!
//! - Options lost in the handshake, with the first data, or with their acknowledgement: plain TCP (here and in `handshakes`).
//! - Options lost on a further subflow, or later: that subflow is reset with the reason "middlebox interference".
//! - A checksum fails: on one of several subflows a RST with MP_FAIL; on the only one an acknowledgement with MP_FAIL, after which
//!   the peer answers with MP_FAIL and an infinite mapping, and both are plain TCP. What has come since the failed mapping waits
//!   for that; it is not acknowledged at data level before.

use super::*;

/// Plain TCP after a fallback, or about to be: which subflow, and how its sequence numbers and data go together.
#[derive(Debug, Default)]
pub(super) struct Plain {
    pub subflow: SubflowId,
    /// Our data: a sequence number and the data offset there; `None`: the first octet is the first octet.
    pub tx: Option<(Seq, u64)>,
    /// The peer's.
    pub rx: Option<(Seq, u64)>,
    /// The infinite mapping that our first segment with data is to carry, and that segment once it has left.
    infinite: Option<(Mapping, Option<Seq>)>,
    /// MP_FAIL, to leave with the next acknowledgement.
    fail: Option<u64>,
    /// The data sequence number of our MP_FAIL, should the peer repeat its own.
    said: Option<u64>,
    /// How often it was repeated.
    repeats: u32,
}

/// A stretch of our data that went out in one piece on one subflow, up to the newest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    subflow: SubflowId,
    seq: Seq,
    data: u64,
}

/// The only subflow has shown a wrong checksum: MP_FAIL is sent until the peer falls back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failing {
    pub subflow: SubflowId,
    dsn: u64,
    /// An acknowledgement is to say so.
    due: bool,
    /// It says so again at this time if nothing has come by then: the peer's answer may have been lost, and it may have no more data.
    pub again_at: Instant,
    tries: u32,
}

/// How often the next octet of a subflow may come without a mapping before the subflow counts as broken.
const UNMAPPED: u32 = 4;

fn middlebox() -> Option<TcpRst> {
    Some(TcpRst { transient: false, reason: ResetReason::MIDDLEBOX })
}

impl Connection {
    // ---- where plain TCP has its data --------------------------------------------------------------------------

    /// Data offset of sequence number `seq` of the peer, in plain TCP.
    pub(super) fn plain_rx(&self, seq: Seq) -> Option<u64> {
        let s = &self.paths.subflows[self.plain.subflow];
        let (base, data) = self.plain.rx.unwrap_or((s.irs + 1, 0));
        data.checked_add_signed(seq.0.wrapping_sub(base.0) as i64)
    }

    /// Data offset of our sequence number `seq`, in plain TCP.
    pub(super) fn plain_tx(&self, seq: Seq) -> u64 {
        let s = &self.paths.subflows[self.plain.subflow];
        let (base, data) = self.plain.tx.unwrap_or((s.iss + 1, 0));
        data.saturating_add_signed(seq.0.wrapping_sub(base.0) as i64)
    }

    /// Notes where new data go, so that it is known what went in one piece.
    #[inline]
    pub(super) fn note_run(&mut self, sent: &Sent, subflow: SubflowId) {
        let goes_on =
            |r: &Run| r.subflow == subflow && sent.seq.0.wrapping_sub(r.seq.0) == sent.data.wrapping_sub(r.data);
        if !self.run.as_ref().is_some_and(goes_on) {
            self.run = Some(Run { subflow, seq: sent.seq, data: sent.data });
        }
    }

    /// Where our unacknowledged data begin on `id`, if it alone carries them in one piece.
    fn contiguous(&self, id: SubflowId) -> Option<(Seq, u64)> {
        let s = &self.paths.subflows[id];
        match self.run {
            None => Some((s.iss + 1, 0)),
            Some(r) if r.subflow == id && r.data <= self.data_una => {
                Some((r.seq + (self.data_una - r.data), self.data_una))
            }
            // Everything is acknowledged, whatever it went by.
            Some(_) if self.data_una == self.data_nxt && s.sender.board.is_empty() => {
                Some((s.sender.nxt, self.data_nxt))
            }
            Some(_) => None,
        }
    }

    /// No other subflow than `id` has ever carried data and still lives. (One that is being joined has not.)
    fn is_alone(&self, id: SubflowId) -> bool {
        self.paths.active().all(|(s, m)| s.id == id || s.state == State::Closed || !m.ready)
    }

    // ---- becoming plain TCP ------------------------------------------------------------------------------------

    /// The handshake showed that the peer, or the path, does not speak MPTCP.
    pub(super) fn never_multipath(&mut self, subflow: SubflowId, cause: FallbackCause) {
        self.mode = Mode::Tcp;
        self.announcements.clear();
        self.removals.clear();
        self.events.push_back(Event::Fallback { subflow, cause });
    }

    /// `id` alone goes on, as plain TCP. False if that cannot be, because data went elsewhere, too: then `id` is reset.
    pub(super) fn fall_back(&mut self, id: SubflowId, cause: FallbackCause) -> bool {
        let Mode::Mptcp(k) = self.mode else { return false };
        let in_order = self.reassembly.held().1 == 0;
        let (Some(tx), true) = (self.contiguous(id), in_order) else {
            let dsn = k.peer_first_dsn.wrapping_add(self.reassembly.nxt());
            self.reset(id, EndReason::Middlebox, Signal::Fail { dsn }, middlebox());
            return false;
        };
        for k in 0..self.paths.active.len() {
            let other = self.paths.active[k];
            if other != id && self.paths.subflows[other].state != State::Closed {
                self.reset(other, EndReason::Middlebox, Signal::None, middlebox());
            }
        }
        if self.plain.rx.is_none() {
            // Nothing waits: what is next on the subflow is next in the data.
            let s = &self.paths.subflows[id];
            self.plain.rx = Some(match self.paths.members[id].unverified.front() {
                Some(&(seq, piece)) => (seq, piece.data),
                None => (s.receiver.rcv_nxt, self.reassembly.nxt()),
            });
        }
        let s = &self.paths.subflows[id];
        let ssn = (tx.0.0 - s.iss.0) as u32;
        let dsn = k.own_first_dsn.wrapping_add(tx.1);
        // 3.7: retroactive, from what is known to have been delivered intact. Its checksum is zero.
        let infinite = Mapping { dsn, short: false, ssn, len: 0, checksum: self.config.checksum.then_some(0) };
        self.plain.subflow = id;
        self.plain.tx = Some(tx);
        self.plain.infinite = Some((infinite, None));
        self.never_multipath(id, cause);
        self.failing = None;
        self.reinjections = Reinjections::default();
        self.data_timer = None;
        // 3.7: from now on only the subflow's acknowledgements count.
        self.data_una = self.plain_tx(self.paths.subflows[id].sender.una).min(self.data_nxt).max(self.data_una);
        self.delivered.clear();
        self.release(id);
        self.place_delivered(id);
        if self.paths.subflows[id].state.peer_has_closed() {
            // A FIN that came before ends the stream now.
            self.peer_end.get_or_insert(self.reassembly.nxt());
        }
        true
    }

    /// The option of a segment with data in plain TCP: the infinite mapping on the first that leaves, and whenever that one is
    /// sent again.
    pub(super) fn infinite_option(&mut self, sent: &Sent) -> Mptcp {
        let Some((mapping, at)) = &mut self.plain.infinite else { return Mptcp::None };
        if *at.get_or_insert(sent.seq) != sent.seq {
            return Mptcp::None;
        }
        Mptcp::Dss(Dss { data_ack: None, mapping: Some(*mapping), data_fin: false })
    }

    /// The peer maps all that follows at once.
    pub(super) fn take_infinite(&mut self, id: SubflowId, k: &Keys, m: &Mapping) {
        let s = &self.paths.subflows[id];
        let seq = Seq::unwrap(s.irs.wire().wrapping_add(m.ssn), s.receiver.rcv_nxt);
        let data = self.mapped_offset(k, m);
        if data > self.reassembly.nxt() {
            // What comes before it would never come.
            self.reset(id, EndReason::Middlebox, Signal::None, middlebox());
            return;
        }
        self.plain.rx.get_or_insert((seq, data));
        self.fall_back(id, FallbackCause::InfiniteMapping);
    }

    // ---- options that are lost ---------------------------------------------------------------------------------

    /// 3.7: data are acknowledged without a DSS, or come without a mapping, although the path has never shown that it lets
    /// the options through. False drops the segment.
    pub(super) fn check_options(&mut self, id: SubflowId, seg: &Segment) -> bool {
        let s = &self.paths.subflows[id];
        if self.paths.members[id].dss_heard
            || !matches!(seg.options.mptcp, Mptcp::None)
            || !seg.options.signal.is_empty()
        {
            return true;
        }
        // Not more than is outstanding: other acknowledgements are none.
        let ack = Seq::unwrap(seg.ack, s.sender.una);
        let acks_data = ack > s.iss + 1 && ack > s.sender.una && ack <= s.sender.nxt;
        let acks_data = acks_data && s.sender.board.front().is_some_and(|front| !front.is_fin());
        let bare_data = seg.payload.len > 0 && !self.paths.members[id].mapping_heard;
        if !acks_data && !bare_data {
            return true;
        }
        if self.paths.members[id].join == Join::First && self.paths.subflows.len() == 1 {
            return self.fall_back(id, FallbackCause::Options);
        }
        if acks_data {
            self.reset(id, EndReason::Middlebox, Signal::None, middlebox());
            return false;
        }
        true
    }

    /// Data came without a mapping. Those that come again and again break the subflow.
    pub(super) fn on_unmapped(&mut self, id: SubflowId, start: Seq) {
        let rcv_nxt = self.paths.subflows[id].receiver.rcv_nxt;
        let (seen, times) = &mut self.paths.members[id].unmapped;
        if start != rcv_nxt {
            return;
        }
        *times = if *seen == start { *times + 1 } else { 1 };
        *seen = start;
        if *times >= UNMAPPED {
            self.reset(id, EndReason::Middlebox, Signal::None, middlebox());
        }
    }

    // ---- checksums ---------------------------------------------------------------------------------------------

    /// The checksum of our mapping, over payload that sums to zero.
    pub(super) fn checksum_of(&self, dsn: u64, ssn: u32, len: u16) -> Option<u16> {
        self.config.checksum.then(|| dss_pseudo_header(dsn, ssn, len).checksum())
    }

    /// Takes note of a segment of which all octets are mapped, the first of them to `data`. False if a checksum has failed
    /// and the segment is not to be taken.
    pub(super) fn verify(&mut self, id: SubflowId, seg: &Segment, payload: Payload, start: Seq, data: u64) -> bool {
        let Mode::Mptcp(k) = self.mode else { return true };
        if let Some(failing) = &mut self.failing {
            failing.due = true;
            return true;
        }
        if !self.config.checksum {
            return true;
        }
        let end = start + u64::from(payload.len);
        let sum = Sum(payload.sum);
        let m = match seg.options.mptcp {
            // (A DATA_FIN counts as an octet; a mapping of none that has one maps nothing.)
            Mptcp::Dss(Dss { mapping: Some(m), data_fin, .. }) if m.len >= u16::from(data_fin) => Some((m, data_fin)),
            Mptcp::CapableAck { data: Some((len, checksum)), .. } => {
                Some((Mapping { dsn: 0, short: false, ssn: 1, len, checksum }, false))
            }
            _ => None,
        };
        let mut broken = None;
        if let Some((m, data_fin)) = m {
            let s = &self.paths.subflows[id];
            let at = Seq::unwrap(s.irs.wire().wrapping_add(m.ssn), s.receiver.rcv_nxt);
            let mapped_end = at + (u64::from(m.len) - u64::from(data_fin));
            let mapped = data.wrapping_sub(start.0.wrapping_sub(at.0));
            let dsn = k.peer_first_dsn.wrapping_add(mapped);
            let pseudo = dss_pseudo_header(dsn, m.ssn, m.len);
            match m.checksum {
                // Negotiated and not there: a middlebox has been at it.
                None => broken = Some(Broken { seq: at, data: mapped }),
                Some(c) if at == start && mapped_end == end => {
                    let valid = pseudo.plus(Sum(c)).plus(sum).is_valid();
                    broken = (!valid).then_some(Broken { seq: at, data: mapped });
                }
                Some(c) if mapped_end > s.receiver.rcv_nxt => {
                    let checks = &mut self.paths.members[id].checks;
                    if mapped_end > at && !checks.promise(at, mapped_end, mapped, pseudo.plus(Sum(c))) {
                        return false;
                    }
                }
                Some(_) => {}
            }
        }
        let checks = &mut self.paths.members[id].checks;
        if broken.is_none() && !checks.is_empty() {
            checks.arrive(start, end, sum);
            broken = checks.verify();
        }
        match broken {
            None => true,
            Some(broken) => self.on_broken(id, &k, broken),
        }
    }

    /// 3.7: a checksum has failed. False if the subflow is reset.
    fn on_broken(&mut self, id: SubflowId, k: &Keys, broken: Broken) -> bool {
        self.events.push_back(Event::ChecksumFailed { subflow: id, data: broken.data });
        let dsn = k.peer_first_dsn.wrapping_add(broken.data);
        if !self.is_alone(id) || self.reassembly.held().1 > 0 || broken.data < self.reassembly.nxt() {
            self.reset(id, EndReason::Middlebox, Signal::Fail { dsn }, middlebox());
            return false;
        }
        self.plain.rx = Some((broken.seq, broken.data));
        self.failing = Some(Failing { subflow: id, dsn, due: true, again_at: Instant::FAR_FUTURE, tries: 0 });
        true
    }

    /// MP_FAIL: our data were changed on the way (3.7).
    pub(super) fn take_fail(&mut self, id: SubflowId) {
        let Mode::Mptcp(k) = self.mode else { return };
        // "the receiver of an MP_FAIL MUST also respond with an MP_FAIL in the reverse direction"
        let ours = self.failing.map(|f| f.dsn);
        let dsn = ours.unwrap_or(k.peer_first_dsn.wrapping_add(self.reassembly.nxt()));
        if !self.is_alone(id) {
            // It should have come on a RST: data went elsewhere, too, or a join came through meanwhile. What failed was not
            // taken, acknowledged on the subflow or not.
            self.reset(id, EndReason::Middlebox, Signal::Fail { dsn }, middlebox());
            self.reinject_missing();
            return;
        }
        // One in each direction is enough: ours may have left before.
        let said = self.failing.is_some_and(|f| !f.due);
        if self.fall_back(id, FallbackCause::Checksum) {
            self.plain.fail = (!said).then_some(dsn);
            self.plain.said = Some(dsn);
        }
    }

    /// The peer says MP_FAIL again after we have fallen back, and acknowledges the segment that carried the infinite mapping (if one
    /// has left): our answer was lost, and so was that segment, whose octets had come by an earlier copy. The answer is repeated, and
    /// the next segment with data carries the mapping again. So many times and no more: two ends in plain TCP must not answer each
    /// other for ever.
    pub(super) fn repeat_fail(&mut self, id: SubflowId, ack: u32) {
        let una = self.paths.subflows[id].sender.una;
        let Some((_, carrier)) = self.plain.infinite.as_mut().filter(|_| self.plain.subflow == id) else { return };
        if self.plain.repeats == TRIES || carrier.is_some_and(|seq| Seq::unwrap(ack, una) <= seq) {
            return;
        }
        *carrier = None;
        self.plain.repeats += 1;
        self.plain.fail = self.plain.said;
        self.paths.subflows[id].acks.now();
    }

    /// An acknowledgement on `id` is to carry MP_FAIL.
    pub(super) fn fail_is_due(&self, now: Instant, id: SubflowId) -> bool {
        self.failing.is_some_and(|f| f.subflow == id && (f.due || f.again_at <= now))
            || (self.plain.fail.is_some() && self.plain.subflow == id)
    }

    /// The signal of an acknowledgement on `id`: MP_FAIL, repeated until the peer falls back.
    pub(super) fn fail_signal(&mut self, now: Instant, id: SubflowId) -> Signal {
        if let Some(failing) = self.failing.as_mut().filter(|f| f.subflow == id) {
            failing.due = false;
            let patience = self.paths.subflows[id].rto().saturating_mul(1 << failing.tries);
            failing.again_at = if failing.tries < TRIES { now + patience } else { Instant::FAR_FUTURE };
            failing.tries += u32::from(failing.tries < TRIES);
            return Signal::Fail { dsn: failing.dsn };
        }
        match self.plain.fail.take_if(|_| self.plain.subflow == id) {
            Some(dsn) => Signal::Fail { dsn },
            None => Signal::None,
        }
    }

    // ---- what waits for a verdict ------------------------------------------------------------------------------

    /// What is in order on `id` waits here until its checksum is verified.
    pub(super) fn hold_unverified(&mut self, id: SubflowId, from: Seq) {
        let mut seq = from;
        let delivered = std::mem::take(&mut self.delivered);
        for &piece in &delivered {
            self.paths.members[id].unverified.push_back((seq, piece));
            seq += u64::from(piece.len);
        }
        self.delivered = delivered;
        self.delivered.clear();
        self.release(id);
    }

    /// Places what is verified, in order.
    fn release(&mut self, id: SubflowId) {
        if self.failing.is_some() {
            return;
        }
        // In plain TCP nothing is verified.
        while let Some(&(seq, piece)) = self.paths.members[id].unverified.front() {
            if !matches!(self.mode, Mode::Tcp) && self.paths.members[id].checks.holds(seq, seq + u64::from(piece.len)) {
                break;
            }
            self.paths.members[id].unverified.pop_front();
            self.delivered.push(piece);
        }
    }
}
