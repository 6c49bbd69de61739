"""An analysis of captures on disk: frames, figures, and one HTML file that needs nothing else."""

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from anabranch.captures import text as capture_text
from anabranch.captures.plots import CapturePlots
from anabranch.captures.store import SEQUENCE, WINDOW, sha256_of
from anabranch.measures import units
from anabranch.measures.labels import connections_of
from anabranch.measures.table import MEASURES
from anabranch.plots import FIGURES, Look
from anabranch.plots.files import picture
from anabranch.plots.zoom import STYLE as ZOOM
from anabranch.plots.zoom import zoomable
from anabranch.results.directory import PROVENANCE, REPORT, SERIES, SUMMARY, dump
from anabranch.results.page import key_mark, maker, page, provenance_table, short_table, table
from anabranch.results.result_kinds import ANALYSIS
from anabranch.results.signed import SignedDraft, sign, write
from anabranch.sentences import analyze as say

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from anabranch.captures.data import CaptureData


@dataclass(frozen=True)
class _Figure:
    draw: "Callable[..., Axes]"
    title: str
    caption: str
    column: str = ""
    """Column of `CaptureData.subflows` that it shows, if not every capture knows that."""


CAPTURE_FIGURES: Mapping[str, _Figure] = {
    "sequence": _Figure(
        lambda plot, ax, **look: plot.sequence(ax, **look),
        *say.FIGURES["sequence"],
    ),
    "throughput": _Figure(
        lambda plot, ax, **look: plot.throughput(ax, **look), FIGURES["throughput"].title, FIGURES["throughput"].caption
    ),
    "in_flight": _Figure(
        lambda plot, ax, **look: plot.in_flight(ax, **look),
        *say.FIGURES["in_flight"],
        "in_flight",
    ),
    "ooo_buffer": _Figure(
        lambda plot, ax, **look: plot.ooo_buffer(ax, **look), FIGURES["ooo_buffer"].title, FIGURES["ooo_buffer"].caption
    ),
    "srtt": _Figure(
        lambda plot, ax, **look: plot.srtt(ax, **look),
        *say.FIGURES["srtt"],
        "srtt",
    ),
}
"""By name, in the order of the report."""


def figures_of(capture: "CaptureData") -> list[str]:
    """Names of the figures that this capture has something for."""
    frame = capture.subflows[capture.subflows["connection"].isin(capture.drawn)]
    return [n for n, figure in CAPTURE_FIGURES.items() if not figure.column or frame[figure.column].notna().any()]


def omitted(capture: "CaptureData") -> str:
    """A sentence about the figures that this capture has nothing for, or an empty one."""
    titles = [CAPTURE_FIGURES[name].title.lower() for name in CAPTURE_FIGURES if name not in figures_of(capture)]
    if not titles:
        return ""
    drawn = [c for number, c in enumerate(connections_of(capture.summary)) if number in capture.drawn]
    lacking = [bool(capture_text.without_pure_acks(c)) for c in drawn if c["bytes_delivered"]]
    if not lacking:
        why = say.OMITTED_NO_DATA
    elif any(lacking):
        why = say.OMITTED_ACKS if all(lacking) else say.OMITTED_ACKS_AND_PLACE
    else:
        why = say.OMITTED_PLACE
    return say.OMITTED(names=" and ".join(titles), why=why)


class CaptureDraft(SignedDraft):
    """A place for an analysis that is not finished yet; `sources` are its captures."""

    kind = ANALYSIS
    files = (SUMMARY, SERIES, SEQUENCE, WINDOW, REPORT)
    figures = CAPTURE_FIGURES

    def _other(self, folder: Path) -> str | None:
        """A capture that grew is the same one."""
        stored = json.loads((folder / PROVENANCE).read_text(encoding="utf-8")).get("captures", [])
        names = [capture["name"] for capture in stored]
        return None if names == self._sources else f"the analysis of {', '.join(names)}"

    def _write(self, result: "CaptureData", folder: Path) -> None:
        import fastparquet

        made = self.signature(result.summary["version"])
        write(folder, SUMMARY, dump(result.summary))
        for name, frame in ((SERIES, result.subflows), (SEQUENCE, result.sequence), (WINDOW, result.window)):
            fastparquet.write(str(folder / name), frame, compression="ZSTD", write_index=False)
        figures = {name: image(result, name, "svg").decode() for name in figures_of(result)}
        for name, svg in figures.items():
            write(folder, f"{name}.svg", svg)
        write(folder, REPORT, capture_html(result, figures, made))
        hashes = result.hashes or [sha256_of(name) for name in result.files]
        made["protocol"] = result.protocol
        made["captures"] = [{"name": n, "sha256": sha256} for n, sha256 in zip(result.files, hashes, strict=True)]
        made["sha256"] = {name: sha256_of(folder / name) for name in (SUMMARY, SERIES, SEQUENCE, WINDOW)}
        sign(folder, made)


