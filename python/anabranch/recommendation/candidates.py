"""Candidates: what is tried over given paths, what is measured, and when one result is better than another."""

import difflib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from anabranch import _core
from anabranch.algorithms.references import is_reference, load, short_name
from anabranch.measures.table import of_field
from anabranch.recommendation.paths import paths
from anabranch.scenario import Scenario, ScenarioError, Value
from anabranch.sentences import recommend as say

DEFAULT = ("coupled", "none", "min-rtt")
"""Controller, judge and scheduler of a connection that names none."""
CHOSEN = ("controller", "judge", "scheduler", "detector")
"""Kinds of algorithms that are tried."""
UNLIMITED = "unlimited"
WORTH = 0.01
"""Share of a value; a smaller difference counts as no difference."""
ENOUGH = 0.9
"""Share of the best goodput that a candidate must reach to be good for a goal other than throughput."""


class Candidate(NamedTuple):
    """One way to use the paths.

    Attributes
    ----------
    controller, judge, scheduler : str
        Names of algorithms. The scheduler of a plain TCP connection is empty.
    buffer : str
        The receive buffer as a scenario has it: ``"350 kB"``, ``"unlimited"``.
    detector : str
        Name of a loss detector; empty for the detector of the profile.
    alone : str
        Name of the only path that is used, by a plain TCP connection; empty if an MPTCP connection uses all paths.
    backup : str
        Name of a path that is used only if no other path works; empty if there is none.
    """

    controller: str
    judge: str
    scheduler: str
    buffer: str
    detector: str = ""
    alone: str = ""
    backup: str = ""

    def __str__(self) -> str:
        """Return the candidate as ``--candidate`` takes it."""
        parts = [self.controller, self.judge, self.scheduler or f"alone={self.alone}", self.buffer]
        parts += [f"detector={self.detector}"] if self.detector else []
        parts += [f"backup={self.backup}"] if self.backup else []
        return ", ".join(parts)

    @property
    def label(self) -> str:
        """The candidate in few words, without what is as in `DEFAULT`.

        >>> Candidate("cubic", "none", "ecf", "350 kB", backup="path1").label
        'cubic, ecf, buffer 350 kB, path1 as backup'
        >>> Candidate("cubic", "frto", "", "unlimited", alone="path0").label
        'TCP over path0 alone, cubic, frto'
        """
        parts = [say.LABEL_ALONE(path=self.alone)] if self.alone else []
        parts += [short_name(self.controller), *([short_name(self.scheduler)] if self.scheduler else [])]
        parts += [short_name(self.judge)] if self.judge != DEFAULT[1] else []
        parts += [short_name(self.detector)] if self.detector else []
        parts += [say.LABEL_BUFFER(size=self.buffer)] if self.buffer != UNLIMITED else []
        parts += [say.CANDIDATE_BACKUP(path=self.backup)] if self.backup else []
        return ", ".join(parts)

    def changes(self, names: Sequence[str]) -> dict[str, Value]:
        """Return the values that make the candidate of a scenario whose paths have these `names`."""
        kinds = ("controller", "judge", "scheduler", "receive_buffer", "detector")
        found: dict[str, Value] = {
            f"connection.{kind}": value for kind, value in zip(kinds, self[:5], strict=True) if value
        }
        if self.alone:
            found |= {"connection.protocol": "tcp", "connection.paths": json.dumps([self.alone], ensure_ascii=False)}
        if self.backup:
            found[f"path.{names.index(self.backup)}.backup"] = True
        return found

    def over(self, path: str) -> "Candidate":
        """Return plain TCP over `path` alone with the same controller: the baseline of the candidate."""
        return Candidate(self.controller, DEFAULT[1], "", UNLIMITED, alone=path)

    @property
    def plain(self) -> bool:
        """Whether this is what a connection does that chooses nothing: MPTCP over all paths, default algorithms."""
        return self[:3] == DEFAULT and not self.detector and not self.backup


class Measure(NamedTuple):
    """A measure by which candidates are compared.

    Attributes
    ----------
    field : str
        Field of the summary.
    least : float
        Smaller differences are none, however small the values are.
    """

    field: str
    least: float

    @property
    def name(self) -> str:
        """Name of the field in the JSON of a recommendation."""
        return self.field.replace(".", "_")

    @property
    def more(self) -> bool:
        """More of it is better."""
        return of_field(self.field).better == "more"

    @property
    def title(self) -> str:
        """What people call it."""
        return of_field(self.field).words

    @property
    def unit(self) -> str:
        """Unit in which it is printed."""
        return of_field(self.field).unit

    def shown(self, value: float, *, sign: bool = False) -> str:
        """Write a value without its unit.

        >>> MEMORY.shown(12_345.0, sign=True), GOODPUT.shown(6.2349), MEMORY.shown(-3.0, sign=True)
        ('+12', '6.23', '+0')
        """
        told = of_field(self.field)
        rounded = round(told.scale * value, told.digits) + 0.0  # no -0
        return f"{rounded:{'+' if sign else ''}.{told.digits}f}"


