"""Algorithms written in Python: the same trace as their Rust twins, and what is said when one fails."""

import math
import traceback
from pathlib import Path

import pytest

import anabranch as ab

EXAMPLES = Path(__file__).parents[1] / "examples" / "python"
LOSSY = ab.Scenario.two_path(
    "10 Mbit/s, 20 ms, loss 1 %", "4 Mbit/s, 60 ms, loss 0.5 %", transfer="2 MB", receive_buffer="200 kB"
)


def trace(scenario: ab.Scenario, **keys: object) -> str:
    changed = scenario.set({f"connection.{key}": value for key, value in keys.items()})  # type: ignore[misc]
    return str(changed.run().summary["trace_sha256"])


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
    [("scheduler", "min_rtt.py:MinRtt", "min-rtt", "round-robin"), ("controller", "lia.py:Lia", "coupled", "olia")],
)
@pytest.mark.parametrize("shortcuts", [True, False])
def test_an_example_has_the_trace_of_its_twin_in_rust(
    kind: str, file: str, twin: str, other: str, shortcuts: bool
) -> None:
    scenario = LOSSY.set("connection.shortcuts", shortcuts)
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


def test_the_window_is_restored_with_the_state_of_the_controller() -> None:
    copies: list[int] = []

    class Remembering(Reno):
        def __init__(self):
            self.events = []

        def on_congestion(self, congestion, paths, me):
            self.events.append(congestion.now)
            super().on_congestion(congestion, paths, me)

        def snapshot(self):
            copied = super().snapshot()
            assert copied.events == self.events
            assert copied.events is not self.events
            copies.append(len(copied.events))
            return copied

    LOSSY.set({"connection.controller": Remembering, "connection.judge": "dsack"}).run()
    assert copies
    assert max(copies) > 0


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
