"""The studies of the SIMS 2014 and ICT 2016 papers: paths that end in Wi-Fi."""

import math
from typing import Any

import pytest

from anabranch import studies
from anabranch.studies import beside, wireless
from anabranch.studies.alheid_2014_sims import names as sims
from anabranch.studies.alheid_2014_sims import text as sims_text
from anabranch.studies.alheid_2016_ict import names as ict
from anabranch.studies.alheid_2016_ict import text as ict_text
from anabranch.studies.base import Data, Study
from anabranch.studies.models import MODELS, RECOVERIES
from anabranch.studies.task import Task
from studies import assert_figures_fit, assert_stopped_runs_are_counted, quick_data

pytestmark = pytest.mark.long  # its runs take 20 to 50 s; tests/test_study.py has those of a small study

SIMS, ICT = studies.find("alheid-2014-sims"), studies.find("alheid-2016-ict")


@pytest.fixture(scope="module")
def indoor(tmp_path_factory: pytest.TempPathFactory) -> Data:
    """The quick form's runs of the SIMS paper."""
    return quick_data(SIMS, tmp_path_factory.mktemp("study") / "out")


@pytest.fixture(scope="module")
def mobile(tmp_path_factory: pytest.TempPathFactory) -> Data:
    """The quick form's runs of the ICT paper."""
    return quick_data(ICT, tmp_path_factory.mktemp("study") / "out")


@pytest.mark.parametrize("paper", [SIMS, ICT], ids=lambda paper: paper.name)
def test_the_full_study_is_valid_and_has_at_least_three_seeds_in_every_cell(paper: Study) -> None:
    for name, plan in Task(paper, quick=False).plans().items():
        assert len(plan.seeds) >= 3, name
        assert [cell.error for cell in plan.cells if cell.error] == []


@pytest.mark.parametrize("paper", [SIMS, ICT], ids=lambda paper: paper.name)
def test_the_quick_form_has_the_same_cells_at_fewer_distances(paper: Study) -> None:
    full, quick = (Task(paper, quick=form).plans() for form in (False, True))
    for name, plan in quick.items():
        for axis, points in plan.axes.items():
            labels = [point.label for point in full[name].axes[axis]]
            assert set(labels).issuperset(point.label for point in points)
            assert axis == "distance" or len(points) == len(labels)


def test_the_indoor_papers_columns_agree_with_each_other() -> None:
    # Utilisation is goodput over 6 Mbit/s, and Table II has whole packets of 1400 octets.
    for controller in sims.CONTROLLERS:
        for recovery in RECOVERIES:
            cell = {"controller": controller, "recovery": recovery}
            used = sims.printed(cell, "util_wifi_pct") + sims.printed(cell, "util_wired_pct")
            assert sims.RATE * used / 100 == pytest.approx(sims.printed(cell, "aggregate_mbps"), abs=0.011)
            assert 1.4 * sims.printed(cell, "ooo_buffer_packets") == pytest.approx(sims.printed(cell, "ooo_buffer_kb"))


def test_the_mobile_papers_buffers_are_whole_packets() -> None:
    # KiB with one decimal: 1400/1024 a packet.
    for case in ict.CASES:
        for controller in ict.CONTROLLERS:
            for recovery in RECOVERIES:
                cell = {"case": case, "controller": controller, "recovery": recovery}
                octets = 1400 * ict.printed(cell, "ooo_buffer_packets")
                assert octets / 1024 == pytest.approx(ict.printed(cell, "ooo_buffer_kb"), abs=0.1)
                assert math.isnan(ict.printed(cell, "goodput_mbps"))


def test_the_indoor_scenario_is_that_of_the_paper(indoor: Data) -> None:
    # IV.A: 6 Mbit/s and 10 ms by wire; 802.11g, BPSK 1/2, 15 dBm, 46.67 dB at 1 m, Nakagami; 500 MB.
    scenario = indoor.base().check()
    air, wire = scenario["links"]
    assert (wire["up"]["rate_bps"], wire["up"]["delay_s"]) == (6e6, 0.01)
    wifi = air["wifi"]
    assert (wifi["standard"], wifi["rate_bps"], wifi["tx_power_dbm"]) == ("802.11g", 6e6, 15.0)
    assert scenario["connections"][0]["transfer"]["extent_bytes"] == 500e6


