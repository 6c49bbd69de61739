"""The study of fat-trees: more subflows, nearer to full bisection (Raiciu et al., SIGCOMM 2011)."""

from itertools import pairwise

import pytest

from anabranch import studies
from anabranch.studies.base import Data
from anabranch.studies.raiciu_2011_fattree.measures import NETWORKS, PAYLOAD, SUBFLOWS, ranked, share
from anabranch.studies.task import Task
from studies import assert_figures_fit, assert_stopped_runs_are_counted, quick_data

RAICIU = studies.find("raiciu-2011-fattree")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Data:
    """The quick form's runs."""
    return quick_data(RAICIU, tmp_path_factory.mktemp("study") / "out")


def test_the_full_study_is_valid_and_has_at_least_three_seeds_in_every_cell() -> None:
    for name, plan in Task(RAICIU, quick=False).plans().items():
        assert len(plan.seeds) >= 3, name
        assert [cell.error for cell in plan.cells if cell.error] == [], name
        hosts = plan.cells[0].scenario.check()["hosts"]
        assert len(hosts) == NETWORKS[name][1]


def test_one_figure_shows_the_networks_that_all_of_the_report_shows() -> None:
    assert Task(RAICIU, quick=False, only=("utilisation",)).sweeps == ["small", "large"]
    assert Task(RAICIU, quick=True, only=("utilisation",)).sweeps == ["small"]


def test_more_subflows_use_more_of_the_network(data: Data) -> None:
    used = [share(data, "small", subflows).mean for subflows in SUBFLOWS]
    assert all(more > less for less, more in pairwise(used)), used
    # One path a connection: about half; eight: most of it; never more than headers leave.
    assert 45 < used[0] < 68
    assert 72 < used[-1] < PAYLOAD


def test_they_help_those_whom_collisions_hit(data: Data) -> None:
    one, eight = ranked(data, "small", "1"), ranked(data, "small", "8")
    assert len(one) == len(eight) == 16
    assert eight[1] > 1.5 * one[1]


def test_no_connection_gets_more_than_its_link_carries(data: Data) -> None:
    assert all(ranked(data, "small", subflows)[-1] <= PAYLOAD for subflows in SUBFLOWS)


def test_no_text_leaves_its_figures(data: Data) -> None:
    assert_figures_fit(RAICIU, data, "utilisation", "ranks")


def test_tables_count_runs_that_stopped(data: Data) -> None:
    assert_stopped_runs_are_counted(RAICIU, data)
