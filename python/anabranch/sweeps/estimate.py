"""How long a sweep will take on this machine: a few of its runs are begun, each for a part of a second."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from anabranch.sweeps import threads
from anabranch.sweeps.plan import PlanData
from anabranch.sweeps.task import FAILED, Stop, Task, perform

_CELLS = 5
"""Cells that are tried, evenly among all."""
_SECONDS = 0.6
"""Time that a run has; of a longer one the rest follows from its progress."""
_LEAST = 0.01
"""Progress from which on a rest can be told."""


@dataclass(frozen=True)
class Estimate:
    """Time of all runs.

    Attributes
    ----------
    seconds : float or None
        With `threads` threads; None if no run of those tried got far enough.
    threads : int
        As many as the sweep takes without ``--workers``.
    tried : int
        Runs that it rests on.
    """

    seconds: float | None
    threads: int
    tried: int


def estimate(plan: PlanData) -> Estimate:
    """Estimates the time of a sweep's runs from a few of its cells."""
    cells = [cell for cell in plan.distinct if not cell.error]
    count = min(_CELLS, len(cells))
    chosen = [cells[i * (len(cells) - 1) // max(1, count - 1)] for i in range(count)]
    tasks = [Task.of(cell, seed) for cell in chosen for seed in plan.seeds[:1]]
    taken = [seconds for seconds in (_seconds(task, plan) for task in tasks) if seconds is not None]
    runs = len(cells) * len(plan.seeds)
    workers = min(threads.cores(), runs)
    if not taken:
        return Estimate(None, workers, 0)
    return Estimate(sum(taken) / len(taken) * runs / workers, workers, len(taken))


def _seconds(task: Task, plan: PlanData) -> float | None:
    """Returns how long a run takes; None if nothing can be told."""
    begin = time.monotonic()
    share = 0.0

    def poll(state: Mapping[str, Any]) -> None:
        nonlocal share
        delivered = state["delivered"] / state["total"] if state["total"] else 0.0
        share = max(delivered, state["t"] / state["duration"] if state["duration"] else 0.0)
        if time.monotonic() - begin > _SECONDS:
            raise Stop

    try:
        if perform(task, plan.options, poll).status == FAILED:
            return None
    except Stop:
        whole = (time.monotonic() - begin) / share if share >= _LEAST else None
        limit = plan.options.timeout
        return limit if whole is not None and limit is not None and whole > limit else whole
    return time.monotonic() - begin
