"""Figures 4 to 14, each with a panel per column of the tables."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anabranch.plots import style
from anabranch.study.aina2014.names import (
    CASES,
    CEILING,
    CHANGES,
    CONTROLLERS,
    DELAYS,
    MODELS,
    OPTIMUM,
    RECOVERIES,
    TABLE_DELAY,
    printed,
)
from anabranch.study.base import Data, FigureSpec

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH = 10.0
_SMALL = 8
_POINTS = 700
"""Of a line over time; more than the panel has dots."""
_SUBFLOWS = ("SF-0", "SF-1")
_SECOND = "#8C8C8C"
"""SF-1 beside an algorithm's colour."""
_LINES = ("optimum", "goodput ceiling", "TCP over SF-1")
"""Baselines, last in a legend."""
_SHARED = "#0072B2", "#D55E00"


def _panels(figure: "Figure", rows: int, columns: int, height: float) -> "list[list[Axes]]":
    figure.set_size_inches(_WIDTH, height)
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for ax in grid.flat:
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(axis="y", color=style.GRID, linewidth=0.8)
        ax.set_axisbelow(True)
        ax.tick_params(labelsize=_SMALL)
    return [list(row) for row in grid]


def _legend(figure: "Figure", ax: "Axes", columns: int = 8) -> None:
    named = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    last = [name for name in _LINES if name in named]
    labels = [name for name in named if name not in last] + last
    figure.legend(
        [named[name] for name in labels],
        labels,
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        fontsize=_SMALL + 1,
    )


def _absent(ax: "Axes", text: str = "no numbers in the paper") -> None:
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", fontsize=_SMALL, color="#666666")


def _titles(axes: "Iterable[Axes]", names: Iterable[str]) -> None:
    for ax, name in zip(axes, names, strict=True):
        ax.set_title(name, fontsize=10, fontweight="bold", loc="left")


def _draw_cases(data: Data, figure: "Figure") -> None:
    grid = _panels(figure, len(CASES), len(MODELS), 7.6)
    _titles(grid[0], MODELS.values())
    for row, (label, changes, stated) in zip(grid, CASES.values(), strict=True):
        for ax, model in zip(row, MODELS, strict=True):
            series = _rates(data, {**changes, "connection.controller": "rtt-compensator", **CHANGES[model]})
            for s, (t, rate) in enumerate(series):
                ax.plot(t, rate, color=_SHARED[s], linewidth=1.1, label=_SUBFLOWS[s])
            if series:
                total = sum(rate for _, rate in series)
                ax.plot(series[0][0], total, color="black", linewidth=1.1, label="MPTCP")
            else:
                _absent(ax, "not run")
            ax.axhline(
                stated, color="#999999", linestyle=(0, (4, 2)), linewidth=1.2, label="MPTCP, as the paper states"
            )
            ax.set_ylim(0, 1.08)
        row[0].set_ylabel(f"{label}\nthroughput (Mbit/s)", fontsize=_SMALL + 1)
    _finish_times(grid)
    _legend(figure, next((ax for row in grid for ax in row if len(ax.lines) > 1), grid[0][0]))


def _finish_times(grid: "Sequence[Sequence[Axes]]") -> None:
    """The time axis, once all lines are drawn: the panels share it."""
    grid[0][0].set_xlim(left=0)
    for ax in grid[-1]:
        ax.set_xlabel("time (s)", fontsize=_SMALL + 1)


def _rates(data: Data, changes: Mapping[str, Any]) -> "list[tuple[Any, Any]]":
    from anabranch import ScenarioError
    from anabranch.series import by_subflow, throughput

    try:
        frame = data.trace(changes).subflows
    except ScenarioError:
        return []
    table = throughput(frame, 20.0)
    rows = [(r["t"].to_numpy()[:-1], r["throughput"].to_numpy()[:-1] / 1e6) for _, _, r in by_subflow(table)]
    return rows[:2]


def _draw_windows(recovery: str) -> "Callable[[Data, Figure], None]":
    def draw(data: Data, figure: "Figure") -> None:
        grid = _panels(figure, len(CONTROLLERS), len(MODELS), 6.4)
        _titles(grid[0], MODELS.values())
        for row, (controller, label) in zip(grid, CONTROLLERS.items(), strict=True):
            for ax, model in zip(row, MODELS, strict=True):
                _windows(data, ax, controller, recovery, model)
            row[0].set_ylabel(f"{label}\ncwnd (segments)", fontsize=_SMALL + 1)
        grid[0][0].set_ylim(bottom=0)
        _finish_times(grid)
        _legend(figure, next((ax for row in grid for ax in row if ax.lines), grid[0][0]))

    return draw


