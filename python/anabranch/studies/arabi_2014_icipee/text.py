"""Chooses the sentences of the report: each number in them is computed from the runs."""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from anabranch.studies.arabi_2014_icipee import sentences as say
from anabranch.studies.arabi_2014_icipee.figures import lone
from anabranch.studies.arabi_2014_icipee.names import (
    CHOICES,
    CONTROLLERS,
    LINKS,
    RATES,
    RECOVERIES,
    RIVALS,
    STATED,
    alone,
    goodput,
    of_figure,
)
from anabranch.studies.base import Data
from anabranch.studies.beside import Statement
from anabranch.studies.models import MODELS
from anabranch.studies.panels import estimate
from anabranch.studies.sentences import COLUMNS, PAIRS
from anabranch.studies.words import NONE, listed, of, span

_WORTH = 0.03
"""A gain or loss that is less of the throughput is none."""
_BIN = 0.5
_CLEARLY = 1.1
_FORTY = (0.3, 0.5)
"""What passes for the paper's "40 less"."""
_STILL = 0.1
"""Mbit/s of fourteen: a standstill."""


def opening(data: Data) -> str:
    """The contrast: three links, one rule of the receiver."""
    legacy, coupled, independent = (goodput(data, model, "three", "uncoupled", "none").mean for model in MODELS)
    best = alone(data, "three")
    return say.OPENING(
        independent=f"{independent:.2f}",
        best=f"{best:.2f}",
        legacy=f"{legacy:.2f}",
        worse=say.WORSE if legacy < best else say.BETTER,
        coupled=f"{coupled:.2f}",
    )


def findings(data: Data) -> list[str]:
    """What else the numbers say."""
    said = [_reproduction(data), _recoveries(data), _independent(data)]
    if "sensitivity" in data.sweeps:
        said.append(_sensitivity(data))
    if all(sweep in data.sweeps for found in RIVALS.values() for sweep in found[:2]):
        said += [_shared(data), _disjoint(data)]
    return said


def _loss(data: Data, model: str, links: str, controller: str, recovery: str) -> float:
    """Gain over no recovery, as a ratio."""
    base = goodput(data, model, links, controller, "none").mean
    return goodput(data, model, links, controller, recovery).mean / base - 1


def _peak(data: Data, model: str, recovery: str) -> float:
    _, rates = estimate(data, of_figure("fig-9", recovery, model), _BIN)
    return float(rates.max())


def _reproduction(data: Data) -> str:
    peak = _peak(data, "legacy", "dsack")
    arrived = goodput(data, "legacy", "three", "uncoupled", "dsack").mean
    frto, eifel = (100 * _loss(data, "legacy", "three", "uncoupled", name) for name in ("frto", "eifel"))
    return say.REPRODUCTION(
        best=say.WITH_UNIT(best=_best(data, "legacy", "three", ("uncoupled",))),
        peak=f"{peak:.1f}",
        stated=f"{STATED:.0f}",
        goodput=f"{arrived:.2f}",
        frto=_apart(frto),
        eifel=_apart(eifel),
    )


def _apart(percent: float) -> str:
    return (say.BELOW if percent < 0 else say.ABOVE)(share=f"{abs(percent):.0f}")


def _cells(data: Data, model: str) -> Iterator[tuple[str, str, str, float]]:
    for links, controller, recovery in itertools.product(LINKS, CONTROLLERS, list(RECOVERIES)[1:]):
        yield links, controller, recovery, _loss(data, model, links, controller, recovery)


def _recoveries(data: Data) -> str:
    parts = []
    for name, label in list(RECOVERIES.items())[1:]:
        gains = [gain for _, _, recovery, gain in _cells(data, "coupled") if recovery == name]
        better, worse = (sum(sign * gain > _WORTH for gain in gains) for sign in (1, -1))
        parts.append(
            say.HELPS(
                recovery=label,
                better=of(better, len(gains)),
                worse=worse,
                gains=span([100 * gain for gain in gains], "{:+.0f} %"),
            )
        )
    drops, before = (
        data.mean("tables", "queue_drops", links="three", controller="uncoupled", recovery=name, model="coupled").mean
        for name in ("eifel", "none")
    )
    below = [
        (links, controller)
        for links, controller in itertools.product(LINKS, CONTROLLERS)
        if goodput(data, "coupled", links, controller, "none").mean < alone(data, links)
    ]
    return say.COUPLED(
        recoveries="; ".join(parts),
        worth=f"{100 * _WORTH:.0f}",
        drops=f"{drops:.0f}",
        before=f"{before:.0f}",
        below=of(len(below), len(LINKS) * len(CONTROLLERS)),
    )


