"""A sweep as one HTML file that needs nothing else."""

import shlex
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from anabranch.measures import units
from anabranch.measures.table import MEASURES, scale
from anabranch.results import page as pages
from anabranch.results.page import picture, provenance_table, table
from anabranch.scenario import literal
from anabranch.sweeps import figures
from anabranch.sweeps.places import labels_frame
from anabranch.sweeps.table import ENDS, errors, runs
from anabranch.sweeps.task import FAILED, REFUSED

if TYPE_CHECKING:
    import os

    from anabranch.sweeps.data import SweepData
    from anabranch.sweeps.plan import PlanData, Point

REPORT = "report.html"
_ROWS = 60
"""Cells of the table; of more, the best and the worst half of so many."""
_MEASURES = (
    "goodput_mbps",
    "completion_s",
    "ooo_ratio",
    "ooo_buffer_max_bytes",
    "retransmissions_fast",
    "retransmissions_timeout",
    "spurious",
)


def write(sweep: "SweepData", directory: "str | os.PathLike[str]") -> Path:
    """Draw the figures of `sweep` into `directory`, and write its report there; return the report's file."""
    from anabranch.sweeps.piece import write_whole

    made = {name: figures.image(sweep, name, "svg") for name in figures.usual(sweep)}
    for name, svg in made.items():
        write_whole(Path(directory) / f"{name}.svg", svg)
    file = Path(directory) / REPORT
    write_whole(file, page(sweep, {name: svg.decode() for name, svg in made.items()}, str(directory)).encode())
    return file


def page(sweep: "SweepData", drawn: Mapping[str, str], where: str) -> str:
    """The report.

    Parameters
    ----------
    sweep : SweepData
        What was run.
    drawn : mapping
        SVG text by name of the figure.
    where : str
        The sweep's directory as the commands in the report name it.
    """
    title = escape(_title(sweep))
    where = shlex.quote(where)
    body = [
        f"<h1>{title}</h1>",
        f'<p class="muted">{escape(_axes(sweep))}</p>',
        _facts(sweep),
        *(f"<p>{escape(line)}</p>" for line in _errors(sweep)),
        "<h2>Cells</h2>",
        cells_table(sweep),
        *(["<h2>Figures</h2>"] if drawn else []),
        *(_figure(sweep, name, svg, where) for name, svg in drawn.items()),
        "<h2>How it was made</h2>",
        _provenance(sweep),
        "<p>The same scenario, seed and version give the same run on every machine. To make the sweep again from this "
        "file alone, save the two texts below under their names:</p>",
        "<pre>anabranch sweep sweep.toml --out again</pre>",
        f"<h2>sweep.toml</h2><pre>{escape(document(sweep.plan))}</pre>",
        f"<h2>scenario.toml</h2><pre>{escape(sweep.plan.scenario.toml.strip())}</pre>",
    ]
    return pages.page(title, body)


def sweep_html(sweep: "SweepData") -> str:
    """What a notebook shows of a sweep: what was run, and the table of its cells."""
    errors = "".join(f"<br>{escape(line)}" for line in _errors(sweep))
    return f"<p><strong>{escape(_title(sweep))}</strong><br>{escape(_axes(sweep))}{errors}</p>{cells_table(sweep)}"


def _title(sweep: "SweepData") -> str:
    """Of the scenario; without one, what is varied."""
    import tomllib

    plan = sweep.plan
    try:
        title = str(tomllib.loads(plan.scenario.toml).get("title", ""))
    except tomllib.TOMLDecodeError:
        title = ""
    return dict(plan.scenario.overrides).get("title", title) or f"sweep over {', '.join(sweep.axes) or 'seeds'}"


def _axes(sweep: "SweepData") -> str:
    plan = sweep.plan
    axes = [f"{name}: {', '.join(str(point.label) for point in points)}" for name, points in plan.axes.items()]
    seeds = len(plan.seeds)
    return "; ".join([*axes, f"{seeds} seed{'' if seeds == 1 else 's'} in each cell"])


def _facts(sweep: "SweepData") -> str:
    status = sweep.columns("status")["status"]
    bad = int(((status == REFUSED) | (status == FAILED)).sum())
    facts = [
        ("cells", str(len(sweep.plan.cells))),
        ("runs", f"{len(status)} of {len(sweep.plan.cells) * len(sweep.plan.seeds)}"),
        ("without a result", str(bad)),
        ("engine time", units.time(float(_sum(sweep, "wall_s")))),
    ]
    cells = "".join(f"<div><dt>{name}</dt><dd>{escape(value)}</dd></div>" for name, value in facts)
    return f'<dl class="facts">{cells}</dl>'


