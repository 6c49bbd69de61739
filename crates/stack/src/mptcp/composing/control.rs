//! Composes segments without data on behalf of the connection: pure ACKs, FIN and DATA_FIN, window
//! probes, keep-alives, MPTCP signals (ADD_ADDR, REMOVE_ADDR, MP_PRIO, MP_FAIL).

use super::Composing;
use crate::event::SubflowId;
use crate::mptcp::negotiation::Mode;
use crate::mptcp::outgoing::Outgoing;
use crate::mptcp::paths::Due;
use crate::mptcp::send_stream::{FIN_TRIES, Fin};
use crate::mptcp::timers::Timer;
use crate::segment::{Mptcp, Signal};
use crate::tcp::subflow::State;
use crate::time::Instant;

/// Doublings of the retransmission interval of a DATA_FIN.
const FIN_BACKOFF: u32 = 6;

/// The peer has not answered what was sent often enough.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unanswered;

impl Composing<'_> {
    /// Sends as much as a small window takes, or one octet beyond a closed window.
    pub fn probe(&mut self, now: Instant) -> Option<Outgoing> {
        let choice = self.distribution.choose_window_probe(&mut self.w, now)?;
        Some(self.send(now, choice))
    }

    /// A DATA_FIN without data (RFC 8684 3.3.3), if one is due: its mapping has subflow sequence
    /// number 0 and length 1.
    ///
    /// # Errors
    /// If it was sent often enough: the peer is gone.
    pub fn poll_data_fin(&mut self, now: Instant) -> Result<Option<Outgoing>, Unanswered> {
        let Mode::Mptcp(k) = *self.w.negotiation.mode() else { return Ok(None) };
        if !self.w.send.is_closed()
            || self.w.send.nxt() < self.w.send.written()
            || (self.w.send.fin() == Fin::Open && self.distribution.has_assigned(self.w.paths))
        {
            return Ok(None);
        }
        // 3.1: the third ACK with the keys goes first. Without it the server cannot use a DSS.
        if self.w.negotiation.is_client() && !self.w.negotiation.is_confirmed() && self.w.paths.subflows[0].ack_is_due()
        {
            return Ok(None);
        }
        let tries = match self.w.send.fin() {
            Fin::Open => 0,
            Fin::Sent { tries } if self.w.timers.has_expired(Timer::DataFin, now) => tries,
            _ => return Ok(None),
        };
        let open = |&id: &usize| self.w.paths.members[id].ready && self.w.paths.subflows[id].is_open();
        // Retransmit the DATA_FIN on each subflow in turn, since a subflow may have failed.
        let n = self.w.paths.active.iter().copied().filter(open).count();
        let Some(id) = self.w.paths.active.iter().copied().filter(open).nth(tries as usize % n.max(1)) else {
            return Ok(None);
        };
        // With all data acknowledged, nothing else detects that the peer is gone.
        if tries > FIN_TRIES * self.w.config.max_retransmissions && self.w.send.una() == self.w.send.written() {
            return Err(Unanswered);
        }
        let patience = if self.w.config.deviations.data_fin_after_min_rto {
            // Linux, `mptcp_set_datafin_timeout`: from the least timeout up to the largest.
            let most = (self.w.config.max_rto.0 / self.w.config.min_rto.0.max(1)).max(1).ilog2();
            self.w.config.min_rto.saturating_mul(1 << tries.saturating_sub(1).min(most))
        } else {
            self.w.paths.longest_rto().unwrap_or(self.w.config.initial_rto).saturating_mul(1 << tries.min(FIN_BACKOFF))
        };
        self.w.send.fin_sent();
        self.w.timers.set(Timer::DataFin, now + patience);
        if tries == 0 && self.w.config.deviations.data_fin_on_all {
            self.w.paths.acknowledge_on_all(self.w.fast);
        }
        let mut dss = self.dss(&k, id, None);
        dss.data_fin = true;
        dss.mapping = Some(self.mapping(&k, id, self.w.send.written(), 0, 1));
        Ok(Some(self.acknowledgement(now, id, Mptcp::Dss(dss))))
    }

    /// A keep-alive on `id` (RFC 9293 3.8.4).
    pub fn keepalive(&mut self, now: Instant, id: SubflowId) -> Outgoing {
        self.w.paths.note_keepalive(now, id);
        let window = self.window(id);
        *self.out = self.w.paths.subflows[id].make_keepalive(now, window);
        self.complete(id, self.control_option(id), Signal::None)
    }

    /// What is to be said about subflow `id`, on a segment of its own.
    pub fn about_subflow(&mut self, now: Instant, id: SubflowId, due: Due) -> Outgoing {
        match due {
            Due::Echo(advertised) => self.about_address(now, id, Signal::AddAddrEcho(advertised)),
            Due::Priority { backup } => {
                let dss = self.signal_option(id);
                self.signalling(now, id, dss, Signal::Prio { backup })
            }
            Due::KeepAlive => {
                let window = self.window(id);
                let segment = self.w.paths.subflows[id].make_keepalive(now, window);
                self.control(id, segment)
            }
        }
    }

    /// The next FIN or acknowledgement that is due.
    pub fn poll_acknowledgement(&mut self, now: Instant) -> Option<Outgoing> {
        for k in 0..self.w.paths.active.len() {
            let id = self.w.paths.active[k];
            let s = &self.w.paths.subflows[id];
            if s.state == State::Closed {
                continue;
            }
            if s.close {
                let window = self.window(id);
                if let Some(segment) = self.w.paths.subflows[id].poll_fin(now, window) {
                    *self.out = segment;
                    return Some(self.complete(id, self.control_option(id), Signal::None));
                }
            }
            let failed = self.w.fallback.is_due(id, self.w.timers.has_expired(Timer::Fail, now));
            if failed || self.w.paths.subflows[id].ack_is_due() {
                let option = if failed { self.signal_option(id) } else { self.control_option(id) };
                return Some(self.acknowledgement(now, id, option));
            }
        }
        None
    }
}
