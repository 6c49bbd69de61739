"""`sweep`, `query`: many runs, and questions to them."""

import contextlib
import sys
from typing import TYPE_CHECKING, Any

import click

from anabranch.cli.common import Interrupted, command_line, format_option, refuse_capture, table_width, wide_option
from anabranch.cli.group import EXIT_FAILED, cli
from anabranch.cli.lines import sweep_progress
from anabranch.execution import interrupt
from anabranch.execution.optional_deps import ClusterError
from anabranch.scenario import ScenarioError
from anabranch.sentences import sweep as say
from anabranch.sentences.nearest import hint
from anabranch.tables import Column, Document, Table

if TYPE_CHECKING:
    import pandas as pd

    from anabranch.sweeps.data import SweepData
    from anabranch.sweeps.memory import Memory
    from anabranch.sweeps.plan import PlanData
    from anabranch.sweeps.store import Store


@cli.command()
@click.argument("file", metavar="SWEEP")
@click.option(
    "--seeds",
    metavar="N",
    help='Use seeds 1 to N instead of the file\'s, or "until 1 %": as many as this precision needs.',
)
@click.option("--out", metavar="DIR", help="Keep the runs in DIR. Runs that are there already are not repeated.")
@click.option("--resume", is_flag=True, help="No effect: a sweep always continues with the runs in DIR.")
@click.option("--keep-failed", is_flag=True, help="Do not repeat runs that failed before.")
@click.option("--allow-mixed", is_flag=True, help="Continue even if runs in DIR are by another version.")
@click.option(
    "--compare",
    metavar="AXIS=VALUE",
    help="Also compare the other values of AXIS with VALUE, in pairs of runs with equal seeds.",
)
@click.option("--workers", metavar="N", type=click.IntRange(1), help="Number of threads.  [default: one per core]")
@click.option("--dask", metavar="ADDRESS", help="Run on a Dask cluster, such as tcp://scheduler:8786.")
@click.option("--csv", "as_csv", is_flag=True, help="Print one row per run as CSV.")
@format_option("csv")
@wide_option
@click.option("--quiet", is_flag=True, help="Print neither the table nor a progress line.")
def sweep(
    file: str,
    seeds: str | None,
    out: str | None,
    resume: bool,
    keep_failed: bool,
    allow_mixed: bool,
    compare: str | None,
    workers: int | None,
    dask: str | None,
    as_csv: bool,
    form: str | None,
    wide: bool,
    quiet: bool,
) -> int:
    """Run a scenario with all combinations of values in SWEEP.

    SWEEP is a TOML file, or the folder of a sweep that is to be repeated. Files are written only with --out. If a sweep
    with --out was interrupted, the same command continues it.
    """
    from anabranch.sweeps.document import read
    from anabranch.sweeps.task import FAILED, REFUSED

    if out is None and (resume or keep_failed or allow_mixed):
        raise click.UsageError("--resume, --keep-failed and --allow-mixed need --out DIR")
    if as_csv and form is not None:
        raise click.UsageError("--csv and --format: give only one of them")
    if workers is not None and dask is not None:
        raise click.UsageError("--workers and --dask: give only one of them; a cluster has its own workers")
    refuse_capture(file)
    plan = read(file, seeds=_seeds(seeds))
    axis, _, value = (compare or "").partition("=")
    if compare is not None and value not in {str(point.label) for point in plan.axes.get(axis, ())}:
        known = [f"{name}={point.label}" for name, points in plan.axes.items() for point in points]
        if not known:
            raise click.UsageError("--compare: the sweep has no axes; leave --compare out")
        near = hint(compare, known)
        raise click.UsageError(f"--compare: {compare!r} is not a value of an axis; values: {', '.join(known)}{near}")
    with contextlib.ExitStack() as stack:
        client = None
        if dask is not None:
            from anabranch.sweeps import cluster

            client = stack.enter_context(cluster.connected(dask))
        done = _sweep(
            plan, out, keep_failed=keep_failed, allow_mixed=allow_mixed, workers=workers, client=client, quiet=quiet
        )
    if as_csv or form == "csv":
        done.runs.to_csv(sys.stdout, index=False, lineterminator="\n")
    elif not quiet:
        from anabranch.sweeps.table import compared, document

        parts: list[Table | str] = [*document(done).parts]
        parts += ["", compared(done, axis, value)] if compare else []
        click.echo(Document(parts).written(form or "text", table_width(wide=wide)))
    sys.stdout.flush()
    status = done.columns("status")["status"]
    return EXIT_FAILED if (status == FAILED).any() or (status == REFUSED).all() else 0


