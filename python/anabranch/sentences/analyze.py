"""What ``anabranch analyze`` prints above its tables, line by line; its report has the same lines.

Labels are those of docs/columns.md.
"""

from collections.abc import Mapping

from anabranch.sentences.template import Phrase, Sentence

# What was read.

PACKETS = Phrase("{packets!n} {packets:packet|packets} in {time}, {count!n} of them with MPTCP options")
CUT_FILE = Phrase("{file}: not read to its end: {reason}")
CLOCK = Phrase(
    "the clock of the capture was set back {count!n} {count:time|times}, by at most {time}; after each step, times "
    "continue from the last time before the step"
)
OPENED = Phrase("read from encapsulations: {found}")
OPENED_IN = Phrase("{segments!n} {segments:segment|segments} in {name}")
REASSEMBLED = Phrase("reassembled from IP fragments: {packets!n} {packets:packet|packets}")
REPEATED = Phrase(
    "counted once: {packets!n} {packets:packet|packets} recorded again, in another encapsulation or as a repeated "
    "802.11 frame"
)
NOT_OPENED = Phrase("not read: {found}")
NOT_OPENED_OF = Phrase("{packets!n} {packets:packet|packets} of {name}")
INCOMPLETE = Phrase("left out: {count!n} IP {count:fragment|fragments} of incomplete packets")
CUT_BEFORE_TCP = Phrase(
    "cut by the snap length before the end of their headers (TCP or other): {packets!n} {packets:packet|packets}"
)
UNKNOWN_LINK = Phrase("not read: {packets!n} {packets:packet|packets} of an unknown link type")
SPLIT = Phrase(
    "a proxy between the captures splits {count!n} {count:connection|connections}; each side is measured as a "
    "connection of its own"
)
WITHOUT_DATA = Phrase("not shown: {count!n} {count:connection|connections} without data")
UNLISTED = Phrase("not shown: {count!n} smaller {count:connection|connections}, {amount} in total")

# A connection.

CONNECTION = Phrase("{name}: {protocol}, data from the {host}, {place}")
VERSION_0 = Phrase("{protocol} version 0")
BOTH_ENDS = Phrase("captured at both ends")
AT = Phrase("captured at the {host}")
UNKNOWN_PLACE = Phrase("captured at an unknown place")
ON_THE_WAY = Phrase("captured on the way")
FALLBACK = Phrase("fell back to TCP: {reason}")
STATUS: Mapping[str, Phrase] = {
    "completed": Phrase("completed"),
    "reset": Phrase("reset"),
    "open": Phrase("not closed within the capture"),
}
OUTCOME = Phrase("{end}: {amount} delivered")
OUTCOME_IN = Phrase("{end}: {amount} delivered in {time}, goodput {goodput}")
NO_BEGINNING = Phrase(
    "; the handshake of the first subflow is not in the capture, which started too late or lacks the interface of "
    "this subflow"
)
REINJECTED = Phrase(
    "{segments!n} {segments:segment|segments} reinjected on another subflow: {useful} useful, {redundant} redundant"
)
KEYS = Phrase("keys of both hosts seen")
NO_KEYS = Phrase("key of at least one host not seen")
TOKENS = Phrase("tokens of joins: {count!n} of {total!n} valid")
HMACS = Phrase("HMACs of joins: {count!n} of {total!n} valid")
ADD_ADDR_VERSION_0 = Phrase("ADD_ADDR not verified: it has no HMAC in version 0")
ADD_ADDR = Phrase("HMACs of ADD_ADDR: {count!n} of {total!n} valid")
CHECKSUMS = Phrase("DSS checksums: {count!n} of {total!n} valid")
CHECKSUMS_INCOMPLETE = Phrase("DSS checksums: {count!n} of {total!n} valid, {lost!n} more could not be checked")
UNLISTED_SUBFLOWS = Phrase("not shown: {count!n} {count:subflow|subflows} without data")
MISSING = Phrase(
    "not found in the capture: {amount} that the receiver acknowledged; data without a data sequence mapping: "
    "{unmapped}"
)
ONLY_AT_SENDER = Phrase("shown only by a capture at the sender: {names}")
NO_PURE_ACKS = Phrase(
    "the capture has no pure ACKs (segments without data) from the {receiver}: round-trip times are those of the "
    "handshake, or unknown"
)
NO_PURE_ACKS_OF = Phrase(
    "of {flows!n} {flows:subflow|subflows} the capture has no pure ACKs (segments without data) from the {receiver}: "
    "round-trip times are those of the handshake, or unknown"
)
CUT_OPTIONS = Phrase(
    "the snap length cut the TCP options of {packets!n} {packets:packet|packets}: Multipath TCP, SACK, timestamps and "
    "window scale may be missing"
)
STRAYS = Phrase(
    "left out: {packets!n} {packets:packet|packets} with sequence numbers that do not belong to the connection"
)

# Tables.

MULTIPATH = Phrase("MPTCP connections:")
TCP = Phrase("TCP connections:")
LARGEST = Sentence("Below are the {count!n} connections with the most data.")
SUBFLOW = Phrase("subflow")
SUBFLOWS = Phrase("subflows")
MARK = Phrase("(?)")

# Figures of the report.

FIGURES: Mapping[str, tuple[Phrase, Sentence]] = {
    "sequence": (
        Phrase("Data sequence"),
        Sentence(
            "Part of the data stream that each subflow sent, over time. The lower line is the DATA_ACK (TCP: the ACK) "
            "of the receiver. The upper line, left out if it is far beyond the data, is the right edge of the receive "
            "window."
        ),
    ),
    "in_flight": (
        Phrase("In flight"),
        Sentence(
            "Octets sent and not yet acknowledged, from a capture at the sender. They exceed the congestion window by "
            "a few segments at most (limited transmit, tail loss probe), unless this window was reduced just before."
        ),
    ),
    "srtt": (
        Phrase("Round-trip time"),
        Sentence(
            "Smoothed round-trip time (RFC 6298), measured at the sender from each segment to its acknowledgement."
        ),
    ),
}
ZOOM = Sentence(
    "The mouse wheel zooms the figure, with Shift along the time axis only. Dragging moves the figure, and a double "
    "click shows all of the figure."
)
OMITTED = Sentence("Figures left out: {names}. {why}")
OMITTED_ACKS = Sentence("These figures need pure ACKs, which the capture lacks.")
OMITTED_PLACE = Sentence("These figures need a capture at the sender of the data.")
OMITTED_ACKS_AND_PLACE = Sentence(
    "These figures need a capture at the sender of the data, with pure ACKs. For each connection the capture has no "
    "pure ACKs or was not taken at the sender."
)
OMITTED_NO_DATA = Sentence("These figures need data that arrived, and the capture shows none.")
OVER_TIME = Phrase("Over time")
HOW_MADE = Phrase("How this report was made")

# Errors.

ONE_FORM = Phrase("--json, --csv and --format: give only one of them")
QLOG_TWICE = Phrase(
    "--qlog reads the captures twice, and standard input can be read only once; write it to a file first"
)
