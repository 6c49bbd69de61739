"""What `recommend` is asked: paths, options, candidates; and what is tried over them."""

import numpy as np
import pytest

import anabranch as ab
from anabranch.recommendation import Candidate, candidates, choices, paths
from anabranch.recommendation import command as command_module
from anabranch.recommendation.candidates import GOODPUT, LATENCY, MEMORY
from helpers import Command

PATHS = ["5 Mbit/s, 100 ms, delay_variation 1 %", "2 Mbit/s, 10 ms, delay_variation 1 %"]
SMALL = ab.Scenario.of_paths(PATHS, transfer="1 MB")
PLAIN = Candidate("coupled", "none", "min-rtt", "unlimited")
PRESETS = (
    *("starlink", "starlink 2022", "starlink mobile", "starlink roam", "lte", "lte driving", "5g", "5g driving"),
    *("geo", "geo pep", "dsl", "wifi", "wifi4", "wifi5 10 m", "wifi6", "wifi 11g 54, 30 m", "5 Mbit/s, 20 ms"),
)
MODIFIERS = (
    *("loss 1 %", "delay_up 20 ms", "queue 50 packets", "queue 64 kB", "duplication 1 %", "corruption 0.1 %"),
    *("overhead 40 B", "ecn_threshold 20 packets", "discipline fq-codel", "backup true", "cost 2", "weight 3"),
)
"""What every link takes."""


def result(goodput: float, memory: float, latency: float) -> dict[str, float]:
    return {GOODPUT.field: goodput, MEMORY.field: memory, LATENCY.field: latency}


def command_scenario(paths: list[str], transfer: str | None, **changes: str) -> ab.Scenario:
    return command_module.scenario(paths, transfer, changes=changes)


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


def test_a_wireless_path_without_a_distance_is_no_misspelt_link(command: Command) -> None:
    done = command("recommend", "--path", "wifi 11g 54")
    assert done.status == 2
    assert "did you mean" not in done.err
    assert '"wifi STANDARD RATE, DISTANCE"' in done.err


def test_what_is_tried_can_be_chosen() -> None:
    what = choices(SMALL, only=["olia", "coupled", "judge=none"], without=["scheduler=linux", "redundant"])
    assert what.names["controller"] == ("coupled", "olia")
    assert what.names["judge"] == ("none",)
    assert not {"linux", "redundant"} & set(what.names["scheduler"])
    assert "blest" in what.names["scheduler"]
    assert choices(SMALL, only=["ncr"]).names["detector"] == ("ncr",)
    assert choices(SMALL, only=["ncr"]).default().changes(("path0",))["connection.detector"] == "ncr"
    for wrong, said in (("olai", "did you mean 'olia'"), ("judge=blest", "did you mean scheduler=blest?")):
        with pytest.raises(ab.ScenarioError, match=said):
            choices(SMALL, only=[wrong])
    with pytest.raises(ab.ScenarioError, match=r"no controller to try: .*needs ecn"):
        choices(SMALL, only=["dctcp"])


def test_the_profiles_own_detector_is_tried_where_it_gives_way_to_newreno() -> None:
    for keys in ({"connection.acknowledgement": "coupled"}, {"connection.sack": False}):
        what = choices(SMALL.set(keys))
        assert what.default().plain
        assert what.names["detector"][0] == ""
        # NewReno by another name would be the same run again.
        assert "rfc6675" not in what.names["detector"]
        assert "detector rack" not in what.refused


def test_what_is_searched_cannot_be_set(command: Command) -> None:
    paths = [word for path in PATHS for word in ("--path", path)]
    # --only takes names of algorithms only.
    searched = {"connection.scheduler=blest": "--only NAME", "connection.receive_buffer=1 MB": "min-rtt, 350 kB"}
    for change, remedy in {**searched, 'connection.paths=["path0"]': "alone=path0"}.items():
        done = command("recommend", *paths, "--set", change, "--budget", "1")
        assert (done.status, done.out) == (2, "")
        assert remedy in done.err
    done = command("recommend", *paths, "--set", "connection.protocol=udp", "--budget", "1")
    assert done.status == 2
    assert "a UDP flow has no controller to recommend" in done.err


