"""A sweep as a table, one line a cell: aligned text and CSV."""

import csv as writers
import io
import math
from typing import TYPE_CHECKING, Any

from anabranch.measures import units
from anabranch.measures.table import MEASURES, scale
from anabranch.sentences import sweep as say
from anabranch.sweeps import repeats
from anabranch.sweeps.chance import nothing_random
from anabranch.sweeps.comparable import of_sweep
from anabranch.sweeps.paired import Intervals, note
from anabranch.sweeps.places import labels_frame
from anabranch.sweeps.task import FAILED, REFUSED
from anabranch.tables import Column, Document, Table, kept_rows, picked

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from anabranch.sweeps.data import SweepData
    from anabranch.sweeps.until import Precision

_MEASURES = (
    "goodput_mbps",
    "ooo_ratio",
    "ooo_buffer_max_packets",
    "retransmissions_fast",
    "retransmissions_timeout",
    "spurious",
)
_DROPPED = ("spurious", "ooo_buffer_max_packets", "retransmissions_timeout", "ooo_ratio", "retransmissions_fast")
"""The order in which columns are left out of a table that is too wide."""
_LOW, _HIGH = "_low", "_high"

_MOST = 48
"""Cells that are shown: who asked for them wants to see them, up to a page."""


def document(sweep: "SweepData") -> Document:
    """Means over the seeds, of the goodput with half the width of its 95 % interval, and what to bear in mind."""
    lines: list[str] = []
    precision = sweep.plan.precision
    if precision is not None:
        lines = ["", _reached(sweep, precision)]
    notes = of_sweep(sweep)
    lines += ["", *notes] if notes else []
    return Document([cells_table(sweep), *lines, *_why_identical(sweep), *errors(sweep.columns(*ENDS))])


def _why_identical(sweep: "SweepData") -> list[str]:
    """Why no cell has an interval, if nothing in the scenarios is random."""
    if sweep.plan.precision is not None or len(sweep.plan.seeds) < 2:
        return []
    means = sweep.counted(sweep.cubes(_MEASURES[0])[0])
    if not all(same or not n for same, n in zip(means.identical.tolist(), means.n.tolist(), strict=True)):
        return []
    return ["", say.SEEDS_ALIKE()] if nothing_random(cell.scenario for cell in sweep.plan.distinct) else []


def cells_table(sweep: "SweepData") -> Table:
    """One row per cell."""
    labels = labels_frame(sweep.plan)
    found = dict(zip(_MEASURES, _means(sweep), strict=True))
    columns = [Column((axis,), list(map(str, labels[axis])), left=True) for axis in sweep.axes]
    columns.append(Column(("runs",), runs(sweep, found["goodput_mbps"])))
    for name, means in found.items():
        drop = 1 + _DROPPED.index(name) if name in _DROPPED else 0
        columns += measured(MEASURES[name].heading, means, scale(name), drop=drop, beside=name not in _DROPPED)
    goodput = found["goodput_mbps"].mean.tolist()
    kept, more = kept_rows(goodput, "goodput_mbps", _MOST)
    if more:
        more = [*more, say.ALL_CELLS()]
    return Table(picked(columns, kept), notes=more)


def measured(
    head: tuple[str, ...], means: Intervals, factor: float = 1.0, *, drop: int = 0, beside: bool = False
) -> list[Column]:
    """The column of means, with the half-widths of their intervals in a column `beside` if any is known."""
    values, halves = (factor * means.mean).tolist(), (factor * (means.mean - means.low)).tolist()
    shown = units.column(values)
    paper = [units.plus_minus(value, half) for value, half in zip(values, halves, strict=True)]
    columns = [Column(head, shown, drop, paper=paper)]
    if beside and not all(map(math.isnan, halves)):
        columns.append(Column(("95 %", "+-"), units.halves(shown, halves), drop, only_text=True))
    return columns


def _reached(sweep: "SweepData", precision: "Precision") -> str:
    """How many seeds it took, and why no more."""
    means = list(sweep.intervals(precision.measure))
    certain = all(mean.identical or not mean.n for mean in means) and nothing_random(
        cell.scenario for cell in sweep.plan.distinct
    )
    return precision.said(len(sweep.plan.seeds), means, nothing_random=certain)


