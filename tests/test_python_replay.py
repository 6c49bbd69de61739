"""Stored results of algorithms written in Python: the class must be the same, and a result says what it needs."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest

import anabranch as ab
from helpers import Command

BASE = ab.Scenario.two_path("10 Mbit/s, 20 ms, loss 1 %", "4 Mbit/s, 60 ms", transfer="300 kB")
MINE = """
import anabranch as ab
from rank_of_a_replay import rank


class Mine(ab.Scheduler):
    share = ab.Parameter(0.5, 0, 1, unit="share")

    def pick(self, offer):
        return min((i for i, p in enumerate(offer.paths) if p.can_send), key=rank)
"""


@pytest.fixture
def folder(here: Path, command: Command) -> Path:
    """A result in `here` / "kept", made of a class in `here` / "work"."""
    (here / "work").mkdir()
    (here / "work" / "mine.py").write_text(MINE, "utf-8")
    (here / "work" / "rank_of_a_replay.py").write_text("def rank(i):\n    return i\n", "utf-8")
    toml = BASE.toml.replace(
        "[transfer]", '[connection]\nscheduler = { name = "mine.py:Mine", share = 0.2 }\n[transfer]'
    )
    (here / "work" / "s.toml").write_text(toml, "utf-8")
    done = command("run", "work/s.toml", "--out", "kept", "--quiet")
    assert done.status == 0, done.err
    return here


def test_a_result_is_replayed_with_the_class_that_made_it(folder: Path, command: Command) -> None:
    (kept,) = json.loads((folder / "kept" / "provenance.json").read_text("utf-8"))["algorithms"]
    assert (kept["kind"], kept["name"], kept["file"]) == ("scheduler", "mine.py:Mine", "work/mine.py")
    done = command("replay", "kept")
    assert (done.status, done.err) == (0, "")
    assert "reproduced" in done.out


@pytest.mark.parametrize("name", ["mine.py", "rank_of_a_replay.py"])
def test_a_replay_with_other_code_is_refused(
    folder: Path, command: Command, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = folder / "work" / name
    file.write_text(file.read_text("utf-8") + "\n# changed\n", "utf-8")
    monkeypatch.delitem(__import__("sys").modules, "rank_of_a_replay")
    done = command("replay", "kept")
    assert done.status == 2
    what = "work/mine.py was changed" if name == "mine.py" else "code that Mine uses was changed"
    assert f'scheduler = "mine.py:Mine": {what} after the run (SHA-256 ' in done.err
    assert "bring back the code that made the result, or make a new result" in done.err


def test_a_result_elsewhere_can_be_read_and_says_which_file_a_replay_needs(
    folder: Path, command: Command, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    shutil.copytree(folder / "kept", elsewhere / "kept")
    monkeypatch.chdir(elsewhere)
    run = ab.load("kept")
    assert "scheduler Mine" in str(run)
    assert run.scenario["connections"][0]["scheduler"] == "mine.py:Mine"
    assert command("plot", "kept").status == 0
    done = command("replay", "kept")
    assert done.status == 2
    assert 'scheduler = "mine.py:Mine": the run needs work/mine.py (SHA-256 ' in done.err
    assert done.err.rstrip().endswith("bring back the file with this hash")


def test_a_class_of_a_notebook_is_asked_for(tmp_path: Path, command: Command) -> None:
    class Cell(ab.Scheduler):
        def pick(self, offer):  # type: ignore[no-untyped-def]
            return offer.open()

    BASE.set("connection.scheduler", Cell).run().save(tmp_path / "kept")
    done = command("replay", tmp_path / "kept")
    assert done.status == 2
    assert "class Cell is not here" in done.err
    assert "scheduler Cell" in str(ab.load(tmp_path / "kept"))


def test_the_provenance_has_the_code_that_ran(here: Path) -> None:
    """A class that changes its own file while it runs: the result names what ran."""
    text = (
        "import anabranch as ab\n\n\nclass Mine(ab.Scheduler):\n"
        "    def pick(self, offer):\n"
        "        with open(__file__, 'a') as file:\n            file.write('# again\\n')\n"
        "        return offer.open()\n"
    )
    (here / "mine.py").write_text(text, "utf-8")
    run = BASE.set("connection.scheduler", "mine.py:Mine").run()
    (found,) = run.provenance.algorithms
    assert found["file_sha256"] == hashlib.sha256(text.encode()).hexdigest()
