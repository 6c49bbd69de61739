"""The study of the ICIPEE 2014 paper: two and three wired subflows."""

from collections.abc import Iterator

import pytest

from anabranch import studies
from anabranch.studies import beside
from anabranch.studies.arabi_2014_icipee import names, text
from anabranch.studies.base import Data
from anabranch.studies.models import MODELS
from anabranch.studies.task import Task
from studies import assert_figures_fit, assert_stopped_runs_are_counted, quick_data

NAME = "arabi-2014-icipee"
ARABI = studies.find(NAME)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Data:
    """The quick form's runs."""
    return quick_data(ARABI, tmp_path_factory.mktemp("study") / "out")


def cells(*models: str) -> Iterator[tuple[str, str, str]]:
    return ((model, links, controller) for model in models for links in names.LINKS for controller in names.CONTROLLERS)


def test_the_full_study_is_valid_and_has_at_least_three_seeds_in_every_cell() -> None:
    for name, plan in Task(ARABI, quick=False).plans().items():
        assert len(plan.seeds) >= 3, name
        assert [cell.error for cell in plan.cells if cell.error] == [], name


def test_the_links_are_those_of_figures_6_and_7(data: Data) -> None:
    # Fig. 6: 5 and 2 Mbit/s, 100 ms each; Fig. 7: 5 Mbit/s 100 ms, 2 Mbit/s 10 ms, 7 Mbit/s 50 ms.
    three = data.base().check()["links"]
    assert [(link["up"]["rate_bps"], link["up"]["delay_s"]) for link in three] == [(5e6, 0.1), (2e6, 0.01), (7e6, 0.05)]
    two = data.base().set(names.TWO).check()
    assert [(link["up"]["rate_bps"], link["up"]["delay_s"]) for link in two["links"]][:2] == [(5e6, 0.1), (2e6, 0.1)]
    assert len(two["connections"][0]["paths"]) == 2


def test_no_transfer_is_faster_than_its_links_and_none_stalls(data: Data) -> None:
    for model, links, controller in cells(*MODELS):
        for recovery in names.RECOVERIES:
            rate = names.goodput(data, model, links, controller, recovery).mean
            assert 0.1 < rate < names.RATES[links]


def test_the_papers_receiver_makes_several_links_slower_than_the_best_of_them(data: Data) -> None:
    for model, links, controller in cells("legacy", "coupled"):
        assert names.goodput(data, model, links, controller, "none").mean < names.alone(data, links)


def test_the_independent_receiver_makes_them_faster(data: Data) -> None:
    # Fully Coupled takes half of the total window from one subflow, so it is left out with three.
    for model, links, controller in cells("independent"):
        if (links, controller) != ("three", "fully-coupled"):
            rate = names.goodput(data, model, links, controller, "none").mean
            assert rate > 1.3 * names.alone(data, links)
            assert rate > 0.8 * names.RATES[links]


def test_the_legacy_model_has_what_the_paper_states_of_figure_9(data: Data) -> None:
    # "the best result is DSACK as it reaches about 10 Mbps"; F-RTO "40 less than" none
    rates = {name: names.goodput(data, "legacy", "three", "uncoupled", name).mean for name in names.RECOVERIES}
    assert max(rates, key=lambda name: rates[name]) == "dsack"
    assert text._peak(data, "legacy", "dsack") == pytest.approx(names.STATED, rel=0.15)
    assert 0.25 < 1 - rates["frto"] / rates["none"] < 0.5


def test_every_statement_is_computed_in_every_column(data: Data) -> None:
    table = beside.in_words(data, text.STATEMENTS)
    assert len(table.rows) == len(text.STATEMENTS)
    assert all(cell for row in table.rows for cell in row)
    assert "nan" not in str(table.rows)


def test_the_first_paragraph_states_the_contrast_in_measured_numbers(data: Data) -> None:
    said = ARABI.opening(data)
    for model in MODELS:
        assert f"{names.goodput(data, model, 'three', 'uncoupled', 'none').mean:.2f}" in said
    assert f"{names.alone(data, 'three'):.2f}" in said


def test_the_one_number_of_the_paper_stands_beside_its_cell(data: Data) -> None:
    rows = {tuple(row[:3]): row for row in ARABI.tables["results"].make(data).rows}
    assert len(rows) == 32
    assert rows["three", "Uncoupled", "D-SACK"][3] == "10.00"
    assert rows["three", "Uncoupled", "NoPR"][3] == "\N{EN DASH}"


def test_no_text_leaves_its_figures(data: Data) -> None:
    assert_figures_fit(ARABI, data, "fig-8", "throughput")


def test_tables_count_runs_that_stopped(data: Data) -> None:
    assert_stopped_runs_are_counted(ARABI, data)
