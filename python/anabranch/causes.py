"""What a subflow may wait for: words, meanings, and how a capture shows it.

The engine has the same list, in the same order of precedence: ``lab/src/metrics/causes.rs``.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Cause:
    """One cause of waiting."""

    name: str
    meaning: str
    fact: bool
    ground: str
    remedy: str


CAUSES: Mapping[str, Cause] = {
    "not_up": Cause(
        "path not up",
        "the subflow was not established, or it was closed",
        True,
        "its handshake, its FIN or its RST",
        "join earlier, keep connections open longer, or see why the subflow ended",
    ),
    "failed": Cause(
        "path failed",
        "its retransmission timer expired again and again",
        False,
        "the same segment is sent a third time without an acknowledgement",
        "the path itself is at fault; less data is stuck on it with a backup or a shorter timeout",
    ),
    "recovery": Cause(
        "loss recovery",
        "it repaired losses",
        True,
        "from the first retransmission until all sent before it is acknowledged",
        "fewer losses: see whether they are random or those of a full queue",
    ),
    "receive_window": Cause(
        "receive window",
        "the receiver's window was used up: a late reader, or a small receive buffer",
        True,
        "the window advertised takes no full segment more",
        "a larger receive buffer, or an application that reads faster",
    ),
    "head_of_line": Cause(
        "head of line",
        "the receiver's window was used up while it held data behind a gap",
        True,
        "the window takes no full segment more, and data beyond the DATA_ACK are acknowledged on their subflows",
        "a larger receive buffer, a scheduler that keeps blocking data off the slow path, or that path left out",
    ),
    "reinjection": Cause(
        "copies",
        "its congestion window was full of copies of what another subflow had sent",
        False,
        "half of what is in flight was sent before on another subflow; see congestion window for the rest",
        "a scheduler without duplicates",
    ),
    "cwnd": Cause(
        "congestion window",
        "its congestion window was full: the network, or what the controller takes it for",
        False,
        "as much in flight as ever since the last loss, and acknowledgements are answered at once",
        "another congestion controller or fewer random losses, unless the path was simply full",
    ),
    "scheduler": Cause(
        "scheduler",
        "its window had room, but other subflows were to send what there was",
        False,
        "less in flight than before, while another subflow's congestion window is full",
        "another scheduler, or a path that is no backup",
    ),
    "send_buffer": Cause(
        "send buffer",
        "all that was written was out and not acknowledged",
        False,
        "the data without DATA_ACK keep to one ceiling for many round trips",
        "a larger send buffer",
    ),
    "application": Cause(
        "application",
        "there was nothing to send",
        False,
        "acknowledgements are not answered, and no window is full",
        "the sending application is the limit, not the network",
    ),
}
"""By name, in order of precedence: at every instant the first that applies."""

SENDERS_OWN = ("failed", "reinjection", "cwnd", "scheduler", "send_buffer", "application")
"""What no packet says, only the sender's timing: its receiver knows the sum of these and guesses the parts."""

SENDERS_OPEN = ("cwnd", "send_buffer", "application")
"""What may look alike at the sender: pacing, a full send buffer, and an application that writes steadily."""
