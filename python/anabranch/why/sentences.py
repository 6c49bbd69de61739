"""The first three sentences: what the paths could do, where the time went, what would help."""

from collections.abc import Mapping, Sequence
from typing import Any

from anabranch import units
from anabranch.causes import CAUSES
from anabranch.explain import limits

_SATURATED = 0.5
"""A path is called saturated from this share of its time on in which packets waited before its slowest link."""
_USED = 0.8
"""From this share of what full paths carry on, they are the reason, where the sender's causes cannot be told apart."""
_NEARLY_ALL = 0.9
"""From this share on nothing else would help. Headers alone take 3 to 8 % of what a path carries."""
_REPAIRS = 0.2

_BUFFERS = ("send_buffer", "receive_window")
_NOW_AND_THEN = 0.03
_MORE = 1.02
"""Estimates may be wrong by so much: a goodput above the sum of the capacities by less is not remarkable."""
_SHOWN = 0.05
"""Smaller shares are only in the table."""


def sentences(connection: Mapping[str, Any]) -> list[str]:
    """Three sentences about a connection."""
    return [_paths(connection), _time(connection), _help(connection)]


def _mbps(value: float) -> str:
    return units.rate(value * 1e6)


def _paths(connection: Mapping[str, Any]) -> str:
    flows, got = connection["subflows"], connection["goodput_mbps"]
    words = [_carries(flow) for flow in flows]
    what = "path" if len(flows) == 1 else f"{len(flows)} paths"
    text = f"The {what} could carry {' + '.join(words)}" if words else "No path carried data"
    return f"{text}; the connection got {_mbps(got)}{_of_the_sum(connection)}."


def _carries(flow: Mapping[str, Any]) -> str:
    if flow["capacity_mbps"]:
        return _mbps(flow["capacity_mbps"]) + (" (given)" if flow["capacity_given"] else "")
    if flow["capacity_at_least_mbps"]:
        return f"at least {_mbps(flow['capacity_at_least_mbps'])}"
    return "an unknown rate"


def _of_the_sum(connection: Mapping[str, Any]) -> str:
    """The goodput as a part of what the paths could carry; nothing if the capacity of a path is not known."""
    flows, got = connection["subflows"], connection["goodput_mbps"]
    if not flows or connection["paths_are_lower_bounds"]:
        return ""
    if got <= _MORE * connection["paths_mbps"]:
        return f", {units.percent(got / connection['paths_mbps'])} of that"
    if connection["protocol"] == "mptcp" and got > _MORE * sum(flow["capacity_high_mbps"] for flow in flows):
        return ", and so some of it by paths that are not in the capture"
    return ""


def _time(connection: Mapping[str, Any]) -> str:
    causes = connection["causes"]
    if not causes:
        return "Where its time went is not in the capture."
    order = sorted(causes.items(), key=lambda pair: -pair[1])
    shown = [(c, s) for c, s in order if s >= _SHOWN] or order[:1]
    own = connection["indistinct"]
    text = ", ".join(f"{CAUSES[c].name} {units.percent(s)}" for c, s in shown if c not in own)
    together = sum(causes[c] for c in own)
    if together >= _SHOWN:
        comma = ", " if text else ""
        if _is_far(connection):
            likely = max(own, key=lambda c: causes[c])
            text += f"{comma}the sender's own limits {units.percent(together)}, most likely {CAUSES[likely].name}"
        else:
            text += f"{comma}the sender ({_listed(own)}) {units.percent(together)}"
    blocking = max(connection["subflows"], key=lambda f: f["blocked_others_s"] or 0)
    if causes["head_of_line"] >= 0.05 and blocking["blocked_others_s"]:
        text += f"; what held the others back was mostly {blocking['client']} - {blocking['server']}"
    if connection["limits"]:
        # The same figures as after `anabranch run`: the connection's view, which has links as a limit of their own.
        text += f"; the connection as a whole was {limits(connection)}"
    return f"Its subflows waited for: {text}."


