"""A sweep on disk: a directory that a later run of the same sweep goes on with.

``sweep.json`` says what was asked and by whom it is answered; it marks the directory. ``cells/*.parquet`` hold the
finished runs, each under its key, written every few seconds, whole files only. ``runs.parquet`` and
``subflows.parquet`` are made of these at the end: the tidy frames, for other programs to read.
"""

import io
import json
import platform
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anabranch import provenance
from anabranch.scenario import Scenario, Value
from anabranch.store import ResultError, dump
from anabranch.sweeps.execute import Record
from anabranch.sweeps.plan import Cell, Engine, Plan, Point, engine

if TYPE_CHECKING:
    import os

    import pandas as pd

    from anabranch.sweeps.results import Sweep

FORMAT = "anabranch-sweep"
FORMAT_VERSION = 1
MARKER = "sweep.json"
CELLS = "cells"
RUNS = "runs.parquet"
SUBFLOWS = "subflows.parquet"
TABLE = "table.csv"


@dataclass(frozen=True)
class Provenance:
    """Where the runs of a sweep come from. No host or user names.

    Attributes
    ----------
    version, commit, build : str
        Of Anabranch; `build` is a hash of the program if version and commit do not say which one it is.
    machine, python : str
        Operating system, architecture and processor; version of Python.
    command : str
        The command line, or ``python``.
    started : str
        UTC, ISO 8601: when the sweep was first begun.
    """

    version: str
    commit: str
    build: str
    machine: str
    python: str
    command: str
    started: str

    @classmethod
    def here(cls, command: str = "python") -> "Provenance":
        """Of a sweep made by this process now."""
        by = engine()
        return cls(
            version=by.version,
            commit=by.commit,
            build=by.build,
            machine=provenance.machine(),
            python=platform.python_version(),
            command=command,
            started=provenance.now(),
        )

    @property
    def engine(self) -> Engine:
        """Who made the runs."""
        return Engine(self.version, self.commit, self.build)


@dataclass(frozen=True)
class Store:
    """The directory of a sweep that is being run.

    Attributes
    ----------
    folder : Path
        The directory.
    provenance : Provenance
        Of the runs in it.
    """

    folder: Path
    provenance: Provenance

    @classmethod
    def open(cls, directory: "str | os.PathLike[str]", plan: Plan, command: str = "python") -> "Store":
        """Make `directory` ready for the runs of `plan`, or go on with what is there.

        Raises
        ------
        ResultError
            If it holds anything but a sweep, or a sweep of another engine.
        """
        folder = Path(directory)
        made = Provenance.here(command)
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            found = read_marker(folder)[0]
            if found.engine != made.engine:
                raise ResultError(
                    f"{folder}: its runs are by {found.engine}, this is {made.engine}\n"
                    "runs of two engines are not mixed; choose another directory, or delete this one"
                )
            made = replace(made, started=found.started)
        (folder / CELLS).mkdir(parents=True, exist_ok=True)
        write_whole(folder / MARKER, dump(_marker(made, plan)).encode())
        return cls(folder, made)

    def records(self) -> dict[str, Record]:
        """The finished runs, by key."""
        return read_records(self.folder)

    def append(self, records: "Iterable[Record]") -> None:
        """Add finished runs: one more file."""
        import pandas as pd

        frame = pd.DataFrame(list(records), columns=list(Record._fields))
        write_whole(self.folder / CELLS / f"{secrets.token_hex(8)}.parquet", _parquet(frame, asdict(self.provenance)))

    def finish(self, sweep: "Sweep") -> None:
        """Write the frames."""
        from anabranch.sweeps.table import csv

        made = asdict(self.provenance)
        write_whole(self.folder / RUNS, _parquet(sweep.runs, made))
        write_whole(self.folder / SUBFLOWS, _parquet(sweep.subflows, made))
        write_whole(self.folder / TABLE, csv(sweep).encode())


