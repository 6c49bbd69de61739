"""Comparisons of candidates, seed by seed, and what may be concluded from them.

All candidates of a comparison have the same seeds. A difference is sure if its probability under "no difference",
with Holm's correction for all pairs of candidates, is below 5 %; so the chance that an answer calls any difference
sure that does not exist is at most 5 %, whichever candidate looks best. Runs that are identical under every seed are
one run: the difference of two such candidates is exact.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from anabranch.recommendation.candidates import (
    GOALS,
    GOODPUT,
    Candidate,
    Measure,
    enough,
    margin,
    mean,
    order,
    simplicity,
)
from anabranch.recommendation.ledger import Made
from anabranch.sweeps.paired import Interval, differences, holm, interval
from anabranch.sweeps.repeats import identical

LEAST = 5
"""Pairs below which nothing is recommended."""
IDENTICAL = 10
"""Pairs below which identical runs prove nothing, if anything in the scenario is random."""
WIDEST = 0.2
"""Share of the baseline's mean that the interval of a difference may be wide, for a recommendation."""
_SURE = 0.05
_STEPS = 10
"""An interval of this many times the least difference that counts is narrow enough, however small the values are."""


class Difference(NamedTuple):
    """How much more of a measure one candidate has than another, in pairs of runs with the same seed.

    Attributes
    ----------
    mean, low, high : float
        Of the paired differences, with the 95 % interval; the bounds are NaN if there is one pair, or none is random.
    n : int
        Number of pairs; identical pairs count as one.
    identical : int
        Number of identical pairs that `n` counts as one; 0 if they are not identical.
    p : float
        Probability of such a difference if there were none, with Holm's correction for all pairs of candidates; NaN
        if it cannot be told.
    verdict : int
        1 if the first is surely better, -1 if it is surely worse, 0 if they cannot be told apart.
    """

    mean: float
    low: float
    high: float
    n: int
    identical: int
    p: float
    verdict: int

    @property
    def width(self) -> float:
        """Width of the interval: 0 if the difference is exact, infinite if there is one pair."""
        if self.identical:
            return 0.0
        return self.high - self.low if self.n > 1 else math.inf


