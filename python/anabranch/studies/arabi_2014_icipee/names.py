"""What the paper's words are in a scenario, and the few numbers of its text."""

from collections.abc import Mapping
from typing import Any

from anabranch.studies import models
from anabranch.studies.base import Data
from anabranch.sweeps.paired import Interval

CONTROLLERS = {
    name: models.CONTROLLERS[name] for name in ("uncoupled", "linked-increases", "rtt-compensator", "fully-coupled")
} | {"rtt-compensator": "RTT Compensation"}
RECOVERIES = {name: label for name, label in models.RECOVERIES.items() if name != "door"}
"""That the paper compares; its future work has TCP-DOOR, too."""

LINKS = {"two": "two subflows", "three": "three subflows"}
TWO: dict[str, Any] = {"connection.paths": '["SF-0", "SF-1"]', "path.1.delay": "100 ms"}
"""The first scenario, as changes to the second."""
RATES = {"two": 7.0, "three": 14.0}
"""Mbit/s of all links together."""
LONE = {"two": ("SF-0", "SF-1-100ms"), "three": ("SF-0", "SF-1", "SF-2")}
"""Links alone, as the sweep of plain TCP names them."""

FIGURES: dict[str, tuple[str, str]] = {"fig-8": ("two", "linked-increases"), "fig-9": ("three", "uncoupled")}
"""Links and controller."""
STATED = 10.0
"""Mbit/s, "about": three subflows, Uncoupled, D-SACK."""

RIVALS = {
    "shared": ("shared-bottleneck", "shared-single", ("other connection",)),
    "disjoint": ("disjoint-bottlenecks", "disjoint-single", ("other on SF-0", "on SF-1", "on SF-2")),
}
"""Of the future work: sweep, sweep of what one path alone would get, other connections."""


CHOICES = {
    "as-chosen": "as chosen: 10 MB, 1 %, 100 packets",
    "constant": "exactly constant delays",
    "five-percent": "delays vary by 5 %",
    "as-shipped": "delays as the program was shipped: 24.75 ms",
    "50-MB": "50 MB",
    "100-MB": "100 MB",
    "20-packets": "queues of 20 packets",
    "50-packets": "queues of 50 packets",
    "200-packets": "queues of 200 packets",
}
"""What the sensitivity changes, one thing at a time."""


def printed(labels: Mapping[str, Any], _column: str) -> float:
    """The paper's number of a cell; it has one."""
    cell = labels["links"], labels["controller"], labels["recovery"]
    return STATED if cell == ("three", "uncoupled", "dsack") else float("nan")


def goodput(data: Data, model: str, links: str, controller: str, recovery: str) -> Interval:
    """Mbit/s of a cell of the tables."""
    return data.mean("tables", "goodput_mbps", links=links, controller=controller, recovery=recovery, model=model)


def alone(data: Data, links: str) -> float:
    """Mbit/s of plain TCP over the best link of a scenario."""
    return max(data.mean("single-path", "goodput_mbps", over=link).mean for link in LONE[links])


def of_figure(figure: str, recovery: str, model: str) -> dict[str, Any]:
    """Changes to the scenario for one line of a figure."""
    links, controller = FIGURES[figure]
    base = TWO if links == "two" else {}
    return base | {"connection.controller": controller, "connection.recovery": recovery} | models.CHANGES[model]
