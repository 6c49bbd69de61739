"""Rows of a comparison: numbers of two summaries with the ratio second / first."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from anabranch import units
from anabranch.tables import aligned

Fields: TypeAlias = Sequence[tuple[str, str]]
"""Keys of a summary, ``one_way_delay_ms.p50`` for one inside another, and what they are called."""
Both: TypeAlias = tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]
"""A connection or subflow of each side; None where one side has none."""

_MOST = 12
"""Connections that are compared number by number; of more, the goodputs."""


class Pair(NamedTuple):
    """Connections that belong together, and their subflows.

    Attributes
    ----------
    name : str
        What the connection is called.
    both : Both
        Their objects in the summaries.
    flows : sequence
        What each pair of subflows is called, and their objects.
    """

    name: str
    both: Both
    flows: Sequence[tuple[str, Both]]


def table(names: tuple[str, str], pairs: Sequence[Pair], fields: Fields, flow_fields: Fields) -> list[str]:
    """All pairs; of very many connections the goodputs."""
    head = ["", *names, "ratio"]
    if len(pairs) > _MOST:
        rows = [row(pair.name, pair.both, "goodput_mbps") for pair in pairs]
        return aligned([["goodput (Mbit/s)", *names, "ratio"], *rows])
    rows = [head]
    for pair in pairs:
        if len(pairs) > 1:
            rows += [["", "", "", ""]] * (len(rows) > 1) + [[pair.name, "", "", ""]]
        rows += known(fields, pair.both)
        for name, flows in pair.flows:
            rows += [["", "", "", ""], [name, "", "", ""]]
            rows += known(flow_fields, flows, "  ")
    return aligned(rows)


def known(fields: Fields, both: Both, indent: str = "") -> list[list[str]]:
    """The lines of what at least one side knows."""
    return [
        row(indent + label, both, key) for key, label in fields if any(value(side, key) is not None for side in both)
    ]


def row(label: str, both: Both, key: str) -> list[str]:
    """A line of the table."""
    a, b = (value(side, key) for side in both)
    numbers = all(isinstance(x, int | float) and not isinstance(x, bool) for x in (a, b))
    return [label, written(a), written(b), units.significant(b / a, 4) if numbers and a else ""]


def value(side: Mapping[str, Any] | None, key: str) -> Any:
    """What `side` has there; None if nothing."""
    found: Any = side
    for name in key.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def written(x: Any) -> str:
    """A value in a cell."""
    if x is None:
        return "-"
    if isinstance(x, bool):
        return "yes" if x else "no"
    return units.significant(x, 4) if isinstance(x, float) else str(x)


def by_place(ours: Sequence[Mapping[str, Any]], theirs: Sequence[Mapping[str, Any]]) -> list[Both]:
    """The first with the first, the second with the second, and so on."""
    return [
        (ours[i] if i < len(ours) else None, theirs[i] if i < len(theirs) else None)
        for i in range(max(len(ours), len(theirs)))
    ]
