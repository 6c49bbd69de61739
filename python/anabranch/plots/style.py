"""One look for every figure.

A subflow's colour depends on nothing but its numbers, so it is the same in every figure; `algorithms` has those of
algorithms.
"""

import math
from typing import TYPE_CHECKING, Any, TypedDict
from weakref import WeakSet

from anabranch.measures import table as measures
from anabranch.plots.algorithms import PALETTE
from anabranch.plots.legends import legend
from anabranch.plots.letters import width, wrapped
from anabranch.plots.places import MARGINS, NARROW, figure_of, letters, lowest, room
from anabranch.plots.size import LookError, inches
from anabranch.plots.wording import called, renamed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation

    from anabranch.measures.timeline import Mark

LINES = ("solid", "dashed", "dotted", "dashdot")
GRID = "#E3E3E3"
SIZE = (8.0, 3.4)
"""Of a figure, in inches."""
RC: "dict[Any, Any]" = {
    "svg.hashsalt": "anabranch",
    "path.simplify_threshold": 0.5,
    "hatch.linewidth": 0.7,
    # Publishers (IEEE, ACM) refuse Type 3, which matplotlib would embed; 42 is TrueType.
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
}
"""On top of matplotlib's own settings, for every file."""

_STRIDE = 3
"""Colours kept for the subflows of one connection."""
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
    rename : mapping
        Texts of legends, ticks and marks: what stands there, and what is to. What a figure does not have is ignored.
    label : mapping
        What axes are called instead, with their units: by the name of a measure or of a sweep's axis; ``"time"``.
    """

    labels: "Mapping[tuple[int, int], str] | None"
    connections: "Sequence[str]"
    marks: "Sequence[Mark]"
    title: bool
    width: "str | float | None"
    height: "str | float | None"
    end: float
    rename: "Mapping[str, str] | None"
    label: "Mapping[str, str] | None"


def size(look: Look) -> tuple[float, float]:
    """Of a new figure, in inches."""
    wanted = (look.get("width"), look.get("height"))
    given = [None if x is None else inches(x, what) for x, what in zip(wanted, ("width", "height"), strict=True)]
    if given[0] is not None and given[1] is None:
        return given[0], given[0] * (2 / 3 if given[0] < NARROW else SIZE[1] / SIZE[0])
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


def label(connection: int, subflow: int, look: Look, several: bool) -> str:
    """What the legend calls a subflow."""
    labels = look.get("labels")
    if labels and (connection, subflow) in labels:
        text = labels[connection, subflow]
    else:
        text = f"connection {connection}, subflow {subflow}" if several else f"subflow {subflow}"
    return renamed(text, look.get("rename"))


def several_connections(frame: "pd.DataFrame") -> bool:
    """Whether `frame` holds more than one connection."""
    return bool(frame["connection"].nunique() > 1)


def begin(ax: "Axes | None", look: Look) -> "Axes":
    """`ax`, or the axes of a new figure, prepared."""
    from anabranch.plots import fit

    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=size(look), layout=fit.Fitted())
    elif look.get("width") is not None or look.get("height") is not None:
        raise LookError("width and height cannot be given with `ax`, whose figure has its size; leave them out")
    fit.adopt(figure_of(ax))
    prepare(ax)
    return ax


def prepare(ax: "Axes") -> None:
    """Spines, grid and letters of every figure."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color=GRID, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.tick_params(labelsize=letters(ax))


def finish(
    ax: "Axes",
    measure: str,
    title: str,
    look: Look,
    end: float = math.nan,
    *,
    ylabel: str | None = None,
    alone: bool = False,
) -> "Axes":
    """Title, names of the axes with units, marks, and a legend that covers neither title nor data.

    Time ends at `end`, the same for all figures of a result. The vertical axis is called as `measure` is, or `ylabel`.
    With `alone` a single line has a legend, too.
    """
    end = look.get("end", end)
    ax.set_ylim(bottom=0)
    ax.margins(x=0)
    ax.set_xlim(0, end if end > 0 else None)
    _mark(ax, look.get("marks", ()), end, look)
    usual = measures.label(measure) if ylabel is None else ylabel
    text = called(measure, usual, look.get("label"))
    title = (title if text == usual else measures.headline(text)) if look.get("title", True) else ""
    name(ax, title, called("time", measures.label("t"), look.get("label")) if lowest(ax) else "", text)
    legend(ax, title, alone=alone)
    return ax


