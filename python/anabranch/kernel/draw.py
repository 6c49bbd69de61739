"""Random cases for the comparison with Linux, and the rule by which engine and Linux agree in a case."""

import csv
import io
import itertools
import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple

from anabranch._core import ScenarioError
from anabranch.kernel.beside import ours, varied
from anabranch.measures import units
from anabranch.scenario import Scenario

KINDS = ("one subflow", "two subflows", "three subflows", "short")
"""What a case is drawn as: its number of subflows, or a transfer of at most 1 MB over one to three of them."""

_DEALT = ("one subflow",) * 3 + ("two subflows",) * 5 + ("three subflows",) * 2 + ("short",) * 2
"""Kinds of twelve cases."""

LOSSLESS, LOSS, FAILURE, WINDOW, SLOW_BACK = "lossless", "loss", "failure", "small window", "slow way back"
FEATURES = (LOSSLESS, LOSS, WINDOW, FAILURE, SLOW_BACK)
"""What else a case has. A failure needs a second path."""

TOLERANCE: Mapping[str, float] = {LOSSLESS: 0.05, SLOW_BACK: 0.05, LOSS: 0.12, FAILURE: 0.12, WINDOW: 0.15}
"""Largest difference of the mean goodputs by feature, relative to Linux."""

SHARE = 0.05
"""Largest difference of a path's mean share."""

CHANCE = 0.05
"""Least probability at which the counts of two regimes agree (Fisher's exact test)."""


@dataclass(frozen=True)
class Case:
    """A drawn case.

    Attributes
    ----------
    number : int
        From 0.
    kind, feature : str
        One of `KINDS` and one of `FEATURES`.
    text : str
        The scenario as TOML.
    """

    number: int
    kind: str
    feature: str
    text: str

    def scenarios(self, runs: int, vary: float) -> list[Scenario]:
        """Return the scenario of each run: run 0 as drawn, each further run with rates and delays varied by `vary`."""
        return [varied(Scenario.from_toml(self.text), vary, k) for k in range(runs)]


def draw(seed: int, count: int) -> list[Case]:
    """Return `count` cases; the first n cases of a seed are the same for every `count`."""
    return [_case(seed, number) for number in range(count)]


def _case(seed: int, number: int) -> Case:
    # The kinds of twelve consecutive cases have fixed counts, in an order drawn for each twelve.
    kinds = list(_DEALT)
    random.Random(f"{seed} kinds {number // len(kinds)}").shuffle(kinds)
    kind = kinds[number % len(kinds)]
    chance = random.Random(f"{seed} case {number}")
    paths = 1 + KINDS.index(kind) if kind != "short" else chance.randint(1, 3)
    feature = chance.choices(FEATURES, (40, 25, 15, 10, 10))[0]
    if feature == FAILURE and (paths == 1 or kind == "short"):
        feature = LOSSLESS
    links = [(_log(chance, 2, 100), _log(chance, 2, 120), _log(chance, 0.3, 3)) for _ in range(paths)]
    total = 1e6 * sum(rate for rate, _, _ in links)
    longest = 1e-3 * max(delay for _, delay, _ in links)
    octets = (
        _log(chance, 20e3, 1e6) if kind == "short" else min(60e6, total / 8 * max(chance.uniform(6, 16), 40 * longest))
    )
    protocol = chance.choice(("tcp", "mptcp")) if paths == 1 else "mptcp"
    lines = [
        f"seed = {number + 1}",
        "[connection]",
        'profile = "linux-6.1"',
        f'protocol = "{protocol}"',
        f'controller = "{chance.choice(("uncoupled", "cubic"))}"',
        f"mss = {1424 if protocol == 'mptcp' else 1448}",
    ]
    if feature == WINDOW:
        lines.append(f'receive_buffer = "{1024 * round(_log(chance, 32, 512))} B"')
    lines += ["[transfer]", f'bytes = "{round(octets)} B"']
    fails = chance.uniform(1, 4)
    back = fails + chance.uniform(1, 5) if chance.random() < 0.5 else None
    for i, (rate, delay, depth) in enumerate(links):
        queue = max(5, round(depth * rate * 1e6 * 2e-3 * delay / 8 / 1500))
        lines += [
            "[[path]]",
            f'rate_up = "{rate:.3g} Mbit/s"',
            f'rate_down = "{rate / (_log(chance, 10, 60) if feature == SLOW_BACK else 1):.3g} Mbit/s"',
            f'delay = "{delay:.3g} ms"',
            f'queue = "{queue} packets"',
            'overhead = "14 B"',
        ]
        if feature == LOSS:
            lines.append(f'loss = "{_log(chance, 0.02, 2):.3g} %"')
        if feature == FAILURE and i == 0:
            again = "" if back is None else f', {{ at = "{back:.2f} s", loss = "0 %" }}'
            lines.append(f'changes = [{{ at = "{fails:.2f} s", loss = "100 %" }}{again}]')
    return Case(number, kind, feature, "\n".join(lines) + "\n")


