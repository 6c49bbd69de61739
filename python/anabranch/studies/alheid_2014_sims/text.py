"""Chooses the sentences of the report: each number in them is computed from the runs."""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from anabranch.studies.alheid_2014_sims import sentences as say
from anabranch.studies.alheid_2014_sims.names import BPSK, CHOICES, CONTROLLERS, RATE, TCP, printed
from anabranch.studies.base import Data
from anabranch.studies.beside import Statement
from anabranch.studies.models import MODELS, RECOVERIES
from anabranch.studies.sentences import COLUMNS, LEGACY_WIRELESS, PAIRS
from anabranch.studies.wireless import alone, averaged, distances, goodput
from anabranch.studies.words import NONE, listed, of, span

_WORTH = 0.03
"""A gain or loss that is less of the throughput is none."""
_CLOSE = 0.1
"""Of the paper's number."""
_OTHERS = {name: label for name, label in RECOVERIES.items() if name != "none"}


def opening(data: Data) -> str:
    """The contrast at 10 m, without recovery."""
    legacy, coupled, independent = (span(_rates(data, model, "none"), "{:.2f}") for model in MODELS)
    wifi, wired = (alone(data, distances(data)[0], **path) for path in TCP.values())
    told = say.OPENING(
        wifi=f"{wifi:.2f}",
        wired=f"{wired:.2f}",
        independent=independent,
        legacy=legacy,
        paper=span(_printed("none"), "{:.2f}"),
        coupled=coupled,
    )
    rates = [*_rates(data, "legacy", "none"), *_printed("none")]
    single = all(any(abs(rate - one) <= _CLOSE * one for one in (wifi, wired)) for rate in rates)
    return f"{told} {say.ONE_LINK}" if single else told


def findings(data: Data) -> list[str]:
    """What else the numbers say."""
    said = [_reproduction(data), _locked(data)]
    if "queue" in data.sweeps:
        said.append(_queue(data))
    said += [_coupled(data), _independent(data), _distance(data)]
    return [*said, _sensitivity(data)] if "sensitivity" in data.sweeps else said


def _rate(data: Data, model: str, controller: str, recovery: str) -> float:
    return data.mean("tables", "goodput_mbps", controller=controller, recovery=recovery, model=model).mean


def _rates(data: Data, model: str, recovery: str) -> list[float]:
    return [_rate(data, model, controller, recovery) for controller in CONTROLLERS]


def _printed(recovery: str, column: str = "aggregate_mbps") -> list[float]:
    return [printed({"controller": c, "recovery": recovery}, column) for c in CONTROLLERS]


def _gain(data: Data, model: str, controller: str, recovery: str) -> float:
    return _rate(data, model, controller, recovery) / _rate(data, model, controller, "none") - 1


def _gains(data: Data, model: str, recovery: str, *controllers: str) -> str:
    return span([100 * _gain(data, model, c, recovery) for c in controllers or CONTROLLERS], "{:+.0f} %")


def _reproduction(data: Data) -> str:
    parts = []
    for recovery, label in RECOVERIES.items():
        found, said = _rates(data, "legacy", recovery), _printed(recovery)
        near = sum(abs(f - s) <= _CLOSE * s for f, s in zip(found, said, strict=True))
        parts.append(
            say.REPRODUCTION_ONE(
                recovery=label, found=span(found, "{:.2f}"), printed=span(said, "{:.2f}"), near=of(near, len(said))
            )
        )
    one: dict[str, Any] = {"controller": "uncoupled", "model": "legacy"}
    wifi = data.mean("tables", "goodput0", 100 / RATE, **one, recovery="dsack").mean
    ratio = data.mean("tables", "ooo_ratio", 100, **one, recovery="door").mean
    stalled = _stalled(data)
    text = say.REPRODUCTION(recoveries="; ".join(parts), wifi=f"{wifi:.0f}", ratio=f"{ratio:.0f}")
    return f"{text} {say.STALLED(cells=stalled)}" if stalled else text


def _still(data: Data, sweep: str) -> Any:
    """Runs of the legacy model that do not end."""
    runs = data.frame(sweep)
    return runs[(runs["model"] == "legacy") & (runs["status"] == "stalled")]


def _stalled(data: Data) -> str:
    """Cells of the legacy model in which runs do not end."""
    runs = _still(data, "tables")
    seeds = len(data.sweeps["tables"].plan.seeds)
    said = []
    for controller, recovery in itertools.product(CONTROLLERS, RECOVERIES):
        count = int(((runs["controller"] == controller) & (runs["recovery"] == recovery)).sum())
        if count:
            said.append(
                say.STALLED_CELL(
                    count=count, seeds=seeds, recovery=RECOVERIES[recovery], controller=CONTROLLERS[controller]
                )
            )
    return listed(said)


