"""Figures of sweeps, their files, and the report of a sweep."""

import re
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import anabranch as ab
from anabranch.plots import axis
from anabranch.sweeps import figures, plots, report, time
from anabranch.sweeps.document import read
from anabranch.sweeps.plan import Axes
from helpers import Command, Page, without_figures

#  2 controllers x 3 delays x 4 seeds; path 0 loses 1 %, so that seeds differ
BASE = ab.Scenario.two_path("5 Mbit/s, 40 ms, loss 1 %", "2 Mbit/s, 10 ms", transfer="500 kB")
AXES = {"controller": ["uncoupled", "cubic"], "path.1.delay": ["10 ms", "100 ms", "1 s"]}


@pytest.fixture(scope="module")
def swept() -> ab.Sweep:
    return ab.sweep(BASE, AXES, seeds=4, series=50)


@pytest.fixture(autouse=True)
def _closed() -> None:
    plt.close("all")


@pytest.fixture
def folder(here: Path) -> Path:
    (here / "base.toml").write_text(BASE.toml, encoding="utf-8")
    text = 'scenario = "base.toml"\nseeds = 4\nseries = 50\n[axes]\n'
    text += "".join(f'"{name}" = {values}\n' for name, values in AXES.items())
    (here / "sweep.toml").write_text(text, encoding="utf-8")
    return here


def test_lines_go_through_the_means_and_bars_end_there(swept: ab.Sweep) -> None:
    means = swept.means().set_index(["controller", "path.1.delay"])
    ax = swept.plot.over("path.1.delay", Figure().subplots())
    for controller in AXES["controller"]:
        line = next(c for c in ax.containers if c.get_label() == controller)[0]
        np.testing.assert_allclose(np.asarray(line.get_ydata(), float), means.loc[controller]["mean"])
        np.testing.assert_allclose(np.asarray(line.get_xdata(), float), [0.01, 0.1, 1.0])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("path.1.delay (s)", "goodput (Mbit/s)")
    assert (
        swept.plot.over("path.1.delay", Figure().subplots(), kind="bars").get_xlabel() == "path.1.delay"
    )  # 10 ms, 1 s
    some = swept.plot.over("path.1.delay", Figure().subplots(), kind="bars", by="controller")
    assert [text.get_text() for text in some.get_xticklabels()] == ["10 ms", "100 ms", "1 s"]
    bars = swept.plot.over("controller", Figure().subplots(), where={"path.1.delay": "10 ms"})
    heights = [patch.get_height() for patch in bars.patches]  # type: ignore[attr-defined]
    np.testing.assert_allclose(heights, means.xs("10 ms", level=1)["mean"])


def test_intervals_are_those_of_the_means_and_lie_within_the_axes(swept: ab.Sweep) -> None:
    means = swept.means()
    ax = swept.plot.over("path.1.delay", Figure().subplots())
    ends = [segment[:, 1] for lines in ax.collections for segment in lines.get_segments()]  # type: ignore[attr-defined]
    low, high = (np.sort([end[i] for end in ends]) for i in (0, 1))
    np.testing.assert_allclose(low, np.sort(means["low"]))
    np.testing.assert_allclose(high, np.sort(means["high"]))
    assert ax.get_ylim()[1] > means["high"].max() > means["mean"].max() > 0
    left, right = ax.get_xlim()
    assert left < 0.01
    assert right > 1.0


def test_what_would_be_drawn_as_one_is_refused_with_the_remedy(swept: ab.Sweep) -> None:
    with pytest.raises(ValueError, match=r"axes neither in `by` nor in `where`: path.1.delay; name each"):
        swept.plot.over("controller", by=[])
    with pytest.raises(ValueError, match=r"no axis 'speed'; axes: controller, path.1.delay"):
        swept.plot.over("speed")
    with pytest.raises(ValueError, match=r"no value '3 ms'.*; values: 10 ms, 100 ms, 1 s"):
        swept.plot.cdf(where={"path.1.delay": "3 ms"})
    with pytest.raises(ValueError, match="no measure 'speed'; measures: "):
        swept.plot.over(measure="speed")
    with pytest.raises(ValueError, match="no measure 'speed' over time; measures: throughput, cwnd"):
        swept.plot.over_time("speed")
    with pytest.raises(ValueError, match="srtt has no sum over subflows or connections: give by="):
        swept.plot.over_time("srtt")
    without = ab.sweep(BASE, {"mss": [700]}, seeds=1)
    with pytest.raises(ValueError, match="series=200"):
        without.plot.over_time()


def test_an_axis_with_one_value_in_where_makes_no_further_lines(
    swept: ab.Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plots, "LINES", 1)
    with pytest.raises(ValueError, match="lines are too many for a figure, which has at most 1"):
        swept.plot.over("path.1.delay", by=["controller"])
    ax = swept.plot.over("path.1.delay", by=["controller"], where={"controller": AXES["controller"][0]})
    assert len(ax.lines) >= 1


