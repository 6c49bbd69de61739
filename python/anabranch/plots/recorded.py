"""Values that algorithms written in Python recorded, over time."""

from typing import TYPE_CHECKING, Unpack

from anabranch.measures.series import by_subflow, end_of
from anabranch.measures.table import MEASURES, label
from anabranch.plots import places, style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def recorded_names(frame: "pd.DataFrame") -> list[str]:
    """Columns of ``run.subflows`` that algorithms recorded, in the order of their first values."""
    return [name for name in frame.columns if name not in MEASURES and name not in ("connection", "subflow")]


def recorded(frame: "pd.DataFrame", name: str, ax: "Axes | None" = None, **look: Unpack[style.Look]) -> "Axes":
    """A value that algorithms recorded, of each subflow, in its own unit.

    A line is horizontal from one value to the next, and begins with the first.

    Parameters
    ----------
    frame : pandas.DataFrame
        ``run.subflows``.
    name : str
        What `Algorithm.record` was given.
    ax, **look
        As for `cwnd`.

    Raises
    ------
    ValueError
        If no algorithm recorded `name`.
    """
    names = recorded_names(frame)
    if name not in names:
        known = ", ".join(names) or "nothing"
        raise ValueError(f"no algorithm recorded {name!r} in this run; recorded: {known}")
    ax = style.begin(ax, look)
    several = style.several_connections(frame)
    for c, s, rows in by_subflow(frame):
        value = rows[name]
        if value.notna().any():
            ax.plot(
                rows["t"].to_numpy(),
                value.to_numpy(),
                color=style.colour(c, s),
                linestyle=style.line(c, s),
                linewidth=places.thin(ax),
                drawstyle="steps-post",
                label=style.label(c, s, look, several),
            )
    low = float(frame[name].min())
    ax = style.finish(ax, name, title_of(name), look, end_of(frame))
    if low < 0:
        ax.set_ylim(bottom=None)
        ax.autoscale(axis="y")
    return ax


def title_of(name: str) -> str:
    """Title of the figure of a value that was recorded."""
    return f"{label(name)}, as recorded"
