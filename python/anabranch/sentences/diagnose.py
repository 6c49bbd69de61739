"""All that ``anabranch diagnose`` says: templates, in the order in which they are printed.

Labels are those of docs/columns.md. Values come with their units, except numbers of things and numbers in a table.
"""

from collections.abc import Mapping

from anabranch.sentences.template import Phrase, Sentence

# Causes: what a subflow waits for.

CAUSES: Mapping[str, Mapping[str, Phrase]] = {
    "not_up": {
        "ground": Phrase("the handshake, FIN or RST of the subflow"),
        "remedy": Phrase(
            "open the subflow earlier, keep the connection open longer, or find out why the subflow was closed"
        ),
    },
    "failed": {
        "ground": Phrase(
            "the same segment is sent a third time without an acknowledgement; at the receiver: no packet of the "
            "subflow for three retransmission timeouts"
        ),
        "remedy": Phrase(
            "repair the path, shorten the retransmission timeout, or make the path a backup if there are others"
        ),
    },
    "recovery": {
        "ground": Phrase("from the first retransmission until all segments sent before it are acknowledged"),
        "remedy": Phrase(
            "reduce random losses or drops of full queues: `anabranch diagnose` counts both for each path"
        ),
    },
    "receive_window": {
        "ground": Phrase("the advertised window has no room for a full segment"),
        "remedy": Phrase("enlarge the receive buffer, or let the application read faster"),
    },
    "head_of_line": {
        "ground": Phrase(
            "the advertised window has no room for a full segment, and data beyond the DATA_ACK (TCP: beyond the ACK) "
            "have arrived (away from the receiver, an estimate from acknowledgements)"
        ),
        "remedy": Phrase(
            "enlarge the receive buffer, use a scheduler that keeps data off the slow path, or leave that path out"
        ),
    },
    "reinjection": {
        "ground": Phrase(
            "as for the cause congestion window; in addition, at least half of the data in flight had been sent on "
            "another subflow before"
        ),
        "remedy": Phrase(
            "use a scheduler that sends no copies; if copies follow timeouts, repair the path that timed out"
        ),
    },
    "cwnd": {
        "ground": Phrase(
            "the data in flight are at their maximum since the last loss, and acknowledgements release segments at "
            "once; or no other cause is certain"
        ),
        "remedy": Phrase("try another congestion controller or reduce random losses, unless the paths were saturated"),
    },
    "scheduler": {
        "ground": Phrase(
            "the subflow has less data in flight than before, while the congestion window of another subflow is full"
        ),
        "remedy": Phrase("use another scheduler, or do not mark the path as backup"),
    },
    "send_buffer": {
        "ground": Phrase("the data without DATA_ACK (TCP: without ACK) stay at one ceiling for many round trips"),
        "remedy": Phrase("enlarge the send buffer"),
    },
    "application": {
        "ground": Phrase("acknowledgements release no segments, and no window is full"),
        "remedy": Phrase("let the application write more or earlier"),
    },
    "link": {
        "ground": Phrase(
            "no capture can tell a full link from the receive window or send buffer that is full at the same time"
        ),
        "remedy": Phrase(
            "use more or faster paths; while links are full, a larger window or buffer does not raise the goodput"
        ),
    },
}
"""For each cause, by its key in the JSON: how a capture shows the cause, and a remedy that may help.

Labels and meanings of the causes are in crates/measures/src/causes.rs.
"""

PACED = Phrase("congestion window with pacing")
"""What `cwnd` is if it cannot be told from the application or the send buffer."""

GROUND_OF_A_RUN = Phrase("the run itself")

# First sentence: capacity and goodput.

CAPACITY = Sentence("The capacity of the {paths:path|{paths!n} paths} is {capacities}.")
NO_CAPACITY = Sentence("No path carried data.")
GOODPUT = Sentence("The goodput is {goodput}.")
NO_GOODPUT = Sentence("The goodput is unknown, because all data arrived with the SYN.")
GOODPUT_OF_CAPACITY = Sentence("The goodput is {goodput}, {share} of the capacity.")
GOODPUT_OF_SUM = Sentence("The goodput is {goodput}, {share} of the sum of the capacities.")
GOODPUT_ABOVE_SUM = Sentence(
    "The goodput is {goodput}, more than the capacity of all paths that the capture shows: a path may be missing, or a "
    "capacity may have changed."
)

