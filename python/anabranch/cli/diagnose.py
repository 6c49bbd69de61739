"""`diagnose`: why it was not faster, from captures or from a result."""

import contextlib
import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anabranch.cli.common import Interrupted, force_option, spare, table_width, wide_option, write_events
from anabranch.cli.group import cli
from anabranch.cli.lines import capture_progress, twin_progress
from anabranch.execution import interrupt
from anabranch.results.directory import naming
from anabranch.results.drafts import whole
from anabranch.sentences import common
from anabranch.sentences import diagnose as say
from anabranch.sentences.escape import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from anabranch.diagnosis import Diagnosis


def _rolling() -> "Callable[[Diagnosis], None]":
    """Writes a line for each connection to stderr, so that stdout has the diagnosis of the whole and nothing else."""
    from anabranch.diagnosis.rolling import Rolling

    rolling = Rolling()

    def tell(found: "Diagnosis") -> None:
        for line in rolling.lines(found.summary):
            click.echo(visible(line), err=True)

    return tell


_EVERY = 10.0
_SHORTEST = 0.1
"""Seconds of --every: a line for each connection says nothing of less, and costs as much as a whole diagnosis."""


def _check(sources: "Sequence[str]", *, follow: bool, every: float | None, qlog: str | None, quiet: bool) -> None:
    """Options that contradict each other, or what is diagnosed."""
    of_folder = len(sources) == 1 and Path(sources[0]).is_dir()
    if every is not None and not follow:
        raise click.UsageError(say.EVERY_ALONE())
    if every is not None and not (_SHORTEST <= every < math.inf):
        raise click.UsageError(say.NO_INTERVAL(value=f"{every:g}", least=f"{_SHORTEST:g}"))
    if follow and quiet:
        raise click.UsageError(say.FOLLOW_QUIET())
    if follow and of_folder:
        raise click.UsageError(say.FOLLOW_FOLDER(source=sources[0]))
    if qlog is not None and "-" in sources:
        raise click.UsageError(say.QLOG_STDIN())
    if qlog is not None and of_folder:
        raise click.UsageError(say.QLOG_FOLDER(source=sources[0]))


def _given(pairs: "Sequence[str]") -> dict[int | str, str]:
    """The capacities of ``--capacity PATH=RATE``."""
    found: dict[int | str, str] = {}
    for pair in pairs:
        name, equals, rate = (part.strip() for part in pair.partition("="))
        if not (name and equals and rate):
            raise click.UsageError(say.NO_PAIR(pair=pair))
        if name in found:
            raise click.UsageError(say.SECOND_CAPACITY(pair=pair, path=name, rate=found[name]))
        found[name] = rate
    return found


def _found(
    sources: "Sequence[str]",
    *,
    every: float | None,
    follow: bool,
    twin: bool,
    seeds: int,
    capacity: "dict[int | str, str]",
    quiet: bool,
) -> "Diagnosis":
    """The diagnosis, with a progress line or, of one that is followed, lines on the error stream."""
    from anabranch.diagnosis import diagnose as found_by

    told = _rolling() if follow else None
    every = _EVERY if every is None else every
    with interrupt.raising():
        try:
            with capture_progress(quiet=quiet or follow) as poll, twin_progress(quiet=quiet) as watch:
                return found_by(
                    sources,
                    poll=poll,
                    every=every,
                    told=told,
                    twin=twin,
                    seeds=seeds,
                    watch=watch,
                    capacity=capacity,
                )
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted: {interrupt.NOTHING}") from None


@cli.command()
@click.argument("sources", metavar="CAPTURE...", nargs=-1, required=True)
@click.option("--out", metavar="DIR", help="Write the diagnosis as JSON and a report to DIR.")
@force_option
@click.option(
    "--twin",
    metavar="FILE",
    help="Write the twin to FILE: the scenario that the capture implies, with the source of each line.",
)
@click.option(
    "--seeds",
    metavar="N",
    type=click.IntRange(0),
    help="Try changes on the twin with N seeds each. 0 tries none.  [default: 20 with --twin, else 0]",
)
@click.option(
    "--capacity",
    metavar="PATH=RATE",
    multiple=True,
    help='Capacity of a path that you know, from a speed test for example, such as 0="80 Mbit/s". PATH is its number '
    "in the table of the connection with the most data, or its client's address. May be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the diagnosis as one JSON object.")
@wide_option
@click.option("--follow", is_flag=True, help="While the capture grows, print a line for each connection every 10 s.")
@click.option("--every", type=float, metavar="SECONDS", help="Interval of --follow.  [default: 10]")
@click.option(
    "--qlog", metavar="FILE", help="Write every segment to FILE as a qlog event, with the number of its subflow."
)
@click.option("--quiet", is_flag=True, help="Print neither text nor a progress line.")
def diagnose(
    sources: tuple[str, ...],
    out: str | None,
    force: bool,
    twin: str | None,
    seeds: int | None,
    capacity: tuple[str, ...],
    as_json: bool,
    wide: bool,
    follow: bool,
    every: float | None,
    qlog: str | None,
    quiet: bool,
) -> None:
    """Show why a transfer was not faster.

    Prints the capacity of the paths, the main cause and a possible remedy.

    CAPTURE is a pcap or pcapng file from the sender or the receiver; give several files if there are more. `-` reads
    standard input. CAPTURE may also be one folder that `run --out` or `analyze --out` wrote.

    With --twin, fit a scenario to the capture and try changes on it: pacing, backup, fewer paths, buffers, controller,
    scheduler, queues. Ctrl-C ends the trials and keeps their results.
    """
    _check(sources, follow=follow, every=every, qlog=qlog, quiet=quiet)
    from anabranch.diagnosis.remedies import SEEDS

    tries = (SEEDS if twin else 0) if seeds is None else seeds
    if twin is not None:
        spare(twin, sources)
    if qlog is not None:
        spare(qlog, sources, "--qlog", force=force)
    with contextlib.ExitStack() as stack:
        draft = None
        if out is not None:
            from anabranch.diagnosis.report import DiagnosisDraft

            draft = stack.enter_context(
                DiagnosisDraft(out, click.get_current_context().obj, list(sources), force=force)
            )
            stack.enter_context(interrupt.undoing(draft.discard))
        found = _found(
            sources, every=every, follow=follow, twin=twin is not None, seeds=tries, capacity=_given(capacity),
            quiet=quiet,
        )  # fmt: skip
        if as_json:
            click.echo(json.dumps(found.summary, indent=2, allow_nan=False))
        elif not quiet:
            click.echo(found.text(table_width(wide=wide)))
        sys.stdout.flush()
        if twin is not None and found.twin is not None:
            with naming(twin), whole(twin) as place:
                place.write_text(found.twin, encoding="utf-8", newline="\n")
        if draft is not None:
            draft.commit((found.summary, found.capture))
            interrupt.keep(f"{out} is complete")
    if qlog is not None:
        write_events(sources, qlog)
    if twin is not None and not quiet:
        click.echo(f"\ntwin     {twin}", err=as_json)
    if out is not None and not quiet:
        click.echo(f"\nreport   {Path(out) / 'report.html'}", err=as_json)
    if found.interrupted:
        raise Interrupted(common.INTERRUPTED())
