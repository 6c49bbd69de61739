"""Latency of a call by scheduler."""

import math
from typing import TYPE_CHECKING

from anabranch.measures.table import label
from anabranch.plots import ticks
from anabranch.plots.algorithms import appearances
from anabranch.studies.base import Data
from anabranch.studies.links_today.measures import ALONE, BAR, axis, p99
from anabranch.studies.panels import BASELINE, SMALL, legend, logarithmic, panels
from anabranch.sweeps.paired import interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BAR = f"{BAR:.0f} ms"


def draw(data: Data, figure: "Figure") -> None:
    """A mark for each scheduler and controller; in words where no run has a latency."""
    ((ax,),) = panels(figure, 1, 1, 3.4)
    senders, controllers = axis(data, "walk", "sender"), axis(data, "walk", "controller")
    looks = appearances(controllers, "controller")
    for controller, look in zip(controllers, looks, strict=True):
        ax.plot([], [], look.marker, color=look.colour, label=controller)
    for i, sender in enumerate(senders):
        ends = [[v for v in p99(data, sender, c) if math.isfinite(v)] for c in controllers]
        for j, values in enumerate(ends):
            if not values:
                continue
            x = i + 0.2 * (j - (len(controllers) - 1) / 2)
            found = interval(values, identical=data.identical("walk", sender=sender, controller=controllers[j]))
            ax.plot([x, x], [max(found.low, 10.0), found.high], color=looks[j].colour, linewidth=1.2)
            ax.plot([x], [found.mean], looks[j].marker, markersize=5, color=looks[j].colour)
        if not any(ends):
            place = ax.get_xaxis_transform()
            ax.text(i, 0.5, "stands still", transform=place, ha="center", va="center", fontsize=SMALL)
    ax.axhline(BAR, linestyle="dotted", label=_BAR, **BASELINE)
    logarithmic(ax)
    ax.set_xlim(-0.5, len(senders) - 0.5)
    ticks.named(ax, range(len(senders)), [ALONE.get(s, s) for s in senders])
    ax.set_ylabel(label("message_latency_p99_ms"), fontsize=SMALL + 1)
    legend(figure, last=(_BAR,))
