"""Figures 4 to 14, each with a panel per column of the tables."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anabranch.measures.table import label as axis_label
from anabranch.studies.alheid_2014_aina.names import (
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
from anabranch.studies.base import Data, FigureSpec
from anabranch.studies.panels import (
    BASELINE,
    POINTS,
    SMALL,
    absent,
    bars,
    curves,
    legend,
    logarithmic,
    look_of,
    panels,
    rates,
    titles,
)
from anabranch.sweeps.paired import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SUBFLOWS = ("SF-0", "SF-1")
_SECOND = "#8C8C8C"
"""SF-1 beside an algorithm's colour."""
_LINES = ("optimum", "goodput ceiling", "TCP over SF-1")
"""Baselines, last in a legend."""
_STATED = "MPTCP, as the paper states"
_LAST = ("MPTCP", _STATED)
_SHARED = "#0072B2", "#D55E00"


def _draw_cases(data: Data, figure: "Figure") -> None:
    grid = panels(figure, len(CASES), len(MODELS), 7.6)
    titles(grid[0], MODELS.values())
    for row, (label, changes, stated) in zip(grid, CASES.values(), strict=True):
        for ax, model in zip(row, MODELS, strict=True):
            series = rates(
                data, {**changes, "connection.controller": "rtt-compensator", **CHANGES[model]}, interval=20.0
            )
            for s, (t, rate) in enumerate(series):
                ax.plot(t, rate, color=_SHARED[s], linewidth=1.1, label=_SUBFLOWS[s])
            if series:
                total = sum(rate for _, rate in series)
                ax.plot(series[0][0], total, color="black", linewidth=1.1, label="MPTCP")
            else:
                absent(ax, "not run")
            ax.axhline(stated, color="#999999", linestyle=(0, (4, 2)), linewidth=1.2, label=_STATED)
            ax.set_ylim(0, 1.08)
        row[0].set_ylabel(f"{label}\n{axis_label('throughput')}", fontsize=SMALL + 1)
    _finish_times(grid)
    legend(figure, last=_LAST)


def _finish_times(grid: "Sequence[Sequence[Axes]]") -> None:
    """The time axis, once all lines are drawn: the panels share it."""
    grid[0][0].set_xlim(left=0)
    for ax in grid[-1]:
        ax.set_xlabel(axis_label("t"), fontsize=SMALL + 1)


def _draw_windows(recovery: str) -> "Callable[[Data, Figure], None]":
    def draw(data: Data, figure: "Figure") -> None:
        grid = panels(figure, len(CONTROLLERS), len(MODELS), 6.4)
        titles(grid[0], MODELS.values())
        for row, (controller, label) in zip(grid, CONTROLLERS.items(), strict=True):
            for ax, model in zip(row, MODELS, strict=True):
                _windows(data, ax, controller, recovery, model)
            row[0].set_ylabel(f"{label}\ncwnd (segments)", fontsize=SMALL + 1)
        grid[0][0].set_ylim(bottom=0)
        _finish_times(grid)
        legend(figure)

    return draw


def _windows(data: Data, ax: "Axes", controller: str, recovery: str, model: str) -> None:
    from anabranch.measures.series import by_subflow
    from anabranch.scenario import ScenarioError

    changes = {"path.1.delay": TABLE_DELAY, "connection.controller": controller, "connection.recovery": recovery}
    try:
        frame = data.trace(changes | CHANGES[model]).subflows
    except ScenarioError:
        absent(ax, "not run")
        return
    colours = look_of(recovery).colour, _SECOND
    for _, s, rows in list(by_subflow(frame))[:2]:
        step = max(1, len(rows) // POINTS)
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
        ((*axes,),) = panels(figure, 1, len(MODELS), 3.4)
        titles(axes, MODELS.values())
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
                    color=look_of(name).colour,
                    marker=None if wide else look_of(name).marker,
                    markersize=4,
                    linewidth=1.2,
                    label=label,
                )
            if not ax.lines:
                absent(ax, "not measured")
            ax.set_xlabel("packets in the reordering buffer", fontsize=SMALL + 1)
            if wide:
                ax.set_xscale("symlog", linthresh=1, linscale=0.5)
                logarithmic(ax)
                ax.set_ylim(1e-4, 1)
                ax.set_xlim(0, last)
                ticks = [0, 1, 10, 100, last]
                ax.set_xticks(ticks, [str(tick) for tick in ticks])
        if not wide:
            axes[0].set_ylim(bottom=0)
        axes[0].set_ylabel("share of arrivals", fontsize=SMALL + 1)
        legend(figure)

    return draw


