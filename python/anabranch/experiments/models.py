"""What every study compares: the papers' words for algorithms, and three models beside the paper's own column."""

from typing import Any

CONTROLLERS = {
    "uncoupled": "Uncoupled",
    "fully-coupled": "Fully Coupled",
    "rtt-compensator": "Coupled",
    "linked-increases": "Linked Increases",
}
RECOVERIES = {"none": "NoPR", "dsack": "D-SACK", "eifel": "Eifel", "door": "TCP-DOOR", "frto": "F-RTO"}
MODELS = {"legacy": "Legacy model", "coupled": "Coupled receiver", "independent": "Independent receiver"}
"""Beside the paper: the model it measured; the algorithms by their own papers and RFCs, under both receivers."""

CHANGES: dict[str, dict[str, Any]] = {
    "legacy": {"stack": "legacy-2011"},
    "coupled": {"connection.acknowledgement": "coupled"},
    "independent": {"connection.acknowledgement": "independent"},
}
"""Of a scenario, for each model."""
