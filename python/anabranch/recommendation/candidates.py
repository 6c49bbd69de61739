"""What is tried, what is measured, and when one candidate is better than another."""

import difflib
import hashlib
import itertools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from anabranch import _core
from anabranch.recommendation.paths import paths
from anabranch.scenario import Scenario, ScenarioError, Value

DEFAULT = ("coupled", "none", "min-rtt")
"""What the engine does if nobody chooses: RFC 6356, no judge, the path with the least round-trip time."""
CHOSEN = ("controller", "judge", "scheduler", "detector")
"""Kinds of algorithms that are tried."""
UNLIMITED = "unlimited"
WORTH = 0.01
"""A difference of less is none."""
ENOUGH = 0.9
"""Share of the best goodput that a candidate must have to be good for another goal."""


class Candidate(NamedTuple):
    """One way to use the paths; `buffer` is the receive buffer as a scenario has it, `detector` empty the profile's."""

    controller: str
    judge: str
    scheduler: str
    buffer: str
    detector: str = ""

    def __str__(self) -> str:
        """As ``--candidate`` takes it."""
        return ", ".join([*self[:4], *([f"detector={self.detector}"] if self.detector else [])])

    def changes(self) -> dict[str, Value]:
        """Of a scenario."""
        names = ("controller", "judge", "scheduler", "receive_buffer", "detector")
        return {f"connection.{name}": value for name, value in zip(names, self, strict=True) if value}

    @property
    def plain(self) -> bool:
        """Whether the algorithms are those that the engine takes if nobody chooses."""
        return self[:3] == DEFAULT and not self.detector


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


@dataclass(frozen=True)
class Choices:
    """What may be tried over given paths.

    Attributes
    ----------
    names : dict
        By kind (``controller``, ``judge``, ``scheduler``, ``detector``) the names of algorithms, the default first; the
        profile's own detector is the empty name.
    buffers : list of str
        Receive buffers, the smallest first, unlimited last.
    refused : dict
        Algorithms that the scenario refuses, such as ``controller dctcp``, and why.
    """

    names: Mapping[str, tuple[str, ...]]
    buffers: list[str]
    refused: Mapping[str, str]

    def first(self) -> list[Candidate]:
        """Every controller with every scheduler, the rest as the engine has it, two buffers; the simplest first."""
        sizes = list(dict.fromkeys([self.buffers[min(1, len(self.buffers) - 1)], self.buffers[-1]]))
        judge, detector = self.names["judge"][0], self.names["detector"][0]
        pairs = itertools.product(self.names["controller"], self.names["scheduler"], sizes)
        return sorted((Candidate(c, judge, s, size, detector) for c, s, size in pairs), key=simplicity)

    def around(self, best: Sequence[Candidate]) -> list[Candidate]:
        """Every judge, detector and buffer with the controllers and schedulers of `best`."""
        pairs = dict.fromkeys((one.controller, one.scheduler) for one in best)
        rest = list(itertools.product(self.names["judge"], self.buffers, self.names["detector"]))
        return [Candidate(c, judge, s, size, detector) for c, s in pairs for judge, size, detector in rest]

    @property
    def total(self) -> int:
        """How many combinations there are."""
        return len(self.buffers) * math.prod(map(len, self.names.values()))


def choices(scenario: Scenario, only: Sequence[str] = (), without: Sequence[str] = ()) -> Choices:
    """What may be tried over the paths of `scenario`.

    Parameters
    ----------
    scenario : Scenario
        The paths, and what all candidates have in common.
    only, without : sequence of str
        Names of algorithms, of any kind: of a kind with a name in `only`, those alone; nothing in `without`.
        ``KIND=NAME`` says which one is meant if two kinds have the name.

    Raises
    ------
    ScenarioError
        If nothing is called so, or of a kind nothing is left.
    """
    chosen, barred = _named("--only", only), _named("--without", without)
    names: dict[str, tuple[str, ...]] = {}
    refused: dict[str, str] = {}
    default = scenario.check()["connections"][0]["detector"]
    for kind in CHOSEN:
        left = [name for name in known(kind) if (kind, name) not in barred]
        left = [name for name in left if (kind, name) in chosen] or ([] if any(k == kind for k, _ in chosen) else left)
        # What the profile takes by itself gives way to NewReno where it has to; only a named one is refused.
        own = default if kind == "detector" else ""
        why = {name: "" if name == own else _refusal(scenario, kind, name) for name in left}
        refused |= {f"{kind} {name}": reason for name, reason in why.items() if reason}
        fit = [name for name in left if not why[name]]
        if kind == "detector":
            # Where it gives way it is NewReno, as `rfc6675` then is.
            same = "rfc6675" if own != "rfc6675" and own in fit and _refusal(scenario, kind, own) else ""
            fit = sorted(("" if name == own else name for name in fit if name != same), key=bool)
        if not fit:
            asked = ", ".join(refused[f"{kind} {name}"] for name in left) or "--only and --without leave nothing"
            raise ScenarioError(f"no {kind} to try: {asked}")
        names[kind] = tuple(fit)
    return Choices(names, buffers(scenario), refused)