def _is_far(connection: Mapping[str, Any]) -> bool:
    """The capture was taken elsewhere than at the sender of the data."""
    return bool(connection["captured_at"]) and connection["data_from"] not in connection["captured_at"]


def _listed(causes: Sequence[str]) -> str:
    """Causes that look alike at the sender, in words: ``application, send buffer or pacing``."""
    paced = "receive_window" not in causes  # else packets wait in a queue of the sender's host
    names = ["pacing" if cause == "cwnd" and paced else CAUSES[cause].name for cause in reversed(causes)]
    return ", ".join(names[:-1]) + f" or {names[-1]}"


def _full(connection: Mapping[str, Any]) -> str:
    """Every path was saturated for most of the time."""
    away = {c: max(connection["subflows"], key=lambda f: (f["causes"] or {}).get(c, 0.0)) for c in ("failed", "not_up")}
    cause, flow = max(away.items(), key=lambda pair: (pair[1]["causes"] or {}).get(pair[0], 0.0))
    share = (flow["causes"] or {}).get(cause, 0.0)
    if share >= _SHOWN:
        name = f"{flow['client']} - {flow['server']}"
        text = f"Its paths were full while they worked. {name}: {CAUSES[cause].name} {units.percent(share)} of its time"
        return f"{text}; what may help there (not tried): {CAUSES[cause].remedy}."
    if connection["causes"]["recovery"] >= _REPAIRS:
        return f"Its paths were full most of the time. What may help (not tried): {CAUSES['recovery'].remedy}."
    part = connection["goodput_mbps"] / (connection["paths_mbps"] or float("inf"))
    if part < _NEARLY_ALL:
        return f"Its paths were full most of the time: together they gave {units.percent(part)} of what they have."
    return "Its paths were full: they gave what they have, and no buffer or scheduler would change that."


def _help(connection: Mapping[str, Any]) -> str:
    causes, main = connection["causes"], connection["main_cause"]
    if not causes:
        return "A capture of all packets of both directions would tell."
    used = connection["goodput_mbps"] >= _USED * (connection["paths_mbps"] or float("inf"))
    if main == "cwnd" or (main in connection["indistinct"] and used):
        full = [f for f in connection["subflows"] if f["saturated_s"] >= _SATURATED * _worked(f)]
        if len(full) == len(connection["subflows"]):
            return _full(connection)
    if main in connection["indistinct"] and _is_far(connection):
        return f"The sender was the limit: perhaps {CAUSES[main].name}. A capture at the sender would tell."
    if main in connection["indistinct"]:
        names = _listed(connection["indistinct"])
        ends = "the sender or the receiver" if "receive_window" in connection["indistinct"] else "the sender"
        return f"It was limited by {ends}: {names}. `ss -tin` on the sender would tell which."
    if main == "not_up" and len(connection["subflows"]) == 1:
        return (
            "Its handshake took most of the time. What may help (not tried): a connection that is kept open, "
            "or TCP Fast Open (RFC 7413)."
        )
    what = "What would help" if main == "application" else "What may help (not tried)"
    return f"{what}: {CAUSES[main].remedy}{_held(connection)}."


def _worked(flow: Mapping[str, Any]) -> float:
    """For how long a subflow's path was there, s."""
    away = sum((flow["causes"] or {}).get(cause, 0.0) for cause in ("failed", "not_up"))
    return float((flow["measured_s"] or 0.0) * (1 - away))


def _held(connection: Mapping[str, Any]) -> str:
    """Where the congestion window is waited for, a buffer that was full now and then: it may have kept that small.

    A window grows only while it is used in full (RFC 7661 3), and what a buffer held back leaves in one burst after.
    """
    causes = connection["causes"]
    if connection["main_cause"] != "cwnd":
        return ""
    buffer = max(_BUFFERS, key=lambda cause: causes[cause])
    if causes[buffer] < _NOW_AND_THEN or buffer in connection["indistinct"]:
        return ""
    share = units.percent(causes[buffer])
    name = CAUSES[buffer].name
    return f"; {name} {share} is little, but keeps the window from growing: {CAUSES[buffer].remedy} may help more"
