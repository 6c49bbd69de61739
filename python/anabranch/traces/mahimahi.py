"""Traces of mahimahi (Netravali et al., USENIX ATC 2015): they are what a link takes; checked here, and cut."""

from anabranch.traces.reading import TraceError, Wanted

# The latest stamp that a scenario reads.
LATEST = 2**32 - 1


def read(name: str, text: str, wanted: Wanted) -> list[int]:
    """Stamps of a trace."""
    found: list[int] = []
    for n, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            stamp = int(line)
        except ValueError:
            raise TraceError(f"{name}, line {n}: not a whole number of milliseconds") from None
        if stamp < 0:
            raise TraceError(f"{name}, line {n}: {stamp} is negative")
        if found and stamp < found[-1]:
            raise TraceError(f"{name}, line {n}: {stamp} comes after {found[-1]}; stamps do not go back")
        if stamp > LATEST:
            raise TraceError(f"{name}, line {n}: {stamp} ms is later than a trace may last, {LATEST} ms (49 days)")
        found.append(stamp)
    if not found or not found[-1]:
        raise TraceError(f"{name}: no stamp above 0")
    begin, end = wanted.begin * 1000, min((wanted.begin + wanted.length) * 1000, found[-1])
    piece = [round(stamp - begin) for stamp in found if begin < stamp <= end or stamp == begin == 0]
    last = round(end - begin)
    if not piece:
        raise TraceError(f"{name}: no stamp in the piece from {wanted.begin:g} s; it lasts {found[-1] / 1000:g} s")
    # The last stamp is the length of the trace.
    return piece if piece[-1] == last else [*piece, last]
