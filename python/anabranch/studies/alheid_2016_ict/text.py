"""Chooses the sentences of the report: each number in them is computed from the runs."""

import itertools
import math
from collections.abc import Callable, Mapping
from typing import Any

from anabranch.studies.alheid_2016_ict import sentences as say
from anabranch.studies.alheid_2016_ict.names import CASES, CHOICES, CONTROLLERS, NEAR, RADIOS, printed, tcp
from anabranch.studies.base import Data
from anabranch.studies.beside import Statement
from anabranch.studies.models import MODELS, RECOVERIES
from anabranch.studies.sentences import COLUMNS, LEGACY_WIRELESS, PAIRS
from anabranch.studies.wireless import SWEEP, alone, averaged, best_alone, distances, goodput
from anabranch.studies.words import listed, of, span

_WORTH = 0.03
"""A gain or loss that is less of the throughput is none."""
_OTHERS = {name: label for name, label in RECOVERIES.items() if name != "none"}
_ALIVE = 0.1
"""Mbit/s: a path that carries less is none."""


def opening(data: Data) -> str:
    """The contrast at 10 m, without recovery."""
    parts = []
    for case, label in CASES.items():
        rates = [span([_near(data, model, case, c, "none") for c in CONTROLLERS], "{:.1f}") for model in MODELS]
        single = [alone(data, int(NEAR), over=radio) for radio in dict.fromkeys(RADIOS[case])]
        parts.append(
            say.OPENING_CASE(
                case=label,
                independent=rates[2],
                coupled=rates[1],
                legacy=rates[0],
                tcp=listed([f"{rate:.1f}" for rate in single]),
            )
        )
    said = [say.OPENING(cases="; ".join(parts)), *([say.OPENING_SHORT] if data.quick else []), say.OPENING_WHY]
    return " ".join(said)


def findings(data: Data) -> list[str]:
    """What else the numbers say."""
    said = [_reproduction(data), _goodput(data), _advice(data), _coupled(data), _independent(data), _distance(data)]
    return [*said, _sensitivity(data)] if "sensitivity" in data.sweeps else said


def _near(data: Data, model: str, case: str, controller: str, recovery: str) -> float:
    return goodput(data, int(NEAR), model=model, case=case, controller=controller, recovery=recovery).mean


def _measure(data: Data, measure: str, scale: float, model: str, case: str, controller: str, recovery: str) -> float:
    cell = {"model": model, "case": case, "controller": controller, "recovery": recovery, "distance": NEAR}
    return data.mean(SWEEP, measure, scale, **cell).mean


def _gain(data: Data, model: str, case: str, controller: str, recovery: str) -> float:
    return _near(data, model, case, controller, recovery) / _near(data, model, case, controller, "none") - 1


