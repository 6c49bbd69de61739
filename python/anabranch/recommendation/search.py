"""A search in stages: every controller with every scheduler, then the rest around the best of them; successive halving.

All candidates with one seed, the better half with twice as many, and so on, until time is up.
"""

import contextlib
import json
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from anabranch.alike import CHOICE, TRACE
from anabranch.recommendation.candidates import (
    GOALS,
    UNLIMITED,
    Candidate,
    Choices,
    Measure,
    compare,
    enough,
    known,
    mean,
    measured,
    order,
    pareto,
    scattered,
    simplicity,
)
from anabranch.recommendation.paths import paths, with_queues
from anabranch.scenario import Scenario
from anabranch.sweeps.execute import State, make
from anabranch.sweeps.memory import Memory
from anabranch.sweeps.paired import Interval, interval
from anabranch.sweeps.plan import PlanData, plan
from anabranch.sweeps.task import FAILED, REFUSED, Record

FINALISTS = 8
"""No halving below so many."""
SEEDS = 16
"""No doubling beyond so many."""
LEADERS = 3
"""Pairs of controller and scheduler that the second stage goes on with."""
_FOR_FIRST = 0.4
"""Of the budget, at most, for the first stage."""
_LONE_SEEDS = 2
_FOR_LONE = 0.2
"""Of the budget, at most, for plain TCP over each path."""
_VARIED_SEEDS = 4
_FOR_QUEUES = 0.15
"""Of the budget, for the finalists with other queues."""
_QUEUES = (0.25, 4.0)
"""By which factors queues are varied."""
_MARGIN = 0.8
"""Of the time left, for what was left out of an estimate."""


class _Kept(Memory):
    """The runs of a round, also in a mapping that outlives it."""

    def __init__(self, what: PlanData, records: dict[tuple[str, int], Record]) -> None:
        super().__init__(what)
        self._all = records

    def append(self, records: Iterable[Record]) -> None:
        """Keep finished runs."""
        for record in records:
            super().append([record])
            self._all[record.scenario_sha256, record.seed] = record


class _TimeIsUp(Exception):  # noqa: N818 - not an error
    """Ends a round."""


@dataclass(frozen=True)
class Round:
    """One round: how many candidates with how many seeds, and for how many of them there was time."""

    candidates: int
    seeds: int
    made: int


class Lone(NamedTuple):
    """What plain TCP makes of one path alone, with the controller that suits it best.

    Attributes
    ----------
    controller : str
        Of those there was time for.
    goodput : Interval
        In Mbit/s.
    untried : int
        Controllers there was no time for.
    """

    controller: str
    goodput: Interval
    untried: int


class Varied(NamedTuple):
    """What becomes of the finalists if the queues are others.

    Attributes
    ----------
    factor : float
        By which the queues are longer.
    queues : tuple of str
        Of each path.
    results : dict
        Means of each candidate.
    """

    factor: float
    queues: tuple[str, ...]
    results: dict[Candidate, dict[str, float]]


@dataclass(frozen=True)
class Found:
    """What a search found.

    Attributes
    ----------
    scenario : Scenario
        The paths.
    goal : str
        What was looked for.
    runs : dict
        Measures by seed of every candidate that was tried.
    finalists : list of Candidate
        Those with the most seeds, best first.
    pareto : list of Candidate
        Those of them that no other one beats in everything, best first.
    best : Candidate
        The recommendation.
    equals : list of Candidate
        Others that cannot be told from it.
    lone : dict
        What plain TCP makes of each path alone, by name; without those there was no time for.
    varied : list of Varied
        The finalists with other queues.
    rounds : list of Round
        What was done.
    untried : list of Candidate
        For which there was no time.
    failed : dict
        What is wrong with candidates that gave no result.
    seconds : float
        How long it took.
    traces : dict
        Hashes of the traces by seed of every candidate that was tried.
    choices : dict
        Of every candidate the share of segments for which more than one subflow could send, run by run.
    beyond : int
        Combinations that no stage looked at.
    refused : dict
        Algorithms that the scenario does not take, and why.
    leaders : list of Candidate
        Best of the first stage: what the second one went on with. Empty if there were no stages.
    """

    scenario: Scenario
    goal: str
    runs: dict[Candidate, dict[int, dict[str, float]]]
    finalists: list[Candidate]
    pareto: list[Candidate]
    best: Candidate
    equals: list[Candidate]
    lone: dict[str, Lone]
    varied: list[Varied]
    rounds: list[Round]
    untried: list[Candidate]
    failed: dict[Candidate, str]
    seconds: float
    traces: dict[Candidate, dict[int, str]] = field(default_factory=dict)
    choices: dict[Candidate, list[float]] = field(default_factory=dict)
    beyond: int = 0
    refused: Mapping[str, str] = field(default_factory=dict)
    leaders: list[Candidate] = field(default_factory=list)

    def interval(self, candidate: Candidate, measure: Measure) -> Interval:
        """Mean and 95 % interval of a measure of a candidate."""
        return interval([run[measure.field] for run in self.runs[candidate].values()])


