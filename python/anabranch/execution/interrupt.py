"""Ctrl-C, SIGTERM and SIGHUP on the command line: at once, and with a line that says what was kept.

Python raises KeyboardInterrupt wherever the program happens to be. That is right while the engine runs, which unwinds
properly, but not while large libraries load and draw: some of them swallow the exception, and taking Python down after
them is slow. So outside of the engine the command line leaves from the signal's handler itself.
"""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

STATUS = 128 + signal.SIGINT
"""Exit status after Ctrl-C; that after another signal is 128 and its number, too."""
NOTHING = "nothing was written"

_kept = NOTHING
_undo: list[Callable[[], None]] = []
_taken: list[int] = []
_last = int(signal.SIGINT)


def install() -> None:
    """Leave from the handler; only for a process that is the command line. What is ignored, as by nohup, stays so."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and (name == "SIGINT" or signal.getsignal(number) is signal.SIG_DFL):
            signal.signal(number, _leave)
            _taken.append(number)


def _leave(number: int, *_: Any) -> None:
    for each in _taken:
        signal.signal(each, signal.SIG_IGN)
    for undo in reversed(_undo):
        undo()
    with contextlib.suppress(OSError):  # the terminal may have gone
        os.write(2, f"interrupted: {_kept}\n".encode())  # not sys.stderr, which may be in the middle of a write
    os._exit(128 + number)


def _raise(number: int, *_: Any) -> None:
    global _last  # noqa: PLW0603 - a process is interrupted once
    _last = number
    raise KeyboardInterrupt


def status() -> int:
    """Returns the exit status after the signal that raised KeyboardInterrupt."""
    return 128 + _last


@contextlib.contextmanager
def undoing(undo: Callable[[], None]) -> Iterator[None]:
    """Call `undo` if the block is left by Ctrl-C."""
    _undo.append(undo)
    try:
        yield
    finally:
        _undo.remove(undo)


def keep(what: str) -> None:
    """From now on this is what an interrupted command has kept."""
    global _kept  # noqa: PLW0603 - a process is interrupted once
    _kept = what


@contextlib.contextmanager
def raising() -> Iterator[None]:
    """Within the block Ctrl-C raises KeyboardInterrupt, as it does in any Python program; so do the other signals."""
    if signal.getsignal(signal.SIGINT) is not _leave:
        yield
        return
    for number in _taken:
        signal.signal(number, _raise)
    try:
        yield
    finally:
        for number in _taken:
            signal.signal(number, _leave)


@contextlib.contextmanager
def within(seconds: float | None, said: str) -> Iterator[None]:
    """End the process with status 1 and the line `said` if the block takes `seconds` seconds; None for no limit.

    A last resort, for calls that no exception ends.
    """
    if seconds is None:
        yield
        return
    timer = threading.Timer(seconds, _give_up, (said,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _give_up(said: str) -> None:
    for undo in reversed(_undo):
        undo()
    with contextlib.suppress(OSError):
        os.write(2, f"{said}\n".encode())
    os._exit(1)


def end(status: int) -> None:
    """End the process. After a signal not by way of Python's own end, which may call it killed by the signal."""
    if status > 128:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(status)
    sys.exit(status)
