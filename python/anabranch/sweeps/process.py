"""A process that makes the runs of algorithms written in Python, for one thread of this process.

It is a new interpreter and no fork, which threads and locks of this process would not survive, and it does not import
the script of the user: the code of the algorithms comes with each run. It ends when this process does, however that
ends, because its standard input ends then.
"""

import contextlib
import json
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import traceback
from typing import Any, BinaryIO

from anabranch.sweeps.plan import Options, engine
from anabranch.sweeps.task import FAILED, Record, Stop, Task, machine, perform

_START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from anabranch.sweeps.process import serve; serve()"
_KILL_AFTER = 5.0
"""Seconds after the timeout of a run until its process is killed; the run may end before by itself."""


class Process:
    """The process of one thread; it is started when the first run is made."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._over = False
        self._process: subprocess.Popen[bytes] | None = None
        self._ready: subprocess.Popen[bytes] | None = None

    def perform(self, task: Task, options: Options) -> Record:
        """Make a run there. `Stop` if the process was ended meanwhile.

        A process that dies of a run, or does not come to an end with it, costs this run only.
        """
        process = self._started()
        late = threading.Event()
        timer = None
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            if process is not self._ready:  # its start does not count for the run
                pickle.load(process.stdout)
                self._ready = process
            if options.timeout is not None:
                timer = threading.Timer(options.timeout + _KILL_AFTER, _kill_late, (process, late))
                timer.daemon = True
                timer.start()
            pickle.dump((task, options), process.stdin)
            process.stdin.flush()
            record: Record = pickle.load(process.stdout)
            return record
        except (OSError, EOFError, pickle.UnpicklingError, ValueError):  # ValueError: a pipe that was closed
            with self._lock:
                if self._over:
                    raise Stop from None
                self._process = None
            _close(process)
            return _failed(task, options, process.returncode, late=late.is_set())
        finally:
            if timer is not None:
                timer.cancel()

    def end(self) -> None:
        """Kill the process; what it makes is lost. No other one is started."""
        with self._lock:
            self._over = True
            process, self._process = self._process, None
        if process is not None:
            _close(process)

    def _started(self) -> "subprocess.Popen[bytes]":
        with self._lock:
            if self._over:
                raise Stop
            if self._process is None:
                # Ctrl-C goes to all processes of the terminal; this one is ended by us.
                self._process = subprocess.Popen(
                    [sys.executable, "-c", _START, json.dumps(sys.path)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    start_new_session=True,
                    creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
                )
            return self._process


def _kill_late(process: "subprocess.Popen[bytes]", late: threading.Event) -> None:
    late.set()
    process.kill()


def _close(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    for pipe in (process.stdin, process.stdout):
        with contextlib.suppress(OSError):
            pipe.close()  # type: ignore[union-attr]
    process.wait()


def _failed(task: Task, options: Options, status: int | None, *, late: bool) -> Record:
    """The row of a run that ended its process."""
    if late:
        why = f"timeout: the run did not end within {options.timeout:g} s; does an algorithm loop or sleep?"
    else:
        ended = f"signal {-status}" if status is not None and status < 0 else f"status {status}"
        why = f"worker: the process that made this run ended ({ended}); too little memory?"
    return Record(task.key, task.scenario_sha256, task.seed, FAILED, why, str(engine()), machine(), "")


def serve() -> None:
    """In the process: make runs until standard input ends. What an algorithm prints goes to standard error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    pickle.dump(None, replies)
    replies.flush()
    waiting = queue.SimpleQueue[tuple[Task, Options]]()
    threading.Thread(target=_read, args=(requests, waiting), daemon=True).start()
    while True:
        task, options = waiting.get()
        record = perform(task, options)
        sys.stdout.flush()
        pickle.dump(record, replies)
        replies.flush()


def _read(requests: BinaryIO, waiting: "queue.SimpleQueue[Any]") -> None:
    """Take runs, and end the process, even within a run, when there will be no more."""
    status = 1
    try:
        while True:
            waiting.put(pickle.load(requests))
    except EOFError:
        status = 0
    finally:
        if status:
            traceback.print_exc()
        os._exit(status)
