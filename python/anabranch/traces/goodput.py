"""A series of rates, such as the goodput of each second of a drive: a trace."""

import itertools
import math
from statistics import median

from anabranch.traces.reading import TraceError, Wanted, cut, table, times
from anabranch.traces.writing import stamps

UNITS = {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9, "kB/s": 8e3, "MB/s": 8e6}
VALUES = ("goodput_mbps", "throughput_mbps", "goodput", "throughput", "rate", "bandwidth")
TIMES = ("time", "t", "timestamp", "second")
_FASTEST = 100e9


def read(name: str, text: str, wanted: Wanted) -> list[int]:
    """Stamps of a trace."""
    found = table(name, text)
    column = found.find(wanted.column, VALUES, "the rate", "--column")
    usual = next((c for c in TIMES if c in found.header and c != column), None)
    clock = found.find(wanted.time, TIMES, "the time", "--time") if wanted.time else usual
    if clock is not None and wanted.step is not None:
        raise TraceError(f"{name}: rows have times ({clock}); leave out --step")
    rates: list[tuple[float, float]] = []
    when = [i * (wanted.step or 1.0) for i in range(len(found.rows))] if clock is None else times(found, clock)
    step = median(b - a for a, b in itertools.pairwise(when)) if len(when) > 1 else wanted.step or 1.0
    for t, (line, row) in zip(when, found.rows, strict=True):
        if rates and wanted.gaps == "refuse" and t - rates[-1][0] > 1.5 * step:
            raise _gap(f"{name}, line {line}: nothing from {rates[-1][0] + step:g} s to {t:g} s")
        rate = found.number(line, row, column) * UNITS[wanted.unit]
        if math.isnan(rate):
            if wanted.gaps == "refuse":
                raise _gap(f"{name}, line {line}: {column} is empty")
            rate = rates[-1][1] if rates and wanted.gaps == "hold" else 0.0
        if rate > _FASTEST:
            said = row[found.header.index(column)]
            raise TraceError(
                f"{name}, line {line}: {said} {wanted.unit} is above 100 Gbit/s; --unit says what it is in"
            )
        rates.append((t, rate))
    if wanted.gaps == "zero":
        rates = _with_silence(rates, step)
    rates, end = cut(rates, when[-1] + step, wanted, name)
    return stamps(rates, end, name)


def _with_silence(rates: list[tuple[float, float]], step: float) -> list[tuple[float, float]]:
    """A rate of zero where rows are missing."""
    whole: list[tuple[float, float]] = []
    for t, rate in rates:
        if whole and t - whole[-1][0] > 1.5 * step:
            whole.append((whole[-1][0] + step, 0.0))
        whole.append((t, rate))
    return whole


def _gap(what: str) -> TraceError:
    return TraceError(f"{what}; --gaps zero takes it as no rate at all, --gaps hold as the rate before it")
