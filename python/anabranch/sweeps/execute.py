"""Running a plan with all cores. The engine does not hold Python's lock, so threads are enough."""

import contextlib
import json
import os
import queue
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from anabranch import _core
from anabranch.scenario import Scenario, ScenarioError
from anabranch.sweeps.plan import Axes, Cell, Plan, plan

if TYPE_CHECKING:
    from anabranch.sweeps.results import Sweep
    from anabranch.sweeps.store import Store

REFUSED = "refused"
FAILED = "failed"

_FLUSH = 5.0
"""Seconds between two writes of finished runs."""
_BEAT = 0.1
"""Seconds after which Ctrl-C is noticed, and the progress line moves though nothing ended."""


class Record(NamedTuple):
    """A run as it is stored.

    Attributes
    ----------
    key : str
        Hash of scenario, seed and engine.
    scenario_sha256 : str
        Of the cell.
    seed : int
        Of the run.
    status : str
        As in the summary; ``"refused"``: the scenario is not valid; ``"failed"``: the engine broke off.
    error : str
        Why it was refused or failed.
    summary : str
        The summary as JSON; empty if there is none.
    """

    key: str
    scenario_sha256: str
    seed: int
    status: str
    error: str
    summary: str


class State(NamedTuple):
    """How far a sweep is."""

    total: int
    stored: int
    done: int
    failed: int
    seconds: float


class _Stop(Exception):  # noqa: N818 - not an error
    """Ends a run that is no longer wanted."""


def sweep(
    scenario: Scenario,
    axes: Axes,
    *,
    seeds: int | Sequence[int] = 10,
    out: "str | os.PathLike[str] | None" = None,
    workers: int | None = None,
    progress: Callable[[State], None] | None = None,
) -> "Sweep":
    """Run `scenario` with every combination of the values of `axes`, each with the same seeds.

    Parameters
    ----------
    scenario : Scenario
        What all cells have in common.
    axes : mapping
        Values by key: ``{"recovery": ["none", "dsack"], "path.1.delay": ["10 ms", "200 ms"]}``. A key without a dot is
        one of the connection. An axis may also be a mapping of names to changes:
        ``{"receiver": {"papers": {"acknowledgement": "coupled"}, "standard": {"acknowledgement": "independent"}}}``.
    seeds : int or sequence of int
        Seeds 1 to `seeds`, or these. Since every cell gets the same ones, cells can be compared in pairs.
    out : path, optional
        A directory to keep the runs in. A sweep that finds finished runs there makes only the missing ones.
    workers : int, optional
        Threads; one per core if not given.
    progress : callable, optional
        Called with a `State` about ten times a second.

    Returns
    -------
    Sweep
        With one row for each run, failed ones too.

    Raises
    ------
    ScenarioError
        If not one cell is valid. A cell that is not valid while others are is a row with its error.
    ResultError
        If `out` holds something else, or runs of another version.
    KeyboardInterrupt
        After Ctrl-C; what was finished is in `out`.

    Examples
    --------
    >>> import anabranch as ab
    >>> base = ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="200 kB")
    >>> done = ab.sweep(base, {"controller": ["uncoupled", "coupled"]}, seeds=2)
    >>> done.runs[["controller", "seed", "status"]]
      controller  seed     status
    0  uncoupled     1  completed
    1  uncoupled     2  completed
    2    coupled     1  completed
    3    coupled     2  completed
    """
    return execute(plan(scenario, axes, seeds), out=out, workers=workers, progress=progress)


def execute(
    what: Plan,
    *,
    out: "str | os.PathLike[str] | None" = None,
    workers: int | None = None,
    progress: Callable[[State], None] | None = None,
) -> "Sweep":
    """Run a plan; see `sweep`."""
    from anabranch.sweeps.results import Sweep
    from anabranch.sweeps.store import Store

    store = None if out is None else Store.open(out, what)
    records = {} if store is None else store.records()
    make(what, records, store, workers=workers, progress=progress)
    done = Sweep.of(what, records, None if store is None else store.provenance)
    if store is not None:
        store.finish(done)
    return done


def make(
    what: Plan,
    records: dict[str, Record],
    store: "Store | None" = None,
    *,
    known: Mapping[str, Record] | None = None,
    workers: int | None = None,
    progress: Callable[[State], None] | None = None,
) -> None:
    """Add to `records`, and to `store`, the runs of the plan that are not among them, or that failed there.

    Runs that are `known` from elsewhere are taken from there.
    """
    wanted = {cell.key(seed): (cell, seed) for cell, seed in what.runs()}
    taken = {key: known[key] for key in wanted if known and key in known and key not in records}
    records |= taken
    missing = {key: run for key, run in wanted.items() if key not in records or records[key].status == FAILED}
    stored = len(wanted) - len(missing)
    failed = sum(records[key].status == REFUSED for key in wanted if key not in missing)
    done = 0
    start = flushed = time.monotonic()
    fresh = list(taken.values())
    try:
        with contextlib.closing(_records(missing, workers or cores())) as made:
            for record in made:
                now = time.monotonic()
                if record is not None:
                    records[record.key] = record
                    fresh.append(record)
                    done += 1
                    failed += record.status in {REFUSED, FAILED}
                if store is not None and fresh and now - flushed > _FLUSH:
                    store.append(fresh)
                    fresh, flushed = [], now
                if progress is not None:
                    progress(State(len(wanted), stored, done, failed, now - start))
    finally:
        if store is not None and fresh:
            store.append(fresh)


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _records(runs: Mapping[str, tuple[Cell, int]], workers: int) -> Generator[Record | None]:
    """Make `runs`; None is a beat without one. Left early, it stops the threads within a twentieth of a second."""
    todo = queue.SimpleQueue[tuple[str, Cell, int]]()
    for key, (cell, seed) in runs.items():
        todo.put((key, cell, seed))
    finished = queue.SimpleQueue[Record]()
    stop = threading.Event()

    def poll(_: Any) -> None:
        if stop.is_set():
            raise _Stop

    def work() -> None:
        while not stop.is_set():
            try:
                key, cell, seed = todo.get_nowait()
            except queue.Empty:
                return
            try:
                finished.put(_record(key, cell, seed, poll))
            except _Stop:
                return

    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(workers, len(runs)))]
    for thread in threads:
        thread.start()
    left = len(runs)
    try:
        while left:
            try:
                yield finished.get(timeout=_BEAT)
                left -= 1
            except queue.Empty:
                yield None
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def _record(key: str, cell: Cell, seed: int, poll: Callable[[Any], None]) -> Record:
    if cell.error:
        return Record(key, cell.sha256, seed, REFUSED, cell.error, "")
    scenario = cell.scenario
    try:
        run = _core.run(scenario.toml, scenario.name, list(scenario.overrides), seed, None, poll)
        summary = run.summary
        return Record(key, cell.sha256, seed, json.loads(summary)["status"], "", summary)
    except _Stop:
        raise
    except ScenarioError as error:
        return Record(key, cell.sha256, seed, REFUSED, str(error), "")
    except BaseException as error:  # a fault of the engine, too, is one row and not the end of the sweep
        return Record(key, cell.sha256, seed, FAILED, f"{type(error).__name__}: {error}", "")
