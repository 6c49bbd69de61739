"""Scenarios and types that tests share."""

from collections.abc import Callable
from dataclasses import dataclass

TWO_PATHS = """
title = "two paths"
[transfer]
bytes = "2 MB"
[[path]]
rate = "5 Mbit/s"
delay = "100 ms"
[[path]]
rate = "2 Mbit/s"
delay = "10 ms"
"""

SEVERAL = """
[[path]]
rate = "5 Mbit/s"
[[path]]
rate = "2 Mbit/s"
[[connection]]
name = "both"
transfer = { bytes = "1 MB" }
[[connection]]
name = "rival"
protocol = "tcp"
paths = ["path1"]
transfer = { bytes = "500 kB" }
"""


@dataclass(frozen=True)
class Outcome:
    """What a command did."""

    status: int
    out: str
    err: str


Command = Callable[..., Outcome]
