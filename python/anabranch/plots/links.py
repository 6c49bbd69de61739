"""What links offered over time: their rate behind what was carried, and their delay."""

from typing import TYPE_CHECKING, Unpack

from anabranch.measures.table import factor, label
from anabranch.measures.timeline import spoken
from anabranch.measures.units import time
from anabranch.plots import places, style
from anabranch.plots.wording import renamed

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

_WAIT = 1.0
"""Who is under way for longer (s) waits for a link that is not there: the line leaves the figure."""
_RARE = 10
"""So does what lies above so many medians of its link in less than a twentieth of the time: the ends of such waits."""


def offered(frame: "pd.DataFrame", ax: "Axes | None" = None, **look: Unpack[style.Look]) -> "Axes":
    """Rate that each link offered, as an area, and what was carried over it, as a line, in Mbit/s.

    Parameters
    ----------
    frame : pandas.DataFrame
        ``run.links``.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.
    **look
        ``marks``, ``title``, ``width``, ``height``: see `Look`.
    """
    ax = style.begin(ax, look)
    for shade, line, name, rows in _links(frame, look):
        edges = _edges(rows["t"].to_numpy())
        ax.stairs(rows["offered"].to_numpy() / 1e6, edges, fill=True, color=shade, alpha=0.22, linewidth=0)
        t, carried = rows["t"].to_numpy(), rows["carried"].to_numpy() / 1e6
        ax.plot(t, carried, color=shade, linestyle=line, linewidth=places.thin(ax), label=name)
    step = _step(frame)
    ylabel = f"Mbit/s, mean over {time(step)}"
    # A lone link has a name, too: the run may have others, which do not vary.
    return style.finish(ax, "offered", "Rate offered and used", look, _end(frame), ylabel=ylabel, alone=True)


def link_delay(frame: "pd.DataFrame", ax: "Axes | None" = None, **look: Unpack[style.Look]) -> "Axes":
    """Delay of each link in one direction, that of the data, in ms; parameters as for `offered`."""
    ax = style.begin(ax, look)
    for shade, line, name, rows in _links(frame, look):
        edges = _edges(rows["t"].to_numpy())
        ax.stairs(
            rows["delay"].to_numpy() * factor("delay"),
            edges,
            baseline=None,
            color=shade,
            linestyle=line,
            linewidth=1.3,
            label=name,
        )
    shown = style.finish(ax, "link_delay", "Delay of the links", look, _end(frame), ylabel=label("delay"), alone=True)
    usual = frame[frame["delay"] < _WAIT].groupby("link")["delay"]
    if len(usual):
        scale = usual.quantile(0.95).combine(usual.max().clip(upper=_RARE * usual.median()), max)
        shown.set_ylim(0, 1.1e3 * float(scale.max()) or None)
    return shown


def _links(frame: "pd.DataFrame", look: style.Look) -> "Iterator[tuple[str, str, str, pd.DataFrame]]":
    """Colour, line style and name of each link, and its rows."""
    for number, (name, rows) in enumerate(frame.groupby("link", sort=False)):
        yield style.colour(0, number), style.line(0, number), renamed(spoken(str(name)), look.get("rename")), rows


def _edges(t: "NDArray[np.float64]") -> "NDArray[np.float64]":
    """Of the intervals with the middles `t`: all as long as the first, but the last one."""
    import numpy as np

    edges = np.zeros(len(t) + 1)
    for i, middle in enumerate(t):
        edges[i + 1] = 2 * middle - edges[i]
    return edges


def _step(frame: "pd.DataFrame") -> float:
    return 2 * float(frame["t"].min())


def _end(frame: "pd.DataFrame") -> float:
    _, rows = next(iter(frame.groupby("link", sort=False)))
    return float(_edges(rows["t"].to_numpy())[-1])
