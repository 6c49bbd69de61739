"""The report of a study as one HTML file that needs nothing else."""

import base64
import shlex
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from anabranch.measures import units
from anabranch.results import page as pages
from anabranch.studies.base import Entry, Table

if TYPE_CHECKING:
    from anabranch.studies.base import Data, Study
    from anabranch.sweeps.provenance import Provenance

_MORE = """
body { max-width: 72rem; }
table { font-size: .86rem; }
th, td { padding: .26rem .4rem; }
.lead { font-size: 1.1rem; margin: 1.2rem 0 1rem; }
h3 { font-size: 1rem; margin: 2.2rem 0 .3rem; }
td small { color: #767676; margin-left: .35em; font-size: .8em; }
th.group { text-align: center; border-bottom: none; color: #1c1c1c; padding-bottom: 0; }
td.first, th.first { padding-left: 1.4rem; }
tr.block td { border-top: 1px solid #999; }
td.label, th.label { text-align: left; padding-left: 0; }
td.wrap { white-space: normal; min-width: 7rem; }
td.label.wrap { min-width: 13rem; }
table.dense { font-size: .78rem; }
table.dense th, table.dense td { padding: .22rem .2rem; }
table.dense th { white-space: normal; hyphens: manual; }
table.dense td.first, table.dense th.first { padding-left: .7rem; }
table.dense td small { display: block; margin-left: 0; }
details { margin: 1rem 0; }
summary { cursor: pointer; }
.caption { font-size: .9rem; color: #555; margin: 0 0 .6rem; max-width: 52rem; }
.command { font-size: .9rem; margin: .4rem 0; }
"""


_LONG = 40, 20
"""Characters of a label, and of another cell, from which on it is broken into lines."""
_DENSE = 11
"""Columns of a table from which on differences stand below their numbers, so that it fits the page."""


def page(
    study: "Study",
    data: "Data",
    tables: Mapping[str, Table],
    figures: Mapping[str, str],
    made: "Provenance",
    *,
    command: Sequence[str],
    seconds: float,
) -> str:
    """The report.

    Parameters
    ----------
    study, data : Study, Data
        What was run.
    tables : mapping
        By name.
    figures : mapping
        SVG text by name.
    made : Provenance
        Who made the runs.
    command : sequence of str
        Words of the command line that goes on with this directory; ``--only NAME`` makes one part again.
    seconds : float
        How long the command took.
    """
    body = [
        f"<h1>{escape(study.title)}</h1>",
        f'<p class="lead">{escape(study.opening(data))}</p>',
        f'<p class="muted">{escape(study.source)}. {_size(data)}{_identical(data)}</p>',
        "<h2>What the numbers say</h2>",
        *(f"<p>{escape(text)}</p>" for text in study.findings(data)),
        "<h2>Tables</h2>",
        *(_table(name, table, command, folded=study.tables[name].folded) for name, table in tables.items()),
        "<h2>Figures</h2>",
        "<p>An algorithm has the same colour in every figure; people with colour deficiencies can tell all colours "
        "apart.</p>",
        *(_figure(study, name, svg, command) for name, svg in figures.items()),
        "<h2>How to read it</h2>",
        *(f"<p>{escape(note)}</p>" for note in study.notes),
        "<h2>How it was made</h2>",
        _provenance(data, made, seconds),
        "<p>The same version gives the same runs on every machine, and the same command in the same directory makes "
        "only the runs, tables and figures that are missing:</p>",
        f"<pre>{escape(shlex.join(command))}</pre>",
        "<p>Every run, with its own trace hash, is in <code>sweeps/*/runs</code> beside this file; the tables are in "
        "<code>tables</code> as CSV, the figures in <code>figures</code> as SVG, PNG and PDF.</p>",
        "<h2>Scenarios and sweeps</h2>",
        *(f"<h3>{escape(name)}.toml</h3><pre>{escape(data.base(name).toml.strip())}</pre>" for name in study.scenarios),
        *(
            f"<h3>{escape(file.name)}</h3><pre>{escape(file.read_text(encoding='utf-8').strip())}</pre>"
            for file in (study.file(name, quick=data.quick) for name in data.sweeps)
        ),
    ]
    return pages.page(escape(study.title), body, _MORE)


def _size(data: "Data") -> str:
    runs = sum(len(sweep) for sweep in data.sweeps.values())
    counts = [len(sweep.plan.seeds) for sweep in data.sweeps.values()]
    number = f"{min(counts)} to {max(counts)}" if min(counts) < max(counts) else str(max(counts))
    seeds = "one seed in a cell" if number == "1" else f"{number} seeds in a cell"
    return f"{runs} runs, {seeds}."


