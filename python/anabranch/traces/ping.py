"""Round-trip times of probes: the delay of a link over time, and loss where probes are not answered.

Each direction has half of a round-trip time, from the time its probe was sent to that of the next one.
"""

import itertools
import math
import re
from collections.abc import Sequence
from statistics import median

from anabranch.traces.clock import UNITS
from anabranch.traces.instants import TIMES, instants, mean, together
from anabranch.traces.names import time_unit
from anabranch.traces.reading import Found, TraceError, Wanted, cut
from anabranch.traces.table import Table, table
from anabranch.traces.writing import changing

VALUES = ("rtt", "rtt_ms", "latency", "latency_ms", "delay", "delay_ms", "time_ms")
GAP = 60.0
"""A silence longer than that is a gap in the data, not loss; in s."""
_LINE = re.compile(r"(?:\[(?P<at>\d+\.\d+)\] )?.*icmp_seq=(?P<seq>\d+).*\btime=(?P<ms>-?\d+(?:\.\d+)?) ?ms")
_LONGEST = 7200.0
"""The longest round trip: twice the longest delay of a link, in s."""


def read(name: str, text: str, wanted: Wanted) -> Found:
    """Returns keys of a link: `delay`, `loss` and `changes`."""
    if "icmp_seq=" in text or text.startswith("PING "):
        return Found(keys(name, _spoken(name, text, wanted), wanted))
    found = table(name, text)
    column = found.find(wanted.column, VALUES, "the round-trip time", "--column")
    unit = time_unit(column) or "ms"
    values = [found.number(line, row, column) * UNITS[unit] / UNITS["s"] for line, row in found.rows]
    when, clock = _times(found, column, wanted)
    merged = [(t, mean(same)) for t, same in instants(when, values)]
    answered = [(t, rtt) for t, rtt in merged if not math.isnan(rtt)]
    said = [f"{name}: round-trip time from {column} in {unit}, time from {clock}"]
    notes = [*said, *together(name, len(values) - len(merged)), *found.unused()]
    return Found(keys(name, answered, wanted), notes)


def _times(found: Table, column: str, wanted: Wanted) -> tuple[list[float], str]:
    """Returns when each probe was sent, and what that comes from."""
    if wanted.time is None and wanted.step is not None:
        return [i * wanted.step for i in range(len(found.rows))], f"--step {wanted.step:g} s"
    usual = ("timestamp", *TIMES)
    clock = found.find(wanted.time, usual, "the time", "--step gives equal distances, --time", without=(column,))
    read = found.times(clock)
    return read.when, f"{clock} ({read.said})"


def _spoken(name: str, text: str, wanted: Wanted) -> list[tuple[float, float]]:
    """Reads what ``ping`` prints: with ``-D`` the time of each answer, else probes are ``--step`` apart."""
    found: list[tuple[float, float]] = []
    number = origin = 0
    for n, line in enumerate(text.splitlines(), 1):
        if not (match := _LINE.search(line)) or "DUP!" in line:
            continue
        if match["ms"].startswith("-"):
            raise TraceError(f"{name}, line {n}: time {match['ms']} ms is negative; remove this line")
        if match["at"] is None and wanted.step is None:
            remedy = "`ping -D` prints them, or --step says how far apart the probes were"
            raise TraceError(f"{name}, line {n}: no time of the answer; {remedy}")
        seq, rtt = int(match["seq"]), float(match["ms"]) / 1e3
        number = number + ((seq - number + 0x8000) & 0xFFFF) - 0x8000 if found else seq  # it counts to 65535
        origin = origin if found else number
        sent = float(match["at"]) - rtt if match["at"] else (number - origin) * (wanted.step or 0.0)
        found.append((sent, rtt))
    if not found:
        raise TraceError(
            f'{name}: no line such as "icmp_seq=1 ttl=64 time=12.3 ms": no probe was answered, or the lines have '
            "another form than those of `LC_ALL=C ping` (iputils)"
        )
    first = min(found)[0]
    return sorted((sent - first, rtt) for sent, rtt in found)


def keys(name: str, answered: Sequence[tuple[float, float]], wanted: Wanted) -> str:
    """The link that `answered` probes show."""
    if len(answered) < 2:
        raise TraceError(f"{name}: fewer than two answered probes; a delay needs at least two")
    if max(rtt for _, rtt in answered) > _LONGEST:
        raise TraceError(f"{name}: a round-trip time is longer than two hours; check the unit of the times")
    step = median(b - a for (a, _), (b, _) in itertools.pairwise(answered))
    rows: list[tuple[float, tuple[float, bool]]] = []
    for sent, rtt in answered:
        if rows and sent - rows[-1][0] > GAP and wanted.gaps == "refuse":
            remedy = "--gaps zero counts this time as loss, --gaps hold repeats the delay before it"
            raise TraceError(f"{name}: no probe answered from {rows[-1][0]:.1f} s to {sent:.1f} s; {remedy}")
        silent = rows and sent - rows[-1][0] > 1.5 * step
        if silent and not (wanted.gaps == "hold" and sent - rows[-1][0] > GAP):
            rows.append((rows[-1][0] + step, (rows[-1][1][0], True)))
        rows.append((sent, (rtt / 2, False)))
    piece, end = cut(rows, answered[-1][0] + step, wanted, name)
    said = (
        f"{name}: {len(answered)} answers in {answered[-1][0] + step:.6g} s, from {wanted.begin:g} s, {end:.6g} s long"
    )
    return changing([said], [(t, words(both, lost)) for t, both, lost in coarse(piece, wanted.resolution)])


def coarse(
    rows: Sequence[tuple[float, tuple[float, bool]]], resolution: float
) -> list[tuple[float, tuple[float, ...], bool]]:
    """Delays that differ from the one in force by `resolution` (s) at least, and every change of loss."""
    found: list[tuple[float, tuple[float, ...], bool]] = []
    for t, (delay, lost) in rows:
        before = found[-1][1][0] if found else math.inf
        same = abs(delay - before) < resolution
        if not found or not same or lost != found[-1][2]:
            found.append((t, (before if same else delay,), lost))
    return found


def words(delays: Sequence[float], lost: bool) -> dict[str, str]:
    """Delay and loss as a scenario has them."""
    return {"delay": f"{delays[0] * 1e3:.6g} ms", "loss": "100 %" if lost else "0 %"}