def _independent(data: Data) -> str:
    gains = [gain for _, _, _, gain in _cells(data, "independent")]
    shares = {
        (links, controller): goodput(data, "independent", links, controller, "none").mean / RATES[links]
        for links, controller in itertools.product(LINKS, CONTROLLERS)
    }
    (links, controller), least = min(shares.items(), key=lambda item: item[1])
    rest = [share for cell, share in shares.items() if cell != (links, controller)]
    most = max(map(abs, gains))
    first = say.INDEPENDENT(most=f"{math.ceil(1000 * most) / 10:.1f}", nothing=say.NOTHING if most < _WORTH else "")
    second = say.INDEPENDENT_SHARES(
        shares=span([100 * share for share in rest], "{:.0f} %"),
        least=f"{100 * least:.0f}",
        controller=CONTROLLERS[controller],
        links=LINKS[links],
    )
    return " ".join([first, second, *([say.INDEPENDENT_FULLY] if controller == "fully-coupled" else [])])


def _sensitivity(data: Data) -> str:
    choices = [str(point.label) for point in data.sweeps["sensitivity"].plan.axes["choice"]]

    def rate(model: str, recovery: str, choice: str) -> float:
        cell: dict[str, Any] = {"figure": "fig-9", "recovery": recovery, "model": model, "choice": choice}
        return data.mean("sensitivity", "goodput_mbps", **cell).mean

    def spread(model: str, label: str) -> str:
        rates = {choice: rate(model, "dsack", choice) for choice in choices}
        (low, least), (high, most) = (pick(rates.items(), key=lambda item: item[1]) for pick in (min, max))
        return say.SENSITIVITY_MODEL(
            model=label, low=f"{least:.2f}", lowest=CHOICES[low], high=f"{most:.2f}", highest=CHOICES[high]
        )

    def holds(choice: str, recovery: str) -> bool:
        none = rate("legacy", "none", choice)
        if recovery == "dsack":
            return rate("legacy", "dsack", choice) > _CLEARLY * none
        return _FORTY[0] < 1 - rate("legacy", recovery, choice) / none < _FORTY[1]

    stated = {name: [choice for choice in choices if holds(choice, name)] for name in list(RECOVERIES)[1:]}
    both = [choice for choice in choices if all(choice in found for found in stated.values())]
    still = [RECOVERIES[name] for name in RECOVERIES if rate("legacy", name, "20-packets") < _STILL]
    said = [
        say.SENSITIVITY(models="; ".join(spread(model, label.lower()) for model, label in MODELS.items())),
        say.SENSITIVITY_STATED(
            **{name: len(found) for name, found in stated.items()},
            total=len(choices),
            together=listed([CHOICES[choice] for choice in both]) or say.NO_CHOICE,
        ),
        say.SENSITIVITY_STALLS(recoveries=listed(still) or say.NO_RECOVERY),
    ]
    return " ".join(said)


def _other(data: Data, sweep: str, model: str, controller: str, connections: int) -> float:
    cell = {"controller": controller, "recovery": "none", "model": model}
    return sum(data.mean(sweep, f"connection{i + 1}", 1.0, **cell).mean for i in range(connections))


def _own(data: Data, sweep: str, model: str, controller: str) -> float:
    return data.mean(sweep, "connection0", 1.0, controller=controller, recovery="none", model=model).mean


def _rivals(data: Data, sweep: str, single: str) -> str:
    parts = []
    for model, label in MODELS.items():
        own = [
            say.RIVAL_RATE(rate=f"{_own(data, sweep, model, c):.1f}", controller=name)
            for c, name in CONTROLLERS.items()
        ]
        alone_ = f"{lone(data, single, model):.1f}"
        parts.append(say.RIVAL_MODEL(model=label.lower(), rates=listed(own), alone=alone_))
    return "; ".join(parts)


def _shared(data: Data) -> str:
    sweep, single, _ = RIVALS["shared"]
    return say.SHARED(models=_rivals(data, sweep, single))


