"""The sentences of the report: each number in them is computed from the runs."""

import itertools
from collections.abc import Iterator
from typing import Any

from anabranch.experiments.base import Data
from anabranch.experiments.beside import Statement
from anabranch.experiments.models import COLUMNS, MODELS, PAIRS, RECOVERIES
from anabranch.experiments.sims2014.names import CHOICES, CONTROLLERS, RATE, TCP, printed
from anabranch.experiments.wireless import alone, averaged, distances, goodput
from anabranch.experiments.words import listed, of, span

_WORTH = 0.03
"""A gain or loss that is less of the throughput is none."""
_CLOSE = 0.1
"""Of the paper's number."""
_OTHERS = {name: label for name, label in RECOVERIES.items() if name != "none"}


def opening(data: Data) -> str:
    """The contrast at 10 m, without recovery."""
    legacy, coupled, independent = (span(_rates(data, model, "none"), "{:.2f}") for model in MODELS)
    wifi, wired = (alone(data, distances(data)[0], **path) for path in TCP.values())
    return (
        f"At 10 m plain TCP gets {wifi:.2f} Mbit/s over the wireless link and {wired:.2f} over the wired one. A "
        f"receiver that acknowledges each subflow independently of the data order (RFC 8684) gets {independent} over "
        f"both, without any reordering recovery, whatever the controller. The model that the paper measured gets "
        f"{legacy}, no more than one link carries; so has the paper, of the other one "
        f"({span(_printed('none'), '{:.2f}')}). A gap in the data order freezes a subflow's acknowledgement, and its "
        f"window closes. Under that one rule the engine of the first figure, too, gets {coupled} Mbit/s."
    )


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
            f"{label} {span(found, '{:.2f}')} (paper: {span(said, '{:.2f}')}; {of(near, len(said))} within a tenth)"
        )
    one: dict[str, Any] = {"controller": "uncoupled", "model": "legacy"}
    wifi = data.mean("tables", "goodput0", 100 / RATE, **one, recovery="dsack").mean
    ratio = data.mean("tables", "ooo_ratio", 100, **one, recovery="door").mean
    stalled = _stalled(data)
    still = f" It comes to a standstill in {stalled}." if stalled else ""
    return (
        f"The legacy model beside Table III, Mbit/s over the three controllers: {'; '.join(parts)}. Its D-SACK uses "
        f"{wifi:.0f} % of the wireless link with Uncoupled (paper: 66), its TCP-DOOR has an out-of-order ratio of "
        f"{ratio:.0f} % (paper: 43).{still}"
    )


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
            said.append(f"{count} of {seeds} runs of {RECOVERIES[recovery]} with {CONTROLLERS[controller]}")
    return listed(said)


def _locked(data: Data) -> str:
    wins = _wins(data, "tables", {})
    text = (
        "Without recovery one subflow of the legacy model is frozen early; which one hangs on little. "
        f"In the paper the wireless one lives on (68 % and 2 % of 6 "
        f"Mbit/s, at most 4 packets wait); here it does in {wins[0]} of {wins[1]} runs."
    )
    if "sensitivity" in data.sweeps:
        still = _wins(data, "sensitivity", {"choice": "no-fading", "place": "near"})
        text += f" Without fading it does in {still[0]} of {still[1]} (Uncoupled)."
        cell = {"choice": "no-fading", "place": "near", "recovery": "none", "model": "legacy"}
        buffers = data.values("sensitivity", "ooo_buffer_max_packets", **cell)
        pairs = zip(*(data.values("sensitivity", f"goodput{i}", **cell) for i in range(2)), buffers, strict=True)
        alive = [(wifi, wired, size) for wifi, wired, size in pairs if wifi > 2 * wired]
        if alive:
            wifi, wired, size = alive[0]
            text += (
                f" One of these has {100 * wifi / RATE:.0f} % and {100 * wired / RATE:.0f} %, and {size:.0f} packets "
                "wait at most: the paper's figures."
            )
    return text


