"""One look for every figure.

The colours are Okabe and Ito's, which people with any of the common colour deficiencies tell apart. A subflow's colour
depends on nothing but its numbers, so it is the same in every figure.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from matplotlib.axes import Axes

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
LINES = ("solid", "dashed", "dotted", "dashdot")
TOTAL = "#555555"
GRID = "#E3E3E3"
SIZE = (8.0, 3.4)
"""Of a figure, in inches."""

_STRIDE = 3
"""Colours kept for the subflows of one connection."""
_LEGEND_LIMIT = 14
_ABOVE = 68
"""Characters of legend that fit beside the title."""


def colour(connection: int, subflow: int) -> str:
    """Colour of a subflow.

    >>> colour(0, 0), colour(0, 1), colour(1, 0)
    ('#0072B2', '#D55E00', '#CC79A7')
    """
    return PALETTE[(_STRIDE * connection + subflow) % len(PALETTE)]


def line(connection: int, subflow: int) -> str:
    """Line style of a subflow: solid as long as there are colours."""
    return LINES[(_STRIDE * connection + subflow) // len(PALETTE) % len(LINES)]


def label(connection: int, subflow: int, labels: "Mapping[tuple[int, int], str] | None", several: bool) -> str:
    """What the legend calls a subflow."""
    if labels and (connection, subflow) in labels:
        return labels[connection, subflow]
    return f"connection {connection}, subflow {subflow}" if several else f"subflow {subflow}"


def several_connections(frame: "pd.DataFrame") -> bool:
    """Whether `frame` holds more than one connection."""
    return bool(frame["connection"].nunique() > 1)


def begin(ax: "Axes | None") -> "Axes":
    """`ax`, or the axes of a new figure, prepared."""
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=SIZE, layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color=GRID, linewidth=0.8)
    ax.set_axisbelow(True)
    return ax


def finish(ax: "Axes", title: str, ylabel: str) -> "Axes":
    """Title, axis labels with units, and a legend that covers no data."""
    ax.set_title(title, loc="left", fontsize=11, fontweight="bold")
    ax.set_xlabel("time (s)")
    ax.set_ylabel(ylabel)
    ax.set_ylim(bottom=0)
    ax.margins(x=0)
    ax.set_xlim(left=0)
    _, names = ax.get_legend_handles_labels()
    if 1 < len(names) <= 3 and sum(map(len, names)) <= _ABOVE:
        ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, frameon=False, fontsize=9, borderaxespad=0.2)
    elif 1 < len(names) <= _LEGEND_LIMIT:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3, frameon=False, fontsize=8)
    elif len(names) > _LEGEND_LIMIT:
        ax.annotate(
            f"{len(names)} subflows", (1.0, 1.02), xycoords="axes fraction", ha="right", va="bottom", fontsize=9
        )
    return ax


ALGORITHMS = {
    "none": "#000000",
    "dsack": "#0072B2",
    "eifel": "#E69F00",
    "door": "#009E73",
    "frto": "#D55E00",
    "uncoupled": "#56B4E9",
    "fully-coupled": "#CC79A7",
    "rtt-compensator": "#882255",
    "coupled": "#882255",
    "linked-increases": "#117733",
    "ewtcp": "#999933",
    "cubic": "#332288",
}
"""Colour of a recovery or a controller, the same wherever algorithms are compared."""
MARKERS = {
    "none": "o",
    "dsack": "s",
    "eifel": "^",
    "door": "D",
    "frto": "v",
    "uncoupled": "o",
    "fully-coupled": "s",
    "rtt-compensator": "^",
}
"""So that no figure depends on colour alone."""
