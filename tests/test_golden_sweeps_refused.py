"""What sweeps, figures and recommendations refuse, with every word (`golden_answers`); what is left to chance; time."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import anabranch as ab
from anabranch.recommendation import command as asked
from anabranch.sweeps import document, estimate, store
from anabranch.sweeps.chance import nothing_random
from anabranch.sweeps.plan import Options, plan
from anabranch.sweeps.task import Record
from anabranch.sweeps.until import Precision
from golden_answers import agrees
from helpers import SEVERAL

BASE = ab.Scenario.two_path("5 Mbit/s, 20 ms", "2 Mbit/s, 10 ms", transfer="60 kB")
SCENARIO = """
[scenario]
transfer = { bytes = "60 kB" }
path = [{ rate = "5 Mbit/s", delay = "20 ms" }, { rate = "2 Mbit/s", delay = "10 ms" }]
"""
DOCUMENTS = {
    "valid": 'seeds = 3\ntimeout = "1.5 min"\nmemory = "2 MiB"\nseries = 7\nset = { "path.0.loss" = "1 %" }\n'
    f"{SCENARIO}"
    '[axes]\nmss = [700]\n"path.1" = [{ delay = "5 ms", rate = "1 Mbit/s" }]\n[axes.size]\n'
    'small = { receive_buffer = "20 kB", "path.0.changes" = [{ at = "1 s", rate = "1 Mbit/s" }] }',
    "a list of seeds": f"seeds = [5, 2]\n{SCENARIO}",
    "a precision": f'seeds = "until 3 % of segments, at most 12"\n{SCENARIO}',
    "a scenario": SCENARIO.replace("[scenario]", "").replace("transfer", "transfer"),
    "an unknown key": f"seads = 3\n{SCENARIO}",
    "another unknown key": f"xyz = 3\n{SCENARIO}",
    "no scenario": "seeds = 3\n[axes]\nmss = [700]",
    "a scenario that is not there": 'scenario = "none.toml"',
    "a scenario of another kind": "scenario = 7",
    "seeds of another kind": f"seeds = 1.5\n{SCENARIO}",
    "seeds that are true": f"seeds = true\n{SCENARIO}",
    "no seeds": f"seeds = 0\n{SCENARIO}",
    "a seed twice": f"seeds = [3, 3]\n{SCENARIO}",
    "a seed below zero": f"seeds = [3, -1]\n{SCENARIO}",
    "a seed in words": f'seeds = ["a"]\n{SCENARIO}',
    "a precision of nothing": f'seeds = "until 0 %"\n{SCENARIO}',
    "a precision of everything": f'seeds = "until 100 %"\n{SCENARIO}',
    "a precision with one seed": f'seeds = "until 1 %, at most 1"\n{SCENARIO}',
    "too many seeds": f'seeds = "until 1 %, at most 1000001"\n{SCENARIO}',
    "far too many seeds": f"seeds = 1000001\n{SCENARIO}",
    "series of another kind": f"series = true\n{SCENARIO}",
    "series below zero": f"series = -1\n{SCENARIO}",
    "a timeout without unit": f'timeout = "30"\n{SCENARIO}',
    "a timeout of nothing": f'timeout = "0 s"\n{SCENARIO}',
    "a memory in seconds": f'memory = "3 s"\n{SCENARIO}',
    "set of another kind": f"set = 3\n{SCENARIO}",
    "axes of another kind": f"axes = 3\n{SCENARIO}",
    "an axis of one value": f"{SCENARIO}[axes]\nmss = 700",
    "an axis of text": f'{SCENARIO}[axes]\nscheduler = "min-rtt"',
    "an axis without values": f"{SCENARIO}[axes]\nmss = []",
    "a value twice": f"{SCENARIO}[axes]\nmss = [700, 700]",
    "an axis of seeds": f"{SCENARIO}[axes]\nseed = [1, 2]",
    "an axis like a column": f"{SCENARIO}[axes]\nstatus = [1, 2]",
    "an axis that deceives": f'{SCENARIO}[axes]\n"a\\u202eb" = [1, 2]',
    "a key path without quotes": f"{SCENARIO}[axes]\njudge.t1 = [0.5, 1.0]",
    "a table as an axis": f"{SCENARIO}[axes]\npath.x = {{ mss = 700 }}",
    "a named value that is none": f"{SCENARIO}[axes.buffer]\nsmall = 3",
    "only refused cells": f'{SCENARIO}[axes]\ncontroller = ["dctcp"]\nmss = [700, 1400]',
    "a wrong change": f'set = {{ "path.0.loss" = "1" }}\n{SCENARIO}[axes]\nmss = [700]',
    "no TOML": "seeds = = 3",
}


def said(call: Callable[[], object]) -> str:
    """Return the message of the error that `call` raises, or what it returns if it raises none."""
    try:
        found = call()
    except (ab.ScenarioError, ab.ResultError, ValueError) as error:
        # Not which measures and names there are, nor what libraries say.
        text = re.sub(
            r"((?:measures|choices): |Error: |not a TOML document: ).*?(; did you mean .*)?$",
            r"\1...\2",
            str(error),
            flags=re.DOTALL,
        )
        return f"{type(error).__name__}: {text}"
    return str(found)


def test_sweep_files(here: Path) -> None:
    """A file is a plan, or one sentence says why it is none."""
    parts = []
    for name, text in DOCUMENTS.items():
        (here / "sweep.toml").write_text(text, encoding="utf-8")
        parts.append(f"{name}: {said(lambda: laid_out(document.read('sweep.toml')))}")
    agrees("refused-sweep-files", *parts)
    (here / "sweep.toml").write_text(DOCUMENTS["valid"], encoding="utf-8")
    made = document.read("sweep.toml", seeds=2)
    assert made.options == Options(90.0, 2 * 2**20, 7)
    assert (made.seeds, len(made.cells), made.total) == ((1, 2), 1, 2)
    assert made.cells[0].scenario.check()["links"][1]["up"]["delay_s"] == 0.005


def laid_out(made: Any) -> str:
    cells = [f"{dict(cell.labels)} {dict(cell.scenario.overrides)} {cell.error}" for cell in made.cells]
    return "\n".join([f"{made.seeds} {made.options} {made.precision} {made.total}", *cells])


def test_a_stored_sweep_is_a_sweep_file(here: Path) -> None:
    """Its folder, and its mark; with other seeds if they are given."""
    ab.sweep(BASE, {"mss": [700, 1400]}, seeds=2, out="kept", series=5)
    for place in ("kept", f"kept/{store.MARKER}"):
        made = document.read(place)
        assert (made.seeds, made.options.series, len(made.cells)) == ((1, 2), 5, 2)
    assert document.read("kept", seeds=4).seeds == (1, 2, 3, 4)
    assert document.read("kept", seeds="until 5 %").precision == Precision(0.05)


def test_figures_and_comparisons_that_make_no_sense(command: Any, here: Path) -> None:
    sweep = ab.sweep(BASE, {"mss": [700, 1400], "path.1.delay": ["10 ms", "20 ms"]}, seeds=2, out="kept")
    none = ab.sweep(BASE, {}, seeds=1)
    kept = ab.sweep(BASE, {"mss": [700]}, seeds=1, series=5)
    timed = ab.sweep(BASE.set("transfer.duration", "100 ms"), {"mss": [700, 1400]}, seeds=1)
    many: Any = {"mss": [700, 800, 900], "path.1.delay": ["1 ms", "2 ms", "3 ms"], "path.0.loss": ["0 %", "1 %"]}
    wide = ab.sweep(BASE, many, seeds=1)
    calls: list[Callable[[], object]] = [
        lambda: sweep.plot.over("ms"),
        lambda: sweep.plot.over("mss", by=()),
        lambda: sweep.plot.over("mss", by="delay"),
        lambda: sweep.plot.over("mss", where={"path.1.delay": "30 ms"}),
        lambda: sweep.plot.over("mss", where={"xyz": 3}),
        lambda: sweep.plot.over(measure="goodput"),
        lambda: sweep.plot.over_time(by=()),
        lambda: kept.plot.over_time("speed"),
        lambda: kept.plot.over_time("srtt"),
        lambda: kept.plot.over_time("rto", by="mss"),
        lambda: kept.plot.over_time("cwnd", by="flow"),
        lambda: sweep.plot.cdf("nothing"),
        lambda: none.plot.over(by=()),
        lambda: timed.plot.over(measure="completion_s"),
        lambda: timed.plot.cdf("completion_s"),
        lambda: wide.plot.cdf(where={}),
        lambda: sweep.compare("mms", baseline=700),
        lambda: sweep.compare("mss", baseline=701),
        lambda: sweep.compare("mss", baseline=700, measure="xyz"),
        lambda: timed.means("completion_s"),
        lambda: none.query("select 1"),
        lambda: sweep.query("select x from runs"),
        lambda: sweep.query(""),
        lambda: ab.compare(sweep, none),
        lambda: ab.compare(sweep, ab.sweep(BASE, dict(mss=[700], **{"path.1.delay": ["9 ms"]}), seeds=1)),
        lambda: ab.compare(sweep, sweep, "xyz"),
        lambda: ab.compare(sweep, BASE.run()),
        lambda: ab.compare(BASE.run(), BASE.run(), "segments"),
        lambda: plan(BASE, {"mss": [700]}, [2**63]),
        lambda: plan(BASE, {str(i): list(range(100)) for i in range(4)}, 1),
        lambda: plan(BASE, {"mss": list(range(500, 700))}, 600_000),
        lambda: plan(BASE, {"controller": ["dctcp"]}, 1),
    ]
    agrees("refused-figures", *map(said, calls))
    for option in (("--by", "xyz"), ("--over", "xyz"), ("--where", "mss=3"), ("--figure", "xyz")):
        assert command("plot", "kept", *option).status == 2


def test_recommendations_that_make_no_sense(here: Path) -> None:
    (here / "two.toml").write_text(f"{BASE}\n", encoding="utf-8")
    (here / "shared.toml").write_text(SEVERAL, encoding="utf-8")
    shared = ab.Scenario.load("shared.toml")
    wire = ["5 Mbit/s, 20 ms"]
    again = {"connection.scheduler": "blest"}
    calls: list[Callable[[], object]] = [
        lambda: ab.recommend(wire, goal="speed"),
        lambda: ab.recommend([]),
        lambda: ab.recommend(wire, budget=0),
        lambda: ab.recommend(wire, budget=float("inf")),
        lambda: ab.recommend(wire, runs=0),
        lambda: ab.recommend(wire, runs=1, seed=-1),
        lambda: ab.recommend(wire, runs=1, seed=2**62),
        lambda: ab.recommend(wire, runs=1, changes=again),
        lambda: ab.recommend(wire, runs=1, seeds=3),
        lambda: ab.recommend(wire, candidates=["coupled, none, min-rtt, unlimited"], only=["olia"]),
        lambda: ab.recommend(wire, candidates=["coupled, none, min-rtt, unlimited"], seeds=0),
        lambda: ab.recommend(wire, candidates=["coupled, none, min-rtt"]),
        lambda: ab.recommend(wire, candidates=["coupled, none, alone=, unlimited"]),
        lambda: ab.recommend(wire, candidates=["coupled, none, min-rtt, unlimited, backup=path7"]),
        lambda: ab.recommend(wire, candidates=["coupled, none, mini-rtt, unlimited"]),
        lambda: ab.recommend(wire, runs=1, only=["olio"]),
        lambda: ab.recommend(wire, runs=1, only=["judge=blest"]),
        lambda: ab.recommend(wire, runs=1, without=["scheduler=olia"]),
        lambda: ab.recommend(wire, runs=1, only=["xyzzy"]),
        lambda: ab.recommend(wire, runs=1, only=["dctcp"]),
        lambda: ab.recommend(BASE, runs=1, transfer="1 MB"),
        lambda: ab.recommend(shared, runs=1),
        lambda: ab.recommend(BASE.set("connection.protocol", "udp"), runs=1),
    ]
    agrees("refused-recommendations", *map(said, calls))
    # The largest seed leaves room for those of the comparisons.
    assert asked.checked(None, None, 2**62 - 1) == 30.0
    assert asked.checked(None, 5, 0) is None
    assert asked.checked(2.5, 5, 0) == 2.5


FIXED: list[tuple[dict[str, Any], bool]] = [
    ({}, True),
    ({"path.0.loss": "1 %"}, False),
    ({"path.1.loss_down": "1 %"}, False),
    ({"path.0.duplication": "1 %"}, False),
    ({"path.0.corruption": "1 %"}, False),
    ({"path.0.delay_variation": "1 %"}, False),
    ({"path.0.discipline": "codel"}, True),
    ({"path.0.discipline": "red"}, False),
    ({"path.0.changes": '[{ at = "1 s", rate = "1 Mbit/s" }]'}, True),
    ({"path.0.changes": '[{ at = "1 s", loss = "1 %" }]'}, False),
    ({"path.0.middleboxes": '["nat"]'}, False),
    ({"transfer.start_spread": "1 s"}, False),
    ({"transfer": '{ message = "1 kB", interval = "10 ms", duration = "1 s" }'}, True),
    ({"transfer": '{ request = "200 B", response = "1 kB", count = 3 }'}, True),
    ({"transfer": '{ page = [{ size = "9 kB" }, { size = "20 kB" }, { size = "5 kB", after = 1 }] }'}, True),
    ({"transfer": '{ page = "wikipedia" }'}, False),
    ({"transfer": '{ page = { objects = 5, bytes = "20 kB", depth = 2 } }'}, False),
    ({"connection.judge": "frto"}, True),
    ({"stack": "legacy-2011", "connection.judge": "frto"}, False),
    ({"stack": "legacy-2011", "connection.judge": "frto", "connection.ack_discard": "0 %"}, True),
]


@pytest.mark.parametrize(("changes", "fixed"), FIXED)
def test_what_is_left_to_chance(changes: dict[str, Any], fixed: bool) -> None:
    scenario = BASE.set(changes)
    scenario.check()
    assert nothing_random([scenario]) == fixed
    assert nothing_random([BASE, scenario]) == fixed


def test_links_of_today_are_left_to_chance() -> None:
    for path in ("lte", "wifi6 10 m", "starlink"):
        assert not nothing_random([ab.Scenario.of_paths([path], transfer="1 MB")])
    assert not nothing_random([ab.Scenario.from_toml("path = 3")])


class Clock:
    """A clock that a run moves on."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


