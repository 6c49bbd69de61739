//! Measures of transfers in parts: messages, objects of a page, segments of a film, datagrams.

use super::unit::{COUNT, MBPS, MILLISECONDS, SECONDS, SHARE};
use super::{CONNECTION, Measure, P999, RUN_AND_CONNECTION, measures};

measures! {
    /// What applications count in.
    APPLICATIONS:
    MESSAGE_LATENCY_MS = Measure::new("message_latency_ms", MILLISECONDS, "message latency")
        .of(RUN_AND_CONNECTION).parts(P999).less()
        .means("of messages: from the time of a message to its last octet read; `p50`, `p95`, `p99`, `p999` (99.9 %) \
            of the messages that arrived, with linear interpolation as numpy's `quantile`; null if none arrived. \
            The time in which data waits in the application because the connection accepts no more is included. \
            Exact, from the frame below");
    DATAGRAM_DELAY_MS = Measure::new("datagram_delay_ms", MILLISECONDS, "datagram delay")
        .of(CONNECTION).parts(P999).less()
        .means("of a UDP flow with arrivals (not summed over connections): from the sending of a datagram to its \
            arrival; `p50`, `p95`, `p99`, `p999` of those that arrived, in steps of 2 %");
    JITTER_MS = Measure::new("jitter_ms", MILLISECONDS, "jitter").of(CONNECTION).less()
        .means("of such a flow: mean absolute difference of the delays of consecutive arrivals (|D(i-1, i)| of RFC \
            3550 6.4.1, of which RTP's jitter is a moving average); null with fewer than two arrivals");
    DATAGRAM_LOSS = Measure::new("datagram_loss", SHARE, "datagrams lost").of(CONNECTION).whole("datagrams").less()
        .means("of such a flow: datagrams that did not arrive / datagrams sent, without those still in flight");
    PAGE_LOAD_S = Measure::new("page_load_s", SECONDS, "page load").of(RUN_AND_CONNECTION).less()
        .means("from the first SYN of the page's first connection to the last octet of its last object; null if not \
            all came. With several pages: the longest. With several `connections` it stands at the top and at the \
            first of them");
    OBJECT_LATENCY_MS = Measure::new("object_latency_ms", MILLISECONDS, "object latency")
        .of(RUN_AND_CONNECTION).parts(P999).less()
        .means("of the objects of pages: from the request (its writing) to the last octet; percentiles as above");
    STARTUP_S = Measure::new("startup_s", SECONDS, "start of the film").of(RUN_AND_CONNECTION).less()
        .means("of a film: from the first SYN to the beginning of playback; null if it never began. With several \
            films: the longest");
    REBUFFERING_S = Measure::new("rebuffering_s", SECONDS, "film stopped").of(RUN_AND_CONNECTION).less()
        .means("total time of the stops of the playback after its beginning, because all received video had been \
            shown; sum over all films");
    REBUFFERING_COUNT = Measure::new("rebuffering_count", COUNT, "stops of the film").of(RUN_AND_CONNECTION).less()
        .means("number of these stops; sum over all films");
    BITRATE_MEAN_MBPS = Measure::new("bitrate_mean_mbps", MBPS, "mean bit rate of the film")
        .of(RUN_AND_CONNECTION).more()
        .means("mean bit rate of the segments that arrived, by the ladder; null if none did");
    BITRATE_SWITCHES = Measure::new("bitrate_switches", COUNT, "changes of the bit rate")
        .of(RUN_AND_CONNECTION).less()
        .means("number of segments with another bit rate than the one before");
    SEGMENT_LATENCY_MS = Measure::new("segment_latency_ms", MILLISECONDS, "segment latency")
        .of(RUN_AND_CONNECTION).parts(P999).less()
        .means("of the segments of films: from the request to the last octet; percentiles as above");
    DEADLINE_MISSED = Measure::new("deadline_missed", SHARE, "deadlines missed")
        .of(RUN_AND_CONNECTION).whole("messages").less()
        .means("messages that were read later than their `deadline` after their time, or not at all, / messages that \
            arrived or whose deadline passed before the end. Only with a `deadline`; null if no message was due");
}