def _marker(made: Provenance, plan: Plan) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        **asdict(made),
        "scenario": plan.scenario.toml,
        "scenario_name": plan.scenario.name,
        "set": [list(change) for change in plan.scenario.overrides],
        "axes": {
            name: [{"label": point.label, "changes": dict(point.changes)} for point in points]
            for name, points in plan.axes.items()
        },
        "seeds": list(plan.seeds),
        "cells": [
            {
                "labels": list(cell.labels.values()),
                "set": [list(change) for change in cell.scenario.overrides],
                "scenario_sha256": cell.sha256,
                "error": cell.error,
            }
            for cell in plan.cells
        ],
    }


def read_marker(folder: Path) -> tuple[Provenance, dict[str, Any]]:
    """Provenance and plan of the sweep in `folder`, or ResultError."""
    if not folder.is_dir():
        what = "is a file, not a directory" if folder.exists() else "no such directory"
        raise ResultError(f"{folder}: {what}; a sweep is a directory written by `anabranch sweep --out`")
    try:
        marker: dict[str, Any] = json.loads((folder / MARKER).read_text(encoding="utf-8"))
        if marker["format"] != FORMAT:
            raise KeyError("format")
        if marker["format_version"] != FORMAT_VERSION:
            raise ResultError(
                f"{folder}: a sweep of format {marker['format_version']}; this version of Anabranch reads format "
                f"{FORMAT_VERSION}"
            )
        made = Provenance(**{name: marker[name] for name in Provenance.__dataclass_fields__})
    except FileNotFoundError:
        raise ResultError(f"{folder}: not a sweep (it has no {MARKER}), so it is left alone") from None
    except ResultError:
        raise
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ResultError(f"{folder}: not a sweep: {MARKER} is damaged ({error})") from None
    return made, marker


def read_plan(marker: Mapping[str, Any]) -> Plan:
    """The plan in a marker, as it was validated when it was run."""
    scenario = Scenario(marker["scenario"], marker["scenario_name"], _changes(marker["set"]))
    axes = {
        name: tuple(Point(point["label"], point["changes"]) for point in points)
        for name, points in marker["axes"].items()
    }
    cells = tuple(
        Cell(
            _labels(axes, cell["labels"]),
            replace(scenario, overrides=_changes(cell["set"])),
            cell["scenario_sha256"],
            cell["error"],
        )
        for cell in marker["cells"]
    )
    return Plan(scenario, axes, tuple(marker["seeds"]), cells)


def _labels(axes: Mapping[str, Any], values: list[Value]) -> dict[str, Value]:
    return dict(zip(axes, values, strict=True))


def _changes(pairs: list[list[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((key, value) for key, value in pairs)


def read_records(folder: Path) -> dict[str, Record]:
    """The finished runs in `folder`, by key."""
    from fastparquet import ParquetFile

    found: dict[str, Record] = {}
    for file in sorted((folder / CELLS).glob("*.parquet")):
        try:
            frame = ParquetFile(io.BytesIO(file.read_bytes())).to_pandas(columns=list(Record._fields))
        except Exception as error:  # the reader has no error of its own
            raise ResultError(f"{file}: damaged ({error}); delete this file and run the sweep again") from error
        for record in map(Record._make, frame.itertuples(index=False)):
            if record.key not in found or record.summary:
                found[record.key] = record
    return found


def _parquet(frame: "pd.DataFrame", made: Mapping[str, str]) -> bytes:
    import fastparquet

    buffer = io.BytesIO()
    keep, buffer.close = buffer.close, lambda: None  # type: ignore[method-assign] # the writer closes what it is given
    fastparquet.write(
        "frame",
        frame,
        compression="ZSTD",
        write_index=False,
        custom_metadata={"anabranch": json.dumps(dict(made))},
        open_with=lambda *_: buffer,
    )
    content = buffer.getvalue()
    keep()
    return content


def write_whole(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    try:
        draft.write_bytes(content)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
