"""Starting is fast because frames and figures load only when they are used."""

import subprocess
import sys
from importlib import import_module

import click

from anabranch.cli.group import MODULES, cli

HEAVY = ("numpy", "pandas", "matplotlib", "fastparquet")


def loaded(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_importing_anabranch_loads_no_frames_and_no_figures() -> None:
    assert not loaded("import anabranch; anabranch.__version__; anabranch.Scenario") & set(HEAVY)


def test_the_version_needs_no_frames_and_no_figures() -> None:
    code = "from anabranch.cli import run_command; import io, sys; sys.stdout = io.StringIO(); "
    code += "run_command(['--version']); sys.stdout = sys.__stdout__"
    assert not loaded(code) & set(HEAVY)


def test_a_run_without_out_needs_no_figures() -> None:
    code = (
        "import anabranch as ab; str(ab.Scenario.two_path('5 Mbit/s, 1 ms', '2 Mbit/s, 1 ms', transfer='1 MB').run())"
    )
    assert not loaded(code) & {"pandas", "matplotlib", "fastparquet"}


def test_a_command_loads_no_other_command() -> None:
    # A start by the clock depends on the machine; what is loaded does not.
    code = "from anabranch.cli import run_command; import io, sys; sys.stdout = io.StringIO(); "
    code += "run_command(['{}']); sys.stdout = sys.__stdout__"
    for arguments, modules in (("--version", set()), ("new", {"scenarios"})):
        found = {name for name in loaded(code.format(arguments)) if name.startswith("anabranch.cli.")}
        assert {name.rpartition(".")[2] for name in found} & set(MODULES) == modules


def test_each_module_has_the_commands_that_are_said_to_be_in_it() -> None:
    for module, names in MODULES.items():
        import_module(f"anabranch.cli.{module}")
        assert set(names) <= cli.commands.keys(), module
    assert sorted(cli.commands) == cli.list_commands(click.Context(cli))


def test_public_names_are_listed_and_unknown_ones_are_refused() -> None:
    import anabranch as ab

    assert set(ab.__all__) <= set(dir(ab))
    assert all(getattr(ab, name) is not None for name in ab.__all__)
    assert not hasattr(ab, "Scenari")
