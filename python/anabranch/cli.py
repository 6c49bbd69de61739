"""The command line. Tables go to standard output, everything else a person may want to know to standard error.

Exit status: 0 done (also when `duration` was reached or the transfer stalled), 1 a proof failed (``replay``,
``doctor``, content that differs) or runs of a sweep failed or were all refused, 2 bad input, 130 interrupted.
"""

import contextlib
import json
import os
import re
import shlex
import shutil
import sys
import textwrap
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anabranch import _core, interrupt, units
from anabranch.extras import ClusterError, MissingError, missing
from anabranch.scenario import Scenario
from anabranch.store import FULL, Draft, ResultError, naming, why
from anabranch.visible import visible

if TYPE_CHECKING:
    from anabranch.capture import Capture
    from anabranch.plots import Look
    from anabranch.progress import CaptureProgress, Progress, SweepProgress
    from anabranch.results import Run
    from anabranch.study.base import Study
    from anabranch.sweeps import Plan, Sweep
    from anabranch.sweeps.execute import State
    from anabranch.sweeps.results import Memory
    from anabranch.sweeps.store import Store

_BAD_INPUT = 2
_FAILED = 1

_NOT_UTF8 = re.compile("\\S*[\ud800-\udfff]\\S*")

_DEMO_TITLE = "two unlike paths, 5 Mbit/s with 100 ms and 2 Mbit/s with 10 ms"


class Interrupted(click.ClickException):
    """Ctrl-C, with a line that says what was kept."""

    exit_code = interrupt.STATUS


class _Command(click.Command):
    """A command that takes ``--debug`` as well as the group does."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.append(_debug_option(hidden=True))


class _Group(click.Group):
    command_class = _Command


def _debug_option(*, hidden: bool) -> click.Option:
    """``--debug``; `run_command` looks for it itself, because parsing may be what fails."""
    return click.Option(
        ["--debug"],
        is_flag=True,
        expose_value=False,
        hidden=hidden,
        help="On an error show the Python traceback.",
    )


def _version(ctx: click.Context, _option: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        commit = _core.commit()
        click.echo(f"anabranch {_core.version()}" + (f" ({commit})" if commit else ""))
        ctx.exit()


@click.group(
    cls=_Group,
    invoke_without_command=True,
    params=[_debug_option(hidden=False)],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version.")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """A multipath-TCP laboratory.

    Begin with `anabranch demo`; then `anabranch new > my.toml`, `anabranch run my.toml`.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


_set_option = click.option(
    "--set",
    "changes",
    metavar="KEY=VALUE",
    multiple=True,
    help='Change one value of the scenario: --set path.1.delay="200 ms". May be repeated.',
)


@cli.command()
@click.option(
    "--out",
    metavar="DIR",
    default="out/demo",
    show_default=True,
    help="Where to put the pictures and the report.",
)
def demo(out: str) -> int:
    """Show a transfer over two unlike links: a table, a picture, a report to share."""
    scenario = Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="20 MB")
    return _run(scenario.set("title", _DEMO_TITLE), out=out)


@cli.command()
def new() -> None:
    """Print a commented scenario to begin with."""
    click.echo(_core.template(), nl=False)


@cli.command()
@click.option(
    "--rate",
    "rates",
    metavar="RATE",
    multiple=True,
    default=("1 Mbit/s", "4 Mbit/s", "12 Mbit/s", "30 Mbit/s"),
    show_default=True,
    help="A state of the link; repeat it, in order.",
)
@click.option("--dwell", metavar="TIME", default="500 ms", show_default=True, help="Mean time in a state.")
@click.option("--duration", metavar="TIME", default="30 s", show_default=True, help="Length of the trace.")
@click.option("--seed", metavar="N", type=click.IntRange(min=0, max=2**63 - 1), default=1, show_default=True)
def trace(rates: tuple[str, ...], dwell: str, duration: str, seed: int) -> None:
    """Print a synthetic trace of a cellular link, for `trace` in a scenario.

    The rate wanders among the states, up or down by one at a time; one line is a millisecond at which 1500 octets may
    pass (the format of mahimahi).
    """
    click.echo("\n".join(map(str, _core.synthetic_trace(rates, dwell, duration, seed))))


