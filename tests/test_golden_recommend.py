"""Whole answers of `recommend`, most of invented runs: all figures and words of each search (`golden_answers`)."""

import hashlib
import importlib
import json
import re
from collections.abc import Callable, Generator, Iterator, Mapping
from statistics import NormalDist
from typing import Any

import pytest

import anabranch as ab
from anabranch.recommendation import Candidate, Choices, choices, ledger, paths, search, text
from anabranch.recommendation.ledger import Maker
from anabranch.recommendation.report import page as report
from anabranch.recommendation.search import Found
from anabranch.recommendation.summary import summary
from anabranch.sentences import recommend as say
from anabranch.sweeps.task import Record, Task
from golden_answers import agrees, listed, page

PATHS = ["5 Mbit/s, 100 ms, delay_variation 1 %", "2 Mbit/s, 10 ms, delay_variation 1 %"]
BASE = ab.Scenario.of_paths(PATHS, transfer="20 s")
PLAIN = Candidate("coupled", "none", "min-rtt", "unlimited")
KNOWN = (
    *("coupled", "cubic", "olia", "bbr", "dctcp", "min-rtt", "blest", "ecf", "round-robin", "linux", "redundant"),
    *("judge=none", "dsack", "frto", "rack", "rfc6675", "ncr"),
)
"""What is tried: another algorithm, once there is one, changes no answer here."""
MADE = {"command": "c", "version": "v", "started": "s", "machine": "m", "python": "p"}
NORMAL = NormalDist()

Measures = tuple[float, float, float]
"""Goodput (Mbit/s), octets in the reordering buffer, 95th percentile of the head-of-line delay (ms)."""


def drawn(*key: object) -> float:
    """A standard normal number, the same for the same key."""
    octets = hashlib.sha256(repr(key).encode()).digest()[:8]
    return NORMAL.inv_cdf((int.from_bytes(octets, "big") + 0.5) / 2**64)


def world(means: Callable[[Mapping[str, Any]], Measures], shared: float = 0.5, own: float = 0.1) -> Maker:
    """Runs whose measures are `means` of the scenario's changes, one part by the seed, one of each run."""

    def make(tasks: Iterator[Task], _: Callable[[list[Record]], None]) -> Generator[list[Record]]:
        for task in tasks:
            changes = dict(task.scenario.overrides)
            noise = shared * drawn(task.seed) + own * drawn(task.seed, *sorted(map(str, changes.items())))
            goodput, octets, delay = means(changes)
            found = {
                "goodput_mbps": goodput + noise,
                "ooo_buffer_max_bytes": octets * (1 + noise / 20),
                "hol_delay_ms": {"p95": delay * (1 - noise / 20)},
                "trace_sha256": repr((sorted(map(str, changes.items())), task.seed if shared else 0)),
                "choice_ratio": 0.5,
            }
            yield [Record(task.key, task.scenario_sha256, task.seed, "completed", "", "", "", json.dumps(found))]

    return make


def answer(name: str, found: Found, seeds: int | None = None) -> dict[str, Any]:
    """Compare the whole answer with the stored one; return its summary."""
    found.seconds = 1.25
    told = summary(found, ["anabranch", "recommend", "--path", "a b"], seeds)
    wide, narrow = (re.sub(r"(?m)^  anabranch .*\n", "", text.text(told, *size)) for size in ((80,), (60, 50)))
    rest = {key: value for key, value in told.items() if key not in ("sentences", "paths")}
    seen = [f"{final.comparison.seeds} {'; '.join(one.label for one in final.candidates)}" for final in found.finals]
    agrees(f"recommend-{name}", wide, listed(rest), "\n".join(seen), narrow[: narrow.index("\n\n")])
    return told


def throughput(changes: Mapping[str, Any]) -> Measures:
    """Over both paths 6 Mbit/s, 25 % more with CUBIC and 0.9 more with BLEST, with a quarter of the queues a third."""
    alone = changes.get("connection.paths", "")
    goodput = 4.2 if "path0" in alone else 1.8 if alone else 6.0
    goodput *= 1.25 if changes.get("connection.controller") == "cubic" else 1.0
    goodput += 0.9 if changes.get("connection.scheduler") == "blest" else 0.0
    if changes.get("path.0.queue") == "25 packets":
        goodput /= 3 if changes.get("connection.scheduler") == "blest" else 2
    return goodput, 40_000 if alone else 90_000, 0.0 if alone else 25.0


