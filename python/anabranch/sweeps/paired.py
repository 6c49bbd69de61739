"""Means, differences of pairs, and their confidence intervals."""

import math
from collections.abc import Iterator, Sequence
from functools import cache
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

from anabranch.sentences import sweep as say

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


NOISE = 1e-13
"""Values whose relative difference is smaller are equal: the rest is rounding."""


class Interval(NamedTuple):
    """A mean with its confidence interval (Student's t).

    Attributes
    ----------
    n : int
        Number of values. Identical runs count as one.
    mean : float
        NaN without a value.
    low, high : float
        Bounds of the interval; NaN for fewer than two values and for identical runs.
    identical : int
        Number of identical runs that `n` counts as one; 0 if the runs are not identical.
    """

    n: int
    mean: float
    low: float
    high: float
    identical: int = 0


def interval(values: Sequence[float], confidence: float = 0.95, *, identical: bool = False) -> Interval:
    """Return the mean of `values` and the interval that holds the true mean with probability `confidence`.

    The method supposes independent and roughly normal values. For paired runs, give the differences.

    Parameters
    ----------
    values : sequence of float
        One value per run.
    confidence : float
        Of the interval.
    identical : bool
        The values are of identical runs (`repeats.identical`), which count as one run. For differences: both runs
        of the pairs are.

    >>> [round(number, 3) for number in interval([1.0, 2.0, 3.0])[:4]]
    [3, 2.0, -0.484, 4.484]
    >>> interval([2.0, 2.0, 2.0], identical=True)
    Interval(n=1, mean=2.0, low=nan, high=nan, identical=3)
    """
    _check(confidence)
    n = len(values)
    if n == 0:
        return Interval(0, math.nan, math.nan, math.nan)
    lowest, highest = min(values), max(values)
    constant = highest - lowest <= NOISE * max(abs(lowest), abs(highest))
    mean = values[0] if constant else math.fsum(values) / n
    if n == 1 or (identical and constant):
        return Interval(1, mean, math.nan, math.nan, n if n > 1 else 0)
    if constant:
        return Interval(n, mean, mean, mean)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1))
    half = student(1 - (1 - confidence) / 2, n - 1) * deviation / math.sqrt(n)
    return Interval(n, mean, mean - half, mean + half)


def _check(confidence: float) -> None:
    if not 0 <= confidence < 1:
        raise ValueError(say.WRONG_CONFIDENCE(value=confidence))


@cache
def student(probability: float, freedom: int) -> float:
    """Quantile of Student's t distribution, for a `probability` of 0.5 to below 1.

    >>> round(student(0.975, 9), 3), round(student(0.95, 1), 3), round(student(0.975, 1000), 3)
    (2.262, 6.314, 1.962)
    """
    if not 0.5 <= probability < 1:
        raise ValueError(say.WRONG_PROBABILITY(value=probability))
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


class Intervals(NamedTuple):
    """As `Interval`, of many cells: arrays, and the probability `p` of a mean so far from 0 if the true one were 0."""

    n: "NDArray[np.int64]"
    mean: "NDArray[np.float64]"
    low: "NDArray[np.float64]"
    high: "NDArray[np.float64]"
    p: "NDArray[np.float64]"
    identical: "NDArray[np.int64]"

    def each(self) -> Iterator[Interval]:
        """Yield one `Interval` per cell."""
        columns = (self.n, self.mean, self.low, self.high, self.identical)
        return map(Interval, *(column.tolist() for column in columns))

    def once(self, identical: "NDArray[np.bool_]") -> "Intervals":
        """Return the same intervals with the cells of `identical` runs counted as one run each.

        A cell whose values differ although its runs are identical, as the wall-clock time of the runs does, stays.
        """
        import numpy as np

        some = identical & (self.n > 1) & (self.low == self.high)
        low, high, p = (np.where(some, np.nan, column) for column in (self.low, self.high, self.p))
        return Intervals(np.where(some, 1, self.n), self.mean, low, high, p, np.where(some, self.n, 0))