@cli.command()
@click.argument("file")
@_set_option
@click.option("--json", "as_json", is_flag=True, help="Print every value, defaults included, in SI units.")
@click.option("--expand", is_flag=True, help="Print the scenario with [topology] and [traffic] written out.")
def check(file: str, changes: tuple[str, ...], as_json: bool, expand: bool) -> None:
    """Validate the scenario in FILE ("-" reads standard input) without running it."""
    scenario = _read(file, changes)
    resolved = scenario.check()
    for warning in resolved.get("warnings", []):
        click.echo(f"warning: {warning}", err=True)
    if as_json:
        click.echo(json.dumps(resolved, indent=2, allow_nan=False))
        return
    if expand:
        click.echo(scenario.expanded().toml, nl=False)
        return
    connections = resolved["connections"]
    paths = sum(len(connection["paths"]) for connection in connections)
    said = f"{units.count(len(connections), 'connection')}, {units.count(paths, 'path')}"
    click.echo(f"{scenario.name}: valid: {said}")


@cli.command()
@click.argument("file")
@click.option(
    "--seed", metavar="N", type=click.IntRange(0, 2**63 - 1), help="Seed of all randomness, instead of the scenario's."
)
@_set_option
@click.option("--out", metavar="DIR", help="Write summary, series, figures and report to DIR.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object.")
@click.option("--csv", "as_csv", is_flag=True, help="Print one row per subflow as CSV.")
@click.option("--trace", metavar="FILE", help="Write one row per protocol event to FILE.")
@click.option("--pcap", metavar="DIR", help="Write the packets of each interface to DIR: client-0.pcapng, ...")
@click.option("--quiet", is_flag=True, help="No table and no progress line.")
def run(
    file: str,
    seed: int | None,
    changes: tuple[str, ...],
    out: str | None,
    as_json: bool,
    as_csv: bool,
    trace: str | None,
    pcap: str | None,
    quiet: bool,
) -> int:
    """Run the scenario in FILE ("-" reads standard input) and answer with a table.

    Without --out, --trace and --pcap nothing is written.
    """
    if as_json and as_csv:
        raise click.UsageError("--json and --csv exclude each other")
    if trace is not None and file != "-" and Path(trace).resolve() == Path(file).resolve():
        raise click.UsageError(f"--trace {trace} would overwrite the scenario")
    form = "json" if as_json else "csv" if as_csv else "none" if quiet else "table"
    return _run(_read(file, changes), seed=seed, out=out, trace=trace, pcap=pcap, form=form, quiet=quiet)


@cli.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--out", metavar="DIR", help="Write summary, frames, figures and report to DIR.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object.")
@click.option("--csv", "as_csv", is_flag=True, help="Print one row per subflow as CSV.")
@click.option("--quiet", is_flag=True, help="No text and no progress line.")
def analyze(files: tuple[str, ...], out: str | None, as_json: bool, as_csv: bool, quiet: bool) -> None:
    """Measure the MPTCP connections in captures (pcap, pcapng) as a run is measured.

    Several files count as one capture: of several interfaces, or of both ends.
    """
    if as_json and as_csv:
        raise click.UsageError("--json and --csv exclude each other")
    form = "json" if as_json else "csv" if as_csv else "none" if quiet else "table"
    _analyze(files, out=out, form=form, quiet=quiet)


