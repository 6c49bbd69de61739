"""Reading an analysis of captures from its directory, and making it again; `report` writes it."""

import hashlib
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anabranch.captures.data import CaptureData, measure
from anabranch.results.directory import PROVENANCE, SERIES, SUMMARY, ResultError
from anabranch.results.result_kinds import ANALYSIS, format_name, kind, named

if TYPE_CHECKING:
    import os

FORMAT_VERSION = 1
SEQUENCE = "sequence.parquet"
WINDOW = "window.parquet"


@dataclass(frozen=True)
class Stored:
    """Frames in a directory, read when they are asked for."""

    folder: Path
    sha256: Mapping[str, str]

    def subflows(self) -> Mapping[str, Any]:
        """Over time."""
        return self._columns(SERIES)

    def sequence(self) -> Mapping[str, Any]:
        """What was sent when."""
        return self._columns(SEQUENCE)

    def window(self) -> Mapping[str, Any]:
        """What the receiver said."""
        return self._columns(WINDOW)

    def _columns(self, name: str) -> Mapping[str, Any]:
        from fastparquet import ParquetFile

        try:
            frame = ParquetFile(io.BytesIO(checked(self.folder / name, self.sha256))).to_pandas()
        except (OSError, ValueError) as error:
            raise _damaged(self.folder, error) from error
        return {name: frame[name].to_numpy() for name in frame.columns}


def read(directory: "str | os.PathLike[str]") -> CaptureData:
    """Read an analysis; see `anabranch.captures.capture.Capture.load`."""
    folder = Path(directory)
    mark = marker(folder)
    captures = mark.get("captures", [])
    try:
        stored = Stored(folder, mark.get("sha256", {}))
        summary = json.loads(checked(folder / SUMMARY, stored.sha256))
        if not isinstance(summary, dict) or not isinstance(summary.get("capture"), dict):
            raise ValueError(f"{SUMMARY} is not the summary of a capture")
        files = [entry["name"] for entry in captures or summary["capture"]["files"]]
        hashes = [entry["sha256"] for entry in captures]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _damaged(folder, error) from error
    return CaptureData(summary, tuple(files), stored, tuple(hashes), mark.get("protocol"))


def marker(directory: "str | os.PathLike[str]") -> dict[str, Any]:
    """What marks a directory as an analysis: version, command, hashes."""
    folder = Path(directory)
    found = kind(folder)
    if found.name != ANALYSIS:
        raise ResultError(
            f"{folder}: {found.meaning}, not {named(ANALYSIS).meaning}; name a folder that `analyze --out` wrote"
        )
    content: dict[str, Any] = json.loads((folder / PROVENANCE).read_text(encoding="utf-8"))
    if content.get("format_version") != FORMAT_VERSION:
        raise ResultError(
            f"{folder}: an analysis of {format_name(content.get('format_version'))}; this version of Anabranch reads "
            f"format {FORMAT_VERSION}; analyse the captures again"
        )
    return content


def _damaged(folder: Path, error: Exception) -> ResultError:
    reason = f"no {error}" if isinstance(error, KeyError) else str(error)
    return ResultError(f"{folder}: not a whole analysis of captures: {reason}")


def checked(file: Path, sha256: Mapping[str, str]) -> bytes:
    """The octets of `file`; ValueError if they are not those that were written."""
    octets = file.read_bytes()
    # Analyses of earlier versions have no hashes.
    if file.name in sha256 and hashlib.sha256(octets).hexdigest() != sha256[file.name]:
        raise ValueError(f"{file.name} was changed after it was written")
    return octets


def sha256_of(file: "str | os.PathLike[str]") -> str:
    """SHA-256 of a file, hexadecimal; empty if it can be read only once, as standard input."""
    path = Path(file)
    if not path.is_file():
        return ""
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def again_readable(directory: "str | os.PathLike[str]") -> list[str]:
    """The captures of a stored analysis; ResultError if one is not where it was, or is another one."""
    stored = read(directory)
    for name, sha256 in zip(stored.files, stored.hashes, strict=False):
        if not sha256:
            raise ResultError(
                f"{directory}: no hash of its capture {name} is stored, because it was not a file when the analysis "
                "was saved; analyse it again from a file"
            )
        if not Path(name).is_file():
            raise ResultError(
                f"{directory}: its capture {name} is not here; go to the directory in which `analyze` was run"
            )
        if sha256_of(name) != sha256:
            raise ResultError(
                f"{directory}: its capture {name} was changed after the analysis; restore the original capture"
            )
    return list(stored.files)


def again(directory: "str | os.PathLike[str]", poll: "Callable[[int, int], None] | None" = None) -> list[str]:
    """Analyse the captures of a stored analysis once more.

    Returns
    -------
    list of str
        What is not as it was; nothing if the analysis is reproduced.

    Raises
    ------
    ResultError
        If `directory` is no analysis, or a capture is not where it was, or is another one.
    """
    stored = read(directory)
    again_readable(directory)
    now = measure(stored.files, stored.protocol, poll)
    differs = [
        key
        for key in {**stored.summary, **now.summary}
        if key not in {"version", "wall_s"} and stored.summary.get(key) != now.summary.get(key)
    ]
    return differs + [
        name for name in ("subflows", "sequence", "window") if not getattr(stored, name).equals(getattr(now, name))
    ]
