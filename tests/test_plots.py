"""Figures: labelled, with units, and the same colour for the same subflow everywhere."""

import xml.etree.ElementTree as ET
from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import Collection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import anabranch as ab
from anabranch import plots
from anabranch.measures import series
from anabranch.plots import style
from anabranch.plots.algorithms import PALETTE


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


def colours(ax: Axes) -> dict[str, str]:
    handles, names = ax.get_legend_handles_labels()
    found = {}
    for handle, name in zip(handles, names, strict=True):
        if isinstance(handle, Line2D):
            found[name] = to_hex(handle.get_color()).upper()
        else:
            assert isinstance(handle, Collection)
            found[name] = to_hex(np.asarray(handle.get_facecolor())[0]).upper()
    return found


@pytest.mark.parametrize("name", list(plots.FIGURES))
def test_axes_have_names_and_units(finished: ab.Run, name: str) -> None:
    ax = getattr(finished.plot, name)()
    assert ax.get_xlabel() == "time (s)"
    assert any(unit in ax.get_ylabel() for unit in ("kB", "Mbit/s", "packets", "ms"))
    assert ax.get_title(loc="left")


@pytest.mark.parametrize("name", list(plots.FIGURES))
def test_a_subflow_has_the_same_colour_in_every_figure(finished: ab.Run, name: str) -> None:
    shown = colours(getattr(finished.plot, name)())
    assert shown["path 0: 5 Mbit/s, 100 ms"] == PALETTE[0]
    assert shown["path 1: 2 Mbit/s, 10 ms"] == PALETTE[1]


def test_a_subflow_keeps_its_colour_when_shown_alone(finished: ab.Run) -> None:
    frame = finished.subflows
    alone = plots.cwnd(frame[frame["subflow"] == 1], Figure().subplots())
    assert to_hex(alone.lines[0].get_color()).upper() == PALETTE[1]


def test_figures_draw_into_the_axes_they_are_given(finished: ab.Run) -> None:
    ax = Figure().subplots()
    assert finished.plot.cwnd(ax) is ax
    assert len(ax.lines) == 2
    assert plt.get_fignums() == []


def test_the_window_is_drawn_as_it_is_in_the_frame(finished: ab.Run) -> None:
    frame = finished.subflows
    ax = plots.cwnd(frame, Figure().subplots())
    expected = frame.loc[frame["subflow"] == 0, "cwnd"].to_numpy() / 1000
    np.testing.assert_allclose(np.asarray(ax.lines[0].get_ydata(), dtype=float), expected)


def test_throughput_integrates_to_what_was_delivered(finished: ab.Run) -> None:
    frame = finished.subflows
    rates = series.throughput(frame, interval=0.1)
    end = frame["t"].max()
    width = np.where(rates["t"] + 0.05 > end + 1e-9, 2 * (end - rates["t"]), 0.1)
    total = (rates["throughput"] * width).sum() / 8
    assert total == pytest.approx(frame.groupby("subflow")["delivered"].max().sum(), rel=1e-6)


def test_throughput_stays_below_the_rate_of_the_path(finished: ab.Run) -> None:
    rates = series.throughput(finished.subflows, interval=0.5)
    top = rates.groupby("subflow")["throughput"].max()
    assert top[0] <= 5e6
    assert top[1] <= 2e6


def test_the_stack_reaches_what_the_buffer_holds(finished: ab.Run) -> None:
    ax = plots.ooo_buffer(finished.subflows, Figure().subplots())
    top = max(np.asarray(path.vertices)[:, 1].max() for area in ax.collections for path in area.get_paths())
    assert top == finished.subflows.groupby("t")["ooo_buffer"].sum().max()


def test_a_buffer_at_more_times_than_a_figure_shows_keeps_its_peak() -> None:
    held = np.arange(30_001) * 7919 % 1000
    held[12_345] = 5000
    frame = pd.DataFrame({"t": np.arange(30_001) * 1e-3, "connection": 0, "subflow": 0, "ooo_buffer": held})
    ax = plots.ooo_buffer(frame, Figure().subplots())
    (area,) = ax.collections
    corners = np.asarray(area.get_paths()[0].vertices)
    assert corners.max() == 5000
    assert len(corners) < 10_000


@pytest.mark.parametrize("name", list(plots.FIGURES))
def test_several_connections_differ_by_line_and_colour(several: ab.Run, name: str) -> None:
    ax = getattr(several.plot, name)(Figure().subplots())
    named = [line for line in ax.lines if line.get_label() != "total" and not str(line.get_label()).startswith("_")]
    looks = {(line.get_color(), line.get_linestyle()) for line in named}
    assert len(looks) == 3


@pytest.mark.parametrize("name", list(plots.FIGURES))
@pytest.mark.parametrize("count", [1, 2])
def test_the_legend_covers_neither_title_nor_axes_and_fits(
    finished: ab.Run, several: ab.Run, name: str, count: int
) -> None:
    figure = Figure(figsize=style.SIZE, layout="constrained")
    ax = getattr((finished if count == 1 else several).plot, name)(figure.subplots())
    figure.draw_without_rendering()
    legend = ax.get_legend()
    assert legend is not None
    box = legend.get_window_extent()
    title = ax._left_title.get_window_extent()
    assert not box.overlaps(title)
    assert not box.overlaps(ax.xaxis.label.get_window_extent())
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1
    assert box.y0 >= 0
    assert ax.get_position().width > 0.8


def test_subflows_of_a_few_connections_look_different() -> None:
    looks = {(style.colour(c, s), style.line(c, s)) for c in range(6) for s in range(3)}
    assert len(looks) == 18


def test_an_empty_frame_gives_an_empty_figure(finished: ab.Run) -> None:
    empty = finished.subflows.iloc[:0]
    for figure in plots.FIGURES.values():
        assert figure.draw(empty, Figure().subplots()).get_xlabel() == "time (s)"


def test_a_picture_is_the_same_octets_each_time_and_is_svg(finished: ab.Run) -> None:
    first, second = (plots.image(finished, "cwnd", "svg") for _ in range(2))
    assert first == second
    assert ET.fromstring(first).tag == "{http://www.w3.org/2000/svg}svg"


def test_a_picture_does_not_depend_on_the_settings_of_matplotlib(finished: ab.Run) -> None:
    first = plots.image(finished, "cwnd", "svg")
    with plt.rc_context({"font.size": 30, "axes.facecolor": "red"}):
        assert plots.image(finished, "cwnd", "svg") == first


def test_neighbouring_colours_differ_in_lightness_for_those_who_see_no_hue() -> None:
    def luminance(shade: str) -> float:
        return float(np.dot(to_rgb(shade), (0.2126, 0.7152, 0.0722)))

    assert abs(luminance(PALETTE[0]) - luminance(PALETTE[1])) > 0.02
    assert len(set(PALETTE)) == len(PALETTE)


def test_an_interval_is_a_round_number() -> None:
    for end, interval in ((24.3, 0.2), (0.9, 0.01), (3600.0, 50.0), (160.0, 1.0)):
        assert series.interval_of(pd.DataFrame({"t": [0.0, end]})) == pytest.approx(interval)
