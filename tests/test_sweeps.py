"""Sweeps: cells, seeds, what is kept, what is compared."""

import io
import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from fastparquet import ParquetFile

import anabranch as ab
from anabranch import _core
from anabranch.execution import progress
from anabranch.sentences import sweep as say
from anabranch.sweeps import dataset, execute, plan
from anabranch.sweeps.memory import Memory
from anabranch.sweeps.paired import interval, student
from helpers import Command, rewrite

pytestmark = pytest.mark.usefixtures("no_figures")
BASE = ab.Scenario.two_path("5 Mbit/s, 20 ms, loss 1 %", "2 Mbit/s, 10 ms", transfer="100 kB")
SWEEP = """
scenario = "base.toml"
seeds = 2
set = { "path.0.delay" = "20 ms" }

[axes]
controller = ["uncoupled", "coupled"]
"path.1.delay" = ["10 ms", "50 ms"]

[axes.receiver]
small = { receive_buffer = "20 kB", nagle = false }
large = {}
"""
SCENARIO = """
[transfer]
bytes = "100 kB"
[[path]]
rate = "5 Mbit/s"
[[path]]
rate = "2 Mbit/s"
"""


@pytest.fixture
def file(here: Path) -> Path:
    (here / "base.toml").write_text(SCENARIO, encoding="utf-8")
    (here / "sweep.toml").write_text(SWEEP, encoding="utf-8")
    return here / "sweep.toml"


@pytest.fixture(scope="module")
def swept() -> ab.Sweep:
    return ab.sweep(BASE, {"controller": ["uncoupled", "coupled"], "path.1.delay": ["10 ms", "80 ms"]}, seeds=3)


