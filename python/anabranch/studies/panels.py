"""Figures of studies: a panel per column of the tables, one legend below."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anabranch.plots import legends, style, ticks
from anabranch.plots.algorithms import ALGORITHMS, Appearance

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from anabranch.studies.base import Data
    from anabranch.sweeps.paired import Interval

WIDTH = 10.0
SMALL = 8
POINTS = 700
"""Of a line over time; more than the panel has dots."""
BASELINE: dict[str, Any] = {"color": "#555555", "linewidth": 0.9, "zorder": 1}
"""How optimum, ceiling and single-path TCP are drawn."""


def panels(
    figure: "Figure", rows: int, columns: int, height: float, *, sharex: bool | str = True, sharey: bool | str = True
) -> "list[list[Axes]]":
    """Axes of a figure, prepared."""
    figure.set_size_inches(WIDTH, height)
    grid = figure.subplots(rows, columns, sharex=sharex, sharey=sharey, squeeze=False)  # type: ignore[arg-type]
    for ax in grid.flat:
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(axis="y", color=style.GRID, linewidth=0.8)
        ax.set_axisbelow(True)
        ax.tick_params(labelsize=SMALL)
    return [list(row) for row in grid]


def legend(figure: "Figure", last: Sequence[str] = ()) -> None:
    """One legend below all panels, each name once; those in `last` at the end."""
    legends.shared(figure, SMALL + 1, last=last)


def look_of(name: str) -> Appearance:
    """How a judge or a controller is drawn, as in every figure."""
    return next(ALGORITHMS[kind][name] for kind in ("judge", "controller") if name in ALGORITHMS[kind])


def within(found: "Interval", least: float = 0.0, most: float = math.inf) -> "Interval":
    """A mean whose interval ends where no value can be: a rate is at least 0."""
    return found._replace(low=max(found.low, least), high=min(found.high, most)) if found.n > 1 else found


def logarithmic(ax: "Axes") -> None:
    """A logarithmic vertical axis with numbers that can be read."""
    ax.set_yscale("log")
    ticks.logarithmic(ax.yaxis)


def absent(ax: "Axes", text: str = "no numbers in the paper") -> None:
    """Say that a panel is empty, and why."""
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", fontsize=SMALL, color="#666666")


def titles(axes: "Iterable[Axes]", names: Iterable[str]) -> None:
    """Titles over the panels."""
    for ax, name in zip(axes, names, strict=True):
        ax.set_title(name, fontsize=10, fontweight="bold", loc="left")


def bars(
    ax: "Axes",
    groups: Sequence[str],
    lines: Mapping[str, str],
    value: "Callable[[int, str], Interval]",
) -> None:
    """Groups of bars, one bar in each for each algorithm of `lines`; `value` of a group's index and an algorithm."""
    width = 0.8 / len(lines)
    for i, (name, label) in enumerate(lines.items()):
        found = [within(value(g, name)) for g in range(len(groups))]
        errors = [[abs(end - one.mean) for one, end in zip(found, ends, strict=True)] for ends in _ends(found)]
        ax.bar(
            [g + (i - (len(lines) - 1) / 2) * width for g in range(len(groups))],
            [0.0 if math.isnan(one.mean) else one.mean for one in found],
            width * 0.92,
            yerr=None if all(map(math.isnan, errors[0])) else errors,
            error_kw={"elinewidth": 0.9, "ecolor": "#555555"},
            label=label,
            **look_of(name).bar(),
        )
    ax.set_xlim(-0.6, len(groups) - 0.4)
    ax.tick_params(axis="x", labelsize=SMALL - 1)
    ticks.named(ax, range(len(groups)), [*groups])


def _ends(found: "Sequence[Interval]") -> tuple[list[float], list[float]]:
    """Lower and upper ends of intervals."""
    return [one.low for one in found], [one.high for one in found]


def curves(
    ax: "Axes",
    at: Sequence[float],
    lines: Mapping[str, str],
    value: "Callable[[float, str], Interval]",
) -> None:
    """A line with its 95 % band for each algorithm of `lines`; `value` of a place and an algorithm."""
    for name, label in lines.items():
        found = [within(value(x, name)) for x in at]
        colour, marker = look_of(name).colour, look_of(name).marker
        ax.plot(
            at, [one.mean for one in found], color=colour, marker=marker, markersize=4.5, linewidth=1.2, label=label
        )
        low, high = _ends(found)
        if not all(map(math.isnan, low)):
            ax.fill_between(at, low, high, color=colour, alpha=0.15, linewidth=0)


def boxes(ax: "Axes", values: Mapping[str, Sequence[float]], lines: Mapping[str, str]) -> None:
    """A box from quartile to quartile with the median, whiskers to the extremes; grey what is not of `lines`."""
    drawn = ax.boxplot(list(values.values()), widths=0.62, whis=(0, 100), patch_artist=True)
    for box, middle, name in zip(drawn["boxes"], drawn["medians"], values, strict=True):
        look = look_of(name) if name in lines else Appearance("#B8B8B8")
        middle.set_color("#FFFFFF" if name in lines else "#333333")
        box.set(facecolor=look.colour, hatch=look.hatch, edgecolor="#333333", linewidth=0.8)
    labels = [lines.get(name, name).replace("TCP-DOOR", "DOOR") for name in values]
    ax.tick_params(axis="x", labelsize=SMALL - 1)
    ticks.named(ax, range(1, len(values) + 1), labels)


def rates(data: "Data", changes: Mapping[str, Any], interval: float, scenario: str = "") -> "list[tuple[Any, Any]]":
    """Times and delivered rates (Mbit/s) of each subflow of one run; nothing if the scenario is refused."""
    from anabranch.measures.series import by_subflow, throughput
    from anabranch.scenario import ScenarioError

    try:
        frame = data.trace(changes, scenario).subflows
    except ScenarioError:
        return []
    table = throughput(frame, interval)
    return [(r["t"].to_numpy()[:-1], r["throughput"].to_numpy()[:-1] / 1e6) for _, _, r in by_subflow(table)]


def estimate(data: "Data", changes: Mapping[str, Any], interval: float) -> "tuple[Any, Any]":
    """Times and the sum over the subflows of window / smoothed round-trip time (Mbit/s), means over `interval`."""
    frame = data.trace(changes).subflows
    rate = (8e-6 * frame["cwnd"] / frame["srtt"]).fillna(0.0)
    total = rate.groupby(frame["t"]).sum()
    bins = total.groupby((total.index // interval).astype(int)).mean()
    return (bins.index.to_numpy() + 0.5) * interval, bins.to_numpy()
