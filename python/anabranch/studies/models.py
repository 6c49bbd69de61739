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
