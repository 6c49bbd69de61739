"""From captures to a twin."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from anabranch.captures.data import CaptureData
from anabranch.diagnosis.given import main_of
from anabranch.diagnosis.measure import examined
from anabranch.diagnosis.twin.fit import BUDGET, Twin, twin_of
from anabranch.measures.labels import connections_of


class Captured(NamedTuple):
    """A connection of a capture: its summary, its number, and the frames of all."""

    found: dict[str, Any]
    number: int
    frames: Any


def captured(of: Sequence[str] | CaptureData, poll: Callable[[int, int], None] | None = None) -> Captured:
    """The connection with the most data, of files or of what was found in them."""
    capture = of if isinstance(of, CaptureData) else examined(list(of), poll)[1]
    connections = connections_of(capture.summary)
    number = main_of(connections)
    return Captured(dict(connections[number]), number, capture.core)


def made(what: Captured, *, budget: float = BUDGET, progress: Callable[[int, float], None] | None = None) -> Twin:
    """Its twin."""
    return twin_of(what.found, what.number, what.frames, budget=budget, progress=progress)
