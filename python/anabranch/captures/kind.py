"""Analyses of captures as a kind of result."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from anabranch.captures import store
from anabranch.plots.size import LookError
from anabranch.results.result_kinds import ANALYSIS, Drawing, ReadableKind

if TYPE_CHECKING:
    import os

    from anabranch.captures.data import CaptureData
    from anabranch.tables import Document


class _Analyses(ReadableKind):
    name = ANALYSIS
    meaning = "an analysis of captures"
    hint = "; it is an analysis of captures: ab.Capture.load reads it"

    def load(self, directory: "str | os.PathLike[str]") -> "CaptureData":
        return store.read(directory)

    def document(self, result: "CaptureData") -> "Document":
        from anabranch.captures.text import document

        return document(result)

    def figures(self, result: "CaptureData") -> Sequence[str]:
        from anabranch.captures import report

        return report.figures_of(result)

    def choices(self, result: "CaptureData") -> Sequence[str]:
        from anabranch.captures import report

        return list(report.CAPTURE_FIGURES)

    def made(self, result: "CaptureData", directory: str, wanted: Drawing) -> dict[str, bytes]:
        from anabranch.captures import report

        for name in wanted.names:
            if name not in self.figures(result):
                raise LookError(f"figure: {name!r} is empty for {directory}. {report.omitted(result)}")
        return super().made(result, directory, wanted)

    def image(self, result: "CaptureData", name: str, wanted: Drawing) -> bytes:
        from anabranch.captures import report

        return report.image(result, name, wanted.form, **wanted.look)

    def report(self, result: "CaptureData", directory: str) -> str:
        from anabranch.captures import report

        figures = {name: report.image(result, name, "svg").decode() for name in report.figures_of(result)}
        return report.capture_html(result, figures, store.marker(directory))


KIND = _Analyses()
