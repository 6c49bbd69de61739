"""Algorithms and their parameters in scenarios and sweeps; the two names of the judge."""

from pathlib import Path
from typing import Any

import pytest

import anabranch as ab
from anabranch.recommendation.candidates import greedy
from anabranch.sweeps import dataset, plan
from anabranch.sweeps.columns import COLUMNS
from helpers import Command

BASE = ab.Scenario.two_path("5 Mbit/s, 20 ms, loss 1 %", "2 Mbit/s, 10 ms", transfer="100 kB")

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def connection(scenario: ab.Scenario) -> dict[str, Any]:
    (found,) = scenario.check()["connections"]
    assert isinstance(found, dict)
    return found


def test_a_parameter_is_set_alone_and_with_its_algorithm() -> None:
    alone = connection(BASE.set({"connection.judge": "door", "connection.judge.t1": 2}))
    table = connection(BASE.set("connection.judge", '{ name = "door", t1 = 2 }'))
    alias = connection(BASE.set({"connection.judge": "door", "connection.door_t1": 2}))
    assert alone == table == alias
    assert alone["judge_parameters"] == {"t1_srtt": 2.0, "t2_srtt": 1.0}
    assert (alone["door_t1_srtt"], alone["door_t2_srtt"]) == (2.0, 1.0)


def test_results_keep_the_name_of_the_judge_that_was_written() -> None:
    old, new = (BASE.set(f"connection.{key}", "dsack") for key in ("recovery", "judge"))
    assert (connection(old)["recovery"], connection(new)["judge"]) == ("dsack", "dsack")
    assert "judge" not in connection(old)
    assert "recovery" not in connection(new)
    assert (connection(BASE)["judge"], "recovery" in connection(BASE)) == ("none", False)
    runs = [scenario.run(seed=3) for scenario in (old, new)]
    assert runs[0].summary["trace_sha256"] == runs[1].summary["trace_sha256"]
    assert "recovery dsack" in str(runs[0])
    assert "judge dsack" in str(runs[1])


def test_both_names_of_the_judge_at_once_are_refused() -> None:
    both = ab.Scenario.two_path("5 Mbit/s, 20 ms", "2 Mbit/s, 10 ms", transfer="1 MB", judge="dsack", recovery="dsack")
    with pytest.raises(ab.ScenarioError, match=r"connection.recovery: is an alias of judge, and both are given"):
        both.check()


def test_a_sweep_knows_a_scenario_under_either_name_of_its_judge() -> None:
    named = {"old": {"connection.recovery": "dsack"}, "new": {"connection.judge": "dsack"}}
    done = ab.sweep(BASE, {"name of it": named}, seeds=1)
    assert len(done.plan.distinct) == 1
    assert list(ab.sweep(BASE, {"recovery": ["none", "dsack"]}, seeds=1).axes) == ["recovery"]


def test_a_sweep_tells_lengths_of_data_sequence_numbers_apart_and_knows_its_older_runs() -> None:
    assert len(ab.Plan.of(BASE, {"dsn_octets": [8, 4]}, seeds=1).distinct) == 2
    # What is known of a run from before stays: nothing is added to the default, and what is in force only follows.
    resolved = BASE.check()
    assert "dsn_octets" not in resolved["connections"][0]
    older = {key: value for key, value in resolved.items() if key != "in_force"}
    assert plan._digest(plan._alike(resolved)) == plan._digest(plan._alike(older))


@pytest.mark.parametrize("order", [("judge", "judge.t1"), ("judge.t1", "judge")])
def test_a_parameter_is_an_axis(order: tuple[str, str]) -> None:
    axes: dict[str, list[Any]] = {"judge": ["door"], "judge.t1": [0.5, 2]}
    made = ab.Plan.of(BASE, {name: axes[name] for name in order}, seeds=1)
    times = [cell.scenario.check()["connections"][0]["judge_parameters"]["t1_srtt"] for cell in made.cells]
    assert times == [0.5, 2.0]
    assert not any(cell.error for cell in made.cells)


def test_a_parameter_as_an_axis_of_a_file_stands_in_quotes(command: Command, here: Path) -> None:
    base = 'seeds = 1\n[scenario]\ntransfer = {{ bytes = "50 kB" }}\npath = [{{}}]\n'
    text = base + '[axes]\njudge = ["door"]\n{} = [1, 2]\n'
    (here / "sweep.toml").write_text(text.format('"judge.t1"'), encoding="utf-8")
    assert command("sweep", "sweep.toml", "--quiet").status == 0
    (here / "sweep.toml").write_text(text.replace('judge = ["door"]\n', "").format("judge.t1"), encoding="utf-8")
    done = command("sweep", "sweep.toml")
    assert done.status == 2
    assert '"judge.t1" = [...]' in done.err


@pytest.mark.parametrize("name", ["protocol", "goodput_mbps", "path"])
def test_an_axis_named_like_a_column_of_the_results_is_refused(name: str) -> None:
    with pytest.raises(ab.ScenarioError, match=rf"axes.{name}: results have a column of this name"):
        ab.sweep(BASE, {name: {"a": {}}}, seeds=1)
    assert not ab.Plan.of(BASE, {"connection.protocol": ["mptcp", "tcp"]}, seeds=1).cells[0].error


# Every kind of run ---- each column that is not an axis is one of those that no axis may be named like.
@pytest.mark.parametrize(
    "change",
    [
        {},
        {"connection.protocol": "tcp"},
        {"connection.protocol": "udp"},
        {"stack": "legacy-2011"},
        {"duration": "100 ms"},
        {"path.0.mtu": "1400 B"},
        {"connection.protocol": "tcp", "connection.fast_open": True},
        {"transfer.direction": "both"},
    ],
)
def test_every_column_of_the_results_is_known(change: dict[str, Any]) -> None:
    done = ab.sweep(BASE.set(change) if change else BASE, {"mss": [700]}, seeds=1)
    found = {*done.runs.columns, *done.subflows.columns} - {"mss"}
    assert len(found) > 30
    assert found <= COLUMNS, found - COLUMNS


@pytest.mark.parametrize("name", ["web", "video", "request-response", "cross-traffic", "path-failure", "wifi6"])
def test_every_column_that_an_example_makes_is_known(name: str) -> None:
    run = ab.Scenario.load(EXAMPLES / f"{name}.toml").set("duration", "12 s").run()
    found = {*dataset.numbers(run.summary), *(key for flow in run.summary["subflows"] for key in flow)}
    assert len(found) > 30
    assert found <= COLUMNS, found - COLUMNS


def test_who_takes_a_share_for_each_subflow_is_said_by_the_engine() -> None:
    assert greedy() == {"aimd", "bbr", "cubic", "dctcp", "linux-cubic", "linux-reno", "uncoupled"}
