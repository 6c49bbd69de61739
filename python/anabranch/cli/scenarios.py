"""`new`, `trace`, `check`: scenarios before they are run."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import click

from anabranch import _core, units
from anabranch.cli.common import key_and_value, read_scenario, set_option
from anabranch.cli.group import cli


@cli.command()
def new() -> None:
    """Print a commented scenario to begin with."""
    click.echo(_core.template(), nl=False)


@cli.group(invoke_without_command=True)
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
@click.pass_context
def trace(ctx: click.Context, rates: tuple[str, ...], dwell: str, duration: str, seed: int) -> None:
    """Print a synthetic trace of a cellular link, for `trace` in a scenario; or import measurements.

    The rate wanders among the states, up or down by one at a time; one line is a millisecond at which 1500 octets may
    pass (the format of mahimahi).
    """
    if ctx.invoked_subcommand is None:
        click.echo("\n".join(map(str, _core.synthetic_trace(rates, dwell, duration, seed))))


@trace.command("import")
@click.argument("file")
@click.option(
    "--kind",
    required=True,
    metavar="KIND",
    help="goodput, ping, lens, errant or mahimahi: docs/links.md has the columns.",
)
@click.option("--column", metavar="NAME", help="The column of the rate or of the round-trip time.")
@click.option("--time", metavar="NAME", help="The column of the time in s.")
@click.option("--unit", metavar="UNIT", help="Of rates: bit/s, kbit/s, Mbit/s, Gbit/s, kB/s, MB/s.  [default: Mbit/s]")
@click.option("--step", metavar="TIME", help="From row to row, where rows have no times.  [default: 1 s]")
@click.option("--where", metavar="COLUMN=VALUE", multiple=True, help="Only rows with this value. May be repeated.")
@click.option("--gaps", metavar="WHAT", help="Missing rows: refuse, zero (no rate, loss) or hold.  [default: refuse]")
@click.option("--from", "begin", metavar="TIME", help="Where the piece to import begins.  [default: 0 s]")
@click.option("--length", metavar="TIME", help="How long it is.  [default: to the end]")
@click.option("--resolution", metavar="TIME", help="Smaller changes of delay are left out.  [default: 500 us]")
def import_trace(file: str, kind: str, where: tuple[str, ...], **options: str | None) -> None:
    """Print what a link takes of the measurements in FILE.

    Rates become a file for `trace`; round-trip times and profiles become keys of a [[path]], in TOML.
    """
    from anabranch import traces

    chosen = dict(key_and_value(pair, "--where", "operator=telia") for pair in where)
    click.echo(traces.load(file, kind, where=chosen, **options).text, nl=False)


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
    for line in _in_force(resolved):
        click.echo(line)


def _in_force(resolved: Mapping[str, Any]) -> Iterator[str]:
    """What finds the losses and reduces the window, in a line for all connections alike."""
    alike: dict[str, list[str]] = {}
    for connection, force in zip(resolved["connections"], resolved["in_force"], strict=True):
        if force is not None:
            said = f"profile {connection['profile']}, detector {force['detector']}, reduction {force['reduction']}"
            if force["detector"] != connection["detector"]:
                said += f" ({connection['detector']} needs SACK)"
            alike.setdefault(said, []).append(connection["name"])
    for said, names in alike.items():
        yield f"{names[0] if len(names) == 1 else units.count(len(names), 'connection')}: {said}"
