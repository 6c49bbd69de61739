"""The study of schedulers: all of them over the links of two papers."""

from types import SimpleNamespace
from typing import cast

import pytest

from anabranch import studies
from anabranch.recommendation.candidates import known, variants
from anabranch.studies.base import Data
from anabranch.studies.schedulers import sentences as say
from anabranch.studies.schedulers import text
from anabranch.studies.schedulers.measures import FIRST, NETWORKS, TRAFFIC, labels, leaders, ratio, turns, value
from anabranch.studies.schedulers.text import opening
from anabranch.studies.task import Task
from anabranch.sweeps.paired import Interval, interval
from studies import assert_figures_fit, assert_stopped_runs_are_counted, quick_data

SCHEDULERS = studies.find("schedulers")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Data:
    """The quick form's runs."""
    return quick_data(SCHEDULERS, tmp_path_factory.mktemp("study") / "out")


def test_the_full_study_is_valid_and_has_every_scheduler() -> None:
    plans = Task(SCHEDULERS, quick=False).plans()
    for name, plan in plans.items():
        assert len(plan.seeds) >= 5, name
        assert [cell.error for cell in plan.cells if cell.error] == [], name
    for name in NETWORKS:
        assert {str(point.label) for point in plans[name].axes["scheduler"]} == set(known("scheduler")) - variants(
            "scheduler"
        )


@pytest.mark.parametrize("network", NETWORKS)
def test_queues_are_as_many_bandwidth_delay_products_as_they_say(network: str) -> None:
    cells = Task(SCHEDULERS, quick=False).plans()[network].cells
    # Cells that differ only in the scheduler have the same links: check one of them.
    without_scheduler = {tuple((k, v) for k, v in c.labels.items() if k != "scheduler"): c for c in cells}
    assert 1 < len(without_scheduler) < len(cells)
    for cell in without_scheduler.values():
        for link in cell.scenario.check()["links"]:
            product = link["down"]["rate_bps"] / 8 * (link["down"]["delay_s"] + link["up"]["delay_s"]) / 1500
            packets = link["down"]["queue_packets"]
            # In whole packets, and at least one.
            assert abs(packets - max(1, float(str(cell.labels["queue"])) * product)) <= 1, link["name"]


def test_every_run_of_the_quick_form_ends_with_its_content_whole(data: Data) -> None:
    for name, sweep in data.sweeps.items():
        assert (sweep.runs["error"] == "").all(), name
        assert sweep.runs["content_ok"].all(), name
        assert (sweep.runs["status"] == "completed").all(), name


def test_each_kind_of_traffic_has_its_measure_in_every_cell(data: Data) -> None:
    for network in NETWORKS:
        for name, traffic in TRAFFIC.items():
            for scheduler in labels(data, network, "scheduler"):
                for queue in labels(data, network, "queue"):
                    found = value(data, network, traffic, scheduler=scheduler, queue=queue, application=name)
                    assert found.n == 1, (network, name, scheduler)
                    assert found.mean > 0


def test_messages_are_as_fast_as_the_better_path_at_best(data: Data) -> None:
    # 25 ms one way over WLAN, and no scheduler is faster than light.
    for scheduler in labels(data, "wlan", "scheduler"):
        p50 = data.mean("wlan", "message_latency_p50_ms", scheduler=scheduler, application="messages", queue="1").mean
        assert p50 >= 0.99 * 25, scheduler


def test_redundancy_brings_messages_through_losses_sooner(data: Data) -> None:
    cell = {"scheduler": "redundant", "application": "messages", "queue": "1", "controller": "olia"}
    assert ratio(data, "wlan", "message_latency_p99_ms", **cell).mean < 0


def test_the_leader_is_the_best_mean_and_those_near_it(data: Data) -> None:
    for turn in turns(data):
        traffic = TRAFFIC[turn.traffic]
        names = labels(data, turn.network, "scheduler")
        for queue, first in zip(turn.queues, turn.leaders, strict=True):
            cell = {"application": turn.traffic, "controller": turn.controller, "queue": queue}
            means = {name: value(data, turn.network, traffic, scheduler=name, **cell).mean for name in names}
            best = max(means.values()) if traffic.more else min(means.values())
            assert means[first[0]] == best
            assert set(first) == {name for name in names if abs(means[name] - best) <= 0.01 * best}
            assert first == leaders(data, turn.network, traffic, names, **cell)


def test_the_first_sentence_says_whether_rankings_turn_over(data: Data) -> None:
    found = turns(data)
    said = opening(data)
    assert f"In {sum(turn.turns and not turn.equal for turn in found)} of {len(found)} combinations" in said
    assert FIRST in said


@pytest.mark.parametrize(("goodput", "stuck"), [(1.1, True), (4.1, True), (4.2, False), (8.1, False)])
def test_the_smallest_delay_is_called_wrong_only_with_less_than_half_of_the_goodput(
    goodput: float, stuck: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mean(sweep: str, measure: str, *, scheduler: str, **cell: str) -> Interval:
        assert (sweep, measure) == ("lte", "goodput_mbps")
        assert cell == {"controller": "olia", "application": "bulk-512k", "queue": "4"}
        return interval([goodput if scheduler == "smallest-delay" else 8.3])

    monkeypatch.setattr(text, "labels", lambda *_: ["min-rtt", "smallest-delay"])
    told = text._stuck(cast("Data", SimpleNamespace(mean=mean)))
    assert f"has {goodput} Mbit/s with smallest-delay and 8.3 Mbit/s with min-rtt" in told
    assert "OLIA" in told
    assert "512 KiB" in told
    assert (str(say.STUCK_WHY) in told) == stuck


def test_tables_and_figures_have_what_they_promise(data: Data) -> None:
    table = SCHEDULERS.tables["leading"].make(data)
    assert len(table.rows) == len(turns(data))
    for network in NETWORKS:
        rows = SCHEDULERS.tables[f"{network}-olia"].make(data).rows
        assert [row[0] for row in rows] == labels(data, network, "scheduler")
        assert all(len(row) == 1 + len(TRAFFIC) * 3 for row in rows)
    assert len(SCHEDULERS.tables["blest"].make(data).rows) == 10


def test_no_text_leaves_its_figures(data: Data) -> None:
    assert_figures_fit(SCHEDULERS, data, "gain")


def test_tables_count_runs_that_stopped(data: Data) -> None:
    assert_stopped_runs_are_counted(SCHEDULERS, data)
