"""From what the engine found in captures to judgements: capacity, delay, queue, losses, causes."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from anabranch import _core
from anabranch.captures.data import CaptureData
from anabranch.diagnosis.capacities import path_capacities
from anabranch.diagnosis.notes import notes
from anabranch.diagnosis.seen import Seen, seen
from anabranch.diagnosis.unknown import unknown
from anabranch.diagnosis.verdict import verdict
from anabranch.diagnosis.whole import few_missing, incomplete
from anabranch.measures.causes import CAUSES, SENDERS_OPEN, SENDERS_OWN
from anabranch.measures.labels import connections_of
from anabranch.sentences import diagnose as say

CLOSE = 0.05
"""Shares that are so close cannot be ranked: most of them are right within that (docs/validation/diagnoses.md)."""

RATE_SECONDS = 0.5
"""Of a busy link each rate in `saturated_mbps` is from so many seconds (crates/capture/src/waiting/capacity.rs)."""


def diagnose_captures(files: Sequence[str], poll: Callable[[int, int], None] | None = None) -> dict[str, Any]:
    """The diagnosis of the connections in `files`."""
    return examined(files, poll)[0]


Given = Callable[[dict[str, Any], bool], None]
"""Adds to a summary what the user knows of the paths; the second argument: the capture still goes on."""


def examined(
    files: Sequence[str],
    poll: Callable[[int, int], None] | None = None,
    every: float | None = None,
    told: Callable[[dict[str, Any]], None] | None = None,
    given: Given = lambda summary, partial: None,
) -> tuple[dict[str, Any], CaptureData]:
    """The diagnosis of the connections in `files`, and these as they were analysed.

    `told` gets what the diagnosis is so far, after `every` seconds of capture.
    """

    def read(text: str, *, partial: bool) -> dict[str, Any]:
        summary: dict[str, Any] = json.loads(text)
        given(summary, partial)
        return summary

    tell = None if told is None else lambda text: told(diagnosis(read(text, partial=True), files))
    every = None if told is None else every
    core = _core.analyze(list(files), poll, None, True, every, tell)
    summary = read(core.summary, partial=False)
    return diagnosis(summary, files, interrupted=core.interrupted), CaptureData(summary, tuple(files), core)


def diagnosis(summary: Mapping[str, Any], files: Sequence[str], *, interrupted: bool = False) -> dict[str, Any]:
    """The diagnosis of what the engine found in `files`; `interrupted`, if standard input was not read to its end."""
    capture = summary["capture"]
    unread = bool(capture.get("not_opened") or capture["unknown_link"])
    connections = [connection(c, unread=unread) for c in with_data(summary)]
    return {
        "version": summary["version"],
        "files": list(files),
        "capture": summary["capture"],
        "interrupted": interrupted,
        "grounds": {
            name: {"kind": "fact" if cause.fact else "inference", "ground": cause.ground}
            for name, cause in CAUSES.items()
        },
        "connections": connections,
        "notes": notes(summary["capture"], len(connections)),
    }


def with_data(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The connections in `summary`, of an analysis, that a diagnosis has, in its order."""
    return [c for c in connections_of(summary) if c["bytes_delivered"] or c["segments"]]


def connection(found: Mapping[str, Any], *, unread: bool = False) -> dict[str, Any]:
    """One connection: what its paths could do, what it got, what it waited for.

    `unread`: the capture has packets that could not be read.
    """
    flows = [subflow(flow) for flow in found["subflows"]]
    causes = means(flows)
    places = sorted({place for flow in found["subflows"] for place in flow["captured_at"]})
    far = bool(places) and found["data_from"] not in places
    facts = seen(found)
    indistinct = open_at_receiver(causes, multipath=facts.is_multipath) if far else open_causes(causes, flows)
    lacks = incomplete(found, unread=unread)
    made = {
        "name": found["name"],
        "protocol": found["protocol"],
        "status": found["status"],
        "data_from": found["data_from"],
        "captured_at": places,
        "complete_beginning": found["complete_beginning"],
        "bytes_delivered": found["bytes_delivered"],
        "missing_bytes": found["missing_bytes"],
        "incomplete": lacks,
        "duration_s": found["last_byte_s"],
        "goodput_mbps": found["goodput_mbps"],
        "causes": causes,
        "limits": None,
        "is_known": False,
        "main_cause": main_cause(causes, indistinct) if causes and not lacks else None,
        "indistinct": indistinct,
        "subflows": flows,
        "events": [*few_missing(found), *events(found)],
    }
    return finished(made, facts)


