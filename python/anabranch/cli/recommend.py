"""`recommend`: how to use given paths."""

import contextlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anabranch import interrupt
from anabranch.cli.common import Interrupted, key_and_value, set_option, table_width, wide_option, width
from anabranch.cli.group import Choice, cli
from anabranch.cli.lines import search_progress
from anabranch.sentences import common

if TYPE_CHECKING:
    from anabranch.recommendation import Recommendation


@cli.command()
@click.option(
    "--path",
    "paths",
    metavar="PATH",
    multiple=True,
    required=True,
    help='A path: "5 Mbit/s, 100 ms", or a link of `anabranch list links`; further keys may follow: ", loss 1 %". '
    "Repeat it.",
)
@click.option(
    "--goal",
    type=Choice(["throughput", "latency", "memory"]),
    default="throughput",
    show_default=True,
    help="The most goodput; or the least head-of-line delay or reordering buffer with 90 % of the best goodput.",
)
@click.option(
    "--direction",
    type=Choice(["down", "up", "both"]),
    help="down: the server sends; up: the client sends.  [default: down]",
)
@click.option(
    "--receiver",
    type=Choice(["independent", "coupled"]),
    default="independent",
    show_default=True,
    help="Whether a subflow's acknowledgement waits for data order: RFC 8684, or the rule of the papers' model.",
)
@click.option(
    "--transfer", metavar="AMOUNT", help='What is sent: "10 MB", "20 s".  [default: long enough for the paths]'
)
@click.option(
    "--budget", metavar="S", type=float, help="Seconds after which the search ends.  [default: 30, with --runs none]"
)
@click.option(
    "--runs",
    metavar="N",
    type=int,
    help="Runs after which the search ends: the same N gives the same answer on every machine.",
)
@click.option("--seed", metavar="N", type=int, default=1, show_default=True, help="The first seed.")
@set_option
@click.option(
    "--candidate",
    "candidates",
    metavar="C",
    multiple=True,
    help='No search, only these: "coupled, none, min-rtt, 512 kB[, detector=ncr][, backup=path1]", '
    '"cubic, none, alone=path0, unlimited". May be repeated.',
)
@click.option(
    "--only", metavar="NAME", multiple=True, help="Of the kind that NAME is of, try nothing else. May be repeated."
)
@click.option("--without", metavar="NAME", multiple=True, help="Do not try NAME. May be repeated.")
@click.option("--seeds", metavar="N", type=int, help="Runs of each --candidate.  [default: 8]")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as one JSON object.")
@click.option("--out", metavar="DIR", help="Write numbers, report and the recommended scenario to DIR.")
@wide_option
@click.option("--quiet", is_flag=True, help="No text and no progress line.")
def recommend(  # the options of the command
    paths: tuple[str, ...],
    goal: str,
    direction: str | None,
    receiver: str,
    transfer: str | None,
    budget: float | None,
    runs: int | None,
    seed: int,
    changes: tuple[str, ...],
    candidates: tuple[str, ...],
    only: tuple[str, ...],
    without: tuple[str, ...],
    seeds: int | None,
    as_json: bool,
    out: str | None,
    wide: bool,
    quiet: bool,
) -> None:
    """Find out how to use given paths: controller, scheduler, judge, detector and receive buffer, or one path alone.

    Every scheduler is tried with the default controller, then every controller with the best scheduler. The best is
    compared with plain TCP over each path, in pairs of runs with fresh seeds, and then with what differs from it in
    one part. Nothing is recommended on fewer than 5 pairs, or while an interval is wide. Ctrl-C ends the search, and
    what was found until then counts.
    """
    from anabranch.recommendation.result import recommend as found_by

    with contextlib.ExitStack() as stack:
        draft = None
        if out is not None:
            from anabranch.recommendation.report import RecommendationDraft

            draft = stack.enter_context(RecommendationDraft(out, click.get_current_context().obj))
            stack.enter_context(interrupt.undoing(draft.discard))
        with interrupt.raising():
            try:
                with search_progress(quiet=quiet) as progress:
                    found = found_by(
                        paths,
                        goal=goal,
                        direction=direction,
                        transfer=transfer,
                        receiver=receiver,
                        changes=dict(key_and_value(change) for change in changes),
                        budget=budget,
                        runs=runs,
                        seed=seed,
                        candidates=candidates,
                        seeds=seeds,
                        only=only,
                        without=without,
                        progress=progress,
                    )
            except KeyboardInterrupt:
                raise Interrupted(f"interrupted: {interrupt.NOTHING}") from None
        _tell(found, as_json=as_json, wide=wide, quiet=quiet)
        if draft is not None:
            draft.commit((found.summary, found.scenario))
            interrupt.keep(f"{out} is complete")
    if out is not None and not quiet:
        click.echo(f"\nreport   {Path(out) / 'report.html'}", err=as_json)
    if found.interrupted:
        raise Interrupted(common.INTERRUPTED())


def _tell(found: "Recommendation", *, as_json: bool, wide: bool, quiet: bool) -> None:
    """Print the answer."""
    if as_json:
        click.echo(json.dumps(found.summary, indent=2, allow_nan=False))
    elif not quiet:
        click.echo(found.text(width(), table_width(wide=wide)))
    sys.stdout.flush()