def image(capture: "CaptureData", name: str, format: str, **look: Unpack[Look]) -> bytes:
    """One figure as a file of `format`: ``svg``, ``png`` or ``pdf``; of the `look` title, width and height."""
    told: Look = {"title": look.get("title", True), "rename": look.get("rename"), "label": look.get("label")}
    return picture(lambda ax: CAPTURE_FIGURES[name].draw(CapturePlots(capture), ax, **told), format, look)


_COLUMNS = {
    "goodput_mbps": "",
    "segments": "",
    "retransmissions_fast": f" {say.MARK}",
    "retransmissions_timeout": f" {say.MARK}",
    "spurious": "",
    "rtt_min_ms": "",
    "srtt_ms": "",
}
"""Measures of the table of subflows, and the mark of what is inferred."""


def capture_html(capture: "CaptureData", figures: Mapping[str, str], made: Mapping[str, Any]) -> str:
    """The report of an analysis."""
    summary = capture.summary
    title = escape(summary["title"])
    body = [f"<h1>{title}</h1>"]
    body += [f'<p class="muted">{escape(line)}</p>' for line in capture_text.about(summary)[1:]]
    every: list[Mapping[str, Any]] = list(connections_of(summary))
    described, tables = capture_text.arranged(summary)
    for heading, connections in tables:
        body += [f"<h2>{escape(heading.removesuffix(':'))}</h2>", _connections(connections)]
        if heading == say.MULTIPATH:
            body.append(f"<p>{say.LARGEST(count=capture_text.SHOWN)}</p>")
            described += [connection for _, connection in capture_text.largest(connections)]
    for connection in described:
        lines = capture_text.connection_lines(connection)
        body += [f"<h2>{escape(connection['name'])}</h2>", *(f"<p>{escape(line)}</p>" for line in lines)]
        body.append(subflow_table(every.index(connection), connection))
    body.append(f"<h2>{say.OVER_TIME}</h2>")
    body += [figure_html(capture, name, svg) for name, svg in figures.items()]
    body += [f"<p>{escape(sentence)}</p>" for sentence in (omitted(capture),) if sentence]
    body += [f"<h2>{say.HOW_MADE}</h2>", provenance_table(maker(made))]
    return page(title, body, ZOOM)


def figure_html(capture: "CaptureData", name: str, svg: str) -> str:
    """One figure in a report; that of the data sequence can be zoomed."""
    data = base64.b64encode(svg.encode()).decode()
    figure = CAPTURE_FIGURES[name]
    shown = f'<img alt="{escape(figure.title)} over time" src="data:image/svg+xml;base64,{data}">'
    caption = figure.caption
    if name == "sequence":
        sent, said = (frame[frame["connection"].isin(capture.drawn)] for frame in (capture.sequence, capture.window))
        shown = f"<p><b>{figure.title}</b></p>" + zoomable(sent, said, capture.labels, figure.title, shown)
        caption += f" {say.ZOOM}"
    return f"<figure>{shown}<figcaption>{escape(caption)}</figcaption></figure>"


def _connections(connections: Sequence[Mapping[str, Any]]) -> str:
    rates = [connection["goodput_mbps"] for connection in connections]
    names = ("name", "status", "goodput_mbps", "bytes_delivered", "ooo_ratio", "ooo_buffer_max_bytes")
    heads = ["<br>".join(MEASURES[name].heading) for name in names]
    head = (*heads[:2], "subflows", *heads[2:])
    rows = [
        (
            escape(connection["name"]),
            connection["status"],
            str(len(connection["subflows"])),
            rate,
            units.octets(connection["bytes_delivered"]),
            units.significant(100 * connection["ooo_ratio"]),
            units.significant(1e-3 * connection["ooo_buffer_max_bytes"]),
        )
        for connection, rate in zip(connections, units.column(rates), strict=True)
    ]
    return short_table(head, rows, rates)


def subflow_table(number: int, connection: Mapping[str, Any]) -> str:
    """One row per subflow of a connection, marked with its colour in the figures."""
    flows = connection["subflows"]
    unknown = capture_text.unknown_measures(connection)
    known = {name: mark for name, mark in _COLUMNS.items() if name not in unknown}
    cells: list[list[str]] = []
    for field in known:
        values = [flow[field] for flow in flows]
        if all(value is None or isinstance(value, int) for value in values):
            cells.append(["-" if value is None else str(value) for value in values])
        else:
            cells.append(units.column(values))
    rows = []
    for s, flow in enumerate(flows):
        name = escape(f"{flow['client']} - {flow['server']}")
        rows.append((key_mark(number, s) + name, *(column[s] for column in cells)))
    heads = ("<br>".join(MEASURES[name].heading) + mark for name, mark in known.items())
    return table(("subflow", *heads), rows)
