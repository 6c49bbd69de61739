//! What routers say of segments: ICMP.

use super::endpoint::Endpoint;
use super::identity::Addresses;
use super::keep::Keep;
use crate::IcmpError;
use crate::time::Instant;

impl<K: Keep> Endpoint<K> {
    /// ICMP "fragmentation needed" (RFC 1191) or ICMPv6 "packet too big" (RFC 8201) about a segment of ours with these addresses and the sequence
    /// number `seq`: packets may have `mtu` octets there. The caller has taken the message apart. An MTU that no link of the family has is
    /// ignored (RFC 1191 3: 68; RFC 8201 4: 1280).
    pub fn handle_too_big(&mut self, now: Instant, addresses: Addresses, seq: u32, mtu: u32) {
        let (headers, least) = if addresses.local.is_ipv4() { (40, 68) } else { (60, 1280) };
        let Some((id, subflow)) = self.find(addresses).filter(|_| mtu >= least) else { return };
        // A connection that was found is there.
        let _ = self.configure(id, |c| c.handle_icmp(now, subflow, seq, IcmpError::TooBig { room: mtu - headers }));
    }

    /// ICMP "destination unreachable" of a kind that will not pass (no such protocol or port, prohibited) about a segment of ours with these
    /// addresses and the sequence number `seq`: a connection that is being opened ends (RFC 9293 3.9.2.2).
    pub fn handle_unreachable(&mut self, now: Instant, addresses: Addresses, seq: u32) {
        let Some((id, subflow)) = self.find(addresses) else { return };
        let _ = self.configure(id, |c| c.handle_icmp(now, subflow, seq, IcmpError::Unreachable));
    }

    /// Likewise, one of those that RFC 9293 3.9.2.2 counts among the soft errors (destination unreachable with the codes 0, 1 and 5, or 0 and 3 of
    /// ICMPv6; time exceeded; parameter problem). It reaches the connection that sent the segment (MUST-54) and ends nothing.
    /// [`Event::SoftError`](crate::Event::SoftError) reports it.
    pub fn handle_soft_error(&mut self, addresses: Addresses, seq: u32) {
        let Some((id, subflow)) = self.find(addresses) else { return };
        let _ = self.configure(id, |c| c.handle_icmp(Instant::ZERO, subflow, seq, IcmpError::Soft));
    }
}
