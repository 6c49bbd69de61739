"""A sweep as a table, one line a cell: aligned text and CSV."""

import csv as writers
import io
import math
from typing import TYPE_CHECKING, Any

from anabranch import units
from anabranch.alike import of_sweep
from anabranch.sweeps import repeats
from anabranch.sweeps.chance import nothing_random
from anabranch.sweeps.paired import Intervals, note
from anabranch.sweeps.places import labels_frame
from anabranch.sweeps.task import FAILED, REFUSED
from anabranch.tables import aligned, shortened

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from anabranch.sweeps.data import SweepData
    from anabranch.sweeps.until import Precision

_COLUMNS = (
    ("goodput_mbps", ("goodput", "Mbit/s"), 1.0),
    ("ooo_ratio", ("out of", "order, %"), 100.0),
    ("ooo_buffer_max_packets", ("packets", "held"), 1.0),
    ("retransmissions_fast", ("resent", "fast"), 1.0),
    ("retransmissions_timeout", ("resent", "by timeout"), 1.0),
    ("spurious", ("resent", "needlessly"), 1.0),
)

_MOST = 48
"""Cells that are shown: who asked for them wants to see them, up to a page."""


def text(sweep: "SweepData") -> str:
    """Means over the seeds, of the goodput with half the width of its 95 % interval."""
    labels = labels_frame(sweep.plan)
    columns = [["", axis, *map(str, labels[axis])] for axis in sweep.axes]
    status = sweep.columns("status", "error")
    found = _means(sweep)
    columns.append(["", "runs", *runs(sweep, found[0])])
    for (name, head, scale), means in zip(_COLUMNS, found, strict=True):
        columns.append([*head, *_column(scale * means.mean)])
        halves = means.mean - means.low
        if name == "goodput_mbps" and not all(map(math.isnan, halves)):
            columns.append(["95 %", "+-", *units.column(halves.tolist(), 2)])
    first, second, *rows = zip(*columns, strict=True)
    kept, more = shortened(rows, found[0].mean.tolist(), _COLUMNS[0][0], _MOST)
    lines = [*aligned([first, second, *kept], left=len(sweep.axes)), *more]
    if more:
        lines.append("all cells: `table.csv` in the folder that --out names, `sweep.means()` in Python")
    precision = sweep.plan.precision
    if precision is not None:
        lines += ["", _reached(sweep, precision)]
    notes = of_sweep(sweep)
    return "\n".join([*lines, *([""] if notes else []), *notes, *errors(status)])


def _reached(sweep: "SweepData", precision: "Precision") -> str:
    """How many seeds it took, and why no more."""
    means = list(sweep.intervals(precision.measure))
    certain = all(mean.identical or not mean.n for mean in means) and nothing_random(
        cell.scenario for cell in sweep.plan.distinct
    )
    return precision.said(len(sweep.plan.seeds), means, nothing_random=certain)


def compared(sweep: "SweepData", axis: str, baseline: str, measure: str = "goodput_mbps") -> str:
    """Differences to `baseline` in pairs of runs with the same seed, and what a reader of many should know.

    Raises
    ------
    ValueError
        If there is no such axis or value.
    """
    named = {str(point.label): point.label for point in sweep.plan.axes.get(axis, ())}
    frame = sweep.compare(axis, baseline=named.get(baseline, baseline), measure=measure)
    labels = [[name, *map(str, frame[name])] for name in frame.columns[: len(sweep.axes)]]
    halves = frame["difference"] - frame["low"]
    numbers = [
        ["pairs", *pairs(frame["n"].tolist(), frame["identical"].tolist())],
        [baseline, *_column(frame["baseline"].to_numpy())],
        ["mean", *_column(frame["mean"].to_numpy())],
        ["difference", *_column(frame["difference"].to_numpy())],
        ["95 % +-", *_column(halves.to_numpy(), 2)],
        ["p", *map(probability, frame["p"])],
        ["Holm's", *map(probability, frame["p_holm"])],
    ]
    lines = aligned(list(zip(*labels, *numbers, strict=True)), left=len(labels))
    return "\n".join([f"{measure}, {axis} against {baseline}", *lines, *filter(None, [note(frame["p"].to_numpy())])])


def pairs(n: list[int], identical: list[int]) -> list[str]:
    """How many pairs there are, in cells."""
    return [repeats.said(1, same) if same else str(one) for one, same in zip(n, identical, strict=True)]


def probability(p: float) -> str:
    """`p` in a cell."""
    return units.significant(p, 2) if p >= 0.001 else "-" if math.isnan(p) else "< 0.001"


def csv(sweep: "SweepData") -> str:
    """Means, and 95 % intervals, of the same measures."""
    out = io.StringIO()
    writer = writers.writer(out, lineterminator="\n")
    writer.writerow([*sweep.axes, "runs", "identical", *(part for name, _, _ in _COLUMNS for part in _three(name))])
    found = _means(sweep)
    numbers = zip(*(x.tolist() for means in found for x in (means.mean, means.low, means.high)), strict=True)
    labels = labels_frame(sweep.plan).to_numpy(object).tolist()
    counts, _ = _counts(sweep, sweep.columns("status"))
    for label, done, same, row in zip(labels, counts, found[0].identical.tolist(), numbers, strict=True):
        runs = [1, same] if same else [done, 0]
        writer.writerow([*label, *runs, *("" if math.isnan(x) else f"{x:.10g}" for x in row)])
    return out.getvalue()


def _three(name: str) -> tuple[str, str, str]:
    return name, f"{name}_low", f"{name}_high"


def _means(sweep: "SweepData") -> list[Intervals]:
    return [sweep.counted(cube) for cube in sweep.cubes(*(name for name, _, _ in _COLUMNS))]


def _column(means: "NDArray[np.float64]", digits: int = 3) -> list[str]:
    return units.column([None if math.isnan(mean) else mean for mean in means.tolist()], digits)


def runs(sweep: "SweepData", means: Intervals) -> list[str]:
    """Runs with a result in each cell of `sweep`, of which `means` are; all others, too, if there are any."""
    done, made = _counts(sweep, sweep.columns("status"))
    return [
        (repeats.said(1, same) if same else str(n)) + ("" if n == total else f" of {total}")
        for n, total, same in zip(done, made, means.identical.tolist(), strict=True)
    ]


def _counts(sweep: "SweepData", found: "dict[str, NDArray[Any]]") -> tuple[list[int], list[int]]:
    """Runs with a result, and runs, in each cell."""
    import numpy as np

    cells = len(sweep.plan.cells)
    good = (found["status"] != REFUSED) & (found["status"] != FAILED)
    done, made = (np.bincount(cell, minlength=cells).tolist() for cell in (found["cell"][good], found["cell"]))
    return done, made


def errors(found: "dict[str, NDArray[Any]]") -> list[str]:
    """What of the runs was refused or failed, or did not complete, in lines; `found` has ``status`` and ``error``."""
    status = found["status"]
    lines = []
    for what in (REFUSED, FAILED):
        errors = found["error"][status == what]
        if len(errors):
            first = str(errors[0]).splitlines()[0]
            lines += ["", f"{len(errors)} run{'' if len(errors) == 1 else 's'} {what}, the first with: {first}"]
    unfinished = sum(int((status == what).sum()) for what in ("stalled", "aborted", "duration"))
    if unfinished:
        lines += ["", f"{unfinished} of {len(status)} runs did not complete their transfer (column `status`)"]
    return lines
