"""`diagnose`: why it was not faster, from captures or from a result."""

import contextlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anabranch import interrupt
from anabranch.cli.common import Interrupted, spare
from anabranch.cli.group import cli
from anabranch.cli.lines import capture_progress, twin_progress
from anabranch.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from anabranch.diagnosis import Diagnosis


def _rolling() -> "Callable[[Diagnosis], None]":
    """Writes a line for each connection to stderr, so that stdout has the diagnosis of the whole and nothing else."""
    from anabranch.diagnosis.rolling import Rolling

    rolling = Rolling()

    def tell(found: "Diagnosis") -> None:
        for line in rolling.lines(found.summary):
            click.echo(visible(line), err=True)

    return tell


@cli.command()
@click.argument("sources", metavar="CAPTURE...", nargs=-1, required=True)
@click.option("--out", metavar="DIR", help="Write numbers and report to DIR.")
@click.option(
    "--twin", metavar="FILE", help="Write the scenario that the capture implies, with the ground of each line."
)
@click.option(
    "--seeds",
    metavar="N",
    type=click.IntRange(0),
    help="Try on the twin what could be changed, with N seeds each; 0: do not.  [default: 20 with --twin, else 0]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the diagnosis as one JSON object.")
@click.option(
    "--follow", is_flag=True, help="Say every 10 s of the capture what they were like, as long as it goes on."
)
@click.option(
    "--every",
    type=click.FloatRange(0, min_open=True),
    default=10.0,
    metavar="SECONDS",
    help="With --follow: how often.",
)
@click.option("--quiet", is_flag=True, help="No text and no progress line.")
def diagnose(
    sources: tuple[str, ...],
    out: str | None,
    twin: str | None,
    seeds: int | None,
    as_json: bool,
    follow: bool,
    every: float,
    quiet: bool,
) -> None:
    """Say why a transfer was not faster: what each path could do, and where the time went.

    CAPTURE is a pcap or pcapng file of the sender, of the receiver, or several of both; `-` is standard input. Or one
    folder that `run --out` or `analyze --out` wrote.

    With --twin it makes the scenario that the capture implies, and tries on it what could be changed: buffers,
    controller, scheduler, queues, backup, which path first, one path only. Ctrl-C ends that and keeps what was found.
    """
    from anabranch.diagnosis import diagnose as found_by
    from anabranch.diagnosis.remedies import SEEDS

    tries = (SEEDS if twin else 0) if seeds is None else seeds
    if twin is not None:
        spare(twin, sources)
    with contextlib.ExitStack() as stack:
        draft = None
        if out is not None:
            from anabranch.diagnosis.report import DiagnosisDraft

            draft = stack.enter_context(DiagnosisDraft(out, click.get_current_context().obj))
            stack.enter_context(interrupt.undoing(draft.discard))
        with interrupt.raising():
            try:
                with capture_progress(quiet=quiet or follow) as poll, twin_progress(quiet=quiet) as watch:
                    told = _rolling() if follow else None
                    found = found_by(
                        sources, poll=poll, every=every, told=told, twin=twin is not None, seeds=tries, watch=watch
                    )
            except KeyboardInterrupt:
                raise Interrupted(f"interrupted: {interrupt.NOTHING}") from None
        if as_json:
            click.echo(json.dumps(found.summary, indent=2, allow_nan=False))
        elif not quiet:
            click.echo(str(found))
        sys.stdout.flush()
        if twin is not None and found.twin is not None:
            Path(twin).write_text(found.twin, encoding="utf-8", newline="\n")
        if draft is not None:
            draft.commit(found.summary)
            interrupt.keep(f"{out} is complete")
    if twin is not None and not quiet:
        click.echo(f"\ntwin     {twin}", err=as_json)
    if out is not None and not quiet:
        click.echo(f"\nreport   {Path(out) / 'report.html'}", err=as_json)
    if found.interrupted:
        raise Interrupted("interrupted: what is said above was found until then")
