"""Why was it not faster? What the sender of the data waited for, in words."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, TypeAlias

from anabranch import units
from anabranch.labels import connections_of

_NAMES = {
    "cwnd": "congestion window",
    "receive_window": "receive window",
    "head_of_line": "head of line",
    "scheduler": "scheduler",
    "application": "application",
    "send_buffer": "send buffer",
    "link": "links",
}
_MEANING = {
    "cwnd": "no subflow's congestion window had room: the network, or what the controller takes it for",
    "receive_window": "the receiver's window was full: a late reader, or a small receive_buffer",
    "head_of_line": "the receiver's window was full while it held data behind a gap: a small receive_buffer",
    "scheduler": "a window had room, but the scheduler waited for another subflow",
    "application": "there was nothing to send",
    "send_buffer": "all that was written was out and not acknowledged: a small send_buffer for the longest path",
    "link": "a window or buffer was full, but so were the links of all paths: more of either would not help",
}
_SHOWN = 0.005
"""Smaller shares are left out of the one line."""
_EACH = 12
"""Connections that are explained one by one."""
_PLAIN = "text-align:left"


def limits(summary: Mapping[str, Any]) -> str:
    """What limited a connection, or several on average, in one line; empty if that was not measured.

    >>> limits({"limits": {"cwnd": 0.91, "application": 0.002, "head_of_line": 0.088}})
    'limited by: congestion window 91 %, head of line 8.8 %'
    """
    connections = connections_of(summary)
    shares = _mean(connections)
    shown = [(name, share) for name, share in shares if share >= _SHOWN] or shares[:1]
    if not shown:
        return ""
    whose = f", mean of {len(connections)} connections" if len(connections) > 1 else ""
    return f"limited by{whose}: " + ", ".join(_share(name, share) for name, share in shown)


def largest_limit(connection: Mapping[str, Any]) -> str:
    """What a connection waited for most of the time.

    >>> largest_limit({"limits": {"cwnd": 0.91, "application": 0.09}}), largest_limit({})
    ('congestion window 91 %', '-')
    """
    shares = _shares(connection)
    return _share(*shares[0]) if shares else "-"


def _share(name: str, share: float) -> str:
    return f"{_NAMES.get(name, name)} {units.percent(share)}"


class Explanation(str):
    """What the sender waited for: text, and in a notebook a table.

    Attributes
    ----------
    parts : tuple
        Of each connection its name, empty if it is the only one, and its rows.
    """

    parts: "tuple[tuple[str, Rows], ...]" = ()

    def _repr_html_(self) -> str:
        return "".join(_waits(name, rows) for name, rows in self.parts)


Rows: TypeAlias = list[tuple[str, float, str]]
"""What was waited for, its share of the time, what that means; the largest first."""


def explain(summary: Mapping[str, Any]) -> Explanation:
    """What the sender of each connection waited for, by share of the time, with what that means; of many, the mean."""
    connections = connections_of(summary)
    parts: tuple[tuple[str, Rows], ...]
    if len(connections) > _EACH:
        parts = ((f"mean of {len(connections)} connections", _rows(_mean(connections))),)
    else:
        parts = tuple((c["name"] if len(connections) > 1 else "", _rows(_shares(c))) for c in connections)
    text = Explanation("\n\n".join(_text(name, rows) for name, rows in parts))
    text.parts = parts
    return text


def _rows(shares: Sequence[tuple[str, float]]) -> Rows:
    return [(_NAMES.get(name, name), share, _MEANING.get(name, "")) for name, share in shares if share > 0]


def _text(name: str, rows: Rows) -> str:
    head = f"{name}: " if name else ""
    if not rows:
        return f"{head}what the sender waited for was not measured"
    width = max(len(what) for what, _, _ in rows)
    lines = [f"  {what:{width}}  {units.percent(share):>6}  {meaning}".rstrip() for what, share, meaning in rows]
    return "\n".join([f"{head}the sender waited for", *lines])


def _waits(name: str, rows: Rows) -> str:
    """A table for a notebook: HTML without style sheet, script or picture."""
    head = f"{escape(name)}: " if name else ""
    if not rows:
        return f"<p>{head}what the sender waited for was not measured</p>"
    cells = "".join(
        f'<tr><td style="{_PLAIN}">{escape(what)}</td><td>{units.percent(share)}</td>'
        f'<td style="{_PLAIN}"><div style="width:{round(160 * share)}px;height:.7em;background:#0072B2"></div></td>'
        f'<td style="{_PLAIN}">{escape(meaning)}</td></tr>'
        for what, share, meaning in rows
    )
    return f"<p>{head}the sender waited for</p><table><tbody>{cells}</tbody></table>"


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
