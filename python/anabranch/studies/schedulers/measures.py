"""What is measured: kinds of traffic, each with one measure, and how schedulers compare by it."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from anabranch.measures.table import MEASURES
from anabranch.studies.base import Data
from anabranch.sweeps.paired import Interval, interval

FIRST = "min-rtt"
"""What all others are compared with."""
NEAR = 0.01
"""Schedulers whose means differ by less share a place."""


class Traffic(NamedTuple):
    """A kind of traffic: what it is called, the column it is judged by, unit, and whether more is better."""

    title: str
    measure: str
    unit: str
    scale: float
    decimals: int
    more: bool

    @property
    def quantity(self) -> str:
        """What is compared."""
        return MEASURES[self.measure].words


TRAFFIC = {
    "bulk": Traffic("bulk, 16 MiB of buffer", "goodput_mbps", "Mbit/s", 1.0, 2, True),
    "bulk-512k": Traffic("bulk, 512 KiB of buffer", "goodput_mbps", "Mbit/s", 1.0, 2, True),
    "web": Traffic("web page of 1 MiB", "page_load_s", "s", 1.0, 2, False),
    "messages": Traffic("1 Mbit/s in messages", "message_latency_p99_ms", "ms", 1.0, 0, False),
    "video": Traffic("adaptive video", "bitrate_mean_mbps", "Mbit/s", 1.0, 2, True),
}
NETWORKS = {
    "wlan": "WLAN 25 Mbit/s, 25 ms, 1 % of loss, and 3G 5 Mbit/s, 65 ms",
    "lte": "LTE 8.6 Mbit/s and Wi-Fi 0.3 Mbit/s, 30 ms each",
}
SHORT = {"wlan": "WLAN and 3G", "lte": "LTE and Wi-Fi"}


def labels(data: Data, sweep: str, axis: str) -> list[Any]:
    """The values of an axis of a sweep."""
    return [point.label for point in data.sweeps[sweep].plan.axes[axis]]


def value(data: Data, sweep: str, traffic: Traffic, **cell: Any) -> Interval:
    """Mean of what `traffic` is judged by in a cell."""
    return data.mean(sweep, traffic.measure, traffic.scale, **cell)


def ratio(data: Data, sweep: str, measure: str, **cell: Any) -> Interval:
    """By how much a scheduler has more than `FIRST`, as a share: of runs with the same seed, so that luck is common."""
    first = {**cell, "scheduler": FIRST}
    own, base = data.by_seed(sweep, measure, **cell), data.by_seed(sweep, measure, **first)
    same = data.identical(sweep, **cell) and data.identical(sweep, **first)
    return interval([own[seed] / base[seed] - 1 for seed in own if base.get(seed)], identical=same)


def leaders(data: Data, sweep: str, traffic: Traffic, schedulers: Sequence[str], **cell: Any) -> list[str]:
    """Those that nobody beats by more than `NEAR`, the best first."""
    means = {name: value(data, sweep, traffic, scheduler=name, **cell).mean for name in schedulers}
    known = {name: mean for name, mean in means.items() if not math.isnan(mean)}
    best = (max if traffic.more else min)(known.values())
    order = sorted(known, key=lambda name: -known[name] if traffic.more else known[name])
    return [name for name in order if abs(known[name] - best) <= NEAR * abs(best)]


class Turn(NamedTuple):
    """Who leads as the queue grows: one list for each length of it."""

    network: str
    traffic: str
    controller: str
    queues: list[Any]
    leaders: list[list[str]]
    equal: bool
    """Whether all schedulers share the first place at each length."""

    @property
    def turns(self) -> bool:
        """Whether none of those that lead with the shortest queue leads with the longest."""
        return not set(self.leaders[0]) & set(self.leaders[-1])


def turns(data: Data) -> list[Turn]:
    """One for each network, traffic and controller."""
    found = []
    for network in NETWORKS:
        schedulers = labels(data, network, "scheduler")
        queues = labels(data, network, "queue")
        for name, traffic in TRAFFIC.items():
            for controller in labels(data, network, "controller"):
                cell = {"application": name, "controller": controller}
                first = [leaders(data, network, traffic, schedulers, queue=queue, **cell) for queue in queues]
                equal = all(len(one) == len(schedulers) for one in first)
                found.append(Turn(network, name, controller, queues, first, equal))
    return found
