"""Goodput by receive buffer and sender."""

from typing import Any

from anabranch.studies.base import Data, Entry, Table
from anabranch.studies.beside import frame_of
from anabranch.sweeps.paired import Interval

TCP, CELLULAR = "wifi", "cellular"
MULTIPATH = {
    "neither": "neither",
    "retransmission": "retransmission alone",
    "penalisation": "penalisation alone",
    "both": "both",
}
SENDERS = {TCP: "TCP over Wi-Fi", CELLULAR: "TCP over 3G", **MULTIPATH}
BAR = 0.95
"""What Multipath TCP has to reach of TCP over the better path."""


def sizes(data: Data) -> list[Any]:
    """The receive buffers in kB."""
    return [point.label for point in data.sweeps["buffers"].plan.axes["buffer"]]


def goodput(data: Data, sender: str, size: Any) -> Interval:
    """Mbit/s."""
    return data.mean("buffers", "goodput_mbps", sender=sender, buffer=size)


def share(data: Data, sender: str, size: Any) -> float:
    """Goodput in parts of that of TCP over the better path."""
    return goodput(data, sender, size).mean / goodput(data, TCP, size).mean


def goodputs(data: Data) -> Table:
    """All of it."""
    rows: list[list[str | Entry]] = []
    records: list[dict[str, Any]] = []
    for sender, label in SENDERS.items():
        found = {size: goodput(data, sender, size) for size in sizes(data)}
        rows.append([label, *(Entry.of(one, 2, remark="") for one in found.values())])
        records += [
            {"sender": sender, "buffer_kb": size, "goodput_mbps": one.mean, "low": one.low, "high": one.high}
            for size, one in found.items()
        ]
    return Table(
        "Goodput over the receive buffer",
        "Goodput in Mbit/s, by receive buffer in kB. Wi-Fi: 8 Mbit/s and 20 ms; 3G: 2 Mbit/s and 150 ms.",
        [("", 1), ("Receive buffer (kB)", len(sizes(data)))],
        ["Sender", *map(str, sizes(data))],
        rows,
        1,
        frame_of(records),
    )
