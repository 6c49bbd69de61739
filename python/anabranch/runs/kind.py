"""Runs as a kind of result."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from anabranch.results.result_kinds import RUN, Drawing, ReadableKind
from anabranch.runs import store

if TYPE_CHECKING:
    import os

    from anabranch.runs.data import RunData
    from anabranch.tables import Document


class _Runs(ReadableKind):
    name = RUN
    meaning = "a run"

    def load(self, directory: "str | os.PathLike[str]") -> "RunData":
        return store.read(directory)

    def document(self, result: "RunData") -> "Document":
        from anabranch.runs.text import document

        return document(result)

    def figures(self, result: "RunData") -> Sequence[str]:
        from anabranch.plots import figures_of

        return list(figures_of(result))

    def image(self, result: "RunData", name: str, wanted: Drawing) -> bytes:
        from anabranch import plots

        return plots.image(result, name, wanted.form, **wanted.look)

    def report(self, result: "RunData", directory: str) -> str:
        from anabranch import plots
        from anabranch.runs.report import report_html

        return report_html(result, plots.render(result), directory)


KIND = _Runs()
