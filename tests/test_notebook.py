"""What notebooks show: whole HTML that needs no style sheet, escapes what users wrote, and says what the text says."""

import pickle
from pathlib import Path

import pytest

import anabranch as ab
from anabranch.captures.notebook import notebook_html
from anabranch.runs.limits import limits
from anabranch.runs.scenario_page import scenario_html
from helpers import SEVERAL, TWO_PATHS, Page

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.toml"))


def words(html: str) -> str:
    page = Page(html)
    assert not {"script", "style", "link", "iframe"} & set(page.tags)
    return " ".join(page.text)


def test_a_run_says_what_limited_it_and_what_its_subflows_carried_together(
    finished: ab.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    text = words(finished._repr_html_())
    assert limits(finished.summary) in text
    assert "controller coupled" in text
    (total,) = [line.split() for line in str(finished).splitlines() if line.startswith("total")]
    row = text[text.index("total") :].split()
    assert row == total


def test_a_run_of_several_connections_shows_them_and_no_sum(several: ab.Run) -> None:
    text = words(several._repr_html_())
    assert "rival" in text
    assert "total" not in text


def test_an_explanation_is_text_and_a_table(finished: ab.Run, several: ab.Run) -> None:
    text = finished.explain()
    assert isinstance(text, str)
    html = words(text._repr_html_())
    for line in str(text).splitlines():
        assert line in html
    assert "congestion window" in html
    assert Page(several.explain()._repr_html_()).tags.count("table") == 2
    assert "rival: The capacity of the path is " in words(several.explain()._repr_html_())
    again = pickle.loads(pickle.dumps(text))
    assert again == text
    assert again._repr_html_() == text._repr_html_()


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_every_example_is_shown_with_its_links_and_connections(file: Path) -> None:
    scenario = ab.Scenario.load(file)
    resolved = scenario.check()
    text = words(scenario._repr_html_())
    assert resolved["title"] in text
    for link in resolved["links"][:20]:
        assert link["name"] in text
    assert resolved["connections"][0]["name"] in text


def test_a_scenario_shows_rates_delays_queues_and_what_differs_by_direction() -> None:
    text = words(
        ab.Scenario.from_toml(TWO_PATHS).set({"path.0.rate_down": "1 Mbit/s", "path.1.loss": "1 %"})._repr_html_()
    )
    for part in ("up 5 Mbit/s, down 1 Mbit/s", "100 ms", "100 packets", "1 %", "bulk 2 MB, client to server"):
        assert part in text
    assert "--set path.0.rate_down=1 Mbit/s" in text
    assert "both" in words(ab.Scenario.from_toml(SEVERAL)._repr_html_())


def test_a_large_network_is_shown_in_part() -> None:
    tree = ab.Scenario.load(next(file for file in EXAMPLES if file.stem == "fat-tree"))
    page = Page(tree._repr_html_())
    assert page.tags.count("tr") < 50
    assert "more" in " ".join(page.text)


def test_a_scenario_that_is_not_valid_says_why_instead_of_raising() -> None:
    wrong = ab.Scenario.from_toml(TWO_PATHS).set("connection.controller", "<b>copled</b>")
    text = words(scenario_html(wrong))
    assert "not valid" in text
    assert '"<b>copled</b>"' in text
    assert "b" not in Page(wrong._repr_html_()).tags


def test_a_title_cannot_break_a_notebook() -> None:
    scenario = ab.Scenario.from_toml(TWO_PATHS).set({"title": "</p><script>", "transfer.bytes": "20 kB"})
    assert "</p><script>" in words(scenario._repr_html_())
    assert "</p><script>" in words(scenario.run()._repr_html_())
    assert "</p><script>" in words(ab.sweep(scenario, {"mss": [700]}, seeds=1)._repr_html_())


def test_captures_are_shown_with_their_connections_and_subflows(here: Path) -> None:
    ab.Scenario.from_toml(TWO_PATHS).set("transfer.bytes", "100 kB").run(pcap=here / "packets")
    capture = ab.analyze(sorted((here / "packets").glob("client-*.pcapng")))
    text = words(capture._repr_html_())
    assert "packets in" in text
    assert "out-of-order ratio" in text
    for name in capture.labels.values():
        assert name in text
    assert capture._repr_html_() == notebook_html(capture)
