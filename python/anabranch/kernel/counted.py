"""What Linux counts and a summary does not, from the trace of a run: expiries of timers, drops in one direction."""

from collections.abc import Iterable
from typing import NamedTuple


class Counted(NamedTuple):
    """Counts of one host, by subflow where there is a dict.

    Attributes
    ----------
    timeouts : int
        How often the retransmission timer of a subflow expired, back-offs and SYNs included: Linux' ``TCPTimeouts``.
    queue_drops : dict of int
        By subflow, packets of the host that a full queue dropped.
    """

    timeouts: int
    queue_drops: dict[int, int]


def counted(trace: Iterable[str], host: str) -> Counted:
    """Count what became of `host`, ``"client"`` or ``"server"``, in the lines of a trace.

    A timer is what makes a host send again without an arrival at the same instant. What else it sends at that instant
    on the same subflow belongs to the same expiry.
    """
    drops: dict[int, int] = {}
    expiries: set[tuple[str, int]] = set()
    begun: set[int] = set()
    heard = ""
    for line in trace:
        words = line.split(maxsplit=11)
        if len(words) < 11 or words[3] != host or words[4] == "-":
            continue
        time, event, subflow = words[0], words[1], int(words[4])
        if event == "arrive":
            heard = time
        elif event == "drop" and line.rstrip().endswith("dropped: Queue"):
            drops[subflow] = drops.get(subflow, 0) + 1
        elif event == "send" and heard != time:
            again = "S" in words[5] and subflow in begun
            if words[10] == "Timeout" or again:
                expiries.add((time, subflow))
        if event == "send" and "S" in words[5]:
            begun.add(subflow)
    return Counted(len(expiries), drops)
