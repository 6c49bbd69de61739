"""Recommending how to use given paths: parsing, comparing, halving, saying it."""

import itertools
import re
import shlex

import numpy as np
import pytest

import anabranch as ab
from anabranch.recommendation import Candidate, Found, answer, candidates, choices, paths, search
from anabranch.recommendation import command as command_module
from anabranch.recommendation.candidates import GOODPUT, LATENCY, MEMORY
from anabranch.recommendation.search import _best as halve
from anabranch.recommendation.search import _choose as choose
from helpers import Command

PATHS = ["5 Mbit/s, 100 ms, delay_variation 1 %", "2 Mbit/s, 10 ms, delay_variation 1 %"]
SMALL = ab.Scenario.of_paths(PATHS, transfer="1 MB")
PLAIN = Candidate("coupled", "none", "min-rtt", "unlimited")


def result(goodput: float, memory: float, latency: float) -> dict[str, float]:
    return {GOODPUT.field: goodput, MEMORY.field: memory, LATENCY.field: latency}


def test_a_wireless_path_is_written_in_short() -> None:
    text = ab.Scenario.of_paths(["wifi 11g 54, 30 m, fading nakagami, delay 10 ms"], transfer="20 s").toml
    assert 'wifi = { standard = "802.11g", rate = "54 Mbit/s", distance = "30 m", fading = "nakagami" }' in text
    assert text.endswith('delay = "10 ms"\n')
    text = ab.Scenario.of_paths(["wifi 802.11b minstrel, 5 m, nakagami_m 1.5"], transfer="20 s").toml
    assert 'wifi = { standard = "802.11b", rate = "minstrel", distance = "5 m", nakagami_m = 1.5 }' in text


@pytest.mark.parametrize("path", ["5 Mbit/s", "wifi 11g 54", "wifi 54, 30 m", "5 Mbit/s, 10 ms, loss"])
def test_a_path_that_is_not_one_says_how_to_write_it(command: Command, path: str) -> None:
    done = command("recommend", "--path", path)
    assert (done.status, done.out) == (2, "")
    assert "such as" in done.err
    assert "delay_variation" not in done.err  # which is added, and not what was said


@pytest.mark.parametrize(
    ("path", "meant"), [("starlnk", "starlink"), ("5g goood", "5g good"), ("LTE drivng", "lte driving"), ("dls", "dsl")]
)
def test_a_link_misspelt_is_asked_about(command: Command, path: str, meant: str) -> None:
    done = command("recommend", "--path", path)
    assert done.status == 2
    assert f'did you mean "{meant}"?' in done.err


def test_the_first_stage_has_every_pair_and_begins_with_the_default() -> None:
    what = choices(SMALL)
    first = what.first()
    pairs = {(one.controller, one.scheduler) for one in first}
    assert pairs == set(itertools.product(what.names["controller"], what.names["scheduler"]))
    assert len(set(first)) == len(first) == 2 * len(pairs)
    assert first[0].plain
    # 7 Mbit/s x 0.2 s = 175 kB
    assert what.buffers == ["88 kB", "180 kB", "350 kB", "700 kB", "unlimited"]
    assert {one.buffer for one in first} == {"180 kB", "unlimited"}
    # Nothing is dropped without a word: the scenario takes it, or says why not.
    known = {f"controller {name}" for name in candidates.known("controller")}
    assert {f"controller {name}" for name in what.names["controller"]} | set(what.refused) >= known
    assert "needs ecn" in what.refused["controller dctcp"]


def test_the_second_stage_has_the_rest_around_the_best() -> None:
    what = choices(SMALL)
    around = what.around([PLAIN, PLAIN._replace(buffer="88 kB"), PLAIN._replace(controller="cubic")])
    kinds = len(what.names["judge"]) * len(what.names["detector"]) * len(what.buffers)
    assert len(set(around)) == len(around) == 2 * kinds
    assert {one.controller for one in around} == {"coupled", "cubic"}
    # The profile's own detector has no name: each combination is there once.
    assert what.names["detector"][0] == ""
    assert "rack" not in what.names["detector"]
    assert what.total == len(what.first()) // 2 * kinds