def by_student(
    values: "NDArray[np.float64]",
    confidence: float = 0.95,
    scale: "NDArray[np.float64] | None" = None,
    *,
    tested: bool = True,
) -> Intervals:
    """Return the `interval` of each row of `values`; NaN are left out. Without `tested` there is no ``p``.

    `scale` has the size of the numbers that the values of a row were computed from, if it is not that of the values:
    a spread below the rounding error of such numbers is none.

    >>> import numpy as np
    >>> found = by_student(np.array([[1.0, 2.0, 3.0], [2.0, np.nan, np.nan]]))
    >>> found.n.tolist(), found.low.round(3).tolist(), found.p.round(3).tolist()
    ([3, 1], [-0.484, nan], [0.074, nan])
    """
    import numpy as np

    _check(confidence)
    n = (~np.isnan(values)).sum(1)
    with np.errstate(invalid="ignore", divide="ignore"):
        lowest, highest = _ends(values)
        size = np.maximum(abs(lowest), abs(highest))
        constant = (n > 0) & (highest - lowest <= NOISE * (size if scale is None else np.fmax(size, scale)))
        mean = np.where(n > 0, np.nansum(values, 1) / n, np.nan)
        mean = np.where(constant & (lowest == highest), lowest, mean)
        error = np.sqrt(np.nansum((values - mean[:, None]) ** 2, 1) / (n - 1) / n)
        error[constant] = 0.0
        error[n < 2] = np.nan
        quantile = {k: student((1 + confidence) / 2, k - 1) if k > 1 else math.nan for k in set(n.tolist())}
        half = np.array([quantile[k] for k in n.tolist()]) * error
        # Without any spread a mean other than 0 is certain.
        t = np.where(error > 0, np.abs(mean) / error, np.where(mean == 0, 0.0, math.inf))
    t[(n < 2) | (not tested)] = np.nan
    p = [math.nan if math.isnan(x) else 2 * _above(x, k - 1) for x, k in zip(t.tolist(), n.tolist(), strict=True)]
    return Intervals(n, mean, mean - half, mean + half, np.array(p), np.zeros_like(n))


def _ends(values: "NDArray[np.float64]") -> "tuple[NDArray[np.float64], NDArray[np.float64]]":
    """Lowest and highest value of each row; NaN of a row without a value."""
    import numpy as np

    some = ~np.isnan(values)
    lowest = np.where(some, values, np.inf).min(1, initial=np.inf)
    highest = np.where(some, values, -np.inf).max(1, initial=-np.inf)
    empty = ~some.any(1)
    return np.where(empty, np.nan, lowest), np.where(empty, np.nan, highest)


def by_bootstrap(
    values: "NDArray[np.float64]",
    confidence: float = 0.95,
    scale: "NDArray[np.float64] | None" = None,
    *,
    resamples: int = 4000,
    tested: bool = True,
) -> Intervals:
    """The same by resampling, bias-corrected and accelerated (Efron, JASA 82 (1987), 171-185).

    It does not suppose that values are normal, but that they are many: of fewer than about 15 the interval is too
    narrow. The same values give the same interval. ``p`` is that of Student's t.

    >>> import numpy as np
    >>> skewed = np.array([[1.0, 1.1, 1.2, 1.1, 1.0, 1.3, 1.1, 1.2, 1.0, 4.0] * 2])
    >>> found = by_bootstrap(skewed)
    >>> bool(found.mean[0] - found.low[0] < found.high[0] - found.mean[0])
    True
    """
    import numpy as np

    plain = by_student(values, confidence, scale, tested=tested)
    low, high = plain.low.copy(), plain.high.copy()
    normal = NormalDist()
    spread = plain.low < plain.high
    for n in set(plain.n[spread].tolist()):
        drawn = np.random.Generator(np.random.PCG64(n)).multinomial(n, np.full(n, 1 / n), resamples) / n
        for i in np.flatnonzero(spread & (plain.n == n)).tolist():
            sample = values[i][~np.isnan(values[i])]
            means = np.sort(drawn @ sample)
            away = sample - sample.mean()
            below = (np.searchsorted(means, sample.mean()) + np.searchsorted(means, sample.mean(), "right")) / 2
            bias = normal.inv_cdf(min(max(below / resamples, 0.5 / resamples), 1 - 0.5 / resamples))
            # The jackknife's estimate: leaving value j out moves the mean by -away[j] / (n - 1).
            speed = float((away**3).sum() / (6 * (away**2).sum() ** 1.5))
            ends = []
            for tail in ((1 - confidence) / 2, (1 + confidence) / 2):
                z = bias + normal.inv_cdf(tail)
                ends.append(normal.cdf(bias + z / (1 - speed * z)))
            low[i], high[i] = np.quantile(means, ends)
    return plain._replace(low=low, high=high)


