"""Making the runs of a plan: which are missing, who makes them, who is told."""

import contextlib
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anabranch.execution.progress import State
from anabranch.scenario import ScenarioError
from anabranch.sweeps import threads
from anabranch.sweeps.data import SweepData
from anabranch.sweeps.memory import Memory
from anabranch.sweeps.plan import Cell, Options, PlanData
from anabranch.sweeps.store import Store
from anabranch.sweeps.task import FAILED, REFUSED, Record, Task

if TYPE_CHECKING:
    import os


_SYNC = 1.0
"""Seconds after which what was written survives a loss of power, too."""


def execute(
    what: PlanData,
    *,
    out: "str | os.PathLike[str] | None" = None,
    workers: int | None = None,
    client: Any = None,
    progress: Callable[[State], None] | None = None,
    keep_failed: bool = False,
    allow_mixed: bool = False,
) -> SweepData:
    """Run a plan; the parameters are those of `anabranch.sweep`."""
    keep: Memory | Store = Memory(what) if out is None else Store.open(out, what, allow_mixed=allow_mixed)
    with contextlib.closing(keep):
        make(keep, keep_failed=keep_failed, workers=workers, client=client, progress=progress)
        return keep.finish()


def make(
    keep: Memory | Store,
    *,
    keep_failed: bool = False,
    known: Mapping[tuple[str, int], Record] | None = None,
    workers: int | None = None,
    client: Any = None,
    progress: Callable[[State], None] | None = None,
) -> None:
    """Add to `keep` the runs of its plan that are not there, or failed.

    Runs that are `known` from elsewhere are taken from there.
    """
    tally = _Tally(keep, progress)
    if known:
        keep.append(known[run] for run in _runs(keep, retried=not keep_failed) if run in known)
    retried = not keep_failed
    while True:
        what = keep.plan
        tally.begin(sum(1 for _ in _runs(keep, retried=retried)), retried=retried)
        made = _made(keep, what.options, tally.left, retried=retried, workers=workers, client=client)
        with contextlib.closing(made):
            for records in made:
                tally.note(records)
        retried = False  # once is enough
        if what.precision is None:
            return
        try:
            means = keep.sweep().intervals(what.precision.measure)
        except ValueError as error:  # which measures there are is known from runs only
            raise ScenarioError(f"seeds: {error}") from None
        seeds = what.precision.next(len(what.seeds), means)
        if seeds == len(what.seeds):
            return
        keep.replan(what.with_seeds(tuple(range(1, seeds + 1))))


class _Tally:
    """Counts, and tells `progress` and the disk now and then."""

    def __init__(self, keep: Memory | Store, progress: Callable[[State], None] | None) -> None:
        self._keep = keep
        self._progress = progress
        self._start = self._synced = time.monotonic()
        self._total = self._stored = self._done = self._failed = self.left = 0
        self._last = ""
        self._names: dict[str, str] = {}

    def begin(self, missing: int, *, retried: bool) -> None:
        """A round of `missing` runs begins."""
        keep = self._keep
        what, statuses = keep.plan, keep.statuses
        self._names = {cell.sha256: ", ".join(map(str, cell.labels.values())) for cell in what.distinct}
        self._total = what.total
        self._failed = sum(
            statuses.get((cell.sha256, seed)) in {REFUSED, FAILED} and not _missing(keep, cell, seed, retried=retried)
            for cell, seed in what.runs()
        )
        self._stored = self._total - missing - self._done
        self.left = missing

    def note(self, records: Sequence[Record]) -> None:
        """These were finished; perhaps none."""
        now = time.monotonic()
        if records:
            last = records[-1]
            self._done += len(records)
            self._failed += sum(record.status in {REFUSED, FAILED} for record in records)
            self._last = f"{self._names[last.scenario_sha256]}, seed {last.seed}".removeprefix(", ")
        if now - self._synced > _SYNC:
            self._keep.sync()
            self._synced = now
        if self._progress is not None:
            seconds = now - self._start
            self._progress(State(self._total, self._stored, self._done, self._failed, seconds, self._last))


def _runs(keep: Memory | Store, *, retried: bool) -> Iterator[tuple[str, int]]:
    """What is missing, one seed after another; failed runs, too, if they are to be `retried`."""
    return ((cell.sha256, seed) for cell, seed in _wanted(keep, retried=retried))


def _wanted(keep: Memory | Store, *, retried: bool) -> Iterator[tuple[Cell, int]]:
    return ((cell, seed) for cell, seed in keep.plan.runs() if _missing(keep, cell, seed, retried=retried))


def _missing(keep: Memory | Store, cell: Cell, seed: int, *, retried: bool) -> bool:
    """Whether a run is to be made. One that was refused is, if here its scenario is valid: what it lacked was there."""
    status = keep.statuses.get((cell.sha256, seed))
    return status is None or (retried and (status == FAILED or (status == REFUSED and not cell.error)))


def _made(
    keep: Memory | Store, options: Options, count: int, *, retried: bool, workers: int | None, client: Any
) -> Generator[list[Record]]:
    """Make what is missing, and keep it; an empty list is a beat without a finished run."""
    tasks = (Task.of(cell, seed) for cell, seed in _wanted(keep, retried=retried))
    if client is None:
        return threads.records(tasks, options, min(count, workers or threads.cores()), keep.append)
    from anabranch.sweeps.cluster import records

    return records(tasks, options, client, keep.append)
