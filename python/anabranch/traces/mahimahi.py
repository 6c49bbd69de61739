"""Traces of mahimahi (Netravali et al., USENIX ATC 2015): they are what a link takes; checked here, and cut."""

import math

from anabranch.traces.reading import Found, TraceError, Wanted, refuse_no_table
from anabranch.traces.writing import LONGEST

LATEST = 2**32 - 1
"""The latest stamp, in ms."""


def read(name: str, text: str, wanted: Wanted) -> Found:
    """Returns the stamps of a trace."""
    refuse_no_table(name, text)
    found: list[int] = []
    for n, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            stamp = int(line)
        except ValueError:
            raise TraceError(f"{name}, line {n}: not a whole number of milliseconds; {_remedy(line)}") from None
        if stamp < 0:
            raise TraceError(f"{name}, line {n}: {stamp} is negative; stamps are 0 ms or later")
        if found and stamp < found[-1]:
            raise TraceError(
                f"{name}, line {n}: {stamp} comes after {found[-1]}; the times of a trace must not decrease"
            )
        if stamp > LATEST:
            raise TraceError(
                f"{name}, line {n}: {stamp} ms is later than the last allowed stamp, {LATEST} ms (49 days)"
            )
        found.append(stamp)
    if not found or not found[-1]:
        raise TraceError(f"{name}: no stamp above 0; a trace needs at least one")
    begin, end = wanted.begin * 1000, min((wanted.begin + wanted.length) * 1000, found[-1])
    piece = [round(stamp - begin) for stamp in found if begin < stamp <= end or stamp == begin == 0]
    last = round(end - begin)
    if not piece:
        whole = f"the whole trace lasts {found[-1] / 1000:g} s; choose another part with --from and --length"
        until = "on" if math.isinf(wanted.length) else f"to {wanted.begin + wanted.length:g} s"
        raise TraceError(f"{name}: no stamp from {wanted.begin:g} s {until}; {whole}")
    if last > LONGEST * 1000:
        raise TraceError(f"{name}: lasts {last / 1000:.0f} s; a trace lasts a day at most; take a part with --length")
    # The last stamp is the length of the trace.
    return Found(piece if piece[-1] == last else [*piece, last])


def _remedy(line: str) -> str:
    """What to do with a file whose `line` is no stamp.

    >>> _remedy("0.250000")
    'found 0.250000; times in seconds? Multiply them by 1000'
    """
    try:
        float(line)
    except ValueError:
        return "--kind goodput reads tables of rates"
    return f"found {line.strip()}; times in seconds? Multiply them by 1000"
