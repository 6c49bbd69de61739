"""How schedulers compare with the default one as the queues grow."""

import math
from typing import TYPE_CHECKING, Any

from anabranch.plots.algorithms import appearances
from anabranch.studies.base import Data
from anabranch.studies.panels import BASELINE, SMALL, legend, panels
from anabranch.studies.schedulers.measures import FIRST, NETWORKS, SHORT, TRAFFIC, labels, ratio

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DRAWN = ("blest", "ecf", "otias", "daps", "linux", "redundant")
"""Of all that were run: the ones of the papers, the kernel's, and the one that spends most."""
_MOST = 100.0
"""Per cent; a line ends where it leaves the panel."""


def draw(data: Data, figure: "Figure") -> None:
    """A row for each pair of links, a column for each kind of traffic; one controller."""
    grid = panels(figure, len(NETWORKS), len(TRAFFIC), 5.4, sharey=True)
    for row, network in zip(grid, NETWORKS, strict=True):
        for ax, name in zip(row, TRAFFIC, strict=True):
            _lines(ax, data, network, name)
        row[0].set_ylabel(f"{SHORT[network]}\ngain over {FIRST} (%)", fontsize=SMALL + 1)
    for ax, traffic in zip(grid[0], TRAFFIC.values(), strict=True):
        ax.set_title(f"{traffic.title}\n{traffic.quantity}", fontsize=SMALL + 1, loc="left")
    for ax in grid[-1]:
        ax.set_xlabel("queue (products)", fontsize=SMALL)
    legend(figure)


def _lines(ax: "Axes", data: Data, network: str, name: str) -> None:
    traffic = TRAFFIC[name]
    queues = labels(data, network, "queue")
    at = range(len(queues))
    sign = 100.0 if traffic.more else -100.0
    for i, (scheduler, look) in enumerate(zip(DRAWN, appearances(DRAWN, "scheduler"), strict=True)):
        cells: list[dict[str, Any]] = [
            {"scheduler": scheduler, "controller": "olia", "queue": queue, "application": name} for queue in queues
        ]
        found = [ratio(data, network, traffic.measure, **cell) for cell in cells]
        mean = [sign * one.mean for one in found]
        error = [100 * (one.high - one.mean) for one in found]
        ax.errorbar(
            [x + 0.06 * (i - 2.5) for x in at],
            mean,
            yerr=None if all(map(math.isnan, error)) else error,
            color=look.colour,
            marker=look.marker,
            markersize=4,
            linewidth=1.1,
            elinewidth=0.8,
            label=scheduler,
        )
    ax.axhline(0, **BASELINE)
    ax.set_xticks(list(at), [str(queue) for queue in queues])
    ax.set_ylim(-_MOST, 0.8 * _MOST)
