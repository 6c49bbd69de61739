"""What applications got, in words: how long pages and messages took, how often a film stopped."""

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
    if "reverse" in summary:
        other = summary["reverse"]
        amount, rate = units.octets(other["bytes_delivered"]), units.rate(other["goodput_mbps"] * 1e6)
        lines.append(f"the other way: {amount} read at {rate}")
    if "page_load_s" in summary:
        load = summary["page_load_s"]
        lines.append("the page was not loaded" if load is None else f"page loaded in {units.time(load)}")
    if "datagram_delay_ms" in summary:
        jitter, loss = summary["jitter_ms"], summary["datagram_loss"]
        varied = "" if jitter is None else f", jitter {units.time(jitter / 1e3)}"
        lines.append(f"datagrams: {_within(summary['datagram_delay_ms'])}{varied}, {units.percent(loss)} lost")
    if "startup_s" in summary:
        lines.append(_film(summary))
    for key, what in (("message", "messages"), ("object", "objects"), ("segment", "segments")):
        if f"{key}_latency_ms" in summary:
            late = summary.get("deadline_missed") if key == "message" else None
            missed = "" if late is None else f"; {units.percent(late)} missed their deadline"
            lines.append(f"{what}: {_within(summary[f'{key}_latency_ms'])}{missed}")
    return lines


def _film(summary: Mapping[str, Any]) -> str:
    """When it began, how often it stopped, how good it looked.

    >>> _film({"startup_s": 0.5, "rebuffering_s": 3.0, "rebuffering_count": 2, "bitrate_mean_mbps": 2.5,
    ...        "bitrate_switches": 1})
    'film began after 500 ms and stopped 2 times, for 3 s in all; 2.5 Mbit/s, changed once'
    """
    if summary["startup_s"] is None:
        return "the film never began"
    stops, changes = summary["rebuffering_count"], summary["bitrate_switches"]
    stood = f"stopped {_times(stops)}, for {units.time(summary['rebuffering_s'])} in all" if stops else "never stopped"
    rate = units.rate(summary["bitrate_mean_mbps"] * 1e6)
    return f"film began after {units.time(summary['startup_s'])} and {stood}; {rate}, changed {_times(changes)}"


def _times(n: int) -> str:
    return {0: "never", 1: "once"}.get(n, f"{n} times")


def _within(latencies: Mapping[str, float | None]) -> str:
    known = [(name, latencies.get(key)) for key, name in _PERCENTILES.items()]
    if any(value is None for _, value in known):
        return "none arrived"
    (first, value), *others = [(name, units.time(value / 1e3)) for name, value in known if value is not None]
    return ", ".join([f"{first} within {value}", *(f"{name} {value}" for name, value in others)])
