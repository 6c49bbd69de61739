"""The report: one file, no network, everything in it."""

import base64
import re
import shlex
from pathlib import Path

import pytest

import anabranch as ab
from anabranch import plots
from helpers import Command, Page, without_figures


@pytest.fixture
def page(result: Path) -> Page:
    return Page((result / "report.html").read_text(encoding="utf-8"))


def test_the_report_loads_nothing(result: Path, page: Page) -> None:
    text = (result / "report.html").read_text(encoding="utf-8")
    assert len(page.loads) == len(plots.FIGURES)
    assert all(load.startswith("data:image/svg+xml;base64,") for load in page.loads)
    assert not re.search(r"https?:|//cdn|@import|url\(", text)
    assert not {"script", "link", "iframe"} & set(page.tags)


def test_the_pictures_in_the_report_are_those_beside_it(result: Path, page: Page) -> None:
    inside = {base64.b64decode(load.partition(",")[2]) for load in page.loads}
    assert inside == {(result / f"{name}.svg").read_bytes() for name in plots.FIGURES}


def test_the_report_holds_summary_scenario_and_provenance(finished: ab.Run, page: Page) -> None:
    text = " ".join(page.text)
    assert "two paths" in text
    assert "content verified" in text
    assert finished.toml.strip() in text
    for value in (finished.provenance.version, finished.provenance.scenario_sha256, finished.summary["trace_sha256"]):
        assert value in text


def test_the_commands_in_the_report_work(command: Command, scenario_file: Path) -> None:
    assert command("run", scenario_file, "--out", "my results/first").status == 0
    text = " ".join(Page(Path("my results/first/report.html").read_text(encoding="utf-8")).text)
    for name in plots.FIGURES:
        (said,) = re.findall(rf"anabranch (plot '?my results/first'? --figure {name})", text)
        assert command(*shlex.split(said)).status == 0
    Path("scenario.toml").write_text(ab.load("my results/first").toml, encoding="utf-8")
    with without_figures():
        assert command("run", "scenario.toml", "--out", "again").status == 0
    assert ab.load("again").summary["trace_sha256"] == ab.load("my results/first").summary["trace_sha256"]


def test_a_title_cannot_break_the_page() -> None:
    scenario = ab.Scenario.two_path("5 Mbit/s, 1 ms", "2 Mbit/s, 1 ms", transfer="100 kB")
    run = scenario.set("title", "a <b> & </title><script>").run()
    from anabranch.runs.report import report_html

    page = Page(report_html(run, {}, "out"))
    assert "script" not in page.tags
    assert "a <b> & </title><script>" in "".join(page.text)


def test_a_report_of_several_connections_has_a_table_of_them(several: ab.Run) -> None:
    from anabranch.runs.report import report_html

    page = Page(report_html(several, plots.render(several), "out"))
    assert page.tags.count("table") == 3
    assert "rival" in " ".join(page.text)
