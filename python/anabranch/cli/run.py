"""`demo`, `run`: one run of one scenario."""

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anabranch import interrupt
from anabranch.cli.common import answer, format_option, read_scenario, set_option, table_width, wide_option
from anabranch.cli.group import EXIT_FAILED, cli
from anabranch.cli.lines import engine
from anabranch.scenario import Scenario

if TYPE_CHECKING:
    from anabranch.results import Run

_DEMO_TITLE = "two unlike paths, 5 Mbit/s with 100 ms and 2 Mbit/s with 10 ms"


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
@click.argument("file")
@click.option(
    "--seed", metavar="N", type=click.IntRange(0, 2**63 - 1), help="Seed of all randomness, instead of the scenario's."
)
@set_option
@click.option("--out", metavar="DIR", help="Write summary, series, figures and report to DIR.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object.")
@click.option("--csv", "as_csv", is_flag=True, help="Print one row per subflow as CSV.")
@format_option("csv")
@wide_option
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
    form: str | None,
    wide: bool,
    trace: str | None,
    pcap: str | None,
    quiet: bool,
) -> int:
    """Run the scenario in FILE ("-" reads standard input) and answer with a table.

    Without --out, --trace and --pcap nothing is written.
    """
    if as_json + as_csv + (form is not None) > 1:
        raise click.UsageError("--json, --csv and --format exclude each other")
    if trace is not None and file != "-" and Path(trace).resolve() == Path(file).resolve():
        raise click.UsageError(f"--trace {trace} would overwrite the scenario")
    form = form or ("json" if as_json else "csv" if as_csv else "none" if quiet else "text")
    return _run(
        read_scenario(file, changes), seed=seed, out=out, trace=trace, pcap=pcap, form=form, wide=wide, quiet=quiet
    )


def _run(
    scenario: Scenario,
    *,
    seed: int | None = None,
    out: str | None = None,
    trace: str | None = None,
    pcap: str | None = None,
    form: str = "text",
    wide: bool = False,
    quiet: bool = False,
) -> int:
    """Run, answer on standard output, then write what was asked for."""
    with contextlib.ExitStack() as stack:
        draft = None
        if out is not None:
            from anabranch.store import RunDraft

            draft = stack.enter_context(RunDraft(out))
            stack.enter_context(interrupt.undoing(draft.discard))
        files = [(name, what, _state(name)) for name, what in ((trace, "the events"), (pcap, "the packets")) if name]

        def kept() -> str:
            written = (f"{name} holds {what} until then" for name, what, before in files if _state(name) != before)
            return " and ".join(written) or interrupt.NOTHING

        with engine(kept, quiet=quiet) as poll:
            result = scenario.run(seed, trace=trace, pcap=pcap, poll=poll)
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
        click.echo("what arrived is not what was sent: this is a fault of the engine, please report it", err=True)
        return EXIT_FAILED
    return 0


def _state(name: str) -> tuple[int, int] | None:
    """Which file `name` is and when it was last written; None if there is none (yet)."""
    try:
        status = Path(name).stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def _signed(result: "Run") -> "Run":
    """`result` with the command line in its provenance."""
    return replace(result, provenance=result.provenance.with_command(click.get_current_context().obj))
