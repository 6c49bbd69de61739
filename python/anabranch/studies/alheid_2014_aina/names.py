"""What the paper's words are in a scenario, and its numbers."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from anabranch.studies import models
from anabranch.studies.models import CHANGES, MODELS, RECOVERIES

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CHANGES", "MODELS", "RECOVERIES"]

CONTROLLERS = {name: models.CONTROLLERS[name] for name in ("uncoupled", "fully-coupled", "rtt-compensator")}
CASES: dict[str, tuple[str, dict[str, str], float]] = {
    "equal-constant": (
        "10/10 ms, constant",
        {"path.0.delay_variation": "0 %", "path.1.delay_variation": "0 %"},
        1.0,
    ),
    "equal-fluctuating": ("10/10 ms, SF-0 fluctuates", {"path.1.delay_variation": "0 %"}, 0.5),
    "unlike-constant": (
        "10/200 ms, constant",
        {"path.1.delay": "200 ms", "path.0.delay_variation": "0 %", "path.1.delay_variation": "0 %"},
        0.5,
    ),
    "unlike-fluctuating": ("10/200 ms, both fluctuate", {"path.1.delay": "200 ms"}, 0.5),
}
"""Of Fig. 4: label, changes to the scenario, and the aggregate throughput the text states (Mbit/s)."""

DELAYS = tuple(f"{10 + difference} ms" for difference in (0, 50, 100, 200, 300, 400, 500))
TABLE_DELAY = "200 ms"
RATE = 0.5
"""Mbit/s of a link."""
OPTIMUM = 2 * RATE
PAYLOAD = 1400
PACKET = 1476
"""Octets of a full segment: 1400 of data, 20 IP, 20 TCP, 12 timestamps, 24 DSS (RFC 8684 3.3; DATA_ACK of 4, DSN of 8).
"""
LEGACY_PACKET = 1462
"""Of the 2011 model: 1400 of data, 40 TCP with its options, 20 IP, 2 PPP; 1482 with Eifel."""
CEILING = OPTIMUM * PAYLOAD / PACKET


@cache
def paper() -> "pd.DataFrame":
    """Tables I and II as printed, by controller and recovery."""
    import pandas as pd

    frame = pd.read_csv(Path(__file__).with_name("paper-tables.csv"), comment="#")
    frame["controller"] = frame["controller"].replace("coupled", "rtt-compensator")
    return frame.set_index(["controller", "recovery"])


def printed(controller: str, recovery: str, column: str) -> float:
    """One number of the paper's tables."""
    return float(paper()[column][controller, recovery])