def edited(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def test_every_combination_is_run_with_the_same_seeds(swept: ab.Sweep) -> None:
    runs = swept.runs
    assert len(runs) == 2 * 2 * 3
    for _, cell in runs.groupby(["controller", "path.1.delay"]):
        assert cell["seed"].tolist() == [1, 2, 3]
    assert set(runs["status"]) == {"completed"}


def test_a_run_of_a_sweep_is_the_run_of_its_scenario(swept: ab.Sweep) -> None:
    alone = BASE.set({"connection.controller": "coupled", "path.1.delay": "80 ms"}).run(seed=2).summary
    runs = swept.runs
    row = runs[(runs["controller"] == "coupled") & (runs["path.1.delay"] == "80 ms") & (runs["seed"] == 2)].iloc[0]
    assert row["trace_sha256"] == alone["trace_sha256"]
    assert row["goodput_mbps"] == alone["goodput_mbps"]
    assert row["limited_cwnd"] == alone["limits"]["cwnd"]
    assert row["retransmissions_fast"] == sum(flow["retransmissions_fast"] for flow in alone["subflows"])
    assert len(swept.subflows) == 2 * len(runs)


def test_the_number_of_threads_makes_no_difference(swept: ab.Sweep) -> None:
    one = ab.sweep(
        BASE, {"controller": ["uncoupled", "coupled"], "path.1.delay": ["10 ms", "80 ms"]}, seeds=3, workers=1
    )
    assert one.runs["trace_sha256"].tolist() == swept.runs["trace_sha256"].tolist()


def test_an_axis_may_change_several_values_under_one_name() -> None:
    done = ab.sweep(BASE, {"receiver": {"a": {"receive_buffer": "20 kB", "nagle": False}, "b": {}}}, seeds=1)
    assert done.runs["receiver"].tolist() == ["a", "b"]
    alone = BASE.set({"connection.receive_buffer": "20 kB", "connection.nagle": False}).run(seed=1)
    assert done.runs["trace_sha256"][0] == alone.summary["trace_sha256"]


def test_an_invalid_cell_is_a_row_with_its_error() -> None:
    done = ab.sweep(BASE, {"recovery": ["none", "eiffel"]}, seeds=2)
    assert done.runs["status"].tolist() == ["completed", "completed", "refused", "refused"]
    assert "did you mean" in done.runs["error"][2]
    assert done.runs["goodput_mbps"].isna().tolist() == [False, False, True, True]
    assert "2 runs refused" in str(done)


def test_a_sweep_of_which_no_cell_is_valid_is_refused() -> None:
    with pytest.raises(ab.ScenarioError, match="eiffel"):
        ab.sweep(BASE, {"recovery": ["eiffel", "eiffle"]})


def test_a_fault_of_the_engine_is_a_row_and_not_the_end(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = _core.run

    def faulty(*arguments: Any) -> object:
        if arguments[3] == 2:
            raise RuntimeError("index out of bounds")
        return real(*arguments)

    monkeypatch.setattr(_core, "run", faulty)
    done = ab.sweep(BASE, {}, seeds=3, out=tmp_path / "kept")
    assert done.runs["status"].tolist() == ["completed", "failed", "completed"]
    assert done.runs["error"][1] == "RuntimeError: index out of bounds"
    monkeypatch.setattr(_core, "run", real)
    assert set(ab.sweep(BASE, {}, seeds=3, out=tmp_path / "kept").runs["status"]) == {"completed"}


@pytest.mark.parametrize(
    ("axes", "said"),
    [
        ({"controller": []}, "at least one value"),
        ({"controller": "coupled"}, "not a list"),
        ({"controller": ["coupled", "coupled"]}, "values that are the same or written alike"),
        ({"seed": [1, 2]}, "cannot be an axis"),
    ],
)
def test_an_axis_that_makes_no_sense_is_refused(axes: plan.Axes, said: str) -> None:
    with pytest.raises(ab.ScenarioError, match=said):
        ab.sweep(BASE, axes)


@pytest.mark.parametrize("seeds", [0, [], [1, 1], [-1]])
def test_seeds_are_a_count_or_different_numbers(seeds: int | list[int]) -> None:
    with pytest.raises(ab.ScenarioError, match="seeds"):
        ab.sweep(BASE, {}, seeds=seeds)


def test_a_title_does_not_make_another_cell_but_a_value_does() -> None:
    def key(scenario: ab.Scenario) -> str:
        return plan.plan(scenario, {}, 1).cells[0].key(1)

    assert key(BASE) == key(BASE.set("title", "other"))
    assert key(BASE) == key(BASE.set("path.1.delay", "0.01 s"))
    assert key(BASE) != key(BASE.set("path.1.delay", "11 ms"))
    cell = plan.plan(BASE, {}, 1).cells[0]
    assert cell.key(1) != cell.key(2)


def test_pairs_are_compared_by_seed(swept: ab.Sweep) -> None:
    found = swept.compare("controller", baseline="uncoupled", measure="goodput_mbps")
    assert found["controller"].tolist() == ["coupled", "coupled"]
    runs = swept.runs.set_index(["path.1.delay", "controller", "seed"])["goodput_mbps"]
    for _, row in found.iterrows():
        differences = [
            runs[row["path.1.delay"], "coupled", seed] - runs[row["path.1.delay"], "uncoupled", seed]
            for seed in (1, 2, 3)
        ]
        mean = sum(differences) / 3
        spread = math.sqrt(sum((d - mean) ** 2 for d in differences) / 2)
        assert row["n"] == 3
        assert row["difference"] == pytest.approx(mean)
        assert row["high"] - row["low"] == pytest.approx(2 * 4.302653 * spread / math.sqrt(3), rel=1e-6)


def test_a_pair_with_a_refused_run_is_left_out() -> None:
    done = ab.sweep(BASE, {"recovery": ["none", "eiffel"]}, seeds=2)
    (row,) = done.compare("recovery", baseline="none").to_dict("records")
    assert row["n"] == 0
    assert math.isnan(row["difference"])


def test_common_seeds_make_differences_narrower_than_means() -> None:
    lossy = ab.Scenario.two_path("5 Mbit/s, 20 ms, loss 2 %", "2 Mbit/s, 10 ms", transfer="1 MB")
    done = ab.sweep(lossy, {"timestamps": [True, False]}, seeds=10)
    (row,) = done.compare("timestamps", baseline=True).to_dict("records")
    means = done.means("goodput_mbps")
    assert 0 < row["high"] - row["low"] < (means["high"] - means["low"]).min() / 5


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"axis": "colour", "baseline": "red"}, "no axis 'colour'; axes: controller"),
        ({"axis": "controller", "baseline": "cubic"}, "no value 'cubic'; values: uncoupled, coupled"),
        (
            {"axis": "controller", "baseline": "coupled", "measure": "speed"},
            "no measure 'speed'; measures: .*goodput_mbps",
        ),
    ],
)
def test_a_comparison_that_cannot_be_made_says_what_can(swept: ab.Sweep, arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        swept.compare(**arguments)


def test_quantiles_of_student_are_those_of_the_tables() -> None:
    # NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2
    table = {(0.975, 1): 12.706, (0.975, 2): 4.303, (0.975, 9): 2.262, (0.95, 29): 1.699, (0.995, 4): 4.604}
    for (probability, freedom), value in table.items():
        assert student(probability, freedom) == pytest.approx(value, abs=5e-4)


def test_an_interval_of_one_value_has_no_bounds() -> None:
    assert interval([3.0])[:2] == (1, 3.0)
    assert math.isnan(interval([3.0]).low)
    assert math.isnan(interval([]).mean)


def test_distributions_are_long_frames_that_add_up_to_one(swept: ab.Sweep) -> None:
    table = swept.distribution("rbd")
    assert list(table.columns) == ["controller", "path.1.delay", "seed", "value", "share"]
    sums = table.groupby(["controller", "path.1.delay", "seed"])["share"].sum()
    assert len(sums) == 12
    assert sums.tolist() == pytest.approx([1.0] * 12)


def test_what_is_loaded_is_what_was_swept(tmp_path: Path) -> None:
    done = ab.sweep(BASE, {"recovery": ["none", "eiffel"], "mss": [700, 1400]}, seeds=2, out=tmp_path / "kept")
    again = ab.Sweep.load(tmp_path / "kept")
    pd.testing.assert_frame_equal(again.runs, done.runs)
    pd.testing.assert_frame_equal(again.subflows, done.subflows)
    assert again.provenance == done.provenance
    assert str(again) == str(done)
    stored = ParquetFile(io.BytesIO((tmp_path / "kept" / "runs" / "000000.parquet").read_bytes())).to_pandas()
    assert sorted(stored["trace_sha256"]) == sorted(done.runs["trace_sha256"])
    cells = ParquetFile(io.BytesIO((tmp_path / "kept" / "cells.parquet").read_bytes())).to_pandas()
    joined = stored.merge(cells[["recovery", "mss", "scenario_sha256"]], on="scenario_sha256")
    assert sorted(joined["mss"]) == [700] * 4 + [1400] * 4
    made = json.loads((tmp_path / "kept" / "provenance.json").read_text(encoding="utf-8"))
    assert made["version"] == ab.__version__
    assert {"commit", "scenario_sha256", "machine", "command"} <= made.keys()


def test_a_second_sweep_makes_only_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ab.sweep(BASE, {"mss": [700]}, seeds=2, out=tmp_path / "kept")
    real = _core.run
    made: list[Any] = []

    def counted(*arguments: Any) -> object:
        made.append(arguments[3])
        return real(*arguments)

    monkeypatch.setattr(_core, "run", counted)
    again = ab.sweep(BASE, {"mss": [700]}, seeds=2, out=tmp_path / "kept")
    assert made == []
    assert again.runs["trace_sha256"].tolist() == first.runs["trace_sha256"].tolist()
    more = ab.sweep(BASE, {"mss": [700, 1400]}, seeds=3, out=tmp_path / "kept")
    assert sorted(made) == [1, 2, 3, 3]
    assert len(more.runs) == 6
    fewer = ab.sweep(BASE, {"mss": [1400]}, seeds=1, out=tmp_path / "kept")
    assert len(fewer.runs) == 1
    assert len(made) == 4


def test_runs_of_two_engines_are_not_mixed(tmp_path: Path) -> None:
    ab.sweep(BASE, {}, seeds=1, out=tmp_path / "kept")
    marker = tmp_path / "kept" / "provenance.json"
    rewrite(marker, version="0.0.1")
    with pytest.raises(ab.ResultError, match=r"version 0\.0\.1(.|\n)*not mixed; choose another directory"):
        ab.sweep(BASE, {}, seeds=1, out=tmp_path / "kept")
    assert ab.Sweep.load(tmp_path / "kept").provenance.version == "0.0.1"


def test_an_engine_with_uncommitted_changes_is_told_by_its_program(monkeypatch: pytest.MonkeyPatch) -> None:
    plan.engine.cache_clear()
    monkeypatch.setattr(_core, "commit", lambda: "abc1234-dirty")
    dirty = plan.engine()
    plan.engine.cache_clear()
    monkeypatch.setattr(_core, "commit", lambda: "abc1234")
    clean = plan.engine()
    plan.engine.cache_clear()
    assert len(dirty.build) == 12
    assert clean.build == ""


def test_a_directory_that_is_no_sweep_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(ab.ResultError, match="so it is not used"):
        ab.sweep(BASE, {}, out=tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["notes.txt"]
    with pytest.raises(ab.ResultError, match="no such directory"):
        ab.Sweep.load(tmp_path / "nowhere")


def test_a_damaged_file_of_runs_is_named(tmp_path: Path) -> None:
    ab.sweep(BASE, {}, seeds=1, out=tmp_path / "kept")
    (part,) = (tmp_path / "kept" / dataset.RUNS).iterdir()
    part.write_bytes(b"no parquet")
    with pytest.raises(ab.ResultError, match=rf"{part.name}: damaged"):
        len(ab.Sweep.load(tmp_path / "kept"))


def test_load_says_how_a_sweep_is_read(tmp_path: Path) -> None:
    ab.sweep(BASE, {}, seeds=1, out=tmp_path / "kept")
    with pytest.raises(ab.ResultError, match=r"ab\.Sweep\.load reads: repeat it with `anabranch sweep "):
        ab.load(tmp_path / "kept")


def test_what_was_finished_before_an_interrupt_is_kept(tmp_path: Path) -> None:
    def stop(state: progress.State) -> None:
        if state.done >= 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ab.sweep(BASE, {"mss": [700, 1400]}, seeds=200, out=tmp_path / "kept", workers=1, progress=stop)
    kept = ab.Sweep.load(tmp_path / "kept")
    made = sorted((seed, mss) for mss, seed in kept.runs[["mss", "seed"]].to_numpy().tolist())
    assert 3 <= len(made) < 400
    assert made == [(seed, mss) for seed in range(1, 201) for mss in (700, 1400)][: len(made)]
    assert not (tmp_path / "kept" / "table.csv").exists()


def test_progress_counts_what_is_done_failed_and_stored(tmp_path: Path) -> None:
    seen: list[progress.State] = []
    axes: plan.Axes = {"recovery": ["none", "eiffel"]}
    ab.sweep(BASE, axes, seeds=2, out=tmp_path / "kept", progress=seen.append)
    assert (seen[-1].total, seen[-1].stored, seen[-1].done, seen[-1].failed) == (4, 0, 4, 2)
    ab.sweep(BASE, axes, seeds=3, out=tmp_path / "kept", progress=seen.append)
    assert (seen[-1].total, seen[-1].stored, seen[-1].done, seen[-1].failed) == (6, 4, 2, 3)


def test_a_run_that_is_known_from_elsewhere_is_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    what = plan.plan(ab.Scenario.two_path("5 Mbit/s, 5 ms", "2 Mbit/s, 5 ms", transfer="2 kB"), {}, 2)
    first, second = Memory(what), Memory(what)
    execute.make(first)

    def run(*_: Any) -> object:
        raise _core.RunError("made again")

    monkeypatch.setattr(_core, "run", run)
    execute.make(second, known=first._records)
    assert second._records == first._records
    assert set(second.statuses.values()) == {"completed"}


def test_the_command_answers_with_a_table(command: Command, file: Path) -> None:
    done = command("sweep", file, "--wide")
    assert (done.status, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[1].split()[:4] == ["controller", "path.1.delay", "receiver", "runs"]
    assert lines.index("") == 2 + 8
    notes = [note for note in lines[2 + 8 + 1 :] if note]
    assert all("gave the same trace in each run" in note or note == say.SEEDS_ALIKE() for note in notes)
    assert sorted(entry.name for entry in file.parent.iterdir()) == ["base.toml", "sweep.toml"]


def test_the_command_keeps_the_runs(command: Command, file: Path) -> None:
    assert command("sweep", file, "--out", "kept", "--quiet").out == ""
    assert sorted(entry.name for entry in Path("kept").iterdir() if entry.suffix != ".svg") == [
        ".lock",
        "cells.parquet",
        "provenance.json",
        "report.html",
        "runs",
        "subflows",
        "sweep.json",
        "table.csv",
    ]
    kept = ab.Sweep.load("kept")
    assert len(kept.runs) == 16
    assert kept.provenance.command == f"anabranch sweep {file} --out kept --quiet"
    assert command("sweep", file, "--out", "kept", "--seeds", "3").status == 0
    assert len(ab.Sweep.load("kept").runs) == 24


def test_the_command_prints_one_row_per_run_as_csv(command: Command, file: Path) -> None:
    done = command("sweep", file, "--csv", "--seeds", "1")
    lines = done.out.splitlines()
    assert lines[0].startswith("controller,path.1.delay,receiver,seed,status,error,completion_s")
    assert len(lines) == 1 + 8


def test_a_scenario_may_stand_in_the_sweep_file_itself(command: Command, here: Path) -> None:
    (here / "sweep.toml").write_text(
        'seeds = [7]\n[scenario]\ntransfer = { bytes = "100 kB" }\n[[scenario.path]]\nrate = "5 Mbit/s"\n'
        '[[scenario.path]]\nrate = "2 Mbit/s"\nchanges = [{ at = "1 s", state = "down" }]\n[axes]\nmss = [700, 1400]\n',
        encoding="utf-8",
    )
    done = command("sweep", "sweep.toml", "--csv")
    assert (done.status, done.err) == (0, "")
    assert [line.split(",")[:3] for line in done.out.splitlines()[1:]] == [
        ["700", "7", "completed"],
        ["1400", "7", "completed"],
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("seeds", "seedz", 'unknown key "seedz"\n  did you mean "seeds"?'),
        ("seeds = 2", 'seeds = "two"', "seeds: 'two' is not a number of seeds"),
        ('scenario = "base.toml"', "", "scenario: missing"),
        ('scenario = "base.toml"', 'scenario = "bass.toml"', "bass.toml: no such file"),
        ('"path.1.delay"', "path.1.delay", 'names an axis in quotes: "path.1..."'),
        ("controller", "controler", 'did you mean "controller"'),
        ('["uncoupled"', '["uncoupled', "not a TOML document"),
        ("small = {", "small = 3 #{", "axes.receiver.small: 3 is not a table"),
    ],
)
def test_a_fault_in_a_sweep_file_is_named(command: Command, file: Path, old: str, new: str, said: str) -> None:
    edited(file, old, new)
    done = command("sweep", file)
    assert (done.status, done.out) == (2, "")
    assert said in done.err
    assert len(done.err.splitlines()) <= 3


def test_a_sweep_with_faults_of_the_engine_fails(command: Command, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(*_: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(_core, "run", faulty)
    done = command("sweep", file)
    assert done.status == 1
    assert "16 runs failed; the first error: RuntimeError: no" in done.out


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends Ctrl-C to the tests, too")
def test_an_interrupt_while_threads_start_waits_for_those_that_did(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[threading.Thread] = []
    start = threading.Thread.start

    def interrupted(thread: threading.Thread) -> None:
        if started:
            raise KeyboardInterrupt
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ab.sweep(BASE, {}, seeds=4000, workers=2)
    assert len(started) == 1
    assert not started[0].is_alive()


def test_an_interrupted_command_says_what_it_kept_and_goes_on(command: Command, file: Path) -> None:
    edited(file, 'scenario = "base.toml"\nseeds = 2', 'scenario = "base.toml"\nseeds = 4000')
    process = subprocess.Popen(
        [sys.executable, "-m", "anabranch", "sweep", "sweep.toml", "--out", "kept"],
        cwd=file.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    journal = file.parent / "kept" / "runs" / "000000.jsonl"
    while not (journal.exists() and journal.stat().st_size > 0):
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (130, "")
    kept = len(ab.Sweep.load("kept").runs)
    assert 0 < kept < 32000
    assert err == f"interrupted: {kept} of 32000 runs are kept in kept; the same command continues from there\n"
    edited(file, "seeds = 4000", "seeds = 1")
    assert command("sweep", file, "--out", "kept").status == 0
    assert len(ab.Sweep.load("kept").runs) == 8


def test_progress_says_how_long_the_sweep_has_taken() -> None:
    began = time.monotonic()
    states: list[Any] = []
    ab.sweep(BASE, {}, seeds=3, progress=states.append)
    passed = time.monotonic() - began
    assert states
    assert all(0 <= state.seconds <= passed for state in states)
