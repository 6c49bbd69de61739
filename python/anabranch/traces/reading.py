"""Files of measurements: tables, series with gaps, and what is wrong with them."""

import csv
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

LARGEST = 64_000_000
"""Octets of the largest file."""


class TraceError(ValueError):
    """Measurements that cannot be used; the message names file and line, the value and the remedy."""


@dataclass(frozen=True)
class Wanted:
    """What was asked for, times in s."""

    column: str | None = None
    time: str | None = None
    unit: str = "Mbit/s"
    step: float | None = None
    where: Mapping[str, str] = field(default_factory=dict)
    gaps: str = "refuse"
    begin: float = 0.0
    length: float = math.inf
    resolution: float = 0.0005


@dataclass(frozen=True)
class Table:
    """The rows of a table of words, with the line each stands in."""

    name: str
    header: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]

    def number(self, line: int, row: Sequence[str], column: str) -> float:
        """A number of a row: not negative, not infinite; nothing, "nan" and "-" are NaN."""
        text = row[self.header.index(column)].strip()
        if text.lower() in ("", "nan", "-", "none", "null"):
            return math.nan
        try:
            value = float(text)
        except ValueError:
            value = math.inf
        if not math.isfinite(value):
            raise TraceError(f"{self.name}, line {line}: {column} {text!r} is not a number")
        if value < 0:
            raise TraceError(f"{self.name}, line {line}: {column} {text} is negative")
        return value

    def find(self, wanted: str | None, usual: Sequence[str], what: str, option: str = "") -> str:
        """The column `wanted`, or the first of `usual` there is; if an `option` may name it, also a lone one.

        Raises
        ------
        TraceError
            If there is none; it lists the columns.
        """
        if wanted is None:
            found = next((name for name in usual if name in self.header), None)
            if found is None and option and len(self.header) == 1:
                found = self.header[0]
            if found is not None:
                return found
            problem = f"no column for {what} ({', '.join(usual)})" + (f", {option} names it" if option else "")
        else:
            if wanted in self.header:
                return wanted
            close = get_close_matches(wanted, self.header, 1)
            problem = f"no column {wanted!r}" + (f"; did you mean {close[0]!r}?" if close else "")
        raise TraceError(f"{self.name}: {problem}; columns: {', '.join(self.header)}")


def text_of(path: str) -> str:
    """The text of a file, which has to be a regular one: a device or a pipe may never end."""
    file = Path(path)
    file.stat()  # a file that is not there is said by the system
    if not file.is_file():
        raise TraceError(f"{path}: not a regular file")
    if file.stat().st_size > LARGEST:
        raise TraceError(f"{path}: larger than {LARGEST // 1_000_000} MB; import a part of it")
    try:
        text = file.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TraceError(f"{path}: not UTF-8 text (octet {error.start}); packed files have to be unpacked") from None
    if not text.strip():
        raise TraceError(f"{path}: empty")
    return text


def table(name: str, text: str) -> Table:
    """A table with commas, semicolons or tabs between cells; its first line names the columns unless it has numbers."""
    lines = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip() and not line.startswith("#")]
    if not lines:
        raise TraceError(f"{name}: nothing but comments")
    between = next((mark for mark in ",;\t" if mark in lines[0][1]), ",")
    cells = [tuple(cell.strip() for cell in row) for row in csv.reader((line for _, line in lines), delimiter=between)]
    numbers = [n for n, _ in lines]
    first = cells[0]
    named = any(not _is_number(cell) for cell in first)
    header = first if named else (("value",) if len(first) == 1 else tuple(f"column{i + 1}" for i in range(len(first))))
    rows = tuple(zip(numbers[named:], cells[named:], strict=True))
    for line, row in rows:
        if len(row) != len(header):
            raise TraceError(f"{name}, line {line}: {len(row)} cells, but {len(header)} columns: {', '.join(header)}")
    if not rows:
        raise TraceError(f"{name}: a line of names and no rows")
    return Table(name, header, rows)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def times(read: Table, column: str, *, equal: bool = False) -> list[float]:
    """Times of the rows in s, the first one zero; two may be `equal`.

    A first one above 10^17 is in nanoseconds since 1970, above 10^14 in microseconds, above 10^11 in milliseconds.
    """
    found: list[float] = []
    origin, scale = Decimal(0), 1.0
    for line, row in read.rows:
        value = read.number(line, row, column)
        if math.isnan(value):
            raise TraceError(f"{read.name}, line {line}: {column} is empty")
        exact = Decimal(row[read.header.index(column)])  # nanoseconds since 1970 are more than a float holds
        if not found:
            scale = next((s for least, s in ((1e17, 1e-9), (1e14, 1e-6), (1e11, 1e-3)) if value >= least), 1.0)
            origin = exact
        since = float(exact - origin) * scale
        if found and (since < found[-1] or (since == found[-1] and not equal)):
            text = row[read.header.index(column)]
            raise TraceError(f"{read.name}, line {line}: {column} {text} is not after the one before; sort by time")
        found.append(since)
    return found


def cut(rows: Sequence[tuple[float, T]], end: float, wanted: Wanted, name: str) -> tuple[list[tuple[float, T]], float]:
    """The piece that is wanted of (time, value), each good to the next, the last to `end`; from zero, and its end."""
    if wanted.begin >= end:
        raise TraceError(f"{name}: --from {wanted.begin:g} s, but it lasts {end:g} s")
    last = min(end, wanted.begin + wanted.length)
    ends = [*(t for t, _ in rows[1:]), end]
    piece = [
        (max(t, wanted.begin) - wanted.begin, value)
        for (t, value), until in zip(rows, ends, strict=True)
        if until > wanted.begin and t < last
    ]
    return piece, last - wanted.begin


_LOOKS: Mapping[str, "re.Pattern[str]"] = {
    "ping": re.compile(r"icmp_seq=\d+"),
    "errant": re.compile(r"\A[^\n]*\b(download_kbps|download_mbps)\b"),
    "lens": re.compile(r"\A[^\n]*\btimestamp\b[^\n]*\brtt\b"),
}


def looks_like(text: str) -> str | None:
    """The kind that `text` has the marks of."""
    found = next((kind for kind, marks in _LOOKS.items() if marks.search(text[:100_000])), None)
    if found is None:
        stamps = _first_numbers(text)
        whole = len(stamps) > 20 and all(value.is_integer() for value in stamps)
        if whole and stamps == sorted(stamps) and stamps[-1] > len(stamps):
            return "mahimahi"
    return found


def _first_numbers(text: str) -> list[float]:
    def numbers() -> Iterator[float]:
        for line in text.splitlines()[:1000]:
            if not _is_number(line.strip()):
                return
            yield float(line)

    return list(numbers())