def test_what_is_tried_can_be_chosen() -> None:
    what = choices(SMALL, only=["olia", "coupled", "judge=none"], without=["scheduler=linux", "redundant"])
    assert what.names["controller"] == ("coupled", "olia")
    assert what.names["judge"] == ("none",)
    assert not {"linux", "redundant"} & set(what.names["scheduler"])
    assert "blest" in what.names["scheduler"]
    assert choices(SMALL, only=["ncr"]).names["detector"] == ("ncr",)
    assert choices(SMALL, only=["ncr"]).first()[0].changes()["connection.detector"] == "ncr"
    for wrong, said in (("olai", "did you mean 'olia'"), ("judge=blest", "did you mean scheduler=blest?")):
        with pytest.raises(ab.ScenarioError, match=said):
            choices(SMALL, only=[wrong])
    with pytest.raises(ab.ScenarioError, match=r"no controller to try: .*needs ecn"):
        choices(SMALL, only=["dctcp"])


def test_the_profiles_own_detector_is_tried_where_it_gives_way_to_newreno() -> None:
    for keys in ({"connection.acknowledgement": "coupled"}, {"connection.sack": False}):
        what = choices(SMALL.set(keys))
        assert what.first()[0].plain
        assert what.names["detector"][0] == ""
        # NewReno by another name would be the same run again.
        assert "rfc6675" not in what.names["detector"]
        assert "detector rack" not in what.refused


def test_what_is_searched_cannot_be_set(command: Command) -> None:
    paths = [word for path in PATHS for word in ("--path", path)]
    for change in ("connection.scheduler=blest", "connection.receive_buffer=1 MB"):
        done = command("recommend", *paths, "--set", change, "--budget", "1")
        assert (done.status, done.out) == (2, "")
        assert "--only NAME" in done.err
    done = command("recommend", *paths, "--set", "connection.protocol=udp", "--budget", "1")
    assert done.status == 2
    assert "datagrams" in done.err


def test_the_smaller_of_two_equal_buffers_is_recommended() -> None:
    small, large = PLAIN._replace(buffer="700kB"), PLAIN._replace(buffer="1 MB")
    found = search(SMALL, [large, small], seeds=2)
    assert found.best == small
    assert found.equals == [large]


def test_a_candidate_is_read_as_it_is_printed() -> None:
    some = choices(SMALL)
    for candidate in [*some.first()[:40], *some.around(some.first()[:1])]:
        assert candidates.read(str(candidate)) == candidate
    with_detector = candidates.read("coupled, none, min-rtt, 512 kB, detector=ncr")
    assert with_detector == Candidate("coupled", "none", "min-rtt", "512 kB", "ncr")
    for wrong in ("coupled, none, min-rtt, 512 kB, ncr", "coupled, none, min-rtt, 512 kB, reduction=prr"):
        with pytest.raises(ab.ScenarioError, match="is not CONTROLLER"):
            candidates.read(wrong)


def test_a_search_goes_on_around_the_best_pairs() -> None:
    what = choices(SMALL, only=["coupled", "cubic", "min-rtt", "round-robin", "none", "eifel"])
    found = search(SMALL, what, budget=60.0)
    assert found.rounds[0].candidates == len(what.first()) == 8
    assert 1 <= len(found.leaders) <= 3
    assert found.untried == []
    assert len(found.runs) + found.beyond == what.total
    told = " ".join(answer.text(found, ["anabranch"]).split())
    assert "were tried around the best of the first round" in told
    assert f"of {what.total} combinations" in told
    assert "Left out" not in told


def test_what_the_runner_up_would_cost_is_said() -> None:
    other = PLAIN._replace(scheduler="round-robin")
    rows = {PLAIN: [(6.0, 10.0), (6.2, 11.0)], other: [(4.5, 30.0), (4.6, 32.0)]}
    told = made("throughput", rows, PLAIN)
    told.equals.clear()
    said = " ".join(answer.text(told, ["x"]).split())
    assert (
        f"the runner-up, {other}, would have 1.55 Mbit/s less goodput (-25 %), 20.5 ms more head of line (+195 %)"
        in said
    )


