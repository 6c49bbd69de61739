"""Figures fit for a paper: fonts that publishers take, their sizes, aligned axes of time, and what happened marked."""

import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import anabranch as ab
from anabranch import plots
from anabranch.measures import series
from anabranch.measures.timeline import Mark, marks_of
from anabranch.plots import style
from anabranch.plots.size import LookError, inches
from helpers import Command

#  0 s               2 s                4 s
#  |  data, no loss  |  path 0 is down  |  data on both again
OUTAGE = """
duration = "8 s"
[transfer]
duration = "8 s"
[[path]]
rate = "4 Mbit/s"
delay = "20 ms"
queue = "1000 packets"
changes = [{ at = "2 s", state = "down" }, { at = "4 s", state = "up" }]
[[path]]
rate = "4 Mbit/s"
delay = "40 ms"
"""
POINTS = {"88 mm": 88 / 25.4 * 72, "60 mm": 60 / 25.4 * 72}


@pytest.fixture(scope="module")
def outage() -> ab.Run:
    return ab.Scenario.from_toml(OUTAGE).run()


@pytest.fixture(autouse=True)
def _closed() -> None:
    plt.close("all")


def fonts(pdf: bytes) -> set[bytes]:
    return set(re.findall(rb"/Subtype /(Type3|Type0|TrueType|CIDFontType2|Type1)\b", pdf))


def page(pdf: bytes) -> tuple[float, float]:
    found = re.search(rb"/MediaBox \[ 0 0 ([0-9.]+) ([0-9.]+) \]", pdf)
    assert found is not None
    return float(found[1]), float(found[2])


@pytest.mark.parametrize("name", list(plots.FIGURES))
def test_fonts_in_a_pdf_are_truetype_and_none_is_type_3(finished: ab.Run, name: str) -> None:
    found = fonts(plots.image(finished, name, "pdf"))
    assert b"Type3" not in found
    assert found & {b"TrueType", b"CIDFontType2"}


def test_what_python_saves_has_truetype_fonts_too(finished: ab.Run, tmp_path: Path) -> None:
    plots.save(finished.plot.cwnd(width="88 mm", height="60 mm", title=False), tmp_path / "window.pdf")
    pdf = (tmp_path / "window.pdf").read_bytes()
    assert b"Type3" not in fonts(pdf)
    assert page(pdf) == pytest.approx((POINTS["88 mm"], POINTS["60 mm"]), abs=0.1)
    with pytest.raises(ValueError, match=r"\.svg, \.png, \.pdf"):
        plots.save(finished.plot.cwnd(), tmp_path / "window.bmp")


def test_a_figure_has_the_size_of_the_column_and_no_title(command: Command, result: Path, tmp_path: Path) -> None:
    small = ("--width", "88 mm", "--height", "60 mm", "--no-title")
    before = (result / "report.html").read_bytes()
    done = command("plot", result, "--format", "pdf", *small, "--out", tmp_path / "paper")
    assert (done.status, done.err) == (0, "")
    made = sorted(tmp_path.glob("paper/*.pdf"))
    assert [file.stem for file in made] == sorted(plots.FIGURES)
    for file in made:
        assert page(file.read_bytes()) == pytest.approx((POINTS["88 mm"], POINTS["60 mm"]), abs=0.1)
    assert command("plot", result, "--figure", "cwnd", *small).status == 0
    svg = (result / "cwnd.svg").read_text(encoding="utf-8")
    assert "<!-- congestion window (kB) -->" in svg
    assert "<!-- Congestion window -->" not in svg
    assert svg == plots.image(ab.load(result), "cwnd", "svg", width="88 mm", height="60 mm", title=False).decode()
    assert (result / "report.html").read_bytes() == before
    assert command("plot", result, *small).status == 0
    assert (result / "report.html").read_bytes() == before


@pytest.mark.parametrize(
    ("length", "said"),
    [
        ("88", 'write "88 mm"'),
        ("88 miles", "units: mm, cm, in, pt"),
        ("", 'write "88 mm"'),
        ("-3 cm", 'write "88 mm"'),
        ("3 mm", "is not between 38 mm and 1524 mm"),
        ("88 cm 3", 'write "88 mm"'),
    ],
)
def test_a_width_that_is_none_says_how_to_write_it(command: Command, result: Path, length: str, said: str) -> None:
    done = command("plot", result, f"--width={length}")
    assert (done.status, done.out) == (2, "")
    assert said in done.err
    assert f"--width: {length!r}" in done.err
    assert "Traceback" not in done.err


def test_a_length_may_be_in_any_unit() -> None:
    assert inches("8.8 cm", "width") == pytest.approx(inches("88mm", "width")) == pytest.approx(inches(88 / 25.4, "w"))
    with pytest.raises(LookError, match=r"^height: 'tall'"):
        inches("tall", "height")


def test_a_size_belongs_to_a_new_figure(finished: ab.Run) -> None:
    with pytest.raises(LookError, match="width and height"):
        finished.plot.cwnd(Figure().subplots(), width="88 mm")


def placed(run: ab.Run, name: str, **look: str) -> tuple[float, float, tuple[float, float]]:
    figure = Figure(figsize=style.size({"width": look.get("width")}), layout="constrained")
    ax = getattr(run.plot, name)(figure.subplots())
    style.align(figure)
    figure.draw_without_rendering()
    box = ax.get_position()
    tight = ax.get_tightbbox()
    assert tight.x0 >= 0
    assert tight.x1 <= figure.bbox.x1 + 1
    return box.x0, box.x1, ax.get_xlim()