def means(flows: Sequence[Mapping[str, Any]]) -> dict[str, float] | None:
    """Of the shares of those subflows that have some."""
    known = [flow["causes"] for flow in flows if flow["causes"]]
    return {c: sum(f.get(c, 0.0) for f in known) / len(known) for c in CAUSES} if known else None


def finished(made: dict[str, Any], facts: Seen) -> dict[str, Any]:
    """A connection with what follows from its subflows, shares and `facts`: sums, what is not known, sentences."""
    paths = path_capacities(made["subflows"])
    estimates = [path["capacity_mbps"] or path["capacity_at_least_mbps"] for path in paths]
    made["paths_mbps"] = sum(e for e in estimates if e)
    made["paths_are_lower_bounds"] = any(path["capacity_mbps"] is None for path in paths)
    made["unknown"] = unknown(made, facts)
    made["sentences"] = verdict(made, facts)
    return made


def open_at_receiver(causes: Mapping[str, float] | None, *, multipath: bool) -> list[str]:
    """Causes that a capture at the receiver does not tell apart.

    Plain TCP has neither reinjections nor a scheduler. A subflow that falls silent may have failed, or its sender may
    have closed it: a RST that is lost is not seen.
    """
    own = [cause for cause in SENDERS_OWN if multipath or cause not in ("reinjection", "scheduler")]
    if not causes or not causes["failed"]:
        return own
    closed = causes["not_up"] + causes["failed"]
    return ["not_up", *own] if closed > sum(causes[cause] for cause in own) - causes["failed"] - CLOSE else own