def _locked(data: Data) -> str:
    count, runs = _wins(data, "tables", {})
    said = [say.LOCKED(count=count, runs=runs)]
    if "sensitivity" in data.sweeps:
        count, runs = _wins(data, "sensitivity", {"choice": "no-fading", "place": "near"})
        said.append(say.LOCKED_STILL(count=count, runs=runs))
        cell = {"choice": "no-fading", "place": "near", "recovery": "none", "model": "legacy"}
        buffers = data.values("sensitivity", "ooo_buffer_max_packets", **cell)
        pairs = zip(*(data.values("sensitivity", f"goodput{i}", **cell) for i in range(2)), buffers, strict=True)
        alive = [(wifi, wired, size) for wifi, wired, size in pairs if wifi > 2 * wired]
        if alive:
            wifi, wired, size = alive[0]
            said.append(
                say.LOCKED_LIKE(wifi=f"{100 * wifi / RATE:.0f}", wired=f"{100 * wired / RATE:.0f}", size=f"{size:.0f}")
            )
    return " ".join(said)


def _queue(data: Data) -> str:
    wins = _wins(data, "queue", {})
    cell = {"recovery": "none", "model": "legacy"}
    wifi, wired = (data.values("queue", f"goodput{i}", **cell) for i in range(2))
    alive = [(100 * a / RATE, 100 * b / RATE) for a, b in zip(wifi, wired, strict=True) if a > b]
    door = [data.mean("queue", "goodput_mbps", controller=c, recovery="door").mean for c in CONTROLLERS]
    shares = say.QUEUE_SHARES(wifi=span([a for a, _ in alive], "{:.0f}"), wired=span([b for _, b in alive], "{:.0f}"))
    return say.QUEUE(
        stalled=of(len(_still(data, "queue")), len(data.frame("queue"))),
        before=len(_still(data, "tables")),
        alive=of(*wins),
        shares=f" {shares}" if alive else "",
        door=span(door, "{:.2f}"),
    )


def _wins(data: Data, sweep: str, labels: dict[str, Any]) -> tuple[int, int]:
    cell = {"recovery": "none", "model": "legacy", **labels}
    wifi, wired = (data.values(sweep, f"goodput{i}", **cell) for i in range(2))
    return sum(a > b for a, b in zip(wifi, wired, strict=True)), len(wifi)


def _coupled(data: Data) -> str:
    parts = []
    for name, label in _OTHERS.items():
        gains = [_gain(data, "coupled", c, name) for c in CONTROLLERS]
        parts.append(say.GAIN(recovery=label, gains=span([100 * gain for gain in gains], "{:+.0f} %")))
    most = max(_rate(data, "coupled", c, r) for c in CONTROLLERS for r in RECOVERIES)
    return say.COUPLED(gains="; ".join(parts), most=f"{most:.2f}")


def _independent(data: Data) -> str:
    gains = [_gain(data, "independent", c, r) for c in CONTROLLERS for r in _OTHERS]
    ratio = [
        data.mean("tables", "ooo_ratio", 100, controller=c, recovery="none", model="independent").mean
        for c in CONTROLLERS
    ]
    sizes = [
        data.mean("tables", "ooo_buffer_max_packets", controller=c, recovery="none", model="independent").mean
        for c in CONTROLLERS
    ]
    change = span([100 * gain for gain in gains], "{:+.1f} %")
    return say.INDEPENDENT(change=change, ratio=span(ratio, "{:.0f}"), size=span(sizes, "{:.0f}"))


def _distance(data: Data) -> str:
    at = distances(data)
    wifi = [alone(data, metres, over="wifi") for metres in at]
    half = next((metres for metres, rate in zip(at, wifi, strict=True) if rate < wifi[0] / 2), None)
    falls = say.FALLS(half=half) if half else say.FALLS_NOT(rate=f"{wifi[-1]:.2f}", last=at[-1])
    means = {
        label: span([averaged(data, controller=c, recovery="none", model=m).mean for c in CONTROLLERS], "{:.2f}")
        for m, label in MODELS.items()
    }
    worse = {
        label: sum(
            goodput(data, metres, controller="uncoupled", recovery="none", model=m).mean
            < max(alone(data, metres, **path) for path in TCP.values())
            for metres in at
        )
        for m, label in MODELS.items()
    }
    return say.DISTANCE(
        falls=falls,
        first=at[0],
        last=at[-1],
        models="; ".join(say.DISTANCE_MODEL(model=label.lower(), rate=mean) for label, mean in means.items()),
        paper=span(_printed("none", "average_aggregate_mbps"), "{:.2f}"),
        worse=listed([say.WORSE(count=n, total=len(at), model=label.lower()) for label, n in worse.items()]),
    )


