"""Names of ticks that do not overlap, and ticks of logarithmic axes that can be read."""

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from anabranch.plots.axis import written
from anabranch.plots.letters import LINE, shortened, width, wrapped
from anabranch.plots.places import figure_of
from anabranch.plots.places import room as room_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

_GAP = 3.0
"""Points between the names of neighbours."""
_TURNED = 0.3
"""Part of the figure's height that turned names take at most."""
_BESIDE = 0.4
"""Part of the figure's width that names beside a vertical axis take at most."""
_LINES = 3


def named(ax: "Axes", places: Sequence[float], names: Sequence[str]) -> None:
    """Name places of the horizontal axis: in one line, in several, turned, or not all, as there is room."""
    from anabranch.plots import fit

    size = float(ax.xaxis.get_major_ticks(1)[0].label1.get_fontsize())

    def arrange(ax: "Axes", factor: float) -> bool:
        return _arrange(ax, places, names, max(fit.LEAST, size * factor), fit.wide(ax))

    _arrange(ax, places, names, size, room_of(ax))
    if fit.is_fitted(figure_of(ax)):
        fit.arranged(ax, "ticks", arrange)


def _arrange(ax: "Axes", places: Sequence[float], names: Sequence[str], points: float, room: float) -> bool:

    low, high = sorted(ax.get_xlim())
    # As parts of the axis, whatever its scale.
    ends = ax.transData.transform([(x, 0) for x in (low, high, *places)])[:, 0]
    at = [room * (x - ends[0]) / ((ends[1] - ends[0]) or 1.0) for x in ends[2:]]
    most = _TURNED * 72 * float(figure_of(ax).get_size_inches()[1])
    shown, kept, turn = _form(at, names, points, most)
    before = [text.get_text() for text in ax.get_xticklabels()]
    ax.set_xticks([places[i] for i in kept], shown)
    for text in ax.get_xticklabels():
        text.set(
            rotation=turn, ha="right" if turn == _SLANT else "center", rotation_mode="anchor" if turn else "default"
        )
        if turn == _UPRIGHT:
            text.set(ha="right", va="center")
    return before != shown


_SLANT, _UPRIGHT = 30.0, 90.0


def _form(
    at: Sequence[float], names: Sequence[str], points: float, most: float
) -> tuple[list[str], Sequence[int], float]:
    """What stands at which of the places, and how it is turned; places and `most`, its height, in points."""
    every = range(len(names))
    gaps = [b - a for a, b in itertools.pairwise(sorted(at))]
    if _apart(at, names, points):
        return [*names], every, 0.0
    each = min(gaps) - _GAP
    broken = [wrapped(name, points, each, _LINES) for name in names] if each > 0 else ["" for _ in names]
    slanted = [shortened(name, points, 2 * most) for name in names]  # as high as half of their width
    fits = each + _GAP >= 2 * LINE * points  # the height of a line / sin 30
    if _apart(at, broken, points) and (not fits or _kept(broken) >= min(_kept(slanted), sum(map(len, names)))):
        return broken, every, 0.0
    if fits:
        return slanted, every, _SLANT
    # Upright, and where even these have no room every second, third, ...
    step = min(max(1, math.ceil(LINE * points / (each + _GAP))), max(1, len(names) - 1))
    return [shortened(name, points, most) for name in names[::step]], every[::step], _UPRIGHT


def _kept(names: Sequence[str]) -> int:
    """How many letters are left of names that may be shortened."""
    return sum(len(name.removesuffix("\N{HORIZONTAL ELLIPSIS}")) for name in names)


def _apart(at: Sequence[float], names: Sequence[str], points: float) -> bool:
    """Whether names at these places leave a gap to their neighbours."""
    wide = sorted(zip(at, (width(name, points) for name in names), strict=True))
    return all(b - a >= (v + w) / 2 + _GAP for (a, v), (b, w) in itertools.pairwise(wide))


def beside(ax: "Axes", places: Sequence[float], names: Sequence[str]) -> None:
    """Name places of the vertical axis, in lines that leave most of the figure to the axes."""
    from anabranch.plots import fit

    size = float(ax.yaxis.get_major_ticks(1)[0].label1.get_fontsize())

    def arrange(ax: "Axes", factor: float) -> bool:
        points = max(fit.LEAST, size * factor)
        room = _BESIDE * 72 * float(figure_of(ax).get_size_inches()[0])
        shown = [wrapped(name, points, room, _LINES) for name in names]
        before = [text.get_text() for text in ax.get_yticklabels()]
        ax.set_yticks([*places], shown)
        return before != shown

    arrange(ax, 1.0)
    if fit.is_fitted(figure_of(ax)):
        fit.arranged(ax, "ticks", arrange)


def logarithmic(axis: "Axis") -> None:
    """Give a logarithmic axis ticks at round numbers, at least two, written out."""
    from matplotlib.ticker import FuncFormatter, NullLocator

    from anabranch.plots.locators import Round

    axis.set_major_locator(Round())
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(written))
