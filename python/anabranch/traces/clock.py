"""Times of rows: numbers of seconds or parts of them, dates with a time of day, times of day.

All times become whole nanoseconds, because nanoseconds since 1970 are more than a float holds.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from anabranch.traces.names import time_unit
from anabranch.traces.reading import TraceError, is_number

Cells = Sequence[tuple[int, str]]
"""Line and text of each cell of a column."""

_FULL = re.compile(
    r"(?:(?P<year>\d{4})(?P<mark>[-./])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})[T _-]"
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2})(?:[.,](?P<part>\d+))?)?"
    r"|(?P<year2>\d{4})(?P<month2>\d{2})(?P<day2>\d{2})[T _-]?"
    r"(?P<hour2>\d{2})(?P<minute2>\d{2})(?P<second2>\d{2})(?:[.,](?P<part2>\d+))?)"
    r"\s*(?P<zone>Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?",
    re.ASCII | re.IGNORECASE,
)
_OF_DAY = re.compile(r"(?P<hour>\d{1,2}):(?P<minute>\d{2}):(?P<second>\d{2})(?:[.,](?P<part>\d+))?", re.ASCII)
_SECOND = 1_000_000_000
_DAY = 86_400 * _SECOND
_EPOCH = 719_163
"""Days from 1 January of year 1 to 1 January 1970."""
_ALLOWED = "allowed: a number of seconds, 2026-01-02T10:00:00.5+01:00, 2019.12.01_12.11.21, or 12:11:21"
_LATEST = 4_200_000_000
"""Seconds from 1970 to 2103: no time is later."""
_EARLIEST = 1_000_000_000
"""Seconds from 1970 to 2001: times in parts of a second since 1970 are later."""
UNITS = {"s": _SECOND, "ms": 1_000_000, "us": 1_000, "ns": 1}
"""Nanoseconds of each unit."""


@dataclass(frozen=True)
class Times:
    """Times of the rows of a table.

    Attributes
    ----------
    when : list of float
        In s, the first one 0. They never decrease.
    said : str
        What the column holds, for a note.
    """

    when: list[float]
    said: str


def is_time(text: str) -> bool:
    """Returns True for a date with a time of day and for a time of day."""
    return _FULL.fullmatch(text) is not None or _OF_DAY.fullmatch(text) is not None


def is_of_day(text: str) -> bool:
    """Returns True for a time of day without a date."""
    return _OF_DAY.fullmatch(text) is not None


def times(name: str, column: str, cells: Cells) -> Times:
    """Returns the times in `cells` of a `column` in file `name`; rows may share a time, but time must not go back.

    Numbers are in the unit that the column's name has, else in seconds, or in the parts of a second since 1970 that
    give a date from 2001 to 2103.
    """
    for line, text in cells:
        if not text:
            raise TraceError(f"{name}, line {line}: {column} is empty; every row needs a time")
    first = cells[0][1]
    if is_of_day(first):
        found, said = _of_day(name, column, cells)
    elif (match := _FULL.fullmatch(first)) and not (is_number(first) and not _compact(match)):
        found, said = _dated(name, column, cells)
    else:
        found, said = _numbers(name, column, cells)
    for (line, text), before, now in zip(cells[1:], found, found[1:], strict=False):
        if now < before:
            remedy = "sort the rows by time"
            raise TraceError(f"{name}, line {line}: {column} {text} is earlier than the row above it; {remedy}")
    return Times([(now - found[0]) / _SECOND for now in found], said)


def _numbers(name: str, column: str, cells: Cells) -> tuple[list[int], str]:
    unit = ""
    found: list[int] = []
    for line, text in cells:
        place = f"{name}, line {line}: {column}"
        if not is_number(text):
            raise TraceError(f"{place} {text!r} is not a time; {_ALLOWED}")
        value = Decimal(text)
        if value < 0:
            raise TraceError(f"{place} {text} is negative; times are 0 or later")
        unit = unit or _unit(place, column, value)
        if value * UNITS[unit] > _LATEST * _SECOND:
            raise TraceError(
                f"{place} {text} {unit} is later than the year 2103; correct the time, or the unit in the column's name"
            )
        found.append(int(value * UNITS[unit]))
    return found, f"in {unit}" + (" since 1970" if found[0] >= _EARLIEST * _SECOND else "")


def _compact(match: "re.Match[str]") -> bool:
    """Returns True if digits such as 20191201121121 are a date, and no time since 1970."""
    return _nanoseconds(match) is not None and _epoch_unit(Decimal(match[0])) is None


def _unit(place: str, column: str, first: Decimal) -> str:
    told = time_unit(column) or "s"
    if first * UNITS[told] <= _LATEST * _SECOND:
        return told
    if found := _epoch_unit(first):
        return found
    unit = time_unit(column)
    remedy = "correct the unit in" if unit else f'write the unit, such as "{column} (ns)", into'
    raise TraceError(f"{place} {first} {told} is later than the year 2103; {remedy} the column's name")


def _epoch_unit(value: Decimal) -> str | None:
    """Returns the part of a second that gives a date from 2001 to 2103, if there is one."""
    return next((u for u, ns in UNITS.items() if _EARLIEST * _SECOND <= value * ns <= _LATEST * _SECOND), None)


def _dated(name: str, column: str, cells: Cells) -> tuple[list[int], str]:
    found: list[int] = []
    zoned = None
    for line, text in cells:
        match = _FULL.fullmatch(text)
        at = _nanoseconds(match) if match else None
        if match is None or at is None:
            raise TraceError(f"{name}, line {line}: {column} {text!r} is not a time; {_ALLOWED}")
        if zoned is not None and zoned != (match["zone"] is not None):
            raise TraceError(f"{name}, line {line}: {column} {text}: give all rows an offset from UTC, or none")
        zoned = match["zone"] is not None
        found.append(at)
    return found, "dates" + (" with offsets from UTC" if zoned else "")


def _of_day(name: str, column: str, cells: Cells) -> tuple[list[int], str]:
    """Returns times of day from the midnight before the first; a fall by more than half a day is another midnight."""
    found: list[int] = []
    passed: list[int] = []
    for line, text in cells:
        match = _OF_DAY.fullmatch(text)
        at = _clock(match, "") if match else None
        if at is None:
            raise TraceError(f"{name}, line {line}: {column} {text!r} is not a time of day, such as 12:11:21")
        at += len(passed) * _DAY
        if found and at < found[-1] - _DAY // 2:
            passed.append(line)
            at += _DAY
        found.append(at)
    midnight = f", over midnight at line {', '.join(map(str, passed[:3]))}" if passed else ""
    return found, f"times of day without dates{midnight}"


def _nanoseconds(match: "re.Match[str]") -> int | None:
    """Returns the time since 1970, or None if there is no such date or time of day."""
    form = "" if match["year"] else "2"
    try:
        day = date(*(int(match[part + form]) for part in ("year", "month", "day"))).toordinal() - _EPOCH
    except ValueError:
        return None
    at, offset = _clock(match, form), _offset(match["zone"])
    return None if at is None or offset is None else day * _DAY + at - offset


def _clock(match: "re.Match[str]", form: str) -> int | None:
    """Returns the time of day; 24:00:00 and a leap second exist."""
    hour, minute, second = (int(match[part + form] or 0) for part in ("hour", "minute", "second"))
    part = match["part" + form] or ""
    at = ((hour * 60 + minute) * 60 + second) * _SECOND + int(f"{part:0<9}"[:9])
    return at if minute < 60 and second <= 60 and (hour < 24 or at == _DAY) else None


def _offset(zone: str | None) -> int | None:
    """Returns an offset from UTC."""
    if zone is None or zone[0] not in "+-":
        return 0
    hours, minutes = int(zone[1:3]), int(zone[3:].lstrip(":") or 0)
    if hours > 23 or minutes > 59:
        return None
    return (hours * 60 + minutes) * 60 * _SECOND * (-1 if zone[0] == "-" else 1)
