"""Figures with one line a subflow: congestion window and round-trip time."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from anabranch.plots import style
from anabranch.series import by_subflow

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def cwnd(
    frame: "pd.DataFrame", ax: "Axes | None" = None, *, labels: Mapping[tuple[int, int], str] | None = None
) -> "Axes":
    """Congestion window of each subflow, in kB (1000 octets).

    Parameters
    ----------
    frame : pandas.DataFrame
        ``run.subflows``.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.
    labels : mapping, optional
        Legend entries by ``(connection, subflow)``.
    """
    ax = lines(frame, ax, "cwnd", 1e-3, labels)
    return style.finish(ax, "Congestion window", "congestion window (kB)")


def srtt(
    frame: "pd.DataFrame", ax: "Axes | None" = None, *, labels: Mapping[tuple[int, int], str] | None = None
) -> "Axes":
    """Smoothed round-trip time of each subflow, in ms; parameters as for `cwnd`."""
    ax = lines(frame, ax, "srtt", 1e3, labels)
    return style.finish(ax, "Round-trip time", "smoothed RTT (ms)")


def lines(
    frame: "pd.DataFrame",
    ax: "Axes | None",
    column: str,
    scale: float,
    labels: Mapping[tuple[int, int], str] | None,
) -> "Axes":
    """One line a subflow: `column` times `scale`."""
    ax = style.begin(ax)
    several = style.several_connections(frame)
    for c, s, rows in by_subflow(frame):
        ax.plot(
            rows["t"].to_numpy(),
            rows[column].to_numpy() * scale,
            color=style.colour(c, s),
            linestyle=style.line(c, s),
            linewidth=1.3,
            label=style.label(c, s, labels, several),
        )
    return ax
