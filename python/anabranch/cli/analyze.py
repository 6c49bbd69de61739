"""`analyze`: captures measured as runs are."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import click

from anabranch.cli.common import (
    Interrupted,
    answer,
    force_option,
    format_option,
    spare,
    table_width,
    wide_option,
    write_events,
)
from anabranch.cli.group import Choice, cli
from anabranch.cli.lines import capture_progress
from anabranch.execution import interrupt
from anabranch.sentences import analyze as say


@cli.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option(
    "--protocol", type=Choice(["mptcp", "tcp"]), help="Measure only connections of this protocol.  [default: both]"
)
@click.option("--out", metavar="DIR", help="Write the summary, data frames, figures and a report to DIR.")
@force_option
@click.option(
    "--qlog", metavar="FILE", help="Write every segment to FILE as a qlog event, with the number of its subflow."
)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object.")
@click.option("--csv", "as_csv", is_flag=True, help="Print one row per subflow as CSV.")
@format_option("csv")
@wide_option
@click.option("--quiet", is_flag=True, help="Print neither text nor a progress line.")
def analyze(
    files: tuple[str, ...],
    protocol: Literal["mptcp", "tcp"] | None,
    out: str | None,
    force: bool,
    qlog: str | None,
    as_json: bool,
    as_csv: bool,
    form: str | None,
    wide: bool,
    quiet: bool,
) -> None:
    """Measure MPTCP and TCP connections in captures.

    Captures are pcap or pcapng files. The measures have the definitions of `anabranch run`. Several files count as one
    capture, of several interfaces or of both ends.
    """
    if as_json + as_csv + (form is not None) > 1:
        raise click.UsageError(say.ONE_FORM)
    form = form or ("json" if as_json else "csv" if as_csv else "none" if quiet else "text")
    if qlog is not None and "-" in files:
        raise click.UsageError(say.QLOG_TWICE)
    if qlog is not None:
        spare(qlog, files, "--qlog", force=force)
    _analyze(files, protocol=protocol, out=out, force=force, form=form, wide=wide, quiet=quiet)
    if qlog is not None:
        write_events(files, qlog)


def _analyze(
    files: Sequence[str],
    *,
    protocol: Literal["mptcp", "tcp"] | None,
    out: str | None,
    force: bool,
    form: str,
    wide: bool,
    quiet: bool,
) -> None:
    """Analyse, answer on standard output, then write what was asked for."""
    from anabranch.captures.capture import analyze

    with contextlib.ExitStack() as stack:
        draft = None
        if out is not None:
            from anabranch.captures.report import CaptureDraft

            draft = stack.enter_context(CaptureDraft(out, click.get_current_context().obj, list(files), force=force))
            stack.enter_context(interrupt.undoing(draft.discard))
        with interrupt.raising():
            try:
                with capture_progress(quiet=quiet) as poll:
                    capture = analyze(files, protocol=protocol, poll=poll)
            except KeyboardInterrupt:
                raise Interrupted(f"interrupted: {interrupt.NOTHING}") from None
        answer(capture, form, table_width(wide=wide))
        if draft is not None:
            draft.commit(capture)
            interrupt.keep(f"{out} is complete")
    if out is not None and not quiet:
        files_made = f"\nreport   {Path(out) / 'report.html'}\npicture  {Path(out) / 'sequence.svg'}"
        click.echo(files_made, err=form != "text")
