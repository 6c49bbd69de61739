"""Names of columns: compared without regard to case, blanks and units; the units in them."""

import re

_BRACKETS = re.compile(r"[\s_]*[(\[]([^()\[\]]*)[)\]]$")
_RATE = re.compile(r"(?P<size>[kKmMgG]?)(?P<what>bit|bits|b|B|byte|bytes|Byte|Bytes)(/s|/sec|ps| ?per ?s(econd)?)")
_TIME_UNITS = {
    **{unit: unit for unit in ("s", "ms", "us", "ns")},
    **dict.fromkeys(("sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("msec", "millis", "milliseconds"), "ms"),
    **dict.fromkeys(("µs", "μs", "usec", "micros", "microseconds"), "us"),
    **dict.fromkeys(("nsec", "nanos", "nanoseconds"), "ns"),
}


def plain(name: str) -> str:
    """Returns a column's name without regard to case and blanks.

    >>> plain(" DL bitrate")
    'dl_bitrate'
    """
    return re.sub(r"[\s_]+", "_", name.strip().casefold())


def bare(name: str) -> str:
    """Returns a column's plain name without the unit in brackets.

    >>> bare("Latency_ms (mean)")
    'latency_ms'
    """
    return plain(_BRACKETS.sub("", name.strip()))


def stem(name: str) -> str:
    """Returns a column's plain name without its unit.

    >>> stem("DL_bitrate (kbps)"), stem("Time_ms")
    ('dl_bitrate', 'time')
    """
    inside = bare(name)
    head, _, tail = inside.rpartition("_")
    return head if head and (tail in _TIME_UNITS or _RATE.fullmatch(tail)) else inside


def _unit_words(name: str) -> tuple[str, ...]:
    """Returns what may be a unit: what stands in brackets at the end, what follows the last underscore, all of it."""
    name = name.strip()
    inside = _BRACKETS.search(name)
    return (inside[1].strip(),) if inside else (re.split(r"[\s_]+", name)[-1], re.sub(r"[\s_]+", " ", name))


def rate_unit(name: str) -> str | None:
    """Returns the unit of a rate in a column's name as ``--unit`` has it, or None.

    >>> rate_unit("DL_bitrate (kbps)"), rate_unit("goodput_mbps"), rate_unit("rate [MB/s]"), rate_unit("rate")
    ('kbit/s', 'Mbit/s', 'MB/s', None)
    """
    found = next((match for words in _unit_words(name) if (match := _RATE.fullmatch(words))), None)
    if found is None:
        return None
    size = found["size"].lower()
    octets = found["what"] in ("B", "byte", "bytes", "Byte", "Bytes")
    return (size if size == "k" else size.upper()) + ("B/s" if octets else "bit/s")


def unclear_unit(name: str) -> bool:
    """Returns True if a column's name has a unit of which nobody knows whether it means bits or octets.

    >>> unclear_unit("DL MBPS"), unclear_unit("dl_mbps")
    (True, False)
    """
    return rate_unit(name) is None and rate_unit(name.lower()) is not None


def time_unit(name: str) -> str | None:
    """Returns the unit in a column's name, ``"s"``, ``"ms"``, ``"us"`` or ``"ns"``, or None.

    >>> time_unit("time_ms"), time_unit("Timestamp (us)"), time_unit("rtt")
    ('ms', 'us', None)
    """
    return next((_TIME_UNITS[words.lower()] for words in _unit_words(name) if words.lower() in _TIME_UNITS), None)
