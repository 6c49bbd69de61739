"""A finished sweep: tidy frames, distributions, paired comparisons."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anabranch.labels import connections_of
from anabranch.sweeps.execute import Record
from anabranch.sweeps.paired import interval
from anabranch.sweeps.plan import Cell, Plan

if TYPE_CHECKING:
    import os

    import pandas as pd

    from anabranch.sweeps.store import Provenance

_SUMS = (
    "retransmissions_fast",
    "retransmissions_timeout",
    "spurious",
    "undone",
    "queue_drops",
)
"""Counts of subflows that `runs` holds summed up."""
_NESTED = {"hol_delay_ms": "hol_delay_{}_ms", "limits": "limited_{}", "episodes": "episodes_{}"}
"""Objects of the summary that become columns, and what these are called."""
_APART = frozenset({"subflows", "connections", "seed", "status", "title", "version"})


@dataclass(frozen=True, eq=False, repr=False)
class Sweep:
    """The runs of a plan.

    Attributes
    ----------
    plan : Plan
        Axes, cells and seeds.
    records : tuple of (Cell, Record)
        Cell by cell, seed by seed; only those that were made.
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
    records: tuple[tuple[Cell, Record], ...]
    provenance: "Provenance"

    @classmethod
    def of(cls, plan: Plan, records: Mapping[str, Record], made: "Provenance | None" = None) -> "Sweep":
        """Those of `records`, by key, that belong to `plan`."""
        from anabranch.sweeps.store import Provenance

        keys = ((cell, cell.key(seed)) for cell in plan.cells for seed in plan.seeds)
        found = tuple((cell, records[key]) for cell, key in keys if key in records)
        return cls(plan, found, Provenance.here() if made is None else made)

    @classmethod
    def load(cls, directory: "str | os.PathLike[str]") -> "Sweep":
        """Read a sweep that ``anabranch sweep --out`` or `sweep(out=...)` wrote, finished or not.

        Raises
        ------
        ResultError
            If `directory` is not a sweep.
        """
        from anabranch.sweeps.store import read_marker, read_plan, read_records

        made, marker = read_marker(Path(directory))
        plan = read_plan(marker)
        by_run = {(record.scenario_sha256, record.seed): record for record in read_records(Path(directory)).values()}
        wanted = ((cell, (cell.sha256, seed)) for cell in plan.cells for seed in plan.seeds)
        return cls(plan, tuple((cell, by_run[run]) for cell, run in wanted if run in by_run), made)

    @property
    def axes(self) -> list[str]:
        """Names of the axes, which are columns of the frames."""
        return list(self.plan.axes)

    @cached_property
    def _summaries(self) -> list[dict[str, Any]]:
        return [json.loads(record.summary) if record.summary else {} for _, record in self.records]

    @cached_property
    def runs(self) -> "pd.DataFrame":
        """One row per run: axes, ``seed``, ``status``, ``error``, then the numbers of its summary.

        Subflows' counts are summed up, objects of the summary are spread out (``limited_cwnd``, ``hol_delay_p95_ms``,
        ``episodes_spurious_judged_genuine``). A run that was refused or failed has its error and NaN.
        """
        import pandas as pd

        rows = [
            {**cell.labels, "seed": record.seed, "status": record.status, "error": record.error, **_numbers(summary)}
            | {"key": record.key, "scenario_sha256": record.scenario_sha256}
            for (cell, record), summary in zip(self.records, self._summaries, strict=True)
        ]
        head = [*self.axes, "seed", "status", "error"]
        return _mended(pd.DataFrame(rows, columns=None if rows else head), self.axes)

    @cached_property
    def subflows(self) -> "pd.DataFrame":
        """One row per run and subflow: axes, ``seed``, ``connection``, ``subflow``, then the subflow's numbers."""
        import pandas as pd

        rows = [
            {**cell.labels, "seed": record.seed, "connection": c, "subflow": s}
            | {key: value for key, value in flow.items() if key != "connection"}
            for (cell, record), summary in zip(self.records, self._summaries, strict=True)
            if summary
            for c, connection in enumerate(connections_of(summary))
            for s, flow in enumerate(connection["subflows"])
        ]
        head = [*self.axes, "seed", "connection", "subflow"]
        return _mended(pd.DataFrame(rows, columns=None if rows else head), self.axes)

    def distribution(self, field: str = "rbd") -> "pd.DataFrame":
        """A distribution of the summary, long: axes, ``seed``, ``value``, ``share``.

        Parameters
        ----------
        field : str
            ``"rbd"`` (value: packets in the buffer) or ``"reorder_density"`` (value: displacement).
        """
        import pandas as pd

        parts = []
        for (cell, record), summary in zip(self.records, self._summaries, strict=True):
            entries = summary.get(field) or []
            pairs = [entry if isinstance(entry, list) else (i, entry) for i, entry in enumerate(entries)]
            if pairs:
                part = pd.DataFrame(pairs, columns=["value", "share"])
                for i, (name, label) in enumerate({**cell.labels, "seed": record.seed}.items()):
                    part.insert(i, name, label)
                parts.append(part)
        head = [*self.axes, "seed", "value", "share"]
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame({name: [] for name in head})

    def compare(
        self, axis: str, *, baseline: Any, measure: str = "goodput_mbps", confidence: float = 0.95
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
            Of the intervals (Student's t).

        Returns
        -------
        pandas.DataFrame
            The other axes and `axis`; ``n`` pairs; ``baseline`` and ``mean``; ``difference`` (mean - baseline) with
            ``low`` and ``high``, NaN for fewer than two pairs; ``ratio`` (mean / baseline).
        """
        import pandas as pd

        runs = self.runs
        if axis not in self.plan.axes:
            raise ValueError(f"no axis {axis!r}; axes: {', '.join(self.axes)}")
        if measure not in runs.columns or not pd.api.types.is_numeric_dtype(runs[measure]):
            raise ValueError(f"no measure {measure!r}; measures: {', '.join(_measures(runs, self.axes))}")
        labels = [point.label for point in self.plan.axes[axis]]
        if baseline not in labels:
            raise ValueError(f"{axis} has no value {baseline!r}; values: {', '.join(map(str, labels))}")
        others = [name for name in self.axes if name != axis]
        wide = {key: rows.set_index("seed")[measure].dropna() for key, rows in _groups(runs, [*others, axis])}
        rows = []
        for key, _ in _groups(runs, others):
            first = wide[(*key, baseline)]
            for label in labels:
                if label == baseline or (*key, label) not in wide:
                    continue
                second = wide[(*key, label)]
                seeds = [seed for seed in first.index if seed in second.index]
                n, difference, low, high = interval([float(second[s] - first[s]) for s in seeds], confidence)
                before, after = (float(x[seeds].mean()) if seeds else math.nan for x in (first, second))
                rows.append(
                    dict(zip(others, key, strict=True))
                    | {axis: label, "n": n, "baseline": before, "mean": after, "difference": difference}
                    | {"low": low, "high": high, "ratio": after / before if before else math.nan}
                )
        head = [*others, axis, "n", "baseline", "mean", "difference", "low", "high", "ratio"]
        return pd.DataFrame(rows, columns=head)

    def means(self, measure: str = "goodput_mbps", confidence: float = 0.95) -> "pd.DataFrame":
        """Mean of `measure` in each cell: axes, ``n``, ``mean``, ``low``, ``high`` (Student's t)."""
        import pandas as pd

        rows = [
            dict(zip(self.axes, key, strict=True)) | interval(rows[measure].dropna().tolist(), confidence)._asdict()
            for key, rows in _groups(self.runs, self.axes)
        ]
        return pd.DataFrame(rows, columns=[*self.axes, "n", "mean", "low", "high"])

    def __str__(self) -> str:
        """One line per cell."""
        from anabranch.sweeps.table import text

        return text(self)

    def __repr__(self) -> str:
        axes = " x ".join(f"{len(points)} {name}" for name, points in self.plan.axes.items())
        return f"<anabranch.Sweep {axes or '1 cell'}, {len(self.plan.seeds)} seeds: {len(self.records)} runs>"


def _numbers(summary: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in summary.items():
        if key in _NESTED and isinstance(value, dict):
            out |= {_NESTED[key].format(name): number for name, number in value.items()}
        elif key not in _APART and not isinstance(value, list | dict):
            out[key] = value
    flows = summary.get("subflows", ())
    return out | {name: sum(flow[name] for flow in flows) for name in _SUMS if flows}


def _mended(frame: "pd.DataFrame", axes: Sequence[str]) -> "pd.DataFrame":
    """`frame` with columns of one type: what may be missing is NaN, not None."""
    import pandas as pd

    for name in frame.columns:
        column = frame[name]
        if name in axes:
            if column.map(type).nunique() > 1:
                frame[name] = column.astype(str)
        elif column.dtype == object and column.map(lambda x: x is None or isinstance(x, int | float)).all():
            frame[name] = pd.to_numeric(column.map(lambda x: math.nan if x is None else float(x)))
        elif not pd.api.types.is_numeric_dtype(column):
            frame[name] = column.fillna("")
    return frame


def _groups(frame: "pd.DataFrame", names: Sequence[str]) -> "Iterator[tuple[tuple[Any, ...], pd.DataFrame]]":
    if not names:
        yield (), frame
        return
    for key, rows in frame.groupby(list(names), sort=False):
        yield tuple(_plain(part) for part in (key if isinstance(key, tuple) else (key,))), rows


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def _measures(runs: "pd.DataFrame", axes: Sequence[str]) -> list[str]:
    import pandas as pd

    apart = {*axes, "seed"}
    return [str(name) for name in runs.columns if name not in apart and pd.api.types.is_numeric_dtype(runs[name])]
