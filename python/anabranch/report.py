"""A run as one HTML file that needs nothing else: no network, no script, no second file."""

import base64
import shlex
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from anabranch import units
from anabranch.explain import largest_limit
from anabranch.labels import connections_of
from anabranch.measures import MEASURES
from anabranch.plots import ALL
from anabranch.plots.style import colour
from anabranch.tables import COLUMNS, setting, shortened, subflow_columns, title_of, verdict
from anabranch.visible import visible

if TYPE_CHECKING:
    from anabranch.run_data import RunData

STYLE = """
:root { color-scheme: light; }
body { margin: 2.5rem auto; max-width: 60rem; padding: 0 1.5rem; color: #1c1c1c; background: #fff;
       font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0; }
h2 { font-size: 1.15rem; margin: 2.5rem 0 .6rem; }
p { margin: .4rem 0; }
.muted, figcaption, th { color: #555; }
.facts { display: flex; flex-wrap: wrap; gap: 2.2rem; margin: 1.6rem 0 1.2rem; padding: 0; }
.facts div { min-width: 6rem; }
.facts dt { font-size: .85rem; color: #555; }
.facts dd { margin: 0; font-size: 1.45rem; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th { font-weight: 500; vertical-align: bottom; border-bottom: 1px solid #999; }
th, td { text-align: right; padding: .3rem .4rem; white-space: nowrap; }
th { white-space: normal; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
td { border-bottom: 1px solid #e6e6e6; }
figure { margin: 0 0 2rem; }
figure img { width: 100%; height: auto; display: block; }
figcaption { font-size: .9rem; }
code, pre { font: .85em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; }
pre { background: #f5f5f5; padding: .8rem 1rem; overflow-x: auto; border-radius: 4px; }
.words th, .words td { text-align: left; white-space: normal; vertical-align: top; }
.words th { vertical-align: bottom; }
.provenance td { text-align: left; white-space: normal; overflow-wrap: anywhere; vertical-align: top; }
.provenance td:first-child { color: #555; white-space: nowrap; }
@media print { body { margin: 0; max-width: none; } figure, tr { break-inside: avoid; } }
"""


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
        *(_figure(name, svg, where) for name, svg in figures.items()),
        "<h2>How it was made</h2>",
        _provenance(run),
        "<p>The same scenario, seed and version give the same run on every machine. To make it again from this file "
        "alone, save the scenario below as <code>scenario.toml</code>:</p>",
        "<pre>anabranch run scenario.toml --out again</pre>",
        f"<p>To prove that the stored result is reproducible: <code>anabranch replay {escape(where)}</code></p>",
        f"<h2>Scenario</h2><pre>{escape(run.toml.strip())}</pre>",
    ]
    return visible(
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title} - Anabranch</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n",
        keep="\n",
    )


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


def short_table(
    head: tuple[str, ...],
    rows: Sequence[tuple[str, ...]],
    values: Sequence[float | None],
    whole: Sequence[tuple[str, ...]] = (),
) -> str:
    """A table; of many rows the extremes by `values`, their goodputs, and a line about all; then those in `whole`."""
    kept, about = shortened(rows, values, MEASURES["goodput_mbps"].words)
    return table(head, [*kept, *whole]) + "".join(f'<p class="muted">{escape(line)}</p>' for line in about if line)


def key_mark(connection: int, subflow: int) -> str:
    """A square of a subflow's colour; its look is written out, because a notebook has no style sheet of ours."""
    look = "display:inline-block;width:.75em;height:.75em;margin-right:.5em;border-radius:2px"
    return f'<span style="{look};background:{colour(connection, subflow)}"></span>'


def table(head: tuple[str, ...], rows: Sequence[Sequence[str]], *, words: bool = False) -> str:
    """A table; `head` and the cells are HTML. Its cells stand right for numbers, left and in lines for `words`."""
    kind = "words" if words else "scroll"
    return (
        f'<div class="{kind}"><table><thead><tr>'
        + "".join(f'<th scope="col">{cell}</th>' for cell in head)
        + "</tr></thead><tbody>"
        + "".join("<tr>" + "".join(f"<td>{_padded(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        + "</tbody></table></div>"
    )


def _padded(cell: str) -> str:
    """`cell` with blanks at its end that are as wide as a point and digits, so that points stand below each other."""
    text = cell.rstrip(" ")
    blanks = len(cell) - len(text)
    point = "" if "." in text or not blanks else "\u2008"
    return text + point + "\u2007" * (blanks - len(point))


def _figure(name: str, svg: str, where: str) -> str:
    figure = ALL[name]
    data = base64.b64encode(svg.encode()).decode()
    return (
        f'<figure><img alt="{escape(figure.title)} over time" src="data:image/svg+xml;base64,{data}">'
        f"<figcaption>{escape(figure.caption)}<br><code>anabranch plot {escape(where)} --figure {name}</code>"
        "</figcaption></figure>"
    )


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
    return (
        '<table class="provenance"><tbody>'
        + "".join(f"<tr><td>{name}</td><td>{value}</td></tr>" for name, value in rows)
        + "</tbody></table>"
    )
