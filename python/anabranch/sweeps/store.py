"""A sweep on disk: a directory that a later run of the same sweep goes on with.

``sweep.json`` says what was asked and marks the directory, ``provenance.json`` says by whom it is answered,
``cells.parquet`` says what the axes are called in each cell; `dataset` keeps the runs.
"""

import contextlib
import itertools
import json
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anabranch.algorithms.base import Algorithm
from anabranch.algorithms.references import value_of
from anabranch.results.directory import ResultError, lock, missing, why
from anabranch.results.result_kinds import MARKS, SWEEP, format_name
from anabranch.scenario import Scenario, Value
from anabranch.sweeps import dataset
from anabranch.sweeps.columns import COLUMNS
from anabranch.sweeps.data import Folder, SweepData
from anabranch.sweeps.piece import is_sealed, sealed, write_frame, write_whole
from anabranch.sweeps.places import labels_frame
from anabranch.sweeps.plan import Cell, Options, PlanData, Point
from anabranch.sweeps.provenance import Provenance
from anabranch.sweeps.table import csv
from anabranch.sweeps.task import FAILED, REFUSED, Record
from anabranch.sweeps.until import Precision

if TYPE_CHECKING:
    import pandas as pd


FORMAT_VERSION = 3
MARKER = "sweep.json"
PROVENANCE = "provenance.json"
CELLS = "cells.parquet"
TABLE = "table.csv"
LOCK = ".lock"


@dataclass
class Store:
    """The directory of a sweep that is being run. Only one process can have it open.

    Attributes
    ----------
    folder : Path
        The directory.
    provenance : Provenance
        Of the runs in it.
    plan : PlanData
        What is to be made.
    statuses : dict
        Status of every run that is there, of this plan or another, by hash of the scenario and seed; without those
        that lack the series that the plan wants.
    stale : bool
        There are rows of runs that were made again.
    """

    folder: Path
    provenance: Provenance
    plan: PlanData
    statuses: dict[tuple[str, int], str]
    stale: bool
    _journal: dataset.Journal
    _closing: contextlib.ExitStack
    _writing: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def open(
        cls,
        directory: "str | os.PathLike[str]",
        plan: PlanData,
        command: str = "python",
        *,
        allow_mixed: bool | None = False,
    ) -> "Store":
        """Make `directory` ready for the runs of `plan`, or go on with what is there.

        `allow_mixed` says whether that may be runs of another engine; None: no, and there is no option to say so.

        Raises
        ------
        ResultError
            If it holds anything but a sweep, a sweep of another engine, or one that another process is making.
        OSError
            If it cannot be written.
        """
        folder = Path(directory)
        made = Provenance.here(command, plan)
        with contextlib.ExitStack() as stack:
            found = _found(folder)
            if found is not None:
                if found.engine != made.engine:
                    if not allow_mixed:
                        offer = "" if allow_mixed is None else ", or allow it with --allow-mixed"
                        raise ResultError(
                            f"{folder}: its runs are by {found.engine}, this is {made.engine}\n"
                            f"runs of two engines are not mixed; choose another directory, or delete this one{offer}"
                        )
                    made = made.with_earlier(str(found.engine))
                made = replace(made.with_earlier(*found.earlier), started=found.started)
            with _said(folder):
                folder.mkdir(parents=True, exist_ok=True)
                held = stack.enter_context((folder / LOCK).open("ab"))
                lock(held.fileno(), f"{folder}: another process is making runs there; wait for it, or end it")
                for draft in (*folder.glob(".*.partial"), *folder.glob("*/.*.partial")):
                    draft.unlink()
                write_whole(folder / MARKER, sealed(_marker(plan)).encode())
                write_whole(folder / PROVENANCE, sealed(_signed(made)).encode())
                write_frame(folder / CELLS, cells_frame(plan))
                journal = dataset.Journal(folder)
            stack.callback(journal.close)
            return cls(folder, made, plan, *_statuses(folder, series=plan.options.series > 0), journal, stack.pop_all())

    def append(self, records: Iterable[Record]) -> None:
        """Keep finished runs. Any thread may do so."""
        with self._writing, _said(self.folder):
            for record in records:
                self._journal.append(record)
                run = (record.scenario_sha256, record.seed)
                self.stale = self.stale or run in self.statuses
                self.statuses[run] = record.status
                if self._journal.full:
                    self._journal.next()

    def sync(self) -> None:
        """Have the disk keep what was written, even if the power goes."""
        with _said(self.folder):
            with self._writing:
                file = self._journal.duplicate()
            try:
                os.fsync(file)  # may take seconds, in which others write on
            finally:
                os.close(file)

    def get(self, runs: Iterable[tuple[str, int]]) -> dict[tuple[str, int], Record]:
        """Those of `runs` that are there, whole."""
        wanted = {run for run in runs if run in self.statuses}
        return {run: record for run, record in _all(self.folder) if run in wanted} if wanted else {}

    def replan(self, plan: PlanData) -> None:
        """From now on `plan` is what is to be made."""
        self.plan = plan
        with _said(self.folder):
            write_whole(self.folder / MARKER, sealed(_marker(plan)).encode())

    @property
    def others(self) -> int:
        """Number of runs in the directory that the plan does not have."""
        return len(self.statuses.keys() - {(cell.sha256, seed) for cell, seed in self.plan.runs()})

    def finish(self) -> SweepData:
        """Make one table of all pieces, and the short one for people; the runs as frames."""
        with _said(self.folder):
            self._journal.finish()
            if self.stale:
                dataset.compact(self.folder)
            done = self.sweep()
            write_whole(self.folder / TABLE, csv(done).encode())
        return done

    def sweep(self) -> SweepData:
        """The runs as frames, which are read when they are asked for."""
        return SweepData(self.plan, Folder(self.folder), self.provenance)

    def close(self) -> None:
        """Leave the directory to others."""
        self._closing.close()


