"""The command `anabranch`, which the modules beside this one give their commands to."""

from importlib import import_module
from typing import Any

import click

from anabranch import _core

EXIT_BAD_INPUT = 2
EXIT_FAILED = 1

MODULES = {
    "about": ("doctor", "list"),
    "analyze": ("analyze",),
    "diagnose": ("diagnose",),
    "kernel": ("compare-kernel",),
    "recommend": ("recommend",),
    "run": ("demo", "run"),
    "scenarios": ("check", "new", "trace"),
    "script": ("script",),
    "stored": ("compare", "plot", "replay"),
    "study": ("study",),
    "sweep": ("query", "sweep"),
    "torture": ("torture",),
}
"""Which module has which commands: it is loaded when one of them is asked for, so that each starts fast."""


class _Command(click.Command):
    """A command that takes ``--debug`` as well as the group does."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.append(debug_option(hidden=True))


class _Group(click.Group):
    command_class = _Command
    group_class: type[click.Group] | type[type] | None = type  # a group within is of this class, too


class _Commands(_Group):
    """All commands, by name."""

    group_class = _Group

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(name for names in MODULES.values() for name in names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        for module, names in MODULES.items():
            if cmd_name in names:
                import_module(f"anabranch.cli.{module}")
        return super().get_command(ctx, cmd_name)


def debug_option(*, hidden: bool) -> click.Option:
    """``--debug``; `run_command` looks for it itself, because parsing may be what fails."""
    return click.Option(
        ["--debug"],
        is_flag=True,
        expose_value=False,
        hidden=hidden,
        help="On an error show the Python traceback.",
    )


def _version(ctx: click.Context, _option: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        commit = _core.commit()
        click.echo(f"anabranch {_core.version()}" + (f" ({commit})" if commit else ""))
        ctx.exit()


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    params=[debug_option(hidden=False)],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version.")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """A multipath-TCP laboratory.

    Begin with `anabranch demo`; then `anabranch new > my.toml`, `anabranch run my.toml`.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
