"""What a run of a sweep may take, and how many seeds a sweep takes."""

import io
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anabranch as ab
from anabranch import _core
from anabranch.execution import progress
from anabranch.execution.progress import SweepProgress
from anabranch.sweeps import document, threads
from anabranch.sweeps.paired import Interval, by_bootstrap, by_student, holm, note
from anabranch.sweeps.plan import Options
from anabranch.sweeps.task import Record, Task
from anabranch.sweeps.until import Precision
from helpers import Command

BASE = ab.Scenario.two_path("5 Mbit/s, 20 ms, loss 1 %", "2 Mbit/s, 10 ms", transfer="100 kB")
ENGINE = _core.run


# The long cell would take hours; it ends after 0.1 s, and the sweep goes on.
def test_a_run_that_passes_its_timeout_is_a_failed_row() -> None:
    axes: Any = {"case": {"long": {"duration": "1000 h", "transfer.bytes": "100 TB"}, "short": {}}}
    began = time.monotonic()
    done = ab.sweep(BASE, axes, seeds=1, timeout=0.1)
    assert time.monotonic() - began < 5
    assert done.runs["status"].tolist() == ["failed", "completed"]
    assert done.runs["error"][0].startswith("timeout: not done after 100ms of wall-clock time")
    assert "1 run failed; the first error: timeout: not done" in str(done)


# 5,000 connections over 100 paths each: seconds and gigabytes before anything runs.
def test_time_and_memory_count_from_before_the_scenario_is_read() -> None:
    large = ab.Scenario.from_toml("""
        transfer.bytes = "1 MB"
        topology = { kind = "dumbbell", hosts = 10, bottlenecks = 255 }
        traffic = { pattern = "permutation", connections = 5000, subflows = 100 }
    """)
    began = time.monotonic()
    late = ab.sweep(large, {}, seeds=1, timeout=0.05).runs["error"][0]
    assert late.startswith("timeout: not done after 50ms"), late
    full = ab.sweep(large, {}, seeds=1, memory=10_000_000).runs["error"][0]
    assert full.startswith("memory: the engine held 1"), full
    assert time.monotonic() - began < 5


def test_a_run_that_passes_its_memory_is_a_failed_row() -> None:
    large = BASE.set({"transfer.bytes": "20 MB", "path.0.rate": "1 Gbit/s", "path.0.delay": "400 ms"})
    limits = [None, 100_000, 100_000_000]
    done = [ab.sweep(large, {}, seeds=2, memory=memory).runs for memory in limits]
    assert [runs["status"].tolist() for runs in done] == [["completed"] * 2, ["failed"] * 2, ["completed"] * 2]
    assert done[1]["error"][0].startswith("memory: the engine held 0.")
    assert "its limit is 0.1 MB" in done[1]["error"][0]
    assert done[2]["trace_sha256"].tolist() == done[0]["trace_sha256"].tolist()


def test_what_a_run_holds_is_counted_by_itself_whatever_others_hold() -> None:
    large = BASE.set({"transfer.bytes": "20 MB", "path.0.rate": "1 Gbit/s", "path.0.delay": "400 ms"})
    (alone,) = ab.sweep(large, {}, seeds=1, memory=100_000, workers=1).runs["error"]
    assert alone.startswith("memory: the engine held ")
    together = ab.sweep(large, {"mss": [1399, 1400, 1401]}, seeds=[1], memory=100_000, workers=3).runs
    assert together.loc[together["mss"] == 1400, "error"].tolist() == [alone]


def test_a_panic_is_a_failed_row_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*arguments: Any) -> object:
        if arguments[3] == 2:
            raise _core.RunError("panic at crates/stack/src/tcp/loss.rs:12:3: attempt to subtract with overflow")
        return ENGINE(*arguments)

    monkeypatch.setattr(_core, "run", run)
    done = ab.sweep(BASE, {}, seeds=3)
    assert done.runs["status"].tolist() == ["completed", "failed", "completed"]
    assert done.runs["error"][1].startswith("panic at crates/stack/src/tcp/loss.rs:12:3")


def test_limits_stand_in_the_sweep_file(here: Path, command: Command) -> None:
    text = 'timeout = "1.5 min"\nmemory = "64 MiB"\nseries = 100\n[scenario]\ntransfer = { bytes = "1 kB" }\n'
    text += 'path = [{ rate = "5 Mbit/s" }]\n'
    (here / "sweep.toml").write_text(text, encoding="utf-8")
    assert document.read("sweep.toml").options == Options(90.0, 64 * 2**20, 100)
    for old, said in (
        ('"1.5 min"', 'timeout: 10 is not a quantity above 0\n  write "30 s"; units: ms, s, min, h'),
        ('"64 MiB"', 'memory: 10 is not a quantity above 0\n  write "500 MB"'),
    ):
        (here / "sweep.toml").write_text(text.replace(old, "10"), encoding="utf-8")
        done = command("sweep", "sweep.toml")
        assert (done.status, done.out) == (2, "")
        assert said in done.err


