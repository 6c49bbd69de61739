"""Legends that cover neither title nor data, arranged for the room there is."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from anabranch.plots.letters import LINE, shortened, width, wrapped
from anabranch.plots.places import TOTAL, figure_of, letters, lowest
from anabranch.plots.places import room as room_of

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend

MOST = 14
"""Entries; of more their number is told."""
_KEY = 4.1
"""Width of an entry besides its name, in sizes of its letters."""
_HIGH = 0.3
"""Part of the figure's height beyond which names are shortened to have more columns."""
_SHORT = 7.0
"""Sizes of letters below which no name is shortened."""


class _Told(NamedTuple):
    """What a legend shows, and where."""

    names: tuple[str, ...]
    about: str
    points: float
    spot: str
    columns: int


_MADE: "WeakKeyDictionary[Legend, _Told]" = WeakKeyDictionary()
_LOOK: dict[str, Any] = {"frameon": False, "handlelength": 1.8, "columnspacing": 1.4}


def legend(ax: "Axes", title: str = "", about: str = "", *, alone: bool = False) -> None:
    """A legend beside the title or, where that has no room, below the axes.

    Parameters
    ----------
    ax : Axes
        Whose lines and bars are named. In a figure whose panels make no room for what is outside of them the legend is
        inside, where the least is.
    title : str
        Of the axes; empty if it has none.
    about : str
        What the entries are values of, where they do not say it themselves.
    alone : bool
        Whether a single entry has a legend, too.
    """
    from anabranch.plots import fit

    handles, names = ax.get_legend_handles_labels()
    if len(names) > MOST:
        # Their sum is none of them.
        count = sum(getattr(handle, "get_color", str)() != TOTAL for handle in handles)
        place: dict[str, Any] = {"xycoords": "axes fraction", "ha": "right", "va": "bottom"}
        ax.annotate(f"{count} subflows", (1.0, 1.02), fontsize=letters(ax) - 1, **place)
        return
    if not names or (len(names) == 1 and not alone):
        return

    _arrange(ax, title, about, 1.0, room_of(ax))
    if fit.is_fitted(figure_of(ax)):
        fit.arranged(ax, "legend", lambda ax, factor: _arrange(ax, title, about, factor, fit.wide(ax)))


def _arrange(ax: "Axes", title: str, about: str, factor: float, room: float) -> bool:
    """Put the legend where it has room, of axes `room` points wide; whether it changed."""
    from anabranch.plots import fit

    figure = figure_of(ax)
    handles, names = ax.get_legend_handles_labels()
    points = max(fit.LEAST, factor * (letters(ax) - 1))
    entries = entry_widths([about, *names] if about else names, points)
    beside = room - width(title, factor * (letters(ax) + 1), "bold") - 2 * points
    if sum(entries) <= beside:
        return _put(ax, handles, names, about, points, "beside", len(names))
    if figure.get_layout_engine() is None:
        return _put(ax, handles, names, about, points, "inside", 1)
    alone = fit.is_fitted(figure) and len(figure.axes) == 1
    room = 72 * float(figure.get_size_inches()[0]) - points if alone else room
    high = 72 * float(figure.get_size_inches()[1]) if alone else math.inf
    shown, columns = fitted(names, points, room, high)
    return _put(ax, handles, shown, about, points, "foot" if alone else "below", columns)


def _put(
    ax: "Axes", handles: "Sequence[Artist]", names: Sequence[str], about: str, points: float, spot: str, columns: int
) -> bool:
    """Make the legend, unless it is there already."""
    from matplotlib.lines import Line2D

    from anabranch.plots import fit

    told = _Told((*names,), about, round(points, 3), spot, columns)
    there = ax.get_legend()
    if there is not None and _MADE.get(there) == told:
        return False
    look: dict[str, Any] = {**_LOOK, "fontsize": points, "ncols": columns}
    if about and spot == "beside":
        handles, names = [Line2D([], [], linestyle="none"), *handles], [about, *names]
        look["ncols"] += 1
    elif about:
        look |= {"title": about, "title_fontsize": points}
    made = ax.legend(handles, names, **(look | _place(ax, points, spot)))
    _MADE[made] = told
    fit.AT_FOOT[made] = spot == "foot"
    return True


