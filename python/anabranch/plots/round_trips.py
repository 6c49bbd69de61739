"""Round-trip times of a capture over time, as its packets show them at either end."""

from typing import TYPE_CHECKING, Unpack

from anabranch.measures.series import by_subflow, end_of
from anabranch.measures.table import factor, label
from anabranch.plots import places, style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def round_trips(frame: "pd.DataFrame", ax: "Axes | None" = None, **look: Unpack[style.Look]) -> "Axes":
    """Round-trip time of each subflow, in ms; parameters as for `cwnd`.

    `frame` has the columns ``t``, ``connection``, ``subflow`` and ``rtt`` (in s; NaN where none was measured).
    """
    ax = style.begin(ax, look)
    several = style.several_connections(frame)
    for c, s, rows in by_subflow(frame):
        ax.plot(
            rows["t"].to_numpy(),
            rows["rtt"].to_numpy() * factor("rtt"),
            color=style.colour(c, s),
            linestyle=style.line(c, s),
            linewidth=places.thin(ax),
            # A value between two times without any has no line.
            marker=".",
            markersize=2,
            label=style.label(c, s, look, several),
        )
    return style.finish(ax, "srtt", "Round-trip time", look, end_of(frame), ylabel=label("rtt"))