@dataclass
class _Search:
    scenario: Scenario
    start: float
    end: float
    progress: Callable[[int, int, State], None] | None
    runs: dict[Candidate, dict[int, dict[str, float]]] = field(default_factory=dict)
    failed: dict[Candidate, str] = field(default_factory=dict)
    rounds: list[Round] = field(default_factory=list)
    records: dict[tuple[str, int], Record] = field(default_factory=dict)
    traces: dict[Candidate, dict[int, str]] = field(default_factory=dict)
    choices: dict[Candidate, list[float]] = field(default_factory=dict)

    def make(self, candidates: Sequence[Candidate], seeds: int, until: float) -> None:
        """One round."""
        axes = {"candidate": {str(candidate): candidate.changes() for candidate in candidates}}
        what = plan(self.scenario, axes, seeds)
        self._run(what, until)
        for candidate, cell in zip(candidates, what.cells, strict=True):
            for seed in what.seeds:
                record = self.records.get((cell.sha256, seed))
                if record is None:
                    continue
                if record.status in {REFUSED, FAILED}:
                    self.failed[candidate] = record.error
                else:
                    summary = json.loads(record.summary)
                    self.runs.setdefault(candidate, {})[seed] = measured(summary)
                    self.traces.setdefault(candidate, {})[seed] = summary[TRACE]
                    self.choices.setdefault(candidate, []).append(summary.get(CHOICE))
        done = sum(len(self.runs.get(candidate, ())) >= seeds for candidate in candidates)
        self.rounds.append(Round(len(candidates), seeds, done))

    def _run(self, what: PlanData, until: float) -> None:
        def tell(state: State) -> None:
            if self.progress is not None:
                left = max(until - time.monotonic(), 0.0)
                self.progress(len(self.rounds) + 1, len(what.cells), state._replace(most=left))

        _make(what, self.records, until, tell)

    def results(self, candidates: Sequence[Candidate]) -> dict[Candidate, dict[str, float]]:
        """Means of those that gave a result."""
        return {
            candidate: mean(list(self.runs[candidate].values()))
            for candidate in candidates
            if candidate in self.runs and candidate not in self.failed
        }


def search(  # the arguments are those of the command
    scenario: Scenario,
    candidates: Sequence[Candidate] | Choices,
    goal: str = "throughput",
    *,
    budget: float = 30.0,
    seeds: int | None = None,
    progress: Callable[[int, int, State], None] | None = None,
) -> Found:
    """Find the candidate that suits the paths of `scenario` best.

    Parameters
    ----------
    scenario : Scenario
        The paths and the transfer.
    candidates : sequence of Candidate, or Choices
        What may be tried: these; or, in two stages, what may be chosen.
    goal : str
        ``"throughput"``; ``"latency"`` (head-of-line delay) or ``"memory"`` (reordering buffer) among those that have
        nine tenths of the best throughput.
    budget : float
        Seconds.
    seeds : int, optional
        No search: all candidates with so many seeds, however long it takes.
    progress : callable, optional
        Called with the number of the round, its candidates, and how far it is.

    Returns
    -------
    Found
        At least one candidate is tried, however small the budget is.

    Raises
    ------
    ScenarioError
        If not one candidate is a valid scenario.

    Examples
    --------
    >>> import anabranch as ab
    >>> from anabranch.recommendation import Candidate, search
    >>> base = ab.Scenario.of_paths(["5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms"], transfer="500 kB")
    >>> search(base, [Candidate("coupled", "none", "min-rtt", "unlimited")], seeds=2).best.controller
    'coupled'
    """
    start = time.monotonic()
    state = _Search(scenario, start, start + (1 - _FOR_QUEUES) * budget, progress)
    measure = GOALS[goal]
    lone = _alone(scenario, math.inf if seeds is not None else start + _FOR_LONE * budget)
    leaders: list[Candidate] = []
    if isinstance(candidates, Choices):
        first = candidates.first()
        leaders = _first_stage(state, first, measure)
        rest = [one for one in candidates.around(leaders) if one not in first]
        planned = [*first, *rest]
        left = _halving(state, [*_kept(state, first, measure), *rest], measure)
    elif seeds is not None:
        left = planned = list(candidates)
        state.make(left, seeds, math.inf)
    else:
        planned = list(candidates)
        left = _halving(state, planned, measure)
    results = state.results(left) or state.results(planned)
    if not results:
        state.make(planned[:1], 1, math.inf)
        results = state.results(planned[:1])
    finalists = order(measure, results)
    best, equals = _choose(measure, finalists, state.runs, results)
    front = {best, *pareto(results)}
    tried = state.runs.keys() | state.failed.keys()
    some = list(dict.fromkeys([best, *finalists]))[:FINALISTS]
    varied = _vary(state, some, math.inf if seeds is not None else start + budget)
    return Found(
        scenario,
        goal,
        state.runs,
        finalists,
        [candidate for candidate in finalists if candidate in front],
        best,
        equals,
        lone,
        varied,
        state.rounds,
        [candidate for candidate in planned if candidate not in tried],
        state.failed,
        time.monotonic() - start,
        state.traces,
        state.choices,
        candidates.total - len(planned) if isinstance(candidates, Choices) else 0,
        candidates.refused if isinstance(candidates, Choices) else {},
        leaders,
    )


