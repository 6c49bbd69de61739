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
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Protocol, Unpack

from anabranch.measures.labels import connections_of
from anabranch.plots.files import picture, save
from anabranch.plots.latency import latency
from anabranch.plots.lines import cwnd, in_flight, srtt
from anabranch.plots.links import link_delay, offered
from anabranch.plots.ooo_buffer import ooo_buffer
from anabranch.plots.recorded import recorded, recorded_names, title_of
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
    "recorded",
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
        "Congestion window of each subflow: the octets that it may have in flight. A steep fall is the reaction to a "
        "loss; a saw-tooth shows a queue that fills and overflows.",
    ),
    "throughput": Figure(
        throughput,
        "Throughput",
        "Rate of data that arrived for the first time, by the subflow on which it arrived; later copies do not count.",
    ),
    "ooo_buffer": Figure(
        ooo_buffer,
        "Reordering buffer",
        "Packets that the receiver holds because earlier data is missing, by the subflow on which they arrived. Over "
        "heterogeneous paths, packets from the quicker path wait for packets from the slower path.",
    ),
    "srtt": Figure(
        srtt,
        "Round-trip time",
        "Smoothed round-trip time of the sender (RFC 6298). The line is dotted where the sender took no sample for "
        "longer than the round-trip time: in recovery, or while a path was down. The part above twice the path's "
        "delay is mostly time in its queue.",
    ),
}
"""Of every run, by name, in the order of the report."""

_PARTS: Mapping[str, Figure] = {
    "latency": Figure(
        latency,
        "Latency",
        "Share of the messages that were read within a time after they were written (objects of a page or segments of "
        "a film: after they were requested). Messages that never arrived keep the line below 100 %.",
        attrgetter("items"),
    ),
}
"""Of runs whose transfers have parts."""

_VARYING: Mapping[str, Figure] = {
    "offered": Figure(
        offered,
        "Rate offered and used",
        "Areas: the rate that each varying link offers in the direction of the data. Lines: the rate of data that "
        "arrived over the link for the first time.",
        attrgetter("links"),
    ),
    "link_delay": Figure(
        link_delay,
        "Delay of the links",
        "One-way delay of a packet that finds no queue, in the direction of the data: propagation, and the time that "
        "the network itself adds. Where the line is broken, the link is down; where the line leaves the figure, a "
        "packet waits for the link for a second or more.",
        attrgetter("links"),
    ),
}
"""Of runs over links whose rate or delay varies."""

ALL: Mapping[str, Figure] = {**FIGURES, **_PARTS, **_VARYING}
"""Of any run, but for those of recorded values."""

RECORDED = "recorded_"
"""Begins the name of the figure of a value that algorithms recorded."""


def figures_of(run: Drawable) -> Mapping[str, Figure]:
    """The figures that `run` has, by name."""
    parts = _PARTS if len(run.parts()) else {}
    return {**FIGURES, **_recorded(run.subflows), **parts, **(_VARYING if len(run.links) else {})}


def _recorded(frame: "pd.DataFrame") -> Mapping[str, Figure]:
    """Figures of the values that algorithms recorded."""

    def draw(name: str, frame: "pd.DataFrame", ax: "Axes | None" = None, **look: Unpack[Look]) -> "Axes":
        return recorded(frame, name, ax, **look)

    caption = "Values that the algorithm of each subflow recorded; of a scheduler, those of its connection."
    return {RECORDED + name: Figure(partial(draw, name), title_of(name), caption) for name in recorded_names(frame)}


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
    figure = ALL.get(name) or figures_of(run)[name]
    return picture(lambda ax: figure.draw(figure.data(run), ax, **told(run, fitted)), format, look)


def told(run: Drawable, look: Look) -> Look:
    """What a figure is told of `run`, and what was asked for."""
    names = [connection["name"] for connection in connections_of(run.summary)]
    return {"labels": run.labels, "marks": run.marks, "connections": names, **look}
