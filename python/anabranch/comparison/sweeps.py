"""Two sweeps beside each other, cell by cell, in pairs of runs with the same seed.

Cells are the same if they are called the same: the values of all axes. A seed makes the same accidents in both, so the
difference of a pair is known better than either mean.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anabranch.comparison.errors import MeasureError
from anabranch.comparison.runs import changes
from anabranch.measures import units
from anabranch.results.directory import ResultError
from anabranch.sentences import sweep as say
from anabranch.sweeps import repeats
from anabranch.sweeps.comparable import CHOICE, why
from anabranch.sweeps.data import SweepData
from anabranch.sweeps.paired import Intervals, by_student, differences, holm, note
from anabranch.sweeps.table import difference_columns, pairs
from anabranch.tables import Column, Document, Table, headings, kept_rows, picked

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

_MEASURE = "goodput_mbps"


@dataclass(frozen=True)
class Compared:
    """Two sweeps, cell by cell.

    Attributes
    ----------
    measure : str
        What is compared.
    axes : list of str
        Names of the axes.
    cells : list of tuple
        Values of the axes: the cells that both have.
    means : list of arrays
        Means of the pairs in each cell, of the first sweep and of the second.
    found : Intervals
        Of the paired differences, second - first.
    notes : list of str
        Whether traces are the same, which cells only one has, what differs between the scenarios.
    """

    measure: str
    axes: list[str]
    cells: list[tuple[str, ...]]
    means: "list[NDArray[np.float64]]"
    found: Intervals
    notes: list[str]


def compared(ours: SweepData, theirs: SweepData, names: tuple[str, str], measure: str | None) -> Compared:
    """Compare the cells of the same name, in pairs of runs with the same seed."""
    first, second = names
    sweeps = [ours, theirs]
    if set(ours.axes) != set(theirs.axes):
        axes = [", ".join(sweep.axes) or say.NO_AXES for sweep in sweeps]
        raise ResultError(say.OTHER_AXES(first=first, second=second, ours=axes[0], theirs=axes[1]))
    places = [_places(sweep, ours.axes) for sweep in sweeps]
    cells = [cell for cell in places[0] if cell in places[1]]
    seeds = [seed for seed in ours.plan.seeds if seed in theirs.plan.seeds]
    if not cells or not seeds:
        raise ResultError((say.NO_SEED if cells else say.NO_CELL)(first=first, second=second))
    measure = measure or _MEASURE
    values = [_values(sweep, measure, place, cells, seeds) for sweep, place in zip(sweeps, places, strict=True)]
    codes = [_cut(sweep.codes, sweep, place, cells, seeds) for sweep, place in zip(sweeps, places, strict=True)]
    notes = [*_same(sweeps, places, cells, seeds), *_only(places, cells, names), *_scenarios(ours, theirs, names)]
    return _paired(measure, ours.axes, cells, values, codes, notes)


def document(found: Compared, names: tuple[str, str]) -> Document:
    """A line a cell: means, difference with its interval, probability; then what differs between the scenarios."""
    title = say.SWEEPS(measure=found.measure, first=names[0], second=names[1])
    return Document([title, _table(found, names), "", *found.notes])


def frame(found: Compared) -> "pd.DataFrame":
    """Return a row for each cell; docs/columns.md defines the columns."""
    import pandas as pd

    columns: dict[str, Any] = {axis: [cell[i] for cell in found.cells] for i, axis in enumerate(found.axes)}
    columns |= {"n": found.found.n, "first": found.means[0], "second": found.means[1]}
    columns |= {"difference": found.found.mean, "low": found.found.low, "high": found.found.high, "p": found.found.p}
    return pd.DataFrame(columns | {"p_holm": holm(found.found.p), "identical": found.found.identical})


def _places(sweep: SweepData, axes: list[str]) -> dict[tuple[str, ...], int]:
    """The number of each cell, by its name."""
    return {tuple(str(cell.labels[axis]) for axis in axes): i for i, cell in enumerate(sweep.plan.cells)}


def _values(
    sweep: SweepData, measure: str, places: dict[tuple[str, ...], int], cells: list[tuple[str, ...]], seeds: list[int]
) -> "NDArray[np.float64]":
    """`measure` of each cell, a row, and seed."""
    try:
        cube = sweep.cube(measure)
    except ValueError as error:
        raise MeasureError(str(error)) from None
    return _cut(cube, sweep, places, cells, seeds)


def _cut(
    cube: "NDArray[Any]",
    sweep: SweepData,
    places: dict[tuple[str, ...], int],
    cells: list[tuple[str, ...]],
    seeds: list[int],
) -> "NDArray[Any]":
    """The rows of `cells` and the columns of `seeds`."""
    import numpy as np

    at = {seed: i for i, seed in enumerate(sweep.plan.seeds)}
    return cube[np.ix_([places[cell] for cell in cells], [at[seed] for seed in seeds])]


def _paired(
    measure: str,
    axes: list[str],
    cells: list[tuple[str, ...]],
    values: "Sequence[NDArray[np.float64]]",
    codes: "Sequence[NDArray[np.uint64]]",
    notes: list[str],
) -> Compared:
    import numpy as np

    before, after = values
    paired = ~np.isnan(before) & ~np.isnan(after)
    same = np.logical_and(*(repeats.rows(side, paired) for side in codes))
    found = differences(before, after, same)
    means = [by_student(np.where(paired, side, np.nan)).mean for side in values]
    return Compared(measure, axes, cells, means, found, notes)


def _table(compared: Compared, names: tuple[str, str]) -> Table:
    axes, cells, means, found = compared.axes, compared.cells, compared.means, compared.found
    columns = [Column((axis,), [cell[i] for cell in cells], left=True) for i, axis in enumerate(axes)]
    columns.append(Column(("pairs",), pairs(found.n.tolist(), found.identical.tolist())))
    drops = (3, 4)
    columns += [
        Column((name,), units.column(mean.tolist()), drop)
        for name, mean, drop in zip(headings(names), means, drops, strict=True)
    ]
    columns += difference_columns(found.mean.tolist(), found.low.tolist(), found.p.tolist(), holm(found.p).tolist())
    kept, more = kept_rows(found.mean.tolist(), "difference")
    notes = [*more, *filter(None, ["", note(found.p)])]
    return Table(picked(columns, kept), notes=notes if any(notes) else [])


def _same(
    sweeps: list[SweepData], places: list[dict[tuple[str, ...], int]], cells: list[tuple[str, ...]], seeds: list[int]
) -> list[str]:
    """Whether the traces are the same."""
    traces: list[dict[tuple[int, int], Any]] = []
    for sweep in sweeps:
        found = sweep.columns("trace_sha256")
        numbers = [sweep.plan.seeds[i] for i in found["seed"].tolist()]
        traces.append(dict(zip(zip(found["cell"].tolist(), numbers, strict=True), found["trace_sha256"], strict=True)))
    pairs = [
        (traces[0].get((places[0][cell], seed)), traces[1].get((places[1][cell], seed)))
        for cell in cells
        for seed in seeds
    ]
    pairs = [(a, b) for a, b in pairs if isinstance(a, str) and isinstance(b, str) and a and b]
    same = sum(a == b for a, b in pairs)
    if pairs and same == len(pairs):
        reason = why("runs", sweeps[0].columns(CHOICE)[CHOICE].tolist())
        return [" ".join(filter(None, [say.SAME_TRACES(), reason]))]
    return [say.SOME_SAME_TRACES(count=same, pairs=len(pairs))] if same else []


def _only(places: list[dict[tuple[str, ...], int]], cells: list[tuple[str, ...]], names: tuple[str, str]) -> list[str]:
    lines = []
    for name, place in zip(names, places, strict=True):
        alone = len(place) - len(cells)
        if alone:
            lines.append(say.ONLY_IN(count=alone, name=name))
    return lines


def _scenarios(first: SweepData, second: SweepData, names: tuple[str, str]) -> list[str]:
    lines = []
    if first.provenance.engine != second.provenance.engine:
        lines.append(say.ENGINES_DIFFER(first=str(first.provenance.engine), second=str(second.provenance.engine)))
    if first.provenance.scenario_sha256 == second.provenance.scenario_sha256:
        return lines
    a, b = str(first.plan.scenario), str(second.plan.scenario)
    return [*lines, say.SCENARIOS_DIFFER(), *changes(a, b, names)]
