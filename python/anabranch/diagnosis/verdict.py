"""Chooses the first three sentences: capacity and goodput, where the time went, the main cause and what may help."""

from collections.abc import Mapping, Sequence
from typing import Any

from anabranch.diagnosis.capacities import path_capacities
from anabranch.diagnosis.seen import Seen
from anabranch.measures import units
from anabranch.measures.causes import CAUSES, SENDERS_OPEN
from anabranch.runs.limits import limits
from anabranch.sentences import diagnose as say

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
_VARIED = 1.25
"""A capacity whose rates differ by so much varied; by less, the estimates may have been inexact."""
_BLOCKED = 0.01
"""Share of the duration, from which a subflow that held up the others is named."""
_SHOWN = 0.05
"""Smaller shares are only in the table."""
_CLOSE = 0.05
"""Causes whose shares differ by less cannot be ranked, even if no share is in doubt."""
_OPEN = frozenset({*SENDERS_OPEN, "scheduler", "receive_window"})
"""Causes that may look alike in a capture at the sender."""
_ROUNDED = 0.005
"""Shares that add up to so little are not worth mentioning."""


def verdict(connection: Mapping[str, Any], facts: Seen | None = None) -> list[str]:
    """Return the three sentences about a connection of which packets show `facts`.

    If the capture is not whole, the shares of the data and of the time are not known well enough for a main cause.
    """
    return [_paths(connection), _time(connection), _help(connection, facts or Seen())]


def _mbps(value: float) -> str:
    return units.rate(value * 1e6)


def _paths(connection: Mapping[str, Any]) -> str:
    words = [_capacity(path) for path in path_capacities(connection["subflows"])]
    paths = say.CAPACITY(paths=len(words), capacities=" + ".join(words)) if words else say.NO_CAPACITY()
    return f"{paths} {_goodput(connection)}"


def _capacity(path: Mapping[str, Any]) -> str:
    if path["capacity_mbps"]:
        rate = _mbps(path["capacity_mbps"])
        if path["capacity_given"]:
            return say.CAPACITY_GIVEN(capacity=rate)
        low, high = path.get("capacity_low_mbps"), path.get("capacity_high_mbps")
        if low and high and high > _VARIED * low:
            return say.CAPACITY_VARIED(capacity=rate, low=_mbps(low), high=_mbps(high))
        return rate
    if path["capacity_at_least_mbps"]:
        return say.CAPACITY_AT_LEAST(capacity=_mbps(path["capacity_at_least_mbps"]))
    return say.CAPACITY_UNKNOWN()


def _goodput(connection: Mapping[str, Any]) -> str:
    """The goodput, also as a part of the sum of the capacities if each of these is known."""
    paths, got = path_capacities(connection["subflows"]), connection["goodput_mbps"]
    if not got and connection.get("bytes_delivered"):
        return say.NO_GOODPUT()
    if not paths or connection["paths_are_lower_bounds"]:
        return say.GOODPUT(goodput=_mbps(got))
    if got <= _MORE * connection["paths_mbps"]:
        if connection["incomplete"]:
            return say.GOODPUT(goodput=_mbps(got))
        of = say.GOODPUT_OF_CAPACITY if len(paths) == 1 else say.GOODPUT_OF_SUM
        return of(goodput=_mbps(got), share=units.percent(got / connection["paths_mbps"]))
    if connection["protocol"] == "mptcp" and got > _MORE * sum(path["capacity_high_mbps"] for path in paths):
        return say.GOODPUT_ABOVE_SUM(goodput=_mbps(got))
    return say.GOODPUT(goodput=_mbps(got))


def _time(connection: Mapping[str, Any]) -> str:
    causes = connection["causes"]
    if not causes:
        return say.NO_CAUSES()
    order = sorted(causes.items(), key=lambda pair: -pair[1])
    shown = [(c, s) for c, s in order if s >= _SHOWN] or order[:1]
    own = [] if is_close(connection) else connection["indistinct"]
    parts = [say.CAUSE_SHARE(cause=CAUSES[c].name, share=units.percent(s)) for c, s in shown if c not in own]
    together = sum(causes[c] for c in own)
    if together >= _SHOWN:
        share = units.percent(together)
        if _is_far(connection):
            likely = max(own, key=lambda c: causes[c])
            parts.append(say.OPEN_AT_RECEIVER(share=share, cause=CAUSES[likely].name))
        else:
            parts.append(say.OPEN_AT_SENDER(share=share, causes=_either(open_names(connection))))
    known = [flow for flow in connection["subflows"] if flow["causes"]]
    covered = sum(s for c, s in shown if c not in own) + (together if together >= _SHOWN else 0.0)
    told = [_shares(parts, len(known), are_all=covered + _ROUNDED >= sum(causes.values()))]
    blocking = max(connection["subflows"], key=lambda f: f["blocked_others_s"] or 0)
    if causes["head_of_line"] >= _SHOWN and _has_blocker(connection):
        told.append(say.BLOCKING(subflow=_name(blocking)))
    if connection["limits"]:
        # The same figures as after `anabranch run`: the connection's view, which has links as a
        # limit of their own.
        told.append(say.LIMITS(limits=limits(connection)))
    return " ".join(told)


