"""From files to a twin."""

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from anabranch import _core
from anabranch.diagnosis.twin.fit import BUDGET, Twin, twin_of
from anabranch.labels import connections_of


class Captured(NamedTuple):
    """A connection of a capture: its summary, its number, and the frames of all."""

    found: dict[str, Any]
    number: int
    frames: Any


def captured(files: Sequence[str], poll: Callable[[int, int], None] | None = None) -> Captured:
    """The connection with the most data."""
    core = _core.analyze(list(files), poll, None, True)
    connections = connections_of(json.loads(core.summary))
    number = max(range(len(connections)), key=lambda i: connections[i]["bytes_delivered"])
    return Captured(dict(connections[number]), number, core)


def made(what: Captured, *, budget: float = BUDGET, progress: Callable[[int, float], None] | None = None) -> Twin:
    """Its twin."""
    return twin_of(what.found, what.number, what.frames, budget=budget, progress=progress)