def latency(changes: Mapping[str, Any]) -> Measures:
    """The default blocks for 60 ms, ECF for 20 ms, one path not at all, but with too little goodput."""
    alone = changes.get("connection.paths", "")
    if alone:
        return (3.0 if "path0" in alone else 1.5), 0.0, 0.0
    ecf = changes.get("connection.scheduler") == "ecf"
    small = changes.get("connection.receive_buffer") == "88 kB"
    return (5.8 if ecf else 6.0) - 0.1 * small, 70_000 if ecf else 120_000, (20.0 if ecf else 60.0) - 8.0 * small


def test_a_search_for_throughput() -> None:
    found = search(BASE, choices(BASE, KNOWN), runs=250, make_runs=world(throughput))
    told = answer("throughput", found)
    best = PLAIN._replace(controller="cubic", scheduler="blest")
    assert found.best == best
    first, *others = told["comparison"]["candidates"]
    assert first["goodput_mbps"]["mean"] == pytest.approx(6.0 * 1.25 + 0.9, abs=0.5)
    (alone,) = [row for row in others if row["alone"] == "path0" and row["controller"] == "cubic"]
    assert alone["goodput_mbps"]["difference"]["mean"] == pytest.approx(4.2 * 1.25 - 8.4, abs=0.2)
    assert alone["goodput_mbps"]["difference"]["surely"] == "worse"
    # A third of 8.4 is less than half of 7.5.
    quarter, four = told["queues"]
    assert (quarter["factor"], four["factor"]) == (0.25, 4.0)
    assert quarter["candidates"][0]["goodput_mbps"]["mean"] == pytest.approx(2.8, abs=0.5)
    agrees("recommend-throughput-page", page(report(told, MADE)))


@pytest.mark.parametrize("goal", ["latency", "memory"])
def test_a_search_for_another_goal(goal: str) -> None:
    what = choices(BASE, only=["coupled", "cubic", "min-rtt", "ecf", "linux", "judge=none", "ncr"])
    found = search(BASE, what, goal, runs=150, make_runs=world(latency), seed=3)
    told = answer(goal, found)
    assert told["recommended"]["scheduler"] == "ecf"
    # Plain TCP blocks nothing, but has 3 Mbit/s of 6.
    assert told["comparison"]["candidates"][-1]["alone"]
    assert "less than 90 %" in " ".join(told["sentences"]) or "90 %" in " ".join(told["sentences"])


def test_a_search_over_one_path() -> None:
    one = ab.Scenario.of_paths(["20 Mbit/s, 30 ms, loss 0.5 %"], transfer="2 s")

    def single(changes: Mapping[str, Any]) -> Measures:
        return 11.0 + 2.0 * (changes.get("connection.controller") == "bbr"), 30_000, 9.0

    found = search(one, choices(one, KNOWN, without=["frto", "olia"]), runs=90, make_runs=world(single))
    told = answer("one-path", found)
    assert told["recommended"]["alone"] == "path0"
    assert told["recommended"]["controller"] == "bbr"


def test_a_backup_of_three_paths() -> None:
    three = ab.Scenario.of_paths([*PATHS, "1 Mbit/s, 300 ms, delay_variation 1 %"], transfer="20 s")

    def held(changes: Mapping[str, Any]) -> Measures:
        alone = "connection.paths" in changes
        return 3.0 if alone else 8.0 if changes.get("path.2.backup") == "true" else 6.5, 50_000, 10.0

    what = choices(three, only=["coupled", "min-rtt", "ecf", "judge=none", "ncr"])
    found = search(three, what, runs=150, make_runs=world(held))
    told = answer("backup", found)
    assert told["recommended"]["backup"] == "path2"
    assert told["recommended"]["changes"]["path.2.backup"] is True


def test_candidates_that_are_given() -> None:
    some = [PLAIN, PLAIN._replace(controller="cubic", buffer="350 kB"), PLAIN._replace(scheduler="blest")]
    found = search(BASE, some, seeds=7, seed=4, make_runs=world(throughput))
    told = answer("given", found, 7)
    assert told["comparison"]["seeds"] == [4, 5, 6, 7, 8, 9, 10]
    assert told["recommended"]["controller"] == "cubic"
    assert told["runs"] == 7 * (3 + 2 * 2) + 2 * 5 * 4


def test_runs_that_are_all_the_same() -> None:
    still = ab.Scenario.of_paths([path.replace("1 %", "0 %") for path in PATHS], transfer="20 s")
    found = search(still, [PLAIN, PLAIN._replace(scheduler="blest")], seeds=6, make_runs=world(throughput, 0.0, 0.0))
    told = answer("identical", found, 6)
    assert (told["comparison"]["pairs"], told["comparison"]["identical"]) == (1, 6)
    assert told["comparison"]["candidates"][1]["goodput_mbps"]["difference"]["mean"] == pytest.approx(-0.9)


