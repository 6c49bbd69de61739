"""The sentences of the report: each number in them is computed from the runs."""

import itertools
import math
from typing import TYPE_CHECKING, Any

from anabranch.experiments.base import Data
from anabranch.experiments.beside import Statement
from anabranch.experiments.ict2016.names import CASES, CHOICES, CONTROLLERS, NEAR, RADIOS, printed, tcp
from anabranch.experiments.models import COLUMNS, MODELS, PAIRS, RECOVERIES
from anabranch.experiments.wireless import SWEEP, alone, averaged, best_alone, distances, goodput
from anabranch.experiments.words import listed, of, span

if TYPE_CHECKING:
    from collections.abc import Callable

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
            f"{label}: {rates[2]} under a standard receiver, {rates[1]} under the papers', {rates[0]} in the model "
            f"that the paper measured, with plain TCP at {listed([f'{rate:.1f}' for rate in single])}"
        )
    short = (
        " In 8 s; the seconds of data that still wait then for the slower path are not counted, so 50 s give more."
        if data.quick
        else ""
    )
    return (
        "Mbit/s over two wireless paths at 10 m, without any reordering recovery, all controllers. "
        f"{'; '.join(parts)}.{short} A receiver that acknowledges each subflow independently of the data order (RFC "
        "8684) uses both paths, like or unlike. Where a gap in the data order freezes a subflow's acknowledgement, one "
        "path is lost, and it may be the faster one."
    )


def findings(data: Data) -> list[str]:
    """What else the numbers say."""
    said = [_reproduction(data), _throughput(data), _advice(data), _coupled(data), _independent(data), _distance(data)]
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
            f"{label.lower()} {sum(ratios) / len(ratios):.1f} points of out-of-order ratio, and half of the buffers "
            f"within a factor of {factor:.1f}"
        )
    cells = (("none", "uncoupled"), ("dsack", "uncoupled"), ("door", "rtt-compensator"), ("frto", "uncoupled"))
    some = [
        f"{RECOVERIES[r]} with {CONTROLLERS[c]} {_measure(data, 'ooo_ratio', 100, 'legacy', '1', c, r):.1f} % "
        f"({printed({'case': '1', 'controller': c, 'recovery': r}, 'ooo_ratio_pct'):.1f})"
        for r, c in cells
    ]
    return (
        f"Mean distance from the paper's Table III, and from its Table IV, over {len(buffers)} cells: "
        f"{'; '.join(parts)}. Out-of-order ratios of scenario 1 in the legacy model (paper): {'; '.join(some)}."
    )


def _throughput(data: Data) -> str:
    single = alone(data, int(NEAR), over="11g-54")
    door, none = (_near(data, "legacy", "1", "uncoupled", name) for name in ("door", "none"))
    dsack = max(_near(data, "legacy", "3", c, "dsack") for c in CONTROLLERS)
    slow = max(_near(data, "legacy", "3", c, "none") for c in CONTROLLERS)
    return (
        "Throughput, which the paper has in its text only, in the legacy model at 10 m: scenario 1 with TCP-DOOR and "
        f"Uncoupled {door:.1f} Mbit/s (up to 25), {100 * (door / none - 1):.0f} % above none (66 %) with "
        f"{none:.1f}; scenario 3 with D-SACK {dsack:.1f} at most (up to 15), with none {slow:.1f} (not above 2): of "
        f"two unlike paths the slower one survives. Plain TCP over 54 Mbit/s gets {single:.1f} (at most 15; the engine "
        "delays acknowledgements, and with one for each packet it gets 15.8)."
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
            f"{case}: {RECOVERIES[name]} ({100 * gain:+.0f} %)" if gain > _WORTH else f"{case}: none needed"
            for case, (name, gain) in found.items()
        ]
        parts.append(f"{label.lower()} {', '.join(said)}")
    return (
        "The paper advises TCP-DOOR for like paths (scenarios 1 and 2) and D-SACK for unlike ones (3 and 4). Best "
        f"recovery over all controllers and distances, with its gain over none: {'; '.join(parts)}."
    )


