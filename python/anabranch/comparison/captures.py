"""Two analyses of captures beside each other: before a change, and after.

Ports of clients are other ones each time, and so may be addresses. So connections belong together if they go to the
same server, in their order; and subflows if they join the same two addresses. Where only one is left on each side,
these belong together, too: whoever captures one connection twice compares these two.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anabranch.captures.text import seen_from
from anabranch.comparison.rows import Both, Fields, Pair, table
from anabranch.measures.labels import connections_of
from anabranch.sentences import sweep as say
from anabranch.tables import Document

if TYPE_CHECKING:
    from anabranch.captures.data import CaptureData

FIELDS: Fields = dict.fromkeys(
    (
        "status",
        "data_from",
        "goodput_mbps",
        "completion_s",
        "first_byte_s",
        "last_byte_s",
        "bytes_delivered",
        "ooo_ratio",
        "ooo_buffer_max_packets",
        "ooo_buffer_max_bytes",
        "hol_delay_ms.p95",
        "segments",
        "reinjections",
        "fallback",
        "missing_bytes",
    ),
    "",
)
SUBFLOW_FIELDS: Fields = {
    "goodput_mbps": "",
    "segments": "",
    "retransmissions_fast": " (?)",
    "retransmissions_timeout": " (?)",
    "spurious": "",
    "rtt_min_ms": "",
    "srtt_ms": "",
    "one_way_delay_ms.p50": "",
}

INFERRED = say.INFERRED()


def paired(first: "CaptureData", second: "CaptureData") -> list[Pair]:
    """Return connections and subflows that belong together."""
    ours, theirs = (connections_of(capture.summary) for capture in (first, second))
    pairs = []
    for both in matched(ours, theirs, _server):
        before, after = ([] if side is None else side["subflows"] for side in both)
        flows = matched(before, after, _addresses)
        pairs.append(Pair(_named(both, "name"), both, [(_flow_named(pair), pair) for pair in flows]))
    return pairs


def document(first: "CaptureData", second: "CaptureData", names: tuple[str, str]) -> Document:
    """A table of both summaries with the ratio second / first, and what to bear in mind."""
    pairs = paired(first, second)
    lines = [f"{name}: {', '.join(capture.files)}" for name, capture in zip(names, (first, second), strict=True)]
    return Document([*lines, "", table(names, pairs, FIELDS, SUBFLOW_FIELDS), "", *_notes(pairs, names)])


def matched(
    ours: Sequence[Mapping[str, Any]], theirs: Sequence[Mapping[str, Any]], key: Callable[[Mapping[str, Any]], Any]
) -> list[Both]:
    """What has the same key belongs together, in order; so do the two that are left if there is one on each side."""
    left = list(theirs)
    pairs: list[Both] = []
    for one in ours:
        other = next((x for x in left if key(x) == key(one)), None)
        if other is not None:
            left.remove(other)
        pairs.append((one, other))
    alone = [i for i, (_, other) in enumerate(pairs) if other is None]
    if len(alone) == 1 and len(left) == 1:
        pairs[alone[0]] = (pairs[alone[0]][0], left.pop())
    return [*pairs, *((None, other) for other in left)]


def _server(connection: Mapping[str, Any]) -> Any:
    flows = connection["subflows"]
    return flows[0]["server"] if flows else ""


def _addresses(flow: Mapping[str, Any]) -> tuple[str, str]:
    return _address(flow["client"]), _address(flow["server"])


def _address(endpoint: str) -> str:
    return endpoint.rpartition(":")[0]


def _named(both: Both, key: str) -> str:
    names = dict.fromkeys(str(side[key]) for side in both if side is not None)
    return " | ".join(names)


def _flow_named(both: Both) -> str:
    names = dict.fromkeys(" - ".join(_addresses(side)) for side in both if side is not None)
    return " | ".join(names)


def _notes(pairs: Sequence[Pair], names: tuple[str, str]) -> list[str]:
    notes = []
    for place, name in enumerate(names):
        sides = [side for pair in pairs if (side := pair.both[place]) is not None]
        places = ", ".join(dict.fromkeys(seen_from(side) for side in sides))
        estimated = sum(bool(side["estimated"]) for side in sides)
        if 0 < estimated < len(sides):
            notes.append(say.ESTIMATED_SOME(name=name, places=places, count=estimated, total=len(sides)))
        else:
            notes.append((say.ESTIMATED if estimated else say.CAPTURED)(name=name, places=places))
    return [*notes, INFERRED]
