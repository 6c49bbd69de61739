"""Throughput over time."""

from typing import TYPE_CHECKING, Unpack

from anabranch.measures.series import by_subflow, end_of, interval_of
from anabranch.measures.series import throughput as rates
from anabranch.measures.units import time
from anabranch.plots import places, style
from anabranch.plots.wording import renamed

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def throughput(frame: "pd.DataFrame", ax: "Axes | None" = None, **look: Unpack[style.Look]) -> "Axes":
    """Rate of first arrivals of each subflow, and of all together, in Mbit/s; parameters as for `cwnd`."""
    ax = style.begin(ax, look)
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
            linewidth=places.thin(ax),
            label=style.label(c, s, look, several),
        )
    if len(groups) > 1:
        total = table.groupby("t")["throughput"].sum()
        ax.plot(
            total.index.to_numpy(),
            total.to_numpy() / 1e6,
            color=places.TOTAL,
            linewidth=0.9,
            label=renamed("total", look.get("rename")),
        )
    return style.finish(
        ax, "throughput", "Throughput", look, end_of(frame), ylabel=f"Mbit/s, mean over {time(interval)}"
    )