def _named(option: str, wanted: Sequence[str]) -> set[tuple[str, str]]:
    """The algorithms that an option names."""
    found = set()
    for text in wanted:
        kind, _, name = text.rpartition("=")
        kind, name = kind.strip(), name.strip()
        kinds = [one for one in CHOSEN if name in known(one) and kind in ("", one)]
        if not kinds:
            everything = [name for one in CHOSEN if kind in ("", one) for name in known(one)]
            others = [one for one in CHOSEN if name in known(one)]
            near = difflib.get_close_matches(name, everything, 1)
            remedy = f"did you mean {near[0]!r}?" if near else "`anabranch list` shows all"
            if others:
                remedy = f"did you mean {' or '.join(f'{one}={name}' for one in others)}?"
            raise ScenarioError(
                f"{option}: no {kind or ', '.join(CHOSEN[:-1]) + ' or ' + CHOSEN[-1]} is called {name!r}\n  {remedy}"
            )
        found |= {(one, name) for one in kinds}
    return found


def _refusal(scenario: Scenario, kind: str, name: str) -> str:
    """Why the scenario does not take an algorithm; empty if it does."""
    try:
        scenario.set(f"connection.{kind}", name).check()
    except ScenarioError as error:
        return str(error).splitlines()[0]
    return ""


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
def octets(buffer: str) -> int:
    """A receive buffer in octets.

    >>> octets("350kB"), octets("1 MiB")
    (350000, 1048576)
    """
    text = f'[connection]\nreceive_buffer = "{buffer}"\n[transfer]\n[[path]]'
    size: int = Scenario.from_toml(text, name="--candidate").check()["connections"][0]["receive_buffer_bytes"]
    return size


@cache
def simplicity(candidate: Candidate) -> tuple[float, ...]:
    """Small for what is closest to the engine's defaults, and then for small buffers."""
    apart = sum(mine != default for mine, default in zip(candidate, DEFAULT, strict=False))
    apart += bool(candidate.detector)
    places = [known(kind).index(name) for kind, name in zip(CHOSEN[:3], candidate, strict=False)]
    places.append(known("detector").index(candidate.detector) + 1 if candidate.detector else 0)
    size = math.inf if candidate.buffer == UNLIMITED else octets(candidate.buffer)
    return (apart, *places, size)


def scattered(candidate: Candidate) -> str:
    """A key without any order, so that what there is time for is of all kinds."""
    return hashlib.sha256(str(candidate).encode()).hexdigest()


def read(text: str) -> Candidate:
    """A candidate as it was printed.

    Raises
    ------
    ScenarioError
        If it does not have four parts, and after them at most a detector.
    """
    parts = [part.strip() for part in text.split(",")]
    detector = ""
    if len(parts) == len(Candidate._fields):
        key, _, detector = parts.pop().partition("=")
        detector = detector.strip() if key.strip() == "detector" else ""
        if not detector:
            parts = []
    if len(parts) != len(Candidate._fields) - 1:
        raise ScenarioError(
            f"--candidate: {text!r} is not CONTROLLER, JUDGE, SCHEDULER, BUFFER[, detector=NAME]\n"
            f"  such as {str(Candidate(*DEFAULT, UNLIMITED))!r}"
        )
    controller, judge, scheduler, buffer = parts
    return Candidate(controller, judge, scheduler, buffer, detector)


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


def enough(goal: Measure, results: Mapping[Candidate, Result]) -> set[Candidate]:
    """Those with nine tenths of the best goodput; where goodput is the goal, all."""
    if goal == GOODPUT:
        return set(results)
    most = max(result[GOODPUT.field] for result in results.values())
    return {one for one, result in results.items() if result[GOODPUT.field] >= ENOUGH * most}


def order(goal: Measure, results: Mapping[Candidate, Result]) -> list[Candidate]:
    """Best first: by the goal, among those that have enough goodput for it; then the others."""
    able = enough(goal, results)
    key: Callable[[Candidate], tuple[Any, ...]] = lambda one: (  # noqa: E731
        one not in able,
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
