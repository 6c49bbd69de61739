"""Sentences of the report of the study `receive-buffer`. The study fills in the values in braces."""

from anabranch.sentences import Phrase, Sentence

BOTH = Sentence(
    "With opportunistic retransmission and penalisation, Multipath TCP has at least {limit!n} % of the goodput of TCP "
    "over Wi-Fi at every size of the receive buffer. The minimum is {worst!n} %, at {size!n} kB."
)
BOTH_BELOW = Sentence(
    "With opportunistic retransmission and penalisation, Multipath TCP has less than {limit!n} % of the goodput of TCP "
    "over Wi-Fi with receive buffers of {sizes}. The minimum is {worst!n} %, at {size!n} kB."
)
NEITHER = Sentence(
    "With neither mechanism, Multipath TCP has at least {limit!n} % of the goodput of TCP over Wi-Fi at every size of "
    "the receive buffer."
)
NEITHER_BELOW = Sentence(
    "With neither mechanism, Multipath TCP has less than {limit!n} % of the goodput of TCP over Wi-Fi with receive "
    "buffers of {sizes}. The minimum is {worst!n} %, at {size!n} kB."
)
SIZE = Phrase("{size!n} kB")
AT = Sentence("With a receive buffer of {size!n} kB the goodput is: {goodputs}.")
FREES = Sentence(
    "{mechanism} alone raises the goodput of Multipath TCP: with neither mechanism, data on the slow path block the "
    "receive window, and the fast path must wait."
)
MECHANISM = Phrase("{label} {goodput!n} Mbit/s")
HARM = Sentence(
    "Opportunistic retransmission alone gives less goodput than neither mechanism with receive buffers of {sizes}. One "
    "segment after another on the slow path blocks the receive window and is sent again on the fast path. The "
    "congestion window of the slow path stays as large as before."
)
IDLE = Sentence(
    "With receive buffers of {sizes} all four variants (neither mechanism, one of them, both) have the same goodput. "
    "The window of the fast path uses up a small buffer before the scheduler turns to the slow path, and a large "
    "buffer is never full."
)

NOTES = (
    Sentence(
        "The links are those of the paper: 8 Mbit/s with a round trip of 20 ms and 80 ms of queue, and 2 Mbit/s with "
        "150 ms and 2 s. Scheduler min-rtt, controller coupled. The goodput is over 60 s (30 s in the quick form), "
        "including the first slow start."
    ),
    Sentence(
        "A segment is sent again on the fast subflow only in two cases: the other subflow has more than four times the "
        "RTT of the fast one, or a window of at most four segments. These conditions of opportunistic retransmission "
        "are those of the out-of-tree kernel (mptcp_rcv_buf_optimization). The paper has others."
    ),
)
