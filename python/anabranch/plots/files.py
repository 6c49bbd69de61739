"""Figures as files: the same octets each time, fonts embedded as TrueType."""

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anabranch.plots import style

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("svg", "png", "pdf")
_DPI = 160
_DATED: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
"""Metadata without the time, which would make each file another one."""


def picture(draw: "Callable[[Axes], object]", form: str, look: style.Look) -> bytes:
    """What `draw` draws into axes, as a file of `form`, whose axes of time align with those of others."""
    from matplotlib import style as looks

    with looks.context(["default", style.RC]):
        return octets(drawn(draw, look), form, _DPI)


def drawn(draw: "Callable[[Axes], object]", look: style.Look) -> "Figure":
    """The figure of a `picture`."""
    from matplotlib.figure import Figure as Canvas

    from anabranch.plots import fit

    figure = Canvas(figsize=style.size(look), layout=fit.Fitted())
    draw(figure.subplots())
    style.align(figure)
    return figure


def octets(figure: "Figure", form: str, dpi: float) -> bytes:
    """A figure as a file of `form`."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=form, dpi=dpi, metadata=_DATED.get(form, {}))
    return buffer.getvalue()


def save(ax: "Axes", path: "str | os.PathLike[str]") -> None:
    """Write the figure that `ax` belongs to, as publishers want it: fonts are embedded as TrueType, not as Type 3.

    Parameters
    ----------
    ax : matplotlib Axes
        What a figure function returned.
    path : path
        Ends in ``.svg``, ``.png`` or ``.pdf``.

    Examples
    --------
    >>> import tempfile, anabranch as ab
    >>> run = ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="100 kB").run()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ab.plots.save(run.plot.cwnd(width="88 mm", height="60 mm", title=False), f"{folder}/window.pdf")
    """
    from matplotlib import rc_context

    path = Path(path)
    form = path.suffix.removeprefix(".")
    if form not in FORMATS:
        raise ValueError(f"{path}: a figure is a file that ends in .{', .'.join(FORMATS)}")
    with rc_context(style.RC):
        path.write_bytes(octets(ax.figure.figure, form, 300))
