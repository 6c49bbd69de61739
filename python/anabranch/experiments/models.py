"""What every study compares: the papers' words for algorithms, and three models beside the paper's own column."""

import json
from typing import Any

from anabranch import _core

LABELS: dict[str, dict[str, str]] = {
    kind: {entry["name"]: entry["label"] for entry in entries if "label" in entry}
    for kind, entries in json.loads(_core.registry()).items()
}
"""Labels of algorithms by kind and name, as the registry has them."""

CONTROLLERS = {
    name: LABELS["controller"][name] for name in ("uncoupled", "fully-coupled", "rtt-compensator", "linked-increases")
} | {"rtt-compensator": "Coupled"}
RECOVERIES = {name: LABELS["judge"][name] for name in ("none", "dsack", "eifel", "door", "frto")} | {"none": "NoPR"}
MODELS = {"legacy": "Legacy model", "coupled": "Coupled receiver", "independent": "Independent receiver"}
"""Beside the paper: the model it measured; the algorithms by their own papers and RFCs, under both receivers."""

CHANGES: dict[str, dict[str, Any]] = {
    "legacy": {"stack": "legacy-2011"},
    "coupled": {"connection.acknowledgement": "coupled"},
    "independent": {"connection.acknowledgement": "independent"},
}
"""Of a scenario, for each model."""

COLUMNS = (
    "Legacy model: the ns-3 model of 2011 that the paper measured, re-implemented from a description of its behaviour; "
    "its recoveries as they were in fact coded there. Coupled receiver: Anabranch's engine with each algorithm as its "
    "own paper or RFC defines it, and the one rule of the papers' model that a segment is acknowledged on its subflow "
    "only when it is next in the data stream, too. Independent receiver: the same without that rule, as RFC 8684 has "
    "it."
)
"""What the columns are, for the notes of a report."""
PAIRS = (
    "Common random numbers: a seed gives the same draws to all algorithms of a column, so that differences are taken "
    "in pairs. 95 % intervals are Student's t over the seeds."
)
"""How runs are compared, for the notes of a report."""
