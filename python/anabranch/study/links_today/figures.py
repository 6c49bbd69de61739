"""Latency of a call by scheduler."""

from typing import TYPE_CHECKING

from anabranch.plots import style
from anabranch.study.base import Data
from anabranch.study.links_today.measures import ALONE, BAR, axis, p99
from anabranch.study.panels import BASELINE, SMALL, panels
from anabranch.sweeps.paired import interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(data: Data, figure: "Figure") -> None:
    """A mark for each scheduler and controller."""
    ((ax,),) = panels(figure, 1, 1, 3.4)
    senders, controllers = axis(data, "walk", "sender"), axis(data, "walk", "controller")
    for j, controller in enumerate(controllers):
        for i, sender in enumerate(senders):
            values = [value for value in p99(data, sender, controller) if value < float("inf")]
            if not values:
                continue
            x, found = i + 0.2 * (j - 1), interval(values)
            ax.plot([x, x], [max(found.low, 10.0), found.high], color=style.PALETTE[j], linewidth=1.2)
            ax.plot([x], [found.mean], "osD"[j], markersize=5, color=style.PALETTE[j])
    for j, controller in enumerate(controllers):
        ax.plot([], [], "osD"[j], color=style.PALETTE[j], label=controller)
    ax.axhline(BAR, linestyle="dotted", **BASELINE)
    ax.set_yscale("log")
    ax.set_xticks(range(len(senders)), [ALONE.get(s, s).replace(" over ", "\n") for s in senders], fontsize=SMALL)
    ax.set_ylabel("latency, 99 % (ms)", fontsize=SMALL + 1)
    ax.legend(fontsize=SMALL, ncols=3, loc="upper right")
