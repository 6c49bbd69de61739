"""What two senders of one scenario delivered, over time: the figure of ``compare-kernel``."""

from typing import TYPE_CHECKING, Unpack

from anabranch.measures.series import by_subflow
from anabranch.plots import places, style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def beside(
    ours: "pd.DataFrame",
    theirs: "pd.DataFrame",
    names: tuple[str, str] = ("Anabranch", "Linux"),
    ax: "Axes | None" = None,
    **look: Unpack[style.Look],
) -> "Axes":
    """Data delivered by each subflow, from the first octet on, of two senders: solid and dashed.

    Parameters
    ----------
    ours, theirs : pandas.DataFrame
        ``run.subflows``, ``capture.subflows`` with a capture of the receiver: columns ``t`` (s), ``connection``,
        ``subflow``, ``delivered`` (octets).
    names : tuple of str
        What the legend calls the two.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.
    **look
        As for `cwnd`.
    """
    ax = style.begin(ax, look)
    end = 0.0
    for frame, name, dashes in ((ours, names[0], "solid"), (theirs, names[1], "dashed")):
        begun = frame.loc[frame["delivered"] > 0, "t"].min()
        for c, s, rows in by_subflow(frame):
            # What follows the last octet is waiting.
            upto = rows["delivered"].searchsorted(rows["delivered"].max()) + 1
            t = rows["t"].to_numpy()[:upto] - begun
            ax.plot(
                t[t >= 0],
                rows["delivered"].to_numpy()[:upto][t >= 0] / 1e6,
                color=style.colour(c, s),
                linestyle=dashes,
                linewidth=places.thin(ax),
                label=f"{name}, {style.label(c, s, look, several=False)}",
            )
            end = max(end, float(t[-1]))
    return style.finish(ax, "delivered", "Data delivered", look, end)
