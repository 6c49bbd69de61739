"""What the studies of wireless paths share: results over distance, as curves, boxes and averages."""

import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anabranch.measures.table import label as axis_label
from anabranch.studies.base import Data
from anabranch.studies.models import MODELS, RECOVERIES
from anabranch.studies.panels import BASELINE, SMALL, boxes, curves, legend, look_of, panels, titles
from anabranch.sweeps.paired import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SWEEP = "distances"
ALONE = "single-path"
"""Its axes are ``over`` and ``distance``."""


def distances(data: Data, sweep: str = SWEEP) -> list[int]:
    """Distances of a sweep in metres, in the order of the sweep."""
    return [int(str(point.label)) for point in data.sweeps[sweep].plan.axes["distance"]]


def goodput(data: Data, metres: int, **cell: Any) -> Interval:
    """Mean goodput of a cell at a distance of `metres`, in Mbit/s."""
    return data.mean(SWEEP, "goodput_mbps", **cell, distance=str(metres))


def averaged(data: Data, **cell: Any) -> Interval:
    """Mean goodput in Mbit/s, averaged over the distances for each seed and then over the seeds."""
    cells = [{**cell, "distance": str(metres)} for metres in distances(data)]
    each = [data.by_seed(SWEEP, "goodput_mbps", **one) for one in cells]
    seeds = sorted(set.intersection(*map(set, each)))
    return data.over([statistics.fmean(rates[seed] for rates in each) for seed in seeds], SWEEP, *cells)


def single(data: Data, metres: int, **path: Any) -> Interval:
    """Mean goodput of plain TCP over one path at a distance of `metres`, in Mbit/s."""
    return data.mean(ALONE, "goodput_mbps", **path, distance=str(metres))


def alone(data: Data, metres: int, **path: Any) -> float:
    """Mean goodput of plain TCP as in `single`, in Mbit/s, without its interval."""
    return single(data, metres, **path).mean


def best_alone(data: Data, metres: int, paths: Sequence[Mapping[str, Any]]) -> float:
    """Mean goodput of plain TCP over the better one of `paths`, in Mbit/s."""
    return max(alone(data, metres, **path) for path in paths)


def draw_curves(
    data: Data, figure: "Figure", controller: str, tcp: Mapping[str, Mapping[str, Any]], points: Mapping[str, float]
) -> None:
    """Goodput of all recoveries over distance; `points` is what the paper says of the first distance, by recovery."""
    ((*axes,),) = panels(figure, 1, 1 + len(MODELS), 3.6)
    titles(axes, ["Paper", *MODELS.values()])
    at = distances(data)
    for name, label in RECOVERIES.items():
        _point(axes[0], at[0], points[name], name, label)
    axes[0].text(0.5, 0.05, "10 m; the rest without numbers", **_remark(axes[0]))
    top = max(points.values())
    for ax, model in zip(axes[1:], MODELS, strict=True):

        def value(metres: float, recovery: str, model: str = model) -> Interval:
            return goodput(data, int(metres), controller=controller, recovery=recovery, model=model)

        curves(ax, at, RECOVERIES, value)
        top = max(top, *(value(metres, name).mean for metres in at for name in RECOVERIES))
    for ax in axes:
        for (label, path), line in zip(tcp.items(), _DASHES, strict=False):
            ax.plot(at, [alone(data, metres, **path) for metres in at], linestyle=line, label=label, **BASELINE)
        ax.set_xlabel("distance (m)", fontsize=SMALL + 1)
        ax.set_ylim(0, 1.1 * top)
    axes[0].set_ylabel(axis_label("throughput"), fontsize=SMALL + 1)
    legend(figure, last=tuple(tcp))


_DASHES = ("dashed", "dotted")


def _point(ax: "Axes", at: float, rate: float, name: str, label: str) -> None:
    ax.plot([at], [rate], linestyle="", marker=look_of(name).marker, color=look_of(name).colour, label=label)


def _remark(ax: "Axes") -> dict[str, Any]:
    return {"transform": ax.transAxes, "ha": "center", "fontsize": SMALL - 1, "color": "#666666"}


def draw_boxes(
    data: Data,
    figure: "Figure",
    controllers: Mapping[str, str],
    tcp: Mapping[str, Mapping[str, Any]],
    **case: Any,
) -> None:
    """Least, quartiles, median and most of the goodput over the distances: a box for each recovery, and plain TCP's."""
    grid = panels(figure, len(controllers), len(MODELS), 1.2 + 1.9 * len(controllers))
    titles(grid[0], MODELS.values())
    at = distances(data)
    single = {label: [alone(data, metres, **path) for metres in at] for label, path in tcp.items()}
    for row, (controller, label) in zip(grid, controllers.items(), strict=True):
        for ax, model in zip(row, MODELS, strict=True):
            cell = {"controller": controller, "model": model, **case}
            found = {name: [goodput(data, metres, recovery=name, **cell).mean for metres in at] for name in RECOVERIES}
            boxes(ax, found | single, RECOVERIES)
        row[0].set_ylabel(f"{label}\n{axis_label('throughput')}", fontsize=SMALL + 1)
    grid[0][0].set_ylim(bottom=0)