@pytest.mark.parametrize("controller", ["coupled", "ewtcp", "uncoupled", "cubic"])
def test_only_controllers_that_take_a_share_for_each_subflow_are_called_greedy(
    command: Command, controller: str
) -> None:
    # docs/validation/controllers.md, do no harm: of one TCP's share of a bottleneck `ewtcp` takes
    # 0.91.
    paths = [word for path in PATHS for word in ("--path", path)]
    candidate = f"{controller}, none, min-rtt, unlimited"
    done = command("recommend", *paths, "--transfer", "10 s", "--candidate", candidate)
    assert done.status == 0
    said = "takes more than one connection's share" in " ".join(done.out.split())
    assert said == (controller in ("uncoupled", "cubic"))


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
    assert note.startswith("The transfer is short: at the full rate of all paths it takes 800 ms")
    assert f"--transfer '{paths.enough(SMALL.set('path.0.delay', '1 ms'))}'" not in note
    assert "Use a transfer of 28 s or longer (`--transfer '28 s'`)." in note
    said = command_scenario(fat, None, **{"transfer.bytes": "3 MB"})
    assert said.check()["connections"][0]["transfer"]["extent_bytes"] == 3_000_000


def test_paths_are_described_with_delays_one_way_and_queues_in_time() -> None:
    first, second = paths.paths(SMALL)
    # 100 packets of 1500 octets at 5 Mbit/s are 240 ms.
    assert str(first) == "5 Mbit/s, 100 ms one way, queue 100 packets (240 ms when full)"
    assert second.full == pytest.approx(0.6)
    uneven = ab.Scenario.of_paths(["5 Mbit/s, 100 ms, queue 64 kB, delay_down 20 ms"], transfer="1 MB")
    assert str(paths.paths(uneven)[0]) == "5 Mbit/s, 100 ms up and 20 ms down, queue 64 kB (102 ms when full)"


def test_links_of_today_are_described_as_what_they_are() -> None:
    both = ["wifi6 10 m", "lte driving", "starlink"]
    up = [str(path) for path in paths.paths(ab.Scenario.of_paths(both, transfer="1 MB"))]
    assert up[0] == "802.11ax, 10 m, about 600 Mbit/s, about 5 ms one way, queue 500 packets (9.99 ms when full)"
    assert up[1].startswith("cellular, about 8 Mbit/s, 12 ms one way, queue 1200 packets (1.8 s")
    assert up[2].startswith("satellite, about 18 Mbit/s, 12 ms up and 8 ms down")
    down = paths.paths(ab.Scenario.of_paths(both, transfer="1 MB").set("transfer.direction", "down"))
    assert [path.kind for path in down[1:]] == ["cellular, about 46 Mbit/s", "satellite, about 150 Mbit/s"]


def test_over_fast_paths_a_transfer_that_is_chosen_is_short_and_called_so() -> None:
    # Slow start into 1.8 s of LTE's queue takes 17 s; four times as long at 600 Mbit/s would be 5 GB a run.
    fast = command_scenario(["wifi6 10 m", "lte driving"], None, **{"transfer.direction": "up"})
    assert fast.check()["connections"][0]["transfer"]["extent_s"] == 17
    assert paths.too_short(fast).startswith(
        "The transfer is short: it lasts 17 s, and slow start on path1 takes about 16.5 s"
    )
    assert "`--transfer '66 s'`" in paths.too_short(fast)


