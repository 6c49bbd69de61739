"""How a connection found its rate again after its paths changed, in words."""

from collections.abc import Mapping
from typing import Any

from anabranch import units

_EACH = 4
"""Changes that are told one by one."""


def told(summary: Mapping[str, Any]) -> list[str]:
    """A sentence about the changes of its paths; none if there were none.

    >>> change = {"at_s": 10.0, "rate_before_mbps": 8.0, "rate_after_mbps": 4.0, "recovery_s": 0.96}
    >>> told({"longest_gap_s": 0.9, "recovery_max_s": 0.96, "recoveries": [change]})
    ['longest time without data 900 ms; after the change at 10 s: 4 Mbit/s (8 before) within 960 ms']
    """
    if "recovery_max_s" not in summary:
        return []
    gap, longest = summary["longest_gap_s"], summary["recovery_max_s"]
    parts = [] if gap is None else [f"longest time without data {units.time(gap)}"]
    changes = summary.get("recoveries", [])
    if 0 < len(changes) <= _EACH:
        parts += [f"after the change at {units.time(change['at_s'])}: {_change(change)}" for change in changes]
    elif longest is not None:
        parts.append(f"longest recovery after a change {units.time(longest)}")
    return ["; ".join(parts)] if parts else []


def _change(change: Mapping[str, Any]) -> str:
    before, after = change["rate_before_mbps"], change["rate_after_mbps"]
    if after is None:
        return "too short to tell"
    if not after:
        return "nothing more"
    earlier = "" if before is None else f" ({units.significant(before)} before)"
    within = change["recovery_s"]
    settled = "not settled" if within is None else f"within {units.time(within)}"
    return f"{units.rate(after * 1e6)}{earlier} {settled}"
