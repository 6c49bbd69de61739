"""A child process, a new Python interpreter, that answers requests of one thread of this process.

The child is not forked: threads and locks of this process would not survive a fork. The child does
not import the user's script. The child ends when this process ends for any reason, because the
child's standard input ends then.
"""

import contextlib
import importlib
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

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from anabranch.execution.child import serve; serve(sys.argv[2])"
)


class ChildEndedError(Exception):
    """Raised if the child process ends without an answer.

    Attributes
    ----------
    status : int or None
        Exit status of the child; the negative number of a signal that ended it.
    late : bool
        True if the child was killed because its answer took longer than the limit.
    """

    def __init__(self, status: int | None, *, late: bool) -> None:
        super().__init__(status, late)
        self.status = status
        self.late = late


class ChildClosedError(Exception):
    """Raised by `Child.ask` if another thread calls `Child.end` before the answer arrives."""


class Child:
    """A child process that answers one request at a time. The first request starts the process.

    Parameters
    ----------
    answer : str
        Module and name of the function that the child calls with each request, such as
        ``"anabranch.sweeps.process:answer"``. Requests and answers are pickled.
    """

    def __init__(self, answer: str) -> None:
        self._answer = answer
        self._lock = threading.Lock()
        self._over = False
        self._process: subprocess.Popen[bytes] | None = None
        self._ready: subprocess.Popen[bytes] | None = None

    def ask(self, request: Any, limit: float | None = None) -> Any:
        """Send `request` to the child and return its answer.

        Parameters
        ----------
        request : object
            Argument of the function in the child.
        limit : float, optional
            Seconds that the answer may take; then the child is killed. The start of the child does
            not count.

        Raises
        ------
        ChildEndedError
            If the child ends without an answer. The next request starts a new child.
        ChildClosedError
            If `end` was called before the answer arrived.
        """
        process = self._started()
        late = threading.Event()
        timer = None
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            if process is not self._ready:
                pickle.load(process.stdout)
                self._ready = process
            if limit is not None:
                timer = threading.Timer(limit, _kill_late, (process, late))
                timer.daemon = True
                timer.start()
            pickle.dump(request, process.stdin)
            process.stdin.flush()
            return pickle.load(process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError, ValueError):  # ValueError: the pipe is closed
            with self._lock:
                if self._over:
                    raise ChildClosedError from None
                self._process = None
            _close(process)
            raise ChildEndedError(process.returncode, late=late.is_set()) from None
        finally:
            if timer is not None:
                timer.cancel()

    def end(self) -> None:
        """Kill the child, even while it answers. `ask` then starts no further child."""
        with self._lock:
            self._over = True
            process, self._process = self._process, None
        if process is not None:
            _close(process)

    def _started(self) -> "subprocess.Popen[bytes]":
        with self._lock:
            if self._over:
                raise ChildClosedError
            if self._process is None:
                # In a session of its own the child gets no Ctrl-C of the terminal: `end` ends it.
                self._process = subprocess.Popen(
                    [sys.executable, "-c", _START, json.dumps(sys.path), self._answer],
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


def serve(name: str) -> None:
    """Answer requests with the function `name` until standard input ends; runs in the child.

    Text that the function prints goes to standard error.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    module, _, function = name.partition(":")
    answer = getattr(importlib.import_module(module), function)
    pickle.dump(None, replies)
    replies.flush()
    waiting = queue.SimpleQueue[Any]()
    threading.Thread(target=_read, args=(requests, waiting), daemon=True).start()
    while True:
        made = answer(waiting.get())
        sys.stdout.flush()
        pickle.dump(made, replies)
        replies.flush()


def _read(requests: BinaryIO, waiting: "queue.SimpleQueue[Any]") -> None:
    """Put the requests from standard input into `waiting`.

    When standard input ends, end the child, even while it answers a request.
    """
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
