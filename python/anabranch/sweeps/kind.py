"""Sweeps as a kind of result."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anabranch.plots.size import LookError
from anabranch.results.result_kinds import SWEEP, Drawing, ReadableKind
from anabranch.sweeps import store

if TYPE_CHECKING:
    import os

    from anabranch.sweeps.data import SweepData
    from anabranch.tables import Document


class _Sweeps(ReadableKind):
    name = SWEEP
    meaning = "a sweep"
    marker = store.MARKER
    hint = (
        "; it is a sweep, which ab.Sweep.load reads: repeat it with `anabranch sweep {folder} --out MINE`, "
        "then `anabranch compare {folder} MINE`"
    )

    def load(self, directory: "str | os.PathLike[str]") -> "SweepData":
        return store.read(directory)

    def document(self, result: "SweepData") -> "Document":
        from anabranch.sweeps.table import document

        return document(result)

    def figures(self, result: "SweepData") -> Sequence[str]:
        from anabranch.sweeps import figures

        return figures.usual(result)

    def draw(self, directory: str, wanted: Drawing) -> dict[str, bytes]:
        return self.made(self.load(directory), directory, wanted)

    def image(self, result: "SweepData", name: str, wanted: Drawing) -> bytes:
        from anabranch.sweeps import figures

        cut: dict[str, Any] = {"x": wanted.over, "by": list(wanted.by) or None, "where": _values(wanted.where)}
        try:
            return figures.image(result, name, wanted.form, **cut, **wanted.look)
        except ValueError as error:
            raise LookError(f"figure {name}: {error}") from None

    def report(self, result: "SweepData", directory: str) -> str:
        from anabranch.sweeps import figures
        from anabranch.sweeps.report import page

        drawn = {name: figures.image(result, name, "svg").decode() for name in figures.usual(result)}
        return page(result, drawn, directory)


def _values(where: Sequence[str]) -> Mapping[str, str]:
    found = {}
    for text in where:
        name, equals, value = text.rpartition("=")
        if not equals or not name:
            raise LookError(f"where: {text!r} is not AXIS=VALUE, such as controller=coupled")
        found[name] = value
    return found


KIND = _Sweeps()
