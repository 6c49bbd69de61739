"""Errors of cells, told by the place in the sweep file that caused them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from anabranch.scenario import literal

if TYPE_CHECKING:
    from anabranch.scenario import Value
    from anabranch.sweeps.plan import Cell, Point

_OF_CHANGE = re.compile(r"(?P<file>[^\n]*?): (?P<place>[^\s:]+) \(from --set or set\(\)\): (?P<rest>.*)", re.DOTALL)


def refused_values(axes: "Mapping[str, tuple[Point, ...]]", cells: "Sequence[Cell]") -> Iterator[str]:
    """Errors of the values that every cell with them refuses: these values are wrong, not their combination."""
    for name, points in axes.items():
        for point in points:
            with_it = [cell for cell in cells if cell.labels[name] == point.label]
            if all(cell.error for cell in with_it):
                own = [cell for cell in with_it if _concerns(cell.error, point.changes)]
                if own:
                    yield by_axis(own[0], {name: (point,)})


def by_axis(cell: "Cell", axes: "Mapping[str, tuple[Point, ...]]", changes: "Mapping[str, Value] | None" = None) -> str:
    """The error of `cell` with its place in the sweep file: one of `axes`, or a key of `changes`, the table `set`.

    The engine names the scenario's file and the option ``--set``, by which the cell was made.
    """
    found = _OF_CHANGE.fullmatch(cell.error)
    if found is None:
        return cell.error
    for name, points in axes.items():
        for point in points:
            if point.label == cell.labels[name] and _concerns(cell.error, point.changes):
                return f"axes.{name}: {_with_value(found['rest'], point.label)}"
    for key in changes or {}:
        if _concerns(cell.error, {key: ""}):
            return f"set.{key}: {found['rest']}"
    return cell.error


def _with_value(rest: str, label: "Value") -> str:
    """The message, with the value unless the first line has it."""
    shown = str(label)
    return rest if shown in rest.partition("\n")[0] or "unknown key" in rest else f"{literal(label)}: {rest}"


def _concerns(error: str, changes: "Mapping[str, Value]") -> bool:
    """One of `changes` is at the place that `error` names, inside it, or around it."""
    found = _OF_CHANGE.fullmatch(error)
    if found is None:
        return False
    place = _dotted(found["place"])
    return any(_within(place, _dotted(key)) or _within(_dotted(key), place) for key in changes)


def _within(inner: str, outer: str) -> bool:
    return f"{inner}.".startswith(f"{outer}.")


def _dotted(place: str) -> str:
    """A place with numbers as keys.

    >>> _dotted("path[1].delay")
    'path.1.delay'
    """
    return re.sub(r"\[(\d+)\]", r".\1", place)
