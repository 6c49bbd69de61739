"""What would help: what its user could change, tried on the twin of a connection.

Each change alone, with the same seeds; delays vary by 1 % so that seeds differ. A change helps if the interval of the
paired differences lies above zero and the gain is worth the trouble.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from anabranch import units
from anabranch.scenario import Scenario, Value
from anabranch.sweeps.execute import State, make
from anabranch.sweeps.memory import Memory
from anabranch.sweeps.paired import Interval, interval
from anabranch.sweeps.plan import PlanData, plan
from anabranch.sweeps.task import Record

SEEDS = 20
WORTH = 0.03
"""Share of the goodput, from which a gain counts."""
AS_IS = "as it is"
_FIRST = (2, 5)
"""Seeds of the first rounds, so that an interrupted search has compared everything."""
_JITTER = "1 %"
_CONTROLLERS = ("coupled", "cubic", "olia", "balia", "bbr")
_SCHEDULERS = ("min-rtt", "blest", "ecf", "linux", "round-robin")
_BUFFERS = (1_000_000, 6_000_000, 16_000_000)
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
    """

    what: str
    kind: str
    goodput: Interval
    gain: Interval

    def helps(self, base: float) -> bool:
        """It is surely better, and by enough."""
        return self.gain.mean >= WORTH * base and self.gain.low > 0

    def hurts(self, base: float) -> bool:
        """It is surely worse, and by enough."""
        return self.gain.mean <= -WORTH * base and self.gain.high < 0


@dataclass(frozen=True)
class Remedies:
    """What was found; `tried` has the best first."""

    base: Interval
    tried: list[Tried]
    refused: dict[str, str] = field(default_factory=dict)
    interrupted: bool = False

    def sentences(self) -> list[str]:
        """The short list, and what would not help."""
        now = self.base.mean
        helping = [one for one in self.tried if one.helps(now)]
        first = {one.kind: one for one in reversed(helping)}
        ranked = [one for one in helping if first[one.kind] is one][:SHOWN]
        lines = [
            f"with {one.what}: {_rate(one.goodput.mean)} instead of {_number(now)} ({one.goodput.n} seeds, "
            f"{_number(one.goodput.low)} to {_number(one.goodput.high)})"
            for one in ranked
        ]
        if not helping:
            lines.append(f"Nothing that was tried gives clearly more than {_rate(now)} ({self.base.n} seeds).")
        more = [one for one in helping if one not in ranked]
        if more:
            said = ", ".join(f"{one.what} ({_rate(one.goodput.mean)})" for one in more)
            lines.append(f"would help, too, but less than another of its kind: {said}")
        rest = [one for one in self.tried if one not in helping]
        for title, some in (
            ("would not help", [one.what for one in rest if not one.hurts(now)]),
            ("would make it slower", [f"{one.what} ({_rate(one.goodput.mean)})" for one in rest if one.hurts(now)]),
        ):
            if some:
                lines.append(f"{title}: {', '.join(some)}")
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
                    "goodput_mbps": one.goodput.mean,
                    "goodput_low_mbps": _finite(one.goodput.low),
                    "goodput_high_mbps": _finite(one.goodput.high),
                    "gain_mbps": one.gain.mean,
                    "gain_low_mbps": _finite(one.gain.low),
                    "gain_high_mbps": _finite(one.gain.high),
                    "seeds": one.goodput.n,
                    "helps": one.helps(self.base.mean),
                }
                for one in self.tried
            ],
            "refused": self.refused,
        }


def _finite(value: float) -> float | None:
    return value if value == value else None  # noqa: PLR0124 - NaN alone differs from itself


def _rate(mbps: float) -> str:
    return units.rate(mbps * 1e6)


def _number(mbps: float) -> str:
    return f"{mbps:.3g}"


