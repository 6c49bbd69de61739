"""Ends a call of the engine in which an algorithm written in Python loops.

The engine looks at the clock between two events, so it cannot end a call that does not return. Here an exception is
raised in the thread of the call instead, as Ctrl-C does in the main thread. Such an exception comes between two
instructions of Python: it does not end a call of a C function, such as `time.sleep`.
"""

import ctypes
import threading
from collections.abc import Callable
from typing import TypeVar

from anabranch._core import RunError

T = TypeVar("T")

_RAISE_AFTER = 0.3
"""Seconds after a timeout until the exception is raised; the engine, which holds its results together, may end the run
before."""
_AGAIN = 0.1
"""Seconds after which an algorithm that caught the exception gets it again."""


class Late(BaseException):
    """Raised in a thread whose call has taken all its time. It is no `Exception`, which algorithms may catch."""


class _Watch:
    """A call of the engine by this thread."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self.struck = False
        self._thread = ctypes.c_ulong(threading.get_ident())
        self._lock = threading.Lock()

    def wait(self, timeout: float) -> None:
        """End the call after `timeout` seconds."""
        if not self.over.wait(timeout + _RAISE_AFTER):
            while self._strike():
                self.over.wait(_AGAIN)

    def _strike(self) -> bool:
        """Raise `Late` in the thread of the call; return False if the call has ended."""
        with self._lock:
            if self.over.is_set():
                return False
            self.struck = True
            self._raise()
            return True

    def _raise(self) -> None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(self._thread, ctypes.py_object(Late))

    def end(self) -> None:
        """The call has ended: `wait` raises nothing from now on."""
        with self._lock:
            self.over.set()

    def deliver(self) -> None:
        """Raise `Late` here, in the thread of the call, in place of one that may still be on its way.

        The C API can take one back, too, but then CPython 3.11 looks for it for ever.
        """
        self._raise()
        while True:
            pass


def guarded(call: Callable[[], T], timeout: float | None) -> T:
    """Return what `call` returns, which is a call of the engine with algorithms written in Python.

    Parameters
    ----------
    call : callable
        What is called.
    timeout : float or None
        Seconds of wall-clock time that it may take; None for no limit.

    Raises
    ------
    RunError
        If the call took longer; the message names the algorithm and the virtual time.
    """
    if timeout is None:
        return call()
    watch = _Watch()
    try:
        try:
            threading.Thread(target=watch.wait, args=(timeout,), daemon=True).start()
            return call()
        finally:
            while not watch.over.is_set():
                try:
                    watch.end()
                except Late:  # raised before the end, and delivered now
                    continue
            if watch.struck:
                watch.deliver()
    except Late as error:
        notes = [note for e in (error, error.__context__) for note in getattr(e, "__notes__", ())]
    said = f"timeout: not done after {timeout:g} s of wall-clock time{''.join(f', {note}' for note in notes[:1])}"
    raise RunError(f"{said}; let the algorithm return sooner, or raise the timeout")
