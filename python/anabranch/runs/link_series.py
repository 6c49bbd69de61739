"""What the links of a run offered over time, beside what was carried: for links whose rate or delay varies."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from anabranch import _core
from anabranch.measures.labels import connections_of
from anabranch.measures.series import end_of, interval_of, throughput

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("t", "link", "offered", "carried", "delay")
_FEW = 64
"""Links that are looked at, the first ones that vary."""
_FINE = 10
"""Probes of an interval."""


def varies(link: Mapping[str, Any]) -> bool:
    """Whether rate or delay of a resolved link vary, other than by chance from packet to packet."""
    if link.get("wifi"):
        return False
    own = any(link[way].get("trace") or link[way].get("weather") for way in ("up", "down"))
    return bool(own or any({"rate_bps", "delay_s", "state"} & set(change) for change in link.get("changes", ())))


def links_of(scenario: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Numbers of the links that vary, and the direction of the data of the first connection over each."""
    numbers = {link["name"]: i for i, link in enumerate(scenario.get("links", ()))}
    ways: dict[int, str] = {}
    for connection in scenario.get("connections", ()):
        for name in (name for path in connection["paths"] for name in path):
            ways.setdefault(numbers[name], "down" if connection["transfer"].get("direction") == "down" else "up")
    there = [(i, way) for i, way in sorted(ways.items()) if varies(scenario["links"][i])]
    return there[:_FEW]


def links_frame(
    toml: str, scenario: Mapping[str, Any], summary: Mapping[str, Any], subflows: "pd.DataFrame"
) -> "pd.DataFrame":
    """One row for each interval and link that varies, in the direction of the data.

    Returns
    -------
    pandas.DataFrame
        ``t`` (middle of the interval, s), ``link`` (its name), ``offered`` and ``carried`` (bit/s), ``delay`` (one way,
        s, median of lone packets; NaN if none got through).
    """
    import numpy as np
    import pandas as pd

    end, step = end_of(subflows) if len(subflows) else 0.0, interval_of(subflows)
    parts = []
    edges = np.arange(0.0, end, step)
    edges = np.append(edges[edges < end - step * 1e-6], end)
    rates = throughput(subflows, step)
    fine, count = step / _FINE, _FINE * (len(edges) - 1)
    # The last interval ends with the frame.
    within = np.clip((end - fine * np.arange(count)) / fine, 0, 1).reshape(-1, _FINE)
    for number, way in links_of(scenario) if end > 0 else ():
        name = scenario["links"][number]["name"]
        bits = np.array(_core.offered(toml, "scenario.toml", number, way == "up", fine, count)).reshape(-1, _FINE)
        probes = _core.probed(toml, "scenario.toml", number, way == "up", fine, count)
        delay = np.array([np.nan if x is None else x for x in probes]).reshape(-1, _FINE)
        carried = np.zeros(len(edges) - 1)
        for key in _users(scenario, summary, name):
            mine = rates[(rates["connection"] == key[0]) & (rates["subflow"] == key[1])]
            if len(mine):
                carried += mine["throughput"].to_numpy()
        columns = {
            "t": (edges[1:] + edges[:-1]) / 2,
            "link": name,
            "offered": (bits * within).sum(axis=1) / np.diff(edges),
            "carried": carried,
            "delay": [float(np.median(row[row >= 0])) if (row >= 0).any() else np.nan for row in delay],
        }
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame({name: [] for name in COLUMNS})


def _users(scenario: Mapping[str, Any], summary: Mapping[str, Any], name: str) -> Iterator[tuple[int, int]]:
    """Connection and subflow of those that have the link `name` on their path."""
    for c, (told, connection) in enumerate(zip(connections_of(summary), scenario["connections"], strict=False)):
        for s, subflow in enumerate(told["subflows"]):
            if name in connection["paths"][subflow["path"]]:
                yield c, s
