"""The study of scenario C: the fluid model's numbers, and the runs beside them."""

import pytest

from anabranch import studies
from anabranch.studies.base import Data
from anabranch.studies.pareto import fluid
from anabranch.studies.pareto.measures import CONTROLLERS, expected, kept, multipath, networks
from anabranch.studies.pareto.text import verdict
from anabranch.studies.task import Task
from studies import assert_figures_fit, assert_stopped_runs_are_counted, quick_data

PARETO = studies.find("pareto")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Data:
    """The quick form's runs."""
    return quick_data(PARETO, tmp_path_factory.mktemp("study") / "out")


@pytest.mark.parametrize(
    ("private", "crowd", "tcp"), [(1, 1, 0.704), (1, 3, 0.485), (1.5, 1, 0.737), (2, 1, 0.765), (2, 3, 0.572)]
)
def test_lia_in_the_fluid_model(private: float, crowd: float, tcp: float) -> None:
    # Solved by hand: (N1/N2) C1 r^2 + C1 (1 + r^2) r = C2, and the TCP user has C1 (1 + r^2) r.
    assert fluid.lia(private, crowd) == pytest.approx(tcp, abs=0.0006)


def test_balia_in_the_fluid_model_satisfies_its_own_equations() -> None:
    for private, crowd in ((1.0, 1), (2.0, 1), (1.0, 3)):
        tcp = fluid.balia(private, crowd)
        slow = (1 - tcp) / crowd
        alpha, whole = private / slow, private + slow
        # Loss rates by the TCP on the shared path and by each path's own balance; windows and rates are alike.
        shared = 2 / tcp**2
        growth = (slow / whole) ** 2 * (1 + alpha) * (4 + alpha) / 10
        assert growth == pytest.approx(shared * slow**2 * min(alpha, 1.5) / 2, rel=1e-6)
        assert shared > 2 / whole**2


def test_the_full_study_is_valid_and_has_at_least_three_seeds_in_every_cell() -> None:
    for name, plan in Task(PARETO, quick=False).plans().items():
        assert len(plan.seeds) >= 3, name
        assert [cell.error for cell in plan.cells if cell.error] == [], name


def test_the_links_are_what_the_ratios_say() -> None:
    for quick in (False, True):
        for plan in Task(PARETO, quick=quick).plans().values():
            for cell in plan.cells:
                links = {link["name"]: link["up"] for link in cell.scenario.check()["links"]}
                tcp = sum(name.startswith("single") for name in links)
                share = links["shared"]["rate_bps"] / tcp
                label = next(value for key, value in cell.labels.items() if key == "private")
                private = [link["rate_bps"] / share for name, link in links.items() if name.startswith("private")]
                assert private == [float(str(label))] * len(private)


def test_every_run_of_the_quick_form_uses_the_access_points(data: Data) -> None:
    for name, sweep in data.sweeps.items():
        assert (sweep.runs["error"] == "").all(), name
    for network in networks(data):
        for controller in CONTROLLERS:
            assert multipath(data, network, controller).mean > 0.97 * network.private


def test_lia_is_where_the_fluid_model_has_it(data: Data) -> None:
    for network in networks(data):
        assert kept(data, network, "coupled").mean == pytest.approx(expected(network, "coupled"), abs=0.08)


def test_olia_leaves_more_and_balia_stands_between(data: Data) -> None:
    for network in networks(data):
        lia, olia = (kept(data, network, name).mean for name in ("coupled", "olia"))
        assert lia + 0.05 < olia < expected(network, "olia")
        assert kept(data, network, "balia").mean == pytest.approx(expected(network, "balia"), abs=0.1)


def test_the_first_sentence_answers_in_words(data: Data) -> None:
    first = PARETO.opening(data).split(";")[0]
    assert first.startswith("LIA is too aggressive to the TCP users at the shared access point")
    assert verdict(data).startswith(first)
    assert not any(character.isdigit() for character in first)
    text = " ".join([PARETO.opening(data), *PARETO.findings(data)])
    assert "nan" not in text


def test_no_text_leaves_its_figures(data: Data) -> None:
    assert_figures_fit(PARETO, data, "users")


def test_tables_count_runs_that_stopped(data: Data) -> None:
    assert_stopped_runs_are_counted(PARETO, data)