@pytest.mark.parametrize(
    ("size", "octets"),
    [("70000 kB", 70_000_000), ("70 MB", 70_000_000), ("1 GB", 10**9), ("70000 KiB", 71_680_000), ("1 GiB", 2**30)],
)
def test_the_memory_of_a_sweep_file_has_every_unit(here: Path, size: str, octets: int) -> None:
    text = f'memory = "{size}"\n[scenario]\ntransfer = {{ bytes = "1 kB" }}\npath = [{{ rate = "5 Mbit/s" }}]\n'
    (here / "sweep.toml").write_text(text, encoding="utf-8")
    assert document.read("sweep.toml").options.memory == octets


# One long run, then nine short ones: the thread that has the long one takes no other.
def test_an_idle_thread_takes_the_next_run() -> None:
    taken: dict[int, list[int]] = {}

    def perform(task: Task, *_: object) -> Record:
        taken.setdefault(threading.get_ident(), []).append(task.seed)
        time.sleep(0.3 if task.seed == 0 else 0.01)
        return Record("", "", task.seed, "completed", "", "", "", "")

    def tasks() -> Iterator[Task]:
        for seed in range(10):
            yield Task("", "", seed, BASE, "")

    kept: list[Record] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "perform", perform)
        found = [record.seed for records in threads.records(tasks(), Options(), 2, kept.extend) for record in records]
    assert sorted(found) == list(range(10))
    assert sorted(record.seed for record in kept) == list(range(10))
    assert sorted(map(len, taken.values())) == [1, 9]


