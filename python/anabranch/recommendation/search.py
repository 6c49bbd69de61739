"""A search: a first look at many candidates, then a comparison of few with fresh seeds, and so on around the best.

The first look has one seed, and two more for the best three. It only chooses which candidates to compare; nothing that
is printed rests on it. The comparison has seeds that nothing has been chosen by, the same for all, and goes on until
the intervals are narrow enough for a recommendation.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from anabranch.execution.progress import State
from anabranch.recommendation.candidates import (
    DEFAULT,
    GOALS,
    UNLIMITED,
    WORTH,
    Candidate,
    Choices,
    compare,
    mean,
    order,
    simplest,
)
from anabranch.recommendation.ledger import Job, Ledger, Maker, Over
from anabranch.recommendation.pairs import LEAST, Comparison, Lack
from anabranch.recommendation.paths import paths, with_queues
from anabranch.scenario import Scenario, ScenarioError
from anabranch.sweeps.chance import nothing_random

LOOKS = 3
"""Seeds of a first look at the best candidates; all others have one."""
KEPT = 3
"""Candidates of a first look that get all its seeds."""
ROUGH = 0.05
"""Share of the best: the first look takes nothing less simple to the comparison for a smaller gain.

Few seeds hide a candidate that fails under one seed in ten. Such a candidate makes the interval so wide that a whole
search ends without an answer. The later rounds compare smaller gains with an answer that is known already.
"""
ROUNDS = 3
"""Comparisons, each around the answer of the one before."""
APART = 10_000
"""Distance between the seeds of two comparisons."""
_NARROW = 0.02
"""Share of the baseline's mean: a comparison whose intervals are no wider needs no more pairs."""
_ENOUGH = 40
"""Pairs after which a comparison with an answer needs no more."""
_QUEUES = (0.25, 4.0)
"""By which factors queues are varied."""
_VARIED = 4
"""Candidates that are compared with other queues."""


@dataclass
class Final:
    """A comparison of few candidates with fresh seeds.

    Attributes
    ----------
    candidates : list of Candidate
        Those that the first look chose, plain TCP with the same controller over each path, and others.
    comparison : Comparison
        As far as it went: the seeds that all candidates have.
    """

    candidates: list[Candidate]
    comparison: Comparison


@dataclass(frozen=True)
class Varied:
    """The candidates with other queues.

    Attributes
    ----------
    factor : float
        By which the queues are longer.
    queues : tuple of str
        Of each path.
    comparison : Comparison
        Of the answer with its rivals.
    """

    factor: float
    queues: tuple[str, ...]
    comparison: Comparison


@dataclass
class Found:
    """What a search found.

    Attributes
    ----------
    scenario : Scenario
        The paths and the transfer.
    goal : str
        What was looked for.
    ledger : Ledger
        All runs.
    seed : int
        The first seed.
    looked : list of Candidate
        All candidates of first looks, in their order.
    finals : list of Final
        The comparisons, in their order.
    varied : list of Varied
        The answer with other queues.
    refused : dict
        Algorithms that the scenario does not take, and why.
    expected : int
        How many runs the first comparison takes at least.
    seconds : float
        Wall-clock time.
    budget : float, optional
        Seconds that it was given.
    looking : bool
        Whether candidates were searched, not given.
    default : Candidate, optional
        Of a search: what a connection does that chooses nothing; with one path plain TCP.
    """

    scenario: Scenario
    goal: str
    ledger: Ledger
    seed: int
    looked: list[Candidate] = field(default_factory=list)
    finals: list[Final] = field(default_factory=list)
    varied: list[Varied] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    expected: int = 0
    seconds: float = 0.0
    budget: float | None = None
    looking: bool = True
    default: Candidate | None = None

    @property
    def final(self) -> Final | None:
        """The comparison that the answer rests on: the last one with an answer; else the last one with enough pairs."""
        answers = [one for one in self.finals if one.comparison.lacks() is None]
        enough = [one for one in self.finals if len(one.comparison.seeds) >= LEAST]
        some = answers or enough or self.finals
        return some[-1] if some else None

    @property
    def lack(self) -> Lack | None:
        """What is missing for a recommendation; None if there is one."""
        return Lack(LEAST, None) if self.final is None else self.final.comparison.lacks()

    @property
    def best(self) -> Candidate | None:
        """The recommendation; None if there is no answer."""
        return None if self.final is None or self.lack is not None else self.final.comparison.choose()