CAPACITY_GIVEN = Phrase("{capacity} (given)")
CAPACITY_VARIED = Phrase("{capacity} (median of {low} to {high})")
CAPACITY_AT_LEAST = Phrase("at least {capacity}")
CAPACITY_UNKNOWN = Phrase("unknown")

# Second sentence: where the time went.

NO_CAUSES = Sentence("The capture does not show what the subflows waited for.")
CAUSES_ARE = Sentence("Shares of the time by cause: {shares}.")
CAUSES_ARE_AND_OTHERS = Sentence("Shares of the time by cause: {shares}; other causes have less than 5 % each.")
CAUSES_OF_SEVERAL = Sentence(
    "Shares of the time by cause (mean of {subflows!n} {subflows:subflow|subflows}): {shares}."
)
CAUSES_OF_SEVERAL_AND_OTHERS = Sentence(
    "Shares of the time by cause (mean of {subflows!n} {subflows:subflow|subflows}): {shares}; "
    "other causes have less than 5 % each."
)
CAUSE_SHARE = Phrase("{cause} {share}")
OPEN_AT_RECEIVER = Phrase("uncertain {share} (most likely {cause})")
OPEN_AT_SENDER = Phrase("uncertain {share} ({causes})")
BLOCKING = Sentence("The subflow {subflow} caused more of the head-of-line blocking than any other.")
LIMITS = Sentence("The connection as a whole was {limits}.")

# Third sentence: the main cause, and what may help.

REMEDY_UNKNOWN = Sentence("To see the causes of waiting, capture all packets of both directions.")
MAIN_CAUSE_INCOMPLETE = Sentence(
    "The main cause is unknown, because the capture is not whole: shares of the time may be wrong."
)
REMEDY_WITHOUT_BLOCKER = Phrase("enlarge the receive buffer")
"""For head-of-line blocking if no subflow in the capture held up the others."""
SATURATED_WHILE_UP = Sentence(
    "{paths:The path was saturated for most of the time in which it was|All paths were saturated for most of the time "
    "in which they were} up. The subflow {subflow} carried nothing for {share} of its time ({cause}). Possible "
    "remedy (not tried): {remedy}."
)
SATURATED_RECOVERY = Sentence(
    "{paths:The path was|All paths were} saturated most of the time. Loss recovery took {share} of the "
    "time. Possible remedy (not tried): {remedy}."
)
SATURATED_PART = Sentence(
    "{paths:The path was|All paths were} saturated most of the time, but the goodput is only {share} of the capacity. "
    "Headers, data sent more than once, times without a full link, or a varying capacity make up the rest."
)
SATURATED = Sentence(
    "{paths:The path was saturated: its slowest link was the limit. A larger buffer|All paths were saturated: their "
    "slowest links were the limit. A larger buffer or another scheduler} would not raise the goodput."
)
HOST_BUSY = Sentence(
    "Main cause: the processor of {host}. A core that carries the connection worked {share} of the connection's time: "
    "each segment costs {cost}. {remedies} would raise the goodput; faster links would not."
)
HOST_REMEDIES = Phrase("A lower cost per segment, or fewer and longer segments")
HOST_REMEDIES_AND_CORES = Phrase("More cores, a lower cost per segment, or fewer and longer segments")
MAIN_CAUSE_OPEN_AT_RECEIVER = Sentence(
    "Main cause: probably {cause}, but a capture at the receiver cannot tell it from other causes at the sender. "
    "A capture at the sender shows more, and so does `ss -tin` on the sender."
)
MAIN_CAUSE_OPEN_AT_SENDER = Sentence(
    "Main cause: a limit at {host}: {causes}. This capture cannot tell which; `ss -tin` on the sender shows more."
)
MAIN_CAUSE_CLOSE = Sentence(
    "Main cause: {causes}. This capture does not show for certain which of these took the most time."
)
SENDER = Phrase("the sender")
SENDER_OR_RECEIVER = Phrase("the sender or the receiver")
MAIN_CAUSE_HANDSHAKE = Sentence(
    "Main cause: the handshake, which took {share} of the time. Possible remedy (not tried): keep the connection "
    "open, or use TCP Fast Open (RFC 7413) if it is off."
)
MAIN_CAUSE_HANDSHAKE_AND_FIN = Sentence(
    "Main cause: a short connection. The handshake took {share} of the time, and {after} of the time passed between "
    "the sender's FIN and the arrival of its last data. Possible remedy (not tried): keep the connection open, or use "
    "TCP Fast Open (RFC 7413) if it is off."
)
MAIN_CAUSE_SYNS = Sentence(
    "Main cause: the handshake, which took {share} of the time. The SYN was sent again {count!n} {count:time|times}: "
    "find out why SYNs or their answers were lost."
)
MAIN_CAUSE_AFTER_FIN = Sentence(
    "Main cause: the sender had sent all data and its FIN, and for {share} of the time waited until these data had "
    "arrived. A shorter queue or a faster path would shorten that time."
)
MAIN_CAUSE_APPLICATION = Sentence(
    "Main cause: application ({share} of the time). Meanwhile the application had no data to send. Remedy: {remedy}."
)
MAIN_CAUSE = Sentence("Main cause: {cause} ({share} of the time). Possible remedy (not tried): {remedy}.")
BUFFER_TOO = Sentence(
    'Another cause, "{buffer}", has {share} of the time. Most congestion controllers do not grow the congestion window '
    "in this time. A remedy for this cause may help more (not tried): {remedy}."
)
OR = Phrase("{causes} or {cause}")

