"""What tables and figures call a subflow: ``path 1: 2 Mbit/s, 10 ms``."""

import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from anabranch.measures import units

Labels: TypeAlias = dict[tuple[int, int], str]
"""By connection and subflow."""


def connections_of(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The connections of a summary; with one, the summary itself is its object."""
    connections: list[dict[str, Any]] = summary.get("connections") or [dict(summary)]
    return connections


def judge_key(connection: Mapping[str, Any]) -> str:
    """How a resolved connection names its judge: as its scenario does, ``judge`` or ``recovery``."""
    return "recovery" if "recovery" in connection else "judge"


def labels_of(scenario: Mapping[str, Any], summary: Mapping[str, Any]) -> Labels:
    """Labels of the subflows of a run of `scenario` (resolved; empty if unknown) that gave `summary`."""
    links = {link["name"]: link for link in scenario.get("links", [])}
    described = scenario.get("connections", [])
    connections = connections_of(summary)
    labels: Labels = {}
    for c, connection in enumerate(connections):
        routes = described[c].get("paths", []) if c < len(described) else []
        name = connection.get("name") or f"connection {c}"
        way = described[c]["transfer"].get("direction", "up") if c < len(described) else "up"
        way = "up" if way == "both" else way
        for s, subflow in enumerate(connection["subflows"]):
            path = subflow["path"]
            route = [links[link] for link in routes[path] if link in links] if path < len(routes) else []
            label = _path(path, route, way)
            if len(connections) > 1:
                label = f"{name}, {label}"
            again = sum(flow["path"] == path for flow in connection["subflows"][:s])
            labels[c, s] = f"{label}, again" if again == 1 else f"{label}, again ({again})" if again else label
    return labels


def _radio(link: dict[str, Any], way: str) -> str:
    """Standard, rate if it is fixed, and distance; then the wired hop behind, as far as it limits or delays."""
    wifi, wire = link["wifi"], link[way]
    rate = "" if wifi["rate_bps"] is None else f" {units.rate(wifi['rate_bps'])}"
    moves = wifi["velocity_m_per_s"] or wifi["waypoints"]
    parts = [f"{wifi['standard']}{rate}", f"{'from ' if moves else ''}{units.significant(wifi['distance_m'])} m"]
    if wifi["wired_hop"] and wire["rate_bps"] < wifi["peak_rate_bps"]:
        parts.append(units.rate(wire["rate_bps"]))
    if wifi["wired_hop"] and wire["delay_s"]:
        parts.append(units.time(wire["delay_s"]))
    return ", ".join(parts)


def _path(number: int, links: list[dict[str, Any]], way: str) -> str:
    """Name, narrowest rate and sum of delays, in the direction of the data, of the path `number`."""
    name = f"path {number}"
    if len(links) == 1:
        name = re.sub(r"^path(\d+)$", r"path \1", links[0]["name"])
    if not links:
        return name
    radio = next((link for link in links if link.get("wifi")), None)
    if radio is not None:
        return f"{name}: {_radio(radio, way)}"
    narrowest = min((link[way] for link in links), key=lambda side: side["rate_bps"])
    return f"{name}: {rate_of(narrowest)}, {units.time(sum(delay_of(link[way]) for link in links))}"


def rate_of(side: Mapping[str, Any]) -> str:
    """The rate of one direction of a link: ``2 Mbit/s``, ``trace of 2 Mbit/s``, ``satellite, about 150 Mbit/s``."""
    rate = units.rate(side["rate_bps"])
    if weather := side.get("weather"):
        return f"{'satellite' if weather['kind'] == 'leo' else 'cellular'}, about {rate}"
    return f"trace of {rate}" if side.get("trace") else rate


def delay_of(side: Mapping[str, Any]) -> float:
    """The least delay of one direction of a link, in s; over a satellite without what a slot adds."""
    weather = side.get("weather") or {}
    return float((side["delay_s"] or 0.0) + weather.get("rtt_s", 0.0) * weather.get("share", 0.0))
