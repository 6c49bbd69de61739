"""Two results beside each other."""

import difflib
from typing import TYPE_CHECKING, Any

from anabranch import units
from anabranch.labels import connections_of
from anabranch.tables import aligned

if TYPE_CHECKING:
    from anabranch.results import Run

_FIELDS = (
    ("goodput_mbps", "goodput (Mbit/s)"),
    ("completion_s", "completion (s)"),
    ("first_byte_s", "first octet read (s)"),
    ("bytes_delivered", "octets read"),
    ("ooo_ratio", "out-of-order ratio"),
    ("ooo_buffer_max_packets", "reordering buffer, max. (packets)"),
    ("ooo_buffer_max_bytes", "reordering buffer, max. (octets)"),
    ("segments", "data segments"),
)
_SUBFLOW_FIELDS = (
    ("goodput_mbps", "goodput (Mbit/s)"),
    ("utilisation", "utilisation"),
    ("retransmissions_fast", "fast retransmissions"),
    ("retransmissions_timeout", "timeout retransmissions"),
    ("spurious", "spurious"),
    ("srtt_ms", "srtt (ms)"),
    ("cwnd_mean_segments", "mean cwnd (segments)"),
    ("queue_drops", "queue drops"),
)


def compare(first: "Run", second: "Run", names: tuple[str, str]) -> str:
    """A table of both summaries with the ratio second / first, then what differs between the scenarios."""
    a, b = first.summary, second.summary
    rows = [["", *names, "ratio"], ["status", a["status"], b["status"], ""]]
    rows += [_row(label, a[key], b[key]) for key, label in _FIELDS]
    ours, theirs = connections_of(a), connections_of(b)
    for c in range(max(len(ours), len(theirs))):
        flows = [x[c]["subflows"] if c < len(x) else [] for x in (ours, theirs)]
        prefix = f"connection {c}, " if len(ours) > 1 or len(theirs) > 1 else ""
        for s in range(max(map(len, flows))):
            pair = [x[s] if s < len(x) else {} for x in flows]
            path = (pair[0] or pair[1])["path"]
            rows.append(["", "", "", ""])
            rows.append([f"{prefix}path {path}", "", "", ""])
            rows += [_row("  " + label, pair[0].get(key), pair[1].get(key)) for key, label in _SUBFLOW_FIELDS]
    return "\n".join([*aligned(rows), "", *_scenarios(first, second, names)])


def _row(label: str, a: Any, b: Any) -> list[str]:
    ratio = units.significant(b / a, 4) if a and b is not None else ""
    return [label, _number(a), _number(b), ratio]


def _number(value: float | int | None) -> str:
    if value is None:
        return "-"
    return str(value) if isinstance(value, int) else units.significant(value, 4)


def _scenarios(first: "Run", second: "Run", names: tuple[str, str]) -> list[str]:
    if first.summary["trace_sha256"] == second.summary["trace_sha256"]:
        return ["same trace: every protocol event is the same"]
    lines = []
    if first.provenance.version != second.provenance.version or first.provenance.commit != second.provenance.commit:
        lines.append(f"versions differ: {_version(first)} and {_version(second)}")
    if first.toml == second.toml:
        return [*lines, "same scenario, different trace"]
    changes = difflib.unified_diff(first.toml.splitlines(), second.toml.splitlines(), *names, lineterm="", n=1)
    return [*lines, "the scenarios differ:", *changes]


def _version(run: "Run") -> str:
    provenance = run.provenance
    return provenance.version + (f" ({provenance.commit})" if provenance.commit else "")
