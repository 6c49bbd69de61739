//! Measures of transfers in parts: messages, objects of a page, segments of a film, datagrams.

use super::unit::{COUNT, MBPS, MILLISECONDS, SECONDS, SHARE};
use super::{CONNECTION, Measure, P999, RUN_AND_CONNECTION, measures};

measures! {
    /// What applications count in.
    APPLICATIONS:
    MESSAGE_LATENCY_MS = Measure::new("message_latency_ms", MILLISECONDS, "message latency")
        .of(RUN_AND_CONNECTION).parts(P999).less()
        .means("of messages: time from the moment at which a message is due to the reading of its \
            last octet; `p50`, `p95`, `p99`, `p999` (99.9 %) of the messages that arrived, with \
            linear interpolation as numpy's `quantile`; null if none arrived. The latency \
            includes the time for which data waits in the application because the connection \
            accepts no more. Computed exactly from the frame of parts (below)");
    DATAGRAM_DELAY_MS = Measure::new("datagram_delay_ms", MILLISECONDS, "datagram delay")
        .of(CONNECTION).parts(P999).less()
        .means("of each UDP flow with arrivals: time from the sending of a datagram to its \
            arrival; `p50`, `p95`, `p99`, `p999` of the datagrams that arrived, in steps of 2 %");
    JITTER_MS = Measure::new("jitter_ms", MILLISECONDS, "jitter").of(CONNECTION).less()
        .means("of each UDP flow: mean absolute difference of the delays of consecutive arrivals \
            (|D(i-1, i)| of RFC 3550 6.4.1, of which RTP's jitter is a moving average); null with \
            fewer than two arrivals");
    DATAGRAM_LOSS = Measure::new("datagram_loss", SHARE, "datagrams lost").of(CONNECTION).whole("datagrams").less()
        .means("of each UDP flow: datagrams that did not arrive / datagrams sent; datagrams still \
            in flight do not count");
    PAGE_LOAD_S = Measure::new("page_load_s", SECONDS, "page load").of(RUN_AND_CONNECTION).less()
        .means("time from the first SYN of the page's first connection to the last octet of its \
            last object; null if an object is missing. With several pages: the longest. With \
            several `connections` it stands at the top and at the first of them");
    OBJECT_LATENCY_MS = Measure::new("object_latency_ms", MILLISECONDS, "object latency")
        .of(RUN_AND_CONNECTION).parts(P999).less()
        .means("of the objects of pages: time from the writing of the request to the last octet \
            of the object; percentiles as of `message_latency_ms`");
    STARTUP_S = Measure::new("startup_s", SECONDS, "start of the film").of(RUN_AND_CONNECTION).less()
        .means("time from the first SYN to the beginning of the film's playback; null if the \
            playback never began. With several films: the longest");
    REBUFFERING_S = Measure::new("rebuffering_s", SECONDS, "film stopped").of(RUN_AND_CONNECTION).less()
        .means("total time for which the playback stopped after its beginning because all \
            received video had been played; sum over all films");
    REBUFFERING_COUNT = Measure::new("rebuffering_count", COUNT, "stops of the film").of(RUN_AND_CONNECTION).less()
        .means("number of stops of the playback after its beginning; sum over all films");
    BITRATE_MEAN_MBPS = Measure::new("bitrate_mean_mbps", MBPS, "mean bit rate of the film")
        .of(RUN_AND_CONNECTION).more()
        .means("mean bit rate of the segments that arrived (their rates in `ladder`); null if none arrived");
    BITRATE_SWITCHES = Measure::new("bitrate_switches", COUNT, "changes of the bit rate")
        .of(RUN_AND_CONNECTION).less()
        .means("number of segments with another bit rate than the segment before");
    SEGMENT_LATENCY_MS = Measure::new("segment_latency_ms", MILLISECONDS, "segment latency")
        .of(RUN_AND_CONNECTION).parts(P999).less()
        .means("of the segments of films: time from the request to the last octet of the segment; \
            percentiles as of `message_latency_ms`");
    DEADLINE_MISSED = Measure::new("deadline_missed", SHARE, "deadlines missed")
        .of(RUN_AND_CONNECTION).whole("messages").less()
        .means("messages that were not read within `deadline` after they were due / messages that \
            arrived, or whose deadline passed before the end. Only with a `deadline`; null if \
            there were no such messages");
}
