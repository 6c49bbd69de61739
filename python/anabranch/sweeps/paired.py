"""Means, differences of pairs, and their confidence intervals."""

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple


class Interval(NamedTuple):
    """A mean with its confidence interval (Student's t); the bounds are NaN for fewer than two values."""

    n: int
    mean: float
    low: float
    high: float


def interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """Mean of `values` and the interval that holds the true one with probability `confidence`.

    The values are taken for independent and about normal; of paired runs give the differences.

    >>> [round(number, 3) for number in interval([1.0, 2.0, 3.0])]
    [3, 2.0, -0.484, 4.484]
    """
    n = len(values)
    if n == 0:
        return Interval(0, math.nan, math.nan, math.nan)
    mean = math.fsum(values) / n
    if n == 1:
        return Interval(1, mean, math.nan, math.nan)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1))
    half = student(1 - (1 - confidence) / 2, n - 1) * deviation / math.sqrt(n)
    return Interval(n, mean, mean - half, mean + half)


@cache
def student(probability: float, freedom: int) -> float:
    """Quantile of Student's t distribution, for a `probability` of 0.5 to below 1.

    >>> round(student(0.975, 9), 3), round(student(0.95, 1), 3), round(student(0.975, 1000), 3)
    (2.262, 6.314, 1.962)
    """
    if not 0.5 <= probability < 1:
        raise ValueError(f"probability must be from 0.5 to below 1, not {probability}")
    low, high = 0.0, 1.0
    while _above(high, freedom) > 1 - probability:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _above(middle, freedom) > 1 - probability else (low, middle)
    return (low + high) / 2


def _above(t: float, freedom: int) -> float:
    """Probability of a value above `t` >= 0, by the finite sums of Abramowitz and Stegun, 26.7.3 and 26.7.4."""
    angle = math.atan(t / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term = cosine if odd else 1.0
    total = 0.0
    for k in range(2 + odd, freedom + 1, 2):
        total += term
        term *= cosine * cosine * (k - 1) / k
    inside = 2 / math.pi * (angle + sine * total) if odd else sine * total
    return (1 - inside) / 2
