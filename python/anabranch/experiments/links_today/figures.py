"""Latency of a call by scheduler."""

import math
from typing import TYPE_CHECKING

from anabranch.experiments.base import Data
from anabranch.experiments.links_today.measures import ALONE, BAR, axis, p99
from anabranch.experiments.panels import BASELINE, SMALL, legend, panels
from anabranch.plots import style
from anabranch.sweeps.paired import interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BAR = f"{BAR:.0f} ms"


def draw(data: Data, figure: "Figure") -> None:
    """A mark for each scheduler and controller; in words where no run has a latency."""
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    ((ax,),) = panels(figure, 1, 1, 3.4)
    senders, controllers = axis(data, "walk", "sender"), axis(data, "walk", "controller")
    for j, controller in enumerate(controllers):
        ax.plot([], [], "osD"[j], color=style.PALETTE[j], label=controller)
    for i, sender in enumerate(senders):
        ends = [[v for v in p99(data, sender, c) if math.isfinite(v)] for c in controllers]
        for j, values in enumerate(ends):
            if not values:
                continue
            x = i + 0.2 * (j - (len(controllers) - 1) / 2)
            found = interval(values, identical=data.identical("walk", sender=sender, controller=controllers[j]))
            ax.plot([x, x], [max(found.low, 10.0), found.high], color=style.PALETTE[j], linewidth=1.2)
            ax.plot([x], [found.mean], "osD"[j], markersize=5, color=style.PALETTE[j])
        if not any(ends):
            place = ax.get_xaxis_transform()
            ax.text(i, 0.5, "stands still", transform=place, ha="center", va="center", fontsize=SMALL)
    ax.axhline(BAR, linestyle="dotted", label=_BAR, **BASELINE)
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.set_xlim(-0.5, len(senders) - 0.5)
    ax.set_xticks(range(len(senders)), [ALONE.get(s, s).replace(" over ", "\n") for s in senders], fontsize=SMALL)
    ax.set_ylabel("latency, 99 % (ms)", fontsize=SMALL + 1)
    legend(figure, [ax], last=(_BAR,))
