"""The reordering buffer over time."""

from typing import TYPE_CHECKING, Unpack

from anabranch.measures.series import end_of
from anabranch.plots import style

_TIMES = 4000
"""That are drawn at most: areas of a million corners take long."""

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def ooo_buffer(frame: "pd.DataFrame", ax: "Axes | None" = None, **look: Unpack[style.Look]) -> "Axes":
    """Packets that wait in the reordering buffer, by the subflow they came on; parameters as for `cwnd`.

    The parts of one connection are stacked, so that the upper edge is what the buffer holds in all.
    """
    ax = style.begin(ax, look)
    several = style.several_connections(frame)
    for c in sorted(int(number) for number in frame["connection"].unique()):
        rows = frame[frame["connection"] == c]
        wide = _thinned(rows.pivot_table(index="t", columns="subflow", values="ooo_buffer", fill_value=0.0))
        t = wide.index.to_numpy()
        subflows = [int(number) for number in wide.columns.to_numpy()]
        names = [style.label(c, s, look, several) for s in subflows]
        colours = [style.colour(c, s) for s in subflows]
        if several:
            for s, name, shade in zip(subflows, names, colours, strict=True):
                ax.plot(t, wide[s].to_numpy(), color=shade, linestyle=style.line(c, s), linewidth=1.0, label=name)
        else:
            ax.stackplot(t, wide.to_numpy().T, colors=colours, labels=names, linewidth=0)
    return style.finish(ax, "ooo_buffer", "Reordering buffer", look, end_of(frame))


def _thinned(wide: "pd.DataFrame") -> "pd.DataFrame":
    """Where there are more times than a figure can show: of several in a row, that at which the buffer held most."""
    several = -(-len(wide) // _TIMES)
    if several <= 1:
        return wide
    total = wide.sum(axis=1).to_numpy()
    groups = [slice(i, i + several) for i in range(0, len(wide), several)]
    return wide.iloc[[group.start + int(total[group].argmax()) for group in groups]]
