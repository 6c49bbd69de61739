"""Means over the runs of a cell in time, from the series that a sweep kept."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from anabranch.measures.series import unmeasured
from anabranch.measures.table import factor
from anabranch.sentences.nearest import hint
from anabranch.sweeps.paired import by_student

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

SCALES = {
    name: factor(name)
    for name in ("cwnd", "ssthresh", "srtt", "rto", "in_flight", "delivered", "ooo_buffer", "ooo_buffer_bytes")
}
"""From the columns of a series to the units of figures."""
_APART = frozenset(("srtt", "rto", "ssthresh"))
"""Columns of which a sum over subflows means nothing."""
_TIMES = 60
"""Intervals of a throughput."""


def means(series: "pd.DataFrame", by: Sequence[str], measure: str = "throughput") -> "pd.DataFrame":
    """Mean and 95 % interval over runs, at times from the beginning to the end of the shortest run of a group.

    Parameters
    ----------
    series : pandas.DataFrame
        ``sweep.series``.
    by : sequence of str
        Axes; ``"subflow"`` and ``"connection"`` may be among them.
    measure : str
        ``"throughput"`` or a column over time. Octets and packets are summed over the subflows of a run unless `by`
        tells them apart. A round-trip time has no sum: `by` must name ``"subflow"`` if a connection has several
        subflows, and ``"connection"`` if a run has several connections.

    Returns
    -------
    pandas.DataFrame
        `by`, ``t`` (s), ``n``, ``mean``, ``low``, ``high``.

    Raises
    ------
    ValueError
        If there is no such measure, or none that can be summed up.
    """
    import pandas as pd

    known = ["throughput", *SCALES]
    if measure not in known:
        raise ValueError(f"no measure {measure!r} over time; measures: {', '.join(known)}{hint(measure, known)}")
    if measure in _APART and not _tells_apart(series, by):
        raise ValueError(f"{measure} has no sum over subflows or connections: give by=[..., 'connection', 'subflow']")
    parts = []
    for key, rows in series.groupby(list(by), sort=False) if by else [((), series)]:
        names: dict[str, Any] = dict(zip(by, cast("tuple[Any, ...]", key), strict=True))
        table = _group(rows, [name for name in series.columns if name not in _COLUMNS and name not in by], measure)
        parts.append(table.assign(**names)[[*by, *table.columns]])
    return (
        pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=[*by, "t", "n", "mean", "low", "high"])
    )


def _tells_apart(series: "pd.DataFrame", by: Sequence[str]) -> bool:
    """Whether `by` tells the subflows of all connections apart."""
    flows = series[["connection", "subflow"]].drop_duplicates()
    named = [name for name in flows.columns if name in by]
    return len(flows[named].drop_duplicates()) == len(flows) if named else len(flows) <= 1


_COLUMNS = frozenset(("t", "connection", "subflow", "throughput", "rtt_samples", *SCALES))


def _group(rows: "pd.DataFrame", run: Sequence[str], measure: str) -> "pd.DataFrame":
    """One group of rows; `run` are the columns that tell its runs apart."""
    import numpy as np
    import pandas as pd

    runs = [part for _, part in rows.groupby(list(run), sort=False)]
    end = min((float(part["t"].max()) for part in runs), default=0.0)
    count = _TIMES + 1 if measure == "throughput" else max(2, *(part["t"].nunique() for part in runs))
    t = np.linspace(0.0, end, count)
    values = np.array(
        [sum(_at(t, flow, measure) for _, flow in part.groupby(["connection", "subflow"])) for part in runs]
    )
    if measure == "throughput":
        values = 8e-6 * np.diff(values, axis=1) / np.diff(t) if end > 0 else values[:, 1:]
        t = (t[1:] + t[:-1]) / 2
    same = len(runs) > 1 and all(_measured(part).equals(_measured(runs[0])) for part in runs[1:])
    found = by_student(values.T).once(np.full(len(t), same))
    return pd.DataFrame({"t": t, "n": found.n, "mean": found.mean, "low": found.low, "high": found.high})


def _measured(run: "pd.DataFrame") -> "pd.DataFrame":
    """The series of a run without the columns that tell it from others."""
    return run[[name for name in run.columns if name in _COLUMNS]].reset_index(drop=True)


def _at(t: "NDArray[np.float64]", flow: "pd.DataFrame", measure: str) -> "NDArray[np.float64]":
    """A column of one subflow at the times `t`; what counts up is 0 before it opens, and stays after its end."""
    import numpy as np

    column = "delivered" if measure == "throughput" else measure
    values = flow[column].to_numpy(float)
    if measure == "srtt":
        values = np.where(unmeasured(flow), math.nan, values)
    outside = math.nan if measure in _APART else 0.0
    after = values[-1] if column == "delivered" else outside
    found: NDArray[np.float64] = np.interp(t, flow["t"].to_numpy(float), values, left=outside, right=after)
    return found if measure == "throughput" else found * SCALES[measure]
