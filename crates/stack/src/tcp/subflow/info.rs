//! What a subflow looks like at a moment.

use super::Subflow;
use crate::path::Recovery;
use crate::tcp::info::{Info, Recovering, Times};

impl Subflow {
    /// What the subflow looks like now.
    pub fn info(&self) -> Info {
        let s = &self.sender;
        let recovering = match s.recovery() {
            Recovery::Open if s.board.has_sacked() || s.has_duplicates() => Recovering::Disorder,
            Recovery::Open => Recovering::Open,
            Recovery::Cwr => Recovering::Cwr,
            Recovery::Fast => Recovering::Fast,
            Recovery::Loss => Recovering::Loss,
        };
        let (fin, syn) = (u64::from(self.fin_is_acked()), u64::from(s.una > self.iss));
        Info {
            state: self.state,
            recovering,
            snd_una: s.una.wire(),
            snd_nxt: s.nxt.wire(),
            rcv_nxt: self.receiver.rcv_nxt.wire(),
            mss: s.mss,
            cwnd: self.cwnd(),
            ssthresh: self.ssthresh(),
            srtt: s.rtt.srtt(),
            rttvar: s.rtt.rttvar(),
            rto: s.rtt.rto(),
            backoff: s.retries,
            probes: s.probes,
            in_flight: s.board.count(),
            timestamps: self.has_timestamps(),
            sack: self.sack,
            scales: (self.own_shift > 0 || self.peer_window.shift > 0)
                .then_some((self.peer_window.shift, self.own_shift)),
            ecn: self.has_ecn(),
            syn_is_acked: s.una > self.iss,
            syn_data: self.fast_open.rx > 0 || self.fast_open.tx > 0 && self.fast_open.tx == self.fast_open.sent,
            rcv_mss: self.acks.largest_payload(),
            min_rtt: s.min_rtt(),
            rcv_rtt: self.acks.rtt,
            pipe: s.in_flight(),
            delivered: s.delivered(),
            octets_acked: (s.una.0 - self.iss.0) - syn - fin,
            octets_received: self.octets_received(),
            undone: s.undone(),
            reordering: s.reordering(),
            held: self.held(),
            counts: self.counts,
            keepalives: 0,
            last_heard: None,
            unsent: 0,
            unread: 0,
            peer_window: 0,
            times: Times::default(),
        }
    }

    /// Octets of data in the client's SYN that were acknowledged with it: at the client ours, at
    /// the server the peer's.
    pub fn fast_opened(&self) -> u32 {
        let fast = &self.fast_open;
        fast.tx.max(fast.rx)
    }

    /// Server: the SYN had the right cookie, or needed none, so that data may flow before the
    /// handshake is complete.
    pub fn is_fast_opened(&self) -> bool {
        self.fast_open.opened
    }

    /// Data may leave before the handshake is complete: the client's with its SYN, which has a
    /// cookie, or the server's behind its SYN/ACK.
    pub fn opens_fast(&self) -> bool {
        let fast = &self.fast_open;
        fast.opened || fast.carries_data()
    }
}
