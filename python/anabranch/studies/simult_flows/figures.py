"""Time over expected time."""

from typing import TYPE_CHECKING

from anabranch.plots import ticks
from anabranch.plots.algorithms import PALETTE
from anabranch.studies.base import Data
from anabranch.studies.panels import BASELINE, SMALL, legend, panels, within
from anabranch.studies.simult_flows.measures import DIRECTIONS, SENDERS, Case, cases, expected, taken

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(data: Data, figure: "Figure") -> None:
    """A group for each case, a mark for each sender and direction."""
    ((ax,),) = panels(figure, 1, 1, 3.4)
    shown = cases(data)
    pairs = [(sender, way) for sender in SENDERS for way in DIRECTIONS]
    for j, (sender, way) in enumerate(pairs):
        for i, case in enumerate(shown):
            x, found = i + 0.16 * (j - 1.5), within(taken(data, Case(case, way, sender)))
            least, mean, most = (value / expected(case) for value in (found.low, found.mean, found.high))
            ax.plot([x, x], [least, most], color=PALETTE[j], linewidth=1.2)
            label = "" if i else f"{SENDERS[sender]}, {way}"
            ax.plot([x], [mean], "osD^"[j], markersize=5, color=PALETTE[j], label=label)
    ax.axhline(1, linestyle="dotted", **BASELINE)
    ax.set_xlim(-0.5, len(shown) - 0.5)
    ticks.named(ax, range(len(shown)), shown)
    ax.set_ylim(bottom=0)
    ax.set_ylabel("time over expected time", fontsize=SMALL + 1)
    legend(figure)
