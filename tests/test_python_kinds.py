"""Detectors, reductions and judges written in Python; and the methods of all five kinds."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import inspect
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

import anabranch as ab
from anabranch import _core
from anabranch.algorithms.references import load
from test_python_algorithms import EXAMPLES, LOSSY, ROOT, SCENARIOS, trace

STACK = ROOT / "crates" / "stack" / "src"
BASES: dict[str, type[Any]] = {
    "controller": ab.Controller,
    "scheduler": ab.Scheduler,
    "detector": ab.Detector,
    "reduction": ab.Reduction,
    "judge": ab.Judge,
}
TWINS = {
    "detector": ("rfc6675.py:Rfc6675", "rfc6675", "rack"),
    "reduction": ("prr.py:Prr", "prr", "rfc6675"),
    "judge": ("dsack.py:Dsack", "dsack", "door"),
}
"""Of each kind: the example, its twin in Rust, and another algorithm."""


def full(scenario: ab.Scenario, **keys: object) -> str:
    """Trace of a run in which the engine takes no short paths."""
    changed = scenario.set({f"connection.{key}": value for key, value in keys.items()})  # type: ignore[misc]
    run = _core.run(
        changed.toml, changed.name, list(changed.overrides), algorithms=changed.algorithms(), shortcuts=False
    )
    return str(json.loads(run.summary)["trace_sha256"])


@pytest.mark.parametrize("kind", TWINS)
@pytest.mark.parametrize("name", SCENARIOS)
def test_an_example_has_the_trace_of_its_twin_in_rust_with_and_without_short_paths(kind: str, name: str) -> None:
    file, twin, other = TWINS[kind]
    scenario = SCENARIOS[name]
    own = trace(scenario, **{kind: f"{EXAMPLES / file}"})
    assert own == trace(scenario, **{kind: twin})
    assert own == full(scenario, **{kind: f"{EXAMPLES / file}"})
    assert own != trace(scenario, **{kind: other})


OTHERS = sorted(
    file for file in EXAMPLES.glob("*.py") if file.name not in {name.split(":")[0] for name, *_ in TWINS.values()}
)
"""Examples of controllers and schedulers."""


@pytest.mark.parametrize("file", OTHERS, ids=lambda file: file.stem)
@pytest.mark.parametrize("name", SCENARIOS)
def test_an_example_has_the_trace_of_its_twin_without_short_paths(file: Path, name: str) -> None:
    described = re.match(r'"""The (\w+) `([\w-]+)`', file.read_text("utf-8"))
    assert described, "the first line names kind and twin"
    kind, twin = described.groups()
    (cls,) = re.findall(r"^class (\w+)\(ab\.", file.read_text("utf-8"), re.MULTILINE)
    assert full(SCENARIOS[name], **{kind: f"{file}:{cls}"}) == trace(SCENARIOS[name], **{kind: twin})


@pytest.mark.parametrize("sack", [True, False])
def test_the_twins_agree_with_and_without_sack(sack: bool) -> None:
    scenario = LOSSY.set({"connection.sack": sack, "connection.profile": "classic"})
    for kind, (file, twin, _) in TWINS.items():
        if sack or kind != "judge":
            assert trace(scenario, **{kind: f"{EXAMPLES / file}"}) == trace(scenario, **{kind: twin}), kind


def test_the_judge_in_python_undoes_the_episodes_that_its_twin_undoes() -> None:
    scenario = SCENARIOS["overtaking packets, undo"]
    undone = [
        [s["undone"] for s in scenario.set("connection.judge", judge).run().summary["subflows"]]
        for judge in (f"{EXAMPLES / 'dsack.py'}:Dsack", "dsack")
    ]
    assert undone[0] == undone[1]
    assert sum(undone[0]) > 0


def rust(path: str, pattern: str) -> str:
    """The text between the braces of an item of the engine."""
    text = (STACK / path).read_text("utf-8")
    found = re.search(pattern + r"[^{]*\{\n(.*?)\n\}", text, re.DOTALL)
    assert found, (path, pattern)
    return found[1]


def trait_methods(kind: str) -> dict[str, tuple[list[str], str | None]]:
    """Of each method of a trait: its arguments, and its default if it has one."""
    text = rust(f"{kind}/mod.rs", f"pub trait {kind.capitalize()}: ")
    text = re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)
    found = {}
    for match in re.finditer(r"fn (\w+)\(&(?:mut )?self(?:, )?([^)]*)\)[^;{]*(;|\{([^}]*)\})", text):
        names = [re.sub(r"^_", "", part.split(":")[0].strip()) for part in match[2].split(", ") if ":" in part]
        found[match[1]] = (names, None if match[3] == ";" else match[4].strip())
    return found


