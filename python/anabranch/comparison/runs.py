"""Two runs beside each other."""

import difflib
from typing import TYPE_CHECKING

from anabranch.comparison.rows import Fields, Pair, by_place, table, whole
from anabranch.measures.labels import connections_of
from anabranch.sentences import sweep as say
from anabranch.sweeps.comparable import CHOICE, why
from anabranch.tables import Document, Listed, Table

if TYPE_CHECKING:
    from anabranch.runs.data import RunData

FIELDS: Fields = dict.fromkeys(
    (
        "status",
        "goodput_mbps",
        "completion_s",
        "first_byte_s",
        "bytes_delivered",
        "reverse.goodput_mbps",
        "longest_gap_s",
        "recovery_max_s",
        "message_latency_ms.p50",
        "message_latency_ms.p95",
        "message_latency_ms.p99",
        "message_latency_ms.p999",
        "datagram_delay_ms.p50",
        "datagram_delay_ms.p99",
        "jitter_ms",
        "datagram_loss",
        "page_load_s",
        "object_latency_ms.p50",
        "object_latency_ms.p95",
        "startup_s",
        "rebuffering_s",
        "rebuffering_count",
        "bitrate_mean_mbps",
        "bitrate_switches",
        "deadline_missed",
        "ooo_ratio",
        "ooo_buffer_max_packets",
        "ooo_buffer_max_bytes",
        "segments",
        "choice_ratio",
    ),
    "",
)
SUBFLOW_FIELDS: Fields = dict.fromkeys(
    (
        "goodput_mbps",
        "utilisation",
        "retransmissions_fast",
        "retransmissions_timeout",
        "spurious",
        "srtt_ms",
        "cwnd_mean_segments",
        "queue_drops",
    ),
    "",
)

_LONG = 200


def paired(first: "RunData", second: "RunData") -> list[Pair]:
    """Return connections and subflows that belong together: those at the same place."""
    ours, theirs = (connections_of(run.summary) for run in (first, second))
    pairs = []
    for both in by_place(ours, theirs):
        flows = by_place(*([] if side is None else side["subflows"] for side in both))
        named = next(side for side in both if side is not None)
        pairs.append(
            Pair(
                named["name"],
                both,
                [(f"path {next(x['path'] for x in pair if x is not None)}", pair) for pair in flows],
            )
        )
    return pairs


def document(first: "RunData", second: "RunData", names: tuple[str, str]) -> Document:
    """A table of both summaries with the ratio second / first, then what differs between the scenarios."""
    pairs = paired(first, second)
    parts: list[Table | str] = []
    if len(pairs) > 1:
        summaries = (first.summary, second.summary)
        parts += [whole(say.ALL_CONNECTIONS(), names, {**FIELDS, "jain": ""}, summaries), ""]
    return Document([*parts, table(names, pairs, FIELDS, SUBFLOW_FIELDS), "", *_scenarios(first, second, names)])


def _scenarios(first: "RunData", second: "RunData", names: tuple[str, str]) -> list[str]:
    if first.summary["trace_sha256"] == second.summary["trace_sha256"]:
        if first.toml == second.toml:
            return [say.SAME_TRACE()]
        reason = why("runs", [first.summary.get(CHOICE)])
        lines = [" ".join(filter(None, [say.SAME_TRACE_OTHER_SCENARIO(), reason]))]
        return [*lines, *changes(first.toml, second.toml, names)]
    lines = []
    if first.provenance.version != second.provenance.version or first.provenance.commit != second.provenance.commit:
        lines.append(say.VERSIONS_DIFFER(first=_version(first), second=_version(second)))
    if first.toml == second.toml:
        return [*lines, say.SAME_SCENARIO()]
    return [*lines, say.SCENARIOS_DIFFER(), *changes(first.toml, second.toml, names)]


def changes(first: str, second: str, names: tuple[str, str]) -> list[str]:
    """What differs between two texts; of a long line, such as the stamps of a trace, its beginning."""
    lines = difflib.unified_diff(first.splitlines(), second.splitlines(), *names, lineterm="", n=1)
    return [Listed(line if len(line) <= _LONG else f"{line[:_LONG]} ...") for line in lines]


def _version(run: "RunData") -> str:
    provenance = run.provenance
    return provenance.version + (f" ({provenance.commit})" if provenance.commit else "")
