"""What applications got, in words: how long their messages took, and what came too late."""

from collections.abc import Mapping
from typing import Any

from anabranch import units

_PERCENTILES = {"p50": "50 %", "p95": "95 %", "p99": "99 %", "p999": "99.9 %"}


def told(summary: Mapping[str, Any]) -> list[str]:
    """Sentences about the applications of a run or a connection; none if nothing is known.

    >>> told({"message_latency_ms": {"p50": 12.0, "p95": 20.0, "p99": 31.0, "p999": 80.5}, "deadline_missed": 0.012})
    ['messages: 50 % within 12 ms, 95 % 20 ms, 99 % 31 ms, 99.9 % 80.5 ms; 1.2 % missed their deadline']
    """
    lines = []
    if "message_latency_ms" in summary:
        missed = summary.get("deadline_missed")
        late = "" if missed is None else f"; {units.percent(missed)} missed their deadline"
        lines.append(f"messages: {_within(summary['message_latency_ms'])}{late}")
    return lines


def _within(latencies: Mapping[str, float | None]) -> str:
    known = [(name, latencies.get(key)) for key, name in _PERCENTILES.items()]
    if any(value is None for _, value in known):
        return "none arrived"
    (first, value), *others = [(name, units.time(value / 1e3)) for name, value in known if value is not None]
    return ", ".join([f"{first} within {value}", *(f"{name} {value}" for name, value in others)])
