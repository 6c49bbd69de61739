//! States of a TCP connection; each subflow is one (RFC 9293 3.3.2).

/// States of RFC 9293 3.3.2. LISTEN belongs to the code that demultiplexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// A SYN was sent.
    SynSent,
    /// A SYN was received and answered.
    SynReceived,
    /// Both directions may carry data.
    Established,
    /// We closed first; our FIN is not acknowledged.
    FinWait1,
    /// Our FIN is acknowledged; the peer has not closed.
    FinWait2,
    /// The peer closed; we have not.
    CloseWait,
    /// Both sides closed at once; our FIN is not acknowledged.
    Closing,
    /// The peer closed, then we did; our FIN is not acknowledged.
    LastAck,
    /// Both FINs are acknowledged; old segments may still arrive.
    TimeWait,
    /// No connection.
    Closed,
}

impl State {
    /// The handshake is complete and the subflow has not ended.
    #[inline]
    pub fn is_open(self) -> bool {
        !matches!(self, Self::SynSent | Self::SynReceived | Self::Closed)
    }

    /// The peer's FIN has arrived, with all data before it.
    pub fn peer_has_closed(self) -> bool {
        matches!(self, Self::CloseWait | Self::Closing | Self::LastAck | Self::TimeWait)
    }
}
