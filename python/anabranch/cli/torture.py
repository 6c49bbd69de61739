"""`torture`: random scenarios, each held to what must be true of any run."""

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from anabranch import _core
from anabranch.cli.common import read_scenario
from anabranch.cli.group import EXIT_FAILED, cli
from anabranch.execution import interrupt
from anabranch.results.directory import ResultError, why
from anabranch.sentences import tools as say

_MOST = 2**63 - 1


@cli.command()
@click.argument("file", required=False)
@click.option("--runs", metavar="N", type=click.IntRange(1), default=1000, show_default=True, help="Number of runs.")
@click.option("--seed", metavar="S", type=click.IntRange(0, _MOST), default=0, help="Number (seed) of the first run.")
@click.option(
    "--jobs", metavar="J", type=click.IntRange(1, 1024), help="Number of parallel runs.  [default: one per processor]"
)
@click.option("--minutes", metavar="M", type=click.FloatRange(0, min_open=True), help="Start no run after M minutes.")
@click.option("--first", is_flag=True, help="Stop at the first failure.")
@click.option("--table", metavar="FILE", help="Write which features occurred, alone and in pairs, to FILE as JSON.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
@click.option("--quiet", is_flag=True, help="Print no progress line, and no text unless a run fails.")
def torture(
    file: str | None,
    runs: int,
    seed: int,
    jobs: int | None,
    minutes: float | None,
    first: bool,
    table: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Run random scenarios and check invariants of each run.

    One invariant is that every octet arrives once and in order. docs/torture.md lists the checks. The number of a run
    determines its scenario within one version. A scenario that fails is reduced and printed with the command that
    repeats it; the exit status is then 1. With FILE, check the scenario in FILE instead.
    """
    if file is not None:
        return _examined(file)
    report = _campaign(runs, seed, jobs or os.cpu_count() or 1, minutes, first=first, quiet=quiet)
    if table is not None:
        try:
            Path(table).write_text(json.dumps(report["table"], indent=1) + "\n", "utf-8")
        except OSError as error:
            raise ResultError(f"{table}: {why(error)}") from None
    if as_json:
        click.echo(json.dumps(report, indent=2))
    elif not quiet or report["failures"]:
        click.echo("\n\n".join(_told(report)))
    sys.stdout.flush()
    if report["stopped"]:
        click.echo(say.STOPPED(next=report["next"]), err=True)
        return interrupt.status()
    return EXIT_FAILED if report["failures"] else 0


def _examined(file: str) -> int:
    scenario = read_scenario(file, ())
    broken = _core.examine(scenario.toml, file)
    if broken is None:
        click.echo(say.HOLDS(file=file))
        return 0
    click.echo(say.BROKEN(file=file, name=broken[0], what=broken[1]))
    return EXIT_FAILED


def _campaign(runs: int, seed: int, jobs: int, minutes: float | None, *, first: bool, quiet: bool) -> dict[str, Any]:
    seconds = None if minutes is None else 60 * minutes
    with _progress(runs, quiet=quiet) as poll, interrupt.raising():
        told = _core.torture(seed, runs, jobs, seconds, first_failure=first, poll=poll)
    return {"version": _core.version(), "commit": _core.commit(), "seed": seed, **json.loads(told)}


@contextlib.contextmanager
def _progress(runs: int, *, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A progress line, or None where nobody would see it."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from anabranch.execution.progress import Line

    def poll(done: int, failures: int) -> None:
        line.show(lambda seconds: say.PROGRESS(count=done, runs=runs, failures=failures, time=f"{seconds:.0f}"))

    with Line() as line:
        yield poll


def _told(report: dict[str, Any]) -> Iterator[str]:
    """The report for people, in paragraphs."""
    for failure in report["failures"]:
        yield say.FAILURE(
            number=failure["number"],
            name=failure["invariant"],
            what=failure["what"],
            error=failure["says"],
            scenario=failure["scenario"].strip(),
        )
    table = report["table"]
    values = {
        "first": report["seed"],
        "last": report["next"] - 1,
        "runs": report["runs"],
        "time": f"{report['seconds']:.1f}",
        "rate": f"{report['runs'] / max(report['seconds'], 1e-9):.0f}",
        "large": report["large"],
        "wide": report["wide"],
        "repeated": report["repeated"],
        "events": report["events"],
        "amount": report["bytes"],
        "features": len(table["features"]),
        "pairs": table["pairs_met"],
        "total": table["pairs_possible"],
        "failures": len(report["failures"]),
    }
    yield "\n  ".join(line(**{name: values[name] for name in line.names()}) for line in say.RUNS)
