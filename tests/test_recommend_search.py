"""How `recommend` searches: in which order, with which seeds, until when; and that nothing else decides."""

import json
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

import anabranch as ab
from anabranch.recommendation import Candidate, candidates, choices, ledger, search
from anabranch.recommendation.ledger import Job, Ledger, Made
from anabranch.recommendation.search import APART, LOOKS, Found, _Steps
from anabranch.sentences import common
from anabranch.sentences import recommend as say
from anabranch.sweeps import threads
from anabranch.sweeps.plan import NO_LIMITS
from anabranch.sweeps.task import Record, Task
from helpers import Command

PATHS = ["5 Mbit/s, 100 ms, delay_variation 1 %", "2 Mbit/s, 10 ms, delay_variation 1 %"]
STILL = ["5 Mbit/s, 100 ms, delay_variation 0 %", "2 Mbit/s, 10 ms, delay_variation 0 %"]
SMALL = ab.Scenario.of_paths(PATHS, transfer="2 s")
PLAIN = Candidate("coupled", "none", "min-rtt", "unlimited")
FEW = ["coupled", "cubic", "min-rtt", "round-robin", "ecf", "judge=none", "ncr"]


def options(*paths: str) -> list[str]:
    return [word for path in paths for word in ("--path", path)]


def test_every_scheduler_comes_first_then_every_controller_with_the_best_and_not_the_product() -> None:
    what = choices(SMALL)
    found = search(SMALL, what, runs=60)
    schedulers, controllers = what.names["scheduler"], what.names["controller"]
    first = found.looked[: 2 + len(schedulers)]
    assert first[0] == PLAIN
    assert {one.scheduler for one in first if not one.alone} == set(schedulers)
    assert [one.alone for one in first if one.alone] == ["path0", "path1"]
    assert {one.controller for one in first} == {"coupled"}
    second = found.looked[len(first) : len(first) + len(controllers) - 1]
    assert {one.controller for one in second} == set(controllers) - {"coupled"}
    assert len({one.scheduler for one in second}) == 1


def test_candidates_and_plain_tcp_over_each_path_have_the_same_seeds_which_nothing_was_chosen_by() -> None:
    found = search(SMALL, choices(SMALL), runs=60)
    (final,) = found.finals
    best = found.best
    assert best is not None
    assert {best.over("path0"), best.over("path1")} <= set(final.candidates)
    assert len(final.comparison.seeds) >= 5
    assert min(final.comparison.seeds) >= 1 + APART
    looks = {job.seed for job in found.ledger.runs} - set(final.comparison.seeds)
    assert looks == set(range(1, 1 + LOOKS))
    for one in final.candidates:
        assert all(Job(one, seed) in found.ledger.runs for seed in final.comparison.seeds)


def answer_of(text: str) -> str:
    """What a search prints, without its own command."""
    return re.sub(rf"({say.AGAIN}\n).*", r"\1", text)