def _coupled(data: Data) -> str:
    parts = []
    for name, label in _OTHERS.items():
        gains = [_gain(data, "coupled", case, c, name) for case, c in itertools.product(CASES, CONTROLLERS)]
        better, worse = (sum(sign * gain > _WORTH for gain in gains) for sign in (1, -1))
        parts.append(f"{label} helps in {of(better, len(gains))} cells and harms in {worse}")
    shares = [
        max(_near(data, "coupled", case, c, r) for c in CONTROLLERS for r in RECOVERIES)
        / sum(alone(data, int(NEAR), over=radio) for radio in RADIOS[case])
        for case in CASES
    ]
    return (
        "Under the papers' receiver, but with each algorithm as its own paper or RFC defines it, at 10 m: "
        f"{'; '.join(parts)}; less than {100 * _WORTH:.0f} % either way counts as nothing. The best combination gets "
        f"{span([100 * share for share in shares], '{:.0f} %')} of what plain TCP gets over both paths one by one, "
        "depending on the scenario."
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
    return (
        f"Under a standard receiver none of them is needed: at 10 m {span(everything, '{:.0f} %')} of what plain TCP "
        "gets over both paths one by one, all scenarios and controllers, without recovery; a recovery changes that by "
        f"{span([100 * gain for gain in gains], '{:+.1f} %')}. What it costs is memory: up to "
        f"{max(_buffers(data)):.0f} packets wait for those on the slower path."
    )


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
    ends = f" and gets less than 1 Mbit/s from {none} m on" if none else ""
    parts = []
    for model, label in MODELS.items():
        worse = sum(
            goodput(data, metres, model=model, case=case, controller=c, recovery="none").mean
            < (1 - _WORTH) * best_alone(data, metres, list(tcp(case).values()))
            for case, c, metres in itertools.product(CASES, CONTROLLERS, at)
        )
        parts.append(f"{label.lower()} in {of(worse, len(CASES) * len(CONTROLLERS) * len(at))}")
    return (
        f"Over distance. Plain TCP over 54 Mbit/s falls below half of its rate at {half} m{ends} (paper: worse beyond "
        "70 m, less than 1 Mbit/s beyond 80 m). Cells, of all scenarios, controllers and distances, in which two paths "
        f"without recovery are slower than plain TCP over the better one: {'; '.join(parts)}. {_worst(data)}"
    )


def _worst(data: Data) -> str:
    """The cell in which the independent receiver loses most against plain TCP over the better path."""
    found = []
    for case, controller, metres in itertools.product(CASES, CONTROLLERS, distances(data)):
        best = best_alone(data, metres, list(tcp(case).values()))
        rate = goodput(data, metres, model="independent", case=case, controller=controller, recovery="none").mean
        if best > _ALIVE:
            found.append((rate / best, rate, best, case, controller, metres))
    _, rate, best, case, controller, metres = min(found)
    return (
        f"Under the independent receiver the worst is scenario {case} with {CONTROLLERS[controller]} at {metres} m: "
        f"{rate:.2f} Mbit/s against {best:.2f}."
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
        spreads.append(f"{label.lower()} {span(rates, '{:.1f}')}")
    far = [rate("independent", "1", "none", choice, "far") for choice in ("exponent-2", "as-chosen", "exponent-3")]
    return (
        "What hangs on what the paper leaves open (Coupled). That TCP-DOOR is best in scenario 1 and D-SACK in "
        f"scenario 3 at 10 m holds in the legacy model under {of(len(stated), len(CHOICES))} choices. Without recovery "
        f"scenario 1 gets, over all choices: {'; '.join(spreads)} Mbit/s. "
        "At 50 m the exponent of the path loss decides: the "
        f"independent receiver gets {listed([f'{value:.1f}' for value in far])} Mbit/s there "
        "with 2.0, 2.5 and 3.0 (scenario 1)."
    )


def _rates(case: str, recovery: str, form: str = "{:.1f}") -> "Callable[[Data, str], str]":
    return lambda data, model: span([_near(data, model, case, c, recovery) for c in CONTROLLERS], form)


def _gains(case: str, recoveries: tuple[str, ...], *controllers: str) -> "Callable[[Data, str], str]":
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
    return f"at most {max(found):.2f}"


def _memory(data: Data, model: str) -> str:
    """The recovery with the smallest buffer in most cells."""
    least = []
    for case, c in itertools.product(CASES, CONTROLLERS):
        sizes: dict[str, Any] = {r: _measure(data, "ooo_buffer_max_packets", 1, model, case, c, r) for r in _OTHERS}
        best = min(sizes.values())
        least += [name for name, size in sizes.items() if size <= best]
    counts = {name: least.count(name) for name in _OTHERS}
    name = max(counts, key=lambda recovery: counts[recovery])
    return f"{RECOVERIES[name]}, {counts[name]} of {len(CASES) * len(CONTROLLERS)} cells"


STATEMENTS = (
    Statement("Scenario 1, TCP-DOOR (Mbit/s)", "IV.A", "up to 25", _rates("1", "door")),
    Statement("Scenario 1, TCP-DOOR over none", "IV.A", "+66 %", _gains("1", ("door",))),
    Statement(
        "Scenario 1, D-SACK over none, not Fully Coupled",
        "IV.A",
        "+33 %",
        _gains("1", ("dsack",), "uncoupled", "rtt-compensator"),
    ),
    Statement(
        "Scenario 2, TCP-DOOR, D-SACK and F-RTO over none, Uncoupled",
        "IV.A",
        "up to +42 %",
        _gains("2", ("door", "dsack", "frto"), "uncoupled"),
    ),
    Statement("Scenario 2, Eifel over none", "IV.A", "not noticeable", _gains("2", ("eifel",))),
    Statement("Scenario 3, D-SACK (Mbit/s)", "IV.B", "up to 15", _rates("3", "dsack")),
    Statement("Scenario 3, none (Mbit/s)", "IV.B", "not above 2", _rates("3", "none")),
    Statement("Scenario 3, Eifel (Mbit/s)", "IV.B", "not above 2", _rates("3", "eifel")),
    Statement("Scenario 4, D-SACK (Mbit/s)", "IV.B", "4 to 5", _rates("4", "dsack")),
    Statement("Scenario 4, F-RTO (Mbit/s)", "IV.B", "4 to 5", _rates("4", "frto")),
    Statement("Scenario 4, none (Mbit/s)", "IV.B", "less than 2", _rates("4", "none")),
    Statement("Scenario 4, Eifel (Mbit/s)", "IV.B", "4, up to 40 m", _rates("4", "eifel")),
    Statement("Scenario 1 beyond 80 m (Mbit/s)", "V", "less than 1", _beyond),
    Statement("Smallest reordering buffer", "VI", "D-SACK", _memory),
)

NOTES = (
    "Columns. Paper: Tables III and IV as printed, statements of the text at 10 m unless they say otherwise; its "
    "figures have no numbers. " + COLUMNS,
    "The paper's Coupled is taken to be that of the authors' other papers, the controller rtt-compensator; Fully "
    "Coupled likewise.",
    "The legacy model over a wireless link: its subflow crosses the same simulated 802.11 as the engine's. It repeats "
    "no handshake; one that is lost in spite of the MAC's seven transmissions ends that subflow.",
    "The paper does not state the path loss exponent, the shape of the fading, slots, queues, the transmit power or "
    "the number of runs. scenario.toml says what was chosen for each and why; “What hangs on what the paper does not "
    "state” changes them one at a time.",
    "The paper's KB are 1024 octets, in whole packets of 1400, other than in its authors' earlier paper. All transfers "
    "take 50 s, as in the paper, from the first SYN on; those of the sensitivity 20 s, of the quick form 8 s.",
    PAIRS,
)