# Third sentence, after changes were tried on a twin or on the scenario of a run.

TWIN = Phrase("the twin")
SCENARIO_OF_RUN = Phrase("the scenario of the run")
HELPS = Sentence(
    "Remedy: {change}. It raises the goodput from {before} to {after}, as tried on {twin} with {seeds!n} "
    "{seeds:seed|seeds}."
)
MAY_HELP = Sentence(
    "Possible remedy: {change}. It raised the goodput from {before} to {after} on {twin}, "
    "but {seeds!n} {seeds:seed is|seeds are} too few to be sure."
)
HELPS_MORE = Sentence("A change that Linux does not have raises the goodput more (to {after}): {change}.")
BEYOND_MEASURED = Sentence("The capture does not show that the paths can carry the goodput of this remedy.")
NOTHING_HELPS = Sentence(
    "No change that was tried on {twin} with {seeds!n} {seeds:seed|seeds} raises the goodput clearly above {before}."
)
UNLIKE = Sentence("No change was tried, because the twin is not like the capture. {difference}.")
DIFFERENCE = Phrase("{measure} differs by {difference}; the limit is {most}")

# Connections and their tables.

INFERRED = Sentence(
    "(?) marks a share that is inferred from the sender's behaviour; shares without this mark are facts."
)
INFERRED_AND_BLOCKING = Sentence(
    "(?) marks a share that is inferred from the sender's behaviour. Head-of-line blocking is estimated from "
    "acknowledgements; the other shares are facts."
)
KNOWN = Sentence("The run recorded the shares of the time by cause; none of them is inferred.")
INDISTINCT = Sentence("The capture cannot tell these causes apart: {causes}.")
INDISTINCT_CLOSE = Sentence("The shares of these causes are too close or too uncertain to rank them: {causes}.")
TABLE_CAUSES = Phrase("cause")
TABLE_ALL = Phrase("all")
MARK = Phrase("{cause} (?)")
UNKNOWN = Phrase("not visible in this capture:")
UNKNOWN_LINE = Phrase("{what}: {why} ({capture})")
CAPTURE_WOULD_TELL = Phrase("shown by a capture {place}")
NO_CAPTURE_TELLS = Phrase("shown by {command}")
CAPACITY_RANGE = Phrase("{capacity} ({low} to {high})")
CAPACITY_BOUND = Phrase(">= {capacity}")

