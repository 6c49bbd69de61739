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
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Protocol, Unpack

from anabranch.measures.labels import connections_of
from anabranch.plots.files import picture, save
from anabranch.plots.latency import latency
from anabranch.plots.lines import cwnd, in_flight, srtt
from anabranch.plots.links import link_delay, offered
from anabranch.plots.ooo_buffer import ooo_buffer
from anabranch.plots.sequence import sequence
from anabranch.plots.style import Look
from anabranch.plots.throughput import throughput

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from anabranch.measures.labels import Labels
    from anabranch.measures.timeline import Mark

__all__ = [
    "ALL",
    "FIGURES",
    "Figure",
    "Look",
    "cwnd",
    "figures_of",
    "image",
    "in_flight",
    "latency",
    "link_delay",
    "offered",
    "ooo_buffer",
    "render",
    "save",
    "sequence",
    "srtt",
    "throughput",
    "told",
]


class Drawable(Protocol):
    """A run, as far as its figures show it; `anabranch.runs.data.RunData` defines the attributes."""

    @property
    def summary(self) -> Mapping[str, Any]:
        """Numbers of the whole run."""

    @property
    def subflows(self) -> "pd.DataFrame":
        """One row for each sample and subflow."""

    @property
    def items(self) -> "pd.DataFrame":
        """One row for each message, object or segment of a film."""

    @property
    def links(self) -> "pd.DataFrame":
        """One row for each interval and link that varies."""

    @property
    def labels(self) -> "Labels":
        """Names of the subflows."""

    @property
    def marks(self) -> "tuple[Mark, ...]":
        """What the scenario changes over time."""

    @property
    def parts(self) -> Callable[[], Mapping[str, Any]]:
        """Returns the columns of `items`; empty if the transfers have no parts."""


@dataclass(frozen=True)
class Figure:
    """A figure of a report; `data` is the frame of a run that it shows."""

    draw: "Callable[..., Axes]"
    title: str
    caption: str
    data: "Callable[[Drawable], pd.DataFrame]" = attrgetter("subflows")


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
"""Of every run, by name, in the order of the report."""

_PARTS: Mapping[str, Figure] = {
    "latency": Figure(
        latency,
        "Latency",
        "Share of the messages that were read within a time of when they were written; of a page's objects or a film's "
        "segments, of when they were asked for. What never arrived keeps the line below 100 %.",
        attrgetter("items"),
    ),
}
"""Of runs whose transfers have parts."""

_VARYING: Mapping[str, Figure] = {
    "offered": Figure(
        offered,
        "Rate offered and used",
        "Areas: what each link that varies offers in the direction of the data, whoever uses it. Lines: the data that "
        "arrived over it for the first time.",
        attrgetter("links"),
    ),
    "link_delay": Figure(
        link_delay,
        "Delay of the links",
        "One way, in the direction of the data, of lone packets that find no queue: propagation, and what a network "
        "adds by itself. Where the line is broken nothing gets through; where it leaves the figure a packet waits for "
        "the link, a second or more.",
        attrgetter("links"),
    ),
}
"""Of runs over links whose rate or delay varies."""

ALL: Mapping[str, Figure] = {**FIGURES, **_PARTS, **_VARYING}
"""Of any run."""


def figures_of(run: Drawable) -> Mapping[str, Figure]:
    """The figures that `run` has, by name."""
    parts = _PARTS if len(run.parts()) else {}
    return {**FIGURES, **parts, **(_VARYING if len(run.links) else {})}


def render(run: Drawable, names: Iterable[str] | None = None) -> dict[str, str]:
    """Figures of `run` as SVG text, the same bytes each time.

    Parameters
    ----------
    run : RunData
        What to draw.
    names : iterable of str, optional
        Keys of `figures_of`; all if not given.
    """
    return {name: image(run, name, "svg").decode() for name in (figures_of(run) if names is None else names)}


def image(run: Drawable, name: str, format: str, **look: Unpack[Look]) -> bytes:
    """One figure as a file of `format`: ``svg``, ``png`` or ``pdf``; of the `look` title, width and height."""
    fitted: Look = {**look}
    fitted.pop("width", None)
    fitted.pop("height", None)
    return picture(lambda ax: ALL[name].draw(ALL[name].data(run), ax, **told(run, fitted)), format, look)


def told(run: Drawable, look: Look) -> Look:
    """What a figure is told of `run`, and what was asked for."""
    names = [connection["name"] for connection in connections_of(run.summary)]
    return {"labels": run.labels, "marks": run.marks, "connections": names, **look}
