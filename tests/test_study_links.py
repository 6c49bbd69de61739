"""The study of links of today."""

import re

import pytest

from anabranch import studies
from anabranch.studies.base import Data
from anabranch.studies.links_today.measures import ALONE, BAR, CARRIERS, OVER, axis, p99, rate, stepped
from anabranch.studies.links_today.study import STUDY
from anabranch.studies.task import Task
from studies import assert_figures_fit, assert_stopped_runs_are_counted, quick_data

pytestmark = pytest.mark.long  # its runs take 20 to 50 s; tests/test_study.py has those of a small study


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Data:
    """The quick form's runs."""
    return quick_data(studies.find("links-today"), tmp_path_factory.mktemp("study") / "out")


def test_the_full_study_is_valid_and_has_at_least_three_seeds_in_every_cell() -> None:
    for plan in Task(STUDY, quick=False).plans().values():
        assert len(plan.seeds) >= 3
        assert [cell.error for cell in plan.cells if cell.error] == []


def test_every_run_ends_with_its_content_whole(data: Data) -> None:
    for sweep in data.sweeps.values():
        assert (sweep.runs["error"] == "").all()
        assert sweep.runs["content_ok"].all()


def test_a_call_over_wifi_alone_stands_still_and_redundancy_keeps_it(data: Data) -> None:
    # Out of range after 33 of 60 s.
    for controller in axis(data, "walk", "controller"):
        assert min(p99(data, "wifi", controller)) == float("inf")
        assert max(p99(data, "lte", controller)) < BAR
        assert max(p99(data, "redundant", controller)) < BAR
        # No sooner than light, queues and 10 ms of wire allow.
        assert min(min(p99(data, sender, controller)) for sender in axis(data, "walk", "sender")) > 10


def test_both_networks_have_more_than_the_worse_one_and_less_than_they_offer(data: Data) -> None:
    for carrier in CARRIERS:
        for controller in axis(data, "road", "controller"):
            single, other, both = (rate(data, carrier, over, controller) for over in OVER)
            assert both > min(single, other)
            assert both < 500


def test_steps_cost_something_and_both_links_have_no_more_than_they_hold(data: Data) -> None:
    for scheduler in axis(data, "steps", "scheduler"):
        for still in (False, True):
            assert 10 < stepped(data, scheduler, "goodput_mbps", "large", still=still) < 100 * 1400 / 1452


def test_the_report_answers_in_its_first_sentence(data: Data) -> None:
    said = STUDY.opening(data)
    assert "99 % of a video call arrives within 150 ms in every run: " in said
    assert re.search(r"redundant.* achieves? this with every controller", said)
    road = next(text for text in STUDY.findings(data) if text.startswith("On the road"))
    # 229.0 of 176.8 and of 283.6; 289.4 of 176.8 and of 351.5.
    assert "(published: 1.30 times and 0.81 times)" in road
    assert "(published: 1.64 times and 0.82 times)" in road


def test_tables_have_all_cells(data: Data) -> None:
    for spec in STUDY.tables.values():
        table = spec.make(data)
        assert all(len(row) == len(table.head) for row in table.rows)
        assert len(table.frame) >= len(table.rows)
    assert set(ALONE) < set(axis(data, "walk", "sender"))


def test_the_figure_of_the_walk_has_a_place_for_every_sender_and_names_its_line(data: Data) -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    STUDY.figures["walk"].draw(data, figure)
    (ax,) = figure.axes
    senders = axis(data, "walk", "sender")
    assert ax.get_xlim() == (-0.5, len(senders) - 0.5)
    assert [(text.get_text(), text.get_position()[0]) for text in ax.texts] == [("stands still", senders.index("wifi"))]
    (box,) = figure.legends
    assert [text.get_text() for text in box.get_texts()] == [*axis(data, "walk", "controller"), "150 ms"]
    low, high = ax.get_ylim()
    shown = [ax.yaxis.get_major_formatter()(v, 0) for v in ax.yaxis.get_majorticklocs() if low <= v <= high]
    assert {"50", "100"} <= set(shown)


def test_no_text_leaves_its_figures(data: Data) -> None:
    assert_figures_fit(STUDY, data, "walk")


def test_tables_count_runs_that_stopped(data: Data) -> None:
    assert_stopped_runs_are_counted(studies.find("links-today"), data)