def _disjoint(data: Data) -> str:
    sweep, single, rivals = RIVALS["disjoint"]
    left = {c: _other(data, sweep, "independent", c, len(rivals)) for c in ("uncoupled", "rtt-compensator")}
    return say.DISJOINT(
        models=_rivals(data, sweep, single),
        uncoupled=f"{left['uncoupled']:.1f}",
        linked=f"{left['rtt-compensator']:.1f}",
    )


def _same_as_uncoupled(data: Data, model: str, recovery: str) -> str:
    linked, plain = (
        goodput(data, model, "two", controller, recovery).mean for controller in ("linked-increases", "uncoupled")
    )
    return say.BOTH(linked=f"{linked:.2f}", plain=f"{plain:.2f}")


def _gains(data: Data, model: str, links: str, controllers: tuple[str, ...], *recoveries: str) -> str:
    return span(
        [100 * _loss(data, model, links, c, r) for c in controllers for r in recoveries],
        "{:+.0f} %",
    )


def _third_link(data: Data, model: str) -> str:
    ratios = [
        goodput(data, model, "three", "uncoupled", r).mean / goodput(data, model, "two", "uncoupled", r).mean
        for r in RECOVERIES
    ]
    return say.FOLD(factor=span(ratios, "{:.1f}"))


def _best(data: Data, model: str, links: str, controllers: tuple[str, ...] = tuple(CONTROLLERS)) -> str:
    rates = {
        (controller, recovery): goodput(data, model, links, controller, recovery).mean
        for controller in controllers
        for recovery in RECOVERIES
    }
    (controller, recovery), most = max(rates.items(), key=lambda item: item[1])
    if most - min(rates[controller, other] for other in RECOVERIES) < _WORTH * most:
        return say.BEST_SAME(controller=CONTROLLERS[controller], rate=f"{most:.2f}")
    return say.BEST(recovery=RECOVERIES[recovery], controller=CONTROLLERS[controller], rate=f"{most:.2f}")


def _dsack_peak(data: Data, model: str) -> str:
    rate = goodput(data, model, "three", "uncoupled", "dsack").mean
    return say.PEAK(peak=f"{_peak(data, model, 'dsack'):.1f}", goodput=f"{rate:.1f}")


def _rank(data: Data, model: str) -> str:
    mine = goodput(data, model, "two", "rtt-compensator", "dsack").mean
    better = sum(
        goodput(data, model, "two", c, r).mean > mine * (1 + _WORTH)
        for c, r in itertools.product(CONTROLLERS, RECOVERIES)
    )
    return say.RANK(rate=f"{mine:.2f}", count=better, total=len(CONTROLLERS) * len(RECOVERIES))


def _eifel_helps(data: Data, model: str) -> str:
    helped = {
        links: [label for c, label in CONTROLLERS.items() if _loss(data, model, links, c, "eifel") > _WORTH]
        for links in LINKS
    }
    return "; ".join(say.EIFEL(links=links, controllers=listed(names) or say.NONE) for links, names in helped.items())


def _used(data: Data, model: str) -> str:
    shares = [
        100 * goodput(data, model, links, c, r).mean / RATES[links]
        for links, c, r in itertools.product(LINKS, CONTROLLERS, list(RECOVERIES)[1:])
    ]
    return say.USED(share=f"{max(shares):.0f}") if shares and not math.isnan(max(shares)) else NONE


_STATED: Mapping[str, Callable[[Data, str], str]] = {
    "linked_none": lambda data, model: _same_as_uncoupled(data, model, "none"),
    "linked_dsack": lambda data, model: _same_as_uncoupled(data, model, "dsack"),
    "linked_eifel": lambda data, model: _gains(data, model, "two", ("linked-increases",), "eifel"),
    "linked_frto": lambda data, model: _gains(data, model, "two", ("linked-increases",), "frto"),
    "third_link": _third_link,
    "best_uncoupled": lambda data, model: _best(data, model, "three", ("uncoupled",)),
    "peak": _dsack_peak,
    "frto": lambda data, model: _gains(data, model, "three", ("uncoupled",), "frto"),
    "eifel": lambda data, model: _gains(data, model, "three", ("uncoupled",), "eifel"),
    "rank": _rank,
    "eifel_helps": _eifel_helps,
    "best": lambda data, model: _best(data, model, "three"),
    "used": _used,
}
STATEMENTS = tuple(Statement(*texts, _STATED[name]) for name, texts in say.STATED.items())

NOTES = (say.NOTES[0], COLUMNS, *say.NOTES[1:], PAIRS)
