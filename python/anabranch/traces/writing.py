"""What a link takes: the stamps of a trace, or keys with changes."""

from collections.abc import Mapping, Sequence

from anabranch.traces.reading import TraceError

OPPORTUNITY = 12_000
"""Bits of one opportunity of a trace."""
_MOST = 10_000_000
LONGEST = 86_400.0
"""Seconds of the longest trace."""


def stamps(rates: Sequence[tuple[float, float]], end: float, name: str) -> list[int]:
    """Milliseconds at which 1500 octets may leave, for rates in bit/s, each from its time (s) to the next.

    At the end of each millisecond as many as the rate has given so far. The last stamp is the length of the trace: it
    is there in any case.

    >>> stamps([(0, 6e6), (0.004, 0.0)], 0.01, "f")
    [2, 4, 10]
    """
    if end > LONGEST:
        raise TraceError(f"{name}: lasts {end:.0f} s; a trace lasts a day at most; take a part with --length")
    ends = [*(t for t, _ in rates[1:]), end]
    bits = sum(rate * (until - t) for (t, rate), until in zip(rates, ends, strict=True))
    if bits / OPPORTUNITY > _MOST:
        raise TraceError(
            f"{name}: {bits / 8e9:.1f} GB in total; a trace carries at most 15 GB; take a part with --length"
        )
    last = round(end * 1000)
    if last < 1:
        raise TraceError(f"{name}: lasts less than 1 ms; a trace lasts at least 1 ms")
    found: list[int] = []
    given, piece = 0.0, 0
    for ms in range(1, last + 1):
        begin = (ms - 1) / 1000
        while piece + 1 < len(rates) and rates[piece + 1][0] <= begin + 1e-9:
            piece += 1
        given += rates[piece][1] / 1000
        # Sums of the thousandth parts of a rate may fall short of a whole opportunity by rounding.
        due = int((given + 1e-3) // OPPORTUNITY)
        found += [ms] * due
        given -= due * OPPORTUNITY
    if not found:
        if bits > 0:
            raise TraceError(
                f"{name}: {bits / 8:.3g} octets in {end:.6g} s; a trace needs at least one packet of 1500 octets"
            )
        raise TraceError(f"{name}: the rate is zero all the time; a trace needs a rate above zero")
    if found[-1] != last:
        found.append(last)
    return found


def changing(comments: Sequence[str], rows: Sequence[tuple[float, Mapping[str, str]]]) -> str:
    """TOML keys of a link: the values of the first row, and as changes what later rows have that is different.

    Keys end in ``_up`` or ``_down`` where the directions differ; a change then says which it is of.
    """
    lines = [f"# {comment}" for comment in comments]
    now: dict[str, str] = dict(rows[0][1])
    lines += [f'{key} = "{value}"' for key, value in now.items()]
    changes: list[str] = []
    for t, values in rows[1:]:
        new = {key: value for key, value in values.items() if now.get(key) != value}
        now.update(new)
        for way in ("", "_up", "_down"):
            mine = {key.removesuffix(way): value for key, value in new.items() if _way(key) == way}
            if mine:
                said = f', direction = "{way[1:]}"' if way else ""
                changes.append(
                    f'    {{ at = "{t:.6g} s"{said}, ' + ", ".join(f'{k} = "{v}"' for k, v in mine.items()) + " },"
                )
    if changes:
        lines += ["changes = [", *changes, "]"]
    return "\n".join(lines) + "\n"


def _way(key: str) -> str:
    return next((way for way in ("_up", "_down") if key.endswith(way)), "")
