"""Rows of a comparison: numbers of two summaries with the ratio second / first."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from anabranch.measures import units
from anabranch.measures.table import of_field
from anabranch.tables import Column, Table, headings

if TYPE_CHECKING:
    import pandas as pd

Fields: TypeAlias = Mapping[str, str]
"""Keys of a summary, ``one_way_delay_ms.p50`` for one inside another, and the mark behind their label."""
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


def table(names: tuple[str, str], pairs: Sequence[Pair], fields: Fields, flow_fields: Fields) -> Table:
    """All pairs; of very many connections the goodputs."""
    if len(pairs) > _MOST:
        head = of_field("goodput_mbps").label
        return _table(head, names, [[pair.name, *_row("goodput_mbps", pair.both)[1:]] for pair in pairs])
    rows: list[list[str]] = []
    for pair in pairs:
        if len(pairs) > 1:
            rows += [[""] * 4] * bool(rows) + [[pair.name, "", "", ""]]
        rows += known(fields, pair.both)
        for name, flows in pair.flows:
            rows += [[""] * 4, [name, "", "", ""]]
            rows += known(flow_fields, flows, "  ")
    return _table("", names, rows)


def whole(head: str, names: tuple[str, str], fields: Fields, both: Both) -> Table:
    """A table of one pair."""
    return _table(head, names, known(fields, both))


def frame(pairs: Sequence[Pair], fields: Fields, flow_fields: Fields) -> "pd.DataFrame":
    """Return a row for each connection or subflow and each field that at least one side has."""
    import pandas as pd

    rows = []
    for pair in pairs:
        parts = [(None, pair.both, fields), *((name, both, flow_fields) for name, both in pair.flows)]
        for subflow, both, some in parts:
            for key in some:
                a, b = (value(side, key) for side in both)
                if a is not None or b is not None:
                    rows.append((pair.name, subflow, key, a, b, _ratio(a, b)))
    return pd.DataFrame(rows, columns=["connection", "subflow", "field", "first", "second", "ratio"])


def _ratio(a: Any, b: Any) -> float | None:
    numbers = all(isinstance(x, int | float) and not isinstance(x, bool) for x in (a, b))
    return b / a if numbers and a else None


def _table(head: str, names: tuple[str, str], rows: Sequence[Sequence[str]]) -> Table:
    columns = zip((head, *headings(names), "ratio"), zip(*rows, strict=True), strict=True)
    return Table([Column((name,), cells, left=not i) for i, (name, cells) in enumerate(columns)])


def known(fields: Fields, both: Both, indent: str = "") -> list[list[str]]:
    """The lines of what at least one side knows."""
    return [
        _row(key, both, indent, mark)
        for key, mark in fields.items()
        if any(value(side, key) is not None for side in both)
    ]


def _row(key: str, both: Both, indent: str = "", mark: str = "") -> list[str]:
    """A line of the table."""
    a, b = (value(side, key) for side in both)
    measure, counts = of_field(key), [x for x in (a, b) if isinstance(x, int | float) and not isinstance(x, bool)]
    unit = f" ({measure.unit})" if measure.unit and counts else ""
    ratio = _ratio(a, b)
    return [
        indent + measure.words + unit + mark,
        *(written(x, key) for x in (a, b)),
        "" if ratio is None else units.significant(ratio, 4),
    ]


def value(side: Mapping[str, Any] | None, key: str) -> Any:
    """What `side` has there; None if nothing."""
    found: Any = side
    for name in key.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def written(x: Any, key: str) -> str:
    """A value in a cell."""
    if x is None:
        return "-"
    if isinstance(x, bool):
        return "yes" if x else "no"
    if isinstance(x, str):
        return x
    factor = of_field(key).scale
    return units.significant(factor * x, 4) if isinstance(x, float) or factor != 1 else str(x)


def by_place(ours: Sequence[Mapping[str, Any]], theirs: Sequence[Mapping[str, Any]]) -> list[Both]:
    """The first with the first, the second with the second, and so on."""
    return [
        (ours[i] if i < len(ours) else None, theirs[i] if i < len(theirs) else None)
        for i in range(max(len(ours), len(theirs)))
    ]