def _found(folder: Path) -> Provenance | None:
    """Provenance of the sweep in `folder`; None if it is new, or hardly begun."""
    if folder.is_dir():
        if all(entry.name == LOCK or entry.name.startswith(f".{MARKER}.") for entry in folder.iterdir()):
            return None
        if (folder / MARKER).exists() and not (folder / PROVENANCE).exists():
            read_marker(folder)  # a sweep that ended between its first two files has no runs
            return None
        if (folder / MARKER).exists():
            return _provenance(folder)  # the marker is written anew in any case
    elif not folder.exists():
        return None
    return read_provenance(folder)


@contextlib.contextmanager
def _said(folder: Path) -> Iterator[None]:
    """Say of which sweep an error of the file system is."""
    try:
        yield
    except OSError as error:
        raise StoreError(error.errno, why(error), str(folder)) from error


class StoreError(OSError):
    """The directory of a sweep cannot be written; what was written before is kept."""


def _signed(made: Provenance) -> dict[str, Any]:
    return {"format": MARKS[SWEEP], "format_version": FORMAT_VERSION, **asdict(made)}


def _marker(plan: PlanData) -> dict[str, Any]:
    return {
        "format": MARKS[SWEEP],
        "format_version": FORMAT_VERSION,
        "scenario": plan.scenario.toml,
        "scenario_name": plan.scenario.name,
        "set": [list(change) for change in plan.scenario.overrides],
        "axes": {
            name: [{"label": point.label, "changes": _written(point.changes)} for point in points]
            for name, points in plan.axes.items()
        },
        "seeds": list(plan.seeds),
        "options": plan.options._asdict(),
        "precision": None if plan.precision is None else plan.precision._asdict(),
        "cells": [
            [cell.sha256, cell.error, *([] if cell.scenario == plain else [cell.scenario.toml])]
            for plain, cell in zip(_plain_cells(plan.scenario, plan.axes), plan.cells, strict=True)
        ],
    }


def _written(changes: Mapping[str, Value]) -> dict[str, Value]:
    """Changes as JSON has them: a class written in Python as the text that names it."""
    return {key: value_of(v) if isinstance(v, Algorithm | type) else v for key, v in changes.items()}


def _plain_cells(scenario: Scenario, axes: Mapping[str, tuple[Point, ...]]) -> Iterator[Scenario]:
    """The scenario of each cell, but for those whose axes name files: these have documents of their own."""
    for points in itertools.product(*axes.values()):
        changes = {key: value for point in points for key, value in point.changes.items()}
        yield scenario.set(changes) if changes else scenario


def cells_frame(plan: PlanData) -> "pd.DataFrame":
    """One row per cell: the axes, ``scenario_sha256``, ``error``."""
    frame = labels_frame(plan)
    return frame.assign(scenario_sha256=[c.sha256 for c in plan.cells], error=[c.error for c in plan.cells])