METHODS = {"student": by_student, "bootstrap": by_bootstrap}


def differences(
    before: "NDArray[np.float64]",
    after: "NDArray[np.float64]",
    identical: "NDArray[np.bool_]",
    *,
    confidence: float = 0.95,
    method: str = "student",
) -> Intervals:
    """Return the intervals of the differences `after` - `before`, row by row, in pairs of which both values exist.

    `identical` marks the rows in which the runs before are identical, and those after, too: such a row is one pair
    without an interval and without ``p``. If only one side is constant, the differences are as random as the other
    side. Differences without any spread have no t test: their ``p`` is that of the sign test, 2^(1 - n), since all n
    of them have one sign.

    >>> import numpy as np
    >>> a, b = np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([[3.0, 3.0], [3.0, 3.0]])
    >>> found = differences(a, b, np.array([True, False]))
    >>> found.n.tolist(), found.identical.tolist(), found.low.tolist(), found.p.tolist()
    ([1, 2], [2, 0], [nan, 2.0], [nan, 0.5])
    """
    import numpy as np

    paired = ~np.isnan(before) & ~np.isnan(after)
    with np.errstate(invalid="ignore"):
        scale = np.where(paired, np.maximum(abs(before), abs(after)), 0.0)
        apart = np.where(paired, after - before, np.nan)
        apart = np.where(abs(apart) <= NOISE * scale, 0.0, apart)
    found = METHODS[method](apart, confidence, scale.max(1, initial=0.0))
    fixed = (found.n > 1) & (found.low == found.high)
    sign = np.where(found.mean == 0, 1.0, 2.0 ** (1.0 - found.n))
    return found._replace(p=np.where(fixed, sign, found.p)).once(identical)


def holm(p: "NDArray[np.float64]") -> "NDArray[np.float64]":
    """Probabilities for many comparisons at once (Holm, Scand. J. Statistics 6 (1979), 65-70).

    If only those below 0.05 are believed, the chance of believing even one that is not so is at most 5 %. NaN stays.

    >>> import numpy as np
    >>> holm(np.array([0.01, 0.04, 0.03])).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    import numpy as np

    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    out = p.copy()
    out[order] = np.minimum(1, np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)))
    return out


def note(p: "NDArray[np.float64]", confidence: float = 0.95) -> str:
    """What a reader of many comparisons should know.

    >>> import numpy as np
    >>> print(note(np.array([0.001, 0.03, 0.04, 0.5])))
    4 comparisons: on average, 0.2 of their 95 % intervals miss the true difference by chance. 3 differences have p ...
    """
    import numpy as np

    known = p[~np.isnan(p)]
    if len(known) < 2:
        return ""
    level = 1 - confidence
    alone, together = int((known < level).sum()), int((holm(known) < level).sum())
    return say.CHANCE(
        count=len(known),
        misses=f"{len(known) * level:.2g}",
        confidence=f"{100 * confidence:g} %",
        level=f"{level:.3g}",
        alone=alone,
        corrected=together,
    )
