"""The texts that a figure draws and where they stand: what tests of figures look at."""

import itertools
from unittest import mock

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

SIZES = [("88 mm", "50 mm"), ("88 mm", "66 mm"), ("120 mm", "80 mm"), ("180 mm", "100 mm"), (None, None)]
"""Width and height: columns and pages of a paper, and the default."""
_DOTS = 1.0
"""What two texts may overlap, or one may leave the figure by: less than anyone sees."""


def drawn_texts(figure: Figure) -> list[tuple[Text, Bbox]]:
    """Draw `figure`, and return every text that was drawn with the place that it took."""
    found: list[Text] = []
    usual = Text.draw

    def draw(self: Text, renderer: object) -> None:
        found.append(self)
        usual(self, renderer)  # type: ignore[arg-type]

    with mock.patch.object(Text, "draw", draw):
        FigureCanvasAgg(figure).draw()  # type: ignore[no-untyped-call]
    return [(text, text.get_window_extent()) for text in found if text.get_visible() and text.get_text().strip()]


def assert_fits(figure: Figure, *, apart: bool = True) -> list[tuple[Text, Bbox]]:
    """No text leaves `figure`; with `apart` no two texts lie over each other, either. Returns the drawn texts."""
    texts = drawn_texts(figure)
    assert texts
    for text, box in texts:
        inside = box.x0 > -_DOTS and box.y0 > -_DOTS
        inside &= bool(box.x1 < figure.bbox.x1 + _DOTS and box.y1 < figure.bbox.y1 + _DOTS)
        assert inside, f"{text.get_text()!r} at {box.extents} leaves {figure.bbox.extents}"
    if apart:
        assert overlapping(texts) == []
    return texts


def overlapping(texts: list[tuple[Text, Bbox]]) -> list[tuple[str, str]]:
    """Pairs of texts that lie over each other; of slanted ones the boxes do where the texts do not."""
    straight = [(text, box) for text, box in texts if text.get_rotation() % 90 == 0]
    return [
        (one.get_text(), other.get_text())
        for (one, a), (other, b) in itertools.combinations(straight, 2)
        if min(a.x1, b.x1) - max(a.x0, b.x0) > _DOTS and min(a.y1, b.y1) - max(a.y0, b.y0) > _DOTS
    ]


def assert_logarithmic_axes_can_be_read(figure: Figure, texts: list[tuple[Text, Bbox]]) -> None:
    """Every logarithmic axis has two ticks or more with plain numbers, and a name. `texts`: those that were drawn."""
    drawn = {id(text) for text, _ in texts}
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            if axis.get_scale() != "log" or not ax.get_visible():
                continue
            names = [text.get_text() for text in axis.get_ticklabels() if id(text) in drawn]
            if not names and not axis.get_tick_params().get("labelleft", True):
                continue  # a panel that shares the axis of the one beside it
            assert len(names) >= 2, f"a logarithmic axis with the ticks {names}"
            assert not any("$" in name or "^" in name for name in names), names
