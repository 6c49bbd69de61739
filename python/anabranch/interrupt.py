"""Ctrl-C and SIGTERM on the command line: at once, and with a line that says what was kept.

Python raises KeyboardInterrupt wherever the program happens to be. That is right while the engine runs, which unwinds
properly, but not while large libraries load and draw: some of them swallow the exception, and taking Python down after
them is slow. So outside of the engine the command line leaves from the signal's handler itself.
"""

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from typing import Any

_ASKED = (signal.SIGINT, signal.SIGTERM)
"""Signals that ask a command to end. Both end it alike; the exit status is 128 and the number of the signal."""
NOTHING = "nothing was written"

_kept = NOTHING
_undo: list[Callable[[], None]] = []
_last: int = signal.SIGINT


def install() -> None:
    """Leave from the handler; only for a process that is the command line."""
    _handle(_leave)


def status() -> int:
    """Return the exit status of a command that a signal ended: 130 after Ctrl-C, 143 after SIGTERM."""
    return 128 + _last


def _handle(handler: Any) -> None:
    for number in _ASKED:
        signal.signal(number, handler)


def _note(number: int) -> None:
    global _last  # noqa: PLW0603 - the process has one exit status
    _last = number


def _leave(number: int, *_: Any) -> None:
    for each in _ASKED:
        signal.signal(each, signal.SIG_IGN)
    _note(number)
    for undo in reversed(_undo):
        undo()
    os.write(2, f"interrupted: {_kept}\n".encode())  # not sys.stderr, which may be in the middle of a write
    os._exit(status())


def _raise(number: int, *_: Any) -> None:
    _note(number)
    raise KeyboardInterrupt


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
    """Within the block Ctrl-C and SIGTERM raise KeyboardInterrupt, as Ctrl-C does in any Python program."""
    if _leave not in map(signal.getsignal, _ASKED):
        yield
        return
    _handle(_raise)
    try:
        yield
    finally:
        _handle(_leave)


def end(code: int) -> None:
    """End the process. After a signal not by way of Python's own end, which may call it killed by the signal."""
    if code == status():
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)
    sys.exit(code)