def _first_stage(state: _Search, candidates: list[Candidate], goal: Measure) -> list[Candidate]:
    """The best few of all pairs of controller and scheduler, one candidate of each pair."""
    now = time.monotonic()
    first, *others = candidates
    state.make([first, *sorted(others, key=scattered)], 1, now + _FOR_FIRST * (state.end - now))
    best: dict[tuple[str, str], Candidate] = {}
    results = state.results(candidates)
    for one in order(goal, results) if results else [first]:
        best.setdefault((one.controller, one.scheduler), one)
    return list(best.values())[:LEADERS]


def _kept(state: _Search, candidates: list[Candidate], goal: Measure) -> list[Candidate]:
    """The better ones of the first stage, which the second one compares with; the default algorithms first."""
    results = state.results(candidates)
    if not results:
        return candidates[:1]
    kept = _best(goal, results, max(1, len(results) // (4 * FINALISTS)))
    return sorted(kept, key=lambda one: (not one.plain, candidates.index(one)))


def _halving(state: _Search, candidates: list[Candidate], goal: Measure) -> list[Candidate]:
    """The candidates of the last round that was finished."""
    first, *others = candidates
    left = [first, *sorted(others, key=scattered)]
    seeds = 1
    while True:
        now = time.monotonic()
        until = now + (state.end - now) / 2 if len(left) > FINALISTS else state.end
        state.make(left, seeds, until)
        results = state.results(left)
        if time.monotonic() >= state.end or not results:
            return left
        if seeds >= SEEDS:
            return left
        left = _best(goal, results, _share(len(results), seeds, state))
        seeds = min(2 * seeds, SEEDS)


def _share(candidates: int, seeds: int, state: _Search) -> int:
    """By how much to divide the candidates: two, or more if time would not do for the rounds to come."""
    now = time.monotonic()
    made = sum(len(runs) for runs in state.runs.values())
    affordable = _MARGIN * made / max(now - state.start, 1e-3) * (state.end - now)
    for share in range(2, candidates):
        left, have, cost = candidates, seeds, 0
        while left > FINALISTS or have < SEEDS:
            left, want = max(math.ceil(left / share), FINALISTS), min(2 * have, SEEDS)
            cost, have = cost + left * (want - have), want
        if cost <= affordable:
            return share
    return max(candidates, 2)


def _best(goal: Measure, results: dict[Candidate, dict[str, float]], share: int) -> list[Candidate]:
    """One of `share` parts by the goal, but up to a quarter of it for what is best in some other way.

    The engine's default algorithms stay, with the buffer that suits them best: who is told to leave them shall know
    that they were compared with as many seeds.
    """
    keep = max(math.ceil(len(results) / share), min(FINALISTS, len(results)))
    ranked = order(goal, results)
    unbeaten = set(pareto(results))
    front = [candidate for candidate in ranked if candidate in unbeaten]
    chosen = ranked[: keep - min(len(front), keep // 4)]
    chosen += [candidate for candidate in front if candidate not in chosen][: keep - len(chosen)]
    chosen += [candidate for candidate in ranked if candidate not in chosen][: keep - len(chosen)]
    plain = [candidate for candidate in ranked if candidate.plain][:1]
    return chosen if set(plain) <= set(chosen) else [*chosen[:-1], *plain]


def _choose(
    goal: Measure,
    finalists: Sequence[Candidate],
    runs: dict[Candidate, dict[int, dict[str, float]]],
    results: dict[Candidate, dict[str, float]],
) -> tuple[Candidate, list[Candidate]]:
    """The simplest of those that cannot be told from the first, and the rest of these.

    Two cannot be told apart if the means differ by less than a hundredth, or if the 95 % interval of the difference of
    pairs with the same seed holds zero; but who has not enough goodput for the goal is not among them.
    """
    first = finalists[0]

    def same(other: Candidate) -> bool:
        if compare(goal, results[first], results[other]) == 0:
            return True
        common = sorted(runs[first].keys() & runs[other].keys())
        found = interval([runs[first][seed][goal.field] - runs[other][seed][goal.field] for seed in common])
        return found.n > 1 and found.low <= 0 <= found.high

    able = enough(goal, results)
    group = [first, *(other for other in finalists[1:] if other in able and same(other))]
    best = min(group, key=simplicity)
    return best, [candidate for candidate in group if candidate != best]


def _alone(scenario: Scenario, until: float) -> dict[str, Lone]:
    """Plain TCP over each path, with each controller, as far as there is time; the best of them."""
    names = [link["name"] for link in scenario.check()["links"]]
    what = plan(
        scenario.set({"connection.protocol": "tcp", "connection.receive_buffer": UNLIMITED}),
        {
            "controller": list(known("controller")),  # a controller with each path, then the next
            "path alone": {name: {"connection.paths": json.dumps([name])} for name in names},
        },
        _LONE_SEEDS,
    )
    records: dict[tuple[str, int], Record] = {}
    _make(what, records, until)
    out: dict[str, Lone] = {}
    untried = dict.fromkeys(names, 0)
    for cell in what.cells:
        path = str(cell.labels["path alone"])
        found = [records[cell.sha256, seed] for seed in what.seeds if (cell.sha256, seed) in records]
        values = [json.loads(record.summary)["goodput_mbps"] for record in found if record.summary]
        untried[path] += not found
        one = Lone(str(cell.labels["controller"]), interval(values), 0) if values else None
        if one and (path not in out or one.goodput.mean > out[path].goodput.mean):
            out[path] = one
    return {path: one._replace(untried=untried[path]) for path, one in out.items()}


def _vary(state: _Search, candidates: Sequence[Candidate], end: float) -> list[Varied]:
    """`candidates` with shorter and with longer queues, as far as there is time: the first is the recommended one."""
    found = []
    for i, factor in enumerate(_QUEUES):
        now = time.monotonic()
        until = now + (end - now) / (len(_QUEUES) - i)
        scenario = with_queues(state.scenario, factor)
        what = plan(scenario, {"candidate": {str(one): one.changes() for one in candidates}}, _VARIED_SEEDS)
        results = _made(what, candidates, until)
        if results:
            found.append(Varied(factor, tuple(path.said for path in paths(scenario)), results))
    return found


def _make(
    what: PlanData,
    records: dict[tuple[str, int], Record],
    until: float,
    progress: Callable[[State], None] | None = None,
) -> None:
    """Add to `records` the runs of a plan, as far as there is time."""

    def watch(state: State) -> None:
        if progress is not None:
            progress(state)
        if time.monotonic() > until:
            raise _TimeIsUp

    with contextlib.suppress(_TimeIsUp):
        make(_Kept(what, records), known=dict(records), progress=watch)


def _made(what: PlanData, candidates: Sequence[Candidate], until: float) -> dict[Candidate, dict[str, float]]:
    """Means of those `candidates` that had as many runs as the first one, which is among them if any is."""
    records: dict[tuple[str, int], Record] = {}
    _make(what, records, until)
    runs: dict[Candidate, list[dict[str, float]]] = {}
    for one, cell in zip(candidates, what.cells, strict=True):
        made = [records[cell.sha256, seed] for seed in what.seeds if (cell.sha256, seed) in records]
        runs[one] = [measured(json.loads(record.summary)) for record in made if record.summary]
    wanted = len(runs[candidates[0]])
    return {one: mean(found[:wanted]) for one, found in runs.items() if len(found) >= wanted > 0}
