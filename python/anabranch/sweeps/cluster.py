"""Runs of a sweep on a Dask cluster: many machines, and one process that hands out runs and writes what comes back.

A run is far too small to be a task of Dask's, which costs a millisecond or so at the scheduler; so runs go out in
batches of about a second of work, by what the last ones took. Few batches are under way at a time, two for each thread
of the cluster, so that a million runs do not have to be known to the scheduler, and workers may come and go.

What a batch gives depends on nothing but its runs, so Dask may give it to another worker if one dies; it does so by
itself. If workers die of the same batch again and again, its runs go out one by one, and the one they die of is a
failed row. A worker with another engine would give other results, so it is refused, at the beginning or when it joins.
"""

import contextlib
import itertools
import queue
import re
import time
from collections.abc import Callable, Generator, Iterator
from typing import Any, NamedTuple

from anabranch.execution.optional_deps import ClusterError, need
from anabranch.sweeps.plan import Options, engine
from anabranch.sweeps.task import FAILED, Record, Task, machine, perform

_SECOND = 1.0
"""Work in a batch, in seconds."""
_MOST = 1000
"""Runs in a batch."""
_AHEAD = 2
"""Batches under way for each thread of the cluster."""
_BEAT = 0.1
_LOOK = 5.0
"""Seconds between two looks at how many threads there are."""
_PATIENCE = 10
"""Seconds that a scheduler has to answer."""
_ADDRESS = re.compile(r"([a-z]+://)?[^/\s]+:[0-9]+")
"""What the library takes long to find out."""


class _Done(NamedTuple):
    """What a batch gave.

    Attributes
    ----------
    records : list of Record
        Of its runs; none if the engine is another one.
    seconds : float
        How long it took.
    engine, worker : str
        What made it, and its address.
    """

    records: list[Record]
    seconds: float
    engine: str
    worker: str


@contextlib.contextmanager
def connected(address: str) -> Iterator[Any]:
    """A client of the scheduler at `address`.

    Raises
    ------
    ClusterError
        If nobody answers there.
    MissingError
        If Dask is not installed.
    """
    distributed = need("distributed", "cluster", "a cluster")
    if not _ADDRESS.fullmatch(address):
        raise ClusterError(f"{address!r} is not the address of a Dask scheduler; write tcp://HOST:8786")
    try:
        client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError(
            f"{address}: no Dask scheduler answers there ({error}); start one there, or give another address, such as "
            "tcp://HOST:8786"
        ) from None
    with client:
        yield client


def records(
    tasks: Iterator[Task], options: Options, client: Any, keep: Callable[[list[Record]], None]
) -> Generator[list[Record]]:
    """Make runs on `client`'s workers, `keep` them as they come back, and tell of them; an empty list is a beat.

    Raises
    ------
    ClusterError
        If a worker has another engine, or none.
    """
    wanted = str(engine())
    _examine(client, wanted)
    finished = queue.SimpleQueue[Any]()
    under_way: dict[Any, list[Task]] = {}
    size, threads, looked = 1, 1, 0.0

    def send(batch: list[Task]) -> None:
        future = client.submit(_perform, batch, options, wanted, pure=False)
        under_way[future] = batch
        future.add_done_callback(finished.put)

    try:
        while True:
            if time.monotonic() - looked > _LOOK:
                threads, looked = max(1, sum(client.nthreads().values())), time.monotonic()
            while len(under_way) < _AHEAD * threads:
                batch = list(itertools.islice(tasks, size))
                if not batch:
                    break
                send(batch)
            if not under_way:
                return
            made = list[Record]()
            for future in _taken(finished):
                batch = under_way.pop(future)
                done = _result(future, batch, wanted)
                if done is None:
                    for task in batch:
                        send([task])
                    continue
                keep(done.records)
                made += done.records
                each = done.seconds / len(batch)
                # Twice the size at most: the first runs may have been the short ones.
                size = max(1, min(2 * size, _MOST, round(_SECOND / max(each, 1e-6))))
            yield made
    finally:
        if under_way:
            client.cancel(list(under_way))


def _taken(finished: "queue.SimpleQueue[Any]") -> Iterator[Any]:
    with contextlib.suppress(queue.Empty):
        yield finished.get(timeout=_BEAT)
        while True:
            yield finished.get_nowait()


def _perform(batch: list[Task], options: Options, wanted: str) -> _Done:
    """On a worker: make the runs."""
    from distributed import get_worker

    began = time.perf_counter()
    mine = str(engine())
    made = [perform(task, options) for task in batch] if mine == wanted else []
    return _Done(made, time.perf_counter() - began, mine, get_worker().address)


def _result(future: Any, batch: list[Task], wanted: str) -> _Done | None:
    """What a batch gave; None if its runs are to go out one by one."""
    from distributed import KilledWorker

    try:
        done: _Done = future.result()
    except KilledWorker as error:
        if len(batch) > 1:
            return None
        (task,) = batch
        why = f"worker: every worker that was given this run died ({error.last_worker.address}); too little memory?"
        record = Record(task.key, task.scenario_sha256, task.seed, FAILED, why, wanted, machine(), "")
        return _Done([record], _SECOND, wanted, "")
    except Exception as error:
        raise ClusterError(f"the cluster failed: {type(error).__name__}: {error}") from error
    _same(done.worker, done.engine, wanted)
    return done


def _examine(client: Any, wanted: str) -> None:
    """All workers have this engine."""
    try:
        found = client.run(_engine)
    except Exception as error:
        raise ClusterError(
            f"a worker cannot make runs: {type(error).__name__}: {error}\ninstall anabranch {wanted} on all workers"
        ) from error
    for worker, theirs in found.items():
        _same(worker, theirs, wanted)


def _engine() -> str:
    return str(engine())


def _same(worker: str, theirs: str, wanted: str) -> None:
    if theirs != wanted:
        raise ClusterError(
            f"worker {worker} has anabranch {theirs}, this is {wanted}\n"
            "runs of two engines are not mixed; install this version on all workers, then the same command continues"
        )
