"""What every kind of measurement shares: options, errors, the text of a file, pieces of a series."""

import codecs
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

LARGEST = 64_000_000
"""Octets of the largest file."""


class TraceError(ValueError):
    """Measurements that cannot be used; the message names file and line, the value and the remedy."""


@dataclass(frozen=True)
class Wanted:
    """Options of an import, times in s. `unit` is None if the user named none."""

    column: str | None = None
    time: str | None = None
    unit: str | None = None
    step: float | None = None
    where: Mapping[str, str] = field(default_factory=dict)
    gaps: str = "refuse"
    begin: float = 0.0
    length: float = math.inf
    resolution: float = 0.0005


@dataclass(frozen=True)
class Found:
    """What a file gave: the stamps of a trace or keys of a link, and notes about how the file was read."""

    content: list[int] | str
    notes: Sequence[str] = ()


_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins with the mark of UTF-16, so it is asked first
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def text_of(path: str) -> str:
    """Returns the text of a regular file; a device or a pipe may never end and is refused."""
    file = Path(path)
    file.stat()  # the system's own error names a missing file
    if not file.is_file():
        raise TraceError(f"{path}: not a regular file; name a file with measurements")
    if file.stat().st_size > LARGEST:
        raise TraceError(f"{path}: larger than {LARGEST // 1_000_000} MB; import a part of it")
    octets = file.read_bytes()
    encoding = next((name for mark, name in _MARKS if octets.startswith(mark)), "utf-8-sig")
    try:
        text = octets.decode(encoding)
    except UnicodeDecodeError as error:
        remedy = "unpack a packed file; save text as UTF-8"
        raise TraceError(
            f"{path}: not {encoding.removesuffix('-sig').upper()} text (octet {error.start}); {remedy}"
        ) from None
    if "\0" in text:
        raise TraceError(f"{path}: contains NUL characters, so it is no text file; save it as UTF-8")
    if not text.strip():
        raise TraceError(f"{path}: empty; it needs rows of measurements")
    return text


def cut(rows: Sequence[tuple[float, T]], end: float, wanted: Wanted, name: str) -> tuple[list[tuple[float, T]], float]:
    """Returns the wanted piece of (time, value) rows and its length; the piece begins at 0.

    A value holds until the next row, the last one until `end`.
    """
    if wanted.begin >= end:
        raise TraceError(f"{name}: --from {wanted.begin:g} s is not before its end at {end:g} s; give an earlier time")
    last = min(end, wanted.begin + wanted.length)
    ends = [*(t for t, _ in rows[1:]), end]
    piece = [
        (max(t, wanted.begin) - wanted.begin, value)
        for (t, value), until in zip(rows, ends, strict=True)
        if until > wanted.begin and t < last
    ]
    return piece, last - wanted.begin


_IPERF3 = re.compile(
    r'"(intervals|bits_per_second|iperf3?_\w+|test_start|sum_sent|sum_received)"|"event":"(start|interval)"'
)
_IPERF3_TEXT = re.compile(r"^\[ *(ID|\d+|SUM)\].*(Bitrate|Bandwidth|bits/sec)", re.M)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_LOOKS: Mapping[str, "re.Pattern[str]"] = {
    "ping": re.compile(r"icmp_seq=\d+"),
    "errant": re.compile(r"\A[^\n]*\b(download_kbps|download_mbps)\b", re.I),
    "lens": re.compile(r"\A[^\n]*\btimestamp\b[^\n]*\brtt\b", re.I),
}


def refuse_no_table(name: str, text: str) -> None:
    """Raises TraceError for JSON and for the text that iperf3 prints: neither is a table."""
    begin = text.lstrip()[:1]
    if begin in ("{", "[") and _IPERF3.search(text[:100_000]):
        if re.search(r'"event": ?"', text[:1000]):
            raise TraceError(f"{name}: this is what `iperf3 --json-stream` prints; run iperf3 with --json instead")
        raise TraceError(f"{name}: this is iperf3's JSON, not a table; --kind iperf3 reads it")
    if begin == "{" or (begin == "[" and _is_json(text)):
        raise TraceError(f"{name}: this is JSON, not a table; write it as CSV with one row per measurement")
    if _IPERF3_TEXT.search(text[:100_000]):
        raise TraceError(f"{name}: this is iperf3's text, not a table; run iperf3 with --json and use --kind iperf3")


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def looks_like(text: str) -> str | None:
    """Returns the kind that `text` has the marks of, or None."""
    found = next((kind for kind, marks in _LOOKS.items() if marks.search(text[:100_000])), None)
    return "mahimahi" if found is None and _are_stamps(text) else found


def is_number(text: str) -> bool:
    """Returns True for a decimal number; unlike ``float``, refuses ``nan``, ``inf`` and ``1_000``."""
    return _NUMBER.fullmatch(text) is not None


def _are_stamps(text: str) -> bool:
    """Returns True for more than 20 whole numbers, one a line, that never fall; the last one exceeds their count.

    A constant rate, of which all numbers are equal, is no series of times.
    """
    first, last, count = 0.0, 0.0, 0
    for line in text.splitlines():
        word = line.strip()
        if not word or word.startswith("#"):
            continue
        if not is_number(word) or not (value := float(word)).is_integer() or (count and value < last):
            return False
        first, last, count = value if not count else first, value, count + 1
    return count > 20 and first < last and last > count
