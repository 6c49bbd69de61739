"""`recommend`: how to use given paths."""

import click

from anabranch import interrupt
from anabranch.cli.common import Interrupted, key_and_value, set_option, width
from anabranch.cli.group import cli
from anabranch.cli.lines import search_progress


@cli.command()
@click.option(
    "--path",
    "paths",
    metavar="PATH",
    multiple=True,
    required=True,
    help='A path: "5 Mbit/s, 100 ms", or "wifi 11g 54, 30 m"; further keys may follow: ", loss 1 %". Repeat it.',
)
@click.option(
    "--goal",
    type=click.Choice(["throughput", "latency", "memory"]),
    default="throughput",
    show_default=True,
    help="The most goodput; or the least head-of-line delay or reordering buffer with nine tenths of that.",
)
@click.option(
    "--receiver",
    type=click.Choice(["independent", "coupled"]),
    default="independent",
    show_default=True,
    help="Whether a subflow's acknowledgement waits for data order: RFC 8684, or the rule of the papers' model.",
)
@click.option(
    "--transfer", metavar="AMOUNT", help='What is sent: "10 MB", "20 s".  [default: long enough for the paths]'
)
@click.option("--budget", metavar="S", type=click.FloatRange(min=0), default=30.0, show_default=True, help="Seconds.")
@set_option
@click.option(
    "--candidate",
    "candidates",
    metavar="C",
    multiple=True,
    help='No search, only these: "coupled, none, min-rtt, 512 kB[, detector=ncr]". May be repeated.',
)
@click.option(
    "--only", metavar="NAME", multiple=True, help="Of the kind that NAME is of, try nothing else. May be repeated."
)
@click.option("--without", metavar="NAME", multiple=True, help="Do not try NAME. May be repeated.")
@click.option("--seeds", metavar="N", type=click.IntRange(1), help="Runs of each --candidate.  [default: 8]")
@click.option("--quiet", is_flag=True, help="No progress line.")
def recommend(
    paths: tuple[str, ...],
    goal: str,
    receiver: str,
    transfer: str | None,
    budget: float,
    changes: tuple[str, ...],
    candidates: tuple[str, ...],
    only: tuple[str, ...],
    without: tuple[str, ...],
    seeds: int | None,
    quiet: bool,
) -> None:
    """Find out how to use given paths: which controller, scheduler, judge, detector of loss and receive buffer.

    First every controller with every scheduler and two buffers, then every judge, detector and buffer around the
    best of them: with one seed, the better half with two, and so on, until --budget is spent. Delays of wired paths
    vary by 1 % unless a path says otherwise, so that seeds differ.
    """
    from anabranch.recommendation import answer, command

    if candidates and (only or without):
        raise click.UsageError("--only and --without choose what a search tries; --candidate is no search")
    if seeds is not None and not candidates:
        raise click.UsageError("--seeds belongs to --candidate; a search doubles the seeds by itself")
    scenario = command.scenario(paths, transfer, receiver, dict(key_and_value(change) for change in changes))
    with interrupt.raising():
        try:
            with search_progress(quiet=quiet) as progress:
                found = command.find(scenario, goal, candidates, seeds, budget, only, without, progress)
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted: {interrupt.NOTHING}") from None
    again = command.words(scenario, paths, goal, receiver, transfer, changes)
    click.echo(answer.text(found, again, width()))