def changes(scenario: Scenario) -> dict[str, tuple[str, dict[str, Value]]]:
    """What could be changed: by words, the kind and the keys."""
    checked = scenario.check()
    connection, links = checked["connections"][0], checked["links"]
    names = [link["name"] for link in links]
    found: dict[str, tuple[str, dict[str, Value]]] = {}
    for kind, key in (("receive buffer", "receive_buffer"), ("send buffer", "send_buffer")):
        now = connection.get(f"{key}_bytes")
        for size in _BUFFERS if now else ():
            if size > 1.05 * now:
                what = f"a {kind} of {units.octets(size)} instead of {units.octets(now)}"
                more: dict[str, Value] = {f"connection.{key}": f"{size} B"}
                if key == "receive_buffer" and connection.get("receive_initial_bytes"):
                    more["connection.receive_initial"] = f"{min(size, connection['receive_initial_bytes'])} B"
                found[what] = (kind, more)
    for kind, choices in (("controller", _CONTROLLERS), ("scheduler", _SCHEDULERS)):
        if kind == "scheduler" and (len(names) < 2 or connection["protocol"] != "mptcp"):
            continue
        now = _name(connection.get(kind))
        for name in choices:
            if name != now:
                found[f"the {kind} {name} instead of {now}"] = (kind, {f"connection.{kind}": name})
    queues = {f"path.{i}.discipline": "fq-codel" for i in range(len(names))}
    found["fq-codel on every link"] = ("queue management", dict(queues))
    if len(names) > 1 and connection["protocol"] == "mptcp":
        found |= _uses(names, [bool(link.get("backup")) for link in links])
    return found


def _uses(names: Sequence[str], backup: Sequence[bool]) -> dict[str, tuple[str, dict[str, Value]]]:
    """How several paths could be used otherwise."""
    found: dict[str, tuple[str, dict[str, Value]]] = {}
    for i, name in enumerate(names):
        what = f"{name} no longer a backup" if backup[i] else f"{name} as backup"
        found[what] = ("backup", {f"path.{i}.backup": not backup[i]})
        found[f"{name} only"] = ("one path", {"connection.paths": json.dumps([name])})
        if i:
            first = [name, *(other for other in names if other != name)]
            found[f"{name} first"] = ("first path", {"connection.paths": json.dumps(first)})
    return found


def _name(value: Any) -> str:
    return str(value["name"] if isinstance(value, Mapping) else value)


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


def remedies(scenario: Scenario, *, seeds: int = SEEDS, progress: Callable[[State], None] | None = None) -> Remedies:
    """Try what could be changed of `scenario`, a twin, with so many `seeds`.

    KeyboardInterrupt ends the search; what was compared until then counts.
    """
    links = scenario.check()["links"]
    base = scenario.set({f"path.{i}.delay_variation": _JITTER for i in range(len(links))})
    known = changes(scenario)
    axes = {"change": {AS_IS: {}, **{what: dict(keys) for what, (_, keys) in known.items()}}}
    records: dict[tuple[str, int], Record] = {}
    interrupted = False
    try:
        for count in [*(n for n in _FIRST if n < seeds), seeds]:
            what = plan(base, axes, count)
            make(_Kept(what, records), known=dict(records), progress=progress)
    except KeyboardInterrupt:
        interrupted = True
        if not records:
            raise
    return _found(plan(base, axes, seeds), known, records, interrupted=interrupted)


def _found(
    what: PlanData,
    known: Mapping[str, tuple[str, Mapping[str, Value]]],
    records: Mapping[tuple[str, int], Record],
    *,
    interrupted: bool,
) -> Remedies:
    rates: dict[str, dict[int, float]] = {}
    refused: dict[str, str] = {}
    for cell in what.cells:
        label = str(cell.labels["change"])
        for seed in what.seeds:
            record = records.get((cell.sha256, seed))
            if record is None:
                continue
            if record.summary:
                rates.setdefault(label, {})[seed] = json.loads(record.summary)["goodput_mbps"] or 0.0
            else:
                refused[label] = record.error.splitlines()[0] if record.error else "no result"
    base = rates.pop(AS_IS, {})
    tried = []
    for label, own in rates.items():
        both = sorted(own.keys() & base.keys())
        gain = interval([own[seed] - base[seed] for seed in both])
        tried.append(Tried(label, known[label][0], interval(list(own.values())), gain))
    tried.sort(key=lambda one: -one.goodput.mean)
    return Remedies(interval(list(base.values())), tried, refused, interrupted)
