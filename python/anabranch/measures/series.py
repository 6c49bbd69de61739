"""Series derived from the frame over time."""

import math
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

_BINS = 160


def by_subflow(frame: "pd.DataFrame") -> "Iterator[tuple[int, int, pd.DataFrame]]":
    """Connection, subflow and rows of each subflow, in order."""
    for key, rows in frame.groupby(["connection", "subflow"], sort=True):
        connection, subflow = cast("tuple[int, int]", key)
        yield int(connection), int(subflow), rows


def end_of(frame: "pd.DataFrame") -> float:
    """The last time of `frame`, in s; NaN if it has none."""
    return float(frame["t"].max()) if len(frame) else math.nan


def unmeasured(rows: "pd.DataFrame") -> "NDArray[np.bool_]":
    """Of the rows of one subflow, those whose ``srtt`` is only remembered.

    That is where no round trip was measured for longer than the estimate itself: in recovery, when only retransmissions
    are acknowledged, during an outage, or because there was nothing to send.

    >>> import pandas as pd
    >>> rows = pd.DataFrame({"t": [0, 0.1, 0.2, 0.3, 0.4], "srtt": 0.1, "rtt_samples": [1, 2, 2, 2, 3]})
    >>> unmeasured(rows).tolist()
    [False, False, True, True, False]
    """
    import numpy as np

    if "rtt_samples" not in rows or len(rows) < 2:  # results of old versions do not have it
        return np.zeros(len(rows), bool)
    t, count = rows["t"].to_numpy(float), rows["rtt_samples"].to_numpy(float)
    new = np.diff(count, prepend=0) > 0
    at = np.arange(len(rows))
    last = np.maximum.accumulate(np.where(new, at, 0))
    following = np.minimum.accumulate(np.where(new, at, len(rows) - 1)[::-1])[::-1]
    step = float(np.diff(t).max(initial=0.0)) if len(t) < 3 else float(np.median(np.diff(t)))
    # A sample may have come at any time since the row before.
    found: NDArray[np.bool_] = ~new & (t[following] - t[last] > rows["srtt"].to_numpy(float)[last] + 1.5 * step)
    return found


def interval_of(frame: "pd.DataFrame") -> float:
    """A round interval (1, 2 or 5 times a power of ten, in s): at most 160 of them cover the frame."""
    end = end_of(frame)
    if not end > 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(end / _BINS))
    return next(step * power for step in (1, 2, 5, 10) if step * power * _BINS >= end * (1 - 1e-12))


def throughput(frame: "pd.DataFrame", interval: float | None = None) -> "pd.DataFrame":
    """Rate at which data arrived for the first time, per interval.

    Parameters
    ----------
    frame : pandas.DataFrame
        ``run.subflows``.
    interval : float, optional
        Length of an interval in s; chosen after the frame's length if not given.

    Returns
    -------
    pandas.DataFrame
        ``t`` (middle of the interval, s), ``connection``, ``subflow``, ``throughput`` (bit/s). The last interval ends
        with the frame and may be shorter.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"t": [0.0, 1.0, 2.0], "connection": 0, "subflow": 0, "delivered": [0, 125_000, 125_000]})
    >>> throughput(frame, interval=1.0)[["t", "throughput"]]
         t  throughput
    0  0.5   1000000.0
    1  1.5         0.0
    """
    import numpy as np
    import pandas as pd

    step = interval_of(frame) if interval is None else interval
    if step <= 0:
        raise ValueError(f"interval must be above 0 s, not {step}")
    end = end_of(frame) if len(frame) else 0.0
    edges = np.arange(0.0, end, step)
    edges = np.append(edges[edges < end - step * 1e-6], end)
    parts = []
    for connection, subflow, rows in by_subflow(frame):
        delivered = np.interp(edges, rows["t"].to_numpy(), rows["delivered"].to_numpy(), left=0.0)
        parts.append(
            pd.DataFrame(
                {
                    "t": (edges[1:] + edges[:-1]) / 2,
                    "connection": connection,
                    "subflow": subflow,
                    "throughput": 8 * np.diff(delivered) / np.diff(edges),
                }
            )
        )
    if not parts:
        return pd.DataFrame({name: [] for name in ("t", "connection", "subflow", "throughput")})
    return pd.concat(parts, ignore_index=True)
