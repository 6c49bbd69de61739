"""What the tests of all studies share."""

from pathlib import Path

from anabranch.experiments import run
from anabranch.experiments.base import Data, Entry, Study
from figure_texts import assert_fits, assert_logarithmic_axes_can_be_read


def quick_data(study: Study, directory: Path) -> Data:
    """The runs of the quick form of `study`, made in `directory`."""
    task = run.Task(study, quick=True)
    plans = task.plans()
    stores = run.stores(task, directory, plans, "python")
    run.execute(stores)
    return run.Drawing(task, stores).finish()


def assert_figures_fit(study: Study, data: Data, *names: str) -> None:
    """No text leaves these figures of a study, none lies over another, and logarithmic axes can be read."""
    for name in names:
        figure = run.drawn(study, name, data)
        assert_fits(figure)
        assert_logarithmic_axes_can_be_read(figure)


OTHERS = {"statements", "gains", "judgement", "order", "claims", "leading", "memory", "walk"}
"""Tables without means of goodputs or completion times."""


def assert_stopped_runs_are_counted(study: Study, data: Data) -> None:
    """If every run stopped, every table with means of goodputs or completion times says so."""
    stalled = Data(study, data.sweeps, data.quick)
    for sweep in data.sweeps:
        stalled._groups["frame", sweep] = stalled.frame(sweep).assign(status="stalled")
    for name, spec in study.tables.items():
        if name in OTHERS or spec.full or not set(spec.needs) <= set(data.sweeps):
            continue
        cells = [cell for row in spec.make(stalled).rows for cell in row]
        assert any(isinstance(cell, Entry) and cell.stopped for cell in cells), f"{study.name}: {name}"
