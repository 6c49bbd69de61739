//! TCP Fast Open on one subflow (RFC 7413): the option of its SYN, and the data that SYNs carry.
//!
//! The client's SYN carries data if it has a cookie of the server, the server takes them if the cookie is its own for that client, and says
//! so by what its SYN/ACK acknowledges. With Multipath TCP such data have no place in the data sequence space (RFC 8684 B.2): both sides
//! count data sequence numbers and subflow sequence numbers of mappings from after them.

use crate::segment::Cookie;

/// Fast Open on one subflow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FastOpen {
    /// The option of our SYN or SYN/ACK. 4.2.1, 4.2.2: not of a retransmission.
    pub option: Option<Cookie>,
    /// 7.3: data leave with our SYN without the option.
    pub bare: bool,
    /// The peer's MSS as far as it is known before it says so: the most that the SYN may carry, options included.
    pub peer_mss: u32,
    /// Octets that our SYN carried.
    pub sent: u32,
    /// Octets of our SYN's data that the SYN/ACK acknowledges.
    pub tx: u32,
    /// Octets of the peer's SYN's data that were taken.
    pub rx: u32,
    /// The peer's cookie is right: data may leave before the handshake is complete (4.2.2).
    pub opened: bool,
}

/// 4.1.3: without a cached MSS, the default of RFC 9293 3.7.1.
pub(crate) const DEFAULT_MSS: u32 = 536;

impl FastOpen {
    /// Our SYN has what it takes to carry data: the server's cookie, or no need of one.
    pub fn carries_data(&self) -> bool {
        self.option.is_some_and(|cookie| self.bare || !cookie.is_request())
    }
}
