"""`study`: the name of a study, and what comes of it."""

import base64
import os
import shutil
import tempfile
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anabranch.execution.bar import bar
from anabranch.sentences.nearest import hint
from anabranch.studies import find, names
from anabranch.studies import run as steps
from anabranch.studies.base import Data, Study, Table
from anabranch.studies.drawing import Drawing
from anabranch.studies.task import Task
from anabranch.sweeps.results import Sweep

if TYPE_CHECKING:
    import pandas as pd

    from anabranch.execution.progress import State
    from anabranch.sweeps.store import Store


class StudyError(ValueError):
    """There is no such study, or no such part of it."""


@dataclass(frozen=True, eq=False, repr=False)
class StudyResult:
    """A paper's experiments, run again, beside the paper's numbers.

    Attributes
    ----------
    study : Study
        Which: ``name``, ``title``, ``source``.
    folder : Path
        Where runs, tables, figures and report are. A temporary folder is removed with the result.
    figures : dict
        Each figure as SVG text, by its name. A table may have the same name.
    sentences : list of str
        What the numbers say; empty if only some parts were asked for.
    report : Path, optional
        The report; None if only some parts were asked for.
    """

    study: Study
    folder: Path
    figures: "Mapping[str, str]"
    sentences: Sequence[str]
    report: Path | None
    _tables: "Mapping[str, Table]"
    _data: Data

    @property
    def tables(self) -> "dict[str, pd.DataFrame]":
        """The numbers of each table, by its name."""
        return {name: table.frame for name, table in self._tables.items()}

    @property
    def sweeps(self) -> dict[str, Sweep]:
        """The sweeps that were run, by their names."""
        return {name: Sweep.around(data) for name, data in self._data.sweeps.items()}

    def _repr_html_(self) -> str:
        from anabranch.studies.page import table_html

        head = f"<strong>{escape(self.study.title)}</strong><br>{escape(self.study.source)}"
        body = [f"<p>{head}</p>", *(f"<p>{escape(sentence)}</p>" for sentence in self.sentences)]
        body += [f"<p><strong>{escape(t.title)}</strong></p>{table_html(t)}" for t in self._tables.values()]
        for name, svg in self.figures.items():
            data = base64.b64encode(svg.encode()).decode()
            title = escape(self.study.figures[name].title)
            body.append(f'<p>{title}<br><img alt="{title}" src="data:image/svg+xml;base64,{data}"></p>')
        return "".join(body)

    def __str__(self) -> str:
        """The sentences, one paragraph each; without any, the tables."""
        if self.sentences:
            return "\n\n".join(self.sentences)
        tables = [table.plain().text() for table in self._tables.values()]
        return "\n\n".join("\n".join(lines) for lines in tables)

    def __repr__(self) -> str:
        return f"<anabranch.StudyResult {self.study.name}, {len(self._tables) + len(self.figures)} tables and figures>"


def study(
    name: str,
    *,
    quick: bool = False,
    only: Sequence[str] = (),
    out: "str | os.PathLike[str] | None" = None,
    progress: "Callable[[State], None] | None" = None,
) -> StudyResult:
    """Run a paper's experiments, and put the paper's numbers beside them.

    Parameters
    ----------
    name : str
        One of ``anabranch study --list``: ``"alheid-2014-aina"``, ``"schedulers"``, ...
    quick : bool
        Seconds: one seed, and only the main tables and figures.
    only : sequence of str
        Only these tables and figures, such as ``"fig-10"``; no report.
    out : path, optional
        A folder for runs, tables, figures and report. Runs that are there are not made again. A temporary folder if
        not given.
    progress : callable, optional
        Called with a `State` about ten times a second.

    Raises
    ------
    StudyError
        If no study, table or figure has the name.
    ResultError
        If `out` holds something else.
    KeyboardInterrupt
        After Ctrl-C; runs that were finished are in `out`.

    Examples
    --------
    >>> import anabranch as ab
    >>> found = ab.study("alheid-2014-sims", quick=True, only=["table-2"])
    >>> list(found.tables)
    ['table-2']
    """
    task = asked(name, quick=quick, only=only)
    if out is not None:
        return _made(task, Path(os.fspath(out)), progress)
    folder = Path(tempfile.mkdtemp(prefix="anabranch-"))
    try:
        found = _made(task, folder / name, progress)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(found, shutil.rmtree, folder, ignore_errors=True)
    return found


def _made(task: Task, folder: Path, progress: "Callable[[State], None] | None") -> StudyResult:
    started = time.monotonic()
    opened = steps.stores(task, folder, task.plans(), "python")
    drawing = Drawing(task, opened)
    drawing.start()
    with bar(progress, task.study.name) as shown:
        steps.execute(opened, shown, drawing.over)
    return finished(task, opened, drawing, folder, started=started)


def asked(name: str, *, quick: bool, only: Sequence[str]) -> Task:
    """Return what of which study is to be made.

    Raises
    ------
    StudyError
        If there is no such study, or no such part of it.
    """
    if name not in names():
        raise StudyError(f"unknown study {name!r}; studies: {', '.join(names())}{hint(name, names())}")
    chosen = find(name)
    parts = [*chosen.tables, *chosen.figures]
    for part in only:
        if part not in parts:
            raise StudyError(
                f"--only: {part!r} is not a part of {name}; its tables and figures: {', '.join(parts)}"
                f"{hint(part, parts)}"
            )
    return Task(chosen, quick, tuple(only))


def finished(
    task: Task,
    opened: "Mapping[str, Store]",
    drawing: Drawing,
    folder: Path,
    *,
    started: float,
    form: str = "text",
    told: "Callable[[tuple[str, Path, Any]], None] | None" = None,
) -> StudyResult:
    """Make tables, figures and report of the runs of a study, which are complete.

    Parameters
    ----------
    task, opened, drawing : Task, mapping, Drawing
        What was asked for, and its runs.
    folder : Path
        Where the files go.
    started : float
        When it began, on the monotonic clock.
    form : str
        A form of tables that is written beside CSV: ``"markdown"`` or ``"latex"``.
    told : callable, optional
        Called with name, file and content of each table and figure.
    """
    data = drawing.finish()
    made = []
    for product in steps.products(task, data, folder, drawing.files, form):
        made.append(product)
        if told is not None:
            told(product)
    sentences: list[str] = []
    report = None
    if not task.only:
        again = ["anabranch", "study", task.study.name, *(["--quick"] if task.quick else []), "--out", str(folder)]
        provenance = next(iter(opened.values())).provenance
        report = steps.write_report(task, data, made, folder, provenance, command=again, started=started)
        sentences = [task.study.opening(data), *task.study.findings(data)]
    tables = {name: part for name, _, part in made if isinstance(part, Table)}
    figures = {name: part for name, _, part in made if not isinstance(part, Table)}
    return StudyResult(task.study, folder, figures, sentences, report, tables, data)
