"""Runs on disk."""

import hashlib
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anabranch.results.directory import (
    ITEMS,
    PROVENANCE,
    REPORT,
    SCENARIO,
    SERIES,
    SUMMARY,
    Draft,
    ResultError,
    dump,
    foreign,
    missing,
)
from anabranch.results.provenance import FORMAT_VERSION, Provenance, sha256
from anabranch.results.result_kinds import MARKS, RUN, format_name, mark_of, refusal
from anabranch.runs.data import RunData, Stored

if TYPE_CHECKING:
    import os
    from collections.abc import Callable


def read(directory: "str | os.PathLike[str]") -> RunData:
    """What a run left in `directory`; ResultError if that is not a whole result."""
    folder = Path(directory)
    marker = _marker(folder)
    try:
        provenance = Provenance.from_dict(marker)
        summary = _read_summary(folder / SUMMARY, marker.get("summary_sha256"))
        toml = (folder / SCENARIO).read_text(encoding="utf-8")
        series = _read_frame(folder / SERIES, marker["series_sha256"])
        # Runs without such parts, and results of earlier versions, have no such file.
        items = _read_frame(folder / ITEMS, marker["items_sha256"]) if "items_sha256" in marker else {}
    except (OSError, ValueError, KeyError) as error:
        reason = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise ResultError(f"{folder}: not a whole Anabranch result: {reason}") from error
    return RunData(summary=summary, toml=toml, provenance=provenance, series=Stored(series), parts=Stored(items))


def untouched(run: RunData) -> bool:
    """Whether the stored scenario is the one that was run."""
    return sha256(run.toml) == run.provenance.scenario_sha256


def _marker(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        what = missing(folder)
        raise ResultError(f"{folder}: {what}; a result is a directory written by `anabranch run --out`")
    try:
        marker = json.loads((folder / PROVENANCE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ResultError(f"{folder}: not the result of a run (it has no {PROVENANCE})") from None
    except (OSError, ValueError) as error:
        raise ResultError(f"{folder}: not the result of a run: {PROVENANCE}: {error}") from error
    if not isinstance(marker, dict) or marker.get("format") != MARKS[RUN]:
        raise refusal(folder)
    if marker.get("format_version") != FORMAT_VERSION:
        raise ResultError(
            f"{folder}: a result of {format_name(marker.get('format_version'))}; this version of Anabranch reads "
            f"format {FORMAT_VERSION}; run the scenario again"
        )
    return marker


def _read_summary(path: Path, sha256: str | None) -> dict[str, Any]:
    octets = path.read_bytes()
    # Results of earlier versions have no such hash.
    if sha256 is not None and hashlib.sha256(octets).hexdigest() != sha256:
        raise ValueError(f"{path.name} was changed after it was written")
    summary = json.loads(octets)
    if not isinstance(summary, dict) or not isinstance(summary.get("subflows"), list) or "trace_sha256" not in summary:
        raise ValueError(f"{path.name} is not the summary of a run")
    return summary


def _read_frame(path: Path, sha256: str) -> "dict[str, Any]":
    octets = path.read_bytes()
    if hashlib.sha256(octets).hexdigest() != sha256:  # the reader's own answers to damage are hard to understand
        raise ValueError(f"{path.name} was changed after it was written")
    from fastparquet import ParquetFile

    frame = ParquetFile(io.BytesIO(octets)).to_pandas()  # given a path, it would leave the file open
    return {name: frame[name].to_numpy() for name in frame.columns}


def write(run: RunData, folder: Path, shown: str) -> None:
    """Write the files of a result; provenance, which makes it one, comes last.

    Parameters
    ----------
    run : RunData
        What to write.
    folder : Path
        An existing directory.
    shown : str
        What the report calls the directory.
    """
    import fastparquet

    from anabranch.plots import render
    from anabranch.runs.report import report_html

    (folder / SUMMARY).write_text(dump(run.summary), encoding="utf-8", newline="\n")
    (folder / SCENARIO).write_text(run.toml, encoding="utf-8", newline="\n")
    fastparquet.write(str(folder / SERIES), run.subflows, compression="ZSTD", write_index=False)
    if len(run.items):
        fastparquet.write(str(folder / ITEMS), run.items, compression="ZSTD", write_index=False)
    figures = render(run)
    for name, svg in figures.items():
        (folder / f"{name}.svg").write_text(svg, encoding="utf-8", newline="\n")
    (folder / REPORT).write_text(report_html(run, figures, shown), encoding="utf-8", newline="\n")
    hashes = {
        f"{name}_sha256": hashlib.sha256((folder / file).read_bytes()).hexdigest()
        for name, file in (("summary", SUMMARY), ("series", SERIES), ("items", ITEMS))
        if (folder / file).exists()
    }
    marker = run.provenance.to_dict() | hashes
    (folder / PROVENANCE).write_text(dump(marker), encoding="utf-8", newline="\n")


class RunDraft(Draft):
    """A place for a run that is not finished yet; see `Draft`.

    Parameters
    ----------
    directory : path
        Where the run is wanted.
    is_same : callable, optional
        Says of the text of a stored scenario whether it is the scenario that is run; without it any older run is
        replaced.
    force : bool
        Whether it may replace the run of another scenario.
    """

    def __init__(
        self,
        directory: "str | os.PathLike[str]",
        is_same: "Callable[[str], bool] | None" = None,
        *,
        force: bool = False,
    ) -> None:
        super().__init__(directory, force=force or is_same is None)
        self._is_same = is_same

    def _other(self, folder: Path) -> str | None:
        try:
            stored = (folder / SCENARIO).read_text(encoding="utf-8")
        except (OSError, ValueError):
            return "a result whose scenario cannot be read"
        same = self._is_same is None or self._is_same(stored)
        return None if same else "the result of another scenario"

    def _write(self, result: RunData, folder: Path) -> None:
        write(result, folder, self.shown)

    def _is_ours(self, folder: Path) -> bool:
        return mark_of(folder / PROVENANCE) == MARKS[RUN]

    def _foreign(self, folder: Path) -> list[str]:
        from anabranch.plots import ALL, RECORDED

        recorded = [file.stem for file in folder.iterdir() if file.name.startswith(RECORDED)]
        return foreign(folder, {SUMMARY, SERIES, ITEMS, SCENARIO, PROVENANCE, REPORT}, [*ALL, *recorded])
