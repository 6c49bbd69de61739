"""What a study is: sweeps, and tables, figures and sentences made of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anabranch import tables
from anabranch.scenario import Scenario, Value
from anabranch.studies.words import number, of
from anabranch.sweeps import repeats
from anabranch.sweeps.paired import Interval, interval

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Canvas

    from anabranch.runs.run import Run
    from anabranch.sweeps.data import SweepData

_CODE = "identity"
"""Column of `Data.frame`: equal for identical runs of a cell, 0 without a result."""
ROOT = Path(__file__).parent
"""Holds a folder for each study, with a `study.py`, scenarios, sweeps and the paper's numbers."""


class Mean(Interval):
    """A mean over runs of a study, with a note on runs that stalled. Only `Data` makes instances.

    Attributes
    ----------
    stopped : str
        How many of the runs stalled, such as ``"3 of 10 stopped"``; empty if none did.
    """

    stopped: str = ""

    @classmethod
    def of(cls, found: Interval, stopped: str) -> "Mean":
        """Return `found` as a `Mean` with the note `stopped`."""
        made = cls(*found)
        made.stopped = stopped
        return made


@dataclass(frozen=True)
class Entry:
    """One cell of a table.

    Attributes
    ----------
    text : str
        Main text of the cell.
    remark : str
        Text in smaller letters beside it.
    is_interval : bool
        True if the remark is the half-width of the confidence interval of the mean in `text`.
    stopped : str
        How many of the runs behind the mean stalled (`Mean.stopped`); empty if none did.
    """

    text: str
    remark: str = ""
    is_interval: bool = False
    stopped: str = ""

    @classmethod
    def of(cls, found: Interval, decimals: int, text: str = "", remark: str | None = None) -> "Entry":
        """Return an entry that shows the mean `found`, or `text` instead if it is not empty.

        The entry's remark is `remark`. If `remark` is None, it is the half-width of the confidence
        interval, or empty without one. If `found` is a `Mean`, the entry also has its note on
        stalled runs.

        >>> Entry.of(Interval(5, 2.0, 1.5, 2.5), 2).remark
        '\N{PLUS-MINUS SIGN}0.50'
        >>> Entry.of(Interval(1, 2.0, float("nan"), float("nan")), 1).remark
        ''
        """
        text, half = text or number(found.mean, decimals), found.high - found.mean
        stopped = found.stopped if isinstance(found, Mean) else ""
        if remark is not None or not half > 0:
            return cls(text, remark or "", stopped=stopped)
        return cls(text, f"\N{PLUS-MINUS SIGN}{max(half, 10.0**-decimals):.{decimals}f}", True, stopped)

    @property
    def small(self) -> str:
        """The text in smaller letters: the remark and the note on stalled runs."""
        return "; ".join(filter(None, (self.remark, self.stopped)))


@dataclass(frozen=True)
class Table:
    """A table of the report, and the same as a frame for CSV.

    Attributes
    ----------
    title, caption : str
        For people.
    groups : sequence of (str, int)
        Headings over the columns, each with the number of columns it spans.
    head : sequence of str
        Headings of the columns.
    rows : sequence of sequences
        Texts and entries.
    left : int
        How many columns are labels.
    frame : pandas.DataFrame
        The numbers with all digits.
    """

    title: str
    caption: str
    groups: Sequence[tuple[str, int]]
    head: Sequence[str]
    rows: Sequence[Sequence[str | Entry]]
    left: int
    frame: "pd.DataFrame"

    def plain(self) -> tables.Table:
        """Return the same as text, Markdown and LaTeX have it; columns for which there is no room go from the end."""
        groups = [title for title, span in self.groups for _ in range(span)] or [""] * len(self.head)
        columns = []
        for i, (group, head) in enumerate(zip(groups, self.head, strict=True)):
            cells = [row[i] for row in self.rows]
            lines = (group, head.replace("<br>", " ")) if any(groups) else (head.replace("<br>", " "),)
            drop = 0 if i <= self.left else len(self.head) - i
            columns.append(tables.Column(lines, list(map(_shown, cells)), drop, i < self.left))
        return tables.Table(columns, self.title, ["", self.caption])


