"""An algorithm that loops inside a call is ended by a timeout and by signals, wherever it runs."""

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

LOOPING = """
import sys
import anabranch as ab

class Loops(ab.Scheduler):
    def pick(self, offer):
        if offer.now < 0.3:
            return offer.open()
        print("looping", file=sys.stderr, flush=True)
        while True:
            pass

class Stubborn(ab.Scheduler):
    def pick(self, offer):
        if offer.now < 0.3:
            return offer.open()
        count = 0
        while count < 3:
            try:
                while True:
                    pass
            except BaseException:
                count += 1
        while True:
            pass


class Sleeps(ab.Scheduler):
    def pick(self, offer):
        import time

        if offer.now > 0.3:
            time.sleep(1000)
        return offer.open()
"""
TOML = """
[connection]
scheduler = "loops.py:Loops"
[transfer]
bytes = "2 MB"
[[path]]
rate = "5 Mbit/s"
[[path]]
rate = "2 Mbit/s"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A directory with an algorithm that loops, and a scenario that names it."""
    (tmp_path / "loops.py").write_text(LOOPING, "utf-8")
    (tmp_path / "s.toml").write_text(TOML, "utf-8")
    return tmp_path


def command(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "anabranch", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def script(folder: Path, text: str) -> "subprocess.CompletedProcess[str]":
    """Run a program that may use the algorithms."""
    code = f"import anabranch as ab\nfrom loops import Loops, Stubborn\n{textwrap.dedent(text)}"
    (folder / "program.py").write_text(code, "utf-8")
    return subprocess.run(
        [sys.executable, "program.py"], cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )


def test_a_timeout_ends_the_command(folder: Path) -> None:
    done = command(folder, "run", "s.toml", "--timeout", "500 ms", "--out", "result")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(
        "timeout: not done after 0.5 s of wall-clock time, in scheduler Loops"
    )
    assert "s of virtual time; let the algorithm return sooner, or raise the timeout" in done.stderr
    assert not (folder / "result").exists()


def test_a_timeout_ends_an_algorithm_that_catches_everything(folder: Path) -> None:
    done = command(folder, "run", "s.toml", "--timeout", "300 ms", "--set", "connection.scheduler=loops.py:Stubborn")
    assert (done.returncode, "in scheduler Stubborn" in done.stderr) == (1, True)


def test_a_timeout_ends_the_command_while_an_algorithm_sleeps(folder: Path) -> None:
    changes = ("--set", "connection.scheduler=loops.py:Sleeps")
    done = command(folder, "run", "s.toml", "--timeout", "300 ms", "--out", "result", *changes)
    said = "timeout: the run took more than 0.3 s of wall-clock time, and a call in the run cannot be ended; "
    said += "check that no algorithm sleeps or waits"
    assert (done.returncode, done.stderr) == (1, said + "\n")
    assert [entry.name for entry in folder.iterdir() if "result" in entry.name] == []


def test_a_timeout_ends_a_run_without_such_algorithms(folder: Path) -> None:
    changes = ("--set", "connection.scheduler=min-rtt", "--set", "transfer.bytes=100 GB", "--set", "duration=1000 h")
    done = command(folder, "run", "s.toml", "--timeout", "200 ms", *changes)
    assert done.returncode == 1
    assert done.stderr == "timeout: not done after 200ms of wall-clock time; allow more, or simulate less\n"


@pytest.mark.parametrize("wrong", ["soon", "0 s", "-1 s"])
def test_a_timeout_that_is_no_time_is_refused(folder: Path, wrong: str) -> None:
    done = command(folder, "run", "s.toml", f"--timeout={wrong}")
    assert (done.returncode, "--timeout" in done.stderr) == (2, True)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends Ctrl-C to the tests, too")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("arguments", [("run", "s.toml"), ("check", "sweep.toml"), ("sweep", "sweep.toml")])
def test_a_signal_ends_the_command(folder: Path, number: signal.Signals, arguments: tuple[str, ...]) -> None:
    (folder / "sweep.toml").write_text('scenario = "s.toml"\nseeds = 2\n[axes]\nmss = [1000, 1400]\n', "utf-8")
    with subprocess.Popen(
        [sys.executable, "-m", "anabranch", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr is not None
            assert any("looping" in line for line in process.stderr)
            process.send_signal(number)
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 128 + number
    assert "interrupted" in err


def test_a_timeout_ends_a_run_of_another_thread(folder: Path) -> None:
    done = script(
        folder,
        """
        import threading

        said = []

        def work():
            try:
                ab.Scenario.load("s.toml").run(timeout=0.4)
            except ab.RunError as error:
                said.append(str(error))

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        print(said, ab.Scenario.load("s.toml").set("connection.scheduler", "min-rtt").run().summary["status"])
        """,
    )
    assert done.returncode == 0, done.stderr
    assert "in scheduler Loops, at 0.3" in done.stdout
    assert done.stdout.strip().endswith("completed")


def test_a_timeout_of_a_sweep_makes_a_row_and_the_sweep_goes_on(folder: Path) -> None:
    done = script(
        folder,
        """
        if __name__ == "__main__":
            base = ab.Scenario.load("s.toml")
            axes = {"scheduler": ["loops.py:Loops", "min-rtt"]}
            frame = ab.sweep(base, axes, seeds=1, timeout=1.5).runs
            print(sorted(frame["status"]))
            print(*frame["error"])
        """,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "['completed', 'failed']"
    assert "timeout: not done after 1.5 s of wall-clock time, in scheduler Loops, at 0.3" in done.stdout


CELLS = """
import os, signal, sys, threading

# A shell that starts tests in the background lets them ignore SIGINT.
signal.signal(signal.SIGINT, signal.default_int_handler)

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)

class Signals(ab.Scheduler):
    def pick(self, offer):
        if offer.now < 0.3:
            return offer.open()
        threading.Timer(0.1, interrupt).start()
        while True:
            pass

cells = [
    'ab.Scenario.load("s.toml").run(timeout=0.4)',
    'ab.Scenario.load("s.toml").set("connection.scheduler", Signals).run()',
    'print(ab.Scenario.load("s.toml").set("connection.scheduler", "min-rtt").run().summary["status"])',
]
for cell in cells:
    try:
        exec(cell)
    except BaseException as error:
        print(type(error).__name__)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends Ctrl-C to the tests, too")
def test_cells_of_a_notebook_go_on_after_a_timeout_and_after_an_interrupt(folder: Path) -> None:
    """A notebook runs cells one after the other in the main thread, and its button sends SIGINT."""
    done = script(folder, CELLS)
    assert done.stdout.split() == ["RunError", "KeyboardInterrupt", "completed"], done.stderr


def test_a_run_in_time_leaves_the_interpreter_as_it_was(folder: Path) -> None:
    """An exception that is taken back makes CPython 3.11 hang under a profiler."""
    done = script(
        folder,
        """
        import sys

        scenario = ab.Scenario.load("s.toml").set("duration", "250 ms")
        plain = scenario.run().summary["trace_sha256"]
        sys.setprofile(lambda *_: None)
        again = scenario.run(timeout=600).summary["trace_sha256"]
        sys.setprofile(None)
        print(plain == again)
        """,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "True"), done.stderr


def test_nothing_is_raised_after_the_end(folder: Path) -> None:
    """Runs that end about when their time is over either end, or say that it was over; later code is left alone."""
    done = script(
        folder,
        """
        import time
        from anabranch.algorithms import watchdog

        watchdog._RAISE_AFTER = 0.0
        ends = []
        for i in range(60):
            def call():
                until = time.monotonic() + 0.01 + i * 5e-4
                while time.monotonic() < until or i == 59:
                    pass
            try:
                watchdog.guarded(call, 0.012)
                ends.append("done")
            except ab.RunError:
                ends.append("late")
        time.sleep(0.3)
        print(len(ends), ends[-1])
        """,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "60 late"