TABLE_PATHS = (
    Phrase("path"),
    Phrase("between"),
    Phrase("capacity (Mbit/s)"),
    Phrase("goodput (Mbit/s)"),
    Phrase("base RTT (ms)"),
    Phrase("queue (ms)"),
    Phrase("lost: full queue"),
    Phrase("lost: random"),
    Phrase("blocking caused (s)"),
)

# What a capture cannot show: what, why, and which capture would show it.

AT_SENDER = Phrase("at the sender")
AT_RECEIVER = Phrase("at the receiver")
AT_BOTH_ENDS = Phrase("at both ends")
FROM_BEGINNING = Phrase("from the beginning")
NO_CAPTURE = Phrase("none: `ss -tin`")

UNKNOWN_AT_RECEIVER: tuple[tuple[Phrase, Phrase], ...] = (
    (Phrase("losses on the way to the capture"), Phrase("lost segments do not reach the capture")),
    (
        Phrase("the time at which a path failed"),
        Phrase("segments that the sender repeats on a failed path do not reach the capture"),
    ),
    (
        Phrase("spurious retransmissions"),
        Phrase("the original segment or its retransmission may be lost before it reaches the capture"),
    ),
)
UNKNOWN_AT_RECEIVER_OF_TCP: tuple[tuple[Phrase, Phrase], ...] = (
    (
        Phrase("what the sender waited for, if neither the receive window nor a loss explains it"),
        Phrase(
            "a full congestion window, a full send buffer and an idle application look alike: only the sum of their "
            "times is known"
        ),
    ),
)
UNKNOWN_AT_RECEIVER_OF_MPTCP: tuple[tuple[Phrase, Phrase], ...] = (
    (
        Phrase("what the sender waited for, if neither the receive window nor a loss explains it"),
        Phrase(
            "a full congestion window, a full send buffer, the scheduler and an idle application look alike: only the "
            "sum of their times is known"
        ),
    ),
    (Phrase("subflows of which no packet arrived"), Phrase("their SYNs do not reach the capture")),
)
UNKNOWN_SHORT_QUEUES = (
    Phrase("queues shorter than 2.5 ms"),
    Phrase("TCP timestamps usually give sending times to the millisecond at best"),
)
UNKNOWN_QUEUES = (
    Phrase("queues in the direction of the data"),
    Phrase("without TCP timestamps the sending times are unknown"),
)
UNKNOWN_AT_ONE_PLACE = (Phrase("one-way delays"), Phrase("a capture at one place shows only round trips"))
UNKNOWN_AT_SENDER: tuple[tuple[Phrase, Phrase], ...] = (
    (
        Phrase("how long data waited behind a gap at the receiver"),
        Phrase("arrivals are estimated from acknowledgements"),
    ),
)
UNKNOWN_AT_SENDER_OF_MPTCP: tuple[tuple[Phrase, Phrase], ...] = (
    (
        Phrase("subflows that the receiver tried to open without success"),
        Phrase("their SYNs do not reach the capture"),
    ),
)
UNKNOWN_WITHOUT_BEGINNING = (
    Phrase("what the first handshake says, such as window scale and keys"),
    Phrase("the first handshake is not in the capture"),
)
UNKNOWN_ANYWHERE = (
    Phrase("whether the sender waited for its send buffer or its application"),
    Phrase("no packet shows the difference"),
)

# Events of a connection, and notes about the capture.

