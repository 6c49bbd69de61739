"""Sweeps of algorithms written in Python: in processes beside this one, which end with it."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import anabranch as ab
from anabranch.sweeps import process
from helpers import Command

BASE = ab.Scenario.two_path("10 Mbit/s, 20 ms, loss 1 %", "4 Mbit/s, 60 ms", transfer="500 kB", receive_buffer="60 kB")
LOCK = threading.Lock()


class First(ab.Scheduler):
    """The first subflow that can send."""

    last = ab.Parameter(0, 0, 1, unit="whole", meaning="1: the last subflow")

    def pick(self, offer):
        able = [i for i, path in enumerate(offer.paths) if path.can_send]
        return able[-int(self.last)]


def gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody has waited for has."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state in {"Z", "X"}


def within(seconds: float, holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def test_cells_of_python_algorithms_run_in_other_processes_with_the_trace_of_a_run() -> None:
    mine = os.getpid()

    class Beside(First):
        def pick(self, offer):
            assert os.getpid() != mine
            return super().pick(offer)

    swept = ab.sweep(BASE, {"scheduler": [Beside, "min-rtt"]}, seeds=[1, 2], workers=2)
    assert swept.runs["status"].tolist() == ["completed"] * 4, swept.runs["error"].tolist()
    wanted = [
        BASE.set("connection.scheduler", scheduler).run(seed).summary["trace_sha256"]
        for scheduler in (First, "min-rtt")
        for seed in (1, 2)
    ]
    assert swept.runs["trace_sha256"].tolist() == wanted


def test_an_axis_of_classes_and_objects_has_their_names(tmp_path: Path) -> None:
    with pytest.raises(ab.ScenarioError, match=r"values that are the same or written alike: .*; write each value once"):
        ab.sweep(BASE, {"scheduler": [First, First]}, seeds=1)
    with pytest.raises(ab.ScenarioError, match=r"alike: \[1000, 1000, 1000\]; write"):
        ab.sweep(BASE, {"mss": [1000, 700, 1000, 1000]}, seeds=1)
    with pytest.raises(ab.ScenarioError, match=r"alike: \[True, 'True'\]; write"):
        ab.sweep(BASE, {"pacing": [True, "True"]}, seeds=1)
    swept = ab.sweep(BASE, {"scheduler": [First, First(last=1), "round-robin"]}, seeds=1, out=tmp_path / "kept")
    assert swept.runs["scheduler"].tolist() == ["First", "First last=1", "round-robin"]
    assert swept.runs["trace_sha256"].nunique() == 3
    assert swept.compare("scheduler", baseline="round-robin")["scheduler"].tolist() == ["First", "First last=1"]
    assert "First last=1" in str(swept)
    again = ab.Sweep.load(tmp_path / "kept")
    assert again.runs["trace_sha256"].tolist() == swept.runs["trace_sha256"].tolist()
    assert ab.Plan.of(BASE, {"scheduler": [f"{Path(__file__)}:First"]}, seeds=1).cells[0].labels == {
        "scheduler": "First"
    }


def test_an_exception_is_a_row_with_the_line_that_raised() -> None:
    class Faulty(First):
        def pick(self, offer):
            return 1 // 0 if offer.now > 0.1 else super().pick(offer)

    runs = ab.sweep(BASE, {"scheduler": [Faulty, First]}, seeds=1).runs
    assert runs["status"].tolist() == ["failed", "completed"]
    said = runs["error"][0]
    assert said.startswith("scheduler Faulty, at 0.1")
    assert "raised ZeroDivisionError" in said
    assert f"({Path(__file__).name}:" in said
    assert said.endswith(", in pick)")


def test_a_run_that_sleeps_past_its_timeout_ends_with_its_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_KILL_AFTER", 0.3)
    mark = str(tmp_path / "pid")

    class Sleeping(First):
        def pick(self, offer):
            Path(mark).write_text(str(os.getpid()), "utf-8")
            time.sleep(600)

    plan = ab.Plan.of(BASE, {"scheduler": [Sleeping, First]}, seeds=1, timeout=3.0)
    runs = plan.run(workers=1).runs
    assert runs["status"].tolist() == ["failed", "completed"]
    assert runs["error"][0].startswith("timeout: the run did not end within 3 s")
    assert gone(int(Path(mark).read_text("utf-8")))


def test_a_process_that_dies_costs_its_run_alone() -> None:
    class Deadly(First):
        def pick(self, offer):
            os.kill(os.getpid(), signal.SIGKILL)

    runs = ab.sweep(BASE, {"scheduler": [Deadly, First]}, seeds=1, workers=1).runs
    assert runs["status"].tolist() == ["failed", "completed"]
    assert runs["error"][0] == "worker: the process that made this run ended (signal 9); too little memory?"


SLOW = """
import os
import time
from pathlib import Path

