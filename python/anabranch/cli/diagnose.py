"""`diagnose`: why it was not faster, from captures or from a result."""

import contextlib
import json
import sys
from pathlib import Path

import click

from anabranch import interrupt
from anabranch.cli.common import Interrupted
from anabranch.cli.group import cli
from anabranch.cli.lines import capture_progress


@cli.command()
@click.argument("sources", metavar="CAPTURE...", nargs=-1, required=True)
@click.option("--out", metavar="DIR", help="Write numbers and report to DIR.")
@click.option("--json", "as_json", is_flag=True, help="Print the diagnosis as one JSON object.")
@click.option("--quiet", is_flag=True, help="No text and no progress line.")
def diagnose(sources: tuple[str, ...], out: str | None, as_json: bool, quiet: bool) -> None:
    """Say why a transfer was not faster: what each path could do, and where the time went.

    CAPTURE is a pcap or pcapng file of the sender, of the receiver, or several of both; `-` is standard input. Or one
    folder that `run --out` or `analyze --out` wrote.
    """
    from anabranch.diagnosis import diagnose as found_by

    with contextlib.ExitStack() as stack:
        draft = None
        if out is not None:
            from anabranch.diagnosis.report import DiagnosisDraft

            draft = stack.enter_context(DiagnosisDraft(out, click.get_current_context().obj))
            stack.enter_context(interrupt.undoing(draft.discard))
        with interrupt.raising():
            try:
                with capture_progress(quiet=quiet) as poll:
                    found = found_by(sources, poll=poll)
            except KeyboardInterrupt:
                raise Interrupted(f"interrupted: {interrupt.NOTHING}") from None
        if as_json:
            click.echo(json.dumps(found.summary, indent=2, allow_nan=False))
        elif not quiet:
            click.echo(str(found))
        sys.stdout.flush()
        if draft is not None:
            draft.commit(found.summary)
            interrupt.keep(f"{out} is complete")
    if out is not None and not quiet:
        click.echo(f"\nreport   {Path(out) / 'report.html'}", err=as_json)
