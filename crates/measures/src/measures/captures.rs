//! Measures that only captures have.

use super::Capture::{Only, OnlyArrival};
use super::unit::{COUNT, MILLISECONDS, OCTETS, TEXT};
use super::{CONNECTION, CONNECTION_AND_SUBFLOW, Measure, P99, SUBFLOW, measures};

measures! {
    /// That only captures have.
    CAPTURES:
    DATA_FROM = Measure::new("data_from", TEXT, "data from the").of(CONNECTION).in_captures(Only)
        .means("the side that sent more: all fields are about its data");
    REINJECTIONS = Measure::new("reinjections", COUNT, "segments reinjected")
        .of(CONNECTION_AND_SUBFLOW).in_captures(Only)
        .means("segments sent while their data was in flight on another subflow");
    REINJECTIONS_USEFUL = Measure::new("reinjections_useful", COUNT, "segments reinjected, useful")
        .of(CONNECTION).in_captures(OnlyArrival)
        .means("of the segments reinjected, those that brought new data");
    MISSING_BYTES = Measure::new("missing_bytes", OCTETS, "missing in the capture")
        .of(CONNECTION_AND_SUBFLOW).in_captures(Only)
        .means("octets that were acknowledged but never seen");
    RTT_MIN_MS = Measure::new("rtt_min_ms", MILLISECONDS, "minimum RTT").of(SUBFLOW).in_captures(Only).less()
        .means("shortest round trip, without retransmitted segments (Karn). Away from the sender it is the sum of \
            both sides' shortest gaps");
    ONE_WAY_DELAY_MS = Measure::new("one_way_delay_ms", MILLISECONDS, "one-way delay")
        .of(SUBFLOW).in_captures(Only).parts(P99).less()
        .means("if both ends were captured: from one capture to the other; negative if the clocks disagree");
}