def search(
    scenario: Scenario,
    candidates: Sequence[Candidate] | Choices,
    goal: str = "throughput",
    *,
    budget: float | None = None,
    runs: int | None = None,
    seed: int = 1,
    seeds: int = 8,
    progress: Callable[[int, int, State], None] | None = None,
    make_runs: Maker | None = None,
) -> Found:
    """Find the candidate that suits the paths of `scenario` best.

    Parameters
    ----------
    scenario : Scenario
        The paths and the transfer.
    candidates : sequence of Candidate, or Choices
        What is compared: these, with plain TCP over each path; or the best of what may be chosen.
    goal : str
        ``"throughput"``; ``"latency"`` (head-of-line delay) or ``"memory"`` (reordering buffer) among those that have
        nine tenths of the best goodput.
    budget : float, optional
        Seconds after which the search ends; no limit if None.
    runs : int, optional
        Runs after which it ends; no limit if None.
    seed : int
        The first seed.
    seeds : int
        Without a search, the number of seeds.
    progress : callable, optional
        Called with the number of the batch, its candidates, and how far it is.
    make_runs : callable, optional
        What makes the runs instead of the threads of this machine.

    Raises
    ------
    ScenarioError
        If the scenario is not valid, or one of the given candidates.

    Examples
    --------
    >>> import anabranch as ab
    >>> from anabranch.recommendation import Candidate, search
    >>> base = ab.Scenario.of_paths(["5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms"], transfer="5 s")
    >>> search(base, [Candidate("coupled", "none", "min-rtt", "unlimited")], seeds=5).best.scheduler
    'min-rtt'
    """
    start = time.monotonic()
    names = tuple(path.name for path in paths(scenario))
    until = math.inf if budget is None else start + budget
    ledger = Ledger(scenario, names, runs, until, progress, make_runs)
    found = Found(scenario, goal, ledger, seed, budget=budget, looking=isinstance(candidates, Choices))
    steps = _Steps(found)
    try:
        if isinstance(candidates, Choices):
            found.refused = dict(candidates.refused)
            steps.search(candidates)
        else:
            steps.compare(list(candidates), seeds)
    except Over:
        pass
    except KeyboardInterrupt:
        ledger.interrupt()
    found.seconds = time.monotonic() - start
    return found


