"""Goodput, needless retransmissions and memory, by detector, judge and how much a link displaces or delays."""

from collections.abc import Sequence
from typing import Any

from anabranch.studies.base import Data, Entry, Table
from anabranch.studies.beside import frame_of
from anabranch.studies.reordering_today.measures import (
    ABSENT,
    ABSENT_IN_CSV,
    JUDGES,
    NETWORKS,
    SENDERS,
    Sender,
    goodput,
    memory,
    needless,
    number_of,
    steps,
)
from anabranch.studies.words import NONE, number

_MEASURED = (
    "Goodput in Mbit/s; share of the sent segments that were spurious retransmissions (as the simulator knows); "
    "largest amount of data that the receiver held while earlier data was missing. The CSV has all displacements and "
    "the intervals."
)
_FEW = 3
"""Steps shown of the second and third measure."""


def alone(data: Data) -> Table:
    """What detectors do without a judge: one subflow."""
    at = steps(data, "displacement")
    rows: list[list[str | Entry]] = []
    records: list[dict[str, Any]] = []
    for sender in SENDERS:
        cells = [
            {"network": "one", "judge": "none", "sender": sender.axis, "displacement": step}
            for step in at
            if sender.axis
        ]
        found = [goodput(data, "displacement", **cell) for cell in cells]
        shown: list[str | Entry] = [Entry.of(one, 2) for one in found]
        rows.append([sender.receiver, sender.detector, *(shown or [ABSENT, *[NONE] * (len(at) - 1)])])
        for step, one in zip(at, found, strict=False):
            records.append({"receiver": sender.receiver, "detector": sender.detector, "displacement": step})
            records[-1] |= {"goodput_mbps": one.mean, "low": one.low, "high": one.high}
    return Table(
        "Detectors alone",
        "Goodput in Mbit/s of one subflow over a link of 10 Mbit/s, without a judge, by displacement in round trips.",
        [("", 2), ("Displacement (round trips)", len(at))],
        ["Receiver", "Detector", *map(str, at)],
        rows,
        2,
        frame_of(records),
    )


def displaced(data: Data, network: str) -> Table:
    """Everything over links that reorder."""
    return _crossed(data, "displacement", "displacement", "round trips", NETWORKS[network], {"network": network})


def unlike(data: Data) -> Table:
    """Everything over two steady links of unlike delay."""
    title = "Two subflows over steady links with different delays"
    return _crossed(data, "unlike", "displacement", "round trips", title, {})


def stalls(data: Data, network: str) -> Table:
    """Everything over a link that stalls."""
    beside = " beside a steady one" if network == "mixed" else ""
    title = f"Delay spikes: a link that stalls{beside}"
    return _crossed(data, "spikes", "stall", "stall", title, {"network": network})


def _crossed(data: Data, sweep: str, axis: str, unit: str, title: str, cell: dict[str, Any]) -> Table:
    every = steps(data, sweep, axis)
    few = _few(every)
    rows: list[list[str | Entry]] = []
    records: list[dict[str, Any]] = []
    for sender in SENDERS:
        if not sender.axis:
            rows.append([sender.receiver, sender.detector, ABSENT, *[NONE] * (len(every) + 2 * len(few))])
            records.append(
                {"receiver": sender.receiver, "detector": sender.detector, "judge": ABSENT_IN_CSV, "exists": False}
            )
            continue
        for judge, label in JUDGES.items():
            made = {step: _measured(data, sweep, sender, judge, {**cell, axis: step}) for step in every}
            labels = {**cell, "sender": sender.axis, "judge": judge}
            rates = (goodput(data, sweep, **{**labels, axis: step}) for step in every)
            shown: list[str | Entry] = [Entry.of(rate, 2, remark="") for rate in rates]
            shown += [number(made[step]["needless_percent"], 2) for step in few]
            shown += [number(made[step]["memory_kb"], 0) for step in few]
            rows.append([sender.receiver, sender.detector, label, *shown])
            records += [{**found, axis: step} for step, found in made.items()]
    return Table(
        title,
        f"By {unit}. {_MEASURED}",
        [("", 3), ("Goodput", len(every)), ("Needless (%)", len(few)), ("Held (kB)", len(few))],
        ["Receiver", "Detector", "Judge", *map(str, (*every, *few, *few))],
        rows,
        3,
        frame_of(records),
    )


def _measured(data: Data, sweep: str, sender: Sender, judge: str, cell: dict[str, Any]) -> dict[str, Any]:
    labels = {**cell, "sender": sender.axis, "judge": judge}
    rate = goodput(data, sweep, **labels)
    return {
        "receiver": sender.receiver,
        "detector": sender.detector,
        "judge": judge,
        "exists": True,
        "goodput_mbps": rate.mean,
        "goodput_low": rate.low,
        "goodput_high": rate.high,
        "needless_percent": needless(data, sweep, **labels),
        "memory_kb": memory(data, sweep, **labels),
    }


def _few(every: Sequence[Any]) -> list[Any]:
    """Three of those that are not zero: the first but one, if there are many, one in the middle, the last."""
    some = [step for step in every if number_of(step) > 0]
    return [some[len(some) // 4], some[len(some) // 2], some[-1]] if len(some) > _FEW else some
