"""What a sweep consists of: axes, cells, seeds, and the key by which a finished run is known again."""

import contextlib
import hashlib
import itertools
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeAlias

from anabranch import _core
from anabranch._core import AlgorithmError, RunError
from anabranch.algorithms.base import Algorithm
from anabranch.algorithms.carried import packed
from anabranch.algorithms.identity import identity
from anabranch.algorithms.references import named, short_name
from anabranch.scenario import Scenario, ScenarioError, Value
from anabranch.sentences.escape import deceives, visible
from anabranch.sweeps.columns import COLUMNS
from anabranch.sweeps.until import MOST, Precision

Axes: TypeAlias = "Mapping[str, Sequence[Value] | Mapping[str, Mapping[str, Value]]]"
"""By name: values of one key, or named sets of changes."""

ALGORITHMS = ("controller", "detector", "reduction", "judge", "recovery", "scheduler")
"""Keys of a connection that have parameters of their own."""
MOST_CELLS = 1_000_000
MOST_RUNS = 100_000_000
_TOP = frozenset({"title", "duration", "stack"})
"""Keys of a scenario that stand outside of any table."""


@dataclass(frozen=True)
class Engine:
    """Who makes the runs; those of two engines are never mixed.

    Attributes
    ----------
    version, commit : str
        Of Anabranch.
    build : str
        Empty if version and commit say which program it is; else a hash of the program, because the source was changed
        after the commit, or there was none.
    """

    version: str
    commit: str
    build: str

    def __str__(self) -> str:
        """In words."""
        inside = ", ".join(part for part in (self.commit, self.build and f"build {self.build}") if part)
        return f"version {self.version}" + (f" ({inside})" if inside else "")


@cache
def engine() -> Engine:
    """The engine of this process."""
    commit = _core.commit()
    build = ""
    if not commit or commit.endswith("-dirty"):
        build = hashlib.sha256(Path(str(_core.__file__)).read_bytes()).hexdigest()[:12]
    return Engine(_core.version(), commit, build)


@dataclass(frozen=True)
class Point:
    """One value of an axis: what it is called, and what it changes."""

    label: Value
    changes: Mapping[str, Value]


@dataclass(frozen=True)
class Cell:
    """One combination of values.

    Attributes
    ----------
    labels : mapping
        Value of each axis.
    scenario : Scenario
        What is run.
    sha256 : str
        Of every value of the resolved scenario but seed and title; if it is refused, of its text and changes.
    error : str
        Why it is refused; empty if it is not.
    code : bytes
        Its algorithms written in Python, as they were when the sweep was laid out; empty if it has none, and in a plan
        that was read from a directory.
    """

    labels: Mapping[str, Value]
    scenario: Scenario
    sha256: str
    error: str
    code: bytes = field(default=b"", repr=False, compare=False)

    def key(self, seed: int) -> str:
        """What a run of this cell is stored under: scenario, seed and engine."""
        return _digest([self.sha256, seed, str(engine())])[:32]


class Options(NamedTuple):
    """What a run may take and what of it is kept; none of it changes a result.

    Attributes
    ----------
    timeout : float, optional
        Seconds of wall-clock time.
    memory : int, optional
        Octets that the engine may hold.
    series : int
        How many sample times of the series over time are kept of each run; none if 0.
    """

    timeout: float | None = None
    memory: int | None = None
    series: int = 0


NO_LIMITS = Options()


@dataclass(frozen=True)
class PlanData:
    """A sweep before it is run; the attributes are those of `anabranch.sweeps.results.Plan`."""

    scenario: Scenario
    axes: Mapping[str, tuple[Point, ...]]
    seeds: tuple[int, ...]
    cells: tuple[Cell, ...]
    options: Options = NO_LIMITS
    precision: Precision | None = None

    def runs(self) -> Iterator[tuple[Cell, int]]:
        """Every different cell with every seed, one seed after another, so that whatever is finished can be compared.

        Of cells that are the same scenario under two names, one is run.
        """
        return ((cell, seed) for seed in self.seeds for cell in self.distinct)

    @cached_property
    def distinct(self) -> tuple[Cell, ...]:
        """The cells, without those that are the same scenario as one before."""
        found: dict[str, Cell] = {}
        for cell in self.cells:
            found.setdefault(cell.sha256, cell)
        return tuple(found.values())

    @property
    def total(self) -> int:
        """Number of runs."""
        return len(self.distinct) * len(self.seeds)

    def with_seeds(self, seeds: tuple[int, ...]) -> Self:
        """The same with other seeds."""
        return replace(self, seeds=seeds)