ONE_WAY = Sentence("The capture has only the direction of the data, so it does not show what the subflows waited for.")
ONE_WAY_OF = Sentence(
    "Of {flows!n} {flows:subflow|subflows} the capture has only the direction of the data, so it does not show what "
    "{flows:this subflow|these subflows} waited for."
)
NO_PURE_ACKS = Sentence(
    "The capture has no pure ACKs (segments without data) from the {receiver}: round-trip times are those of the "
    "handshake, or unknown."
)
NO_PURE_ACKS_OF = Sentence(
    "Of {flows!n} {flows:subflow|subflows} the capture has no pure ACKs (segments without data) from the {receiver}: "
    "round-trip times are those of the handshake, or unknown."
)
FALLBACK = Sentence("The connection fell back to TCP: {reason}.")
CHECKSUMS = Sentence(
    "{count!n} DSS {count:checksum does|checksums do} not match the data: a middlebox changed data, or the sender "
    "computed a wrong checksum."
)
MP_FAIL = Sentence(
    "MP_FAIL was sent {count!n} {count:time|times}: a host received data that do not match their DSS checksum."
)
HMACS = Sentence(
    "{count!n} {count:HMAC of a join is|HMACs of joins are} wrong: from another connection, or changed on the way."
)
TOKENS = Sentence("{count!n} {count:join has|joins have} a token that matches no key in the capture.")
RESET = Sentence("The {host} reset the subflow {subflow}.")
DAMAGED = Sentence("The subflow {subflow} has {count!n} {count:packet|packets} with a wrong TCP checksum.")

PATH_MISSING = Sentence(
    "The capture is not whole: {missing} ({share}) of the acknowledged data were not found in the files. A path is "
    "missing, packets were not captured, or they could not be read (such as ESP). Give the files of all interfaces, "
    "captured from the beginning to the end."
)
PACKETS_MISSING = Sentence(
    "The capture is not whole: {missing} ({share}) of the acknowledged data were not found in the files. Packets of "
    "known subflows were not captured, or could not be read. Capture again with a larger buffer (`tcpdump -B 65536`)."
)
SEE_NOT_READ = Sentence('The note that begins with "not read" counts the packets that could not be read.')
CUT_OPTIONS = Sentence(
    "The capture is not whole: the snap length cut the TCP options of {count!n} {count:packet|packets}, so Multipath "
    "TCP, SACK, timestamps and window scale may be missing. Capture again with -s 160 or more (IPv6 in a tunnel: 200)."
)
CUT_BEFORE_TCP = Sentence(
    "The capture may not be whole: the snap length cut {count!n} {count:packet|packets} before the end of their "
    "headers (TCP or other). Capture again with -s 160 or more (IPv6 in a tunnel: 200)."
)
FEW_CUT_OPTIONS = Sentence("The snap length cut the TCP options of {count!n} {count:packet|packets}.")
FEW_MISSING = Sentence("{missing} ({share}) of the acknowledged data were not found in the files.")
CUT = Sentence("{file}: {reason}. Later packets of this file are not part of the diagnosis.")
SPLIT = Sentence(
    "A proxy splits {count!n} {count:connection|connections}. Its two sides have different "
    "sequence numbers, so each side is diagnosed as a connection of its own."
)
NO_DATA = Sentence(
    "{count!n} {count:connection has|connections have} no data in the capture: capture both directions, or check that "
    "data were sent."
)
NO_DATA_IN_RUN = Sentence("No connection of the run delivered data.")
WITHOUT_DATA = Sentence("{count!n} {count:connection|connections} without data {count:is|are} not shown.")
UNLISTED = Sentence("{count!n} smaller {count:connection is|connections are} not shown.")
NO_MPTCP = Sentence("The {source} has no Multipath TCP: each connection counts as one path.")
THE_CAPTURE = Phrase("capture")
THE_RUN = Phrase("run")

# Twin and trials: what was found, a line each.

