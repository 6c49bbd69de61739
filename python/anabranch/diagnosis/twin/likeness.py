"""How like a run is to a capture: goodput, the subflows' shares, and reordering."""

from collections.abc import Mapping
from typing import Any, NamedTuple

BOUND = 0.1
"""A twin is like its capture if nothing differs by more."""


class Likeness(NamedTuple):
    """What differs.

    Attributes
    ----------
    goodput : float
        The run's over the capture's, less 1.
    shares : float
        The largest difference between the shares of a path in the data delivered: 0.1 is ten points.
    reordering : float
        Difference of the shares of data that arrived out of order.
    """

    goodput: float
    shares: float
    reordering: float

    @property
    def worst(self) -> float:
        """The largest of the three."""
        return max(abs(value) for value in self)

    @property
    def is_like(self) -> bool:
        """All within the bound."""
        return self.worst <= BOUND


def likeness(capture: Mapping[str, Any], run: Mapping[str, Any]) -> Likeness:
    """Compares two summaries of a connection."""
    goodput = (run["goodput_mbps"] or 0.0) / (capture["goodput_mbps"] or 1e-9) - 1
    one, other = shares(capture), shares(run)
    apart = max((abs(one.get(path, 0.0) - other.get(path, 0.0)) for path in {*one, *other}), default=0.0)
    return Likeness(goodput, apart, (run["ooo_ratio"] or 0.0) - (capture["ooo_ratio"] or 0.0))


def shares(summary: Mapping[str, Any]) -> dict[int, float]:
    """Of each path in the goodput of its connection; paths have the same numbers in a capture and in its twin."""
    found: dict[int, float] = {}
    for flow in summary["subflows"]:
        found[flow["path"]] = found.get(flow["path"], 0.0) + (flow["goodput_mbps"] or 0.0)
    total = sum(found.values()) or 1.0
    return {path: value / total for path, value in found.items()}
