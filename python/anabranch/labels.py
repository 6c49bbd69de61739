"""What tables and figures call a subflow: ``path 1: 2 Mbit/s, 10 ms``."""

import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from anabranch import units

Labels: TypeAlias = dict[tuple[int, int], str]
"""By connection and subflow."""


def connections_of(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The connections of a summary; with one, the summary itself is its object."""
    connections: list[dict[str, Any]] = summary.get("connections") or [dict(summary)]
    return connections


def labels_of(scenario: Mapping[str, Any], summary: Mapping[str, Any]) -> Labels:
    """Labels of the subflows of a run of `scenario` (resolved; empty if unknown) that gave `summary`."""
    links = {link["name"]: link for link in scenario.get("links", [])}
    described = scenario.get("connections", [])
    connections = connections_of(summary)
    labels: Labels = {}
    for c, connection in enumerate(connections):
        routes = described[c].get("paths", []) if c < len(described) else []
        name = connection.get("name") or f"connection {c}"
        for s, subflow in enumerate(connection["subflows"]):
            path = subflow["path"]
            route = [links[link] for link in routes[path] if link in links] if path < len(routes) else []
            label = _path(path, route)
            if len(connections) > 1:
                label = f"{name}, {label}"
            again = sum(flow["path"] == path for flow in connection["subflows"][:s])
            labels[c, s] = f"{label}, again" if again == 1 else f"{label}, again ({again})" if again else label
    return labels


def _path(number: int, links: list[dict[str, Any]]) -> str:
    """Name, narrowest rate and sum of delays from client to server of the path `number`, which leads over `links`."""
    name = f"path {number}"
    if len(links) == 1:
        name = re.sub(r"^path(\d+)$", r"path \1", links[0]["name"])
    if not links:
        return name
    rate = min(link["up"]["rate_bps"] for link in links)
    delay = sum(link["up"]["delay_s"] for link in links)
    return f"{name}: {units.rate(rate)}, {units.time(delay)}"