@cli.command()
@click.argument("file", metavar="SWEEP.toml")
@click.option("--seeds", metavar="N", help='Seeds 1 to N, instead of the file\'s; or as many as it takes: "until 1 %".')
@click.option("--out", metavar="DIR", help="Keep the runs in DIR; those that are there are not made again.")
@click.option("--resume", is_flag=True, help="Go on with what is in DIR: what is done anyway.")
@click.option("--keep-failed", is_flag=True, help="Do not try runs again that failed before.")
@click.option("--allow-mixed", is_flag=True, help="Go on although runs in DIR are by another version.")
@click.option("--compare", metavar="AXIS=VALUE", help="Also compare the values of an axis with one of them, in pairs.")
@click.option("--workers", metavar="N", type=click.IntRange(1), help="Threads.  [default: one per core]")
@click.option("--dask", metavar="ADDRESS", help="Make the runs on a Dask cluster: tcp://scheduler:8786.")
@click.option("--csv", "as_csv", is_flag=True, help="Print one row per run as CSV.")
@click.option("--quiet", is_flag=True, help="No table and no progress line.")
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
    quiet: bool,
) -> int:
    """Run a scenario with every combination of the values in SWEEP.toml.

    Without --out nothing is written. After Ctrl-C, or whatever else ended it, the same command goes on.
    """
    from anabranch.sweeps import read
    from anabranch.sweeps.task import FAILED, REFUSED

    if out is None and (resume or keep_failed or allow_mixed):
        raise click.UsageError("--resume, --keep-failed and --allow-mixed need --out DIR")
    if workers is not None and dask is not None:
        raise click.UsageError("--workers and --dask exclude each other: a cluster has its own workers")
    plan = read(file, seeds=_seeds(seeds))
    axis, _, value = (compare or "").partition("=")
    if compare is not None and value not in {str(point.label) for point in plan.axes.get(axis, ())}:
        known = (f"{name}={point.label}" for name, points in plan.axes.items() for point in points)
        raise click.UsageError(f"--compare: {compare!r} is no value of an axis; there are: {', '.join(known)}")
    with contextlib.ExitStack() as stack:
        client = None
        if dask is not None:
            from anabranch import cluster

            client = stack.enter_context(cluster.connected(dask))
        done = _sweep(
            plan, out, keep_failed=keep_failed, allow_mixed=allow_mixed, workers=workers, client=client, quiet=quiet
        )
    if as_csv:
        done.runs.to_csv(sys.stdout, index=False, lineterminator="\n")
    elif not quiet:
        from anabranch.sweeps.table import compared

        click.echo(str(done) + (f"\n\n{compared(done, axis, value)}" if compare else ""))
    sys.stdout.flush()
    status = done.columns("status")["status"]
    return _FAILED if (status == FAILED).any() or (status == REFUSED).all() else 0


def _seeds(text: str | None) -> int | str | None:
    if text is None or not text.lstrip("+-").isdecimal():
        return text
    if int(text) < 1:
        raise click.UsageError(f"--seeds: {text} is not a number above 0")
    return int(text)


@cli.command()
@click.argument("directory", metavar="DIR")
@click.argument("statement", metavar="SQL")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV instead of an aligned table.")
def query(directory: str, statement: str, as_csv: bool) -> None:
    """Ask the sweep in DIR a question in SQL.

    Its tables are `runs` (one row per run), `subflows` (one per run and subflow) and `cells` (one per cell); --csv and
    "describe runs" show what is in them.
    """
    from anabranch.sweeps.query import QueryError
    from anabranch.sweeps.query import query as answer

    try:
        frame = answer(directory, statement)
    except QueryError as error:
        raise click.UsageError(str(error)) from None
    if as_csv:
        frame.to_csv(sys.stdout, index=False, lineterminator="\n")
    else:
        from anabranch.tables import aligned

        texts = ([" ".join(str(x).splitlines()) for x in row] for row in frame.to_numpy(object))
        rows = [[str(name) for name in frame.columns], *texts]
        click.echo("\n".join(aligned(rows, left=1)))
    sys.stdout.flush()


