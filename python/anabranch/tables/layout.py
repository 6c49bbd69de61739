"""A table: aligned text that fits a width, Markdown, and LaTeX.

Text is ASCII only, so that it looks the same on every terminal.
"""

import math
import shutil
import statistics
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from anabranch.measures import units
from anabranch.tables import formats

MOST = 24
"""Rows of a table that people read; of more, the extremes and a summary."""
_ENDS = 8
_GAP = 2
_NARROW = 40
"""Characters of a line of words, if there is room for no more."""
_NAME = 18
"""Characters of the heading of a column that has the name of a directory."""
_LEAST = 12
"""Characters that are left of a cell that is cut so that its table fits."""
TEXT, MARKDOWN, LATEX = "text", "markdown", "latex"


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    head : tuple of str
        Lines of the heading.
    cells : sequence of str
        One per row.
    drop : int
        Place in the order in which columns are left out of text that is too wide; 0: never.
    left : bool
        The cells are flush left.
    paper : sequence of str
        What Markdown and LaTeX show instead of the cells: ``mean +- half-width``.
    only_text : bool
        Markdown and LaTeX leave the column out, since another one has its numbers.
    """

    head: tuple[str, ...]
    cells: Sequence[str]
    drop: int = 0
    left: bool = False
    paper: Sequence[str] = ()
    only_text: bool = False

    @property
    def name(self) -> str:
        """The heading in one line."""
        return " ".join(filter(None, self.head))


@dataclass(frozen=True)
class Table:
    """Columns of the same length, and lines about them.

    Attributes
    ----------
    columns : sequence of Column
        At least one.
    title : str
        A line above.
    notes : sequence of str
        Lines below.
    """

    columns: Sequence[Column]
    title: str = ""
    notes: Sequence[str] = field(default=())

    def text(self, width: int | None = None) -> list[str]:
        """Lay the table out in lines; with a `width`, leave out columns until it fits, and say which."""
        kept, dropped = fitting(self.columns, width)
        rows = _rows(kept)
        if width is not None:
            rows = _cut(rows, kept, width)
        lines = [*([self.title] if self.title else []), *aligned(rows, [column.left for column in kept])]
        if dropped:
            names = ", ".join(dict.fromkeys(column.name for column in dropped))
            lines += textwrap.wrap(
                f"left out, to fit {width} characters: {names}; --wide shows all",
                max(width or 0, _NARROW),
                break_on_hyphens=False,
            )
        return [*lines, *self.notes]

    def markdown(self) -> list[str]:
        """Write the table as Markdown (a pipe table)."""
        return formats.markdown(*self._paper(), title=self.title, notes=self.notes)

    def latex(self) -> list[str]:
        """Write the table as LaTeX (a ``tabular`` that needs no package)."""
        return formats.latex(*self._paper(), title=self.title, notes=self.notes)

    def written(self, form: str, width: int | None = None) -> list[str]:
        """Write the table in one of the forms ``text``, ``markdown`` and ``latex``; `width` is that of text."""
        if form == MARKDOWN:
            return self.markdown()
        return self.latex() if form == LATEX else self.text(width)

    def _paper(self) -> tuple[list[str], list[bool], list[tuple[str, ...]]]:
        shown = [column for column in self.columns if not column.only_text]
        cells = [column.paper or column.cells for column in shown]
        return [column.name for column in shown], [column.left for column in shown], list(zip(*cells, strict=True))


class Listed(str):
    """A line of a listing, such as a difference of two texts. Markdown has adjacent ones in one block of code."""

    __slots__ = ()


@dataclass(frozen=True)
class Document:
    """An answer of a command: tables, and lines of words between them.

    Attributes
    ----------
    parts : sequence of Table or str
        In their order.
    """

    parts: Sequence[Table | str]

    def text(self, width: int | None = None) -> str:
        """Write everything as text; tables fit `width`, if it is given."""
        lines: list[str] = []
        for part in self.parts:
            lines += [part] if isinstance(part, str) else part.text(width)
        return "\n".join(lines)

    def written(self, form: str, width: int | None = None) -> str:
        """Write everything in one of the forms ``text``, ``markdown`` and ``latex``."""
        if form == TEXT:
            return self.text(width)
        of = formats.paragraph if form == MARKDOWN else formats.comment
        parts: list[Sequence[str]] = []
        for is_listed, some in groupby(self.parts, lambda part: isinstance(part, Listed)):
            if is_listed and form == MARKDOWN:
                parts.append(formats.code([str(line) for line in some], "diff"))
            else:
                parts += [part.written(form) if isinstance(part, Table) else of(part) for part in some]
        return formats.joined(parts)

    def __str__(self) -> str:
        """What the command prints: tables fit the terminal."""
        return self.text(terminal_width())


def terminal_width() -> int:
    """Return how many characters a line may have: ``COLUMNS``, or else those of the terminal, or else 80."""
    return shutil.get_terminal_size((80, 24)).columns


def fitting(columns: Sequence[Column], width: int | None) -> tuple[list[Column], list[Column]]:
    """Return the columns that fit `width`, and those that are left out: the ones with the lowest `drop` first.

    >>> columns = [Column(("path",), ["0"]), Column(("mean", "cwnd"), ["10"], drop=1), Column(("srtt",), ["5"], drop=2)]
    >>> kept, dropped = fitting(columns, 10)
    >>> [column.name for column in kept], [column.name for column in dropped]
    (['path', 'srtt'], ['mean cwnd'])
    """
    kept, dropped = list(columns), []
    order = sorted((column.drop, i) for i, column in enumerate(columns) if column.drop)
    sizes = [max(map(len, [*column.head, *column.cells]), default=0) for column in columns]
    total = sum(sizes) + _GAP * (len(sizes) - 1)
    for _, i in order:
        if width is None or total <= width:
            break
        total -= sizes[i] + _GAP
        kept.remove(columns[i])
        dropped.append(columns[i])
    return kept, [column for column in columns if column in dropped]


def _rows(columns: Sequence[Column]) -> list[tuple[str, ...]]:
    """Headings and cells, row by row; short headings stand on the last line."""
    lines = max(len(column.head) for column in columns)
    heads = [("",) * (lines - len(column.head)) + column.head for column in columns]
    return list(zip(*([*head, *column.cells] for head, column in zip(heads, columns, strict=True)), strict=True))


def _cut(rows: list[tuple[str, ...]], columns: Sequence[Column], width: int) -> list[tuple[str, ...]]:
    """Shorten the widest cells of texts, if what cannot be left out is still too wide."""
    sizes = [max(map(len, column)) for column in zip(*rows, strict=True)]
    while sum(sizes) + _GAP * (len(sizes) - 1) > width:
        long = [i for i, column in enumerate(columns) if column.left and sizes[i] > _LEAST]
        if not long:
            break
        sizes[max(long, key=lambda i: sizes[i])] -= 1
    return [tuple(shortened_cell(cell, size) for cell, size in zip(row, sizes, strict=True)) for row in rows]


def headings(names: Sequence[str]) -> list[str]:
    """Shorten the names of directories, so that columns may be called by them: the ends tell them apart.

    >>> headings(["before", "/home/someone/experiments/after"]), headings(["a" * 30, "a" * 30])
    (['before', '...periments/after'], ['first', 'second'])
    """
    short = [name if len(name) <= _NAME else f"...{name[3 - _NAME :]}" for name in names]
    return short if short == list(names) or len(set(short)) == len(short) else ["first", "second"]


def shortened_cell(text: str, size: int) -> str:
    """Cut `text` to `size` characters, and say so.

    >>> shortened_cell("802.11ax at 10 m", 10), shortened_cell("802.11ax", 10)
    ('802.11a...', '802.11ax')
    """
    return text if len(text) <= size else f"{text[: size - 3]}..."


def aligned(rows: Sequence[Sequence[str]], left: int | Sequence[bool] = 1) -> list[str]:
    """Lay `rows` out in columns; the `left` ones (or the first so many) are flush left, the others flush right.

    >>> aligned([["path", "segments"], ["0", "10325"]])
    ['path  segments', '0        10325']
    """
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    flush = [i < left for i in range(len(widths))] if isinstance(left, int) else left
    return [
        (" " * _GAP)
        .join(
            cell.ljust(width) if is_left else cell.rjust(width)
            for cell, width, is_left in zip(row, widths, flush, strict=True)
        )
        .rstrip()
        for row in rows
    ]


def kept_rows(values: Sequence[float | None], what: str, most: int = MOST) -> tuple[list[int | None], list[str]]:
    """Choose which of many rows a table shows: those with the highest and lowest of `values`; and lines about all.

    None stands for the row of dots between them.

    >>> kept, about = kept_rows([float(i) for i in range(100)], "goodput")
    >>> len(kept), kept[0], kept[8], kept[-1]
    (17, 99, None, 0)
    >>> print(about[1])
    shown are the 8 highest and the 8 lowest of 100, by goodput: mean 49.5, median 49.5
    """
    if len(values) <= most:
        return list(range(len(values))), []
    known = [(-math.inf if value is None or math.isnan(value) else value) for value in values]
    order = sorted(range(len(known)), key=lambda i: -known[i])
    real = [value for value in known if value > -math.inf]
    about = f"shown are the {_ENDS} highest and the {_ENDS} lowest of {len(known)}, by {what}"
    if real:
        mean, median = (units.significant(f(real)) for f in (statistics.fmean, statistics.median))
        about += f": mean {mean}, median {median}"
    return [*order[:_ENDS], None, *order[-_ENDS:]], ["", about]


def shortened(
    rows: Sequence[Sequence[str]], values: Sequence[float | None], what: str, most: int = MOST
) -> tuple[list[Sequence[str]], list[str]]:
    """Apply `kept_rows` to rows of texts."""
    kept, about = kept_rows(values, what, most)
    dots = ["...", *("" for _ in rows[0][1:])] if rows else []
    return [dots if i is None else rows[i] for i in kept], about


def picked(columns: Iterable[Column], kept: Sequence[int | None]) -> list[Column]:
    """Return `columns` with the rows of `kept_rows`; the first one has the dots."""
    found = []
    for number, column in enumerate(columns):
        dots = "" if number else "..."
        cells = [dots if i is None else column.cells[i] for i in kept]
        paper = [dots if i is None else column.paper[i] for i in kept] if column.paper else ()
        found.append(Column(column.head, cells, column.drop, column.left, paper, column.only_text))
    return found