OWN = {"record", "overrides", "create"}
"""Public methods of all base classes that no trait has."""
HELPERS = {"controller": {"in_slow_start", "slow_start", "grow_in_slow_start", "halve", "cut"}}
"""Methods of `Window`, which a controller in Rust has as a field."""
GIVEN = {"controller": {"window", "adjust", "snapshot"}, "scheduler": {"on_sent"}}
"""Methods without a default in the trait that the base class has: those of `Window`, and what most leave out."""


@pytest.mark.parametrize("kind", BASES)
def test_a_base_class_has_the_methods_of_the_trait_with_their_arguments(kind: str) -> None:
    base, methods = BASES[kind], trait_methods(kind)
    assert len(methods) >= 5
    public = {name for name in dir(base) if not name.startswith("_") and callable(getattr(base, name))}
    expected = set(methods) | OWN | HELPERS.get(kind, set()) - {"in_slow_start"} | {"snapshot"}
    assert public == expected
    for name, (arguments, default) in methods.items():
        assert list(inspect.signature(getattr(base, name)).parameters)[1:] == arguments, name
        assert (default is None) == (name in base.__abstractmethods__ or name in GIVEN.get(kind, ())), name


DEFAULTS = {
    "": None,
    "None": None,
    "false": False,
    "true": True,
    "0": 0,
    "3": 3,
    "window": 1000,
    "Due::Nothing": "nothing",
    "Reach::Room": "room",
}


@pytest.mark.parametrize("kind", BASES)
def test_a_method_that_a_class_leaves_as_it_is_does_what_the_trait_does(kind: str) -> None:
    base = BASES[kind]
    cls = type("Whole", (base,), dict.fromkeys(base.__abstractmethods__, lambda *_: None))
    seen = 0
    for name, (arguments, default) in trait_methods(kind).items():
        if default in DEFAULTS:
            assert getattr(cls(), name)(*[1000] * len(arguments)) == DEFAULTS[default], name
            seen += 1
        elif default is not None:
            assert (kind, name) in {("scheduler", "pick_again"), ("scheduler", "remembers")}, name
    assert seen >= (1 if kind == "judge" else 3)


VIEWS = {
    "AckSample": ("sample.rs", "struct AckSample"),
    "Arrivals": ("scoreboard/arrivals.rs", "struct Arrivals"),
    "RateSample": ("sample.rs", "struct RateSample"),
    "LostSegment": ("sample.rs", "struct LostSegment"),
    "Congestion": ("controller/mod.rs", "struct Congestion"),
    "Departure": ("controller/mod.rs", "struct Departure"),
    "Path": ("path.rs", "struct Path"),
    "Offer": ("scheduler/mod.rs", "struct Offer"),
    "Assignment": ("scheduler/mod.rs", "struct Assignment"),
    "Outstanding": ("detector/mod.rs", "struct Outstanding"),
    "Sent": ("scoreboard.rs", "struct Sent"),
    "Segments": ("scoreboard/count.rs", "struct Segments"),
    "Entry": ("reduction/mod.rs", "struct Entry"),
    "Episode": ("judge/mod.rs", "struct Episode"),
}


@pytest.mark.parametrize("view", VIEWS)
def test_python_sees_every_field_that_rust_sees(view: str) -> None:
    path, item = VIEWS[view]
    fields = re.findall(r"^\s*pub (\w+):", rust(path, f"pub {item}\\b"), re.MULTILINE)
    assert fields
    shown = set(dir(getattr(_core, view)))
    stub = (ROOT / "python" / "anabranch" / "_core.pyi").read_text("utf-8")
    (described,) = re.findall(rf"^class {view}:\n(.*?)(?=^(?:class|def) )", stub, re.DOTALL | re.MULTILINE)
    for field in set(fields) - {"policy"}:
        assert field in shown, field
        assert re.search(rf'def {field}\(self\) -> .*:\n\s*"""\S', described), field


