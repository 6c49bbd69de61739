"""Starting is fast because frames and figures load only when they are used."""

import os
import subprocess
import sys

import pytest

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


@pytest.mark.skipif(sys.platform == "win32", reason="os.times() has no time of child processes on Windows")
def test_import_and_version_take_less_than_150_ms() -> None:
    def seconds(*arguments: str) -> float:
        """Of the processor, which other work on the machine does not lengthen as it does the time by the clock."""
        before = os.times()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        after = os.times()
        return after.children_user - before.children_user + after.children_system - before.children_system

    for arguments in (("-c", "import anabranch"), ("-m", "anabranch", "--version")):
        assert min(seconds(*arguments) for _ in range(7)) < 0.15


def test_public_names_are_listed_and_unknown_ones_are_refused() -> None:
    import anabranch as ab

    assert set(ab.__all__) <= set(dir(ab))
    assert all(getattr(ab, name) is not None for name in ab.__all__)
    assert not hasattr(ab, "Scenari")