def open_causes(causes: Mapping[str, float] | None, flows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Causes that may have taken most of the time, for all that a sender's capture shows; empty if one is certain."""
    known = [flow for flow in flows if flow["causes"]]
    if not causes or not known:
        return []
    first = max(causes, key=lambda cause: causes[cause])
    least, may_be = dict(causes), dict.fromkeys(causes, 0.0)
    open_parts = doubts(causes, known)
    for share, cause, others in open_parts:
        least[cause] -= share
        for other in (cause, *others):
            may_be[other] += share

    def may_be_first(cause: str) -> bool:
        most = least[cause] + may_be[cause]
        # However a part that it is none of is divided, some other cause has its mean.
        away = [share / (1 + len(others)) for share, of, others in open_parts if cause not in (of, *others)]
        return most > (least if may_be[cause] else causes)[first] - CLOSE and most > max(away, default=0.0) - CLOSE

    rivals = [cause for cause in causes if may_be_first(cause)]
    return rivals if set(rivals) - {first} else []


def doubts(causes: Mapping[str, float], flows: Sequence[Mapping[str, Any]]) -> list[tuple[float, str, Sequence[str]]]:
    """Uncertain parts of the time of `flows`: the share, the cause that it counts as, and what else it may be."""

    def mean(shares: Iterable[float]) -> float:
        return sum(shares) / len(flows)

    # Gaps after which data left of themselves, and gaps that an acknowledgement ended, by chance or
    # since it made room.
    by_chance = mean(flow["by_chance"] for flow in flows)
    mixed = min(causes["application"], causes["send_buffer"] - by_chance)
    sending = [cause for cause in SENDERS_OPEN if cause != "cwnd"]
    return [
        # Data kept leaving without any sign of a full window or of a queue: pacing, or a steady
        # source.
        (mean(flow["unproven"] for flow in flows), "cwnd", [*sending, *(["scheduler"] if len(flows) > 1 else [])]),
        # The scheduler kept data off a subflow if the window of another one was full.
        (mean(flow["unproven_choice"] for flow in flows), "scheduler", sending),
        # What limits the packets that wait on the sender's own host?
        (mean(flow["near_window"] for flow in flows), "cwnd", ["send_buffer", "receive_window"]),
        (mean(flow["shaped"] - flow["near_window"] for flow in flows), "cwnd", ["send_buffer"]),
        (by_chance, "send_buffer", ["application"]),
        (mixed, "send_buffer", ["application"]),
        (mixed, "application", ["send_buffer"]),
    ]


def main_cause(causes: Mapping[str, float], indistinct: Sequence[str]) -> str:
    """What took most of the time; of those that cannot be told apart the sum counts, and then the likeliest of them."""
    together = sum(causes[cause] for cause in indistinct)
    known = max((causes[cause] for cause in causes if cause not in indistinct), default=0.0)
    candidates = indistinct if together > known else [cause for cause in causes if cause not in indistinct]
    return max(candidates, key=lambda cause: causes[cause])


def subflow(found: Mapping[str, Any]) -> dict[str, Any]:
    """One subflow, and its path."""
    told = found.get("diagnosis") or {}
    busy, exact = told.get("saturated_mbps") or [], found.get("given_mbps")
    rates = busy if exact is None else [exact]
    base, most = told.get("base_rtt_ms"), told.get("rtt_max_ms")
    # Without acknowledgements nothing can be said of what the sender waited for.
    blind = is_one_way(found) or found["lacks_pure_acks"]
    return {
        "client": found["client"],
        "server": found["server"],
        "path": found["path"],
        "captured_at": found["captured_at"],
        "goodput_mbps": found["goodput_mbps"],
        "segments": found["segments"],
        "causes": None if blind else told.get("causes"),
        "measured_s": told.get("measured_s"),
        "unproven": part_of(told, "cwnd", "cwnd_unproven_s"),
        "shaped": part_of(told, "cwnd", "cwnd_shaped_s"),
        "near_window": part_of(told, "cwnd", "cwnd_near_window_s"),
        "unproven_choice": part_of(told, "scheduler", "scheduler_unproven_s"),
        "by_chance": part_of(told, "send_buffer", "send_buffer_unproven_s"),
        "blocked_others_s": told.get("blocked_s"),
        "base_rtt_ms": base,
        "queue_max_ms": most - base if base is not None and most is not None else None,
        "capacity_mbps": median(rates) if rates else None,
        "capacity_low_mbps": min(rates, default=None),
        "capacity_high_mbps": max(rates, default=None),
        "capacity_at_least_mbps": max(told.get("best_mbps") or 0.0, found["goodput_mbps"] or 0.0) or None,
        "capacity_given": exact is not None,
        "saturated_s": RATE_SECONDS * len(busy),
        "lost_congestion": told.get("lost_congestion"),
        "lost_random": told.get("lost_random"),
        "retransmissions": found["retransmissions"],
        "reinjections": found["reinjections"],
    }


def part_of(told: Mapping[str, Any], cause: str, name: str) -> float:
    """Share of a subflow's time that counts as `cause` and is in the field `name`, in seconds."""
    causes, seconds = told.get("causes") or {}, told.get("measured_s") or 0.0
    return min(causes.get(cause, 0.0), (told.get(name) or 0.0) / seconds) if seconds else 0.0


def is_one_way(found: Mapping[str, Any]) -> bool:
    """Data passed the place of the capture, and no acknowledgement of any did."""
    told = found.get("diagnosis") or {}
    unknown_rtt = told.get("base_rtt_ms") is None and not found["captured_at"]
    return bool(found["segments"]) and unknown_rtt and not found["lacks_pure_acks"]


def events(found: Mapping[str, Any]) -> list[str]:
    """What happened beside the waiting: fallback, checksums, resets, signs of middleboxes. All are facts."""
    told = []
    flows = len(found["subflows"])
    one_way = sum(is_one_way(flow) for flow in found["subflows"])
    if one_way:
        told.append(say.ONE_WAY() if one_way == flows else say.ONE_WAY_OF(flows=one_way))
    receiver = "server" if found["data_from"] == "client" else "client"
    lacking = sum(bool(flow["lacks_pure_acks"]) for flow in found["subflows"])
    if lacking:
        told.append(
            say.NO_PURE_ACKS(receiver=receiver)
            if lacking == flows
            else say.NO_PURE_ACKS_OF(flows=lacking, receiver=receiver)
        )
    if found["fallback"]:
        told.append(say.FALLBACK(reason=found["fallback_reason"]))
    if found["dss_checksums"]["failed"]:
        told.append(say.CHECKSUMS(count=found["dss_checksums"]["failed"]))
    if found["signals"]["mp_fail"]:
        told.append(say.MP_FAIL(count=found["signals"]["mp_fail"]))
    hand = found["handshake"]
    if hand and hand["hmacs_failed"]:
        told.append(say.HMACS(count=hand["hmacs_failed"]))
    if hand and hand["tokens_unmatched"]:
        told.append(say.TOKENS(count=hand["tokens_unmatched"]))
    for flow in found["subflows"]:
        name = f"{flow['client']} - {flow['server']}"
        if flow["reset_by"]:
            told.append(say.RESET(host=flow["reset_by"], subflow=name))
        if flow["damaged"]:
            told.append(say.DAMAGED(count=flow["damaged"], subflow=name))
    return told
