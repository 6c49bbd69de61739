"""`new`, `trace`, `check`: scenarios before they are run."""

import json

import click

from anabranch import _core, units
from anabranch.cli.common import read_scenario, set_option
from anabranch.cli.group import cli


@cli.command()
def new() -> None:
    """Print a commented scenario to begin with."""
    click.echo(_core.template(), nl=False)


@cli.command()
@click.option(
    "--rate",
    "rates",
    metavar="RATE",
    multiple=True,
    default=("1 Mbit/s", "4 Mbit/s", "12 Mbit/s", "30 Mbit/s"),
    show_default=True,
    help="A state of the link; repeat it, in order.",
)
@click.option("--dwell", metavar="TIME", default="500 ms", show_default=True, help="Mean time in a state.")
@click.option("--duration", metavar="TIME", default="30 s", show_default=True, help="Length of the trace.")
@click.option("--seed", metavar="N", type=click.IntRange(min=0, max=2**63 - 1), default=1, show_default=True)
def trace(rates: tuple[str, ...], dwell: str, duration: str, seed: int) -> None:
    """Print a synthetic trace of a cellular link, for `trace` in a scenario.

    The rate wanders among the states, up or down by one at a time; one line is a millisecond at which 1500 octets may
    pass (the format of mahimahi).
    """
    click.echo("\n".join(map(str, _core.synthetic_trace(rates, dwell, duration, seed))))


@cli.command()
@click.argument("file")
@set_option
@click.option("--json", "as_json", is_flag=True, help="Print every value, defaults included, in SI units.")
@click.option("--expand", is_flag=True, help="Print the scenario with [topology] and [traffic] written out.")
def check(file: str, changes: tuple[str, ...], as_json: bool, expand: bool) -> None:
    """Validate the scenario in FILE ("-" reads standard input) without running it."""
    scenario = read_scenario(file, changes)
    resolved = scenario.check()
    for warning in resolved.get("warnings", []):
        click.echo(f"warning: {warning}", err=True)
    if as_json:
        click.echo(json.dumps(resolved, indent=2, allow_nan=False))
        return
    if expand:
        click.echo(scenario.expanded().toml, nl=False)
        return
    connections = resolved["connections"]
    paths = sum(len(connection["paths"]) for connection in connections)
    said = f"{units.count(len(connections), 'connection')}, {units.count(paths, 'path')}"
    click.echo(f"{scenario.name}: valid: {said}")
