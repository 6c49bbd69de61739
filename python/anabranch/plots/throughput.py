"""Throughput over time."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from anabranch.plots import style
from anabranch.series import by_subflow, interval_of
from anabranch.series import throughput as rates
from anabranch.units import time

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def throughput(
    frame: "pd.DataFrame", ax: "Axes | None" = None, *, labels: Mapping[tuple[int, int], str] | None = None
) -> "Axes":
    """Rate of first arrivals of each subflow, and of all together, in Mbit/s.

    Parameters
    ----------
    frame : pandas.DataFrame
        ``run.subflows``.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.
    labels : mapping, optional
        Legend entries by ``(connection, subflow)``.
    """
    ax = style.begin(ax)
    several = style.several_connections(frame)
    interval = interval_of(frame)
    table = rates(frame, interval)
    groups = list(by_subflow(table))
    for c, s, rows in groups:
        ax.plot(
            rows["t"].to_numpy(),
            rows["throughput"].to_numpy() / 1e6,
            color=style.colour(c, s),
            linestyle=style.line(c, s),
            linewidth=1.3,
            label=style.label(c, s, labels, several),
        )
    if len(groups) > 1:
        total = table.groupby("t")["throughput"].sum()
        ax.plot(total.index.to_numpy(), total.to_numpy() / 1e6, color=style.TOTAL, linewidth=1.0, label="together")
    return style.finish(ax, "Throughput", f"Mbit/s, mean over {time(interval)}")
