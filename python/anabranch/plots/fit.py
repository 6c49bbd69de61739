"""A layout after which no text leaves the figure, whatever its size.

matplotlib's constrained layout makes room for the height of what stands above and below the axes and for the width of
what stands beside them. It ignores the length of titles and of the names of axes, and gives up where a legend or the
names of ticks are wider than the figure. `Fitted` is constrained layout that also wraps and moves texts, arranges
legends and names of ticks for the room there is, and takes smaller letters where that is not enough.
"""

import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Annotation, Text
from matplotlib.ticker import AutoLocator

from anabranch.plots.letters import shortened, wrapped
from anabranch.plots.locators import Within

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.legend import Legend
    from matplotlib.transforms import Bbox

FACTORS = (1.0, 0.85, 0.7, 0.55)
"""Of the size of all letters; the first with which everything fits is taken."""
LEAST = 4.5
"""Points that no letter falls below."""
_ROUNDS = 4
"""Layouts at most with letters of one size: texts are arranged for the axes that the last one gave."""
_KEPT = 0.35
"""Part of its share of the figure's width and height that axes keep at least."""
_LINES = 3
"""Of the name of an axis, or of a title."""
_EDGE = 1.5
"""Points left free along the edges of the figure."""
_TOUCH = 0.5
"""Dots that texts may overlap, or leave the figure, without anyone seeing it."""


class Badness(NamedTuple):
    """What is wrong with a layout: numbers of texts and axes. Less is better, and all 0 is right."""

    outside: int = 0
    collapsed: int = 0
    overlapping: int = 0


Arrange: TypeAlias = Callable[[Any, float], bool]
"""Arranges something of axes or a figure, as they are, in letters of a factor; says whether anything changed."""


class _Original:
    """A text as it was before it was fitted, and as it was made; any other text or size there is a new original."""

    def __init__(self, text: Text) -> None:
        self.text = self.made = text.get_text()
        self.size = self.sized = float(text.get_fontsize())
        self.place = text.get_position()

    def renew(self, text: Text) -> None:
        """Take over what was changed since."""
        if text.get_text() != self.made:
            self.text = self.made = text.get_text()
        if float(text.get_fontsize()) != self.sized:
            self.size = self.sized = float(text.get_fontsize())


_ARRANGED: "WeakKeyDictionary[Artist, dict[str, Arrange]]" = WeakKeyDictionary()
_TEXTS: "WeakKeyDictionary[Text, _Original]" = WeakKeyDictionary()
_TICKS: "WeakKeyDictionary[Axis, tuple[float, float]]" = WeakKeyDictionary()
"""Size of the names of ticks: as it was given, and as it was made."""
AT_FOOT: "WeakKeyDictionary[Legend, bool]" = WeakKeyDictionary()
"""Legends that are arranged, and whether they stand at the foot of their figure, below everything else."""


def arranged(owner: "Axes | Figure", what: str, arrange: Arrange) -> None:
    """Have `arrange` called at each layout; it takes the place of what `owner` had under the same name."""
    _ARRANGED.setdefault(owner, {})[what] = arrange


def adopt(figure: Figure) -> None:
    """Give a figure that has matplotlib's constrained layout this one, with the same pads."""
    engine = figure.get_layout_engine()
    if type(engine) is ConstrainedLayoutEngine and not getattr(engine, "_compress", False):
        figure.set_layout_engine(Fitted(**engine.get()))


def is_fitted(figure: Figure) -> bool:
    """Whether `figure` has this layout."""
    return isinstance(figure.get_layout_engine(), Fitted)


