"""LENS, the measurements of Starlink dishes by the University of Victoria (Zhao and Pan, ACM MMSys 2024), as tables.

``timestamp,rtt`` is of `ping`, with the time of each answer; ``timestamp,rtt,uplink,downlink`` of `irtt`, with the time
of each probe and the delay of each direction. -1 stands for a probe that was lost, in the column of the direction.
"""

import math

from anabranch.traces import ping
from anabranch.traces.reading import Table, TraceError, Wanted, cut, table, times
from anabranch.traces.writing import changing

COLUMNS = ("timestamp", "rtt", "uplink", "downlink")
LOST = -1.0


def read(name: str, text: str, wanted: Wanted) -> str:
    """Keys of a link."""
    found = table(name, text)
    clock = found.find(None, COLUMNS[:1], "the time")
    found.find(None, COLUMNS[1:2], "the round-trip time")
    measured = set(COLUMNS[2:]) & set(found.header)
    if not measured:
        return ping.keys(name, _pings(found, clock), wanted)
    if len(measured) == 1:
        lacking = next(column for column in COLUMNS[2:] if column not in measured)
        remedy = "a table has both directions, or neither, and then half of rtt goes to each"
        raise TraceError(f"{name}: {measured.pop()} without {lacking}; {remedy}; columns: {', '.join(found.header)}")
    when = times(found, clock)
    if len(when) < 2:
        raise TraceError(f"{name}: fewer than two probes")
    far = next((i for i in range(1, len(when)) if when[i] - when[i - 1] > ping.GAP), None)
    if far is not None and wanted.gaps != "hold":
        line = found.rows[far][0]
        remedy = "--gaps hold takes it as the delay before it"
        raise TraceError(f"{name}, line {line}: no probe from {when[far - 1]:.1f} s to {when[far]:.1f} s; {remedy}")
    rows = [_ways(found, line, row) for line, row in found.rows]
    end = when[-1] + (when[-1] - when[0]) / (len(when) - 1)
    piece, end = cut(list(zip(when, rows, strict=True)), end, wanted, name)
    ways = [ping.coarse([(t, both[i]) for t, both in _held(piece)], wanted.resolution) for i in (0, 1)]
    said = f"{name}: {len(when)} probes, from {wanted.begin:g} s, {end:.6g} s long"
    return changing([said], _merged(ways))


def _pings(found: Table, clock: str) -> list[tuple[float, float]]:
    answered = []
    for received, (line, row) in zip(times(found, clock, equal=True), found.rows, strict=True):
        rtt = _value(found, line, row, "rtt")
        if rtt is not None:
            answered.append((received - rtt, rtt))
    first = min(answered, default=(0.0, 0.0))[0]
    return sorted((sent - first, rtt) for sent, rtt in answered)


def _value(found: Table, line: int, row: tuple[str, ...], column: str) -> float | None:
    """A delay in s; none if the probe was lost."""
    text = row[found.header.index(column)]
    if text in ("-1", "-1.0"):
        return None
    value = found.number(line, row, column)
    return None if math.isnan(value) else value / 1e3


def _ways(found: Table, line: int, row: tuple[str, ...]) -> tuple[float | None, float | None, bool, bool]:
    """Delay up and down if they were measured, and whether the probe was lost on the way up, down."""
    rtt, up, down = (_value(found, line, row, column) for column in COLUMNS[1:])
    if rtt is None:
        return None, None, True, True
    if up is None or down is None:
        return None, None, up is None, down is None
    return up, down, False, False


def _held(
    rows: list[tuple[float, tuple[float | None, float | None, bool, bool]]],
) -> list[tuple[float, tuple[tuple[float, bool], tuple[float, bool]]]]:
    """A lost probe says nothing of the delay, so that of the one before holds."""
    last = [next((row[i] for _, row in rows if row[i] is not None), None) for i in (0, 1)]
    if None in last:
        raise TraceError("every probe was lost in this piece; choose another with --from and --length")
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
