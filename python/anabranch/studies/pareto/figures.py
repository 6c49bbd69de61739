"""A TCP user's rate by network: measured, and in the fluid model."""

from typing import TYPE_CHECKING

from anabranch.plots import ticks
from anabranch.plots.algorithms import appearances
from anabranch.studies.base import Data
from anabranch.studies.panels import SMALL, legend, panels, within
from anabranch.studies.pareto.measures import CONTROLLERS, expected, kept, networks

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(data: Data, figure: "Figure") -> None:
    """A group for each network, a place for each controller: a mark with its interval, a dash for the fluid model."""
    ((ax,),) = panels(figure, 1, 1, 3.4)
    shown = networks(data)
    looks = appearances([*CONTROLLERS], "controller")
    for j, ((controller, label), look) in enumerate(zip(CONTROLLERS.items(), looks, strict=True)):
        for i, network in enumerate(shown):
            x, found = i + 0.25 * (j - 1), within(kept(data, network, controller), 0.0, 1.0)
            ax.plot([x, x], [found.low, found.high], color=look.colour, linewidth=1.2)
            ax.plot([x], [found.mean], look.marker, markersize=5, color=look.colour, label="" if i else label)
            ax.plot([x - 0.1, x + 0.1], [expected(network, controller)] * 2, color="#333333", linewidth=1.2)
    ax.plot([], [], color="#333333", linewidth=1.2, label="fluid model")
    ax.set_xlim(-0.5, len(shown) - 0.5)
    ticks.named(ax, range(len(shown)), [f"C1/C2 = {n.label}\nN1/N2 = {n.crowd}" for n in shown])
    ax.set_ylim(0, 1.05)
    ax.set_ylabel("TCP user's rate over C2", fontsize=SMALL + 1)
    legend(figure)
