"""LENS, the measurements of Starlink dishes by the University of Victoria (Zhao and Pan, ACM MMSys 2024), as tables.

``timestamp,rtt`` is of `ping`, with the time of each answer; ``timestamp,rtt,uplink,downlink`` of `irtt`, with the time
of each probe and the delay of each direction. -1 stands for a probe that was lost, in the column of the direction.
"""

import math
from statistics import fmean

from anabranch.traces import ping
from anabranch.traces.instants import instants, together
from anabranch.traces.reading import Found, TraceError, Wanted, cut
from anabranch.traces.table import Table, table
from anabranch.traces.writing import changing

COLUMNS = ("timestamp", "rtt", "uplink", "downlink")
LOST = -1.0


_Way = tuple[float | None, float | None, bool, bool]
"""Delay up and down where they were measured, and whether the probe was lost on the way up, down."""


def read(name: str, text: str, wanted: Wanted) -> Found:
    """Returns keys of a link."""
    found = table(name, text)
    clock = found.find(None, COLUMNS[:1], "the time")
    rtt = found.find(None, COLUMNS[1:2], "the round-trip time")
    measured = [name for name in (found.called(column) for column in COLUMNS[2:]) if name]
    if not measured:
        keys = ping.keys(name, _pings(found, clock, rtt), wanted)
        return Found(keys, [f"{name}: half of each round-trip time goes to each direction", *found.unused()])
    if len(measured) == 1:
        lacking = next(column for column in COLUMNS[2:] if not found.called(column))
        remedy = "give both columns, or neither (then half of rtt goes to each direction)"
        raise TraceError(f"{name}: {measured[0]} without {lacking}; {remedy}; columns: {found.columns()}")
    up, down = (found.find(column, (), "") for column in COLUMNS[2:])
    probes = [_ways(found, line, row, (rtt, up, down)) for line, row in found.rows]
    merged = instants(found.times(clock).when, probes)
    when = [t for t, _ in merged]
    if len(when) < 2:
        raise TraceError(f"{name}: probes at fewer than two times; delays need at least two")
    far = next((i for i in range(1, len(when)) if when[i] - when[i - 1] > ping.GAP), None)
    if far is not None and wanted.gaps != "hold":
        line = found.rows[sum(len(same) for _, same in merged[:far])][0]
        remedy = "--gaps hold repeats the delay before it"
        raise TraceError(f"{name}, line {line}: no probe from {when[far - 1]:.1f} s to {when[far]:.1f} s; {remedy}")
    end = when[-1] + (when[-1] - when[0]) / (len(when) - 1)
    piece, end = cut([(t, _one(same)) for t, same in merged], end, wanted, name)
    ways = [ping.coarse([(t, both[i]) for t, both in _held(name, piece, wanted)], wanted.resolution) for i in (0, 1)]
    said = f"{name}: {len(when)} probes, from {wanted.begin:g} s, {end:.6g} s long"
    return Found(changing([said], _merged(ways)), [*together(name, len(probes) - len(when)), *found.unused()])


def _one(probes: list[_Way]) -> _Way:
    """Returns the mean of probes that were sent at one instant; it is lost in a direction if all were."""
    up = [probe[0] for probe in probes if probe[0] is not None]
    down = [probe[1] for probe in probes if probe[1] is not None]
    return (
        fmean(up) if up else None,
        fmean(down) if down else None,
        all(probe[2] for probe in probes),
        all(probe[3] for probe in probes),
    )


def _pings(found: Table, clock: str, column: str) -> list[tuple[float, float]]:
    answered = []
    for received, (line, row) in zip(found.times(clock).when, found.rows, strict=True):
        rtt = _value(found, line, row, column)
        if rtt is not None:
            answered.append((received - rtt, rtt))
    first = min(answered, default=(0.0, 0.0))[0]
    return sorted((sent - first, rtt) for sent, rtt in answered)


def _value(found: Table, line: int, row: tuple[str, ...], column: str) -> float | None:
    """Returns a delay in s, None if the probe was lost."""
    if found.cell(row, column) in ("-1", "-1.0"):
        return None
    value = found.number(line, row, column)
    return None if math.isnan(value) else value / 1e3


def _ways(found: Table, line: int, row: tuple[str, ...], columns: tuple[str, str, str]) -> _Way:
    rtt, up, down = (_value(found, line, row, column) for column in columns)
    if rtt is None:
        return None, None, True, True
    if up is None or down is None:
        return None, None, up is None, down is None
    return up, down, False, False


def _held(
    name: str, rows: list[tuple[float, _Way]], wanted: Wanted
) -> list[tuple[float, tuple[tuple[float, bool], tuple[float, bool]]]]:
    """A lost probe says nothing of the delay, so that of the one before holds."""
    last = [next((row[i] for _, row in rows if row[i] is not None), None) for i in (0, 1)]
    if None in last:
        lacks = "has a delay in both directions (uplink and downlink)"
        if wanted.begin == 0 and wanted.length == math.inf:
            raise TraceError(f"{name}: no probe of the file {lacks}")
        remedy = "choose another part with --from and --length"
        raise TraceError(f"{name}: no probe of this part of the file {lacks}; {remedy}")
    found = []
    for t, row in rows:
        last = [row[i] if row[i] is not None else last[i] for i in (0, 1)]
        found.append((t, ((float(last[0] or 0), row[2]), (float(last[1] or 0), row[3]))))
    return found


def _merged(ways: list[list[tuple[float, tuple[float, ...], bool]]]) -> list[tuple[float, dict[str, str]]]:
    rows: dict[float, dict[str, str]] = {}
    for way, found in zip(("_up", "_down"), ways, strict=True):
        for t, delays, lost in found:
            rows.setdefault(t, {}).update({f"{key}{way}": value for key, value in ping.words(delays, lost).items()})
    return sorted(rows.items())
