"""Algorithms written in Python: the same trace as their Rust twins, and what is said when one fails."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,method-assign"

import copy
import math
import sys
import traceback
from pathlib import Path

import pytest

import anabranch as ab
from anabranch.sweeps.plan import plan

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples" / "python"
LOSSY = ab.Scenario.two_path(
    "10 Mbit/s, 20 ms, loss 1 %", "4 Mbit/s, 60 ms, loss 0.5 %", transfer="2 MB", receive_buffer="200 kB"
)


def trace(scenario: ab.Scenario, **keys: object) -> str:
    changed = scenario.set({f"connection.{key}": value for key, value in keys.items()})  # type: ignore[misc]
    return str(changed.run().summary["trace_sha256"])


SCENARIOS = {
    "losses": LOSSY,
    "unlike paths, small buffer": ab.Scenario.two_path(
        "20 Mbit/s, 5 ms, loss 0.2 %", "2 Mbit/s, 120 ms, loss 1 %", transfer="2 MB", receive_buffer="80 kB"
    ),
    "short queues": ab.Scenario.two_path(
        "8 Mbit/s, 30 ms, queue 20 kB, loss 0.1 %",
        "5 Mbit/s, 50 ms, queue 20 kB",
        transfer="2 MB",
        receive_buffer="60 kB",
    ),
    "three paths": ab.Scenario.of_paths(
        ["6 Mbit/s, 10 ms, loss 0.5 %", "6 Mbit/s, 40 ms, loss 0.2 %", "3 Mbit/s, 80 ms"],
        transfer="2 MB",
        receive_buffer="100 kB",
    ),
    "overtaking packets, undo": ab.Scenario.two_path(
        "10 Mbit/s, 20 ms, loss 0.2 %",
        "10 Mbit/s, 40 ms, delay_variation 50 %, overtaking true",
        transfer="4 MB",
        receive_buffer="150 kB",
        profile="classic",
        judge="eifel",
    ),
}


class First(ab.Scheduler):
    """The first subflow that can send."""

    def pick(self, offer):
        return next(i for i, path in enumerate(offer.paths) if path.can_send)


class Reno(ab.Controller):
    """A tenth of a segment for each segment acknowledged."""

    def on_ack(self, ack, paths, me):
        if not self.grow_in_slow_start(ack):
            self.cwnd += self.mss * ack.growth / self.cwnd

    def on_congestion(self, congestion, paths, me):
        self.halve(congestion)


@pytest.mark.parametrize(
    ("kind", "file", "twin", "other"),
    [
        ("scheduler", "min_rtt.py:MinRtt", "min-rtt", "round-robin"),
        ("scheduler", "blest.py:Blest", "blest", "min-rtt"),
        ("scheduler", "ecf.py:Ecf", "ecf", "min-rtt"),
        ("scheduler", "stms.py:Stms", "after-stms", "min-rtt"),
        ("controller", "lia.py:Lia", "coupled", "olia"),
        ("controller", "olia.py:Olia", "olia", "coupled"),
        ("controller", "cubic.py:Cubic", "cubic", "uncoupled"),
    ],
)
@pytest.mark.parametrize("name", SCENARIOS)
def test_an_example_has_the_trace_of_its_twin_in_rust(kind: str, file: str, twin: str, other: str, name: str) -> None:
    scenario = SCENARIOS[name]
    own = trace(scenario, **{kind: f"{EXAMPLES / file}"})
    assert own == trace(scenario, **{kind: twin})
    assert own != trace(scenario, **{kind: other})


def test_an_exception_ends_the_run_with_the_traceback_and_the_virtual_time() -> None:
    class Faulty(First):
        def pick(self, offer):
            if offer.now > 0.5:
                return 1 // 0
            return super().pick(offer)

    with pytest.raises(ab.AlgorithmError, match=r"scheduler Faulty, at 0\.5\d* s of virtual time: raised ZeroDiv") as e:
        LOSSY.set("connection.scheduler", Faulty).run()
    assert "return 1 // 0" in "".join(traceback.format_exception(e.value))
    assert 0.5 < e.value.time < 1.0


@pytest.mark.parametrize("window", [math.nan, -1.0, math.inf])
def test_a_wrong_window_is_an_error_with_its_value(window: float) -> None:
    class Wrong(Reno):
        def on_congestion(self, congestion, paths, me):
            self.cwnd = window

    with pytest.raises(
        ab.AlgorithmError, match=f"controller Wrong, at .* set self.cwnd to {window:g}".replace("nan", "NaN")
    ):
        LOSSY.set("connection.controller", Wrong).run()


@pytest.mark.parametrize(
    ("kind", "method", "value", "said"),
    [
        ("scheduler", "resends", "yes", r"resends\(\) returned 'yes'; return True or False"),
        ("scheduler", "remembers", 3.5, r"remembers\(\) returned 3.5; return True or False"),
        ("scheduler", "reach", 1, r'reach\(\) returned 1; return "room", "memory" or "windows"'),
        ("controller", "reduces_itself", None, r"reduces_itself\(\) returned None; return True or False"),
        ("controller", "pacing", "fast", r"pacing\(\) returned 'fast'; return octets per second above 0, or None"),
        ("controller", "pacing", math.nan, r"pacing\(\) returned nan; return octets per second above 0, or None"),
        ("controller", "snapshot", "me", r"snapshot\(\) returned 'me'; return a copy of self"),
    ],
)
def test_a_wrong_answer_is_an_error_with_its_value(kind: str, method: str, value: object, said: str) -> None:
    base = {"scheduler": First, "controller": Reno}[kind]
    wrong = type("Wrong", (base,), {method: lambda self: value, "needs": ("departures",) if method == "pacing" else ()})
    with pytest.raises(ab.AlgorithmError, match=f"{kind} Wrong, at .* s of virtual time: {said}"):
        LOSSY.set(f"connection.{kind}", wrong).run()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("needs", 5, "needs is 5; write a tuple of words"),
        ("label", 5, "label is 5; write a text"),
        ("source", None, "source is None; write a text"),
        ("asks", "sometimes", 'asks is \'sometimes\'; choices: "always", "choices"'),
    ],
)
def test_a_wrong_attribute_of_a_class_is_refused(name: str, value: object, said: str) -> None:
    with pytest.raises(ab.AlgorithmError, match=said):
        LOSSY.set("connection.scheduler", type("Wrong", (First,), {name: value}))


def test_a_window_that_is_no_number_is_an_error_with_its_value() -> None:
    class Wrong(Reno):
        def on_congestion(self, congestion, paths, me):
            setattr(self, "cwnd", "large")  # noqa: B010  (a type checker would refuse the assignment)

    with pytest.raises(
        ab.AlgorithmError, match=r"controller Wrong, at .*: set self\.cwnd to 'large'; it must be a number"
    ):
        LOSSY.set("connection.controller", Wrong).run()


def test_a_path_that_cannot_send_is_an_error_that_names_it() -> None:
    class Blind(ab.Scheduler):
        def pick(self, offer):
            return next(i for i, path in enumerate(offer.paths) if not path.can_send)

    with pytest.raises(
        ab.AlgorithmError, match=r"scheduler Blind, at .*(chose subflow \d, which cannot|StopIteration)"
    ):
        LOSSY.set("connection.scheduler", Blind).run()


def test_a_class_that_is_defined_again_replaces_the_former_one() -> None:
    def cell(index: int) -> type[ab.Scheduler]:
        class Cell(ab.Scheduler):
            def pick(self, offer):
                able = [i for i, path in enumerate(offer.paths) if path.can_send]
                return able[index]

        return Cell

    first = LOSSY.set("connection.scheduler", cell(0))
    again = first.set("connection.scheduler", cell(-1))
    assert trace(first) == trace(LOSSY, scheduler=First)
    assert trace(again) != trace(first)


def test_an_undo_restores_the_list_of_a_controller() -> None:
    """An undo removes from the list what the undone loss episode added; a shared list keeps it."""

    def longest(shared: bool) -> tuple[int, int]:
        lengths: list[int] = []
        calls: list[int] = []

        class Remembering(Reno):
            def __init__(self):
                self.events = []

            def on_congestion(self, congestion, paths, me):
                self.events.append(congestion.now)
                lengths.append(len(self.events))
                calls.append(me)
                super().on_congestion(congestion, paths, me)

        def share(self):
            copied = copy.copy(self)
            copied.__dict__ = dict(self.__dict__)
            return copied

        if shared:
            Remembering.snapshot = share
        SCENARIOS["overtaking packets, undo"].set("connection.controller", Remembering).run()
        return max(lengths), len(calls)

    restored, kept = longest(shared=False), longest(shared=True)
    assert restored[1] == kept[1]
    assert restored[0] < kept[0]


def test_parameters_reach_the_object_and_are_checked() -> None:
    seen: list[float] = []

    class Tuned(First):
        share = ab.Parameter(0.5, 0.0, 1.0, meaning="share of the data")

        def pick(self, offer):
            seen.append(self.share)
            return super().pick(offer)

    LOSSY.set("connection.scheduler", Tuned(share=0.25)).run()
    assert set(seen) == {0.25}
    with pytest.raises(ab.ScenarioError, match="share"):
        LOSSY.set("connection.scheduler", Tuned(share=2.0)).run()


def test_random_numbers_follow_from_the_seed() -> None:
    class Dice(ab.Scheduler):
        def pick(self, offer):
            return self.random.choice([i for i, path in enumerate(offer.paths) if path.can_send])

    scenario = LOSSY.set("connection.scheduler", Dice)
    hashes = [scenario.run(seed=seed).summary["trace_sha256"] for seed in (1, 1, 2)]
    assert hashes[0] == hashes[1] != hashes[2]


def test_a_scheduler_that_never_sends_is_reported_as_stalled() -> None:
    class Idle(ab.Scheduler):
        def pick(self, offer):
            return ab.Wait()

    assert LOSSY.set("connection.scheduler", Idle).run().summary["status"] == "stalled"


@pytest.mark.parametrize(
    ("source", "reference", "said"),
    [
        ("x = 1", "a.py:Mine", "has no class Mine; algorithms in it: none"),
        ("x = 1", "a.py", "defines no algorithm"),
        ("class A(ab.Scheduler):\n    pass", "a.py:A", r"has no method pick\(self, offer\)"),
        ("class A(ab.Scheduler):\n    def pick(self): pass", "a.py:A", r"takes other arguments.*pick\(self, offer\)"),
        (
            "class A(ab.Scheduler): pass\nclass B(ab.Scheduler): pass",
            "a.py",
            r"defines A, B; name the class: a\.py:A",
        ),
        ("class A(ab.Controller):\n    on_ack = on_congestion = lambda *a: 0", "a.py:A", "the class is a controller"),
        ("raise ValueError('no')", "a.py:A", "cannot be executed: ValueError: no"),
    ],
)
def test_a_class_that_cannot_be_used_is_refused_with_place_and_remedy(
    tmp_path: Path, source: str, reference: str, said: str
) -> None:
    (tmp_path / "a.py").write_text(f"import anabranch as ab\n{source}\n", "utf-8")
    scenario = ab.Scenario(LOSSY.toml, str(tmp_path / "s.toml")).set("connection.scheduler", reference)
    with pytest.raises(ab.AlgorithmError, match=said):
        scenario.run()


def test_a_file_is_named_in_toml_and_found_beside_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text((EXAMPLES / "min_rtt.py").read_text("utf-8"), "utf-8")
    text = LOSSY.toml.replace("[connection]", '[connection]\nscheduler = "mine.py:MinRtt"')
    (tmp_path / "s.toml").write_text(text, "utf-8")
    own = ab.Scenario.load(tmp_path / "s.toml").run().summary
    assert own["trace_sha256"] == trace(LOSSY, scheduler="min-rtt")


def test_all_five_scenarios_lose_packets_and_one_has_undone_episodes() -> None:
    for name, scenario in SCENARIOS.items():
        subflows = scenario.run().summary["subflows"]
        assert any(s["retransmissions_fast"] + s["retransmissions_timeout"] for s in subflows), name
        assert any(s["undone"] for s in subflows) == ("undo" in name), name


def test_the_note_of_an_exception_runs_the_scenario_up_to_there(tmp_path: Path) -> None:
    class Faulty(First):
        def pick(self, offer):
            if offer.now > 0.5:
                raise KeyError("oops")
            return super().pick(offer)

    scenario = LOSSY.set("connection.scheduler", Faulty)
    with pytest.raises(ab.AlgorithmError) as failed:
        scenario.run()
    (note,) = failed.value.__notes__
    duration = note.partition('"duration", "')[2].partition('"')[0]
    before = scenario.set("duration", duration).run(trace=tmp_path / "events.txt").summary
    assert before["status"] != "completed"
    last = float((tmp_path / "events.txt").read_text("utf-8").splitlines()[-1].split()[0])
    assert 0.4 < last <= failed.value.time


def test_a_sweep_runs_the_class_and_a_run_is_explained() -> None:
    base = LOSSY.set("connection.scheduler", First)
    done = ab.sweep(base, {"controller": ["coupled", "cubic"]}, seeds=1)
    assert set(done.runs["status"]) == {"completed"}
    assert set(done.runs["trace_sha256"]) == {trace(base, controller=name) for name in ("coupled", "cubic")}
    assert "Main cause" in str(base.run().explain())


def test_a_changed_helper_outside_of_the_class_gives_new_cells(tmp_path: Path) -> None:
    """The helper stands in another file, which the class's file imports."""
    text = LOSSY.toml.replace("[connection]", '[connection]\nscheduler = "mine.py:Mine"')
    (tmp_path / "s.toml").write_text(text, "utf-8")
    (tmp_path / "mine.py").write_text(
        "import anabranch as ab\nfrom helper_of_a_test import rank\n\nclass Mine(ab.Scheduler):\n"
        "    def pick(self, offer):\n"
        "        return min((i for i, p in enumerate(offer.paths) if p.can_send), key=rank)\n",
        "utf-8",
    )
    keys, hashes = [], []
    for body in ("return i", "return -i", "return i"):
        (tmp_path / "helper_of_a_test.py").write_text(f"def rank(i):\n    {body}\n", "utf-8")
        for name in [name for name in sys.modules if name.startswith(("helper_of_a_test", "anabranch_file_mine"))]:
            del sys.modules[name]
        scenario = ab.Scenario.load(tmp_path / "s.toml")
        done = ab.sweep(scenario, {"mss": [1400]}, seeds=1)
        keys.append(plan(scenario, {"mss": [1400]}).cells[0].sha256)
        hashes.append(done.runs["trace_sha256"][0])
    assert keys[0] == keys[2] != keys[1]
    assert hashes[0] == hashes[2] != hashes[1]


def test_a_class_of_a_file_is_named_with_the_file(tmp_path: Path) -> None:
    text = "import anabranch as ab\n\n\nclass Half(ab.Controller):\n    def on_ack(self, ack, paths, me): ...\n"
    (tmp_path / "half.py").write_text(text, encoding="utf-8")
    with pytest.raises(ab.AlgorithmError, match=r"^half\.py:Half has no method on_congestion\(self, "):
        ab.Scenario(LOSSY.toml).set("connection.controller", f"{tmp_path / 'half.py'}:Half").run()