def test_what_a_runner_up_with_fewer_runs_would_cost_is_a_share_of_the_runs_that_both_have() -> None:
    other = PLAIN._replace(scheduler="round-robin")
    told = made("throughput", {PLAIN: [(6.0, 90.0), (6.2, 10.0)], other: [(4.5, 20.0)]}, PLAIN)
    told.equals.clear()
    assert "70.0 ms less head of line (-78 %)" in " ".join(answer.text(told, ["x"]).split())


def test_what_is_beaten_in_everything_is_not_in_the_pareto_table() -> None:
    a, b, c, d = (PLAIN._replace(buffer=size) for size in ("100 kB", "200 kB", "300 kB", "400 kB"))
    results = {
        a: result(5.0, 50_000, 20.0),  # least memory and delay
        b: result(6.0, 90_000, 40.0),  # most goodput
        c: result(5.5, 95_000, 45.0),  # beaten by b
        d: result(6.01, 90_100, 40.1),  # within a hundredth of b, and less simple
    }
    assert candidates.pareto(results) == [a, b]
    assert candidates.order(GOODPUT, results)[0] == d
    # nine tenths of 6.01 is 5.41: a has too little to be good for another goal
    assert candidates.order(LATENCY, results)[0] == b
    assert candidates.order(MEMORY, results)[-1] == a


def test_halving_ends_with_few_candidates_and_many_seeds() -> None:
    some = [
        PLAIN._replace(controller=c, judge=r)
        for c in ("coupled", "uncoupled", "cubic")
        for r in ("none", "door", "eifel", "dsack")
    ]
    found = search(SMALL, some, budget=60.0)
    assert [(one.candidates, one.seeds) for one in found.rounds] == [(12, 1), (8, 2), (8, 4), (8, 8), (8, 16)]
    assert all(one.made == one.candidates for one in found.rounds)
    assert found.untried == []
    assert len(found.runs) == 12
    assert found.best in found.pareto
    assert len(found.runs[found.best]) == 16
    assert found.seconds < 60.0


def test_the_default_algorithms_are_compared_to_the_end() -> None:
    worse = PLAIN._replace(buffer="100 kB")
    better = [PLAIN._replace(controller="cubic", buffer=f"{size} kB") for size in range(200, 216)]
    results = {PLAIN: result(5.0, 5e5, 50.0), worse: result(4.0, 5e5, 50.0)}
    results |= {one: result(6.0 + 0.1 * i, 1e5, 10.0) for i, one in enumerate(better)}
    kept = halve(GOODPUT, results, 2)
    assert kept[0] == better[-1]
    assert len(kept) == 9
    assert PLAIN in kept
    assert worse not in kept


def test_what_cannot_be_told_apart_is_answered_with_the_simplest() -> None:
    # Over these paths, with a standard receiver, no judge has anything to do.
    some = [PLAIN._replace(judge=r) for r in ("eifel", "frto", "none")]
    found = search(SMALL, some, seeds=2)
    assert found.best == PLAIN
    assert set(found.equals) == set(some) - {PLAIN}


def test_who_has_too_little_goodput_is_not_recommended_for_another_goal() -> None:
    # Two runs tell 43 and 78 Mbit/s apart as little as 0 and 0.7 s; but 43 are not nine tenths of 78.
    fast = PLAIN._replace(scheduler="after-sttf")
    runs = {
        fast: {1: result(70.0, 0.0, 0.1), 2: result(86.0, 0.0, 1.4)},
        PLAIN: {1: result(50.0, 0.0, 0.0), 2: result(36.0, 0.0, 0.0)},
    }
    results = {one: candidates.mean(list(found.values())) for one, found in runs.items()}
    for goal, best in ((LATENCY, fast), (GOODPUT, PLAIN)):
        assert choose(goal, candidates.order(goal, results), runs, results)[0] == best


def test_without_time_at_least_one_is_tried_and_the_rest_is_named() -> None:
    what = choices(SMALL)
    found = search(SMALL, what, budget=0.0)
    assert len(found.runs) >= 1
    assert len(found.runs) + len(found.untried) + found.beyond == what.total


