//! What Python algorithms are told: acknowledgements, congestion, departures, losses.

use anabranch_stack::controller::{self, Cause};
use anabranch_stack::sample as engine;
use anabranch_stack::scheduler;
use anabranch_stack::seq::Seq;
use anabranch_stack::time::{Duration, Instant};

use super::view::copied_view;

fn seconds(time: Duration) -> f64 {
    time.0 as f64 / 1e9
}

/// Word of a cause.
pub fn cause(cause: Cause) -> &'static str {
    match cause {
        Cause::FastRetransmit => "fast_retransmit",
        Cause::Timeout => "timeout",
        Cause::Ecn => "ecn",
    }
}

copied_view! {
    /// A sample of the delivery rate (draft-ietf-ccwg-bbr, section 4.1).
    RateSample of engine::RateSample, r
    {
        /// Octets delivered (acknowledged or SACKed) in `interval`.
        delivered: u64 = r.delivered;
        /// The longer of the times in which these octets were sent and acknowledged, in seconds; 0
        /// if it says nothing of the rate.
        interval: f64 = seconds(r.interval);
        /// `interval` in nanoseconds.
        interval_ns: u64 = r.interval.0;
        /// Octets delivered on this subflow when the sampled segment was sent.
        prior_delivered: u64 = r.prior_delivered;
        /// Octets in flight when the sampled segment was sent, including it.
        tx_in_flight: u64 = r.tx_in_flight;
        /// Octets marked lost since then, those marked with this acknowledgement included.
        lost: u64 = r.lost;
        /// Octets in flight after this acknowledgement.
        in_flight: u64 = r.in_flight;
        /// The application, not the window, limited the sender: the rate is a lower bound.
        app_limited: bool = r.app_limited;
        /// Octets per second; 0 if there is no valid interval.
        rate: f64 = r.rate();
    }
    also {}
}

/// Time in seconds, and sequence number.
fn at_seconds((at, end): (Instant, Seq)) -> (f64, u64) {
    (at.0 as f64 / 1e9, end.0)
}

/// Time in nanoseconds, and sequence number.
fn at_nanoseconds((at, end): (Instant, Seq)) -> (u64, u64) {
    (at.0, end.0)
}

copied_view! {
    /// Segments that newly arrived, as an acknowledgement says: virtual time when a segment was
    /// sent, and the sequence number after its last octet.
    Arrivals of engine::Arrivals, a
    {
        /// Of the segments that were never retransmitted, the one sent last: time in seconds, end.
        original: Option<(f64, u64)> = a.original.map(at_seconds);
        /// `original`, with the time in nanoseconds.
        original_ns: Option<(u64, u64)> = a.original.map(at_nanoseconds);
        /// Of the segments that were retransmitted, the one sent last: time in seconds, end.
        copy: Option<(f64, u64)> = a.copy.map(at_seconds);
        /// `copy`, with the time in nanoseconds.
        copy_ns: Option<(u64, u64)> = a.copy.map(at_nanoseconds);
        /// Of the segments that were never retransmitted, the lowest: time in seconds, end.
        lowest: Option<(f64, u64)> = a.lowest.map(|(end, at)| at_seconds((at, end)));
        /// `lowest`, with the time in nanoseconds.
        lowest_ns: Option<(u64, u64)> = a.lowest.map(|(end, at)| at_nanoseconds((at, end)));
    }
    also {}
}

