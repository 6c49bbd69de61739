"""Directories of results whose mark, in ``provenance.json``, says how the result was made."""

import platform
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from anabranch.results import provenance
from anabranch.results.directory import PROVENANCE, Draft, dump, foreign
from anabranch.results.result_kinds import MARKS, mark_of
from anabranch.sentences.escape import visible

if TYPE_CHECKING:
    import os


class SignedDraft(Draft):
    """A place for a result that is not finished yet; see `Draft`.

    Attributes
    ----------
    kind : str
        Name of the kind of result.
    files, figures : sequence of str
        Names of the result's files, and names of its figures, which have several endings.

    Parameters
    ----------
    directory : path
        Where the result is wanted.
    command : sequence of str, optional
        The command line.
    sources : sequence of str, optional
        What the result is made of; without it, a result of anything else is replaced.
    force : bool
        Whether it may replace the result of something else.
    """

    kind: ClassVar[str]
    files: ClassVar[Sequence[str]]
    figures: ClassVar[Iterable[str]] = ()

    def __init__(
        self,
        directory: "str | os.PathLike[str]",
        command: Sequence[str] | None = None,
        sources: Sequence[str] | None = None,
        *,
        force: bool = False,
    ) -> None:
        super().__init__(directory, force=force or sources is None)
        self._sources = sources
        self.command = "python" if command is None else visible(shlex.join(["anabranch", *command]))

    def signature(self, version: str) -> dict[str, Any]:
        """Return the mark of a result that `version` of Anabranch made just now."""
        return {
            "format": MARKS[self.kind],
            "format_version": 1,
            "version": version,
            "machine": provenance.machine(),
            "python": platform.python_version(),
            "command": self.command,
            "started": provenance.now(),
        }

    def _is_ours(self, folder: Path) -> bool:
        return mark_of(folder / PROVENANCE) == MARKS[self.kind]

    def _foreign(self, folder: Path) -> list[str]:
        return foreign(folder, {*self.files, PROVENANCE}, self.figures)


def write(folder: Path, name: str, content: str) -> None:
    """Write the text `content` to the file `name` in `folder`, with the same octets on every system."""
    (folder / name).write_text(content, encoding="utf-8", newline="\n")


def sign(folder: Path, mark: dict[str, Any]) -> None:
    """Write the mark, which makes the files in `folder` a result: the last file to be written."""
    write(folder, PROVENANCE, dump(mark))
