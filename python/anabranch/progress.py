"""One line that says how far a run is, on a terminal only."""

import shutil
import sys
import time
from types import TracebackType
from typing import IO, Any

from anabranch import units

_PATIENCE = 0.5
"""Seconds of silence: most runs are over before."""
_PERIOD = 0.1


class Progress:
    """Called by the engine; shows what it was told, never an estimate of its own.

    Parameters
    ----------
    stream : file, optional
        Where to write; standard error if not given.
    """

    def __init__(self, stream: IO[str] | None = None) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.t = 0.0
        self._start = self._next = time.monotonic()
        self._next += _PATIENCE
        self._shown = 0

    def __enter__(self) -> "Progress":
        """Start the clock."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wipe the line."""
        if self._shown:
            self._write("")
            self.stream.write("\r")
            self.stream.flush()

    def __call__(self, state: dict[str, Any]) -> None:
        """Take the engine's state: ``t``, ``duration``, ``delivered``, ``total``."""
        self.t = state["t"]
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _PERIOD
        self._write(line(state, now - self._start))

    def _write(self, text: str) -> None:
        width = max(20, shutil.get_terminal_size().columns - 1)
        text = text[:width]
        self.stream.write("\r" + text.ljust(self._shown))
        self.stream.flush()
        self._shown = len(text)


def line(state: dict[str, Any], elapsed: float) -> str:
    """What the line says.

    >>> line({"t": 12.5, "duration": 3600.0, "delivered": 10_000_000, "total": 20_000_000}, 1.25)
    ' 50 %  10 MB of 20 MB read, 12.5 s simulated in 1.2 s'
    >>> line({"t": 12.5, "duration": 50.0, "delivered": 10_000_000, "total": None}, 1.25)
    ' 25 %  10 MB read, 12.5 s of at most 50 s simulated in 1.2 s'
    """
    read = units.octets(state["delivered"])
    simulated = units.time(state["t"])
    if state["total"]:
        share = state["delivered"] / state["total"]
        text = f"{read} of {units.octets(state['total'])} read, {simulated} simulated"
    else:
        share = state["t"] / state["duration"] if state["duration"] else 0.0
        text = f"{read} read, {simulated} of at most {units.time(state['duration'])} simulated"
    return f"{int(100 * share):3d} %  {text} in {elapsed:.1f} s"
