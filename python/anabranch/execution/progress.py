"""One line that says how far a run or a sweep is: over and over on a terminal, once in a while where there is none."""

import math
import shutil
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import IO, Any, NamedTuple, Self

from anabranch.measures import units

_PATIENCE = 0.5
"""Seconds of silence: most runs are over before."""
_PERIOD = 0.1
_PLAIN = 10.0
"""Seconds between two lines of a sweep where there is no terminal, and before the first one."""


class State(NamedTuple):
    """How far a sweep is.

    Attributes
    ----------
    total : int
        Runs of the plan, as far as it is known.
    stored : int
        Of these, the ones that were there already.
    done, failed : int
        Made since the start; of all that are done, the ones that were refused or failed.
    seconds : float
        Since the start.
    last : str
        What was finished last.
    most : float
        Seconds until a budget ends it.
    """

    total: int
    stored: int
    done: int
    failed: int
    seconds: float
    last: str = ""
    most: float = math.inf


class Line:
    """A line that is written over again, and gone in the end.

    Parameters
    ----------
    stream : file, optional
        Where to write; standard error if not given.
    """

    def __init__(self, stream: IO[str] | None = None) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.start = time.monotonic()
        self._next = self.start + _PATIENCE
        self._shown = 0

    def __enter__(self) -> Self:
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

    def show(self, text: Callable[[float], str]) -> None:
        """Show `text` of the seconds since the start, unless the line has just been written."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _PERIOD
            self._write(text(now - self.start))

    def _write(self, text: str) -> None:
        width = max(20, shutil.get_terminal_size().columns - 1)
        text = text[:width]
        padded = text.ljust(self._shown)
        # Noted first: an interrupt may come as soon as the text is there, which then has to be
        # wiped.
        self._shown = len(padded)
        self.stream.write("\r" + padded)
        self.stream.flush()
        self._shown = len(text)


class Progress(Line):
    """Called by the engine; shows what it was told, never an estimate of its own."""

    def __call__(self, state: dict[str, Any]) -> None:
        """Take the engine's state: ``t``, ``duration``, ``delivered``, ``total``."""
        self.show(lambda elapsed: line(state, elapsed))


class CaptureProgress(Line):
    """Called while captures are read."""

    def __call__(self, octets: int, packets: int) -> None:
        """Take how much was read."""
        self.show(lambda elapsed: f"{units.octets(octets)} read, {packets} packets, {elapsed:.0f} s")


class SweepProgress(Line):
    """Called by a sweep. Without a terminal it writes whole lines, and only of sweeps that take long.

    Parameters
    ----------
    stream : file, optional
        Where to write; standard error if not given.
    name : str
        What the line begins with, such as the name of one sweep of a study.
    """

    def __init__(self, stream: IO[str] | None = None, name: str = "") -> None:
        super().__init__(stream)
        self.name = name
        self._plain = not self.stream.isatty()
        self._last: State | None = None
        if self._plain:
            self._next = self.start + _PLAIN

    def __call__(self, state: "State") -> None:
        """Take the sweep's state."""
        self._last = state
        self.show(lambda _: (f"{self.name}: " if self.name else "") + sweep_line(state))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wipe the line; of whole lines, write the last one."""
        if self._plain and self._shown and self._last is not None:
            self._next = 0.0
            self(self._last)
        elif not self._plain:
            super().__exit__(kind, error, trace)

    def _write(self, text: str) -> None:
        if not self._plain:
            super()._write(text)
            return
        self._next += _PLAIN - _PERIOD
        self._shown = 1
        self.stream.write(text.strip() + "\n")
        self.stream.flush()


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


def sweep_line(state: "State") -> str:
    """What the line says of a sweep. The time left is what the rest takes at the rate so far, or what a budget allows.

    >>> from anabranch.execution.progress import State
    >>> sweep_line(State(total=1000, stored=200, done=300, failed=2, seconds=12.0, last="coupled, seed 3"))
    ' 50 %  500 of 1000 runs done (200 before), 2 failed, 25 runs/s, 20 s left, last: coupled, seed 3'
    >>> sweep_line(State(total=468, stored=0, done=8, failed=0, seconds=4.0, most=6.0))
    '  1 %  8 of 468 runs done, 0 failed, 2 runs/s, 6 s of the budget left'
    >>> sweep_line(State(total=10, stored=0, done=0, failed=0, seconds=1.0))
    '  0 %  0 of 10 runs done, 0 failed'
    """
    done = state.stored + state.done
    before = f" ({state.stored} before)" if state.stored else ""
    text = f"{100 * done // state.total:3d} %  {done} of {state.total} runs done{before}, {state.failed} failed"
    if state.done and state.seconds > 0:
        rate = state.done / state.seconds
        left = (state.total - done) / rate
        whose = " of the budget" if left > state.most else ""
        text += f", {units.significant(rate, 2)} runs/s, {units.time(round(min(left, state.most)))}{whose} left"
    return text + (f", last: {state.last}" if state.last else "")