def test_every_method_that_a_class_defines_is_called() -> None:
    """A method that the binding forgot would be silently without effect."""
    called: set[tuple[str, str]] = set()

    def spying(base: type[Any]) -> type[Any]:
        cls: type[Any] = type(f"Spying{base.__name__}", (base,), {})

        def spy(name: str) -> Any:
            def method(self, *arguments):
                called.add((base.kind, name))
                return getattr(super(cls, self), name)(*arguments)

            method.__signature__ = inspect.signature(getattr(base, name))  # type: ignore[attr-defined]
            return method

        for name in trait_methods(base.kind):
            setattr(cls, name, spy(name))
        return cls

    detector, reduction, judge = (load(f"{EXAMPLES / TWINS[kind][0]}") for kind in TWINS)

    class Timed(detector):  # type: ignore[misc,valid-type]
        needs = ("departures", "timer")
        at = 0.0

        def ignores_progress(self):
            return False

        def withholds(self):
            return True

        def on_ack(self, ack, board, sender):
            self.at = ack.now
            super().on_ack(ack, board, sender)

        def deadline(self):
            return self.at + 0.15 if self.at else None

        def on_deadline(self, now, board, sender):
            self.at = 0.0
            return "probe"

    classes: dict[str, type[Any]] = {"detector": Timed, "reduction": reduction, "judge": judge}
    for name, sack in (("overtaking packets, undo", True), ("losses", False)):
        keys = {f"connection.{k}": spying(cls) for k, cls in classes.items() if sack or k != "judge"}
        outage = {"path.0.changes": '[{ at = "1 s", loss = "100 %" }, { at = "2 s", loss = "0 %" }]'}
        SCENARIOS[name].set("connection.sack", sack).set(keys).set(outage).run()
    for kind in classes:
        missing = set(trait_methods(kind)) - {name for k, name in called if k == kind}
        # Only scripts ask for the length of reordering, as `tcpi_reordering`.
        assert missing == ({"reordering"} if kind == "detector" else set()), kind


class Plain(ab.Detector):
    """Marks what RFC 6675 marks."""

    def on_ack(self, ack, board, sender):
        board.update_lost(2 * sender.mss, 3)

    def finding(self, ack, board, sender):
        return "loss" if ack.duplicate and board.front_is_lost() else "nothing"

    def on_timeout(self, now, board, sender):
        board.mark_all_lost()

    def limited_transmit(self, duplicates):
        return min(duplicates, 2)


def test_a_scoreboard_shows_and_marks_the_segments_in_flight() -> None:
    marked: list[int] = []

    class Careful(Plain):
        def on_ack(self, ack, board, sender):
            sent = list(board)
            assert len(sent) == len(board) == board.outstanding() == board.count().all
            assert board.is_empty() == (not sent)
            assert [s.end for s in sent[:-1]] == [s.seq for s in sent[1:]]
            assert sum(s.is_sacked for s in sent) == board.sacked_segments() == board.count().sacked
            assert sum(s.len for s in sent if s.is_sacked) == board.sacked_octets()
            if sent:
                assert board.front().seq == sent[0].seq == sender.snd_una
                assert sent[-1].end == sender.snd_nxt
                assert board.ending_at(sent[-1].end).seq == sent[-1].seq
                assert board.ending_at(sent[-1].end + 1) is None
                assert [s.seq for s in board.starting_at(sent[-1].seq)] == [sent[-1].seq]
                assert all(s.sent_at_ns <= ack.now_ns for s in sent)
            before = board.marked()
            assert board.has_lost() == any(s.waits for s in sent)
            super().on_ack(ack, board, sender)
            first = next((s for s in board if s.waits), None)
            if board.marked() > before and first is not None:
                board.unmark_lost()
                assert not board.has_lost()
                board.mark_lost(first.seq)
                assert [s.seq for s in board if s.waits] == [first.seq]
                super().on_ack(ack, board, sender)
                marked.append(first.seq)

    assert LOSSY.set("connection.detector", Careful).run().summary["status"] == "completed"
    assert len(marked) > 5


def test_a_detector_with_a_timer_is_called_at_its_deadline() -> None:
    asked: list[tuple[float, float]] = []

    class Timed(Plain):
        needs = ("timer",)
        due_ns: Any = None

        def on_ack(self, ack, board, sender):
            super().on_ack(ack, board, sender)
            self.due_ns = ack.now_ns + 7_654_321

        def deadline(self):
            return None if self.due_ns is None else ab.Wait(until_ns=self.due_ns)

        def on_deadline(self, now, board, sender):
            asked.append((now, self.due_ns / 1e9))
            self.due_ns = None
            return "nothing"

    LOSSY.set("connection.detector", Timed).run()
    on_time = [now for now, due in asked if now == due]
    assert len(on_time) > 10
    assert all(now <= due for now, due in asked), "earlier only because the retransmission timer expires"


def test_a_parameter_of_a_detector_is_set_from_the_scenario() -> None:
    class Tuned(Plain):
        segments = ab.Parameter(3, 1, 100, unit="whole", meaning="duplicates before a loss")

        def on_ack(self, ack, board, sender):
            board.update_lost((self.segments - 1) * sender.mss, int(self.segments))

    base = LOSSY.set("connection.detector", Tuned)
    assert trace(base) == trace(LOSSY, detector=Plain)
    assert trace(base.set("connection.detector.segments", 40)) != trace(base)