def failing(keep: Maker, *words: str) -> Maker:
    """The same runs, but those of scenarios with one of `words` in a value fail."""

    def make(tasks: Iterator[Task], note: Callable[[list[Record]], None]) -> Generator[list[Record]]:
        for task in tasks:
            (records,) = keep(iter([task]), note)
            broken = any(str(value) in words for _, value in task.scenario.overrides)
            yield [
                one._replace(status="failed", summary="", error="no room\nmore") if broken else one for one in records
            ]

    return make


def wild(what: list[Candidate] | Choices, **how: Any) -> Found:
    """A search of runs that differ much; those with ECF or OLIA fail."""
    return search(BASE, what, make_runs=failing(world(throughput, 2.0, 2.5), "ecf", "olia"), **how)


def test_searches_without_an_answer() -> None:
    """Few runs, wide intervals, no time at all, Ctrl-C, no rival: each says why, and what to try."""
    early = answer("too-few-runs", wild(choices(BASE, KNOWN), runs=20))
    assert (early["recommended"], early["comparison"], early["ended"]) == (None, None, "runs")
    # The first comparison alone takes 5 runs of each of three candidates.
    assert early["suggestion"].startswith("--runs ")
    middle = answer("a-few-pairs", wild(choices(BASE, KNOWN), runs=55))
    assert middle["suggestion"].startswith("--runs ")
    wide = answer("wide", wild([PLAIN, PLAIN._replace(scheduler="blest")], seeds=6), 6)
    assert wide["suggestion"].startswith("--seeds ")
    timed = wild(choices(BASE, KNOWN), budget=1e-9)
    timed.budget = 3.0
    assert answer("no-time", timed)["suggestion"] == "--budget 50"
    assert answer("interrupted", interrupted())["interrupted"]


def interrupted() -> Found:
    """A search that Ctrl-C ends in its eighth run."""

    def make(tasks: Iterator[Task], note: Callable[[list[Record]], None]) -> Generator[list[Record]]:
        for i, record in enumerate(world(throughput)(tasks, note)):
            if i == 7:
                raise KeyboardInterrupt
            yield record

    return search(BASE, choices(BASE, KNOWN), runs=60, make_runs=make)


def test_how_far_a_search_is() -> None:
    """Batches are numbered; each says of how many runs it is, and of how many candidates."""
    seen: list[tuple[int, ...]] = []
    search(
        BASE,
        choices(BASE, only=["coupled", "cubic", "min-rtt", "ecf", "judge=none", "ncr"]),
        runs=60,
        make_runs=world(throughput),
        progress=lambda batch, candidates, state: seen.append((batch, candidates, state.total, state.done)),
    )
    agrees("recommend-progress", "\n".join(map(str, seen)))
    assert [batch for batch, *_ in seen] == sorted(batch for batch, *_ in seen)
    assert all(done <= total for *_, total, done in seen)


def test_two_candidates_and_one() -> None:
    """Over one path a candidate has one rival; plain TCP alone has none."""
    one = ab.Scenario.of_paths(["20 Mbit/s, 30 ms, loss 0.5 %"], transfer="20 s")
    noisy = world(throughput, 1.0, 4.0)
    pair = answer("pair", search(one, [PLAIN], seeds=6, make_runs=noisy), 6)
    assert len(pair["comparison"]["candidates"]) == 2
    assert "the interval is wider than 20 %" in pair["sentences"][0]
    assert pair["suggestion"].startswith("--seeds ")
    alone = answer("no-rival", search(one, [PLAIN.over("path0")], seeds=6, make_runs=noisy), 6)
    assert (alone["recommended"], alone["suggestion"]) == (None, None)


class Clock:
    """A clock that every look moves on by a fifth of a second."""

    now = 50.0

    def monotonic(self) -> float:
        self.now += 0.2
        return self.now


def test_a_search_that_time_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """3 s are 15 looks at the clock, two of which are no runs; a first comparison takes 53 runs and more."""
    clock = Clock()
    monkeypatch.setattr(ledger, "time", clock)
    monkeypatch.setattr(importlib.import_module("anabranch.recommendation.search"), "time", clock)
    found = search(BASE, choices(BASE, KNOWN), budget=3.0, make_runs=world(throughput))
    told = answer("time", found)
    assert told["ended"] == "time"
    assert 10 <= told["runs"] <= 15
    # 1.2 times 3 s * 53 / runs, rounded up to 1, 2, 3 or 5 times a power of ten.
    assert told["suggestion"] == "--budget 20"