def _shown(cell: str | Entry) -> str:
    """A cell in one line: an interval stands behind its mean, any other remark in parentheses."""
    if isinstance(cell, str):
        return cell
    if cell.is_interval:
        return f"{cell.text} +- {cell.remark[1:]}" + (f" ({cell.stopped})" if cell.stopped else "")
    return f"{cell.text} ({cell.small})" if cell.small else cell.text


@dataclass(frozen=True)
class TableSpec:
    """How a table is made: the sweeps it needs, and a function of the data."""

    needs: tuple[str, ...]
    make: "Callable[[Data], Table]"
    full: bool = False
    folded: bool = False


@dataclass(frozen=True)
class FigureSpec:
    """How a figure is made.

    Attributes
    ----------
    title, caption : str
        For people.
    needs : tuple of str
        The sweeps; in the quick form those of them that belong to it.
    draw : callable
        Of the data and an empty figure, whose size it sets.
    full : bool
        Not in the quick form.
    """

    title: str
    caption: str
    needs: tuple[str, ...]
    draw: "Callable[[Data, Canvas], None]"
    full: bool = False


@dataclass(frozen=True)
class Study:
    """A study.

    Attributes
    ----------
    name : str
        Of its folder.
    title, source, summary : str
        What it is about; the paper; one sentence for a list.
    sweeps : mapping
        Sweep files by name, in the order they are run, and whether each is part of the quick form.
    tables, figures : mapping
        By name, in the order of the report.
    opening : callable
        First paragraph of the report.
    findings : callable
        What else the numbers say, one paragraph each.
    notes : sequence of str
        What a reader has to know of units, definitions and inconsistencies.
    scenarios : sequence of str
        Scenario files, the one that most sweeps begin with first.
    shorter : mapping
        Sweeps that have a file of their own in the quick form, which stands in their place; its name.
    """

    name: str
    title: str
    source: str
    summary: str
    sweeps: Mapping[str, bool]
    tables: Mapping[str, TableSpec]
    figures: Mapping[str, FigureSpec]
    opening: "Callable[[Data], str]"
    findings: "Callable[[Data], list[str]]"
    notes: Sequence[str]
    scenarios: Sequence[str] = ("scenario",)
    shorter: Mapping[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Where its files are."""
        return ROOT / self.name.replace("-", "_")

    def file(self, sweep: str, *, quick: bool) -> Path:
        """The file of a sweep."""
        return self.folder / f"{self.shorter.get(sweep, sweep) if quick else sweep}.toml"


@dataclass(frozen=True)
class Data:
    """The runs of a study, as its tables and figures ask for them.

    Attributes
    ----------
    study : Study
        Whose.
    sweeps : mapping
        Those that were run.
    quick : bool
        Whether this is the quick form.
    """

    study: Study
    sweeps: "Mapping[str, SweepData]"
    quick: bool = False
    _traces: "dict[Any, Run]" = field(default_factory=dict, repr=False)
    _groups: dict[Any, Any] = field(default_factory=dict, repr=False)

    def frame(self, sweep: str) -> "pd.DataFrame":
        """The runs of `sweep`, with columns for each path and connection.

        ``util0``, ``goodput0``, ... are of the paths of the first connection, ``connection0``, ... the goodputs of all.
        """
        if ("frame", sweep) not in self._groups:
            done = self.sweeps[sweep]
            keys = [*done.axes, "seed"]
            runs, flows = done.runs, done.subflows
            first = flows[flows["connection"] == 0] if len(flows) else flows
            for path in sorted(first["path"].unique()) if len(first) else []:
                part = first[first["path"] == path].groupby(keys, sort=False)[["utilisation", "goodput_mbps"]].sum()
                part.columns = [f"util{path:.0f}", f"goodput{path:.0f}"]
                runs = runs.merge(part.reset_index(), on=keys, how="left")
            for number in sorted(flows["connection"].unique()) if len(flows) else []:
                part = flows[flows["connection"] == number].groupby(keys, sort=False)[["goodput_mbps"]].sum()
                part.columns = [f"connection{number}"]
                runs = runs.merge(part.reset_index(), on=keys, how="left")
            place = done.columns()
            codes = done.codes[place["cell"], place["seed"]]
            self._groups["frame", sweep] = runs.assign(**{_CODE: codes})
        frame: pd.DataFrame = self._groups["frame", sweep]
        return frame

    def values(self, sweep: str, measure: str, **labels: Value) -> list[float]:
        """`measure` of every run of a cell, in the order of the seeds; empty if there is none.

        The label ``delay`` stands for ``path.1.delay``.
        """
        rows = self._rows(sweep, labels)
        if rows is None or measure not in rows.columns:
            return []
        return [float(value) for value in rows[measure].dropna()]

    def by_seed(self, sweep: str, measure: str, **labels: Value) -> dict[int, float]:
        """Return `measure` of every run of a cell by seed, for comparison with another cell."""
        rows = self._rows(sweep, labels)
        if rows is None or measure not in rows.columns:
            return {}
        known = rows[rows[measure].notna()]
        return dict(zip(known["seed"].tolist(), known[measure].astype(float).tolist(), strict=True))

    def identical(self, sweep: str, **labels: Value) -> bool:
        """Return whether the runs of a cell are identical; see `anabranch.sweeps.repeats`."""
        rows = self._rows(sweep, labels)
        return rows is not None and repeats.identical(map(str, rows.loc[rows[_CODE] > 0, _CODE]))

    def _rows(self, sweep: str, labels: Mapping[str, Value]) -> "pd.DataFrame | None":
        """The runs of a cell in the order of the seeds; None if there are none."""
        wanted = {"path.1.delay" if key == "delay" else key: value for key, value in labels.items()}
        names = tuple(wanted)
        if (sweep, names) not in self._groups:
            frame = self.frame(sweep)
            self._groups[sweep, names] = {
                key: rows.sort_values("seed") for key, rows in frame.groupby(list(names), sort=False)
            }
        found: pd.DataFrame | None = self._groups[sweep, names].get(tuple(wanted.values()))
        return found

    def mean(self, sweep: str, measure: str, scale: float = 1.0, **labels: Value) -> Mean:
        """Mean of `measure` times `scale` over the runs of a cell, with its 95 % interval.

        Identical runs have no interval.
        """
        return self.over([scale * value for value in self.values(sweep, measure, **labels)], sweep, labels)

    def over(self, values: Sequence[float], sweep: str, *cells: Mapping[str, Value]) -> Mean:
        """Mean of `values`, one for each seed, that were computed from the runs of `cells`.

        The mean also says how many of these runs stalled, that is, stopped making progress with
        data left to send: a mean over stalled runs says little.
        """
        rows = [found for found in (self._rows(sweep, cell) for cell in cells) if found is not None]
        stopped = sum(int((found["status"] == "stalled").sum()) for found in rows)
        identical = all(self.identical(sweep, **cell) for cell in cells)
        total = sum(map(len, rows))
        return Mean.of(interval(values, identical=identical), f"{of(stopped, total)} stopped" if stopped else "")

    def trace(self, changes: Mapping[str, Value], scenario: str = "") -> "Run":
        """The run with seed 1 of a scenario of the study with `changes`, with its series over time."""
        key = scenario, tuple(changes.items())
        if key not in self._traces:
            self._traces[key] = self.base(scenario).set(changes).run(seed=1)
        return self._traces[key]

    def base(self, scenario: str = "") -> Scenario:
        """The scenario file of that name, the study's first one if none is given."""
        return Scenario.load(self.study.folder / f"{scenario or self.study.scenarios[0]}.toml")

    @cached_property
    def scenario(self) -> Scenario:
        """The study's first scenario, on which most cells are based."""
        return self.base()