def _sensitivity(data: Data) -> str:
    choices = list(CHOICES)

    def rate(model: str, recovery: str, choice: str, place: str = "near") -> float:
        cell: dict[str, Any] = {"recovery": recovery, "model": model, "choice": choice, "place": place}
        return data.mean("sensitivity", "goodput_mbps", **cell).mean

    def spread(model: str, recovery: str) -> str:
        rates = {choice: rate(model, recovery, choice) for choice in choices}
        low, high = (pick(rates, key=lambda choice: rates[choice]) for pick in (min, max))
        return say.SPREAD(
            low=f"{rates[low]:.2f}", lowest=CHOICES[low], high=f"{rates[high]:.2f}", highest=CHOICES[high]
        )

    bpsk = data.mean(
        "sensitivity", "goodput0", 100 / RATE, recovery="dsack", model="legacy", choice=BPSK, place="near"
    ).mean
    spreads = [
        say.SPREADS(model=label.lower(), none=spread(model, "none"), dsack=spread(model, "dsack"))
        for model, label in MODELS.items()
    ]
    return say.SENSITIVITY(
        spreads="; ".join(spreads),
        bpsk=f"{bpsk:.0f}",
        low=f"{rate('legacy', 'none', 'exponent-2', 'far'):.2f}",
        chosen=f"{rate('legacy', 'none', 'as-chosen', 'far'):.2f}",
        high=f"{rate('legacy', 'none', 'exponent-3', 'far'):.2f}",
    )


def _growth(data: Data, model: str) -> str:
    ratios = [
        data.mean("tables", "ooo_ratio", controller=c, recovery=r, model=model).mean
        / data.mean("tables", "ooo_ratio", controller=c, recovery="none", model=model).mean
        for c in CONTROLLERS
        for r in _OTHERS
    ]
    return say.FOLD(factor=f"{max(ratios):.1f}")


def _ratio(data: Data, model: str, recovery: str) -> str:
    found = [
        data.mean("tables", "ooo_ratio", 100, controller=c, recovery=recovery, model=model).mean for c in CONTROLLERS
    ]
    return f"{max(found):.0f} %"


def _winner(data: Data, model: str) -> str:
    """The best recovery of each controller."""

    def best() -> Iterator[str]:
        for controller, label in CONTROLLERS.items():
            rates = {name: _rate(data, model, controller, name) for name in RECOVERIES}
            yield f"{label}: {NONE if any(map(math.isnan, rates.values())) else winners(rates)}"

    return "; ".join(best())


def winners(rates: Mapping[str, float]) -> str:
    """Name the recoveries with the highest of `rates` (Mbit/s, by name of the recovery).

    If no recovery gains clearly over no recovery, name all that are as good as no recovery.

    >>> winners({"none": 4.0, "dsack": 8.0, "door": 8.0}), winners({"none": 4.0, "dsack": 4.01, "frto": 2.0})
    ('D-SACK and TCP-DOOR', 'NoPR and D-SACK')
    >>> winners({"none": 4.0, "dsack": 4.01, "frto": 3.99})
    'no difference'
    """
    most = max(rates.values())
    gain = most > (1 + _WORTH) * rates["none"]
    best = [name for name, rate in rates.items() if (rate == most if gain else (1 + _WORTH) * rate >= most)]
    return say.NO_DIFFERENCE() if len(best) == len(rates) else listed([RECOVERIES[name] for name in best])


def _least_memory(data: Data, model: str) -> str:
    sizes = {
        name: max(
            data.mean("tables", "ooo_buffer_max_packets", controller=c, recovery=name, model=model).mean
            for c in CONTROLLERS
        )
        for name in _OTHERS
    }
    if any(map(math.isnan, sizes.values())):
        return NONE
    least = min(sizes.values())
    best = [RECOVERIES[name] for name, size in sizes.items() if size == least]
    who = say.NO_DIFFERENCE if len(best) == len(sizes) else listed(best)
    return say.BUFFER(recovery=who, size=f"{least:.0f}")


_STATED: Mapping[str, Callable[[Data, str], str]] = {
    "one_link": lambda data, model: span(_rates(data, model, "none"), "{:.2f}"),
    "growth": _growth,
    "door_ratio": lambda data, model: _ratio(data, model, "door"),
    "dsack_gain": lambda data, model: _gains(data, model, "dsack", "fully-coupled"),
    "frto_gain": lambda data, model: _gains(data, model, "frto", "uncoupled"),
    "eifel_gain": lambda data, model: _gains(data, model, "eifel"),
    "door_gain": lambda data, model: _gains(data, model, "door"),
    "best": _winner,
    "memory": _least_memory,
}
STATEMENTS = tuple(Statement(*texts, _STATED[name]) for name, texts in say.STATED.items())

NOTES = (say.NOTES[0], COLUMNS, say.NOTES[1], LEGACY_WIRELESS, *say.NOTES[2:], PAIRS)