class Kept(Plain):
    """Keeps the scoreboard beyond the call."""

    def on_ack(self, ack, board, sender):
        super().on_ack(ack, board, sender)
        self.board = board

    def limited_transmit(self, duplicates):
        return self.board.outstanding()


class Halving(ab.Reduction):
    """The controller's window at once."""

    def on_enter(self, entry):
        pass

    def on_ack(self, ack, window, in_flight):
        pass

    def on_exit(self):
        pass

    def inflation(self):
        return 0


class Silent(ab.Judge):
    """Never says anything."""

    def on_episode(self, episode):
        pass

    def on_retransmit(self, start, end):
        pass

    def on_ack(self, sample):
        return "pending"

    def default_response(self):
        return "restore"


def changed(base: type[Any], **methods: Any) -> type[Any]:
    """A class that differs from `base` in some methods."""
    return type("Wrong", (base,), {**methods, "__module__": __name__})


FAULTS: list[tuple[type[Any], dict[str, Any], str]] = [
    (
        changed(Plain, finding=lambda self, ack, board, sender: None),
        {},
        r'finding\(\) returned None; return "nothing", "loss" or "repaired"',
    ),
    (changed(Plain, finding=lambda self, ack, board, sender: True), {}, r"finding\(\) returned True"),
    (
        changed(Plain, finding=lambda self, ack, board, sender: board.mark_lost(sender.snd_una)),
        {},
        r"mark_lost: finding\(\) is too late to mark segments; mark them in on_ack\(\)",
    ),
    (
        changed(Plain, on_ack=lambda self, ack, board, sender: board.mark_lost(sender.snd_nxt + 7)),
        {},
        r"mark_lost\(\d+\): no segment in flight begins there; segments begin at \d+ to \d+",
    ),
    (
        changed(Plain, on_ack=lambda self, ack, board, sender: board.mark_lost(-5)),
        {},
        r"mark_lost: -5 is no sequence number; give a whole number",
    ),
    (
        changed(Plain, on_ack=lambda self, ack, board, sender: board.mark_lost(math.nan)),
        {},
        r"mark_lost: nan is no sequence number",
    ),
    (
        changed(Plain, on_ack=lambda self, ack, board, sender: board.update_lost(math.nan, 3)),
        {},
        r"update_lost\(nan, 3\): give octets and a number of sequences, both at least 0",
    ),
    (
        changed(Plain, on_ack=lambda self, ack, board, sender: board.update_lost(1e300, -1)),
        {},
        r"update_lost\(1e\+300, -1\)",
    ),
    (
        changed(Plain, limited_transmit=lambda self, duplicates: -1),
        {"sack": False},
        r"limited_transmit\(\) returned -1; return a number of segments, at least 0",
    ),
    (
        Kept,
        {"sack": False},
        r"a scoreboard can be used only during the call that receives it",
    ),
    (
        changed(Plain, ignores_progress=lambda self: "yes"),
        {},
        r"ignores_progress\(\) returned 'yes'; return True or False",
    ),
    (
        changed(Plain, withholds=lambda self: True, withheld=lambda self: -3),
        {},
        r"withheld\(\) returned -3; return octets, at least 0",
    ),
    (
        changed(Plain, withholds=lambda self: True, take_reordered=lambda self: "all"),
        {},
        r"take_reordered\(\) returned 'all'; return octets, at least 0, or None",
    ),
    (
        changed(Plain, rescues=lambda self: 1),
        {},
        r"rescues\(\) returned 1; return True or False",
    ),
    (
        changed(Plain, needs=("timer",), deadline=lambda self: math.nan),
        {},
        r"deadline\(\) returned nan; return a virtual time in seconds, ab\.Wait\(until_ns=\.\.\.\) or None",
    ),
    (
        changed(Plain, needs=("timer",), deadline=lambda self: 0.0),
        {},
        r"deadline\(\) returned \S+, but on_deadline\(\) was called at \S+; return a later time, or None",
    ),
    (
        changed(Plain, needs=("timer",), deadline=lambda self: 1e-3, on_deadline=lambda self, now, board, sender: 0),
        {},
        r'on_deadline\(\) returned 0; return "nothing", "loss" or "probe"',
    ),
    (
        changed(Halving, allows=lambda self, window, in_flight: -1.5),
        {},
        r"allows\(\) returned -1\.5; return octets that may be in flight, at least 0",
    ),
    (changed(Halving, allows=lambda self, window, in_flight: math.inf), {}, r"allows\(\) returned inf"),
    (changed(Halving, allows=lambda self, window, in_flight: math.nan), {}, r"allows\(\) returned nan"),
    (changed(Halving, allows=lambda self, window, in_flight: "1"), {}, r"allows\(\) returned '1'"),
    (changed(Halving, allows=lambda self, window, in_flight: None), {}, r"allows\(\) returned None"),
    (
        changed(Halving, inflation=lambda self: 2**63),
        {"sack": False},
        r"inflation\(\) returned 9223372036854775808; return octets",
    ),
    (
        changed(Halving, is_proportional=lambda self: None),
        {},
        r"is_proportional\(\) returned None; return True or False",
    ),
    (
        changed(Silent, on_ack=lambda self, sample: None),
        {},
        r'on_ack\(\) returned None; return "pending", "probe", "genuine", "spurious" or ab\.Reordered\(hold, undo\)',
    ),
    (
        changed(Silent, on_ack=lambda self, sample: ab.Reordered(-1, 0)),
        {},
        r"raised ValueError: Reordered: hold is -1; give 0 to 1000000000 seconds",
    ),
    (
        changed(Silent, on_ack=lambda self, sample: "spurious", default_response=lambda self: "undo"),
        {},
        r'default_response\(\) returned \'undo\'; return "default", .*"none"',
    ),
    (
        changed(Silent, on_episode=lambda self, episode: episode.nothing),
        {},
        r"raised AttributeError: 'anabranch\._core\.Episode' object has no attribute 'nothing'",
    ),
]


