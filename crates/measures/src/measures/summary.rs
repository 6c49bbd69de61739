//! Measures of the summary of a run: defined here and nowhere else.

use super::Capture::{Arrival, Inferred, Known, Null, Sender};
use super::unit::{
    COUNT, COUNTED_OCTETS, COUNTED_PACKETS, FLAG, FULL_SEGMENTS, INDEX, LIST, MBPS, MILLISECONDS, OBJECT, OBJECTS,
    OCTETS, PACKETS, PAIRS, RATIO, SECONDS, SHARE, SHARES, TEXT,
};
use super::{CONNECTION, EVERYWHERE, Measure, P99, Parts, RUN, RUN_AND_CONNECTION, SUBFLOW, measures};

measures! {
    /// How a transfer ended, and how much arrived.
    ENDING:
    STATUS = Measure::new("status", TEXT, "status").of(RUN_AND_CONNECTION).in_captures(Known)
        .means("how the transfer ended. `\"completed\"`: it has ended (over TCP and MPTCP: every \
            octet was read, and both ends have closed). `\"duration\"`: the scenario's `duration` \
            was over before the transfer ended. `\"stalled\"`: as `\"duration\"`, but although \
            there was data to send, nothing had moved for ten seconds (or for half of the \
            connection's time, if that is shorter). `\"aborted\"`: one end gave the connection up \
            for a known reason (a reset, a refusal, a middlebox), and the transfer is incomplete");
    ABORTED_BY = Measure::new("aborted_by", TEXT, "aborted by").of(RUN_AND_CONNECTION).in_captures(Null)
        .means("the end that gave the connection up first, and why: `\"client: reset by the \
            peer\"`; with `\"stalled\"` possibly `\"client: no answer from the peer\"`. Null if \
            neither end gave up, or the transfer is complete");
    STALLED_SINCE_S = Measure::new("stalled_since_s", SECONDS, "stalled since")
        .of(RUN_AND_CONNECTION).in_captures(Null)
        .means("time from the first SYN to the last progress, if `status` is `\"stalled\"`; else null");
    COMPLETION_S = Measure::new("completion_s", SECONDS, "completion")
        .of(RUN_AND_CONNECTION).in_captures(Arrival).less()
        .means("time from the first SYN to the last octet read, or, if there was nothing to read, \
            until the connection was closed; null unless completed");
    FIRST_BYTE_S = Measure::new("first_byte_s", SECONDS, "first octet read")
        .of(RUN_AND_CONNECTION).in_captures(Arrival).less()
        .means("time from the first SYN to the first octet read; null if none was read");
    LAST_BYTE_S = Measure::new("last_byte_s", SECONDS, "last octet read")
        .of(RUN_AND_CONNECTION).in_captures(Arrival).less()
        .means("time from the first SYN to the last octet read; null if none was read");
    GOODPUT_MBPS = Measure::new("goodput_mbps", MBPS, "goodput").of(EVERYWHERE).in_captures(Arrival).summed().more()
        .means("octets read / time from the first SYN to the last octet read; 0 if none was read. \
            If the transfer was not completed, the time ends with the transfer's own `duration` \
            (or the last octet read after it), or without such a `duration` with the run. \
            `utilisation`, `limits` and the means below cover the same time. The papers' \
            *aggregate throughput* is the sum over the subflows; here it is what the application \
            got")
        .means_of_subflow("octets of data that arrived first by this subflow / the time of the \
            connection's `goodput_mbps`. Later copies on any subflow do not count. The subflows' \
            sum is the connection's, except for data that was not read yet");
    REVERSE = Measure::new("reverse", OBJECT, "").of(RUN_AND_CONNECTION).parts(Parts::Reverse)
        .means("only with `direction = \"both\"`: `bytes_delivered`, `goodput_mbps`, \
            `first_byte_s`, `last_byte_s` and `longest_gap_s` of what the client read. All other \
            fields are of the direction from client to server, with these exceptions: \
            `completion_s` and `status` are of both directions, and `content_ok` is false if the \
            data of either direction was damaged");
    LONGEST_GAP_S = Measure::new("longest_gap_s", SECONDS, "longest time without data")
        .of(RUN_AND_CONNECTION).in_captures(Arrival).less()
        .means("longest time in which the application read nothing, between the first octet and \
            the last; if the transfer was not completed, until the end of the time of \
            `goodput_mbps`. Pauses of the application count, too. In a UDP flow, losses after the \
            last arrival do not count. With several connections: the longest of all; null if \
            nothing was read");
    RECOVERIES = Measure::new("recoveries", LIST, "").of(RUN_AND_CONNECTION)
        .means("only if `changes` of its links or `path_changes` change the connection between \
            its first octet read and its end: one object for each such time. `at_s`: virtual time \
            of the change. `rate_before_mbps`, `rate_after_mbps`: the *levels* before and after \
            the change. The level before is the rate at which the application read in the second \
            half of the span since the previous change (or the first octet); the level after is \
            that of the second half of the span until the next change (or the end). Null if the \
            span is shorter than 200 ms. `recovery_s`: time from the change until reading has \
            settled: the first multiple of 10 ms after which something is read, and both the next \
            100 ms and the next second (or the rest of the span) reach 90 % of the level after \
            the change. Null if that level is null or 0. In spans of more than 655 s the steps \
            double. Meant for transfers without pauses of their own");
    RECOVERY_MAX_S = Measure::new("recovery_max_s", SECONDS, "longest recovery after a change")
        .of(RUN_AND_CONNECTION).less()
        .means("only if there are `recoveries`: the longest known `recovery_s` (of all \
            connections); null if none is known");
    BYTES_DELIVERED = Measure::new("bytes_delivered", COUNTED_OCTETS, "octets delivered")
        .of(RUN_AND_CONNECTION).in_captures(Known).more()
        .means("octets that the receiving application read, in order, each once. If it is 0 and \
            the transfer was not completed, `anabranch run` prints \"nothing arrived\" and exits \
            with status 3");
    CONTENT_OK = Measure::new("content_ok", FLAG, "content as sent")
        .of(RUN_AND_CONNECTION).in_captures(Null).whole("runs").more()
        .means("true if every octet read equals the octet sent at its place. False if a middlebox \
            changed octets without being noticed (`bytes_altered`); any other reason would be a \
            fault of the engine");
    BYTES_ALTERED = Measure::new("bytes_altered", COUNTED_OCTETS, "octets altered")
        .of(RUN_AND_CONNECTION).in_captures(Null).less()
        .means("accepted octets that a middlebox had changed, inserted, or moved to another place \
            of the stream. Without DSS checksums, and over plain TCP, the receiver cannot notice \
            the change; the simulator counts it");
}

