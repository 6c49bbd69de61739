"""Means, differences of pairs, and their confidence intervals."""

import math
from collections.abc import Sequence
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
    """Probability of a value above `t` >= 0."""
    return _beta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2


def _beta(x: float, a: float, b: float) -> float:
    """Regularised incomplete beta function, by its continued fraction (DLMF 8.17.22)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta(1 - x, b, a)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    ) / a
    fraction, c, d = 1.0, 1.0, 0.0
    for step in range(1, 400):
        m = step // 2
        if step == 1:
            term = 1.0
        elif step % 2:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        else:
            k = m - 1
            term = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1))
        d = 1 / _nonzero(1 + term * d)
        c = _nonzero(1 + term / c)
        change = c * d
        fraction *= change
        if abs(change - 1) < 1e-15:
            break
    return front * (fraction - 1) if fraction > 1 else front * fraction


def _nonzero(value: float) -> float:
    return value if abs(value) > 1e-300 else 1e-300