def plan(
    scenario: Scenario,
    axes: Axes,
    seeds: int | str | Sequence[int] = 10,
    options: Options | None = None,
    *,
    keep_refused: bool = False,
) -> PlanData:
    """Lay out a sweep and validate every cell.

    Parameters
    ----------
    scenario : Scenario
        What all cells have in common.
    axes : mapping
        Values by key (``"controller"`` is short for ``"connection.controller"``), or named sets of changes.
    seeds : int, sequence of int or str
        Seeds 1 to `seeds`, or these, or as many as are needed: ``"until 1 %"``.
    options : Options, optional
        What a run may take, and what is kept of it.
    keep_refused : bool
        Return a plan without a valid cell instead of raising an error.

    Raises
    ------
    ScenarioError
        If an axis makes no sense, or if not one cell is valid.

    Examples
    --------
    >>> import anabranch as ab
    >>> base = ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="1 MB")
    >>> made = plan(base, {"controller": ["uncoupled", "coupled"], "path.1.delay": ["10 ms", "20 ms"]}, seeds=3)
    >>> len(made.cells), made.seeds, made.cells[1].labels
    (4, (1, 2, 3), {'controller': 'uncoupled', 'path.1.delay': '20 ms'})
    """
    precision = Precision.parse(seeds) if isinstance(seeds, str) else None
    numbers = _seeds(seeds if precision is None else precision.first)  # type: ignore[arg-type]
    points = {name: _points(name, values) for name, values in axes.items()}
    with contextlib.suppress(ScenarioError):  # an axis may name another file
        scenario = scenario.inlined()
    _bounded(points, len(numbers))
    cells = []
    for combination in itertools.product(*points.values()):
        changes = {key: value for point in combination for key, value in point.changes.items()}
        labels = {name: point.label for name, point in zip(points, combination, strict=True)}
        cells.append(_cell(labels, scenario.set(changes) if changes else scenario, options or NO_LIMITS))
    if not keep_refused and all(cell.error for cell in cells):
        raise ScenarioError(cells[0].error)
    return PlanData(scenario, points, numbers, tuple(cells), options or NO_LIMITS, precision)


def again(kept: PlanData, seeds: int | str | None = None) -> PlanData:
    """The stored plan `kept`, validated by this version, with other `seeds` if given."""
    made = replace(kept, cells=tuple(_cell(cell.labels, cell.scenario, kept.options) for cell in kept.cells))
    if seeds is None:
        return made
    precision = Precision.parse(seeds) if isinstance(seeds, str) else None
    numbers = precision.first if precision is not None else seeds
    return replace(made, seeds=_seeds(numbers), precision=precision)  # type: ignore[arg-type]


def base_sha256(made: PlanData) -> str:
    """What a cell without changes would be called."""
    if not made.axes:
        return made.cells[0].sha256
    return _cell({}, made.scenario, made.options).sha256


def _cell(labels: Mapping[str, Value], scenario: Scenario, limits: Options) -> Cell:
    try:
        scenario = scenario.inlined()
        resolved = scenario.check(timeout=limits.timeout, memory=limits.memory)
        algorithms = scenario.algorithms()
        identities = [identity(algorithm.cls) for algorithm in algorithms]
        code = packed(algorithms)
    except (ScenarioError, AlgorithmError) as error:
        return Cell(labels, scenario, _digest([scenario.toml, scenario.overrides]), str(error))
    except RunError:  # which each of its runs will say of itself
        return Cell(labels, scenario, _digest([scenario.toml, scenario.overrides]), "")
    return Cell(labels, scenario, _digest([_alike(resolved), identities] if identities else _alike(resolved)), "", code)


def same_scenario(one: Scenario, other: Scenario) -> bool:
    """Returns True if two scenarios differ in seed and title at most; ScenarioError if one is not valid."""
    first, second = ([identity(found.cls) for found in scenario.algorithms()] for scenario in (one, other))
    return first == second and _alike(one.check()) == _alike(other.check())


