"""The runs of a sweep on disk: one table in numbered pieces, and a journal of the piece that is being made.

A finished run is appended to ``runs/000007.jsonl`` at once, one line each. When there are enough of them they become
the piece ``runs/000007.parquet``, a file that appears whole or not at all, with all numbers of the summary as columns
of their own; the subflows' numbers go to ``subflows/000007.parquet`` just before. A journal beside a piece of the same
number has had its day: so whenever the process dies, every run is found in exactly one place, and at most the line that
was being written is lost.

A run that failed and is made again has two rows until `compact`; the later one counts.

Pieces and lines carry a hash (`piece`). A damaged piece is an error that names it. A damaged line is no run: it is made
again like one that was never finished.
"""

import contextlib
import io
import json
import math
import os
import queue
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anabranch.measures.labels import connections_of
from anabranch.measures.table import MEASURES, column_of
from anabranch.results.directory import ResultError
from anabranch.sentences.escape import visible
from anabranch.sweeps import piece
from anabranch.sweeps.columns import COLUMNS
from anabranch.sweeps.piece import write_frame
from anabranch.sweeps.task import Record

if TYPE_CHECKING:
    import pandas as pd

RUNS = "runs"
SUBFLOWS = "subflows"
ROWS = 10_000
"""Runs in a piece; fewer if they are large."""
OCTETS = 32_000_000
"""Text of summaries and series in a piece, about."""

IDENTITY = ("scenario_sha256", "seed")
"""What tells the runs of a sweep apart."""
TEXTS = frozenset({"summary", "series"})
"""Columns that are large, and read only if they are asked for."""
_FEW = ("scenario_sha256", "status", "engine", "machine")
"""Columns with few different values, which are stored as such."""
_SUMS = tuple(name for name, measure in MEASURES.items() if measure.scopes == ("subflow",) and measure.is_summed)
"""Counts of subflows that `runs` holds summed up."""
_NESTED = {measure.field.partition(".")[0] for measure in MEASURES.values() if "." in measure.field}
"""Objects of the summary that become columns."""
_APART = frozenset({"subflows", "connections", "seed", "status", "title", "version"})
_TEXT = frozenset({name for name, measure in MEASURES.items() if measure.kind == "text"} | {*Record._fields})


def runs_frame(records: Sequence[Record]) -> "pd.DataFrame":
    """One row per run: identity, status, error, the summary's numbers, then the texts."""
    import pandas as pd

    rows = []
    for record in records:
        measured = numbers(json.loads(record.summary)) if record.summary else {}
        head = {name: getattr(record, name) for name in (*IDENTITY, "status", "error")}
        rows.append(head | measured | {"samples": len(json.loads(record.series)["t"]) if record.series else 0})
    frame = _typed(pd.DataFrame(rows, columns=None if rows else [*IDENTITY, "status", "error", "samples"]))
    tail = ("key", "events_hash", "engine", "machine", "summary", "series")
    texts = pd.DataFrame({name: pd.Series([getattr(r, name) for r in records], dtype=object) for name in tail})
    frame = pd.concat([frame, texts], axis=1)
    for name in _FEW:
        frame[name] = frame[name].astype("category")
    return frame


def flows_frame(records: Sequence[Record]) -> "pd.DataFrame":
    """One row per run and subflow: identity, ``connection``, ``subflow``, then the subflow's numbers."""
    import pandas as pd

    rows = [
        {"scenario_sha256": record.scenario_sha256, "seed": record.seed, "connection": c, "subflow": s}
        | {key: value for key, value in flow.items() if key != "connection"}
        for record in records
        if record.summary
        for c, connection in enumerate(connections_of(json.loads(record.summary)))
        for s, flow in enumerate(connection["subflows"])
    ]
    frame = _typed(pd.DataFrame(rows, columns=None if rows else [*IDENTITY, "connection", "subflow"]))
    frame["scenario_sha256"] = frame["scenario_sha256"].astype("category")
    # Without a row, as in a piece of failed runs, the numbers had no type, and a database takes them for texts.
    return frame.astype(dict.fromkeys(("seed", "connection", "subflow"), "int64"))


