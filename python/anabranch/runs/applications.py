"""What applications got, in words: how long pages and messages took, how often a film stopped."""

from collections.abc import Mapping
from typing import Any

from anabranch.measures import units
from anabranch.measures.table import PERCENTILES
from anabranch.sentences import run as say


def told(summary: Mapping[str, Any]) -> list[str]:
    """Sentences about the applications of a run or a connection; none if nothing is known.

    >>> told({"page_load_s": 1.25, "object_latency_ms": {"p50": 12.0, "p95": 20.0, "p99": 31.0, "p999": 80.5}})[0]
    'page load 1.25 s'
    """
    lines = []
    if "reverse" in summary:
        other = summary["reverse"]
        amount, rate = units.octets(other["bytes_delivered"]), units.rate(other["goodput_mbps"] * 1e6)
        lines.append(say.REVERSE(amount=amount, goodput=rate))
    if "page_load_s" in summary:
        load = summary["page_load_s"]
        lines.append(say.NO_PAGE() if load is None else say.PAGE(time=units.time(load)))
    if "datagram_delay_ms" in summary:
        jitter, loss = summary["jitter_ms"], summary["datagram_loss"]
        values = {"percentiles": _percentiles(summary["datagram_delay_ms"]), "share": units.percent(loss)}
        if jitter is None:
            lines.append(say.DATAGRAMS(**values))
        else:
            lines.append(say.DATAGRAMS_JITTER(jitter=units.time(jitter / 1e3), **values))
    if "startup_s" in summary:
        lines.append(_film(summary))
    for key, template in say.LATENCY.items():
        if f"{key}_latency_ms" in summary:
            late = summary.get("deadline_missed") if key == "message" else None
            told_ = _percentiles(summary[f"{key}_latency_ms"])
            if late is None:
                lines.append(template(percentiles=told_))
            else:
                lines.append(say.DEADLINES(percentiles=told_, share=units.percent(late)))
    return lines


def _film(summary: Mapping[str, Any]) -> str:
    """When it began, how often it stopped, how good it looked.

    >>> _film({"startup_s": 0.5, "rebuffering_s": 3.0, "rebuffering_count": 2, "bitrate_mean_mbps": 2.5,
    ...        "bitrate_switches": 1})
    'start of the film 500 ms; 2 stops, 3 s in total; mean bit rate 2.5 Mbit/s, 1 change of quality'
    """
    if summary["startup_s"] is None:
        return say.NO_FILM()
    stops = say.FILM_NO_STOP()
    if summary["rebuffering_count"]:
        stops = say.FILM_STOPS(stops=summary["rebuffering_count"], time=units.time(summary["rebuffering_s"]))
    return say.FILM(
        time=units.time(summary["startup_s"]),
        stops=stops,
        rate=units.rate(summary["bitrate_mean_mbps"] * 1e6),
        changes=summary["bitrate_switches"],
    )


def _percentiles(latencies: Mapping[str, float | None]) -> str:
    parts = []
    for key, words in PERCENTILES.items():
        value = latencies.get(key)
        if value is None:
            return say.NONE_ARRIVED()
        parts.append(say.PERCENTILE(percentile=words, time=units.time(value / 1e3)))
    return ", ".join(parts)
