"""How a connection found its rate again after its paths changed, in words."""

from collections.abc import Mapping
from typing import Any

from anabranch.measures import units
from anabranch.sentences import run as say

_EACH = 4
"""Changes that are told one by one."""


def told(summary: Mapping[str, Any]) -> list[str]:
    """A sentence about the changes of its paths; none if there were none.

    >>> change = {"at_s": 10.0, "rate_before_mbps": 8.0, "rate_after_mbps": 4.0, "recovery_s": 0.96}
    >>> for part in told({"longest_gap_s": 9.0, "recovery_max_s": 0.96, "recoveries": [change]})[0].split("; "):
    ...     print(part)
    longest time without data 9 s
    path change at 10 s: goodput 4 Mbit/s after the change (8 Mbit/s before), settled within 960 ms
    """
    if "recovery_max_s" not in summary:
        return []
    gap, longest = summary["longest_gap_s"], summary["recovery_max_s"]
    parts = [] if gap is None else [say.LONGEST_GAP(time=units.time(gap))]
    changes = summary.get("recoveries", [])
    if 0 < len(changes) <= _EACH:
        parts += [say.CHANGE(time=units.time(change["at_s"]), what=_change(change)) for change in changes]
    elif longest is not None:
        parts.append(say.LONGEST_RECOVERY(time=units.time(longest)))
    return ["; ".join(parts)] if parts else []


def _change(change: Mapping[str, Any]) -> str:
    before, after = change["rate_before_mbps"], change["rate_after_mbps"]
    if after is None:
        return say.CHANGE_TOO_SHORT()
    if not after:
        return say.CHANGE_NOTHING()
    values = {"after": units.rate(after * 1e6)} | ({} if before is None else {"before": units.rate(before * 1e6)})
    within = change["recovery_s"]
    if within is None:
        return (say.CHANGE_UNSETTLED if before is None else say.CHANGE_UNSETTLED_FROM)(**values)
    if not within:
        return (say.CHANGE_AT_ONCE if before is None else say.CHANGE_AT_ONCE_FROM)(**values)
    return (say.CHANGE_SETTLED if before is None else say.CHANGE_SETTLED_FROM)(within=units.time(within), **values)
