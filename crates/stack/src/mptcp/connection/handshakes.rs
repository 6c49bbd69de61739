//! What the two handshakes of RFC 8684 require of arriving segments: keys, tokens, HMACs, and fallback to plain TCP.

use super::Connection;
use super::ending::permanent;
use crate::event::{EndReason, FallbackCause, SubflowId};
use crate::mptcp::handshake::{Join, Keys};
use crate::mptcp::keys;
use crate::mptcp::negotiation::{Mode, ThirdAck};
use crate::mptcp::paths::Options;
use crate::segment::{Mptcp, ResetReason, Segment, Signal, TcpRst};
use crate::tcp::subflow::State;
use crate::time::Instant;

impl Connection {
    /// An acceptable SYN or SYN/ACK arrived in SYN-SENT: the client learns whether the peer supports MPTCP.
    pub(super) fn on_syn_ack(&mut self, now: Instant, id: SubflowId, seg: &Segment) {
        let handshake_done = self.paths.subflows[id].state == State::Established;
        match (self.paths.members[id].join, *self.negotiation.mode()) {
            (Join::First, mode) => {
                if let Mode::Negotiating { own_key } = mode {
                    match seg.options.mptcp {
                        Mptcp::CapableSynAck { key, checksum, no_join } if key != own_key => {
                            self.negotiation.agree(Keys::new(own_key, key), false, &mut self.fast);
                            // 3.1: either side asks for checksums.
                            self.config.checksum |= checksum;
                            self.negotiation.set_no_join(no_join);
                        }
                        // RFC 8684 3.1, 3.7: no MP_CAPABLE in the SYN/ACK, so plain TCP.
                        _ => self.never_multipath(id, FallbackCause::SynAck),
                    }
                }
                if handshake_done {
                    let (distribution, mut w) = self.sending();
                    if distribution.on_fast_open_answer(&mut w, id, seg) {
                        // RFC 8684 B.2: data sequence numbers begin after the data in the SYN.
                        self.negotiation.skip_syn_data(self.send.una());
                    }
                }
                self.send.begin_window(u64::from(seg.window));
                if handshake_done {
                    self.paths.connect(id, &mut self.events);
                }
            }
            (Join::SynSent { nonce }, Mode::Mptcp(k)) => {
                let Mptcp::JoinSynAck { hmac, nonce: theirs, backup, .. } = seg.options.mptcp else {
                    // RFC 8684 3.2, 3.7: this path removes the options.
                    self.reset(id, EndReason::Refused, Signal::None, permanent(ResetReason::MIDDLEBOX));
                    return;
                };
                if hmac != keys::truncate_64(&keys::join_hmac(k.peer, k.own, theirs, nonce)) {
                    self.reset(id, EndReason::Refused, Signal::None, permanent(ResetReason::MPTCP));
                    return;
                }
                self.paths.members[id].peer_backup = backup;
                let hmac = keys::truncate_160(&keys::join_hmac(k.own, k.peer, nonce, theirs));
                let retry_at = now + self.paths.subflows[id].sender.rtt.rto();
                self.paths.members[id].join = Join::AwaitAck { hmac, retry_at, tries: 1 };
            }
            _ => self.reset(id, EndReason::Refused, Signal::None, permanent(ResetReason::MPTCP)),
        }
    }

    /// The MPTCP part of a segment's acceptance test. Returns false if the segment must be dropped.
    pub(super) fn authenticate(&mut self, now: Instant, id: SubflowId, seg: &Segment) -> bool {
        let in_syn_received = self.paths.subflows[id].state == State::SynReceived;
        match (self.paths.members[id].join, *self.negotiation.mode()) {
            (Join::First, Mode::Negotiating { .. }) => {
                let in_syn = self.paths.subflows[id].fast_open.rx;
                match self.negotiation.take_third_ack(seg, in_syn, &mut self.fast) {
                    ThirdAck::Keys { checksum } => self.config.checksum |= checksum,
                    ThirdAck::Plain => self.never_multipath(id, FallbackCause::ThirdAck),
                    ThirdAck::Other => {}
                    ThirdAck::Unusable => return false,
                }
                return true;
            }
            (Join::SynReceived { nonce, peer_nonce }, Mode::Mptcp(k)) => {
                let Mptcp::JoinAck { hmac } = seg.options.mptcp else { return !in_syn_received };
                let authentic = hmac == keys::truncate_160(&keys::join_hmac(k.peer, k.own, peer_nonce, nonce));
                // 3.7: a connection whose checksum has failed is about to fall back to plain TCP.
                let failing = self.fallback.is_failing();
                // RFC 8684 3.2: a join that fails to authenticate is reset, without any other
                // effect.
                if !authentic || failing || self.paths.are_full(self.config.subflow_limit) {
                    let reason = match (authentic, failing) {
                        (false, _) => ResetReason::MPTCP,
                        (true, true) => ResetReason::MIDDLEBOX,
                        (true, false) => ResetReason::RESOURCES,
                    };
                    let tcp_rst = TcpRst { transient: reason == ResetReason::RESOURCES, reason };
                    self.reset(id, EndReason::Refused, Signal::None, Some(tcp_rst));
                    return false;
                }
                self.paths.join(id, &mut self.events);
                // 3.2: the fourth ACK allows the initiator to send data.
                self.paths.subflows[id].acks.now();
                return true;
            }
            (Join::AwaitAck { .. }, _) => {
                self.paths.join(id, &mut self.events);
                return true;
            }
            (Join::Done, _) => {
                if matches!(seg.options.mptcp, Mptcp::JoinAck { .. }) && self.paths.subflows[id].may_repeat(now) {
                    self.paths.subflows[id].acks.now();
                }
                if self.negotiation.is_plain() {
                    return true;
                }
            }
            (Join::First, Mode::Mptcp(_)) => {}
            _ => return true,
        }
        match self.paths.judge_options(id, seg, &self.send) {
            Options::Pass => return true,
            Options::Lost => return self.fall_back(id, FallbackCause::Options),
            Options::Stripped => {
                self.reset(id, EndReason::Middlebox, Signal::None, permanent(ResetReason::MIDDLEBOX));
            }
        }
        false
    }
}
