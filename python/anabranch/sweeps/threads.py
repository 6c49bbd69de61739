"""Runs on all cores of this machine.

The engine does not hold Python's lock, so threads are enough. There is one queue, and a thread that is idle takes the
next run from it: no thread waits while there is work, whatever the runs cost. An algorithm written in Python holds the
lock; a thread gives its runs to a process of its own, and waits.
"""

import os
import queue
import threading
from collections.abc import Callable, Generator, Iterator
from typing import Any

from anabranch.sweeps.plan import Options
from anabranch.sweeps.process import Process
from anabranch.sweeps.task import Record, Stop, Task, perform

_BEAT = 0.1
"""Seconds after which Ctrl-C is noticed, and the progress line moves though nothing ended."""


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def records(
    tasks: Iterator[Task], options: Options, workers: int, keep: Callable[[list[Record]], None]
) -> Generator[list[Record]]:
    """Make runs, `keep` each at once, and tell of them; an empty list is a beat without one.

    A run is kept by the thread that made it: the one that tells may be busy. Left early, it stops the threads within a
    twentieth of a second.
    """
    finished = queue.SimpleQueue[Record | BaseException | None]()
    taking = threading.Lock()
    stop = threading.Event()
    beside = [Process() for _ in range(workers)]

    def poll(_: Any) -> None:
        if stop.is_set():
            raise Stop

    def work(process: Process) -> None:
        try:
            while not stop.is_set():
                with taking:
                    task = next(tasks, None)
                if task is None:
                    return
                record = process.perform(task, options) if task.code else perform(task, options, poll)
                keep([record])
                finished.put(record)
        except Stop:
            pass
        except BaseException as error:  # such as a full disk
            finished.put(error)
        finally:
            finished.put(None)

    threads = [threading.Thread(target=work, args=(process,), daemon=True) for process in beside]
    busy = len(threads)
    try:
        for thread in threads:
            thread.start()
        while busy:
            found = _taken(finished)
            busy -= found.count(None)
            yield [record for record in found if isinstance(record, Record)]
            for error in found:
                if isinstance(error, BaseException):
                    raise error
    finally:
        stop.set()
        for process in beside:
            process.end()
        for thread in threads:
            if thread.ident is not None:  # an interrupt may come before all are started
                thread.join()


def _taken(finished: "queue.SimpleQueue[Any]") -> list[Any]:
    """All there is; if there is nothing, what comes within a beat."""
    found: list[Any] = []
    try:
        found.append(finished.get(timeout=_BEAT))
        while True:
            found.append(finished.get_nowait())
    except queue.Empty:
        return found
