"""What tests share: a run, a stored result, and the command run in this process."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import pytest

import anabranch as ab
from anabranch.cli import run_command

mpl.use("Agg")

TWO_PATHS = """
title = "two paths"
[transfer]
bytes = "2 MB"
[[path]]
rate = "5 Mbit/s"
delay = "100 ms"
[[path]]
rate = "2 Mbit/s"
delay = "10 ms"
"""


@dataclass(frozen=True)
class Outcome:
    """What a command did."""

    status: int
    out: str
    err: str


Command = Callable[..., Outcome]


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
    """A finished run of two connections that share a link."""
    text = """
        [[host]]
        name = "client"
    """
    return ab.Scenario.from_toml(text).run()


@pytest.fixture
def result(finished: ab.Run, tmp_path: Path) -> Iterator[Path]:
    """A stored result."""
    folder = tmp_path / "result"
    finished.save(folder)
    yield folder
    assert os.path.isabs(folder)
