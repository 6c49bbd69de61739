"""Rows that share a time: an instant counts once, with the mean of its rows."""

import itertools
import math
from collections.abc import Sequence
from statistics import fmean
from typing import TypeVar

T = TypeVar("T")

TIMES = (
    *("time", "t", "timestamp", "second", "seconds", "sec", "datetime", "date_time", "ts"),
    *("epoch", "unix_time", "unixtime", "elapsed", "relative"),
)
"""What a column of times may be called; which of several is taken is said."""


def instants(when: Sequence[float], rows: Sequence[T]) -> list[tuple[float, list[T]]]:
    """Groups the rows by their times, which do not decrease.

    >>> instants([0, 1, 1], ["a", "b", "c"])
    [(0, ['a']), (1, ['b', 'c'])]
    """
    pairs = itertools.groupby(zip(when, rows, strict=True), key=lambda pair: pair[0])
    return [(t, [row for _, row in same]) for t, same in pairs]


def mean(values: Sequence[float]) -> float:
    """Returns the mean of the values that are not NaN, NaN if all are.

    >>> mean([10, math.nan, 20])
    15.0
    """
    known = [value for value in values if not math.isnan(value)]
    return fmean(known) if known else math.nan


def together(name: str, fewer: int) -> list[str]:
    """Returns a note about rows that share their time with the row above, or nothing."""
    if not fewer:
        return []
    rows = "1 row has" if fewer == 1 else f"{fewer} rows have"
    return [f"{name}: {rows} the time of the row above; an instant counts once, with the mean of its rows"]