TWIN_FOUND = Sentence("The twin is like the capture (found in {runs!n} {runs:run|runs}). It differs by: {differences}.")
TWIN_UNLIKE = Sentence(
    "The twin is NOT like the capture ({differences}): no remedy was tried. A path may be missing in the capture."
)
TWIN_INCOMPLETE = Sentence("No change was tried on the twin, because the capture is not whole.")
INTERRUPTED_FIT = Sentence("Interrupted: no change was tried on the twin.")
INTERRUPTED_TRIALS = Sentence("Interrupted: the results are of at most {seeds!n} {seeds:seed|seeds}.")
TRIED_HELPS = Phrase(
    "helps: {change}: goodput {after} instead of {before} ({seeds!n} {seeds:seed|seeds}, 95 % interval {interval})"
)
TRIED_HELPS_ONE_SEED = Phrase("helps: {change}: goodput {after} instead of {before} (1 seed)")
TRIED_NOTHING_HELPS = Phrase(
    "no change that was tried gives a goodput clearly above {before} ({seeds!n} {seeds:seed|seeds})"
)
TRIED_MAY_HELP = Phrase("may help, but {seeds!n} {seeds:seed is|seeds are} too few to be sure: {changes}")
TRIED_HELPS_LESS = Phrase("helps as well: {changes}")
TRIED_NO_HELP = Phrase("no clear effect on the goodput: {changes}")
TRIED_HURTS = Phrase("lowers the goodput: {changes}")
TRIED_BEYOND = Phrase("{line}; the capture does not show that the paths can carry this higher goodput")
INTERVAL = Phrase("{low} to {high}")
CHANGE_RATE = Phrase("{change} ({goodput})")
CHANGE_RATE_NOT_IN_LINUX = Phrase("{change} ({goodput}, not in Linux)")
NOT_IN_LINUX = Phrase("{change} (not in Linux)")
NO_RESULT = Phrase("no result")
"""Why a change that failed in every run has none."""

LIKE = (
    Phrase("goodput {goodput:+.1f} %"),
    Phrase("shares of the paths {shares:.1f} points"),
    Phrase("reordering {reordering:+.1f} points"),
    Phrase("segments sent again {losses:+.1f} points"),
    Phrase("smoothed RTT {srtt:+.1f} %"),
)
LIKE_OUTAGES = Phrase("end of an outage {outages:.1f} % of the connection's time")
DIFFERS: Mapping[str, tuple[Phrase, Phrase]] = {
    "goodput": (Phrase("The goodput"), Phrase("{value!n} %")),
    "shares": (Phrase("The share of a path in the goodput"), Phrase("{value!n} points")),
    "reordering": (Phrase("The out-of-order ratio"), Phrase("{value!n} points")),
    "losses": (Phrase("The share of segments sent again"), Phrase("{value!n} points")),
    "srtt": (Phrase("The smoothed RTT of a path"), Phrase("{value!n} %")),
    "outages": (Phrase("The end of an outage"), Phrase("{value!n} % of the connection's time")),
}

# Changes that are tried.

CHANGE_PACING = Phrase("pacing (`tc ... fq`)")
CHANGE_BUFFER = Phrase("a {buffer} of {size} instead of {now}")
CHANGE_ALGORITHM = Phrase("the {kind} {name} instead of {now}")
CHANGE_BOTH = Phrase("the controller {controller} with the scheduler {scheduler}")
CHANGE_WITH_ECN = Phrase("the {kind} {name} with ECN instead of {now}")
CHANGE_BOTH_WITH_ECN = Phrase("the controller {controller} with ECN and the scheduler {scheduler}")
CHANGE_LINUX_NAME = Phrase("{name} (Linux: {linux})")
CHANGE_BACKUP = Phrase("{path} as backup")
CHANGE_NO_BACKUP = Phrase("{path} no longer a backup")
CHANGE_WITHOUT = Phrase("without {path}")
CHANGE_ONLY = Phrase("{path} only")
CHANGE_FIRST = Phrase("first subflow over {path}")
CHANGE_QUEUES = Phrase("fq-codel on every link")

# The file of a twin: its head, and the ground of each line.

