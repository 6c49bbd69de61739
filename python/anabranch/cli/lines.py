"""Progress lines, where somebody sees them, and an engine that can be interrupted."""

import contextlib
import sys
from typing import TYPE_CHECKING

from anabranch.cli.common import Interrupted
from anabranch.execution import interrupt
from anabranch.measures import units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from anabranch.diagnosis.tried import Watch
    from anabranch.execution.progress import CaptureProgress, Progress, State, SweepProgress


@contextlib.contextmanager
def run_progress(*, quiet: bool) -> "Iterator[Progress | None]":
    """A progress line for the engine to call, or None where nobody would see it."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from anabranch.execution.progress import Progress

    with Progress() as progress:
        yield progress


@contextlib.contextmanager
def capture_progress(*, quiet: bool) -> "Iterator[CaptureProgress | None]":
    """A progress line for the reader of captures, or None where nobody would see it."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from anabranch.execution.progress import CaptureProgress

    with CaptureProgress() as progress:
        yield progress


@contextlib.contextmanager
def sweep_progress(*, quiet: bool, name: str = "") -> "Iterator[SweepProgress | None]":
    """A progress line for a sweep; where no terminal is, it writes a line now and then."""
    if quiet:
        yield None
        return
    from anabranch.execution.progress import SweepProgress

    with SweepProgress(name=name) as progress:
        yield progress


@contextlib.contextmanager
def search_progress(*, quiet: bool) -> "Iterator[Callable[[int, int, State], None] | None]":
    """A progress line for a search among candidates, or None where nobody would see it."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from anabranch.execution.progress import SweepProgress

    with SweepProgress() as line:

        def show(number: int, candidates: int, state: "State") -> None:
            line.name = f"round {number}, {units.count(candidates, 'candidate')}"
            line(state)

        yield show


@contextlib.contextmanager
def twin_progress(*, quiet: bool) -> "Iterator[Watch | None]":
    """Progress lines for the fit of a twin and for what is tried on it, or None where nobody would see them."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from anabranch.diagnosis.tried import Watch
    from anabranch.execution.progress import SweepProgress

    def fit(runs: int, apart: float) -> None:
        sys.stderr.write(f"\rfitting a twin: {units.count(runs, 'run')}, {100 * apart:.1f} % apart \x1b[K")
        sys.stderr.flush()

    with SweepProgress(name="trying changes") as line:
        yield Watch(fit, line)
    sys.stderr.write("\r\x1b[K")


@contextlib.contextmanager
def engine(kept: "Callable[[], str]", *, quiet: bool) -> "Iterator[Progress | None]":
    """Run the engine: with a progress line, and ready to be interrupted, of which `kept` says what is left."""
    with interrupt.raising():
        try:
            with run_progress(quiet=quiet) as poll:
                yield poll
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted: {kept()}") from None
