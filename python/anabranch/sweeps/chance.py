"""Whether anything in a scenario is left to chance: what may be said of runs that are identical under every seed."""

import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from anabranch.measures.labels import judge_key
from anabranch.scenario import Scenario, ScenarioError

_SOURCES = ("loss", "duplication", "corruption", "delay_variation")
"""Values of a link's direction that draw random numbers unless they are 0."""
_FIXED_QUEUES = frozenset({"drop-tail", "codel"})
_FIXED_APPLICATIONS = frozenset({"bulk", "on-off", "request-response", "constant-rate", "video"})
_GENERATED = frozenset({"topology", "traffic"})
"""Tables from which links and connections are drawn."""


def nothing_random(scenarios: Iterable[Scenario]) -> bool:
    """Return whether no scenario draws a random number that can matter; False if that is not certain.

    Examples
    --------
    >>> import anabranch as ab
    >>> wired = ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="1 MB")
    >>> nothing_random([wired]), nothing_random([wired, wired.set("path.0.loss", "1 %")])
    (True, False)
    """
    return all(_is_fixed(scenario) for scenario in scenarios)


def _is_fixed(scenario: Scenario) -> bool:
    try:
        keys = [*tomllib.loads(scenario.toml), *(key.partition(".")[0] for key, _ in scenario.overrides)]
        resolved = scenario.check()
    except (tomllib.TOMLDecodeError, ScenarioError):
        return False
    links, connections = resolved["links"], resolved["connections"]
    fixed = _GENERATED.isdisjoint(keys)
    return fixed and all(map(_is_fixed_link, links)) and all(map(_is_fixed_connection, connections))


def _is_fixed_link(link: Mapping[str, Any]) -> bool:
    ways = [link[way] for way in ("up", "down")]
    still = all(way[name] == 0 for way in ways for name in _SOURCES) and all(way["weather"] is None for way in ways)
    queues = all(way["discipline"]["name"] in _FIXED_QUEUES for way in ways)
    changes = all(change.get("loss", 0) == 0 for change in link["changes"])
    return still and queues and changes and link["wifi"] is None and not link["middleboxes"]


def _is_fixed_connection(connection: Mapping[str, Any]) -> bool:
    transfer = connection["transfer"]
    if connection.get("ack_discard") and connection[judge_key(connection)] == "frto":
        return False
    return transfer["start_spread_s"] == 0 and _is_fixed_application(transfer)


def _is_fixed_application(transfer: Mapping[str, Any]) -> bool:
    match transfer["application"]:
        case "messages":
            return not any(isinstance(transfer[drawn], Mapping) for drawn in ("message_bytes", "interval_s"))
        case "page":
            return "page" in transfer  # else its objects are drawn
        case application:
            return application in _FIXED_APPLICATIONS
