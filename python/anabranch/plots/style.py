"""One look for every figure.

The colours are Okabe and Ito's, which people with any of the common colour deficiencies tell apart. A subflow's colour
depends on nothing but its numbers, so it is the same in every figure.
"""

import math
from typing import TYPE_CHECKING, Any, TypedDict

from anabranch.plots.size import LookError, inches

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from anabranch.marks import Mark

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
LINES = ("solid", "dashed", "dotted", "dashdot")
TOTAL = "#555555"
GRID = "#E3E3E3"
SIZE = (8.0, 3.4)
"""Of a figure, in inches."""
RC: "dict[Any, Any]" = {
    "svg.hashsalt": "anabranch",
    "path.simplify_threshold": 0.5,
    # Publishers (IEEE, ACM) refuse Type 3, which matplotlib would embed; 42 is TrueType.
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
}
"""On top of matplotlib's own settings, for every file."""

_STRIDE = 3
"""Colours kept for the subflows of one connection."""
_LEGEND_LIMIT = 14
_NARROW = 5.0
"""Inches below which letters are those of a column of print."""
_MARGINS = (56.0, 12.0)
"""Points left and right of the axes of every figure over time, so that those of one result align."""
_BANDS = 40
"""Marks drawn at most, the first ones: more are a pattern, not events."""


class Look(TypedDict, total=False):
    """What figures may be told besides their data.

    Attributes
    ----------
    labels : mapping
        Legend entries by ``(connection, subflow)``.
    connections : sequence of str
        Their names.
    marks : sequence of Mark
        What to mark in time; ``run.marks``.
    title : bool
        False leaves the title to the caption below the figure.
    width, height : str or float
        Of a new figure: ``"88 mm"``, or inches.
    end : float
        Where time ends, in s, instead of with the frame.
    """

    labels: "Mapping[tuple[int, int], str] | None"
    connections: "Sequence[str]"
    marks: "Sequence[Mark]"
    title: bool
    width: "str | float | None"
    height: "str | float | None"
    end: float


def size(look: Look) -> tuple[float, float]:
    """Of a new figure, in inches."""
    wanted = (look.get("width"), look.get("height"))
    given = [None if x is None else inches(x, what) for x, what in zip(wanted, ("width", "height"), strict=True)]
    if given[0] is not None and given[1] is None:
        return given[0], given[0] * (2 / 3 if given[0] < _NARROW else SIZE[1] / SIZE[0])
    return given[0] or SIZE[0], given[1] or SIZE[1]


def colour(connection: int, subflow: int) -> str:
    """Colour of a subflow.

    >>> colour(0, 0), colour(0, 1), colour(1, 0)
    ('#0072B2', '#D55E00', '#CC79A7')
    """
    return PALETTE[(_STRIDE * connection + subflow) % len(PALETTE)]


def line(connection: int, subflow: int) -> str:
    """Line style of a subflow: solid as long as there are colours."""
    return LINES[(_STRIDE * connection + subflow) // len(PALETTE) % len(LINES)]


def label(connection: int, subflow: int, labels: "Mapping[tuple[int, int], str] | None", several: bool) -> str:
    """What the legend calls a subflow."""
    if labels and (connection, subflow) in labels:
        return labels[connection, subflow]
    return f"connection {connection}, subflow {subflow}" if several else f"subflow {subflow}"


def several_connections(frame: "pd.DataFrame") -> bool:
    """Whether `frame` holds more than one connection."""
    return bool(frame["connection"].nunique() > 1)


def begin(ax: "Axes | None", look: Look) -> "Axes":
    """`ax`, or the axes of a new figure, prepared."""
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=size(look), layout="constrained")
    elif look.get("width") is not None or look.get("height") is not None:
        raise LookError("width and height are those of a new figure; `ax` belongs to one that has its size")
    prepare(ax)
    return ax


def prepare(ax: "Axes") -> None:
    """Spines, grid and letters of every figure."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color=GRID, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.tick_params(labelsize=letters(ax))


def letters(ax: "Axes") -> float:
    """Size of the letters in points: those of print in a figure, or a panel, of a column's width."""
    return 8.0 if room(ax) < 72 * (_NARROW - 1.0) else 10.0


def thin(ax: "Axes") -> float:
    """Width of a line in points."""
    return 1.0 if letters(ax) < 10 else 1.3


def finish(ax: "Axes", title: str, ylabel: str, look: Look, end: float = math.nan) -> "Axes":
    """Title, axis labels with units, marks, and a legend that covers neither title nor data.

    Time ends at `end`, the same for all figures of a result.
    """
    end = look.get("end", end)
    ax.set_ylim(bottom=0)
    ax.margins(x=0)
    ax.set_xlim(0, end if end > 0 else None)
    _mark(ax, look.get("marks", ()), end)
    name(ax, title, "time (s)" if _lowest(ax) else "", ylabel, look)
    legend(ax, title=title if look.get("title", True) else "")
    return ax