@dataclass(frozen=True)
class Comparison:
    """Candidates with the same seeds.

    Attributes
    ----------
    goal : Measure
        By which they are compared.
    seeds : tuple of int
        Seeds of the runs.
    runs : dict
        Results of each candidate, one for each seed.
    fixed : bool
        Nothing in the scenario is random.
    """

    goal: Measure
    seeds: tuple[int, ...]
    runs: Mapping[Candidate, Sequence[Made]]
    fixed: bool = False

    @cached_property
    def means(self) -> dict[Candidate, dict[str, float]]:
        """Means of each candidate."""
        return {one: mean([made.measures for made in runs]) for one, runs in self.runs.items()} if self.seeds else {}

    @cached_property
    def identical(self) -> dict[Candidate, bool]:
        """Whether all runs of a candidate are the same run."""
        return {one: identical(made.fingerprint for made in runs) for one, runs in self.runs.items()}

    @property
    def exact(self) -> bool:
        """Whether nothing was random: of every candidate all runs are the same run."""
        return bool(self.identical) and all(self.identical.values())

    def interval(self, candidate: Candidate, measure: Measure) -> Interval:
        """Mean of a measure of a candidate, with its 95 % interval."""
        values = [made.measures[measure.field] for made in self.runs[candidate]]
        return interval(values, identical=self.identical[candidate])

    def difference(self, first: Candidate, second: Candidate, measure: Measure | None = None) -> Difference:
        """How much more `first` has than `second`."""
        return self._differences(measure or self.goal)[first, second]

    def _differences(self, measure: Measure) -> dict[tuple[Candidate, Candidate], Difference]:
        if measure.field not in self._cache:
            self._cache[measure.field] = self._all(measure)
        return self._cache[measure.field]

    @cached_property
    def _cache(self) -> dict[str, dict[tuple[Candidate, Candidate], Difference]]:
        return {}

    def _all(self, measure: Measure) -> dict[tuple[Candidate, Candidate], Difference]:
        """Every pair of candidates, both ways."""
        pairs = list(itertools.combinations(self.runs, 2))
        if not pairs or not self.seeds:
            return {}
        values = {one: np.array([made.measures[measure.field] for made in runs]) for one, runs in self.runs.items()}
        same = np.array([self.identical[a] and self.identical[b] for a, b in pairs])
        found = differences(np.stack([values[b] for _, b in pairs]), np.stack([values[a] for a, _ in pairs]), same)
        corrected = holm(found.p)
        out = {}
        for i, (a, b) in enumerate(pairs):
            apart, low, high = (float(column[i]) for column in (found.mean, found.low, found.high))
            p, n, once = float(corrected[i]), int(found.n[i]), int(found.identical[i])
            sure = bool(once) or p < _SURE
            verdict = 0
            if sure and abs(apart) > margin(measure, self.means[a], self.means[b]):
                verdict = 1 if (apart > 0) == measure.more else -1
            out[a, b] = Difference(apart, low, high, n, once, p, verdict)
            out[b, a] = Difference(-apart, -high, -low, n, once, p, -verdict)
        return out

    def able(self) -> list[Candidate]:
        """Candidates with enough goodput for the goal, best first."""
        able = enough(self.goal, self.means)
        return [one for one in order(self.goal, self.means) if one in able]

    def choose(self) -> Candidate:
        """Return the simplest of the candidates that cannot be told from the best."""
        first, *others = self.able()
        group = [first, *(one for one in others if self.difference(first, one).verdict == 0)]
        return min(group, key=lambda one: (simplicity(one), group.index(one)))

    def baseline(self) -> Candidate | None:
        """Return plain TCP over the best path; None if none is among the candidates."""
        alone = {one: result for one, result in self.means.items() if one.alone}
        return order(GOALS["throughput"], alone)[0] if alone else None

    def rivals(self, chosen: Candidate) -> list[Candidate]:
        """Return the candidates that `chosen` is compared with.

        These are the best baseline, and the best other candidate by the goal.
        """
        best = next((one for one in self.able() if one != chosen), None)
        return [one for one in dict.fromkeys((self.baseline(), best)) if one is not None and one != chosen]

    def lacks(self) -> "Lack | None":
        """What is missing for a recommendation; None if nothing is."""
        least = IDENTICAL if self.exact and not self.fixed else LEAST
        if len(self.seeds) < least or len(self.runs) < 2:
            return Lack(least, None)
        chosen = self.choose()
        wide = [self._wide(chosen, rival, measure) for rival in self.rivals(chosen) for measure in self._measures]
        return max(filter(None, wide), key=lambda lack: lack.pairs, default=None)

    @property
    def _measures(self) -> list[Measure]:
        return list(dict.fromkeys((GOODPUT, self.goal)))

    def _wide(self, chosen: Candidate, rival: Candidate, measure: Measure) -> "Lack | None":
        """What is missing because the interval of a difference is too wide.

        The interval against the best baseline has to be narrow in any case, that against another rival only if the
        two cannot be told apart.
        """
        base = self.baseline()
        found = self.difference(chosen, rival, measure)
        if base not in (chosen, rival) and found.verdict:
            return None
        if measure != GOODPUT and rival not in self.able():
            return None
        reference = self.means[rival if base is None or measure != GOODPUT else base][measure.field]
        allowed = max(WIDEST * abs(reference), _STEPS * measure.least)
        if found.width <= allowed:
            return None
        # The width shrinks with the root of the number of pairs.
        ratio = (found.width / allowed) ** 2 if allowed and math.isfinite(found.width) else 4.0
        pairs = max(math.ceil(len(self.seeds) * min(ratio, 1e6)), len(self.seeds) + 1)
        return Lack(pairs, Wide(chosen, rival, measure, reference))


class Wide(NamedTuple):
    """A difference whose interval is too wide: which, and what it is compared with."""

    chosen: Candidate
    rival: Candidate
    measure: Measure
    reference: float


class Lack(NamedTuple):
    """How many pairs a recommendation takes, and which interval is too wide if that is the reason."""

    pairs: int
    wide: Wide | None