class Fitted(ConstrainedLayoutEngine):
    """Constrained layout that fits all texts into the figure.

    Parameters
    ----------
    margins : tuple of float, optional
        Points that the only axes at least keep from the left and the right edge of the figure.
    **pads
        As for matplotlib's constrained layout.
    """

    def __init__(self, margins: tuple[float, float] = (0.0, 0.0), **pads: Any) -> None:
        super().__init__(**pads)
        self.margins = margins

    def execute(self, fig: Figure) -> None:
        """Lay `fig` out with the largest letters with which everything fits."""
        if not fig.axes:
            return
        for legend in _every_legend(fig):
            legend.set_visible(legend.get_visible() or legend in AT_FOOT)
        for axis in _every_axis(fig):
            if type(axis.get_major_locator()) is AutoLocator:
                axis.set_major_locator(Within())
        found: dict[float, Badness] = {}
        for factor in FACTORS:
            found[factor] = self._lay(fig, factor)
            if not any(found[factor]):
                return
        best = min(FACTORS, key=lambda factor: (found[factor], -factor))
        if best != FACTORS[-1]:
            self._lay(fig, best)
        _cut(fig)

    def _lay(self, fig: Figure, factor: float) -> Badness:
        _resize(fig, factor)
        for _ in range(_ROUNDS):
            self._constrain(fig)
            if not _arrange(fig, factor):
                break
        return _badness(fig)

    def _constrain(self, fig: Figure) -> None:
        """Constrained layout above the legends at the foot of the figure, and between the margins."""
        whole = x, y, w, h = self.get()["rect"]
        foot = [legend for legend in _legends(fig) if AT_FOOT.get(legend)]
        wide, high = 72 * fig.get_size_inches()
        low = sum(legend.get_window_extent().height for legend in foot) * 72 / fig.dpi / high
        try:
            for legend in foot:
                legend.set_in_layout(False)
            self.set(rect=(x, y + low, w, max(h - low, 0.1)))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of axes that collapse: `_badness` finds them
                super().execute(fig)
        finally:
            self.set(rect=whole)
            for legend in foot:
                legend.set_in_layout(True)
        if any(self.margins) and len(fig.axes) == 1:
            (ax,) = fig.axes
            box = ax.get_position()
            left, right = (margin / wide for margin in self.margins)
            left, right = max(box.x0, left), min(box.x1, 1 - right)
            ax.set_position((left, box.y0, right - left, box.height))
            ax.set_in_layout(True)  # which axes that are placed by hand are not


def settle(figure: Figure) -> None:
    """Lay `figure` out and take its layout engine away, so that saving it draws it once and lays nothing out again.

    A figure that keeps any layout engine, even matplotlib's placeholder, is drawn twice when it is saved.
    """
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        _round_positions(figure)
    figure.set_layout_engine(None)


def _round_positions(figure: Figure) -> None:
    """Round the edges of each axes to 1e-8 of the figure's size.

    The solver of matplotlib's constrained layout adds terms in the order of memory addresses. So
    the last bits of the positions, and the bytes of SVG and PDF files, would depend on the figures
    that the process has drawn before.
    """
    for ax in figure.axes:
        box = ax.get_position(original=True)
        in_layout = ax.get_in_layout()
        left, bottom, right, top = (round(float(edge), 8) for edge in box.extents)
        ax.set_position((left, bottom, right - left, top - bottom))
        ax.set_in_layout(in_layout)


def _every_axis(fig: Figure) -> "Iterator[Axis]":
    for ax in fig.axes:
        yield from (ax.xaxis, ax.yaxis)


def _resize(fig: Figure, factor: float) -> None:
    """All letters, but those of arranged things, in `factor` of their size."""
    own = {text for axis in _every_axis(fig) for text in _of_ticks(axis, every=True)}
    own |= {text for legend in _legends(fig) if legend in AT_FOOT for text in legend.findobj(Text)}
    for axis in _every_axis(fig):
        given, made = _TICKS.get(axis, (0.0, 0.0))
        now = float(axis.get_major_ticks(1)[0].label1.get_fontsize())
        if now != made:
            given = now
        made = max(min(given, LEAST), given * factor)
        if made != now:
            axis.set_tick_params(which="both", labelsize=made)
            made = float(axis.get_major_ticks(1)[0].label1.get_fontsize())
        _TICKS[axis] = given, made
    for text in fig.findobj(Text):
        assert isinstance(text, Text)
        if text in own:
            continue
        original = _TEXTS.setdefault(text, _Original(text))
        original.renew(text)
        text.set_fontsize(max(min(original.size, LEAST), original.size * factor))
        original.sized = float(text.get_fontsize())


