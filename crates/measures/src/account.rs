//! The accounts a run keeps per connection and per subflow.

use anabranch_stack::event::EndReason;

use super::altered::Altered;
use super::causes::{Times, Waiting};
use super::episodes::Episodes;
use super::fates::Fates;
use super::items::{Items, Loaded};
use super::playback::Playback;
use super::recovery::Recovery;
use super::reorder::Reorder;
use super::transit::Transit;

/// A value's mean over time.
#[derive(Clone, Copy, Debug, Default)]
pub struct TimeMean {
    value: f64,
    since: u64,
    began: Option<u64>,
    area: f64,
}

impl TimeMean {
    /// From `now` on the value is `value`.
    #[inline]
    pub fn set(&mut self, now: u64, value: f64) {
        if self.began.is_none() {
            self.began = Some(now);
        } else {
            // In a capture `now` may be slightly earlier than `since`.
            self.area += self.value * now.saturating_sub(self.since) as f64;
        }
        self.value = value;
        self.since = self.since.max(now);
    }

    /// The mean from the first value to `now`, or to the last change if that is later; `None` without any value.
    pub fn mean(&self, now: u64) -> Option<f64> {
        let began = self.began?;
        let now = now.max(self.since);
        let area = self.area + self.value * (now - self.since) as f64;
        Some(if now > began { area / (now - began) as f64 } else { self.value })
    }
}

/// One 4-tuple of a connection: its subflow as the sender and the receiver of the data see it, and its packets.
///
/// Fields are ordered by use: with thousands of connections each cache line that an event touches is a cache miss.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub struct SubflowAccount {
    /// Index of the subflow in the client's and in the server's connection, once it exists there.
    pub at: [Option<usize>; 2],
    /// Index of its path in the scenario.
    pub path: usize,
    /// Of a flow of datagrams: packets in the network.
    pub in_network: u64,
    /// Packets sent to the server and to the client, modulo 65536: their IPv4 identification.
    pub packets: [u16; 2],
    /// Octets put on the path's slowest link in the data direction.
    pub wire: u64,
    /// Transmissions with payload, all kinds.
    pub segments: u64,
    /// Segments for which the scheduler chose the subflow; then those of these for which it had more than one to choose from.
    pub scheduled: [u64; 2],
    /// Octets of the data stream that arrived on this subflow first.
    pub fresh: u64,
    /// Copies of data segments.
    pub fates: Fates,
    /// Congestion window in segments.
    pub cwnd: TimeMean,
    /// Smoothed round-trip time in seconds.
    pub srtt: TimeMean,
    /// Retransmissions in fast recovery.
    pub fast: u64,
    /// Retransmissions after a timeout.
    pub timeout: u64,
    /// Packets dropped by full queues, both directions.
    pub queue_drops: u64,
    /// Packets longer than a link passes on, both directions.
    pub mtu_drops: u64,
    /// What that link could have carried from the first SYN to the end of the transfer, in bits.
    pub capacity: f64,
    /// How many loss episodes were undone.
    pub undone: u64,
    /// Loss episodes and their verdicts.
    pub episodes: Episodes,
    /// What it waited for, and for how many seconds its slowest link was busy nearly all the time, if that was asked for.
    pub causes: Option<(Times, u64)>,
}

/// One connection.
///
/// Fields are ordered by use: with thousands of connections each cache line that an event touches is a cache miss.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct ConnectionAccount {
    /// When the transfer was over: everything read and both sides closed.
    pub done: Option<u64>,
    /// When the connection had failed for good: both endpoints aborted, or one did and the other never knew of it. Not for
    /// timeouts.
    pub failed: Option<u64>,
    /// End of the account: of the transfer, or of the run.
    pub ended: u64,
    /// Octets read.
    pub read: u64,
    /// Longest time from one octet read to the next, nanoseconds.
    pub longest_gap: u64,
    /// When the receiving application read its last octet so far.
    pub last_read: Option<u64>,
    /// What becomes of changes of its paths, if they change.
    pub recovery: Option<Box<Recovery>>,
    /// Data segments with octets that had not arrived before.
    pub distinct: u64,
    /// Those of the `distinct` ones that were not next in the data stream, or were held for a hole in their subflow.
    pub out_of_order: u64,
    /// Largest number of segments held for reordering.
    pub held_packets: u64,
    /// Largest number of octets held.
    pub held_octets: u64,
    /// Of the other direction: a payload was not what its mapping promised, and no middlebox was the cause.
    pub damaged: bool,
    /// Reordering as the receiver saw it.
    pub reorder: Reorder,
    /// What the sender waited for.
    pub limits: Waiting,
    /// First SYN (first datagram), nanoseconds.
    pub began: Option<u64>,
    /// When the receiving application read its first octet.
    pub first_read: Option<u64>,
    /// Octets that middleboxes changed or put in another place.
    pub altered: Altered,
    /// Octets of the client's SYN that the server took (RFC 7413); `None` without Fast Open.
    pub fast_open: Option<u64>,
    /// It ended as plain TCP although it began as MPTCP; `None` if it never was.
    pub fallback: Option<bool>,
    /// The other direction of a transfer in both: what was read there, and when.
    pub reverse: Option<Box<ConnectionAccount>>,
    /// Of datagrams: what became of them.
    pub transit: Option<Box<Transit>>,
    /// The parts of its transfer, if it has some.
    pub items: Option<Items>,
    /// Of the connection that leads in loading a page: the page.
    pub page: Option<Loaded>,
    /// Of a film: what the viewer saw.
    pub playback: Option<Playback>,
    /// An endpoint aborted the connection: when, whether it was the client, why.
    pub aborted: Option<(u64, bool, EndReason)>,
    /// For a transfer with a duration that is not over: the end of that duration, or the last octet read after it.
    pub measured: Option<u64>,
    /// The connection is stalled: when it made progress last.
    pub stalled_since: Option<u64>,
    /// At the end of the run a host had unacknowledged data and no timer: nothing would ever have moved again by itself.
    pub asleep: bool,
    /// Its subflows.
    pub subflows: Vec<SubflowAccount>,
}

impl ConnectionAccount {
    /// What was read is not what was sent, and no middlebox was the cause.
    pub fn is_damaged(&self) -> bool {
        self.damaged || self.altered.misplaced() > 0
    }

    /// The receiving application has read `octets`.
    #[inline(always)]
    pub fn note_read(&mut self, now: u64, octets: u64) {
        match self.last_read {
            Some(last) => self.longest_gap = self.longest_gap.max(now - last),
            None => self.first_read = Some(now),
        }
        self.last_read = Some(now);
        self.read += octets;
        if let Some(recovery) = &mut self.recovery {
            recovery.read(now, octets);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times of a capture may step back, and the account may end before the last change.
    #[test]
    fn a_mean_is_between_the_least_and_the_greatest_value() {
        let mut mean = TimeMean::default();
        assert_eq!(mean.mean(5), None);
        mean.set(10, 100.0);
        assert_eq!(mean.mean(5), Some(100.0));
        mean.set(20, 300.0);
        for (now, wanted) in [(0, 100.0), (11, 100.0), (20, 100.0), (30, 200.0)] {
            assert_eq!(mean.mean(now), Some(wanted), "{now}");
        }
        // Its time is earlier than that of the value before.
        mean.set(15, 200.0);
        assert_eq!((mean.mean(12), mean.mean(20), mean.mean(30)), (Some(100.0), Some(100.0), Some(150.0)));
    }
}
