"""Who waited for whom: a figure of a diagnosis."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from anabranch.measures.causes import CAUSES
from anabranch.plots import places, style, ticks
from anabranch.plots.legends import legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHADES = {
    "not_up": "#DDDDDD",
    "failed": "#000000",
    "recovery": "#CC3311",
    "receive_window": "#DDAA33",
    "head_of_line": "#AA3377",
    "reinjection": "#66CCEE",
    "cwnd": "#4477AA",
    "scheduler": "#228833",
    "send_buffer": "#BBCC33",
    "application": "#BBBBBB",
    "link": "#EE8866",
}
"""By cause."""
_HELD = "others waited for it"
_ROW = 0.62
"""Inches for each subflow."""
_SHOWN = 0.005


def waiting(connection: Mapping[str, Any], ax: "Axes") -> "Axes":
    """For what each subflow waited how long, and how long others waited for what it had in flight.

    Parameters
    ----------
    connection : mapping
        One of ``diagnosis.connections``.
    ax : matplotlib Axes
        Where to draw.
    """
    points = places.letters(ax)
    flows = [flow for flow in connection["subflows"] if flow["causes"]]
    shown = [c for c in CAUSES if any(flow["causes"].get(c, 0.0) >= _SHOWN for flow in flows)]
    rows = range(len(flows))
    left = [0.0] * len(flows)
    held = [flow["blocked_others_s"] or 0.0 for flow in flows]
    up = 0.12 if any(held) else 0.0
    for cause in shown:
        times = [flow["causes"].get(cause, 0.0) * flow["measured_s"] for flow in flows]
        ax.barh([row - up for row in rows], times, 0.44, left, color=SHADES[cause], label=CAUSES[cause].name)
        left = [a + b for a, b in zip(left, times, strict=True)]
    if any(held):
        ax.barh([row + 0.26 for row in rows], held, 0.2, color="white", edgecolor="black", hatch="////", label=_HELD)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(length=0, labelsize=points, axis="y")
    ax.tick_params(labelsize=points, axis="x")
    ax.set_ylim(len(flows) - 0.5, -0.5)
    ticks.beside(ax, rows, [f"{flow['client']} -\n{flow['server']}" for flow in flows])
    style.name(ax, "Who waited for what, and for whom", "time in all (s)", "")
    legend(ax, alone=True)
    return ax


def height(connection: Mapping[str, Any]) -> float:
    """Of the figure, in inches."""
    return 1.9 + _ROW * max(1, len(connection["subflows"]))
