"""`recommend`: paths, or a scenario, and what comes of it."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from anabranch.algorithms.description import reference_of
from anabranch.execution.bar import bar
from anabranch.recommendation import command, text
from anabranch.recommendation.candidates import GOALS, choices, read
from anabranch.recommendation.paths import paths as described
from anabranch.recommendation.paths import with_queues
from anabranch.recommendation.search import search
from anabranch.recommendation.summary import summary
from anabranch.scenario import Scenario, ScenarioError, Value, with_class
from anabranch.sentences import recommend as say

if TYPE_CHECKING:
    import os

    from anabranch.algorithms.base import Algorithm
    from anabranch.execution.progress import State


@dataclass(frozen=True, eq=False, repr=False)
class Recommendation:
    """How to use given paths, or that there is no answer yet.

    Attributes
    ----------
    summary : dict
        The object ``anabranch recommend --json`` prints; ``docs/columns.md`` defines its fields.
    base : Scenario
        The paths and the transfer, without what is recommended.
    """

    summary: dict[str, Any]
    base: Scenario

    @property
    def answered(self) -> bool:
        """Whether anything is recommended."""
        return self.summary["recommended"] is not None

    @property
    def scenario(self) -> Scenario | None:
        """The scenario with what is recommended; None if there is no answer."""
        return self.base.set(self.summary["recommended"]["changes"]) if self.answered else None

    @property
    def sentences(self) -> list[str]:
        """What is recommended and why, or why nothing is."""
        first = [text.answer(self.summary)] if self.answered else []
        return [*first, *self.summary["sentences"]]

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the search."""
        return bool(self.summary["interrupted"])

    def save(self, directory: "str | os.PathLike[str]", *, command: Sequence[str] | None = None) -> None:
        """Write ``recommendation.json`` and ``report.html`` to `directory`, which appears whole or not at all."""
        from anabranch.recommendation.report import RecommendationDraft

        with RecommendationDraft(directory, command) as draft:
            draft.commit((self.summary, self.scenario))

    def text(self, width: int = 80, table: int | None = None) -> str:
        """Return the text ``anabranch recommend`` prints, with lines of `width` characters.

        Columns of the table that do not fit `table` characters are left out; none if it is not given.
        """
        return text.text(self.summary, width, table)

    def _repr_html_(self) -> str:
        return text.html(self.summary)

    def __str__(self) -> str:
        """The text ``anabranch recommend`` prints."""
        return self.text()

    def __repr__(self) -> str:
        best = self.summary["recommended"]
        found = best["candidate"] if best else say.NO_ANSWER_YET()
        return f"<anabranch.Recommendation {found!r}, {self.summary['runs']} runs>"


