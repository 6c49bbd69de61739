"""What the series of a capture say of a path: the fastest train of packets, and when nothing came through."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from anabranch.captures.data import Frames

_TRAIN = 10
"""Packets of a train whose rate counts."""
_LEAST = 0.02
"""Seconds of a train: series are in steps of milliseconds."""
_HEADERS = 60
"""Octets of IP and TCP headers with timestamps and a DSS option, about."""
_SILENCE = 1.0
"""Seconds of data in flight without progress that may be an outage."""
_LATE = 2 / 3
"""Of the pause between a probe that failed and one that came through; a twin's probes are not at the same instants."""


class HasSubflows(Protocol):
    """What has series of subflows: a capture, or a run."""

    def subflows(self) -> Mapping[str, Any]:
        """Columns over time."""


def train_rate(frames: "HasSubflows", connection: int, subflow: int, mss: int) -> float:
    """The rate at which the fastest train of packets was delivered, Mbit/s of IP packets; 0 if there was none."""
    import numpy as np

    t, delivered, _ = _mine(frames, connection, [subflow])
    steps = np.flatnonzero(np.diff(delivered) > 0) + 1
    t, delivered = t[steps], delivered[steps]
    first, best = 0, 0.0

    def is_long(a: int, b: int) -> bool:
        return bool(delivered[b] - delivered[a] >= _TRAIN * mss and t[b] - t[a] >= _LEAST)

    for last in range(1, len(t)):
        while first + 1 < last and is_long(first + 1, last):
            first += 1
        if is_long(first, last):
            best = max(best, (delivered[last] - delivered[first]) / (t[last] - t[first]))
    return float(best * 8e-6 * (1 + _HEADERS / mss))


def outages(
    frames: "HasSubflows", connection: int, subflows: Sequence[int], last: float
) -> list[tuple[float, float | None]]:
    """When data were in flight for a second or more and nothing was delivered: from, until (None: to the end)."""
    import numpy as np

    t, delivered, flight = _mine(frames, connection, subflows)
    if not len(t):
        return []
    moved = np.flatnonzero(np.diff(delivered) > 0) + 1
    begins = np.concatenate([t[:1], t[moved]])
    ends = np.append(begins[1:], max(last, begins[-1]))
    found: list[tuple[float, float | None]] = []
    for i in np.flatnonzero(ends - begins >= _SILENCE):
        inside = (t >= begins[i]) & (t < ends[i])
        if (flight[inside] > 0).any():
            found.append((float(begins[i]), None if i + 1 == len(begins) else float(ends[i])))
    return found


def up_again(frames: "Frames", connection: int, subflows: Sequence[int], begin: float, end: float) -> float:
    """When a path that was silent from `begin` to `end` worked again: between the last probe that failed and the next.

    A sender tries at longer and longer intervals, so the longest pause in what it sent ends with the probe that came
    through. From the receiver only that one is seen, and the one before it went out halfway.
    """
    import numpy as np

    columns = frames.sequence()
    mine = (np.asarray(columns["connection"]) == connection) & np.isin(np.asarray(columns["subflow"]), list(subflows))
    t = np.unique(np.asarray(columns["t"])[mine])
    sent = np.concatenate([t[t <= begin][-1:], t[(t > begin) & (t <= end)]])
    if len(sent) < 2:
        return end
    pauses = np.diff(sent)
    # The last of the longest: probes come at equal intervals once these are as long as they may be.
    i = int(np.flatnonzero(pauses >= 0.9 * pauses.max())[-1])
    return float(sent[i] + _LATE * pauses[i])


def last_moved(frames: "HasSubflows", connection: int, subflows: Sequence[int]) -> float:
    """When these subflows delivered anything for the last time, s; 0 if never."""
    import numpy as np

    t, delivered, _ = _mine(frames, connection, subflows)
    moved = np.flatnonzero(np.diff(delivered) > 0) + 1
    return float(t[moved[-1]]) if len(moved) else 0.0


def _mine(frames: "HasSubflows", connection: int, subflows: Sequence[int]) -> tuple[Any, Any, Any]:
    """Time, octets delivered and in flight of these subflows together."""
    import numpy as np

    columns = frames.subflows()
    of, flow = np.asarray(columns["connection"]), np.asarray(columns["subflow"])
    mine = (of == connection) & np.isin(flow, list(subflows))
    t, flow = np.asarray(columns["t"])[mine], flow[mine]
    delivered, flight = np.asarray(columns["delivered"])[mine], np.nan_to_num(np.asarray(columns["in_flight"])[mine])
    if len(subflows) > 1:
        # Steps of each, summed in the order of time.
        steps = np.zeros(len(t))
        for number in subflows:
            own = np.flatnonzero(flow == number)
            steps[own] = np.diff(delivered[own], prepend=0.0)
        order = np.argsort(t, kind="stable")
        t, delivered, flight = t[order], np.cumsum(steps[order]), flight[order]
    return t, delivered, flight