def _log(chance: random.Random, least: float, most: float) -> float:
    """Draw a value whose logarithm is uniform."""
    return float(least * (most / least) ** chance.random())


def simulated(case: Case, runs: int, vary: float) -> list[dict[str, Any]]:
    """Return the figures of `runs` runs of the engine; the keys are those of :func:`anabranch.kernel.beside.ours`."""
    scenarios = case.scenarios(runs, vary)
    paths = len(scenarios[0].check()["links"])
    return [ours(scenario.run(k + 1), paths) for k, scenario in enumerate(scenarios)]


class Verdict(NamedTuple):
    """Whether engine and Linux agree in a case.

    Attributes
    ----------
    goodput : bool
        The means differ by no more than the tolerance, or than two standard errors of their difference.
    regimes : bool
        The counts of runs in the two regimes agree; true if neither side has two regimes.
    shares : bool
        The mean share of each path differs by at most five points.
    difference : float
        Mean goodput of the engine over that of Linux, minus 1.
    allowed : float
        Largest difference that `goodput` accepts.
    points : float
        Largest difference of a path's share, 0 to 1.
    """

    goodput: bool
    regimes: bool
    shares: bool
    difference: float
    allowed: float
    points: float

    @property
    def agrees(self) -> bool:
        """All three."""
        return self.goodput and self.regimes and self.shares


def verdict(case: Case, engine: Sequence[Mapping[str, Any]], linux: Sequence[Mapping[str, Any]]) -> Verdict:
    """Compare the runs of both sides.

    Of a short transfer, the time to completion takes the place of the goodput, because the goodput from the first octet
    to the last of a transfer of one flight is a matter of microseconds.
    """
    measure = _measure(case.kind)
    here, there = ([float(run[measure]) for run in runs] for runs in (engine, linux))
    difference = mean(here) / mean(there) - 1
    error = math.sqrt(sum(stdev(side) ** 2 / len(side) for side in (here, there) if len(side) > 1)) / mean(there)
    allowed = max(TOLERANCE[case.feature], 2 * error)
    points = max(abs(mean(a) - mean(b)) for a, b in zip(_shares(engine), _shares(linux), strict=True))
    return Verdict(abs(difference) <= allowed, _counts_agree(here, there), points <= SHARE, difference, allowed, points)


def _shares(runs: Sequence[Mapping[str, Any]]) -> list[tuple[float, ...]]:
    return list(zip(*(run["share"] for run in runs), strict=True))


def regimes(values: Sequence[float]) -> float | None:
    """Return the value that separates two regimes of `values`; None if they are one.

    Two regimes are at least two values each, apart by a gap that is wider than 8 % of the mean and than twice the range
    of the values on either side of it.

    >>> regimes([24.0, 24.4, 30.1, 30.6, 30.3])
    27.25
    >>> regimes([24.0, 25.0, 26.5, 27.2, 28.1]) is None
    True
    """
    ordered = sorted(values)
    gaps = [(b - a, k + 1) for k, (a, b) in enumerate(itertools.pairwise(ordered))]
    wide, at = max(gaps, default=(0.0, 0))
    low, high = ordered[:at], ordered[at:]
    if min(len(low), len(high)) < 2:
        return None
    if wide <= max(0.08 * mean(ordered), 2 * (low[-1] - low[0]), 2 * (high[-1] - high[0])):
        return None
    return (low[-1] + high[0]) / 2


def _counts_agree(here: Sequence[float], there: Sequence[float]) -> bool:
    for side in (here, there):
        between = regimes(side)
        if between is not None:
            above = [sum(value > between for value in values) for values in (here, there)]
            below = [len(here) - above[0], len(there) - above[1]]
            if fisher(above, below) < CHANCE:
                return False
    return True


def fisher(first: Sequence[int], second: Sequence[int]) -> float:
    """Return p of Fisher's exact test (two-sided) of the 2 x 2 table of two rows of counts.

    >>> round(fisher([8, 2], [1, 5]), 4)
    0.035
    """
    (a, b), (c, d) = first, second

    def weight(x: int) -> int:
        return math.comb(a + b, x) * math.comb(c + d, a + c - x)

    ways = [weight(x) for x in range(max(0, a - d), min(a + b, a + c) + 1)]
    return sum(w for w in ways if w <= weight(a)) / sum(ways)