def recommend(
    paths: str | Sequence[str] | Scenario,
    *,
    goal: str = "throughput",
    direction: str | None = None,
    transfer: str | None = None,
    receiver: str | None = None,
    changes: Mapping[str, Value] | None = None,
    budget: float | None = None,
    runs: int | None = None,
    seed: int = 1,
    candidates: Sequence[str] = (),
    seeds: int | None = None,
    only: "Sequence[str | type[Algorithm]]" = (),
    without: Sequence[str] = (),
    progress: "Callable[[int, int, State], None] | None" = None,
) -> Recommendation:
    """Find out how to use given paths: which controller, scheduler, judge, detector and receive buffer, or one path.

    Every comparison is of pairs of runs with the same seed, and the baselines are plain TCP over each path with the
    same controller. Nothing is recommended on fewer than five pairs, or while an interval is wide. The method is
    described in ``docs/recommend.md``.

    Parameters
    ----------
    paths : str, sequence of str, or Scenario
        Each path as `Scenario.of_paths` takes it: ``"5 Mbit/s, 100 ms"``, ``"wifi5 10 m"``, ``"lte, loss 1 %"``. Or a
        scenario with one connection over paths written as ``[[path]]``.
    goal : str
        ``"throughput"``; ``"latency"`` (head-of-line delay) or ``"memory"`` (reordering buffer) among those that have
        90 % of the best goodput.
    direction : str, optional
        ``"down"`` (the default), ``"up"`` or ``"both"``.
    transfer : str, optional
        What is sent, or for how long: ``"10 MB"``, ``"20 s"``; long enough for the paths if not given.
    receiver : str, optional
        ``"independent"`` (the default, RFC 8684) or ``"coupled"``: the acknowledgement rule of the receiver.
    changes : mapping, optional
        Other values of the scenario, as `Scenario.set` takes them.
    budget : float, optional
        Seconds after which the search ends; 30 if neither `budget` nor `runs` is given, but no limit for `candidates`.
    runs : int, optional
        Runs after which the search ends. The same number, seed and version give the same answer on every machine.
    seed : int
        The first seed.
    candidates : sequence of str
        No search, but only these, as a recommendation prints them: ``"coupled, none, min-rtt, 350 kB"``,
        ``"cubic, none, alone=path0, unlimited"``.
    seeds : int, optional
        Of each of `candidates`; 8 if not given.
    only, without : sequence of str
        Names of algorithms: of a kind with a name in `only`, no other is tried; nothing in `without` is. `only` takes
        classes written in Python, too, as classes or as ``"file.py:Class"``.
    progress : callable, optional
        Called about ten times a second with the number of the batch of runs, its candidates, and a `State`.

    Returns
    -------
    Recommendation
        Ctrl-C ends the search, and what was found until then counts.

    Raises
    ------
    ScenarioError
        If a path or an option is not valid.

    Examples
    --------
    >>> import anabranch as ab
    >>> found = ab.recommend(["5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms"], runs=60)
    >>> found.summary["recommended"]["label"], found.summary["comparison"]["pairs"]
    ('coupled, min-rtt', 5)
    >>> found.scenario.check()["connections"][0]["scheduler"]
    'min-rtt'
    """
    changes = changes or {}
    if isinstance(paths, Scenario):
        if direction is not None or transfer is not None or receiver is not None or changes:
            raise ScenarioError(say.SCENARIO_AND_MORE())
        base = paths
    else:
        several = [paths] if isinstance(paths, str) else list(paths)
        if not several:
            raise ScenarioError(say.WITHOUT_PATH())
        receiver = receiver or "independent"
        base = command.scenario(several, transfer, receiver, direction, changes)
    base, only = _with_classes(base, only)
    _check(base, goal, candidates, seeds, only, without)
    limit = command.checked(budget, runs, seed)
    names = [path.name for path in described(base)]
    named = {"only": list(only), "without": list(without), "candidates": list(candidates)}
    asked: Sequence[str] | Mapping[str, Any] = {"goal": None if goal == "throughput" else goal, **named}
    if not isinstance(paths, Scenario):
        words = command.words(several, transfer, receiver or "independent", direction, changes, goal, base)
        options = zip(("--only", "--without", "--candidate"), named.values(), strict=True)
        asked = [*words, *(word for option, values in options for value in values for word in (option, value))]
    what: Any = [read(one, names) for one in candidates] if candidates else choices(base, only, without)
    number = (seeds or command.SEEDS) if candidates else None
    with bar(None, "recommend") if progress is None else nullcontext() as shown:
        found = search(
            base,
            what,
            goal,
            budget=budget if candidates else limit,
            runs=runs,
            seed=seed,
            seeds=number or 0,
            progress=progress or (None if shown is None else lambda _batch, _candidates, state: shown(state)),
        )
    return Recommendation(summary(found, asked, number), base)


def _with_classes(base: Scenario, only: "Sequence[str | type[Algorithm]]") -> tuple[Scenario, list[str]]:
    """The scenario with the classes that `only` has, and `only` as names."""
    names = []
    for one in only:
        if isinstance(one, type):
            base = replace(base, classes=with_class(base.classes, one))
        names.append(f"{one.kind}={reference_of(one)}" if isinstance(one, type) else one)
    return base, names


def _check(
    base: Scenario,
    goal: str,
    candidates: Sequence[str],
    seeds: int | None,
    only: Sequence[str],
    without: Sequence[str],
) -> None:
    """Refuse what contradicts itself."""
    if goal not in GOALS:
        raise ScenarioError(say.WRONG_GOAL(goal=goal, goals=", ".join(GOALS)))
    if candidates and (only or without):
        raise ScenarioError(say.ONLY_AND_CANDIDATE())
    if seeds is not None and not candidates:
        raise ScenarioError(say.SEEDS_WITHOUT_CANDIDATE())
    if seeds is not None and seeds < 1:
        raise ScenarioError(say.WRONG_SEEDS(value=seeds))
    resolved = base.check()
    if len(resolved["connections"]) != 1:
        raise ScenarioError(say.CONNECTIONS(scenario=base.name, count=len(resolved["connections"])))
    try:
        with_queues(base, 1.0).check()
    except ScenarioError:
        raise ScenarioError(say.LONG_FORM(scenario=base.name)) from None
    if resolved["connections"][0]["protocol"] == "udp":
        raise ScenarioError(say.DATAGRAMS())
