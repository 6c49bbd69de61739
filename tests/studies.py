"""What the tests of all studies share."""

from pathlib import Path

from anabranch.experiments import run
from anabranch.experiments.base import Data, Study


def quick_data(study: Study, directory: Path) -> Data:
    """The runs of the quick form of `study`, made in `directory`."""
    task = run.Task(study, quick=True)
    plans = task.plans()
    stores = run.stores(task, directory, plans, "python")
    run.execute(stores)
    return run.Drawing(task, stores).finish()