TWIN_HEAD = Sentence(
    "Written by `anabranch diagnose --twin`: the scenario that a capture implies. Comments say where values come from: "
    "a fact in the capture, an inference from it, or given by the user. Unknown values are defaults, or those of the "
    "values tried with which the run is most like the capture. The run {is_like} like the capture. It differs by: "
    "{differences}."
)
IS_LIKE = Phrase("is")
IS_NOT_LIKE = Phrase("is NOT")
GROUND_RESET = Phrase("all subflows of a removed path were reset")
GROUND_LOSS = Phrase("{lost!n} of {segments!n} {segments:segment|segments} lost while the queue was short")
GROUND_BACKUP = Phrase("flag B in the MP_JOIN handshake")
GROUND_OUTAGE = Phrase(
    "data in flight were not acknowledged; the end of an outage is estimated between two retransmissions: the last "
    "unanswered one and the first answered one"
)
GROUND_NO_DELAY = Phrase("the capture shows no round-trip time")
GROUND_DELAY = Phrase(
    "half of the shortest round trip ({rtt}) less serialisation times, assumed to be equal in both directions"
)
GROUND_GIVEN = Phrase("capacity given by the user")
GROUND_RATE = Phrase("median of the rates ({low} to {high}) while the link was busy, in total {time}")
GROUND_TRAIN = Phrase(
    "the rate of the fastest train of packets, or the highest rate over a longer time ({rate}) if that rate is higher"
)
GROUND_NO_RATE = Phrase("too few packets in a row to measure the rate")
GROUND_FULL_QUEUE = Phrase("round-trip times rose to {rtt} before losses")
GROUND_QUEUE = Phrase("the queue was never seen full; at most {packets!n} {packets:packet|packets} waited")
GROUND_PROTOCOL = Phrase("the TCP options of the handshake or of later packets")
GROUND_HANDSHAKE = Phrase("the handshake")
GROUND_NONE = Phrase("no packet shows this value")
GROUND_MSS = Phrase("the largest segment, or the announced MSS if that is smaller")
GROUND_RECEIVE_BUFFER = Phrase("the largest window advertised")
GROUND_RECEIVE_INITIAL = Phrase("the first window advertised; the window grew")
GROUND_PROFILE = Phrase("no packet shows this value; Linux starts with a small receive window and lets the window grow")
GROUND_LINUX = Phrase("no packet shows this value; the default of Linux")
GROUND_NO_SACK = Phrase("losses were repaired, but no acknowledgement had a SACK block")
GROUND_SEND_BUFFER = Phrase("the data without DATA_ACK (TCP: without ACK) stay at one ceiling")
GROUND_NO_SEND_BUFFER = Phrase("hardly any sign that the send buffer was full")
GROUND_BYTES = Phrase("data that arrived")
GROUND_OPEN = Phrase("the connection outlasts the capture; the run lasts as long as the capture")
GROUND_DOWN = Phrase("most data came from the server")
GROUND_ON = Phrase("acknowledgements released no segments: the application had no more data")
GROUND_OFF = Phrase("assumed: the application writes without pauses")
GROUND_WRITE_RATE = Phrase("the goodput")
GROUND_FITS = Phrase("best fit of the values tried; no packet shows this value")
GROUND_BEST = Phrase("best fit of the values tried")
GROUND_SCALED = Phrase("{ground}; best fit")
GROUND_UNACKNOWLEDGED = Phrase("about the most data without DATA_ACK (TCP: without ACK); best fit of the values tried")
GROUND_READER = Phrase("the receive window was full: the application reads slowly")
GROUND_OVERTAKING = Phrase("best fit of the values tried: packets overtake each other")
GROUND_JITTER = Phrase("makes runs with different seeds differ; the run with this seed is most like the capture")

# The report and the notebook.

