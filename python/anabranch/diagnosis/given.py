"""What the user knows of a path from elsewhere, such as a speed test: its capacity, which then counts as exact."""

import json
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from anabranch.measures import units
from anabranch.measures.labels import connections_of
from anabranch.results.directory import ResultError
from anabranch.scenario import Scenario, ScenarioError
from anabranch.sentences import diagnose as say

Given = Mapping["int | str", str]
"""Capacities: by the number of a path in the tables, or by the client's address; such as ``{0: "80 Mbit/s"}``."""

_ONE = 'transfer.bytes = "1 MB"\n[[path]]\nrate = {}\n'
_SURE = 1.01
"""A capacity that the capture measures may be wrong by so much."""


class CapacityError(ResultError):
    """A capacity that is no rate, is of no path in the capture, or is less than the capture shows."""


def rates(given: Given | None) -> dict[str, float]:
    """The capacities in `given`, in Mbit/s, by the number or the address as text.

    >>> rates({0: "80 Mbit/s", "10.0.1.1": "2 Gbit/s"})
    {'0': 80.0, '10.0.1.1': 2000.0}
    """
    found: dict[str, float] = {}
    for key, text in (given or {}).items():
        name = str(key).strip()
        if not isinstance(text, str):
            raise CapacityError(say.NO_UNIT(path=name, value=repr(text)))
        try:
            # Reading quantities is the engine's work.
            link = Scenario.from_toml(_ONE.format(json.dumps(text)), name="").check()["links"][0]
        except ScenarioError as error:
            said = str(error).partition("rate: ")[2]
            raise CapacityError(say.NO_RATE(path=name, error=said)) from None
        if name in found:
            raise CapacityError(say.GIVEN_TWICE(path=name))
        found[name] = link["up"]["rate_bps"] / 1e6
    return found


def add(summary: dict[str, Any], given: Mapping[str, float], *, partial: bool = False) -> None:
    """Adds ``given_mbps`` to those subflows in `summary`, of an analysis, that `given` is about.

    `partial`: the capture still goes on, so that a path may be missing yet.
    """
    connections = connections_of(summary)
    for name, rate in given.items():
        flows = _flows(connections, name)
        if not flows and not partial:
            raise CapacityError(say.NO_SUCH_PATH(path=name, choices=_choices(connections)))
        for flow in flows:
            _check(flow, name, rate)
            flow["given_mbps"] = rate


def main_of(connections: Sequence[Mapping[str, Any]]) -> int:
    """The number of the connection with the most data, whose paths numbers are about."""
    return max(range(len(connections)), key=lambda i: connections[i]["bytes_delivered"])


def _flows(connections: Sequence[Mapping[str, Any]], name: str) -> list[dict[str, Any]]:
    if not connections:
        return []
    if name.isdecimal():
        return [flow for flow in connections[main_of(connections)]["subflows"] if flow["path"] == int(name)]
    flows = [flow for connection in connections for flow in connection["subflows"]]
    return [flow for flow in flows if name in {flow["client"], address(flow["client"])}]


def address(endpoint: str) -> str:
    """The address of an endpoint, without its port.

    >>> address("10.0.0.1:49152"), address("[2001:db8::1]:49152")
    ('10.0.0.1', '2001:db8::1')
    """
    return endpoint.rpartition(":")[0].strip("[]")


def _choices(connections: Sequence[Mapping[str, Any]]) -> str:
    if not connections:
        return say.NO_CONNECTION()
    flows = connections[main_of(connections)]["subflows"]
    pairs = {flow["path"]: address(flow["client"]) for flow in flows}
    return say.CHOICES(paths=", ".join(say.CHOICE(path=n, client=client) for n, client in sorted(pairs.items())))


def _check(flow: Mapping[str, Any], name: str, rate: float) -> None:
    """The capture must not show more than `rate`."""
    told = flow.get("diagnosis") or {}
    busy = told.get("saturated_mbps") or []
    shown = max(told.get("best_mbps") or 0.0, median(busy) if busy else 0.0)
    if shown > _SURE * rate:
        way = f"{flow['client']} - {flow['server']}"
        given, measured = units.rate(rate * 1e6), units.rate(shown * 1e6)
        raise CapacityError(say.CAPACITY_TOO_LOW(path=name, given=given, shown=measured, subflow=way))