def _json(folder: Path, name: str) -> dict[str, Any]:
    """The file `name` of the sweep in `folder`, or ResultError."""
    if not folder.is_dir():
        raise ResultError(f"{folder}: {missing(folder)}; a sweep is a directory written by `anabranch sweep --out`")
    try:
        content: dict[str, Any] = json.loads((folder / name).read_text(encoding="utf-8"))
        if content["format"] != MARKS[SWEEP]:
            raise KeyError("format")
        version = content["format_version"]
    except FileNotFoundError:
        raise ResultError(
            f"{folder}: not a directory of a sweep (it has no {name}), so it is not used; give another directory"
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _damaged(folder, name, str(error)) from None
    if version != FORMAT_VERSION:
        raise ResultError(
            f"{folder}: a sweep of {format_name(version)}; this version of Anabranch reads format {FORMAT_VERSION}; "
            "use the version that made it"
        )
    if not is_sealed(content):
        raise _damaged(folder, name, "changed after it was written")
    return content


def _damaged(folder: Path, name: str, why: str) -> ResultError:
    mend = (
        "the command that made the sweep writes it anew, and keeps the runs"
        if name == MARKER and (folder / PROVENANCE).exists()
        else "take it from a copy, or delete the directory"
    )
    return ResultError(f"{folder}: not a sweep: {name} is damaged ({why}); {mend}")


def read_provenance(folder: Path) -> Provenance:
    """Provenance of the sweep in `folder`, or ResultError."""
    _json(folder, MARKER)
    return _provenance(folder)


def _provenance(folder: Path) -> Provenance:
    content = _json(folder, PROVENANCE)
    try:
        return Provenance.from_dict(content)
    except (KeyError, TypeError) as error:
        raise _damaged(folder, PROVENANCE, str(error)) from None


def read_marker(folder: Path) -> PlanData:
    """The plan of the sweep in `folder` as it was validated when it was run, or ResultError."""
    marker = _json(folder, MARKER)
    try:
        scenario = Scenario(
            marker["scenario"], marker["scenario_name"], tuple((key, value) for key, value in marker["set"])
        )
        axes = {
            name: tuple(Point(point["label"], point["changes"]) for point in points)
            for name, points in marker["axes"].items()
        }
        if taken := sorted(COLUMNS.intersection(axes)):
            raise ValueError(f"an axis has the name of a column: {taken[0]}")
        cells = tuple(
            Cell(
                dict(zip(axes, [point.label for point in points], strict=True)),
                Scenario(own[0], scenario.name) if own else plain,
                sha256,
                error,
            )
            for points, plain, (sha256, error, *own) in zip(
                itertools.product(*axes.values()), _plain_cells(scenario, axes), marker["cells"], strict=True
            )
        )
        precision = marker["precision"]
        return PlanData(
            scenario,
            axes,
            tuple(marker["seeds"]),
            cells,
            Options(**marker["options"]),
            None if precision is None else Precision(**precision),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(folder, MARKER, str(error)) from None


def read(directory: "str | os.PathLike[str]") -> SweepData:
    """The sweep in `directory`, finished or not; ResultError if there is none."""
    folder = Path(directory)
    made = read_provenance(folder)
    return SweepData(read_marker(folder), Folder(folder), made)


def _statuses(folder: Path, *, series: bool) -> tuple[dict[tuple[str, int], str], bool]:
    """Of each run the status of its last row, and whether one has several, or is to be made again."""
    frame = dataset.read_runs(folder, [*dataset.IDENTITY, "status", "samples"])
    columns = (frame[name].tolist() for name in ("scenario_sha256", "seed", "status", "samples"))
    found, stale = dict[tuple[str, int], str](), False
    for sha256, seed, status, samples in zip(*columns, strict=True):
        stale = stale or (sha256, seed) in found
        if series and not samples and status not in {REFUSED, FAILED}:
            stale = True
        else:
            found[sha256, seed] = status
    return found, stale


def _all(folder: Path) -> Iterator[tuple[tuple[str, int], Record]]:
    frame = dataset.read_runs(folder, Record._fields)
    wanted = frame.reindex(columns=list(Record._fields), fill_value="")  # sweeps of older versions have fewer
    for row in map(Record._make, wanted.to_numpy(object).tolist()):
        yield (row.scenario_sha256, row.seed), row