@cli.command()
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--list", "as_list", is_flag=True, help="List the studies.")
@click.option("--quick", is_flag=True, help="Seconds: one seed, and only the main tables and figures.")
@click.option(
    "--only", metavar="NAME", multiple=True, help="Only this table or figure, such as fig-10. May be repeated."
)
@click.option(
    "--out",
    metavar="DIR",
    help="Where to put runs, tables, figures and report; with `all` the folder of these.  [default: NAME]",
)
@click.option("--quiet", is_flag=True, help="No text and no progress line.")
def study(name: str | None, as_list: bool, quick: bool, only: tuple[str, ...], out: str | None, quiet: bool) -> None:
    """Run a paper's experiments and put the paper's numbers beside them; NAME may be `all`.

    Runs that are in DIR already are not made again, so the same command goes on where it was interrupted.
    """
    from anabranch import study as studies

    if as_list:
        width = max(map(len, studies.names()))
        for known in studies.names():
            click.echo(f"{known:{width}}  {studies.find(known).summary}")
        return
    if name == "all":
        if only:
            raise click.UsageError("--only: a table or figure belongs to one study; name that instead of `all`")
        for each in studies.names():
            if not quiet:
                click.echo(click.style(each, bold=True) + "\n")
            folder = each if out is None else str(Path(out) / each)
            _study(studies.find(each), quick=quick, only=(), out=folder, quiet=quiet)
            if not quiet:
                click.echo()
        return
    if name not in studies.names():
        what = "name a study, or all" if name is None else f"unknown study {name!r}"
        raise click.UsageError(f"{what}; there are: {', '.join(studies.names())}")
    chosen = studies.find(name)
    for part in only:
        if part not in chosen.tables and part not in chosen.figures:
            raise click.UsageError(
                f"--only: {part!r} is not a part of {name}; its tables and figures: "
                f"{', '.join([*chosen.tables, *chosen.figures])}"
            )
    _study(chosen, quick=quick, only=only, out=name if out is None else out, quiet=quiet)


@cli.command()
@click.option(
    "--path",
    "paths",
    metavar="PATH",
    multiple=True,
    required=True,
    help='A path: "5 Mbit/s, 100 ms", or "wifi 11g 54, 30 m"; further keys may follow: ", loss 1 %". Repeat it.',
)
@click.option(
    "--goal",
    type=click.Choice(["throughput", "latency", "memory"]),
    default="throughput",
    show_default=True,
    help="The most goodput; or the least head-of-line delay or reordering buffer with nine tenths of that.",
)
@click.option(
    "--receiver",
    type=click.Choice(["independent", "coupled"]),
    default="independent",
    show_default=True,
    help="Whether a subflow's acknowledgement waits for data order: RFC 8684, or the rule of the papers' model.",
)
@click.option(
    "--transfer", metavar="AMOUNT", help='What is sent: "10 MB", "20 s".  [default: long enough for the paths]'
)
@click.option("--budget", metavar="S", type=click.FloatRange(min=0), default=30.0, show_default=True, help="Seconds.")
@_set_option
@click.option(
    "--candidate",
    "candidates",
    metavar="C",
    multiple=True,
    help='No search, only these: "coupled, none, min-rtt, 512 kB". May be repeated.',
)
@click.option("--seeds", metavar="N", type=click.IntRange(1), help="Runs of each --candidate.  [default: 8]")
@click.option("--quiet", is_flag=True, help="No progress line.")
def recommend(
    paths: tuple[str, ...],
    goal: str,
    receiver: str,
    transfer: str | None,
    budget: float,
    changes: tuple[str, ...],
    candidates: tuple[str, ...],
    seeds: int | None,
    quiet: bool,
) -> None:
    """Find out how to use given paths: which controller, judge, scheduler and receive buffer.

    All combinations are tried with one seed, the better half with two, and so on, until --budget is spent. Delays of
    wired paths vary by 1 % unless a path says otherwise, so that seeds differ.
    """
    from anabranch.recommend import answer, command

    if seeds is not None and not candidates:
        raise click.UsageError("--seeds belongs to --candidate; a search doubles the seeds by itself")
    scenario = command.scenario(paths, transfer, receiver, dict(_change(change) for change in changes))
    with interrupt.raising():
        try:
            with _recommend_progress(quiet=quiet) as progress:
                found = command.find(scenario, goal, candidates, seeds, budget, progress)
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted: {interrupt.NOTHING}") from None
    again = command.words(scenario, paths, goal, receiver, transfer, changes)
    click.echo(answer.text(found, again, _width()))


@contextlib.contextmanager
def _recommend_progress(*, quiet: bool) -> "Iterator[Callable[[int, int, State], None] | None]":
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from anabranch.progress import SweepProgress

    with SweepProgress() as line:

        def show(number: int, candidates: int, state: "State") -> None:
            line.name = f"round {number}, {candidates} candidates"
            line(state)

        yield show


