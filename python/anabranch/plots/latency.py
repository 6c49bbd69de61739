"""How long what an application counts in took: the distribution of the latencies."""

from typing import TYPE_CHECKING, Unpack

from anabranch.measures import table as measures
from anabranch.plots import places, style
from anabranch.plots.legends import legend
from anabranch.plots.wording import called, renamed

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import NDArray


def latency(frame: "pd.DataFrame", ax: "Axes | None" = None, **look: Unpack[style.Look]) -> "Axes":
    """Share of the messages, objects or segments that were read within a time, of each connection and of all together.

    Parameters
    ----------
    frame : pandas.DataFrame
        ``run.items``.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.
    **look
        ``connections``, ``title``, ``width``, ``height``: see `Look`.
    """
    ax = style.begin(ax, look)
    names = look.get("connections", ())
    several = style.several_connections(frame)
    numbers = sorted(int(number) for number in frame["connection"].unique())
    for c in numbers:
        name = renamed(names[c] if c < len(names) else f"connection {c}", look.get("rename"))
        seen = frame.loc[frame["connection"] == c, "latency"].to_numpy()
        _steps(ax, seen, style.colour(c, 0), style.line(c, 0), name, places.thin(ax))
    if several:
        _steps(ax, frame["latency"].to_numpy(), places.TOTAL, "solid", renamed("total", look.get("rename")), 0.9)
    ax.set_ylim(0, 100)
    ax.margins(x=0.02)
    ax.set_xlim(left=0)
    label = look.get("label")
    below = called("latency", measures.label("latency"), label)
    title = measures.headline(below) if look.get("title", True) else ""
    kind = "/".join(sorted(f"{kind}s" for kind in frame["kind"].unique()))
    style.name(ax, title, below, called("share", f"{kind} (%)", label))
    legend(ax, title)
    return ax


def _steps(ax: "Axes", seen: "NDArray[np.float64]", shade: str, line: str, name: str, width: float) -> None:
    """The empirical distribution: up by one share at each latency. What never arrived is the share that is missing."""
    import numpy as np

    there = np.sort(seen[~np.isnan(seen)]) * 1e3
    share = 100 * np.arange(1, len(there) + 1) / max(len(seen), 1)
    x = np.concatenate([there[:1], there])
    y = np.concatenate([[0.0] * min(len(there), 1), share])
    ax.plot(x, y, drawstyle="steps-post", color=shade, linestyle=line, linewidth=width, label=name)