def _alike(resolved: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what makes a scenario another one: not its seed and title, nor by which of its names the judge is called.

    The older name is the one that counts, so that sweeps made before there were two know their runs again.
    """

    def named(key: str) -> str:
        return f"recovery{key.removeprefix('judge')}" if key in ("judge", "judge_parameters") else key

    connections = [{named(key): value for key, value in one.items()} for one in resolved["connections"]]
    return {k: v for k, v in resolved.items() if k not in _APART} | {"connections": connections}


_APART = frozenset({"seed", "title", "warnings", "in_force"})


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _bounded(points: Mapping[str, Sequence[Point]], seeds: int) -> None:
    """Refuse a sweep that nobody could store."""
    sizes = " x ".join(f"{name}: {len(values)}" for name, values in points.items())
    cells = math.prod(map(len, points.values()))
    if cells > MOST_CELLS:
        raise ScenarioError(f"axes: {cells} cells ({sizes}); a sweep has at most {MOST_CELLS} cells; leave out values")
    if cells * seeds > MOST_RUNS:
        remedy = "take fewer seeds or leave out values of an axis"
        raise ScenarioError(
            f"seeds: {seeds} seeds of {cells} cells are {seeds * cells} runs; a sweep has at most {MOST_RUNS}; {remedy}"
        )


def _seeds(seeds: int | Sequence[int]) -> tuple[int, ...]:
    count = seeds if isinstance(seeds, int) else len(seeds)
    if count > MOST:
        raise ScenarioError(f"seeds: {count} seeds; a sweep has at most {MOST} seeds")
    numbers = tuple(range(1, seeds + 1)) if isinstance(seeds, int) else tuple(seeds)
    if not numbers:
        raise ScenarioError(f"seeds: {seeds!r} is neither a count above 0 nor a list of different seeds")
    if (wrong := next((n for n in numbers if not 0 <= n < 2**63), None)) is not None:
        raise ScenarioError(f"seeds: {wrong} is out of range; a seed is a whole number from 0 to {2**63 - 1}")
    if len(set(numbers)) < len(numbers):
        twice = next(n for n, count in Counter(numbers).items() if count > 1)
        raise ScenarioError(f"seeds: {twice} is given more than once; write each seed once")
    return numbers


def _points(name: str, values: "Sequence[Value] | Mapping[str, Mapping[str, Value]]") -> tuple[Point, ...]:
    if isinstance(values, Mapping):
        points = tuple(
            Point(label, {_key(key): value for key, value in changes.items()}) for label, changes in values.items()
        )
    elif isinstance(values, str | bytes) or not isinstance(values, Sequence):
        raise ScenarioError(f"axes.{name}: {values!r} is not a list of values; write [VALUE, ...]")
    else:
        labels: list[Value] = [named(value) if isinstance(value, Algorithm | type) else value for value in values]
        if _key(name).rpartition(".")[2] in ALGORITHMS:
            short: list[Value] = [short_name(label) if isinstance(label, str) else label for label in labels]
            labels = short if len(set(short)) == len(short) else labels  # two files may have classes of one name
        points = tuple(Point(label, {_key(name): value}) for label, value in zip(labels, values, strict=True))
    if not points:
        raise ScenarioError(f"axes.{name}: an axis needs at least one value")
    labels = [point.label for point in points]
    for text in (name, *map(str, labels)):
        if deceives(text):
            raise ScenarioError(
                f"axes.{visible(name)}: {text!r} is not a usable name: it has characters that control a terminal or "
                "the direction of writing; choose another name"
            )
    counts = Counter(map(str, labels))
    if twice := [label for label in labels if counts[str(label)] > 1]:
        raise ScenarioError(f"axes.{name}: values that are the same or written alike: {twice}; write each value once")
    for key in itertools.chain.from_iterable(point.changes for point in points):
        if key == "seed":
            raise ScenarioError(f"axes.{name}: `seed` cannot be an axis: every cell runs with the same `seeds`")
    if name in COLUMNS:
        raise ScenarioError(
            f"axes.{name}: results have a column of this name\n"
            f'  write a key of the scenario with its whole path, such as "connection.{name}", or rename the axis'
        )
    return points


def _key(name: str) -> str:
    """The key path a name stands for.

    >>> _key("judge"), _key("judge.t1"), _key("stack"), _key("path.1.delay")
    ('connection.judge', 'connection.judge.t1', 'stack', 'path.1.delay')
    """
    if name.partition(".")[0] in ALGORITHMS:
        return f"connection.{name}"
    return name if "." in name or "[" in name or name in _TOP or name == "seed" else f"connection.{name}"
