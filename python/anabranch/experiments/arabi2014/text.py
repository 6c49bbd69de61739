"""The sentences of the report: each number in them is computed from the runs."""

import itertools
import math
from collections.abc import Iterator
from typing import Any

from anabranch.experiments.arabi2014.figures import lone
from anabranch.experiments.arabi2014.names import (
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
from anabranch.experiments.base import Data
from anabranch.experiments.beside import Statement
from anabranch.experiments.models import COLUMNS, MODELS, PAIRS
from anabranch.experiments.panels import estimate
from anabranch.experiments.words import NONE, listed, of, span

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
    return (
        f"Over three links of 5, 2 and 7 Mbit/s a receiver that acknowledges each subflow independently of the data "
        f"order (RFC 8684) gets a file of 10 MB at {independent:.2f} Mbit/s without any reordering recovery; plain TCP "
        f"over the best of the links gets {best:.2f}. The model that the paper measured gets {legacy:.2f}: three links "
        f"are {'worse' if legacy < best else 'better'} than one. It is the rule that a gap in the data order freezes a "
        f"subflow's acknowledgement: under it the engine of the first figure, too, gets {coupled:.2f} Mbit/s. (All "
        "three: controller Uncoupled.)"
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
    return (
        "What the text says of Fig. 9, in the legacy model. Best with three subflows and Uncoupled (stated: D-SACK): "
        f"{_best(data, 'legacy', 'three', ('uncoupled',))} Mbit/s. What that model prints as throughput, window / "
        f"round-trip time, reaches {peak:.1f} Mbit/s with D-SACK (stated: about {STATED:.0f}), while the file arrives "
        f"at {arrived:.2f}. F-RTO is {_apart(frto)} none and Eifel {_apart(eifel)} it, where the paper has both “40 "
        "less”, presumably per cent. What F-RTO loses there is not F-RTO's doing: that model discards acknowledgements "
        "on purpose when it is chosen, and its detection changes nothing."
    )


def _apart(percent: float) -> str:
    return f"{abs(percent):.0f} % {'below' if percent < 0 else 'above'}"


def _cells(data: Data, model: str) -> Iterator[tuple[str, str, str, float]]:
    for links, controller, recovery in itertools.product(LINKS, CONTROLLERS, list(RECOVERIES)[1:]):
        yield links, controller, recovery, _loss(data, model, links, controller, recovery)


def _recoveries(data: Data) -> str:
    parts = []
    for name, label in list(RECOVERIES.items())[1:]:
        gains = [gain for _, _, recovery, gain in _cells(data, "coupled") if recovery == name]
        better, worse = (sum(sign * gain > _WORTH for gain in gains) for sign in (1, -1))
        parts.append(
            f"{label} helps in {of(better, len(gains))} cells and harms in {worse} "
            f"({span([100 * gain for gain in gains], '{:+.0f} %')})"
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
    return (
        f"Under the papers' receiver, but with each algorithm as its own paper or RFC defines it: {'; '.join(parts)}; "
        f"less than {100 * _WORTH:.0f} % either way counts as nothing. Eifel is right about what it undoes, and where "
        "it loses, it loses by that: windows given back whole are soon more than paths and queues hold, and "
        f"{drops:.0f} packets are dropped (three subflows, Uncoupled; {before:.0f} without it), which a sender without "
        "SACK repairs one in a round trip. Without recovery MPTCP is slower there than plain TCP over the best link "
        f"alone in {of(len(below), len(LINKS) * len(CONTROLLERS))} combinations of controller and links."
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
    return (
        f"Under a standard receiver recoveries change the throughput by {100 * most:.1f} % at most"
        f"{': there is nothing to recover' if most < _WORTH else ''}. Of the rate of all links the file of 10 MB "
        f"gets {span([100 * share for share in rest], '{:.0f} %')}, slow start, headers and the last packets on the "
        f"slowest link included, and {100 * least:.0f} % with {CONTROLLERS[controller]} over {LINKS[links]}: it takes "
        "half of the total window from the subflow that lost a packet, which leaves that one with next to nothing."
    )


def _sensitivity(data: Data) -> str:
    choices = [str(point.label) for point in data.sweeps["sensitivity"].plan.axes["choice"]]

    def rate(model: str, recovery: str, choice: str) -> float:
        cell: dict[str, Any] = {"figure": "fig-9", "recovery": recovery, "model": model, "choice": choice}
        return data.mean("sensitivity", "goodput_mbps", **cell).mean

    def spread(model: str) -> str:
        rates = {choice: rate(model, "dsack", choice) for choice in choices}
        (low, least), (high, most) = (pick(rates.items(), key=lambda item: item[1]) for pick in (min, max))
        return f"{least:.2f} ({CHOICES[low]}) to {most:.2f} Mbit/s ({CHOICES[high]})"

    def holds(choice: str, recovery: str) -> bool:
        none = rate("legacy", "none", choice)
        if recovery == "dsack":
            return rate("legacy", "dsack", choice) > _CLEARLY * none
        return _FORTY[0] < 1 - rate("legacy", recovery, choice) / none < _FORTY[1]

    stated = {name: [choice for choice in choices if holds(choice, name)] for name in list(RECOVERIES)[1:]}
    both = [choice for choice in choices if all(choice in found for found in stated.values())]
    still = [RECOVERIES[name] for name in RECOVERIES if rate("legacy", name, "20-packets") < _STILL]
    return (
        "The paper gives neither the size of the file nor the queues nor how delays vary, and much hangs on them. "
        "D-SACK, three subflows, Uncoupled, one choice changed at a time: "
        f"{'; '.join(f'{label.lower()} {spread(model)}' for model, label in MODELS.items())}. In the legacy model "
        f"D-SACK is more than a tenth above none under {len(stated['dsack'])} of {len(choices)} choices, F-RTO 30 to "
        f"50 % below it under {len(stated['frto'])}, Eifel under {len(stated['eifel'])}; all three at once under "
        f"{listed([CHOICES[choice] for choice in both]) or 'none'}. With queues of 20 packets it comes to a standstill "
        f"with {listed(still) or 'no recovery'}."
    )


def _other(data: Data, sweep: str, model: str, controller: str, connections: int) -> float:
    cell = {"controller": controller, "recovery": "none", "model": model}
    return sum(data.mean(sweep, f"connection{i + 1}", 1.0, **cell).mean for i in range(connections))


def _own(data: Data, sweep: str, model: str, controller: str) -> float:
    return data.mean(sweep, "connection0", 1.0, controller=controller, recovery="none", model=model).mean


def _shared(data: Data) -> str:
    sweep, single, _ = RIVALS["shared"]
    parts = []
    for model, label in MODELS.items():
        own = [f"{_own(data, sweep, model, c):.1f} ({name})" for c, name in CONTROLLERS.items()]
        parts.append(f"{label.lower()} {listed(own)}, one path alone {lone(data, single, model):.1f}")
    return (
        "Future work, shared bottleneck of 14 Mbit/s, beside one other connection. A multipath connection is meant to "
        "get what the best of its paths alone would get, and no more (RFC 6356, goals 1 and 2); Mbit/s without "
        f"recovery: {'; '.join(parts)}. Its shortest path has a fifth of the other connection's round-trip time, which "
        "alone gives it most of the link."
    )


def _disjoint(data: Data) -> str:
    sweep, single, rivals = RIVALS["disjoint"]
    parts = []
    for model, label in MODELS.items():
        own = [f"{_own(data, sweep, model, c):.1f} ({name})" for c, name in CONTROLLERS.items()]
        parts.append(f"{label.lower()} {listed(own)}, one path alone {lone(data, single, model):.1f}")
    left = {c: _other(data, sweep, "independent", c, len(rivals)) for c in ("uncoupled", "rtt-compensator")}
    return (
        "Future work, disjoint bottlenecks of 5, 2 and 7 Mbit/s, each with a connection of its own: "
        f"{'; '.join(parts)} Mbit/s. Under the independent receiver Uncoupled leaves the three others "
        f"{left['uncoupled']:.1f} Mbit/s together, RTT Compensation {left['rtt-compensator']:.1f}."
    )


def _same_as_uncoupled(data: Data, model: str, recovery: str) -> str:
    linked, plain = (
        goodput(data, model, "two", controller, recovery).mean for controller in ("linked-increases", "uncoupled")
    )
    return f"{linked:.2f} and {plain:.2f}"


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
    return f"{span(ratios, '{:.1f}')} fold"


def _best(data: Data, model: str, links: str, controllers: tuple[str, ...] = tuple(CONTROLLERS)) -> str:
    rates = {
        (controller, recovery): goodput(data, model, links, controller, recovery).mean
        for controller in controllers
        for recovery in RECOVERIES
    }
    (controller, recovery), most = max(rates.items(), key=lambda item: item[1])
    if most - min(rates[controller, other] for other in RECOVERIES) < _WORTH * most:
        return f"no difference between recoveries with {CONTROLLERS[controller]}, {most:.2f}"
    return f"{RECOVERIES[recovery]}, {CONTROLLERS[controller]}, {most:.2f}"


def _dsack_peak(data: Data, model: str) -> str:
    return f"{_peak(data, model, 'dsack'):.1f} (goodput {goodput(data, model, 'three', 'uncoupled', 'dsack').mean:.1f})"


def _rank(data: Data, model: str) -> str:
    mine = goodput(data, model, "two", "rtt-compensator", "dsack").mean
    better = sum(
        goodput(data, model, "two", c, r).mean > mine * (1 + _WORTH)
        for c, r in itertools.product(CONTROLLERS, RECOVERIES)
    )
    return f"{mine:.2f}, {better} of {len(CONTROLLERS) * len(RECOVERIES)} better"


def _eifel_helps(data: Data, model: str) -> str:
    helped = {
        links: [label for c, label in CONTROLLERS.items() if _loss(data, model, links, c, "eifel") > _WORTH]
        for links in LINKS
    }
    return "; ".join(f"{links}: {listed(names) or 'none'}" for links, names in helped.items())


def _used(data: Data, model: str) -> str:
    shares = [
        100 * goodput(data, model, links, c, r).mean / RATES[links]
        for links, c, r in itertools.product(LINKS, CONTROLLERS, list(RECOVERIES)[1:])
    ]
    return f"at most {max(shares):.0f} % of the links" if shares and not math.isnan(max(shares)) else NONE


STATEMENTS = (
    Statement(
        "Linked Increases without recovery: the same throughput as Uncoupled (Mbit/s of both, two subflows)",
        "Fig. 8",
        "the same",
        lambda data, model: _same_as_uncoupled(data, model, "none"),
    ),
    Statement(
        "Linked Increases with D-SACK: throughput stays the same (Mbit/s with it and with Uncoupled)",
        "Fig. 8",
        "the same",
        lambda data, model: _same_as_uncoupled(data, model, "dsack"),
    ),
    Statement(
        "Linked Increases: throughput of Eifel decreases (against none)",
        "Fig. 8",
        "decreases",
        lambda data, model: _gains(data, model, "two", ("linked-increases",), "eifel"),
    ),
    Statement(
        "Linked Increases: throughput of F-RTO decreases (against none)",
        "Fig. 8",
        "decreases",
        lambda data, model: _gains(data, model, "two", ("linked-increases",), "frto"),
    ),
    Statement("Three subflows, Uncoupled: throughput increased (against two)", "Fig. 9", "increased", _third_link),
    Statement(
        "Three subflows, Uncoupled: D-SACK is best (best, Mbit/s)",
        "Fig. 9",
        "D-SACK",
        lambda data, model: _best(data, model, "three", ("uncoupled",)),
    ),
    Statement("and reaches (largest window / round-trip time, Mbit/s)", "Fig. 9", "about 10", _dsack_peak),
    Statement(
        "Three subflows, Uncoupled: F-RTO against none",
        "Fig. 9",
        "“40 less”",
        lambda data, model: _gains(data, model, "three", ("uncoupled",), "frto"),
    ),
    Statement(
        "Three subflows, Uncoupled: Eifel against none",
        "Fig. 9",
        "“40 less”",
        lambda data, model: _gains(data, model, "three", ("uncoupled",), "eifel"),
    ),
    Statement("D-SACK with RTT Compensation, two subflows: good, not the best", "Conclusion", "not the best", _rank),
    Statement(
        "Eifel helps only over two subflows, not with Fully Coupled",
        "Conclusion",
        "two: all but Fully Coupled; three: none",
        _eifel_helps,
    ),
    Statement(
        "Best of all over three subflows (Mbit/s)",
        "Conclusion",
        "D-SACK, Uncoupled",
        lambda data, model: _best(data, model, "three"),
    ),
    Statement("None of the three recoveries is optimal", "Conclusion", "none optimal", _used),
)

NOTES = (
    "Columns. Paper: it has no table; what its text states of Figs. 8 and 9 and in its conclusion stands under “What "
    "the paper states in words”. " + COLUMNS,
    "The paper's RTT Compensation is what other papers on the same model call Coupled: min(alpha/w, 1/w_r) per "
    "acknowledgement, the controller rtt-compensator; its Linked Increases is alpha/w. Its figures' throughput is what "
    "the model prints, an estimate from window and round-trip time; tables here have what the application got, Figs. 8 "
    "and 9 have both.",
    "The paper does not state the size of the file, the queues, the variation of the delays, the segment size or the "
    "number of runs. The scenario file says what was chosen for each and why; “What hangs on what the paper does not "
    "state” changes them one at a time. As the program was shipped, links forget their configured delay and wander "
    "about 24.75 ms with a standard deviation of 3.3 ms, which 23 % of uniform variation stands for.",
    "Future work: the paper names three scenarios and gives no parameter of the last two. A model that has nothing but "
    "its own multipath connections has connections of one subflow in the place of TCP.",
    PAIRS,
)
