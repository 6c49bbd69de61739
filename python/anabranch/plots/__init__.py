"""Figures: pure functions ``(frame, ax=None) -> Axes`` of ``run.subflows``.

Examples
--------
>>> import anabranch as ab
>>> from matplotlib.figure import Figure
>>> run = ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="1 MB").run()
>>> ax = ab.plots.cwnd(run.subflows, Figure().subplots())
>>> ax.get_ylabel()
'congestion window (kB)'
"""

import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anabranch.plots.lines import cwnd, srtt
from anabranch.plots.ooo_buffer import ooo_buffer
from anabranch.plots.throughput import throughput

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from anabranch.results import Run

__all__ = ["FIGURES", "Figure", "cwnd", "ooo_buffer", "render", "srtt", "throughput"]


@dataclass(frozen=True)
class Figure:
    """A figure every report holds."""

    draw: "Callable[..., Axes]"
    title: str
    caption: str


FIGURES: Mapping[str, Figure] = {
    "cwnd": Figure(
        cwnd,
        "Congestion window",
        "Octets a subflow may have in flight. A steep fall is an answer to loss; a saw-tooth is a queue that fills "
        "and overflows.",
    ),
    "throughput": Figure(
        throughput,
        "Throughput",
        "Data that arrived for the first time, by the subflow that brought it; copies that came later do not count.",
    ),
    "ooo_buffer": Figure(
        ooo_buffer,
        "Reordering buffer",
        "Packets the receiver holds because data before them is still missing, by the subflow they came on. Over "
        "unlike paths those that came the quicker way wait for those that came the slower.",
    ),
    "srtt": Figure(
        srtt,
        "Round-trip time",
        "As the sender estimates it (RFC 6298). What exceeds twice the path's delay is mostly time in its queue.",
    ),
}
"""By name, in the order of the report."""


def render(run: "Run", names: Iterable[str] | None = None) -> dict[str, str]:
    """Figures of `run` as SVG text, the same bytes each time.

    Parameters
    ----------
    run : Run
        What to draw.
    names : iterable of str, optional
        Keys of `FIGURES`; all if not given.
    """
    return {name: image(run, name, "svg").decode() for name in (FIGURES if names is None else names)}


def image(run: "Run", name: str, format: str) -> bytes:
    """One figure as a file of `format`: ``svg``, ``png`` or ``pdf``."""
    from matplotlib import style as looks
    from matplotlib.figure import Figure as Canvas

    from anabranch.plots.style import SIZE

    dated: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(format, {})
    with looks.context(["default", {"svg.hashsalt": "anabranch", "path.simplify_threshold": 0.5}]):
        figure = Canvas(figsize=SIZE, layout="constrained")
        FIGURES[name].draw(run.subflows, figure.subplots(), labels=run.labels)
        buffer = io.BytesIO()
        figure.savefig(buffer, format=format, dpi=160, metadata=dated)
    return buffer.getvalue()
