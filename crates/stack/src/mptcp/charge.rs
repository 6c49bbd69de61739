//! How unread and out-of-order data reduce the advertised window.

use super::skb;
use crate::config::Config;

/// Segments that Linux merges into one buffer, as windows of captures show: 21 unread segments took
/// five buffers (`mptcp_try_coalesce`).
const MERGED: u64 = 5;

/// How unread and out-of-order data reduce the advertised window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Charge {
    /// [`Config::held_charge`].
    per_octet: f64,
    /// Octets that one buffer holds; `None` if buffers are not counted
    /// ([`Deviations::charges_buffers`](crate::config::Deviations::charges_buffers)).
    buffer: Option<u64>,
}

impl Charge {
    pub fn new(config: &Config) -> Self {
        let buffer = config.deviations.charges_buffers.then_some(MERGED * u64::from(config.mss).max(1));
        Self { per_octet: config.held_charge, buffer }
    }

    /// Octets by which `octets` that are unread or held for a hole narrow the window.
    pub fn of(self, octets: u64) -> u64 {
        let memory = match self.buffer {
            Some(buffer) if octets > 0 => octets + skb::OVERHEAD * (1 + octets / buffer),
            _ => octets,
        };
        (self.per_octet * memory as f64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Deviations;

    /// A capture of Linux 6.1: 21 segments of 1424 octets, of which 29,896 octets were unread, took
    /// 33,736 octets of memory, five buffers. One segment took 2192 octets. Half of that is window.
    #[test]
    fn buffers_are_charged_with_what_they_take_beside_their_payload() {
        let linux = Deviations::NONE.and("charges_buffers");
        let of = |deviations| Charge::new(&Config { deviations, held_charge: 0.5, mss: 1424, ..Config::default() });
        assert_eq!([0, 1424, 29_896].map(|octets| of(linux).of(octets)), [0, 1096, 16_868]);
        assert_eq!(of(Deviations::NONE).of(29_896), 14_948);
    }
}
