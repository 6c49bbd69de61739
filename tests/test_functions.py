"""`ab.recommend`, `ab.compare` and `ab.study`: functions that no import replaces, with what they return."""

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import anabranch as ab
from anabranch.comparison import MeasureError
from helpers import Command, Page

LINES = ["5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms"]
LONG = """
host = [{ name = "client" }, { name = "server" }]
connection = { client = "client", server = "server" }
transfer.bytes = "1 MB"
[[link]]
name = "access"
from = "client"
to = "server"
rate = "5 Mbit/s"
"""
SMALL = ab.Scenario.of_paths(LINES, transfer="300 kB")


@pytest.mark.parametrize(
    ("name", "package"),
    [("recommend", "recommendation"), ("compare", "comparison"), ("study", "studies"), ("diagnose", "diagnosis")],
)
def test_importing_the_package_leaves_the_function_as_it_is(name: str, package: str) -> None:
    """In a process of its own, in either order."""
    for code in (
        f"import anabranch.{package}, anabranch as ab; assert callable(ab.{name})",
        f"import anabranch as ab; first = ab.{name}; import anabranch.{package}.result; assert ab.{name} is first",
        f"from anabranch import {name}, {package}; assert callable({name}); assert not callable({package})",
    ):
        subprocess.run([sys.executable, "-c", code], check=True)


def test_no_module_has_the_name_of_a_function() -> None:
    modules = {module.name for module in pkgutil.iter_modules(ab.__path__)}
    functions = {name for name in ab.__all__ if callable(getattr(ab, name)) and name[0].islower()}
    assert {"analyze", "compare", "diagnose", "load", "recommend", "study", "sweep"} <= functions
    assert modules.isdisjoint(functions)
    assert set(ab.__all__) <= set(dir(ab))


def test_every_public_name_has_a_description() -> None:
    for name in ab.__all__:
        value = getattr(ab, name)
        assert value.__doc__, name
        if callable(value) and name[0].islower():
            assert "Examples" in value.__doc__, name
            assert value.__module__.startswith("anabranch")
            importlib.import_module(value.__module__)


def test_a_recommendation_shows_itself_in_a_notebook_and_is_saved(tmp_path: Path) -> None:
    found = ab.recommend(LINES, transfer="1 s", runs=60)
    page = Page(found._repr_html_())
    assert "table" in page.tags
    assert not page.loads
    text = " ".join(page.text)
    assert "transfer: 1 s, down (server to client), over 2 paths" in text
    assert "60 runs were made in all" in text or "No answer in 60 runs" in text
    found.save(tmp_path / "answer")
    assert Page((tmp_path / "answer" / "report.html").read_text(encoding="utf-8")).loads == []
    assert repr(found).startswith("<anabranch.Recommendation ")
    with pytest.raises(ab.ResultError, match="neither empty"):
        found.save(Path(__file__).parent)


def test_a_recommendation_without_an_answer_shows_why() -> None:
    found = ab.recommend("5 Mbit/s, 100 ms", transfer="1 s", runs=3)
    assert (found.answered, found.scenario) == (False, None)
    assert "No answer in 3 runs" in str(found)
    assert "No answer in 3 runs" in " ".join(Page(found._repr_html_()).text)
    assert found.sentences[0].startswith("No answer")


def test_a_scenario_is_taken_as_it_is() -> None:
    lossy = SMALL.set({"transfer.direction": "up", "path.0.loss": "1 %"})
    found = ab.recommend(lossy, runs=3)
    assert found.base == lossy
    assert str(found).startswith("goal: the highest goodput; transfer: 300 kB, up (client to server), over 2 paths")
    # The command takes no scenario.
    assert "to get the same answer again:\n  anabranch.recommend(scenario, runs=3)\n" in str(found)
    with pytest.raises(ab.ScenarioError, match=r"Scenario\.set"):
        ab.recommend(lossy, transfer="1 MB")
    with pytest.raises(ab.ScenarioError, match="at least one path"):
        ab.recommend([])
    two = lossy.toml.replace("[transfer]", '[[connection]]\nname = "a"\n[[connection]]\nname = "b"\n[transfer]')
    with pytest.raises(ab.ScenarioError):
        ab.recommend(ab.Scenario.from_toml(two), runs=1)
    with pytest.raises(ab.ScenarioError, match=r"written as \[\[path\]\]"):
        ab.recommend(ab.Scenario.from_toml(LONG), runs=1)


@pytest.mark.parametrize("goal", ["speed", ""])
def test_a_goal_that_is_none_is_refused(goal: str) -> None:
    with pytest.raises(ab.ScenarioError, match="throughput, latency, memory"):
        ab.recommend(LINES, goal=goal, runs=1)


