"""Drawing the figures of a study: while its sweeps are run, and afterwards on all cores."""

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
"""Kinds of files of each figure."""
_FIGURES_PER_PROCESS = 2
"""Figures that are left for each further process at least: its start takes as long as a figure."""


class Drawing(threading.Thread):
    """Closes each sweep that has been run, and draws the figures that need no other sweep, while the next sweep is run.

    The engine does not hold Python's lock, so this takes time that the cores have left. matplotlib
    does hold the lock: when all sweeps have been run, further processes draw the rest.

    Attributes
    ----------
    data : Data
        The sweeps so far; all of them after `finish`.
    files : dict
        Files of a figure by kind, by the figure's name.
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
        """Note that all runs of `sweep` have been made."""
        self._over.put(sweep)

    def run(self) -> None:
        """Draw until `finish`. A figure that fails is drawn again by `products`, which reports the error."""
        name: str | None = ""
        while name is not None:
            with contextlib.suppress(Exception):
                if name:
                    self._close(name)
                for figure in self._taken():
                    self.files[figure] = draw(self._task.study, figure, self.data, KINDS)
            name = self._over.get()

    def finish(self) -> Data:
        """Close the sweeps that are left, and wait for the figures if the thread was started."""
        for name in self._opened:
            self._close(name)
        if self.is_alive():
            self._over.put(None)
            self._share()
            self.join()
        return self.data

    def _share(self) -> None:
        """Draw in further processes what this thread has not yet begun."""
        study = self._task.study
        if study.name not in names() or find(study.name) is not study:
            return  # the processes find a study by its name
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
        """Yield figures whose sweeps are complete, each to one caller."""
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
"""In a process that draws: what it has read."""


def answer(request: tuple[str, str, Mapping[str, Path], bool]) -> dict[str, bytes]:
    """In a further process: draw a figure of a study whose sweeps are stored in folders."""
    name, figure, folders, quick = request
    if (name, quick) not in _READ:
        sweeps = {sweep: store.read(folder) for sweep, folder in folders.items()}
        _READ[name, quick] = Data(find(name), sweeps, quick)
    data = _READ[name, quick]
    return draw(data.study, figure, data, KINDS)


def draw(study: Study, name: str, data: Data, kinds: Iterable[str]) -> dict[str, bytes]:
    """The figure `name` as files of several kinds; the same bytes each time."""
    from matplotlib import style as looks

    from anabranch.plots.files import octets
    from anabranch.plots.style import RC

    with looks.context(["default", RC | {"font.size": 9}]):
        figure = drawn(study, name, data)
        return {kind: octets(figure, kind, 150) for kind in kinds}


def drawn(study: Study, name: str, data: Data) -> "Figure":
    """The figure `name`, laid out once for all kinds of files."""
    from matplotlib.figure import Figure as Canvas

    from anabranch.plots import fit

    figure = Canvas(layout=fit.Fitted())
    study.figures[name].draw(data, figure)
    fit.settle(figure)
    return figure
