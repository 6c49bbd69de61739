"""The registry of the kinds of results, by the mark that a stored result bears.

Every reader of results asks this registry. A kind is declared once, as a `ResultKind` in the module `kind` of its own
package; docs/architecture.md says how to add one. What takes results of several kinds (comparison, diagnosis, replay)
has a table of functions by the names of kinds.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from anabranch.results.directory import PROVENANCE, ResultError, missing
from anabranch.sentences.nearest import hint

if TYPE_CHECKING:
    import os

    from anabranch.plots.style import Look

RUN = "run"
SWEEP = "sweep"
ANALYSIS = "analysis"
STUDY = "study"
DIAGNOSIS = "diagnosis"
RECOMMENDATION = "recommendation"

MARKS = {
    RUN: "anabranch-result",
    SWEEP: "anabranch-sweep",
    ANALYSIS: "anabranch-capture",
    STUDY: "anabranch-study",
    DIAGNOSIS: "anabranch-diagnosis",
    RECOMMENDATION: "anabranch-recommendation",
}
"""The field ``format`` of stored results, by kind. These never change, so that stored results remain readable."""
_PACKAGES = {
    RUN: "runs",
    SWEEP: "sweeps",
    ANALYSIS: "captures",
    STUDY: "studies",
    DIAGNOSIS: "diagnosis",
    RECOMMENDATION: "recommendation",
}
"""Packages whose module `kind` declares the `KIND`."""
MARKERS = ("sweep.json", "study.json", PROVENANCE)
"""Files that may bear a mark, in the order in which a directory is searched for them."""
CAPTURE = re.compile(r"\.pcap(ng)?(\.gz)?$")
"""Ends the name of a capture."""


class Result(Protocol):
    """A result at hand, such as a `Run` or a `Sweep`."""

    @property
    def kind(self) -> str:
        """Name of its `ResultKind`."""


@dataclass(frozen=True)
class Drawing:
    """What ``anabranch plot`` asks of a stored result.

    Attributes
    ----------
    names : sequence of str
        Figures to draw; all if empty.
    form : str
        ``svg``, ``png`` or ``pdf``.
    report : bool
        Whether the report is written, too.
    over, by, where
        Of a sweep: the horizontal axis, axes whose values are lines, ``AXIS=VALUE`` for others.
    look : Look
        Title, width, height, texts in place of others.
    """

    names: Sequence[str]
    form: str
    report: bool
    over: str | None
    by: Sequence[str]
    where: Sequence[str]
    look: "Look"


class ResultKind:
    """A kind of stored result. As it stands, a kind that no command reads back (a study, a diagnosis).

    Attributes
    ----------
    name : str
        Name of the kind, such as ``"run"``.
    meaning : str
        The kind in messages, such as ``"a run"``.
    marker : str
        File of the result that bears the mark.
    hint : str
        What messages add where a result of this kind stands in place of a run; ``{folder}`` is its directory.
    """

    name: ClassVar[str]
    meaning: ClassVar[str]
    marker: ClassVar[str] = PROVENANCE
    hint: ClassVar[str] = ""

    def load(self, directory: "str | os.PathLike[str]") -> Any:
        """Read the result in `directory`.

        Raises
        ------
        ResultError
            If the result is damaged, or if results of this kind are never read back.
        """
        raise refusal(Path(directory))

    def draw(self, directory: str, wanted: Drawing) -> dict[str, bytes]:
        """Draw the figures and the report of the result in `directory`, by name of their files.

        Raises
        ------
        ResultError
            As `load`.
        LookError
            If `wanted` has options for another kind of result, or names figures that the result does not have.
        """
        from anabranch.plots.size import LookError

        for option in ("over", "by", "where"):
            if getattr(wanted, option):
                raise LookError(f"{option}: is for the figures of a sweep, and {directory} is not a sweep")
        return self.drawn(self.load(directory), directory, wanted)

    def drawn(self, result: Any, directory: str, wanted: Drawing) -> dict[str, bytes]:
        """Draw the figures and the report of `result`; none for a kind that is never read back."""
        return {}


class ReadableKind(ResultKind, ABC):
    """A kind of result that commands read back: it has a text, figures and a report."""

    @abstractmethod
    def document(self, result: Any) -> Any:
        """Return the text of `result` as a `tables.Document`."""

    @abstractmethod
    def figures(self, result: Any) -> Sequence[str]:
        """Return the names of the figures that `result` has."""

    @abstractmethod
    def image(self, result: Any, name: str, wanted: Drawing) -> bytes:
        """Draw one figure as a file."""

    @abstractmethod
    def report(self, result: Any, directory: str) -> str:
        """Return the HTML report of `result`, which is stored in `directory`."""

    def choices(self, result: Any) -> Sequence[str]:
        """Return the names that `Drawing.names` may have."""
        return self.figures(result)

    def drawn(self, result: Any, directory: str, wanted: Drawing) -> dict[str, bytes]:
        """Draw the figures and the report of `result`, by name of their files."""
        from anabranch.plots.size import LookError

        choices = self.choices(result)
        for name in wanted.names:
            if name not in choices:
                raise LookError(f"figure: {name!r} is not a figure; choices: {', '.join(choices)}{hint(name, choices)}")
        return self.made(result, directory, wanted)

    def made(self, result: Any, directory: str, wanted: Drawing) -> dict[str, bytes]:
        """Draw what `wanted` names, or all figures and the report."""
        names = wanted.names or self.figures(result)
        files = {f"{name}.{wanted.form}": self.image(result, name, wanted) for name in names}
        if wanted.report and not wanted.names:
            files["report.html"] = self.report(result, directory).encode()
        return files


def named(name: str) -> ResultKind:
    """Return the kind `name`, such as `RUN`."""
    kind: ResultKind = import_module(f"anabranch.{_PACKAGES[name]}.kind").KIND
    return kind


def readable(name: str) -> ReadableKind:
    """Return the kind `name`, which commands read back."""
    found = named(name)
    assert isinstance(found, ReadableKind), name
    return found


def _found(folder: Path) -> ResultKind | None:
    """The kind of the result in `folder`, by the mark that it bears."""
    for marker in MARKERS:
        mark = mark_of(folder / marker)
        for name in (name for name, known in MARKS.items() if known == mark):
            return named(name)
    return None


def mark_of(file: Path) -> str:
    """Return the format mark in `file`; an empty string if there is none."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    return str(content.get("format", "")) if isinstance(content, dict) else ""