measures! {
    /// Order of arrival.
    ORDER:
    OOO_RATIO = Measure::new("ooo_ratio", SHARE, "out-of-order ratio")
        .of(RUN_AND_CONNECTION).in_captures(Arrival).whole("data segments").less()
        .means("distinct data segments that on arrival were not next in the data stream or waited \
            for a hole in their subflow / distinct data segments. [1]: *OOO-R*, \"total number of \
            received packets being stored in OOO-buffer over the total number of non-duplicate \
            received packets\". This definition names both levels at which a segment may wait");
    OOO_BUFFER_MAX_PACKETS = Measure::new("ooo_buffer_max_packets", PACKETS, "reordering buffer")
        .of(RUN_AND_CONNECTION).in_captures(Arrival).less()
        .means("most segments that the receiver held at one time because of missing earlier data");
    OOO_BUFFER_MAX_BYTES = Measure::new("ooo_buffer_max_bytes", OCTETS, "reordering buffer")
        .of(RUN_AND_CONNECTION).in_captures(Arrival).less()
        .means("most payload that the receiver held at one time because of missing earlier data. \
            [1], Table I: *OOO buffer*");
}

measures! {
    /// Order of arrival, of one connection only.
    DENSITY:
    RBD = Measure::new("rbd", SHARES, "packets in the reordering buffer").of(CONNECTION).in_captures(Arrival)
        .means("reorder buffer-occupancy density ([3], section 6; [1]: *RBD*, \"the buffer \
            occupancy frequencies normalized by the total number of non-duplicate packets\"): \
            `rbd[b]` is the share of the non-duplicate packets after whose arrival the receiver \
            held b packets, for b = 0, 1, ...; at most 512 entries, the last one with all above \
            it. [1] draws 0 to 10");
    REORDER_EXTENT_MAX = Measure::new("reorder_extent_max", PACKETS, "largest reorder extent")
        .of(CONNECTION).in_captures(Arrival).less()
        .means("largest reorder extent ([2], section 4.2.1). The extent of a packet that arrives \
            after packets with later data is the number of arrivals since the first of them");
    REORDER_DENSITY = Measure::new("reorder_density", PAIRS, "displacement").of(CONNECTION).in_captures(Arrival)
        .means("reorder density ([3], section 5): pairs of a displacement (arrival position - \
            position in the stream; negative is early) and the share of the packets that have it. \
            Displacements of share 0 are left out; those beyond 511 count as 511 or -511");
    HOL_DELAY_MS = Measure::new("hol_delay_ms", MILLISECONDS, "head-of-line delay")
        .of(CONNECTION).in_captures(Arrival).parts(P99).less()
        .means("head-of-line delay of the application's stream: how long a data segment waited at \
            the receiver for earlier data; `p50`, `p95`, `p99` over all data segments");
}