def numbers(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of ``sweep.runs`` that a summary gives."""
    out: dict[str, Any] = {}
    for key, value in summary.items():
        if key in _NESTED and isinstance(value, dict):
            out |= {column_of(key, name): number for name, number in value.items()}
        elif key not in _APART and not isinstance(value, list | dict):
            out[key] = value
    flows = summary.get("subflows", ())
    return out | {name: sum(flow[name] for flow in flows) for name in _SUMS if flows}


def _typed(frame: "pd.DataFrame") -> "pd.DataFrame":
    """`frame` with columns of one type: of numbers, what may be missing is NaN; of texts, it is empty."""
    import pandas as pd

    for name in frame.columns:
        column = frame[name]
        if name in _TEXT:
            if column.dtype != "category" and column.isna().any():
                frame[name] = column.astype(object).where(column.notna(), "")
        elif column.dtype == object and column.map(lambda x: x is None or isinstance(x, int | float)).all():
            frame[name] = column.map(lambda x: math.nan if x is None else float(x)).astype(float)
        elif not pd.api.types.is_numeric_dtype(column):
            frame[name] = column.astype(object).where(column.notna(), "")
    return frame


class Journal:
    """The piece that is being made. Only one process may have that of a sweep open.

    Pieces are written by a thread of their own: it takes a second or so, in which finished runs go to the next journal.

    Parameters
    ----------
    folder : Path
        The sweep's directory.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in (RUNS, SUBFLOWS):
            (folder / name).mkdir(exist_ok=True)
        whole = {int(file.stem) for file in pieces(folder)}
        for old in _journals(folder):
            if int(old.stem) in whole:
                old.unlink()
        self._sealing = queue.SimpleQueue[tuple[int, list[Record]] | None]()
        self._failure: OSError | None = None
        self._sealer: threading.Thread | None = None
        left = _journals(folder)
        self._number = int(left[-1].stem) if left else max(whole, default=-1) + 1
        self._rows: list[Record] = []
        self._size = 0
        self._file = self._opened()
        for file in left[:-1]:
            self._hand_over(int(file.stem), list(_records(_whole(file))))

    def _path(self, number: int) -> Path:
        return self.folder / RUNS / f"{number:06}.jsonl"

    def _opened(self) -> int:
        """Open the journal of the present number, which may have been begun before."""
        path = self._path(self._number)
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            content = _whole(path)
            self._rows = list(_records(content))
            self._size = len(content)
            os.ftruncate(file, self._size)
        except BaseException:
            os.close(file)
            raise
        return file

    def append(self, record: Record) -> None:
        """Write a finished run. If this fails, the journal is as it was."""
        text = piece.line(record)
        try:
            written = 0
            while written < len(text):
                written += os.write(self._file, text[written:])
        except OSError:
            os.ftruncate(self._file, self._size)
            raise
        self._size += len(text)
        self._rows.append(record)

    @property
    def full(self) -> bool:
        """It is time for the `next` one."""
        return len(self._rows) >= ROWS or self._size >= OCTETS

    def next(self) -> None:
        """Have a piece made of it, and begin the next one."""
        self._check()
        if self._rows:
            number, rows, file = self._number, self._rows, self._file
            self._number += 1
            try:
                self._file = self._opened()
            except OSError:
                self._number -= 1
                raise
            os.close(file)
            self._hand_over(number, rows)

    def duplicate(self) -> int:
        """Another descriptor of the file, to be synchronised and closed by the caller."""
        self._check()
        return os.dup(self._file)

    def finish(self) -> None:
        """Make pieces of all there is."""
        self.next()
        self._wait()
        self._check()

    def close(self) -> None:
        """Leave it for the next one who opens it; an empty one is removed."""
        self._wait()
        os.close(self._file)
        if not self._rows:
            self._path(self._number).unlink(missing_ok=True)

    def _hand_over(self, number: int, rows: list[Record]) -> None:
        if self._sealer is None:
            self._sealer = threading.Thread(target=self._seal, daemon=True)
            self._sealer.start()
        self._sealing.put((number, rows))

    def _wait(self) -> None:
        if self._sealer is not None:
            self._sealing.put(None)
            self._sealer.join()
            self._sealer = None

    def _check(self) -> None:
        """Raise what the other thread met. Its journal is still there, so nothing is lost."""
        if self._failure is not None:
            raise self._failure

    def _seal(self) -> None:
        while (part := self._sealing.get()) is not None and self._failure is None:
            number, rows = part
            try:
                _write_piece(self.folder, f"{number:06}.parquet", rows)
                self._path(number).unlink()
            except OSError as error:
                self._failure = error


def _write_piece(folder: Path, name: str, rows: Sequence[Record]) -> None:
    last = list({(row.scenario_sha256, row.seed): row for row in rows}.values())  # the later one counts
    write_frame(folder / SUBFLOWS / name, flows_frame(last))
    write_frame(folder / RUNS / name, runs_frame(last))


def pieces(folder: Path, kind: str = RUNS) -> list[Path]:
    """The files of the pieces that are whole."""
    return [folder / kind / file.name for file in sorted((folder / RUNS).glob("[0-9]*.parquet"))]


def _journals(folder: Path) -> list[Path]:
    return sorted((folder / RUNS).glob("[0-9]*.jsonl"))


def _whole(path: Path) -> bytes:
    """The journal up to its last whole line: a line that was being written when the process died is not one."""
    content = path.read_bytes()
    return content[: content.rfind(b"\n") + 1]


def _records(content: bytes) -> Iterator[Record]:
    for line in content.split(b"\n"):
        with contextlib.suppress(ValueError):  # after a loss of power a file may end in zeros
            yield Record(*piece.unsealed(line))


def _contents(folder: Path) -> tuple[list[Path], list[Record]]:
    """The pieces, and the runs that are in none yet; every run once, though another process goes on writing."""
    rows: dict[int, list[Record]] = {}
    for journal in _journals(folder):  # before the pieces: a journal is removed after its piece is there
        with contextlib.suppress(FileNotFoundError):
            rows[int(journal.stem)] = list(_records(_whole(journal)))
    whole = pieces(folder)
    known = {int(file.stem) for file in whole}
    return whole, [row for number, part in rows.items() if number not in known for row in part]


def journalled(folder: Path, kind: str = RUNS) -> "pd.DataFrame":
    """Return the rows of `kind` of the runs that are in no piece yet."""
    return _framed(folder, kind, _contents(folder)[1])


def _framed(folder: Path, kind: str, records: Sequence[Record]) -> "pd.DataFrame":
    """Return the rows of `kind` of `records`, which journals in `folder` hold."""
    frame = (runs_frame if kind == RUNS else flows_frame)(records)
    _check_columns(folder / RUNS, frame.columns)
    return frame


def _check_columns(place: Path, names: Iterable[str]) -> None:
    """Refuse columns that no sweep has: a sweep of someone else may name them as it likes.

    Raises
    ------
    ResultError
        With the name of the first such column.
    """
    for name in names:
        if name not in COLUMNS:
            raise ResultError(
                f"{place}: has the column {visible(repr(name))}, which no sweep has; copy the sweep again from its "
                "author, or delete it and run it again"
            )


def read_runs(folder: Path, columns: Sequence[str] | None = None) -> "pd.DataFrame":
    """The rows of all runs as they were finished, with those of `columns` there are; all but the texts if not given."""
    return _all(folder, RUNS, columns)


def read_flows(folder: Path, columns: Sequence[str] | None = None) -> "pd.DataFrame":
    """The rows of all subflows."""
    return _all(folder, SUBFLOWS, columns)


def _all(folder: Path, kind: str, columns: Sequence[str] | None) -> "pd.DataFrame":
    whole, rows = _contents(folder)
    frames = [_read(folder / kind / file.name, columns) for file in whole]
    if rows:
        frame = _framed(folder, kind, rows)
        frames.append(frame[chosen(frame.columns, columns)])
    return _joined(frames, _framed(folder, kind, []))


def chosen(names: Iterable[str], columns: Sequence[str] | None) -> list[str]:
    """Those of `names` that are among `columns`; all but the large ones if that is not given."""
    return [name for name in names if (name not in TEXTS if columns is None else name in columns)]


def _read(file: Path, columns: Sequence[str] | None) -> "pd.DataFrame":
    table = opened(file)
    frame: pd.DataFrame = table.to_pandas(columns=chosen(table.columns, columns))
    return frame


def opened(file: Path) -> Any:
    """Open a piece that is as it was written; only such a one is given to the reader, which would believe anything.

    Raises
    ------
    ResultError
        If the piece is damaged, or has a column that no sweep has.
    """
    from fastparquet import ParquetFile

    table = ParquetFile(io.BytesIO(piece.opened(file)))
    _check_columns(file, table.columns)
    return table


def _joined(frames: "list[pd.DataFrame]", empty: "pd.DataFrame") -> "pd.DataFrame":
    import pandas as pd
    from pandas.api.types import union_categoricals

    frames = [frame for frame in frames if len(frame)]
    if not frames:
        return empty
    if len(frames) == 1:
        return frames[0]
    few = [name for name in _FEW if name in frames[0].columns]
    merged = {name: union_categoricals([frame[name] for frame in frames]) for name in few}
    joined = pd.concat([frame.drop(columns=few) for frame in frames], ignore_index=True).assign(**merged)
    # A piece without any result has few columns, so the one with the most says their order.
    names = dict.fromkeys(name for frame in sorted(frames, key=lambda x: -len(x.columns)) for name in frame.columns)
    return _typed(joined[[*names]])


def compact(folder: Path) -> None:
    """Drop the rows of runs that were made again later."""
    seen: set[tuple[str, int]] = set()
    for whole in reversed(pieces(folder)):
        runs = [tuple(run) for run in _read(whole, IDENTITY).astype({"scenario_sha256": str}).to_numpy().tolist()]
        stale = seen.intersection(runs)
        seen.update(runs)
        for file in (folder / SUBFLOWS / whole.name, whole) if stale else ():
            rows = _read(file, [*_columns(file)])
            kept = [run not in stale for run in zip(*(rows[name] for name in IDENTITY), strict=True)]
            # Not rows[kept]: an empty list would choose no columns.
            write_frame(file, rows.loc[kept].reset_index(drop=True))


def columns(folder: Path) -> list[str]:
    """All columns of the runs, the large ones, too."""
    found = [name for file in pieces(folder) for name in _columns(file)]
    return [*dict.fromkeys([*found, *journalled(folder).columns])]


def _columns(file: Path) -> list[str]:
    return list(opened(file).columns)
