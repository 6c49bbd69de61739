"""What the tests of all studies share."""

from pathlib import Path

from anabranch.experiments import run
from anabranch.experiments.base import Data, Study
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