IN_PLACE_OF_RUN = Phrase("it is a diagnosis: its numbers are in diagnosis.json, its figures in report.html")
OTHER_UNREADABLE = Phrase("a diagnosis that cannot be read")
OTHER = Phrase("the diagnosis of {files}")
"""What a folder holds that is not replaced."""
REPORT_TITLE = Phrase("Diagnosis of {files}")
REPORT_CAUSES = Phrase("Shares of the time by cause")
REPORT_PATHS = Phrase("The paths")
REPORT_WAITING = Phrase("What each subflow waited for, and how long others waited for it")
REPORT_WAITING_CAPTION = Sentence(
    "The total time that each subflow waited, by cause. The causes are stacked in order of precedence, not of time."
)
REPORT_BLOCKING_CAPTION = Sentence(
    "Hatched: how long data of other subflows filled the receive window because data in flight on this subflow were "
    "missing."
)
REPORT_REMEDIES = Phrase("Remedies")
REPORT_TRIALS = (
    Phrase("change"),
    Phrase("kind"),
    Phrase("in Linux"),
    Phrase("goodput<br>Mbit/s"),
    Phrase("gain<br>Mbit/s"),
    Phrase("helps"),
)
REPORT_MAYBE = Phrase("perhaps")
REPORT_TWIN = Phrase("The twin")
REPORT_UNKNOWN = Phrase("Not visible in this capture")
REPORT_UNKNOWN_HEAD = (Phrase("what"), Phrase("why"), Phrase("shown by a capture"))
REPORT_GROUNDS = Phrase("What the causes mean")
REPORT_GROUNDS_HEAD = (Phrase("cause"), Phrase("meaning"), Phrase("kind"), Phrase("how a capture shows it"))
REPORT_MADE = Phrase("How this report was made")
REPORT_OVER_TIME = Phrase("Over time")
REPORT_RATE = Phrase("Goodput of each subflow")
REPORT_RATE_CAPTION = Sentence(
    "Rate at which new data arrived on each subflow, in windows of equal length; the last window may be shorter."
)
REPORT_RATE_TOTAL = Sentence("The line `total` is the sum over all subflows.")
REPORT_RTT = Phrase("Round-trip time of each subflow")
REPORT_RTT_CAPTION = Sentence(
    "Time from each segment to its acknowledgement, as means over short intervals. For a capture at the receiver, "
    "round trips are reconstructed from timestamps."
)
REPORT_FIGURE = Phrase("{title} over time")

# In a notebook and in `run.explain()`.

NOT_MEASURED = Sentence("The run did not record what the sender waited for.")
MORE_CONNECTIONS = Sentence(
    "{count!n} more {count:connection is|connections are} not shown; `anabranch diagnose` shows all of them."
)

# While a capture goes on.

FOLLOW = Phrase("{time:.1f} s: {connection}: goodput {goodput}; shares of the time by cause: {shares}")

# Errors.

EVERY_ALONE = Phrase("--every sets the interval of --follow: give --follow, too")
NO_INTERVAL = Phrase("--every {value}: give a number of seconds, at least {least!n} s")
FOLLOW_QUIET = Phrase("--follow prints lines while it runs, and --quiet prints nothing: leave one of them out")
FOLLOW_FOLDER = Phrase("--follow: {source} is a folder; give a capture file or - for standard input")
QLOG_STDIN = Phrase("--qlog reads the captures twice, but standard input can be read once: write it to a file first")
QLOG_FOLDER = Phrase("--qlog: {source} is a folder; give capture files")
NO_PAIR = Phrase('--capacity {pair}: takes PATH=RATE, such as --capacity 0="80 Mbit/s"')
SECOND_CAPACITY = Phrase("--capacity {pair}: path {path} already has {rate}; give it once")
NO_SECONDS = Phrase("every: {value} is not a finite number of seconds above 0; give one, such as 10")
TWIN_OF_STDIN = Phrase("-: a twin needs a capture that can be read twice; write standard input to a file first")
CAPACITY_OF_RUN = Phrase("{folder}: a run knows the capacity of its links; leave --capacity out")
WRONG_KIND = Phrase("{folder}: {found}; diagnose takes {run}, {analysis} or capture files")
OTHER_TRACE = Phrase(
    "{folder}: this version ({now}) does not give the trace of the run (version {then}) again, so the run cannot be "
    "diagnosed; run the scenario again with --out"
)
NO_TCP_IN_RUN = Phrase("{folder}: the run has no connection of TCP or MPTCP, and diagnose explains no others")
NO_UNIT = Phrase('capacity of path {path}: {value} has no unit; write it as "80 Mbit/s"')
NO_RATE = Phrase("capacity of path {path}: {error}")
GIVEN_TWICE = Phrase("capacity of path {path}: given twice; give it once")
NO_SUCH_PATH = Phrase("capacity of path {path}: no such path; {choices}")
NO_CONNECTION = Phrase("the capture has no connection")
CHOICES = Phrase("choices: {paths}")
CHOICE = Phrase("{path} ({client})")
CAPACITY_TOO_LOW = Phrase(
    "capacity of path {path}: {given} is less than the {shown} that the capture shows on {subflow}; give {shown} or "
    "more, as the rate of IP packets"
)
