//! States of a TCP connection, of which a subflow is one (RFC 9293 3.3.2).

/// States of RFC 9293 3.3.2 (LISTEN belongs to whoever demultiplexes).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// A SYN was sent.
    SynSent,
    /// A SYN was received and answered.
    SynReceived,
    /// Data flows.
    Established,
    /// We closed; the FIN is not acknowledged.
    FinWait1,
    /// Our FIN is acknowledged.
    FinWait2,
    /// The peer closed.
    CloseWait,
    /// Both closed at once; our FIN is not acknowledged.
    Closing,
    /// The peer closed, then we; our FIN is not acknowledged.
    LastAck,
    /// Old segments may still arrive.
    TimeWait,
    /// No connection.
    Closed,
}

impl State {
    /// The handshake is over and the subflow has not ended.
    #[inline]
    pub fn is_open(self) -> bool {
        !matches!(self, Self::SynSent | Self::SynReceived | Self::Closed)
    }

    /// The peer's FIN has come, with all that was before it.
    pub fn peer_has_closed(self) -> bool {
        matches!(self, Self::CloseWait | Self::Closing | Self::LastAck | Self::TimeWait)
    }
}
