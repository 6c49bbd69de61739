"""`study`: a paper's studies."""

import textwrap
import time
from pathlib import Path
from typing import Any

import click

from anabranch.cli.common import Interrupted, command_line, format_option, table_width, wide_option, width
from anabranch.cli.group import cli
from anabranch.cli.lines import sweep_progress
from anabranch.execution import interrupt
from anabranch.sentences import tools as say


@cli.command()
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--list", "as_list", is_flag=True, help="List the studies and exit.")
@click.option(
    "--quick", is_flag=True, help="Use one seed and make only the main tables and figures. Takes seconds to a minute."
)
@click.option(
    "--only", metavar="NAME", multiple=True, help="Make only this table or figure, such as fig-10. May be repeated."
)
@click.option(
    "--out",
    metavar="DIR",
    help="Directory for runs, tables, figures and report. With `all`, each study has a directory in DIR.  "
    "[default: NAME]",
)
@format_option()
@wide_option
@click.option("--quiet", is_flag=True, help="Print neither text nor a progress line.")
def study(
    name: str | None,
    as_list: bool,
    quick: bool,
    only: tuple[str, ...],
    out: str | None,
    form: str | None,
    wide: bool,
    quiet: bool,
) -> None:
    """Repeat the experiments of a study.

    A study repeats a paper and compares its numbers, or answers a question. NAME is a study of --list, or `all`. Runs
    that are in DIR already are not repeated, so the same command continues an interrupted study. With --format markdown
    or latex, DIR/tables has the tables in this format, too. With --format and --only, the tables are printed.
    """
    from anabranch import studies

    if as_list:
        width = max(map(len, studies.names()))
        for known in studies.names():
            click.echo(f"{known:{width}}  {studies.find(known).summary}")
        return
    if name == "all":
        if only:
            raise click.UsageError(say.ONLY_ALL)
        for each in studies.names():
            if not quiet:
                click.echo(click.style(each, bold=True) + "\n")
            folder = each if out is None else str(Path(out) / each)
            _study(each, quick=quick, only=(), out=folder, form=form, wide=wide, quiet=quiet)
            if not quiet:
                click.echo()
        return
    if name is None:
        raise click.UsageError(say.NO_STUDY(choices=", ".join(studies.names())))
    _study(name, quick=quick, only=only, out=name if out is None else out, form=form, wide=wide, quiet=quiet)


def _answered(product: "tuple[str, Path, Any]", form: str | None, width: int | None) -> str:
    """What is said of a table or figure: the table, if a form was asked for, else the name of its file."""
    from anabranch.studies.base import Table

    _, file, made = product
    if form is None or not isinstance(made, Table):
        return str(file)
    return "\n".join([*made.plain().written(form, width), ""])


def _study(
    name: str, *, quick: bool, only: tuple[str, ...], out: str, form: str | None, wide: bool, quiet: bool
) -> None:
    """Run a study, answer with its sentences, then with the names of its files."""
    from anabranch.studies import result
    from anabranch.studies import run as steps
    from anabranch.studies.drawing import Drawing

    started = time.monotonic()
    try:
        task = result.asked(name, quick=quick, only=only)
    except result.StudyError as error:
        raise click.UsageError(str(error)) from None
    opened = steps.stores(task, out, task.plans(), command_line())
    drawing = Drawing(task, opened)
    with interrupt.raising():
        try:
            drawing.start()
            with sweep_progress(quiet=quiet) as progress:
                steps.execute(opened, progress, drawing.over)
        except KeyboardInterrupt:
            done = sum(len(store.statuses) for store in opened.values())
            raise Interrupted(say.KEPT(runs=done, folder=out)) from None
    interrupt.keep(say.RUNS_ONLY(folder=out))

    def told(product: "tuple[str, Path, Any]") -> None:
        if only and not quiet:
            click.echo(_answered(product, form, table_width(wide=wide)))

    found = result.finished(task, opened, drawing, Path(out), started=started, form=form or "text", told=told)
    if found.report is not None and not quiet:
        click.echo("\n\n".join(textwrap.fill(text, width()) for text in found.sentences))
        click.echo(f"\nreport   {found.report}")
    interrupt.keep(say.COMPLETE(folder=out))