def name(ax: "Axes", title: str, xlabel: str, ylabel: str) -> None:
    """Title and names of both axes; none that is empty."""
    from anabranch.plots import fit

    points = letters(ax)
    if not fit.is_fitted(figure_of(ax)):  # which would wrap them later
        title = wrapped(title, points + 1, room(ax), weight="bold")
        ylabel = wrapped(ylabel, points, 72 * float(figure_of(ax).get_size_inches()[1]))
    if title:
        ax.set_title(title, loc="left", fontsize=points + 1, fontweight="bold")
    if xlabel:
        ax.set_xlabel(xlabel, fontsize=points)
    ax.set_ylabel(ylabel, fontsize=points)


def _mark(ax: "Axes", marks: "Sequence[Mark]", end: float, look: Look) -> None:
    """Bands for what lasts, lines for what happens; named where there is room."""
    from anabranch.plots import fit

    # What counts is in the frame, which may end before the scenario's last change.
    shown = [mark for mark in marks if not mark.start > end][:_BANDS]
    right = ax.get_xlim()[1]
    for mark in shown:
        if mark.lasts:
            ax.axvspan(mark.start, min(mark.end, right), color="#777777", alpha=0.13, linewidth=0, zorder=0.5)
        else:
            ax.axvline(mark.start, color="#777777", linestyle=(0, (2, 2)), linewidth=0.8, zorder=0.6)
    names = [(mark.start, renamed(mark.text, look.get("rename"))) for mark in shown]
    made: WeakSet[Annotation] = WeakSet()

    def arrange(ax: "Axes", factor: float) -> bool:
        """The names anew, for the room there is; nothing else moves for them."""
        for text in [*made]:
            text.remove()
        made.clear()
        made.update(_names(ax, names, max(fit.LEAST, factor * (letters(ax) - 1)), fit.wide(ax), fit.tall(ax)))
        return False

    if names:
        arrange(ax, 1.0)
        fit.arranged(ax, "marks", arrange)


def _names(
    ax: "Axes", names: "Sequence[tuple[float, str]]", points: float, wide: float, high: float
) -> "list[Annotation]":
    """Names of marks inside of axes of a size in points, each beside its begin, in rows where they would overlap."""
    rows: list[float] = []
    """Where the last name of each row ends, in seconds."""
    left, right = ax.get_xlim()
    per_point = (right - left) / wide
    most = min(_ROWS, int(high / 2 / (points + 3)))
    made = []
    for at, text in names:
        room = (width(text, points) + 8) * per_point
        start = min(at, right - room)
        row = next((i for i, last in enumerate(rows) if last <= start), len(rows))
        if row >= most or start < left:
            continue
        rows[row : row + 1] = [start + room]
        note = ax.annotate(
            text,
            (start, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(3, -2 - row * (points + 3)),
            textcoords="offset points",
            va="top",
            fontsize=points,
            color="#555555",
        )
        note.set_in_layout(False)
        made.append(note)
    return made


_ROWS = 3
"""Of names of marks below one another."""


def align(figure: "Figure") -> None:
    """Give the only axes of a figure over time the margins that all such figures have, and keep them there.

    A layout first makes room for what is above and below. Where numbers need more room, they get it.
    """
    from anabranch.plots import fit

    (ax,) = figure.axes
    left, right = (letters(ax) / 10 * margin for margin in MARGINS)
    figure.set_layout_engine(fit.Fitted((left, right)))
    fit.settle(figure)
