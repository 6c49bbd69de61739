"""`demo`, `run`: one run of one scenario."""

import contextlib
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anabranch._core import duration
from anabranch.cli.common import (
    answer,
    force_option,
    format_option,
    read_scenario,
    set_option,
    spare,
    spare_captures,
    spare_folder,
    table_width,
    wide_option,
)
from anabranch.cli.group import EXIT_FAILED, EXIT_NOTHING_ARRIVED, cli
from anabranch.cli.lines import engine
from anabranch.execution import interrupt
from anabranch.results.directory import ResultError
from anabranch.results.drafts import is_direct
from anabranch.scenario import Scenario, ScenarioError
from anabranch.sentences import run as say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anabranch.runs.run import Run

_EXIT_AFTER = 2.0
"""Seconds after ``--timeout`` until the command ends the process. A run may end before by itself, and say what it was
at."""


@cli.command()
@click.option(
    "--out",
    metavar="DIR",
    default="out/demo",
    show_default=True,
    help="Directory for the pictures and the report.",
)
@force_option
def demo(out: str, force: bool) -> int:
    """Run an example over two heterogeneous links.

    Prints a table; writes pictures and a report.
    """
    scenario = Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="20 MB")
    return _run(scenario.set("title", say.DEMO_TITLE()), out=out, force=force)


@cli.command()
@click.argument("file")
@click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(0, 2**63 - 1),
    help="Seed of the random numbers, instead of the scenario's.",
)
@set_option
@click.option("--out", metavar="DIR", help="Write the summary, the time series, figures and a report to DIR.")
@force_option
@click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object.")
@click.option("--csv", "as_csv", is_flag=True, help="Print one row per subflow as CSV.")
@format_option("csv")
@wide_option
@click.option("--trace", metavar="FILE", help="Write one row per protocol event to FILE.")
@click.option("--pcap", metavar="DIR", help="Write the packets of each interface to DIR, such as client-0.pcapng.")
@click.option("--timeout", metavar="TIME", help='Wall-clock time that the run may take, such as "30 s".')
@click.option("--quiet", is_flag=True, help="Print neither the table nor a progress line.")
def run(
    file: str,
    seed: int | None,
    changes: tuple[str, ...],
    out: str | None,
    force: bool,
    as_json: bool,
    as_csv: bool,
    form: str | None,
    wide: bool,
    trace: str | None,
    pcap: str | None,
    timeout: str | None,
    quiet: bool,
) -> int:
    """Run the scenario in FILE and print a table.

    "-" reads the scenario from standard input. Files are written only with --out, --trace and --pcap.
    """
    if as_json + as_csv + (form is not None) > 1:
        raise click.UsageError(say.ONE_FORM())
    if trace is not None and file != "-" and Path(trace).resolve() == Path(file).resolve():
        raise click.UsageError(say.TRACE_IS_SCENARIO(file=trace))
    if trace is not None:
        spare(trace, (), "--trace", force=force)
    if pcap is not None:
        spare_folder("--pcap", pcap)
    limit = None if timeout is None else _seconds(timeout)
    form = form or ("json" if as_json else "csv" if as_csv else "none" if quiet else "text")
    scenario = read_scenario(file, changes)
    if pcap is not None:
        spare_captures(pcap, scenario, force=force)
    return _run(
        scenario,
        seed=seed,
        out=out,
        force=force,
        trace=trace,
        pcap=pcap,
        timeout=limit,
        form=form,
        wide=wide,
        quiet=quiet,
    )


def _seconds(text: str) -> float:
    """The value of ``--timeout``."""
    try:
        seconds = duration(text)
    except ScenarioError as error:
        raise click.UsageError(f"--timeout: {error}") from None
    if not seconds > 0:
        raise click.UsageError(say.NO_TIME(value=text))
    return seconds


def _run(
    scenario: Scenario,
    *,
    seed: int | None = None,
    out: str | None = None,
    force: bool = False,
    trace: str | None = None,
    pcap: str | None = None,
    timeout: float | None = None,
    form: str = "text",
    wide: bool = False,
    quiet: bool = False,
) -> int:
    """Run, answer on standard output, then write what was asked for."""
    with contextlib.ExitStack() as stack:
        draft = None
        if out is not None:
            from anabranch.runs.store import RunDraft

            draft = stack.enter_context(RunDraft(out, partial(_is_same, scenario), force=force))
            stack.enter_context(interrupt.undoing(draft.discard))

        def kept() -> str:
            if trace is not None and is_direct(trace):
                return say.TRACE_KEPT(file=trace)
            return interrupt.NOTHING

        last = None if timeout is None else timeout + _EXIT_AFTER
        with (
            _writing(trace, pcap),
            engine(kept, quiet=quiet) as poll,
            interrupt.within(last, say.NO_END(value=f"{timeout or 0:g}")),
        ):
            result = scenario.run(seed, trace=trace, pcap=pcap, poll=poll, timeout=timeout)
        done = [name for name in (trace, pcap) if name is not None]
        if done:
            interrupt.keep(f"{' and '.join(done)} {'is' if len(done) == 1 else 'are'} complete")
        answer(result, form, table_width(wide=wide))
        if draft is not None:
            draft.commit(_signed(result))
            interrupt.keep(f"{out} is complete")
    if out is not None and not quiet:
        made = f"\nreport   {Path(out) / 'report.html'}\npicture  {Path(out) / 'cwnd.svg'}"
        click.echo(made, err=form != "text")
    if not result.summary["content_ok"] and not result.summary["bytes_altered"]:
        click.echo(say.ENGINE_FAULT(), err=True)
        return EXIT_FAILED
    return _arrival(result, form)


def _is_same(scenario: Scenario, stored: str) -> bool:
    """Returns True if the text of a stored scenario is `scenario`, whatever the seeds and titles are."""
    from anabranch.sweeps.plan import same_scenario

    scenario.check()
    try:
        return same_scenario(Scenario(stored), scenario)
    except ScenarioError:  # the stored one is of another version
        return False


def _arrival(result: "Run", form: str) -> int:
    """Returns the exit status; a transfer that delivered nothing is named, too, where no table does so."""
    from anabranch.runs.text import nothing_arrived

    missing = nothing_arrived(result.summary)
    if missing and form != "text":
        click.echo(missing, err=True)
    return EXIT_NOTHING_ARRIVED if missing else 0


@contextlib.contextmanager
def _writing(trace: str | None, pcap: str | None) -> "Iterator[None]":
    """Say of an error of the file system what could not be written."""
    try:
        yield
    except BrokenPipeError:  # whoever read the trace has gone
        raise
    except OSError as error:
        if trace is not None and error.filename == str(Path(trace)):
            raise ResultError(say.TRACE_FAILED(file=trace, error=error.strerror)) from None
        if pcap is not None and error.filename == str(Path(pcap)):
            raise ResultError(say.PCAP_FAILED(folder=pcap, error=error.strerror)) from None
        raise


def _signed(result: "Run") -> "Run":
    """`result` with the command line in its provenance."""
    return replace(result, provenance=result.provenance.with_command(click.get_current_context().obj))
