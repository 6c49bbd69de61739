"""The command line. Tables go to standard output, everything else a person may want to know to standard error.

Exit status: 0 done (also when `duration` was reached or the transfer stalled), 1 a proof failed (``replay``,
``doctor``, content that differs), 2 bad input, 130 interrupted.
"""

import contextlib
import json
import os
import shlex
import shutil
import sys
import textwrap
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anabranch import _core, interrupt
from anabranch.scenario import Scenario
from anabranch.store import Draft, ResultError

if TYPE_CHECKING:
    from anabranch.progress import Progress, SweepProgress
    from anabranch.results import Run
    from anabranch.study.base import Study
    from anabranch.sweeps import Plan, Sweep
    from anabranch.sweeps.execute import Record

_BAD_INPUT = 2
_FAILED = 1

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
    default="anabranch-demo",
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
@click.argument("file")
@_set_option
@click.option("--json", "as_json", is_flag=True, help="Print every value, defaults included, in SI units.")
def check(file: str, changes: tuple[str, ...], as_json: bool) -> None:
    """Validate the scenario in FILE ("-" reads standard input) without running it."""
    scenario = _read(file, changes)
    resolved = scenario.check()
    for warning in resolved.get("warnings", []):
        click.echo(f"warning: {warning}", err=True)
    if as_json:
        click.echo(json.dumps(resolved, indent=2, allow_nan=False))
        return
    connections = resolved["connections"]
    count = len(connections)
    paths = sum(len(connection["paths"]) for connection in connections)
    click.echo(
        f"{scenario.name}: valid: {count} connection{'' if count == 1 else 's'}, "
        f"{paths} path{'' if paths == 1 else 's'}"
    )


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
@click.option("--quiet", is_flag=True, help="No table and no progress line.")
def run(
    file: str,
    seed: int | None,
    changes: tuple[str, ...],
    out: str | None,
    as_json: bool,
    as_csv: bool,
    trace: str | None,
    quiet: bool,
) -> int:
    """Run the scenario in FILE ("-" reads standard input) and answer with a table.

    Without --out and --trace nothing is written.
    """
    if as_json and as_csv:
        raise click.UsageError("--json and --csv exclude each other")
    if trace is not None and file != "-" and Path(trace).resolve() == Path(file).resolve():
        raise click.UsageError(f"--trace {trace} would overwrite the scenario")
    form = "json" if as_json else "csv" if as_csv else "none" if quiet else "table"
    return _run(_read(file, changes), seed=seed, out=out, trace=trace, form=form, quiet=quiet)


@cli.command()
@click.argument("file", metavar="SWEEP.toml")
@click.option("--seeds", metavar="N", type=click.IntRange(1), help="Seeds 1 to N, instead of the file's.")
@click.option("--out", metavar="DIR", help="Keep the runs in DIR; those that are there are not made again.")
@click.option("--csv", "as_csv", is_flag=True, help="Print one row per run as CSV.")
@click.option("--quiet", is_flag=True, help="No table and no progress line.")
def sweep(file: str, seeds: int | None, out: str | None, as_csv: bool, quiet: bool) -> int:
    """Run a scenario with every combination of the values in SWEEP.toml.

    Without --out nothing is written. After Ctrl-C the same command goes on where it was interrupted.
    """
    from anabranch.sweeps import execute, read

    plan = read(file, seeds=seeds)
    done = _sweep(plan, out, quiet=quiet)
    if as_csv:
        done.runs.to_csv(sys.stdout, index=False, lineterminator="\n")
    elif not quiet:
        click.echo(str(done))
    sys.stdout.flush()
    return _FAILED if (done.runs["status"] == execute.FAILED).any() else 0


