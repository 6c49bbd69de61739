"""A sweep's runs: tidy frames, distributions, means and paired comparisons.

Stored runs are read when they are asked for, and of their columns only the ones that are needed. What `means`,
`compare` and the table work on is one number a run, cells by seeds (`cubes`), so that they answer within seconds for a
million runs.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anabranch.sweeps import dataset
from anabranch.sweeps.paired import METHODS, Interval, holm
from anabranch.sweeps.plan import Plan
from anabranch.sweeps.task import Record

if TYPE_CHECKING:
    import os

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from anabranch.sweeps.store import Provenance


@dataclass(frozen=True)
class Rows:
    """Runs in memory."""

    records: tuple[Record, ...]

    def runs(self, columns: Sequence[str] | None = None) -> "pd.DataFrame":
        """One row per run, with those of `columns` that exist; all but the texts if not given."""
        frame = self._runs
        return frame[dataset.chosen(frame.columns, columns)]

    @cached_property
    def _runs(self) -> "pd.DataFrame":
        return dataset.runs_frame(self.records)

    def flows(self) -> "pd.DataFrame":
        """One row per run and subflow."""
        return dataset.flows_frame(self.records)


@dataclass(frozen=True)
class Folder:
    """Runs on disk."""

    folder: Path

    def runs(self, columns: Sequence[str] | None = None) -> "pd.DataFrame":
        """One row per run, with those of `columns` that exist; all but the texts if not given."""
        return dataset.read_runs(self.folder, columns)

    def flows(self) -> "pd.DataFrame":
        """One row per run and subflow."""
        return dataset.read_flows(self.folder)


@dataclass
class Memory:
    """The runs of a sweep that is being run and kept nowhere else.

    Attributes
    ----------
    plan : Plan
        What is to be made.
    statuses : dict
        Status of every run that is there, by hash of the scenario and seed.
    """

    plan: Plan
    statuses: dict[tuple[str, int], str] = field(default_factory=dict)
    _records: dict[tuple[str, int], Record] = field(default_factory=dict)

    def append(self, records: Iterable[Record]) -> None:
        """Keep finished runs. Any thread may do so: each of the two steps is one for Python, too."""
        for record in records:
            self._records[record.scenario_sha256, record.seed] = record
            self.statuses[record.scenario_sha256, record.seed] = record.status

    def sync(self) -> None:
        """Nothing is written."""

    def replan(self, plan: Plan) -> None:
        """From now on `plan` is what is to be made."""
        self.plan = plan

    def sweep(self) -> "Sweep":
        """The runs as frames."""
        from anabranch.sweeps.store import Provenance

        return Sweep(
            self.plan,
            Rows(tuple(self._records.values())),
            Provenance.here(scenario=self.plan.scenario, options=self.plan.options),
        )

    finish = sweep

    def close(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True, eq=False, repr=False)
class Sweep:
    """The runs of a plan.

    Attributes
    ----------
    plan : Plan
        Axes, cells and seeds.
    source : Rows or Folder
        Where the runs are.
    provenance : Provenance
        Version, commit, machine, command, time.

    Examples
    --------
    >>> import anabranch as ab
    >>> base = ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="700 kB")
    >>> done = ab.sweep(base, {"mss": [700, 1400]}, seeds=3)
    >>> done.compare("mss", baseline=700, measure="bytes_delivered")[["mss", "n", "baseline", "difference"]]
        mss  n  baseline  difference
    0  1400  3  700000.0         0.0
    """

    plan: Plan
    source: Rows | Folder
    provenance: "Provenance"

    @classmethod
    def load(cls, directory: "str | os.PathLike[str]") -> "Sweep":
        """Open a sweep that ``anabranch sweep --out`` or `sweep(out=...)` wrote, finished or not.

        Raises
        ------
        ResultError
            If `directory` is not a sweep.
        """
        from anabranch.sweeps.store import read_marker, read_provenance

        folder = Path(directory)
        made = read_provenance(folder)
        return cls(read_marker(folder), Folder(folder), made)

    @property
    def axes(self) -> list[str]:
        """Names of the axes, which are columns of the frames."""
        return list(self.plan.axes)

    def __len__(self) -> int:
        """How many runs there are."""
        return len(self.columns()["cell"])

    @cached_property
    def runs(self) -> "pd.DataFrame":
        """One row per run: axes, ``seed``, ``status``, ``error``, then the numbers of its summary.

        Subflows' counts are summed up, objects of the summary are spread out (``limited_cwnd``, ``hol_delay_p95_ms``,
        ``episodes_spurious_judged_genuine``). A run that was refused or failed has its error and NaN.
        """
        frame = self.source.runs()
        places = _Places(self.plan, frame)
        last = ["key", "scenario_sha256", "engine", "machine"]
        rows = frame.drop(columns="seed").take(places.row)
        return _named(self.plan, places, rows[[*(name for name in rows.columns if name not in last), *last]])

    @cached_property
    def subflows(self) -> "pd.DataFrame":
        """One row per run and subflow: axes, ``seed``, ``connection``, ``subflow``, then the subflow's numbers."""
        frame = self.source.flows()
        places = _Places(self.plan, frame, ("connection", "subflow"))
        return _named(self.plan, places, frame.drop(columns=list(dataset.IDENTITY)).take(places.row))

    @cached_property
    def series(self) -> "pd.DataFrame":
        """The series over time of all runs that have one: axes, ``seed``, then the columns of a run's own frame."""
        import pandas as pd

        parts, cells, seeds = [], [], []
        for cell, seed, text in self._texts("series"):
            columns = json.loads(text)
            parts.append(pd.DataFrame({name: _floats(values) for name, values in columns.items()}))
            cells += [cell] * len(parts[-1])
            seeds += [seed] * len(parts[-1])
        frame = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame({"t": []})
        whole = {name: "int32" for name in ("connection", "subflow") if name in frame.columns}
        return _labelled(self.plan, cells, seeds, frame.astype(whole))

    def distribution(self, field: str = "rbd") -> "pd.DataFrame":
        """A distribution of the summary, long: axes, ``seed``, ``value``, ``share``.

        Parameters
        ----------
        field : str
            ``"rbd"`` (value: packets in the buffer) or ``"reorder_density"`` (value: displacement).
        """
        import pandas as pd

        cells, seeds, pairs = [], [], []
        for cell, seed, text in self._texts("summary"):
            entries = json.loads(text).get(field) or []
            pairs += [entry if isinstance(entry, list) else [i, entry] for i, entry in enumerate(entries)]
            cells += [cell] * len(entries)
            seeds += [seed] * len(entries)
        return _labelled(self.plan, cells, seeds, pd.DataFrame(pairs, columns=["value", "share"]))

    def _texts(self, name: str) -> "Iterator[tuple[int, int, str]]":
        """Cell, seed, and the column `name` of each run that has it."""
        found = self.columns(name)
        for cell, seed, text in zip(found["cell"].tolist(), found["seed"].tolist(), found[name], strict=True):
            if isinstance(text, str) and text:
                yield cell, self.plan.seeds[seed], text

    def columns(self, *names: str) -> "dict[str, NDArray[Any]]":
        """Columns of `runs` without reading the others, and as ``cell`` and ``seed`` the numbers of these.

        A column that no run has is all NaN.
        """
        import numpy as np

        frame = self.source.runs([*dataset.IDENTITY, *names])
        places = _Places(self.plan, frame)
        found = {"cell": places.cell, "seed": places.seed}
        for name in names:
            if name in frame.columns:
                values = frame[name].astype(object) if frame[name].dtype == "category" else frame[name]
                found[name] = values.to_numpy()[places.row]
            else:
                found[name] = np.full(len(places.row), np.nan)
        return found

    def cubes(self, *measures: str) -> "list[NDArray[np.float64]]":
        """Each of `measures` of every run, a row for each cell and a column for each seed; NaN where there is none."""
        import numpy as np

        found = self.columns(*measures)
        cubes = []
        for measure in measures:
            if found[measure].dtype.kind not in "biuf":
                self._unknown(measure)
            cubes.append(np.full((len(self.plan.cells), len(self.plan.seeds)), np.nan))
            cubes[-1][found["cell"], found["seed"]] = found[measure]
        return cubes

    def _unknown(self, measure: str) -> None:
        import pandas as pd

        numbers = [str(name) for name in self.runs.columns if pd.api.types.is_numeric_dtype(self.runs[name])]
        known = [name for name in numbers if name not in {*self.axes, "seed"}]
        if measure not in known:
            raise ValueError(f"no measure {measure!r}; measures: {', '.join(known)}")

    def compare(
        self,
        axis: str,
        *,
        baseline: Any,
        measure: str = "goodput_mbps",
        confidence: float = 0.95,
        method: str = "student",
    ) -> "pd.DataFrame":
        """Differences of each value of `axis` to `baseline`, in pairs of runs with the same seed.

        Since a seed makes the same accidents in both runs of a pair, the interval of the difference is usually much
        narrower than the two means' own. A pair of which a run was refused or failed is left out.

        Parameters
        ----------
        axis : str
            Which axis, such as ``"recovery"``.
        baseline : str, int, float or bool
            The value to compare with, such as ``"none"``.
        measure : str
            A column of `runs`.
        confidence : float
            Of the intervals.
        method : str
            ``"student"`` for Student's t, or ``"bootstrap"``, which does not suppose that differences are normal.

        Returns
        -------
        pandas.DataFrame
            The other axes and `axis`; ``n`` pairs; ``baseline`` and ``mean``; ``difference`` (mean - baseline) with
            ``low`` and ``high``, NaN for fewer than two pairs; ``ratio`` (mean / baseline); ``p``, the probability of
            so large a difference if there were none (paired t test), and ``p_holm``, the same for all rows together.
        """
        import numpy as np

        if axis not in self.plan.axes:
            raise ValueError(f"no axis {axis!r}; axes: {', '.join(self.axes)}")
        names = [point.label for point in self.plan.axes[axis]]
        if baseline not in names:
            raise ValueError(f"{axis} has no value {baseline!r}; values: {', '.join(map(str, names))}")
        cube = self._known_cube(measure)
        shape = [len(points) for points in self.plan.axes.values()]
        at = self.axes.index(axis)
        # Cells are the product of the axes: with `axis` last, the values of one comparison are neighbours.
        after = np.moveaxis(cube.reshape(*shape, -1), at, -2).reshape(-1, len(names), cube.shape[1])
        before = after[:, [names.index(baseline)], :]
        paired = ~np.isnan(before) & ~np.isnan(after)
        differences = np.where(paired, after - before, np.nan)
        found = METHODS[method](differences.reshape(-1, cube.shape[1]), confidence)
        first = _means(np.where(paired, before, np.nan)).ravel()
        second = _means(np.where(paired, after, np.nan)).ravel()
        rows = labels_frame(self.plan)
        others = [name for name in self.axes if name != axis]
        order = np.moveaxis(np.arange(len(rows)).reshape(shape), at, -1).ravel()
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(first != 0, second / first, np.nan)
        table = rows.iloc[order][[*others, axis]].assign(
            n=found.n, baseline=first, mean=second, difference=found.mean, low=found.low, high=found.high, ratio=ratio
        )
        table["p"] = found.p
        other = np.tile(np.arange(len(names)) != names.index(baseline), len(rows) // len(names))
        table = table[other].reset_index(drop=True)
        return table.assign(p_holm=holm(table["p"].to_numpy()))

    def means(self, measure: str = "goodput_mbps", confidence: float = 0.95, method: str = "student") -> "pd.DataFrame":
        """Mean of `measure` in each cell: axes, ``n``, ``mean``, ``low``, ``high``.

        Parameters
        ----------
        measure : str
            A column of `runs`.
        confidence : float
            Of the intervals.
        method : str
            ``"student"`` or ``"bootstrap"``; see `compare`.
        """
        found = METHODS[method](self._known_cube(measure), confidence)
        return labels_frame(self.plan).assign(n=found.n, mean=found.mean, low=found.low, high=found.high)

    def intervals(self, measure: str = "goodput_mbps") -> Iterator[Interval]:
        """Mean and 95 % interval of `measure` in each cell."""
        return METHODS["student"](self._known_cube(measure), 0.95).each()

    def _known_cube(self, measure: str) -> "NDArray[np.float64]":
        import numpy as np

        (cube,) = self.cubes(measure)
        if np.isnan(cube).all():
            self._unknown(measure)
        return cube

    def query(self, statement: str) -> "pd.DataFrame":
        """The answer to a question in SQL, for a sweep in a directory; see `anabranch.sweeps.query`.

        Its tables are ``runs``, ``subflows``, ``cells`` and ``texts``. Needs ``pip install anabranch[query]``.
        """
        from anabranch.sweeps.query import query

        if not isinstance(self.source, Folder):
            raise ValueError("a sweep that is kept in memory has no tables to ask; make it with `out`, or use `runs`")
        return query(self.source.folder, statement)

    def __str__(self) -> str:
        """One line per cell."""
        from anabranch.sweeps.table import text

        return text(self)

    def __repr__(self) -> str:
        axes = " x ".join(f"{len(points)} {name}" for name, points in self.plan.axes.items())
        return f"<anabranch.Sweep {axes or '1 cell'}, {len(self.plan.seeds)} seeds: {len(self)} runs>"


class _Places:
    """Which rows of `frame` belong to `plan`, in its order: cell by cell, seed by seed.

    Attributes
    ----------
    row, cell, seed : arrays of int
        Position in the frame, number of the cell, number of the seed.
    """

    def __init__(self, plan: Plan, frame: "pd.DataFrame", parts: Sequence[str] = ()) -> None:
        import numpy as np
        import pandas as pd

        number = {cell.sha256: i for i, cell in enumerate(plan.distinct)}
        seeds = len(plan.seeds)
        scenario = frame["scenario_sha256"].astype("category").cat
        cell = np.array([number.get(sha256, -1) for sha256 in scenario.categories], int)[scenario.codes.to_numpy()]
        seed = pd.Index(plan.seeds).get_indexer(pd.Index(frame["seed"]))
        row = np.flatnonzero((cell >= 0) & (seed >= 0))
        slot = (cell * seeds + seed)[row]
        # Of a run that was made again, the later row counts.
        again = pd.DataFrame({"slot": slot} | {name: frame[name].to_numpy()[row] for name in parts}).duplicated(
            keep="last"
        )
        row, slot = row[~again], slot[~again]
        order = np.argsort(slot, kind="stable")
        row, slot = row[order], slot[order]
        # A cell that is the same scenario as another one has the same rows.
        wanted = (
            np.array([number[cell.sha256] for cell in plan.cells], int)[:, None] * seeds + np.arange(seeds)
        ).ravel()
        first, end = (np.searchsorted(slot, wanted, side) for side in ("left", "right"))
        count = end - first
        within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        self.row = row[np.repeat(first, count) + within]
        self.cell, self.seed = np.divmod(np.repeat(np.arange(len(wanted)), count), seeds)


def labels_frame(plan: Plan) -> "pd.DataFrame":
    """One row per cell: what each axis is called there. Names of an axis that are not all of one kind become text."""
    import numpy as np
    import pandas as pd

    shape = [len(points) for points in plan.axes.values()]
    place = np.unravel_index(np.arange(len(plan.cells)), shape) if shape else ()
    columns = {}
    for (name, points), index in zip(plan.axes.items(), place, strict=True):
        labels = [point.label for point in points]
        if len(set(map(type, labels))) > 1:
            labels = [str(label) for label in labels]
        columns[name] = pd.Series(labels).take(index).to_numpy()
    return pd.DataFrame(columns, index=range(len(plan.cells)))


def _named(plan: Plan, places: _Places, rows: "pd.DataFrame") -> "pd.DataFrame":
    import numpy as np

    return _labelled(plan, places.cell, np.array(plan.seeds)[places.seed], rows)


def _labelled(plan: Plan, cells: Any, seeds: Any, rows: "pd.DataFrame") -> "pd.DataFrame":
    """`rows` after the columns of the axes and ``seed``."""
    import pandas as pd

    for name in rows.columns:
        if not pd.api.types.is_numeric_dtype(rows[name]):
            rows = rows.assign(**{name: rows[name].astype(str)})
    head = labels_frame(plan).take(cells).assign(seed=seeds).reset_index(drop=True)
    rows = rows[[name for name in rows.columns if name not in head.columns]]
    return pd.concat([head, rows.reset_index(drop=True)], axis=1)


def _floats(values: list[Any]) -> list[float]:
    return [float("nan") if value is None else float(value) for value in values]


def _means(values: "NDArray[np.float64]") -> "NDArray[np.float64]":
    """Means of the last axis over what is not NaN."""
    import numpy as np

    n = (~np.isnan(values)).sum(-1)
    return np.where(n > 0, np.nansum(values, -1) / np.maximum(n, 1), np.nan)
