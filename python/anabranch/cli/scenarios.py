"""`new`, `trace`, `check`: scenarios before they are run."""

import dataclasses
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from anabranch import _core
from anabranch.algorithms.base import KINDS
from anabranch.cli.common import is_sweep, key_and_value, read_scenario, set_option
from anabranch.cli.group import Choice, cli
from anabranch.execution import interrupt
from anabranch.measures import units
from anabranch.sentences import tools as say
from anabranch.sentences.escape import visible

if TYPE_CHECKING:
    from anabranch.sweeps.estimate import Estimate


@cli.command()
@click.option("--sweep", "as_sweep", is_flag=True, help="Print a sweep file instead: a scenario with axes and seeds.")
@click.option(
    "--algorithm",
    "kind",
    type=Choice(KINDS),
    help="Print a short Python file with an algorithm of this kind instead.",
)
def new(as_sweep: bool, kind: str | None) -> None:
    """Print a commented scenario as a starting point."""
    if as_sweep and kind is not None:
        raise click.UsageError(say.ONE_KIND())
    if kind is not None:
        from anabranch.conformance.template import template

        click.echo(template(kind), nl=False)
    elif as_sweep:
        from anabranch.sweeps.template import TEXT

        click.echo(TEXT, nl=False)
    else:
        click.echo(_core.template(), nl=False)


@cli.group(invoke_without_command=True)
@click.option(
    "--rate",
    "rates",
    metavar="RATE",
    multiple=True,
    default=("1 Mbit/s", "4 Mbit/s", "12 Mbit/s", "30 Mbit/s"),
    show_default=True,
    help="Rate of one state of the link. Repeat it, in the order of the states.",
)
@click.option("--dwell", metavar="TIME", default="500 ms", show_default=True, help="Mean time in each state.")
@click.option("--duration", metavar="TIME", default="30 s", show_default=True, help="Length of the trace.")
@click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(min=0, max=2**63 - 1),
    default=1,
    show_default=True,
    help="Seed of the random numbers.",
)
@click.pass_context
def trace(ctx: click.Context, rates: tuple[str, ...], dwell: str, duration: str, seed: int) -> None:
    """Print a synthetic trace of a cellular link.

    The trace is for the key `trace` of a link; `anabranch trace import` converts measurements.

    The rate moves from state to state, up or down by one. Each line is a millisecond at which 1500 octets may pass
    (the format of Mahimahi).
    """
    if ctx.invoked_subcommand is None:
        click.echo("\n".join(map(str, _core.synthetic_trace(rates, dwell, duration, seed))))


@trace.command("import")
@click.argument("file")
@click.option(
    "--kind",
    required=True,
    metavar="KIND",
    help="Format of FILE: goodput, ping, lens, errant, mahimahi or iperf3. docs/links.md describes the columns.",
)
@click.option("--column", metavar="NAME", help="Column with the rate or the round-trip time.")
@click.option("--time", metavar="NAME", help="Column with the time.")
@click.option(
    "--unit",
    metavar="UNIT",
    help="Unit of the rates: bit/s, kbit/s, Mbit/s, Gbit/s, B/s, kB/s, MB/s or GB/s.  [default: that of the column, "
    "else Mbit/s]",
)
@click.option("--step", metavar="TIME", help="Time from row to row, if the rows have no times.")
@click.option(
    "--where", metavar="COLUMN=VALUE", multiple=True, help="Use only rows with VALUE in COLUMN. May be repeated."
)
@click.option(
    "--gaps",
    metavar="WHAT",
    help="What a gap in the rows means. refuse: an error; zero: no rate, or loss; hold: the last value.  [default: "
    "refuse]",
)
@click.option("--from", "begin", metavar="TIME", help="Start of the part to import.  [default: 0 s]")
@click.option("--length", metavar="TIME", help="Length of the part to import.  [default: to the end]")
@click.option(
    "--resolution", metavar="TIME", help="Leave out changes of the delay that are smaller than TIME.  [default: 500 us]"
)
def import_trace(file: str, kind: str, where: tuple[str, ...], **options: str | None) -> None:
    """Convert the measurements in FILE for a link of a scenario.

    Rates become a file for the key `trace`. Round-trip times and profiles become keys of a [[path]], in TOML. If FILE
    is a table, standard error lists its columns that were not used; for goodput and ping, also those that were used.
    """
    from anabranch import traces

    chosen = dict(key_and_value(pair, "--where", "operator=telia") for pair in where)
    found = traces.load(file, kind, where=chosen, **options)
    for note in found.notes:
        click.echo(visible(note), err=True)
    click.echo(found.text, nl=False)


