"""Figures 8 and 9, and what the paper's other figures may have shown."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anabranch.measures.table import label as axis_label
from anabranch.studies.arabi_2014_icipee.names import (
    CONTROLLERS,
    LINKS,
    RATES,
    RECOVERIES,
    RIVALS,
    STATED,
    alone,
    goodput,
    of_figure,
)
from anabranch.studies.arabi_2014_icipee.names import (
    FIGURES as PAPER,
)
from anabranch.studies.base import Data, FigureSpec
from anabranch.studies.models import MODELS
from anabranch.studies.panels import BASELINE, SMALL, bars, estimate, legend, look_of, panels, rates, titles
from anabranch.sweeps.paired import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SHOWN = 30.0
"""Seconds."""
_BIN = 0.5
_WIDTHS = (3.4, 2.6, 1.8, 1.0)
"""Lines that coincide are all seen."""
_TOP = "all links' rates"
_TCP = "TCP over the best link"
_SAID = "D-SACK, as the paper states"


def _draw_over_time(name: str) -> "Callable[[Data, Figure], None]":
    def draw(data: Data, figure: "Figure") -> None:
        grid = panels(figure, 2, len(MODELS), 5.4)
        titles(grid[0], MODELS.values())
        links, _ = PAPER[name]
        for column, model in enumerate(MODELS):
            for (recovery, label), width in zip(RECOVERIES.items(), _WIDTHS, strict=True):
                look: dict[str, Any] = {"color": look_of(recovery).colour, "linewidth": width, "label": label}
                changes = of_figure(name, recovery, model)
                series = rates(data, changes, _BIN)
                grid[0][column].plot(series[0][0], sum(rate for _, rate in series), **look)
                grid[1][column].plot(*estimate(data, changes, _BIN), **look)
            for row in grid:
                row[column].axhline(RATES[links], linestyle="dotted", label=_TOP, **BASELINE)
                if name == "fig-9":
                    dashes: dict[str, Any] = {"linestyle": (0, (4, 2)), "linewidth": 1.2}
                    row[column].axhline(STATED, color=look_of("dsack").colour, alpha=0.6, label=_SAID, **dashes)
        grid[0][0].set_ylabel("delivered (Mbit/s)", fontsize=SMALL + 1)
        grid[1][0].set_ylabel("window / round-trip time (Mbit/s)", fontsize=SMALL + 1)
        grid[0][0].set_xlim(0, _SHOWN)
        grid[0][0].set_ylim(0, 1.25 * RATES[links])
        for ax in grid[1]:
            ax.set_xlabel(axis_label("t"), fontsize=SMALL + 1)
        legend(figure, last=(_TOP, _SAID))

    return draw


def _draw_all(data: Data, figure: "Figure") -> None:
    grid = panels(figure, len(LINKS), len(MODELS), 6.0, sharey="row")
    titles(grid[0], MODELS.values())
    for row, (links, label) in zip(grid, LINKS.items(), strict=True):
        for ax, model in zip(row, MODELS, strict=True):

            def value(group: int, recovery: str, links: str = links, model: str = model) -> Interval:
                return goodput(data, model, links, list(CONTROLLERS)[group], recovery)

            bars(ax, list(CONTROLLERS.values()), RECOVERIES, value)
            ax.axhline(RATES[links], linestyle="dotted", label=_TOP, **BASELINE)
            ax.axhline(alone(data, links), linestyle="dashed", label=_TCP, **BASELINE)
        row[0].set_ylim(0, 1.06 * RATES[links])
        row[0].set_ylabel(f"{label}\n{axis_label('throughput')}", fontsize=SMALL + 1)
    legend(figure, last=(_TCP, _TOP))


_ALONE = "the best path alone"
_SHARES = ("#0072B2", "#B8B8B8", "#8C8C8C", "#606060")
"""The multipath connection, then the others."""


def _draw_rivals(data: Data, figure: "Figure") -> None:
    grid = panels(figure, len(RIVALS), len(MODELS), 6.4)
    titles(grid[0], MODELS.values())
    for row, (topology, (sweep, single, rivals)) in zip(grid, RIVALS.items(), strict=True):
        for ax, model in zip(row, MODELS, strict=True):
            _shares(data, ax, sweep, model, rivals)
            best = lone(data, single, model)
            ax.axhline(best, linestyle="dashed", label=_ALONE, **BASELINE)
        row[0].set_ylabel(f"{topology} bottleneck{'s' * (topology != 'shared')}\nMbit/s", fontsize=SMALL + 1)
    grid[0][0].set_ylim(0, 14.5)
    legend(figure, last=(_ALONE,))


def lone(data: Data, single: str, model: str) -> float:
    """Mbit/s that a connection over the best single path gets in place of the multipath connection."""
    stack = "legacy" if model == "legacy" else "tcp"
    points = data.sweeps[single].plan.axes["access"]
    return max(data.mean(single, "connection0", access=point.label, stack=stack).mean for point in points)


def _shares(data: Data, ax: "Axes", sweep: str, model: str, rivals: Sequence[str]) -> None:
    bottom = [0.0] * len(CONTROLLERS)
    for i, name in enumerate(("multipath connection", *rivals)):
        means = [
            data.mean(sweep, f"connection{i}", controller=controller, recovery="none", model=model).mean
            for controller in CONTROLLERS
        ]
        ax.bar(range(len(CONTROLLERS)), means, 0.6, bottom=bottom, color=_SHARES[i], label=name)
        bottom = [low + mean for low, mean in zip(bottom, means, strict=True)]
    ax.set_xticks(range(len(CONTROLLERS)), [label.replace(" ", "\n") for label in CONTROLLERS.values()])


def _over_time(name: str, title: str, paper: str) -> FigureSpec:
    return FigureSpec(
        title,
        f"Top: data that arrived, means over {_BIN:g} s. Bottom: the sum over the subflows of window / smoothed "
        "round-trip time, which is what the model of 2011 prints as throughput, also where it is more than the links "
        f"carry. One run (seed 1), the first {_SHOWN:.0f} s; a line ends with its transfer. Where lines coincide, the "
        f"thinner ones are on top. {paper}",
        (),
        _draw_over_time(name),
    )


FIGURES: Mapping[str, FigureSpec] = {
    "fig-8": _over_time(
        "fig-8",
        "Fig. 8: throughput of all subflows, Linked Increases, two subflows",
        "The paper's figure has no numbers, and its text does not say which scenario it shows.",
    ),
    "fig-9": _over_time(
        "fig-9",
        "Fig. 9: throughput of all subflows, Uncoupled, three subflows",
        "The paper's figure has no numbers; its text says that D-SACK reaches about 10 Mbit/s.",
    ),
    "throughput": FigureSpec(
        "Throughput of both scenarios, all controllers and recoveries",
        "Mean goodput of a transfer of 10 MB; whiskers: 95 % interval. The paper prints two of these panels, over "
        "time (Figs. 8 and 9), and one number, about 10 Mbit/s.",
        ("tables", "single-path"),
        _draw_all,
    ),
    "rivals": FigureSpec(
        "Future work: shared and disjoint bottlenecks",
        "Goodput of the multipath connection, without recovery, and of the connections with which it shares the "
        "bottleneck, stacked. Dashed: goodput of a connection over the best single path in place of the multipath "
        "connection.",
        ("shared-bottleneck", "shared-single", "disjoint-bottlenecks", "disjoint-single"),
        _draw_rivals,
        full=True,
    ),
}