def test_round_trip_times_of_several_connections_have_no_sum() -> None:
    flows = [(connection, subflow) for connection in (0, 1) for subflow in (0, 1)]
    every = pd.concat(
        pd.DataFrame({"seed": 1, "connection": c, "subflow": s, "t": [0.0, 1.0], "rto": 0.2 + 0.1 * c})
        for c, s in flows
    )
    told = "rto has no sum over subflows or connections: give by="
    refused: list[tuple[pd.DataFrame, list[str]]] = [(every, []), (every, ["subflow"]), (every, ["connection"])]
    one_each = every[every["subflow"] == 0]
    refused += [(one_each, []), (one_each, ["subflow"])]
    for series, by in refused:
        with pytest.raises(ValueError, match=told):
            time.means(series, by, "rto")
    for series, by in ((every, ["connection", "subflow"]), (one_each, ["connection"])):
        found = time.means(series, by, "rto").groupby("connection")["mean"].mean()
        np.testing.assert_allclose(found, [200.0, 300.0])


def test_a_distribution_steps_at_each_run_from_none_to_all(swept: ab.Sweep) -> None:
    ax = swept.plot.cdf(ax=Figure().subplots(), by="controller")
    line = next(line for line in ax.lines if line.get_label() == "cubic")
    values = np.sort(swept.runs.loc[swept.runs["controller"] == "cubic", "goodput_mbps"])
    np.testing.assert_allclose(np.asarray(line.get_xdata())[1:], values)
    assert (np.min(line.get_ydata()), np.max(line.get_ydata())) == (0.0, pytest.approx(1.0))


def test_a_distribution_of_the_buffer_counts_packets_by_their_share(swept: ab.Sweep) -> None:
    ax = swept.plot.cdf("rbd", Figure().subplots(), by="controller")
    frame = swept.distribution("rbd")
    share = frame[(frame["controller"] == "cubic") & (frame["value"] == 0)]["share"].sum() / (3 * 4)
    line = next(line for line in ax.lines if line.get_label() == "cubic")
    x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    assert y[x == 0].max() == pytest.approx(share, abs=0.01)
    assert ax.get_ylabel() == "share of packets"


def test_throughput_in_time_carries_what_was_delivered_until_the_shortest_run_ends(swept: ab.Sweep) -> None:
    where = {"path.1.delay": "10 ms", "controller": "cubic"}
    ax = swept.plot.over_time(ax=Figure().subplots(), where=where)
    (line,) = ax.lines
    t, rate = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    series = swept.series
    own = series[(series["controller"] == "cubic") & (series["path.1.delay"] == "10 ms")]
    end = own.groupby("seed")["t"].max().min()
    assert t[-1] < end
    upto = own[own["t"] <= end].groupby(["seed", "subflow"])["delivered"].max().sum() / 4
    carried = (rate * (t[1] - t[0])).sum() * 1e6 / 8
    assert carried == pytest.approx(upto, rel=0.05)
    assert rate.max() < 7.0
    assert len(ax.collections) == 1


def test_values_of_an_axis_stand_where_their_quantities_are() -> None:
    assert axis.scale(["500 us", "2 ms"]).places == (0.5, 2.0)
    assert axis.scale(["1 %", "2.5 %"]).unit == "%"
    assert not axis.scale(["10 ms", "64 kB"]).numeric
    assert not axis.scale([True, False]).numeric
    assert not axis.scale(["10 ms", "none"]).numeric
    assert axis.scale([1, 10, 100]).logarithmic
    assert not axis.scale([1, 2, 3]).logarithmic
    assert not axis.scale(["0 ms", "10 ms", "1 s"]).logarithmic


def test_axes_that_are_left_over_become_panels(swept: ab.Sweep) -> None:
    cut = figures.view(swept, "controller", by=[])
    assert [dict(panel) for panel in cut.panels] == [{"path.1.delay": value} for value in AXES["path.1.delay"]]
    svg = figures.image(swept, "goodput_mbps", "svg", x="controller", by=[]).decode()
    for value in AXES["path.1.delay"]:
        assert f"<!-- path.1.delay {value} -->" in svg
    assert svg == figures.image(swept, "goodput_mbps", "svg", x="controller", by=[]).decode()


def test_a_sweep_of_many_cells_still_has_figures() -> None:
    many: Axes = {"mss": [500 + 10 * i for i in range(20)], "path.0.delay": [f"{i} ms" for i in range(1, 13)]}
    swept = ab.sweep(BASE.set("transfer.bytes", "3 kB"), many, seeds=1)
    cut = figures.view(swept)
    assert (cut.x, cut.by, len(cut.panels), cut.left_out) == ("mss", (), 9, 3)
    assert b"Type3" not in figures.image(swept, "goodput_mbps", "pdf")
    assert "3 more panels are left out" in figures.caption(swept, "goodput_mbps", cut)
    page = report.page(swept, {}, "out")
    assert Page(page).tags.count("tr") < 80
    assert "of 240" in page