def _queue(data: Data) -> str:
    wins = _wins(data, "queue", {})
    cell = {"recovery": "none", "model": "legacy"}
    wifi, wired = (data.values("queue", f"goodput{i}", **cell) for i in range(2))
    alive = [(100 * a / RATE, 100 * b / RATE) for a, b in zip(wifi, wired, strict=True) if a > b]
    lived = f" ({span([a for a, _ in alive], '{:.0f}')} % and {span([b for _, b in alive], '{:.0f}')} %)"
    door = [data.mean("queue", "goodput_mbps", controller=c, recovery="door").mean for c in CONTROLLERS]
    return (
        "The MAC's queue of 400 packets turns this about in the course of 500 MB. The window of the subflow that lives "
        "grows until the queue overflows; then several packets of one window are lost, and this sender repairs one "
        "with a timeout. Timeouts follow round-trip samples that hold the wait for the timeout before; so each is "
        "longer than the last, until the transfer stands still. With a queue of 2000 packets "
        f"{of(len(_still(data, 'queue')), len(data.frame('queue')))} runs do so ({len(_still(data, 'tables'))} with "
        f"400), without recovery the wireless subflow lives on in {of(*wins)}{lived if alive else ''}, and TCP-DOOR "
        f"has {span(door, '{:.2f}')} Mbit/s."
    )


def _wins(data: Data, sweep: str, labels: dict[str, Any]) -> tuple[int, int]:
    cell = {"recovery": "none", "model": "legacy", **labels}
    wifi, wired = (data.values(sweep, f"goodput{i}", **cell) for i in range(2))
    return sum(a > b for a, b in zip(wifi, wired, strict=True)), len(wifi)


def _coupled(data: Data) -> str:
    parts = []
    for name, label in _OTHERS.items():
        gains = [_gain(data, "coupled", c, name) for c in CONTROLLERS]
        parts.append(f"{label} {span([100 * gain for gain in gains], '{:+.0f} %')}")
    most = max(_rate(data, "coupled", c, r) for c in CONTROLLERS for r in RECOVERIES)
    return (
        "Under the papers' receiver, but with each algorithm as its own paper or RFC defines it, gains over none: "
        f"{'; '.join(parts)}. No combination passes {most:.2f} Mbit/s: none of them makes up for the receiver."
    )


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
    return (
        f"Under a standard receiver a recovery changes the throughput by {change}. "
        f"Disorder is no less: {span(ratio, '{:.0f}')} % of the packets wait for others, up to {span(sizes, '{:.0f}')} "
        "of them at once. It costs memory, not throughput."
    )


def _distance(data: Data) -> str:
    at = distances(data)
    wifi = [alone(data, metres, over="wifi") for metres in at]
    half = next((metres for metres, rate in zip(at, wifi, strict=True) if rate < wifi[0] / 2), None)
    falls = f"falls below half of that at {half} m" if half else f"is {wifi[-1]:.2f} Mbit/s at {at[-1]} m"
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
    return (
        f"Over distance, plain TCP over Wi-Fi {falls}. Averages over {at[0]} to {at[-1]} m without recovery, Mbit/s: "
        f"{'; '.join(f'{label.lower()} {mean}' for label, mean in means.items())} (paper: "
        f"{span(_printed('none', 'average_aggregate_mbps'), '{:.2f}')}). With Uncoupled and no recovery two paths are "
        "slower than plain TCP over the better one at "
        f"{listed([f'{n} of {len(at)} distances ({label.lower()})' for label, n in worse.items()])}."
    )


def _sensitivity(data: Data) -> str:
    choices = list(CHOICES)

    def rate(model: str, recovery: str, choice: str, place: str = "near") -> float:
        cell: dict[str, Any] = {"recovery": recovery, "model": model, "choice": choice, "place": place}
        return data.mean("sensitivity", "goodput_mbps", **cell).mean

    def spread(model: str, recovery: str) -> str:
        rates = {choice: rate(model, recovery, choice) for choice in choices}
        low, high = (pick(rates, key=lambda choice: rates[choice]) for pick in (min, max))
        return f"{rates[low]:.2f} ({CHOICES[low]}) to {rates[high]:.2f} ({CHOICES[high]})"

    bpsk = data.mean(
        "sensitivity", "goodput0", 100 / RATE, recovery="dsack", model="legacy", choice="ten-mhz-bpsk", place="near"
    ).mean
    spreads = [
        f"{label.lower()}, none {spread(model, 'none')}, D-SACK {spread(model, 'dsack')}"
        for model, label in MODELS.items()
    ]
    return (
        f"What hangs on what the paper leaves open, Mbit/s at 10 m with Uncoupled: {'; '.join(spreads)}. "
        f"With BPSK 1/2 in 10 MHz no more than {bpsk:.0f} % of 6 Mbit/s come over Wi-Fi with D-SACK, where the paper "
        "has 66: that reading is out. At 100 m the exponent of the path loss decides: without recovery the legacy "
        f"model gets {rate('legacy', 'none', 'exponent-2', 'far'):.2f} with 2.0, "
        f"{rate('legacy', 'none', 'as-chosen', 'far'):.2f} with 2.5 and "
        f"{rate('legacy', 'none', 'exponent-3', 'far'):.2f} with 3.0."
    )


