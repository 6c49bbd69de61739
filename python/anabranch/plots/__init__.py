"""Figures: pure functions ``(frame, ax=None, **look) -> Axes`` of ``run.subflows``.

Examples
--------
>>> import anabranch as ab
>>> from matplotlib.figure import Figure
>>> run = ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="1 MB").run()
>>> ax = ab.plots.cwnd(run.subflows, Figure().subplots())
>>> ax.get_ylabel()
'congestion window (kB)'
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

from anabranch.plots.files import picture, save
from anabranch.plots.lines import cwnd, in_flight, srtt
from anabranch.plots.ooo_buffer import ooo_buffer
from anabranch.plots.sequence import sequence
from anabranch.plots.style import Look
from anabranch.plots.throughput import throughput

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from anabranch.run_data import RunData

__all__ = [
    "FIGURES",
    "Figure",
    "Look",
    "cwnd",
    "image",
    "in_flight",
    "ooo_buffer",
    "render",
    "save",
    "sequence",
    "srtt",
    "throughput",
]


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
        "As the sender estimates it (RFC 6298), dotted where nothing was measured for longer than that: in recovery, "
        "or while a path was down. What exceeds twice the path's delay is mostly time in its queue.",
    ),
}
"""By name, in the order of the report."""


def render(run: "RunData", names: Iterable[str] | None = None) -> dict[str, str]:
    """Figures of `run` as SVG text, the same bytes each time.

    Parameters
    ----------
    run : RunData
        What to draw.
    names : iterable of str, optional
        Keys of `FIGURES`; all if not given.
    """
    return {name: image(run, name, "svg").decode() for name in (FIGURES if names is None else names)}


def image(run: "RunData", name: str, format: str, **look: Unpack[Look]) -> bytes:
    """One figure as a file of `format`: ``svg``, ``png`` or ``pdf``; of the `look` title, width and height."""
    return picture(lambda ax: FIGURES[name].draw(run.subflows, ax, **_told(run, look)), format, look)


def _told(run: "RunData", look: Look) -> Look:
    """What a figure is told of `run`, and what was asked for, but the size, which the figure has."""
    told: Look = {"labels": run.labels, "marks": run.marks, **look}
    told.pop("width", None)
    told.pop("height", None)
    return told