@cli.command(name="list")
@click.option(
    "--long", is_flag=True, help="Say what each one does, its source, its needs, how it was validated, its parameters."
)
@click.option("--json", "as_json", is_flag=True, help="Print all of it as one JSON object.")
def list_(long: bool, as_json: bool) -> None:
    """List the algorithms a scenario may name."""
    registry: dict[str, list[dict[str, Any]]] = json.loads(_core.registry())
    if as_json:
        click.echo(json.dumps(registry, indent=2))
    elif long:
        from anabranch.listing import described

        click.echo(
            "\n\n".join(described(kind, entry, _width()) for kind, entries in registry.items() for entry in entries)
        )
    else:
        width = max(map(len, registry))
        for kind, entries in registry.items():
            click.echo(f"{kind:{width}}  {', '.join(entry['name'] for entry in entries)}")


@cli.command()
@click.argument("directory", metavar="DIR")
@click.option("--figure", "names", metavar="NAME", multiple=True, help="Only this figure. May be repeated.")
@click.option(
    "--format", "form", type=click.Choice(["svg", "png", "pdf"]), default="svg", show_default=True, help="Kind of file."
)
@click.option("--width", metavar="LENGTH", help='Width of a figure: "88 mm" is a column of a paper.')
@click.option("--height", metavar="LENGTH", help='Height of a figure: "60 mm".')
@click.option("--no-title", is_flag=True, help="No titles in the figures: a paper has captions.")
@click.option("--over", metavar="AXIS", help="Of a sweep: the axis below.")
@click.option(
    "--by", metavar="AXIS", multiple=True, help="Of a sweep: an axis whose values are lines. May be repeated."
)
@click.option("--where", metavar="AXIS=VALUE", multiple=True, help="Of a sweep: only this value. May be repeated.")
@click.option("--out", metavar="FOLDER", help="Where to put the figures, instead of DIR itself.")
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
    out: str | None,
) -> None:
    """Draw the figures of the result or the sweep in DIR again.

    Without any option the report is made again, too. A figure of a sweep is a measure, such as completion_s, or cdf,
    or over_time; of axes that neither --over, --by nor --where names, each value has a panel.
    """
    from anabranch.plots.command import files
    from anabranch.plots.size import LookError

    look: Look = {"width": width, "height": height, "title": not no_title}
    try:
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


@cli.command()
@click.argument("directory", metavar="DIR")
def replay(directory: str) -> int:
    """Run the stored scenario of the result in DIR again and prove that the trace is the same.

    If DIR is an analysis, its captures are analysed again.
    """
    from anabranch.kinds import ANALYSIS, kind
    from anabranch.store import load, untouched

    if kind(directory) == ANALYSIS:
        from anabranch.capture_store import again as analysed

        with _capture_progress(quiet=False) as told:
            differs = analysed(directory, told)
        said = f"DIFFERS in {', '.join(differs)}" if differs else "reproduced"
        click.echo(f"{directory}: {said}", err=bool(differs))
        return _FAILED if differs else 0
    stored = load(directory)
    wanted = stored.provenance.trace_sha256
    with _engine(interrupt.NOTHING, quiet=False) as poll:
        again = Scenario(stored.toml, name=str(Path(directory) / "scenario.toml")).run(poll=poll)
    found = again.summary["trace_sha256"]
    if found == wanted and untouched(stored):
        by = "" if _maker(stored) == _maker(again) else f" by {_maker(again)} (it was made by {_maker(stored)})"
        click.echo(f"{directory}: reproduced{by}, trace_sha256 {found}")
        return 0
    if found == wanted:
        click.echo(f"{directory}: same trace, but scenario.toml is not the text that was run", err=True)
    else:
        click.echo(
            f"{directory}: DIFFERS: stored trace_sha256 {wanted}\n{' ' * len(directory)}           now {found}",
            err=True,
        )
        click.echo(_why_differs(stored, again, touched=not untouched(stored)), err=True)
    return _FAILED