def test_plain_tcp_takes_a_part_of_the_budget_and_the_answer_says_what_it_had_no_time_for() -> None:
    """All its runs, of seconds each, would take minutes; a fifth of the budget holds none or a few."""
    slow = ab.Scenario.of_paths(["wifi6 10 m", "400 Mbit/s, 5 ms"], transfer="20 s")
    found = search(slow, choices(slow), budget=3.0)
    assert found.seconds < 30
    assert all(one.untried > 0 for one in found.lone.values())
    told = answer.text(found, ["anabranch"])
    assert told.count("a larger --budget has time for it") + told.count("; no time for ") == 2
    assert ("; plain TCP gets " in told) == (len(found.lone) == 2)
    assert "0.00 over the best path" not in told


def test_the_answer_has_a_table_a_line_and_the_command_that_makes_it_again(command: Command) -> None:
    arguments = ["recommend", *(word for path in PATHS for word in ("--path", path)), "--transfer", "500 kB"]
    done = command(*arguments, "--budget", "2")
    assert (done.status, done.err) == (0, "")
    assert "plain TCP over it alone, at best: " in done.out
    for word in ("goodput", "OOO buffer", "head of line", "95 %", "tried: ", "Not tried: "):
        assert word in " ".join(done.out.split())  # lines break anywhere
    (line,) = re.findall(r"^recommended: (.*)$", done.out, re.MULTILINE)
    (again,) = re.findall(r"^  (anabranch recommend .*)$", done.out, re.MULTILINE)
    repeated = command(*shlex.split(again)[1:])
    assert repeated.status == 0
    assert f"recommended: {line}\n" in repeated.out

    def row(text: str) -> list[str]:
        (found,) = re.findall(r"^\* .*$", text, re.MULTILINE)
        return [word for word in str(found).split() if word != "default"]  # of a column that other rows ask for

    assert row(repeated.out) == row(done.out)


@pytest.mark.parametrize("controller", ["coupled", "ewtcp", "uncoupled", "cubic"])
def test_only_controllers_that_take_a_share_for_each_subflow_are_called_greedy(
    command: Command, controller: str
) -> None:
    # docs/validation.md, do no harm: of one TCP's share of a bottleneck `ewtcp` takes 0.91.
    paths = [word for path in PATHS for word in ("--path", path)]
    candidate = f"{controller}, none, min-rtt, unlimited"
    done = command("recommend", *paths, "--transfer", "500 kB", "--candidate", candidate)
    assert done.status == 0
    said = "takes more than one connection's share" in " ".join(done.out.split())
    assert said == (controller in ("uncoupled", "cubic"))


def test_seeds_without_candidates_are_refused(command: Command) -> None:
    done = command("recommend", "--path", PATHS[0], "--seeds", "3")
    assert done.status == 2
    assert "--candidate" in done.err
    done = command("recommend", "--path", PATHS[0], "--candidate", "coupled, none")
    assert done.status == 2
    assert "is not CONTROLLER, JUDGE, SCHEDULER, BUFFER" in done.err
    done = command("recommend", "--path", PATHS[0], "--candidate", str(PLAIN), "--only", "olia")
    assert done.status == 2
    assert "--candidate is no search" in done.err
    done = command("recommend", "--path", PATHS[0], "--candidate", "couple, none, min-rtt, 1 MB")
    assert done.status == 2
    assert 'did you mean "coupled"' in done.err


def test_the_transfer_is_long_enough_to_leave_slow_start_on_every_path() -> None:
    # 100 Mbit/s and 600 ms there and back: 7.5 MB, 5357 segments; with as much of queue 10 doublings from ten segments.
    deep = ["100 Mbit/s, 300 ms, queue 5000 packets", "20 Mbit/s, 10 ms"]
    fat = command_scenario(deep, None)
    assert fat.check()["connections"][0]["transfer"]["extent_s"] > 10 * 0.6 * 4

    def threshold(scenario: ab.Scenario) -> float:
        frame = scenario.set("connection.receive_buffer", "unlimited").run().subflows
        return float(frame.loc[frame["subflow"] == 0, "ssthresh"].iloc[-1])

    assert np.isfinite(threshold(fat))
    # Ten megabytes never do.
    assert np.isinf(threshold(command_scenario(deep, "10 MB")))


