"""Figures with one line a subflow: congestion window, octets in flight, and round-trip time."""

from typing import TYPE_CHECKING, Unpack

from anabranch.measures.series import by_subflow, end_of, unmeasured
from anabranch.measures.table import factor
from anabranch.plots import places, style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def cwnd(frame: "pd.DataFrame", ax: "Axes | None" = None, **look: Unpack[style.Look]) -> "Axes":
    """Congestion window of each subflow, in kB (1000 octets).

    Parameters
    ----------
    frame : pandas.DataFrame
        ``run.subflows``.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.
    **look
        ``labels``, ``marks``, ``title``, ``width``, ``height``: see `Look`.
    """
    ax = lines(frame, ax, "cwnd", look)
    return style.finish(ax, "cwnd", "Congestion window", look, end_of(frame))


def in_flight(frame: "pd.DataFrame", ax: "Axes | None" = None, **look: Unpack[style.Look]) -> "Axes":
    """Octets sent and not acknowledged, of each subflow, in kB; parameters as for `cwnd`."""
    ax = lines(frame, ax, "in_flight", look)
    return style.finish(ax, "in_flight", "In flight", look, end_of(frame))


def srtt(frame: "pd.DataFrame", ax: "Axes | None" = None, **look: Unpack[style.Look]) -> "Axes":
    """Smoothed round-trip time of each subflow, in ms; parameters as for `cwnd`.

    Dotted where it is only remembered: in recovery, while a path is down, or without data nothing is measured.
    """
    import numpy as np

    ax = style.begin(ax, look)
    several = style.several_connections(frame)
    for c, s, rows in by_subflow(frame):
        t, value, stale = rows["t"].to_numpy(), rows["srtt"].to_numpy() * factor("srtt"), unmeasured(rows)
        shade, name = style.colour(c, s), style.label(c, s, look, several)
        if stale.any():
            # One point more at each end, where the solid line ends and begins.
            rest = stale | np.roll(stale, 1) | np.roll(stale, -1)
            held = np.where(rest, value, np.nan)
            ax.plot(t, held, color=shade, linestyle=(0, (1, 2)), linewidth=1.0, zorder=1.9, label=f"_{name}")
        fresh = np.where(stale, np.nan, value)
        ax.plot(t, fresh, color=shade, linestyle=style.line(c, s), linewidth=places.thin(ax), label=name)
    return style.finish(ax, "srtt", "Round-trip time", look, end_of(frame))


def lines(frame: "pd.DataFrame", ax: "Axes | None", column: str, look: style.Look) -> "Axes":
    """One line a subflow: `column` in the unit of its axis."""
    ax = style.begin(ax, look)
    several = style.several_connections(frame)
    for c, s, rows in by_subflow(frame):
        ax.plot(
            rows["t"].to_numpy(),
            rows[column].to_numpy() * factor(column),
            color=style.colour(c, s),
            linestyle=style.line(c, s),
            linewidth=places.thin(ax),
            label=style.label(c, s, look, several),
        )
    return ax
