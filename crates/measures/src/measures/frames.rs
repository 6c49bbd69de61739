//! Columns of the frames over time, of parts and of links.

use super::unit::{
    BPS, COUNT, COUNTED_OCTETS, COUNTED_PACKETS, MBPS, OCTETS, OCTETS_AS_MB, SECONDS, SECONDS_AS_MS, TEXT,
};
use super::{Measure, RUN, measures};

measures! {
    /// Columns of the frame over time.
    SERIES:
    SERIES_T = Measure::new("t", SECONDS, "time").typed("float64")
        .means("virtual time from the beginning of the run (not of the connection)");
    SERIES_CONNECTION = Measure::new("connection", COUNT, "").typed("int32")
        .means("position of the connection in `connections`; 0 if there is one connection");
    SERIES_SUBFLOW = Measure::new("subflow", COUNT, "").typed("int32")
        .means("position of the subflow in `subflows` of the connection");
    SERIES_CWND = Measure::new("cwnd", OCTETS, "congestion window").typed("float64")
        .means("congestion window of the data's sender");
    SERIES_SSTHRESH = Measure::new("ssthresh", OCTETS, "slow-start threshold").typed("float64")
        .means("slow-start threshold; infinite until the first congestion");
    SERIES_SRTT = Measure::new("srtt", SECONDS_AS_MS, "smoothed RTT").typed("float64")
        .means("smoothed round-trip time; NaN before the first sample");
    SERIES_RTT_SAMPLES = Measure::new("rtt_samples", COUNT, "RTT samples").typed("float64")
        .means("number of valid RTT samples so far; while the number does not grow, `srtt` is an old value");
    SERIES_RTO = Measure::new("rto", SECONDS_AS_MS, "retransmission timeout").typed("float64")
        .means("retransmission timeout, with its back-off");
    SERIES_IN_FLIGHT = Measure::new("in_flight", OCTETS, "octets in flight").typed("float64")
        .means("octets sent that are neither acknowledged nor marked lost (RFC 6675's *pipe*)");
    SERIES_DELIVERED = Measure::new("delivered", OCTETS_AS_MB, "delivered").typed("float64")
        .means("data so far that arrived first by this subflow");
    SERIES_OOO_BUFFER = Measure::new("ooo_buffer", COUNTED_PACKETS, "packets waiting for a gap").typed("float64")
        .means("packets of this subflow that the receiver holds for reordering");
    SERIES_OOO_BUFFER_BYTES = Measure::new("ooo_buffer_bytes", OCTETS, "octets waiting for a gap").typed("float64")
        .means("payload of these packets");
}

measures! {
    /// Columns of the frame of parts.
    PARTS_FRAME:
    PART_CONNECTION = Measure::new("connection", COUNT, "").typed("int32")
        .means("position of the connection in `connections`; 0 if there is one connection");
    PART_KIND = Measure::new("kind", TEXT, "").typed("text")
        .means("what the part is: `\"message\"`, `\"object\"` (of a page) or `\"segment\"` (of a film)");
    PART_NUMBER = Measure::new("number", COUNT, "").typed("int32")
        .means("number of the part, from 0; of an object, its place in the page (0 is the document)");
    PART_BYTES = Measure::new("bytes", COUNTED_OCTETS, "").typed("float64")
        .means("size of the part in octets");
    PART_ASKED = Measure::new("asked", SECONDS, "").typed("float64")
        .means("virtual time (from the beginning of the run) at which the message was due, or the \
            object or segment was requested");
    PART_DONE = Measure::new("done", SECONDS, "").typed("float64")
        .means("virtual time at which its last octet was read; NaN if it was not read");
    PART_LATENCY = Measure::new("latency", SECONDS_AS_MS, "latency").typed("float64")
        .means("`done` - `asked`");
}

measures! {
    /// Columns of the frame of links.
    LINKS_FRAME:
    LINK_T = Measure::new("t", SECONDS, "").typed("float64")
        .means("virtual time of the middle of the interval; the intervals are those of the figure `throughput`");
    LINK_LINK = Measure::new("link", TEXT, "").typed("str")
        .means("name of the link");
    LINK_OFFERED = Measure::new("offered", BPS, "").typed("float64")
        .means("mean capacity of the link in the interval, in bits on the wire (headers included), used or not");
    LINK_CARRIED = Measure::new("carried", BPS, "").typed("float64")
        .means("rate of new data that arrived by the subflows whose path includes the link");
    LINK_DELAY = Measure::new("delay", SECONDS_AS_MS, "one-way delay without queues").typed("float64")
        .means("one-way delay of single packets without a queue: propagation and the network's \
            own delay; median of ten packets. NaN if none arrived");
}

measures! {
    /// Of figures and sweeps.
    OTHER:
    THROUGHPUT = Measure::new("throughput", MBPS, "throughput").typed("float64")
        .means("of the figure `throughput`: rate of the data that arrived first by a subflow, \
            mean over the interval that the figure names");
    RTT = Measure::new("rtt", SECONDS_AS_MS, "RTT").typed("float64")
        .means("of the figure of a diagnosis: round-trip times that the capture shows; NaN where it shows none");
    SAMPLES = Measure::new("samples", COUNT, "samples").of(RUN)
        .means("of a run of a sweep: number of rows of the frame over time that were stored; 0 if \
            the sweep stores none");
}