@cli.command()
@click.argument("file")
@set_option
@click.option("--json", "as_json", is_flag=True, help="Print every value, including defaults, in SI units.")
@click.option("--expand", is_flag=True, help="Print the scenario with [topology] and [traffic] written out.")
def check(file: str, changes: tuple[str, ...], as_json: bool, expand: bool) -> None:
    """Validate the scenario in FILE without running it.

    "-" reads the scenario from standard input. For a sweep file, print the number of cells and runs and an estimate of
    their duration.
    """
    if file != "-" and is_sweep(file):
        if changes or expand:
            option, remedy = ("--set", say.SET_IN_SWEEP) if changes else ("--expand", say.EXPAND_SCENARIO)
            raise click.UsageError(say.NOT_FOR_SWEEP(option=option, file=file, remedy=remedy))
        _check_sweep(file, as_json=as_json)
        return
    scenario = read_scenario(file, changes)
    resolved = scenario.check()
    for warning in resolved.get("warnings", []):
        click.echo(say.WARNING(what=warning), err=True)
    if as_json:
        click.echo(json.dumps(resolved, indent=2, allow_nan=False))
        return
    if expand:
        click.echo(scenario.expanded().toml, nl=False)
        return
    connections = resolved["connections"]
    paths = sum(len(connection["paths"]) for connection in connections)
    click.echo(say.VALID(name=scenario.name, count=len(connections), paths=paths))
    for line in _in_force(resolved):
        click.echo(line)


def _check_sweep(file: str, *, as_json: bool) -> None:
    """Validate every cell of a sweep and say what it would take."""
    from anabranch.sweeps.document import read
    from anabranch.sweeps.estimate import estimate
    from anabranch.sweeps.refusals import by_axis

    plan = read(file)
    with interrupt.raising():
        found = estimate(plan)
    refused = [cell for cell in plan.distinct if cell.error]
    all_refused = sum(bool(cell.error) for cell in plan.cells)
    if as_json:
        told = {
            "axes": {name: [point.label for point in points] for name, points in plan.axes.items()},
            "cells": len(plan.cells),
            "refused": [{"cell": dict(cell.labels), "error": cell.error} for cell in refused],
            "seeds": list(plan.seeds),
            "most_seeds": None if plan.precision is None else plan.precision.cap,
            "runs": plan.total,
            "estimate": dataclasses.asdict(found),
        }
        click.echo(json.dumps(told, indent=2, allow_nan=False))
        return
    counts = {"cells": len(plan.cells), "seeds": len(plan.seeds), "runs": plan.total}
    click.echo(say.VALID_SWEEP(name=file, **counts, duration=_long(found)))
    if plan.precision is not None:
        more = plan.precision.cap * len(plan.distinct)
        click.echo(say.MORE_SEEDS(seeds=plan.precision.cap, runs=more))
    for name, points in plan.axes.items():
        click.echo(visible(say.AXIS(axis=name, choices=", ".join(str(point.label) for point in points))))
    same = len(plan.cells) - len(plan.distinct)
    if same:
        click.echo(say.REPEATED(count=same))
    if refused:
        first = visible(by_axis(refused[0], plan.axes).splitlines()[0])
        click.echo(say.REFUSED(count=all_refused, cells=len(plan.cells), error=first))


def _long(found: "Estimate") -> str:
    """Returns how long a sweep takes, in words."""
    if found.seconds is None:
        return say.LASTS_UNKNOWN()
    of = {"threads": found.threads, "runs": found.tried}
    if found.seconds < 1:
        return say.LASTS_LITTLE(**of)
    return say.LASTS(time=units.time(float(f"{found.seconds:.2g}")), **of)


_BBR = "bbr"
"""The controller that reduces cwnd itself, so that the key `reduction` has no effect."""


def _in_force(resolved: Mapping[str, Any]) -> Iterator[str]:
    """What finds the losses and reduces the window, in a line for all connections alike."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for connection, force in zip(resolved["connections"], resolved["in_force"], strict=True):
        if force is not None:
            wanted, controller = connection["detector"], connection["controller"]
            reduction = say.BY_CONTROLLER(controller=controller) if controller == _BBR else force["reduction"]
            key = (connection["profile"], force["detector"], reduction, wanted)
            alike.setdefault(key, []).append(connection["name"])
    for (profile, detector, reduction, wanted), names in alike.items():
        name = names[0] if len(names) == 1 else say.CONNECTIONS(count=len(names))
        values = {"name": name, "profile": profile, "detector": detector, "reduction": reduction}
        yield say.IN_FORCE(**values) if detector == wanted else say.IN_FORCE_NO_SACK(**values, wanted=wanted)