def _growth(data: Data, model: str) -> str:
    ratios = [
        data.mean("tables", "ooo_ratio", controller=c, recovery=r, model=model).mean
        / data.mean("tables", "ooo_ratio", controller=c, recovery="none", model=model).mean
        for c in CONTROLLERS
        for r in _OTHERS
    ]
    return f"{max(ratios):.1f}-fold"


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
            name = max(rates, key=lambda recovery: rates[recovery])
            worth = rates[name] > (1 + _WORTH) * rates["none"]
            yield f"{label}: {RECOVERIES[name] if worth else 'no difference'}"

    return "; ".join(best())


def _least_memory(data: Data, model: str) -> str:
    sizes = {
        name: max(
            data.mean("tables", "ooo_buffer_max_packets", controller=c, recovery=name, model=model).mean
            for c in CONTROLLERS
        )
        for name in _OTHERS
    }
    name = min(sizes, key=lambda recovery: sizes[recovery])
    return f"{RECOVERIES[name]}, {sizes[name]:.0f} packets"


STATEMENTS = (
    Statement(
        "Without recovery: about one link (Mbit/s)",
        "IV.C.1",
        "about 4",
        lambda data, model: span(_rates(data, model, "none"), "{:.2f}"),
    ),
    Statement("Recovery raises the out-of-order ratio up to", "IV.C.2", "30-fold", _growth),
    Statement(
        "Largest out-of-order ratio with TCP-DOOR", "IV.C.2", "48 %", lambda data, model: _ratio(data, model, "door")
    ),
    Statement(
        "Gain of D-SACK over none, Fully Coupled",
        "IV.C.2",
        "80 to 100 %; Table III: +110 %",
        lambda data, model: _gains(data, model, "dsack", "fully-coupled"),
    ),
    Statement(
        "Gain of F-RTO over none, Uncoupled",
        "IV.C.2",
        "70 to 100 %",
        lambda data, model: _gains(data, model, "frto", "uncoupled"),
    ),
    Statement(
        "Gain of Eifel over none",
        "IV.C.2",
        "about 30 %; Table III: +33 to +66 %",
        lambda data, model: _gains(data, model, "eifel"),
    ),
    Statement(
        "Gain of TCP-DOOR over none",
        "IV.C.2",
        "more than 100 %; Table III: +88 to +112 %",
        lambda data, model: _gains(data, model, "door"),
    ),
    Statement(
        "Best at 10 m",
        "IV.C.2",
        "TCP-DOOR; Fully Coupled: D-SACK",
        _winner,
    ),
    Statement("Least memory", "IV.C.2", "F-RTO, 36 packets at 10 m", _least_memory),
)

NOTES = (
    "Columns. Paper: Tables I to III as printed, statements of the text; figures without numbers show Table III. "
    + COLUMNS,
    "The paper's Coupled is RFC 6356 per acknowledgement with alpha as in its equation (6): the controller "
    "rtt-compensator. Fully Coupled is equations (3) and (4).",
    "The legacy model over a wireless link: its subflow crosses the same simulated 802.11 as the engine's. It repeats "
    "no handshake; one that is lost in spite of the MAC's seven transmissions ends that subflow.",
    "The paper says BPSK 1/2 and 6 Mbit/s, but 10 MHz of bandwidth, where BPSK 1/2 has 3 Mbit/s, and 2.6 GHz, where "
    "802.11g has no channel. It does not state the path loss exponent, the shape of the fading, the mode, queues or "
    "the number of runs. scenario.toml says what was chosen for each and why; “What hangs on what the paper does not "
    "state” changes them one at a time.",
    "The paper's KB are 1000 octets, in whole packets of 1400; its utilisation is what arrived, of 6 Mbit/s. It sends "
    "500 MB; so do Tables II and III here. Table I, the figures and the baselines are made with 50 MB, all of the "
    "quick form with 50 or 10 MB: slow start weighs more in them.",
    PAIRS,
)
