"""Tables of measurements: which mark stands between cells, what the columns are called, numbers."""

import csv
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from anabranch.measures import units
from anabranch.traces import clock
from anabranch.traces.names import bare, plain, stem
from anabranch.traces.reading import TraceError, is_number, refuse_no_table

MISSING = frozenset(("", "-", "--", "nan", "na", "n/a", "none", "null", "?"))
"""What stands for a missing value, in any case."""
_COMMA = re.compile(r"[+-]?\d+,\d+")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")


@dataclass(frozen=True)
class Table:
    """The rows of a table as text, each with its line in the file.

    Attributes
    ----------
    name : str
        The file.
    header : tuple of str
        What the columns are called, as in the file.
    rows : tuple
        Line number and cells of each row.
    decimal_comma : bool
        True if numbers have a decimal comma.
    used : list of str
        Columns that `find` returned.
    """

    name: str
    header: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]
    decimal_comma: bool = False
    used: list[str] = field(default_factory=list)

    def cell(self, row: Sequence[str], column: str) -> str:
        """Returns the text of a cell; a missing value is an empty string."""
        text = row[self.header.index(column)]
        return "" if text.lower() in MISSING else text

    def number(self, line: int, row: Sequence[str], column: str) -> float:
        """Returns the number in a cell, NaN if it is missing; a negative or infinite one is refused."""
        text = self.cell(row, column)
        if not text:
            return math.nan
        plain_text = self.plain_number(line, column, text)
        if not is_number(plain_text) or not math.isfinite(value := float(plain_text)):
            raise TraceError(f"{self.name}, line {line}: {column} {text!r} is not a number")
        if value < 0:
            raise TraceError(f"{self.name}, line {line}: {column} {text} is negative; values are 0 or more")
        return value

    def plain_number(self, line: int, column: str, text: str) -> str:
        """Returns `text` with a decimal point; a comma that may separate thousands is refused."""
        if "," not in text or not _COMMA.fullmatch(text):
            return text
        if not self.decimal_comma:
            remedy = "write numbers with a decimal point and without thousands separators"
            raise TraceError(
                f"{self.name}, line {line}: {column} {text}: the comma may be decimal or separate thousands; {remedy}"
            )
        return text.replace(",", ".")

    def times(self, column: str) -> clock.Times:
        """Returns the times of the rows; a column `date` belongs to times of day."""
        self.used.append(column)
        cells = [(line, self.plain_number(line, column, self.cell(row, column))) for line, row in self.rows]
        dates = next((name for name in self.header if name != column and plain(name) == "date"), None)
        if dates is None or not clock.is_of_day(cells[0][1]):
            return clock.times(self.name, column, cells)
        self.used.append(dates)
        days = [self.cell(row, dates) for _, row in self.rows]
        joined = [(line, f"{day} {text}") for day, (line, text) in zip(days, cells, strict=True)]
        return clock.times(self.name, f"{dates} and {column}", joined)

    def find(
        self, wanted: str | None, usual: Sequence[str], what: str, option: str = "", *, without: Sequence[str] = ()
    ) -> str:
        """Returns the column `wanted`, or the first of `usual` that exists, and notes it as used.

        Names are compared without regard to case and blanks, then without a unit. If an `option` may name the column,
        the only column of a table needs no name. Columns `without` are not considered.

        Raises
        ------
        TraceError
            If there is no such column, or several; the message lists the columns.
        """
        near = ""
        if wanted is None:
            found = next((name for name in (self.called(name, without) for name in usual) if name), None)
            if found is None and option and len(self.header) == 1 and not without:
                found = self.header[0]
            problem = f"no column for {what} ({', '.join(usual)})" + (f", {option} names it" if option else "")
        else:
            found = self.called(wanted)
            close = get_close_matches(plain(wanted), {plain(name): name for name in self.header}, 1)
            meant = next((name for name in self.header if close and plain(name) == close[0]), None)
            problem, near = f"no column {wanted!r}", f"; did you mean {meant!r}?" if meant else ""
        if found is None:
            raise TraceError(f"{self.name}: {problem}; columns: {self.columns()}{near}")
        self.used.append(found)
        return found

    def called(self, word: str, without: Sequence[str] = ()) -> str | None:
        """Returns the column called `word`, or None; several columns of that name are refused."""
        for form in (str, plain, bare, stem):
            found = [name for name in self.header if form(name) == form(word) and name not in without]
            if form is stem:
                found = [name for name in self.header if stem(name) == plain(word) and name not in without]
            if len(found) > 1:
                said = ", ".join(found)
                raise TraceError(f"{self.name}: {len(found)} columns are called {word!r}: {said}; rename all but one")
            if found:
                return found[0]
        return None

    def columns(self) -> str:
        """Returns the names of all columns, for messages."""
        return ", ".join(name or "(without a name)" for name in self.header)

    def unused(self) -> list[str]:
        """Returns a note that lists the columns nobody asked for, or nothing."""
        rest = [name or "(without a name)" for name in self.header if name not in self.used]
        return [f"{self.name}: columns not used: {', '.join(rest)}"] if rest else []