def _sum(sweep: "SweepData", name: str) -> float:
    import numpy as np

    (cube,) = sweep.cubes(name)
    return float(np.nansum(cube))


def _errors(sweep: "SweepData") -> list[str]:
    return [line for line in errors(sweep.columns(*ENDS)) if line]


def cells_table(sweep: "SweepData") -> str:
    """Means over the seeds, with the intervals of the goodput; of many cells the best and the worst."""
    import numpy as np

    labels = labels_frame(sweep.plan)
    found = dict(zip(_MEASURES, map(sweep.counted, sweep.cubes(*_MEASURES)), strict=True))
    goodput = found["goodput_mbps"]
    order = list(range(len(labels)))
    note = ""
    if len(order) > _ROWS:
        ranked = [int(i) for i in np.argsort(-np.nan_to_num(goodput.mean, nan=-1.0), kind="stable")]
        order = sorted([*ranked[: _ROWS // 2], *ranked[-_ROWS // 2 :]], key=ranked.index)
        note = (
            f'<p class="muted">The {_ROWS // 2} cells with the most goodput and the {_ROWS // 2} with the least, of '
            f"{len(labels)}; <code>table.csv</code> has all cells.</p>"
        )
    counts = runs(sweep, goodput)
    head, columns = [*map(escape, sweep.axes)], [[escape(str(labels[name][i])) for i in order] for name in sweep.axes]
    head.append("runs")
    columns.append([counts[i] for i in order])
    for name in _MEASURES:
        means = found[name].mean
        if np.isnan(means).all() and name != "goodput_mbps":
            continue
        head.append("<br>".join(MEASURES[name].heading))
        shown = units.column([scale(name) * float(means[i]) for i in order])
        columns.append(shown)
        halves = [float(goodput.mean[i] - goodput.low[i]) for i in order]
        if name == "goodput_mbps" and not all(map(np.isnan, halves)):
            head.append("95 %<br>&plusmn;")
            columns.append(units.halves(shown, halves))
    return note + table(tuple(head), [tuple(row) for row in zip(*columns, strict=True)])


def _figure(sweep: "SweepData", name: str, svg: str, where: str) -> str:
    cut = figures.view(sweep, below=name not in {figures.CDF, figures.OVER_TIME})
    caption = escape(figures.caption(sweep, name, cut))
    command = f"<code>anabranch plot {escape(where)} --figure {name}</code>"
    return picture(svg, name, f"{caption}<br>{command}", f' id="{name}"')


def _provenance(sweep: "SweepData") -> str:
    made = sweep.provenance
    rows = [
        ("command", f"<code>{escape(made.command)}</code>"),
        ("version", escape(str(made.engine).removeprefix("version "))),
        ("started", escape(made.started)),
        ("machine", escape(f"{made.machine}; Python {made.python}")),
        ("scenario, SHA-256", f"<code>{escape(made.scenario_sha256)}</code>"),
    ]
    return provenance_table(rows)


def document(plan: "PlanData") -> str:
    """A sweep file for `plan`, beside its scenario."""
    return "\n".join(_lines(plan))


def _lines(plan: "PlanData") -> Iterator[str]:
    yield 'scenario = "scenario.toml"'
    options = plan.options
    seeds = list(plan.seeds)
    yield f"seeds = {len(seeds) if seeds == list(range(1, len(seeds) + 1)) else seeds}"
    if options.timeout is not None:
        yield f'timeout = "{options.timeout:g} s"'
    if options.memory is not None:
        yield f'memory = "{options.memory / 1000:.17g} kB"'
    if options.series:
        yield f"series = {options.series}"
    if plan.scenario.overrides:
        yield from ("", "[set]")
        yield from (f"{literal(key)} = {_written(value)}" for key, value in dict(plan.scenario.overrides).items())
    plain = {name: points for name, points in plan.axes.items() if all(_is_plain(point) for point in points)}
    if plan.axes:
        yield from ("", "[axes]")
    for name, points in plan.axes.items():
        if name in plain:
            yield f"{literal(name)} = [{', '.join(literal(point.label) for point in points)}]"
        else:
            changes = (
                f"{literal(str(point.label))} = {{ "
                + ", ".join(f"{literal(key)} = {_written(value)}" for key, value in point.changes.items())
                + " }"
                for point in points
            )
            yield f"{literal(name)} = {{ {', '.join(changes)} }}"


def _is_plain(point: "Point") -> bool:
    """Whether it is a value of the one key that its axis is named after."""
    return len(point.changes) == 1 and next(iter(point.changes.values())) == point.label


def _written(value: object) -> str:
    return literal(value) if isinstance(value, str | int | float | bool) else str(value)
