"""A series of rates, such as the goodput of each second of a drive: a trace."""

import itertools
import math
from collections.abc import Sequence
from statistics import median

from anabranch.traces.instants import TIMES, instants, mean, together
from anabranch.traces.names import plain, rate_unit, stem, unclear_unit
from anabranch.traces.reading import Found, TraceError, Wanted, cut
from anabranch.traces.table import Table, table
from anabranch.traces.writing import stamps

UNITS = {
    **{"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9},
    **{"B/s": 8.0, "kB/s": 8e3, "MB/s": 8e6, "GB/s": 8e9},
}
VALUES = (
    *("goodput_mbps", "throughput_mbps", "goodput", "throughput", "rate", "bandwidth", "bitrate"),
    *("bits_per_second", "dl_bitrate", "ul_bitrate"),
)
_PUBLISHED = {"dl_bitrate": "kbit/s", "ul_bitrate": "kbit/s"}
"""Columns of the cellular data sets of University College Cork (Raca et al., MMSys 2018 and 2020), with their unit."""
_FASTEST = 100e9


def read(name: str, text: str, wanted: Wanted) -> Found:
    """Returns the stamps of a trace."""
    found = table(name, text)
    column = _column(found, wanted)
    unit, ground = _unit(found, column, wanted)
    values = [(line, _rate(found, line, row, column, unit)) for line, row in found.rows]
    when, clock = _times(found, column, wanted)
    merged = [(t, same[0][0], mean([rate for _, rate in same])) for t, same in instants(when, values)]
    step = _step(found, [t for t, _, _ in merged], wanted, clock)
    rates: list[tuple[float, float]] = []
    for t, line, value in merged:
        if rates and wanted.gaps == "refuse" and t - rates[-1][0] > 1.5 * step:
            raise _gap(f"{name}, line {line}: no rate from {rates[-1][0] + step:g} s to {t:g} s")
        rate = value
        if math.isnan(rate):
            if wanted.gaps == "refuse":
                raise _gap(f"{name}, line {line}: {column} is empty")
            if wanted.gaps == "hold" and not rates:
                raise TraceError(
                    f"{name}, line {line}: {column} is empty, and --gaps hold needs a rate in an earlier row"
                )
            rate = rates[-1][1] if wanted.gaps == "hold" else 0.0
        rates.append((t, rate))
    if wanted.gaps == "zero":
        rates = _with_silence(rates, step)
    rates, end = cut(rates, merged[-1][0] + step, wanted, name)
    said = [f"{name}: rate from {column} in {unit}{ground}, time from {clock}; {end:.6g} s"]
    return Found(stamps(rates, end, name), [*said, *together(name, len(values) - len(merged)), *found.unused()])


def _column(found: Table, wanted: Wanted) -> str:
    column = found.find(wanted.column, VALUES, "the rate", "--column")
    if wanted.column is None and stem(column) in _PUBLISHED:
        others = [name for name in found.header if stem(name) in _PUBLISHED and name != column]
        if others:
            raise TraceError(
                f"{found.name}: rates of two directions: {column}, {others[0]}; choose one of them with --column"
            )
    return column


def _unit(found: Table, column: str, wanted: Wanted) -> tuple[str, str]:
    """Returns the word of `UNITS` for a column, and what it rests on if neither the user nor the column says it."""
    if wanted.unit is not None:
        return wanted.unit, ""
    if unit := rate_unit(plain(column) if plain(column) in VALUES else column):
        return unit, ""
    if unclear_unit(column):
        problem = f"the unit in the name of {column} may be bits or octets"
        raise TraceError(f"{found.name}: {problem}; give the unit of the rates with --unit")
    if unit := _PUBLISHED.get(plain(column)):
        return unit, " (the unit of the published data sets)"
    return "Mbit/s", " (the default of --unit)"


def _rate(found: Table, line: int, row: tuple[str, ...], column: str, unit: str) -> float:
    rate = found.number(line, row, column) * UNITS[unit]
    if rate > _FASTEST:
        said = found.cell(row, column)
        raise TraceError(
            f"{found.name}, line {line}: {said} {unit} is above 100 Gbit/s; give the unit of the rates with --unit"
        )
    return rate


def _times(found: Table, column: str, wanted: Wanted) -> tuple[list[float], str]:
    """Returns the time of each row, and what it comes from."""
    if wanted.time is not None:
        clock: str | None = found.find(wanted.time, TIMES, "the time", "--time")
    else:
        clock = next((c for c in (found.called(name, (column,)) for name in TIMES) if c), None)
    if clock is None:
        if wanted.step is None:
            remedy = "--time names it, or --step says how far apart the rows are"
            known = f"no column for the time ({', '.join(TIMES)})"
            raise TraceError(f"{found.name}: {known}; {remedy}; columns: {found.columns()}")
        return [i * wanted.step for i in range(len(found.rows))], f"--step {wanted.step:g} s"
    if wanted.step is not None:
        raise TraceError(f"{found.name}: rows have times ({clock}); leave out --step")
    read = found.times(clock)
    return read.when, f"{clock} ({read.said})"


def _step(found: Table, when: Sequence[float], wanted: Wanted, clock: str) -> float:
    """Returns the usual distance of two instants: so long the last one counts."""
    if len(when) > 1:
        return median(b - a for a, b in itertools.pairwise(when))
    if wanted.step is None:
        raise TraceError(
            f"{found.name}: all rows have one time in {clock}; a rate lasts until the next time, so give two times"
        )
    return wanted.step


def _with_silence(rates: list[tuple[float, float]], step: float) -> list[tuple[float, float]]:
    """Inserts a rate of zero where rows are missing."""
    whole: list[tuple[float, float]] = []
    for t, rate in rates:
        if whole and t - whole[-1][0] > 1.5 * step:
            whole.append((whole[-1][0] + step, 0.0))
        whole.append((t, rate))
    return whole


def _gap(what: str) -> TraceError:
    return TraceError(
        f"{what}; --gaps zero assumes a rate of zero for this time, --gaps hold repeats the rate before it"
    )
