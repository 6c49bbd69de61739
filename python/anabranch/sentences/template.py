"""Templates with named values, and the units of the numbers in them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from string import Formatter
from typing import Any

UNITS = (
    *("bit/s", "kbit/s", "Mbit/s", "Gbit/s"),
    *("ms", "s", "min", "h"),
    *("%", "points", "times", "-fold", "dBm", "m", "MHz"),
    *("B", "kB", "KiB", "MB", "octets", "runs/s", "million"),
)
COUNTED = (
    *("bandwidth-delay products", "round trips", "round-trip times", "retransmissions", "segments", "packets"),
    *("runs", "pairs", "cells", "seeds", "comparisons", "combinations", "candidates", "choices", "differences"),
    *(
        "connections",
        "episodes",
        "distances",
        "changes",
        "conclusions",
        "paths",
        "more",
        "identical",
        "valid",
        "failed",
        "events",
        "features",
    ),
)
"""Nouns of things that are counted; one word may stand before them ("3 smaller connections")."""
LABELS = ("seed", "seeds", "MCS", "T1", "T2", "scenario", "factor of", "Jain's index of the goodputs:", "all")
"""Words before a number that has no unit because it is a name, an index or a setting."""

_LATER = r"(?:(?:,? (?:and|to|of|or|instead of|against) |, )\{\w+!n\})*"
_WORD = r"(?:(?!(?:with|in|at|of|for|from|by|is|are|has|and|to|or|than|over|under)\b)[\w-]+ )?"
_AFTER = re.compile(
    rf"{_LATER} ?(?:(?:{'|'.join(map(re.escape, UNITS))})(?![\w/])|\{{unit\}}|of (?:them|their)\b"
    rf"|{_WORD}(?:{'|'.join(COUNTED)})\b|{_WORD}\{{\w+:[^}}|]+\|[^}}|]+\}})"
)
_BEFORE = re.compile(rf"(?:\b(?:{'|'.join(LABELS)})|\bversion) $")


class _Named(Formatter):
    """As `str.format`; in addition ``{n:one|many}`` is ``one`` if n is 1, else ``many``, and ``{n!n}`` is a number."""

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        return value if conversion == "n" else super().convert_field(value, conversion)

    def format_field(self, value: Any, format_spec: str) -> str:
        if "|" not in format_spec:
            return str(super().format_field(value, format_spec))
        one, many = format_spec.split("|")
        return one if value == 1 else many

    def check_unused_args(self, used_args: set[int | str], args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        left = kwargs.keys() - used_args
        if left:
            raise TypeError(f"values without a place in the template: {', '.join(sorted(left))}")


_NAMED = _Named()


class Phrase(str):
    """A template of a label, of a line in a list, or of a part of a sentence: no full stop at its end.

    ``{name}`` is a text: words, or a quantity that brings its unit. ``{name!n}`` is a bare number or a span of numbers;
    its unit, or the noun of what it counts, stands behind it in the template. ``{name!s}`` is a name, an index, a value
    as the user wrote it, or a number without a unit.

    >>> Phrase("{seeds!n} {seeds:seed is|seeds are} too few")(seeds=3)
    '3 seeds are too few'
    """

    __slots__ = ()

    def __call__(self, **values: object) -> str:
        """Return the text with its values.

        Raises
        ------
        KeyError
            If a value is missing.
        TypeError
            If a value has no place in the template.
        """
        return _NAMED.vformat(self, (), values)

    def names(self) -> list[str]:
        """Names of the values.

        >>> Phrase("{seeds!n} {seeds:seed|seeds} of {total!n} runs").names()
        ['seeds', 'total']
        """
        return list(dict.fromkeys(name for _, name, _, _ in _NAMED.parse(self) if name))

    def numbers(self) -> Iterator[tuple[str, bool]]:
        """Names of the bare numbers, and whether the template gives the unit of each.

        >>> list(Phrase("{low!n} to {high!n} ms with {name}").numbers())
        [('low', True), ('high', True)]
        >>> list(Phrase("the goodput is {goodput!n}").numbers())
        [('goodput', False)]
        """
        for found in re.finditer(r"\{(\w+)(?:!n(?::[^}|]*)?|:[^}|]+)\}", self):
            known = _AFTER.match(self, found.end()) or _BEFORE.search(self[: found.start()])
            yield found[1], known is not None


class Sentence(Phrase):
    """A template of one or more whole sentences.

    >>> Sentence("The goodput is {goodput}.")(goodput="5 Mbit/s")
    'The goodput is 5 Mbit/s.'
    """

    __slots__ = ()