import anabranch as ab


class Slow(ab.Scheduler):
    number = ab.Parameter(0, 0, 9, unit="whole")

    def pick(self, offer):
        if self.number:
            Path(f"pid{os.getpid()}").touch()
            time.sleep(600)
        return offer.open()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_keeps_what_is_done_and_leaves_no_process_behind(here: Path, number: signal.Signals) -> None:
    (here / "slow.py").write_text(SLOW, "utf-8")
    (here / "base.toml").write_text(BASE.set("connection.scheduler", "min-rtt").toml, "utf-8")
    sweep = 'scenario = "base.toml"\nset = { "connection.scheduler" = "slow.py:Slow" }\nseeds = 2\n'
    (here / "sweep.toml").write_text(f"{sweep}axes = {{ 'scheduler.number' = [0, 1] }}\n", "utf-8")
    command = [sys.executable, "-m", "anabranch", "sweep", "sweep.toml", "--out", "kept", "--workers", "2"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        assert within(60, lambda: len(list(here.glob("pid*"))) == 2)
        os.kill(running.pid, number)
        _, said = running.communicate(timeout=30)
    pids = [int(file.name.removeprefix("pid")) for file in here.glob("pid*")]
    assert len(pids) == 2
    assert all(within(20, lambda pid=pid: gone(pid)) for pid in pids)  # type: ignore[misc]
    if number != signal.SIGKILL:
        assert running.returncode == 128 + number
        assert "runs are kept in kept" in said
    assert ab.Sweep.load("kept").runs["status"].eq("completed").sum() >= 1


def test_what_cannot_be_sent_to_a_process_is_named_with_a_remedy() -> None:
    class Locked(First):
        def pick(self, offer):
            with LOCK:
                return super().pick(offer)

    with pytest.raises(ab.ScenarioError, match=r"Locked cannot be sent to a worker process: LOCK is a lock .*__init__"):
        ab.sweep(BASE.set("connection.scheduler", Locked), {}, seeds=1)


def test_a_class_that_is_not_here_is_refused_with_a_remedy(tmp_path: Path) -> None:
    class Local(First):
        pass

    ab.sweep(BASE.set("connection.scheduler", Local), {}, seeds=1, out=tmp_path / "kept")
    with pytest.raises(
        ab.ScenarioError, match=r'class Local is not here: .* scenario.set\("connection.scheduler", Local'
    ):
        ab.sweep(ab.Sweep.load(tmp_path / "kept").plan.scenario, {}, seeds=1)


def test_recommend_tries_a_class_among_others(command: Command, here: Path) -> None:
    found = ab.recommend(BASE, runs=12, only=[First, "min-rtt", "controller=cubic", "none", "rfc6675"])
    assert any(":First, " in one["candidate"] for one in found.summary["first_look"])
    (here / "first.py").write_text(
        "import anabranch as ab\n\n\nclass First(ab.Scheduler):\n    pick = lambda self, offer: offer.open()\n", "utf-8"
    )
    done = command(
        *("recommend", "--path", "10 Mbit/s, 20 ms", "--path", "4 Mbit/s, 60 ms", "--seeds", "1"),
        *("--candidate", "cubic, none, first.py:First, unlimited", "--candidate", "cubic, none, min-rtt, unlimited"),
    )
    assert done.status == 0, done.err
    assert "First" in done.out
