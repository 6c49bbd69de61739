"""A new interpreter that answers requests of one thread of this process.

It is no fork, which threads and locks of this process would not survive, and it does not import the
script of the user. It ends when this process does, however that ends, because its standard input
ends then.
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
    """The process ended without an answer.

    Attributes
    ----------
    status : int or None
        Exit status; negative for a signal.
    late : bool
        True if the process was killed because the answer took too long.
    """

    def __init__(self, status: int | None, *, late: bool) -> None:
        super().__init__(status, late)
        self.status = status
        self.late = late


class ChildClosedError(Exception):
    """`Child.end` was called before there was an answer."""


class Child:
    """A process that answers one request at a time. The first request starts it.

    Parameters
    ----------
    answer : str
        The function that answers a request, such as ``"anabranch.sweeps.process:answer"``. Request
        and answer are pickled.
    """

    def __init__(self, answer: str) -> None:
        self._answer = answer
        self._lock = threading.Lock()
        self._over = False
        self._process: subprocess.Popen[bytes] | None = None
        self._ready: subprocess.Popen[bytes] | None = None

    def ask(self, request: Any, limit: float | None = None) -> Any:
        """Return the answer to `request`.

        Parameters
        ----------
        request : object
            What the function is called with.
        limit : float, optional
            Seconds after which the process is killed. The start of the process does not count.

        Raises
        ------
        ChildEndedError
            If the process ends without an answer. The next request starts a new one.
        ChildClosedError
            If `end` is called meanwhile, or was called before.
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
        except (OSError, EOFError, pickle.UnpicklingError, ValueError):  # ValueError: a pipe that was closed
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
        """Kill the process, even while it answers. No other one is started."""
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
                # Ctrl-C goes to all processes of the terminal; this one is ended by us.
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
    """In the process: answer requests with the function `name` until standard input ends.

    What the function prints goes to standard error.
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
    """Take requests. End the process, even while it answers, when standard input ends."""
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