def _reproduction(data: Data) -> str:
    parts = []
    for model, label in MODELS.items():
        ratios, buffers = [], []
        for case, controller, recovery in itertools.product(CASES, CONTROLLERS, RECOVERIES):
            cell = {"case": case, "controller": controller, "recovery": recovery}
            ratio = _measure(data, "ooo_ratio", 100, model, **cell)
            buffer = _measure(data, "ooo_buffer_max_packets", 1, model, **cell)
            ratios.append(abs(ratio - printed(cell, "ooo_ratio_pct")))
            buffers.append(abs(math.log2(max(buffer, 1) / printed(cell, "ooo_buffer_packets"))))
        buffers.sort()
        factor = 2 ** buffers[len(buffers) // 2]
        parts.append(
            say.REPRODUCTION_MODEL(
                model=label.lower(), ratio=f"{sum(ratios) / len(ratios):.1f}", factor=f"{factor:.1f}"
            )
        )
    cells = (("none", "uncoupled"), ("dsack", "uncoupled"), ("door", "rtt-compensator"), ("frto", "uncoupled"))
    some = [
        say.REPRODUCTION_RATIO(
            recovery=RECOVERIES[r],
            controller=CONTROLLERS[c],
            ratio=f"{_measure(data, 'ooo_ratio', 100, 'legacy', '1', c, r):.1f}",
            printed=f"{printed({'case': '1', 'controller': c, 'recovery': r}, 'ooo_ratio_pct'):.1f}",
        )
        for r, c in cells
    ]
    return say.REPRODUCTION(cells=len(buffers), models="; ".join(parts), ratios="; ".join(some))


def _goodput(data: Data) -> str:
    single = alone(data, int(NEAR), over="11g-54")
    door, none = (_near(data, "legacy", "1", "uncoupled", name) for name in ("door", "none"))
    dsack = max(_near(data, "legacy", "3", c, "dsack") for c in CONTROLLERS)
    slow = max(_near(data, "legacy", "3", c, "none") for c in CONTROLLERS)
    return say.GOODPUT(
        door=f"{door:.1f}",
        gain=f"{100 * (door / none - 1):.0f}",
        none=f"{none:.1f}",
        dsack=f"{dsack:.1f}",
        slow=f"{slow:.1f}",
        tcp=f"{single:.1f}",
    )


def _best(data: Data, model: str, case: str) -> tuple[str, float]:
    """The recovery with the highest goodput, averaged over controllers and distances, and what it gains over none."""
    rates = {
        name: sum(averaged(data, model=model, case=case, controller=c, recovery=name).mean for c in CONTROLLERS)
        for name in RECOVERIES
    }
    name = max(rates, key=lambda recovery: rates[recovery])
    return name, rates[name] / rates["none"] - 1


def _advice(data: Data) -> str:
    parts = []
    for model, label in MODELS.items():
        found = {case: _best(data, model, case) for case in CASES}
        said = [
            say.ADVICE_BEST(case=case, recovery=RECOVERIES[name], gain=f"{100 * gain:+.0f}")
            if gain > _WORTH
            else say.ADVICE_NONE(case=case)
            for case, (name, gain) in found.items()
        ]
        parts.append(say.ADVICE_MODEL(model=label.lower(), cases=", ".join(said)))
    return say.ADVICE(models="; ".join(parts))


def _coupled(data: Data) -> str:
    parts = []
    for name, label in _OTHERS.items():
        gains = [_gain(data, "coupled", case, c, name) for case, c in itertools.product(CASES, CONTROLLERS)]
        better, worse = (sum(sign * gain > _WORTH for gain in gains) for sign in (1, -1))
        parts.append(say.HELPS(recovery=label, better=of(better, len(gains)), worse=worse))
    shares = [
        max(_near(data, "coupled", case, c, r) for c in CONTROLLERS for r in RECOVERIES)
        / sum(alone(data, int(NEAR), over=radio) for radio in RADIOS[case])
        for case in CASES
    ]
    return say.COUPLED(
        recoveries="; ".join(parts),
        worth=f"{100 * _WORTH:.0f}",
        shares=span([100 * share for share in shares], "{:.0f} %"),
    )


def _independent(data: Data) -> str:
    gains = [_gain(data, "independent", case, c, r) for case, c, r in itertools.product(CASES, CONTROLLERS, _OTHERS)]
    shares = {
        case: [
            _near(data, "independent", case, c, "none")
            / sum(alone(data, int(NEAR), over=radio) for radio in RADIOS[case])
            for c in CONTROLLERS
        ]
        for case in CASES
    }
    everything = [100 * share for found in shares.values() for share in found]
    told = say.INDEPENDENT(
        shares=span(everything, "{:.0f} %"),
        change=span([100 * gain for gain in gains], "{:+.1f} %"),
        size=f"{max(_buffers(data)):.0f}",
    )
    return f"{say.INDEPENDENT_NONE} {told}" if max(gains) < _WORTH else told


def _buffers(data: Data) -> list[float]:
    return [
        _measure(data, "ooo_buffer_max_packets", 1, "independent", case, c, "none")
        for case, c in itertools.product(CASES, CONTROLLERS)
    ]


def _distance(data: Data) -> str:
    at = distances(data)
    fast = {metres: alone(data, metres, over="11g-54") for metres in at}
    half = next((metres for metres in at if fast[metres] < fast[at[0]] / 2), at[-1])
    none = next((metres for metres in at if fast[metres] < 1), None)
    ends = f" {say.DISTANCE_ENDS(none=none)}" if none else ""
    parts = []
    for model, label in MODELS.items():
        worse = sum(
            goodput(data, metres, model=model, case=case, controller=c, recovery="none").mean
            < (1 - _WORTH) * best_alone(data, metres, list(tcp(case).values()))
            for case, c, metres in itertools.product(CASES, CONTROLLERS, at)
        )
        total = len(CASES) * len(CONTROLLERS) * len(at)
        parts.append(say.DISTANCE_MODEL(model=label.lower(), worse=of(worse, total)))
    return f"{say.DISTANCE(half=half, ends=ends, models='; '.join(parts))} {_worst(data)}"


def _worst(data: Data) -> str:
    """The cell in which the independent receiver loses most against plain TCP over the better path."""
    found = []
    for case, controller, metres in itertools.product(CASES, CONTROLLERS, distances(data)):
        best = best_alone(data, metres, list(tcp(case).values()))
        rate = goodput(data, metres, model="independent", case=case, controller=controller, recovery="none").mean
        if best > _ALIVE:
            found.append((rate / best, rate, best, case, controller, metres))
    _, rate, best, case, controller, metres = min(found)
    return say.WORST(
        case=case, controller=CONTROLLERS[controller], metres=metres, rate=f"{rate:.2f}", best=f"{best:.2f}"
    )


def _sensitivity(data: Data) -> str:
    def rate(model: str, case: str, recovery: str, choice: str, place: str = "near") -> float:
        cell: dict[str, Any] = {"model": model, "case": case, "recovery": recovery}
        cell |= {"choice": choice, "place": place}
        return data.mean("sensitivity", "goodput_mbps", **cell).mean

    def holds(choice: str) -> bool:
        like = {r: rate("legacy", "1", r, choice) for r in RECOVERIES}
        unlike = {r: rate("legacy", "3", r, choice) for r in RECOVERIES}
        return max(like, key=lambda r: like[r]) == "door" and max(unlike, key=lambda r: unlike[r]) == "dsack"

    stated = [choice for choice in CHOICES if holds(choice)]
    spreads = []
    for model, label in MODELS.items():
        rates = [rate(model, "1", "none", choice) for choice in CHOICES]
        spreads.append(say.SENSITIVITY_MODEL(model=label.lower(), rate=span(rates, "{:.1f}")))
    far = [rate("independent", "1", "none", choice, "far") for choice in ("exponent-2", "as-chosen", "exponent-3")]
    low, chosen, high = (f"{value:.1f}" for value in far)
    return say.SENSITIVITY(
        choices=of(len(stated), len(CHOICES)), models="; ".join(spreads), low=low, chosen=chosen, high=high
    )


def _rates(case: str, recovery: str, form: str = "{:.1f}") -> Callable[[Data, str], str]:
    return lambda data, model: span([_near(data, model, case, c, recovery) for c in CONTROLLERS], form)


def _gains(case: str, recoveries: tuple[str, ...], *controllers: str) -> Callable[[Data, str], str]:
    def measure(data: Data, model: str) -> str:
        cells = itertools.product(controllers or CONTROLLERS, recoveries)
        return span([100 * _gain(data, model, case, c, r) for c, r in cells], "{:+.0f} %")

    return measure


def _beyond(data: Data, model: str) -> str:
    far = [metres for metres in distances(data) if metres > 80]
    found: list[float] = [
        goodput(data, metres, model=model, case="1", controller=c, recovery=r).mean
        for metres, c, r in itertools.product(far, CONTROLLERS, RECOVERIES)
    ]
    return say.AT_MOST(rate=f"{max(found):.2f}")


def _memory(data: Data, model: str) -> str:
    """The recoveries with the smallest buffer in most cells."""
    least = []
    for case, c in itertools.product(CASES, CONTROLLERS):
        sizes: dict[str, Any] = {r: _measure(data, "ooo_buffer_max_packets", 1, model, case, c, r) for r in _OTHERS}
        best = min(sizes.values())
        least += [name for name, size in sizes.items() if size <= best]
    counts = {name: least.count(name) for name in _OTHERS}
    most = max(counts.values())
    recoveries = [RECOVERIES[name] for name, count in counts.items() if count == most]
    return say.MEMORY(recovery=listed(recoveries), count=most, total=len(CASES) * len(CONTROLLERS))


_STATED: Mapping[str, Callable[[Data, str], str]] = {
    "1_door": _rates("1", "door"),
    "1_door_gain": _gains("1", ("door",)),
    "1_dsack_gain": _gains("1", ("dsack",), "uncoupled", "rtt-compensator"),
    "2_gains": _gains("2", ("door", "dsack", "frto"), "uncoupled"),
    "2_eifel_gain": _gains("2", ("eifel",)),
    "3_dsack": _rates("3", "dsack"),
    "3_none": _rates("3", "none"),
    "3_eifel": _rates("3", "eifel"),
    "4_dsack": _rates("4", "dsack"),
    "4_frto": _rates("4", "frto"),
    "4_none": _rates("4", "none"),
    "4_eifel": _rates("4", "eifel"),
    "beyond": _beyond,
    "memory": _memory,
}
STATEMENTS = tuple(Statement(*texts, _STATED[name]) for name, texts in say.STATED.items())

NOTES = (say.NOTES[0], COLUMNS, say.NOTES[1], LEGACY_WIRELESS, *say.NOTES[2:], PAIRS)