def _shares(parts: Sequence[str], subflows: int, *, are_all: bool) -> str:
    """The shares of the time, and what they are of; smaller ones may be left out."""
    template = say.CAUSES_ARE if are_all else say.CAUSES_ARE_AND_OTHERS
    if subflows > 1:
        template = say.CAUSES_OF_SEVERAL if are_all else say.CAUSES_OF_SEVERAL_AND_OTHERS
        return template(shares=", ".join(parts), subflows=subflows)
    return template(shares=", ".join(parts))


def _has_blocker(connection: Mapping[str, Any]) -> bool:
    """Some subflow in the capture held up the others for a time that counts."""
    blocked = max((flow["blocked_others_s"] or 0.0 for flow in connection["subflows"]), default=0.0)
    return bool(blocked > 0 and blocked >= _BLOCKED * (connection["duration_s"] or 0.0))


def _name(flow: Mapping[str, Any]) -> str:
    return f"{flow['client']} - {flow['server']}"


def _is_far(connection: Mapping[str, Any]) -> bool:
    """The capture was taken elsewhere than at the sender of the data."""
    return bool(connection["captured_at"]) and connection["data_from"] not in connection["captured_at"]


def open_names(connection: Mapping[str, Any]) -> list[str]:
    """Names of the causes that the capture cannot tell apart, the same in every sentence."""
    causes = connection["indistinct"]
    # Where the receive window is among them, packets wait in a queue of the sender's host; else they are paced.
    paced = not _is_far(connection) and not is_close(connection) and "receive_window" not in causes
    return [say.PACED() if cause == "cwnd" and paced else CAUSES[cause].name for cause in causes]


def is_close(connection: Mapping[str, Any]) -> bool:
    """Returns true if the open causes do not look alike: their shares are too close or too uncertain to rank."""
    causes, shares = connection["indistinct"], connection["causes"]
    if not causes or _is_far(connection):
        return False
    own = [shares[cause] for cause in causes]
    return not _OPEN.issuperset(causes) or max(own) - min(own) < _CLOSE


def _either(names: Sequence[str]) -> str:
    """``send buffer, application or scheduler``."""
    return say.OR(causes=", ".join(names[:-1]), cause=names[-1])


def _away(flow: Mapping[str, Any], facts: Seen) -> tuple[float, str]:
    """The largest share of a subflow's time in which its path carried nothing, and why."""
    causes = flow["causes"] or {}
    not_up = causes.get("not_up", 0.0) - facts.after_fin
    return max((causes.get("failed", 0.0), "failed"), (not_up, "not_up"))


def _saturated(connection: Mapping[str, Any], facts: Seen) -> str:
    """Every path was saturated for most of the time."""
    paths = len(path_capacities(connection["subflows"]))
    flow = max(connection["subflows"], key=lambda flow: _away(flow, facts))
    share, cause = _away(flow, facts)
    if share >= _SHOWN:
        told = CAUSES[cause]
        return say.SATURATED_WHILE_UP(
            paths=paths, subflow=_name(flow), cause=told.name, share=units.percent(share), remedy=told.remedy
        )
    recovery = connection["causes"]["recovery"]
    part = connection["goodput_mbps"] / (connection["paths_mbps"] or float("inf"))
    if recovery >= _REPAIRS and part < _NEARLY_ALL:
        remedy = CAUSES["recovery"].remedy
        return say.SATURATED_RECOVERY(paths=paths, share=units.percent(recovery), remedy=remedy)
    if part < _NEARLY_ALL and not connection["paths_are_lower_bounds"]:
        return say.SATURATED_PART(paths=paths, share=units.percent(part))
    return say.SATURATED(paths=paths)