def _windows(data: Data, ax: "Axes", controller: str, recovery: str, model: str) -> None:
    from anabranch import ScenarioError
    from anabranch.series import by_subflow

    changes = {"path.1.delay": TABLE_DELAY, "connection.controller": controller, "connection.recovery": recovery}
    try:
        frame = data.trace(changes | CHANGES[model]).subflows
    except ScenarioError:
        _absent(ax, "not run")
        return
    colours = style.ALGORITHMS[recovery], _SECOND
    for _, s, rows in list(by_subflow(frame))[:2]:
        step = max(1, len(rows) // _POINTS)
        ax.plot(
            rows["t"].to_numpy()[::step],
            rows["cwnd"].to_numpy()[::step] / 1400,
            color=colours[s],
            linewidth=1.0,
            label=f"{RECOVERIES[recovery]}, {_SUBFLOWS[s]}",
            zorder=2 + (s == 0),
        )


def _draw_densities(
    sweep: str, lines: Mapping[str, str], axis: str, fixed: Mapping[str, str], last: int, *, wide: bool
) -> "Callable[[Data, Figure], None]":
    def draw(data: Data, figure: "Figure") -> None:
        ((*axes,),) = _panels(figure, 1, len(MODELS), 3.4)
        _titles(axes, MODELS.values())
        table = data.sweeps[sweep].distribution("rbd")
        for name, value in fixed.items():
            table = table[table[name] == value]
        for ax, model in zip(axes, MODELS, strict=True):
            for name, label in lines.items():
                rows = table[(table["model"] == model) & (table[axis] == name)]
                if not len(rows):
                    continue
                seeds = rows["seed"].nunique()
                share = rows.groupby("value")["share"].sum() / seeds
                share = share[share.index <= last]
                ax.plot(
                    share.index.to_numpy(),
                    share.to_numpy(),
                    color=style.ALGORITHMS[name],
                    marker=None if wide else style.MARKERS[name],
                    markersize=4,
                    linewidth=1.2,
                    label=label,
                )
            if not ax.lines:
                _absent(ax, "not measured")
            ax.set_xlabel("packets in the reordering buffer", fontsize=_SMALL + 1)
            if wide:
                ax.set_xscale("symlog", linthresh=1, linscale=0.5)
                ax.set_yscale("log")
                ax.set_ylim(1e-4, 1)
                ax.set_xlim(0, last)
                ticks = [0, 1, 10, 100, last]
                ax.set_xticks(ticks, [str(tick) for tick in ticks])
        if not wide:
            axes[0].set_ylim(bottom=0)
        axes[0].set_ylabel("share of arrivals", fontsize=_SMALL + 1)
        _legend(figure, next((ax for ax in axes if ax.lines), axes[0]))

    return draw


def _draw_throughput(data: Data, figure: "Figure") -> None:
    ((*axes,),) = _panels(figure, 1, 4, 3.6)
    _titles(axes, ["Paper", *MODELS.values()])
    width = 0.8 / len(RECOVERIES)
    for ax, model in zip(axes, ["paper", *MODELS], strict=True):
        for r, (recovery, label) in enumerate(RECOVERIES.items()):
            means = [_throughput(data, model, controller, recovery) for controller in CONTROLLERS]
            xs = [c + (r - 2) * width for c in range(len(CONTROLLERS))]
            errors = [0.0 if math.isnan(high) else high - mean for mean, high in means]
            ax.bar(
                xs,
                [0.0 if math.isnan(mean) else mean for mean, _ in means],
                width * 0.92,
                yerr=errors if any(errors) else None,
                error_kw={"elinewidth": 0.9, "ecolor": "#555555"},
                color=style.ALGORITHMS[recovery],
                label=label,
            )
        if all(math.isnan(_throughput(data, model, c, r)[0]) for c in CONTROLLERS for r in RECOVERIES):
            _absent(ax, "not run")
        tcp = data.mean("single-path", "goodput_mbps", delay=TABLE_DELAY).mean
        ax.set_xlim(-0.6, len(CONTROLLERS) - 0.4)
        _baselines(ax, ax.get_xlim(), [tcp, tcp])
        ax.set_xticks(range(len(CONTROLLERS)), [label.replace(" ", "\n") for label in CONTROLLERS.values()])
        ax.set_ylim(0, 1.08)
    axes[0].set_ylabel("throughput (Mbit/s)", fontsize=_SMALL + 1)
    _legend(figure, axes[0])


def _throughput(data: Data, model: str, controller: str, recovery: str) -> tuple[float, float]:
    if model == "paper":
        return printed(controller, recovery, "aggregate_mbps"), math.nan
    mean = data.mean("tables", "goodput_mbps", controller=controller, recovery=recovery, model=model)
    return mean.mean, mean.high


def _baselines(ax: "Axes", at: Sequence[float], tcp: Sequence[float]) -> None:
    """The optimum, the ceiling, and plain TCP over SF-1: `tcp` at the places `at`."""
    look: dict[str, Any] = {"color": "#555555", "linewidth": 0.9, "zorder": 1}
    ax.axhline(OPTIMUM, label=_LINES[0], **look)
    ax.axhline(CEILING, linestyle="dotted", label=_LINES[1], **look)
    ax.plot(at, tcp, linestyle="dashed", label=_LINES[2], **look)


def _draw_delays(controller: str) -> "Callable[[Data, Figure], None]":
    def draw(data: Data, figure: "Figure") -> None:
        ((*axes,),) = _panels(figure, 1, 4, 3.6)
        _titles(axes, ["Paper", *MODELS.values()])
        differences = [int(delay.split()[0]) - 10 for delay in DELAYS]
        for ax, model in zip(axes, ["paper", *MODELS], strict=True):
            for recovery, label in RECOVERIES.items():
                look: dict[str, Any] = {
                    "color": style.ALGORITHMS[recovery],
                    "marker": style.MARKERS[recovery],
                    "markersize": 4.5,
                }
                if model == "paper":
                    ax.plot([190], [printed(controller, recovery, "aggregate_mbps")], linestyle="", label=label, **look)
                    continue
                cell: dict[str, Any] = {"controller": controller, "recovery": recovery, "model": model}
                means = [data.mean("delays", "goodput_mbps", **cell, delay=delay) for delay in DELAYS]
                ax.plot(differences, [mean.mean for mean in means], linewidth=1.2, label=label, **look)
                if not math.isnan(means[0].low):
                    low, high = [mean.low for mean in means], [mean.high for mean in means]
                    ax.fill_between(differences, low, high, color=look["color"], alpha=0.15, linewidth=0)
            if model == "paper":
                ax.text(
                    205, 0.08, "Table II, at 190 ms;\nthe rest without numbers", fontsize=_SMALL - 1, color="#666666"
                )
            tcp = [data.mean("single-path", "goodput_mbps", delay=delay).mean for delay in DELAYS]
            _baselines(ax, differences, tcp)
            ax.set_ylim(0, 1.08)
            ax.set_xlim(-15, 515)
            ax.set_xlabel("delay difference (ms)", fontsize=_SMALL + 1)
        axes[0].set_ylabel("throughput (Mbit/s)", fontsize=_SMALL + 1)
        _legend(figure, axes[1])

    return draw


def _windows_of(number: int, recovery: str) -> FigureSpec:
    return FigureSpec(
        f"Fig. {number}: congestion windows with {RECOVERIES[recovery]}",
        f"One run (seed 1), SF-1 at {TABLE_DELAY}. The paper shows its traces without numbers.",
        (),
        _draw_windows(recovery),
    )


def _delays_of(number: int, controller: str) -> FigureSpec:
    return FigureSpec(
        f"Fig. {number}: throughput over the difference of the delays, {CONTROLLERS[controller]}",
        "SF-0 has 10 ms, SF-1 more. Bands: 95 % interval of the mean. Of the paper, Table II is drawn, which has a "
        "difference of 190 ms.",
        ("delays", "single-path"),
        _draw_delays(controller),
        full=True,
    )


FIGURES: Mapping[str, FigureSpec] = {
    "fig-4": FigureSpec(
        "Fig. 4: throughput without recovery, in four cases",
        "Coupled controller (rtt-compensator), one run (seed 1), means over 20 s. Dashed: what the paper's text "
        "states. All controllers are in the table “Four cases without recovery”.",
        (),
        _draw_cases,
    ),
    "fig-5": FigureSpec(
        "Fig. 5: reorder buffer-occupancy density without recovery, 0 to 10 packets",
        "RBD: share of the non-duplicate packets after whose arrival the reordering buffer held so many. SF-1 at 200 "
        "ms. The paper's figure has no numbers; its text says “very low”.",
        ("nopr",),
        _draw_densities("nopr", CONTROLLERS, "controller", {"case": "unlike-fluctuating"}, 10, wide=False),
    ),
    "fig-6": _windows_of(6, "dsack"),
    "fig-7": _windows_of(7, "eifel"),
    "fig-8": _windows_of(8, "door"),
    "fig-9": _windows_of(9, "frto"),
    "fig-10": FigureSpec(
        "Fig. 10: throughput with and without recovery",
        f"SF-1 at {TABLE_DELAY}. Whiskers: 95 % interval of the mean. Optimum: both links' rates; ceiling: the "
        "payload's part of it.",
        ("tables", "single-path"),
        _draw_throughput,
    ),
    "fig-11": FigureSpec(
        "Fig. 11: reorder buffer-occupancy density of all recoveries, Coupled",
        f"Controller rtt-compensator, SF-1 at {TABLE_DELAY}; both scales logarithmic, the last value with all above "
        "it. The paper's figure has no numbers.",
        ("tables",),
        _draw_densities("tables", RECOVERIES, "recovery", {"controller": "rtt-compensator"}, 511, wide=True),
    ),
    "fig-12": _delays_of(12, "uncoupled"),
    "fig-13": _delays_of(13, "fully-coupled"),
    "fig-14": _delays_of(14, "rtt-compensator"),
}