def _answered(frame: "pd.DataFrame") -> Table:
    """A frame as a table: of columns for which there is no room, the last ones are left out."""
    columns = []
    for number, name in enumerate(frame.columns):
        cells = [" ".join(str(value).splitlines()) for value in frame[name].to_numpy(object)]
        columns.append(Column((str(name),), cells, drop=len(frame.columns) - number if number else 0, left=not number))
    return Table(columns)


def _seeds(text: str | None) -> int | str | None:
    from anabranch.sweeps.until import MOST

    if text is None or not text.lstrip("+-").isdecimal():
        return text
    shown = text if len(text) <= 20 else f"{text[:17]}..."
    if len(text) > 20 or int(text) > MOST:
        raise ScenarioError(f"--seeds {shown}: a sweep has at most {MOST} seeds")
    if int(text) < 1:
        raise click.UsageError(f"--seeds: {text} is not a number above 0")
    return int(text)


def _sweep(
    plan: "PlanData",
    out: str | None,
    *,
    keep_failed: bool,
    allow_mixed: bool,
    workers: int | None,
    client: Any,
    quiet: bool,
) -> "SweepData":
    """Make the runs of `plan`, keep them in `out`."""
    from anabranch.sweeps.execute import make
    from anabranch.sweeps.memory import Memory
    from anabranch.sweeps.store import Store, StoreError

    keep: Memory | Store = Memory(plan)
    if out is not None:
        keep = Store.open(out, plan, command=command_line(), allow_mixed=allow_mixed)
    with contextlib.closing(keep), interrupt.raising():
        try:
            with sweep_progress(quiet=quiet) as progress:
                make(keep, keep_failed=keep_failed, workers=workers, client=client, progress=progress)
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted: {_kept(keep, out)}") from None
        except ClusterError as error:
            raise ClusterError(f"{error}; {_kept(keep, out)}" if keep.statuses else str(error)) from None
        except StoreError as error:
            raise StoreError(error.errno, f"{error.strerror}; {_kept(keep, out)}", out) from None
        if out is not None:
            interrupt.keep(f"{out} holds all runs, but not the table of these runs; the same command makes the table")
        done = keep.finish()
        if out is not None:
            from anabranch.sweeps import report

            interrupt.keep(f"{out} holds all runs, but not all of its report; `anabranch plot {out}` makes the report")
            file = report.write(done, out)
            interrupt.keep(f"{out} is complete")
    if out is not None and not quiet:
        click.echo(f"report   {file}", err=True)
    if isinstance(keep, Store) and keep.others:
        click.echo(say.OTHER_RUNS(folder=str(out), count=keep.others), err=True)
    return done


def _kept(keep: "Memory | Store", out: str | None) -> str:
    if out is None:
        return interrupt.NOTHING
    done = sum((cell.sha256, seed) in keep.statuses for cell, seed in keep.plan.runs())
    return f"{done} of {keep.plan.total} runs are kept in {out}; the same command continues from there"


@cli.command()
@click.argument("directory", metavar="DIR")
@click.argument("statement", metavar="SQL")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV instead of a table.")
@format_option("csv")
@wide_option
def query(directory: str, statement: str, as_csv: bool, form: str | None, wide: bool) -> None:
    """Query the sweep in DIR with SQL.

    The tables are `runs` (one row per run), `subflows` (one row per run and subflow) and `cells` (one row per cell).
    The table `texts` has the summary and the series of each run as JSON. The statement "describe runs" shows the
    columns of a table.
    """
    if as_csv and form is not None:
        raise click.UsageError("--csv and --format: give only one of them")
    from anabranch.sweeps.query import QueryError
    from anabranch.sweeps.query import query as answer

    try:
        frame = answer(directory, statement)
    except QueryError as error:
        raise click.UsageError(str(error)) from None
    if as_csv or form == "csv":
        frame.to_csv(sys.stdout, index=False, lineterminator="\n")
    else:
        click.echo("\n".join(_answered(frame).written(form or "text", table_width(wide=wide))))
    sys.stdout.flush()
