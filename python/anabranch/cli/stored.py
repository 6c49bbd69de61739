"""`plot`, `replay`, `compare`: what is done with results that are there."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anabranch.algorithms.origin import same
from anabranch.cli.common import format_option, table_width, wide_option
from anabranch.cli.group import EXIT_FAILED, Choice, cli
from anabranch.cli.lines import capture_progress, engine
from anabranch.execution import interrupt
from anabranch.results.directory import naming
from anabranch.results.drafts import whole
from anabranch.scenario import Scenario, literal
from anabranch.sentences import tools as say

if TYPE_CHECKING:
    from anabranch.plots import Look
    from anabranch.runs.data import RunData


@cli.command()
@click.argument("directory", metavar="DIR")
@click.option("--figure", "names", metavar="NAME", multiple=True, help="Draw only this figure. May be repeated.")
@click.option(
    "--format",
    "form",
    type=Choice(["svg", "png", "pdf"]),
    default="svg",
    show_default=True,
    help="Format of the figure files.",
)
@click.option("--width", metavar="LENGTH", help='Width of the figures, such as "88 mm" for one column of a paper.')
@click.option("--height", metavar="LENGTH", help='Height of the figures, such as "60 mm".')
@click.option("--no-title", is_flag=True, help="Draw figures without titles.")
@click.option("--over", metavar="AXIS", help="Sweep: draw this axis of the sweep as the horizontal axis.")
@click.option(
    "--by", metavar="AXIS", multiple=True, help="Sweep: draw one line for each value of this axis. May be repeated."
)
@click.option(
    "--where", metavar="AXIS=VALUE", multiple=True, help="Sweep: draw only this value of AXIS. May be repeated."
)
@click.option(
    "--rename",
    metavar="OLD=NEW",
    multiple=True,
    help="Write NEW instead of the value OLD in legends, ticks and marks. May be repeated.",
)
@click.option(
    "--label",
    metavar="NAME=TEXT",
    multiple=True,
    help="Label an axis with TEXT. NAME is a measure, an axis of a sweep, or time. May be repeated.",
)
@click.option("--out", metavar="FOLDER", help="Directory for the figures, instead of DIR.")
def plot(
    directory: str,
    names: tuple[str, ...],
    form: str,
    width: str | None,
    height: str | None,
    no_title: bool,
    over: str | None,
    by: tuple[str, ...],
    where: tuple[str, ...],
    rename: tuple[str, ...],
    label: tuple[str, ...],
    out: str | None,
) -> None:
    """Draw the figures of the result or the sweep in DIR again.

    Without options, the report is written again, too. A figure of a sweep is a measure (such as completion_s), cdf or
    over_time. Without --over and --by, a figure of a measure has one axis of the sweep as the horizontal one. In each
    figure, another axis of at most seven values is shown as lines or bars. The combinations of the other axes have
    panels, at most nine.
    """
    from anabranch.cli.redraw import files, wanted
    from anabranch.plots.size import LookError

    try:
        look: Look = {"width": width, "height": height, "title": not no_title}
        look |= {"rename": wanted("rename", rename), "label": wanted("label", label)}
        made = files(directory, names, form, whole=out is None, over=over, by=by, where=where, **look)
    except LookError as error:
        raise click.UsageError(f"--{error}") from None
    folder = Path(directory if out is None else out)
    with naming(str(folder)):
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in made.items():
            _replace(folder / name, content)
    for name in made:
        click.echo(str(folder / name))


def _replace(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    with whole(path) as draft:
        draft.write_bytes(content)


@cli.command()
@click.argument("directory", metavar="DIR")
def replay(directory: str) -> int:
    """Check that the result in DIR can be reproduced.

    Runs the scenario in DIR again and compares the traces. If DIR is an analysis, analyse its captures again.
    """
    from anabranch.results.result_kinds import ANALYSIS, kind

    return _analyse_again(directory) if kind(directory).name == ANALYSIS else _run_again(directory)


def _analyse_again(directory: str) -> int:
    from anabranch.captures.store import again

    with capture_progress(quiet=False) as poll:
        differs = again(directory, poll)
    told = say.DIFFERS(folder=directory, names=", ".join(differs)) if differs else say.REPRODUCED(folder=directory)
    click.echo(told, err=bool(differs))
    return EXIT_FAILED if differs else 0


def _run_again(directory: str) -> int:
    from anabranch.runs.store import read, untouched

    stored = read(directory)
    now_at = {one["name"]: same(one, Path(directory), stored.provenance.python) for one in stored.provenance.algorithms}
    wanted = stored.provenance.trace_sha256
    with engine(lambda: interrupt.NOTHING, quiet=False) as poll:
        again = _as_it_was(stored, str(Path(directory) / "scenario.toml"), now_at).run(poll=poll)
    found = again.summary["trace_sha256"]
    if found == wanted and untouched(stored):
        then, now = _maker(stored), _maker(again)
        if then == now:
            click.echo(say.REPRODUCED_TRACE(folder=directory, hash=found))
        else:
            click.echo(say.REPRODUCED_BY(folder=directory, now=now, then=then, hash=found))
        return 0
    if found == wanted:
        click.echo(say.SAME_TRACE_OTHER_TEXT(folder=directory), err=True)
    else:
        click.echo(say.DIFFERS_TRACE(folder=directory, stored=wanted, hash=found), err=True)
        click.echo(_why_differs(stored, again, touched=not untouched(stored)), err=True)
    return EXIT_FAILED


def _as_it_was(stored: "RunData", name: str, now_at: Mapping[str, str]) -> Scenario:
    """The stored scenario with its algorithms written in Python from where they are now.

    One from before profiles (0.2) has the defaults of its time, now the profile "classic".
    """
    toml = stored.toml
    for then, now in now_at.items():
        toml = toml.replace(literal(then), literal(now))
    scenario = Scenario(toml, name=name)
    if not stored.provenance.version.startswith("0.1."):
        return scenario
    written = tomllib.loads(stored.toml)
    connections = written.get("connection", {})
    if written.get("stack") == "legacy-2011":
        return scenario
    if isinstance(connections, list):
        unnamed = [f"connection.{i}.profile" for i, c in enumerate(connections) if "profile" not in c]
    else:
        unnamed = [] if "profile" in connections else ["connection.profile"]
    return scenario.set(dict.fromkeys(unnamed, "classic"))


def _why_differs(stored: "RunData", again: "RunData", *, touched: bool) -> str:
    if touched:
        return say.OTHER_TEXT()
    if _maker(stored) != _maker(again):
        return say.OTHER_VERSION(then=_maker(stored), now=_maker(again))
    commit = stored.provenance.commit
    if not commit or commit.endswith("-dirty"):
        return say.OTHER_PROGRAM(then=_maker(stored))
    if stored.provenance.algorithms:
        return say.OWN_ALGORITHM(name=stored.provenance.algorithms[0]["name"])
    return say.FAULT()


def _maker(run: "RunData") -> str:
    made = run.provenance
    return f"version {made.version}" + (f" ({made.commit})" if made.commit else "")


@cli.command()
@click.argument("first", metavar="DIR")
@click.argument("second", metavar="DIR")
@click.option("--measure", metavar="NAME", help="Measure that is compared, for two sweeps.  [default: goodput_mbps]")
@format_option()
@wide_option
def compare(first: str, second: str, measure: str | None, form: str | None, wide: bool) -> None:
    """Compare two results and their scenarios.

    Each DIR is a run or an analysis of captures, or both are sweeps. Sweeps are compared cell by cell, in pairs of runs
    with the same seed.
    """
    from anabranch.comparison import MeasureError
    from anabranch.comparison import compare as compared

    try:
        click.echo(compared(first, second, measure).document.written(form or "text", table_width(wide=wide)))
    except MeasureError as error:
        raise click.UsageError(f"--measure: {error}") from None