measures! {
    /// What limited a connection, and which losses were real.
    LIMITS_AND_LOSSES:
    LIMITS = Measure::new("limits", RATIO, "limited most by").of(CONNECTION).in_captures(Null).parts(Parts::Limits)
        .means("of each connection: shares of the time from its first round-trip sample to the \
            last octet read; they add up to 1. A view of the [causes](#causes-of-waiting) for the \
            connection as a whole. `cwnd`: no congestion window had room. `receive_window`: the \
            receiver's window was used up, and it held no data behind a gap. `head_of_line`: the \
            window was used up, and the receiver held such data. `scheduler`: the scheduler \
            waited for another subflow. `application`: there was nothing to send. `send_buffer`: \
            all written data was out, and the send buffer was full of it. `link`: a window or the \
            send buffer was full, but packets also waited on the slowest link of every path, so \
            neither was the limit. Null if there was no time to measure. **Deprecated**: the next \
            minor version drops `limits` and its columns `limited_...`; `run.explain()` and \
            `diagnose` say what each subflow waited for \
            ([diagnose.md](diagnose.md#where-the-time-went))");
    EPISODES = Measure::new("episodes", OBJECT, "").of(RUN_AND_CONNECTION).in_captures(Null).parts(Parts::Episodes)
        .means("numbers of loss episodes, by what caused them and by the sender's verdict: \
            `spurious_judged_spurious`, `spurious_judged_genuine`, `genuine_judged_spurious`, \
            `genuine_judged_genuine`. An episode is genuine if it retransmitted at least one \
            segment of which every earlier copy was lost. A copy is lost if it was dropped on the \
            way, or refused by a receiver that had no other (RFC 7323 5.3, if a retransmission of \
            earlier data overtook it). The simulator knows this; the sender does not. An episode \
            without a verdict counts as judged genuine, since the sender acts as if it were");
    DETECTION_DELAY_MS = Measure::new("detection_delay_ms", MILLISECONDS, "detection delay")
        .of(RUN_AND_CONNECTION).in_captures(Null).less()
        .means("mean time from the beginning of an episode to the verdict \"spurious\"; null if \
            there was no such verdict");
    WINDOWS_RESTORED = Measure::new("windows_restored", COUNT, "windows restored")
        .of(RUN_AND_CONNECTION).in_captures(Null)
        .means("number of spurious episodes after which the response restored the congestion window");
    JAIN = Measure::new("jain", INDEX, "Jain's index of the goodputs").of(RUN).in_captures(Known).more()
        .means("only with several connections: Jain's fairness index of their goodputs, (sum x)^2 / (n sum x^2)");
    RADIO = Measure::new("radio", OBJECTS, "").of(RUN)
        .means("one object per wireless link of 802.11n and later: `link`, its name, and the \
            traffic `up` (sent by the station) and `down` (by the access point): `ppdus` with \
            data, `mpdus` (frames in them), `mpdus_per_ppdu` (the mean; `null` without any), \
            `retransmitted` (frames that had been sent before), `requests` (block-acknowledgement \
            requests), `airtime_s` (the time on air of all of them)");
    HOSTS = Measure::new("hosts", OBJECTS, "").of(RUN)
        .means("one object per host with a `cost`: `name`; `cpu_busy`, the share of the run for \
            which its busiest core worked; and `connections`, one object with `name` and \
            `cpu_busy` per connection: the share of the time from its first segment to its last \
            for which the busiest core that carried it worked");
}

measures! {
    /// Effort of the sender and of the simulator.
    EFFORT:
    SEGMENTS = Measure::new("segments", COUNT, "data segments").of(EVERYWHERE).in_captures(Known).summed()
        .means("transmissions of data segments, including retransmissions on the same subflow and \
            reinjections on another one")
        .means_of_subflow("transmissions of data segments on this subflow, including \
            retransmissions and reinjections");
    CHOICE_RATIO = Measure::new("choice_ratio", SHARE, "segments with a choice")
        .of(RUN_AND_CONNECTION).in_captures(Null).whole("segments")
        .means("of the segments for which the scheduler chose a subflow, the share for which more \
            than one subflow could send. Near 0, all schedulers that only choose among the \
            subflows whose window has room give the same run: a bulk sender with full congestion \
            windows has at most one such subflow. Schedulers that wait, send copies or leave \
            subflows out may still differ. Null if the scheduler chose for no segment");
    EVENTS = Measure::new("events", COUNT, "events").of(RUN).in_captures(Null)
        .means("events that the simulator processed");
    WALL_S = Measure::new("wall_s", SECONDS, "wall time").of(RUN).less()
        .means("wall-clock time of the engine, without reading the scenario, writing and drawing. \
            The only field that differs between two runs of the same scenario");
}

