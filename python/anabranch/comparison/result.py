"""`compare`: two results, and what comes of it."""

import os
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, TypeAlias

from anabranch.comparison.errors import MeasureError
from anabranch.results.directory import ResultError
from anabranch.results.result_kinds import ANALYSIS, RUN, STUDY, SWEEP, kind, named
from anabranch.sentences import sweep as say
from anabranch.tables import Document, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd

    from anabranch.captures.data import CaptureData
    from anabranch.runs.data import RunData
    from anabranch.sweeps.data import SweepData

Result: TypeAlias = "str | os.PathLike[str] | RunData | CaptureData | SweepData"
"""The folder of a result, or the result."""


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Two results beside each other.

    Attributes
    ----------
    names : tuple of str
        What the two are called.
    kinds : tuple of str
        What the two are: ``"run"``, ``"analysis"``, ``"sweep"``.
    document : Document
        Tables and lines, to be written as text, Markdown or LaTeX.
    """

    names: tuple[str, str]
    kinds: tuple[str, str]
    document: Document
    _frame: "Callable[[], pd.DataFrame]" = field(repr=False)

    @property
    def frame(self) -> "pd.DataFrame":
        """The numbers of both and how they differ; ``docs/columns.md`` defines the columns."""
        return self._frame()

    def _repr_html_(self) -> str:
        from anabranch.results.page import table

        body = []
        for part in self.document.parts:
            if isinstance(part, Table):
                head = tuple(escape(column.name) for column in part.columns)
                rows = zip(*([escape(cell) for cell in column.cells] for column in part.columns), strict=True)
                body.append(table(head, list(rows)))
                body += [f"<p>{escape(note)}</p>" for note in part.notes if note]
            elif part:
                body.append(f"<p>{escape(part)}</p>")
        return "".join(body)

    def __str__(self) -> str:
        """The text ``anabranch compare`` prints."""
        return self.document.text()

    def __repr__(self) -> str:
        of = [f"{kind} {name}" for kind, name in zip(self.kinds, self.names, strict=True)]
        return f"<anabranch.Comparison of {' and '.join(of)}>"


def compare(first: Result, second: Result, measure: str | None = None) -> Comparison:
    """Put two results beside each other: what each has, the ratio or paired difference, what differs otherwise.

    Parameters
    ----------
    first, second : path, Run, Capture or Sweep
        Two runs, two sweeps, two analyses of captures, or a run and an analysis: folders that ``--out`` or ``save``
        wrote, or results at hand.
    measure : str, optional
        What of two sweeps is compared, cell by cell in pairs of runs with the same seed; their goodput if not given.

    Raises
    ------
    ResultError
        If a folder is no result, or the two are of kinds that have nothing to compare.
    MeasureError
        If the runs of sweeps have no such number, or the two are no sweeps.

    Examples
    --------
    >>> import anabranch as ab
    >>> slow = ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="1 MB")
    >>> both = ab.compare(slow.run(), slow.set("path.1.rate", "20 Mbit/s").run())
    >>> both.frame.query("field == 'goodput_mbps' and subflow.isna()")["ratio"].item() > 1.5
    True
    """
    kinds = _kind(first), _kind(second)
    if measure is not None and kinds != (SWEEP, SWEEP):
        raise MeasureError(say.MEASURE_OF_SWEEPS())
    names = _name(first, "first"), _name(second, "second")
    if kinds not in _PAIRS:
        if STUDY in kinds:
            raise ResultError(say.STUDY(folder=names[kinds.index(STUDY)], study=named(STUDY).meaning))
        kind_, other = (named(one).meaning for one in kinds)
        raise ResultError(say.OTHER_KINDS(first=names[0], second=names[1], kind=kind_, other=other))
    document, frame = _PAIRS[kinds](_loaded(first), _loaded(second), names, measure)
    return Comparison(names, kinds, document, frame)


def _kind(result: Result) -> str:
    return kind(result).name if isinstance(result, str | os.PathLike) else result.kind


def _name(result: Result, otherwise: str) -> str:
    return os.fspath(result) if isinstance(result, str | os.PathLike) else otherwise


def _loaded(result: Result) -> Any:
    return kind(result).load(result) if isinstance(result, str | os.PathLike) else result


_Made: TypeAlias = "tuple[Document, Callable[[], pd.DataFrame]]"
_Names: TypeAlias = tuple[str, str]


def _sweeps(ours: Any, theirs: Any, names: _Names, measure: str | None) -> _Made:
    from anabranch.comparison import sweeps

    found = sweeps.compared(ours, theirs, names, measure)
    return sweeps.document(found, names), lambda: sweeps.frame(found)


def _mixed(ours: Any, theirs: Any, names: _Names, _: str | None) -> _Made:
    from anabranch.comparison import mixed, rows

    pairs = mixed.paired(ours, theirs)
    return mixed.document(ours, theirs, names), lambda: rows.frame(pairs, *mixed.shared(pairs))


def _runs(ours: Any, theirs: Any, names: _Names, _: str | None) -> _Made:
    from anabranch.comparison import rows, runs

    pairs = runs.paired(ours, theirs)
    return runs.document(ours, theirs, names), lambda: rows.frame(pairs, runs.FIELDS, runs.SUBFLOW_FIELDS)


def _captures(ours: Any, theirs: Any, names: _Names, _: str | None) -> _Made:
    from anabranch.comparison import captures, rows

    pairs = captures.paired(ours, theirs)
    return captures.document(ours, theirs, names), lambda: rows.frame(pairs, captures.FIELDS, captures.SUBFLOW_FIELDS)


_PAIRS: "Mapping[tuple[str, str], Callable[[Any, Any, _Names, str | None], _Made]]" = {
    (SWEEP, SWEEP): _sweeps,
    (RUN, RUN): _runs,
    (ANALYSIS, ANALYSIS): _captures,
    (RUN, ANALYSIS): _mixed,
    (ANALYSIS, RUN): _mixed,
}
"""Kinds of results that can be compared, and how."""