@cli.command()
@click.argument("first", metavar="DIR")
@click.argument("second", metavar="DIR")
@click.option("--measure", metavar="NAME", help="Of two sweeps: what is compared.  [default: goodput_mbps]")
def compare(first: str, second: str, measure: str | None) -> None:
    """Show two results beside each other and what differs between their scenarios.

    They are two runs, two analyses of captures, a run and an analysis, or two sweeps: these cell by cell, in pairs of
    runs with the same seed.
    """
    from anabranch.compare import MeasureError
    from anabranch.compare import compare as compared

    try:
        click.echo(compared(first, second, measure))
    except MeasureError as error:
        raise click.UsageError(f"--measure: {error}") from None


@cli.command()
def doctor() -> int:
    """Examine this installation by using it."""
    from anabranch.doctor import examine

    sound = True
    for finding in examine():
        click.echo(f"{'ok  ' if finding.ok else 'FAIL'}  {finding.what:12} {finding.detail}")
        sound = sound and finding.ok
    click.echo("everything works" if sound else "something does not work; see FAIL above")
    return 0 if sound else _FAILED


def _run(
    scenario: Scenario,
    *,
    seed: int | None = None,
    out: str | None = None,
    trace: str | None = None,
    pcap: str | None = None,
    form: str = "table",
    quiet: bool = False,
) -> int:
    """Run, answer on standard output, then write what was asked for."""
    with contextlib.ExitStack() as stack:
        draft = None
        if out is not None:
            draft = stack.enter_context(Draft(out))
            stack.enter_context(interrupt.undoing(draft.discard))
        written = ((trace, "the events"), (pcap, "the packets"))
        kept = " and ".join(f"{name} holds {what} until then" for name, what in written if name)
        with _engine(kept or interrupt.NOTHING, quiet=quiet) as poll:
            result = scenario.run(seed, trace=trace, pcap=pcap, poll=poll)
        done = [name for name in (trace, pcap) if name is not None]
        if done:
            interrupt.keep(f"{' and '.join(done)} {'is' if len(done) == 1 else 'are'} complete")
        _answer(result, form)
        if draft is not None:
            draft.commit(_signed(result))
            interrupt.keep(f"{out} is complete")
    if out is not None and not quiet:
        files = f"\nreport   {Path(out) / 'report.html'}\npicture  {Path(out) / 'cwnd.svg'}"
        click.echo(files, err=form != "table")
    if not result.summary["content_ok"] and not result.summary["bytes_altered"]:
        click.echo("what arrived is not what was sent: this is a fault of the engine, please report it", err=True)
        return _FAILED
    return 0


def _analyze(files: Sequence[str], *, out: str | None, form: str, quiet: bool) -> None:
    """Analyse, answer on standard output, then write what was asked for."""
    from anabranch.capture import analyze

    with contextlib.ExitStack() as stack:
        draft = None
        if out is not None:
            from anabranch.capture_report import CaptureDraft

            draft = stack.enter_context(CaptureDraft(out, click.get_current_context().obj))
            stack.enter_context(interrupt.undoing(draft.discard))
        with interrupt.raising():
            try:
                with _capture_progress(quiet=quiet) as poll:
                    capture = analyze(files, poll=poll)
            except KeyboardInterrupt:
                raise Interrupted(f"interrupted: {interrupt.NOTHING}") from None
        _answer(capture, form)
        if draft is not None:
            draft.commit(capture)
            interrupt.keep(f"{out} is complete")
    if out is not None and not quiet:
        files_made = f"\nreport   {Path(out) / 'report.html'}\npicture  {Path(out) / 'sequence.svg'}"
        click.echo(files_made, err=form != "table")