def _place(ax: "Axes", points: float, spot: str) -> dict[str, Any]:
    from matplotlib.transforms import ScaledTranslation

    if spot == "beside":
        return {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.2}
    if spot == "foot":
        figure = figure_of(ax)
        low: dict[str, Any] = {"bbox_transform": figure.transFigure, "borderaxespad": 0.1, "borderpad": 0.3}
        return {"loc": "lower center", "bbox_to_anchor": (0.5, 0.0), **low}
    if spot == "below":
        # Below the names of the axis, which are points high, however high the axes are.
        depth = 3.4 * (points + 1) if lowest(ax) else 6
        offset = ScaledTranslation(0, -depth / 72, figure_of(ax).dpi_scale_trans)
        return {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "bbox_transform": ax.transAxes + offset}
    return {"loc": "best", "frameon": True, "framealpha": 0.85, "edgecolor": "none"}


def remove(ax: "Axes") -> None:
    """Take the legend of `ax` away for good."""
    from anabranch.plots import fit

    fit.arranged(ax, "legend", lambda _ax, _factor: False)
    if (there := ax.get_legend()) is not None:
        there.remove()


def shared(figure: "Figure", points: float, about: str = "", last: Sequence[str] = ()) -> None:
    """One legend below all panels of a figure, each name once; those in `last` at the end.

    Where it is arranged it is that of the first axes: those of a figure are drawn as they were before the layout.
    """
    from anabranch.plots import fit

    def arrange(ax: "Axes", factor: float) -> bool:
        named = _named(figure_of(ax), last)
        size = max(fit.LEAST, factor * points)
        wide, high = (72 * float(length) for length in figure_of(ax).get_size_inches())
        shown, columns = fitted([*named], size, wide - size, high)
        return bool(named) and _put(ax, [*named.values()], shown, about, size, "foot", columns)

    if fit.is_fitted(figure):
        arrange(figure.axes[0], 1.0)
        fit.arranged(figure.axes[0], "legend", arrange)
    elif named := _named(figure, last):
        shown, columns = fitted([*named], points, 72 * float(figure.get_size_inches()[0]) - points, math.inf)
        look = {**_LOOK, "fontsize": points, "ncols": columns, "title": about or None, "title_fontsize": points}
        figure.legend([*named.values()], shown, loc="outside lower center", **look)


def _named(figure: "Figure", last: Sequence[str]) -> "dict[str, Artist]":
    """What is drawn under each name in all axes of `figure`, those in `last` at the end."""
    named: dict[str, Artist] = {}
    for ax in figure.axes:
        for handle, name in zip(*ax.get_legend_handles_labels(), strict=True):
            named.setdefault(name, handle)
    ends = [name for name in last if name in named]
    return {name: named[name] for name in [*(name for name in named if name not in ends), *ends]}


def entry_widths(names: Sequence[str], points: float) -> list[float]:
    """Width of each entry of a legend in points, with its key."""
    return [width(name, points) + _KEY * points for name in names]


def fitted(names: Sequence[str], points: float, room: float, high: float) -> tuple[list[str], int]:
    """Names of a legend and the number of its columns, so that it is at most `room` points wide.

    Names are wrapped where one alone is too wide, and shortened where the legend would take too much of a figure that
    is `high` points.
    """
    columns = _columns(entry_widths(names, points), room)
    if columns:
        rows = math.ceil(len(names) / columns)
        for more in range(columns + 1, len(names) + 1):
            if rows * LINE * points <= _HIGH * high:
                break
            each = room / more - _KEY * points
            short = [shortened(name, points, each) for name in names]
            if each >= _SHORT * points and len(set(short)) == len(set(names)):
                names, columns, rows = short, more, math.ceil(len(names) / more)
        return [*names], columns
    each = room - _KEY * points
    return [wrapped(name, points, each, 2) for name in names], 1


def _columns(entries: Sequence[float], room: float) -> int:
    """The most columns that are together at most `room` wide; 0 if one is too wide."""
    for columns in range(len(entries), 0, -1):
        # As many entries in each column, the first ones with one more, as matplotlib fills them.
        less, more = divmod(len(entries), columns)
        counts = [less + (i < more) for i in range(columns)]
        ends = [sum(counts[: i + 1]) for i in range(columns)]
        if sum(max(entries[end - count : end]) for end, count in zip(ends, counts, strict=True)) <= room:
            return columns
    return 0
