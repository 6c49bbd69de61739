"""A TCP user's rate by network: measured, and in the fluid model."""

from typing import TYPE_CHECKING

from anabranch.experiments.base import Data
from anabranch.experiments.panels import SMALL, panels
from anabranch.experiments.pareto.measures import CONTROLLERS, expected, kept, networks
from anabranch.plots import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(data: Data, figure: "Figure") -> None:
    """A group for each network, a place for each controller: a mark with its interval, a dash for the fluid model."""
    ((ax,),) = panels(figure, 1, 1, 3.4)
    shown = networks(data)
    for j, (controller, label) in enumerate(CONTROLLERS.items()):
        for i, network in enumerate(shown):
            x, found = i + 0.25 * (j - 1), kept(data, network, controller)
            ax.plot([x, x], [found.low, found.high], color=style.PALETTE[j], linewidth=1.2)
            ax.plot([x], [found.mean], "osD"[j], markersize=5, color=style.PALETTE[j], label="" if i else label)
            ax.plot([x - 0.1, x + 0.1], [expected(network, controller)] * 2, color="#333333", linewidth=1.2)
    ax.plot([], [], color="#333333", linewidth=1.2, label="fluid model")
    ax.set_xticks(range(len(shown)), [f"C1/C2 = {n.label}\nN1/N2 = {n.crowd}" for n in shown], fontsize=SMALL + 1)
    ax.set_ylim(0, 1.05)
    ax.set_ylabel("TCP user's rate over C2", fontsize=SMALL + 1)
    ax.legend(fontsize=SMALL, ncols=4, loc="lower right")
