"""The diagnosis of a run: what a capture would have to infer, the run knows.

Its captures give the times of events and what each path showed; the shares, and the rate of a link that nobody else
uses, are the run's own. So nothing in them is an inference, and nothing is left that another capture would tell.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from anabranch.diagnosis.capacities import path_capacities
from anabranch.diagnosis.measure import finished, main_cause, means
from anabranch.diagnosis.notes import notes
from anabranch.diagnosis.seen import Seen
from anabranch.measures import units
from anabranch.measures.causes import CAUSES
from anabranch.measures.labels import connections_of
from anabranch.sentences import diagnose as say

SERVER_PORT = 5001
CLIENT_PORT = 49152
"""Ports in the captures of a run: of the first connection, of the first 4-tuple of each (docs/captures.md)."""

GROUND = say.GROUND_OF_A_RUN()


def known(
    found: Mapping[str, Any], summary: Mapping[str, Any], resolved: Mapping[str, Any], facts: Sequence[Seen]
) -> dict[str, Any]:
    """The diagnosis `found` in the captures of a run, with what its `summary` and its `resolved` scenario know.

    `facts` are those of the connections in `found`.
    """
    described = resolved["connections"]
    own = connections_of(summary)
    made = []
    for connection, seen in zip(found["connections"], facts, strict=True):
        number = _port(connection["subflows"][0]["server"]) - SERVER_PORT
        if not 0 <= number < min(len(own), len(described)):
            made.append(connection)
            continue
        rates = _rates(resolved, number, from_client=connection["data_from"] == "client")
        made.append(_with_host(_known(connection, own[number], rates, seen), summary, resolved, number))
    grounds = {name: {"kind": "fact", "ground": GROUND} for name in CAUSES}
    whole = all(connection["is_known"] for connection in made)
    said = notes(found["capture"], len(made), of_run=True)
    return {**found, "connections": made, "notes": said, "grounds": grounds if whole else found["grounds"]}


def numbers(connections: Sequence[Mapping[str, Any]]) -> list[int]:
    """Of each connection its number in the scenario; what no scenario has is beyond its last."""
    return [_port(connection["subflows"][0]["server"]) - SERVER_PORT for connection in connections]


def _known(
    connection: Mapping[str, Any], own: Mapping[str, Any], rates: Sequence[float | None], facts: Seen
) -> dict[str, Any]:
    flows = []
    for flow in connection["subflows"]:
        place = _port(flow["client"]) - CLIENT_PORT
        true = own["subflows"][place] if 0 <= place < len(own["subflows"]) else {}
        if not true.get("causes"):
            # Another port than its own: a middlebox between. What the captures say stays, and stays
            # an inference.
            return dict(connection)
        rate = rates[true["path"]]
        capacity = {} if rate is None else dict.fromkeys(_CAPACITY, rate)
        # Subflows between the same addresses are one path of a capture; the run has their paths.
        own_fields = {name: true[name] for name in ("path", "causes", "measured_s")}
        flows.append({**flow, **capacity, **own_fields})
    causes = means(flows)
    made = {
        **connection,
        "is_known": True,
        "subflows": flows,
        "causes": causes,
        "limits": own.get("limits"),
        "indistinct": [],
        "missing_bytes": 0,
        "incomplete": [],
        "main_cause": main_cause(causes, []) if causes else None,
    }
    return finished(made, facts)


def _with_host(
    connection: dict[str, Any], summary: Mapping[str, Any], resolved: Mapping[str, Any], number: int
) -> dict[str, Any]:
    """Name the host whose processor bounds the connection, if one does, in place of the sentence on the main cause."""
    mine = resolved["connections"][number]
    busy = [
        (carried["cpu_busy"], host["name"])
        for host in summary.get("hosts", ())
        for carried in host.get("connections", ())
        if carried["name"] == mine["name"]
    ]
    share, name = max(busy, default=(0.0, ""))
    limits = connection["limits"] or {}
    if limits and max(limits, key=lambda limit: limits[limit]) == "application":
        # The sender lacked data most of the time, so no work queued up: a faster core would only idle more.
        return connection
    # A full link bounds the connection as well if its queue overflows or packets wait in it. Where all capacities are
    # known, the goodput must come near their sum, too.
    waits = limits.get("link", 0.0) + (connection["causes"] or {}).get("recovery", 0.0)
    capacities = [path["capacity_mbps"] for path in path_capacities(connection["subflows"])]
    capacity = None if None in capacities else sum(capacities)
    near = capacity is None or (connection["goodput_mbps"] or 0.0) >= _NEAR * capacity
    if share < _BUSY or (waits >= _FULL and near):
        return connection
    described = next(host for host in resolved["host"] if host["name"] == name)
    shared = _is_core_shared(described.get("cores", 1), summary, resolved, name, number)
    told = say.HOST_BUSY(
        host=name,
        share=units.percent(share),
        cost=units.time(described["cost_s"]),
        remedies=say.HOST_REMEDIES_AND_CORES if shared else say.HOST_REMEDIES,
    )
    connection["sentences"] = [*connection["sentences"][:2], told, *connection["sentences"][3:]]
    return connection


def _is_core_shared(
    cores: int, summary: Mapping[str, Any], resolved: Mapping[str, Any], host: str, number: int
) -> bool:
    """True if several subflows load the busiest core of `host` that carries connection `number`.

    A core handles the 4-tuples whose number, plus that of the connection, has the same remainder.
    """
    loads: dict[int, list[int]] = {}
    carries: set[int] = set()
    for other, (own, one) in enumerate(zip(connections_of(summary), resolved["connections"], strict=True)):
        if host not in (one["client"], one["server"]):
            continue
        for place, flow in enumerate(own["subflows"]):
            core = (other + place) % cores
            loads.setdefault(core, []).append(flow["segments"] or 0)
            if other == number and flow["segments"]:
                carries.add(core)
    busiest = max((loads[core] for core in carries), key=sum, default=[0])
    return max(busiest) < _ALONE * sum(busiest)


_BUSY = 0.9
"""A core that works for this share of a connection's time bounds the connection: starts and pauses take the rest."""
_FULL = 0.05
"""From this share of waiting for full links and of loss recovery on, a full link bounds a connection as well."""
_NEAR = 0.75
"""Below this share of the capacities a connection leaves its links idle, and losses are not those of full links."""
_ALONE = 0.95
"""A subflow with this share of the data segments of its core has the core for itself: more cores give it no more."""

