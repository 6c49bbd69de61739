"""Why was it not faster? What the sender of the data waited for, in words."""

from collections.abc import Mapping
from typing import Any

from anabranch import units
from anabranch.labels import connections_of

_NAMES = {
    "cwnd": "congestion window",
    "receive_window": "receive window",
    "head_of_line": "head of line",
    "scheduler": "scheduler",
    "application": "application",
}
_MEANING = {
    "cwnd": "no subflow's congestion window had room: the network, or what the controller takes it for",
    "receive_window": "the receiver's window was full: a late reader, or a small receive_buffer",
    "head_of_line": "the receiver's window was full while it held data behind a gap: a small receive_buffer",
    "scheduler": "a window had room, but the scheduler waited for another subflow",
    "application": "there was nothing to send",
}
_SHOWN = 0.005
"""Smaller shares are left out of the one line."""


def limits(connection: Mapping[str, Any]) -> str:
    """What limited a connection, in one line; empty if that was not measured.

    >>> limits({"limits": {"cwnd": 0.91, "application": 0.002, "head_of_line": 0.088}})
    'limited by: congestion window 91 %, head of line 8.8 %'
    """
    shares = _shares(connection)
    shown = [(name, share) for name, share in shares if share >= _SHOWN] or shares[:1]
    if not shown:
        return ""
    return "limited by: " + ", ".join(f"{_NAMES.get(name, name)} {units.percent(share)}" for name, share in shown)


def explain(summary: Mapping[str, Any]) -> str:
    """What the sender of each connection waited for, by share of the time, with what that means."""
    connections = connections_of(summary)
    return "\n\n".join(_connection(connection, named=len(connections) > 1) for connection in connections)


def _connection(connection: Mapping[str, Any], *, named: bool) -> str:
    head = f"{connection['name']}: " if named else ""
    shares = _shares(connection)
    if not shares:
        return f"{head}what the sender waited for was not measured"
    width = max(len(_NAMES.get(name, name)) for name, _ in shares)
    lines = [
        f"  {_NAMES.get(name, name):{width}}  {units.percent(share):>6}  {_MEANING.get(name, '')}".rstrip()
        for name, share in shares
        if share > 0
    ]
    return "\n".join([f"{head}the sender waited for", *lines])


def _shares(connection: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Largest first."""
    found = connection.get("limits") or {}
    return sorted(((name, float(share)) for name, share in found.items()), key=lambda pair: -pair[1])
