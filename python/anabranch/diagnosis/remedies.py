"""What would help: what its user could change, tried on the twin of a connection.

Each change alone, with the same seeds; delays vary by 1 % so that seeds differ. A change helps if the interval of the
paired differences lies above zero and the gain is worth the trouble. What Linux has comes before what it lacks.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from anabranch.diagnosis.changes import Change, changes, place
from anabranch.execution.progress import State
from anabranch.measures import units
from anabranch.measures.labels import connections_of
from anabranch.scenario import Scenario, ScenarioError, Value
from anabranch.sentences import diagnose as say
from anabranch.sweeps.execute import make
from anabranch.sweeps.memory import Memory
from anabranch.sweeps.paired import Interval, interval
from anabranch.sweeps.plan import Cell, PlanData, plan
from anabranch.sweeps.task import Record

SEEDS = 20
WORTH = 0.03
"""Share of the goodput, from which a gain counts."""
MUCH = 0.2
"""Share of the goodput, from which a gain that may be chance is told as such."""
AS_IS = "as it is"
_FIRST = (2, 5)
"""Seeds of the first rounds, so that an interrupted search has compared everything."""
_JITTER = "1 %"
_OPEN = "open"
"""The axis of what the capture leaves open."""
SHOWN = 8


@dataclass(frozen=True)
class Tried:
    """One change.

    Attributes
    ----------
    what : str
        In words.
    kind : str
        Of what it is a change: ``receive buffer``, ``scheduler``, ...
    goodput : Interval
        Mbit/s.
    gain : Interval
        Of the paired differences from how it is, Mbit/s.
    in_linux : bool
        Whether Linux has what it takes.
    effort : int
        Its place in the order of `changes`: what is easy comes first.
    beyond_measured : bool
        The goodput is more than the capture shows the paths to carry.
    """

    what: str
    kind: str
    goodput: Interval
    gain: Interval
    in_linux: bool = True
    effort: int = 0
    beyond_measured: bool = False

    def helps(self, base: float) -> bool:
        """It is surely better, and by enough."""
        return self.gain.mean >= WORTH * base and self.gain.low > 0

    def may_help(self, base: float) -> bool:
        """It is much better, but more seeds would have to tell that this is no chance."""
        return not self.helps(base) and self.gain.mean >= MUCH * base

    def hurts(self, base: float) -> bool:
        """It is surely worse, and by enough."""
        return self.gain.mean <= -WORTH * base and self.gain.high < 0

    def named(self, *, rate: bool = False) -> str:
        """Return the change in words, with its goodput if `rate`, and whether Linux lacks it."""
        if not rate:
            return self.what if self.in_linux else say.NOT_IN_LINUX(change=self.what)
        template = say.CHANGE_RATE if self.in_linux else say.CHANGE_RATE_NOT_IN_LINUX
        return template(change=self.what, goodput=_rate(self.goodput.mean))


@dataclass(frozen=True)
class Remedies:
    """What was found; `tried` has the best first."""

    base: Interval
    tried: list[Tried]
    refused: dict[str, str] = field(default_factory=dict)
    interrupted: bool = False

    def helping(self) -> list[Tried]:
        """What helps. What Linux has comes first; of that the easiest of the best, then the rest from the best down."""
        found = [one for one in self.tried if one.helps(self.base.mean)]
        ours = [one for one in found if one.in_linux]
        enough = max((one.goodput.mean for one in ours), default=0.0) - WORTH * self.base.mean
        first = min((one for one in ours if one.goodput.mean >= enough), key=lambda one: one.effort, default=None)
        return sorted(found, key=lambda one: (one is not first, not one.in_linux, -one.goodput.mean))

    def maybe(self) -> list[Tried]:
        """What may help, in the same order."""
        found = [one for one in self.tried if one.may_help(self.base.mean)]
        return sorted(found, key=lambda one: (not one.in_linux, -one.goodput.mean))

    def sentence(self, of: str) -> str:
        """Return the remedy sentence of a diagnosis; `of` is what the changes were tried on."""
        seeds, before = self.base.n, _rate(self.base.mean)
        helping, maybe = self.helping(), self.maybe()
        if not helping and not maybe:
            return say.NOTHING_HELPS(twin=of, seeds=seeds, before=before)
        best = [*helping, *maybe][0]
        told = (say.HELPS if helping else say.MAY_HELP)(
            change=best.named(), before=before, after=_rate(best.goodput.mean), twin=of, seeds=seeds
        )
        parts = [told, *([say.BEYOND_MEASURED()] if best.beyond_measured else [])]
        others = [one for one in helping if not one.in_linux and one.goodput.mean > (1 + WORTH) * best.goodput.mean]
        if best.in_linux and others:
            parts.append(say.HELPS_MORE(change=others[0].what, after=_rate(others[0].goodput.mean)))
        return " ".join(parts)

    def sentences(self) -> list[str]:
        """The short list, and what would not help."""
        now, seeds = self.base.mean, self.base.n
        helping = self.helping()
        first = {(one.kind, one.in_linux): one for one in reversed(helping)}
        ranked = [one for one in helping if first[one.kind, one.in_linux] is one][:SHOWN]
        lines = [_helps(one, _rate(now)) for one in ranked]
        if not helping:
            lines.append(say.TRIED_NOTHING_HELPS(before=_rate(now), seeds=seeds))
        maybe = self.maybe()
        if maybe:
            lines.append(say.TRIED_MAY_HELP(seeds=seeds, changes=_rates(maybe)))
        more = [one for one in helping if one not in ranked]
        if more:
            lines.append(say.TRIED_HELPS_LESS(changes=_rates(more)))
        rest = [one for one in self.tried if one not in helping and one not in maybe]
        idle, hurting = [one for one in rest if not one.hurts(now)], [one for one in rest if one.hurts(now)]
        if idle:
            lines.append(say.TRIED_NO_HELP(changes=", ".join(one.named() for one in idle)))
        if hurting:
            lines.append(say.TRIED_HURTS(changes=_rates(hurting)))
        return lines

    def summary(self) -> dict[str, Any]:
        """Fields of the JSON; docs/columns.md defines them."""
        return {
            "goodput_mbps": self.base.mean,
            "seeds": self.base.n,
            "interrupted": self.interrupted,
            "tried": [
                {
                    "what": one.what,
                    "kind": one.kind,
                    "in_linux": one.in_linux,
                    "goodput_mbps": one.goodput.mean,
                    "goodput_low_mbps": _finite(one.goodput.low),
                    "goodput_high_mbps": _finite(one.goodput.high),
                    "beyond_measured": one.beyond_measured,
                    "gain_mbps": one.gain.mean,
                    "gain_low_mbps": _finite(one.gain.low),
                    "gain_high_mbps": _finite(one.gain.high),
                    "seeds": one.goodput.n,
                    "helps": one.helps(self.base.mean),
                    "may_help": one.may_help(self.base.mean),
                }
                for one in self.tried
            ],
            "refused": self.refused,
        }


def _finite(value: float) -> float | None:
    return value if value == value else None  # noqa: PLR0124 - NaN alone differs from itself


def _helps(one: Tried, before: str) -> str:
    """A line about a change that helps."""
    after, seeds = _rate(one.goodput.mean), one.goodput.n
    low, high = one.goodput.low, one.goodput.high
    if math.isfinite(low) and math.isfinite(high):
        interval_ = say.INTERVAL(low=_rate(max(0.0, low)), high=_rate(high))
        line = say.TRIED_HELPS(change=one.named(), after=after, before=before, seeds=seeds, interval=interval_)
    else:
        line = say.TRIED_HELPS_ONE_SEED(change=one.named(), after=after, before=before)
    return say.TRIED_BEYOND(line=line) if one.beyond_measured else line


def _rates(some: Iterable[Tried]) -> str:
    return ", ".join(one.named(rate=True) for one in some)


def _rate(mbps: float) -> str:
    return units.rate(mbps * 1e6)


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


@dataclass(frozen=True)
class On:
    """What the changes are tried on.

    Attributes
    ----------
    scenario : Scenario
        A run's own, or a twin.
    number : int
        The connection that is to be faster.
    measured : float
        Mbit/s that the capture shows the paths to carry together; infinite if their rates are known.
    open : sequence of mappings
        What else the scenario may be: other values of what the capture leaves open. The seeds take turns.
    """

    scenario: Scenario
    number: int = 0
    measured: float = math.inf
    open: Sequence[Mapping[str, Value]] = ()


@dataclass(frozen=True)
class _Trials(PlanData):
    """A plan whose seeds take turns in what the capture leaves open."""

    def runs(self) -> Iterator[tuple[Cell, int]]:
        """Every different cell with its seeds, one seed after another."""
        turns = len(self.axes[_OPEN])
        for seed in self.seeds:
            own = [cell for cell in self.cells if int(str(cell.labels[_OPEN])) == seed % turns]
            yield from ((cell, seed) for cell in {cell.sha256: cell for cell in reversed(own)}.values())

    @property
    def total(self) -> int:
        """Number of runs."""
        return sum(1 for _ in self.runs())


def remedies(
    scenario: Scenario | On, *, seeds: int = SEEDS, progress: Callable[[State], None] | None = None
) -> Remedies:
    """Try what could be changed of `scenario`, a twin, with so many `seeds`.

    KeyboardInterrupt ends the search; what was compared until then counts.
    """
    on = On(scenario) if isinstance(scenario, Scenario) else scenario
    scenario = on.scenario
    checked = scenario.check()
    links = place(scenario, checked, on.number).links
    jitter: dict[str, Value] = {
        f"{links}.{i}.delay_variation": _JITTER for i, link in enumerate(checked["links"]) if _is_constant(link)
    }
    base = scenario.set(jitter)
    known, refused = _possible(base, changes(scenario, on.number))
    made = plan(
        base,
        {
            "change": {AS_IS: {}, **{what: dict(change.keys) for what, change in known.items()}},
            _OPEN: {str(number): dict(keys) for number, keys in enumerate(on.open or [{}])},
        },
        seeds,
    )
    trials = _Trials(made.scenario, made.axes, made.seeds, made.cells)
    records: dict[tuple[str, int], Record] = {}
    interrupted = False
    try:
        for count in [*(n for n in _FIRST if n < seeds), seeds]:
            what = trials.with_seeds(trials.seeds[:count])
            make(_Kept(what, records), known=dict(records), progress=progress)
    except KeyboardInterrupt:
        interrupted = True
        if not records:
            raise
    return _found(trials, on, known, records, refused, interrupted=interrupted)


def _is_constant(link: Mapping[str, Any]) -> bool:
    """Nothing about the delay of `link` is random, so that its runs would be alike."""
    sides = (link["up"], link["down"])
    return link["wifi"] is None and not any(s["delay_variation"] != 0 or s["trace"] or s["weather"] for s in sides)


def _possible(base: Scenario, all_: Sequence[Change]) -> tuple[dict[str, Change], dict[str, str]]:
    """By words: the changes that `base` allows, and why it does not allow the others."""
    known, refused = {}, {}
    for change in all_:
        try:
            base.set(change.keys).check()
        except ScenarioError as error:
            refused[change.what] = str(error).splitlines()[0]
        else:
            known[change.what] = change
    return known, refused


def _found(
    what: PlanData,
    on: On,
    known: Mapping[str, Change],
    records: Mapping[tuple[str, int], Record],
    refused: dict[str, str],
    *,
    interrupted: bool,
) -> Remedies:
    rates: dict[str, dict[int, float]] = {}
    turns = len(what.axes[_OPEN])
    for cell in what.cells:
        label = str(cell.labels["change"])
        for seed in what.seeds:
            record = records.get((cell.sha256, seed))
            if record is None or int(str(cell.labels[_OPEN])) != seed % turns:
                continue
            if record.summary:
                summary = connections_of(json.loads(record.summary))[on.number]
                rates.setdefault(label, {})[seed] = summary["goodput_mbps"] or 0.0
            else:
                refused[label] = record.error.splitlines()[0] if record.error else say.NO_RESULT()
    base = rates.pop(AS_IS, {})
    effort = {label: i for i, label in enumerate(known)}
    tried = []
    for label, own in rates.items():
        both = sorted(own.keys() & base.keys())
        gain = interval([own[seed] - base[seed] for seed in both])
        goodput, change = interval(list(own.values())), known[label]
        beyond = goodput.mean > on.measured
        tried.append(Tried(label, change.kind, goodput, gain, change.in_linux, effort[label], beyond))
    tried.sort(key=lambda one: -one.goodput.mean)
    return Remedies(interval(list(base.values())), tried, refused, interrupted)