def test_queues_are_varied_in_the_unit_they_have() -> None:
    three = ab.Scenario.of_paths(
        ["5 Mbit/s, 1 ms, queue 64 kB", "wifi 11g 54, 30 m", "2 Mbit/s, 1 ms"], transfer="1 MB"
    )
    varied = [path.said for path in paths.paths(paths.with_queues(three, 0.25))]
    assert varied == ["16 kB", "125 packets", "25 packets"]
    uneven = ab.Scenario.of_paths(["5 Mbit/s, 1 ms, queue_up 20 packets"], transfer="1 MB")
    for way, queue in (("up", "5 packets"), ("down", "25 packets")):
        (path,) = paths.paths(paths.with_queues(uneven.set("transfer.direction", way), 0.25))
        assert path.said == queue


def test_other_queues_leave_the_rest_of_a_link_written_in_words_as_it_is() -> None:
    base = ab.Scenario.of_paths(["wifi6 10 m", "starlink"], transfer="1 MB")
    before, after = (one.check()["links"] for one in (base, paths.with_queues(base, 0.25)))
    assert after[0]["wifi"].pop("queue_packets") == 125
    assert before[0]["wifi"].pop("queue_packets") == 500
    assert after[0] == before[0]


def test_the_printed_command_says_the_transfer_that_was_chosen(command: Command) -> None:
    done = command(
        "recommend", "--path", "50 Mbit/s, 1 ms", "--candidate", "coupled, none, min-rtt, unlimited", "--seeds", "1"
    )
    assert (done.status, done.err) == (0, "")
    assert "--transfer '5 s'" in done.out
    assert "50 Mbit/s, 1 ms one way, queue 100 packets (24 ms when full)" in done.out


@pytest.mark.parametrize("preset", PRESETS)
def test_every_link_takes_every_modifier(preset: str) -> None:
    for modifier in ("", *MODIFIERS):
        path = f"{preset}, {modifier}" if modifier else preset
        made = command_module.scenario([path, preset], "1 MB")
        assert len(made.check()["links"]) == 2
        assert paths.paths(made)[0].rate > 0
        assert len(paths.paths(paths.with_queues(made, 0.25))) == 2


@pytest.mark.parametrize("preset", PRESETS)
def test_only_what_was_written_is_refused(preset: str) -> None:
    for modifier in ("rate_down 3 Mbit/s", "delay_variation 5 %", "overtaking true", "fading nakagami", "gap laser"):
        try:
            command_module.scenario([f"{preset}, {modifier}"], "1 MB").check()
        except ab.ScenarioError as error:
            assert f"path[0].{modifier.split()[0]}".removesuffix("_down") in str(error)  # noqa: PT017
            assert modifier.startswith("delay_variation") or "delay_variation:" not in str(error)  # noqa: PT017


def test_keys_of_a_table_are_written_with_its_name() -> None:
    text = ab.Scenario.of_paths(["lte, cellular.rate_down 30 Mbit/s"], transfer="1 MB")
    assert text.check()["links"][0]["down"]["rate_bps"] == 30_000_000
    radio = ab.Scenario.of_paths(["wifi6 10 m, wifi.queue 100 packets, fading nakagami"], transfer="1 MB")
    assert radio.check()["links"][0]["wifi"]["queue_packets"] == 100


def test_delays_of_wires_vary_unless_what_they_do_was_written() -> None:
    both = ["5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms, delay_variation_down 3 %", "wifi 30 m", "lte, loss 1 %", "dsl"]
    links = command_module.scenario(both, "1 MB").check()["links"]
    assert [link["up"]["delay_variation"] for link in links] == [0.01, 0, 0, 0, 0.01]
    still = command_module.scenario(["5 Mbit/s, 100 ms, delay_variation 0 %"], "1 MB")
    assert still.check()["links"][0]["up"]["delay_variation"] == 0
    said = command_module.scenario(["5 Mbit/s, 1 ms"], "1 MB", changes={"path.0.delay_variation": "7 %"})
    assert said.check()["links"][0]["up"]["delay_variation"] == 0.07


