"""What ``anabranch run`` prints above its tables, line by line; reports, notebooks and `compare` print the same.

Labels are those of docs/columns.md. Values come with their units, except numbers of things.
"""

from collections.abc import Mapping

from anabranch.sentences.template import Phrase, Sentence

UNTITLED = Phrase("untitled scenario")
CONTROLLER = Phrase("controller {name}")
SCHEDULER = Phrase("scheduler {name}")
SEED = Phrase("seed {seed!n}")

# How it ended.

COMPLETED = Phrase("completed")
COMPLETED_IN = Phrase("completed in {time}")
STALLED = Phrase("stalled")
STALLED_SINCE = Phrase("stalled since {time}")
ABORTED = Phrase("aborted by the {reason}")
DURATION = Phrase("stopped at its `duration`")
OUTCOME = Phrase("{end}: {amount} delivered, goodput {goodput}, {content}")
OUTCOME_FALLBACK = Phrase("{end}: {amount} delivered, goodput {goodput}, fell back to TCP, {content}")
OUTCOME_NOTHING = Phrase("{end}: nothing arrived")
OUTCOME_NOTHING_FALLBACK = Phrase("{end}: nothing arrived, fell back to TCP")
CONTENT_OK = Phrase("content verified")
CONTENT_ALTERED = Phrase("{amount} OF THE DATA ALTERED BY A MIDDLEBOX")
CONTENT_DIFFERS = Phrase("CONTENT DIFFERS FROM WHAT WAS SENT")
NOTHING = Phrase("nothing arrived")
NOTHING_AT = Phrase("nothing arrived at the {host}")
NOTHING_OF = Phrase("nothing arrived: {connections}")
NOTHING_MORE = Phrase("nothing arrived: {connections} and {count!n} more")
CONNECTION_AT = Phrase("{connection} at the {host}")

# Changes of the paths.

LONGEST_GAP = Phrase("longest time without data {time}")
CHANGE = Phrase("path change at {time}: {what}")
CHANGE_TOO_SHORT = Phrase("too little time after the change to measure the goodput")
CHANGE_NOTHING = Phrase("no data after the change")
CHANGE_SETTLED = Phrase("goodput {after} after the change, settled within {within}")
CHANGE_SETTLED_FROM = Phrase("goodput {after} after the change ({before} before), settled within {within}")
CHANGE_AT_ONCE = Phrase("goodput {after} after the change, settled at once")
CHANGE_AT_ONCE_FROM = Phrase("goodput {after} after the change ({before} before), settled at once")
CHANGE_UNSETTLED = Phrase("goodput {after} after the change, not settled")
CHANGE_UNSETTLED_FROM = Phrase("goodput {after} after the change ({before} before), not settled")
LONGEST_RECOVERY = Phrase("longest recovery after a change {time}")

# Applications.

REVERSE = Phrase("from the server to the client: {amount} delivered, goodput {goodput}")
PAGE = Phrase("page load {time}")
NO_PAGE = Phrase("page load: not completed")
DATAGRAMS = Phrase("datagram delay: {percentiles}; datagrams lost {share}")
DATAGRAMS_JITTER = Phrase("datagram delay: {percentiles}; jitter {jitter}; datagrams lost {share}")
FILM = Phrase(
    "start of the film {time}; {stops}; mean bit rate {rate}, {changes!n} {changes:change|changes} of quality"
)
FILM_STOPS = Phrase("{stops!n} {stops:stop|stops}, {time} in total")
FILM_NO_STOP = Phrase("no stop")
NO_FILM = Phrase("start of the film: never")
LATENCY: Mapping[str, Phrase] = {
    "message": Phrase("message latency: {percentiles}"),
    "object": Phrase("object latency: {percentiles}"),
    "segment": Phrase("segment latency: {percentiles}"),
}
DEADLINES = Phrase("message latency: {percentiles}; deadlines missed {share}")
PERCENTILE = Phrase("{percentile} {time}")
NONE_ARRIVED = Phrase("none arrived")

# Why it was not faster, and what came out of order.

LIMITED = Phrase("limited by: {shares}")
LIMITED_MEAN = Phrase("limited by, mean of {connections!n} {connections:connection|connections}: {shares}")
LIMIT = Phrase("{cause} {share}")
FAST_OPEN = Phrase("{amount} arrived with the SYN")
FAST_OPEN_NOTHING = Phrase("no data arrived with the SYN")
FAST_OPEN_OF = Phrase("{count!n} of {connections!n} connections had data with the SYN")
MTU = Phrase("{count!n} {count:packet was|packets were} too long for a link (`mtu`)")
JAIN = Phrase("Jain's index of the goodputs: {index!n} (1: all equal)")
OUT_OF_ORDER = Phrase(
    "out-of-order ratio {share} of data segments; peak of the reordering buffer {packets!n} "
    "{packets:packet|packets} ({amount})"
)
OUT_OF_ORDER_ESTIMATED = Phrase(
    "out-of-order ratio {share} of data segments; peak of the reordering buffer {packets!n} "
    "{packets:packet|packets} ({amount}); both are estimated from the acknowledgements"
)
OUT_OF_RANGE = Phrase("{link} went out of range at {time}: {least}")
OUT_OF_RANGE_ALWAYS = Phrase(
    "{link} was out of range at the start: at {distance!n} m its ends receive {power!n} dBm, but {least}"
)
LEAST_NOTICED = Phrase("frames below {power!n} dBm are not noticed")
LEAST_READ = Phrase("frames of MCS {mcs!n} below {power!n} dBm are not decoded")

# Tables, and what may follow them.

TOTAL = Phrase("total")
ALL = Phrase("all {count!n}")
SUBFLOW = Phrase("subflow")
PATH = Phrase("path {path}")
DEMO_TITLE = Phrase("two heterogeneous paths, 5 Mbit/s with 100 ms and 2 Mbit/s with 10 ms")
TRACE_KEPT = Phrase("{file} has the events until the run was stopped")
ENGINE_FAULT = Sentence(
    "The data that arrived differ from the data that were sent. This is a fault of the simulation engine: please "
    "report it."
)

# Errors.

ONE_FORM = Phrase("--json, --csv and --format: give only one of them")
NO_TIME = Phrase('--timeout {value}: give a time above 0, such as "30 s"')
NO_END = Phrase(
    "timeout: the run took more than {value} s of wall-clock time, and a call in the run cannot be ended; check that "
    "no algorithm sleeps or waits"
)
TRACE_IS_SCENARIO = Phrase("--trace {file}: this would overwrite the scenario file; name another file")
TRACE_FAILED = Phrase("cannot write the trace '{file}': {error}")
PCAP_FAILED = Phrase("cannot write captures to '{folder}': {error}")
