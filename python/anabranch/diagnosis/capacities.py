"""The capacity of each path: several subflows of a connection may have shared one, at the same time or in turn."""

from collections.abc import Mapping, Sequence
from typing import Any

_LOW, _HIGH = "capacity_low_mbps", "capacity_high_mbps"
_TOGETHER = 1.1
"""Subflows that were up for more than so many times the longest of their times were up at the same time."""


def path_capacities(flows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the fields ``capacity_*`` of each path of `flows`, the subflows of a connection, in their order."""
    paths: dict[Any, list[Mapping[str, Any]]] = {}
    for number, flow in enumerate(flows):
        paths.setdefault(flow.get("path", (number,)), []).append(flow)
    return [one[0] if len(one) == 1 else _shared(one) for one in paths.values()]


def _shared(flows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the capacity of one path that several subflows used.

    If all of them have the same capacity, it is that of the path. Otherwise measured capacities add up if the subflows
    were up at the same time; if they were not, the highest is that of the path.
    """
    known = [flow for flow in flows if flow["capacity_mbps"]]
    exact = len(known) == len(flows) and len({flow[name] for flow in flows for name in (_LOW, _HIGH)}) == 1
    if exact or not _were_together(flows):
        key = "capacity_mbps" if known else "capacity_at_least_mbps"
        return max(known or flows, key=lambda flow: flow[key] or 0.0)
    least = sum(flow["capacity_mbps"] or flow["capacity_at_least_mbps"] or 0.0 for flow in flows)
    sums = {
        name: sum(flow[name] for flow in flows) if len(known) == len(flows) else None
        for name in ("capacity_mbps", _LOW, _HIGH)
    }
    return {**sums, "capacity_at_least_mbps": least or None, "capacity_given": False}


def _were_together(flows: Sequence[Mapping[str, Any]]) -> bool:
    times = [flow["measured_s"] or 0.0 for flow in flows]
    up = sum(time * (1 - (flow["causes"] or {}).get("not_up", 0.0)) for flow, time in zip(flows, times, strict=True))
    return bool(up > _TOGETHER * max(times))
