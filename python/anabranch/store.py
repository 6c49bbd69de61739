"""Results on disk: a directory that appears whole or not at all."""

import contextlib
import errno
import hashlib
import io
import json
import os
import secrets
import shutil
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from anabranch.provenance import FORMAT, FORMAT_VERSION, Provenance, sha256

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from anabranch.results import Run

SUMMARY = "summary.json"
SERIES = "subflows.parquet"
SCENARIO = "scenario.toml"
PROVENANCE = "provenance.json"
REPORT = "report.html"

_FIGURE_SUFFIXES = {".svg", ".png", ".pdf"}
_LITTER = {".DS_Store", "Thumbs.db", "desktop.ini"}


FULL = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))


class ResultError(ValueError):
    """A directory that is not a result, or must not be replaced by one."""


def why(error: OSError) -> str:
    """What the file system says, in words."""
    full = error.errno in FULL and error.strerror == os.strerror(error.errno)  # and not words of our own
    return "no space left" if full else (error.strerror or str(error)).lower()


@contextlib.contextmanager
def naming(place: str) -> "Iterator[None]":
    """Say of an error of the file system where it was, by the name that the user gave it."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, why(error), place) from error


def load(directory: "str | os.PathLike[str]") -> "Run":
    """Read a result that `Run.save` or ``anabranch run --out`` wrote.

    Raises
    ------
    ResultError
        If `directory` is not a whole result.

    Examples
    --------
    >>> import tempfile, anabranch as ab
    >>> run = ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="1 MB").run()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run.save(folder + "/first")
    ...     again = ab.load(folder + "/first")
    >>> again.summary == run.summary
    True
    """
    from anabranch.results import Run, Stored

    folder = Path(directory)
    marker = _marker(folder)
    try:
        provenance = Provenance.from_dict(marker)
        summary = _read_summary(folder / SUMMARY, marker.get("summary_sha256"))
        toml = (folder / SCENARIO).read_text(encoding="utf-8")
        series = _read_series(folder / SERIES, marker["series_sha256"])
    except (OSError, ValueError, KeyError) as error:
        reason = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise ResultError(f"{folder}: not a whole Anabranch result: {reason}") from error
    return Run(summary=summary, toml=toml, provenance=provenance, series=Stored(series))


def untouched(run: "Run") -> bool:
    """Whether the stored scenario is the one that was run."""
    return sha256(run.toml) == run.provenance.scenario_sha256


def is_result(folder: Path) -> bool:
    """Whether `folder` bears the mark of a result."""
    try:
        _marker(folder)
    except ResultError:
        return False
    return True


def _marker(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        what = "is a file, not a directory" if folder.exists() else "no such directory"
        raise ResultError(f"{folder}: {what}; a result is a directory written by `anabranch run --out`")
    try:
        marker = json.loads((folder / PROVENANCE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ResultError(f"{folder}: not an Anabranch result (it has no {PROVENANCE})") from None
    except (OSError, ValueError) as error:
        raise ResultError(f"{folder}: not an Anabranch result: {PROVENANCE}: {error}") from error
    if not isinstance(marker, dict) or marker.get("format") != FORMAT:
        hint = ""
        if (folder / "sweep.json").exists():
            hint = "; it is a sweep: ab.Sweep.load reads it"
        elif isinstance(marker, dict) and marker.get("format") == "anabranch-capture":
            hint = "; it is an analysis of captures: ab.Capture.load reads it"
        raise ResultError(f"{folder}: not an Anabranch result ({PROVENANCE} does not say so){hint}")
    if marker.get("format_version") != FORMAT_VERSION:
        raise ResultError(
            f"{folder}: a result of format {marker.get('format_version')}; this version of Anabranch reads format "
            f"{FORMAT_VERSION}"
        )
    return marker


def _read_summary(path: Path, sha256: str | None) -> dict[str, Any]:
    octets = path.read_bytes()
    # Results of earlier versions have no such hash.
    if sha256 is not None and hashlib.sha256(octets).hexdigest() != sha256:
        raise ValueError(f"{path.name} is not the file that was written")
    summary = json.loads(octets)
    if not isinstance(summary, dict) or not isinstance(summary.get("subflows"), list) or "trace_sha256" not in summary:
        raise ValueError(f"{path.name} is not the summary of a run")
    return summary


def _read_series(path: Path, sha256: str) -> "dict[str, Any]":
    octets = path.read_bytes()
    if hashlib.sha256(octets).hexdigest() != sha256:  # the reader's own answers to damage are hard to understand
        raise ValueError(f"{path.name} is not the file that was written")
    from fastparquet import ParquetFile

    frame = ParquetFile(io.BytesIO(octets)).to_pandas()  # given a path, it would leave the file open
    return {name: frame[name].to_numpy() for name in frame.columns}


def foreign(folder: Path, ours: "Iterable[str]", figures: "Iterable[str]") -> list[str]:
    """Names in `folder` that are neither `ours` nor those of `figures`."""
    known = {*ours, *_LITTER, *(name + suffix for name in figures for suffix in _FIGURE_SUFFIXES)}
    return sorted(entry.name for entry in folder.iterdir() if entry.name not in known)


class Draft:
    """A place for a result that is not finished yet: a hidden directory beside the final one.

    Entering it checks that the result can be written where it is wanted, before anything is run. `commit` writes the
    result and moves it into place; leaving without `commit` removes every trace.
    """

    def __init__(self, directory: "str | os.PathLike[str]") -> None:
        self.shown = os.fspath(directory)
        self.target = Path(os.path.realpath(directory))
        self._made: list[Path] = []
        self._folder: Path | None = None

    def __enter__(self) -> "Draft":
        """Check the place and reserve it."""
        self._check()
        parent = self.target.parent
        missing = [folder for folder in (parent, *parent.parents) if not folder.exists()]
        try:
            for folder in reversed(missing):
                folder.mkdir()
                self._made.append(folder)
            folder = parent / f".{self.target.name}.{secrets.token_hex(4)}.partial"
            folder.mkdir()
        except OSError as error:
            self.discard()
            raise OSError(error.errno, why(error), self.shown) from error
        self._folder = folder
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove what was not committed."""
        self.discard()

    def commit(self, run: Any) -> None:
        """Write `run` and move it into place."""
        if self._folder is None:
            raise RuntimeError("commit() outside of the draft's `with` block")
        with naming(self.shown):
            self._write(run, self._folder)
        self._check()  # again: a run may take long
        with naming(self.shown):
            self._move(self._folder)

    def _move(self, folder: Path) -> None:
        """Put the finished directory in its place, instead of an older result."""
        old = None
        if self.target.exists():
            old = folder.with_suffix(".old")
            self.target.rename(old)
        try:
            folder.rename(self.target)
        except BaseException:
            if old is not None:
                old.rename(self.target)
            raise
        self._folder = None
        self._made.clear()
        if old is not None:
            shutil.rmtree(old, ignore_errors=True)

    def _check(self) -> None:
        here = Path.cwd()
        if self.target == here or self.target in here.parents:
            raise ResultError(
                f"{self.shown}: a result needs a directory of its own, such as {Path(self.shown) / 'out'}"
            )
        if not self.target.exists():
            return
        if not self.target.is_dir():
            raise ResultError(f"{self.shown}: a file of this name exists; a result is a directory")
        if any(self.target.iterdir()):
            if not self._is_ours(self.target):
                raise ResultError(
                    f"{self.shown}: neither empty nor an Anabranch result, so it is left alone; "
                    "choose another directory"
                )
            foreign = self._foreign(self.target)
            if foreign:
                raise ResultError(
                    f"{self.shown}: holds {_some(foreign)} beside an older result, so it is left alone; "
                    "choose another directory"
                )

    def _write(self, run: Any, folder: Path) -> None:
        write(run, folder, self.shown)

    def _is_ours(self, folder: Path) -> bool:
        return is_result(folder)

    def _foreign(self, folder: Path) -> list[str]:
        from anabranch.plots import FIGURES

        ours = {SUMMARY, SERIES, SCENARIO, PROVENANCE, REPORT}
        return foreign(folder, ours, FIGURES)

    def discard(self) -> None:
        """Remove what was not committed."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
        for folder in reversed(self._made):
            with contextlib.suppress(OSError):
                folder.rmdir()
        self._made.clear()


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def write(run: "Run", folder: Path, shown: str) -> None:
    """Write the files of a result; provenance, which makes it one, comes last.

    Parameters
    ----------
    run : Run
        What to write.
    folder : Path
        An existing directory.
    shown : str
        What the report calls the directory.
    """
    import fastparquet

    from anabranch.plots import render
    from anabranch.report import report_html

    (folder / SUMMARY).write_text(dump(run.summary), encoding="utf-8", newline="\n")
    (folder / SCENARIO).write_text(run.toml, encoding="utf-8", newline="\n")
    fastparquet.write(str(folder / SERIES), run.subflows, compression="ZSTD", write_index=False)
    figures = render(run)
    for name, svg in figures.items():
        (folder / f"{name}.svg").write_text(svg, encoding="utf-8", newline="\n")
    (folder / REPORT).write_text(report_html(run, figures, shown), encoding="utf-8", newline="\n")
    hashes = {
        f"{name}_sha256": hashlib.sha256((folder / file).read_bytes()).hexdigest()
        for name, file in (("summary", SUMMARY), ("series", SERIES))
    }
    marker = run.provenance.to_dict() | hashes
    (folder / PROVENANCE).write_text(dump(marker), encoding="utf-8", newline="\n")


def dump(value: "Mapping[str, Any]") -> str:
    """`value` as JSON text; NaN and infinities, which JSON does not have, raise ValueError."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
