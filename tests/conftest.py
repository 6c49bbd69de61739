"""What tests share: a run, a stored result, and the command run in this process."""

from pathlib import Path

import matplotlib as mpl
import pytest

import anabranch as ab
from anabranch.cli import run_command
from helpers import SEVERAL, TWO_PATHS, Command, Outcome

mpl.use("Agg")


@pytest.fixture
def command(capfd: pytest.CaptureFixture[str]) -> Command:
    """Run ``anabranch ARGUMENTS`` in this process."""

    def run(*arguments: str | Path) -> Outcome:
        capfd.readouterr()
        status = run_command([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return Outcome(status, out, err)

    return run


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def scenario_file(here: Path) -> Path:
    """A small valid scenario, the only file in the working directory."""
    file = here / "two.toml"
    file.write_text(TWO_PATHS, encoding="utf-8")
    return file


@pytest.fixture(scope="session")
def finished() -> ab.Run:
    """A finished run over two unlike paths."""
    return ab.Scenario.from_toml(TWO_PATHS).run()


@pytest.fixture(scope="session")
def several() -> ab.Run:
    """A finished run of an MPTCP and a TCP connection that share a path."""
    return ab.Scenario.from_toml(SEVERAL).run()


@pytest.fixture
def result(finished: ab.Run, tmp_path: Path) -> Path:
    """A stored result."""
    folder = tmp_path / "result"
    finished.save(folder)
    return folder
