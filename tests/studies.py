"""Helpers for the tests of all studies."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from anabranch.studies import drawing as figures
from anabranch.studies import result, run
from anabranch.studies.base import Data, Entry, Study
from anabranch.studies.task import Task
from figure_texts import assert_fits, assert_logarithmic_axes_can_be_read


def quick_data(study: Study, directory: Path) -> Data:
    """Runs the quick form of `study` in `directory` and returns its data.

    Also writes and checks all that `anabranch study NAME --quick` writes, but figures as SVG only.
    """
    task = Task(study, quick=True)
    opened = run.stores(task, directory, task.plans(), "python")
    run.execute(opened)
    drawing = figures.Drawing(task, opened)
    data = drawing.finish()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "drawn", _kept(figures.drawn))
        drawing.files = {name: figures.draw(study, name, data, ("svg",)) for name in task.figures}
    found = result.finished(task, opened, drawing, directory, started=time.monotonic())
    assert found.report is not None
    assert found.sentences
    assert (list(found.tables), list(found.figures)) == (task.tables, task.figures)
    for name in task.tables:
        assert (directory / run.TABLES / f"{name}.csv").stat().st_size > 0
    page = found.report.read_text(encoding="utf-8")
    assert page.count("data:image/svg+xml") == len(task.figures)
    return data


_FIGURES: dict[tuple[str, str], Figure] = {}
"""Figures that `quick_data` drew, laid out; by the names of their study and their own."""


def _kept(draw: Callable[[Study, str, Data], Figure]) -> Callable[[Study, str, Data], Figure]:
    """Returns `draw` that also keeps each figure in `_FIGURES`."""

    def drawn(study: Study, name: str, data: Data) -> Figure:
        return _FIGURES.setdefault((study.name, name), draw(study, name, data))

    return drawn


def assert_figures_fit(study: Study, data: Data, *names: str) -> None:
    """Asserts that texts of the named figures neither overlap nor leave the figure.

    Also asserts that logarithmic axes can be read.
    """
    for name in names:
        figure = _FIGURES.get((study.name, name)) or figures.drawn(study, name, data)
        assert_logarithmic_axes_can_be_read(figure, assert_fits(figure))


OTHERS = {"statements", "gains", "judgement", "order", "claims", "leading", "memory", "walk"}
"""Names of tables that show no mean goodput or completion time."""


def assert_stopped_runs_are_counted(study: Study, data: Data) -> None:
    """Asserts that every table with mean goodputs or completion times reports stalled runs.

    Marks all runs of `data` as stalled and makes the tables from them, except `OTHERS`.
    """
    stalled = Data(study, data.sweeps, data.quick)
    for sweep in data.sweeps:
        stalled._groups["frame", sweep] = stalled.frame(sweep).assign(status="stalled")
    for name, spec in study.tables.items():
        if name in OTHERS or spec.full or not set(spec.needs) <= set(data.sweeps):
            continue
        cells = [cell for row in spec.make(stalled).rows for cell in row]
        assert any(isinstance(cell, Entry) and cell.stopped for cell in cells), f"{study.name}: {name}"
