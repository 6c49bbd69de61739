"""Where axes stand in their figure, how much room they have, and how large their letters are."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TOTAL = "#555555"
"""Colour of sums and baselines."""
NARROW = 5.0
"""Inches below which letters are those of a column of print."""
MARGINS = (56.0, 12.0)
"""Points left and right of the axes of every figure over time, so that those of one result align."""


def figure_of(ax: "Axes") -> "Figure":
    """The figure of `ax`; of a figure within a figure, the outer one."""
    return ax.figure.figure


def letters(ax: "Axes") -> float:
    """Size of the letters in points: those of print in a figure, or a panel, of a column's width."""
    return 8.0 if room(ax) < 72 * (NARROW - 1.0) else 10.0


def thin(ax: "Axes") -> float:
    """Width of a line in points."""
    return 1.0 if letters(ax) < 10 else 1.3


def lowest(ax: "Axes") -> bool:
    """Whether the axis of time below `ax` is its own, not that of the last of a stack."""
    place = ax.get_subplotspec()
    shared = len(ax.get_shared_x_axes().get_siblings(ax)) > 1
    return place is None or not shared or place.is_last_row()


def _only_column(ax: "Axes") -> bool:
    """Whether the layout will give `ax` the width of the figure."""
    place = ax.get_subplotspec()
    return place is not None and place.get_gridspec().ncols == 1 and figure_of(ax).get_layout_engine() is not None


def room(ax: "Axes") -> float:
    """Width of the axes in points, as far as it is known before the layout."""
    figure = figure_of(ax)
    if _only_column(ax):
        return float(72 * figure.get_size_inches()[0] - sum(MARGINS))
    return float(72 * ax.bbox.width / figure.dpi)