def compared(sweep: "SweepData", axis: str, baseline: str, measure: str = "goodput_mbps") -> Table:
    """Differences to `baseline` in pairs of runs with the same seed, and what a reader of many should know.

    Raises
    ------
    ValueError
        If there is no such axis or value.
    """
    named = {str(point.label): point.label for point in sweep.plan.axes.get(axis, ())}
    frame = sweep.compare(axis, baseline=named.get(baseline, baseline), measure=measure)
    columns = [Column((name,), list(map(str, frame[name])), left=True) for name in frame.columns[: len(sweep.axes)]]
    columns.append(Column(("pairs",), pairs(frame["n"].tolist(), frame["identical"].tolist())))
    columns += [Column((baseline,), _column(frame["baseline"]), 3), Column(("mean",), _column(frame["mean"]), 4)]
    columns += difference_columns(*(frame[name].tolist() for name in ("difference", "low", "p", "p_holm")))
    notes = list(filter(None, [note(frame["p"].to_numpy())]))
    return Table(columns, say.AGAINST(measure=measure, axis=axis, baseline=baseline), notes)


def difference_columns(difference: list[float], low: list[float], p: list[float], holm: list[float]) -> list[Column]:
    """Differences; with their intervals and what chance they have of being chance, if any is known."""
    halves = [mean - least for mean, least in zip(difference, low, strict=True)]
    shown = units.column(difference)
    paper = [units.plus_minus(mean, half) for mean, half in zip(difference, halves, strict=True)]
    mean_column = Column(("difference",), shown, paper=paper)
    if all(map(math.isnan, halves)):
        return [mean_column]
    return [
        mean_column,
        Column(("95 % +-",), units.halves(shown, halves), only_text=True),
        Column(("p",), list(map(probability, p)), 1),
        Column(("Holm's",), list(map(probability, holm)), 2),
    ]


def pairs(n: list[int], identical: list[int]) -> list[str]:
    """How many pairs there are, in cells."""
    return [
        say.PAIRS_IDENTICAL(pairs=one, identical=same) if same else str(one)
        for one, same in zip(n, identical, strict=True)
    ]


def probability(p: float) -> str:
    """`p` in a cell."""
    return units.significant(p, 2) if p >= 0.001 else "-" if math.isnan(p) else "< 0.001"


def csv(sweep: "SweepData") -> str:
    """Means, and 95 % intervals, of the same measures."""
    out = io.StringIO()
    writer = writers.writer(out, lineterminator="\n")
    writer.writerow([*sweep.axes, "runs", "identical", *(part for name in _MEASURES for part in _three(name))])
    found = _means(sweep)
    numbers = zip(*(x.tolist() for means in found for x in (means.mean, means.low, means.high)), strict=True)
    labels = labels_frame(sweep.plan).to_numpy(object).tolist()
    counts, _ = _counts(sweep, sweep.columns("status"))
    for label, done, same, row in zip(labels, counts, found[0].identical.tolist(), numbers, strict=True):
        runs = [1, same] if same else [done, 0]
        writer.writerow([*label, *runs, *("" if math.isnan(x) else f"{x:.10g}" for x in row)])
    return out.getvalue()


def _three(name: str) -> tuple[str, str, str]:
    return name, name + _LOW, name + _HIGH


def _means(sweep: "SweepData") -> list[Intervals]:
    return [sweep.counted(cube) for cube in sweep.cubes(*_MEASURES)]


def _column(means: "pd.Series[float]") -> list[str]:
    return units.column(means.tolist())


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


ENDS = ("status", "error", "bytes_delivered")
"""Columns that say how runs ended."""


def errors(found: "dict[str, NDArray[Any]]") -> list[str]:
    """Returns lines about the runs that were refused, failed, or did not complete; `found` has the columns `ENDS`."""
    status = found["status"]
    lines = []
    for what in (REFUSED, FAILED):
        errors = found["error"][status == what]
        if len(errors):
            first = str(errors[0]).splitlines()[0]
            lines += ["", say.ENDED(count=len(errors), status=what, error=first)]
    unfinished = sum(int((status == what).sum()) for what in ("stalled", "aborted", "duration"))
    if unfinished:
        lines += ["", say.UNFINISHED(count=unfinished, runs=len(status))]
    nothing = int(((status != "completed") & (found["bytes_delivered"] == 0)).sum())
    if nothing:
        lines += ["", say.NOTHING_ARRIVED(count=nothing, runs=len(status))]
    return lines
