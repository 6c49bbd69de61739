"""Why was it not faster? What the sender of the data waited for, in words."""

from collections.abc import Mapping, Sequence
from typing import Any

from anabranch.measures import units
from anabranch.measures.causes import CAUSES
from anabranch.measures.labels import connections_of
from anabranch.sentences import run as say

_SHOWN = 0.005
"""Smaller shares are left out of the one line."""


def limits(summary: Mapping[str, Any]) -> str:
    """What limited a connection, or several on average, in one line; empty if that was not measured.

    >>> limits({"limits": {"cwnd": 0.91, "application": 0.002, "head_of_line": 0.088}})
    'limited by: congestion window 91 %, head-of-line blocking 8.8 %'
    """
    connections = connections_of(summary)
    shares = _mean(connections)
    shown = [(name, share) for name, share in shares if share >= _SHOWN] or shares[:1]
    if not shown:
        return ""
    told = ", ".join(_share(name, share) for name, share in shown)
    if len(connections) > 1:
        known = sum(bool(connection.get("limits")) for connection in connections)
        return say.LIMITED_MEAN(connections=known, shares=told)
    return say.LIMITED(shares=told)


def notices(summary: Mapping[str, Any]) -> list[str]:
    """What `fast_open` and `mtu` did, a sentence each; none where the scenario has neither.

    >>> notices({"fast_open_bytes": 1000, "subflows": [{"mtu_drops": 10}, {"mtu_drops": 0}]})
    ['1 kB arrived with the SYN', '10 packets were too long for a link (`mtu`)']
    """
    lines = []
    opened = [c["fast_open_bytes"] for c in connections_of(summary) if "fast_open_bytes" in c]
    if len(opened) > 1:
        lines.append(say.FAST_OPEN_OF(count=sum(map(bool, opened)), connections=len(opened)))
    elif opened:
        lines.append(say.FAST_OPEN(amount=units.octets(opened[0])) if opened[0] else say.FAST_OPEN_NOTHING())
    dropped = sum(subflow.get("mtu_drops", 0) for subflow in summary.get("subflows", ()))
    if dropped:
        lines.append(say.MTU(count=dropped))
    return lines


def largest_limit(connection: Mapping[str, Any]) -> str:
    """What a connection waited for most of the time.

    >>> largest_limit({"limits": {"cwnd": 0.91, "application": 0.09}}), largest_limit({})
    ('congestion window 91 %', '-')
    """
    shares = _shares(connection)
    return _share(*shares[0]) if shares else "-"


def _share(name: str, share: float) -> str:
    return say.LIMIT(cause=CAUSES[name].name if name in CAUSES else name, share=units.percent(share))


def _shares(connection: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Largest first."""
    found = connection.get("limits") or {}
    return sorted(((name, float(share)) for name, share in found.items()), key=lambda pair: -pair[1])


def _mean(connections: Sequence[Mapping[str, Any]]) -> list[tuple[str, float]]:
    """Means over the connections of which it is known, largest first."""
    known = [dict(shares) for shares in map(_shares, connections) if shares]
    names = dict.fromkeys(name for shares in known for name in shares)
    means = {name: sum(shares.get(name, 0.0) for shares in known) / len(known) for name in names}
    return sorted(means.items(), key=lambda pair: -pair[1])
