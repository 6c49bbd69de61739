"""A sweep as a table, one line a cell: aligned text and CSV."""

import csv as writers
import io
import math
from typing import TYPE_CHECKING, Any

from anabranch import units
from anabranch.sweeps.execute import FAILED, REFUSED
from anabranch.sweeps.paired import interval
from anabranch.tables import aligned

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from anabranch.sweeps.results import Sweep

_COLUMNS = (
    ("goodput_mbps", ("goodput", "Mbit/s"), 1.0),
    ("ooo_ratio", ("out of", "order, %"), 100.0),
    ("ooo_buffer_max_packets", ("max.", "buffer"), 1.0),
    ("retransmissions_fast", ("resent", "fast"), 1.0),
    ("retransmissions_timeout", ("resent", "timeout"), 1.0),
    ("spurious", ("of these", "spurious"), 1.0),
)


def text(sweep: "Sweep") -> str:
    """Means over the seeds, of the goodput with half the width of its 95 % interval."""
    cells = list(_cells(sweep))
    columns = [["", axis, *(str(labels[axis]) for labels, _ in cells)] for axis in sweep.axes]
    columns.append(["", "runs", *(_runs(rows) for _, rows in cells)])
    for name, head, scale in _COLUMNS:
        means = [interval(_values(rows, name, scale)) for _, rows in cells]
        columns.append([*head, *units.column([None if math.isnan(mean.mean) else mean.mean for mean in means])])
        if name == "goodput_mbps" and any(not math.isnan(mean.low) for mean in means):
            halves: list[float | None] = [math.nan if math.isnan(mean.low) else mean.mean - mean.low for mean in means]
            columns.append(["95 %", "+-", *units.column(halves, 2)])
    lines = aligned(list(zip(*columns, strict=True)), left=len(sweep.axes))
    lines += _errors(sweep)
    return "\n".join(lines)


def csv(sweep: "Sweep") -> str:
    """Means, and 95 % intervals, of the same measures."""
    out = io.StringIO()
    writer = writers.writer(out, lineterminator="\n")
    head = [part for name, _, _ in _COLUMNS for part in (name, f"{name}_low", f"{name}_high")]
    writer.writerow([*sweep.axes, "runs", *head])
    for labels, rows in _cells(sweep):
        means = [interval(_values(rows, name)) for name, _, _ in _COLUMNS]
        numbers = [number for mean in means for number in (mean.mean, mean.low, mean.high)]
        writer.writerow([*labels.values(), _completed(rows), *("" if math.isnan(x) else f"{x:.10g}" for x in numbers)])
    return out.getvalue()


def _cells(sweep: "Sweep") -> "Iterator[tuple[dict[str, Any], pd.DataFrame]]":
    runs, axes = sweep.runs, sweep.axes
    if not axes:
        yield {}, runs
        return
    for key, rows in runs.groupby(axes, sort=False):
        yield dict(zip(axes, key if isinstance(key, tuple) else (key,), strict=True)), rows


def _values(rows: "pd.DataFrame", name: str, scale: float = 1.0) -> list[float]:
    return [scale * float(value) for value in rows[name].dropna()] if name in rows.columns else []


def _completed(rows: "pd.DataFrame") -> int:
    return int((~rows["status"].isin([REFUSED, FAILED])).sum())


def _runs(rows: "pd.DataFrame") -> str:
    done = _completed(rows)
    return str(done) if done == len(rows) else f"{done} of {len(rows)}"


def _errors(sweep: "Sweep") -> list[str]:
    runs = sweep.runs
    lines = []
    for status in (REFUSED, FAILED):
        rows = runs[runs["status"] == status]
        if len(rows):
            first = str(rows["error"].iloc[0]).splitlines()[0]
            lines += ["", f"{len(rows)} run{'' if len(rows) == 1 else 's'} {status}, the first with: {first}"]
    unfinished = runs[runs["status"].isin(["stalled", "duration"])]
    if len(unfinished):
        lines += ["", f"{len(unfinished)} of {len(runs)} runs did not complete their transfer (column `status`)"]
    return lines
