"""Chooses the sentences of the report: each number in them is computed from the runs."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from anabranch.studies.alheid_2014_aina import sentences as say
from anabranch.studies.alheid_2014_aina.names import (
    CEILING,
    CONTROLLERS,
    DELAYS,
    MODELS,
    PACKET,
    PAYLOAD,
    RECOVERIES,
    TABLE_DELAY,
    printed,
)
from anabranch.studies.base import Data
from anabranch.studies.beside import Statement
from anabranch.studies.sentences import COLUMNS, PAIRS
from anabranch.studies.words import NONE, listed, of, span, typeset

_NEGLIGIBLE = 0.005
"""Mbit/s: a gain that is not worth a word."""
_GOAL = 0.98
"""Share of the ceiling that counts as both links full."""


def opening(data: Data) -> str:
    """The contrast: the same links, the same controllers, one rule of the receiver."""
    shares = dict(_shares(data, "constant"))
    (controller, delay), least = min(shares.items(), key=lambda item: item[1])
    full = sum(share >= _GOAL for share in shares.values())
    legacy, coupled = (
        [
            data.mean("nopr", "goodput_mbps", controller=name, case="unlike-constant", model=model).mean
            for name in CONTROLLERS
        ]
        for model in ("legacy", "coupled")
    )
    rates = ", ".join(
        say.COLLAPSE_RATE(rate=f"{rate:.2f}", controller=label)
        for rate, label in zip(legacy, CONTROLLERS.values(), strict=True)
    )
    first = say.OPENING(
        cells=of(full, len(shares)),
        goal=f"{_GOAL:.2f}",
        ceiling=f"{CEILING:.4f}",
        payload=PAYLOAD,
        packet=PACKET,
        least=f"{least:.4f}",
        rate=f"{least * CEILING:.3f}",
        controller=CONTROLLERS[controller],
        delay=delay,
    )
    return f"{first} {say.COLLAPSE(rates=rates, delay=TABLE_DELAY, coupled=span(coupled, '{:.2f}'))}"


def findings(data: Data) -> list[str]:
    """What else the numbers say."""
    said = [_fluctuating(data), _reproduction(data), _coupled(data), _independent(data)]
    if "delays" in data.sweeps:
        said.append(_delay_difference(data))
    if "door" in data.sweeps:
        said.append(_door(data))
    return [text for text in said if text]


def _shares(data: Data, links: str) -> Iterator[tuple[tuple[str, str], float]]:
    for controller in CONTROLLERS:
        for point in data.sweeps["ceiling"].plan.axes["path.1.delay"]:
            delay = str(point.label)
            mean = data.mean("ceiling", "goodput_mbps", controller=controller, delay=delay, links=links)
            yield (controller, delay), mean.mean / CEILING


def _goodput(data: Data, model: str, controller: str, recovery: str) -> float:
    return data.mean("tables", "goodput_mbps", controller=controller, recovery=recovery, model=model).mean


def _fluctuating(data: Data) -> str:
    shares = dict(_shares(data, "fluctuating"))
    below = {cell: share for cell, share in shares.items() if share < _GOAL}
    said = [say.FLUCTUATING(goal=f"{_GOAL:.2f}", cells=of(len(shares) - len(below), len(shares)))]
    if below:
        cells = ", ".join(
            say.BELOW(share=f"{share:.3f}", controller=CONTROLLERS[c], delay=d) for (c, d), share in below.items()
        )
        said.append(say.FLUCTUATING_BELOW(below=cells))
        if any(delay == "500 ms" for _, delay in below):
            said.append(say.FLUCTUATING_LINKS)
        if any(controller == "fully-coupled" for controller, _ in below):
            said.append(say.FLUCTUATING_LOSSES)
    return " ".join(said)


def _reproduction(data: Data) -> str:
    apart = {model: _distance(data, model) for model in MODELS}
    parts = [
        say.REPRODUCTION_MODEL(model=MODELS[model].lower(), ratio=f"{ratio:.1f}", rate=f"{rate:.2f}")
        for model, (ratio, rate) in apart.items()
    ]
    return say.REPRODUCTION(models="; ".join(parts))


def _distance(data: Data, model: str) -> tuple[float, float]:
    ratios, rates = [], []
    for controller in CONTROLLERS:
        for recovery in RECOVERIES:
            cell: dict[str, Any] = {"controller": controller, "recovery": recovery, "model": model}
            ratio = data.mean("tables", "ooo_ratio", 100.0, **cell).mean
            rate = data.mean("tables", "goodput_mbps", **cell).mean
            ratios.append(abs(ratio - printed(controller, recovery, "ooo_ratio_pct")))
            rates.append(abs(rate - printed(controller, recovery, "aggregate_mbps")))
    return sum(ratios) / len(ratios), sum(rates) / len(rates)


def _coupled(data: Data) -> str:
    return say.COUPLED(delay=TABLE_DELAY, gains="; ".join(_best(data)), seen=_seen(data))


def _best(data: Data) -> Iterator[str]:
    """The largest gain of each controller, if its interval lies above zero."""
    compared = data.sweeps["tables"].compare("recovery", baseline="none")
    for controller, label in CONTROLLERS.items():
        rows = compared[(compared["controller"] == controller) & (compared["model"] == "coupled")]
        best = rows.iloc[int(rows["difference"].to_numpy().argmax())]
        least = best["difference"] if math.isnan(best["low"]) else best["low"]
        if least < _NEGLIGIBLE:
            yield say.BEST_NONE(controller=label, rate=f"{best['baseline']:.2f}")
        else:
            name = RECOVERIES[best["recovery"]]
            yield say.BEST(
                controller=label, recovery=name, rate=f"{best['mean']:.2f}", before=f"{best['baseline']:.2f}"
            )


def _seen(data: Data) -> str:
    parts = []
    for name, label in RECOVERIES.items():
        if name != "none":
            cell: dict[str, Any] = {"recovery": name, "model": "coupled"}
            seen, missed = (
                data.mean("tables", f"episodes_spurious_judged_{verdict}", **cell).mean
                for verdict in ("spurious", "genuine")
            )
            parts.append(say.SEEN(recovery=label, seen=f"{seen:.0f}", total=round(seen + missed)))
    return ", ".join(parts)


def _independent(data: Data) -> str:
    compared = data.sweeps["tables"].compare("recovery", baseline="none")
    rows = compared[compared["model"] == "independent"]
    largest = rows.iloc[int(rows["difference"].abs().to_numpy().argmax())]
    judged = sum(
        data.mean("tables", "episodes_spurious_judged_spurious", recovery=name, model="independent").mean
        + data.mean("tables", "episodes_spurious_judged_genuine", recovery=name, model="independent").mean
        for name in RECOVERIES
    ) / len(RECOVERIES)
    return say.INDEPENDENT(
        delay=TABLE_DELAY,
        spurious=say.SPURIOUS(episodes=f"{judged:.2g}") if judged else say.SPURIOUS_NONE,
        difference=typeset(format(largest["difference"], "+.3f")),
        recovery=RECOVERIES[largest["recovery"]],
        controller=CONTROLLERS[largest["controller"]],
    )


def _delay_difference(data: Data) -> str:
    parts = []
    for model, label in MODELS.items():
        rates = {
            (controller, recovery, delay): data.mean(
                "delays", "goodput_mbps", controller=controller, recovery=recovery, model=model, delay=delay
            ).mean
            for controller in CONTROLLERS
            for recovery in RECOVERIES
            for delay in DELAYS
        }
        known = {cell: rate for cell, rate in rates.items() if not math.isnan(rate)}
        if known:
            (controller, recovery, delay), low = min(known.items(), key=lambda item: item[1])
            parts.append(
                say.DELAYS_MODEL(
                    model=label.lower(),
                    low=f"{low:.2f}",
                    high=f"{max(known.values()):.2f}",
                    controller=CONTROLLERS[controller],
                    recovery=RECOVERIES[recovery],
                    difference=int(delay.split()[0]) - 10,
                )
            )
    return say.DELAYS(models="; ".join(parts))


def _door(data: Data) -> str:
    means = data.sweeps["door"].means()
    rates = means["mean"].to_numpy()
    low, high = means.iloc[int(rates.argmin())], means.iloc[int(rates.argmax())]
    return say.DOOR(
        low=f"{low['mean']:.3f}",
        low_t1=f"{low['door_t1']:g}",
        low_t2=f"{low['door_t2']:g}",
        high=f"{high['mean']:.3f}",
        high_t1=f"{high['door_t1']:g}",
        high_t2=f"{high['door_t2']:g}",
    )


def _equal_constant(data: Data, model: str) -> str:
    return span(
        [
            data.mean("nopr", "goodput_mbps", controller=name, case="equal-constant", model=model).mean
            for name in CONTROLLERS
        ],
        "{:.2f}",
    )


def _other_cases(data: Data, model: str) -> str:
    cases = ("equal-fluctuating", "unlike-constant", "unlike-fluctuating")
    return span(
        [
            data.mean("nopr", "goodput_mbps", controller=name, case=case, model=model).mean
            for name in CONTROLLERS
            for case in cases
        ],
        "{:.2f}",
    )


def _ratio(data: Data, model: str, controller: str, recovery: str) -> float:
    return data.mean("tables", "ooo_ratio", 100.0, controller=controller, recovery=recovery, model=model).mean


def _growth(data: Data, model: str) -> str:
    values = [
        _ratio(data, model, c, r) / _ratio(data, model, c, "none")
        for c in CONTROLLERS
        for r in RECOVERIES
        if r != "none"
    ]
    known = [value for value in values if not math.isnan(value)]
    return say.FOLD(factor=f"{max(known):.1f}") if known else NONE


def _dsack_ratio(data: Data, model: str) -> str:
    mean = sum(_ratio(data, model, c, "dsack") for c in CONTROLLERS) / len(CONTROLLERS)
    return NONE if math.isnan(mean) else f"{mean:.1f} %"


def _gain(data: Data, model: str, recovery: str, controllers: tuple[str, ...]) -> list[float]:
    return [100 * (_goodput(data, model, c, recovery) / _goodput(data, model, c, "none") - 1) for c in controllers]


def _smallest_buffer(data: Data, model: str) -> str:
    sizes = {
        recovery: [
            data.mean("tables", "ooo_buffer_max_packets", controller=c, recovery=recovery, model=model).mean
            for c in CONTROLLERS
        ]
        for recovery in RECOVERIES
        if recovery != "none"
    }
    if any(math.isnan(size) for row in sizes.values() for size in row):
        return NONE
    return least_memory(sizes)


def least_memory(sizes: Mapping[str, Sequence[float]]) -> str:
    """Name the recoveries whose largest buffer is the smallest, with the range of their `sizes`.

    `sizes`: peak sizes of the reordering buffer, in packets, by the name of the recovery.

    >>> least_memory({"eifel": [302.0, 578.0], "frto": [229.0, 233.0], "dsack": [227.0, 233.0]})
    'F-RTO and D-SACK, 227 to 233 packets'
    """
    rows = list(sizes.values())
    least = min(map(max, rows))
    best = [recovery for recovery, row in sizes.items() if max(row) == least]
    alike = len(rows) > 1 and all(row == rows[0] for row in rows)
    who = say.NO_DIFFERENCE if alike else listed([RECOVERIES[recovery] for recovery in best])
    return say.BUFFER(recovery=who, size=span([size for recovery in best for size in sizes[recovery]], "{:.0f}"))


def _far(data: Data, model: str) -> str:
    gains = []
    for delay in ("310 ms", "410 ms", "510 ms"):
        for c in ("fully-coupled", "rtt-compensator"):
            cell: dict[str, Any] = {"controller": c, "model": model, "delay": delay}
            none = data.mean("delays", "goodput_mbps", recovery="none", **cell).mean
            gains += [
                100 * (data.mean("delays", "goodput_mbps", recovery=r, **cell).mean / none - 1)
                for r in RECOVERIES
                if r != "none"
            ]
    return span(gains, "{:+.0f} %")


_STATED: Mapping[str, Callable[[Data, str], str]] = {
    "both_links": _equal_constant,
    "one_link": _other_cases,
    "growth": _growth,
    "dsack_ratio": _dsack_ratio,
    "dsack_gain": lambda data, model: span(_gain(data, model, "dsack", tuple(CONTROLLERS)), "{:+.0f} %"),
    "door_gain": lambda data, model: span(_gain(data, model, "door", ("uncoupled", "rtt-compensator")), "{:+.0f} %"),
    "frto_gain": lambda data, model: span([max(_gain(data, model, "frto", tuple(CONTROLLERS)))], "{:+.1f} %"),
    "memory": _smallest_buffer,
    "far": _far,
}
_NEEDS = {"far": "delays"}
STATEMENTS = tuple(Statement(*texts, _STATED[name], _NEEDS.get(name, "")) for name, texts in say.STATED.items())

NOTES = (say.NOTES[0], COLUMNS, *say.NOTES[1:], PAIRS)