measures! {
    /// Identity of a run and its connections.
    IDENTITY:
    TRACE_SHA256 = Measure::new("trace_sha256", TEXT, "trace hash").of(RUN).in_captures(Null)
        .means("hash of every protocol event: segments sent, arrived and dropped, data delivered, \
            windows changed. Equal for the same scenario, seed and version, on every machine");
    SEED = Measure::new("seed", COUNT, "seed").of(RUN).in_captures(Null)
        .means("the seed of the run, 0 to 2^63 - 1");
    VERSION = Measure::new("version", TEXT, "version").of(RUN).in_captures(Known)
        .means("version of Anabranch");
    TITLE = Measure::new("title", TEXT, "title").of(RUN).in_captures(Known)
        .means("title of the scenario; may be empty");
    NAME = Measure::new("name", TEXT, "connection").of(CONNECTION).in_captures(Known)
        .means("name of the connection");
    PROTOCOL = Measure::new("protocol", TEXT, "protocol").of(CONNECTION).in_captures(Known)
        .means("protocol of the connection: `\"mptcp\"`, `\"tcp\"` or `\"udp\"`");
    FALLBACK = Measure::new("fallback", FLAG, "fallback to TCP").of(CONNECTION).in_captures(Known).whole("runs")
        .means("true if an end of the MPTCP connection has fallen back to plain TCP (RFC 8684 \
            3.7); null for TCP and UDP");
    FAST_OPEN_BYTES = Measure::new("fast_open_bytes", COUNTED_OCTETS, "octets accepted with the SYN").of(CONNECTION)
        .means("only of connections with `fast_open`: octets of the client's SYN that the server \
            accepted. 0 also if the SYN only asked for a cookie, or was lost");
}

measures! {
    /// Of one subflow only.
    SUBFLOWS:
    PATH = Measure::new("path", COUNT, "path").of(SUBFLOW).in_captures(Known)
        .means("index of the path in the connection, from 0. A path that failed and came back may \
            carry a second subflow later");
    UTILISATION = Measure::new("utilisation", SHARE, "utilisation")
        .of(SUBFLOW).in_captures(Null).whole("the rate").more()
        .means("octets sent on the path's slowest link in the direction of the data, headers and \
            retransmissions included / the link's capacity in the time from the first SYN to the \
            end of the transfer (a packet in transmission when the rate changes continues at the \
            old one). [1]: *L-Utilisation*, \"the throughput of the Link (SF) over its data rate\"");
    RETRANSMISSIONS_FAST = Measure::new("retransmissions_fast", COUNT, "fast retransmissions")
        .of(SUBFLOW).short("fast retrans.").in_captures(Inferred).summed().less()
        .means("retransmissions in a loss recovery that duplicate ACKs or SACK had started");
    RETRANSMISSIONS_TIMEOUT = Measure::new("retransmissions_timeout", COUNT, "timeout retransmissions")
        .of(SUBFLOW).short("timeout retrans.").in_captures(Inferred).summed().less()
        .means("retransmissions after the retransmission timer expired, and segments too long for \
            a link (`mtu`), sent again in pieces");
    SPURIOUS = Measure::new("spurious", COUNT, "spurious retransmissions")
        .of(SUBFLOW).short("spurious retrans.").in_captures(Sender).summed().less()
        .means("retransmissions of either kind that were sent although an earlier copy got \
            through (probes of a closed window do not count). The simulator knows this; no sender \
            does");
    UNDONE = Measure::new("undone", COUNT, "window cuts undone").of(SUBFLOW).in_captures(Null).summed()
        .means("reductions of the congestion window that were undone because the loss proved spurious");
    SRTT_MS = Measure::new("srtt_ms", MILLISECONDS, "srtt").of(SUBFLOW).in_captures(Sender).less()
        .means("smoothed round-trip time (RFC 6298), mean over time from the first sample; null without a sample");
    CWND_MEAN_SEGMENTS = Measure::new("cwnd_mean_segments", FULL_SEGMENTS, "mean cwnd").of(SUBFLOW).in_captures(Null)
        .means("congestion window / `mss`, mean over time from the opening of the subflow; null if it never opened");
    QUEUE_DROPS = Measure::new("queue_drops", COUNTED_PACKETS, "queue drops")
        .of(SUBFLOW).in_captures(Null).summed().less()
        .means("packets of this subflow, in both directions, dropped because a queue was full or \
            a policer had no tokens. Random loss on a link is not counted here");
    MTU_DROPS = Measure::new("mtu_drops", COUNTED_PACKETS, "packets too long for a link").of(SUBFLOW).less()
        .means("packets of this subflow, in both directions, dropped because they were longer \
            than the `mtu` of a link. Only if a link has an `mtu`");
}
