"""An analysis of captures on disk: frames, figures, and one HTML file that needs nothing else."""

import base64
import io
import json
import platform
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anabranch import capture_text, provenance, units
from anabranch.labels import connections_of
from anabranch.plots import FIGURES
from anabranch.plots.style import colour
from anabranch.report import STYLE, table
from anabranch.store import PROVENANCE, REPORT, SERIES, SUMMARY, Draft, dump, foreign

if TYPE_CHECKING:
    import os

    from matplotlib.axes import Axes

    from anabranch.capture import Capture, CapturePlots

FORMAT = "anabranch-capture"
SEQUENCE = "sequence.parquet"
WINDOW = "window.parquet"


@dataclass(frozen=True)
class _Figure:
    draw: "Callable[[CapturePlots, Axes], Axes]"
    title: str
    caption: str


CAPTURE_FIGURES: Mapping[str, _Figure] = {
    "sequence": _Figure(
        lambda plot, ax: plot.sequence(ax),
        "Data sequence",
        "Which part of the data stream each subflow sent when. Below runs what the receiver acknowledged, above where "
        "its window ended, unless that is far beyond the data.",
    ),
    "throughput": _Figure(
        lambda plot, ax: plot.throughput(ax), FIGURES["throughput"].title, FIGURES["throughput"].caption
    ),
    "in_flight": _Figure(
        lambda plot, ax: plot.in_flight(ax),
        "In flight",
        "Octets sent and not acknowledged, where the capture saw the sender's side. At most the congestion window.",
    ),
    "ooo_buffer": _Figure(
        lambda plot, ax: plot.ooo_buffer(ax), FIGURES["ooo_buffer"].title, FIGURES["ooo_buffer"].caption
    ),
    "srtt": _Figure(
        lambda plot, ax: plot.srtt(ax),
        "Round-trip time",
        "Smoothed (RFC 6298), from each segment to its acknowledgement at the place of the capture.",
    ),
}
"""By name, in the order of the report."""


class CaptureDraft(Draft):
    """A place for an analysis that is not finished yet; see `Draft`."""

    def __init__(self, directory: "str | os.PathLike[str]", command: Sequence[str] | None = None) -> None:
        super().__init__(directory)
        self.command = "python" if command is None else shlex.join(["anabranch", *command])

    def _write(self, run: Any, folder: Path) -> None:
        write(run, folder, self.command)

    def _is_ours(self, folder: Path) -> bool:
        try:
            marker = json.loads((folder / PROVENANCE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
        return isinstance(marker, dict) and marker.get("format") == FORMAT

    def _foreign(self, folder: Path) -> list[str]:
        return foreign(folder, {SUMMARY, SERIES, SEQUENCE, WINDOW, PROVENANCE, REPORT}, CAPTURE_FIGURES)


def write(capture: "Capture", folder: Path, command: str) -> None:
    """Write the files of an analysis into the existing directory `folder`."""
    import fastparquet

    made = {
        "format": FORMAT,
        "format_version": 1,
        "version": capture.summary["version"],
        "machine": provenance.machine(),
        "python": platform.python_version(),
        "command": command,
        "started": provenance.now(),
    }
    (folder / SUMMARY).write_text(dump(capture.summary), encoding="utf-8", newline="\n")
    for name, frame in ((SERIES, capture.subflows), (SEQUENCE, capture.sequence), (WINDOW, capture.window)):
        fastparquet.write(str(folder / name), frame, compression="ZSTD", write_index=False)
    figures = {name: image(capture, name, "svg").decode() for name in CAPTURE_FIGURES}
    for name, svg in figures.items():
        (folder / f"{name}.svg").write_text(svg, encoding="utf-8", newline="\n")
    (folder / REPORT).write_text(capture_html(capture, figures, made), encoding="utf-8", newline="\n")
    (folder / PROVENANCE).write_text(dump(made), encoding="utf-8", newline="\n")


def image(capture: "Capture", name: str, format: str) -> bytes:
    """One figure as a file of `format`: ``svg``, ``png`` or ``pdf``."""
    from matplotlib import style as looks
    from matplotlib.figure import Figure as Canvas

    from anabranch.plots.style import SIZE

    dated: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(format, {})
    with looks.context(["default", {"svg.hashsalt": "anabranch", "path.simplify_threshold": 0.5}]):
        figure = Canvas(figsize=SIZE, layout="constrained")
        CAPTURE_FIGURES[name].draw(capture.plot, figure.subplots())
        # A first layout makes room for the legend, which may change the ticks and so the room that they need.
        figure.draw_without_rendering()
        buffer = io.BytesIO()
        figure.savefig(buffer, format=format, dpi=160, metadata=dated)
    return buffer.getvalue()


_COLUMNS = (
    ("goodput<br>Mbit/s", "goodput_mbps"),
    ("data<br>segments", "segments"),
    ("resent fast<br>(inferred)", "retransmissions_fast"),
    ("resent timeout<br>(inferred)", "retransmissions_timeout"),
    ("of these<br>spurious", "spurious"),
    ("min RTT<br>ms", "rtt_min_ms"),
    ("srtt<br>ms", "srtt_ms"),
)


def capture_html(capture: "Capture", figures: Mapping[str, str], made: Mapping[str, Any]) -> str:
    """The report of an analysis."""
    summary = capture.summary
    title = escape(summary["title"])
    body = [f"<h1>{title}</h1>"]
    body += [f'<p class="muted">{escape(line)}</p>' for line in capture_text.about(summary)[1:]]
    described, tables = capture_text.arranged(summary)
    for c, connection in enumerate(connections_of(summary)):
        if connection in described:
            lines = capture_text.connection_lines(connection)
            body += [f"<h2>{escape(connection['name'])}</h2>", *(f"<p>{escape(line)}</p>" for line in lines)]
            body.append(_subflows(c, connection))
    for heading, connections in tables:
        head, *listed = capture_text.connection_cells(connections)
        body += [
            f"<h2>{escape(heading.removesuffix(':'))}</h2>",
            table(tuple(head), [tuple(map(escape, row)) for row in listed]),
        ]
    body.append("<h2>Over time</h2>")
    for name, svg in figures.items():
        data = base64.b64encode(svg.encode()).decode()
        figure = CAPTURE_FIGURES[name]
        body.append(
            f'<figure><img alt="{escape(figure.title)} over time" src="data:image/svg+xml;base64,{data}">'
            f"<figcaption>{escape(figure.caption)}</figcaption></figure>"
        )
    rows = [(name, escape(str(made[name]))) for name in ("command", "version", "started", "machine", "python")]
    cells = "".join(f"<tr><td>{name}</td><td>{value}</td></tr>" for name, value in rows)
    body += ["<h2>How it was made</h2>", f'<table class="provenance"><tbody>{cells}</tbody></table>']
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title} - Anabranch</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )


def _subflows(number: int, connection: Mapping[str, Any]) -> str:
    flows = connection["subflows"]
    cells: list[list[str]] = []
    for _, field in _COLUMNS:
        values = [flow[field] for flow in flows]
        if all(value is None or isinstance(value, int) for value in values):
            cells.append(["-" if value is None else str(value) for value in values])
        else:
            cells.append(units.column(values))
    rows = []
    for s, flow in enumerate(flows):
        mark = f'<span class="key" style="background:{colour(number, s)}"></span>'
        name = escape(f"{flow['client']} - {flow['server']}")
        rows.append((mark + name, *(column[s] for column in cells)))
    return table(("subflow", *(title for title, _ in _COLUMNS)), rows)
