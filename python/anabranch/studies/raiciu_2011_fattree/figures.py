"""The share of the network by number of subflows, and the connections in order of what they get."""

import math
from typing import TYPE_CHECKING

from anabranch.studies.base import Data
from anabranch.studies.panels import BASELINE, SMALL, legend, panels, titles, within
from anabranch.studies.raiciu_2011_fattree.measures import NETWORKS, PAYLOAD, SUBFLOWS, networks, ranked, share

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOOKS = {"small": ("#0072B2", "o"), "large": ("#D55E00", "s")}
_SHADES = {"1": "#B8B8B8", "2": "#7FB3D5", "4": "#2E86C1", "8": "#154360"}
_TOP = "all there is but headers"


def draw_share(data: Data, figure: "Figure") -> None:
    """A line for each network."""
    ax = panels(figure, 1, 1, 3.6)[0][0]
    at = [int(subflows) for subflows in SUBFLOWS]
    for network in networks(data):
        color, marker = _LOOKS[network]
        found = [within(share(data, network, subflows), 0.0, 100.0) for subflows in SUBFLOWS]
        ax.plot(at, [one.mean for one in found], color=color, marker=marker, label=NETWORKS[network][0])
        if not all(math.isnan(one.low) for one in found):
            ax.fill_between(at, [one.low for one in found], [one.high for one in found], color=color, alpha=0.15)
    ax.axhline(PAYLOAD, linestyle="dotted", label=_TOP, **BASELINE)
    ax.set_xscale("log", base=2)
    ax.set_xticks(at, SUBFLOWS)
    ax.minorticks_off()
    ax.set_ylim(0, 100)
    ax.set_xlabel("subflows of each connection", fontsize=SMALL + 1)
    ax.set_ylabel("used (%)", fontsize=SMALL + 1)
    legend(figure, last=(_TOP,))


def draw_ranks(data: Data, figure: "Figure") -> None:
    """A panel for each network, a line for each number of subflows."""
    made = networks(data)
    grid = panels(figure, 1, len(made), 3.6)[0]
    titles(grid, (NETWORKS[network][0] for network in made))
    for ax, network in zip(grid, made, strict=True):
        for subflows, color in _SHADES.items():
            order = ranked(data, network, subflows)
            places = [100 * (i + 0.5) / len(order) for i in range(len(order))]
            label = f"{subflows} subflow{'s' * (subflows != '1')}"
            ax.plot(places, order, color=color, linewidth=1.6, label=label)
        ax.axhline(PAYLOAD, linestyle="dotted", label=_TOP, **BASELINE)
        ax.set_xlim(0, 100)
        ax.set_ylim(0, 100)
        ax.set_xlabel("connections, worst first (%)", fontsize=SMALL + 1)
    grid[0].set_ylabel("goodput / rate of the link (%)", fontsize=SMALL + 1)
    legend(figure, last=(_TOP,))