def _arrange(fig: Figure, factor: float) -> bool:
    """Wrap and move texts for the axes as they are; whether anything changed."""
    changed = False
    for owner in (fig, *fig.axes):
        for arrange in [*_ARRANGED.get(owner, {}).values()]:
            changed |= arrange(owner, factor)
    for ax in fig.axes:
        if ax.get_visible():
            changed |= _name(ax, ax.yaxis.label, upright=True)
            changed |= _name(ax, ax.xaxis.label, upright=False)
            for title in titles(ax):
                changed |= _wrap(title, _until(ax, title))
            for text in ax.texts:
                changed |= not isinstance(text, Annotation) and _wrap(text, _points(fig, ax.bbox.width))
    for text in fig.texts:
        changed |= _wrap(text, _points(fig, fig.bbox.width) - 2 * _EDGE)
    return changed


def titles(ax: "Axes") -> list[Text]:
    """The titles of `ax` that have a text."""
    found = [ax.title, getattr(ax, "_left_title", None), getattr(ax, "_right_title", None)]
    return [title for title in found if title is not None and title.get_text()]


def wide(ax: "Axes") -> float:
    """Width of `ax` in points."""
    return _points(_figure(ax), ax.bbox.width)


def tall(ax: "Axes") -> float:
    """Height of `ax` in points."""
    return _points(_figure(ax), ax.bbox.height)


def _points(fig: Figure, dots: float) -> float:
    return float(72 * dots / fig.dpi)


def _figure(ax: "Axes") -> Figure:
    return ax.figure.figure  # of a figure within a figure, the outer one


def _until(ax: "Axes", title: Text) -> float:
    """Points from where a title begins to where the next axes do, or the figure ends."""
    fig = _figure(ax)
    low, high = _span(ax, upright=False)
    room = high - ax.bbox.x0 if title.get_horizontalalignment() == "left" else high - low
    return _points(fig, room) - _EDGE


def _span(ax: "Axes", *, upright: bool) -> tuple[float, float]:
    """From where to where the name of an axis may reach, in dots: half-way to the axes before and after."""
    fig = _figure(ax)
    edge = _EDGE * fig.dpi / 72
    low, high = edge, (fig.bbox.height if upright else fig.bbox.width) - edge
    box = ax.bbox
    for other in (one.bbox for one in fig.axes if one is not ax and one.get_visible()):
        beside = other.x0 < box.x1 and other.x1 > box.x0 if upright else other.y0 < box.y1 and other.y1 > box.y0
        if not beside:
            continue
        ends = (box.y0, box.y1, other.y0, other.y1) if upright else (box.x0, box.x1, other.x0, other.x1)
        if ends[3] <= ends[0]:
            low = max(low, (ends[3] + ends[0]) / 2)
        elif ends[2] >= ends[1]:
            high = min(high, (ends[2] + ends[1]) / 2)
    return low, high


def _name(ax: "Axes", label: Text, *, upright: bool) -> bool:
    """Wrap the name of an axis that is longer than its span, and move it into that."""
    if not label.get_text():
        return False
    low, high = _span(ax, upright=upright)
    changed = _wrap(label, _points(_figure(ax), high - low))
    along = 1 if upright else 0
    before = label.get_position()
    place = list(_TEXTS[label].place)
    place[1 - along] = before[1 - along]
    label.set_position((place[0], place[1]))
    box = label.get_window_extent()
    first, last = (box.y0, box.y1) if upright else (box.x0, box.x1)
    move = max(low - first, 0.0) or min(high - last, 0.0)
    place[along] += move / max(ax.bbox.height if upright else ax.bbox.width, 1.0)
    label.set_position((place[0], place[1]))
    return changed or abs(place[along] - before[along]) > 1e-3


def _wrap(text: Text, room: float) -> bool:
    """Wrap a text that is wider than `room` points; whether it changed."""
    original = _TEXTS.setdefault(text, _Original(text))
    original.renew(text)
    weight = str(text.get_fontweight())
    made = wrapped(original.text, float(text.get_fontsize()), max(room, 20.0), _LINES, weight)
    if made == text.get_text():
        return False
    text.set_text(made)
    original.made = made
    return True


def _of_ticks(axis: "Axis", *, every: bool = False) -> list[Text]:
    """The names of ticks that are drawn; with `every` also of those beyond the ends of the axis."""
    low, high = sorted(axis.get_view_interval())
    slack = 1e-9 * (high - low)
    ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()] if axis.get_majorticklabels() is not None else []
    return [
        text
        for tick in ticks
        if every or low - slack <= tick.get_loc() <= high + slack
        for text in (tick.label1, tick.label2)
        if every or (text.get_visible() and text.get_text())
    ]