@pytest.mark.parametrize("runs", [7, 33, pytest.param(61, marks=pytest.mark.long)])
def test_the_same_number_of_runs_gives_the_same_answer_whatever_the_machine(
    runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def backwards(tasks: Iterator[Task], keep: Callable[[list[Record]], None]) -> Generator[list[Record]]:
        yield from threads.records(iter(list(tasks)[::-1]), NO_LIMITS, 3, keep)

    def summary() -> dict[str, object]:
        return ab.recommend(PATHS, transfer="1 s", runs=runs, seed=5).summary

    once = summary()
    assert once["runs"] == runs
    monkeypatch.setattr(threads, "cores", lambda: 1)
    assert summary() == once
    there = search(SMALL, choices(SMALL), runs=runs, make_runs=backwards)
    here = search(SMALL, choices(SMALL), runs=runs)
    assert there.ledger.runs == here.ledger.runs
    assert (there.best, there.looked, there.lack) == (here.best, here.looked, here.lack)


def test_a_search_that_time_ended_knows_what_one_of_as_many_runs_knows(command: Command) -> None:
    timed = command("recommend", *options(*PATHS), "--transfer", "4 s", "--budget", "1")
    assert (timed.status, timed.err) == (0, "")
    (again,) = re.findall(r"^  (anabranch recommend .*)$", timed.out, re.MULTILINE)
    assert "--runs" in again
    repeated = command(*shlex.split(again)[1:])
    assert repeated.status == 0

    def told(text: str) -> str:
        """Without the suggestion, which says seconds or runs, and the seconds themselves."""
        flat = " ".join(text.split())
        flat = re.sub(r" Try --(budget|runs) \d+\.", "", flat)
        return re.sub(r"No answer in [0-9.]+ m?s \((\d+ runs?)\)", r"No answer in \1", flat)

    assert told(repeated.out) == told(timed.out)


def test_runs_beyond_a_hole_are_forgotten() -> None:
    """The time ends when the third run of the batch is missing: two count, whatever came after them."""

    def holed(tasks: Iterator[Task], keep: Callable[[list[Record]], None]) -> Generator[list[Record]]:
        some = [task for i, task in enumerate(tasks) if i != 2]
        yield from threads.records(iter(some), NO_LIMITS, 2, keep)

    found = search(SMALL, choices(SMALL), make_runs=holed)
    assert found.ledger.count == 2
    assert found.best is None
    assert {job.candidate for job in found.ledger.runs} == {PLAIN, PLAIN.over("path0")}


def test_other_seeds_are_taken_when_asked() -> None:
    first, other = (ab.recommend(PATHS, transfer="5 s", runs=60, seed=seed).summary for seed in (1, 77))
    assert {seed for row in other["first_look"] for seed in row["seeds"]} == {77, 78, 79}
    assert set(first["comparison"]["seeds"]).isdisjoint(other["comparison"]["seeds"])
    assert first["recommended"]["label"] == other["recommended"]["label"]


def test_too_few_runs_are_no_answer_and_the_suggested_number_is_one(command: Command) -> None:
    short = command("recommend", *options(*PATHS), "--transfer", "2 s", "--runs", "20", "--json")
    assert short.status == 0
    summary = json.loads(short.out)
    assert (summary["recommended"], summary["runs"], summary["ended"]) == (None, 20, "runs")
    assert summary["sentences"][0].startswith("No answer in 20 runs: ")
    option, number = summary["suggestion"].split()
    assert option == "--runs"
    longer = command("recommend", *options(*PATHS), "--transfer", "2 s", "--runs", number)
    assert longer.out.splitlines()[0].startswith(
        "goal: the highest goodput; transfer: 2 s, down (server to client), over"
    )
    assert "\nrecommended: " in longer.out
    assert f"{number} runs were made in all" in " ".join(longer.out.split())


def test_given_candidates_are_compared_on_the_same_seeds_with_plain_tcp(command: Command) -> None:
    some = ["--candidate", str(PLAIN), "--candidate", "cubic, none, ecf, 350 kB"]
    done = command("recommend", *options(*PATHS), "--transfer", "2 s", *some, "--seeds", "6", "--json")
    assert (done.status, done.err) == (0, "")
    comparison = json.loads(done.out)["comparison"]
    assert comparison["seeds"] == [1, 2, 3, 4, 5, 6]
    names = {row["label"] for row in comparison["candidates"]}
    tcp = {f"TCP over {path} alone, {name}" for path in ("path0", "path1") for name in ("coupled", "cubic")}
    assert names == {"coupled, min-rtt", "cubic, ecf, buffer 350 kB"} | tcp
    few = command("recommend", *options(*PATHS), "--transfer", "2 s", *some, "--seeds", "4")
    why = say.FEW_PAIRS(pairs=4, needed=5)
    assert f"No answer in 24 runs: {why}. Try --seeds 10." in " ".join(few.out.split())


def test_a_scenario_without_chance_is_one_run_and_its_comparison_exact() -> None:
    found = ab.recommend(STILL, transfer="2 s", runs=58)
    comparison = found.summary["comparison"]
    assert found.summary["nothing_random"]
    assert (comparison["pairs"], comparison["identical"]) == (1, 5)
    for row in comparison["candidates"][1:]:
        difference = row["goodput_mbps"]["difference"]
        assert difference["low"] is difference["high"] is difference["p_holm"] is None
        assert row["goodput_mbps"]["low"] is None
    told = " ".join(found.text().split())
    assert say.NOTHING_RANDOM(seeds=5) in told
    assert "1 run (5 identical)" in told
    assert "95 % interval" not in told
    assert "surely" not in told


def test_identical_runs_prove_little_where_chance_has_a_part() -> None:
    """A frame in a million is lost: ten equal runs are asked for, not five."""
    rare = [path.replace("delay_variation 0 %", "delay_variation 0 %, loss 0.0001 %") for path in STILL]
    scenario = ab.Scenario.of_paths(rare, transfer="1 s")
    few = search(scenario, [PLAIN], seeds=5)
    assert few.lack is not None
    assert few.lack.pairs == 10
    enough = search(scenario, [PLAIN], seeds=10)
    assert enough.final is not None
    assert enough.final.comparison.exact
    assert enough.best is not None


def test_one_path_is_answered_with_plain_tcp() -> None:
    lossy = search(
        ab.Scenario.of_paths(["20 Mbit/s, 30 ms, loss 0.5 %"], transfer="5 s"),
        choices(ab.Scenario.of_paths(["20 Mbit/s, 30 ms, loss 0.5 %"], transfer="5 s")),
        runs=150,
    )
    assert all(one.alone == "path0" for one in lossy.looked)
    assert lossy.best is None or lossy.best.alone == "path0"
    assert lossy.final is not None
    assert PLAIN.over("path0") in lossy.final.candidates


def test_one_path_alone_is_recommended_where_the_other_holds_it_back() -> None:
    """Round robin over both and a small buffer: the slow path of a second each way only costs."""
    uneven = ab.Scenario.of_paths(
        ["20 Mbit/s, 10 ms, delay_variation 1 %", "200 kbit/s, 1 s, delay_variation 1 %"], transfer="5 s"
    )
    found = search(uneven, [PLAIN._replace(buffer="100 kB"), PLAIN._replace(buffer="100 kB", backup="path1")], seeds=6)
    assert found.best == PLAIN.over("path0")


def test_a_path_may_be_recommended_as_backup() -> None:
    """Of three paths the third only costs: without it the other two are used."""
    three = ab.Scenario.of_paths(
        [
            "10 Mbit/s, 10 ms, delay_variation 1 %",
            "10 Mbit/s, 12 ms, delay_variation 1 %",
            "100 kbit/s, 900 ms, delay_variation 1 %",
        ],
        transfer="5 s",
    )
    like = PLAIN._replace(buffer="150 kB", scheduler="round-robin")
    found = search(three, [like, like._replace(backup="path2")], seeds=6)
    assert found.best == like._replace(backup="path2")
    what = choices(three, only=["coupled", "round-robin", "judge=none"])
    searched = search(three, what, runs=60)
    assert {one.backup for one in searched.looked} == {"", "path0", "path1", "path2"}


@pytest.mark.parametrize("direction", ["up", "down", "both"])
def test_the_first_line_names_the_direction(command: Command, direction: str) -> None:
    some = ["--candidate", str(PLAIN), "--seeds", "5"]
    done = command("recommend", *options(*PATHS), "--transfer", "2 s", "--direction", direction, *some)
    assert done.status == 0
    assert f"transfer: 2 s, {direction} (" in done.out.splitlines()[0]
    again = ["--set", f"transfer.direction={direction}"]
    done = command("recommend", *options(*PATHS), "--transfer", "2 s", *again, *some)
    assert f"transfer: 2 s, {direction} (" in done.out.splitlines()[0]


@pytest.mark.parametrize("goal", ["latency", "memory"])
def test_other_goals_compare_by_their_own_measure(goal: str) -> None:
    found = ab.recommend(PATHS, transfer="2 s", goal=goal, runs=80, only=FEW)
    comparison = found.summary["comparison"]
    field = candidates.GOALS[goal].field.replace(".", "_")
    assert comparison["goal"] == field
    best = max(row["goodput_mbps"]["mean"] for row in comparison["candidates"])
    if found.answered:
        assert comparison["candidates"][0]["goodput_mbps"]["mean"] >= 0.9 * best


def test_what_failed_is_said_and_not_recommended() -> None:
    def fails(tasks: Iterator[Task], keep: Callable[[list[Record]], None]) -> Generator[list[Record]]:
        for records in threads.records(tasks, NO_LIMITS, 2, keep):
            yield [
                one._replace(status="failed", summary="", error="no room\nof any kind")
                if one.scenario_sha256 in broken
                else one
                for one in records
            ]

    bad = PLAIN._replace(scheduler="ecf")
    broken: set[str] = set()
    first = search(SMALL, [bad], runs=3)
    broken |= {cell.sha256 for (one, _), cell in first.ledger._cells.items() if one == bad}
    what = choices(SMALL, only=["coupled", "min-rtt", "ecf", "judge=none"])
    found = search(SMALL, what, runs=60, make_runs=fails)
    assert found.ledger.failed == {(bad, 1.0): "no room\nof any kind"}
    assert found.best is not None
    assert found.best.scheduler != "ecf"


def test_a_given_candidate_that_fails_ends_the_comparison_with_its_error() -> None:
    """The scenario refuses an unknown scheduler before the first run of this candidate."""
    unknown = PLAIN._replace(scheduler="no-such-scheduler")
    with pytest.raises(ab.ScenarioError, match="no-such-scheduler"):
        search(SMALL, [PLAIN, unknown], seeds=1)


def test_the_rival_of_plain_tcp_has_its_controller_if_the_goodput_is_as_good() -> None:
    """The goodputs of the two MPTCP candidates are 10 and 10 Mbit/s, then 10 and 5 Mbit/s."""
    cubic = PLAIN._replace(controller="cubic")

    def rivals(goodput: float) -> list[Candidate]:
        runs = {
            Job(one, 1): Made({measure.field: value for measure in candidates.MEASURES}, one.controller, "", None)
            for one, value in ((PLAIN, 10.0), (cubic, goodput), (cubic.over("path0"), 20.0))
        }
        made = Ledger(SMALL, ("path0", "path1"), runs=runs)
        return _Steps(Found(SMALL, "throughput", made, 1, looked=[job.candidate for job in runs]))._strongest("cubic")

    assert rivals(10.0) == [cubic]
    assert rivals(5.0) == [PLAIN]


def test_progress_tells_the_seconds_since_the_batch_began(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each reading of the clock is one second after the one before; the first is 1,000 s."""
    clock = count(1000)
    told: list[tuple[float, int, int]] = []
    monkeypatch.setattr(ledger, "time", SimpleNamespace(monotonic=lambda: float(next(clock))))
    search(
        SMALL,
        [PLAIN],
        seeds=1,
        progress=lambda _batch, _candidates, state: told.append((state.seconds, state.done, state.total)),
    )
    assert [seconds for seconds, _, _ in told] == [float(n) for n in range(1, len(told) + 1)]
    assert told[-1][1:] == (3, 3)


SIGNALLED = """
import os, sys
import anabranch.sweeps.threads as threads
real = threads.records
def records(*arguments):
    for found in real(*arguments):
        yield found
        if found: os.kill(os.getpid(), {number})
threads.records = records
sys.argv[1:] = {arguments!r}
from anabranch.__main__ import main
main()
"""
"""The command, which gets a signal when the first run is finished."""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_search_that_is_interrupted_answers_with_what_is_done(tmp_path: Path, number: signal.Signals) -> None:
    """The answer so far, on standard output and as a report."""
    arguments = ["recommend", *options(*PATHS), "--transfer", "2 s", "--out", str(tmp_path / "out")]
    code = SIGNALLED.format(number=int(number), arguments=arguments)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 128 + number, (done.stdout, done.stderr)
    assert done.stderr == f"{common.INTERRUPTED}\n"
    summary = json.loads((tmp_path / "out" / "recommendation.json").read_text(encoding="utf-8"))
    assert (summary["interrupted"], summary["ended"]) == (True, "interrupt")
    assert done.stdout.startswith("goal: the highest goodput; transfer: 2 s, down (server to client),")
    assert f"Interrupted, no answer in {summary['runs']} run" in done.stdout
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_the_report_and_the_json_say_how_many_runs_it_rests_on(command: Command, tmp_path: Path) -> None:
    arguments = [*options(*PATHS), "--transfer", "1 s", "--runs", "60", "--out", tmp_path / "answer"]
    done = command("recommend", *arguments, "--json")
    assert done.status == 0
    summary = json.loads(done.out)
    assert summary["runs"] == 60
    assert summary == json.loads((tmp_path / "answer" / "recommendation.json").read_text(encoding="utf-8"))
    page = (tmp_path / "answer" / "report.html").read_text(encoding="utf-8")
    assert "60 runs were made in all" in page
    assert "--runs 60" in page
    # The scenario that is written is the recommended one.
    stored = ab.Scenario.load(tmp_path / "answer" / "scenario.toml").check()["connections"][0]
    assert stored["scheduler"] == summary["recommended"]["scheduler"]
    assert stored["controller"] == summary["recommended"]["controller"]
    # Such a folder is named by other commands, and replaced by the next recommendation.
    other = command("compare", tmp_path / "answer", tmp_path / "answer")
    assert other.status == 2
    assert "a recommendation" in other.err
    assert command("recommend", *arguments).status == 0
