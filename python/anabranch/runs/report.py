"""A run as one HTML file that needs nothing else: no network, no script, no second file."""

import shlex
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING

from anabranch.measures import units
from anabranch.measures.labels import connections_of
from anabranch.measures.table import MEASURES
from anabranch.plots import Figure, figures_of
from anabranch.results.page import key_mark, page, picture, provenance_table, short_table
from anabranch.runs.limits import largest_limit
from anabranch.runs.text import COLUMNS, setting, subflow_columns, title_of, verdict

if TYPE_CHECKING:
    from anabranch.runs.data import RunData


def report_html(run: "RunData", figures: Mapping[str, str], where: str) -> str:
    """The report of a run.

    Parameters
    ----------
    run : RunData
        What to report.
    figures : mapping
        SVG text by figure name.
    where : str
        The result's directory as the commands in the report name it.
    """
    title = escape(title_of(run))
    known = figures_of(run)
    where = shlex.quote(where)
    body = [
        f"<h1>{title}</h1>",
        *(f'<p class="muted">{escape(setting(run, 0))}</p>' for _ in [0] if len(connections_of(run.summary)) == 1),
        _facts(run),
        f"<p>{escape(' '.join(map(_sentence, verdict(run.summary))))}</p>",
        *(["<h2>Connections</h2>", connection_table(run)] if len(connections_of(run.summary)) > 1 else []),
        "<h2>Subflows</h2>",
        subflow_table(run),
        "<h2>Over time</h2>",
        *(_figure(name, known[name], svg, where) for name, svg in figures.items()),
        "<h2>How it was made</h2>",
        _provenance(run),
        "<p>The same scenario, seed and version give the same run on every machine. To make it again from this file "
        "alone, save the scenario below as <code>scenario.toml</code>:</p>",
        "<pre>anabranch run scenario.toml --out again</pre>",
        f"<p>To prove that the stored result is reproducible: <code>anabranch replay {escape(where)}</code></p>",
        f"<h2>Scenario</h2><pre>{escape(run.toml.strip())}</pre>",
    ]
    return page(title, body)


def notebook_html(run: "RunData") -> str:
    """What a notebook shows of a run: its sentences and tables, without style sheet, script or picture."""
    connections = connections_of(run.summary)
    lines = [f"<strong>{escape(title_of(run))}</strong>"]
    if len(connections) == 1:
        lines.append(escape(setting(run, 0)))
    lines += map(escape, verdict(run.summary))
    several = connection_table(run) if len(connections) > 1 else ""
    return f"<p>{'<br>'.join(lines)}</p>{several}{subflow_table(run)}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _facts(run: "RunData") -> str:
    summary = run.summary
    completion = summary["completion_s"]
    facts = [
        (MEASURES["goodput_mbps"].words, units.rate(summary["goodput_mbps"] * 1e6)),
        (MEASURES["completion_s"].words, summary["status"] if completion is None else units.time(completion)),
        *((MEASURES["limits"].words, limit) for limit in [largest_limit(summary)] if limit != "-"),
        (MEASURES["ooo_ratio"].words, units.percent(summary["ooo_ratio"])),
        (MEASURES["ooo_buffer_max_bytes"].words, units.octets(summary["ooo_buffer_max_bytes"])),
    ]
    return (
        '<dl class="facts">'
        + "".join(f"<div><dt>{name}</dt><dd>{escape(value)}</dd></div>" for name, value in facts)
        + "</dl>"
    )


def connection_table(run: "RunData") -> str:
    """One row per connection."""
    connections = connections_of(run.summary)
    rates = [c["goodput_mbps"] for c in connections]
    names = ("name", "protocol", "status", "goodput_mbps", "bytes_delivered", "ooo_ratio", "ooo_buffer_max_bytes")
    head = tuple("<br>".join(MEASURES[name].heading) for name in (*names, "limits"))
    rows = [
        (
            escape(connection["name"]),
            escape(connection["protocol"]),
            escape(connection["status"]),
            rate,
            units.octets(connection["bytes_delivered"]),
            units.significant(100 * connection["ooo_ratio"]),
            units.significant(1e-3 * connection["ooo_buffer_max_bytes"]),
            largest_limit(connection),
        )
        for connection, rate in zip(connections, units.column(rates), strict=True)
    ]
    return short_table(head, rows, rates)


def subflow_table(run: "RunData") -> str:
    """One row per subflow, marked with its colour in the figures."""
    connections = connections_of(run.summary)
    keys = [(c, s) for c, connection in enumerate(connections) for s in range(len(connection["subflows"]))]
    flows = [connections[c]["subflows"][s] for c, s in keys]
    last, columns = subflow_columns(connections)
    rows = [
        (key_mark(*key) + escape(run.labels.get(key, f"path {flows[i]['path']}")), *(column[i] for column in columns))
        for i, key in enumerate(keys)
    ]
    whole = [(last, *(column[-1] for column in columns))] if last else []
    head = ("subflow", *("<br>".join(column.head) for column in COLUMNS))
    return short_table(head, rows, [flow["goodput_mbps"] for flow in flows], whole)


def _figure(name: str, figure: Figure, svg: str, where: str) -> str:
    command = f"<code>anabranch plot {escape(where)} --figure {name}</code>"
    return picture(svg, f"{figure.title} over time", f"{escape(figure.caption)}<br>{command}")


def _provenance(run: "RunData") -> str:
    made = run.provenance
    rows = [
        ("command", f"<code>{escape(made.command)}</code>"),
        ("version", escape(made.version + (f", commit {made.commit}" if made.commit else ""))),
        ("seed", escape(str(made.seed))),
        ("started", escape(made.started)),
        ("machine", escape(f"{made.machine}; Python {made.python}")),
        ("scenario, SHA-256", f"<code>{escape(made.scenario_sha256)}</code>"),
        ("trace, SHA-256", f"<code>{escape(made.trace_sha256)}</code>"),
        ("size", escape(f"{run.summary['events']} events, {run.summary['wall_s']:.3f} s of engine time")),
    ]
    return provenance_table(rows)