def _sweep(
    plan: "Plan",
    out: str | None,
    *,
    keep_failed: bool,
    allow_mixed: bool,
    workers: int | None,
    client: Any,
    quiet: bool,
) -> "Sweep":
    """Make the runs of `plan`, keep them in `out`."""
    from anabranch.sweeps.execute import make
    from anabranch.sweeps.results import Memory
    from anabranch.sweeps.store import Store, StoreError

    keep: Memory | Store = Memory(plan)
    if out is not None:
        keep = Store.open(out, plan, command=_command_line(), allow_mixed=allow_mixed)
    with contextlib.closing(keep), interrupt.raising():
        try:
            with _sweep_progress(quiet=quiet) as progress:
                make(keep, keep_failed=keep_failed, workers=workers, client=client, progress=progress)
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted: {_kept(keep, out)}") from None
        except ClusterError as error:
            raise ClusterError(f"{error}; {_kept(keep, out)}" if keep.statuses else str(error)) from None
        except StoreError as error:
            raise StoreError(error.errno, f"{error.strerror}; {_kept(keep, out)}", out) from None
        if out is not None:
            interrupt.keep(f"{out} holds all runs, but not the table made of them; the same command makes it")
        done = keep.finish()
        if out is not None:
            from anabranch.sweeps import report

            interrupt.keep(f"{out} holds all runs, but not all of its report; `anabranch plot {out}` makes it")
            file = report.write(done, out)
            interrupt.keep(f"{out} is complete")
    if out is not None and not quiet:
        click.echo(f"report   {file}", err=True)
    return done


def _command_line() -> str:
    return visible(shlex.join(["anabranch", *click.get_current_context().obj]))


def _study(study: "Study", *, quick: bool, only: tuple[str, ...], out: str, quiet: bool) -> None:
    """Run a study, answer with its sentences, then with the names of its files."""
    from anabranch.study import run as steps

    started = time.monotonic()
    task = steps.Task(study, quick, only)
    plans = task.plans()
    opened = steps.stores(task, out, plans, _command_line())
    drawing = steps.Drawing(task, opened)
    with interrupt.raising():
        try:
            drawing.start()
            with _sweep_progress(quiet=quiet) as progress:
                steps.execute(opened, progress, drawing.over)
        except KeyboardInterrupt:
            done = sum(len(store.statuses) for store in opened.values())
            raise Interrupted(
                f"interrupted: {units.count(done, 'run')} kept in {out}; the same command goes on from there"
            ) from None
    interrupt.keep(f"{out} holds all runs, but not all of what is made of them; the same command makes it")
    data = drawing.finish()
    made = []
    for product in steps.products(task, data, out, drawing.files):
        made.append(product)
        if only and not quiet:
            click.echo(str(product[1]))
    if not only:
        again = ["anabranch", "study", study.name, *(["--quick"] if quick else []), "--out", out]
        provenance = next(iter(opened.values())).provenance
        report = steps.write_report(task, data, made, out, provenance, command=again, started=started)
        if not quiet:
            texts = [study.opening(data), *study.findings(data)]
            click.echo("\n\n".join(textwrap.fill(text, _width()) for text in texts))
            click.echo(f"\nreport   {report}")
    interrupt.keep(f"{out} is complete")


def _width() -> int:
    return min(100, shutil.get_terminal_size().columns)


def _kept(keep: "Memory | Store", out: str | None) -> str:
    if out is None:
        return interrupt.NOTHING
    done = sum((cell.sha256, seed) in keep.statuses for cell, seed in keep.plan.runs())
    return f"{done} of {keep.plan.total} runs are kept in {out}; the same command goes on from there"


@contextlib.contextmanager
def _sweep_progress(*, quiet: bool, name: str = "") -> "Iterator[SweepProgress | None]":
    if quiet:
        yield None
        return
    from anabranch.progress import SweepProgress

    with SweepProgress(name=name) as progress:
        yield progress


def _signed(result: "Run") -> "Run":
    """`result` with the command line in its provenance."""
    from dataclasses import replace

    return replace(result, provenance=result.provenance.with_command(click.get_current_context().obj))


def _answer(result: "Run | Capture", form: str) -> None:
    from anabranch import tables

    if form == "json":
        click.echo(json.dumps(result.summary, indent=2, allow_nan=False))  # ASCII, whatever the terminal's encoding
    elif form == "csv":
        click.echo(tables.subflow_csv(result), nl=False)
    elif form == "table":
        click.echo(str(result))
    sys.stdout.flush()


def _read(file: str, changes: Sequence[str]) -> Scenario:
    if file == "-":
        try:
            scenario = Scenario.from_toml(sys.stdin.buffer.read().decode("utf-8-sig"), name="<stdin>")
        except UnicodeDecodeError as error:
            raise click.UsageError(f"standard input is not UTF-8 text (octet {error.start})") from None
    else:
        inside = Path(file) / "scenario.toml"
        if inside.is_file():
            raise ResultError(f"{file}: a directory; its scenario is {inside}")
        scenario = Scenario.load(file)
    for change in changes:
        scenario = _changed(scenario, change)
    return scenario


