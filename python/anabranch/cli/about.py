"""`list`, `doctor`: what this installation can do, and whether it does."""

import json
import textwrap
from typing import Any

import click

from anabranch import _core
from anabranch.cli.common import width
from anabranch.cli.group import EXIT_FAILED, cli


@cli.command(name="list")
@click.option("--long", is_flag=True, help="Say what each one does, its source, its needs and how it was validated.")
@click.option("--json", "as_json", is_flag=True, help="Print all of it as one JSON object.")
def list_(long: bool, as_json: bool) -> None:
    """List the algorithms a scenario may name."""
    registry: dict[str, list[dict[str, Any]]] = json.loads(_core.registry())
    if as_json:
        click.echo(json.dumps(registry, indent=2))
    elif long:
        click.echo("\n\n".join(_described(kind, entry) for kind, entries in registry.items() for entry in entries))
    else:
        width = max(map(len, registry))
        for kind, entries in registry.items():
            click.echo(f"{kind:{width}}  {', '.join(entry['name'] for entry in entries)}")


def _described(kind: str, entry: dict[str, Any]) -> str:
    lines = [f"{kind} {entry['name']}"]
    for key in ("summary", "source", "needs", "validated"):
        text = entry.get(key) or "nothing"
        lines += textwrap.wrap(text, width(), initial_indent=f"  {key:11}", subsequent_indent=" " * 13)
    return "\n".join(lines)


@cli.command()
def doctor() -> int:
    """Examine this installation by using it."""
    from anabranch.doctor import examine

    sound = True
    for finding in examine():
        click.echo(f"{'ok  ' if finding.ok else 'FAIL'}  {finding.what:12} {finding.detail}")
        sound = sound and finding.ok
    click.echo("everything works" if sound else "something does not work; see FAIL above")
    return 0 if sound else EXIT_FAILED
