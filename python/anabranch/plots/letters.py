"""How wide texts are, and how they are wrapped and shortened to fit."""

import re
from functools import lru_cache

_BREAKS = re.compile(r"(?<=[-/_.:])(?=[A-Za-z0-9])")
"""Where a word may be broken that is wider than the room."""
_UNIT = re.compile(r"(.*?)((?: \([^()]*\))?)", re.DOTALL)
"""What a name of an axis says, and its unit."""
_SAFE = 1.03
"""Hinting makes letters on a screen this much wider than their outlines."""
LINE = 1.25
"""Height of a line in sizes of its letters."""


@lru_cache(maxsize=4096)
def _outline(text: str, weight: str) -> float:
    """Width of the outlines of `text`, in sizes of its letters."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    if not text.strip():
        return 0.0
    return float(TextPath((0, 0), text, size=100, prop=FontProperties(weight=weight)).get_extents().width) / 100


@lru_cache(maxsize=4096)
def _advance(letter: str, weight: str) -> float:
    """From a letter to the next one, in sizes of the letters."""
    return _outline(f"|{letter}|", weight) - _outline("||", weight)


def _is_formula(text: str) -> bool:
    """Whether matplotlib sets a part of `text` as a formula."""
    return text.replace(r"\$", "").count("$") > 1


def formula_fault(text: str) -> bool:
    """Whether `text` has a formula that matplotlib cannot set."""
    try:
        _outline(text, "normal")
    except ValueError:
        return _is_formula(text)
    return False


def width(text: str, points: float, weight: str = "normal") -> float:
    """Width of the widest line of `text` in points, in letters of a size and a weight."""
    if _is_formula(text):
        return _SAFE * points * _outline(text, weight)
    return max(_SAFE * points * sum(_advance(letter, weight) for letter in line) for line in text.split("\n"))


def wrapped(text: str, points: float, room: float, lines: int = 3, weight: str = "normal") -> str:
    r"""`text` in as few lines of at most `room` points as possible; if it needs more than `lines`, its words go first.

    A unit in brackets at the end is kept.

    >>> wrapped("head-of-line delay, median (ms)", 10, 300), wrapped("goodput (Mbit/s)", 10, 50)
    ('head-of-line delay, median (ms)', 'goodput\n(Mbit/s)')
    """
    if width(text, points, weight) <= room or _is_formula(text):
        return text
    made = [line for part in text.split("\n") for line in _lines(part, points, room, weight)]
    if len(made) <= lines:
        return "\n".join(shortened(line, points, room, weight) for line in made)
    words, unit = _UNIT.fullmatch(text.replace("\n", " ")).groups()  # type: ignore[union-attr]
    for end in range(len(words), 0, -1):
        made = _lines(f"{words[:end].rstrip(' ,')}\N{HORIZONTAL ELLIPSIS}{unit}", points, room, weight)
        if len(made) <= lines:
            break
    return "\n".join(shortened(line, points, room, weight) for line in made[:lines])


def _lines(text: str, points: float, room: float, weight: str) -> list[str]:
    """Lines broken at spaces; inside of words only where a word has no room by itself."""
    made: list[str] = []
    line = ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if width(longer, points, weight) <= room:
            line = longer
            continue
        made += [line] if line else []
        *before, line = _pieces(word, points, room, weight)
        made += before
    return [*made, line]


def _pieces(word: str, points: float, room: float, weight: str) -> list[str]:
    if width(word, points, weight) <= room:
        return [word]
    made = [""]
    for piece in _BREAKS.split(word):
        if made[-1] and width(made[-1] + piece, points, weight) > room:
            made.append(piece)
        else:
            made[-1] += piece
    return made


def shortened(text: str, points: float, room: float, weight: str = "normal") -> str:
    """`text` with an ellipsis in place of what has no room, the beginning kept.

    >>> shortened("a very long name", 10, 40) == "a ver\N{HORIZONTAL ELLIPSIS}"
    True
    """
    if width(text, points, weight) <= room or _is_formula(text):
        return text
    least, most = 0, len(text) - 1
    while least < most:
        middle = (least + most + 1) // 2
        if width(f"{text[:middle].rstrip()}\N{HORIZONTAL ELLIPSIS}", points, weight) <= room:
            least = middle
        else:
            most = middle - 1
    return f"{text[:least].rstrip()}\N{HORIZONTAL ELLIPSIS}"
