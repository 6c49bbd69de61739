"""Ctrl-C on the command line: at once, and with a line that says what was kept.

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

STATUS = 130
NOTHING = "nothing was written"

_kept = NOTHING
_undo: list[Callable[[], None]] = []


def install() -> None:
    """Leave from the handler; only for a process that is the command line."""
    signal.signal(signal.SIGINT, _leave)


def _leave(*_: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for undo in reversed(_undo):
        undo()
    os.write(2, f"interrupted: {_kept}\n".encode())  # not sys.stderr, which may be in the middle of a write
    os._exit(STATUS)


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
    """Within the block Ctrl-C raises KeyboardInterrupt, as it does in any Python program."""
    if signal.getsignal(signal.SIGINT) is not _leave:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, _leave)


def end(status: int) -> None:
    """End the process. After Ctrl-C not by way of Python's own end, which may call it killed by the signal."""
    if status == STATUS:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(status)
    sys.exit(status)
