"""`check-algorithm` finds what is wrong with an algorithm, and `new --algorithm` prints files that run."""

import re
from pathlib import Path

import pytest

import anabranch as ab
from anabranch.algorithms.base import KINDS
from anabranch.conformance.check import check
from anabranch.conformance.scenarios import scenarios
from anabranch.sweeps.plan import Options
from helpers import Command

EXAMPLES = Path(__file__).parents[1] / "examples" / "python"
FEW = ("one path", "small receive buffer", "losses on one path")


SCENARIOS = scenarios()


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three scenarios instead of twenty."""
    some = {name: SCENARIOS[name] for name in FEW}
    monkeypatch.setattr("anabranch.conformance.check.scenarios", lambda: some)


def test_an_example_has_no_fault_in_twenty_scenarios() -> None:
    report = check(f"{EXAMPLES / 'min_rtt.py'}:MinRtt")
    assert (report.faults, len(report.runs), report.refused) == ((), 20, ())


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("kind", KINDS)
def test_a_template_runs_and_has_no_fault(command: Command, here: Path, kind: str) -> None:
    done = command("new", "--algorithm", kind)
    assert (done.status, done.err) == (0, "")
    (here / "mine.py").write_text(done.out, "utf-8")
    name = re.search(r"class (\w+)", done.out)
    assert name is not None
    scenario = SCENARIOS["losses on one path"].set(f"connection.{kind}", f"mine.py:{name[1]}")
    assert scenario.run().summary["status"] == "completed"
    checked = command("check-algorithm", f"mine.py:{name[1]}")
    assert (checked.status, checked.err) == (0, "")
    assert re.search(r"no fault in the conformance suite and in 3 scenarios$", checked.out.strip()), checked.out


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("file", ["stms.py:Stms", "cubic.py:Cubic", "olia.py:Olia"])
def test_the_examples_have_no_fault(file: str) -> None:
    assert check(f"{EXAMPLES / file}").faults == ()


FAULTY = {
    "a list that copies share": (
        "class Mine(ab.Controller):\n"
        "    def __init__(self): self.seen = []\n"
        "    def snapshot(self):\n"
        "        import copy\n"
        "        return copy.copy(self)\n"
        "    def on_ack(self, ack, paths, me): self.grow_in_slow_start(ack)\n"
        "    def on_congestion(self, c, paths, me):\n"
        "        self.seen.append(c.now)\n"
        "        self.halve(c)\n",
        r"conformance suite, random run 0: .*a copy changes with the original",
    ),
    "a window that grows unused": (
        "class Mine(ab.Controller):\n"
        "    def on_ack(self, ack, paths, me): self.cwnd += 1\n"
        "    def on_congestion(self, c, paths, me): self.halve(c)\n",
        r"conformance suite, random run 0: .*grows unused",
    ),
    "waits for ever": (
        "class Mine(ab.Scheduler):\n    def pick(self, offer): return ab.Wait()\n",
        r'scenario "one path": the run did not complete: stalled',
    ),
    "an exception": (
        "class Mine(ab.Scheduler):\n    def pick(self, offer): return offer.paths[9]\n",
        r"conformance suite, random run 0: scheduler Mine, at .* raised IndexError.*\(mine\.py:3, in pick\)",
    ),
    "the clock": (
        "import time\n\n\nclass Mine(ab.Scheduler):\n"
        "    def pick(self, offer):\n        return offer.open() if time.perf_counter() else None\n",
        r"mine\.py:7: time\.perf_counter reads the clock; use the time that the engine gives",
    ),
    "random": (
        "import random\n\n\nclass Mine(ab.Scheduler):\n"
        "    def pick(self, offer):\n"
        "        return random.choice([i for i, p in enumerate(offer.paths) if p.can_send])\n",
        r"mine\.py:7: random has a seed that the run does not know; use self\.random[\s\S]*",
    ),
    "two hashes": (
        "class Mine(ab.Scheduler):\n"
        "    def pick(self, offer):\n"
        "        able = [i for i, p in enumerate(offer.paths) if p.can_send]\n"
        "        return able[hash(str(offer.now_ns)) % len(able)]\n",
        r'scenario "small receive buffer": two runs with the same seed differ: trace \w{12} and \w{12}',
    ),
    "exp": (
        "import math\n\n\nclass Mine(ab.Controller):\n"
        "    def on_ack(self, ack, paths, me):\n"
        "        if not self.grow_in_slow_start(ack):\n            self.cwnd += math.exp(1.0)\n"
        "    def on_congestion(self, c, paths, me): self.halve(c)\n",
        r"mine\.py:8: math\.exp is the platform's own, .*; use ab\.math\.exp",
    ),
    "a cube in a helper": (
        "def cube(x):\n    return x ** 3\n\n\nclass Mine(ab.Controller):\n"
        "    def on_ack(self, ack, paths, me):\n"
        "        if not self.grow_in_slow_start(ack):\n            self.cwnd += cube(1.1)\n"
        "    def on_congestion(self, c, paths, me): self.halve(c)\n",
        r"mine\.py:3: x \*\* y of real numbers is the platform's own; use ab\.math\.pow, or x \* x",
    ),
    "a power": (
        "class Mine(ab.Controller):\n"
        "    def on_ack(self, ack, paths, me):\n"
        "        if not self.grow_in_slow_start(ack):\n            self.cwnd += self.cwnd ** 0.4\n"
        "    def on_congestion(self, c, paths, me): self.halve(c)\n",
        r"mine\.py:5: x \*\* y of real numbers is the platform's own; use ab\.math\.pow, or x \* x",
    ),
}


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("name", FAULTY)
def test_a_fault_is_printed(command: Command, here: Path, name: str) -> None:
    source, said = FAULTY[name]
    (here / "mine.py").write_text(f"import anabranch as ab\n{source}", "utf-8")
    done = command("check-algorithm", "mine.py:Mine")
    assert (done.status, done.err) == (1, "")
    assert re.search(said, done.out), done.out
    assert re.search(r"^mine\.py:Mine: \d+ faults?; [123] scenarios? (was|were) run$", done.out, re.MULTILINE)


@pytest.mark.usefixtures("few")
def test_random_numbers_of_the_run_and_exact_functions_are_no_fault(here: Path) -> None:
    (here / "mine.py").write_text(
        "import math\nimport anabranch as ab\n\n\nclass Mine(ab.Scheduler):\n"
        "    def pick(self, offer):\n"
        "        able = [i for i, p in enumerate(offer.paths) if p.can_send]\n"
        "        return self.random.choice(able) if math.sqrt(len(able)) * 2 ** 3 and ab.math.exp(1.0) else able[0]\n",
        "utf-8",
    )
    assert check("mine.py:Mine").faults == ()


@pytest.mark.usefixtures("few")
def test_a_method_that_loops_is_a_fault(command: Command, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anabranch.conformance.check._OPTIONS", Options(timeout=0.2))
    text = "class Mine(ab.Scheduler):\n    def pick(self, offer):\n        while True: pass\n"
    (here / "mine.py").write_text(f"import anabranch as ab\n{text}", "utf-8")
    done = command("check-algorithm", "mine.py:Mine")
    assert done.status == 1
    assert "conformance suite, random run 0: timeout: not done after 0.2 s" in done.out
    assert "mine.py:Mine: 2 faults; 1 scenario was run" in done.out


@pytest.mark.parametrize(
    ("needs", "said"),
    [
        ('("speed",)', 'needs has no "speed"; choices: "sack"'),
        ('"backlog"', 'needs is "backlog"; write needs = ("backlog",)'),
    ],
)
def test_unknown_needs_are_refused(command: Command, here: Path, needs: str, said: str) -> None:
    text = f"class Mine(ab.Scheduler):\n    needs = {needs}\n    def pick(self, offer): return offer.open()\n"
    (here / "mine.py").write_text(f"import anabranch as ab\n{text}", "utf-8")
    done = command("check-algorithm", "mine.py:Mine")
    assert (done.status, done.out) == (2, "")
    assert said in done.err, done.err


def test_what_is_no_algorithm_is_refused(command: Command, here: Path) -> None:
    (here / "mine.py").write_text("class Mine: pass\n", "utf-8")
    done = command("check-algorithm", "mine.py:Mine")
    assert (done.status, done.out) == (2, "")
    assert "mine.py:Mine is no algorithm; derive the class from" in done.err
    assert command("check-algorithm", "other.py:Mine").status == 2
    done = command("check-algorithm", "min-rtt")
    assert done.status == 2
    assert '"min-rtt" does not name a Python class; write file.py:Class or module:Class' in done.err
    assert command("new", "--algorithm", "scheduler", "--sweep").status == 2
    assert ab.Scheduler.kind in KINDS