def test_data_go_down_unless_told_otherwise() -> None:
    def way(**told: object) -> str:
        made = command_module.scenario(["dsl"], "1 MB", **told)  # type: ignore[arg-type]
        return paths.direction(made)

    assert way() == "down"
    assert way(direction="up") == way(changes={"transfer.direction": "up"}) == "up"
    assert way(direction="both") == "both"


@pytest.mark.parametrize(
    "option",
    [
        "--budget=nan",
        "--budget=inf",
        "--budget=0",
        "--budget=-3",
        "--budget=-inf",
        "--budget=0 s",
        "--budget=5 parsecs",
        "--budget=2 h",
    ],
)
def test_a_budget_that_is_none_is_refused(command: Command, option: str) -> None:
    done = command("recommend", "--path", "dsl", option)
    assert (done.status, done.out) == (2, "")
    assert (
        f"--budget {option.partition('=')[2]}: takes a time above 0 and at most 1 h with its unit, such as 30 s"
        in done.err
    )


@pytest.mark.parametrize(("text", "seconds"), [("5 s", 5.0), ("5s", 5.0), ("0.5 min", 30.0), ("20", 20.0)])
def test_a_budget_takes_the_units_of_times(
    command: Command, monkeypatch: pytest.MonkeyPatch, text: str, seconds: float
) -> None:
    given: list[float] = []

    def recommend(*_: object, budget: float, **__: object) -> None:
        given.append(budget)
        raise ab.ScenarioError("enough")

    monkeypatch.setattr("anabranch.recommendation.result.recommend", recommend)
    assert command("recommend", "--path", "dsl", "--budget", text).status == 2
    assert given == [seconds]


@pytest.mark.parametrize(("candidate", "said"), [
    ("coupled, none, min-rrt, 512 kB", "no scheduler is called 'min-rrt'\n  did you mean 'min-rtt'?"),
    ("couplet, none, min-rtt, 512 kB", "no controller is called 'couplet'\n  did you mean 'coupled'?"),
    ("cubic, xyzzy, min-rtt, 512 kB", "no judge is called 'xyzzy'\n  `anabranch list` shows all"),
    ("cubic, none, min-rtt, 512 kB, detector=rackk", "no detector is called 'rackk'\n  did you mean 'rack'?"),
    ("cubic, none, min-rtt, 512 kq", 'connection.receive_buffer: "512 kq": "kq" is not a unit'),
])  # fmt: skip
def test_a_misspelt_part_of_a_candidate_is_named_with_its_option(command: Command, candidate: str, said: str) -> None:
    done = command("recommend", "--path", PATHS[0], "--candidate", candidate)
    assert (done.status, done.out) == (2, "")
    place = "--candidate: " if "kq" in said else f"--candidate: '{candidate}': "
    assert f"{place}{said}" in done.err
    assert "--path" not in done.err


@pytest.mark.parametrize(("option", "said"), [
    ("--runs=0", "number of runs above 0"), ("--runs=-5", "number of runs above 0"), ("--seed=-1", "number from 0"),
    (f"--seed={2**63}", "number from 0"), ("--runs=1e3", "not a valid integer"),
])  # fmt: skip
def test_other_limits_that_are_none_are_refused(command: Command, option: str, said: str) -> None:
    done = command("recommend", "--path", "dsl", option)
    assert (done.status, done.out) == (2, "")
    assert said in done.err


def test_what_contradicts_itself_is_refused(command: Command) -> None:
    done = command("recommend", "--path", PATHS[0], "--seeds", "3")
    assert done.status == 2
    assert "--candidate" in done.err
    done = command("recommend", "--path", PATHS[0], "--candidate", "coupled, none")
    assert done.status == 2
    assert "does not have the form CONTROLLER, JUDGE, SCHEDULER|alone=PATH, BUFFER" in done.err
    done = command("recommend", "--path", PATHS[0], "--candidate", str(PLAIN), "--only", "olia")
    assert done.status == 2
    assert "leave out --candidate, or --only and --without" in done.err
    done = command("recommend", "--path", PATHS[0], "--candidate", "coupled, none, alone=path0, 1 MB, backup=path0")
    assert done.status == 2
    assert "one path alone has no backup" in done.err
    for candidate in ("couple, none, min-rtt, 1 MB", "coupled, none, min-rt, 1 MB"):
        done = command("recommend", "--path", PATHS[0], "--candidate", candidate, "--seeds", "1")
        assert done.status == 2
        assert "did you mean" in done.err