GOODPUT = Measure("goodput_mbps", 0.0)
MEMORY = Measure("ooo_buffer_max_bytes", 1400.0)
LATENCY = Measure("hol_delay_ms.p95", 0.5)
MEASURES = (GOODPUT, MEMORY, LATENCY)
GOALS = {"throughput": GOODPUT, "latency": LATENCY, "memory": MEMORY}

Result = Mapping[str, float]
"""Means by field."""


@cache
def variants(kind: str) -> frozenset[str]:
    """Names of algorithms that vary another one, such as Linux's: tried only if they are asked for."""
    return frozenset(entry["name"] for entry in _registry()[kind] if entry["variant_of"])


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
    paths : tuple of str
        Names of the paths.
    several : bool
        Whether an MPTCP connection may use several of them.
    """

    names: Mapping[str, tuple[str, ...]]
    buffers: list[str]
    refused: Mapping[str, str]
    paths: tuple[str, ...]
    several: bool

    def default(self) -> Candidate:
        """Return MPTCP over all paths with the first name of each kind."""
        controller, judge, scheduler, detector = (self.names[kind][0] for kind in CHOSEN)
        return Candidate(controller, judge, scheduler, UNLIMITED, detector)

    def schedulers(self, like: Candidate) -> list[Candidate]:
        """Return `like` with every scheduler."""
        return [like._replace(scheduler=name) for name in self.names["scheduler"]]

    def controllers(self, like: Candidate) -> list[Candidate]:
        """Return `like` with every controller."""
        return [like._replace(controller=name) for name in self.names["controller"]]

    def around(self, best: Candidate) -> list[Candidate]:
        """Return every candidate that differs from `best` in one part."""
        found = self.controllers(best) + [best._replace(judge=name) for name in self.names["judge"]]
        found += [best._replace(detector=name) for name in self.names["detector"]]
        found += [best._replace(buffer=size) for size in self.buffers]
        if not best.alone:
            found += self.schedulers(best) + [best._replace(backup=name) for name in ("", *self.paths)]
        elif len(self.paths) > 1 and self.several:
            like = best._replace(alone="", scheduler=self.names["scheduler"][0])
            found += [like._replace(backup=name) for name in self.paths if name != best.alone]
        return [one for one in dict.fromkeys(found) if one != best]


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
    beside = Path(scenario.name).parent
    chosen, barred = _named("--only", only, beside), _named("--without", without, beside)
    names: dict[str, tuple[str, ...]] = {}
    refused: dict[str, str] = {}
    default = scenario.check()["connections"][0]["detector"]
    for kind in CHOSEN:
        classes = sorted(name for one, name in chosen if one == kind and name not in known(kind))
        left = [name for name in (*known(kind), *classes) if (kind, name) not in barred]
        left = [name for name in left if (kind, name) in chosen or name not in variants(kind)]
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
            asked = ", ".join(refused[f"{kind} {name}"] for name in left) or say.NOTHING_LEFT()
            raise ScenarioError(say.NOTHING_TO_TRY(kind=kind, why=asked))
        names[kind] = tuple(fit)
    resolved = scenario.check()
    links = tuple(link["name"] for link in resolved["links"])
    several = len(links) > 1 and resolved["connections"][0]["protocol"] == "mptcp"
    return Choices(names, buffers(scenario), refused, links, several)


def _named(option: str, wanted: Sequence[str], beside: Path) -> set[tuple[str, str]]:
    """The algorithms that an option names."""
    found = set()
    for text in wanted:
        kind, _, name = text.rpartition("=")
        kind, name = kind.strip(), name.strip()
        kinds = [one for one in CHOSEN if name in known(one) and kind in ("", one)]
        if is_reference(name):
            kinds = [kind or load(name, beside).kind]
        if not kinds:
            everything = [name for one in CHOSEN if kind in ("", one) for name in known(one)]
            others = [one for one in CHOSEN if name in known(one)]
            near = difflib.get_close_matches(name, everything, 1)
            remedy = say.DID_YOU_MEAN(names=repr(near[0])) if near else say.LIST_SHOWS_ALL()
            if others:
                remedy = say.DID_YOU_MEAN(names=" or ".join(f"{one}={name}" for one in others))
            any_kind = say.KINDS(kinds=", ".join(CHOSEN[:-1]), kind=CHOSEN[-1])
            wrong = say.UNKNOWN_NAME(option=option, kinds=kind or any_kind, name=repr(name), remedy=remedy)
            raise ScenarioError(wrong)
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
    """Return a key that is small for what needs least: one path alone, then the defaults, then small buffers."""
    own = (candidate.controller, candidate.judge, candidate.scheduler or DEFAULT[2])
    apart = sum(mine != default for mine, default in zip(own, DEFAULT, strict=True)) + bool(candidate.detector)
    places = [_place(kind, name) for kind, name in zip(CHOSEN[:3], own, strict=True)]
    places.append(_place("detector", candidate.detector) + 1 if candidate.detector else 0)
    size = math.inf if candidate.buffer == UNLIMITED else octets(candidate.buffer)
    return (not candidate.alone, bool(candidate.backup), apart, *places, size)


def _place(kind: str, name: str) -> int:
    """The place of an algorithm in the registry; a class written in Python comes last."""
    return known(kind).index(name) if name in known(kind) else len(known(kind))


def read(text: str, names: Sequence[str] = ()) -> Candidate:
    """Read a candidate as it was printed.

    Parameters
    ----------
    text : str
        The candidate.
    names : sequence of str
        Names of the paths there are.

    Raises
    ------
    ScenarioError
        If `text` has another form, an algorithm or a path that does not exist, or no buffer size.
    """
    parts = [part.strip() for part in text.split(",")]
    more = dict(part.split("=", 1) for part in parts[4:] if "=" in part)
    more = {key.strip(): value.strip() for key, value in more.items()}
    if len(parts) < 4 or len(more) != len(parts) - 4 or not all(parts) or not more.keys() <= {"detector", "backup"}:
        example = repr(str(Candidate(*DEFAULT, UNLIMITED)))
        raise ScenarioError(say.WRONG_CANDIDATE(text=repr(text), form=say.FORM, example=example))
    controller, judge, scheduler, buffer = parts[:4]
    key, equals, alone = (part.strip() for part in scheduler.partition("="))
    if key == "alone" and alone and "backup" in more:
        raise ScenarioError(say.ALONE_AND_BACKUP(text=repr(text)))
    if equals and (key != "alone" or not alone):
        raise ScenarioError(say.NO_SCHEDULER(text=repr(text), scheduler=repr(scheduler), form=say.FORM))
    found = Candidate(controller, judge, "" if equals else scheduler, buffer, more.get("detector", ""), alone)
    found = found._replace(backup=more.get("backup", ""))
    for kind in CHOSEN:
        _check_name(text, kind, getattr(found, kind))
    if found.buffer != UNLIMITED:
        octets(found.buffer)
    for name in filter(None, (found.alone, found.backup)):
        if name not in names:
            raise ScenarioError(say.NO_PATH(text=repr(text), path=repr(name), paths=", ".join(names)))
    return found


def _check_name(text: str, kind: str, name: str) -> None:
    """Refuse the name of an algorithm of `kind` that the candidate `text` has and the registry lacks."""
    if name and name not in known(kind) and not is_reference(name):
        near = difflib.get_close_matches(name, known(kind), 1)
        remedy = say.DID_YOU_MEAN(names=repr(near[0])) if near else say.LIST_SHOWS_ALL()
        option = say.OF_CANDIDATE(text=repr(text))
        raise ScenarioError(say.UNKNOWN_NAME(option=option, kinds=kind, name=repr(name), remedy=remedy))


def margin(measure: Measure, first: Result, second: Result, worth: float = WORTH) -> float:
    """Return the difference up to which two results count as equal; `worth` is its share of the larger one."""
    return max(worth * max(abs(first[measure.field]), abs(second[measure.field])), measure.least)


def compare(measure: Measure, first: Result, second: Result, worth: float = WORTH) -> int:
    """Return 1 if `first` is better by more than the margin, -1 if it is worse, else 0."""
    apart = first[measure.field] - second[measure.field]
    if abs(apart) <= margin(measure, first, second, worth):
        return 0
    return 1 if (apart > 0) == measure.more else -1


def enough(goal: Measure, results: Mapping[Candidate, Result]) -> set[Candidate]:
    """Return the candidates with 90 % of the best goodput; if goodput is the goal, all."""
    if goal == GOODPUT or not results:
        return set(results)
    most = max(result[GOODPUT.field] for result in results.values())
    return {one for one, result in results.items() if result[GOODPUT.field] >= ENOUGH * most}


def order(goal: Measure, results: Mapping[Candidate, Result]) -> list[Candidate]:
    """Sort candidates, best first: by the goal, among those with enough goodput for it; then the others."""
    able = enough(goal, results)
    key: Callable[[Candidate], tuple[Any, ...]] = lambda one: (  # noqa: E731
        one not in able,
        -results[one][goal.field] if goal.more else results[one][goal.field],
        simplicity(one),
    )
    return sorted(results, key=key)


def simplest(goal: Measure, results: Mapping[Candidate, Result], worth: float = WORTH) -> Candidate:
    """Return the simplest of those that are as good as the best, within the share `worth` of it."""
    first = order(goal, results)[0]
    able = enough(goal, results)
    same = [one for one in results if one in able and compare(goal, results[first], results[one], worth) == 0]
    return min(same, key=simplicity)


def measured(summary: Mapping[str, Any]) -> dict[str, float]:
    """Return the measures of a run; a measure that the run does not have is 0."""
    found: dict[str, float] = {}
    for measure in MEASURES:
        value: Any = summary
        for key in measure.field.split("."):
            value = value[key] if value is not None else None
        found[measure.field] = float(value) if value is not None else 0.0
    return found


def mean(runs: Sequence[Result]) -> dict[str, float]:
    """Return the mean of each measure over runs."""
    return {measure.field: math.fsum(run[measure.field] for run in runs) / len(runs) for measure in MEASURES}