copied_view! {
    /// What one acknowledgement says about a subflow. Sequence numbers are unwrapped: they grow
    /// without end.
    AckSample of engine::AckSample, a
    {
        /// Virtual time of its arrival in seconds.
        now: f64 = a.now.0 as f64 / 1e9;
        /// Virtual time of its arrival in nanoseconds.
        now_ns: u64 = a.now.0;
        /// Acknowledgement number.
        ack: u64 = a.ack.0;
        /// SND.UNA before it was processed.
        una_before: u64 = a.una_before.0;
        /// SND.UNA after it was processed.
        snd_una: u64 = a.snd_una.0;
        /// SND.NXT when it arrived.
        snd_nxt: u64 = a.snd_nxt.0;
        /// Octets newly acknowledged cumulatively; 0 for a duplicate or old acknowledgement.
        acked: u64 = a.acked;
        /// Octets newly SACKed.
        sacked: u64 = a.sacked;
        /// The part of `acked` that had been SACKed before, in octets.
        acked_sacked: u64 = a.acked_sacked;
        /// Octets newly marked lost.
        lost: u64 = a.lost;
        /// Octets by which the window may grow (RFC 5681 3.1, RFC 3465).
        growth: u64 = a.growth;
        /// Octets in flight before it, as compared with the congestion window.
        in_flight: u64 = a.in_flight;
        /// It is a duplicate acknowledgement (RFC 5681 2, RFC 6675 2).
        duplicate: bool = a.duplicate;
        /// Its acknowledgement number is below SND.UNA.
        old: bool = a.old;
        /// SACK blocks drive loss recovery.
        sack: bool = a.sack;
        /// ECE is set (RFC 3168 6.1.2).
        ece: bool = a.ece;
        /// The sender had used its window before this acknowledgement. If not, the window must not
        /// grow (RFC 9002 7.8).
        cwnd_limited: bool = a.cwnd_limited;
        /// It arrived in slow start after a timeout (RFC 3465 2.3).
        after_timeout: bool = a.after_timeout;
        /// It ends a round trip.
        round: bool = a.round;
        /// The round-trip time in seconds; None if the acknowledgement gives no valid sample.
        rtt: Option<f64> = a.rtt.map(seconds);
        /// The round-trip time in nanoseconds; None if the acknowledgement gives no valid sample.
        rtt_ns: Option<u64> = a.rtt.map(|rtt| rtt.0);
        /// Smoothed round-trip time in seconds, including this sample; 0 before the first sample.
        srtt: f64 = seconds(a.srtt);
        /// Smoothed round-trip time in nanoseconds.
        srtt_ns: u64 = a.srtt.0;
        /// Minimum round-trip time so far in seconds; 0 before the first sample.
        min_rtt: f64 = seconds(a.min_rtt);
        /// Minimum round-trip time so far in nanoseconds.
        min_rtt_ns: u64 = a.min_rtt.0;
        /// The delivery rate; None without `needs = ("delivery_rate",)`.
        rate: Option<RateSample> = a.rate.map(RateSample::new);
        /// Echoed timestamp (TSecr); None without timestamps.
        ts_ecr: Option<u32> = a.ts_ecr;
        /// The D-SACK block (RFC 2883) as first sequence number and the number after the last; None
        /// without one.
        dsack: Option<(u64, u64)> = a.dsack.map(|(start, end): (Seq, Seq)| (start.0, end.0));
        /// Some outstanding segment had been SACKed before. Set only if the acknowledgement carries
        /// SACK blocks.
        sacked_before: bool = a.sacked_before;
        /// End of the highest newly SACKed segment that was never retransmitted; None without one.
        sacked_original: Option<u64> = a.sacked_original.map(|seq| seq.0);
        /// Segments that newly arrived, for detection by time (RFC 8985 6.2).
        arrivals: Arrivals = Arrivals::new(a.arrivals);
        /// TCP-DOOR: the receiver reports data out of order.
        data_reordered: bool = a.data_reordered;
        /// TCP-DOOR: number of this acknowledgement among its duplicates; None without the option.
        duplicate_number: Option<u8> = a.duplicate_number;
    }
    also {
        /// Octets newly delivered to the peer, cumulatively acknowledged or SACKed.
        fn delivered(&self) -> u64 {
            self.value().delivered()
        }
    }
}

copied_view! {
    /// Congestion was inferred.
    Congestion of controller::Congestion, c
    {
        /// Virtual time in seconds.
        now: f64 = c.now.0 as f64 / 1e9;
        /// Virtual time in nanoseconds.
        now_ns: u64 = c.now.0;
        /// What it was inferred from: "fast_retransmit", "timeout" or "ecn".
        cause: &'static str = cause(c.cause);
        /// FlightSize in octets (RFC 5681 2), without what limited transmit added.
        flight_size: u64 = c.flight_size;
        /// The timer expired again for the same segment: ssthresh does not change (RFC 5681 3.1).
        repeated: bool = c.repeated;
        /// The timer expired in an episode that has already reduced the window: ssthresh may
        /// decrease further, but not increase.
        nested: bool = c.nested;
    }
    also {}
}

copied_view! {
    /// A segment with payload is sent.
    Departure of controller::Departure, d
    {
        /// Virtual time of departure in seconds.
        now: f64 = d.now.0 as f64 / 1e9;
        /// Virtual time of departure in nanoseconds.
        now_ns: u64 = d.now.0;
        /// Octets of payload.
        len: u32 = d.len;
        /// The segment is a retransmission.
        again: bool = d.again;
        /// Octets in flight, including this segment.
        in_flight: u64 = d.in_flight;
        /// Smoothed round-trip time in seconds; 0 before the first sample.
        srtt: f64 = seconds(d.srtt);
        /// Smoothed round-trip time in nanoseconds.
        srtt_ns: u64 = d.srtt.0;
    }
    also {}
}

copied_view! {
    /// A segment that was marked lost.
    LostSegment of engine::LostSegment, l
    {
        /// Virtual time when it was marked, in seconds.
        now: f64 = l.now.0 as f64 / 1e9;
        /// Virtual time when it was marked, in nanoseconds.
        now_ns: u64 = l.now.0;
        /// First sequence number.
        seq: u64 = l.seq.0;
        /// Octets.
        len: u64 = l.len;
        /// Octets in flight when it was sent, including it.
        tx_in_flight: u64 = l.tx_in_flight;
        /// Octets marked lost since it was sent, up to and including it.
        lost: u64 = l.lost;
        /// The application, not the window, limited the sender when it was sent.
        app_limited: bool = l.app_limited;
        /// SACK blocks drive loss recovery: more than one loss in a round trip can be seen.
        sack: bool = l.sack;
    }
    also {}
}

copied_view! {
    /// Data that was sent as the scheduler decided.
    Assignment of scheduler::Assignment, a
    {
        /// The subflow it was sent on.
        subflow: usize = a.subflow;
        /// First octet of the data stream.
        data: u64 = a.data;
        /// Number of octets.
        len: u32 = a.len;
        /// The data had been sent before, on another subflow.
        again: bool = a.again;
    }
    also {}
}
