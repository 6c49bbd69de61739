"""Names of the columns that results of sweeps have beside their axes."""

from anabranch.measures.table import MEASURES

_OWN = [
    "seed",
    "status",
    "error",
    "samples",
    "key",
    "events_hash",
    "scenario_sha256",
    "engine",
    "machine",
    "summary",
    "series",
    "cell",
    "connection",
    "subflow",
]
_APART = ("limits", "title", "version")
"""Fields of the summary that are no columns."""

COLUMNS = frozenset(_OWN) | {
    name
    for name, measure in MEASURES.items()
    if measure.scopes != ("frame",)
    and measure.kind != "list"
    and not measure.capture.startswith("only")
    and name not in _APART
}
"""Of `Sweep.runs` and `Sweep.subflows`, whatever is run."""