COLUMNS = (
    "case", "kind", "feature", "run", "goodput_mbps", "completion_s", "retransmissions", "timeouts", "share",
    "queue_drops", "scenario",
)  # fmt: skip
"""Columns of a file of measured rows; `scenario` is the case's TOML in the row of run 0."""

_TITLE = re.compile(r"seed (\d+), (\d+) cases, (\d+) runs of each, rates and delays varied by (\d+(?:\.\d+)?) %")


@dataclass
class Drawn:
    """A draw, and the rows of Linux that are known.

    Attributes
    ----------
    seed, count, runs : int
        Seed of the draw, number of cases, runs of each case on each side.
    vary : float
        Share by which rates and delays differ from run to run, 0 to 0.5.
    linux : dict
        By number of case and of run, a run's figures; the keys are those of :func:`anabranch.kernel.beside.theirs`.
    stored : dict
        By number, each case as its row gives it.
    """

    seed: int
    count: int
    runs: int
    vary: float
    linux: dict[int, dict[int, dict[str, Any]]] = field(default_factory=dict)
    stored: dict[int, Case] = field(default_factory=dict)

    def title(self) -> str:
        """Return the draw's numbers as words; :func:`load` reads them back."""
        return (
            f"seed {self.seed}, {self.count} cases, {self.runs} runs of each, "
            f"rates and delays varied by {100 * self.vary:g} %"
        )

    def head(self, release: str) -> str:
        """Return the comment line of the file; `release` is the kernel's."""
        return f"# Linux {release} in virtual time by tools/kernel-oracle/draw: {self.title()}; HZ = 100.\n"

    def cases(self) -> list[Case]:
        """Return the drawn cases."""
        return draw(self.seed, self.count)

    def measured(self) -> Iterator[tuple[Case, list[dict[str, Any]]]]:
        """Yield each stored case whose runs on Linux are all known, with these runs."""
        for number, case in sorted(self.stored.items()):
            runs = self.linux[number]
            if len(runs) == self.runs:
                yield case, [runs[k] for k in sorted(runs)]


