//! The SYN or SYN/ACK of a subflow: whether it is to be sent, and when it was sent.

use crate::config::Config;
use crate::time::Instant;

/// The SYN or SYN/ACK of a subflow.
#[derive(Debug)]
pub(crate) struct OwnSyn {
    due: bool,
    /// When it was last sent.
    sent_at: Instant,
    first_at: Option<Instant>,
    retransmitted: bool,
    /// [`Config::mss_option`].
    mss_option: Option<u16>,
}

impl OwnSyn {
    /// Creates the state of a SYN that is to be sent at once.
    pub fn new(config: &Config) -> Self {
        Self { due: true, sent_at: Instant::ZERO, first_at: None, retransmitted: false, mss_option: config.mss_option }
    }

    /// Returns true if the SYN is to be sent.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.due
    }

    /// Sends the SYN/ACK again because the peer has repeated its SYN.
    pub fn ask(&mut self) {
        self.due = true;
    }

    /// The retransmission timer has expired: it is to be sent again.
    pub fn repeat(&mut self) {
        (self.due, self.retransmitted) = (true, true);
    }

    /// Stops sending the SYN.
    pub fn stop(&mut self) {
        self.due = false;
    }

    /// Notes that the SYN was sent at `now`.
    pub fn note_sent(&mut self, now: Instant) {
        self.due = false;
        self.sent_at = now;
        self.first_at.get_or_insert(now);
    }

    /// When it was last sent.
    pub fn sent_at(&self) -> Instant {
        self.sent_at
    }

    /// When it was sent first.
    pub fn first_at(&self) -> Option<Instant> {
        self.first_at
    }

    /// Returns true if the retransmission timer has expired for the SYN.
    pub fn was_retransmitted(&self) -> bool {
        self.retransmitted
    }

    /// [`Config::mss_option`].
    pub fn mss_option(&self) -> Option<u16> {
        self.mss_option
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_time_stays_and_a_timeout_is_remembered() {
        let mut syn = OwnSyn::new(&Config::default());
        assert!(syn.is_due());
        syn.note_sent(Instant(5));
        syn.ask();
        assert!(syn.is_due() && !syn.was_retransmitted());
        syn.note_sent(Instant(9));
        assert!(!syn.is_due());
        syn.repeat();
        assert_eq!((syn.first_at(), syn.sent_at()), (Some(Instant(5)), Instant(9)));
        assert!(syn.is_due() && syn.was_retransmitted());
        syn.stop();
        assert!(!syn.is_due());
    }
}