def test_more_seeds_are_added_until_the_precision_is_reached() -> None:
    done = ab.sweep(BASE, {"path.0.loss": ["0 %", "2 %"]}, seeds="until 4 %, at most 200")
    means = done.means()
    half = (means["high"] - means["mean"]) / means["mean"]
    n = len(done.plan.seeds)
    assert 10 < n < 200
    assert done.plan.seeds == tuple(range(1, n + 1))
    # Without loss nothing is random.
    assert means["n"].tolist() == [1, n]
    assert means["identical"].tolist() == [n, 0]
    assert half.max() <= 0.04
    assert f"{n} seeds: half the width of the 95 % interval of goodput_mbps is at most 4 %" in str(done)
    before = ab.sweep(BASE, {"path.0.loss": ["0 %", "2 %"]}, seeds=n // 2).means()
    assert ((before["high"] - before["mean"]) / before["mean"]).max() > 0.04


def test_seeds_end_at_the_cap(tmp_path: Path) -> None:
    done = ab.sweep(BASE, {"path.0.loss": ["2 %"]}, seeds="until 0.01 %, at most 25", out=tmp_path / "kept")
    assert len(done) == 25
    assert "25 seeds, the maximum: half the width of the 95 % interval of goodput_mbps is up to " in str(done)
    assert len(ab.Sweep.load(tmp_path / "kept")) == 25
    again = ab.sweep(BASE, {"path.0.loss": ["2 %"]}, seeds="until 0.01 %, at most 25", out=tmp_path / "kept")
    assert again.runs.equals(done.runs)


def test_a_precision_of_what_is_not_measured_is_refused() -> None:
    with pytest.raises(ab.ScenarioError, match=r"seeds: no measure 'speed'; measures: .*goodput_mbps"):
        ab.sweep(BASE, {}, seeds="until 5 % of speed")


def test_an_interrupted_search_for_precision_ends_at_the_same_seeds(tmp_path: Path) -> None:
    def stop(state: progress.State) -> None:
        if state.done >= 13:
            raise KeyboardInterrupt

    axes: Any = {"path.0.loss": ["1 %", "2 %"]}
    wanted = ab.sweep(BASE, axes, seeds="until 6 %")
    with pytest.raises(KeyboardInterrupt):
        ab.sweep(BASE, axes, seeds="until 6 %", out=tmp_path / "kept", progress=stop, workers=1)
    done = ab.sweep(BASE, axes, seeds="until 6 %", out=tmp_path / "kept")
    assert done.plan.seeds == wanted.plan.seeds
    assert done.runs["trace_sha256"].tolist() == wanted.runs["trace_sha256"].tolist()


@pytest.mark.parametrize("text", ["two", "until", "until 0 %", "until 100 %", "until 1 % of", "until 1 %, at most 1"])
def test_a_precision_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(ab.ScenarioError, match=r"seeds: .* is not a number of seeds\n  write a count"):
        ab.sweep(BASE, {}, seeds=text)


def test_a_measure_that_never_varies_is_precise_at_once() -> None:
    done = ab.sweep(BASE, {}, seeds="until 1 % of bytes_delivered")
    assert len(done) == Precision(0.01).first == 10


# Known values: 1, 2, ..., n have mean (n + 1) / 2 and variance n (n + 1) / 12.
def test_intervals_of_many_cells_are_those_of_each() -> None:
    values = np.array([[1.0, 2, 3, 4, 5], [5, 5, 5, 5, 5], [1, np.nan, 3, np.nan, np.nan], [7, *[np.nan] * 4]])
    found = by_student(values)
    assert found.n.tolist() == [5, 5, 2, 1]
    assert found.mean.tolist() == [3, 5, 2, 7]
    # t(0.975; 4) = 2.776, t(0.975; 1) = 12.706 (NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2)
    assert found.high[:3] == pytest.approx([3 + 2.776 * (2.5 / 5) ** 0.5, 5, 2 + 12.706], abs=2e-3)
    assert np.isnan(found.high[3])
    assert found.p[1] == 0


# Coverage, by simulation: of 95 % intervals of the mean of 30 exponential values, how many hold the true mean 1.
def test_bootstrap_intervals_hold_a_skewed_mean_about_as_often_as_they_say() -> None:
    drawn = np.random.Generator(np.random.PCG64(1)).exponential(size=(1000, 30))
    found = by_bootstrap(drawn, resamples=1000)
    held = ((found.low <= 1) & (found.high >= 1)).mean()
    low, high = (found.high < 1).mean(), (found.low > 1).mean()
    assert 0.90 < held < 0.96
    plain = by_student(drawn)
    # The tails are more even than Student's, who misses skewed means on one side.
    assert abs(low - high) < abs((plain.high < 1).mean() - (plain.low > 1).mean())


def test_bootstrap_intervals_are_near_students_for_normal_values_and_the_same_each_time() -> None:
    drawn = np.random.Generator(np.random.PCG64(2)).normal(10, 1, size=(50, 40))
    boot, plain = by_bootstrap(drawn), by_student(drawn)
    assert (boot.high - boot.low) / (plain.high - plain.low) == pytest.approx(np.full(50, 0.95), abs=0.1)
    assert by_bootstrap(drawn).low.tolist() == boot.low.tolist()


def test_holms_correction_is_that_of_its_definition() -> None:
    # Sorted: 0.01 x 4, 0.02 x 3, 0.03 x 2, 0.04 x 1, each at least the one before.
    assert holm(np.array([0.04, 0.01, np.nan, 0.03, 0.02])) == pytest.approx(
        [0.06, 0.04, np.nan, 0.06, 0.06], nan_ok=True
    )


def test_a_comparison_of_many_says_how_many_are_chance() -> None:
    done = ab.sweep(BASE, {"timestamps": [True, False], "path.1.delay": ["10 ms", "11 ms", "12 ms"]}, seeds=4)
    found = done.compare("path.1.delay", baseline="10 ms")
    assert len(found) == 4
    assert (found["p_holm"] >= found["p"]).all()
    said = note(found["p"].to_numpy())
    first = "4 comparisons: on average, 0.2 of their 95 % intervals miss the true difference by chance. "
    assert said.startswith(first)
    assert f"{(found['p'] < 0.05).sum()} difference" in said


def test_the_command_compares_an_axis_in_pairs(here: Path, command: Command) -> None:
    (here / "base.toml").write_text(BASE.toml, encoding="utf-8")
    text = 'scenario = "base.toml"\nseeds = 4\naxes = { mss = [700, 1400], timestamps = [true, false] }\n'
    (here / "sweep.toml").write_text(text, encoding="utf-8")
    done = command("sweep", "sweep.toml", "--compare", "mss=700")
    assert (done.status, done.err) == (0, "")
    lines = done.out.split("\n\n")[1].splitlines()
    assert lines[0] == "goodput_mbps; differences from mss = 700, in pairs of runs with the same seed"
    assert lines[1].split() == [
        "timestamps",
        "mss",
        "pairs",
        "700",
        "mean",
        "difference",
        "95",
        "%",
        "+-",
        "p",
        "Holm's",
    ]
    assert [line.split()[:3] for line in lines[2:4]] == [["True", "1400", "4"], ["False", "1400", "4"]]
    assert lines[4].startswith("2 comparisons: on average, 0.1 of their 95 % intervals miss")
    wrong = command("sweep", "sweep.toml", "--compare", "mss=1000")
    assert (wrong.status, wrong.out) == (2, "")
    assert "values: mss=700, mss=1400, timestamps=True, timestamps=False" in wrong.err


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def state(done: int) -> progress.State:
    return progress.State(100, 0, done, 1, 10.0, "coupled, seed 3")


def test_the_line_is_wiped_though_an_exception_ends_the_sweep() -> None:
    stream = Terminal()

    def sweep() -> None:
        with SweepProgress(stream) as progress:
            progress._next = 0
            progress(state(50))
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        sweep()
    shown, wiped = stream.getvalue().rsplit("\r", 2)[:2]
    assert shown == "\r 50 %  50 of 100 runs done, 1 failed, 5 runs/s, 10 s left, last: coupled, seed "  # 79 columns
    assert wiped == " " * (len(shown) - 1)


def test_without_a_terminal_there_are_whole_lines_once_in_a_while() -> None:
    stream = io.StringIO()
    with SweepProgress(stream) as progress:
        progress(state(1))
        assert stream.getvalue() == ""
        progress.start -= 10
        progress._next -= 10
        progress(state(50))
        progress(state(51))
        progress(state(100))
    lines = stream.getvalue().splitlines()
    assert [line.split(" runs")[0] for line in lines] == ["50 %  50 of 100", "100 %  100 of 100"]
    assert "\r" not in stream.getvalue()


def test_a_confidence_that_is_none_is_named() -> None:
    done = ab.sweep(BASE, {}, seeds=2)
    for wrong in (1.0, 95, -0.1):
        with pytest.raises(ValueError, match=f"confidence must be from 0 to below 1, such as 0.95, not {wrong}"):
            done.means(confidence=wrong)


def test_precision_is_said_only_of_cells_with_an_interval() -> None:
    narrow, few, none = Interval(10, 100.0, 99.9, 100.1), Interval(1, 100.0, np.nan, np.nan), Interval(0, np.nan, 0, 0)
    said = Precision(0.01).said(10, [narrow, few, none, Interval(1, 5.0, np.nan, np.nan, 10)])
    assert "at most 1 % of the mean in every cell with an interval." in said
    assert "In 1 of 4 cells the runs are identical." in said
    assert "In 2 of 4 cells fewer than two runs have a value of goodput_mbps" in said
    assert "at most" not in Precision(0.01).said(10, [few, none])


def crowd(connections: int) -> str:
    """A scenario of so many short transfers over one link."""
    one = '[[connection]]\nname = "c{}"\nprotocol = "tcp"\ntransfer = {{ bytes = "1 kB", start_spread = "10 s" }}\n'
    return '[[path]]\nrate = "1 Gbit/s"\n' + "".join(one.format(i) for i in range(connections))


def test_a_crowd_that_needs_more_memory_than_there_may_be_is_refused_before_it_runs() -> None:
    scenario = ab.Scenario.from_toml(crowd(1000))
    (row,) = ab.sweep(scenario, {}, seeds=1, memory=15_900_000).runs.to_dict("records")
    assert row["status"] == "failed"
    assert row["error"].startswith("memory: 1000 connections need at least 16.0 MB, the limit is 15.9 MB; allow more")
    # What is foreseen is less than what is needed: with a limit just above it the run begins, and is broken off.
    (row,) = ab.sweep(scenario, {}, seeds=1, memory=16_100_000).runs.to_dict("records")
    assert re.match(r"memory: the engine held 1[67]\.", row["error"]), row["error"]
    (row,) = ab.sweep(scenario, {}, seeds=1, memory=40_000_000).runs.to_dict("records")
    assert row["status"] == "completed"


def test_a_run_that_the_machine_has_no_memory_for_is_bad_input(
    command: Command, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "memory: 100000 connections need at least 1600.0 MB, this machine has 1000.0 MB; run fewer connections"

    def refuses(*_: object, **__: object) -> None:
        raise _core.RunError(said)

    (here / "crowd.toml").write_text(crowd(2), encoding="utf-8")
    monkeypatch.setattr(_core, "run", refuses)
    done = command("run", "crowd.toml")
    assert (done.status, done.out, done.err) == (2, "", f"{said}\n")