def _draw_throughput(data: Data, figure: "Figure") -> None:
    ((*axes,),) = panels(figure, 1, 4, 3.6)
    titles(axes, ["Paper", *MODELS.values()])
    for ax, model in zip(axes, ["paper", *MODELS], strict=True):

        def value(group: int, recovery: str, model: str = model) -> Interval:
            return _throughput(data, model, list(CONTROLLERS)[group], recovery)

        bars(ax, list(CONTROLLERS.values()), RECOVERIES, value)
        if all(math.isnan(_throughput(data, model, c, r).mean) for c in CONTROLLERS for r in RECOVERIES):
            absent(ax, "not run")
        tcp = data.mean("single-path", "goodput_mbps", delay=TABLE_DELAY).mean
        _baselines(ax, ax.get_xlim(), [tcp, tcp])
        ax.set_ylim(0, 1.08)
    axes[0].set_ylabel(axis_label("throughput"), fontsize=SMALL + 1)
    legend(figure, last=_LINES)


def _throughput(data: Data, model: str, controller: str, recovery: str) -> Interval:
    if model == "paper":
        return Interval(1, printed(controller, recovery, "aggregate_mbps"), math.nan, math.nan)
    return data.mean("tables", "goodput_mbps", controller=controller, recovery=recovery, model=model)


def _baselines(ax: "Axes", at: Sequence[float], tcp: Sequence[float]) -> None:
    """The optimum, the ceiling, and plain TCP over SF-1: `tcp` at the places `at`."""
    look = BASELINE
    ax.axhline(OPTIMUM, label=_LINES[0], **look)
    ax.axhline(CEILING, linestyle="dotted", label=_LINES[1], **look)
    ax.plot(at, tcp, linestyle="dashed", label=_LINES[2], **look)


def _draw_delays(controller: str) -> "Callable[[Data, Figure], None]":
    def draw(data: Data, figure: "Figure") -> None:
        ((*axes,),) = panels(figure, 1, 4, 3.6)
        titles(axes, ["Paper", *MODELS.values()])
        differences = [int(delay.split()[0]) - 10 for delay in DELAYS]
        for ax, model in zip(axes, ["paper", *MODELS], strict=True):
            if model == "paper":
                for recovery, label in RECOVERIES.items():
                    look: dict[str, Any] = {
                        "color": look_of(recovery).colour,
                        "marker": look_of(recovery).marker,
                        "markersize": 4.5,
                    }
                    rate = printed(controller, recovery, "aggregate_mbps")
                    ax.plot([190], [rate], linestyle="", label=label, **look)
                ax.text(
                    205, 0.08, "Table II, at 190 ms;\nthe rest without numbers", fontsize=SMALL - 1, color="#666666"
                )
            else:

                def value(at: float, recovery: str, model: str = model) -> Interval:
                    cell: dict[str, Any] = {"controller": controller, "recovery": recovery, "model": model}
                    return data.mean("delays", "goodput_mbps", **cell, delay=f"{at + 10:.0f} ms")

                curves(ax, differences, RECOVERIES, value)
            tcp = [data.mean("single-path", "goodput_mbps", delay=delay).mean for delay in DELAYS]
            _baselines(ax, differences, tcp)
            ax.set_ylim(0, 1.08)
            ax.set_xlim(-15, 515)
            ax.set_xlabel("delay difference (ms)", fontsize=SMALL + 1)
        axes[0].set_ylabel(axis_label("throughput"), fontsize=SMALL + 1)
        legend(figure, last=_LINES)

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
        "SF-0 has a delay of 10 ms, SF-1 a larger one. Bands: 95 % interval of the mean. The paper's points are from "
        "its Table II, with a difference of 190 ms.",
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
        "RBD: share of the non-duplicate packets after whose arrival the reordering buffer held this number of "
        "packets. SF-1 at 200 ms. The paper's figure has no numbers; its text says “very low”.",
        ("nopr",),
        _draw_densities("nopr", CONTROLLERS, "controller", {"case": "unlike-fluctuating"}, 10, wide=False),
    ),
    "fig-6": _windows_of(6, "dsack"),
    "fig-7": _windows_of(7, "eifel"),
    "fig-8": _windows_of(8, "door"),
    "fig-9": _windows_of(9, "frto"),
    "fig-10": FigureSpec(
        "Fig. 10: throughput with and without recovery",
        f"SF-1 at {TABLE_DELAY}. Whiskers: 95 % interval of the mean. Optimum: the rate of both links; ceiling: the "
        "payload's part of this rate.",
        ("tables", "single-path"),
        _draw_throughput,
    ),
    "fig-11": FigureSpec(
        "Fig. 11: reorder buffer-occupancy density of all recoveries, Coupled",
        f"Controller rtt-compensator, SF-1 at {TABLE_DELAY}; both scales logarithmic; the last value includes all "
        "larger ones. The paper's figure has no numbers.",
        ("tables",),
        _draw_densities("tables", RECOVERIES, "recovery", {"controller": "rtt-compensator"}, 511, wide=True),
    ),
    "fig-12": _delays_of(12, "uncoupled"),
    "fig-13": _delays_of(13, "fully-coupled"),
    "fig-14": _delays_of(14, "rtt-compensator"),
}
