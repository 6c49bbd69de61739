"""Cells whose transfers are timed: they end when their time is over, so that their completion says nothing."""

from typing import TYPE_CHECKING

from anabranch._core import RunError
from anabranch.scenario import ScenarioError

if TYPE_CHECKING:
    from anabranch.sweeps.plan import Cell, PlanData, Point

COMPLETION = "completion_s"
WHY = (
    f"{COMPLETION} says nothing of a timed transfer (transfer.duration), which ends when its time is over, however "
    "fast the paths are; goodput_mbps says what it carried"
)


def timed_cells(plan: "PlanData") -> list[bool]:
    """Of each cell, whether a transfer of its scenario is timed."""
    deciding = [name for name, points in plan.axes.items() if any(map(_decides, points))]
    known: dict[tuple[str, ...], bool] = {}
    found = []
    for cell in plan.cells:
        # What all cells have in common is asked once.
        key = (*(str(cell.labels[name]) for name in deciding),)
        if not cell.error and key not in known:
            known[key] = _is_timed(cell)
        found.append(known.get(key, False))
    return found


def only_timed(plan: "PlanData") -> bool:
    """Whether every valid cell is timed."""
    return all(timed for cell, timed in zip(plan.cells, timed_cells(plan), strict=True) if not cell.error)


def _decides(point: "Point") -> bool:
    return any("transfer" in f"{key} {value}" for key, value in point.changes.items())


def _is_timed(cell: "Cell") -> bool:
    try:
        connections = cell.scenario.check()["connections"]
    except (ScenarioError, RunError):
        return False
    return any(connection["transfer"].get("extent_s") is not None for connection in connections)
