"""Running a study and writing its directory."""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anabranch.execution.progress import State
from anabranch.results.directory import ResultError, dump
from anabranch.results.result_kinds import MARKS, STUDY
from anabranch.studies.base import Data, Table
from anabranch.studies.drawing import KINDS, draw
from anabranch.studies.task import Task
from anabranch.sweeps.execute import make
from anabranch.sweeps.piece import write_whole
from anabranch.sweeps.plan import PlanData
from anabranch.sweeps.provenance import Provenance
from anabranch.sweeps.store import Store

if TYPE_CHECKING:
    import os

    from anabranch.sweeps.task import Record

MARKER = "study.json"
REPORT = "report.html"
SWEEPS, TABLES, FIGURES = "sweeps", "tables", "figures"


def stores(
    task: Task, directory: "str | os.PathLike[str]", plans: Mapping[str, PlanData], command: str
) -> dict[str, Store]:
    """Make `directory` ready.

    Raises
    ------
    ResultError
        If it holds anything but this study, or runs of another engine.
    """
    folder = Path(directory)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        try:
            found = json.loads((folder / MARKER).read_text(encoding="utf-8"))
            mine = found["format"] == MARKS[STUDY] and found["study"] == task.study.name
        except (OSError, ValueError, KeyError, TypeError):
            mine = False
        if not mine:
            raise ResultError(
                f"{folder}: neither empty nor a directory of the study {task.study.name}, so nothing is written; "
                "choose another with --out"
            )
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / MARKER, dump({"format": MARKS[STUDY], "study": task.study.name}).encode())
    return {name: Store.open(folder / SWEEPS / name, plan, command, allow_mixed=None) for name, plan in plans.items()}


def execute(
    opened: Mapping[str, Store],
    progress: Callable[[State], None] | None = None,
    over: Callable[[str], None] | None = None,
) -> None:
    """Make the runs that are missing; `over` is told of each sweep that is complete.

    What two sweeps share is made once.
    """
    runs = {name: [(cell.sha256, seed) for cell, seed in store.plan.runs()] for name, store in opened.items()}
    total = sum(map(len, runs.values()))
    stored = sum(run in opened[name].statuses for name, found in runs.items() for run in found)
    known: dict[tuple[str, int], Record] = {}
    before = last = State(total, stored, 0, 0, 0.0)

    def show(state: State) -> None:
        nonlocal last
        last = state
        if progress is not None:
            progress(
                state._replace(
                    total=total,
                    stored=stored,
                    done=before.done + state.done,
                    failed=before.failed + state.failed,
                    seconds=before.seconds + state.seconds,
                )
            )

    for name, store in opened.items():
        last = State(0, 0, 0, 0, 0.0)
        shared = sum(run in known and run not in store.statuses for run in runs[name])
        make(store, known=known, progress=show)
        known |= store.get(runs[name])
        before = before._replace(
            done=before.done + last.done + shared,
            failed=before.failed + last.failed,
            seconds=before.seconds + last.seconds,
        )
        if over is not None:
            over(name)


SUFFIXES = {"markdown": "md", "latex": "tex"}
"""Ends of the names of tables in these forms."""


def products(
    task: Task,
    data: Data,
    directory: "str | os.PathLike[str]",
    drawn: Mapping[str, Mapping[str, bytes]],
    form: str = "text",
) -> Iterator[tuple[str, Path, Any]]:
    """Make tables and figures, but for those `drawn`, and write their files: name, file, and the table or SVG text.

    Tables are written as CSV, and in the `form` ``markdown`` or ``latex``, too.
    """
    folder = Path(directory)
    for kind in (TABLES, FIGURES):
        (folder / kind).mkdir(exist_ok=True)
    for name in task.tables:
        table = task.study.tables[name].make(data)
        file = folder / TABLES / f"{name}.csv"
        write_whole(file, table.frame.to_csv(index=False, lineterminator="\n", float_format="%.6g").encode())
        if form in SUFFIXES:
            text = "\n".join(table.plain().written(form))
            write_whole(file.with_suffix(f".{SUFFIXES[form]}"), f"{text}\n".encode())
        yield name, file, table
    for name in task.figures:
        files = drawn.get(name) or draw(task.study, name, data, KINDS)
        for kind, content in files.items():
            write_whole(folder / FIGURES / f"{name}.{kind}", content)
        yield name, folder / FIGURES / f"{name}.svg", files["svg"].decode()


def write_report(
    task: Task,
    data: Data,
    made: Sequence[tuple[str, Path, Any]],
    directory: "str | os.PathLike[str]",
    provenance: Provenance,
    *,
    command: Sequence[str],
    started: float,
) -> Path:
    """Write the report of all products and return its file."""
    from anabranch.studies.page import page

    tables: dict[str, Table] = {name: product for name, _, product in made if isinstance(product, Table)}
    figures: dict[str, str] = {name: product for name, _, product in made if isinstance(product, str)}
    text = page(task.study, data, tables, figures, provenance, command=command, seconds=time.monotonic() - started)
    file = Path(directory) / REPORT
    write_whole(file, text.encode())
    return file
