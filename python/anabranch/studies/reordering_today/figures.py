"""Goodput over displacement, over unlike delays and over the length of a stall."""

from typing import TYPE_CHECKING, Any

from anabranch.measures.table import label as axis_label
from anabranch.studies.base import Data
from anabranch.studies.panels import BASELINE, SMALL, absent, curves, legend, panels, titles
from anabranch.studies.reordering_today.measures import (
    ABSENT,
    COUPLED,
    JUDGES,
    RATE,
    SENDERS,
    THERE,
    goodput,
    number_of,
    steps,
)
from anabranch.studies.words import listed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_TOP = "rate of the links"
_COLUMNS = 4


def draw_displacement(data: Data, figure: "Figure") -> None:
    """A panel for each sender, a line for each judge; one subflow."""
    _senders(data, figure, "displacement", "displacement", "displacement (round trips)")


def draw_stalls(data: Data, figure: "Figure") -> None:
    """The same over the length of a stall."""
    _senders(data, figure, "spikes", "stall", "stall (ms)")


def draw_unlike(data: Data, figure: "Figure") -> None:
    """A sender that knows nothing of reordering under each receiver, and one that learns under the coupled one."""
    shown = {"rfc6675": "independent: RFC 6675", "coupled-newreno": "coupled: NewReno"}
    shown["coupled-degree"] = "coupled: reordering degree"
    grid = panels(figure, 1, len(shown), 3.2)[0]
    titles(grid, shown.values())
    for ax, sender in zip(grid, shown, strict=True):
        _lines(ax, data, "unlike", "displacement", {"sender": sender}, 2 * RATE)
        ax.set_xlabel("difference of delays (round trips)", fontsize=SMALL + 1)
    grid[0].set_ylabel(axis_label("goodput_mbps"), fontsize=SMALL + 1)
    legend(figure, last=(_TOP,))


def _senders(data: Data, figure: "Figure", sweep: str, axis: str, below: str) -> None:
    rows = -(-(len(THERE) + 1) // _COLUMNS)
    grid = [ax for row in panels(figure, rows, _COLUMNS, 2.7 * rows + 0.4) for ax in row]
    missing = listed([sender.detector for sender in SENDERS if not sender.axis])
    names = [f"{COUPLED}: {sender.detector}" if sender.receiver == COUPLED else sender.detector for sender in THERE]
    titles(grid, [*names, f"{COUPLED}: {missing}"])
    for ax, sender in zip(grid, THERE, strict=False):
        _lines(ax, data, sweep, axis, {"network": "one", "sender": sender.axis}, RATE)
    absent(grid[len(THERE)], ABSENT)
    for i, ax in enumerate(grid):
        if i % _COLUMNS == 0:
            ax.set_ylabel(axis_label("goodput_mbps"), fontsize=SMALL + 1)
        if i >= (rows - 1) * _COLUMNS:
            ax.set_xlabel(below, fontsize=SMALL + 1)
    legend(figure, last=(_TOP,))


def _lines(ax: "Axes", data: Data, sweep: str, axis: str, cell: dict[str, Any], top: float) -> None:
    by_number = {number_of(step): step for step in steps(data, sweep, axis)}

    def value(x: float, judge: str) -> Any:
        return goodput(data, sweep, **cell, judge=judge, **{axis: by_number[x]})

    curves(ax, list(by_number), JUDGES, value)
    ax.axhline(top, linestyle="dotted", label=_TOP, **BASELINE)
    ax.set_ylim(0, 1.05 * top)