_CAPACITY = ("capacity_mbps", "capacity_low_mbps", "capacity_high_mbps")


def _rates(resolved: Mapping[str, Any], number: int, *, from_client: bool) -> list[float | None]:
    """What each path of a connection carries in the direction of its data, Mbit/s; None if it changes or is shared."""
    links = {link["name"]: link for link in resolved["links"]}
    mine = resolved["connections"][number]
    users: dict[str, int] = {}
    for connection in resolved["connections"]:
        for name in {name for path in connection["paths"] for name in path}:
            users[name] = users.get(name, 0) + 1
    found: list[float | None] = []
    for path in mine["paths"]:
        here, least = mine["client"], float("inf")
        for name in path:
            link = links[name]
            out = link["from"] == here
            here = link["to"] if out else link["from"]
            side = link["up" if out == from_client else "down"]
            least = min(least, side["rate_bps"] if _is_constant(link, side, users[name]) else 0.0)
        shared = sum(name in other for other in mine["paths"] for name in path) > len(path)
        found.append(None if shared or not 0 < least < float("inf") else least * 1e-6)
    return found


def _is_constant(link: Mapping[str, Any], side: Mapping[str, Any], users: int) -> bool:
    varies = link["wifi"] or link["changes"] or side["trace"] or side["weather"] or side.get("policer")
    return users == 1 and not varies and not side["overhead_bytes"]


def _port(address: str) -> int:
    return int(address.rsplit(":", 1)[1])