def test_the_mobile_scenario_sends_down_to_a_station_of_two_access_points(mobile: Data) -> None:
    # III.A: a backbone of 100 Mbit/s and 10 ms, 1400 octets, 50 s.
    scenario = mobile.base().check()
    backbone, _, air, _ = scenario["links"]
    assert (backbone["up"]["rate_bps"], backbone["up"]["delay_s"]) == (100e6, 0.01)
    assert air["wifi"]["rate_bps"] == 54e6
    connection = scenario["connections"][0]
    assert (connection["client"], connection["server"], connection["mss_bytes"]) == ("ftp-server", "mobile", 1400)
    assert connection["transfer"]["extent_s"] == 50


def test_the_legacy_model_has_the_indoor_papers_tcp_door(indoor: Data) -> None:
    # Tables II and III, Uncoupled: 43.26 %, 63.44 % and 85.41 % of 6 Mbit/s, 8.93 Mbit/s.
    cell: dict[str, Any] = {"controller": "uncoupled", "recovery": "door", "model": "legacy"}
    assert indoor.mean("tables", "ooo_ratio", 100, **cell).mean == pytest.approx(43.26, abs=6)
    assert indoor.mean("tables", "goodput_mbps", **cell).mean == pytest.approx(8.93, rel=0.05)


def test_the_legacy_model_has_the_mobile_papers_order_of_arrival(mobile: Data) -> None:
    # Table III, scenario 1. 8 s instead of 50 leave more of the beginning in the ratio.
    for recovery, controller, stated, apart in (
        ("door", "rtt-compensator", 42.1, 4),
        ("dsack", "uncoupled", 21.9, 4),
        ("none", "uncoupled", 1.8, 4),
        ("frto", "uncoupled", 7.9, 4),
    ):
        cell: dict[str, Any] = {"case": "1", "controller": controller, "recovery": recovery}
        assert ict.printed(cell, "ooo_ratio_pct") == stated
        found = mobile.mean("distances", "ooo_ratio", 100, **cell, model="legacy", distance=ict.NEAR).mean
        assert found == pytest.approx(stated, abs=apart)


def test_the_papers_advice_for_like_and_unlike_paths_holds_in_the_legacy_model_only(mobile: Data) -> None:
    # Conclusions: TCP-DOOR for symmetrical paths, D-SACK for asymmetrical ones.
    assert ict_text._best(mobile, "legacy", "1")[0] == "door"
    assert ict_text._best(mobile, "legacy", "3")[0] == "dsack"
    assert ict_text._best(mobile, "independent", "1")[1] < 0.03


def test_the_independent_receiver_uses_both_paths_and_the_papers_receiver_does_not(indoor: Data, mobile: Data) -> None:
    both = sum(wireless.alone(indoor, 10, **path) for path in sims.TCP.values())
    twice = 2 * wireless.alone(mobile, 10, over="11g-54")
    for controller in sims.CONTROLLERS:
        cell: dict[str, Any] = {"controller": controller, "recovery": "none"}
        rates = [indoor.mean("tables", "goodput_mbps", **cell, model=model).mean for model in MODELS]
        assert max(rates[:2]) < 0.75 * both
        assert rates[2] > 0.9 * both
        rates = [wireless.goodput(mobile, 10, **cell, case="1", model=model).mean for model in MODELS]
        assert max(rates[:2]) < 0.75 * twice
        assert rates[2] > 0.9 * twice


def test_every_statement_is_computed_in_every_column(indoor: Data, mobile: Data) -> None:
    for data, statements in ((indoor, sims_text.STATEMENTS), (mobile, ict_text.STATEMENTS)):
        table = beside.in_words(data, statements)
        assert len(table.rows) == len(statements)
        assert all(cell for row in table.rows for cell in row)
        assert "nan" not in str(table.rows)


def test_the_first_paragraph_states_the_contrast_in_measured_numbers(indoor: Data, mobile: Data) -> None:
    assert f"{wireless.alone(indoor, 10, over='wifi'):.2f}" in SIMS.opening(indoor)
    assert f"{wireless.alone(mobile, 10, over='11g-54'):.1f}" in ICT.opening(mobile)


def test_an_average_over_distance_weighs_each_distance_alike(indoor: Data) -> None:
    cell = {"controller": "uncoupled", "recovery": "none", "model": "independent"}
    each = [wireless.goodput(indoor, metres, **cell).mean for metres in wireless.distances(indoor)]
    assert wireless.averaged(indoor, **cell).mean == pytest.approx(sum(each) / len(each))


def test_no_text_leaves_their_figures(indoor: Data, mobile: Data) -> None:
    assert_figures_fit(SIMS, indoor, "fig-2", "boxes")
    assert_figures_fit(ICT, mobile, "fig-5")


def test_tables_count_runs_that_stopped(indoor: Data, mobile: Data) -> None:
    for study, data in ((SIMS, indoor), (ICT, mobile)):
        assert_stopped_runs_are_counted(study, data)
