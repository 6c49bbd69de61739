"""As many seeds as a stated precision takes.

``"until 1 %"``: seeds are added until in every cell half the width of the mean's 95 % interval is at most 1 % of the
mean. All cells get the same seeds, as ever, so the cell that varies most decides for all; that costs runs, and buys
that every two cells can be compared in pairs. How many come next is worked out only when all runs of a round are made,
so it depends on their results alone: not on threads, nor on where a sweep was interrupted.

An interval that is looked at until it is narrow holds the true mean a little less often than one of a number of seeds
chosen beforehand. Beginning with ten keeps that small.
"""

import math
import re
from typing import TYPE_CHECKING, NamedTuple

from anabranch.scenario import ScenarioError
from anabranch.sentences import sweep as say

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anabranch.sweeps.paired import Interval

MOST = 1_000_000
"""The most seeds of a sweep, however they are given."""
_FIRST = 10
_CAP = 100
_FORM = re.compile(r"\s*until\s+([0-9.]+)\s*%(?:\s+of\s+([a-z0-9_]+))?(?:\s*,\s*at\s+most\s+([0-9]+))?\s*")


class Precision(NamedTuple):
    """How precise the means of a sweep are to be.

    Attributes
    ----------
    share : float
        Half the width of a 95 % interval, as a share of its mean.
    measure : str
        A column of the runs.
    cap : int
        The most seeds.
    """

    share: float
    measure: str = "goodput_mbps"
    cap: int = _CAP

    @classmethod
    def parse(cls, text: str) -> "Precision":
        """Read ``"until 1 %"``, ``"until 2 % of completion_s, at most 400"``.

        >>> Precision.parse("until 2 % of completion_s, at most 400")
        Precision(share=0.02, measure='completion_s', cap=400)
        """
        found = _FORM.fullmatch(text)
        try:
            if found is None:
                raise ValueError
            made = cls(float(found[1]) / 100, found[2] or cls._field_defaults["measure"], int(found[3] or _CAP))
            if not (0 < made.share < 1 and made.cap >= 2):
                raise ValueError
        except ValueError:
            raise ScenarioError(say.WRONG_SEEDS(text=repr(text))) from None
        if made.cap > MOST:
            raise ScenarioError(say.TOO_MANY_SEEDS(text=repr(text), cap=made.cap, most=MOST))
        return made

    @property
    def first(self) -> int:
        """How many seeds to begin with."""
        return min(_FIRST, self.cap)

    def next(self, n: int, means: "Iterable[Interval]") -> int:
        """How many seeds the next round has; `n`, as many as there are, if this is precise enough, or the most allowed.

        Cells with fewer than two results say nothing and are left out; so are cells whose runs are identical, since
        more seeds would give the same run again.

        >>> from anabranch.sweeps.paired import Interval
        >>> wide, narrow = Interval(10, 100.0, 98.0, 102.0), Interval(10, 100.0, 99.5, 100.5)
        >>> Precision(0.01).next(10, [narrow, narrow]), Precision(0.01).next(10, [narrow, wide])
        (10, 20)
        """
        worst = self._worst(means)
        if worst <= 1:
            return n
        # The width shrinks with the root of the number; a round at most doubles it, for the spread is an estimate.
        return min(self.cap, 2 * n, max(n + 1, math.ceil(min(worst, 2) ** 2 * n)))

    def said(self, n: int, means: "Iterable[Interval]", *, nothing_random: bool = False) -> str:
        """How precise the means are with `n` seeds.

        `nothing_random`: it is known that chance has no part in the scenario.

        >>> from anabranch.sweeps.paired import Interval
        >>> print(Precision(0.01, cap=10).said(10, [Interval(10, 100.0, 96.0, 104.0)]))
        10 seeds, the maximum: half the width of the 95 % interval of goodput_mbps is up to 4 % of the mean,
        more than the 1 % that was asked for.
        >>> print(Precision(0.01).said(10, [Interval(1, 100.0, math.nan, math.nan), Interval(0, math.nan, 0.0, 0.0)]))
        10 seeds: no cell has two runs with a value of goodput_mbps, so there is no interval.
        """
        cells = list(means)
        found = [mean for mean in cells if mean.n]
        same = sum(mean.identical > 0 for mean in found)
        few = sum(mean.n < 2 and not mean.identical for mean in cells)
        if same and same == len(found):
            what = say.IDENTICAL_CELLS() if same > 1 else say.IDENTICAL_CELL()
            why = say.NOTHING_RANDOM() if nothing_random else say.NO_CHANCE()
            return say.PRECISION_IDENTICAL(seeds=n, what=what, why=why)
        if few + same == len(cells):
            return say.PRECISION_NONE(seeds=n, measure=self.measure)
        worst, share = self._worst(found), f"{100 * self.share:g} %"
        if worst <= 1:
            told = say.PRECISION_REACHED(seeds=n, measure=self.measure, share=share)
        else:
            reached = f"{100 * self.share * worst:.2g} %"
            template = say.PRECISION_CAP if n >= self.cap else say.PRECISION_MISSED
            told = template(seeds=n, measure=self.measure, reached=reached, share=share)
        lines = [told]
        lines += [say.PRECISION_SOME_IDENTICAL(count=same, cells=len(cells))] if same else []
        lines += [say.PRECISION_SOME_FEW(count=few, cells=len(cells), measure=self.measure)] if few else []
        return " ".join(lines)

    def _worst(self, means: "Iterable[Interval]") -> float:
        return max((self._excess(mean) for mean in means if mean.n >= 2), default=0.0)

    def _excess(self, mean: "Interval") -> float:
        half = mean.high - mean.mean
        if half == 0:
            return 0.0
        return half / (self.share * abs(mean.mean)) if mean.mean else math.inf
