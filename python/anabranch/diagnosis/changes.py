"""What the user of a connection could change: pacing, the use of the paths, buffers, algorithms.

The order is that of effort: first what one command changes on a Linux host, last what takes another kernel.
"""

import json
import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from anabranch.algorithms.references import short_name
from anabranch.measures import units
from anabranch.scenario import Scenario, Value
from anabranch.sentences import diagnose as say

LINUX_CONTROLLERS: Mapping[str, str] = {"cubic": "cubic", "uncoupled": "reno", "bbr": "bbr", "dctcp": "dctcp"}
"""Congestion controllers that Linux has, and their names there: `sysctl net.ipv4.tcp_available_congestion_control`."""
LINUX_SCHEDULERS: Mapping[str, str] = {"linux": "default"}
"""Schedulers that Linux has, and their names there: `sysctl net.mptcp.scheduler`."""
_OTHER_CONTROLLERS = ("coupled", "olia", "balia")
_OTHER_SCHEDULERS = ("min-rtt", "blest", "ecf", "round-robin")
_BUFFERS = (1_000_000, 6_000_000, 16_000_000)
PACING = say.CHANGE_PACING()


@dataclass(frozen=True)
class Change:
    """One change of a scenario.

    Attributes
    ----------
    what : str
        In words.
    kind : str
        Of what it is a change: ``receive buffer``, ``scheduler``, ...
    keys : mapping
        Keys of the scenario, and their new values.
    in_linux : bool
        Whether Linux has what it takes.
    """

    what: str
    kind: str
    keys: Mapping[str, Value] = field(default_factory=dict)
    in_linux: bool = True


@dataclass(frozen=True)
class Place:
    """Where a scenario describes its main connection and its links.

    Attributes
    ----------
    connection : dict
        The connection, as ``Scenario.check`` describes it.
    number : int
        Its place among the connections.
    key : str
        How keys of the connection begin.
    links : str
        The table of the links: ``path``, or ``link`` in the long form.
    """

    connection: Mapping[str, Any]
    number: int
    key: str
    links: str


def place(scenario: Scenario, checked: Mapping[str, Any], number: int) -> Place:
    """Where `scenario` describes its connection `number`."""
    tables = tomllib.loads(str(scenario))
    several = isinstance(tables.get("connection"), list)
    key = f"connection[{number}]" if several else "connection"
    return Place(checked["connections"][number], number, key, "link" if "link" in tables else "path")


def changes(scenario: Scenario, number: int = 0) -> list[Change]:
    """What could be changed for connection `number` of `scenario`, what takes the least effort first."""
    checked = scenario.check()
    at = place(scenario, checked, number)
    links = checked["links"]
    found = list(_pacing(at))
    if len(at.connection["paths"]) > 1 and at.connection["protocol"] == "mptcp":
        found += _uses(at, links)
    found += _buffers(at)
    found += _algorithms(at)
    queues: dict[str, Value] = {f"{at.links}.{i}.discipline": "fq-codel" for i in range(len(links))}
    found.append(Change(say.CHANGE_QUEUES(), "queue management", queues))
    found += _other_algorithms(at)
    return found


def _pacing(at: Place) -> Iterator[Change]:
    if not at.connection["pacing"] and _name(at.connection["controller"]) != "bbr":
        yield Change(PACING, "pacing", {f"{at.key}.pacing": True})


def _buffers(at: Place) -> Iterator[Change]:
    for kind, key in (("receive buffer", "receive_buffer"), ("send buffer", "send_buffer")):
        now = at.connection.get(f"{key}_bytes") or math.inf
        for size in _BUFFERS:
            if size > 1.05 * now:
                more: dict[str, Value] = {f"{at.key}.{key}": f"{size} B"}
                if key == "receive_buffer" and at.connection.get("receive_initial_bytes"):
                    more[f"{at.key}.receive_initial"] = f"{min(size, at.connection['receive_initial_bytes'])} B"
                what = say.CHANGE_BUFFER(buffer=kind, size=units.octets(size), now=units.octets(now))
                yield Change(what, kind, more)


