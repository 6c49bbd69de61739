"""What tests share: a run, a stored result, and the command run in this process."""

import gc
import shutil
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import pytest

import anabranch as ab
from anabranch.cli import run_command
from helpers import SEVERAL, TWO_PATHS, Command, Outcome, without_figures

mpl.use("Agg")


def pytest_collection_finish() -> None:
    """Exempt modules and collected tests from garbage collection, which took a tenth of the time of all tests."""
    gc.collect()
    gc.freeze()


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


@pytest.fixture(scope="session")
def stored(finished: ab.Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The finished run as a stored result, which no test changes."""
    folder = tmp_path_factory.mktemp("stored") / "result"
    finished.save(folder)
    return folder


@pytest.fixture
def result(stored: Path, tmp_path: Path) -> Path:
    """A stored result of the test's own."""
    return Path(shutil.copytree(stored, tmp_path / "result"))


@pytest.fixture
def no_figures() -> Iterator[None]:
    """Reports with empty figures, for tests of what else a command does: drawing takes most of its time."""
    with without_figures():
        yield
