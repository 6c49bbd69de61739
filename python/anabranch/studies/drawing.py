"""Draws the figures of a study: in a thread while the sweeps run, then in further processes, too."""

import contextlib
import queue
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from anabranch.execution.child import Child
from anabranch.studies import find, names
from anabranch.studies.base import Data, Study
from anabranch.sweeps import store
from anabranch.sweeps.threads import cores

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from anabranch.studies.task import Task
    from anabranch.sweeps.data import SweepData
    from anabranch.sweeps.store import Store

KINDS = ("svg", "png", "pdf")
"""File formats of each figure."""
_FIGURES_PER_PROCESS = 2
"""Least number of undrawn figures for each further process, which takes as long to start as to draw
one figure."""


class Drawing(threading.Thread):
    """A thread that closes complete sweeps of a study and draws figures while the next sweep runs.

    A figure is drawn as soon as all sweeps that it shows are complete. The engine does not hold
    Python's global lock, so the thread draws while the engine runs. matplotlib holds the lock, so
    two threads cannot draw at once: after the last sweep, further processes help.

    Attributes
    ----------
    data : Data
        The complete sweeps; after `finish`, all sweeps.
    files : dict
        For each figure that has been drawn, the content of its files by format.
    """

    def __init__(self, task: "Task", opened: "Mapping[str, Store]") -> None:
        super().__init__(daemon=True)
        self._sweeps: dict[str, SweepData] = {}
        self.data = Data(task.study, self._sweeps, task.quick)
        self.files: dict[str, dict[str, bytes]] = {}
        self._task = task
        self._opened = opened
        self._over = queue.SimpleQueue[str | None]()
        self._closing = threading.Lock()
        self._taking = threading.Lock()
        self._left = list(task.figures)

    def over(self, sweep: str) -> None:
        """Tell the thread that all runs of `sweep` have been made."""
        self._over.put(sweep)

    def run(self) -> None:
        """Close sweeps and draw figures until `finish` is called.

        Errors are ignored: `studies.run.products` draws a figure that is missing again, and reports
        the error.
        """
        name: str | None = ""
        while name is not None:
            with contextlib.suppress(Exception):
                if name:
                    self._close(name)
                for figure in self._taken():
                    self.files[figure] = draw(self._task.study, figure, self.data, KINDS)
            name = self._over.get()

    def finish(self) -> Data:
        """Close all sweeps. If the thread was started, wait until all figures are drawn."""
        for name in self._opened:
            self._close(name)
        if self.is_alive():
            self._over.put(None)
            self._share()
            self.join()
        return self.data

    def _share(self) -> None:
        """Draw the figures that the thread has not begun, in further processes."""
        study = self._task.study
        if study.name not in names() or find(study.name) is not study:
            return  # a further process looks the study up by its name
        wanted = min(cores() - 1, len(self._left) // _FIGURES_PER_PROCESS)
        children = [Child(f"{__name__}:answer") for _ in range(wanted)]
        threads = [threading.Thread(target=self._draw_in, args=(child,), daemon=True) for child in children]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            for child in children:
                child.end()

    def _draw_in(self, child: Child) -> None:
        folders = {name: opened.folder for name, opened in self._opened.items()}
        with contextlib.suppress(Exception):
            for figure in self._taken():
                self.files[figure] = child.ask((self._task.study.name, figure, folders, self._task.quick))

    def _taken(self) -> Iterator[str]:
        """Yield names of figures whose sweeps are complete. No two callers get the same figure."""
        while True:
            with self._taking:
                ready = [figure for figure in self._left if self._is_ready(figure)]
                if not ready:
                    return
                self._left.remove(ready[0])
            yield ready[0]

    def _is_ready(self, figure: str) -> bool:
        return all(sweep in self._sweeps for sweep in self._task.needs(self._task.study.figures[figure]))

    def _close(self, name: str) -> None:
        with self._closing:
            if name not in self._sweeps:
                done = self._opened[name].finish()
                self._opened[name].close()
                self._sweeps[name] = done


_READ: dict[tuple[str, bool], Data] = {}
"""In a further process: the runs that `answer` has read, by study and form (quick or full)."""


def answer(request: tuple[str, str, Mapping[str, Path], bool]) -> dict[str, bytes]:
    """Draw one figure in a further process.

    Parameters
    ----------
    request : tuple
        Names of the study and of the figure; the folder of each sweep, by the sweep's name; whether
        this is the quick form.

    Returns
    -------
    dict
        Content of the figure's files, by format.
    """
    name, figure, folders, quick = request
    if (name, quick) not in _READ:
        sweeps = {sweep: store.read(folder) for sweep, folder in folders.items()}
        _READ[name, quick] = Data(find(name), sweeps, quick)
    data = _READ[name, quick]
    return draw(data.study, figure, data, KINDS)


def draw(study: Study, name: str, data: Data, kinds: Iterable[str]) -> dict[str, bytes]:
    """Return the figure `name` in several file formats. Equal runs give equal bytes."""
    from matplotlib import style as looks

    from anabranch.plots.files import octets
    from anabranch.plots.style import RC

    with looks.context(["default", RC | {"font.size": 9}]):
        figure = drawn(study, name, data)
        return {kind: octets(figure, kind, 150) for kind in kinds}


def drawn(study: Study, name: str, data: Data) -> "Figure":
    """Return the figure `name`, laid out once for all file formats."""
    from matplotlib.figure import Figure as Canvas

    from anabranch.plots import fit

    figure = Canvas(layout=fit.Fitted())
    study.figures[name].draw(data, figure)
    fit.settle(figure)
    return figure