@pytest.mark.usefixtures("no_figures")
def test_runs_are_compared_from_folders_and_at_hand(command: Command, tmp_path: Path) -> None:
    one, other = SMALL.run(), SMALL.set("path.1.rate", "4 Mbit/s").run()
    one.save(tmp_path / "one")
    other.save(tmp_path / "other")
    here, there = ab.compare(one, other), ab.compare(tmp_path / "one", str(tmp_path / "other"))
    assert here.frame.equals(there.frame)
    rows = here.frame[here.frame["subflow"].isna()].set_index("field")
    row = rows.loc["goodput_mbps"]
    assert row["first"] == one.summary["goodput_mbps"]
    assert row["ratio"] == pytest.approx(other.summary["goodput_mbps"] / one.summary["goodput_mbps"])
    printed = command("compare", tmp_path / "one", tmp_path / "other", "--wide").out
    assert printed.split() == str(there).split()
    page = Page(here._repr_html_())
    assert "goodput (Mbit/s)" in " ".join(page.text)
    assert page.tags.count("table") == 1
    assert here.kinds == ("run", "run")


def test_sweeps_are_compared_in_pairs() -> None:
    axes = {"path.1.delay": ["10 ms", "50 ms"]}
    lossy = SMALL.set("path.0.loss", "1 %")
    first, second = (ab.sweep(lossy.set("connection.controller", name), axes, seeds=4) for name in ("cubic", "coupled"))
    found = ab.compare(first, second, measure="completion_s")
    assert list(found.frame.columns) == [
        *("path.1.delay", "n", "first", "second", "difference", "low", "high", "p", "p_holm", "identical"),
    ]
    assert found.frame["difference"].tolist() == pytest.approx((found.frame["second"] - found.frame["first"]).tolist())
    for i, delay in enumerate(axes["path.1.delay"]):
        cells = [swept.runs[swept.runs["path.1.delay"] == delay].set_index("seed") for swept in (first, second)]
        apart = cells[1]["completion_s"] - cells[0]["completion_s"]
        assert found.frame["difference"][i] == pytest.approx(float(apart.mean()))
    assert "completion_s; differences are second minus first, in pairs of runs with the same seed" in str(found)
    assert Page(found._repr_html_()).tags.count("table") == 1
    with pytest.raises(MeasureError):
        ab.compare(first, second, measure="no such thing")


def test_results_of_other_kinds_are_not_compared() -> None:
    with pytest.raises(ab.ResultError, match="first is a run, second is a sweep"):
        ab.compare(SMALL.run(), ab.sweep(SMALL, {"mss": [700]}, seeds=1))
    with pytest.raises(MeasureError, match="a measure is for two sweeps"):
        ab.compare(SMALL.run(), SMALL.run(), measure="goodput_mbps")


def test_a_study_comes_as_tables_figures_and_sentences(tmp_path: Path) -> None:
    found = ab.study("simult-flows", quick=True, out=tmp_path / "flows")
    assert found.report == tmp_path / "flows" / "report.html"
    assert found.report.exists()
    assert found.sentences
    assert str(found) == "\n\n".join(found.sentences)
    # A table and a figure have the same name.
    assert (list(found.tables), list(found.figures)) == (["times"], ["times"])
    frame = found.tables["times"]
    assert len(frame) == len((tmp_path / "flows/tables/times.csv").read_text(encoding="utf-8").splitlines()) - 1
    assert all(isinstance(sweep, ab.Sweep) for sweep in found.sweeps.values())
    page = Page(found._repr_html_())
    assert found.study.title in " ".join(page.text)
    assert all(source.startswith("data:image/svg+xml") for source in page.loads)
    assert len(page.loads) == len(found.figures)


def test_a_part_of_a_study_needs_no_folder() -> None:
    found = ab.study("simult-flows", quick=True, only=["times"])
    folder = found.folder
    assert (list(found.tables), list(found.figures)) == (["times"], ["times"])
    assert (found.report, found.sentences) == (None, [])
    assert len(found.sweeps["cases"].runs) == 20
    del found
    assert not folder.exists()


def test_a_study_that_is_none_names_those_there_are() -> None:
    with pytest.raises(ab.StudyError, match=r"unknown study 'alheid'.*; studies: alheid-2014-aina"):
        ab.study("alheid")
    with pytest.raises(ab.StudyError, match=r"'fig-99' is not a part of schedulers"):
        ab.study("schedulers", only=["fig-99"])
