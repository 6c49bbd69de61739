//! Measures that only captures have.

use super::Capture::{Only, OnlyArrival};
use super::unit::{COUNT, MILLISECONDS, OCTETS, TEXT};
use super::{CONNECTION, CONNECTION_AND_SUBFLOW, Measure, P99, SUBFLOW, measures};

measures! {
    /// That only captures have.
    CAPTURES:
    DATA_FROM = Measure::new("data_from", TEXT, "data from the").of(CONNECTION).in_captures(Only)
        .means("`client` or `server`: the side that sent more data. All fields are about the data of this side");
    REINJECTIONS = Measure::new("reinjections", COUNT, "segments reinjected")
        .of(CONNECTION_AND_SUBFLOW).in_captures(Only)
        .means("segments sent while their data was in flight on another subflow");
    REINJECTIONS_USEFUL = Measure::new("reinjections_useful", COUNT, "segments reinjected, useful")
        .of(CONNECTION).in_captures(OnlyArrival)
        .means("number of reinjected segments that brought new data");
    MISSING_BYTES = Measure::new("missing_bytes", OCTETS, "missing in the capture")
        .of(CONNECTION_AND_SUBFLOW).in_captures(Only)
        .means("octets that were acknowledged but never seen");
    RTT_MIN_MS = Measure::new("rtt_min_ms", MILLISECONDS, "minimum RTT").of(SUBFLOW).in_captures(Only).less()
        .means("shortest RTT of segments that were not retransmitted (Karn's algorithm). In a \
            capture that was not taken at the sender, it is the sum of the shortest response \
            times of both sides in the handshake");
    ONE_WAY_DELAY_MS = Measure::new("one_way_delay_ms", MILLISECONDS, "one-way delay")
        .of(SUBFLOW).in_captures(Only).parts(P99).less()
        .means("time of a segment from one capture to the other, if both ends were captured; \
            negative if the clocks disagree");
}