def _changed(scenario: Scenario, change: str) -> Scenario:
    return scenario.set(*_change(change))


def _change(change: str) -> tuple[str, str]:
    """Key and value of ``--set``."""
    key, equals, value = change.partition("=")
    if not equals or not key.strip():
        raise click.UsageError(f'--set: {change!r} is not KEY=VALUE, such as path.1.delay="200 ms"')
    return key.strip(), value.strip()


@contextlib.contextmanager
def _progress(*, quiet: bool) -> "Iterator[Progress | None]":
    """A progress line for the engine to call, or None where nobody would see it."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from anabranch.progress import Progress

    with Progress() as progress:
        yield progress


@contextlib.contextmanager
def _capture_progress(*, quiet: bool) -> "Iterator[CaptureProgress | None]":
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from anabranch.progress import CaptureProgress

    with CaptureProgress() as progress:
        yield progress


@contextlib.contextmanager
def _engine(kept: str, *, quiet: bool) -> "Iterator[Progress | None]":
    """Run the engine: with a progress line, and ready to be interrupted, of which `kept` is left."""
    with interrupt.raising():
        try:
            with _progress(quiet=quiet) as poll:
                yield poll
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted: {kept}") from None


def _why_differs(stored: "Run", again: "Run", *, touched: bool) -> str:
    if touched:
        return "scenario.toml is not the text that was run"
    if _maker(stored) != _maker(again):
        return (
            f"it was made by {_maker(stored)}, this is {_maker(again)}; only the same version must give the same trace"
        )
    return "version and scenario are the same: this is a fault of Anabranch, please report it"


def _maker(run: "Run") -> str:
    made = run.provenance
    return f"version {made.version}" + (f" ({made.commit})" if made.commit else "")


def _replace(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    draft = path.with_name(f".{path.name}.partial")
    try:
        draft.write_bytes(content)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def run_command(arguments: list[str]) -> int:
    """Run the command line and return its exit status."""
    try:
        status = cli.main(arguments, prog_name="anabranch", standalone_mode=False, obj=list(arguments))
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has gone
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _FAILED
    except SystemExit:
        raise
    except BaseException as error:
        if "--debug" in arguments:
            traceback.print_exc()
        message, status = _explain(error)
        click.echo(visible(message, keep="\n"), err=True)
    return status if isinstance(status, int) else 0


def _explain(error: BaseException) -> tuple[str, int]:
    """What to tell of `error`, in one to three lines, and the exit status."""
    match error:
        case click.UsageError():
            command = error.ctx.command_path if error.ctx else "anabranch"
            message = error.format_message()
            return f"{command}: {message[:1].lower()}{message[1:].rstrip('.')}\ntry: {command} --help", _BAD_INPUT
        case click.ClickException():
            return error.format_message(), error.exit_code
        case KeyboardInterrupt() | click.Abort():
            return f"interrupted: {interrupt.NOTHING}", interrupt.STATUS
        case _core.ScenarioError() | _core.CaptureError() | ResultError() | MissingError() | ClusterError():
            return str(error), _BAD_INPUT
        case ModuleNotFoundError() if not (error.name or "anabranch").startswith("anabranch"):
            return missing(error), _BAD_INPUT
        case UnicodeEncodeError() if found := _NOT_UTF8.search(error.object):
            return f"{found[0]}: not a name in UTF-8; give the file or folder another one", _BAD_INPUT
        case OSError() if error.filename is not None:
            return f"{error.filename}: {why(error)}", _BAD_INPUT
        case OSError() if error.errno in FULL:  # all files are named where they are written
            return "standard output: no space left", _BAD_INPUT
        case OSError():
            return str(error), _BAD_INPUT
        case _:
            return (
                f"internal error: {type(error).__name__}: {error}\n"
                "this is a fault of Anabranch; `--debug` shows where it happened",
                _FAILED,
            )