def _are_full(connection: Mapping[str, Any], facts: Seen) -> bool:
    """Packets waited before the slowest link of every path for most of the time."""
    flows = connection["subflows"]
    return all(flow["saturated_s"] >= _SATURATED * _worked(flow, facts) for flow in flows)


def _links_limit(connection: Mapping[str, Any], facts: Seen) -> bool:
    """Nothing but faster links would help: the run says so, or full paths deliver nearly all that they can carry."""
    limited = connection["limits"] or {}
    if limited and max(limited, key=lambda name: limited[name]) == "link":
        return True
    most = connection["goodput_mbps"] >= _NEARLY_ALL * (connection["paths_mbps"] or float("inf"))
    return most and _are_full(connection, facts)


def _not_up(connection: Mapping[str, Any], facts: Seen) -> str:
    """The only subflow was not established for most of the time: before its handshake ended, or after the FIN."""
    share = connection["causes"]["not_up"]
    handshake = share - facts.after_fin
    if facts.after_fin > 2 * handshake:
        return say.MAIN_CAUSE_AFTER_FIN(share=units.percent(facts.after_fin))
    if facts.repeated_syns:
        return say.MAIN_CAUSE_SYNS(share=units.percent(handshake), count=facts.repeated_syns)
    if facts.after_fin >= _SHOWN:
        after = units.percent(facts.after_fin)
        return say.MAIN_CAUSE_HANDSHAKE_AND_FIN(share=units.percent(handshake), after=after)
    return say.MAIN_CAUSE_HANDSHAKE(share=units.percent(handshake))


def _help(connection: Mapping[str, Any], facts: Seen) -> str:
    causes, main = connection["causes"], connection["main_cause"]
    if connection["incomplete"]:
        return say.MAIN_CAUSE_INCOMPLETE()
    if not causes:
        return say.REMEDY_UNKNOWN()
    used = connection["goodput_mbps"] >= _USED * (connection["paths_mbps"] or float("inf"))
    by_window = main == "cwnd" or (main in connection["indistinct"] and used)
    if by_window and _are_full(connection, facts):
        return _saturated(connection, facts)
    if _links_limit(connection, facts):
        link = (connection["limits"] or {}).get("link", 1.0)
        if link < _SATURATED and not _are_full(connection, facts):
            told = CAUSES["link"]
            return say.MAIN_CAUSE(cause=told.name, share=units.percent(link), remedy=told.remedy)
        return _saturated(connection, facts)
    if main in connection["indistinct"] and _is_far(connection):
        return say.MAIN_CAUSE_OPEN_AT_RECEIVER(cause=CAUSES[main].name)
    if main in connection["indistinct"] and is_close(connection):
        return say.MAIN_CAUSE_CLOSE(causes=_either(open_names(connection)))
    if main in connection["indistinct"]:
        host = say.SENDER_OR_RECEIVER if "receive_window" in connection["indistinct"] else say.SENDER
        return say.MAIN_CAUSE_OPEN_AT_SENDER(host=host(), causes=_either(open_names(connection)))
    if main == "not_up" and len(connection["subflows"]) == 1:
        return _not_up(connection, facts)
    remedy = CAUSES[main].remedy
    if main == "head_of_line" and not _has_blocker(connection):
        remedy = say.REMEDY_WITHOUT_BLOCKER()
    if main == "application":
        return say.MAIN_CAUSE_APPLICATION(share=units.percent(causes[main]), remedy=remedy)
    found = say.MAIN_CAUSE(cause=CAUSES[main].name, share=units.percent(causes[main]), remedy=remedy)
    return " ".join([found, *_buffer_too(connection)])


def _worked(flow: Mapping[str, Any], facts: Seen) -> float:
    """For how long a subflow's path was there, s."""
    away = sum((flow["causes"] or {}).get(cause, 0.0) for cause in ("failed", "not_up")) - facts.after_fin
    return float((flow["measured_s"] or 0.0) * (1 - away))


def _buffer_too(connection: Mapping[str, Any]) -> list[str]:
    """Where the congestion window is waited for, a buffer that was full now and then: it may have kept that small.

    A window grows only while it is used in full (RFC 7661 3), and what a buffer held back leaves in one burst after.
    """
    causes = connection["causes"]
    if connection["main_cause"] != "cwnd":
        return []
    buffer = max(_BUFFERS, key=lambda cause: causes[cause])
    if causes[buffer] < _NOW_AND_THEN or buffer in connection["indistinct"]:
        return []
    told = CAUSES[buffer]
    return [say.BUFFER_TOO(buffer=told.name, share=units.percent(causes[buffer]), remedy=told.remedy)]