def name(ax: "Axes", title: str, xlabel: str, ylabel: str, look: Look) -> None:
    """Title, unless it is unwanted, and the names of both axes."""
    points = letters(ax)
    if look.get("title", True):
        ax.set_title(title, loc="left", fontsize=points + 1, fontweight="bold")
    if xlabel:
        ax.set_xlabel(xlabel, fontsize=points)
    ax.set_ylabel(ylabel, fontsize=points)


def _lowest(ax: "Axes") -> bool:
    """Whether the axis of time below `ax` is its own, not that of the last of a stack."""
    place = ax.get_subplotspec()
    shared = len(ax.get_shared_x_axes().get_siblings(ax)) > 1
    return place is None or not shared or place.is_last_row()


def _mark(ax: "Axes", marks: "Sequence[Mark]", end: float) -> None:
    """Bands for what lasts, lines for what happens; named where there is room."""
    # What counts is in the frame, which may end before the scenario's last change.
    shown = [mark for mark in marks if not mark.start > end][:_BANDS]
    points = letters(ax) - 1
    rows: list[float] = []
    """Where the last name of each row ends, in seconds."""
    left, right = ax.get_xlim()
    per_point = (right - left) / room(ax)
    for mark in shown:
        until = min(mark.end, right)
        if mark.lasts:
            ax.axvspan(mark.start, until, color="#777777", alpha=0.13, linewidth=0, zorder=0.5)
        else:
            ax.axvline(mark.start, color="#777777", linestyle=(0, (2, 2)), linewidth=0.8, zorder=0.6)
        wide = (width(mark.text, points) + 8) * per_point
        start = mark.start if mark.start + wide <= right else right - wide
        row = next((i for i, last in enumerate(rows) if last <= start), len(rows))
        if row >= _ROWS:
            continue
        rows[row : row + 1] = [start + wide]
        ax.annotate(
            mark.text,
            (start, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(3, -2 - row * (points + 3)),
            textcoords="offset points",
            va="top",
            fontsize=points,
            color="#555555",
        ).set_in_layout(False)


_ROWS = 3
"""Of names of marks below one another."""


def legend(ax: "Axes", title: str = "") -> None:
    """A legend that covers neither title nor data: beside the title, above the axes, or below them.

    In a figure whose panels make no room for what is outside of them it is inside, where the least is.
    """
    _, names = ax.get_legend_handles_labels()
    points = letters(ax) - 1
    if len(names) > _LEGEND_LIMIT:
        ax.annotate(
            f"{len(names)} subflows", (1.0, 1.02), xycoords="axes fraction", ha="right", va="bottom", fontsize=points
        )
        return
    if len(names) < 2:
        return
    look: dict[str, Any] = {"frameon": False, "fontsize": points, "handlelength": 1.8, "columnspacing": 1.4}
    entries = entry_widths(names, points)
    # A bold letter is a tenth wider.
    beside = room(ax) - 1.1 * width(title, points + 2) - 2 * points
    if sum(entries) <= beside:
        ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=len(names), borderaxespad=0.2, **look)
    elif _figure(ax).get_layout_engine() is None:
        ax.legend(loc="best", **look | {"frameon": True, "framealpha": 0.85, "edgecolor": "none"})
    else:
        _below(ax, entries, look)


def _below(ax: "Axes", entries: list[float], look: dict[str, Any]) -> None:
    """Put the legend below the axes, in the middle of the figure if they are its only column."""
    from matplotlib.transforms import ScaledTranslation

    left, right = (margin * letters(ax) / 10 for margin in _MARGINS) if _only_column(ax) else (0.0, 0.0)
    fit = max(1, min(len(entries), math.floor((room(ax) + left + right) / max(entries))))
    # Below the names of the axis, which are points high, however high the axes are.
    depth = 3.4 * letters(ax) if _lowest(ax) else 6
    offset = ScaledTranslation((right - left) / 144, -depth / 72, _figure(ax).dpi_scale_trans)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), bbox_transform=ax.transAxes + offset, ncols=fit, **look)


def _figure(ax: "Axes") -> "Figure":
    return ax.figure.figure  # of a figure within a figure, the outer one


def _only_column(ax: "Axes") -> bool:
    """Whether the layout will give `ax` the width of the figure."""
    place = ax.get_subplotspec()
    return place is not None and place.get_gridspec().ncols == 1 and _figure(ax).get_layout_engine() is not None


