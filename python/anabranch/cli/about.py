"""`list`, `doctor`: what this installation can do, and whether it does."""

import json
from typing import Any

import click

from anabranch import _core
from anabranch.cli.common import width
from anabranch.cli.group import EXIT_FAILED, cli
from anabranch.cli.listing import described
from anabranch.sentences import tools as say
from anabranch.sentences.nearest import hint


@cli.command(name="list")
@click.argument("kind", required=False)
@click.argument("table", required=False)
@click.option(
    "--long", is_flag=True, help="Also show meaning, source, requirements, validation and parameters of each algorithm."
)
@click.option("--json", "as_json", is_flag=True, help="Print the list as one JSON object.")
@click.option("--schema", is_flag=True, help="With `keys`: print a JSON schema of scenarios for editors.")
def list_(kind: str | None, table: str | None, long: bool, as_json: bool, schema: bool) -> None:
    """List what a scenario can name.

    These are algorithms, profiles, middleboxes, links and keys. With KIND, such as `links`, show the details of each
    algorithm, link or other item of this kind. `anabranch list keys` shows every key of a scenario; TABLE, such as
    `connection` or `path`, limits it to the keys of one table.
    """
    if kind in ("key", "keys"):
        _keys(table, as_json=as_json, schema=schema)
        return
    if table is not None or schema:
        raise click.UsageError(say.OF_KEYS(what="a TABLE" if table is not None else "--schema"))
    registry: dict[str, list[dict[str, Any]]] = json.loads(_core.registry())
    if kind is not None:
        one = kind if kind in registry else kind.removesuffix("s").removesuffix("e" if kind == "middleboxes" else "")
        if one not in registry:
            unknown = say.NO_KIND(kind=repr(kind), choices=", ".join([*registry, "keys"]))
            raise click.BadParameter(f"{unknown}{hint(one, registry)}")
        registry, long = {one: registry[one]}, True
    if as_json:
        click.echo(json.dumps(registry, indent=2))
    elif long:
        all_of_them = ((kind, entry) for kind, entries in registry.items() for entry in entries)
        click.echo("\n\n".join(described(kind, entry, width()) for kind, entry in all_of_them))
    else:
        longest = max(map(len, registry))
        for each, entries in registry.items():
            click.echo(f"{each:{longest}}  {', '.join(entry['name'] for entry in entries)}")


def _keys(table: str | None, *, as_json: bool, schema: bool) -> None:
    from anabranch.measures import scenario_keys

    known = scenario_keys.tables()
    if table is not None and table not in known:
        unknown = say.NO_TABLE(table=repr(table), choices=", ".join(known))
        raise click.BadParameter(f"{unknown}{hint(table, known)}")
    if schema:
        click.echo(json.dumps(scenario_keys.schema(), indent=2))
    elif as_json:
        click.echo(json.dumps([key for key in scenario_keys.every() if table in (None, key["table"])], indent=2))
    else:
        click.echo("\n\n".join(scenario_keys.listed(name, width()) for name in known if table in (None, name)))


@cli.command()
def doctor() -> int:
    """Check that this installation works."""
    from anabranch.install.doctor import examine

    sound = True
    for finding in examine():
        click.echo(f"{'ok  ' if finding.ok else 'FAIL'}  {finding.what:12} {finding.detail}")
        sound = sound and finding.ok
    click.echo(say.SOUND() if sound else say.UNSOUND())
    return 0 if sound else EXIT_FAILED
