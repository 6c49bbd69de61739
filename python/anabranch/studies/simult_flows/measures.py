"""How long a transfer takes, beside how long it should."""

from typing import Any, NamedTuple

from anabranch.studies.base import Data, Entry, Table
from anabranch.studies.beside import frame_of
from anabranch.studies.words import number
from anabranch.sweeps.paired import Interval

SENDERS = {"modern": "modern, min-rtt", "linux": "Linux 6.1"}
DIRECTIONS = ("up", "down")
OCTETS = 16 * 2**20
HEADERS = 1.1
"""A tenth more than the octets at the sum of the rates: headers, handshake, slow start."""


class Case(NamedTuple):
    """A case, a direction and a sender."""

    case: str
    direction: str
    sender: str


def cases(data: Data) -> list[str]:
    """The cases by the words of the sweep."""
    return [str(point.label) for point in data.sweeps["cases"].plan.axes["case"]]


def every(data: Data) -> list[Case]:
    """All of them."""
    return [Case(case, way, sender) for sender in SENDERS for way in DIRECTIONS for case in cases(data)]


def expected(case: str) -> float:
    """Seconds.

    >>> round(expected("10 + 3 Mbit/s, 1 and 25 ms"), 3)
    11.357
    """
    first, _, second, *_ = case.split()
    return 8 * OCTETS * HEADERS / (1e6 * (float(first) + float(second)))


def taken(data: Data, one: Case) -> Interval:
    """Seconds from the first octet asked for to the last."""
    return data.mean("cases", "completion_s", case=one.case, direction=one.direction, sender=one.sender)


def ratio(data: Data, one: Case) -> float:
    """Time in parts of the expected one."""
    return taken(data, one).mean / expected(one.case)


def times(data: Data) -> Table:
    """Seconds, by case."""
    rows: list[list[str | Entry]] = []
    records: list[dict[str, Any]] = []
    for case in cases(data):
        shown: list[str | Entry] = [case, number(expected(case), 2)]
        for one in (one for one in every(data) if one.case == case):
            found = taken(data, one)
            shown.append(Entry.of(found, 2, remark=f"{100 * ratio(data, one):.0f} %"))
            records.append({**one._asdict(), "expected_s": expected(case), "completion_s": found.mean})
            records[-1] |= {"low": found.low, "high": found.high}
        rows.append(shown)
    return Table(
        "Seconds for 16 MiB",
        "Expected: the time of the octets at the sum of the rates, plus a tenth. Small numbers: the measured time "
        "divided by the expected time.",
        [("", 2), *((label, len(DIRECTIONS)) for label in SENDERS.values())],
        ["Rates and delays", "Expected", *DIRECTIONS * len(SENDERS)],
        rows,
        1,
        frame_of(records),
    )
