"""What the paper's words are in a scenario, and its numbers."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anabranch.studies import models

if TYPE_CHECKING:
    import pandas as pd

CONTROLLERS = {name: models.CONTROLLERS[name] for name in ("uncoupled", "rtt-compensator", "fully-coupled")}
"""In the order of the paper's figures."""
CASES = {"1": "11g 54 + 11g 54", "2": "11b 2 + 11b 2", "3": "11g 54 + 11b 2", "4": "11g 6 + 11b 2"}
"""The paper's scenarios; rates in Mbit/s."""
RADIOS = {
    "1": ("11g-54", "11g-54"),
    "2": ("11b-2", "11b-2"),
    "3": ("11g-54", "11b-2"),
    "4": ("11g-6", "11b-2"),
}
"""Of each scenario, as the sweep of plain TCP names them."""
NEAR = "10"
"""Metres: of Tables III and IV."""

CHOICES = {
    "as-chosen": "as chosen",
    "short-slot": "slots of 9 µs, beacons",
    "exponent-2": "path loss exponent 2.0",
    "exponent-3": "path loss exponent 3.0",
    "no-fading": "no fading",
    "rayleigh": "Rayleigh fading",
    "nist": "NIST's error model",
    "queue-of-today": "MAC queue of today's ns-3: 500 packets, 500 ms",
    "backbone-1000": "backbone queues of 1000 packets",
}
"""What the sensitivity changes, one thing at a time."""


def tcp(case: str) -> dict[str, dict[str, Any]]:
    """Plain TCP over each path of a scenario, as figures name it and as the sweep does."""
    return {f"TCP {radio.replace('-', ' ')}": {"over": radio} for radio in RADIOS[case]}


@cache
def paper() -> "pd.DataFrame":
    """Tables III and IV as printed, by scenario, controller and recovery."""
    import pandas as pd

    frame = pd.read_csv(Path(__file__).with_name("paper-tables.csv"), comment="#")
    frame["controller"] = frame["controller"].replace("coupled", "rtt-compensator")
    frame["scenario"] = frame["scenario"].astype(str)
    return frame.set_index(["scenario", "controller", "recovery"])


def printed(labels: Mapping[str, Any], column: str) -> float:
    """One number of the paper's tables; it prints no throughput."""
    frame = paper()
    key = labels["case"], labels["controller"], labels["recovery"]
    return float(frame[column][key]) if column in frame.columns else float("nan")