class _Steps:
    """What a search does, step by step. `Over` may come out of each."""

    def __init__(self, found: Found) -> None:
        self.found = found
        self.ledger = found.ledger
        self.goal = GOALS[found.goal]
        self.seed = found.seed
        self.fixed = nothing_random([found.scenario])

    def search(self, choices: Choices) -> None:
        """Look, compare, and go on around the answer."""
        names, paths = choices.names, choices.paths
        stages = (len(names["scheduler"]) if choices.several else 0) + len(paths) + len(names["controller"]) - 1
        looks = min(KEPT, len(names["controller"])) * (LOOKS - 1)
        self.found.expected = stages + looks + LEAST * (len(paths) + 1)
        defaults = self._defaults(choices)
        self.found.default = defaults[0]
        answer = self._final(self._with_rivals(self._first_look(choices), choices))
        for _ in range(ROUNDS - 1):
            around = [one for one in choices.around(answer) if one not in self.found.looked]
            self._look([answer, *around])
            best = self._best([answer, *around], answer)
            missing = [one for one in defaults if not any(one in final.candidates for final in self.found.finals)]
            if best == answer and not missing:
                break
            always = [] if choices.several else defaults
            answer = self._final(self._with_baselines([best, answer, *missing, *always]))
        self._vary()
        self._narrow()

    def compare(self, candidates: list[Candidate], seeds: int) -> None:
        """Compare given candidates with plain TCP over each path."""
        everyone = self._with_baselines(candidates)
        self.found.expected = seeds * len(everyone)
        self.found.looked += candidates
        self.found.finals.append(Final(everyone, self._comparison((), ())))
        self._pairs(range(self.seed, self.seed + seeds))
        for one in candidates:
            if (one, 1.0) in self.ledger.failed:
                raise ScenarioError(self.ledger.failed[one, 1.0])
        self._vary()

    def _first_look(self, choices: Choices) -> Candidate:
        """Every scheduler with the default controller, then every controller with the best scheduler."""
        default = choices.default()
        alone = [self._alone(default, name) for name in choices.paths]
        first = [default, *alone, *choices.schedulers(default)] if choices.several else alone
        self._look(first)
        led = [one for one in first if not one.alone] if choices.several else first
        self._look(choices.controllers(self._leader(led)))
        return self._best(self.found.looked, default if choices.several else alone[0], ROUGH)

    @staticmethod
    def _alone(like: Candidate, path: str) -> Candidate:
        """Return plain TCP over one path with the algorithms of `like`."""
        return like._replace(scheduler="", backup="", alone=path)

    def _look(self, candidates: Sequence[Candidate]) -> None:
        """One run of each."""
        new = [one for one in dict.fromkeys(candidates) if one not in self.found.looked]
        self.found.looked += new
        self.ledger.make([Job(one, self.seed) for one in candidates])

    def _results(self, candidates: Sequence[Candidate], seeds: int = 1) -> dict[Candidate, dict[str, float]]:
        """Means over the first so many seeds, of those that have all of them."""
        numbers = range(self.seed, self.seed + seeds)
        made = {one: self.ledger.of(one, numbers) for one in candidates}
        return {one: mean([run.measures for run in runs]) for one, runs in made.items() if len(runs) == seeds}

    def _leader(self, candidates: Sequence[Candidate]) -> Candidate:
        """Return the best by one seed."""
        results = self._results(candidates)
        return simplest(self.goal, results) if results else candidates[0]

    def _distinct(self, candidates: Sequence[Candidate], most: int) -> list[Candidate]:
        """Return the best few by one seed, but of those that ran the same to the last event only the simplest."""
        kept: dict[str, Candidate] = {}
        results = self._results(candidates)
        for one in order(self.goal, results) if results else []:
            (made,) = self.ledger.of(one, [self.seed])
            kept.setdefault(made.trace, one)
        return list(kept.values())[:most]

    def _best(self, candidates: Sequence[Candidate], answer: Candidate, worth: float = WORTH) -> Candidate:
        """Give the best few, `answer` among them, more seeds; return the simplest of the best, within `worth`."""
        kept = self._distinct(candidates, KEPT)
        kept = kept if answer in kept else [*kept[: KEPT - 1], answer]
        self.ledger.make([Job(one, self.seed + i) for i in range(LOOKS) for one in kept])
        results = self._results(kept, LOOKS)
        return simplest(self.goal, results, worth) if results else kept[0]

    def _with_baselines(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return candidates, and plain TCP over each path with the controller of each."""
        return list(dict.fromkeys([*candidates, *(one.over(name) for one in candidates for name in self.ledger.names)]))

    def _with_rivals(self, best: Candidate, choices: Choices) -> list[Candidate]:
        """Return `best`, plain TCP with its controller over each path, and the strongest of another kind.

        It is the default, if that has the same controller; for one path alone, the best candidate over all paths.
        """
        defaults = self._defaults(choices)
        if not choices.several:
            others = defaults if best not in defaults else [*defaults, *self._distinct(self.found.looked, 2)]
        elif best.alone:
            others = self._strongest(best.controller)
        else:
            others = [one for one in defaults if one.controller == best.controller]
        return self._with_baselines([best, *(one for one in others if one != best)])

    @staticmethod
    def _defaults(choices: Choices) -> list[Candidate]:
        """Return what a connection does that chooses nothing: over all paths, else plain TCP over each."""
        if choices.several:
            return [choices.default()]
        return [Candidate(*DEFAULT[:2], "", UNLIMITED, alone=name) for name in choices.paths]

    def _strongest(self, controller: str) -> list[Candidate]:
        """Return the best candidate over all paths; one with this controller, if it is as good."""
        multipath = [one for one in self.found.looked if not one.alone]
        results = self._results(multipath)
        first = self._distinct(multipath, 1)
        same = self._distinct([one for one in multipath if one.controller == controller], 1)
        if first and same and compare(self.goal, results[first[0]], results[same[0]]) == 0:
            return same
        return first

    def _final(self, candidates: list[Candidate]) -> Candidate:
        """Compare with fresh seeds until there is an answer, and return it."""
        first = self.seed + APART * (len(self.found.finals) + 1)
        self.found.finals.append(Final(candidates, self._comparison((), ())))
        pairs = LEAST
        while True:
            comparison = self._pairs(range(first, first + pairs))
            if comparison.lacks() is None:
                return comparison.choose()
            if len(comparison.runs) < 2:
                raise Over
            pairs += pairs // 2

    def _pairs(self, seeds: Sequence[int]) -> Comparison:
        """Run the last comparison's candidates with all of `seeds`."""
        final = self.found.finals[-1]
        try:
            self.ledger.make([Job(one, seed) for seed in seeds for one in final.candidates])
        finally:
            final.comparison = self._comparison(final.candidates, seeds)
        return final.comparison

    def _comparison(self, candidates: Sequence[Candidate], seeds: Sequence[int], queues: float = 1.0) -> Comparison:
        """Return the comparison of the candidates that did not fail, with the seeds that all of them have."""
        able = [one for one in candidates if (one, queues) not in self.ledger.failed]
        common = tuple(seed for seed in seeds if all(Job(one, seed, queues) in self.ledger.runs for one in able))
        runs = {one: self.ledger.of(one, common, queues) for one in able}
        return Comparison(self.goal, common, runs, self.fixed)

    def _vary(self) -> None:
        """Compare the answer and its rivals with shorter and with longer queues."""
        best, final = self.found.best, self.found.final
        if best is None or final is None:
            return
        comparison = final.comparison
        some = list(dict.fromkeys([best, *comparison.rivals(best), *comparison.able()]))[:_VARIED]
        seeds = [self.seed + APART * (ROUNDS + 1) + i for i in range(LEAST)]
        for factor in _QUEUES:
            self.ledger.make([Job(one, seed, factor) for seed in seeds for one in some])
            queues = tuple(path.said for path in paths(with_queues(self.found.scenario, factor)))
            self.found.varied.append(Varied(factor, queues, self._comparison(some, seeds, factor)))

    def _narrow(self) -> None:
        """Add pairs to the last comparison until its intervals are narrow."""
        while True:
            comparison = self.found.finals[-1].comparison
            base = comparison.baseline()
            pairs = len(comparison.seeds)
            if base is None or comparison.exact or pairs >= _ENOUGH:
                return
            best = comparison.choose()
            field = GOALS["throughput"].field
            widths = [comparison.difference(best, one, GOALS["throughput"]).width for one in comparison.rivals(best)]
            if max(widths, default=0.0) <= _NARROW * abs(comparison.means[base][field]):
                return
            first = comparison.seeds[0]
            self._pairs(range(first, first + min(pairs + pairs // 2, _ENOUGH)))
