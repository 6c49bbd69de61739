"""The JSON of iperf3: the rate of each interval that it reports, as a trace."""

import json
import math
from typing import Any

from anabranch.measures import units
from anabranch.traces.reading import Found, TraceError, Wanted, cut
from anabranch.traces.writing import stamps

_SLACK = 0.01
"""Seconds by which an interval may begin before the end of the one before: iperf3's clocks are not exact."""


def read(name: str, text: str, wanted: Wanted) -> Found:
    """Returns the stamps of a trace."""
    report = _report(name, text)
    rates: list[tuple[float, float]] = []
    omitted, end = 0, 0.0
    for n, interval in enumerate(report["intervals"]):
        begin, until, rate = _interval(f"{name}: intervals[{n}]", interval)
        if interval["sum"].get("omitted"):
            omitted += 1
            continue
        if rates and begin < end - _SLACK:
            raise TraceError(
                f"{name}: intervals[{n}] begins at {begin:g} s, before the interval above ends ({end:g} s); "
                "run the test again"
            )
        if rates and begin > end + _SLACK:
            if wanted.gaps == "refuse":
                remedy = "--gaps zero assumes a rate of zero for this time, --gaps hold repeats the rate before it"
                raise TraceError(f"{name}: no interval from {end:g} s to {begin:g} s; {remedy}")
            if wanted.gaps == "zero":
                rates.append((end, 0.0))
        rates.append((max(begin, end) if rates else begin, rate))
        end = until
    if not rates:
        raise TraceError(f"{name}: all intervals belong to the warm-up (omitted); run a longer test")
    first = rates[0][0]
    rates, length = cut([(t - first, rate) for t, rate in rates], end - first, wanted, name)
    return Found(stamps(rates, length, name), [_said(name, report, length), *_left_out(name, report, omitted)])


def _report(name: str, text: str) -> dict[str, Any]:
    try:
        report = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TraceError(f"{name}: not the whole JSON of one iperf3 test ({error}); run `iperf3 --json`") from None
    if not isinstance(report, dict) or not isinstance(report.get("intervals"), list):
        raise TraceError(f"{name}: no JSON of iperf3: it has no list of intervals; run `iperf3 --json`")
    if not report["intervals"]:
        why = f"; iperf3 says: {report['error']}" if report.get("error") else ""
        raise TraceError(f"{name}: the test has no intervals{why}; run it again")
    return report


def _interval(place: str, interval: Any) -> tuple[float, float, float]:
    """Returns begin and end (s) and the rate (bit/s) of all streams together."""
    total = interval.get("sum") if isinstance(interval, dict) else None
    if not isinstance(total, dict):
        raise TraceError(f"{place}: no sum of the streams; run `iperf3 --json`")
    values = [total.get(key) for key in ("start", "end", "bits_per_second")]
    for key, value in zip(("start", "end", "bits_per_second"), values, strict=True):
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < math.inf:
            raise TraceError(f"{place}.sum.{key}: {value!r} is not a finite number from 0 on")
    begin, end, rate = (float(value or 0) for value in values)
    if end <= begin:
        raise TraceError(f"{place}.sum: begins at {begin:g} s and ends at {end:g} s; the end must be later")
    return begin, end, rate


def _said(name: str, report: dict[str, Any], length: float) -> str:
    sender = report["intervals"][0]["sum"].get("sender")
    end = {True: "as sent", False: "as received"}.get(sender, "at the end that wrote the file")
    return f"{name}: rate of all streams in each interval, {end}; {length:.6g} s"


def _left_out(name: str, report: dict[str, Any], omitted: int) -> list[str]:
    are = "is" if omitted == 1 else "are"
    notes = (
        [f"{name}: {units.count(omitted, 'interval')} of iperf3's warm-up (omitted) {are} left out"] if omitted else []
    )
    if "sum_bidir_reverse" in report["intervals"][0]:
        notes.append(f"{name}: the other direction (sum_bidir_reverse) is not used")
    return notes
