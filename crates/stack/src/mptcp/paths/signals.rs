//! What is to be said about a subflow: echoes, priorities, keep-alives (RFC 8684 3.3.8, 3.4).

use super::Paths;
use crate::config::{Config, KeepAlive};
use crate::event::SubflowId;
use crate::mptcp::handshake::{Join, Suspicion};
use crate::mptcp::negotiation::Negotiation;
use crate::mptcp::timers::{Timer, Timers};
use crate::segment::Advertised;
use crate::tcp::subflow::State;
use crate::time::Instant;

/// Unanswered keep-alives after which a subflow whose address was removed is reset.
const KEEPALIVES: u32 = 3;

/// What is to be said about a subflow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Due {
    /// The echo of an ADD_ADDR.
    Echo(Advertised),
    /// MP_PRIO.
    Priority {
        /// Use the subflow only when no regular one works.
        backup: bool,
    },
    /// A keep-alive, because the peer has removed the subflow's address.
    KeepAlive,
}

impl Paths {
    /// Nothing about any quiescent subflow has to be signalled to the peer or reported to the
    /// driver.
    pub fn are_settled(&self) -> bool {
        self.active().all(|(s, m)| {
            let view = &self.rows[s.id];
            let joined = matches!(m.join, Join::First | Join::Done) && !m.has_signal() && m.unverified.is_empty();
            joined && view.established == m.ready && view.cwnd == s.cwnd()
        })
    }

    /// Takes the next signal about a subflow that is due. Its subflow carries it.
    pub fn next_signal(&mut self, now: Instant) -> Option<(SubflowId, Due)> {
        for &id in &self.active {
            let (s, m) = (&self.subflows[id], &mut self.members[id]);
            if !s.is_open() {
                continue;
            }
            if let Some(advertised) = m.echo.take() {
                return Some((id, Due::Echo(advertised)));
            }
            if std::mem::take(&mut m.prio_due) {
                return Some((id, Due::Priority { backup: m.backup }));
            }
            if let Some(Suspicion { tries, .. }) = m.suspicion.filter(|s| s.at <= now && s.tries < KEEPALIVES) {
                let at = now + s.rto().saturating_mul(1 << tries);
                m.suspicion = Some(Suspicion { at, tries: tries + 1 });
                return Some((id, Due::KeepAlive));
            }
        }
        None
    }

    /// The keep-alives that may be sent now. MUST-26: none while something is outstanding, nor
    /// while a closed window is probed.
    pub fn keepalive(&self, config: &Config, negotiation: &Negotiation, timers: &Timers) -> Option<KeepAlive> {
        let ends = negotiation.is_over() || negotiation.fast_close().is_some();
        let probes = timers.runs(Timer::Persist) && self.active.len() == 1;
        config.keepalive.filter(|_| !ends && !probes)
    }

    /// Returns true if the peer has removed the address of `id`, and no keep-alive there was
    /// answered.
    pub fn is_silent(&self, now: Instant, id: SubflowId) -> bool {
        self.members[id].suspicion.is_some_and(|s| s.tries >= KEEPALIVES && s.at <= now)
    }

    /// The peer has removed its address `gone`: the subflows there are probed with keep-alives.
    /// Returns true if there are any.
    pub fn suspect(&mut self, now: Instant, gone: u8) -> bool {
        let mut affected = false;
        for &id in &self.active {
            let (s, m) = (&self.subflows[id], &mut self.members[id]);
            if m.remote_id == gone && s.state != State::Closed {
                affected = true;
                if s.is_open() && m.suspicion.is_none() {
                    m.suspicion = Some(Suspicion { at: now, tries: 0 });
                }
            }
        }
        affected
    }
}
