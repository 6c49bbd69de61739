"""Runs that are refused: where they are, whether they are tried again, and what the command says of them."""

from pathlib import Path
from typing import Any

import pytest

import anabranch as ab
from anabranch import _core
from anabranch.sweeps import dataset
from helpers import Command

pytestmark = pytest.mark.usefixtures("no_figures")
BASE = ab.Scenario.two_path("5 Mbit/s, 20 ms, loss 1 %", "2 Mbit/s, 10 ms", transfer="100 kB")
ENGINE = _core.run
SWEEP = """
seeds = 2
[scenario]
transfer = { bytes = "100 kB" }
path = [{ rate = "5 Mbit/s", delay = "20 ms" }, { rate = "2 Mbit/s", delay = "10 ms" }]
[axes]
mss = [700, 1400]
"""


def refusing(monkeypatch: pytest.MonkeyPatch, *, after: int = 0) -> None:
    """Let every run be refused, as on a worker without some file, but for the first ones."""
    left = after

    def run(*arguments: Any) -> object:
        nonlocal left
        left -= 1
        if left < 0:
            raise ab.ScenarioError("scenario.toml: path[0].trace: cannot read the trace file")
        return ENGINE(*arguments)

    monkeypatch.setattr(_core, "run", run)


def test_a_sweep_of_which_nothing_ran_ends_with_status_1(
    command: Command, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "sweep.toml").write_text(SWEEP, encoding="utf-8")
    refusing(monkeypatch)
    done = command("sweep", "sweep.toml", "--out", "kept")
    assert done.status == 1
    assert "4 runs refused; the first error: scenario.toml: path[0].trace: cannot read the trace file" in done.out
    for form in ("--csv", "--quiet"):
        assert command("sweep", "sweep.toml", form).status == 1
    refusing(monkeypatch, after=1)
    assert command("sweep", "sweep.toml").status == 0


# Refused by workers ---- the same command, where the scenario is valid: all runs are made, and each has one row.
def test_refused_runs_are_tried_again(command: Command, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "sweep.toml").write_text(SWEEP, encoding="utf-8")
    refusing(monkeypatch, after=1)
    assert command("sweep", "sweep.toml", "--out", "kept", "--workers", "1", "--quiet").status == 0
    assert sorted(ab.Sweep.load("kept").runs["status"]) == ["completed", "refused", "refused", "refused"]
    refusing(monkeypatch)
    assert command("sweep", "sweep.toml", "--out", "kept", "--keep-failed", "--quiet").status == 0
    monkeypatch.setattr(_core, "run", ENGINE)
    assert command("sweep", "sweep.toml", "--out", "kept", "--keep-failed", "--quiet").status == 0
    assert sorted(ab.Sweep.load("kept").runs["status"]) == ["completed", "refused", "refused", "refused"]
    assert command("sweep", "sweep.toml", "--out", "kept", "--quiet").status == 0
    assert ab.Sweep.load("kept").runs["status"].tolist() == ["completed"] * 4
    assert len(dataset.read_runs(here / "kept")) == 4


def test_a_cell_that_is_not_valid_is_not_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    axes: Any = {"recovery": ["none", "eiffel"]}
    ab.sweep(BASE, axes, seeds=2, out=tmp_path / "kept")
    states = list[Any]()
    done = ab.sweep(BASE, axes, seeds=2, out=tmp_path / "kept", progress=states.append)
    assert all((state.done, state.stored, state.failed) == (0, 4, 2) for state in states)
    assert done.runs["status"].tolist() == ["completed"] * 2 + ["refused"] * 2


def test_a_sweep_takes_a_trace_file_as_it_was_when_the_sweep_was_laid_out(here: Path) -> None:
    (here / "a.trace").write_text("3\n6\n9\n", encoding="utf-8")
    text = 'transfer.bytes = "100 kB"\npath = [{ trace = "a.trace" }]\n'
    (here / "base.toml").write_text(text, encoding="utf-8")
    plan = ab.Plan.of(ab.Scenario.load("base.toml"), {"mss": [700, 1400]}, seeds=1)
    wanted = ab.Scenario.load("base.toml").set("connection.mss", 700).run(1).summary["trace_sha256"]
    (here / "a.trace").write_text("100\n", encoding="utf-8")
    assert plan.run().runs["trace_sha256"][0] == wanted