def room(ax: "Axes") -> float:
    """Width of the axes in points, as far as it is known before the layout."""
    figure = _figure(ax)
    if _only_column(ax):
        return float(72 * figure.get_size_inches()[0] - sum(_MARGINS))
    return float(72 * ax.bbox.width / figure.dpi)


def entry_widths(names: "Sequence[str]", points: float) -> list[float]:
    """Width of each entry of a legend in points, with its key."""
    return [width(name, points) + 4.1 * points for name in names]


def width(text: str, points: float) -> float:
    """Width of a text, in points."""
    from matplotlib.textpath import TextPath

    return float(TextPath((0, 0), text, size=points).get_extents().width) if text.strip() else 0.0


def align(figure: "Figure") -> None:
    """Give the only axes of a figure over time the margins that all such figures have.

    A layout first makes room for what is above and below. Where numbers need more room, they get it.
    """
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    (ax,) = figure.axes
    box, wide = ax.get_position(), 72 * figure.get_size_inches()[0]
    scale = letters(ax) / 10
    left = max(box.x0, scale * _MARGINS[0] / wide)
    right = min(box.x1, 1 - scale * _MARGINS[1] / wide)
    ax.set_position((left, box.y0, right - left, box.height))


ALGORITHMS = {
    "none": "#000000",
    "dsack": "#0072B2",
    "eifel": "#E69F00",
    "door": "#009E73",
    "frto": "#D55E00",
    "uncoupled": "#56B4E9",
    "fully-coupled": "#CC79A7",
    "rtt-compensator": "#882255",
    "coupled": "#882255",
    "linked-increases": "#117733",
    "ewtcp": "#999933",
    "cubic": "#332288",
    "olia": "#44AA99",
    "balia": "#DDCC77",
}
"""Colour of a recovery or a controller, the same wherever algorithms are compared."""
MARKERS = {
    "none": "o",
    "dsack": "s",
    "eifel": "^",
    "door": "D",
    "frto": "v",
    "uncoupled": "o",
    "fully-coupled": "s",
    "rtt-compensator": "^",
}
"""So that no figure depends on colour alone."""


def shades(names: "Sequence[str]") -> list[tuple[str, str, str]]:
    """Colour, marker and line style of each of `names`: an algorithm has its own, if all of them are algorithms.

    >>> shades(["cubic", "uncoupled"])[0], shades(["a", "b"])[1]
    (('#332288', 'o', 'solid'), ('#D55E00', 's', 'solid'))
    """
    own = [ALGORITHMS.get(name, "") for name in names]
    if not all(own) or len(set(own)) < len(own):
        own = [PALETTE[i % len(PALETTE)] for i in range(len(names))]
    return [(shade, _SHAPES[i % len(_SHAPES)], LINES[i // len(PALETTE) % len(LINES)]) for i, shade in enumerate(own)]


_SHAPES = ("o", "s", "^", "D", "v", "P", "X")


def legend_above(ax: "Axes", title: str, about: str = "") -> None:
    """A legend between title and axes, for figures whose names below the axes may be of any height.

    Parameters
    ----------
    ax : Axes
        Which has a title, or is not to have one if `title` is empty.
    title : str
        The title.
    about : str
        What the entries are values of, where they do not say it themselves.
    """
    handles, names = ax.get_legend_handles_labels()
    points = letters(ax) - 1
    if len(names) < 2 or len(names) > _LEGEND_LIMIT or _figure(ax).get_layout_engine() is None:
        legend(ax, title)
        return
    entries = entry_widths(names, points)
    look: dict[str, Any] = {"frameon": False, "fontsize": points, "handlelength": 1.8, "columnspacing": 1.4}
    lead = width(about, points) + 4.1 * points if about else 0
    if sum(entries) + lead <= room(ax) - 1.1 * width(title, points + 2) - 2 * points:
        from matplotlib.lines import Line2D

        if about:
            handles, names = [Line2D([], [], linestyle="none"), *handles], [about, *names]
        place: dict[str, Any] = {
            "loc": "lower right",
            "bbox_to_anchor": (1.0, 1.0),
            "ncols": len(names),
            "borderaxespad": 0.2,
        }
        ax.legend(handles, names, **(place | look))
        return
    fit = max(1, min(len(names), math.floor(room(ax) / max(entries))))
    rows = math.ceil(len(names) / fit) + bool(about)
    look |= {"title": about or None, "title_fontsize": points, "alignment": "left"}
    place = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": fit, "borderaxespad": 0.1, "borderpad": 0.2}
    ax.legend(handles, names, **(place | look))
    if title:
        ax.set_title(title, loc="left", fontsize=points + 2, fontweight="bold", pad=8 + 1.55 * points * rows)
