"""Figures 2 to 4, each with a panel per column of the tables, and all distances as boxes."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from anabranch.studies.alheid_2014_sims.names import CONTROLLERS, TCP, printed
from anabranch.studies.base import Data, FigureSpec
from anabranch.studies.models import RECOVERIES
from anabranch.studies.wireless import ALONE, SWEEP, draw_boxes, draw_curves

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _draw(controller: str) -> "Callable[[Data, Figure], None]":
    def draw(data: Data, figure: "Figure") -> None:
        points = {
            recovery: printed({"controller": controller, "recovery": recovery}, "aggregate_mbps")
            for recovery in RECOVERIES
        }
        draw_curves(data, figure, controller, TCP, points)

    return draw


def _over_distance(number: int, controller: str) -> FigureSpec:
    return FigureSpec(
        f"Fig. {number}: throughput over distance, {CONTROLLERS[controller]}",
        "Goodput of the transfer; bands: 95 % interval of the mean. The paper's points are from its Table III, at 10 "
        "m. Grey: plain TCP over either link.",
        (SWEEP, ALONE),
        _draw(controller),
    )


FIGURES: Mapping[str, FigureSpec] = {
    "fig-2": _over_distance(2, "uncoupled"),
    "fig-3": _over_distance(3, "fully-coupled"),
    "fig-4": _over_distance(4, "rtt-compensator"),
    "boxes": FigureSpec(
        "All distances: minimum, quartiles, median and maximum",
        "Mean goodput at each distance. Grey: plain TCP over either link.",
        (SWEEP, ALONE),
        lambda data, figure: draw_boxes(data, figure, CONTROLLERS, TCP),
    ),
}