@pytest.mark.parametrize(("cls", "keys", "said"), FAULTS, ids=lambda value: value if isinstance(value, str) else "")
def test_what_is_not_allowed_ends_the_run_with_the_value(cls: Any, keys: dict[str, Any], said: str) -> None:
    scenario = SCENARIOS["losses"].set({f"connection.{key}": value for key, value in keys.items()})
    with pytest.raises(ab.AlgorithmError, match=said) as failed:
        scenario.set(f"connection.{cls.kind}", cls).run()
    assert re.match(rf"{cls.kind} {cls.__name__}, at [0-9.e-]+ s of virtual time: ", str(failed.value))
    early = " at 0 s of" in str(failed.value)
    assert failed.value.__notes__[0].startswith("it failed before the first event" if early else "to run up to there")


@pytest.mark.parametrize("verdict", ["probe", "genuine", "spurious", ab.Reordered(0.1, 0.1)])
@pytest.mark.parametrize("response", ["default", "rfc4015", "restore", "slow-start-to-saved", "none"])
def test_a_judge_that_says_one_thing_at_any_time_ends_no_run_with_a_panic(verdict: Any, response: str) -> None:
    cls = changed(Silent, on_ack=lambda self, sample: verdict, default_response=lambda self: response)
    assert LOSSY.set("connection.judge", cls).run().summary["content_ok"]


@pytest.mark.parametrize("finding", ["loss", "repaired"])
def test_a_detector_that_finds_one_thing_at_any_time_ends_no_run_with_a_panic(finding: str) -> None:
    cls = changed(Plain, finding=lambda self, ack, board, sender: finding)
    for sack in (True, False):
        scenario = LOSSY.set({"connection.sack": sack, "duration": "20 s"})
        assert scenario.set("connection.detector", cls).run().summary["content_ok"]


@pytest.mark.parametrize("allowed", [0, 1, 1500.5, 2**53])
@pytest.mark.parametrize("inflation", [0, -(2**53), 2**53])
def test_a_reduction_that_allows_anything_ends_no_run_with_a_panic(allowed: float, inflation: int) -> None:
    cls = changed(Halving, allows=lambda self, window, in_flight: allowed, inflation=lambda self: inflation)
    for sack in (True, False):
        scenario = LOSSY.set({"connection.sack": sack, "duration": "20 s"})
        assert scenario.set("connection.reduction", cls).run().summary["content_ok"]


def test_an_abstract_method_that_is_missing_is_named(tmp_path: Path) -> None:
    for kind, base in BASES.items():
        methods = sorted(base.__abstractmethods__)
        text = f"import anabranch as ab\n\n\nclass Half(ab.{base.__name__}):\n    pass\n"
        (tmp_path / f"{kind}.py").write_text(text, "utf-8")
        with pytest.raises(ab.AlgorithmError, match=rf"^{kind}\.py:Half has no method {methods[0]}\(self.*; a {kind} "):
            LOSSY.set(f"connection.{kind}", f"{tmp_path / kind}.py:Half").run()
