"""Schedulers that numba compiles: the trace of their twins, wherever a class of Python can stand, and what fails."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc"

import json
import os
import subprocess
import sys
import textwrap
import traceback
from pathlib import Path
from typing import Any, cast

import pytest

import anabranch as ab
from anabranch import _core
from anabranch.algorithms.compiled import Compiled
from anabranch.algorithms.identity import identity
from anabranch.conformance.check import check
from anabranch.conformance.scenarios import scenarios
from helpers import Command
from test_python_algorithms import EXAMPLES, LOSSY, SCENARIOS, trace
from test_python_kinds import full

MIN_RTT = f"{EXAMPLES / 'compiled' / 'min_rtt.py'}:min_rtt"


@pytest.fixture
def numba() -> None:
    """Skips the test without numba."""
    pytest.importorskip("numba", reason="compiled schedulers: numba (anabranch[fast]) is not installed")


@ab.compiled
def first(offer, paths):
    """The first subflow that can send."""
    for i in range(len(paths)):
        if paths[i].can_send:
            return i
    return ab.WAIT


@ab.compiled(memory=1)
def in_turn(offer, paths, memory):
    for k in range(len(paths)):
        i = (int(memory[0]) + k) % len(paths)
        if paths[i].can_send:
            memory[0] = i + 1
            return i
    return ab.WAIT


class InTurn(ab.Scheduler):
    """What `in_turn` does, as a class."""

    def __init__(self):
        self.next = 0

    def pick(self, offer):
        count = len(offer.paths)
        for k in range(count):
            i = (self.next + k) % count
            if offer.paths[i].can_send:
                self.next = i + 1
                return i
        return ab.Wait()


@ab.compiled
def least_used(
    offer, paths, part=ab.Parameter(0.5, 0.0, 1.0, unit="share", meaning="filling of a window that it uses")
):
    other = ab.WAIT
    for i in range(len(paths)):
        if paths[i].can_send:
            if paths[i].in_flight < part * paths[i].cwnd:
                return i
            other = i
    return other


class LeastUsed(ab.Scheduler):
    """What `least_used` does, as a class."""

    part = ab.Parameter(0.5, 0.0, 1.0, unit="share")

    def pick(self, offer):
        able = [i for i, path in enumerate(offer.paths) if path.can_send]
        return next((i for i in able if offer.paths[i].in_flight < self.part * offer.paths[i].cwnd), able[-1])


@pytest.mark.usefixtures("numba")
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_compiled_scheduler_has_the_trace_of_its_twin_in_rust(name: str) -> None:
    own = trace(SCENARIOS[name], scheduler=MIN_RTT)
    assert own == trace(SCENARIOS[name], scheduler="min-rtt") == full(SCENARIOS[name], scheduler=MIN_RTT)
    assert own != trace(SCENARIOS[name], scheduler="round-robin")


@pytest.mark.usefixtures("numba")
def test_a_compiled_scheduler_keeps_its_memory_and_its_parameters() -> None:
    assert trace(LOSSY, scheduler=in_turn) == trace(LOSSY, scheduler=InTurn)
    assert trace(LOSSY, scheduler=in_turn) != trace(LOSSY, scheduler=first)
    for part in (0.2, 0.9):
        assert trace(LOSSY, scheduler=least_used(part=part)) == trace(LOSSY, scheduler=LeastUsed(part=part))
    assert trace(LOSSY, scheduler=least_used(part=0.2)) != trace(LOSSY, scheduler=least_used(part=0.9))
    with pytest.raises(ab.ScenarioError, match="part"):
        LOSSY.set("connection.scheduler", least_used(part=2.0)).check()


WORDS = {"open": 0.0, "cwr": 1.0, "fast": 2.0, "loss": 3.0}


class Mixed(ab.Scheduler):
    """Chooses by a sum in which each attribute of the offer and of each path has a weight of its own."""

    def pick(self, offer):
        of_offer, of_path = _core.columns()
        total, weight = 0.0, 1.0
        for row, names in ((offer, of_offer), *((path, of_path) for path in offer.paths)):
            for name in names:
                value = getattr(row, name)
                total += weight * min(float(WORDS.get(value, value)), 1e9)
                weight += 1.0
        able = [i for i, path in enumerate(offer.paths) if path.can_send]
        return able[int(total) % len(able)]


def mixed() -> type[ab.Scheduler]:
    """`Mixed`, compiled."""
    of_offer, of_path = _core.columns()
    add = "total += weight * min({}, 1e9); weight += 1.0"
    lines = [
        "def mixed(offer, paths):",
        " total = 0.0; weight = 1.0",
        *(f" {add.format(f'offer.{n}')}" for n in of_offer),
    ]
    lines += [" count = 0", " for path in paths:", *(f"  {add.format(f'path.{name}')}" for name in of_path)]
    lines += ["  if path.can_send: count += 1", " left = int(total) % count", " for i in range(len(paths)):"]
    lines += ["  if paths[i].can_send:", "   if left == 0: return i", "   left -= 1", " return -1"]
    names: dict[str, Any] = {"__name__": __name__}
    exec("\n".join(lines), names)
    return ab.compiled(names["mixed"])


@pytest.mark.usefixtures("numba")
def test_each_column_of_a_row_has_the_value_of_the_attribute() -> None:
    scenario = SCENARIOS["three paths"]
    assert trace(scenario, scheduler=mixed()) == trace(scenario, scheduler=Mixed)


def test_a_function_with_other_arguments_is_refused_with_the_right_ones() -> None:
    cases: dict[str, Any] = {
        r"takes other arguments; define pick\(offer, paths\)": lambda offer: 0,
        r"the argument wait is not an ab.Parameter; write wait=ab.Parameter\(DEFAULT": lambda offer, paths, wait: 0,
        r"a parameter cannot be called label": lambda offer, paths, label=ab.Parameter(0, 0, 1): 0,
    }
    for said, function in cases.items():
        with pytest.raises(ab.AlgorithmError, match=said):
            ab.compiled(function)
    with pytest.raises(ab.AlgorithmError, match="memory is -1; give a whole number from 0"):
        ab.compiled(memory=-1)(lambda offer, paths, memory: 0)
    with pytest.raises(ab.AlgorithmError, match="is not a Python function"):
        ab.compiled(ab.Scheduler)  # type: ignore[arg-type]


def test_a_function_that_would_do_something_else_than_it_says_is_refused() -> None:
    def later(offer, paths):
        yield 0

    async def waits(offer, paths):
        return 0

    def by_word(offer, paths):
        return 0 if paths[0].recovery in ("open", "cwr") else ab.WAIT

    cases: dict[str, Any] = {
        r"later uses yield; return the index of a path": later,
        r"waits uses async; return the index of a path": waits,
        r'by_word compares recovery with "open"; in a row it is a number: 0 \(open\), 1 \(cwr\)': by_word,
        r"a lambda has no name that a scenario could use; write def pick\(offer, paths\)": lambda offer, paths: 0,
    }
    for said, function in cases.items():
        with pytest.raises(ab.AlgorithmError, match=said):
            ab.compiled(function)
    with pytest.raises(ab.AlgorithmError, match="memory is True; give a whole number from 0"):
        ab.compiled(memory=True)(cast("Any", in_turn).function)


def test_the_class_of_a_compiled_scheduler_is_no_base_and_has_no_method_to_call() -> None:
    with pytest.raises(ab.AlgorithmError, match=r"Better: no class can derive from a compiled scheduler; give ab"):

        class Better(cast("Any", first)):
            """Its `pick` would never be called."""

            def pick(self, offer):
                return 0

    with pytest.raises(ab.AlgorithmError, match=r"first\.pick: only the engine can call .*, call first\.function with"):
        cast("Any", first)().pick(None)
    with pytest.raises(ab.AlgorithmError, match=r"Compiled has no function; make a scheduler with ab\.compiled"):
        LOSSY.set("connection.scheduler", Compiled).check()


def test_without_numba_the_message_says_how_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    @ab.compiled
    def mine(offer, paths):
        return 0

    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(ab.AlgorithmError, match=r"mine, a compiled scheduler, needs numba: .* -m pip install 'numba>="):
        LOSSY.set("connection.scheduler", mine).check()


@pytest.mark.usefixtures("numba")
def test_a_function_that_cannot_be_compiled_is_refused_before_the_run() -> None:
    @ab.compiled
    def unknown(offer, paths):
        return paths[0].srt

    @ab.compiled
    def nothing(offer, paths):
        return 0 if paths[0].can_send else None

    @ab.compiled
    def as_a_class(offer, paths):
        return offer.paths[0].mss

    @ab.compiled
    def truth(offer, paths):
        return paths[0].can_send > 0

    seen: list[int] = []

    @ab.compiled
    def keeps(offer, paths):
        seen.append(1)
        return 0

    for cls, said in (
        (as_a_class, r"as_a_class cannot be compiled: a row has no column paths; help\(ab.compiled\) says which"),
        (truth, r"truth returns values of type bool; return the index of a path"),
        (keeps, r"(?s)keeps cannot be compiled: .*'seen'.*numbers to keep go into ab\.compiled\(memory=\.\.\.\)"),
        (unknown, r"unknown cannot be compiled: a row has no column srt; did you mean `srtt`\?"),
        (nothing, r"returns no value on some way"),
    ):
        with pytest.raises(ab.AlgorithmError, match=said):
            LOSSY.set("connection.scheduler", cls).check()


@pytest.mark.usefixtures("numba")
def test_what_a_compiled_scheduler_does_wrong_ends_the_run_with_value_and_time() -> None:
    @ab.compiled
    def blind(offer, paths):
        return 0

    @ab.compiled
    def absent(offer, paths):
        return 7

    @ab.compiled(memory=1)
    def beyond(offer, paths, memory):
        memory[0] += 1
        if paths[int(memory[0] / 50)].cwnd > 0:
            for i in range(len(paths)):
                if paths[i].can_send:
                    return i
        return ab.WAIT

    with pytest.raises(ab.AlgorithmError, match=r"scheduler blind, at \S+ s of .*: chose subflow 0, which cannot send"):
        LOSSY.set("connection.scheduler", blind).run()
    with pytest.raises(
        ab.AlgorithmError, match=r"scheduler absent, at .*: returned 7; valid indices of offer.paths are 0 to 0"
    ):
        LOSSY.set("connection.scheduler", absent).run()
    with pytest.raises(ab.AlgorithmError, match=r"scheduler beyond, at .*: raised IndexError: index 2") as failed:
        SCENARIOS["losses"].set("connection.scheduler", beyond).run()
    assert "paths[int(memory[0] / 50)]" in "".join(traceback.format_exception(failed.value))


@pytest.fixture
def folder(here: Path) -> Path:
    """A directory with a compiled scheduler, a helper that it calls, and a scenario that names it."""
    (here / "mine.py").write_text(
        textwrap.dedent("""
            import anabranch as ab
            from numba import njit

            @njit
            def better(one, two):
                return one < two

            @ab.compiled
            def mine(offer, paths, share=ab.Parameter(0.5, 0, 1)):
                best = ab.WAIT
                for i in range(len(paths)):
                    if paths[i].can_send and (best == ab.WAIT or better(paths[i].srtt, paths[best].srtt)):
                        best = i
                return best
        """),
        "utf-8",
    )
    toml = LOSSY.toml.replace("[connection]", '[connection]\nscheduler = { name = "mine.py:mine", share = 0.2 }')
    (here / "s.toml").write_text(toml, "utf-8")
    return here


@pytest.mark.usefixtures("numba")
def test_a_file_names_it_in_toml_in_a_sweep_in_a_replay_and_in_a_check(
    folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = command("run", "s.toml", "--out", "kept", "--quiet")
    assert done.status == 0, done.err
    summary = json.loads((folder / "kept" / "summary.json").read_text("utf-8"))
    assert summary["trace_sha256"] == trace(LOSSY, scheduler="min-rtt")
    assert command("replay", "kept").status == 0
    swept = ab.sweep(ab.Scenario.load("s.toml"), {"scheduler": ["mine.py:mine", "min-rtt"]}, seeds=2, workers=2).runs
    assert set(swept["status"]) == {"completed"}
    assert swept.groupby("seed")["trace_sha256"].nunique().tolist() == [1, 1]
    every = scenarios()
    few = {name: every[name] for name in ("one path", "losses on one path")}
    monkeypatch.setattr("anabranch.conformance.check.scenarios", lambda: few)
    assert check("mine.py:mine").faults == ()
    file = folder / "mine.py"
    file.write_text(file.read_text("utf-8").replace("one < two", "one > two"), "utf-8")
    refused = command("replay", "kept")
    assert refused.status == 2
    assert "mine.py was changed after the run" in refused.err


def test_the_identity_holds_the_code_and_the_names_that_it_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(limit: int) -> type[ab.Scheduler]:
        @ab.compiled
        def cell(offer, paths):
            return ab.WAIT if offer.unsent > limit else 0

        return cell

    assert identity(made(1)) == identity(made(1)) != identity(made(2))


@pytest.mark.usefixtures("numba")
def test_a_check_names_calls_whose_last_bit_differs(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "mine.py").write_text(
        "import math\nimport anabranch as ab\n\n@ab.compiled\ndef mine(offer, paths):\n"
        "    return 0 if paths[0].can_send and math.exp(offer.now) > 0 else len(paths) - 1\n",
        "utf-8",
    )
    few = {"one path": scenarios()["one path"]}
    monkeypatch.setattr("anabranch.conformance.check.scenarios", lambda: few)
    faults = check("mine.py:mine").faults
    assert any("math.exp is the platform's own" in fault and fault.startswith("mine.py:6") for fault in faults), faults


PAGE = EXAMPLES.parents[1] / "docs" / "python-algorithms.md"
COLUMNS = PAGE.with_name("columns.md")


def test_the_page_lists_the_columns_of_the_rows() -> None:
    """With ANABRANCH_QUOTES=write the table is renewed."""
    lines = ["| row | column | meaning |", "|---|---|---|"]
    for row, view, names in zip(("`offer`", "`paths[i]`"), (_core.Offer, _core.Path), _core.columns(), strict=True):
        for name in names:
            meaning = " ".join(str(getattr(view, name).__doc__).split())
            lines.append(f"| {row} | `{name}` | {meaning} |")
    before, _, rest = COLUMNS.read_text("utf-8").partition("<!-- columns -->\n")
    told, end, after = rest.partition("<!-- end of columns -->")
    table = "\n".join(lines) + "\n"
    if os.environ.get("ANABRANCH_QUOTES") == "write":
        COLUMNS.write_text(f"{before}<!-- columns -->\n{table}{end}{after}", "utf-8")
        told = table
    assert told == table


@pytest.mark.usefixtures("numba")
def test_the_scheduler_of_the_page_has_the_trace_of_the_class_of_the_page(here: Path) -> None:
    for file in ("mine.py", "fast.py"):
        code = PAGE.read_text("utf-8").partition(f"<!-- file: {file} -->\n```python\n")[2].partition("```")[0]
        (here / file).write_text(code, "utf-8")
    assert trace(LOSSY, scheduler="fast.py:emptiest") == trace(LOSSY, scheduler="mine.py:Emptiest")


@pytest.mark.usefixtures("numba")
def test_the_command_ends_a_loop_in_machine_code_after_its_timeout(here: Path) -> None:
    (here / "loops.py").write_text(
        "import anabranch as ab\n\n@ab.compiled\ndef loops(offer, paths):\n"
        "    i = 0\n    while offer.now > 0.2 or not paths[i].can_send:\n        i = 1 - i if len(paths) > 1 else 0\n"
        "    return i\n",
        "utf-8",
    )
    (here / "s.toml").write_text(LOSSY.toml, "utf-8")
    words = ["run", "s.toml", "--set", "connection.scheduler=loops.py:loops", "--timeout", "1 s", "--out", "kept"]
    done = subprocess.run(
        [sys.executable, "-m", "anabranch", *words], cwd=here, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "1 s" in done.stderr
    assert not (here / "kept").exists()