def command_scenario(paths: list[str], transfer: str | None, **changes: str) -> ab.Scenario:
    return command_module.scenario(paths, transfer, "independent", changes)


def test_the_send_buffer_limits_nothing_that_is_tried() -> None:
    fat = command_scenario(["100 Mbit/s, 300 ms, queue 5000 packets"], None)
    limits = fat.set("connection.receive_buffer", "unlimited").run().summary["limits"]
    assert limits["send_buffer"] == 0
    said = command_scenario(["100 Mbit/s, 300 ms"], None, **{"connection.send_buffer": "1 MB"})
    assert said.check()["connections"][0]["send_buffer_bytes"] == 1_000_000


def test_a_transfer_that_is_said_is_taken_and_called_short_if_it_is() -> None:
    fat = ["100 Mbit/s, 300 ms"]
    assert paths.too_short(command_scenario(fat, None)) == ""
    note = paths.too_short(command_scenario(fat, "10 MB"))
    assert "the transfer is short: at full rate it takes 800 ms" in note
    assert f"--transfer '{paths.enough(SMALL.set('path.0.delay', '1 ms'))}'" not in note
    assert "--transfer '28 s' would do" in note
    said = command_scenario(fat, None, **{"transfer.bytes": "3 MB"})
    assert said.check()["connections"][0]["transfer"]["extent_bytes"] == 3_000_000


def test_paths_are_described_with_delays_one_way_and_queues_in_time() -> None:
    first, second = paths.paths(SMALL)
    # 100 packets of 1500 octets at 5 Mbit/s are 240 ms.
    assert str(first) == "5 Mbit/s, 100 ms one way, queue 100 packets (240 ms when full)"
    assert second.full == pytest.approx(0.6)
    uneven = ab.Scenario.of_paths(["5 Mbit/s, 100 ms, queue 64 kB, delay_down 20 ms"], transfer="1 MB")
    assert str(paths.paths(uneven)[0]) == "5 Mbit/s, 100 ms there and 20 ms back, queue 64 kB (102 ms when full)"


def test_links_of_today_are_described_as_what_they_are() -> None:
    both = ["wifi6 10 m", "lte driving", "starlink"]
    up = [str(path) for path in paths.paths(ab.Scenario.of_paths(both, transfer="1 MB"))]
    assert up[0] == "802.11ax, 10 m, about 600 Mbit/s, 5 ms one way, queue 500 packets (9.99 ms when full)"
    assert up[1].startswith("cellular, about 8 Mbit/s, 12 ms one way, queue 1200 packets (1.8 s")
    assert up[2].startswith("satellite, about 18 Mbit/s, 12 ms there and 8 ms back")
    down = paths.paths(ab.Scenario.of_paths(both, transfer="1 MB").set("transfer.direction", "down"))
    assert [path.kind for path in down[1:]] == ["cellular, about 48 Mbit/s", "satellite, about 150 Mbit/s"]


def test_over_fast_paths_a_transfer_that_is_chosen_is_short_and_called_so() -> None:
    # Slow start into 1.8 s of LTE's queue takes 17 s; four times as long at 600 Mbit/s would be 5 GB a run.
    fast = command_scenario(["wifi6 10 m", "lte driving"], None)
    assert fast.check()["connections"][0]["transfer"]["extent_s"] == 17
    assert "--transfer '66 s' would do" in paths.too_short(fast)


def test_queues_are_varied_in_the_unit_they_have() -> None:
    three = ab.Scenario.of_paths(
        ["5 Mbit/s, 1 ms, queue 64 kB", "wifi 11g 54, 30 m", "2 Mbit/s, 1 ms"], transfer="1 MB"
    )
    varied = [path.said for path in paths.paths(paths.with_queues(three, 0.25))]
    assert varied == ["16 kB", "125 packets", "25 packets"]


