"""Goodput over the receive buffer."""

from typing import TYPE_CHECKING

from anabranch.measures.table import label as axis_label
from anabranch.plots import ticks
from anabranch.plots.algorithms import PALETTE
from anabranch.studies.base import Data
from anabranch.studies.panels import BASELINE, SMALL, legend, panels, within
from anabranch.studies.receive_buffer.measures import MULTIPATH, TCP, goodput, sizes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(data: Data, figure: "Figure") -> None:
    """A line for each sender."""
    ((ax,),) = panels(figure, 1, 1, 3.6)
    at = [float(str(size)) for size in sizes(data)]
    for i, (sender, label) in enumerate(MULTIPATH.items()):
        found = [within(goodput(data, sender, size)) for size in sizes(data)]
        ax.plot(at, [one.mean for one in found], "osD^"[i] + "-", color=PALETTE[i], markersize=4.5, label=label)
        low, high = [one.low for one in found], [one.high for one in found]
        ax.fill_between(at, low, high, color=PALETTE[i], alpha=0.15, linewidth=0)
    tcp = [goodput(data, TCP, size).mean for size in sizes(data)]
    ax.plot(at, tcp, linestyle="dotted", label="TCP over Wi-Fi", **BASELINE)
    ax.set_xscale("log")
    ax.minorticks_off()
    ticks.named(ax, at, [str(size) for size in sizes(data)])
    ax.set_ylim(bottom=0)
    ax.set_xlabel("receive buffer (kB)", fontsize=SMALL + 1)
    ax.set_ylabel(axis_label("goodput_mbps"), fontsize=SMALL + 1)
    legend(figure)