@cli.command()
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--list", "as_list", is_flag=True, help="List the studies.")
@click.option("--quick", is_flag=True, help="One seed, and only the main tables and figures.")
@click.option(
    "--only", metavar="NAME", multiple=True, help="Only this table or figure, such as fig-10. May be repeated."
)
@click.option("--out", metavar="DIR", help="Where to put runs, tables, figures and report.  [default: NAME]")
@click.option("--quiet", is_flag=True, help="No text and no progress line.")
def study(name: str | None, as_list: bool, quick: bool, only: tuple[str, ...], out: str | None, quiet: bool) -> None:
    """Run a paper's experiments and put the paper's numbers beside them.

    Runs that are in DIR already are not made again, so the same command goes on where it was interrupted.
    """
    from anabranch import study as studies

    if as_list:
        width = max(map(len, studies.names()))
        for known in studies.names():
            click.echo(f"{known:{width}}  {studies.find(known).summary}")
        return
    if name not in studies.names():
        what = "name a study" if name is None else f"unknown study {name!r}"
        raise click.UsageError(f"{what}; there are: {', '.join(studies.names())}")
    chosen = studies.find(name)
    for part in only:
        if part not in chosen.tables and part not in chosen.figures:
            raise click.UsageError(
                f"--only: {part!r} is not a part of {name}; its tables and figures: "
                f"{', '.join([*chosen.tables, *chosen.figures])}"
            )
    _study(chosen, quick=quick, only=only, out=name if out is None else out, quiet=quiet)


@cli.command(name="list")
@click.option("--long", is_flag=True, help="Say what each one does, its source, its needs and how it was validated.")
@click.option("--json", "as_json", is_flag=True, help="Print all of it as one JSON object.")
def list_(long: bool, as_json: bool) -> None:
    """List the algorithms a scenario may name."""
    registry: dict[str, list[dict[str, Any]]] = json.loads(_core.registry())
    if as_json:
        click.echo(json.dumps(registry, indent=2))
    elif long:
        click.echo("\n\n".join(_described(kind, entry) for kind, entries in registry.items() for entry in entries))
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
@click.option("--out", metavar="FOLDER", help="Where to put the figures, instead of DIR itself.")
def plot(directory: str, names: tuple[str, ...], form: str, out: str | None) -> None:
    """Draw the figures of the result in DIR again.

    Without --figure and --out the report is made again, too.
    """
    from anabranch.plots import FIGURES, image, render
    from anabranch.report import report_html
    from anabranch.store import REPORT, load

    for name in names:
        if name not in FIGURES:
            raise click.UsageError(f"--figure: {name!r} is not a figure; choices: {', '.join(FIGURES)}")
    result = load(directory)
    folder = Path(directory if out is None else out)
    folder.mkdir(parents=True, exist_ok=True)
    files = [(f"{name}.{form}", image(result, name, form)) for name in names or FIGURES]
    if not names and out is None:
        files.append((REPORT, report_html(result, render(result), directory).encode()))
    for name, content in files:
        _replace(folder / name, content)
        click.echo(str(folder / name))


@cli.command()
@click.argument("directory", metavar="DIR")
def replay(directory: str) -> int:
    """Run the stored scenario of the result in DIR again and prove that the trace is the same."""
    from anabranch.store import load, untouched

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
def compare(first: str, second: str) -> None:
    """Show two results beside each other and what differs between their scenarios."""
    from anabranch.compare import compare as compared
    from anabranch.store import load

    click.echo(compared(load(first), load(second), (first, second)))


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
    form: str = "table",
    quiet: bool = False,
) -> int:
    """Run, answer on standard output, then write what was asked for."""
    with contextlib.ExitStack() as stack:
        draft = None
        if out is not None:
            draft = stack.enter_context(Draft(out))
            stack.enter_context(interrupt.undoing(draft.discard))
        with _engine(f"{trace} holds the events until then" if trace else interrupt.NOTHING, quiet=quiet) as poll:
            result = scenario.run(seed, trace=trace, poll=poll)
        if trace is not None:
            interrupt.keep(f"{trace} is complete")
        _answer(result, form)
        if draft is not None:
            draft.commit(_signed(result))
            interrupt.keep(f"{out} is complete")
    if out is not None and not quiet:
        files = f"\nreport   {Path(out) / 'report.html'}\npicture  {Path(out) / 'cwnd.svg'}"
        click.echo(files, err=form != "table")
    if not result.summary["content_ok"]:
        click.echo("what arrived is not what was sent: this is a fault of the engine, please report it", err=True)
        return _FAILED
    return 0


