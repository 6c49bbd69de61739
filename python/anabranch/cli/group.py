"""The command `anabranch`, which the modules beside this one give their commands to."""

from importlib import import_module
from typing import Any

import click

from anabranch import _core
from anabranch.sentences.nearest import hint

EXIT_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_NOTHING_ARRIVED = 3

MODULES = {
    "about": ("doctor", "list"),
    "algorithm": ("check-algorithm",),
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


class Choice(click.Choice):  # type: ignore[type-arg]  # it takes a parameter from click 8.2 on
    """One of several words; a mistyped one is answered with the nearest."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the chosen word."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            self.fail(f"{error.message.rstrip('.')}{hint(str(value), map(str, self.choices))}", param, ctx)


class _Nearest(click.Command):
    """A command that answers a mistyped option with the nearest one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            known = [name for option in self.get_params(ctx) for name in (*option.opts, *option.secondary_opts)]
            near = hint(error.option_name, (name for name in known if name.startswith("-")))
            raise click.UsageError(f"no such option '{error.option_name}'{near}", ctx) from None


class _Command(_Nearest):
    """A command that takes ``--debug`` as well as the group does."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.append(debug_option(hidden=True))


class _Group(_Nearest, click.Group):
    command_class = _Command
    group_class: type[click.Group] | type[type] | None = type  # a group within is of this class, too

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is named first; a mistyped one is answered with the nearest."""
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            raise click.UsageError(f"no such command '{name}'{hint(name, self.list_commands(ctx))}", ctx)
        return super().resolve_command(ctx, args)


class ReaderGoneError(Exception):
    """Whoever read what a command writes, such as `head`, had enough."""


class _Commands(_Group):
    """All commands, by name."""

    group_class = _Group

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; click itself would end with status 1 if the reader has gone."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise ReaderGoneError from error

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
        help="Show the Python traceback of an error.",
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
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version and exit."
)
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Simulate, measure and diagnose Multipath TCP.

    Start with `anabranch demo`. Then write a scenario with `anabranch new > my.toml` and run it with
    `anabranch run my.toml`.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