@pytest.mark.parametrize("width", ["8 in", "88 mm"])
def test_axes_of_time_align_when_figures_are_stacked(outage: ab.Run, several: ab.Run, width: str) -> None:
    for run in (outage, several):
        places = {placed(run, name, width=width) for name in plots.FIGURES}
        assert len({round(left, 6) for left, _, _ in places}) == 1
        assert len({round(right, 6) for _, right, _ in places}) == 1
        (end,) = {limits for _, _, limits in places}
        assert end == (0.0, run.subflows["t"].max())


def test_panels_that_share_time_name_it_once(outage: ab.Run) -> None:
    _, axes = plt.subplots(3, 1, sharex=True, layout="constrained")
    for ax, name in zip(axes, ("cwnd", "throughput", "srtt"), strict=True):
        getattr(outage.plot, name)(ax)
    assert [ax.get_xlabel() for ax in axes] == ["", "", "time (s)"]


@pytest.mark.parametrize("layout", ["constrained", None])
@pytest.mark.parametrize("count", [1, 3])
def test_a_legend_in_a_grid_is_not_over_a_title(
    outage: ab.Run, several: ab.Run, layout: str | None, count: int
) -> None:
    figure = plt.figure(layout=layout)
    axes: list[Axes] = list(figure.subplots(2, 2).flat)
    for ax, name in zip(axes, plots.FIGURES, strict=True):
        getattr((outage if count == 1 else several).plot, name)(ax)
    if layout is None:
        figure.tight_layout()
    figure.draw_without_rendering()
    titles = [ax._left_title.get_window_extent() for ax in axes]  # type: ignore[attr-defined]
    for ax in axes:
        legend = ax.get_legend()
        assert legend is not None
        assert not any(legend.get_window_extent().overlaps(title) for title in titles)


def bands(ax: Axes) -> list[tuple[float, float]]:
    return [(patch.get_x(), patch.get_x() + patch.get_width()) for patch in ax.patches]  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", list(plots.FIGURES))
def test_an_outage_is_marked_and_named_in_every_figure(outage: ab.Run, name: str) -> None:
    ax = getattr(outage.plot, name)(Figure().subplots())
    assert bands(ax) == [(2.0, 4.0)]
    assert [text.get_text() for text in ax.texts] == ["path 0 down"]


def test_marks_say_which_link_and_which_way() -> None:
    changes = """
        changes = [
            { at = "1 s", state = "down", direction = "up" }, { at = "2 s", state = "up" },
            { at = "3 s", state = "down" }, { at = "4 s", state = "down" }, { at = "5 s", rate = "1 Mbit/s" },
        ]"""
    text = f"""
        duration = "9 s"
        transfer = {{ bytes = "1 MB" }}
        connection = {{ path_changes = [
            {{ at = "1 s", path = 1, action = "remove" }}, {{ at = "6 s", path = 1, action = "add" }},
            {{ at = "7 s", path = 1, action = "backup" }},
        ] }}
        [[path]]
        name = "dsl"
        rate = "4 Mbit/s"
        {changes}
        [[path]]
        rate = "4 Mbit/s"
        """
    assert marks_of(ab.Scenario.from_toml(text).check()) == (
        Mark(1.0, 2.0, "dsl upstream down"),
        Mark(1.0, 6.0, "path 1 removed"),
        Mark(3.0, float("inf"), "dsl down"),
        Mark(5.0, 5.0, "dsl: 1 Mbit/s"),
        Mark(7.0, 7.0, "path 1 backup"),
    )


def test_what_would_happen_after_the_end_is_not_marked(outage: ab.Run) -> None:
    frame = outage.subflows[outage.subflows["t"] <= 3.0]
    ax = plots.cwnd(frame, Figure().subplots(), marks=outage.marks)
    assert bands(ax) == [(2.0, 3.0)]
    assert bands(plots.cwnd(frame[frame["t"] <= 1.0], Figure().subplots(), marks=outage.marks)) == []


def test_a_round_trip_time_that_is_only_remembered_is_not_drawn_as_measured(outage: ab.Run) -> None:
    frame = outage.subflows[outage.subflows["subflow"] == 0]
    ax = plots.srtt(frame, Figure().subplots())
    solid = next(line for line in ax.lines if line.get_label() == "subflow 0")
    t, drawn = np.asarray(solid.get_xdata()), np.asarray(solid.get_ydata())
    away = (t > 2.1) & (t < 3.9)
    assert away.sum() > 100
    assert np.isnan(drawn[away]).all()
    assert np.isfinite(frame["srtt"].to_numpy()[away]).all()
    held = next(line for line in ax.lines if line.get_label() == "_subflow 0")
    assert held.get_linestyle() != "-"
    assert np.isfinite(np.asarray(held.get_ydata())[away]).all()
    assert np.isfinite(drawn[(t > 0.1) & (t < 1.9)]).all()


def test_samples_of_the_round_trip_time_are_counted_and_none_comes_during_an_outage(outage: ab.Run) -> None:
    frame = outage.subflows[outage.subflows["subflow"] == 0]
    count = frame["rtt_samples"].to_numpy()
    assert (np.diff(count) >= 0).all()
    (during,) = set(frame.loc[(frame["t"] > 2.1) & (frame["t"] < 4.0), "rtt_samples"])
    # 4 Mbit/s carry 341 segments of 1466 octets a second, and every second one is acknowledged.
    assert 200 < during < 2 * 341
    assert count[-1] > during


def test_old_results_without_the_count_are_drawn_as_they_were(outage: ab.Run) -> None:
    frame = outage.subflows.drop(columns="rtt_samples")
    ax = plots.srtt(frame, Figure().subplots())
    assert len(ax.lines) == 2
    assert not series.unmeasured(pd.DataFrame({"t": [], "srtt": [], "rtt_samples": []})).any()
