"""What is measured, by the study's own words: senders, networks, steps of displacement."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from anabranch.studies.base import Data
from anabranch.studies.models import RECOVERIES
from anabranch.sweeps.paired import Interval

JUDGES = {name: RECOVERIES[name] if name != "none" else "none" for name in ("none", "dsack", "eifel", "frto", "door")}


class Sender(NamedTuple):
    """A detector under a receiver; `axis` is its name in the sweeps, empty where it does not exist."""

    receiver: str
    detector: str
    axis: str


INDEPENDENT, COUPLED = "independent", "coupled"
SENDERS = (
    Sender(INDEPENDENT, "RFC 6675", "rfc6675"),
    Sender(INDEPENDENT, "RACK-TLP", "rack"),
    Sender(INDEPENDENT, "NCR, careful", "ncr"),
    Sender(INDEPENDENT, "NCR, aggressive", "ncr-aggressive"),
    Sender(INDEPENDENT, "reordering degree", "reordering-degree"),
    Sender(COUPLED, "NewReno", "coupled-newreno"),
    Sender(COUPLED, "reordering degree", "coupled-degree"),
    Sender(COUPLED, "RACK-TLP", ""),
    Sender(COUPLED, "NCR", ""),
)
"""The coupled receiver sends no SACK blocks, and RACK-TLP and NCR go by them."""
THERE = tuple(sender for sender in SENDERS if sender.axis)
TODAY = tuple(sender for sender in THERE if sender.receiver == INDEPENDENT)
LABELS = {sender.axis: sender.detector for sender in THERE}
ABSENT = "not used: needs SACK"
ABSENT_IN_CSV = "does not exist there"

NETWORKS = {
    "one": "One subflow over a link that reorders",
    "mixed": "Two subflows, one over a steady link and one over a link that reorders",
    "both": "Two subflows over links that reorder",
}
RATE = 10.0
"""Mbit/s of a link."""


def steps(data: Data, sweep: str, axis: str = "displacement") -> list[Any]:
    """The values of the axis, from none to most."""
    return [point.label for point in data.sweeps[sweep].plan.axes[axis]]


def number_of(step: Any) -> float:
    """A step as a number: round trips, or milliseconds.

    >>> number_of("0.25"), number_of("100 ms")
    (0.25, 100.0)
    """
    return float(str(step).split()[0])


def beyond(data: Data, least: float, sweep: str = "displacement") -> Any:
    """The first step above `least`."""
    return next(step for step in steps(data, sweep) if number_of(step) > least)


def at(data: Data, round_trips: float, sweep: str = "displacement") -> Any:
    """The step of so many round trips."""
    return next(step for step in steps(data, sweep) if number_of(step) == round_trips)


def goodput(data: Data, sweep: str, **cell: Any) -> Interval:
    """Mbit/s."""
    return data.mean(sweep, "goodput_mbps", **cell)


def needless(data: Data, sweep: str, **cell: Any) -> float:
    """Per cent of the segments that were sent again although an earlier copy got through: by the simulator's truth."""
    return 100 * data.mean(sweep, "spurious", **cell).mean / data.mean(sweep, "segments", **cell).mean


def memory(data: Data, sweep: str, **cell: Any) -> float:
    """Most that the receiver held at a time for what was missing before it, in kB."""
    return data.mean(sweep, "ooo_buffer_max_bytes", 1e-3, **cell).mean


def best(data: Data, sweep: str, judges: Sequence[str], **cell: Any) -> tuple[str, float]:
    """The judge with the highest goodput in a cell, and that."""
    found = {judge: goodput(data, sweep, judge=judge, **cell).mean for judge in judges}
    first = max(found, key=lambda judge: found[judge])
    return first, found[first]