def test_what_ends_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thirty seconds unless something else is said; nothing ends a comparison of given candidates but its seeds."""
    told: list[dict[str, Any]] = []

    def noted(*_: Any, **how: Any) -> Found:
        told.append(how)
        return search(BASE, [PLAIN], seeds=5, make_runs=world(throughput))

    monkeypatch.setattr(importlib.import_module("anabranch.recommendation.result"), "search", noted)
    for how in ({}, {"budget": 7.0}, {"runs": 9}, {"runs": 9, "budget": 7.0}, {"seed": 4}):
        ab.recommend(PATHS, transfer="1 s", **how)
    ab.recommend(PATHS, transfer="1 s", candidates=[str(PLAIN)])
    ab.recommend(PATHS, transfer="1 s", candidates=[str(PLAIN)], budget=7.0)
    ab.recommend(PATHS, transfer="1 s", candidates=[str(PLAIN)], runs=9, seeds=3)
    seen = [(how["budget"], how["runs"], how["seed"], how["seeds"]) for how in told]
    searches = [(30.0, None, 1, 0), (7.0, None, 1, 0), (None, 9, 1, 0), (7.0, 9, 1, 0), (30.0, None, 4, 0)]
    assert seen == [*searches, (None, None, 1, 8), (7.0, None, 1, 8), (None, 9, 1, 3)]


def test_a_comparison_that_time_or_runs_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 24 runs some are made; the command that is printed makes as many, and the suggestion is more of the same."""
    few = answer("given-runs", search(BASE, [PLAIN], seeds=8, runs=10, make_runs=world(throughput)), 8)
    assert (few["runs"], few["ended"], few["comparison"]["pairs"]) == (10, "runs", 3)
    assert few["command"].endswith("--runs 10 --seeds 8")
    assert few["suggestion"] == "--runs 30"
    # Of two runs, one is of a baseline. The table of the first look lists given candidates only.
    one = summary(search(BASE, [PLAIN], seeds=8, runs=2, make_runs=world(throughput)), ["anabranch"], 8)
    assert (one["comparison"], [row["candidate"] for row in one["first_look"]]) == (None, [str(PLAIN)])
    assert f"\n\n{say.LOOKED_GIVEN(seed=1)}\n\n" in text.text(one)
    assert say.REPORT_LOOK_GIVEN(seed=1) in report(one, MADE)
    assert "search chooses" not in text.text(one) + report(one, MADE)
    clock = Clock()
    monkeypatch.setattr(ledger, "time", clock)
    monkeypatch.setattr(importlib.import_module("anabranch.recommendation.search"), "time", clock)
    timed = summary(search(BASE, [PLAIN], seeds=8, budget=2.0, make_runs=world(throughput)), ["anabranch"], 8)
    assert timed["ended"] == "time"
    assert timed["command"] == f"anabranch --runs {timed['runs']} --seeds 8"
    assert timed["suggestion"].startswith("--budget ")


def test_a_transfer_is_short_if_it_lasts_less_than_twice_slow_start() -> None:
    """100 Mbit/s, 600 ms and a queue of 100 packets: log2((7.5 MB + 150 kB) / 14 kB) + 2 = 11.09 rounds of 612 ms."""
    path = ["100 Mbit/s, 300 ms"]
    (slow,) = (each.slow_start for each in paths.paths(ab.Scenario.of_paths(path, transfer="1 s")))
    assert slow == pytest.approx(11.094 * 0.612, rel=1e-3)
    for transfer, short in (("13.4 s", True), ("13.7 s", False), ("167 MB", True), ("171 MB", False)):
        assert bool(paths.too_short(ab.Scenario.of_paths(path, transfer=transfer))) == short


def test_a_search_of_true_runs() -> None:
    """Measures are read from summaries of the simulator; nothing of it depends on the machine."""
    found = ab.recommend(
        PATHS, transfer="1 s", runs=45, only=["coupled", "cubic", "min-rtt", "linux", "judge=none", "ncr"]
    )
    told = re.sub(r"(?m)^  (anabranch .*)$", lambda line: line[0].replace("\n", " "), found.text())
    agrees("recommend-true", told, listed({key: found.summary[key] for key in ("first_look", "command", "comparison")}))
    assert found._repr_html_().startswith("<p><strong>")