def table(name: str, text: str) -> Table:
    """Returns the table in `text`: cells stand between tabs, semicolons, commas or blanks.

    The first line names the columns unless it has only numbers, times and missing values.
    """
    refuse_no_table(name, text)
    lines = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip() and not line.startswith("#")]
    if not lines:
        raise TraceError(f"{name}: only comments; it needs rows of measurements")
    told = re.fullmatch(r'"?sep=(.)"?', lines[0][1].strip())  # a line of Excel's
    if told:
        lines = lines[1:]
        if not lines:
            raise TraceError(f"{name}: no rows; it needs rows of measurements")
    rows = _cells(name, lines, told[1] if told else None)
    first = rows[0][1]
    named = not all(_is_value(cell) for cell in first)
    header = first if named else (("value",) if len(first) == 1 else tuple(f"column{i + 1}" for i in range(len(first))))
    rows = rows[named:]
    for line, row in rows:
        if len(row) != len(header):
            cells, columns = units.count(len(row), "cell"), units.count(len(header), "column")
            raise TraceError(f"{name}, line {line}: {cells}, but {columns}: {', '.join(header)}")
    if not rows:
        raise TraceError(f"{name}: column names but no rows; it needs rows of measurements")
    return Table(name, header, tuple(rows), _decimal_comma(rows))


Rows = list[tuple[int, tuple[str, ...]]]


def _cells(name: str, lines: Sequence[tuple[int, str]], told: str | None) -> Rows:
    """Returns the cells of each line; of the marks that give all lines equally many cells, the first."""
    marks = [told] if told else [mark for mark in "\t;," if mark in lines[0][1]]
    tried = {mark: _split(name, lines, mark) for mark in marks}
    for rows in tried.values():
        if len({len(row) for _, row in rows}) == 1:
            return rows
    if marks:  # ragged; the caller says in which line
        return tried[max(marks, key=lines[0][1].count)]
    blanks = [(n, tuple(line.split())) for n, line in lines]
    if len(blanks[0][1]) > 1 and len({len(row) for _, row in blanks}) == 1:
        return blanks
    return _split(name, lines, ",")


def _split(name: str, lines: Sequence[tuple[int, str]], mark: str) -> Rows:
    reader = csv.reader((line for _, line in lines), delimiter=mark, skipinitialspace=True)
    rows: Rows = []
    try:
        for cells in reader:
            rows.append((lines[reader.line_num - 1][0], tuple(cell.strip() for cell in cells)))
    except csv.Error as error:
        raise TraceError(f"{name}, line {lines[reader.line_num - 1][0]}: {error}") from None
    return rows


def _is_value(text: str) -> bool:
    """Returns True for a number, a time or a missing value, which do not name a column."""
    missing = text.lower() in MISSING or text.lower() in ("inf", "-inf")
    return missing or is_number(text) or _COMMA.fullmatch(text) is not None or clock.is_time(text)


def _decimal_comma(rows: Rows) -> bool:
    """Returns True if the commas in numbers can only be decimal commas."""
    commas = [cell for _, row in rows for cell in row if "," in cell and _COMMA.fullmatch(cell)]
    grouped = any(_THOUSANDS.fullmatch(cell) and cell.count(",") > 1 for _, row in rows for cell in row if "," in cell)
    return not grouped and any(not _THOUSANDS.fullmatch(cell) for cell in commas)
