"""The sentences of the report: each number in them is computed from the runs."""

import math
from collections.abc import Iterator
from typing import Any

from anabranch.experiments.aina2014.names import (
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
from anabranch.experiments.base import Data
from anabranch.experiments.beside import Statement
from anabranch.experiments.models import COLUMNS, PAIRS
from anabranch.experiments.words import NONE, of, span, typeset

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
    collapse = ", ".join(f"{rate:.2f} ({label})" for rate, label in zip(legacy, CONTROLLERS.values(), strict=True))
    return (
        "Without any reordering recovery, a receiver that acknowledges each subflow independently of the data order "
        f"(RFC 8684) lets MPTCP fill both links: in {of(full, len(shares))} cells (three controllers, SF-1 of 10 to "
        f"500 ms, constant delays) it reaches {_GOAL:.2f} or more of the goodput ceiling of {CEILING:.4f} Mbit/s (2 x "
        f"0.5 Mbit/s x {PAYLOAD}/{PACKET}); the least is {least:.4f} of it, {least * CEILING:.3f} Mbit/s, with the "
        f"{CONTROLLERS[controller]} controller and SF-1 at {delay}. In the model that the paper measured, a gap in the "
        "data order freezes the subflow's acknowledgement, and the same transfer collapses to the rate of one link: "
        f"{collapse} Mbit/s with SF-1 at {TABLE_DELAY}, where the paper has 0.50. It is that rule, not the disorder: "
        f"under it the engine of the first figure, too, falls to {span(coupled, '{:.2f}')} Mbit/s."
    )


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
    text = (
        f"With delays that fluctuate by 5 %, as in the paper, the independent receiver reaches {_GOAL:.2f} of the "
        f"ceiling in {of(len(shares) - len(below), len(shares))} cells."
    )
    if below:
        cells = ", ".join(f"{share:.3f} with {CONTROLLERS[c]} at {d}" for (c, d), share in below.items())
        text += f" Below it: {cells}."
        if any(delay == "500 ms" for _, delay in below):
            text += (
                " There the links themselves reorder packets of one subflow: 5 % of 500 ms is more than the 23.6 ms "
                "between two packets."
            )
        if any(controller == "fully-coupled" for controller, _ in below):
            text += (
                " And losses in full queues are real: Fully Coupled answers with half of the total window, taken from "
                "the subflow that lost, which can leave that one with a window of one segment for minutes."
            )
    return text


def _reproduction(data: Data) -> str:
    apart = {model: _distance(data, model) for model in MODELS}
    parts = [
        f"{MODELS[model].lower()} {ratio:.1f} points of out-of-order ratio and {rate:.2f} Mbit/s"
        for model, (ratio, rate) in apart.items()
    ]
    return (
        f"Mean distance from the paper's Tables I and II over their 15 cells: {'; '.join(parts)}. The legacy model is "
        "what the paper measured, as far as its links and random draws are known; the other two columns are not meant "
        "to agree with it."
    )


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
    return (
        "Under the papers' receiver, but with each algorithm as its own paper or RFC defines it, the best gains over "
        f"none at {TABLE_DELAY} are: {'; '.join(_best(data))}. The loss episodes of a transfer there, and those that "
        f"the sender found out to be spurious: {_seen(data)}. TCP-DOOR looks for packets that overtake each other on a "
        "subflow; the coupled receiver sends duplicate acknowledgements for packets that arrived in their order."
    )


def _best(data: Data) -> Iterator[str]:
    """The largest gain of each controller, if its interval lies above zero."""
    compared = data.sweeps["tables"].compare("recovery", baseline="none")
    for controller, label in CONTROLLERS.items():
        rows = compared[(compared["controller"] == controller) & (compared["model"] == "coupled")]
        best = rows.iloc[int(rows["difference"].to_numpy().argmax())]
        least = best["difference"] if math.isnan(best["low"]) else best["low"]
        if least < _NEGLIGIBLE:
            yield f"{label}: none to speak of ({best['baseline']:.2f} Mbit/s)"
        else:
            name = RECOVERIES[best["recovery"]]
            yield f"{label}: {name}, {best['mean']:.2f} against {best['baseline']:.2f} Mbit/s"


def _seen(data: Data) -> str:
    parts = []
    for name, label in RECOVERIES.items():
        if name != "none":
            cell: dict[str, Any] = {"recovery": name, "model": "coupled"}
            seen, missed = (
                data.mean("tables", f"episodes_spurious_judged_{verdict}", **cell).mean
                for verdict in ("spurious", "genuine")
            )
            parts.append(f"{label} {seen:.0f} of {seen + missed:.0f}")
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
    spurious = (
        "no loss episode is spurious" if judged == 0 else f"{judged:.2g} loss episodes of a transfer are spurious"
    )
    return (
        f"Under the independent receiver a recovery has next to nothing to do at {TABLE_DELAY}: {spurious}, and the "
        f"largest difference to none is {typeset(format(largest['difference'], '+.3f'))} Mbit/s "
        f"({RECOVERIES[largest['recovery']]} with {CONTROLLERS[largest['controller']]}). The packets that wait for the "
        "other path still wait (see the out-of-order ratio): that costs memory and delay, not throughput."
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
                f"{label.lower()} {low:.2f} to {max(known.values()):.2f} Mbit/s, the least with "
                f"{CONTROLLERS[controller]} and {RECOVERIES[recovery]} at {int(delay.split()[0]) - 10} ms"
            )
    return f"Over delay differences of 0 to 500 ms, all controllers and recoveries together: {'; '.join(parts)}."


def _door(data: Data) -> str:
    means = data.sweeps["door"].means()
    rates = means["mean"].to_numpy()
    low, high = means.iloc[int(rates.argmin())], means.iloc[int(rates.argmax())]
    return (
        f"TCP-DOOR's T1 and T2, which its authors leave open, from 0.5 to 8 round-trip times each: goodput from "
        f"{low['mean']:.3f} (T1 {low['door_t1']:g}, T2 {low['door_t2']:g}) to {high['mean']:.3f} Mbit/s "
        f"(T1 {high['door_t1']:g}, T2 {high['door_t2']:g})."
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
    return f"{max(known):.1f}-fold" if known else NONE


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
    least = min(max(row) for row in sizes.values())
    best = [recovery for recovery, row in sizes.items() if max(row) == least]
    who = RECOVERIES[best[0]] if len(best) == 1 else "no difference"
    return f"{who}, {span(sizes[best[0]], '{:.0f}')} packets"


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


STATEMENTS = (
    Statement("Without recovery, equal and constant delays: both links (Mbit/s)", "IV.C.1", "1", _equal_constant),
    Statement("Without recovery, any other case: one link (Mbit/s)", "IV.C.1", "0.5", _other_cases),
    Statement("Recovery raises the out-of-order ratio at most by", "IV.C.2", "8-fold", _growth),
    Statement("Out-of-order ratio with D-SACK, on average", "IV.C.2", "40.6 %", _dsack_ratio),
    Statement(
        "Gain of D-SACK over none, all controllers",
        "IV.C.2",
        "60 to 70 %",
        lambda data, model: span(_gain(data, model, "dsack", tuple(CONTROLLERS)), "{:+.0f} %"),
    ),
    Statement(
        "Gain of TCP-DOOR over none, Uncoupled and Coupled",
        "IV.C.2",
        "70 %",
        lambda data, model: span(_gain(data, model, "door", ("uncoupled", "rtt-compensator")), "{:+.0f} %"),
    ),
    Statement(
        "Gain of F-RTO over none, at most",
        "IV.C.2",
        "43.1 %",
        lambda data, model: span([max(_gain(data, model, "frto", tuple(CONTROLLERS)))], "{:+.1f} %"),
    ),
    Statement("Least memory", "IV.C.2", "F-RTO, 12 to 29 packets", _smallest_buffer),
    Statement(
        "Gain of any recovery beyond a difference of 200 ms, coupled controllers",
        "IV.C.2",
        "below 20 %",
        _far,
        needs="delays",
    ),
)

NOTES = (
    "Columns. Paper: Tables I and II as printed, statements of the text; figures without numbers stay empty. "
    + COLUMNS,
    "The paper's Coupled is RFC 6356 per acknowledgement with alpha as in its equation (6): the controller "
    "rtt-compensator. Fully Coupled is equations (3) and (4).",
    "The paper heads its buffer column “KB” and its text says “2MB”. Neither is the unit: printed x 10^6 / (8 x "
    "1400) is a whole number of packets in every cell (1.1648 is 104, 2.296 is 205), so the unit is Mbit of payload, "
    "and the packets stand here.",
    "The paper's columns disagree in places: 0.5 Mbit/s x (SF-0 + SF-1 utilisation) should be the aggregate "
    "throughput, but for Fully Coupled with Eifel it is 0.72 where 0.50 is printed, with TCP-DOOR 0.83 and 0.61, "
    "with D-SACK 0.62 and 0.80.",
    "The paper does not say how often the delay is drawn anew, what the queues hold, or how many runs stand behind a "
    "number. Here, for all columns: at each write of the application, one draw for both directions, packets may "
    "overtake each other, queues of 100 packets, as in the model.",
    PAIRS,
)
