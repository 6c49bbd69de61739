//! What the two handshakes of RFC 8684 require of arriving segments: keys, tokens, HMACs, and fallback to plain TCP.

use super::Connection;
use crate::event::{EndReason, FallbackCause, SubflowId};
use crate::mptcp::handshake::{Join, Keys};
use crate::mptcp::keys;
use crate::mptcp::negotiation::Mode;
use crate::segment::{Flags, Mptcp, ResetReason, Segment, Signal, TcpRst};
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
                    self.on_fast_open_answer(id, seg);
                }
                self.send.begin_window(u64::from(seg.window));
                if handshake_done {
                    self.paths.connect(id, &mut self.events);
                }
            }
            (Join::SynSent { nonce }, Mode::Mptcp(k)) => {
                let Mptcp::JoinSynAck { hmac, nonce: theirs, backup, .. } = seg.options.mptcp else {
                    // RFC 8684 3.2, 3.7: this path removes the options.
                    self.refuse(id, ResetReason::MIDDLEBOX);
                    return;
                };
                if hmac != keys::truncate_64(&keys::join_hmac(k.peer, k.own, theirs, nonce)) {
                    self.refuse(id, ResetReason::MPTCP);
                    return;
                }
                self.paths.members[id].peer_backup = backup;
                let hmac = keys::truncate_160(&keys::join_hmac(k.own, k.peer, nonce, theirs));
                let retry_at = now + self.paths.subflows[id].sender.rtt.rto();
                self.paths.members[id].join = Join::AwaitAck { hmac, retry_at, tries: 1 };
            }
            _ => self.refuse(id, ResetReason::MPTCP),
        }
    }

    /// 3.1: the peer repeats its SYN without MP_CAPABLE, because it has seen no answer to its SYNs with MP_CAPABLE.
    pub(super) fn is_plain_again(&self, id: SubflowId, seg: &Segment) -> bool {
        let negotiating = matches!(self.negotiation.mode(), Mode::Negotiating { .. })
            && self.paths.subflows[id].state == State::SynReceived;
        let syn = seg.flags.has(Flags::SYN) && !seg.flags.has(Flags::ACK) && !seg.flags.has(Flags::RST);
        let again = seg.seq == self.paths.subflows[id].irs.wire();
        negotiating
            && self.paths.members[id].join == Join::First
            && syn
            && again
            && !matches!(seg.options.mptcp, Mptcp::CapableSyn { .. })
    }

    /// The MPTCP part of a segment's acceptance test. Returns false if the segment must be dropped.
    pub(super) fn authenticate(&mut self, now: Instant, id: SubflowId, seg: &Segment) -> bool {
        let in_syn_received = self.paths.subflows[id].state == State::SynReceived;
        match (self.paths.members[id].join, *self.negotiation.mode()) {
            (Join::First, Mode::Negotiating { own_key }) => self.take_keys(id, seg, own_key),
            (Join::First, Mode::Mptcp(_)) => self.check_options(id, seg),
            (Join::SynReceived { nonce, peer_nonce }, Mode::Mptcp(k)) => {
                let Mptcp::JoinAck { hmac } = seg.options.mptcp else { return !in_syn_received };
                let want = keys::truncate_160(&keys::join_hmac(k.peer, k.own, peer_nonce, nonce));
                self.take_join_ack(id, hmac == want)
            }
            (Join::AwaitAck { .. }, _) => {
                self.paths.join(id, &mut self.events);
                true
            }
            (Join::Done, _) => {
                if matches!(seg.options.mptcp, Mptcp::JoinAck { .. }) && self.paths.subflows[id].may_repeat(now) {
                    self.paths.subflows[id].acks.now();
                }
                self.negotiation.is_plain() || self.check_options(id, seg)
            }
            _ => true,
        }
    }

    /// The third ACK of the first subflow, with both keys (3.1).
    fn take_keys(&mut self, id: SubflowId, seg: &Segment, own_key: u64) -> bool {
        match seg.options.mptcp {
            Mptcp::CapableAck { sender_key, receiver_key, checksum, .. } => {
                if receiver_key != own_key || sender_key == own_key {
                    return false;
                }
                let mut keys = Keys::new(own_key, sender_key);
                // B.2: data in the SYN have no data sequence numbers.
                let in_syn = self.paths.subflows[id].fast_open.rx;
                keys.peer_first_dsn = keys.peer_first_dsn.wrapping_sub(u64::from(in_syn));
                self.negotiation.agree(keys, true, &mut self.fast);
                self.config.checksum |= checksum;
                true
            }
            // The keys are still missing. They arrive with a retransmission of the third ACK, or with the first data (3.1).
            Mptcp::Dss(_) => false,
            _ => {
                // RFC 8684 3.1, 3.7: the option was lost on the path, so plain TCP.
                if seg.flags.has(Flags::ACK) && !seg.flags.has(Flags::SYN) {
                    self.never_multipath(id, FallbackCause::ThirdAck);
                }
                true
            }
        }
    }

    /// The third ACK of a join (3.2). `authentic`: its HMAC is right.
    fn take_join_ack(&mut self, id: SubflowId, authentic: bool) -> bool {
        if !authentic {
            self.refuse(id, ResetReason::MPTCP);
            return false;
        }
        if self.fallback.is_failing() {
            // 3.7: the connection is about to fall back to plain TCP.
            self.refuse(id, ResetReason::MIDDLEBOX);
            return false;
        }
        if self.paths.are_full(self.config.subflow_limit) {
            let tcp_rst = TcpRst { transient: true, reason: ResetReason::RESOURCES };
            self.reset(id, EndReason::Refused, Signal::None, Some(tcp_rst));
            return false;
        }
        self.paths.join(id, &mut self.events);
        // 3.2: the fourth ACK allows the initiator to send data.
        self.paths.subflows[id].acks.now();
        true
    }
}