def _sweep(plan: "Plan", out: str | None, *, quiet: bool) -> "Sweep":
    """Make the runs of `plan`, keep them in `out`."""
    from anabranch.sweeps.execute import Record, make
    from anabranch.sweeps.results import Sweep

    records: dict[str, Record] = {}
    store = None
    if out is not None:
        from anabranch.sweeps.store import Store

        store = Store.open(out, plan, command=shlex.join(["anabranch", *click.get_current_context().obj]))
        records = store.records()
    with interrupt.raising():
        try:
            with _sweep_progress(quiet=quiet) as progress:
                make(plan, records, store, progress=progress)
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted: {_kept(plan, records, out)}") from None
    done = Sweep.of(plan, records, None if store is None else store.provenance)
    if store is not None:
        interrupt.keep(f"{out} holds all runs, but not the frames made of them; the same command makes them")
        store.finish(done)
        interrupt.keep(f"{out} is complete")
    return done


def _study(study: "Study", *, quick: bool, only: tuple[str, ...], out: str, quiet: bool) -> None:
    """Run a study, answer with its sentences, then with the names of its files."""
    from anabranch.study import run as steps

    started = time.monotonic()
    task = steps.Task(study, quick, only)
    plans = task.plans()
    opened = steps.stores(task, out, plans, shlex.join(["anabranch", *click.get_current_context().obj]))
    records: dict[str, dict[str, Record]] = {}
    early = steps.Early(task)
    with interrupt.raising():
        try:
            early.start()
            with _sweep_progress(quiet=quiet) as progress:
                steps.execute(plans, opened, records, progress)
        except KeyboardInterrupt:
            done = sum(len(found) for found in records.values())
            raise Interrupted(
                f"interrupted: {done} runs are kept in {out}; the same command goes on from there"
            ) from None
    interrupt.keep(f"{out} holds all runs, but not all of what is made of them; the same command makes it")
    data = steps.data_of(study, plans, opened, records)
    made = []
    for product in steps.products(task, data, out, early):
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


def _kept(plan: "Plan", records: "Mapping[str, Record]", out: str | None) -> str:
    if out is None:
        return interrupt.NOTHING
    keys = {cell.key(seed) for cell, seed in plan.runs()}
    done = sum(key in records for key in keys)
    return f"{done} of {len(keys)} runs are kept in {out}; the same command goes on from there"


@contextlib.contextmanager
def _sweep_progress(*, quiet: bool, name: str = "") -> "Iterator[SweepProgress | None]":
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from anabranch.progress import SweepProgress

    with SweepProgress(name=name) as progress:
        yield progress


def _signed(result: "Run") -> "Run":
    """`result` with the command line in its provenance."""
    from dataclasses import replace

    return replace(result, provenance=result.provenance.with_command(click.get_current_context().obj))


def _answer(result: "Run", form: str) -> None:
    from anabranch import tables

    if form == "json":
        click.echo(json.dumps(result.summary, indent=2, allow_nan=False))  # ASCII, whatever the terminal's encoding
    elif form == "csv":
        click.echo(tables.subflow_csv(result), nl=False)
    elif form == "table":
        click.echo(tables.run_table(result))
    sys.stdout.flush()


def _read(file: str, changes: Sequence[str]) -> Scenario:
    if file == "-":
        try:
            scenario = Scenario.from_toml(sys.stdin.buffer.read().decode("utf-8-sig"), name="<stdin>")
        except UnicodeDecodeError as error:
            raise click.UsageError(f"standard input is not UTF-8 text (octet {error.start})") from None
    else:
        scenario = Scenario.load(file)
    for change in changes:
        key, equals, value = change.partition("=")
        if not equals or not key.strip():
            raise click.UsageError(f'--set: {change!r} is not KEY=VALUE, such as path.1.delay="200 ms"')
        scenario = scenario.set(key.strip(), value.strip())
    return scenario


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


def _described(kind: str, entry: dict[str, Any]) -> str:
    width = _width()
    lines = [f"{kind} {entry['name']}"]
    for key in ("summary", "source", "needs", "validated"):
        text = entry.get(key) or "nothing"
        lines += textwrap.wrap(text, width, initial_indent=f"  {key:11}", subsequent_indent=" " * 13)
    return "\n".join(lines)


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
        click.echo(message, err=True)
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
        case _core.ScenarioError() | ResultError():
            return str(error), _BAD_INPUT
        case OSError() if error.filename is not None:
            return f"{error.filename}: {(error.strerror or str(error)).lower()}", _BAD_INPUT
        case OSError():
            return str(error), _BAD_INPUT
        case _:
            return (
                f"internal error: {type(error).__name__}: {error}\n"
                "this is a fault of Anabranch; `--debug` shows where it happened",
                _FAILED,
            )
