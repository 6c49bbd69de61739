//! The MPTCP options of segments after the handshake.

use super::Composing;
use crate::config::DsnOctets;
use crate::event::SubflowId;
use crate::mptcp::handshake::{Join, Keys};
use crate::mptcp::negotiation::Mode;
use crate::mptcp::receiving::checksum_of;
use crate::mptcp::send_stream::Fin;
use crate::scoreboard::Sent;
use crate::segment::{DataAck, Dss, Mapping, Mptcp};
use crate::seq::Seq;

impl Composing<'_> {
    /// The DSS option of a segment, with a DATA_ACK in each (RFC 8684 3.3.2); with a mapping if it
    /// carries `data`.
    #[inline(always)]
    pub(super) fn dss(&self, k: &Keys, id: SubflowId, data: Option<(u64, u32, Seq)>) -> Dss {
        let fin_received = u64::from(self.recv.has_ended());
        let ack = k.peer_first_dsn.wrapping_add(self.recv.nxt() + fin_received);
        // 3.3.2: a 64-bit data sequence number MUST be acknowledged with 64 bits.
        let ack = if self.w.negotiation.has_long_dsn() { DataAck::Eight(ack) } else { DataAck::Four(ack as u32) };
        let mut dss = Dss { data_ack: Some(ack), ..Dss::default() };
        if let Some((data, len, seq)) = data {
            let last = data + u64::from(len) == self.w.send.written()
                && self.w.send.is_closed()
                && self.w.send.fin() != Fin::Open;
            dss.data_fin = last;
            let ssn = (seq.0 - self.w.paths.subflows[id].first_own().0 + 1) as u32;
            dss.mapping = Some(self.mapping(k, id, data, ssn, (len + u32::from(last)) as u16));
        }
        dss
    }

    /// A mapping of `len` octets from data offset `data` on, for a segment on `id`: of the same
    /// octets always the same mapping (RFC 8684 3.3.1). Beside TCP-DOOR's number there is room for
    /// a 32-bit data sequence number only.
    pub(super) fn mapping(&self, k: &Keys, id: SubflowId, data: u64, ssn: u32, len: u16) -> Mapping {
        let dsn = k.own_first_dsn.wrapping_add(data);
        // 3.3.1: the checksum covers all 64 bits of the data sequence number, even if only 32 are
        // sent.
        let checksum = checksum_of(self.w.config, dsn, ssn, len);
        let short = self.w.config.dsn_octets == DsnOctets::Four || self.w.paths.subflows[id].door.on;
        Mapping { dsn: if short { dsn & u64::from(u32::MAX) } else { dsn }, short, ssn, len, checksum }
    }

    /// The MPTCP option of a segment with payload. RFC 8684 3.7 wants a mapping until a DATA_ACK
    /// has come: every data segment carries one.
    #[inline(always)]
    pub(super) fn data_option(&mut self, id: SubflowId, sent: &Sent) -> Mptcp {
        match self.w.negotiation.mode() {
            Mode::Mptcp(k) => {
                // 3.1: the first data carries the keys, whether or not the third ACK arrived. The
                // option implies the first subflow sequence number: a copy of this data later on
                // the subflow needs a DSS.
                let s = &self.w.paths.subflows[id];
                let first = sent.seq == s.first_own() && sent.data == u64::from(s.fast_open.tx);
                let keys_are_known = self.w.config.deviations.first_data_with_dss && self.w.negotiation.is_confirmed();
                if self.w.negotiation.is_client()
                    && !keys_are_known
                    && first
                    && self.w.paths.members[id].join == Join::First
                {
                    return Mptcp::CapableAck {
                        checksum: self.w.config.checksum,
                        sender_key: k.own,
                        receiver_key: k.peer,
                        data: Some((
                            sent.len as u16,
                            checksum_of(self.w.config, k.own_first_dsn.wrapping_add(sent.data), 1, sent.len as u16),
                        )),
                    };
                }
                Mptcp::Dss(self.dss(k, id, Some((sent.data, sent.len, sent.seq))))
            }
            _ => self.w.fallback.infinite_option(sent.seq),
        }
    }

    /// The MPTCP option of a pure acknowledgement on `id` that also carries a signal. The DATA_FIN
    /// that Linux repeats on each acknowledgement stays away: its mapping and a signal do not both
    /// fit (RFC 9293 3.1: options have 40 octets).
    pub fn signal_option(&self, id: SubflowId) -> Mptcp {
        match self.control_option(id) {
            Mptcp::Dss(dss) => Mptcp::Dss(Dss { mapping: None, data_fin: false, ..dss }),
            other => other,
        }
    }

    /// The MPTCP option of a pure acknowledgement on `id`.
    #[inline]
    pub fn control_option(&self, id: SubflowId) -> Mptcp {
        let Mode::Mptcp(k) = self.w.negotiation.mode() else { return Mptcp::None };
        match self.w.paths.members[id].join {
            Join::AwaitAck { hmac, .. } => Mptcp::JoinAck { hmac },
            // 3.1: the third ACK carries the keys until the peer has shown that it has them.
            Join::First
                if self.w.negotiation.is_client()
                    && !self.w.negotiation.is_confirmed()
                    && self.w.send.nxt() == u64::from(self.w.paths.subflows[id].fast_open.tx) =>
            {
                Mptcp::CapableAck {
                    checksum: self.w.config.checksum,
                    sender_key: k.own,
                    receiver_key: k.peer,
                    data: None,
                }
            }
            _ => {
                let mut dss = self.dss(k, id, None);
                let pending =
                    matches!(self.w.send.fin(), Fin::Sent { .. }) && self.w.send.nxt() == self.w.send.written();
                if self.w.config.deviations.data_fin_on_all && pending && !self.distribution.has_assigned(self.w.paths)
                {
                    (dss.data_fin, dss.mapping) = (true, Some(self.mapping(k, id, self.w.send.written(), 0, 1)));
                }
                Mptcp::Dss(dss)
            }
        }
    }
}