def test_a_trace_file_that_is_missing_refuses_its_cell_alone(here: Path) -> None:
    (here / "a.trace").write_text("3\n6\n9\n", encoding="utf-8")
    text = 'transfer.bytes = "100 kB"\npath = [{ trace = "a.trace" }]\n'
    (here / "base.toml").write_text(text, encoding="utf-8")
    done = ab.sweep(ab.Scenario.load("base.toml"), {"path.0.trace": ["a.trace", "b.trace"]}, seeds=1, out="kept")
    assert done.runs["status"].tolist() == ["completed", "refused"]
    assert 'cannot read the trace file "b.trace"' in done.runs["error"][1]
    (here / "b.trace").write_text("5\n", encoding="utf-8")
    done = ab.sweep(ab.Scenario.load("base.toml"), {"path.0.trace": ["a.trace", "b.trace"]}, seeds=1, out="kept")
    assert done.runs["status"].tolist() == ["completed"] * 2


def test_a_scenario_says_what_it_is_with_its_files(here: Path) -> None:
    (here / "a.trace").write_text("3\n6\n9\n", encoding="utf-8")
    scenario = ab.Scenario.from_toml('transfer.bytes = "100 kB"\npath = [{ }]\n').set("path.0.trace", "a.trace")
    whole = scenario.inlined()
    assert whole.check() == scenario.check()
    assert "a.trace" not in str(whole)
    assert BASE.inlined() is BASE


AXES: list[tuple[str, tuple[str, ...]]] = [
    ('scheduler = ["min-rtt", "blast"]', ('sweep.toml: axes.scheduler: unknown scheduler "blast"', '"blest"')),
    ('schedulers = ["min-rtt", "blest"]', ("sweep.toml: axes.schedulers: unknown key", '"scheduler"')),
    ('"path.1.loss" = ["0 %", "150 %"]', ('sweep.toml: axes.path.1.loss: "150 %" is out of range', "100 %")),
    ("mss = [700, -3]", ("sweep.toml: axes.mss: -3 is out of range", "65455")),
    ('a = { x = { mss = 700 }, y = { mss = "wide" } }', ('sweep.toml: axes.a: "y": ', "whole number")),
    (
        'scheduler = ["min-rtt", "blast"]\ncontroller = ["cubic", "coupled"]',
        ('sweep.toml: axes.scheduler: unknown scheduler "blast"', '"blest"'),
    ),
]


@pytest.mark.parametrize(("axes", "said"), AXES)
@pytest.mark.parametrize("name", ["check", "sweep"])
def test_a_value_that_every_cell_refuses_is_an_error_of_the_sweep_file(
    name: str, axes: str, said: tuple[str, ...], command: Command, here: Path
) -> None:
    (here / "sweep.toml").write_text(f"{SWEEP.replace('mss = [700, 1400]', '')}\n{axes}\n", encoding="utf-8")
    done = command(name, "sweep.toml")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(said[0])
    assert all(part in done.err for part in said)
    assert "--set" not in done.err


def test_a_wrong_key_of_the_table_set_is_named(command: Command, here: Path) -> None:
    (here / "sweep.toml").write_text(f'set = {{ "path.1.los" = "1 %" }}\n{SWEEP}', encoding="utf-8")
    done = command("check", "sweep.toml")
    assert done.status == 2
    assert done.err.startswith("sweep.toml: set.path.1.los: unknown key")


def test_a_combination_that_some_cells_refuse_is_a_row(command: Command, here: Path) -> None:
    axes = 'min_rto = ["200 ms", "2 s"]\nmax_rto = ["1 s", "60 s"]'
    (here / "sweep.toml").write_text(f"{SWEEP.replace('mss = [700, 1400]', '')}\n{axes}\n", encoding="utf-8")
    checked = command("check", "sweep.toml")
    assert checked.status == 0, checked.err
    assert "1 of 4 cells is refused; the first error: axes.min_rto: 2 s is more than max_rto, 1 s" in checked.out
    swept = command("sweep", "sweep.toml")
    assert swept.status == 0
    assert "2 runs refused" in swept.out