def _identical(data: "Data") -> str:
    """In how many cells nothing is left to chance."""
    cells = sum(int(sweep.identical.sum()) for sweep in data.sweeps.values())
    what = f"{units.count(cells, 'cell')} the runs are identical: such a cell counts as one run and has no interval"
    return f" In {what}." if cells else ""


def _command(command: Sequence[str], name: str) -> str:
    return f'<p class="command"><code>{escape(shlex.join([*command, "--only", name]))}</code></p>'


def _table(name: str, table: Table, command: Sequence[str], *, folded: bool) -> str:
    inside = f'<p class="caption">{escape(table.caption)}</p>{table_html(table)}{_command(command, name)}'
    title = escape(table.title)
    if folded:
        return f'<details id="{name}"><summary>{title}</summary>{inside}</details>'
    return f'<section id="{name}"><h3>{title}</h3>{inside}</section>'


def table_html(table: Table) -> str:
    """Return a table as HTML."""
    look = ' class="dense"' if len(table.head) > _DENSE else ""
    body = f"<thead>{_head(table)}</thead><tbody>{_rows(table)}</tbody>"
    return f'<div class="scroll"><table{look}>{body}</table></div>'


def _first(table: Table) -> set[int]:
    """Columns that begin a group."""
    found, at = set(), 0
    for _, span in table.groups:
        if at:
            found.add(at)
        at += span
    return found


def _classes(table: Table, column: int, first: set[int]) -> str:
    names = [name for name, holds in (("label", column < table.left), ("first", column in first)) if holds]
    return f' class="{" ".join(names)}"' if names else ""


def _head(table: Table) -> str:
    first = _first(table)
    groups = "".join(
        f'<th class="group" colspan="{span}" scope="colgroup">{escape(title)}</th>' for title, span in table.groups
    )
    columns = "".join(
        f'<th scope="col"{_classes(table, i, first)}>{title.replace("Independent", "Indepen&shy;dent")}</th>'
        for i, title in enumerate(table.head)
    )
    return (f"<tr>{groups}</tr>" if groups else "") + f"<tr>{columns}</tr>"


def _rows(table: Table) -> str:
    first = _first(table)
    out: list[str] = []
    last: Sequence[str | Entry] = ()
    for row in table.rows:
        # Labels of the row above are not said again, except the last one.
        repeated = [tuple(row[: i + 1]) == tuple(last[: i + 1]) for i in range(table.left - 1)]
        block = ' class="block"' if repeated and last and not repeated[0] else ""
        last = row
        cells = []
        for i, cell in enumerate(row):
            text = "" if i < len(repeated) and repeated[i] else _text(cell)
            look = _classes(table, i, first)
            if isinstance(cell, str) and len(cell) > _LONG[i >= table.left]:
                look = ' class="label wrap"' if i < table.left else ' class="wrap"'
            cells.append(f"<td{look}>{text}</td>")
        out.append(f"<tr{block}>{''.join(cells)}</tr>")
    return "".join(out)


def _text(cell: str | Entry) -> str:
    if isinstance(cell, str):
        return escape(cell)
    return escape(cell.text) + (f"<small>{escape(cell.small)}</small>" if cell.small else "")


def _figure(study: "Study", name: str, svg: str, command: Sequence[str]) -> str:
    spec = study.figures[name]
    data = base64.b64encode(svg.encode()).decode()
    return (
        f'<figure id="{name}"><h3>{escape(spec.title)}</h3><img alt="{escape(spec.title)}" '
        f'src="data:image/svg+xml;base64,{data}"><figcaption>{escape(spec.caption)}</figcaption>'
        f"{_command(command, name)}</figure>"
    )


def _provenance(data: "Data", made: "Provenance", seconds: float) -> str:
    engine = sum(float(sweep.runs["wall_s"].sum()) for sweep in data.sweeps.values() if "wall_s" in sweep.runs)
    failed = sum(int((sweep.runs["error"] != "").sum()) for sweep in data.sweeps.values())
    rows = [
        ("command", f"<code>{escape(made.command)}</code>"),
        ("version", escape(str(made.engine).removeprefix("version "))),
        ("seeds", escape(", ".join(map(str, next(iter(data.sweeps.values())).plan.seeds)))),
        ("started", escape(made.started)),
        ("machine", escape(f"{made.machine}; Python {made.python}")),
        ("size", f"{_size(data)[:-1]}, {failed} without a result; {engine:.1f} s of engine time"),
        ("this command took", f"{seconds:.1f} s"),
    ]
    return pages.provenance_table(rows)