def _drawn(fig: Figure) -> "Iterator[tuple[Text, bool]]":
    """Every text that is drawn but those of legends, and whether it stands around axes rather than on them."""
    for ax in fig.axes:
        if not ax.get_visible():
            continue
        around = [*_of_ticks(ax.xaxis), *_of_ticks(ax.yaxis), ax.xaxis.label, ax.yaxis.label, *titles(ax)]
        around += [ax.xaxis.offsetText, ax.yaxis.offsetText]
        yield from ((text, True) for text in around if text.get_visible() and text.get_text().strip())
        yield from ((text, False) for text in ax.texts if text.get_visible() and text.get_text().strip())
    yield from ((text, True) for text in fig.texts if text.get_visible() and text.get_text().strip())


def _every_legend(fig: Figure) -> "list[Legend]":
    own = [ax.get_legend() for ax in fig.axes if ax.get_visible()]
    return [legend for legend in (*own, *fig.legends) if legend is not None]


def _legends(fig: Figure) -> "list[Legend]":
    return [legend for legend in _every_legend(fig) if legend.get_visible()]


def _badness(fig: Figure) -> Badness:
    drawn = [*_drawn(fig)]
    legends = [legend.get_window_extent() for legend in _legends(fig)]
    outside = sum(_leaves(box, fig) for box in [*(text.get_window_extent() for text, _ in drawn), *legends])
    collapsed = 0
    for ax in fig.axes:
        place = ax.get_subplotspec()
        if place is None or not ax.get_visible():
            continue
        rows, columns = place.get_gridspec().nrows, place.get_gridspec().ncols
        collapsed += ax.bbox.width < _KEPT * fig.bbox.width / columns
        collapsed += ax.bbox.height < _KEPT * fig.bbox.height / rows
    # The boxes of slanted texts overlap where the texts do not.
    boxes = [text.get_window_extent() for text, around in drawn if around and text.get_rotation() % 90 == 0]
    boxes += [legend.get_window_extent() for legend in _legends(fig) if not _inside(legend)]
    return Badness(outside, collapsed, _overlapping(boxes))


def _inside(legend: "Legend") -> bool:
    """Whether `legend` stands on its axes."""
    ax = legend.axes
    if ax is None:
        return False
    box = legend.get_window_extent()
    return bool(box.x0 >= ax.bbox.x0 and box.x1 <= ax.bbox.x1 and box.y0 >= ax.bbox.y0 and box.y1 <= ax.bbox.y1)


def _leaves(box: "Bbox", fig: Figure) -> bool:
    return bool(min(box.x0, box.y0) < -_TOUCH or box.x1 > fig.bbox.width + _TOUCH or box.y1 > fig.bbox.height + _TOUCH)


def _overlapping(boxes: "list[Bbox]") -> int:
    """How many pairs of `boxes` overlap."""
    if not boxes:
        return 0
    x0, y0, x1, y1 = np.array([box.extents for box in boxes]).T
    across = np.minimum(x1[:, None], x1) - np.maximum(x0[:, None], x0) > _TOUCH
    along = np.minimum(y1[:, None], y1) - np.maximum(y0[:, None], y0) > _TOUCH
    return int(np.triu(across & along, 1).sum())


def _cut(fig: Figure) -> None:
    """Shorten what still leaves the figure, and hide what does so even then."""
    for legend in _legends(fig):
        if _leaves(legend.get_window_extent(), fig):
            legend.set_visible(False)
    ticks = {text for axis in _every_axis(fig) for text in _of_ticks(axis, every=True)}
    for text, _ in [*_drawn(fig)]:
        if text in ticks:
            text.set_visible(not _leaves(text.get_window_extent(), fig))
            continue
        original = _TEXTS.setdefault(text, _Original(text))
        for share in (0.7, 0.4, 0.2):
            if _leaves(text.get_window_extent(), fig):
                room = share * _points(fig, fig.bbox.width)
                text.set_text(shortened(text.get_text().partition("\n")[0], float(text.get_fontsize()), room))
                original.made = text.get_text()
        if _leaves(text.get_window_extent(), fig):
            text.set_text("")
            original.made = ""