def row(case: Case, run: int, figures: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of a run of Linux."""
    lists = {name: " ".join(f"{value:.6g}" for value in figures[name]) for name in ("share", "queue_drops")}
    texts = {"case": case.number, "kind": case.kind, "feature": case.feature, "scenario": "" if run else case.text}
    return {name: {**figures, **lists, **texts, "run": run}[name] for name in COLUMNS}


def load(file: Path) -> Drawn:
    """Read a file of rows.

    Raises
    ------
    ValueError
        If the first line does not name a draw, or if a row is not one of it; the message names the line.
    """
    try:
        head, _, rest = file.read_text(encoding="utf-8").partition("\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"{file}: octet {error.start} is not UTF-8 text\n  name a file that draw wrote") from None
    found = _TITLE.search(head)
    if found is None:
        raise ValueError(
            f"{file}: line 1 does not say how the cases were drawn\n  expected: # ... {Drawn(1, 48, 6, 0.03).title()}"
        )
    try:
        drawn = Drawn(int(found[1]), int(found[2]), int(found[3]), float(found[4]) / 100)
        _check(drawn)
    except ValueError as error:
        raise ValueError(f"{file}: line 1: {error}") from None
    rows = csv.DictReader(io.StringIO(rest))
    if missing := sorted(set(COLUMNS).difference(rows.fieldnames or ())):
        raise ValueError(f"{file}: line 2 lacks the column {missing[0]}\n  expected: {','.join(COLUMNS)}")
    # A scenario is a field of several lines: a row begins behind the end of the row before it.
    begin = 3
    try:
        for line in rows:
            _add(drawn, line)
            begin = rows.line_num + 2
    except (ValueError, csv.Error) as error:
        remedy = f"remove the rows from this line on and run draw again with --csv {file}"
        raise ValueError(f"{file}: line {begin}: {error}\n  {remedy}") from None
    return drawn


def _check(drawn: Drawn) -> None:
    """Raise ValueError if a number of the draw is out of its range."""
    for name in ("count", "runs"):
        if getattr(drawn, name) < 1:
            raise ValueError(f"{'cases' if name == 'count' else name}: {getattr(drawn, name)}; give at least 1")
    if not 0 <= drawn.vary <= 0.5:
        raise ValueError(f"rates and delays varied by {100 * drawn.vary:g} %; give 0 to 50 %")


def _add(drawn: Drawn, line: Mapping[Any, Any]) -> None:
    """Add a row of a file to `drawn`; raises ValueError with what is wrong."""

    def text(name: str) -> str:
        if line[name] is None:
            raise ValueError(f"the row ends before {name}")
        return str(line[name])

    def whole(name: str, below: int) -> int:
        if not (text(name).isdecimal() and int(text(name)) < below):
            raise ValueError(f'{name} is "{text(name)}"; expected 0 to {below - 1}')
        return int(text(name))

    def real(name: str, value: str) -> float:
        try:
            number = float(value)
        except ValueError:
            raise ValueError(f'{name} is "{value}", which is no number') from None
        if not (math.isfinite(number) and number >= 0):
            raise ValueError(f"{name} is {value}; expected a finite number from 0 on")
        return number

    if None in line:
        raise ValueError(f"the row has more than {len(COLUMNS)} fields")
    number, run = whole("case", drawn.count), whole("run", drawn.runs)
    known = drawn.linux.setdefault(number, {})
    if run in known:
        raise ValueError(f"run {run} of case {number} has two rows")
    figures: dict[str, Any] = {name: real(name, text(name)) for name in ("goodput_mbps", "completion_s") if text(name)}
    if line["kind"] not in KINDS:
        raise ValueError(f'kind is "{text("kind")}"; choices: {", ".join(KINDS)}')
    if line["feature"] not in FEATURES:
        raise ValueError(f'feature is "{text("feature")}"; choices: {", ".join(FEATURES)}')
    measure = _measure(text("kind"))
    if not figures.get(measure):
        raise ValueError(f'{measure} is "{text(measure)}"; expected a number above 0 for a {text("kind")} case')
    figures |= {name: [real(name, value) for value in text(name).split()] for name in ("share", "queue_drops")}
    if any(len(figures["share"]) != len(other["share"]) for other in known.values()):
        shares = units.count(len(figures["share"]), "number")
        raise ValueError(f"share has {shares}; other runs of this case have another count of numbers")
    known[run] = figures
    if run == 0:
        if not text("scenario"):
            raise ValueError("the row of run 0 has no scenario")
        drawn.stored[number] = Case(number, text("kind"), text("feature"), text("scenario"))


def _measure(kind: str) -> str:
    """By which measure cases of this kind are compared."""
    return "completion_s" if kind == "short" else "goodput_mbps"


def table(drawn: Drawn) -> str:
    """Run the engine on each measured case and return a line for each, then the cases that agree by kind.

    Raises
    ------
    ValueError
        If no case has all its runs, or if the scenario of a case is broken.
    """
    lines: list[str] = []
    agree: dict[str, list[bool]] = {}
    for case, linux in drawn.measured():
        try:
            engine = simulated(case, drawn.runs, drawn.vary)
        except ScenarioError as error:
            raise ValueError(f"case {case.number}: {error}") from None
        if len(engine[0]["share"]) != len(linux[0]["share"]):
            shares, paths = len(linux[0]["share"]), len(engine[0]["share"])
            said = f"share has {units.count(shares, 'number')}, but its scenario has {units.count(paths, 'path')}"
            remedy = "remove the rows of this case and run draw again with --csv and this file"
            raise ValueError(f"case {case.number}: {said}\n  {remedy}")
        found = verdict(case, engine, linux)
        agree.setdefault(case.kind, []).append(found.agrees)
        measure = _measure(case.kind)
        here, there = (" ".join(f"{v:.3g}" for v in sorted(r[measure] for r in runs)) for runs in (engine, linux))
        failed = [name for name in ("goodput", "regimes", "shares") if not getattr(found, name)]
        lines.append(
            f"{case.number:3}  {case.kind:14}  {case.feature:13}  {100 * found.difference:+6.1f} %"
            f"  (allowed {100 * found.allowed:4.1f} %)  shares {100 * found.points:4.1f} points"
            f"  {'agrees' if found.agrees else 'differs: ' + ', '.join(failed)}\n"
            f"     engine {here}; Linux {there}"
        )
    if not agree:
        raise ValueError(f"no case has all its {drawn.runs} runs\n  run draw again with --csv and this file")
    total = [value for values in agree.values() for value in values]
    counts = [f"{kind}: {sum(values)} of {len(values)}" for kind, values in agree.items()]
    return "\n".join([*lines, "", *counts, f"all: {sum(total)} of {len(total)} cases agree"])