def test_other_queues_leave_the_rest_of_a_link_written_in_words_as_it_is() -> None:
    base = ab.Scenario.of_paths(["wifi6 10 m", "starlink"], transfer="1 MB")
    before, after = (one.check()["links"] for one in (base, paths.with_queues(base, 0.25)))
    assert after[0]["wifi"].pop("queue_packets") == 125
    assert before[0]["wifi"].pop("queue_packets") == 500
    assert after[0] == before[0]


def test_the_single_path_reference_is_the_best_controller_of_those_tried() -> None:
    fat = ab.Scenario.of_paths(["100 Mbit/s, 50 ms, delay_variation 1 %"], transfer="10 s")
    found = search(fat, [PLAIN], seeds=1)
    lone = found.lone["path0"]
    single = fat.set({"connection.protocol": "tcp", "connection.receive_buffer": "unlimited"})
    each = {
        name: np.mean([single.set("connection.controller", name).run(s).summary["goodput_mbps"] for s in (1, 2)])
        for name in choices(fat).names["controller"]
    }
    assert lone.goodput.mean == pytest.approx(max(each.values()))
    assert each[lone.controller] == max(each.values())
    assert max(each.values()) > 1.2 * each["uncoupled"]


def test_the_answer_says_what_becomes_of_it_with_other_queues() -> None:
    some = [PLAIN, PLAIN._replace(controller="cubic", buffer="180 kB"), PLAIN._replace(scheduler="round-robin")]
    found = search(SMALL, some, seeds=2)
    assert [(one.factor, one.queues) for one in found.varied] == [
        (0.25, ("25 packets", "25 packets")),
        (4.0, ("400 packets", "400 packets")),
    ]
    assert all(set(one.results) == set(some) for one in found.varied)
    told = answer.text(found, ["anabranch"])
    assert "with a quarter of the queues (25 packets, 25 packets) it has " in told
    assert "with 4 times the queues (400 packets, 400 packets) it has " in told
    short = search(SMALL, some, budget=0.0)
    assert "Not tried: other queues" in " ".join(answer.text(short, ["anabranch"]).split()) or short.varied


def made(goal: str, rows: dict[Candidate, list[tuple[float, float]]], best: Candidate) -> Found:
    """What a search would have found: goodput and head-of-line delay of each candidate by seed."""
    runs = {
        one: {seed: result(goodput, 0.0, latency) for seed, (goodput, latency) in enumerate(values)}
        for one, values in rows.items()
    }
    equals = [one for one in rows if one != best]
    return Found(SMALL, goal, runs, list(rows), list(rows), best, equals, {}, [], [], [], {}, 1.0)


def test_a_row_that_is_better_than_the_recommended_one_is_explained() -> None:
    other = PLAIN._replace(controller="cubic")
    chance = made("throughput", {other: [(5.0, 1.0), (7.0, 1.0)], PLAIN: [(5.5, 1.0), (6.2, 1.0)]}, PLAIN)
    told = " ".join(answer.text(chance, ["anabranch"]).split())
    assert f"{other} shows 6.00 Mbit/s, which may be chance: run by run the difference is" in told
    near = made("throughput", {other: 2 * [(6.04, 1.0), (6.05, 1.0)], PLAIN: 4 * [(6.0, 1.0)]}, PLAIN)
    assert "less than a hundredth apart" in " ".join(answer.text(near, ["anabranch"]).split())
    slow = made("latency", {PLAIN: [(6.0, 90.0)], other: [(3.0, 10.0)]}, PLAIN)
    assert f"{other} shows 10.0 ms, but only 50 % of the best goodput" in " ".join(answer.text(slow, ["x"]).split())
    best = made("throughput", {PLAIN: [(6.0, 1.0)], other: [(3.0, 1.0)]}, PLAIN)
    assert "shows" not in answer.text(best, ["anabranch"])


def test_the_printed_command_says_the_transfer_that_was_chosen(command: Command) -> None:
    done = command(
        "recommend", "--path", "50 Mbit/s, 1 ms", "--candidate", "coupled, none, min-rtt, unlimited", "--seeds", "1"
    )
    assert (done.status, done.err) == (0, "")
    assert "--transfer '5 s'" in done.out
    assert "50 Mbit/s, 1 ms one way, queue 100 packets (24 ms when full)" in done.out
