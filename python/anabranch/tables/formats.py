r"""Tables for papers: Markdown and LaTeX.

The LaTeX is a plain ``tabular`` with ``\hline``: it needs no package, and every special character is escaped. Lines
about the table are comments, so that the text can be included as it is.
"""

import re
from collections.abc import Iterable, Sequence

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    "*": "$*$",
    "\N{MINUS SIGN}": "$-$",
    "\N{PLUS-MINUS SIGN}": r"$\pm$",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
    "\N{LESS-THAN OR EQUAL TO}": r"$\leq$",
    "\N{GREATER-THAN OR EQUAL TO}": r"$\geq$",
    "\N{MICRO SIGN}": r"$\mu$",
    "\N{EN DASH}": "--",
    "\N{LEFT DOUBLE QUOTATION MARK}": "``",
    "\N{RIGHT DOUBLE QUOTATION MARK}": "''",
    "\N{HORIZONTAL ELLIPSIS}": r"\dots{}",
}
"""What LaTeX would take for a command, or print as another character in its default font encoding."""
_NUMBER = r"[0-9]+(?:\.[0-9]+)?"
_INTERVAL = re.compile(rf"([+-]?{_NUMBER}) \+- ({_NUMBER})")


def paragraph(text: str) -> list[str]:
    """Write a line of words as Markdown."""
    return [_markdown(text)] if text else []


def code(lines: Sequence[str], language: str = "") -> list[str]:
    """Write lines as a block of code in Markdown; its fence is longer than any that a line has.

    >>> code(["-a = 1", "+a = 2"], "diff")
    ['```diff', '-a = 1', '+a = 2', '```']
    >>> code(["````"])
    ['`````', '````', '`````']
    """
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [fence + language, *lines, fence]


def comment(text: str) -> list[str]:
    r"""Write a line of words as a comment in LaTeX.

    >>> comment("100 % of\tthem"), comment("")
    (['% 100 % of them'], [])
    """
    return [f"% {' '.join(text.split())}"] if text else []


def joined(parts: Iterable[Sequence[str]]) -> str:
    """Join tables and paragraphs with an empty line between them; comments that follow one another stay together."""
    text = ""
    for lines in parts:
        if lines:
            close = lines[0].startswith("% ") and text.rpartition("\n")[2].startswith("% ")
            text += ("\n" if close else "\n\n" if text else "") + "\n".join(lines)
    return text


def markdown(
    head: Sequence[str],
    left: Sequence[bool],
    rows: Sequence[Sequence[str]],
    *,
    title: str = "",
    notes: Sequence[str] = (),
) -> list[str]:
    r"""Write a pipe table, with its title above and notes below.

    >>> print(*markdown(["path", "goodput (Mbit/s)"], [True, False], [["a|b", "6.81 +- 0.89"]]), sep="\n")
    | path | goodput (Mbit/s) |
    | :--- | ---: |
    | a\|b | 6.81 +- 0.89 |
    """
    lines = [f"**{_markdown(title)}**", ""] if title else []
    lines.append(_piped(map(_markdown, head)))
    lines.append(_piped(":---" if flush else "---:" for flush in left))
    lines += [_piped(map(_markdown, row)) for row in rows]
    for note in filter(None, notes):
        lines += ["", _markdown(note)]
    return lines


def _piped(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>|#])", r"\\\1", " ".join(text.split()))


def latex(
    head: Sequence[str],
    left: Sequence[bool],
    rows: Sequence[Sequence[str]],
    *,
    title: str = "",
    notes: Sequence[str] = (),
) -> list[str]:
    r"""Write a ``tabular``, with its title above and its notes below as comments.

    >>> print(*latex(["path", "ratio (%)"], [True, False], [["a_b", "6.81 +- 0.89"]], title="50 %"), sep="\n")
    % 50 %
    \begin{tabular}{lr}
    \hline
    path & ratio (\%) \\
    \hline
    a\_b & $6.81 \pm 0.89$ \\
    \hline
    \end{tabular}
    """
    lines = comment(title)
    lines += [rf"\begin{{tabular}}{{{''.join('l' if flush else 'r' for flush in left)}}}", r"\hline"]
    lines += [_row(map(escaped, head)), r"\hline"]
    lines += [
        _row(escaped(cell) if flush else number(cell) for cell, flush in zip(row, left, strict=True)) for row in rows
    ]
    return [*lines, r"\hline", r"\end{tabular}", *(line for note in notes for line in comment(note))]


def _row(cells: Iterable[str]) -> str:
    text = " & ".join(cells)
    # A row that began with a bracket would be taken for an argument of the line break before it.
    return f"{'{}' if text.startswith('[') else ''}{text} \\\\"


def escaped(text: str) -> str:
    r"""Escape what LaTeX would not print as it is.

    >>> escaped("path_1: 50 % & more")
    'path\\_1: 50 \\% \\& more'
    """
    return _printed(" ".join(text.split()))


def _printed(text: str) -> str:
    return "".join(_SPECIAL.get(character, character) for character in text)


def number(text: str) -> str:
    r"""Write a cell of numbers: a minus sign and an interval need the mathematical mode.

    >>> number("6.81 +- 0.89"), number("-0.5"), number("-"), number("< 0.001"), number("12")
    ('$6.81 \\pm 0.89$', '$-0.5$', '--', '$<$ 0.001', '12')
    """
    text = " ".join(text.split()).replace("\N{MINUS SIGN}", "-")
    if found := _INTERVAL.fullmatch(text):
        return rf"${found[1]} \pm {found[2]}$"
    if text == "-":
        return "--"
    parts = re.split(rf"((?<![\w.])[+-]{_NUMBER})", text)
    return "".join(f"${part}$" if i % 2 else _printed(part) for i, part in enumerate(parts)).replace(" +- ", r" $\pm$ ")