def _is_multipath(at: Place) -> bool:
    return at.connection["protocol"] == "mptcp" and len(at.connection["paths"]) > 1


def _algorithms(at: Place) -> Iterator[Change]:
    """Linux's controllers, alone and with Linux's scheduler."""
    now = {kind: _name(at.connection.get(kind)) for kind in ("controller", "scheduler")}
    foreign = _is_multipath(at) and now["scheduler"] not in LINUX_SCHEDULERS
    scheduler: dict[str, Value] = {f"{at.key}.scheduler": "linux"}
    if foreign:
        what = say.CHANGE_ALGORITHM(kind="scheduler", name="linux", now=now["scheduler"])
        yield Change(what, "scheduler", scheduler)
    for name, known_as in LINUX_CONTROLLERS.items():
        if name == now["controller"]:
            continue
        alias = name if name == known_as else say.CHANGE_LINUX_NAME(name=name, linux=known_as)
        # RFC 8257 3: without ECN nobody is told of a queue that grows.
        ecn: dict[str, Value] = {f"{at.key}.ecn": True} if name == "dctcp" else {}
        keys: dict[str, Value] = {f"{at.key}.controller": name, **ecn}
        turns_on = bool(ecn) and not at.connection["ecn"]
        template = say.CHANGE_WITH_ECN if turns_on else say.CHANGE_ALGORITHM
        yield Change(template(kind="controller", name=alias, now=now["controller"]), "controller", keys)
        if foreign:
            template = say.CHANGE_BOTH_WITH_ECN if turns_on else say.CHANGE_BOTH
            what = template(controller=alias, scheduler="linux")
            yield Change(what, "controller", {**keys, **scheduler})


def _other_algorithms(at: Place) -> Iterator[Change]:
    """What Linux lacks."""
    for kind, choices in (("controller", _OTHER_CONTROLLERS), ("scheduler", _OTHER_SCHEDULERS)):
        now = _name(at.connection.get(kind))
        for name in choices if kind == "controller" or _is_multipath(at) else ():
            if name != now:
                keys: dict[str, Value] = {f"{at.key}.{kind}": name}
                what = say.CHANGE_ALGORITHM(kind=kind, name=name, now=now)
                yield Change(what, kind, keys, in_linux=False)


def _uses(at: Place, links: Sequence[Mapping[str, Any]]) -> Iterator[Change]:
    """How several paths could be used otherwise: one as backup, without one, one alone, another one first."""
    paths = [list(path) for path in at.connection["paths"]]
    names = [_path_name(path, paths) for path in paths]
    numbers = {link["name"]: i for i, link in enumerate(links)}
    for name in names:
        link = numbers[name]
        backup = bool(links[link].get("backup"))
        what = (say.CHANGE_NO_BACKUP if backup else say.CHANGE_BACKUP)(path=name)
        if sum(name in other for other in paths) == 1:
            yield Change(what, "backup", {f"{at.links}.{link}.backup": not backup})
    for name, path in zip(names, paths, strict=True) if len(paths) > 2 else ():
        rest = [other for other in paths if other is not path]
        yield Change(say.CHANGE_WITHOUT(path=name), "path removed", {f"{at.key}.paths": json.dumps(rest)})
    for name, path in zip(names, paths, strict=True):
        yield Change(say.CHANGE_ONLY(path=name), "one path", {f"{at.key}.paths": json.dumps([path])})
    for name, path in list(zip(names, paths, strict=True))[1:]:
        first = [path, *(other for other in paths if other is not path)]
        yield Change(say.CHANGE_FIRST(path=name), "first path", {f"{at.key}.paths": json.dumps(first)})


def _path_name(path: Sequence[str], paths: Sequence[Sequence[str]]) -> str:
    """The first link that no other path uses; else the first."""
    own = [name for name in path if sum(name in other for other in paths) == 1]
    return [*own, path[0]][0]


def _name(value: Any) -> str:
    return short_name(str(value["name"] if isinstance(value, Mapping) else value))
