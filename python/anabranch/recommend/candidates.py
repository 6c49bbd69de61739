"""What is tried, what is measured, and when one candidate is better than another."""

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from anabranch import _core
from anabranch.recommend.paths import paths
from anabranch.scenario import Scenario, ScenarioError, Value

DEFAULT = ("coupled", "none", "min-rtt")
"""What the engine does if nobody chooses: RFC 6356, no judge, the path with the least round-trip time."""
UNLIMITED = "unlimited"
WORTH = 0.01
"""A difference of less is none."""
ENOUGH = 0.9
"""Share of the best goodput that a candidate must have to be good for another goal."""


class Candidate(NamedTuple):
    """One way to use the paths; `buffer` is the receive buffer as a scenario has it."""

    controller: str
    judge: str
    scheduler: str
    buffer: str

    def __str__(self) -> str:
        """As ``--candidate`` takes it."""
        return ", ".join(self)

    def changes(self) -> dict[str, Value]:
        """Of a scenario."""
        names = ("controller", "judge", "scheduler", "receive_buffer")
        return {f"connection.{name}": value for name, value in zip(names, self, strict=True)}


class Measure(NamedTuple):
    """What is measured: a field of the summary, how it is printed, and whether more of it is better.

    Differences of less than `least` are none, however small the values are.
    """

    field: str
    title: str
    unit: str
    scale: float
    decimals: int
    more: bool
    least: float


GOODPUT = Measure("goodput_mbps", "goodput", "Mbit/s", 1.0, 2, True, 0.0)
MEMORY = Measure("ooo_buffer_max_bytes", "OOO buffer", "kB", 1e-3, 0, False, 1400.0)
LATENCY = Measure("hol_delay_ms.p95", "head of line", "ms", 1.0, 1, False, 0.5)
MEASURES = (GOODPUT, MEMORY, LATENCY)
GOALS = {"throughput": GOODPUT, "latency": LATENCY, "memory": MEMORY}

Result = Mapping[str, float]
"""Means by field."""


@cache
def known(kind: str) -> tuple[str, ...]:
    """Names of all algorithms of a kind, the default first."""
    names = [entry["name"] for entry in _registry()[kind]]
    return tuple(sorted(names, key=lambda name: (name not in DEFAULT, names.index(name))))


@cache
def greedy() -> frozenset[str]:
    """Controllers whose subflows take a share each where they meet."""
    return frozenset(entry["name"] for entry in _registry()["controller"] if entry["fairness"] == "subflow")


@cache
def _registry() -> Mapping[str, list[dict[str, Any]]]:
    registry: dict[str, list[dict[str, Any]]] = json.loads(_core.registry())
    return registry


def grid(scenario: Scenario) -> list[Candidate]:
    """All candidates for the paths of `scenario`, the simplest first.

    Receive buffers are half, one, two and four times the product of all rates and the longest round-trip time (without
    queues), and unlimited.
    """
    axes = (known("controller"), known("judge"), known("scheduler"), buffers(scenario))
    return sorted(itertools.starmap(Candidate, itertools.product(*axes)), key=simplicity)


def buffers(scenario: Scenario) -> list[str]:
    """Receive buffers worth trying."""
    found = paths(scenario)
    product = sum(path.rate for path in found) / 8 * max(path.round_trip for path in found)
    sizes = (_tidy(max(share * product, 20_000.0)) for share in (0.5, 1, 2, 4))
    return [*dict.fromkeys(sizes), UNLIMITED]


def _tidy(octets: float) -> str:
    """With two significant digits.

    >>> _tidy(187_123.0), _tidy(4_213_000.0)
    ('190 kB', '4200 kB')
    """
    digits = len(f"{octets / 1000:.0f}") - 2
    return f"{round(octets / 1000, -max(0, digits)):.0f} kB"


@cache
def simplicity(candidate: Candidate) -> tuple[int, ...]:
    """Small for what is closest to the engine's defaults, and then for small buffers."""
    apart = sum(mine != default for mine, default in zip(candidate, DEFAULT, strict=False))
    places = [known(kind).index(name) for kind, name in zip(_KINDS, candidate, strict=False)]
    size = 10**9 if candidate.buffer == UNLIMITED else round(float(candidate.buffer.split()[0]))
    return (apart, *places, size)


_KINDS = ("controller", "judge", "scheduler")


def read(text: str) -> Candidate:
    """A candidate as it was printed.

    Raises
    ------
    ScenarioError
        If it does not have four parts.
    """
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != len(Candidate._fields):
        raise ScenarioError(
            f"--candidate: {text!r} is not CONTROLLER, JUDGE, SCHEDULER, BUFFER\n"
            f"  such as {str(Candidate(*DEFAULT, UNLIMITED))!r}"
        )
    return Candidate(*parts)


def compare(measure: Measure, first: Result, second: Result) -> int:
    """1 if `first` is better by more than a hundredth, -1 if it is worse, else 0."""
    a, b = first[measure.field], second[measure.field]
    margin = max(WORTH * max(abs(a), abs(b)), measure.least)
    if abs(a - b) <= margin:
        return 0
    return 1 if (a > b) == measure.more else -1


def dominates(first: Candidate, second: Candidate, results: Mapping[Candidate, Result]) -> bool:
    """Whether `first` is worse in nothing and better in something, or equal in all and simpler."""
    verdicts = [compare(measure, results[first], results[second]) for measure in MEASURES]
    if min(verdicts) < 0:
        return False
    return max(verdicts) > 0 or simplicity(first) < simplicity(second)


def pareto(results: Mapping[Candidate, Result]) -> list[Candidate]:
    """Those that none of the others dominates."""
    return [one for one in results if not any(dominates(other, one, results) for other in results if other != one)]


def order(goal: Measure, results: Mapping[Candidate, Result]) -> list[Candidate]:
    """Best first: by the goal, among those that have nine tenths of the best goodput; then the others."""
    most = max(result[GOODPUT.field] for result in results.values())
    key: Callable[[Candidate], tuple[Any, ...]] = lambda one: (  # noqa: E731
        results[one][GOODPUT.field] < ENOUGH * most,
        -results[one][goal.field] if goal.more else results[one][goal.field],
        simplicity(one),
    )
    return sorted(results, key=key)


def measured(summary: Mapping[str, Any]) -> dict[str, float]:
    """The measures of a run."""
    found: dict[str, float] = {}
    for measure in MEASURES:
        value: Any = summary
        for key in measure.field.split("."):
            value = value[key] if value is not None else None
        found[measure.field] = float(value) if value is not None else 0.0
    return found


def mean(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Of each measure over runs."""
    return {measure.field: sum(run[measure.field] for run in runs) / len(runs) for measure in MEASURES}
