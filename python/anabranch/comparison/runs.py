"""Two runs beside each other."""

import difflib
from typing import TYPE_CHECKING

from anabranch.alike import CHOICE, why
from anabranch.comparison.rows import Pair, by_place, known, table
from anabranch.labels import connections_of
from anabranch.tables import aligned

if TYPE_CHECKING:
    from anabranch.run_data import RunData

FIELDS = (
    ("status", "status"),
    ("goodput_mbps", "goodput (Mbit/s)"),
    ("completion_s", "completion (s)"),
    ("first_byte_s", "first octet read (s)"),
    ("bytes_delivered", "octets read"),
    ("reverse.goodput_mbps", "goodput the other way (Mbit/s)"),
    ("longest_gap_s", "longest time without data (s)"),
    ("recovery_max_s", "longest recovery (s)"),
    ("message_latency_ms.p50", "message latency, median (ms)"),
    ("message_latency_ms.p95", "message latency, 95 % (ms)"),
    ("message_latency_ms.p99", "message latency, 99 % (ms)"),
    ("message_latency_ms.p999", "message latency, 99.9 % (ms)"),
    ("datagram_delay_ms.p50", "datagram delay, median (ms)"),
    ("datagram_delay_ms.p99", "datagram delay, 99 % (ms)"),
    ("jitter_ms", "jitter (ms)"),
    ("datagram_loss", "datagrams lost"),
    ("page_load_s", "page load (s)"),
    ("object_latency_ms.p50", "object latency, median (ms)"),
    ("object_latency_ms.p95", "object latency, 95 % (ms)"),
    ("startup_s", "start of the film (s)"),
    ("rebuffering_s", "rebuffering (s)"),
    ("rebuffering_count", "stops of the film"),
    ("bitrate_mean_mbps", "mean bit rate (Mbit/s)"),
    ("bitrate_switches", "changes of the bit rate"),
    ("deadline_missed", "messages that missed their deadline"),
    ("ooo_ratio", "out-of-order ratio"),
    ("ooo_buffer_max_packets", "reordering buffer, max. (packets)"),
    ("ooo_buffer_max_bytes", "reordering buffer, max. (octets)"),
    ("segments", "data segments"),
    ("choice_ratio", "segments with a choice"),
)
SUBFLOW_FIELDS = (
    ("goodput_mbps", "goodput (Mbit/s)"),
    ("utilisation", "utilisation"),
    ("retransmissions_fast", "fast retransmissions"),
    ("retransmissions_timeout", "timeout retransmissions"),
    ("spurious", "spurious"),
    ("srtt_ms", "srtt (ms)"),
    ("cwnd_mean_segments", "mean cwnd (segments)"),
    ("queue_drops", "queue drops"),
)

_LONG = 200


def text(first: "RunData", second: "RunData", names: tuple[str, str]) -> str:
    """A table of both summaries with the ratio second / first, then what differs between the scenarios."""
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
    lines = []
    if len(pairs) > 1:
        whole = (first.summary, second.summary)
        rows = known((*FIELDS, ("jain", "Jain's index of the goodputs")), whole)
        lines = [*aligned([["all connections", *names, "ratio"], *rows]), ""]
    return "\n".join([*lines, *table(names, pairs, FIELDS, SUBFLOW_FIELDS), "", *_scenarios(first, second, names)])


def _scenarios(first: "RunData", second: "RunData", names: tuple[str, str]) -> list[str]:
    if first.summary["trace_sha256"] == second.summary["trace_sha256"]:
        same = "same trace: every protocol event is the same"
        if first.toml == second.toml:
            return [same]
        reason = why("runs", [first.summary.get(CHOICE)])
        lines = [
            f"{same}, so what differs between the scenarios made no difference" + (f"; {reason}" if reason else "")
        ]
        return [*lines, *changes(first.toml, second.toml, names)]
    lines = []
    if first.provenance.version != second.provenance.version or first.provenance.commit != second.provenance.commit:
        lines.append(f"versions differ: {_version(first)} and {_version(second)}")
    if first.toml == second.toml:
        return [*lines, "same scenario, different trace"]
    return [*lines, "the scenarios differ:", *changes(first.toml, second.toml, names)]


def changes(first: str, second: str, names: tuple[str, str]) -> list[str]:
    """What differs between two texts; of a long line, such as the stamps of a trace, its beginning."""
    lines = difflib.unified_diff(first.splitlines(), second.splitlines(), *names, lineterm="", n=1)
    return [line if len(line) <= _LONG else f"{line[:_LONG]} ..." for line in lines]


def _version(run: "RunData") -> str:
    provenance = run.provenance
    return provenance.version + (f" ({provenance.commit})" if provenance.commit else "")
