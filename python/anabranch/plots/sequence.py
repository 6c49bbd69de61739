"""Data sequence numbers over time: a figure of captures."""

import math
from typing import TYPE_CHECKING, Unpack

from anabranch.measures.series import by_subflow, end_of
from anabranch.plots import places, style
from anabranch.plots.wording import renamed

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_WIDTHS = {"new": 2.0, "retransmission": 3.5, "reinjection": 3.5}
HEADROOM = 1.25
SHADES = {"retransmission": "#CC3311", "reinjection": "#000000"}


def sequence(
    frame: "pd.DataFrame",
    window: "pd.DataFrame",
    ax: "Axes | None" = None,
    **look: Unpack[style.Look],
) -> "Axes":
    """Which part of the data stream each subflow sent when, and the receiver's window.

    Parameters
    ----------
    frame : pandas.DataFrame
        ``capture.sequence``.
    window : pandas.DataFrame
        ``capture.window``.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.
    **look
        As for `cwnd`.
    """
    ax = style.begin(ax, look)
    several = style.several_connections(frame)
    for c, s, rows in by_subflow(frame):
        for kind, part in rows.groupby("kind", sort=True):
            again = kind != "new"
            ax.vlines(
                part["t"].to_numpy(),
                part["low"].to_numpy() / 1e6,
                part["high"].to_numpy() / 1e6,
                color=SHADES[str(kind)] if again else style.colour(c, s),
                linewidth=_WIDTHS[str(kind)],
                # Round ends: a segment is far smaller than a pixel.
                capstyle="round",
                label=renamed(f"{kind}s", look.get("rename")) if again else style.label(c, s, look, several),
            )
    top = HEADROOM * frame["high"].max() / 1e6
    for c in sorted(int(number) for number in window["connection"].unique()):
        rows = window[window["connection"] == c]
        t = rows["t"].to_numpy()
        name = f", connection {c}" if several else ""
        for column, dashes, what in (("data_ack", "solid", "acknowledged"), ("edge", "dotted", "window ends")):
            if rows[column].min() / 1e6 > top:
                continue
            ax.step(
                t,
                rows[column].to_numpy() / 1e6,
                where="post",
                color=places.TOTAL,
                linestyle=dashes,
                linewidth=0.9,
                zorder=1,
                label=renamed(what + name, look.get("rename")),
            )
    _once(ax)
    ends = [end for end in (end_of(frame), end_of(window)) if end > 0]
    style.finish(ax, "sequence", "Data sequence", look, max(ends, default=math.nan), ylabel="data stream (MB)")
    # A window may be a thousand times what was sent.
    if top > 0:
        ax.set_ylim(0, min(top, ax.get_ylim()[1]))
    return ax


def _once(ax: "Axes") -> None:
    """One legend entry for a name that several lines have."""
    seen: set[str] = set()
    for artist in [*ax.collections, *ax.lines]:
        name = str(artist.get_label())
        if name in seen:
            artist.set_label("_" + name)
        seen.add(name)