def test_how_long_a_sweep_will_take(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run takes 0.2 s, another is ended after 0.7 s, when an eighth is done, so it takes 5.6 s; a third fails."""
    clock, begun = Clock(), []

    def run(task: Any, options: Options, poll: Callable[[Any], None]) -> Record:
        begun.append((int(dict(task.scenario.overrides)["connection.mss"]), task.seed))
        slow = begun[-1][0] == 800
        for step in range(8 if slow else 2):
            clock.now += 0.1
            poll({"delivered": step / 2, "total": 24.0, "t": 0.125 if slow else 0.0, "duration": 1.0})
        status = "failed" if begun[-1][0] == 900 else "completed"
        return Record(task.key, task.scenario_sha256, task.seed, status, "", "", "", json.dumps({}))

    monkeypatch.setattr(estimate, "perform", run)
    monkeypatch.setattr(estimate, "time", clock)
    monkeypatch.setattr(estimate, "threads", SimpleNamespace(cores=lambda: 2))
    axes: Any = {"mss": [700, 800, 900]}
    found = estimate.estimate(plan(BASE, axes, [4, 5]))
    assert begun == [(700, 4), (800, 4), (900, 4)]
    # Six runs of 2.9 s in the mean, two at a time.
    assert found.seconds == pytest.approx((0.2 + 0.7 / 0.125) / 2 * 6 / 2)
    assert (found.threads, found.tried) == (2, 2)
    limited = estimate.estimate(plan(BASE, {"mss": [800]}, 1, Options(timeout=2.0)))
    assert (limited.seconds, limited.threads) == (2.0, 1)
    begun.clear()
    many: Any = {"mss": [700, 701, 702, 703, 704, 705, 706, 707, 708]}
    estimate.estimate(plan(BASE, many, 1))
    assert [mss for mss, _ in begun] == [700, 702, 704, 706, 708]
    nothing = estimate.estimate(plan(BASE, {"mss": [900]}, 1))
    assert (nothing.seconds, nothing.tried) == (None, 0)