def format_name(version: object) -> str:
    """Name the format of a result by the field ``format_version``, which may be missing (None).

    >>> format_name(2), format_name(None)
    ('format 2', 'an unknown format')
    """
    return "an unknown format" if version is None else f"format {version}"


def kind(directory: "str | os.PathLike[str]") -> ResultKind:
    """Return the kind of the result in `directory`, by the mark that it bears.

    Raises
    ------
    ResultError
        If it is none of ours.
    """
    folder = Path(directory)
    if not folder.is_dir():
        raise ResultError(
            f"{folder}: {missing(folder)}; give a directory that `anabranch run`, `sweep`, `analyze`, `diagnose` or "
            "`recommend` wrote with --out"
        )
    if found := _found(folder):
        return found
    if captures := sorted(entry.name for entry in folder.iterdir() if CAPTURE.search(entry.name)):
        ending = captures[0][captures[0].index(".pcap") :]
        raise ResultError(f"{folder}: a folder with captures; give the files: {folder / ('*' + ending)}")
    raise ResultError(
        f"{folder}: not an Anabranch result: it has no sweep.json, study.json or {PROVENANCE} of Anabranch; "
        "give a directory that a command wrote with --out"
    )


def refusal(folder: Path) -> ResultError:
    """Return the error for a directory that is read as a run and is none."""
    if not (folder / PROVENANCE).exists():
        return ResultError(f"{folder}: not the result of a run (it has no {PROVENANCE})")
    found = _found(folder)
    hint = found.hint.format(folder=folder) if found else ""
    return ResultError(f"{folder}: not the result of a run ({PROVENANCE} names none){hint}")
