"""`recommend`: how to use given paths."""

import contextlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anabranch.cli.common import Interrupted, key_and_value, set_option, table_width, wide_option, width
from anabranch.cli.group import Choice, cli
from anabranch.cli.lines import search_progress
from anabranch.execution import interrupt
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
    help='Rate and one-way delay of a path, such as "5 Mbit/s, 100 ms", or a link of `anabranch list links`. More '
    'keys may follow, such as ", loss 1 %". Repeat it for each path.',
)
@click.option(
    "--goal",
    type=Choice(["throughput", "latency", "memory"]),
    default="throughput",
    show_default=True,
    help="Highest goodput; or lowest head-of-line delay or smallest reordering buffer with at least 90 % of the best "
    "goodput.",
)
@click.option(
    "--direction",
    type=Choice(["down", "up", "both"]),
    help="Direction of the data. down: the server sends; up: the client sends; both: both send at once.  [default: "
    "down]",
)
@click.option(
    "--receiver",
    type=Choice(["independent", "coupled"]),
    default="independent",
    show_default=True,
    help="Acknowledgement rule of the receiver. coupled: a subflow acknowledges a segment only when the segment is in "
    "order in the data stream; independent: RFC 8684.",
)
@click.option(
    "--transfer",
    metavar="AMOUNT",
    help='Amount or duration of the transfer, such as "10 MB" or "20 s".  [default: a time that suits the paths]',
)
@click.option(
    "--budget",
    metavar="TIME",
    help='Time limit of the search, such as "2 min"; without a unit in seconds.  [default: 30 s; none with --runs or '
    "--candidate]",
)
@click.option(
    "--runs",
    metavar="N",
    type=int,
    help="Number of runs after which the search ends. In one version, the same N and --seed give the same answer on "
    "every machine.",
)
@click.option("--seed", metavar="N", type=int, default=1, show_default=True, help="First seed.")
@set_option
@click.option(
    "--candidate",
    "candidates",
    metavar="C",
    multiple=True,
    help="Compare only given candidates, with plain TCP over each path beside them. C has the form "
    '"coupled, none, min-rtt, 512 kB[, detector=ncr][, backup=path1]" or "cubic, none, alone=path0, unlimited". May be '
    "repeated.",
)
@click.option(
    "--only", metavar="NAME", multiple=True, help="Among algorithms of the same kind, try only NAME. May be repeated."
)
@click.option("--without", metavar="NAME", multiple=True, help="Do not try NAME. May be repeated.")
@click.option("--seeds", metavar="N", type=int, help="Number of runs of each --candidate.  [default: 8]")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as one JSON object.")
@click.option("--out", metavar="DIR", help="Write the answer as JSON, a report and the recommended scenario to DIR.")
@wide_option
@click.option("--quiet", is_flag=True, help="Print neither text nor a progress line.")
def recommend(  # the options of the command
    paths: tuple[str, ...],
    goal: str,
    direction: str | None,
    receiver: str,
    transfer: str | None,
    budget: str | None,
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
    """Recommend a configuration for given paths.

    A configuration is a controller, a scheduler, a judge, a detector and a receive buffer, or plain TCP over one path.

    The search tries the schedulers with the default controller, then the controllers with the best scheduler. It
    compares the best candidate with plain TCP over each path, in pairs of runs with fresh seeds. Then it compares
    the best candidate with candidates that differ in one part. A recommendation needs narrow intervals and 5 pairs of
    runs, or 10 if all runs are identical although the scenario is random. Ctrl-C ends the search; its results until
    then count.
    """
    from anabranch.recommendation.command import budget_seconds
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
                        budget=None if budget is None else budget_seconds(budget),
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
