//! What the two handshakes of RFC 8684 demand of arriving segments: keys, tokens, HMACs, and fallback to plain TCP.

use super::*;

impl Connection {
    /// SYN or SYN/ACK in SYN-SENT was good: the client learns what the peer speaks.
    pub(super) fn on_syn_ack(&mut self, now: Instant, id: SubflowId, seg: &Segment) {
        let handshake_done = self.subflows[id].state == State::Established;
        match (self.members[id].join, self.mode) {
            (Join::First, mode) => {
                if let Mode::Negotiating { own_key } = mode {
                    match seg.options.mptcp {
                        Mptcp::CapableSynAck { key, checksum } if key != own_key => {
                            self.mode = Mode::Mptcp(Keys::new(own_key, key));
                            self.config.checksum |= checksum;
                        }
                        // RFC 8684 3.7: no MP_CAPABLE in the SYN/ACK, plain TCP.
                        _ => self.mode = Mode::Tcp,
                    }
                }
                self.peer_edge = u64::from(seg.window);
                self.peer_window = self.peer_edge;
                if handshake_done {
                    self.on_first_established(id);
                }
            }
            (Join::SynSent { nonce }, Mode::Mptcp(k)) => {
                let good = match seg.options.mptcp {
                    Mptcp::JoinSynAck { hmac, nonce: theirs, .. } => {
                        hmac == keys::truncate_64(&keys::join_hmac(k.peer, k.own, theirs, nonce))
                    }
                    _ => false,
                };
                let (Mptcp::JoinSynAck { nonce: theirs, .. }, true) = (seg.options.mptcp, good) else {
                    self.refuse(id);
                    return;
                };
                let hmac = keys::truncate_160(&keys::join_hmac(k.own, k.peer, nonce, theirs));
                let retry_at = now + self.subflows[id].rtt.rto();
                self.members[id].join = Join::AwaitAck { hmac, retry_at, tries: 1 };
            }
            _ => self.refuse(id),
        }
    }

    /// RFC 8684 3.2: a join that does not authenticate is reset, without any other effect.
    pub(super) fn refuse(&mut self, id: SubflowId) {
        let s = &mut self.subflows[id];
        let flags = Flags::RST.with(Flags::ACK);
        let ack = s.receiver.rcv_nxt.wire();
        s.reset = Some(Segment { seq: s.snd_nxt.wire(), ack, flags, ..Segment::default() });
        s.end(EndReason::Refused);
        self.on_subflow_end(id, EndReason::Refused);
    }

    pub(super) fn on_first_established(&mut self, id: SubflowId) {
        self.members[id].ready = true;
        self.events.push_back(Event::Connected);
        self.events.push_back(Event::SubflowEstablished(id));
    }

    /// The MPTCP part of a segment's acceptability; false drops it.
    pub(super) fn authenticate(&mut self, id: SubflowId, seg: &Segment) -> bool {
        let in_syn_received = self.subflows[id].state == State::SynReceived;
        match (self.members[id].join, self.mode) {
            (Join::First, Mode::Negotiating { own_key }) => match seg.options.mptcp {
                Mptcp::CapableAck { sender_key, receiver_key, checksum, .. } => {
                    if receiver_key != own_key || sender_key == own_key {
                        return false;
                    }
                    self.mode = Mode::Mptcp(Keys::new(own_key, sender_key));
                    self.config.checksum |= checksum;
                    self.confirmed = true;
                    true
                }
                // The keys are still to come: with the third ACK sent again, or with the first data (3.1).
                Mptcp::Dss(_) => false,
                _ => {
                    // 3.7: the option was lost on the way, plain TCP.
                    if seg.flags.has(Flags::ACK) && !seg.flags.has(Flags::SYN) {
                        self.mode = Mode::Tcp;
                    }
                    true
                }
            },
            (Join::First, Mode::Mptcp(_)) => {
                if self.client && !self.confirmed {
                    let s = &self.subflows[id];
                    let of_data = seg.payload.len > 0 || Seq::unwrap(seg.ack, s.snd_una) > s.iss + 1;
                    match seg.options.mptcp {
                        Mptcp::Dss(_) | Mptcp::AddAddr { .. } => self.confirmed = true,
                        // 3.7: our data or the server's without a DSS: our options were lost on the way, and the server
                        // speaks plain TCP. So far its sequence numbers and those of the data go together.
                        Mptcp::None if of_data => self.mode = Mode::Tcp,
                        _ => {}
                    }
                }
                true
            }
            (Join::SynReceived { nonce, peer_nonce }, Mode::Mptcp(k)) => {
                let Mptcp::JoinAck { hmac } = seg.options.mptcp else { return !in_syn_received };
                let want = keys::truncate_160(&keys::join_hmac(k.peer, k.own, peer_nonce, nonce));
                if hmac != want {
                    self.refuse(id);
                    return false;
                }
                self.members[id].join = Join::Done;
                self.establish_join(id);
                // The fourth ACK lets the initiator begin.
                self.subflows[id].ack_now();
                true
            }
            (Join::AwaitAck { .. }, _) => {
                self.members[id].join = Join::Done;
                self.establish_join(id);
                true
            }
            (Join::Done, _) => {
                if let Mptcp::JoinAck { .. } = seg.options.mptcp {
                    self.subflows[id].ack_now();
                }
                true
            }
            _ => true,
        }
    }

    pub(super) fn establish_join(&mut self, id: SubflowId) {
        self.members[id].ready = true;
        self.events.push_back(Event::SubflowEstablished(id));
    }
}
