"""Figures 3 to 6: a figure a scenario, a row a controller, a panel a model, and boxes over the distances."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from anabranch.studies.alheid_2016_ict.names import CASES, CONTROLLERS, tcp
from anabranch.studies.base import Data, FigureSpec
from anabranch.studies.wireless import ALONE, SWEEP, draw_boxes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _draw(case: str) -> "Callable[[Data, Figure], None]":
    return lambda data, figure: draw_boxes(data, figure, CONTROLLERS, tcp(case), case=case)


def _boxes(number: int, case: str, paper: str) -> FigureSpec:
    return FigureSpec(
        f"Fig. {number}: scenario {case}, {CASES[case]} Mbit/s",
        "Minimum, quartiles, median and maximum of the goodput over the distances. Grey: plain TCP over each path. The "
        f"paper's boxes have no numbers; {paper}",
        (SWEEP, ALONE),
        _draw(case),
    )


FIGURES: Mapping[str, FigureSpec] = {
    "fig-3": _boxes(
        3, "1", "its text: TCP-DOOR up to 25 Mbit/s, 66 % above no recovery, D-SACK 33 %; all fall beyond 70 m."
    ),
    "fig-4": _boxes(4, "2", "its text: TCP-DOOR, D-SACK and F-RTO use both links, Eifel and no recovery do not."),
    "fig-5": _boxes(
        5, "3", "its text: D-SACK up to 15 Mbit/s, no recovery and Eifel not above 2, all beyond 80 m below 1."
    ),
    "fig-6": _boxes(6, "4", "its text: D-SACK and F-RTO 4 to 5 Mbit/s, no recovery below 2."),
}
