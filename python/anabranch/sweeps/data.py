"""A sweep's runs: tidy frames, distributions, means and paired comparisons.

Stored runs are read when they are asked for, and of their columns only the ones that are needed. What `means`,
`compare` and the table work on is one number a run, cells by seeds (`cubes`), so that they answer within seconds for a
million runs.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from anabranch.results.result_kinds import SWEEP
from anabranch.sentences.nearest import hint
from anabranch.sweeps import dataset, repeats
from anabranch.sweeps.paired import METHODS, Interval, Intervals, differences, holm
from anabranch.sweeps.places import Places, labelled, labels_frame, named
from anabranch.sweeps.plan import PlanData
from anabranch.sweeps.provenance import Provenance
from anabranch.sweeps.task import FAILED, REFUSED, Record
from anabranch.sweeps.timed import COMPLETION, WHY, only_timed

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray


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


@dataclass(frozen=True, eq=False, repr=False)
class SweepData:
    """The runs of a plan; the attributes are those of `anabranch.sweeps.results.Sweep`."""

    kind: ClassVar[str] = SWEEP
    plan: PlanData
    source: Rows | Folder
    provenance: Provenance

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
        places = Places(self.plan, frame)
        last = [name for name in ("key", "scenario_sha256", "events_hash", "engine", "machine") if name in frame]
        rows = frame.drop(columns="seed").take(places.row)
        return named(self.plan, places, rows[[*(name for name in rows.columns if name not in last), *last]])

    @cached_property
    def subflows(self) -> "pd.DataFrame":
        """One row per run and subflow: axes, ``seed``, ``connection``, ``subflow``, then the subflow's numbers."""
        frame = self.source.flows()
        places = Places(self.plan, frame, ("connection", "subflow"))
        return named(self.plan, places, frame.drop(columns=list(dataset.IDENTITY)).take(places.row))

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
        return labelled(self.plan, cells, seeds, frame.astype(whole))

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
        return labelled(self.plan, cells, seeds, pd.DataFrame(pairs, columns=["value", "share"]))

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
        places = Places(self.plan, frame)
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

    @cached_property
    def codes(self) -> "NDArray[np.uint64]":
        """A number per run, a row for each cell and a column for each seed, equal for identical runs of a cell.

        Where there is no run, or one without a result, it is 0.
        """
        import numpy as np

        def cube(frame: "pd.DataFrame", hashes: "NDArray[np.uint64]") -> "NDArray[np.uint64]":
            places = Places(self.plan, frame)
            status = frame["status"].to_numpy(object)[places.row]
            good = (status != REFUSED) & (status != FAILED)
            found = np.zeros((len(self.plan.cells), len(self.plan.seeds)), np.uint64)
            found[places.cell[good], places.seed[good]] = hashes[places.row[good]]
            return found

        frame = self.source.runs([*dataset.IDENTITY, "status", *repeats.QUICK])
        codes = cube(frame, repeats.hashes(frame))
        ranked = np.sort(codes, 1)
        if ((ranked[:, 1:] == ranked[:, :-1]) & (ranked[:, 1:] != 0)).any():
            frame = self.source.runs([*dataset.IDENTITY, "status", repeats.EVENTS])
            if repeats.lack_events(frame):
                frame = self.source.runs()
            codes = cube(frame, repeats.hashes(frame))
        return codes

    @property
    def identical(self) -> "NDArray[np.bool_]":
        """Whether each cell has two or more runs with a result, all identical."""
        return repeats.rows(self.codes, self.codes != 0)

    def counted(self, cube: "NDArray[np.float64]", confidence: float = 0.95, method: str = "student") -> Intervals:
        """Mean and interval of each row of a `cube`; identical runs count as one run."""
        import numpy as np

        return METHODS[method](cube, confidence, tested=False).once(repeats.rows(self.codes, ~np.isnan(cube)))

    def _unknown(self, measure: str) -> None:
        import pandas as pd

        numbers = [str(name) for name in self.runs.columns if pd.api.types.is_numeric_dtype(self.runs[name])]
        timed = only_timed(self.plan)
        if timed and measure == COMPLETION:
            raise ValueError(WHY)
        known = [name for name in numbers if name not in {*self.axes, "seed", *([COMPLETION] if timed else [])}]
        if measure not in known:
            raise ValueError(f"no measure {measure!r}; measures: {', '.join(known)}{hint(measure, known)}")

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
            Which axis, such as ``"judge"``.
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
            so large a difference if there were none (paired t test), and ``p_holm``, the same for all rows together;
            ``identical``, see `means`. Two cells of identical runs are one pair, without an interval and without ``p``.
        """
        if axis not in self.plan.axes:
            raise ValueError(f"no axis {axis!r}; axes: {', '.join(self.axes) or 'none'}{hint(axis, self.axes)}")
        names = [point.label for point in self.plan.axes[axis]]
        if baseline not in names:
            raise ValueError(f"{axis} has no value {baseline!r}; values: {', '.join(map(str, names))}")
        table = self._differences(axis, names.index(baseline), measure, confidence, method)
        identical = table.pop("identical")
        return table.assign(p_holm=holm(table["p"].to_numpy()), identical=identical)

    def _differences(self, axis: str, baseline: int, measure: str, confidence: float, method: str) -> "pd.DataFrame":
        """What `compare` tells, but for `p_holm`; `baseline` is the number of a value of `axis`."""
        import numpy as np

        cube = self.cube(measure)
        shape = [len(points) for points in self.plan.axes.values()]
        at = self.axes.index(axis)
        count = shape[at]
        # Cells are the product of the axes: with `axis` last, the values of one comparison are neighbours.
        seeds = cube.shape[1]

        def beside(values: "NDArray[Any]") -> "tuple[NDArray[Any], NDArray[Any]]":
            after = np.moveaxis(values.reshape(*shape, -1), at, -2).reshape(-1, count, seeds)
            return np.broadcast_to(after[:, [baseline], :], after.shape).reshape(-1, seeds), after.reshape(-1, seeds)

        before, after = beside(cube)
        paired = ~np.isnan(before) & ~np.isnan(after)
        same = np.logical_and(*(repeats.rows(side, paired) for side in beside(self.codes)))
        found = differences(before, after, same, confidence=confidence, method=method)
        first, second = (_means(np.where(paired, side, np.nan)) for side in (before, after))
        rows = labels_frame(self.plan)
        others = [name for name in self.axes if name != axis]
        order = np.moveaxis(np.arange(len(rows)).reshape(shape), at, -1).ravel()
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(first != 0, second / first, np.nan)
        table = rows.iloc[order][[*others, axis]].assign(
            n=found.n, baseline=first, mean=second, difference=found.mean, low=found.low, high=found.high, ratio=ratio
        )
        table = table.assign(p=found.p, identical=found.identical)
        other = np.tile(np.arange(count) != baseline, len(rows) // count)
        return table[other].reset_index(drop=True)

    def means(self, measure: str = "goodput_mbps", confidence: float = 0.95, method: str = "student") -> "pd.DataFrame":
        """Mean of `measure` in each cell: axes, ``n``, ``mean``, ``low``, ``high``, ``identical``.

        Identical runs, as of a scenario in which nothing is random, are one run: ``n`` is 1, ``low`` and ``high`` are
        NaN, and ``identical`` is how many there are. Elsewhere ``identical`` is 0.

        Parameters
        ----------
        measure : str
            A column of `runs`.
        confidence : float
            Of the intervals.
        method : str
            ``"student"`` or ``"bootstrap"``; see `compare`.
        """
        found = self.counted(self.cube(measure), confidence, method)
        return labels_frame(self.plan).assign(
            n=found.n, mean=found.mean, low=found.low, high=found.high, identical=found.identical
        )

    def intervals(self, measure: str = "goodput_mbps") -> Iterator[Interval]:
        """Mean and 95 % interval of `measure` in each cell."""
        return self.counted(self.cube(measure)).each()

    def cube(self, measure: str) -> "NDArray[np.float64]":
        """`measure` of every run, a row for each cell and a column for each seed; ValueError if no run has it."""
        import numpy as np

        (cube,) = self.cubes(measure)
        if np.isnan(cube).all():
            self._unknown(measure)
        return cube


def _floats(values: list[Any]) -> list[float]:
    return [float("nan") if value is None else float(value) for value in values]


def _means(values: "NDArray[np.float64]") -> "NDArray[np.float64]":
    """Means of the last axis over what is not NaN."""
    import numpy as np

    n = (~np.isnan(values)).sum(-1)
    return np.where(n > 0, np.nansum(values, -1) / np.maximum(n, 1), np.nan)
