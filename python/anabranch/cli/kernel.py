"""`compare-kernel`: a scenario on Anabranch and on Linux."""

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anabranch.cli.common import read_scenario, set_option
from anabranch.cli.group import Choice, cli
from anabranch.sentences import tools as say

if TYPE_CHECKING:
    from anabranch.kernel.beside import Beside


@cli.command("compare-kernel")
@click.argument("file", metavar="SCENARIO")
@set_option
@click.option(
    "--runs",
    type=click.IntRange(1, 1000),
    default=3,
    show_default=True,
    help="Number of runs of Linux, and of Anabranch if --vary is given or the scenario has random loss or delay "
    "variation; else Anabranch runs once.",
)
@click.option(
    "--vary",
    metavar="SHARE",
    help='Change rates and delays by up to SHARE, such as "3 %", from run to run, equally on both sides, and compare '
    "distributions.",
)
@click.option(
    "--without",
    multiple=True,
    type=Choice(["prr", "rack", "quick-acks", "hystart"]),
    help="Switch off this TCP feature of the Linux kernel in the runs of Linux. Anabranch does not change. May be "
    "repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as one JSON object.")
@click.option("--pcap", metavar="DIR", help="Write the captures at both ends of each run to DIR.")
@click.option(
    "--out",
    metavar="DIR",
    help="Write DIR/anabranch and DIR/linux (for `compare` and `plot`), DIR/beside.svg, DIR/kernel.json (what --json "
    "prints) and DIR/captures (of the first run of Linux).",
)
@click.option("--quiet", is_flag=True, help="Print no progress lines.")
def compare_kernel(
    file: str,
    changes: tuple[str, ...],
    runs: int,
    vary: str | None,
    without: tuple[str, ...],
    as_json: bool,
    pcap: str | None,
    out: str | None,
    quiet: bool,
) -> None:
    """Compare runs of SCENARIO by Anabranch and by Linux.

    Both run in virtual time. tools/kernel-oracle/build builds the kernel once. The kernel is Linux 6.1, or 6.12 for the
    profile linux-6.18. Anabranch behaves like Linux only with a Linux profile: `--set connection.profile=linux`.
    """
    from anabranch.kernel.beside import compare_kernel as compare

    scenario = read_scenario(file, changes)
    share = 0.0 if vary is None else _share(vary)
    if share and runs < _FEW:
        raise click.UsageError(say.FEW_RUNS(runs=_FEW))
    with tempfile.TemporaryDirectory(prefix="anabranch-captures-") as scratch:
        captures = Path(pcap) if pcap else Path(scratch) if out else None
        told = (lambda _: None) if quiet else (lambda line: click.echo(line, err=True))
        found = compare(scenario, runs=runs, without=without, pcap=captures, vary=share, told=told)
        click.echo(json.dumps(found.to_json(), indent=2) if as_json else str(found))
        if out is not None:
            _write(Path(out), found, captures or Path(scratch))


_FEW = 4
"""Fewer runs on each side cannot be told apart, whatever they are: there are too few ways to deal them."""


def _share(text: str) -> float:
    """A share such as ``3 %`` as a number; UsageError if it is none between 0 and 50 %."""
    number, percent, rest = text.partition("%")
    try:
        share = float(number) / (100 if percent else 1)
    except ValueError:
        share = float("nan")
    if rest.strip() or not 0 < share <= 0.5:
        raise click.UsageError(say.NO_SHARE(value=repr(text)))
    return share


def _write(folder: Path, found: "Beside", captures: Path) -> None:
    from anabranch.captures.capture import analyze
    from anabranch.plots.beside import beside
    from anabranch.plots.files import picture

    folder.mkdir(parents=True, exist_ok=True)
    found.first.save(folder / "anabranch")
    kept = folder / "captures"
    kept.mkdir(exist_ok=True)
    files = []
    for name in ("client.pcap", "server.pcap"):
        (kept / name).write_bytes((captures / "linux-1" / name).read_bytes())
        files.append(kept / name)
    theirs = analyze(files)
    theirs.save(folder / "linux")
    (folder / "beside.svg").write_bytes(
        picture(lambda ax: beside(found.first.subflows, theirs.subflows, ax=ax), "svg", {})
    )
    (folder / "kernel.json").write_text(json.dumps(found.to_json(), indent=2) + "\n", encoding="utf-8")