def test_a_sweep_leaves_a_report_that_loads_nothing(command: Command, folder: Path) -> None:
    done = command("sweep", "sweep.toml", "--out", "my sweep")
    assert done.status == 0
    assert done.err.splitlines()[-1] == f"report   {Path('my sweep/report.html')}"
    text = Path("my sweep/report.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.loads
    assert all(load.startswith("data:image/svg+xml;base64,") for load in page.loads)
    assert not re.search(r"https?:|//cdn|@import|url\(", text)
    drawn = sorted(path.stem for path in Path("my sweep").glob("*.svg"))
    assert drawn == sorted(figures.usual(ab.Sweep.load("my sweep")))
    assert {"goodput_mbps", "completion_s", "over_time"} <= set(drawn)
    for name in drawn:
        ET.parse(Path("my sweep") / f"{name}.svg")
        assert f"anabranch plot 'my sweep' --figure {name}" in " ".join(page.text)
    before = text
    assert command("plot", "my sweep").status == 0
    assert Path("my sweep/report.html").read_text(encoding="utf-8") == before
    # The same command goes on, though there are now files that are no runs.
    with without_figures():
        assert command("sweep", "sweep.toml", "--out", "my sweep", "--seeds", "5").status == 0


@pytest.mark.parametrize(
    "axes",
    [
        AXES,
        {"receiver": {"the papers'": {"acknowledgement": "coupled"}, "standard": {"acknowledgement": "independent"}}},
        {"mss": [700, 1400], "sack": [True, False], "path.0.loss": ["0 %", "1 %"]},
    ],
)
def test_the_sweep_in_the_report_is_the_sweep_that_was_run(here: Path, axes: Axes) -> None:
    plan = ab.Plan.of(BASE.set("path.0.queue", "30 packets"), axes, seeds=[3, 5], timeout=20.0, series=7)
    (here / "scenario.toml").write_text(plan.scenario.toml, encoding="utf-8")
    (here / "sweep.toml").write_text(report.document(plan), encoding="utf-8")
    tomllib.loads(report.document(plan))
    again = read(here / "sweep.toml")
    assert [cell.sha256 for cell in again.cells] == [cell.sha256 for cell in plan.cells]
    assert (again.seeds, again.options) == (plan.seeds, plan.options)


def test_plot_draws_a_sweep_as_it_is_told(command: Command, folder: Path) -> None:
    with without_figures():
        command("sweep", "sweep.toml", "--out", "kept", "--quiet")
    small = ("--width", "88 mm", "--height", "60 mm", "--no-title", "--format", "pdf", "--out", "paper")
    assert command("plot", "kept", "--figure", "completion_s", "--over", "controller", *small).status == 0
    pdf = Path("paper/completion_s.pdf").read_bytes()
    assert b"/MediaBox [ 0 0 249.4" in pdf
    assert b"Type3" not in pdf
    for wrong, said in (
        (("--figure", "speed"), "--figure speed: no measure 'speed'"),
        (("--over", "speed"), "no axis 'speed'; axes: controller, path.1.delay"),
        (("--where", "controller"), "--where: 'controller' is not AXIS=VALUE"),
        (("--where", "controller=reno"), "controller has no value 'reno'; values: uncoupled, cubic"),
    ):
        done = command("plot", "kept", *wrong)
        assert (done.status, done.out) == (2, "")
        assert said in done.err


def test_options_of_sweeps_are_refused_for_a_result(command: Command, result: Path) -> None:
    done = command("plot", result, "--over", "controller")
    assert done.status == 2
    assert "--over: is for the figures of a sweep" in done.err


def test_a_sweep_without_axes_or_results_has_a_report(here: Path) -> None:
    alone = ab.sweep(BASE, {}, seeds=2, series=20, out="alone")
    report.write(alone, "alone")
    assert [path.stem for path in Path("alone").glob("*.svg")] == ["over_time"]
    failed = ab.sweep(BASE.set("transfer.bytes", "500 MB"), {"mss": [700, 1400]}, seeds=2, timeout=0.001, out="failed")
    assert "4 runs failed" in report.write(failed, "failed").read_text(encoding="utf-8")


def test_a_notebook_shows_a_sweep_as_a_table(swept: ab.Sweep) -> None:
    page = Page(swept._repr_html_())
    assert page.tags.count("tr") == 1 + 6
    assert "4 seeds in each cell" in " ".join(page.text)
