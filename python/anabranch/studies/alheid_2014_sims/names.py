"""What the paper's words are in a scenario, and its numbers."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anabranch.studies import models

if TYPE_CHECKING:
    import pandas as pd

CONTROLLERS = {name: models.CONTROLLERS[name] for name in ("uncoupled", "fully-coupled", "rtt-compensator")}
RATE = 6.0
"""Mbit/s of either link, that over the air without its overhead."""
TCP: dict[str, dict[str, Any]] = {"TCP, Wi-Fi": {"over": "wifi"}, "TCP, wired": {"over": "wired"}}
"""Plain TCP over each link, as the sweep names them."""

BPSK = "ten-mhz-bpsk"
CHOICES = {
    "as-chosen": "as chosen",
    BPSK: "10 MHz with BPSK 1/2, which is 3 Mbit/s",
    "ten-mhz-6": "10 MHz with 6 Mbit/s, which is QPSK 1/2",
    "infrastructure": "an access point: slots of 9 µs, beacons",
    "exponent-2": "path loss exponent 2.0",
    "exponent-3": "path loss exponent 3.0",
    "no-fading": "no fading",
    "rayleigh": "Rayleigh fading",
    "nist": "NIST's error model",
    "preamble": "preamble detection",
    "queue-of-today": "MAC queue of today's ns-3: 500 packets, 500 ms",
    "wired-first": "the first subflow is the wired one",
    "wired-queue-50": "wired queue of 50 packets",
    "wired-queue-1000": "wired queue of 1000 packets",
    "wired-5-percent": "wired delay varies by 5 %",
    "wired-as-shipped": "wired delay as the program was shipped: 24.75 ms",
}
"""What the sensitivity changes, one thing at a time."""


@cache
def paper() -> "pd.DataFrame":
    """Tables I to III as printed, by controller and recovery."""
    import pandas as pd

    frame = pd.read_csv(Path(__file__).with_name("paper-tables.csv"), comment="#")
    frame["controller"] = frame["controller"].replace("coupled", "rtt-compensator")
    return frame.set_index(["controller", "recovery"])


def printed(labels: Mapping[str, Any], column: str) -> float:
    """One number of the paper's tables."""
    return float(paper()[column][labels["controller"], labels["recovery"]])