def test_a_candidate_is_read_as_it_is_printed() -> None:
    some = choices(SMALL)
    around = some.around(some.default()) + some.around(some.default()._replace(scheduler="", alone="path1"))
    assert {one.backup for one in around} == {"", "path0", "path1"}
    for one in around:
        assert candidates.read(str(one), some.paths) == one
    for wrong in (
        *(
            "coupled, none, min-rtt, 512 kB, ncr",
            "coupled, none, min-rtt, 512 kB, reduction=prr",
            "coupled, none, , 1 MB",
        ),
        *("coupled, none, alone=, 1 MB", "coupled, none, alone=path0, 1 MB, backup=path1", "coupled, none, x=y, 1 MB"),
        *("coupled, none, alone=path2, 1 MB", "coupled, none, min-rtt, 1 MB, backup=path9"),
    ):
        with pytest.raises(ab.ScenarioError, match="--candidate"):
            candidates.read(wrong, some.paths)


def test_a_candidate_makes_the_scenario_that_it_says() -> None:
    names = choices(SMALL).paths
    alone = SMALL.set(candidates.read("cubic, none, alone=path1, 1 MB", names).changes(names)).check()
    assert alone["connections"][0]["protocol"] == "tcp"
    assert alone["connections"][0]["paths"] == [["path1"]]
    assert alone["connections"][0]["controller"] == "cubic"
    backup = SMALL.set(candidates.read("cubic, none, ecf, 1 MB, backup=path0", names).changes(names)).check()
    assert [link["backup"] for link in backup["links"]] == [True, False]


def test_a_neighbour_differs_in_one_part() -> None:
    what = choices(SMALL)
    default = what.default()
    assert default == PLAIN
    for one in what.around(default):
        assert sum(mine != other for mine, other in zip(one, default, strict=True)) == 1
    assert len(what.schedulers(default)) == len(what.names["scheduler"])
    # 7 Mbit/s x 0.2 s = 175 kB
    assert what.buffers == ["88 kB", "180 kB", "350 kB", "700 kB", "unlimited"]
    # Nothing is dropped without a word: the scenario takes it, or says why not.
    tried = set(candidates.known("controller")) - candidates.variants("controller")
    known = {f"controller {name}" for name in tried}
    assert {f"controller {name}" for name in what.names["controller"]} | set(what.refused) >= known
    assert "needs ecn" in what.refused["controller dctcp"]


def test_what_needs_least_is_simplest() -> None:
    alone = PLAIN.over("path0")
    order = [alone, alone._replace(controller="cubic"), PLAIN._replace(buffer="1 MB"), PLAIN]
    order += [PLAIN._replace(scheduler="ecf"), PLAIN._replace(controller="cubic", scheduler="ecf")]
    for mixed in ((3, 0, 5, 2, 4, 1), (5, 4, 3, 2, 1, 0)):
        assert sorted([order[i] for i in mixed], key=candidates.simplicity) == order


def test_who_has_too_little_goodput_is_not_good_for_another_goal() -> None:
    a, b = PLAIN._replace(buffer="100 kB"), PLAIN._replace(buffer="200 kB")
    results = {a: result(5.0, 50_000, 20.0), b: result(6.0, 90_000, 40.0)}
    for goal in (LATENCY, MEMORY):  # 90 % of 6 is 5.4
        assert candidates.order(goal, results) == [b, a]
        assert candidates.simplest(goal, results) == b
    assert candidates.order(LATENCY, results | {a: result(5.5, 50_000, 20.0)}) == [a, b]
